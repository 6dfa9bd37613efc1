/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* flamegraph: turns folded stacks of any tool into a picture, text, or sorted folded stacks. */
#include <errno.h>
#include <string.h>

#include "applets/applets.h"
#include "applets/drawing.h"
#include "base/text.h"
#include "options/applet.h"

#define LEAST_WIDTH 100
#define MOST_WIDTH 1000000
#define NOMINAL_WIDTH 1200

static struct settings {
    struct drawing_options drawing;
    const char *colors, *least_width, *format;
    uint64_t width;
    bool diff, inverted, negate;
    struct string_list outputs;
} settings;

#define AT(member) offsetof(struct settings, member)
#define DRAWING(member) offsetof(struct settings, drawing.member)

/* OLD is optional: without it, the first FILE is OLD. */
static int take_diff(const struct option *option, const char *text, void *destination,
                     struct text *error)
{
    struct settings *to = destination;

    (void)option, (void)error;
    to->diff = true;
    to->drawing.old = text;
    return 0;
}

#define UNSCALED "not supported: counts are drawn as they are"

static const struct option own_options[] = {
    OPTION_HEADING("Files"),
    {'o', "output", "FILE", option_strings, AT(outputs), 0, 0,
     "write to FILE",
     "; its extension picks the format: .svg, .folded, .txt (text); may be repeated"},
    {0, "format", "FORMAT", option_string, AT(format), 0, 0,
     "format of stdout and of files with other extensions: svg (default), text or folded"},
    OPTION_HEADING("Two profiles"),
    {0, "diff", "[OLD]", take_diff, 0, 0, 0,
     "compare with the stacks in OLD",
     " (default: the first FILE): what grew is red, what shrank is blue; as text, one line per "
     "function whose own count changed"},
    {0, "fail-above", "PERCENT", option_string, DRAWING(verdict.text), 0, 0,
     "exit with 3 if a function's share, self or total, certainly grew by more than PERCENT "
     "percentage points", "; print the three that grew most"},
    {0, "normalize", NULL, option_flag, DRAWING(normalize), 0, 0,
     "compare shares, not counts: OLD is scaled to the new total"},
    {0, "negate", NULL, option_flag, AT(negate), 0, 0,
     "what grew is blue, what shrank is red"},
    {0, "symfs", "DIR", option_string, DRAWING(show.symfs), 0, 0,
     "for recordings: look for programs, libraries and debug files below DIR"},
    OPTION_HEADING("Picture"),
    {0, "title", "TEXT", option_string, DRAWING(title), 0, 0,
     "title of the picture", " (default: Flame Graph)"},
    {0, "subtitle", "TEXT", option_string, DRAWING(subtitle), 0, 0, "a line below the title"},
    {0, "width", "PX", option_number, AT(width), 1, MOST_WIDTH,
     "a fixed width (default: the window's)"},
    {0, "minwidth", "PX", option_string, AT(least_width), 0, 0,
     "leave out narrower frames; PX may be a share of the width, such as 0.1%; 0: draw all "
     "(default: 1)"},
    {0, "countname", "NAME", option_string, DRAWING(count_name), 0, 0,
     "what is counted (default: samples)"},
    {0, "colors", "PALETTE", option_string, AT(colors), 0, 0,
     "colour by this palette, not by kind of frame; also --color"},
    {0, "inverted", NULL, option_flag, AT(inverted), 0, 0, "put the root at the top", ""},
    {0, "reverse", NULL, option_flag, DRAWING(reversed), 0, 0,
     "leaf first: merge stacks from their leaves"},
    {0, "notes", "TEXT", option_string, DRAWING(notes), 0, 0,
     "a comment in the file, not displayed"},
    OPTION_HEADING("Other"),
    /* Only about looks, or always so: a name has the same colour in all files. */
    {0, "cp", NULL, option_ignore, 0, 0, 0, NULL},
    {0, "hash", NULL, option_ignore, 0, 0, 0, NULL},
    {0, "random", NULL, option_ignore, 0, 0, 0, NULL},
    {0, "height", "PX", option_ignore, 0, 0, 0, NULL},
    {0, "fontsize", "PX", option_ignore, 0, 0, 0, NULL},
    {0, "fontwidth", "N", option_ignore, 0, 0, 0, NULL},
    {0, "fonttype", "NAME", option_ignore, 0, 0, 0, NULL},
    {0, "encoding", "NAME", option_ignore, 0, 0, 0, NULL},
    {0, "nametype", "TEXT", option_ignore, 0, 0, 0, NULL},
    {0, "bgcolors", "COLOR", option_ignore, 0, 0, 0, NULL},
    /* These would make another picture than the one asked for. */
    {0, "total", "N", option_refuse, 0, 0, 0, NULL, UNSCALED},
    {0, "factor", "N", option_refuse, 0, 0, 0, NULL, UNSCALED},
    {0, "nameattr", "FILE", option_refuse, 0, 0, 0, NULL,
     "not supported: frames have no attributes"},
    {0, "flamechart", NULL, option_refuse, 0, 0, 0, NULL,
     "not supported: stacks are merged and sorted by name, not by time"},
    {0},
};

