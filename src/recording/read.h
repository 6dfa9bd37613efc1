/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Reads recordings: what was counted comes back as it was on the spot, but for names of what is in files. All
 * numbers in the file are hostile; what is allocated is bounded by its size. To be called in the process apart.
 */
#ifndef STACKBOX_RECORDING_READ_H
#define STACKBOX_RECORDING_READ_H

#include "processes/process.h"
#include "recording/write.h"

struct recording_part;
struct recorded_group;

struct recording {
    /* Set before the first is taken. */
    bool raw_names;                /* wished for; or it becomes what the recording says */
    struct demangle_wishes names;  /* likewise */

    struct tally tally;
    struct symbols symbols; /* symbols_name_all() with recording_source() names the rest of them */
    struct process_names process_names;
    struct report_options options; /* as the run had them */
    struct report_about about;
    struct waiting_text waiting;
    struct tm when;
    uint64_t top;
    const char *program, *machine, *version; /* of stackbox */
    struct recording_account account;
    struct text refused_map, losses;
    bool kernel_hidden;

    struct recording_part *parts; /* one for each file that was read, the last first */
    const struct recorded_group **groups; /* of each symbol */
    size_t symbol_room, group_room, frame_room, frame_count, first_room, process_count;
};

/* Is it one, by its first bytes? */
bool recording_is_one(const char *bytes, size_t length);

/*
 * Adds what is in a recording to what is there already. 0; -ENOEXEC for what is none; -ENOTSUP for one of a
 * later version; -EBADMSG for one that is cut off or damaged; -EXDEV for one that counts other things than those
 * before it; -ENOMEM. recording_free after any.
 */
int recording_take(struct recording *recording, const char *bytes, size_t length);
void recording_free(struct recording *recording);

/* What symbols_name_all() is to know, until recording_free. */
struct recorded recording_source(struct recording *recording);

/* ---- For tests ---- */

/* The sections alone, without what stands before and behind them. */
int recording_take_sections(struct recording *recording, const char *bytes, size_t length);

#endif
