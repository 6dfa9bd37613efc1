/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "report/report_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/say.h"
#include "base/text.h"
#include "base/util.h"
#include "report/whole_file.h"

#define NS_PER_MILLISECOND 1000000

/* ---- Which ---- */

struct asked {
    bool is;
    const char *option;
    enum report_format format;
};

static int refuse_two(const struct asked *one, const char *other, const char *name, struct text *error)
{
    text_format(error, "%s and %s%s are two formats: give one", one->option, other, name);
    return -EINVAL;
}

static int find_format(const struct report_files_wishes *wishes, enum report_format *format,
                       struct text *error)
{
    const struct asked asked[] = {
        {wishes->folded, "-f", REPORT_FOLDED},
        {wishes->flat, "--flat", REPORT_FLAT},
        {wishes->tree, "--tree", REPORT_TREE},
    };
    const struct asked *one = NULL;

    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        if (one && asked[i].is)
            return refuse_two(one, asked[i].option, "", error);
        if (asked[i].is)
            one = &asked[i];
    }
    *format = one ? one->format : wishes->live ? REPORT_TREE : REPORT_TEXT;
    if (!wishes->format)
        return 0;
    if (!format_by_name(wishes->format, format)) {
        text_format(error, "--format: unknown format \"%s\"; there are ", wishes->format);
        formats_add_names(error);
        return -EINVAL;
    }
    return one && *format != one->format ? refuse_two(one, "--format ", wishes->format, error) : 0;
}

static int refuse_ending(const char *path, struct text *error)
{
    text_format(error, "-o: unknown format of \"%s\": end the name in ", path);
    formats_add_endings(error);
    text_add(error, ", or give --format");
    return -EINVAL;
}

static int check_name(const char *path, uint64_t interval, struct text *error)
{
    int result = file_name_varies(path);

    if (result < 0)
        text_format(error, "-o: \"%s\": %% must be followed by n (the number of the report), t "
                    "(its time) or another %%", path);
    else if (interval && !result)
        text_format(error, "-o: with -i each report needs a file of its own: put %%n (the number "
                    "of the report) or %%t (its time) into \"%s\"", path);
    return error->length || error->failed ? -EINVAL : 0;
}

static int refuse_twice(const struct report_files *files, const char *path, struct text *error)
{
    for (size_t i = 0; i < files->count; i++) {
        const char *other = files->items[i].path;
        if (path && other ? !strcmp(path, other) : path == other) {
            text_format(error, "-o: \"%s\" is given twice", path ? path : "-");
            return -EINVAL;
        }
    }
    return 0;
}

static int add_file(struct report_files *files, const char *path, const enum report_format *format,
                    const struct report_files_wishes *wishes, struct text *error)
{
    struct report_file file = {.path = path};

    if (!*path) {
        text_add(error, "-o: needs the name of a file");
        return -EINVAL;
    }
    if (!format_by_ending(path, &file.format)) {
        if (!format)
            return refuse_ending(path, error);
        file.format = *format;
    }
    if (check_name(path, wishes->interval, error) || refuse_twice(files, path, error))
        return -EINVAL;
    if (keep_is_asked(&wishes->keep) && keep_check_name(path, error))
        return -EINVAL;
    files->items[files->count++] = file;
    return 0;
}

/* Any name of our stdout is stdout. */
static bool is_stdout(const char *path)
{
    return !strcmp(path, "-") || !strcmp(path, "/dev/stdout") || !strcmp(path, "/dev/fd/1") ||
           !strcmp(path, "/proc/self/fd/1");
}

bool report_files_use_stdout(const struct report_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        if (!files->items[i].path)
            return true;
    return false;
}

bool report_files_print_document(const struct report_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        if (!files->items[i].path && format_is_document(files->items[i].format))
            return true;
    return false;
}

/* What is shown grows until the end. */
static int check_live(const struct report_files_wishes *wishes, enum report_format format,
                      struct text *error)
{
    if (wishes->interval)
        text_add(error, "--live and -i cannot be combined: --live shows the run so far, -i parts "
                        "of it");
    else if (format != REPORT_TREE && format != REPORT_FLAT)
        text_add(error, "--live: shows only --tree or --flat; write other formats with -o FILE");
    return error->length ? -EINVAL : 0;
}

int report_files_choose(struct report_files *files, const struct report_files_wishes *wishes,
                        struct text *error)
{
    enum report_format format, ending;
    bool given = wishes->format || wishes->folded || wishes->flat || wishes->tree || wishes->live, used = false;
    int result = find_format(wishes, &format, error);

    *files = (struct report_files){.plain = !given && !wishes->paths->count, .keep = wishes->keep};
    for (size_t i = 0; i < wishes->paths->count && !result; i++) {
        const char *path = wishes->paths->strings[i];
        if (is_stdout(path)) {
            result = refuse_twice(files, NULL, error);
            files->items[files->count++] = (struct report_file){.format = format};
            used = true;
            continue;
        }
        used = used || !format_by_ending(path, &ending) || ending == format;
        result = add_file(files, path, given ? &format : NULL, wishes, error);
    }
    if (!result && keep_is_asked(&wishes->keep) && !wishes->paths->count) {
        text_add(error, "--keep: needs -o FILE, whose older files it deletes");
        result = -EINVAL;
    }
    if (!result && wishes->live)
        result = check_live(wishes, format, error);
    if (!result && (!wishes->paths->count || (given && !used) ||
                    (wishes->live && !report_files_use_stdout(files))))
        files->items[files->count++] = (struct report_file){.format = format};
    if (!result && wishes->interval && report_files_print_document(files)) {
        text_add(error, "-i: each report is a document of its own in this format: write them with "
                 "-o FILE and %n in its name");
        result = -EINVAL;
    }
    return result;
}

