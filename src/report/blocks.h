/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Made by report.c from a tally, and printed by the formats: sorted blocks, with labels made once.
 */
#ifndef STACKBOX_REPORT_BLOCKS_H
#define STACKBOX_REPORT_BLOCKS_H

#include "report/report.h"

/* A task as printed, and the frames printed with it. */
struct block_task {
    const char *comm; /* "[unknown]" if empty, "[no waker]" without a task */
    bool absent;      /* there is none, and so no number */
    bool interrupt;   /* likewise: it is not a thread */
    bool foreign;
    uint32_t pid;     /* 0: unknown. By name, the pid of one of the processes */
    uint32_t tid;     /* 0: unknown, or threads are not told apart */
    uint32_t processes; /* by name: how many in this block have that name */
    /* In the format's order: indices of labels. */
    const uint32_t *frames;
    size_t frame_count;
};

struct block {
    uint64_t value;
    bool of_many; /* it is of several tasks: only the frames are printed */
    uint64_t events; /* the value is of so many */
    uint64_t longest; /* the greatest value of a single event, if kept */
    struct block_task task, waker; /* in layouts without a waker its comm is "" */
};

struct blocks {
    struct block *items; /* greatest last */
    size_t count;
    const bool *leading; /* for each label: its frame only leads to a wait or a wakeup; or NULL */
    char **labels; /* frames as printed: sorted, without duplicates; for pprof see below */
    size_t label_count;
};

/* What a format's writer prints. */
struct report {
    const struct blocks *blocks;
    const struct symbols *symbols;
    const struct report_options *options;
    const struct tm *when;
};

/* Are the names of tasks printed? stackcount omits them at times. */
bool blocks_show_tasks(const struct report_options *options);
/* Are the wakers' names printed? */
bool blocks_show_wakers(const struct report_options *options);
/* What follows a name: " (7)", " (7/8)", " (host 7)", or nothing. Returns `room`. */
#define BLOCKS_NUMBERS_BYTES 40
const char *blocks_numbers(char *room, const struct block_task *task,
                           const struct report_options *options);
/* Appends the name with that. */
void blocks_add_who(struct text *who, const struct block_task *task,
                    const struct report_options *options);
/* What the events are called. */
const char *blocks_events_name(const struct report_measure *measure);
/* Are the values times? Sums? And the unit as printed: "us", "samples". */
bool blocks_are_times(const struct report_options *options);
bool blocks_are_sums(const struct report_options *options);
const char *blocks_value_name(const struct report_options *options);
/* The same for what --top left out. */
const char *blocks_left_name(const struct report_options *options);
/* Writes the line with the time of the report, if asked for. */
void blocks_write_time(FILE *out, const struct report *report);
/* A sum of values, as printed. */
uint64_t blocks_shown_value(uint64_t value, const struct report_options *options);

/* 0 or -ENOMEM: the caller checks afterwards whether writing worked. */
int text_write(FILE *out, const struct report *report);
int folded_write(FILE *out, const struct report *report);
int pairs_write(FILE *out, const struct report *report);
int flat_write(FILE *out, const struct report *report);
int tree_write(FILE *out, const struct report *report);
int report_svg_write(FILE *out, const struct report *report);
int speedscope_write(FILE *out, const struct report *report);
int pprof_write(FILE *out, const struct report *report);

/* ---- Labels ---- */

/*
 * The printed text of every frame of a report, made once, so that comparing frames is comparing
 * their ranks. Items are the symbols, by index, then the special frames, which stand for something
 * missing, then towers of unknown frames, by height.
 */
enum special_frame {
    NO_STACK_FRAME,
    FULL_FRAME,
    DELIMITER_FRAME,
    UNFINISHED_FRAME,
    ALL_ALONG_FRAME,
    TABLE_FULL_FRAME,
    RUNNING_FRAME, /* in the order of their marks */
    NOT_SAMPLED_FRAME,
    RUNNABLE_FRAME,
    BLOCKED_FRAME,
    SPECIAL_FRAMES,
};

struct labels {
    char **texts;    /* sorted, without duplicates; for pprof one per item, with its number */
    size_t count;
    uint32_t *ranks;   /* each item's index in `texts` */
    uint32_t *as_last; /* the same for its text at the end of a line */
    size_t symbol_count;
};

/* `highest`: the highest tower of unknown frames. 0 or -ENOMEM; labels_free after either. */
int labels_make(struct labels *labels, const struct symbols *symbols,
                const struct report_options *options, size_t highest);
void labels_free(struct labels *labels);

/* For speedscope, which shows files, the file follows this in a frame's label. */
#define LABEL_FILE_MARK "\n"

/* Only a frame's name, escaped, as the options want it. */
void labels_add_name(struct text *shown, const struct symbol *symbol,
                     const struct report_options *options);

/* Makes a name safe for folded text: frames' names must not contain the separator. */
void labels_fold(char *text);
/* The same for the end of a line, where readers take a number after a blank for a count. */
void labels_make_last(char *text);

/* The item of a special frame. */
static inline uint32_t labels_special(const struct labels *labels, enum special_frame special)
{
    return (uint32_t)labels->symbol_count + special;
}

/* The item of `frames` unknown frames on top of each other: 2 or more. */
static inline uint32_t labels_tower(const struct labels *labels, size_t frames)
{
    return (uint32_t)(labels->symbol_count + SPECIAL_FRAMES + frames - 2);
}
/* Appends the name of such a tower. */
void labels_add_tower(struct text *shown, size_t frames);

/* Is this a process's frame whose function and file are both unknown? */
static inline bool labels_is_unknown(const struct symbol *symbol)
{
    return !symbol->kernel && !symbol->function.length && !symbol->file.length;
}

/* ---- A block as one line of frames, root first: for every format but text ---- */

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
