/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * caller [-n N] [-r DEPTH] [-N COMM] [-w] [-k]
 *
 * Functions that begin in every way there is, each called N times by a function with a frame
 * pointer:
 *
 *     main > call_push  > begins_push       push %rbp; mov %rsp, %rbp; ...
 *     main > call_endbr > begins_endbr      endbr64; push %rbp; mov %rsp, %rbp; ...
 *     main > call_sub   > begins_sub        sub $8, %rsp; ...       no frame pointer at all
 *     main > call_nop   > begins_nop        nop; ret
 *     main > call_save  > begins_save       push %rbx; ...          no frame pointer at all
 *     main > call_deep  > recurses > recurses > ...                DEPTH times, with frame pointers
 *
 * The label after_frame is in begins_push, behind its frame's set-up, after_sub in begins_sub
 * behind its first instruction. Prints `done CALLS=N`, or `skip` where it has no code for this CPU.
 *
 *   -n N         100
 *   -r DEPTH     10
 *   -N COMM, -w, -k   as in other workloads
 */
#include <unistd.h>

#include "word.h"

#ifdef __x86_64__
#define FUNCTION(name, body) \
    __asm__(".pushsection .text\n" \
            ".globl " #name "\n" \
            ".type " #name ", @function\n" \
            ".balign 16\n" \
            #name ":\n" body ".size " #name ", . - " #name "\n" \
            ".popsection\n"); \
    void name(void)

FUNCTION(begins_push, "push %rbp\n mov %rsp, %rbp\n after_frame: nop\n pop %rbp\n ret\n");
FUNCTION(begins_endbr, "endbr64\n push %rbp\n mov %rsp, %rbp\n nop\n pop %rbp\n ret\n");
FUNCTION(begins_sub, "sub $8, %rsp\n after_sub: nop\n add $8, %rsp\n ret\n");
FUNCTION(begins_nop, "nop\n ret\n");
FUNCTION(begins_save, "push %rbx\n xor %ebx, %ebx\n pop %rbx\n ret\n");
#endif

#define CALLS(caller, callee) \
    void caller(void); \
    APART void caller(void) \
    { \
        FRAME; \
        callee(); \
        NO_TAIL_CALL; \
    }

void recurses(unsigned depth);

APART void recurses(unsigned depth)
{
    FRAME;
    if (depth > 1)
        recurses(depth - 1);
    NO_TAIL_CALL;
}

void call_deep(unsigned depth);

APART void call_deep(unsigned depth)
{
    FRAME;
    recurses(depth);
    NO_TAIL_CALL;
}

#ifdef __x86_64__
CALLS(call_push, begins_push)
CALLS(call_endbr, begins_endbr)
CALLS(call_sub, begins_sub)
CALLS(call_nop, begins_nop)
CALLS(call_save, begins_save)

static void call_each(void)
{
    call_push();
    call_endbr();
    call_sub();
    call_nop();
    call_save();
}
#else
static void call_each(void)
{
    printf("skip: no code for this CPU\n");
    exit(0);
}
#endif

int main(int argc, char **argv)
{
    unsigned long wanted = 100, depth = 10;
    int option;
    uint64_t made = 0;

    while ((option = next_option(argc, argv, "n:r:")) != -1) {
        switch (option) {
        case 'n': wanted = number_of(optarg); break;
        case 'r': depth = number_of(optarg); break;
        default: return 2;
        }
    }
    begin(asked.comm);
    wait_if_asked();
    for (; made < wanted; made++) {
        call_each();
        call_deep((unsigned)depth);
    }
    say_done(made);
    return 0;
}
