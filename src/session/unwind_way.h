/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* How user stacks are walked: --unwind. */
#ifndef STACKBOX_SESSION_UNWIND_WAY_H
#define STACKBOX_SESSION_UNWIND_WAY_H

enum unwind_way {
    UNWIND_WAY_BEST, /* by tables, if possible */
    UNWIND_WAY_TABLES,
    UNWIND_WAY_FRAME_POINTERS,
    UNWIND_WAY_NONE,
};

#endif
