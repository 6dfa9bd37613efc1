/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Where the kernel keeps what unwinding by tables needs: everything but registers. */
#ifndef STACKBOX_KERNEL_UNWIND_FIELDS_H
#define STACKBOX_KERNEL_UNWIND_FIELDS_H

#include "insns/unwind.h"

/*
 * By the kernel's types, which everybody may read. 0, or a negative errno: -ENOENT if it has none.
 */
int unwind_fields_find(struct unwind_fields *fields);

#endif
