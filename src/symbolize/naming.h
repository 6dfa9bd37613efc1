/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The part of user_names that reads files, all of which may be hostile: it runs in the sandbox. The
 * caller has already looked up in which files of its process each symbol is.
 */
#ifndef STACKBOX_SYMBOLIZE_NAMING_H
#define STACKBOX_SYMBOLIZE_NAMING_H

#include "processes/process.h"
#include "symbolize/symbolize.h"

/* A symbol and where it is in its process. */
struct located {
    struct symbol *symbol;
    struct process_place place;
    size_t life; /* equal for one program of one process; these are adjacent */
    int map;     /* its JIT's perf map, open; or below 0 */
};

/*
 * One file, or one perf map, to read. If reading it fails, only its symbols lack names.
 */
struct naming_step {
    struct located *located;
    struct symbol **symbols; /* theirs, in an order that stays */
    size_t count;
    bool is_map;     /* a JIT's perf map */
    bool is_trusted; /* no ordinary user can have written it */
};

struct naming {
    const struct symbolize_options *options;
    struct symbolize_notes *notes;
    struct symbol_mappings *mappings; /* NULL: not wanted */
    struct located *located;          /* by process, life and lookup address */
    size_t count;
    uint64_t *addresses;          /* looked up together: room for one per symbol */
    struct process_place *places; /* likewise */
    struct located *jitted;       /* copies of those that may be in a perf map */
    struct symbol **symbols;      /* of all steps */
    struct naming_step *steps;
    size_t step_count;
    uint64_t time_left; /* ns for reading what users have written, in all steps, */
    size_t names_left;  /* and bytes for its names */
};

static inline bool naming_may_be_jitted(const struct located *located)
{
    return located->place.kind == MAPPED_ANONYMOUS || located->place.kind == MAPPED_NOTHING;
}

/* Adds an address to naming->addresses that is not below the last one, without duplicates. */
static inline void naming_add_address(const struct naming *naming, size_t *count, uint64_t address)
{
    if (!*count || naming->addresses[*count - 1] != address)
        naming->addresses[(*count)++] = address;
}

/*
 * Makes the steps: files that no ordinary user can have written come first, then the others by
 * size, so that a slow file delays no other. Changes the order of `located`. 0 or -ENOMEM;
 * naming_unplan() after either.
 */
int naming_plan(struct naming *naming);
void naming_unplan(struct naming *naming);

/*
 * Sets names, offsets and mappings of a step's symbols. With `without`, a negative errno, notes
 * that the step's file was not read. 0 or -ENOMEM.
 */
int naming_take(struct naming *naming, const struct naming_step *step, int without);
/* After all steps: adds the mapping of the traced program. 0 or -ENOMEM. */
int naming_take_program(const struct naming *naming);

/* All names of a file that no ordinary user can have written. */
#define NAMING_MOST_BYTES ((size_t)64 << 20)
#define NAMING_MOST_NS UINT64_C(10000000000)

/* Both sides have these, in the same order. */
struct names_request {
    struct symbol *const *symbols;
    size_t count;
    struct symbolize_notes *notes;
    struct symbol_mappings *mappings; /* NULL: not wanted */
    size_t known;                     /* of those, how many were there before */
};

/* If memory runs out, answer->failed is set. */
void names_answer_write(const struct names_request *request, struct text *answer);

/*
 * Adds the symbols' names, offsets and mappings, and the notes about files. 0; -EBADMSG, with
 * everything unchanged, for invalid bytes; or -ENOMEM, with a part of it.
 */
int names_answer_read(const char *bytes, size_t length, const struct names_request *request);

/*
 * Names what it can of `count` symbols of processes, sorted by process, life and lookup address,
 * and adds their mappings to `mappings` (NULL: to none). 0 or -ENOMEM: any other failure leaves
 * frames without names.
 */
int user_names_give(struct symbol *const *symbols, size_t count,
                    const struct symbolize_options *options, struct symbolize_notes *notes,
                    struct symbol_mappings *mappings);

#endif
