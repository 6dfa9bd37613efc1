/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Folded stacks: one per line, root first, for flame graph tools. */
#include <stdbool.h>

#include "report/lines.h"

/* A line that begins with # and a blank is a comment: a thread may have such a name. */
static void print_first(FILE *out, const char *name, bool is_all)
{
    const bool is_comment = *name == '#' && (name[1] ? name[1] == ' ' || name[1] == '\t' : is_all);

    fprintf(out, is_comment ? "\\x23%s" : "%s", name + is_comment);
}

int folded_write(FILE *out, const struct report *report)
{
    const struct blocks *blocks = report->blocks;
    struct line line = {0};
    int result = 0;

    for (size_t i = 0; i < blocks->count && !result; i++) {
        const struct block *block = &blocks->items[i];
        result = line_make(&line, report, block);
        if (line.count && !result)
            print_first(out, line.frames[0].name, line.count == 1);
        for (size_t at = 1; at < line.count && !result; at++)
            fprintf(out, ";%s", line.frames[at].name);
        if (!result)
            fprintf(out, " %llu\n",
                    (unsigned long long)blocks_shown_value(block->value, report->options));
    }
    line_free(&line);
    return result;
}
