/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What report.c makes of a tally, and the formats print: blocks in order, of labels made once. */
#ifndef STACKBOX_REPORT_BLOCKS_H
#define STACKBOX_REPORT_BLOCKS_H

#include "report/report.h"

/* A task as it is printed, and the frames that are printed with it. */
struct block_party {
    const char *comm; /* "[unknown]" for an empty one, "[no waker]" for nobody */
    bool nobody;      /* and so without a number */
    bool interrupt;   /* and neither has this one, who is no thread */
    bool foreign;
    uint32_t pid;     /* 0: not known. Who is not told apart has that of one of them */
    uint32_t tid;     /* 0: not known, or threads are not told apart */
    uint32_t processes; /* by name: how many have one of that name in this block */
    /* In the order in which the format prints them: indices of labels. */
    const uint32_t *frames;
    size_t frame_count;
};

struct block {
    uint64_t value;
    bool nobodys; /* the task's frames alone are printed: it is many tasks' */
    uint64_t events; /* how many the value is of */
    uint64_t longest; /* and the greatest of them, where that is kept */
    struct block_party task, waker; /* without a waker in the layout: its comm is "" */
};

struct blocks {
    struct block *items; /* the greatest last */
    size_t count;
    const bool *leading; /* of each label: it only leads to a wait or a wake; NULL: none does */
    char **labels; /* a frame as it is printed: sorted, each once; for pprof as labels.h has it */
    size_t label_count;
};

/* All that the file of a format prints from. */
struct report {
    const struct blocks *blocks;
    const struct symbols *symbols;
    const struct report_options *options;
    const struct tm *when;
};

/* The names of tasks are printed: stackcount leaves them out at times. */
bool blocks_show_tasks(const struct report_options *options);
/* And so are the wakers'. */
bool blocks_show_wakers(const struct report_options *options);
/* Are their numbers part of what is printed? In lines only where that is asked for. */
bool blocks_show_numbers(const struct report_options *options);
/* What stands behind a name: " (7)", " (7/8)", " (host 7)", or nothing. Returns `room`. */
#define BLOCKS_NUMBERS_BYTES 40
const char *blocks_numbers(char *room, const struct block_party *party,
                           const struct report_options *options);
/* What its events are called. */
const char *blocks_events_name(const struct report_measure *measure);
/* Are the values times, or sums of something else? And what is printed of them is so many of what: "us", "samples". */
bool blocks_are_times(const struct report_options *options);
bool blocks_are_sums(const struct report_options *options);
const char *blocks_value_name(const struct report_options *options);
/* The same of what --top left out. */
const char *blocks_left_name(const struct report_options *options);
/* What is printed of a sum of values. */
uint64_t blocks_shown_value(uint64_t value, const struct report_options *options);

/* Blocks whose printed lines are equal become one, and all are put in order. */
void blocks_merge(struct blocks *blocks, const struct report_options *options);
/* Leaves the options->top greatest. */
void blocks_keep_top(struct blocks *blocks, const struct report_options *options,
                     struct report_summary *summary);

/* 0 or -ENOMEM: what writing comes to is looked at afterwards. */
int text_write(FILE *out, const struct report *report);
int folded_write(FILE *out, const struct report *report);
int pairs_write(FILE *out, const struct report *report);
int flat_write(FILE *out, const struct report *report);
int tree_write(FILE *out, const struct report *report);
int report_svg_write(FILE *out, const struct report *report);
int speedscope_write(FILE *out, const struct report *report);
int pprof_write(FILE *out, const struct report *report);

#endif
