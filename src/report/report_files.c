/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "report/report_files.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/say.h"
#include "base/util.h"
#include "report/atomic_file.h"

static const struct format {
    const char *name, *ending;
    bool is_document; /* one: reports in other formats may follow one another in a file */
    bool is_binary;
} formats[] = {
    [REPORT_TEXT] = {"text", ".txt"},
    [REPORT_FOLDED] = {"folded", ".folded"},
    [REPORT_FLAT] = {"flat", ".flat"},
    [REPORT_TREE] = {"tree", ".tree"},
    [REPORT_SVG] = {"svg", ".svg", true},
    [REPORT_PPROF] = {"pprof", ".pb.gz", true, true},
    [REPORT_SPEEDSCOPE] = {"speedscope", ".speedscope.json", true},
    [REPORT_SBX] = {"sbx", ".sbx", true, true},
};

bool format_by_name(const char *name, enum report_format *format)
{
    for (size_t i = 0; i < COUNT_OF(formats); i++)
        if (!strcmp(formats[i].name, name)) {
            *format = (enum report_format)i;
            return true;
        }
    return false;
}

/* The format of a file with this suffix; NULL: there is none. */
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

/* Appends all names, or all suffixes: "text, folded, svg". */
static void add_each(struct text *text, size_t member)
{
    const char *between = "";

    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        text_format(text, "%s%s", between, *(const char *const *)((const char *)&formats[i] +
                                                                  member));
        between = ", ";
    }
}

#define NS_PER_SECOND 1000000000
#define NS_PER_MILLISECOND 1000000
#define DIGITS 5 /* of a number, at least */

int file_name_varies(const char *path)
{
    int does = 0;

    for (const char *at = strchr(path, '%'); at; at = strchr(at + 2, '%')) {
        if (!at[1] || !strchr("nt%", at[1]))
            return -EINVAL;
        does |= at[1] == 'n' ? FILE_NAME_NUMBER : at[1] == 't' ? FILE_NAME_HAS_TIME : 0;
    }
    return does;
}

static void add_time(struct text *name, uint64_t began)
{
    time_t seconds = (time_t)(began / NS_PER_SECOND);
    struct tm when = {0};

    localtime_r(&seconds, &when);
    text_format(name, "%04d%02d%02d-%02d%02d%02d.%03u", 1900 + when.tm_year, 1 + when.tm_mon,
                when.tm_mday,
                when.tm_hour, when.tm_min, when.tm_sec,
                    (unsigned)(began % NS_PER_SECOND / NS_PER_MILLISECOND));
}

static void add_number(struct text *name, uint64_t number)
{
    text_format(name, "%0*llu", DIGITS, (unsigned long long)number);
}

void file_name_add(struct text *name, const char *path, const struct report_turn *turn)
{
    bool numbered = !turn->last && file_name_varies(path) <= 0;
    const struct format *format = find_by_ending(path);
    const char *ending = path + strlen(path) - (format ? strlen(format->ending) : 0);

    for (const char *at = path;; at++) {
        if (at == ending && numbered) {
            text_add(name, ".");
            add_number(name, turn->number);
        }
        if (!*at)
            return;
        if (*at != '%')
            text_append(name, at, 1);
        else if (*++at == 'n')
            add_number(name, turn->number);
        else if (*at == 't')
            add_time(name, turn->began);
        else
            text_add(name, "%");
    }
}

/* Could add_time() have appended this? */
static bool is_time(const char *name)
{
    static const char form[] = "dddddddd-dddddd.ddd";

    for (size_t i = 0; i < FILE_NAME_TIME; i++)
        if (form[i] == 'd' ? !isdigit((unsigned char)name[i]) : name[i] != form[i])
            return false;
    return true;
}

bool file_name_fits(const char *path, const char *name, char when[FILE_NAME_TIME + 1])
{
    when[0] = '\0';
    for (; *path; path++) {
        if (*path == '%' && *++path != '%') {
            size_t length = *path == 't' ? FILE_NAME_TIME : strspn(name, "0123456789");
            if (*path == 't' ? !is_time(name) : length < DIGITS)
                return false;
            if (*path == 't' && !when[0]) {
                memcpy(when, name, length);
                when[length] = '\0';
            }
            name += length;
        } else if (*path != *name++) {
            return false;
        }
    }
    return !*name;
}

/* These need no quotes in a shell. */
static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                            "_-+=:,./@%^";

/* A word as one would type it in a shell. */
static void add_word(struct text *line, const char *word)
{
    if (*word && !word[strspn(word, plain)]) {
        text_add(line, word);
        return;
    }
    text_add(line, "'");
    for (; *word; word++)
        if (*word == '\'')
            text_add(line, "'\\''");
        else
            text_append(line, word, 1);
    text_add(line, "'");
}

