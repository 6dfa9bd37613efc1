/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "session/trace_options.h"

#include <errno.h>
#include <string.h>

#include "base/say.h"
#include "base/text.h"
#include "base/util.h"
#include "session/command.h"

#define AT(member) offsetof(struct trace_options, member)
#define MOST_PID 4194304 /* PID_MAX_LIMIT */

static int refuse_map(const struct option *option, const char *text, void *destination,
                      struct text *error)
{
    (void)option, (void)text, (void)destination;
    text_add(error, "filters are not taken from pinned maps; --cgroup takes a cgroup, -p takes "
                    "processes");
    return -EINVAL;
}

int trace_option_flat(const struct option *option, const char *text, void *destination,
                      struct text *error)
{
    struct trace_options *options = destination;

    options->flat = true;
    return text ? option_number(option, text, &options->functions, error) : 0;
}

/* Read as a time is, of which nothing is out of range. */
int trace_option_tree(const struct option *option, const char *text, void *destination,
                      struct text *error)
{
    struct trace_options *options = destination;
    int why = text ? parse_seconds(text, &options->narrow) : 0;

    (void)option;
    options->tree = true;
    if (why == -ERANGE && !options->narrow)
        return 0;
    if (why || options->narrow > 100ull * TREE_PERCENT) {
        text_format(error, "\"%s\" is no share: it takes 0 to 100, in percent of the whole", text);
        return -EINVAL;
    }
    return 0;
}

int trace_option_live(const struct option *option, const char *text, void *destination,
                      struct text *error)
{
    struct trace_options *options = destination;

    options->live = true;
    return text ? option_seconds(option, text, &options->live_every, error) : 0;
}

/* Asked for twice it must be the same. */
static int take_who(enum who *by, enum who asked, struct text *error)
{
    if (*by && *by != asked) {
        text_add(error, "processes, threads or names are told apart, one of the three: "
                        "--by process (-P), --by thread or --by name (--by-name)");
        return -EINVAL;
    }
    *by = asked;
    return 0;
}

int trace_option_by(const struct option *option, const char *text, void *destination,
                    struct text *error)
{
    static const char *const words[] = {
        [WHO_PROCESS] = "process", [WHO_THREAD] = "thread", [WHO_NAME] = "name"};

    (void)option;
    for (enum who who = WHO_PROCESS; who <= WHO_NAME; who++)
        if (!strcmp(text, words[who]))
            return take_who(destination, who, error);
    text_format(error, "\"%s\" is none of process, thread, name", text);
    return -EINVAL;
}

int trace_option_by_name(const struct option *option, const char *text, void *destination,
                         struct text *error)
{
    (void)option, (void)text;
    return take_who(destination, WHO_NAME, error);
}

int trace_option_by_process(const struct option *option, const char *text, void *destination,
                            struct text *error)
{
    (void)option, (void)text;
    return take_who(destination, WHO_PROCESS, error);
}

/* A number of files, or of bytes, which has its unit. */
int trace_option_keep(const struct option *option, const char *text, void *destination,
                      struct text *error)
{
    static const char units[] = "KMGT";
    struct keep *keep = destination;
    char number[24] = "";
    size_t length = strspn(text, "0123456789");
    const char *unit = text[length] ? strchr(units, text[length]) : NULL;
    uint64_t value;

    (void)option;
    if (length < sizeof(number))
        memcpy(number, text, length);
    if ((text[length] && (!unit || text[length + 1])) || parse_number(number, 1, UINT32_MAX, &value)) {
        text_format(error, "\"%s\" is neither a number of files, such as 1000, nor a size, such as 500M or 2G", text);
        return -EINVAL;
    }
    if (unit)
        keep->bytes = value << (10 * (unit - units + 1));
    else
        keep->files = value;
    return 0;
}

static int take_nice(const struct option *option, const char *text, void *destination,
                     struct text *error)
{
    uint64_t *nice = destination;

