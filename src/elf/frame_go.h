/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Where code compiled by Go is in a file: it keeps frame pointers and has no tables. Part of
 * frame_rows.
 */
#ifndef STACKBOX_ELF_FRAME_GO_H
#define STACKBOX_ELF_FRAME_GO_H

#include "elf/elf.h"

/*
 * By the table of its functions (.gopclntab), which must be within one segment of code. False:
 * there is none.
 */
bool frame_go_text(const struct elf *elf, uint64_t *address, uint64_t *size);

#endif
