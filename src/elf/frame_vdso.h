/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* arm64's vDSO, which has no tables. Part of frame_gaps. */
#ifndef STACKBOX_ELF_FRAME_VDSO_H
#define STACKBOX_ELF_FRAME_VDSO_H

#include "elf/frame_gaps.h"

/* Does it hold little more than the code through which signal handlers return? */
bool frame_is_vdso(const struct elf *elf);

/*
 * That code, and those of its functions that leave the stack pointer alone. Returns how many there
 * are.
 */
size_t frame_vdso_gaps(const struct elf *elf, struct frame_gap gaps[FRAME_GAPS_MOST]);

#endif