    *nice = 10;
    return text ? option_number(option, text, nice, error) : 0;
}

static int take_unwind_way(const struct option *option, const char *text, void *destination,
                           struct text *error)
{
    static const char *const names[] = {
        [UNWIND_WAY_TABLES] = "tables",
        [UNWIND_WAY_FRAME_POINTERS] = "fp",
        [UNWIND_WAY_NONE] = "none",
    };
    enum unwind_way *way = destination;
    size_t at = UNWIND_WAY_TABLES;

    (void)option;
    while (at < COUNT_OF(names) && strcmp(text, names[at]))
        at++;
    if (at < COUNT_OF(names))
        *way = (enum unwind_way)at;
    else
        text_format(error, "\"%s\" is none of tables, fp, none", text);
    return error->length || error->failed ? -EINVAL : 0;
}

static int take_collect_way(const struct option *option, const char *text, void *destination,
                            struct text *error)
{
    static const char *const names[] = {[COLLECT_BPF] = "bpf", [COLLECT_WALK] = "walk", [COLLECT_RINGS] = "rings"};
    enum collect_way *way = destination;

    (void)option;
    for (*way = COLLECT_BPF; *way < COUNT_OF(names); ++*way)
        if (!strcmp(text, names[*way]))
            return 0;
    text_format(error, "\"%s\" is none of bpf, walk, rings", text);
    return -EINVAL;
}

