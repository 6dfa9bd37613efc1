/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which objects have a table, and the maps in which programs find it: one table per file, however
 * many processes map it, under whatever names. The unprivileged reader makes tables in the
 * background, and we trust one once it is checked. Tables that no mapping uses any more go after a
 * while, or at once if others need the room.
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
/* Does not wait for tables that are being made. */
void objects_close(struct objects *objects);

/* Fills in the maps. */
void objects_get_maps(const struct objects *objects, struct unwind_maps *maps);

/*
 * objects_see: a process has mapped this file as code, and it is to have a table: now, the most
 * often seen first, if `at_once`, else when objects_find() asks for it. objects_want: before
 * everything seen, and its table is never dropped. 0 or -ENOMEM.
 */
int objects_see(struct objects *objects, struct mapped_file *file, bool at_once);
int objects_want(struct objects *objects, struct mapped_file *file);

/*
 * To be called often: takes finished tables, begins new ones, drops unused ones. Returns how many
 * are left to make.
 */
size_t objects_make(struct objects *objects);

/*
 * Call this before a thread ends that may have begun tables: their reader ends with it. They are
 * begun again later.
 */
void objects_put_off(struct objects *objects);

/*
 * Keeps spare chunks ready. To be called often, by a thread that may wait while another makes
 * tables: `lock` takes (true) and releases (false) the objects' lock.
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

/* The last parts of the paths of files whose table was made only once a stack needed it. */
void objects_add_demanded(const struct objects *objects, struct text *names);

/*
 * The table of a mapped file, lent until the next objects_make(). 0; -EAGAIN: it is still to be
 * made, now before others; above 0: it will have none, and walks end there with this unwind_end.
 */
int objects_find(struct objects *objects, const struct mapped_file *file, struct table *table);
/* Changes whenever objects_find() may have a new answer for a file whose table was to be made. */
uint64_t objects_settled(const struct objects *objects);

/*
 * Tells programs about a key that they met without a table: a JIT's memory, or a file that will
 * have none. `kind` as in struct unwind_object.
 */
void objects_set_kind(struct objects *objects, const struct unwind_key *key, uint32_t kind);

/* For tests: 0, or why a file has no table: -EAGAIN: it is not made yet, or another errno. */
int objects_error(const struct objects *objects, const struct mapped_file *file);

#endif
