/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A block as one line of frames, root first: for every format but text. */
#ifndef STACKBOX_REPORT_LINES_H
#define STACKBOX_REPORT_LINES_H

#include "report/blocks.h"

enum line_part {
    LINE_TIME,    /* of the report, if asked for as the root */
    LINE_TASK,    /* the name of the event's task */
    LINE_WAKER,   /* and of the task that ended a wait */
    LINE_MEETING, /* `--`: here a waker's stack begins, upside down */
    LINE_FRAME,   /* of a stack: it has a label */
};

struct line_frame {
    enum line_part part;
    const char *name;
    uint32_t label; /* for LINE_FRAME: its index in blocks.labels */
};

/* {0} is empty; to be reused for one block after another. */
struct line {
    struct line_frame *frames; /* valid until the next line_make */
    size_t count, room;
    struct text root, leaf; /* names with their numbers */
    char time[16];
};

/* 0 or -ENOMEM. */
int line_make(struct line *line, const struct report *report, const struct block *block);
void line_free(struct line *line);

#endif
