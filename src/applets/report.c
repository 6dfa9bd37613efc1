/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* report: symbolizes on one machine what was recorded on another. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "applets/applets.h"
#include "applets/drawing.h"
#include "attach/attach.h"
#include "base/say.h"
#include "base/text.h"
#include "options/applet.h"
#include "run/trace_options.h"


static struct settings {
    struct show_options show;
    struct string_list outputs;
    const char *format;
    struct {
        bool wanted;
        uint64_t functions;
    } flat;
    bool folded, diff, normalize;
} settings;

#define AT(member) offsetof(struct settings, member)

static int take_flat(const struct option *option, const char *text, void *destination,
                     struct text *error)
{
    (void)destination;
    settings.flat.wanted = true;
    return text ? option_number(option, text, &settings.show.functions, error) : 0;
}

static const struct option own_options[] = {
    OPTION_HEADING("Names"),
    {0, "symfs", "DIR", option_string, AT(show.symfs), 0, 0,
     "look for programs, libraries and debug files below DIR, a copy of the recorded machine's "
     "root or parts of it", ""},
    {0, "missing", NULL, option_flag, AT(show.missing), 0, 0,
     "print only the build ids of files without symbols, one per line, for debuginfod-find(1)"},
    {0, "raw-names", NULL, option_flag, AT(show.raw_names), 0, 0,
     "do not demangle C++ and Rust names"},
    {0, "shorten", NULL, option_flag, AT(show.names.shorten), 0, 0,
     "print C++ template and Rust generic arguments as <...>"},
    OPTION_HEADING("Two recordings"),
    {0, "diff", NULL, option_flag, AT(diff), 0, 0,
     "compare two, the older first",
     ": one line per function whose own count changed; -o FILE.svg draws it"},
    {0, "normalize", NULL, option_flag, AT(normalize), 0, 0, "compare shares, not counts"},
    OPTION_HEADING("Output"),
    {'f', "folded", NULL, option_flag, AT(folded), 0, 0,
     "one line per stack, root first, as flame graph tools read it", ""},
    {'o', "output", "FILE", option_strings, AT(outputs), 0, 0,
     "write the report to FILE",
     "; its extension picks the format: .txt, .folded, .flat, .svg (a flame graph), .pb.gz "
     "(pprof), .speedscope.json; may be repeated"},
    {0, "format", "FORMAT", option_string, AT(format), 0, 0,
     "format of stdout and of files with other extensions: text, folded, flat, svg, pprof or "
     "speedscope"},
    {0, "flat", "[N]", take_flat, AT(flat), 1, UINT64_MAX,
     "functions instead of stacks",
     ": their own share (self) and that including callees (total); the top N if a number follows"},
    {'d', "delimited", NULL, option_flag, AT(show.delimited), 0, 0,
     "print -- between kernel and user stack; - in folded output"},
    {'s', "offset", NULL, option_flag, AT(show.offset), 0, 0, "print offsets within functions: "
                                                              "name+0x1f"},
    {'v', "verbose", NULL, option_flag, AT(show.verbose), 0, 0,
     "print addresses, and modules of kernel functions"},
    {'a', "annotations", NULL, option_flag, AT(show.annotations), 0, 0, "print _[k] after kernel "
                                                                        "functions"},
    {0, "inverted", NULL, option_flag, AT(show.inverted), 0, 0,
     "flame graphs have their root at the top"},
    {0, "top", "N", option_number, AT(show.top), 1, UINT64_MAX,
     "the top N stacks only", "; a line tells how much is left out"},
    {0, "by", "WHO", trace_option_by, AT(show.by), 0, 0,
     "count stacks by process, name, or thread (if recorded with --by thread)"},
    {0, "by-name", NULL, trace_option_by, AT(show.by), GROUP_BY_NAME, 0, "same as --by name"},
    OPTION_HEADING("Other"),
    {0, "debug", NULL, option_flag, AT(show.debug), 0, 0,
     "print on stderr what was recorded, when and where, and the account of events"},
    {0},
};