const struct option trace_options[] = {
    OPTION_HEADING("Filters, all of which must hold"),
    {'p', "pid", "PID[,PID]", option_numbers, AT(pids), 1, MOST_PID,
     "these processes only, by the pids seen from here (in a container: its own); the run ends "
     "with the last of them"},
    {0, "follow", NULL, option_flag, AT(follow), 0, 0,
     "with -p: also what those processes fork from now on, with all that comes of it"},
    {'t', "tid", "TID[,TID]", option_numbers, AT(tids), 1, MOST_PID, "these threads only"},
    OPTION_LETTER('L', "tid"),
    {'C', "cpu", "CPU", option_signed, AT(cpu), 0, 65535, "this CPU only"},
    {0, "cgroup", "PATH", option_string, AT(cgroup), 0, 0,
     "tasks in this cgroup (v2) and below it, such as system.slice, which is found below /sys/fs/cgroup"},
    {0, "include-self", NULL, option_flag, AT(include_self), 0, 0,
     "what stackbox itself does, too: else its own processes are left out"},
    OPTION_HEADING("Stacks"),
    {'U', "user-stacks-only", NULL, option_flag, AT(user_only), 0, 0, "user stacks only"},
    {'K', "kernel-stacks-only", NULL, option_flag, AT(kernel_only), 0, 0, "kernel stacks only"},
    {0, "depth", "N", option_number, AT(depth), 1, 65535,
     "frames per stack (default, and the most: sysctl kernel.perf_event_max_stack)"},
    {0, "unwind", "WAY", take_unwind_way, AT(unwind), 0, 0,
     "how stacks of user programs are walked: tables, along the unwind tables in their files, where they have "
     "some (default): code without frame pointers has whole stacks, too; fp, along frame pointers; or none: "
     "the function that runs, without its callers"},
    {0, "stack-storage-size", "N", option_number, AT(storage), 1, 1 << 24,
     "distinct stacks that can be kept at once (default: as many as come, if there is memory)"},
    {0, "hash-storage-size", "N", option_ignore, 0, 0, 0, NULL},
    {0, "symfs", "DIR", option_string, AT(symfs), 0, 0,
     "look for programs, libraries and their debug files below DIR first"},
    {0, "raw-names", NULL, option_flag, AT(raw_names), 0, 0,
     "names of functions as the symbol tables have them: those of C++ and Rust are not made readable"},
    {0, "shorten", NULL, option_flag, AT(names.shorten), 0, 0,
     "template arguments of C++ and generic ones of Rust as <...>"},
    OPTION_HEADING("Time"),
    {'D', "duration", "S", option_seconds, AT(duration), 0, 0,
     "stop after S seconds, such as 5 or 0.5"},
    {'i', "interval", "S", option_seconds, AT(interval), 0, 0,
     "a report every S seconds; each event is in exactly one"},
    {'T', "timestamp", NULL, option_flag, AT(timestamp), 0, 0, "the time with each report"},
    OPTION_HEADING("Output"),
    {'f', "folded", NULL, option_flag, AT(folded), 0, 0,
     "one line per stack, root first, as flame graph tools take it"},
    {'o', "output", "FILE", option_strings, AT(outputs), 0, 0,
     "the report as a file, in the format that its ending says: .txt, .folded, .flat, .tree, .svg (a flame "
     "graph), .pb.gz (pprof), .speedscope.json, .sbx (for report(1)); may be there several times; %n in the "
     "name is the number of the report, %t its time: with -i one of them is needed"},
    {0, "keep", "N", trace_option_keep, AT(keep), 0, 0,
     "of each -o, keep the N newest files, or as many as take up a size such as 500M or 2G, and delete the oldest "
     "after each report; twice: both. Needs %t"},
    {0, "format", "FORMAT", option_string, AT(format), 0, 0,
     "text, folded, flat, tree, svg, pprof, speedscope or sbx on stdout, and in files whose ending says none"},
    {0, "flat", "[N]", trace_option_flat, 0, 1, UINT64_MAX,
     "functions with their share alone (self) and with what they call (total) instead of stacks, and with "
     "--by whose they are; the N greatest, if a whole number comes right after it"},
    {0, "tree", "[PERCENT]", trace_option_tree, 0, 0, 0,
     "who calls whom, as a tree, with the share of each function alone (self) and with what it calls "
     "(total); branches below 1 percent of the whole, or below PERCENT, are one line with their sum"},
    {0, "live", "[SECONDS]", trace_option_live, 0, 0, 0,
     "the tree, or with --flat the functions, of the run until now, every 2 seconds or SECONDS: in the "
     "place of the last one on a terminal, where q ends it, p pauses, arrows and PageUp, PageDown scroll"},
    {'d', "delimited", NULL, option_flag, AT(delimited), 0, 0,
     "a delimiter between kernel and user stacks: --, in folded output -"},
    {'s', "offset", NULL, option_flag, AT(offset), 0, 0, "offsets within functions: name+0x1f"},
    {'v', "verbose", NULL, option_flag, AT(verbose), 0, 0,
     "raw addresses, and the modules of kernel functions"},
    {'a', "annotations", NULL, option_flag, AT(annotations), 0, 0,
     "_[k] after kernel functions"},
    {0, "top", "N", option_number, AT(top), 1, UINT64_MAX,
     "the N greatest stacks only; what is left out is said"},
    {0, "by", "WHO", trace_option_by, AT(by), 0, 0,
     "whom to tell apart: process, as NAME (PID), which is the default; thread, as NAME (PID/TID); or name: "
     "threads of one name are one, such as cc1 (214 processes). Folded lines and pictures have the "
     "numbers only where this asks for them"},
    {0, "by-name", NULL, trace_option_by_name, AT(by), 0, 0, "the same as --by name"},
    OPTION_HEADING("Other"),
    {0, "collect", "WAY", take_collect_way, AT(collect), 0, 0,
     "how events are collected: bpf (by programs in the kernel), walk (by such as old kernels take, of "
     "stackcount's kernel functions) or rings (perf's, read one by one: without "
     "bpf(2), and of your own programs without any right); default: the first that works, which is said if it is not bpf"},
    {0, "nice", "[N]", take_nice, AT(nice), 1, 19,
     "a lower priority for stackbox itself, by 10 or N as nice(1) has it; the command, and what is in the kernel, "
     "keep theirs"},
    {0, "best-effort", NULL, option_flag, AT(best_effort), 0, 0,
     "with a command: where tracing is not possible say so, and run it all the same"},
    {0, "debug", NULL, option_flag, AT(debug), 0, 0,
     "what was decided (rights, sizes, programs, how they are attached) and the account of events, on "
     "stderr"},
    {0, "dump-program", NULL, option_flag, AT(dump_program), 0, 0,
     "each BPF program as it is loaded, instruction by instruction, on stderr"},
    {'g', "graph", NULL, option_flag, AT(graph), 0, 0, NULL},
    {0, "cgroupmap", "PATH", refuse_map, 0, 0, 0, NULL},
    {0, "mntnsmap", "PATH", refuse_map, 0, 0, 0, NULL},
    {0},
};

