/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * .ARM.exidx and .ARM.extab: what files for 32-bit ARM have in place of .eh_frame (Exception Handling ABI for the
 * Arm Architecture). It tells of each function how to get to its caller from where it calls others, and nothing of
 * how far its first and last instructions have got. Part of frame_rows.
 */
#ifndef STACKBOX_ELF_FRAME_EXIDX_H
#define STACKBOX_ELF_FRAME_EXIDX_H

#include "elf/frame_entries.h"

/* Nobody else's builds read it. */
#if defined(__arm__)
#define HAS_EXIDX 1
#else
#define HAS_EXIDX 0
#endif

#define FRAME_EXIDX_BYTES 8 /* of an entry */

/*
 * The function whose entry is so many bytes behind the beginning of .ARM.exidx, with its rows: `each` is not called
 * where it has none. 0; -EBADMSG: it is damaged; -ENOMEM; or what `each` returned.
 */
int frame_exidx_see(const struct frame_section *index, size_t at, frame_callback *each, void *context);

/* Those of functions that have no rows themselves are not worth it: where does the function begin? False: damaged. */
bool frame_exidx_start(const struct frame_section *index, size_t at, uint64_t *start);

#endif
