/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A library whose functions lead back into the program: NAME_outer() > NAME_inner(), N calls, each
 * with one getppid(2). Built twice, with NAME north and south, both with the same code.
 */
#include "../arch.h"
#include "../word.h"

#ifndef NAME
#define NAME north
#endif
#define JOIN(name, part) name##part
#define NAMED(name, part) JOIN(name, part)

uint64_t call_inside(uint64_t wanted);

DEFINE_CALLS(NAMED(NAME, _lib))

uint64_t call_inside(uint64_t wanted)
{
    uint64_t made = 0;

    FRAME;
    while (made < wanted)
        NAMED(NAME, _lib_outer)(&made);
    return made;
}
