/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Made by report.c from a tally, and printed by the formats: sorted blocks, with labels made once.
 */
#ifndef STACKBOX_REPORT_BLOCKS_H
#define STACKBOX_REPORT_BLOCKS_H

#include "report/report.h"

/* A task as printed, and the frames printed with it. */
struct block_party {
    const char *comm; /* "[unknown]" if empty, "[no waker]" for nobody */
    bool nobody;      /* and so without a number */
    bool interrupt;   /* likewise: it is not a thread */
    bool foreign;
    uint32_t pid;     /* 0: unknown. If not told apart, one of them */
    uint32_t tid;     /* 0: unknown, or threads are not told apart */
    uint32_t processes; /* by name: how many in this block have that name */
    /* In the format's order: indices of labels. */
    const uint32_t *frames;
    size_t frame_count;
};

struct block {
    uint64_t value;
    bool nobodys; /* only the task's frames are printed: it is of many tasks */
    uint64_t events; /* how many make up the value */
    uint64_t longest; /* and the greatest of them, if that is kept */
    struct block_party task, waker; /* in layouts without a waker its comm is "" */
};

struct blocks {
    struct block *items; /* greatest last */
    size_t count;
    const bool *leading; /* for each label: it only leads to a wait or a wakeup; NULL: none does */
    char **labels; /* frames as printed: sorted, without duplicates; for pprof see labels.h */
    size_t label_count;
};

/* What a format's file prints. */
struct report {
    const struct blocks *blocks;
    const struct symbols *symbols;
    const struct report_options *options;
    const struct tm *when;
};

/* Are the names of tasks printed? stackcount omits them at times. */
bool blocks_show_tasks(const struct report_options *options);
/* And the wakers'? */
bool blocks_show_wakers(const struct report_options *options);
/* Are their numbers printed? In lines only if asked for. */
bool blocks_show_numbers(const struct report_options *options);
/* What follows a name: " (7)", " (7/8)", " (host 7)", or nothing. Returns `room`. */
#define BLOCKS_NUMBERS_BYTES 40
const char *blocks_numbers(char *room, const struct block_party *party,
                           const struct report_options *options);
/* What the events are called. */
const char *blocks_events_name(const struct report_measure *measure);
/* Are the values times, or other sums? And their unit as printed: "us", "samples". */
bool blocks_are_times(const struct report_options *options);
bool blocks_are_sums(const struct report_options *options);
const char *blocks_value_name(const struct report_options *options);
/* The same for what --top left out. */
const char *blocks_left_name(const struct report_options *options);
/* A sum of values, as printed. */
uint64_t blocks_shown_value(uint64_t value, const struct report_options *options);

/* Merges blocks whose printed lines are equal, and sorts them all. */
void blocks_merge(struct blocks *blocks, const struct report_options *options);
/* Keeps the options->top greatest. */
void blocks_keep_top(struct blocks *blocks, const struct report_options *options,
                     struct report_summary *summary);

/* 0 or -ENOMEM: the caller checks afterwards whether writing worked. */
int text_write(FILE *out, const struct report *report);
int folded_write(FILE *out, const struct report *report);
int pairs_write(FILE *out, const struct report *report);
int flat_write(FILE *out, const struct report *report);
int tree_write(FILE *out, const struct report *report);
int report_svg_write(FILE *out, const struct report *report);
int speedscope_write(FILE *out, const struct report *report);
int pprof_write(FILE *out, const struct report *report);

#endif
