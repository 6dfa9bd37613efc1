/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "report/report_flame.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/lines.h"

static int add_block(struct flame *flame, const struct line *line, uint64_t value,
                     struct flame_slice *frames)
{
    for (size_t i = 0; i < line->count; i++)
        frames[i] = (struct flame_slice){line->frames[i].name, strlen(line->frames[i].name)};
    return flame_add(flame, FLAME_NOW, frames, line->count, value, NULL);
}

int report_flame_make(struct flame *flame, const struct report *report)
{
    struct line line = {0};
    struct flame_slice *frames = NULL;
    size_t room = 0;
    int result = flame_init(flame);

    for (size_t i = 0; i < report->blocks->count && !result; i++) {
        const struct block *block = &report->blocks->items[i];
        result = line_make(&line, report, block);
        if (!result)
            result = array_reserve(&frames, &room, line.count, sizeof(*frames));
        if (!result)
            result = add_block(flame, &line, blocks_shown_value(block->value, report->options),
                               frames);
    }
    free(frames);
    line_free(&line);
    return result;
}
