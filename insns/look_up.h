/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Fragments for lookups in maps. r0 to r5 are lost. */
#ifndef STACKBOX_INSNS_LOOK_UP_H
#define STACKBOX_INSNS_LOOK_UP_H

#include "insns/program.h"

/* r0 = the address of the value in `map` whose key is at r10 + key, or 0. */
void emit_look_up(struct program *program, int map, int16_t key);

/*
 * r0 = the address of an array's only value; goes to `none` if there is none, which only the
 * verifier thinks possible. Uses 4 bytes at r10 + index. (Since 5.2 a single instruction loads the
 * address, which is just as fast.)
 */
void emit_look_up_only(struct program *program, int map, int16_t index, const char *none);

#endif
