/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Where V8's built-in functions (node, Chromium) are in a file: they keep frame pointers and have
 * no tables.
 */
#ifndef STACKBOX_ELF_FRAME_V8_H
#define STACKBOX_ELF_FRAME_V8_H

#include "elf/elf.h"

/* By their symbols. False: there are none. */
bool frame_v8_text(const struct elf *elf, uint64_t *address, uint64_t *size);
/* Where those were stripped: is it a stretch of code without any tables, of this many bytes? */
bool frame_v8_is_gap(const struct elf *elf, uint64_t size);

#endif
