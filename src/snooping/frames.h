/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A cache of frames' lines: a name costs a pass over the symbols of the kernel or a file, and
 * single events would cost one each. Names of kernel frames are kept; those of processes for a
 * second, in which a process may have mapped something else.
 */
#ifndef STACKBOX_SNOOPING_FRAMES_H
#define STACKBOX_SNOOPING_FRAMES_H

#include "base/index.h"
#include "report/records.h"
#include "symbolize/symbolize.h"

struct frame {
    struct symbol symbol;
    struct text line; /* from records_add_frame */
    bool is_unknown;  /* its function and its file are both unknown; set with the line */
    bool of_tracing;  /* see symbolize/tracing_frames.h; set with the line */
};

/* The kernel's, or processes'. */
struct frame_table {
    struct frame **items;
    size_t count, room, named; /* those from `named` on have no line yet */
    struct index index;
};

struct frames {
    struct frame_table kernel, user;
    uint64_t user_since; /* when the first process's frame was looked up */
};

/*
 * The frame of an address; `place` has the fields that identify it. Its line exists after the next
 * frames_name. NULL without memory.
 */
struct frame *frames_want(struct frames *frames, const struct symbol *place);

/* Makes the missing lines. 0 or a negative errno. */
int frames_name(struct frames *frames, const struct symbolize_wishes *wishes,
                struct symbolize_notes *notes, const struct record_options *options);

/* Drops frames that are too old or too many: frames from earlier frames_want calls are invalid. */
void frames_tidy(struct frames *frames, uint64_t now);

void frames_free(struct frames *frames);

#endif