static const struct option *const options[] = {own_options, common_options, NULL};

static const struct manual_row input[] = {
    {NULL, "Folded stacks, one per line: frames from the root, separated by ; then a space and a "
     "count, which may have a fraction, as -f of the other applets and of bcc, "
     "stackcollapse-perf.pl and async-profiler write them. FILE may also be a recording (.sbx): "
     "see report(1). Several files are added up. Without FILE, or if it is -, reads stdin."},
    {NULL, "Lines that begin with # and a space are comments. Lines without a valid count are "
     "left out; stderr says how many, and where the first is. If lines end in two counts, as "
     "difffolded.pl writes them, the first is before, the second now."},
    {0},
};

static const struct manual_row text_format_rows[] = {
    {NULL, "Text, without --diff: functions, with their own share of all counts (self) and that "
     "including their callees (total), the greatest self first."},
    {NULL,
     "Text, with --diff: both totals, and one line per function whose own count (self) changed, "
     "the greatest change first, such as"},
    {"+12.1% -> read", "its own count grew by 12.1 percent of the new total; with --normalize, "
     "its share grew by 12.1 percentage points"},
    {"-3.0% -> b",
     "names are matched and shown without .isra.N, .constprop.N, .part.N, .llvm.N, .cold or "
     "a Rust hash at the end"},
    {NULL, "With --fail-above: the verdict, on stdout, or on stderr if stdout has another format; "
     "without -o and --format, nothing else. A share (self or total) certainly grew if its growth "
     "less 3 standard errors is above the limit; otherwise growth is uncertain, and not a "
     "failure."},
    {0},
};

static const struct manual_section sections[] = {
    {"Input", input},
    {"Output", text_format_rows},
    {0},
};

static const struct manual_row examples[] = {
    {"flamegraph stacks.folded > stacks.svg", "draw a flame graph for any browser"},
    {"flamegraph --title build --countname us -o build.svg stacks.folded",
     "for offcputime -f, which counts microseconds"},
    {"flamegraph --reverse --inverted stacks.folded > leaves.svg",
     "who calls the leaves, from the top"},
    {"flamegraph --diff old.folded new.folded > diff.svg", "what grew is red"},
    {"flamegraph --format text --normalize --diff old.folded new.folded",
     "the same as a list, for profiles of different lengths"},
    {"flamegraph --diff --fail-above 5% old.folded new.folded", "exit with 3 if something got "
                                                                "slower"},
    {0},
};

static const struct manual_row notes[] = {
    {NULL, "Frames ending in _[k] are the kernel's, in _[j] JIT-compiled, in _[i] inlined, in "
     "_[w] a waker's: the suffix picks the colour and is not shown. Frames named - and -- are "
     "delimiters."},
    {NULL, "Control characters, escapes and invalid UTF-8 are written as \\xNN. In folded output, "
     "_ replaces a space before a number at the end of the last frame."},
    {0},
};

/* ---- What is asked for ---- */

/* Digits, perhaps with a decimal point. *end is past them. */
static bool parse_decimal(const char *text, double *value, const char **end)
{
    const char *at = text;
    double unit = 1;

    for (*value = 0; *at >= '0' && *at <= '9'; at++)
        *value = *value * 10 + (*at - '0');
    bool any = at > text;
    if (*at == '.')
        for (at++; *at >= '0' && *at <= '9'; at++, any = true)
            *value += (unit /= 10) * (*at - '0');
    *end = at;
    return any;
}

static int parse_least_width(struct svg_options *svg, struct text *error)
{
    const char *text = settings.least_width, *end;

    if (!text)
        return 0;
    svg->least_given = true;
    bool valid = parse_decimal(text, &svg->least_width, &end);
    if (valid && !strcmp(end, "%"))
        svg->least_width *= (double)(svg->width ? svg->width : NOMINAL_WIDTH) / 100;
    else if (*end)
        valid = false;
    if (!valid)
        return text_refuse(error, "--minwidth: invalid width \"%s\": it takes pixels, such as 0.5, "
                           "or a share, such as 0.1%%", text);
    if (!(svg->least_width <= MOST_WIDTH))
        return text_refuse(error, "--minwidth: \"%s\" is out of range: it takes at most %d px",
                           text, MOST_WIDTH);
    return 0;
}