static const struct option *const options[] = {own_options, common_options, NULL};

static const struct manual_row names[] = {
    {NULL, "A recording holds the addresses of stacks and identifies their files by build id, or "
     "by size and hash; for the kernel, JIT-compiled code and the vDSO it holds names. Only the "
     "very file that was recorded is used for names."},
    {NULL, "Files are looked up by path, below --symfs if given; then by build id, in .build-id "
     "and usr/lib/.build-id below --symfs, in /usr/lib/.build-id, and in "
     "debuginfod-find(1)'s cache. Debug files are looked up there and in usr/lib/debug."},
    {0},
};

static const struct manual_section sections[] = {{"Names", names}, {0}};

static const struct manual_row examples[] = {
    {"report run.sbx", "what `profile -o run.sbx 10` recorded, as text"},
    {"report --symfs sysroot -o out.svg run.sbx", "a flame graph, with symbols from a copy of "
                                                  "that machine"},
    {"report --missing run.sbx", "build ids for debuginfod-find debuginfo"},
    {"report --flat 10 monday.sbx tuesday.sbx", "the sum of both"},
    {"report --diff before.sbx after.sbx", "what changed"},
    {0},
};

static const struct manual_row notes[] = {
    {NULL, "Options given when recording (-d, -s, -v, -a, --top, --by and the like) apply to the "
     "report, too, but -d, -s and --top not to --diff; options here add to them. Several "
     "recordings of the same kind of event are added up."},
    {NULL, "Recordings need not be trusted: a sandboxed process reads them, and the paths in them "
     "only open regular files, below --symfs if given. A recording is readable only by its owner "
     "(mode 0600), since it contains kernel addresses."},
    {0},
};

/* ---- Writing ---- */

struct reporting {
    const struct show_options *asked;
    const struct shown *shown;
};

static int write_format(void *context, FILE *out, enum report_format format)
{
    const struct reporting *reporting = context;

    for (size_t i = 0; i < reporting->asked->format_count; i++)
        if (reporting->asked->formats[i] == format)
            return output_text(out, &reporting->shown->reports[i]);
    return 0;
}

static int write_report(struct report_files *files, const struct show_options *asked,
                        const struct shown *shown)
{
    const struct report_turn turn = {.number = 1, .began = shown->began, .last = true};
    struct reporting reporting = {asked, shown};
    int result = 0;

    if (asked->missing)
        fputs(text_string(&shown->missing), stdout);
    else
        result = report_files_write(files, &turn, write_format, &reporting);
    return output_end("write", result) || files->failed ? EXIT_FAILURE : 0;
}

/* ---- Reading ---- */

/* 0 or the exit status. */
static int open_all(const struct arguments *arguments, int *fds)
{
    attach_allow_descriptors(arguments->count);
    for (size_t i = 0; i < arguments->count; i++) {
        const char *path = arguments->words[i];
        fds[i] = drawing_is_stdin(path) ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
        if (fds[i] < 0)
            return fail_saying("cannot read \"%s\": %s", path, strerror(errno));
    }
    return 0;
}

static int report_all(const struct arguments *arguments, struct report_files *files)
{
    struct show_options *asked = &settings.show;
    struct shown shown = {0};
    struct text why = {0};
    int result = recordings_show(asked, &shown), status = EXIT_FAILURE;

    if (!asked->missing || result)
        say_lines(&shown.lines);
    if (!result) {
        status = write_report(files, asked, &shown);
    } else if (result != -ECHILD) {
        recordings_explain(result, &why);
        say("\"%s\" %s", arguments->words[shown.failed], text_or_error(&why, result));
    }
    text_free(&why);
    shown_free(&shown);
    return status;
}

