/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * libeast.so, libwest.so: the same function, with frames that differ by ROOM, at addresses that may
 * be the same.
 */
#include "shape.h"

#include <string.h>

/* The program's function, by another name, which marks the stack there. */
void in_library(volatile struct shape *theirs, void (*back)(void));

void in_library(volatile struct shape *theirs, void (*back)(void))
{
    char room[ROOM];

    theirs->told[theirs->count].name = __func__;
    theirs->told[theirs->count].returns = __builtin_return_address(0);
    theirs->count = theirs->count + 1;
    memset(room, (int)theirs->count, sizeof(room));
    __asm__ volatile("" : : "r"(room) : "memory");
    back();
    __asm__ volatile("int3; nop" : : "a"(SHAPE_MAGIC), "D"(theirs), "S"(SHAPE_CHECK) : "memory");
    theirs->count = theirs->count - 1;
}
