/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A report's blocks as the tree of a flame graph: for the formats that show one. */
#ifndef STACKBOX_REPORT_REPORT_FLAME_H
#define STACKBOX_REPORT_REPORT_FLAME_H

#include "picture/flame.h"
#include "report/blocks.h"

/* 0 or -ENOMEM; flame_free after either. Its values are the blocks', as printed. */
int report_flame_make(struct flame *flame, const struct report *report);

#endif
