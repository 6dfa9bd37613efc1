/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "output/labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"

static const char *special_text(enum special_frame special, const struct report_options *options)
{
    switch (special) {
    case NO_STACK_FRAME:
        return !options->kernel ? "[no user stack]"
               : !options->user ? "[no kernel stack]"
                                : "[no stack]";
    case FULL_FRAME:
        return "[stack storage full]";
    default:
        return options->format == REPORT_FOLDED ? "-" : "    --";
    }
}

/* In folded text a file stands for all its addresses: else one function would become slivers. */
static void add_file(struct text *raw, const struct symbol *symbol, bool folded)
{
    bool bracketed = symbol->file.data[0] == '['; /* [vdso], [heap] */

    text_format(raw, folded && !bracketed ? "[%s]" : "%s", symbol->file.data);
    if (!folded)
        text_format(raw, "+0x%llx", (unsigned long long)symbol->offset);
}

static void add_name(struct text *raw, const struct symbol *symbol,
                     const struct report_options *options)
{
    bool folded = options->format == REPORT_FOLDED;

    if (!symbol->function.length) {
        if (symbol->file.length)
            add_file(raw, symbol, folded);
        else
            text_add(raw, "[unknown]");
        return;
    }
    text_append(raw, symbol->function.data, symbol->function.length);
    if (options->offset)
        text_format(raw, "+0x%llx", (unsigned long long)symbol->offset);
    if (options->verbose && !folded && symbol->kernel && symbol->file.length)
        text_format(raw, " [%s]", symbol->file.data);
}

static char *symbol_text(const struct symbol *symbol, const struct report_options *options)
{
    struct text raw = {0}, shown = {0};

    add_name(&raw, symbol, options);
    if (options->verbose && options->format == REPORT_TEXT)
        text_format(&shown, "%-16llx ", (unsigned long long)symbol->address);
    if (!raw.failed)
        escape_bytes(&shown, raw.data, raw.length);
    if (options->annotations && symbol->kernel)
        text_add(&shown, "_[k]");
    if (raw.failed || shown.failed)
        text_free(&shown);
    text_free(&raw);
    return shown.data;
}

static int compare_strings(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Sorts the texts, leaves one of each, and gives every item the rank of its own. */
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
    /* Of equal texts one is kept, the others have done their work. */
    for (size_t i = 0; i < count; i++)
        if (labels->texts[labels->ranks[i]] != by_item[i])
            free(by_item[i]);
}

int labels_make(struct labels *labels, const struct symbols *symbols,
                const struct report_options *options)
{
    size_t count = symbols->count + SPECIAL_FRAMES, made = 0;
    char **by_item = calloc(count, sizeof(*by_item));

    *labels = (struct labels){
        .texts = calloc(count, sizeof(char *)),
        .ranks = calloc(count, sizeof(uint32_t)),
        .symbol_count = symbols->count,
    };
    if (by_item && labels->texts && labels->ranks)
        for (; made < count; made++) {
            by_item[made] =
                made < symbols->count
                    ? symbol_text(&symbols->items[made], options)
                    : strdup(special_text((enum special_frame)(made - symbols->count), options));
            if (!by_item[made])
                break;
        }
    bool whole = made == count;
    if (whole)
        rank_texts(labels, by_item, count);
    for (size_t i = 0; i < made && !whole; i++)
        free(by_item[i]);
    free(by_item);
    return whole ? 0 : -ENOMEM;
}

void labels_free(struct labels *labels)
{
    for (size_t i = 0; i < labels->count; i++)
        free(labels->texts[i]);
    free(labels->texts);
    free(labels->ranks);
    *labels = (struct labels){0};
}
