/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Each name's count in a flame, by itself and with what it calls. Pure. */
#ifndef STACKBOX_DRAW_FUNCTIONS_H
#define STACKBOX_DRAW_FUNCTIONS_H

#include "picture/flame.h"

struct function_counts {
    uint64_t self;  /* of stacks that end in it */
    uint64_t total; /* of stacks that contain it */
};

struct function {
    struct function_counts now, before;
    uint32_t open; /* how often it is on the path to the current node */
};

struct functions {
    const struct flame *flame;
    struct function *items; /* by the index of their names; delimiters have no counts */
    uint32_t *leaves;       /* by depth: the node to which a stack that ends there belongs, or 0 */
    size_t room;
};

/* For a summed flame. 0 or -ENOMEM; functions_free after either. */
int functions_make(struct functions *functions, const struct flame *flame);
void functions_free(struct functions *functions);

#endif