static int report(const struct arguments *arguments, struct report_files *files)
{
    int *fds = calloc(arguments->count, sizeof(*fds));
    int status = fds ? open_all(arguments, fds) : applet_refuse(-ENOMEM, &(struct text){0}, false);

    settings.show.fds = fds;
    settings.show.paths = arguments->words;
    settings.show.count = arguments->count;
    if (!status)
        status = report_files_check(files);
    if (!status)
        status = report_all(arguments, files);
    for (size_t i = 0; fds && i < arguments->count; i++)
        if (fds[i] > STDERR_FILENO)
            close(fds[i]);
    free(fds);
    return status;
}

/* Compares like flamegraph; the words are the new files. */
static int compare(const struct arguments *arguments, const struct report_files *files)
{
    const struct drawing_options asked = {
        .old = arguments->words[0],
        .show = settings.show,
        .normalize = settings.normalize,
    };
    const struct arguments now = {.words = arguments->words + 1, .count = 1};
    struct drawing drawing = {.options = &asked, .files = *files,
                              .svg.inverted = settings.show.inverted};
    int status = drawing_make(&drawing, &now);

    drawing_close(&drawing);
    return status;
}

/* ---- The command line ---- */

static int choose_formats(const struct report_files *files, struct text *error)
{
    struct show_options *asked = &settings.show;

    for (size_t i = 0; i < files->count && !error->length; i++) {
        const enum report_format format = files->items[i].format;
        size_t at = 0;
        while (at < asked->format_count && asked->formats[at] != format)
            at++;
        if (format == REPORT_SBX)
            text_add(error, "report does not write recordings: use another format");
        else if (settings.diff &&
                 (format == REPORT_PPROF || format == REPORT_SPEEDSCOPE || format == REPORT_FLAT))
            text_add(error, "--diff: a comparison is text, svg or folded");
        else if (at == asked->format_count)
            asked->formats[asked->format_count++] = format;
    }
    return text_refusal(error);
}

static int check_words(const struct arguments *arguments, struct text *error)
{
    if (drawing_check_words(arguments, NULL, error))
        return -EINVAL;
    if (!arguments->count)
        text_add(error, "which recording? make one with -o FILE.sbx of an applet that counts");
    else if (settings.diff && arguments->count != 2)
        text_add(error, "--diff: needs two recordings, the older first");
    else if (settings.normalize && !settings.diff)
        text_add(error, "--normalize: needs --diff, whose older recording it scales");
    else if (settings.diff && (settings.show.missing || settings.show.top))
        text_format(error, "--diff and --%s cannot be combined",
                    settings.show.missing ? "missing" : "top");
    else if (settings.show.missing && settings.outputs.count)
        text_add(error, "--missing prints to stdout: leave out -o");
    else if (settings.show.raw_names && settings.show.names.shorten)
        text_add(error, "--shorten and --raw-names cannot be combined");
    return text_refusal(error);
}

static int check_usage(const struct arguments *arguments, struct report_files *files,
                       struct text *error)
{
    const struct report_files_options asked = {
        .paths = &settings.outputs,
        .format = settings.format,
        .folded = settings.folded,
        .flat = settings.flat.wanted,
    };
    int result = check_words(arguments, error);

    if (!result)
        result = report_files_choose(files, &asked, error);
    if (!result)
        result = choose_formats(files, error);
    return applet_see_help(result, error);
}

static int run(const struct arguments *arguments)
{
    struct report_files files;
    struct text error = {0};
    int result = check_usage(arguments, &files, &error);

    if (result)
        return applet_refuse(result, &error, false);
    return settings.diff ? compare(arguments, &files) : report(arguments, &files);
}

const struct applet report_applet = {
    .name = "report",
    .summary = "turn recordings into reports, in any format",
    .usage = "[options] FILE.sbx...",
    .about = "Turns recordings, made by -o FILE.sbx of the applets that count, into the reports "
             "those applets would have made, naming functions by the files and debug files here.",
    .sections = sections,
    .examples = examples,
    .notes = notes,
    .options = options,
    .settings = &settings,
    .filter = true,
    .run = run,
};