int metadata_init(struct report_metadata *metadata, const char *applet, char *const *words)
{
    *metadata = (struct report_metadata){.about.applet = applet};
    uname(&metadata->system);
    text_add(&metadata->command_line, applet);
    for (char *const *word = words + 1; words[0] && *word; word++) {
        text_add(&metadata->command_line, " ");
        add_word(&metadata->command_line, *word);
    }
    metadata->about.host = metadata->system.nodename;
    metadata->about.kernel = metadata->system.release;
    metadata->about.command_line = metadata->command_line.data;
    metadata->about.losses = "";
    return metadata->command_line.failed ? -ENOMEM : 0;
}

void metadata_begin(struct report_metadata *metadata)
{
    if (!metadata->next_began)
        metadata->start = now_ns();
    metadata->about.began = metadata->next_began ? metadata->next_began : clock_ns(CLOCK_REALTIME);
    metadata->about.losses = "";
    text_clear(&metadata->losses);
}

/* The monotonic clock tells how long it took: the time of day may be set meanwhile. */
void metadata_end(struct report_metadata *metadata)
{
    uint64_t now = now_ns();

    metadata->about.ended = metadata->about.began + (now - metadata->start);
    metadata->next_began = clock_ns(CLOCK_REALTIME);
    metadata->start = now;
}

void metadata_count(struct report_metadata *metadata, uint64_t events)
{
    metadata->about.events = events;
    metadata->about.losses =
        metadata->losses.length && !metadata->losses.failed ? metadata->losses.data : "";
}

void metadata_free(struct report_metadata *metadata)
{
    text_free(&metadata->command_line);
    text_free(&metadata->losses);
    *metadata = (struct report_metadata){0};
}

/* ---- Which ---- */

struct asked {
    bool is;
    const char *option;
    enum report_format format;
};

static int refuse_two(const struct asked *one, const char *other, const char *name,
                      struct text *error)
{
    return text_refuse(error, "%s and %s%s are two formats: give one", one->option, other, name);
}

static int find_format(const struct report_files_options *options, enum report_format *format,
                       struct text *error)
{
    const struct asked asked[] = {
        {options->folded, "-f", REPORT_FOLDED},
        {options->flat, "--flat", REPORT_FLAT},
        {options->tree, "--tree", REPORT_TREE},
    };
    const struct asked *one = NULL;

    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        if (one && asked[i].is)
            return refuse_two(one, asked[i].option, "", error);
        if (asked[i].is)
            one = &asked[i];
    }
    *format = one ? one->format : options->live ? REPORT_TREE : REPORT_TEXT;
    if (!options->format)
        return 0;
    if (!format_by_name(options->format, format)) {
        text_format(error, "--format: unknown format \"%s\"; there are ", options->format);
        add_each(error, offsetof(struct format, name));
        return -EINVAL;
    }
    return one && *format != one->format ? refuse_two(one, "--format ", options->format, error) : 0;
}

static int refuse_ending(const char *path, struct text *error)
{
    text_format(error, "-o: unknown format of \"%s\": end the name in ", path);
    add_each(error, offsetof(struct format, ending));
    return text_refuse(error, ", or give --format");
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
    return text_refusal(error);
}

static int refuse_twice(const struct report_files *files, const char *path, struct text *error)
{
    for (size_t i = 0; i < files->count; i++) {
        const char *other = files->items[i].path;
        if (path && other ? !strcmp(path, other) : path == other)
            return text_refuse(error, "-o: \"%s\" is given twice", path ? path : "-");
    }
    return 0;
}

static int add_file(struct report_files *files, const char *path, const enum report_format *format,
                    const struct report_files_options *options, struct text *error)
{
    const struct format *by_ending = find_by_ending(path);

    if (!*path)
        return text_refuse(error, "-o: needs the name of a file");
    if (!by_ending && !format)
        return refuse_ending(path, error);
    if (check_name(path, options->interval, error) || refuse_twice(files, path, error))
        return -EINVAL;
    if (retention_is_asked(&options->keep) && retention_check_name(path, error))
        return -EINVAL;
    files->items[files->count++] = (struct report_file){
        .path = path,
        .format = by_ending ? (enum report_format)(by_ending - formats) : *format,
    };
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
        if (!files->items[i].path && formats[files->items[i].format].is_document)
            return true;
    return false;
}

/* --live shows the whole run so far, so it excludes intervals. */
static int check_live(const struct report_files_options *options, enum report_format format,
                      struct text *error)
{
    if (options->interval)
        text_add(error, "--live and -i cannot be combined: --live shows the run so far, -i parts "
                        "of it");
    else if (format != REPORT_TREE && format != REPORT_FLAT)
        text_add(error, "--live: shows only --tree or --flat; write other formats with -o FILE");
    return text_refusal(error);
}

