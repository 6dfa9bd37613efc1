/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * .ARM.exidx and .ARM.extab: what 32-bit ARM files have instead of .eh_frame (Exception Handling ABI for
 * the Arm Architecture). For each function they tell how to find its caller while it is calling another
 * function. They do not cover its prologue and epilogue. Part of frame_rows.
 */
#ifndef STACKBOX_ELF_FRAME_EXIDX_H
#define STACKBOX_ELF_FRAME_EXIDX_H

#include "elf/frame_entries.h"

/* Other builds do not read it. */
#if defined(__arm__)
#define HAS_EXIDX 1
#else
#define HAS_EXIDX 0
#endif

#define FRAME_EXIDX_BYTES 8 /* of an entry */

/*
 * Calls `each` with the function whose entry is at this offset of .ARM.exidx, if it has any rows.
 * 0; -EBADMSG: the entry is damaged; -ENOMEM; or what `each` returned.
 */
int frame_exidx_see(const struct frame_section *index, size_t at, frame_callback *each, void *context);

/* Where the function of that entry begins. False: the entry is damaged. */
bool frame_exidx_start(const struct frame_section *index, size_t at, uint64_t *start);

#endif
