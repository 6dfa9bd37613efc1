/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Where a program can be attached: what patterns become once the kernel was asked. */
#ifndef STACKBOX_PROBES_PLACE_H
#define STACKBOX_PROBES_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum place_kind {
    PLACE_KERNEL_FUNCTION,
    PLACE_TRACEPOINT,
};

struct place {
    enum place_kind kind;
    bool at_return;
    bool named;         /* the user named it: it was not found by a wildcard */
    char *name;         /* of the function, or "category:name" */
    char *first_name;   /* of several names at one address, the one that ftrace lists; or NULL */
    uint64_t address;   /* of the function; 0 where the kernel hides addresses */
    uint64_t offset;    /* behind the function's start */
    uint32_t id;        /* of the tracepoint */
    int error;          /* 0, or why it could not be attached: a negative errno */
};

/* A growing list of places that owns their names. {0} is empty. */
struct places {
    struct place *items;
    size_t count, room;
};

/* Adds a copy; its names are copied too. 0 or -ENOMEM. */
int places_add(struct places *places, const struct place *place);
/* Leaves one of each: the same kind of probe at the same address (or name, where that is hidden). */
void places_remove_doubles(struct places *places);
void places_free(struct places *places);

#endif
