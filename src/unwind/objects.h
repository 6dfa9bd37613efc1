/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which objects have a table, and the maps in which programs find it: each file once, however many
 * processes have it mapped, under whatever names. Tables are made in the unprivileged reader, in
 * the background, and trusted once they are checked. Tables that no mapping uses any more go after
 * a while, or at once if others need the room.
 */
#ifndef STACKBOX_UNWIND_OBJECTS_H
#define STACKBOX_UNWIND_OBJECTS_H

#include "insns/unwind_layout.h"
#include "processes/mapped_files.h"
#include "unwind/table.h"

struct objects;
struct unwind_maps;

/* The kernel's key for the file that we mapped at this address. 0 or a negative errno. */
typedef int objects_key(void *context, const void *mapped, struct unwind_key *key);

struct objects_options {
    objects_key *key; /* NULL: there are no programs, and no maps */
    void *context;
    struct mapped_files *files; /* that its files are from; closed after it */
    uint64_t most_bytes;        /* of tables */
    uint64_t unused_ns;         /* how long unused tables are kept if there is room */
};

/* Includes the vDSO's. 0 or a negative errno; objects_close after either. */
int objects_open(struct objects **made, const struct objects_options *options);
/* Waits for nothing. */
void objects_close(struct objects *objects);

/* Sets those two. */
void objects_get_maps(const struct objects *objects, struct unwind_maps *maps);

/*
 * objects_see: this is mapped as code somewhere and is to have a table: at once, what is seen most
 * often first, or when objects_find() asks for it. objects_want: before anything seen, without
 * waiting for it, and its table never goes. 0 or -ENOMEM.
 */
int objects_see(struct objects *objects, struct mapped_file *file, bool at_once);
int objects_want(struct objects *objects, struct mapped_file *file);

/*
 * To be called often: takes finished tables, begins new ones, drops unused ones. Returns how many
 * are left to make.
 */
size_t objects_make(struct objects *objects);

/*
 * Before a thread ends that may have begun tables: their reader ends with it. They are begun again
 * later.
 */
void objects_put_off(struct objects *objects);

/*
 * To be called often, by a thread that may wait while another makes tables: `lock` says when the
 * objects may be used (true) and may not (false).
 */
typedef void objects_lock(void *context, bool locks);
void objects_make_room(struct objects *objects, objects_lock *lock, void *context);

struct objects_figures {
    size_t files;         /* that are mapped, or were recently */
    size_t tables;        /* in all: the vDSO's and those of the files, some of which share one */
    size_t left;          /* files whose table is still to be made */
    size_t without;       /* files that will have none: */
    size_t no_tables;     /* without unwind tables of their own, */
    size_t too_slow;      /* that take too long to read, */
    size_t no_room;       /* for which there is no memory */
    struct frame_counts counts; /* of all tables */
    uint64_t bytes;
    uint64_t made, dropped; /* tables, since the beginning */
    uint64_t cpu_ns;      /* spent on making them */
};
struct objects_figures objects_figures(const struct objects *objects);

/* The last parts of the paths of those whose tables were made only once a stack needed them. */
void objects_add_demanded(const struct objects *objects, struct text *names);

/*
 * The table of what is mapped there, lent until the next objects_make(). 0; -EAGAIN: it is to be
 * made, now before others; or there will be none and walks end there: an end, above 0.
 */
int objects_find(struct objects *objects, const struct mapped_file *file, struct table *table);
/* It changes when objects_find() may have another answer for one that was to be made. */
uint64_t objects_settled(const struct objects *objects);

/*
 * What a program met under this key, without a table, is a JIT's memory or a file that will have
 * none: tells programs so. `kind` as in struct unwind_object.
 */
void objects_set_kind(struct objects *objects, const struct unwind_key *key, uint32_t kind);

/* Why there is no table: "there are no unwind tables in it"; NULL: there is one. */
const char *objects_why(const struct objects *objects, const struct mapped_file *file);

#endif
