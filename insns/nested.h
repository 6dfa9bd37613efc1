/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef STACKBOX_INSNS_NESTED_H
#define STACKBOX_INSNS_NESTED_H

#include "insns/filter.h"
#include "insns/program.h"
#include "insns/task.h"

struct nested_wishes {
    struct event_filter filter;
    struct nesting_fields fields;
    int control, account; /* the maps of the programs that see the returns */
};

/* At the entries of user functions whose returns are traced. */
void emit_nested(struct program *program, const struct nested_wishes *wishes);

#endif
