/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The text of every frame of a report, as it is printed, made once: frames are compared by its
 * rank, a number. Items are the symbols, by their index, behind them the special frames, and then
 * towers of unknown frames, by how many they are of.
 */
#ifndef STACKBOX_REPORT_LABELS_H
#define STACKBOX_REPORT_LABELS_H

#include "report/report.h"

/* Frames that stand for what is not there. */
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
    char **texts;    /* sorted, each once; for pprof one for each item, with its number */
    size_t count;
    uint32_t *ranks;   /* of every item's text */
    uint32_t *as_last; /* and of the text that it has as the last of a line */
    size_t symbol_count;
};

/* `highest`: of the towers of unknown frames. 0 or -ENOMEM; labels_free after either. */
int labels_make(struct labels *labels, const struct symbols *symbols,
                const struct report_options *options, size_t highest);
void labels_free(struct labels *labels);

/* speedscope has a place for the file of a frame: there it is part of the label, behind this. */
#define LABEL_FILE_MARK "\n"

/* The name of a frame alone, escaped, as the options want it. */
void labels_add_name(struct text *shown, const struct symbol *symbol,
                     const struct report_options *options);

/* What folded text makes of a name: the sign that parts frames cannot be in one. */
void labels_fold(char *text);
/* And of the last of a line: readers would take a number behind a blank there for a count. */
void labels_make_last(char *text);

/* The item of a special frame. */
static inline uint32_t labels_special(const struct labels *labels, enum special_frame special)
{
    return (uint32_t)labels->symbol_count + special;
}

/* The item of so many frames that nothing is known of, one upon another: 2 or more. */
static inline uint32_t labels_tower(const struct labels *labels, size_t frames)
{
    return (uint32_t)(labels->symbol_count + SPECIAL_FRAMES + frames - 2);
}
/* What it is called. */
void labels_add_tower(struct text *shown, size_t frames);

/* Is this a frame of a process of which neither the function nor the file is known? */
static inline bool labels_is_unknown(const struct symbol *symbol)
{
    return !symbol->kernel && !symbol->function.length && !symbol->file.length;
}

#endif
