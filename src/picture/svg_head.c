/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "picture/svg_head.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "picture/svg_text.h"

/* There is always room for the note about what was left out. */
#define LINES_OF_OURS 2
#define LEAST_LETTERS 20

static void add_line(struct svg_head *head, size_t start, size_t length)
{
    head->lines[head->count].start = start;
    head->lines[head->count].length = length;
    head->count++;
}

/* A line that is too long continues in the next one, broken at a blank if possible. */
static size_t line_length(const char *clean, size_t length, size_t letters)
{
    size_t fitting = svg_fitting(clean, length, letters);

    if (fitting == length)
        return length;
    for (size_t i = fitting; i > fitting / 2; i--)
        if (clean[i] == ' ')
            return i;
    return fitting;
}

static void wrap(struct svg_head *head, size_t start, size_t letters)
{
    while (start < head->text.length && head->count < SVG_MOST_HEAD_LINES - LINES_OF_OURS) {
        const char *clean = head->text.data + start;
        size_t length = line_length(clean, head->text.length - start, letters);
        add_line(head, start, length);
        start += length;
        while (start < head->text.length && head->text.data[start] == ' ')
            start++;
        head->lines[head->count - 1].goes_on = start < head->text.length;
    }
}

static void say_left_out(struct svg_head *head, uint64_t count, const char *which, double least,
                         const char *unit)
{
    size_t start = head->text.length;

    if (!count)
        return;
    svg_add_number(&head->text, count);
    text_add(&head->text, count == 1 ? " frame " : " frames ");
    text_add(&head->text, which);
    svg_add_decimal(&head->text, least);
    text_add(&head->text, unit);
    text_add(&head->text, count == 1 ? " is left out" : " are left out");
    add_line(head, start, head->text.length - start);
}

int svg_head_make(struct svg_head *head, const struct svg_picture *picture)
{
    const struct svg_layout *layout = &picture->layout;
    const char *line = picture->options->subtitle ? picture->options->subtitle : "";
    double letters = picture->width * 0.98 / SVG_LETTER;

    if (letters < LEAST_LETTERS)
        letters = LEAST_LETTERS;
    while (*line && !head->text.failed) {
        size_t length = strcspn(line, "\n"), start = head->text.length;
        svg_add_clean(&head->text, line, length);
        wrap(head, start, (size_t)letters);
        line += length + (line[length] == '\n');
    }
    say_left_out(head, layout->narrow, "narrower than ", layout->least_width, " px");
    say_left_out(head, layout->high, "above the lowest ", layout->levels, " levels");
    return head->text.failed ? -ENOMEM : 0;
}

void svg_head_free(struct svg_head *head)
{
    text_free(&head->text);
}
