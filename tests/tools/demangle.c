/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * demangle [--shorten] [--names]: reads names, one per line, and prints each as in its source, or
 * unchanged; --names: functions' names only. --count: prints only how many were mangled.
 */
#include <stdio.h>
#include <string.h>

#include "demangle/demangle.h"

#include "base/reading.h"
#include "base/text.h"

int main(int count, char **arguments)
{
    struct demangle_options config = {0};
    struct text name = {0};
    struct lines lines;
    bool counts = false;
    size_t length, known = 0;

    for (int i = 1; i < count; i++) {
        config.shorten = config.shorten || !strcmp(arguments[i], "--shorten");
        config.without_parameters = config.without_parameters || !strcmp(arguments[i], "--names");
        counts = counts || !strcmp(arguments[i], "--count");
    }
    /* musl's own buffer is 1 KB. */
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    if (lines_open(&lines, 0))
        return 1;
    for (const char *line; (line = lines_next(&lines, &length));) {
        int result = demangle(line, length, &config, &name);
        known += !result;
        if (counts)
            continue;
        fwrite(result ? line : name.data, 1, result ? length : name.length, stdout);
        putchar('\n');
    }
    if (counts)
        printf("%zu\n", known);
    text_free(&name);
    lines_close(&lines);
    return lines.error || lines.cut || fflush(stdout) ? 1 : 0;
}
