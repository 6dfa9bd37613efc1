/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "report/blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"

/* The indentation before a frame. */
static const char *indent(const struct report_options *options)
{
    return options->format != REPORT_TEXT          ? ""
           : options->layout == LAYOUT_STACKCOUNT ? "  "
                                                   : "    ";
}

static const char *delimiter(const struct report_options *options)
{
    if (options->format != REPORT_TEXT || options->layout == LAYOUT_OFFWAKETIME)
        return "-";
    return options->layout == LAYOUT_STACKCOUNT ? "  --" : "--";
}

static const char *special_name(enum special_frame special, const struct report_options *options)
{
    static const char *const names[SPECIAL_FRAMES] = {
        [FULL_FRAME] = "[stack storage full]",
        [UNFINISHED_FRAME] = "[unfinished]",
        [ALL_ALONG_FRAME] = "[blocked all along]",
        [TABLE_FULL_FRAME] = "[table full]",
        [RUNNING_FRAME] = "[running]",
        [NOT_SAMPLED_FRAME] = "[running, not sampled]",
        [RUNNABLE_FRAME] = "[runnable]",
        [BLOCKED_FRAME] = "[blocked]",
    };

    if (special == DELIMITER_FRAME)
        return delimiter(options);
    if (special == NO_STACK_FRAME)
        return !options->kernel ? "[no user stack]"
               : !options->user ? "[no kernel stack]" : "[no stack]";
    return names[special];
}

void labels_add_tower(struct text *shown, size_t frames)
{
    text_format(shown, "[unknown] (%zu frames)", frames);
}

/*
 * If frames are summed, one frame per file stands for all its addresses without a known function:
 * single addresses would split a function into slivers.
 */
static void add_file(struct text *raw, const struct symbol *symbol, bool whole)
{
    bool bracketed = symbol->file.data[0] == '['; /* [vdso], [heap] */

    whole = whole && !symbol->has_start;
    text_format(raw, whole && !bracketed ? "[%s]" : "%s", symbol->file.data);
    if (!whole)
        text_format(raw, "+0x%llx", (unsigned long long)symbol->offset);
}

static void add_name(struct text *raw, const struct symbol *symbol,
                     const struct report_options *options)
{
    bool text = options->format == REPORT_TEXT;

    if (!symbol->function.length) {
        if (symbol->file.length)
            add_file(raw, symbol, !text && options->format != REPORT_PPROF);
        else
            text_add(raw, "[unknown]");
        return;
    }
    text_append(raw, symbol->function.data, symbol->function.length);
    if (options->offset)
        text_format(raw, "+0x%llx", (unsigned long long)symbol->offset);
    if (options->verbose && text && symbol->kernel && symbol->file.length)
        text_format(raw, " [%s]", symbol->file.data);
}

void labels_add_name(struct text *shown, const struct symbol *symbol,
                     const struct report_options *options)
{
    struct text raw = {0};

    add_name(&raw, symbol, options);
    escape_text(shown, &raw);
    /* Flame graphs have colours for these. */
    if ((options->annotations || options->format == REPORT_SVG) && symbol->kernel)
        text_add(shown, "_[k]");
    else if (options->format == REPORT_SVG && symbol->jitted)
        text_add(shown, "_[j]");
}

/* Adds what tells functions with the same name apart. */
static void add_origin(struct text *shown, const struct symbol *symbol)
{
    if (!symbol->kernel && !symbol->file.length)
        return;
    text_add(shown, LABEL_FILE_MARK);
    if (!symbol->file.length) {
        text_add(shown, "[kernel]");
        return;
    }
    text_add(shown, symbol->kernel ? "[" : "");
    escape_bytes(shown, symbol->file.data, symbol->file.length);
    text_add(shown, symbol->kernel ? "]" : "");
}

