/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The lines of frames that were seen before: names cost a pass over the kernel's symbols, or over those
 * of a file, and events that come one by one would cost one each. Names of the kernel's frames are
 * kept; those of processes for a second, in which it may have mapped something else.
 */
#ifndef STACKBOX_SNOOPING_FRAMES_H
#define STACKBOX_SNOOPING_FRAMES_H

#include "base/index.h"
#include "report/records.h"
#include "symbolize/symbolize.h"

struct frame {
    struct symbol symbol;
    struct text line; /* as records_add_frame makes it */
    bool is_unknown;  /* neither its function nor its file is known: with the line */
    bool of_tracing;  /* see symbols/tracing_frames.h; known with the line */
};

/* Those of the kernel, or those of processes. */
struct frame_table {
    struct frame **items;
    size_t count, room, named; /* those from `named` on have no line yet */
    struct index index;
};

struct frames {
    struct frame_table kernel, user;
    uint64_t user_since; /* when the first of those of processes was looked up */
};

/*
 * The frame of an address, of which the members that tell it from others are set; its line is there
 * after the next frames_name. NULL when memory is out.
 */
struct frame *frames_want(struct frames *frames, const struct symbol *place);

/* Gives all frames their lines. 0 or a negative errno. */
int frames_name(struct frames *frames, const struct symbolize_wishes *wishes,
                struct symbolize_notes *notes, const struct record_options *options);

/* Forgets what is too old or too much: frames that were wanted before are gone. */
void frames_tidy(struct frames *frames, uint64_t now);

void frames_free(struct frames *frames);

#endif
