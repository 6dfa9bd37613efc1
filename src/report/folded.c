/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Folded stacks: one per line, root first, for flame graph tools. */
#include "report/lines.h"

int folded_write(FILE *out, const struct report *report)
{
    const struct blocks *blocks = report->blocks;
    struct line line = {0};
    int result = 0;

    for (size_t i = 0; i < blocks->count && !result; i++) {
        const struct block *block = &blocks->items[i];
        result = line_make(&line, report, block);
        for (size_t at = 0; at < line.count && !result; at++)
            fprintf(out, at ? ";%s" : "%s", line.frames[at].name);
        if (!result)
            fprintf(out, " %llu\n",
                    (unsigned long long)blocks_shown_value(block->value, report->options));
    }
    line_free(&line);
    return result;
}
