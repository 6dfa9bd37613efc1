/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What later walks use: the mappings of that time, and the tables of now. */
#ifndef STACKBOX_UNWIND_COLD_OBJECTS_H
#define STACKBOX_UNWIND_COLD_OBJECTS_H

#include "processes/process.h"
#include "unwind/cold.h"
#include "unwind/objects.h"

struct cold_objects {
    struct processes *processes;
    struct objects *objects;
    struct table table; /* found last */
    bool is_settled;    /* all that processes mapped until now is known; else it is asked for */
};

/*
 * As cold_wishes.find. Programs are told what will never have a table. `context` is a struct
 * cold_objects.
 */
bool cold_objects_find(void *context, const struct unwind_state *walk, uint64_t pc, struct walk_object *object);

#endif
