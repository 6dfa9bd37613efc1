/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "report/lines.h"

#include <errno.h>
#include <stdlib.h>

#include "base/text.h"
#include "base/util.h"

/* There is room: line_make() has made it. */
static void add(struct line *line, enum line_part part, const char *name)
{
    line->frames[line->count++] = (struct line_frame){.part = part, .name = name};
}

static void add_frames(struct line *line, const struct blocks *blocks,
                       const struct block_party *party)
{
    for (size_t i = 0; i < party->frame_count; i++) {
        add(line, LINE_FRAME, blocks->labels[party->frames[i]]);
        line->frames[line->count - 1].label = party->frames[i];
    }
}

/* A name, with its numbers if asked for; `text` will hold it. */
static void add_name(struct line *line, enum line_part part, const struct block_party *party,
                     const struct report_options *options, struct text *text)
{
    char numbers[BLOCKS_NUMBERS_BYTES];

    text_clear(text);
    text_add(text, party->comm);
    text_add(text, blocks_numbers(numbers, party, options));
    add(line, part, text->failed ? "" : text->data);
}

/* The waker's stack has the target as its leaf. */
static void add_wake(struct line *line, const struct report *report, const struct block *block)
{
    add_name(line, LINE_WAKER, &block->waker, report->options, &line->root);
    add_frames(line, report->blocks, &block->waker);
    add_frames(line, report->blocks, &block->task);
    add_name(line, LINE_TASK, &block->task, report->options, &line->leaf);
}

/* The target's stack, and on top of it the waker's, inverted: they meet at `--`. */
static void add_wait_and_wake(struct line *line, const struct report *report,
                              const struct block *block)
{
    add_name(line, LINE_TASK, &block->task, report->options, &line->root);
    add_frames(line, report->blocks, &block->task);
    add(line, LINE_MEETING, "--");
    add_frames(line, report->blocks, &block->waker);
    add_name(line, LINE_WAKER, &block->waker, report->options, &line->leaf);
}

static void add_time(struct line *line, const struct tm *when)
{
    snprintf(line->time, sizeof(line->time), "%02d:%02d:%02d", when->tm_hour % 100,
             when->tm_min % 100, when->tm_sec % 100);
    add(line, LINE_TIME, line->time);
}

int line_make(struct line *line, const struct report *report, const struct block *block)
{
    const struct report_options *options = report->options;
    /* Besides the stacks' frames: the time, the task, the waker and the separator. */
    size_t most = block->task.frame_count + block->waker.frame_count + 4;

    line->count = 0;
    if (array_reserve(&line->frames, &line->room, most, sizeof(*line->frames)))
        return -ENOMEM;
    if (options->time_as_root)
        add_time(line, report->when);
    if (block->nobodys) {
        add_frames(line, report->blocks, &block->task);
    } else if (options->layout == LAYOUT_WAKEUPTIME) {
        add_wake(line, report, block);
    } else if (options->layout == LAYOUT_OFFWAKETIME) {
        add_wait_and_wake(line, report, block);
    } else {
        if (blocks_show_tasks(options))
            add_name(line, LINE_TASK, &block->task, options, &line->root);
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
