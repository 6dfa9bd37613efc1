/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "report/formats.h"

#include <stddef.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"

static const struct format {
    const char *name, *ending;
    enum report_format format;
} formats[] = {
    {"text", ".txt", REPORT_TEXT},
    {"folded", ".folded", REPORT_FOLDED},
    {"flat", ".flat", REPORT_FLAT},
    {"tree", ".tree", REPORT_TREE},
    {"svg", ".svg", REPORT_SVG},
    {"pprof", ".pb.gz", REPORT_PPROF},
    {"speedscope", ".speedscope.json", REPORT_SPEEDSCOPE},
    {"sbx", ".sbx", REPORT_SBX},
};

bool format_by_name(const char *name, enum report_format *format)
{
    for (size_t i = 0; i < COUNT_OF(formats); i++)
        if (!strcmp(formats[i].name, name)) {
            *format = formats[i].format;
            return true;
        }
    return false;
}

static const struct format *find_by_ending(const char *path)
{
    size_t length = strlen(path);

    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        size_t ending = strlen(formats[i].ending);
        if (length > ending && !strcmp(path + length - ending, formats[i].ending))
            return &formats[i];
    }
    return NULL;
}

bool format_by_ending(const char *path, enum report_format *format)
{
    const struct format *found = find_by_ending(path);

    if (found)
        *format = found->format;
    return found;
}

size_t format_ending_length(const char *path)
{
    const struct format *found = find_by_ending(path);

    return found ? strlen(found->ending) : 0;
}

bool format_is_document(enum report_format format)
{
    return format == REPORT_SVG || format == REPORT_PPROF || format == REPORT_SPEEDSCOPE ||
           format == REPORT_SBX;
}

static void add_each(struct text *text, size_t member)
{
    const char *between = "";

    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        text_format(text, "%s%s", between, *(const char *const *)((const char *)&formats[i] + member));
        between = ", ";
    }
}

void formats_add_names(struct text *text)
{
    add_each(text, offsetof(struct format, name));
}

void formats_add_endings(struct text *text)
{
    add_each(text, offsetof(struct format, ending));
}
