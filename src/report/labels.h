/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The text of every frame of a report, as printed, made once: frames are compared by rank, a
 * number. Items are the symbols, by index, then the special frames, then towers of unknown frames,
 * by height.
 */
#ifndef STACKBOX_REPORT_LABELS_H
#define STACKBOX_REPORT_LABELS_H

#include "report/report.h"

/* Frames that stand for something missing. */
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
    uint32_t *ranks;   /* of every item's text */
    uint32_t *as_last; /* and of its text at the end of a line */
    size_t symbol_count;
};

/* `highest`: the highest tower of unknown frames. 0 or -ENOMEM; labels_free after either. */
int labels_make(struct labels *labels, const struct symbols *symbols,
                const struct report_options *options, size_t highest);
void labels_free(struct labels *labels);

/* speedscope has a place for a frame's file: in the label it follows this. */
#define LABEL_FILE_MARK "\n"

/* Only a frame's name, escaped, as the options want it. */
void labels_add_name(struct text *shown, const struct symbol *symbol,
                     const struct report_options *options);

/* Makes a name safe for folded text: frames' names must not contain the separator. */
void labels_fold(char *text);
/* And for the end of a line, where readers would take a number after a blank for a count. */
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
/* Its name. */
void labels_add_tower(struct text *shown, size_t frames);

/* Is this a process's frame whose function and file are both unknown? */
static inline bool labels_is_unknown(const struct symbol *symbol)
{
    return !symbol->kernel && !symbol->function.length && !symbol->file.length;
}

#endif