/* "5%", and "5". */
static int check_verdict(struct verdict_options *verdict, struct text *error)
{
    const char *end;

    if (!verdict->text)
        return 0;
    bool valid = parse_decimal(verdict->text, &verdict->limit, &end) &&
        (!*end || !strcmp(end, "%"));
    verdict->limit /= 100;
    if (!valid || verdict->limit > 1)
        text_format(error, "--fail-above: invalid share \"%s\": it takes 0%% to 100%%",
                    verdict->text);
    else if (!settings.diff)
        text_add(error, "--fail-above: needs --diff OLD to compare with");
    else if (settings.drawing.reversed)
        text_add(error, "--fail-above: cannot be combined with --reverse, which loses functions' "
                        "own shares");
    return text_refusal(error);
}

static int check_picture(struct svg_options *svg, struct text *error)
{
    svg->width = settings.width;
    if (svg->width && svg->width < LEAST_WIDTH)
        return text_refuse(error, "--width: \"%llu\" is out of range: it takes %d to 1000000",
                           (unsigned long long)svg->width, LEAST_WIDTH);
    if (settings.colors && !svg_has_colors(settings.colors)) {
        text_format(error, "--colors: there is no \"%s\"; there are ", settings.colors);
        svg_add_colors(error);
        return -EINVAL;
    }
    svg->colors = settings.colors;
    svg->inverted = settings.inverted;
    svg->negate = settings.negate;
    return parse_least_width(svg, error);
}

static bool is_drawn(enum report_format format)
{
    return format == REPORT_SVG || format == REPORT_FOLDED || format == REPORT_TEXT ||
           format == REPORT_FLAT;
}

/* A picture, unless something else or a verdict is asked for. */
static int choose_files(struct report_files *files, struct text *error)
{
    struct report_files_options asked = {.paths = &settings.outputs, .format = settings.format};
    bool to_stdout = !settings.outputs.count;

    for (size_t i = 0; i < settings.outputs.count; i++)
        to_stdout = to_stdout || !strcmp(settings.outputs.strings[i], "-");
    if (settings.drawing.verdict.text && !asked.format && !settings.outputs.count)
        return 0;
    if (!asked.format && to_stdout)
        asked.format = "svg";
    int result = report_files_choose(files, &asked, error);
    for (size_t i = 0; i < files->count && !result; i++)
        if (!is_drawn(files->items[i].format))
            result = text_refuse(error, "stacks become svg, text or folded here; report makes the "
                                 "rest of recordings");
    return result;
}

static int check_input(struct arguments *arguments, struct text *error)
{
    if (settings.diff && !settings.drawing.old && arguments->count) {
        settings.drawing.old = *arguments->words++;
        arguments->count--;
    }
    if (drawing_check_words(arguments, settings.drawing.old, error))
        return -EINVAL;
    if (settings.diff && !settings.drawing.old)
        text_add(error, "--diff: takes OLD");
    else if (settings.drawing.normalize && !settings.diff)
        text_add(error, "--normalize: needs --diff OLD, which it scales");
    return text_refusal(error);
}

static int check_usage(struct drawing *drawing, struct arguments *arguments, struct text *error)
{
    int result = check_input(arguments, error);

    if (!result)
        result = check_verdict(&settings.drawing.verdict, error);
    if (!result)
        result = check_picture(&drawing->svg, error);
    if (!result)
        result = choose_files(&drawing->files, error);
    return applet_see_help(result, error);
}

static int run(const struct arguments *arguments)
{
    struct drawing drawing = {.options = &settings.drawing};
    struct arguments inputs = *arguments;
    struct text error = {0};
    int result = check_usage(&drawing, &inputs, &error);
    int status = result ? applet_refuse(result, &error, false) : drawing_make(&drawing, &inputs);
    drawing_close(&drawing);
    return status;
}

const struct applet flamegraph_applet = {
    .name = "flamegraph",
    .summary = "draw folded stacks: a flame graph, or the difference of two",
    .usage = "[options] [FILE...]",
    .about = "Draws a flame graph of folded stacks, as many tools write them: one SVG file that "
             "needs nothing but a browser. With --diff it compares two.",
    .sections = sections,
    .examples = examples,
    .notes = notes,
    .no_stacks = true,
    .options = options,
    .settings = &settings,
    .filter = true,
    .run = run,
};