static char *item_text(const struct symbols *symbols, const struct report_options *options,
                       size_t item)
{
    const struct symbol *symbol = item < symbols->count ? &symbols->items[item] : NULL;
    const size_t special = item - symbols->count;
    struct text shown = {0};

    text_add(&shown, indent(options));
    if (symbol) {
        if (options->verbose && options->format == REPORT_TEXT && symbol->kernel &&
            symbol->address <= SYMBOL_TEXTS)
            text_format(&shown, "%-16s ", "-");
        else if (options->verbose && options->format == REPORT_TEXT)
            text_format(&shown, "%-16llx ", (unsigned long long)symbol->address);
        labels_add_name(&shown, symbol, options);
        if (options->format == REPORT_SPEEDSCOPE)
            add_origin(&shown, symbol);
    } else if (special < SPECIAL_FRAMES) {
        text_add(&shown, special_name((enum special_frame)special, options));
    } else {
        labels_add_tower(&shown, special - SPECIAL_FRAMES + 2);
    }
    if (shown.failed)
        text_free(&shown);
    else if (symbol && options->format == REPORT_FOLDED)
        labels_fold(shown.data);
    return shown.data;
}

void labels_fold(char *text)
{
    for (; *text; text++)
        if (*text == ';')
            *text = ':';
}

/*
 * Readers of folded text take a last frame that ends in a blank and a number for a line with two
 * counts. Returns that blank; NULL if there is none.
 */
static char *blank_before_number(char *name)
{
    char *blank = strrchr(name, ' ');

    return blank && blank[1] && !blank[1 + strspn(blank + 1, "0123456789.")] ? blank : NULL;
}

void labels_make_last(char *text)
{
    char *blank = blank_before_number(text);

    if (blank)
        *blank = '_';
}

/* Sorts the texts, removes duplicates, and gives every item its text's rank. */
static void rank_texts(struct labels *labels, char **by_item, size_t count)
{
    memcpy(labels->texts, by_item, count * sizeof(*by_item));
    qsort(labels->texts, count, sizeof(*by_item), compare_strings);
    for (size_t i = 0; i < count; i++)
        if (!labels->count || strcmp(labels->texts[labels->count - 1], labels->texts[i]))
            labels->texts[labels->count++] = labels->texts[i];
    for (size_t i = 0; i < count; i++) {
        char **found = bsearch(&by_item[i], labels->texts, labels->count, sizeof(*by_item),
                               compare_strings);
        labels->ranks[i] = (uint32_t)(found - labels->texts);
    }
    /* Of equal texts one is kept. */
    for (size_t i = 0; i < count; i++)
        if (labels->texts[labels->ranks[i]] != by_item[i])
            free(by_item[i]);
}

/* Two addresses in a function are two frames: each item's rank is its own number. */
static void number_texts(struct labels *labels, char **by_item, size_t count)
{
    memcpy(labels->texts, by_item, count * sizeof(*by_item));
    labels->count = count;
    for (size_t i = 0; i < count; i++)
        labels->ranks[i] = (uint32_t)i;
}

/* Makes the texts of all items, followed by those for the end of a line. */
static int make_texts(struct labels *labels, const struct symbols *symbols, size_t items,
                      const struct report_options *options, char **by_item, size_t *made)
{
    for (; *made < items; ++*made) {
        by_item[*made] = item_text(symbols, options, *made);
        if (!by_item[*made])
            return -ENOMEM;
    }
    for (size_t i = 0; i < items; i++) {
        labels->as_last[i] = (uint32_t)i;
        if (options->format != REPORT_FOLDED || !blank_before_number(by_item[i]))
            continue;
        char *copy = strdup(by_item[i]);
        if (!copy)
            return -ENOMEM;
        labels_make_last(copy);
        labels->as_last[i] = (uint32_t)*made;
        by_item[(*made)++] = copy;
    }
    return 0;
}

