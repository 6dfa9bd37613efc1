/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "report_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "whole_file.h"

#define NS_PER_SECOND 1000000000

/* ---- Which ---- */

static int find_format(const struct report_files_wishes *wishes, enum report_format *format,
                       struct text *error)
{
    *format = wishes->folded ? REPORT_FOLDED : wishes->flat ? REPORT_FLAT : REPORT_TEXT;
    if (wishes->folded && wishes->flat) {
        text_add(error, "-f and --flat exclude each other: they are two formats");
        return -EINVAL;
    }
    if (!wishes->format)
        return 0;
    if (!format_by_name(wishes->format, format)) {
        text_format(error, "--format: there is no \"%s\"; there are ", wishes->format);
        formats_add_names(error);
        return -EINVAL;
    }
    if ((wishes->folded && *format != REPORT_FOLDED) || (wishes->flat && *format != REPORT_FLAT)) {
        text_format(error, "%s and --format %s exclude each other: they are two formats",
                    wishes->folded ? "-f" : "--flat", wishes->format);
        return -EINVAL;
    }
    return 0;
}

static int refuse_ending(const char *path, struct text *error)
{
    text_format(error, "-o: \"%s\" does not say which format it is to have: files end in ", path);
    formats_add_endings(error);
    text_add(error, ", or --format says it");
    return -EINVAL;
}

/* Is every % followed by what is known? *varies: no two reports have the same name. */
static int check_name(const char *path, bool *varies, struct text *error)
{
    *varies = false;
    for (const char *at = strchr(path, '%'); at; at = strchr(at + 2, '%')) {
        if (!at[1] || !strchr("nt%", at[1])) {
            text_format(error, "-o: \"%s\": after %% comes n for the number of the report, t for its "
                        "time, or another %%", path);
            return -EINVAL;
        }
        *varies = *varies || at[1] != '%';
    }
    return 0;
}

static int add_file(struct report_files *files, const char *path, const enum report_format *format,
                    const struct report_files_wishes *wishes, struct text *error)
{
    struct report_file *file = &files->items[files->count++];
    bool varies;

    *file = (struct report_file){.path = path};
    if (!*path) {
        text_add(error, "-o: takes the name of a file");
        return -EINVAL;
    }
    if (!format_by_ending(path, &file->format)) {
        if (!format)
            return refuse_ending(path, error);
        file->format = *format;
    }
    if (check_name(path, &varies, error))
        return -EINVAL;
    if (wishes->interval && !varies) {
        text_format(error, "-o: with -i every report has a file of its own: \"%s\" needs %%n for the "
                    "number of the report, or %%t for its time", path);
        return -EINVAL;
    }
    for (size_t i = 0; i + 1 < files->count; i++)
        if (files->items[i].path && !strcmp(files->items[i].path, path)) {
            text_format(error, "-o: \"%s\" is there twice", path);
            return -EINVAL;
        }
    return 0;
}

int report_files_choose(struct report_files *files, const struct report_files_wishes *wishes,
                        struct text *error)
{
    enum report_format format, ending;
    bool given = wishes->format || wishes->folded || wishes->flat, used = false;
    int result = find_format(wishes, &format, error);

    *files = (struct report_files){.plain = !given && !wishes->paths->count};
    for (size_t i = 0; i < wishes->paths->count && !result; i++) {
        const char *path = wishes->paths->strings[i];
        if (!strcmp(path, "-")) {
            files->items[files->count++] = (struct report_file){.format = format};
            used = true;
            continue;
        }
        used = used || !format_by_ending(path, &ending);
        result = add_file(files, path, given ? &format : NULL, wishes, error);
    }
    if (!result && (!wishes->paths->count || (given && !used)))
        files->items[files->count++] = (struct report_file){.format = format};
    return result;
}

bool report_files_use_stdout(const struct report_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        if (!files->items[i].path)
            return true;
    return false;
}

bool report_files_have(const struct report_files *files, enum report_format format)
{
    for (size_t i = 0; i < files->count; i++)
        if (files->items[i].format == format)
            return true;
    return false;
}

/* ---- Names ---- */

/* With milliseconds: no two reports are as close. */
static void add_time(struct text *name, uint64_t began)
{
    time_t seconds = (time_t)(began / NS_PER_SECOND);
    struct tm when = {0};
    char shown[32];

    localtime_r(&seconds, &when);
    strftime(shown, sizeof(shown), "%Y%m%d-%H%M%S", &when);
    text_format(name, "%s.%03u", shown, (unsigned)(began % NS_PER_SECOND / 1000000));
}

void report_files_add_name(struct text *name, const char *path, const struct report_turn *turn)
{
    bool varies = false;
    const char *ending = path + strlen(path) - format_ending_length(path);

    for (const char *at = path; *at; at++)
        varies = varies || (at[0] == '%' && (at[1] == 'n' || at[1] == 't'));
    for (const char *at = path;; at++) {
        if (at == ending && !turn->last && !varies)
            text_format(name, ".%05llu", (unsigned long long)turn->number);
        if (!*at)
            return;
        if (*at != '%')
            text_append(name, at, 1);
        else if (*++at == 'n')
            text_format(name, "%05llu", (unsigned long long)turn->number);
        else if (*at == 't')
            add_time(name, turn->began);
        else
            text_add(name, "%");
    }
}

/* ---- Writing ---- */

int report_files_check(const struct report_files *files)
{
    const struct report_turn turn = {.number = 1, .last = true};
    int status = 0;

    for (size_t i = 0; i < files->count && !status; i++) {
        struct text name = {0};
        if (!files->items[i].path)
            continue;
        report_files_add_name(&name, files->items[i].path, &turn);
        int result = name.failed ? -ENOMEM : whole_file_check(name.data);
        if (result) {
            say("-o: cannot write \"%s\": %s", files->items[i].path, strerror(-result));
            status = EXIT_FAILURE;
        }
        text_free(&name);
    }
    return status;
}

static int write_file(const struct report_file *file, const char *name, report_writer *write,
                      void *context)
{
    struct whole_file whole;
    int result = whole_file_open(&whole, name);

    if (result)
        return result;
    result = write(context, whole.out, file->format);
    if (!result)
        return whole_file_finish(&whole);
    whole_file_drop(&whole);
    return result;
}

/* Says what became of it, where that is not what was expected. */
static void write_named(struct report_files *files, const struct report_file *file,
                        const struct report_turn *turn, report_writer *write, void *context)
{
    struct text name = {0};

    report_files_add_name(&name, file->path, turn);
    int result = name.failed ? -ENOMEM : write_file(file, name.data, write, context);
    if (result) {
        say("cannot write \"%s\": %s; what was there before is there still",
            name.data ? name.data : file->path, strerror(-result));
        files->failed = true;
    }
    text_free(&name);
}

int report_files_write(struct report_files *files, const struct report_turn *turn,
                       report_writer *write, void *context)
{
    int result = 0;

    for (size_t i = 0; i < files->count && !result; i++)
        if (files->items[i].path)
            write_named(files, &files->items[i], turn, write, context);
        else
            result = write(context, stdout, files->items[i].format);
    return result;
}
