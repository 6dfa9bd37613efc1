/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "applets/drawing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/say.h"
#include "base/text.h"
#include "base/util.h"
#include "report/report.h"

bool drawing_is_stdin(const char *path)
{
    return !strcmp(path, "-");
}

int drawing_check_words(const struct arguments *arguments, const char *old, struct text *error)
{
    size_t stdins = (old && drawing_is_stdin(old)) + !arguments->count;

    for (size_t i = 0; i < arguments->count; i++)
        stdins += drawing_is_stdin(arguments->words[i]);
    if (arguments->command)
        text_add(error, "--: no command is run; for a file of that name give ./--");
    else if (stdins > 1)
        text_add(error, "-: stdin can only be read once");
    return text_refusal(error);
}

/* ---- Reading ---- */

/* Folded stacks in memory are read like a file. */
static int read_text(struct folded *folded, const struct text *stacks)
{
    const int fd = memfd_create("stacks", MFD_CLOEXEC);

    if (fd < 0)
        return -errno;
    int result = write_all(fd, stacks->data, stacks->length);
    if (!result)
        result = lseek(fd, 0, SEEK_SET) ? -errno : folded_read(folded, fd);
    close(fd);
    return result;
}

/* Samples are not compared with microseconds. */
static bool is_of_kind(struct drawing *drawing, const struct folded *folded,
                       const struct text *kind)
{
    if (!drawing->kind.length) {
        drawing->kind_of = folded->name;
        text_append(&drawing->kind, kind->data, kind->length);
        return true;
    }
    if (drawing->kind.length == kind->length &&
        !memcmp(drawing->kind.data, kind->data, kind->length))
        return true;
    say("\"%s\" has %s, \"%s\" %s: record both in the same way", drawing->kind_of,
        drawing->kind.data, folded->name, kind->data);
    return false;
}

/* Turns a recording into folded stacks first. 0 or the exit status. */
static int read_recording(struct drawing *drawing, struct folded *folded, int fd)
{
    struct show_options options = drawing->options->show;
    struct shown shown;
    struct text why = {0};

    options.fds = &fd;
    options.count = 1;
    options.formats[0] = REPORT_FOLDED;
    options.format_count = 1;
    options.annotations = options.annotations || !drawing->is_mixed;
    options.compared = drawing->options->old;
    options.top = UINT64_MAX; /* a picture shows all, as do its counts */
    int result = recordings_show(&options, &shown);

    say_lines(&shown.lines);
    const bool is_other = !result && shown.kind.length && !is_of_kind(drawing, folded, &shown.kind);
    if (!result && !is_other)
        result = read_text(folded, &shown.reports[0]);
    if (result && result != -ECHILD) {
        recordings_explain(result, &why);
        say("\"%s\" %s", folded->name, text_or_error(&why, result));
    } else if (!result && shown.unread && drawing->options->verdict.text) {
        say("no verdict: functions of \"%s\" have no names", folded->name);
        result = -EIO;
    }
    text_free(&why);
    shown_free(&shown);
    return result || is_other ? EXIT_FAILURE : 0;
}

/* 0 or the exit status, with errors reported. */
static int read_input(struct drawing *drawing, struct folded *folded, const char *path)
{
    bool standard = drawing_is_stdin(path);
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    int result = fd < 0 ? -errno : 0, status = 0;

    folded->name = standard ? "stdin" : path;
    if (!result && recording_is_at(fd))
        status = read_recording(drawing, folded, fd);
    else if (!result)
        result = folded_read(folded, fd);
    if (fd >= 0 && !standard)
        close(fd);
    return !result ? status
        : fail_saying("cannot read \"%s\": %s", folded->name, error_words(result));
}

static void say_bad_lines(const struct folded_lines *lines, const char *what)
{
    if (lines->count)
        say("%llu line%s %s; the first is line %llu of %s", (unsigned long long)lines->count,
            lines->count == 1 ? "" : "s", what, (unsigned long long)lines->first, lines->file);
}