int report_files_choose(struct report_files *files, const struct report_files_options *options,
                        struct text *error)
{
    enum report_format format;
    bool given = options->format || options->folded || options->flat || options->tree ||
        options->live,
        used = false;
    int result = find_format(options, &format, error);

    *files = (struct report_files){.plain = !given && !options->paths->count,
                                   .keep = options->keep};
    for (size_t i = 0; i < options->paths->count && !result; i++) {
        const char *path = options->paths->strings[i];
        if (is_stdout(path)) {
            result = refuse_twice(files, NULL, error);
            files->items[files->count++] = (struct report_file){.format = format};
            used = true;
            continue;
        }
        const struct format *by_ending = find_by_ending(path);
        used = used || !by_ending || by_ending == &formats[format];
        result = add_file(files, path, given ? &format : NULL, options, error);
    }
    if (!result && retention_is_asked(&options->keep) && !options->paths->count)
        result = text_refuse(error, "--keep: needs -o FILE, whose older files it deletes");
    if (!result && options->live)
        result = check_live(options, format, error);
    if (!result && (!options->paths->count || (given && !used) ||
                    (options->live && !report_files_use_stdout(files))))
        files->items[files->count++] = (struct report_file){.format = format};
    if (!result && options->interval && report_files_print_document(files))
        result = text_refuse(error, "-i: each report is a document of its own in this format: "
                             "write them with -o FILE and %%n in its name");
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

/* Binary output would change a terminal's settings. */
static bool refuse_terminal(const struct report_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        const struct format *format = &formats[files->items[i].format];
        if (files->items[i].path || !format->is_binary || !isatty(STDOUT_FILENO))
            continue;
        say("--format %s: binary output does not go to a terminal: use -o FILE%s", format->name,
            format->ending);
        return true;
    }
    return false;
}

/* Says in one line why the file cannot be written, or nothing. */
static void check_file(const struct report_files *files, const char *path, struct text *error)
{
    const struct report_turn turn = {.number = 1, .last = true};
    struct text name = {0};

    file_name_add(&name, path, &turn);
    int result = name.failed ? -ENOMEM : atomic_file_check(name.data);
    if (result)
        text_format(error, "-o: cannot write \"%s\": %s", path, strerror(-result));
    else if (retention_is_asked(&files->keep))
        (void)retention_check_place(path, error);
    text_free(&name);
}

int report_files_check(const struct report_files *files)
{
    struct text error = {0};
    int status = refuse_terminal(files) ? EXIT_FAILURE : 0;

    for (size_t i = 0; i < files->count && !status; i++) {
        if (files->items[i].path)
            check_file(files, files->items[i].path, &error);
        if (error.length || error.failed)
            status = fail_saying("%s", error.failed ? error_words(-ENOMEM) : error.data);
    }
    text_free(&error);
    return status;
}

/* An existing file, for example after the clock was set back, stays: tries the next name. */
static int finish_anew(struct atomic_file *whole, struct text *name, const char *path,
                       struct report_turn turn)
{
    int result = atomic_file_finish(whole);

    while (result == -EEXIST) {
        turn.began += NS_PER_MILLISECOND;
        text_clear(name);
        file_name_add(name, path, &turn);
        result = name->failed ? -ENOMEM : atomic_file_rename(whole, name->data);
        if (result)
            atomic_file_drop(whole);
        else
            result = atomic_file_finish(whole);
    }
    return result;
}

static int write_file(const struct report_file *file, struct text *name,
                      const struct report_turn *turn,
                      report_writer *write, void *context)
{
    const bool anew = file_name_varies(file->path) & FILE_NAME_HAS_TIME;
    struct atomic_file whole;
    int result = atomic_file_open(&whole, name->data, anew);

    if (result)
        return result;
    /* A recording shows kernel addresses, and what all users' programs do. */
    if (file->format == REPORT_SBX && !whole.special)
        (void)fchmod(fileno(whole.out), S_IRUSR | S_IWUSR); /* some file systems have no modes */
    result = write(context, whole.out, file->format);
    if (result)
        atomic_file_drop(&whole);
    else
        result = anew ? finish_anew(&whole, name, file->path, *turn) : atomic_file_finish(&whole);
    return result;
}

static bool is_file(const char *name)
{
    struct stat about;

    return name && !stat(name, &about) && S_ISREG(about.st_mode);
}

/* Deletes old files, even if this one failed for lack of room. */
static void prune(const struct report_files *files, struct report_file *file, const char *name)
{
    if (!retention_is_asked(&files->keep))
        return;
    int result = retention_prune(&files->keep, file->path, name, &file->times);
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
        say("cannot write \"%s\": %s%s", name.failed ? file->path : name.data, error_words(result),
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