int labels_make(struct labels *labels, const struct symbols *symbols,
                const struct report_options *options, size_t highest)
{
    size_t towers = highest > 1 ? highest - 1 : 0;
    size_t items = symbols->count + SPECIAL_FRAMES + towers, most = items * 2, made = 0;
    char **by_item = calloc(most, sizeof(*by_item));
    int result = -ENOMEM;

    *labels = (struct labels){
        .texts = calloc(most, sizeof(char *)),
        .ranks = calloc(most, sizeof(uint32_t)),
        .as_last = calloc(items, sizeof(uint32_t)),
        .symbol_count = symbols->count,
    };
    if (by_item && labels->texts && labels->ranks && labels->as_last)
        result = make_texts(labels, symbols, items, options, by_item, &made);
    if (!result) {
        if (options->format == REPORT_PPROF)
            number_texts(labels, by_item, made);
        else
            rank_texts(labels, by_item, made);
        for (size_t i = 0; i < items; i++)
            labels->as_last[i] = labels->ranks[labels->as_last[i]];
    }
    for (size_t i = 0; result && i < made; i++)
        free(by_item[i]);
    free(by_item);
    return result;
}

void labels_free(struct labels *labels)
{
    for (size_t i = 0; i < labels->count; i++)
        free(labels->texts[i]);
    free(labels->texts);
    free(labels->ranks);
    free(labels->as_last);
    *labels = (struct labels){0};
}

/* There is room: line_make() has made it. */
static void add(struct line *line, enum line_part part, const char *name)
{
    line->frames[line->count++] = (struct line_frame){.part = part, .name = name};
}

static void add_frames(struct line *line, const struct blocks *blocks,
                       const struct block_task *task)
{
    for (size_t i = 0; i < task->frame_count; i++) {
        add(line, LINE_FRAME, blocks->labels[task->frames[i]]);
        line->frames[line->count - 1].label = task->frames[i];
    }
}

/* A name, with its numbers if asked for; `text` will hold it. */
static void add_task_name(struct line *line, enum line_part part, const struct block_task *task,
                     const struct report_options *options, struct text *text)
{
    text_clear(text);
    blocks_add_who(text, task, options);
    add(line, part, text->failed ? "" : text->data);
}

/* The waker's stack has the target as its leaf. */
static void add_wake(struct line *line, const struct report *report, const struct block *block)
{
    add_task_name(line, LINE_WAKER, &block->waker, report->options, &line->root);
    add_frames(line, report->blocks, &block->waker);
    add_frames(line, report->blocks, &block->task);
    add_task_name(line, LINE_TASK, &block->task, report->options, &line->leaf);
}

/* The target's stack, and on top of it the waker's, inverted: they meet at `--`. */
static void add_wait_and_wake(struct line *line, const struct report *report,
                              const struct block *block)
{
    add_task_name(line, LINE_TASK, &block->task, report->options, &line->root);
    add_frames(line, report->blocks, &block->task);
    add(line, LINE_MEETING, "--");
    add_frames(line, report->blocks, &block->waker);
    add_task_name(line, LINE_WAKER, &block->waker, report->options, &line->leaf);
}

int line_make(struct line *line, const struct report *report, const struct block *block)
{
    const struct report_options *options = report->options;
    /* Besides the stacks' frames: the time, the task, the waker and the separator. */
    size_t most = block->task.frame_count + block->waker.frame_count + 4;

    line->count = 0;
    if (ARRAY_RESERVE(line->frames, line->room, most))
        return -ENOMEM;
    if (options->time_as_root) {
        snprintf(line->time, sizeof(line->time), "%02d:%02d:%02d", report->when->tm_hour % 100,
                 report->when->tm_min % 100, report->when->tm_sec % 100);
        add(line, LINE_TIME, line->time);
    }
    if (block->of_many) {
        add_frames(line, report->blocks, &block->task);
    } else if (options->layout == LAYOUT_WAKEUPTIME) {
        add_wake(line, report, block);
    } else if (options->layout == LAYOUT_OFFWAKETIME) {
        add_wait_and_wake(line, report, block);
    } else {
        if (blocks_show_tasks(options))
            add_task_name(line, LINE_TASK, &block->task, options, &line->root);
        add_frames(line, report->blocks, &block->task);
    }
    return line->root.failed || line->leaf.failed ? -ENOMEM : 0;
}

void line_free(struct line *line)
{
    free(line->frames);
    text_free(&line->root);
    text_free(&line->leaf);
    *line = (struct line){0};
}