static void say_findings(const struct folded *folded)
{
    say_bad_lines(&folded->bad, "left out, without a stack and a count");
    say_bad_lines(&folded->large, "left out, with counts that are too large to be added up");
    say_bad_lines(&folded->odd,
              folded->pairs ? "with one count among others with two: taken as unchanged"
                            : "with a second number, taken for a part of the name");
}

/*
 * Only looks at regular files: the writer of a FIFO would see a reader come and go, and a pipe may
 * have its first bytes only once another input was read.
 */
static bool is_recording(const char *path)
{
    const bool standard = drawing_is_stdin(path);
    struct stat about;

    if ((standard ? fstat(STDIN_FILENO, &about) : stat(path, &about)) || !S_ISREG(about.st_mode))
        return false;
    const int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool is_one = fd >= 0 && recording_is_at(fd);

    if (!standard)
        close_fd(fd);
    return is_one;
}

/* Folded stacks mostly lack annotations such as _[k]: recordings compared with them get none. */
static bool is_mixed(const struct drawing *drawing, const struct arguments *arguments)
{
    const char *old = drawing->options->old;
    bool mixed = old && !is_recording(old);

    for (size_t i = 0; i < arguments->count && old; i++)
        mixed = mixed || !is_recording(arguments->words[i]);
    return mixed;
}

static int read_all(struct drawing *drawing, const struct arguments *arguments)
{
    char name[] = "-";
    const struct arguments standard = {.words = (char *[]){name}, .count = 1};
    const char *old = drawing->options->old;

    if (!arguments->count) {
        arguments = &standard;
        if (isatty(STDIN_FILENO))
            say("reading folded stacks from the terminal; end with Ctrl-D");
    }
    drawing->is_mixed = is_mixed(drawing, arguments);
    int status = old ? read_input(drawing, &drawing->old, old) : 0;

    for (size_t i = 0; i < arguments->count && !status; i++)
        status = read_input(drawing, &drawing->now, arguments->words[i]);
    say_findings(&drawing->old);
    say_findings(&drawing->now);
    if (!status && drawing->options->old && (drawing->old.pairs || drawing->now.pairs))
        status = fail_saying("--diff: \"%s\" has two counts in each line: it is a comparison "
                             "itself", drawing->old.pairs ? drawing->old.name : drawing->now.name);
    drawing->differential = drawing->options->old || drawing->now.pairs;
    return status;
}

/* ---- Writing ---- */

static const char *count_name(const struct drawing *drawing)
{
    return drawing->svg.count_name ? drawing->svg.count_name : "samples";
}

static int write_scaled(struct drawing *drawing, FILE *out, enum report_format format)
{
    if (drawing->scaled)
        flame_exchange_before(&drawing->flame, drawing->scaled);
    int result = format == REPORT_SVG
        ? svg_write(out, &drawing->flame, &drawing->svg)
        : flame_write_folded(out, &drawing->flame, drawing->differential);
    if (drawing->scaled)
        flame_exchange_before(&drawing->flame, drawing->scaled);
    return result;
}

static int write_format(void *context, FILE *out, enum report_format format)
{
    struct drawing *drawing = context;

    errno = 0;
    int result = format != REPORT_TEXT && format != REPORT_FLAT ? write_scaled(drawing, out, format)
        : drawing->differential
        ? flame_write_changes(out, &drawing->flame, drawing->options->normalize)
        : flame_write_functions(out, &drawing->flame, count_name(drawing));
    if (!result)
        result = output_flush(out);
    return result;
}

static const char *escaped(struct text *text, const char *raw)
{
    if (raw)
        escape_bytes(text, raw, strlen(raw));
    return raw && !text->length ? "" : text->data;
}

