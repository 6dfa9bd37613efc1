/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Shared by objects.c and objects_make.c. */
#ifndef STACKBOX_UNWIND_OBJECTS_PARTS_H
#define STACKBOX_UNWIND_OBJECTS_PARTS_H

#include "base/index.h"
#include "unwind/kept.h"
#include "unwind/making.h"
#include "unwind/objects.h"

/* Unused tables are looked for this often in the time for which they are kept. */
#define OBJECTS_LOOKS 4

/* Beyond this, the oldest is forgotten. */
#define OBJECTS_TOLD 256

enum state {
    GONE,
    SEEN, /* nobody has asked for its table yet */
    TO_BE_MADE,
    IS_MADE, /* being made */
    HAS_TABLE,
    HAS_NONE,
    HAS_NO_ROOM,
};

struct object {
    struct mapped_file *file; /* with a reference; NULL: gone */
    struct unwind_key key;
    enum state state;
    int why;               /* HAS_NONE: a negative errno */
    bool wanted, alone;    /* it comes first; it must be made without others */
    bool awaited;          /* stacks wait for it: it comes before all others */
    uint32_t sights;
    uint32_t kept;         /* HAS_TABLE: its index */
    uint32_t blocks;       /* HAS_NO_ROOM: how many were missing */
    uint64_t unused_since; /* 0: in use, as far as is known */
};

struct objects {
    struct objects_wishes wishes;
    struct tables tables;
    struct object *items;
    size_t count, room, gone;
    struct index index; /* by their file's address */
    size_t waiting;     /* how many are to be made */
    struct making making;
    size_t batch[MAKING_MOST]; /* the objects being made */
    unsigned failures;
    bool waits_to_be_asked;
    struct unwind_key told[OBJECTS_TOLD]; /* keys without an object whose kind programs were told */
    size_t told_count;
    uint64_t next_house, cpu_ns;
    uint64_t dropped; /* tables, when those without room were last tried */
};

/* Where walks end in an object that will have no table. */
enum unwind_end object_end(const struct object *object);

/* NULL: it was not seen. */
struct object *object_find(const struct objects *objects, const struct mapped_file *file);

static inline uint64_t object_hash(const struct mapped_file *file)
{
    return hash_word(0, (uintptr_t)file);
}

static inline void object_set_state(struct objects *objects, struct object *object, enum state state)
{
    objects->waiting += (size_t)(state == TO_BE_MADE) - (size_t)(object->state == TO_BE_MADE);
    object->state = state;
}

#endif
