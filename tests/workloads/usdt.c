/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * usdt [-n N] [-N COMM] [-w] [-k]
 *
 * Has USDT probes: truth:plain at one site, truth:sites at three, truth:guarded at two, other:plain
 * at one. Passes each site N times, below main > usdt_outer > usdt_inner. Prints what the semaphore
 * of truth:guarded is at the start, in the calls (the least and the greatest value) and at the end:
 *
 *     semaphore at the start 0
 *     ready
 *     semaphore in the calls 1 1
 *     done CALLS=                         N
 *     semaphore at the end 0              with -k
 *
 * The notes are written by hand, and truth:guarded alone has a semaphore. With -DSHIFT= they are as
 * in a file that was moved by so many bytes after it was linked: all addresses in them,
 * .stapsdt.base among them, are as before. With -DWITH_SDT they are what <sys/sdt.h> makes: no
 * probe has a semaphore, or with -D_SDT_HAS_SEMAPHORES each has.
 */
#include <unistd.h>

#include "word.h"

#define SEMAPHORE(name) \
    extern volatile unsigned short name; \
    volatile unsigned short name __attribute__((section(".probes"), used))

SEMAPHORE(truth_guarded_semaphore);

#ifdef WITH_SDT
#include <sys/sdt.h>
#ifdef _SDT_HAS_SEMAPHORES
SEMAPHORE(truth_plain_semaphore);
SEMAPHORE(truth_sites_semaphore);
SEMAPHORE(other_plain_semaphore);
#endif
#define SITE(provider, name) DTRACE_PROBE1(provider, name, 42)
#define GUARDED_SITE SITE(truth, guarded)
#else
#ifndef SHIFT
#define SHIFT 0
#endif
#define TEXT(value) #value
#define MOVED(value) " + " TEXT(value)
#if UINTPTR_MAX > 0xffffffff
#define WORD ".8byte "
#else
#define WORD ".4byte "
#endif
/*
 * A nop, and a note about it: its address, those of .stapsdt.base and the semaphore, and the names.
 */
#define NOTE(provider, name, semaphore) \
    __asm__ volatile("990: nop\n" \
                     ".pushsection .note.stapsdt, \"\", \"note\"\n" \
                     ".balign 4\n" \
                     ".4byte 992f - 991f, 994f - 993f, 3\n" \
                     "991: .asciz \"stapsdt\"\n" \
                     "992: .balign 4\n" \
                     "993: " WORD "990b" MOVED(SHIFT) "\n" \
                     WORD "_.stapsdt.base" MOVED(SHIFT) "\n" \
                     WORD semaphore "\n" \
                     ".asciz \"" #provider "\"\n" \
                     ".asciz \"" #name "\"\n" \
                     ".asciz \"\"\n" \
                     "994: .balign 4\n" \
                     ".popsection\n" \
                     ".ifndef _.stapsdt.base\n" \
                     ".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n" \
                     ".weak _.stapsdt.base\n" \
                     ".hidden _.stapsdt.base\n" \
                     "_.stapsdt.base: .space 1\n" \
                     ".size _.stapsdt.base, 1\n" \
                     ".popsection\n" \
                     ".endif\n" ::: "memory")
#define SITE(provider, name) NOTE(provider, name, "0")
#define GUARDED_SITE NOTE(truth, guarded, "truth_guarded_semaphore" MOVED(SHIFT))
#endif

static unsigned least = ~0u, greatest;

void usdt_inner(void);
void usdt_outer(void);

APART void usdt_inner(void)
{
    unsigned value = truth_guarded_semaphore;

    FRAME;
    least = value < least ? value : least;
    greatest = value > greatest ? value : greatest;
    SITE(truth, plain);
    SITE(other, plain);
    SITE(truth, sites);
    GUARDED_SITE;
    SITE(truth, sites);
    GUARDED_SITE;
    SITE(truth, sites);
    NO_TAIL_CALL;
}

APART void usdt_outer(void)
{
    FRAME;
    usdt_inner();
    NO_TAIL_CALL;
}

int main(int argc, char **argv)
{
    unsigned long wanted = 1000;
    int option;
    uint64_t made = 0;

    while ((option = next_option(argc, argv, "n:")) != -1) {
        switch (option) {
        case 'n': wanted = number_of(optarg); break;
        default: return 2;
        }
    }
    begin(asked.comm);
    printf("semaphore at the start %u\n", truth_guarded_semaphore);
    wait_if_asked();
    for (; made < wanted; made++)
        usdt_outer();
    printf("semaphore in the calls %u %u\n", least, greatest);
    say_done(made);
    if (asked.stays)
        printf("semaphore at the end %u\n", truth_guarded_semaphore);
    return 0;
}