/* The texts around the stacks. 0 or -ENOMEM. */
static int make_texts(struct drawing *drawing)
{
    struct svg_options *svg = &drawing->svg;
    const struct flame_node *root = drawing->flame.nodes;
    bool failed = false;

    svg->title = escaped(&drawing->texts[0], drawing->options->title);
    svg->count_name = escaped(&drawing->texts[1], drawing->options->count_name);
    svg->notes = escaped(&drawing->texts[2], drawing->options->notes);
    if (drawing->options->subtitle)
        escape_bytes(&drawing->subtitle, drawing->options->subtitle,
                     strlen(drawing->options->subtitle));
    if (drawing->differential)
        text_format(&drawing->subtitle, "%sbefore %llu, now %llu %s%s",
                    drawing->subtitle.length ? "\n" : "", (unsigned long long)root->before,
                    (unsigned long long)root->value, count_name(drawing),
                    drawing->options->normalize ? "; before is scaled to now" : "");
    svg->subtitle = drawing->subtitle.data;
    svg->differential = drawing->differential;
    for (size_t i = 0; i < COUNT_OF(drawing->texts); i++)
        failed = failed || drawing->texts[i].failed;
    return failed || drawing->subtitle.failed ? -ENOMEM : 0;
}

static int prepare(struct drawing *drawing)
{
    bool ordered = false;

    flame_sum(&drawing->flame);
    for (size_t i = 0; i < drawing->files.count; i++)
        ordered = ordered || drawing->files.items[i].format == REPORT_FOLDED;
    int result = ordered ? flame_order(&drawing->flame) : 0;
    if (!result && drawing->options->normalize)
        result = flame_scale(&drawing->flame, &drawing->scaled);
    return result ? result : make_texts(drawing);
}

static int write_files(struct drawing *drawing)
{
    const struct report_turn turn = {.number = 1, .last = true};
    const struct flame_node *root = drawing->flame.nodes;
    int result = prepare(drawing);

    if (!result)
        result = report_files_write(&drawing->files, &turn, write_format, drawing);
    if (output_end("write", result))
        return EXIT_FAILURE;
    if (drawing->differential)
        say("before %llu, now %llu %s", (unsigned long long)root->before,
            (unsigned long long)root->value,
            count_name(drawing));
    if (!root->value)
        say("no stacks with a count%s", drawing->options->old && root->before ? " now" : "");
    return drawing->files.failed || !root->value ? EXIT_FAILURE : 0;
}

/* To stdout, unless a picture goes there. 0 or the exit status. */
static int give_verdict(const struct drawing *drawing)
{
    FILE *out = report_files_use_stdout(&drawing->files) ? stderr : stdout;
    size_t grown;

    if (!drawing->flame.nodes[0].before)
        return fail_saying("no stacks with a count before");
    errno = 0;
    int result = verdict_write(out, &drawing->flame, &drawing->options->verdict, &grown);
    if (!result)
        result = output_flush(out);
    return output_end("write", result) ? EXIT_FAILURE : grown ? EXIT_GREW : 0;
}

int drawing_make(struct drawing *drawing, const struct arguments *arguments)
{
    if (flame_init(&drawing->flame))
        return fail_saying("out of memory");
    drawing->now = (struct folded){
        .flame = &drawing->flame,
        .reversed = drawing->options->reversed,
        .bare = drawing->options->old,
    };
    drawing->old = drawing->now;
    drawing->old.side = FLAME_BEFORE;
    int status = report_files_check(&drawing->files);
    if (!status)
        status = read_all(drawing, arguments);
    if (!status)
        status = write_files(drawing);
    return status || !drawing->options->verdict.text ? status : give_verdict(drawing);
}

void drawing_close(struct drawing *drawing)
{
    folded_free(&drawing->now);
    folded_free(&drawing->old);
    flame_free(&drawing->flame);
    text_free(&drawing->subtitle);
    text_free(&drawing->kind);
    for (size_t i = 0; i < COUNT_OF(drawing->texts); i++)
        text_free(&drawing->texts[i]);
    free(drawing->scaled);
}
