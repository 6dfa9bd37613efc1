/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What a process has mapped where: from an address of it to a file and an address in that. */
#ifndef STACKBOX_SYMBOLS_PROCESS_H
#define STACKBOX_SYMBOLS_PROCESS_H

#include <stdint.h>

#include "util.h"

struct process_place {
    struct text file;  /* its base name, "[vdso]" and the like; empty: nothing is mapped there */
    uint64_t address;  /* as the ELF file numbers it; where none of its segments is, the offset */
};

/*
 * Looks each of `count` sorted addresses of a living process up. places[i], which must be {0}, goes
 * with addresses[i]; the caller frees their texts, after an error too: what was found until then is
 * right. 0 or a negative errno: -ENOENT when the process is gone.
 */
int process_find(uint32_t pid, const uint64_t *addresses, size_t count,
                 struct process_place *places);
/* The same, with its maps file opened by the caller, whose it stays. */
int process_find_in(int maps, uint32_t pid, const uint64_t *addresses, size_t count,
                    struct process_place *places);

#endif
