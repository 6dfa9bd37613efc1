/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Reads recordings: restores everything that was counted, but not names from files. The reader
 * checks all numbers, and allocates in proportion to the file's size. To be called in the sandbox.
 */
#ifndef STACKBOX_RECORDING_READ_H
#define STACKBOX_RECORDING_READ_H

#include "processes/process.h"
#include "recording/write.h"

struct recording_part;
struct recorded_group;

/*
 * Symbols can share a name in the file, and demangling can lengthen it: symbols beyond this limit
 * have no names. Hundreds of thousands of a JIT's names fit.
 */
#define RECORDING_MOST_NAME_BYTES ((size_t)32 << 20)

struct recording {
    /* Set before the first file is read. */
    bool raw_names;                /* the user's choice; else recording_take() sets it */
    struct demangle_options names;  /* likewise */
    /* of the one read next, if there are several; NULL: not needed */
    const char *path;

    struct tally tally;
    struct symbols symbols; /* symbols_name_all() with recording_source() finds the missing names */
    struct process_names process_names;
    struct report_options options; /* as in the run */
    struct report_about about;
    struct waiting_text waiting;
    struct tm when;
    enum grouping by; /* of the run read last */
    uint64_t top;
    const char *program, *machine, *version; /* of stackbox */
    struct recording_account account;
    struct text refused_map, losses;
    bool kernel_hidden;

    size_t name_bytes, names_left_out;

    struct recording_part *parts; /* one per file that was read, last first */
    const struct recorded_group **groups; /* of each symbol */
    size_t symbol_room, group_room, frame_room, frame_count, first_room, process_count;
};

/* By the first bytes. */
bool recording_is_one(const char *bytes, size_t length);

/*
 * Adds a recording's contents to what is there. 0; -ENOEXEC if it is not a recording; -ENOTSUP for
 * a later version; -EBADMSG if it is cut off or damaged; -EXDEV if it counts something else than
 * those before; -ENOMEM. recording_free after any.
 */
int recording_take(struct recording *recording, const char *bytes, size_t length);
void recording_free(struct recording *recording);

/* What symbols_name_all() needs to know; valid until recording_free. */
struct recorded recording_source(struct recording *recording);

/* ---- For tests ---- */

/* The sections only, without the file's beginning and end. */
int recording_take_sections(struct recording *recording, const char *bytes, size_t length);

#endif