bool report_files_have(const struct report_files *files, enum report_format format)
{
    for (size_t i = 0; i < files->count; i++)
        if (files->items[i].format == format)
            return true;
    return false;
}

/* ---- Writing ---- */

static bool is_binary(enum report_format format)
{
    return format == REPORT_PPROF || format == REPORT_SBX;
}

/* Binary output would change a terminal's settings. */
static bool refuse_terminal(const struct report_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        if (!files->items[i].path && is_binary(files->items[i].format) && isatty(STDOUT_FILENO)) {
            const bool is_pprof = files->items[i].format == REPORT_PPROF;
            say("--format %s: binary output does not go to a terminal: use -o FILE.%s",
                is_pprof ? "pprof" : "sbx", is_pprof ? "pb.gz" : "sbx");
            return true;
        }
    return false;
}

/* What is wrong, in one line, or nothing. */
static void check_file(const struct report_files *files, const char *path, struct text *error)
{
    const struct report_turn turn = {.number = 1, .last = true};
    struct text name = {0};

    file_name_add(&name, path, &turn);
    int result = name.failed ? -ENOMEM : whole_file_check(name.data);
    if (result)
        text_format(error, "-o: cannot write \"%s\": %s", path, strerror(-result));
    else if (keep_is_asked(&files->keep))
        (void)keep_check_place(path, error);
    text_free(&name);
}

int report_files_check(const struct report_files *files)
{
    struct text error = {0};
    int status = refuse_terminal(files) ? EXIT_FAILURE : 0;

    for (size_t i = 0; i < files->count && !status; i++) {
        if (files->items[i].path)
            check_file(files, files->items[i].path, &error);
        if (error.length || error.failed) {
            say("%s", error.failed ? strerror(ENOMEM) : error.data);
            status = EXIT_FAILURE;
        }
    }
    text_free(&error);
    return status;
}

/* A name that exists already, because the clock was set back for example, is left alone. */
static int finish_anew(struct whole_file *whole, struct text *name, const char *path, struct report_turn turn)
{
    int result = whole_file_finish(whole);

    while (result == -EEXIST) {
        turn.began += NS_PER_MILLISECOND;
        text_clear(name);
        file_name_add(name, path, &turn);
        result = name->failed ? -ENOMEM : whole_file_rename(whole, name->data);
        if (result)
            whole_file_drop(whole);
        else
            result = whole_file_finish(whole);
    }
    return result;
}

static int write_file(const struct report_file *file, struct text *name, const struct report_turn *turn,
                      report_writer *write, void *context)
{
    const bool anew = file_name_varies(file->path) & FILE_NAME_HAS_TIME;
    struct whole_file whole;
    int result = anew ? whole_file_open_anew(&whole, name->data) : whole_file_open(&whole, name->data);

    if (result)
        return result;
    /* It holds kernel addresses, and what everybody's programs do. */
    if (file->format == REPORT_SBX && !whole.special)
        (void)fchmod(fileno(whole.out), S_IRUSR | S_IWUSR); /* some file systems have no modes */
    result = write(context, whole.out, file->format);
    if (result)
        whole_file_drop(&whole);
    else
        result = anew ? finish_anew(&whole, name, file->path, *turn) : whole_file_finish(&whole);
    return result;
}

static bool is_file(const char *name)
{
    struct stat about;

    return name && !stat(name, &about) && S_ISREG(about.st_mode);
}

/* Old files go, whether or not there was room for this one. */
static void prune(const struct report_files *files, struct report_file *file, const char *name)
{
    if (!keep_is_asked(&files->keep))
        return;
    int result = keep_prune(&files->keep, file->path, name, &file->times);
    if (result == -EPERM)
        say("--keep: other users may now write to the directory of \"%s\": nothing is deleted "
            "there", file->path);
    else if (result)
        say("--keep: cannot delete old files of \"%s\": %s", file->path, strerror(-result));
}

/* Reports the result if it is not the expected one. Was it written? */
static bool write_named(struct report_files *files, struct report_file *file,
                        const struct report_turn *turn, report_writer *write, void *context)
{
    struct text name = {0};

    file_name_add(&name, file->path, turn);
    int result = name.failed ? -ENOMEM : write_file(file, &name, turn, write, context);
    if (result) {
        say("cannot write \"%s\": %s%s", name.failed ? file->path : name.data, strerror(-result),
            is_file(name.data) ? "; the existing file is an older one" : "");
        files->failed = true;
    }
    if (!name.failed)
        prune(files, file, name.data);
    text_free(&name);
    return !result;
}

/* Of two reports that began within the same millisecond, the later one gets a later time. */
static struct report_turn tell_apart(struct report_files *files, const struct report_turn *turn)
{
    struct report_turn own = *turn;

    if (own.began / NS_PER_MILLISECOND == files->began / NS_PER_MILLISECOND)
        own.began = files->began + NS_PER_MILLISECOND;
    files->began = own.began;
    return own;
}

int report_files_write(struct report_files *files, const struct report_turn *turn,
                       report_writer *write, void *context)
{
    const struct report_turn own = tell_apart(files, turn);
    bool whole = true;
    int result = 0;

    for (size_t i = 0; i < files->count; i++) {
        struct report_file *file = &files->items[i];
        if (file->path)
            whole = write_named(files, file, &own, write, context) && whole;
        else
            result = write(context, stdout, file->format);
    }
    files->unwritten = whole ? 0 : files->unwritten + 1;
    return result;
}
