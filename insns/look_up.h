/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Fragments that look something up in a map. r0 to r5 are lost. */
#ifndef STACKBOX_INSNS_LOOK_UP_H
#define STACKBOX_INSNS_LOOK_UP_H

#include "insns/program.h"

/* r0 = where in `map` the value is whose key is at r10 + key, or 0. */
void emit_look_up(struct program *program, int map, int16_t key);

/*
 * r0 = where the one value of an array is; on to `none` where there is no such, which only the verifier
 * can think of. 4 bytes at r10 + index are used for it. (Since 5.2 an instruction has the address, and takes as long.)
 */
void emit_look_up_only(struct program *program, int map, int16_t index, const char *none);

#endif