uint32_t trace_options_process(const struct trace_options *options)
{
    return options->pids.count == 1 ? options->pids.numbers[0] : 0;
}

uint32_t trace_options_probed(const struct trace_options *options)
{
    return options->follow ? 0 : trace_options_process(options);
}

const struct demangle_wishes *trace_options_names(const struct trace_options *options)
{
    return options->raw_names ? NULL : &options->names;
}

int trace_options_choose_files(struct trace_options *options, struct text *error)
{
    const struct report_files_wishes wishes = {
        .paths = &options->outputs,
        .format = options->format,
        .folded = options->folded,
        .flat = options->flat,
        .tree = options->tree,
        .live = options->live,
        .interval = options->interval,
        .keep = options->keep,
    };

    return report_files_choose(&options->files, &wishes, error);
}

int trace_options_check(struct trace_options *options, const struct arguments *arguments,
                        struct text *error)
{
    options->command = arguments->command;
    options->line = arguments->line;
    if (options->user_only && options->kernel_only) {
        text_add(error, "-U and -K exclude each other: without either both stacks are shown");
        return -EINVAL;
    }
    if (options->raw_names && options->names.shorten) {
        text_add(error, "--shorten: --raw-names leaves nothing to shorten: one of the two");
        return -EINVAL;
    }
    if (options->command && !options->command[0])
        text_add(error, "--: takes a command after it, such as -- make -j4");
    else if (options->command && (options->pids.count || options->tids.count))
        text_format(error, "%s: with -- COMMAND that command is traced, and all that comes of it",
                    options->pids.count ? "-p" : "-t");
    else if (options->follow && (!options->pids.count || options->tids.count))
        text_add(error, "--follow: takes -p, and no -t");
    else if (options->best_effort && !options->command)
        text_add(error, "--best-effort: takes a command to run, -- COMMAND");
    if (error->length || error->failed)
        return -EINVAL;
    /* As perf's users type it: -ag. */
    if (options->graph)
        say("-g: stacks are always taken%s", options->annotations
            ? "; -a marks functions of the kernel, and all CPUs are traced unless -C names one" : "");
    return 0;
}

int trace_options_take_duration(struct trace_options *options, const struct arguments *arguments,
                                struct text *error)
{
    uint64_t duration;

    if (!arguments->count)
        return 0;
    const char *word = arguments->words[0];
    int why = parse_seconds(word, &duration);
    if (why == -EINVAL && !arguments->command && command_exists(word)) {
        text_format(error, "invalid duration \"%s\"; ", word);
        command_suggest(arguments->words, arguments->count, error);
    } else if (why == -EINVAL)
        text_format(error, "invalid duration \"%s\": it is in seconds, such as 5 or 0.5", word);
    else if (why)
        text_format(error, "\"%s\" is out of range: a duration is more than 0 seconds, at most %lld",
                    word, (long long)MOST_SECONDS);
    else if (arguments->count > 1)
        text_format(error, "unexpected argument \"%s\": it takes a duration alone",
                    arguments->words[1]);
    else if (options->duration)
        text_format(error, "the duration is there twice: as \"%s\" and by -D", word);
    if (error->length)
        return -EINVAL;
    options->duration = duration;
    return 0;
}
