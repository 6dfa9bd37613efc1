/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * spread [-n STACKS] [-r TIMES] [-w] [-k]
 *
 * Calls getppid(2) TIMES from each of STACKS different user stacks, and prints `done CALLS=` with how
 * often it did. A stack is the binary digits of its number: one of two functions for each.
 *
 *   -n STACKS    1000, at most 65536
 *   -r TIMES     10
 *   -w, -k       as in other workloads
 */
#include "arch.h"
#include "word.h"

#define DIGITS 16

static uint64_t made;
static unsigned times = 10;

/* Each call returns to a different address: that makes the stacks different. */
static APART void descend(unsigned number, unsigned digits)
{
    if (!digits) {
        for (unsigned i = 0; i < times; i++, made++)
            call_kernel(SYS_getppid, 0);
    } else if (number & 1) {
        descend(number >> 1, digits - 1);
        __asm__ volatile("" ::: "memory"); /* no tail call */
    } else {
        descend(number >> 1, digits - 1);
        __asm__ volatile("nop" ::: "memory"); /* nor one merged call */
    }
}

int main(int argc, char **argv)
{
    unsigned stacks = 1000;
    int option;

    while ((option = next_option(argc, argv, "n:r:")) != -1) {
        switch (option) {
        case 'n': stacks = (unsigned)number_of(optarg); break;
        case 'r': times = (unsigned)number_of(optarg); break;
        default: return 2;
        }
    }
    if (stacks > 1u << DIGITS)
        return 2;
    begin(asked.comm);
    wait_if_asked();
    for (unsigned i = 0; i < stacks; i++)
        descend(i, DIGITS);
    say_done(made);
    return 0;
}
