/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/reading.h"
#include "base/say.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/util.h"
#include "machine/machine.h"
#include "run/command.h"
#include "run/trace_options.h"

#define AT(member) offsetof(struct trace_options, member)

/*
 * The parsers of --flat [N], --tree [PERCENT] and --live [SECONDS]; their destination is the whole
 * struct.
 */
static int trace_option_flat(const struct option *option, const char *text, void *destination,
                             struct text *error)
{
    struct trace_options *options = destination;

    options->flat = true;
    return text ? option_number(option, text, &options->functions, error) : 0;
}

static int trace_option_tree(const struct option *option, const char *text, void *destination,
                             struct text *error)
{
    struct trace_options *options = destination;
    int why = text ? parse_percent(text, &options->narrow) : 0;

    (void)option;
    options->tree = true;
    if (why)
        return text_refuse(error, "invalid percentage \"%s\": it takes 0 to 100, in percent of the "
                           "total", text);
    return 0;
}

static int trace_option_live(const struct option *option, const char *text, void *destination,
                             struct text *error)
{
    struct trace_options *options = destination;

    options->live = true;
    return text ? option_seconds(option, text, &options->live_every, error) : 0;
}

/* If given twice it must be the same. */
int trace_option_by(const struct option *option, const char *text, void *destination,
                    struct text *error)
{
    enum grouping *by = destination;
    unsigned asked = option->least;

    if (text && take_word("", "process, thread, name", text, &asked, error))
        return -EINVAL;
    if (*by && *by != (enum grouping)asked)
        return text_refuse(error, "--by process (-P), --by thread and --by name (--by-name) cannot "
                           "be combined");
    *by = (enum grouping)asked;
    return 0;
}

/* A number of files, or of bytes, with a unit. */
static int trace_option_keep(const struct option *option, const char *text, void *destination,
                             struct text *error)
{
    static const char units[] = "KMGT";
    struct retention *keep = destination;
    char number[24] = "";
    size_t length = strspn(text, "0123456789");
    const char *unit = text[length] ? strchr(units, text[length]) : NULL;
    uint64_t value;

    (void)option;
    if (length < sizeof(number))
        memcpy(number, text, length);
    if ((text[length] && (!unit || text[length + 1])) ||
        parse_number(number, 1, UINT32_MAX, &value))
        return text_refuse(error, "\"%s\" is neither a number of files (1000) nor a size (500M, "
                           "2G)", text);
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
    (void)option;
    /* enum unwind_way */
    return take_word("", "tables, fp, none", text, destination, error);
}

static int take_collect_way(const struct option *option, const char *text, void *destination,
                            struct text *error)
{
    (void)option;
    /* enum collect_way */
    return take_word("", "bpf, walk, rings, ptrace", text, destination, error);
}

#define MOST_BYTES 65536
#define MOST_SHOWN 8 /* processes of a name */

/* ---- Processes by name ---- */

struct search {
    const char *name;
    struct number_list *found;
    size_t before;
    struct suggestions near;
    bool is_full;
};

/* Was the process started under that name, the last part of its first argument? */
static bool was_started_as(int process, const char *name)
{
    struct text content = {0};
    bool same = false;

    if (!read_file(process, "cmdline", MOST_BYTES, &content) && content.data)
        same = !strcmp(base_name(content.data), name);
    text_free(&content);
    return same;
}

/* /proc/PID/stat: "12 (name) S ..." */
static void look_at_process(struct search *search, int process, uint32_t pid)
{
    struct text content = {0};
    char *name = NULL, *end = NULL;

    if (!read_file(process, "stat", MOST_BYTES, &content) && content.data) {
        name = strchr(content.data, '(');
        end = strrchr(content.data, ')');
    }
    const char *state = line_word(end, STAT_STATE);
    const bool lives = name && state && *state != 'Z' && *state != 'X';
    if (lives) {
        *end = '\0';
        suggest(&search->near, name + 1);
        suggest_by_words(&search->near, name + 1);
    }
    if (lives && (!strcmp(name + 1, search->name) || was_started_as(process, search->name))) {
        search->is_full = search->is_full || search->found->count == MOST_NUMBERS;
        if (!search->is_full)
            search->found->numbers[search->found->count++] = pid;
    }
    text_free(&content);
}

static int search_process(void *search, uint32_t pid)
{
    char path[32];

    snprintf(path, sizeof(path), "/proc/%u", pid);
    const int process = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (process >= 0 && pid != (uint32_t)getpid())
        look_at_process(search, process, pid);
    close_fd(process);
    return 0;
}

static int search_processes(struct search *search)
{
    const int result = each_number("/proc", search_process, search);

    return result ? result : access("/proc/self/stat", F_OK) ? -errno : 0;
}

/* Which ones were taken, if it is more than one. */
static void say_found(const struct search *search)
{
    const size_t count = search->found->count - search->before;
    struct text list = {0};

    for (size_t i = 0; i < count && i < MOST_SHOWN; i++)
        text_format(&list, "%s%u", i ? ", " : "", search->found->numbers[search->before + i]);
    if (count > 1 && !list.failed)
        say("-p %s: %zu processes: %s%s", search->name, count, list.data,
            count > MOST_SHOWN ? ", ..." : "");
    text_free(&list);
}

static int take_process(const struct option *option, const char *word, void *destination,
                        struct text *error)
{
    struct search search = {.name = word, .found = destination, .near.wanted = word};
    uint64_t number;

    if (strchr(word, ','))
        return each_word(option, word, destination, error, take_process);
    search.before = search.found->count;
    if (!*word || parse_number(word, 0, UINT64_MAX, &number) != -EINVAL)
        return option_numbers(option, word, destination, error);
    int result = search_processes(&search);
    if (result)
        text_format(error, "cannot look for processes named \"%s\": /proc: %s", word,
                    strerror(-result));
    else if (search.is_full)
        text_format(error, "takes at most %d processes, and more are named \"%s\"", MOST_NUMBERS,
                    word);
    else if (search.found->count == search.before)
        text_format(error, "there is no process named \"%s\"", word);
    else
        say_found(&search);
    if (!result && search.found->count == search.before)
        suggestions_add(&search.near, error);
    suggestions_free(&search.near);
    return text_refusal(error);
}

/* ---- Threads by name ---- */

/* The kernel keeps the first 15 bytes of a name. */
static int take_name(const struct option *option, const char *word, void *destination,
                     struct text *error)
{
    struct comm_list *list = destination;
    const size_t length = strlen(word);

    if (strchr(word, ','))
        return each_word(option, word, destination, error, take_name);
    if (!length)
        text_add(error, "takes names of threads, as in /proc/PID/comm");
    else if (list->count == MOST_STRINGS)
        text_format(error, "takes at most %d names", MOST_STRINGS);
    else
        memcpy(list->names[list->count++], word, length < COMM_BYTES ? length : COMM_BYTES - 1);
    return text_refusal(error);
}

/* ---- Users ---- */

/* In /etc/passwd: "name:x:1000:...". 0, -ENOENT, or why that cannot be read. */
static int find_user(const char *name, uint64_t *uid, struct suggestions *near)
{
    int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC), result = -ENOENT;
    struct lines lines;
    size_t length;
    char *line;

    if (fd < 0)
        return -errno;
    if (lines_open(&lines, fd)) {
        close(fd);
        return -ENOMEM;
    }
    while (result && (line = lines_next(&lines, &length))) {
        const char *user = strsep(&line, ":");
        const char *number = line && strsep(&line, ":") && line ? strsep(&line, ":") : NULL;
        if (near)
            suggest(near, user);
        if (number && !strcmp(user, name))
            result = parse_number(number, 0, UINT32_MAX, uid);
    }
    lines_close(&lines);
    close(fd);
    return result;
}

bool whose_user_exists(const char *name)
{
    uint64_t uid;

    return !find_user(name, &uid, NULL);
}

static int take_user(const struct option *option, const char *word, void *destination,
                     struct text *error)
{
    struct number_list *list = destination;
    struct suggestions near = {.wanted = word};
    uint64_t uid;

    if (strchr(word, ','))
        return each_word(option, word, destination, error, take_user);
    int result = parse_number(word, option->least, option->greatest, &uid);
    if (result == -EINVAL && *word)
        result = find_user(word, &uid, &near);
    if (result == -ENOENT) {
        text_format(error,
                    "there is no user \"%s\" in /etc/passwd: give the UID, as id -u prints it",
                    word);
        suggestions_add(&near, error);
    } else if (result == -EINVAL || result == -ERANGE) {
        text_format(error, "\"%s\" is neither a user nor a UID", word);
    } else if (result) {
        text_format(error, "cannot look for user \"%s\": /etc/passwd: %s", word, strerror(-result));
    } else if (list->count == MOST_STRINGS) {
        text_format(error, "takes at most %d users", MOST_STRINGS);
    } else {
        list->numbers[list->count++] = (uint32_t)uid;
    }
    suggestions_free(&near);
    return text_refusal(error);
}

const struct option trace_options[] = {
    OPTION_HEADING("Filters, all of which must hold"),
    {'p', "pid", "PID|NAME[,...]", take_process, AT(pids), 1, MOST_PID,
     "these processes only, by PID or name",
     ": PIDs as seen from here (in a container: its own), or all processes that have that name "
     "now, as pidof finds them; stops when the last of them exits"},
    {0, "follow", NULL, option_flag, AT(follow), 0, 0,
     "with -p: also their future children, and all descendants of those"},
    {'t', "tid", "TID[,TID]", option_numbers, AT(tids), 1, MOST_PID, "these threads only"},
    OPTION_LETTER('L', "tid"),
    {0, "comm", "NAME[,NAME]", take_name, AT(comms), 0, 0,
     "threads of this name only, as ps -L -o comm shows it",
     " (15 bytes): the name that a thread has at the event"},
    {0, "uid", "USER[,USER]", take_user, AT(uids), 0, UINT32_MAX - 1,
     "threads of this user only, by name or number",
     ": the real user at the event; of a set-user-ID program, the user who started it"},
    {0, "user", "USER[,USER]", take_user, AT(uids), 0, UINT32_MAX - 1, NULL},
    {'C', "cpu", "CPU", option_number, AT(cpu), 0, 65535, "this CPU only"},
    {0, "cgroup", "PATH", option_string, AT(cgroup), 0, 0,
     "tasks in this cgroup (v2) and below, such as system.slice; looked up below /sys/fs/cgroup"},
    {0, "include-self", NULL, option_flag, AT(include_self), 0, 0,
     "include stackbox's own processes, which are left out otherwise"},
    OPTION_HEADING("Stacks"),
    {'U', "user-stacks-only", NULL, option_flag, AT(user_only), 0, 0,
     "user stacks only", ""},
    {'K', "kernel-stacks-only", NULL, option_flag, AT(kernel_only), 0, 0,
     "kernel stacks only", ""},
    {0, "depth", "N", option_number, AT(depth), 1, 65535,
     "frames per stack (default and maximum: sysctl kernel.perf_event_max_stack)"},
    {0, "unwind", "WAY", take_unwind_way, AT(unwind), 0, 0,
     "how user stacks are unwound: tables (default), by the files' unwind tables and code (BPF "
     "needs Linux 5.10 and BTF); fp, by frame pointers; or none: the running function alone"},
    {0, "stack-storage-size", "N", option_number, AT(storage), 1, 1 << 24,
     "how many distinct stacks to make room for (default: depends on free memory)"},
    {0, "hash-storage-size", "N", option_ignore, 0, 0, 0, NULL},
    {0, "symfs", "DIR", option_string, AT(symfs), 0, 0,
     "look for programs, libraries and debug files below DIR first"},
    {0, "raw-names", NULL, option_flag, AT(raw_names), 0, 0,
     "do not demangle C++ and Rust names"},
    {0, "shorten", NULL, option_flag, AT(names.shorten), 0, 0,
     "print C++ template and Rust generic arguments as <...>"},
    OPTION_HEADING("Time"),
    {'D', "duration", "S", option_seconds, AT(duration), 0, 0,
     "stop after S seconds, such as 5 or 0.5, or with a unit", ": 100ms, 2m"},
    {'i', "interval", "S", option_seconds, AT(interval), 0, 0,
     "print a report every S seconds", "; each event is in exactly one"},
    {'T', "timestamp", NULL, option_flag, AT(timestamp), 0, 0, "print the time with each report"},
    OPTION_HEADING("Output"),
    {'f', "folded", NULL, option_flag, AT(folded), 0, 0,
     "one line per stack, root first, as flame graph tools read it", ""},
    {'o', "output", "FILE", option_strings, AT(outputs), 0, 0,
     "write the report to FILE",
     "; its extension picks the format: .txt, .folded, .flat, .tree, .svg (a flame graph), .pb.gz "
     "(pprof), .speedscope.json, .sbx (for report(1)); may be repeated; %n in the name is the "
     "number of the report, %t its time: -i needs one of them"},
    {0, "keep", "N", trace_option_keep, AT(keep), 0, 0,
     "for each -o, keep the N newest files, or as many as fit in a size such as 500M or 2G; the "
     "oldest are deleted after each report. Give it twice for both limits. Needs %t"},
    {0, "format", "FORMAT", option_string, AT(format), 0, 0,
     "format of stdout and of files with other extensions: text, folded, flat, tree, svg, pprof, "
     "speedscope, sbx"},
    {0, "flat", "[N]", trace_option_flat, 0, 1, UINT64_MAX,
     "functions instead of stacks",
     ": their own share (self) and that including callees (total), split as --by says; the top N "
     "if a number follows"},
    {0, "tree", "[PERCENT]", trace_option_tree, 0, 0, 0,
     "the call tree",
     ": each function's own share (self) and that including callees (total); branches below "
     "PERCENT (default: 1) of the total are summed up in one line"},
    {0, "live", "[SECONDS]", trace_option_live, 0, 0, 0,
     "redraw the tree, or with --flat the functions, of the run so far every SECONDS",
     " (default: 2); on a terminal q quits, p pauses, arrows, PageUp and PageDown scroll"},
    {'d', "delimited", NULL, option_flag, AT(delimited), 0, 0,
     "print -- between kernel and user stack; - in folded output"},
    {'s', "offset", NULL, option_flag, AT(offset), 0, 0, "print offsets within functions: "
                                                         "name+0x1f"},
    {'v', "verbose", NULL, option_flag, AT(verbose), 0, 0,
     "print addresses, and modules of kernel functions"},
    {'a', "annotations", NULL, option_flag, AT(annotations), 0, 0,
     "print _[k] after kernel functions"},
    {0, "inverted", NULL, option_flag, AT(inverted), 0, 0,
     "flame graphs have their root at the top"},
    {0, "top", "N", option_number, AT(top), 1, UINT64_MAX,
     "the top N stacks only", "; a line tells how much is left out"},
    {0, "by", "WHO", trace_option_by, AT(by), 0, 0,
     "count by process, thread or name",
     ": process, shown as NAME (PID), is the default; thread is shown as NAME (PID/TID); name "
     "puts all threads of that name together, as cc1 (214 processes). Folded lines and flame "
     "graphs show PIDs only if --by is given"},
    {0, "by-name", NULL, trace_option_by, AT(by), GROUP_BY_NAME, 0, "same as --by name"},
    OPTION_HEADING("Other"),
    {0, "collect", "WAY", take_collect_way, AT(collect), 0, 0,
     "how to collect events: bpf (BPF programs), walk (the same on old kernels, for kernel "
     "functions), rings (perf's ring buffers) or ptrace (threads of -p or -- COMMAND are "
     "interrupted, or stop at functions of programs and system calls); default: the first that "
     "works; a line tells if it is not bpf"},
    {0, "nice", "[N]", take_nice, AT(nice), 1, 19,
     "run stackbox itself at a lower priority, by 10 or N as nice(1) does; not the command"},
    {0, "best-effort", NULL, option_flag, AT(best_effort), 0, 0,
     "with -- COMMAND: if tracing is impossible, say so and run it anyway"},
    {0, "debug", NULL, option_flag, AT(debug), 0, 0,
     "print decisions (privileges, sizes, programs, attachments) and the account of events on "
     "stderr"},
    {0, "dump-program", NULL, option_flag, AT(dump_program), 0, 0,
     "print each BPF program's instructions on stderr as it is loaded"},
    {'g', "graph", NULL, option_flag, AT(graph), 0, 0, NULL},
    {0},
};

void trace_options_begin(void *settings)
{
    *(struct trace_options *)settings = (struct trace_options)TRACE_OPTIONS_DEFAULTS;
}

uint32_t trace_options_process(const struct trace_options *options)
{
    return options->pids.count == 1 ? options->pids.numbers[0] : 0;
}

uint32_t trace_options_probed(const struct trace_options *options)
{
    return options->follow ? 0 : trace_options_process(options);
}

struct capture trace_options_capture(const struct trace_options *options)
{
    return (struct capture){
        .kernel_stack = !options->user_only,
        .user_stack = !options->kernel_only,
        .per_process = true,
        .per_thread = options->by == GROUP_BY_THREAD,
        .depth = (uint32_t)options->depth,
        .machine = machine_of_kernel(),
    };
}

bool trace_options_of_all(const struct trace_options *options)
{
    return !options->pids.count && !options->tids.count && !options->command;
}

const struct demangle_options *trace_options_names(const struct trace_options *options)
{
    return options->raw_names ? NULL : &options->names;
}

int trace_options_choose_files(struct trace_options *options, struct text *error)
{
    const struct report_files_options config = {
        .paths = &options->outputs,
        .format = options->format,
        .folded = options->folded,
        .flat = options->flat,
        .tree = options->tree,
        .live = options->live,
        .interval = options->interval,
        .keep = options->keep,
    };

    return report_files_choose(&options->files, &config, error);
}

int trace_options_check(struct trace_options *options, const struct arguments *arguments,
                        struct text *error)
{
    options->command = arguments->command;
    options->line = arguments->line;
    if (options->user_only && options->kernel_only)
        return text_refuse(error, "-U and -K cannot be combined: without either, both stacks are "
                           "shown");
    if (options->raw_names && options->names.shorten)
        return text_refuse(error, "--shorten and --raw-names cannot be combined");
    if (options->command && !options->command[0])
        text_add(error, "--: needs a command after it, such as -- make -j4");
    else if (options->command && (options->pids.count || options->tids.count))
        text_format(error, "%s: cannot be combined with -- COMMAND, which traces the command and "
                           "its children",
                    options->pids.count ? "-p" : "-t");
    else if (options->follow && (!options->pids.count || options->tids.count))
        text_add(error, "--follow: needs -p, and no -t");
    else if (options->best_effort && !options->command)
        text_add(error, "--best-effort: needs -- COMMAND");
    if (error->length || error->failed)
        return -EINVAL;
    /* As perf's users type it: -ag. */
    if (options->graph)
        say("-g: stacks are always taken%s", options->annotations
            ? "; -a marks kernel functions, and all CPUs are traced unless -C names one" : "");
    return 0;
}

int trace_options_take_duration(struct trace_options *options, const struct arguments *arguments,
                                struct text *error)
{
    uint64_t duration;

    if (!arguments->count && !options->duration && arguments->unsure) {
        const char *name = arguments->unsure->name, *last = arguments->line[1];
        for (char **at = arguments->line + 1; *at; at++)
            last = *at;
        return text_refuse(error, "--%s %s: is %s the duration? then write %s --%s, otherwise "
                           "--%s=%s", name, last, last, last, name, name, last);
    }
    if (!arguments->count)
        return 0;
    const char *word = arguments->words[0];
    int why = parse_time(word, 1000000000, &duration);
    if (why == -EINVAL && !arguments->command && command_exists(word)) {
        text_format(error, "invalid duration \"%s\"; ", word);
        command_suggest(arguments->words, arguments->count, error);
    } else if (why == -EINVAL)
        text_format(error,
                    "invalid duration \"%s\": it is in seconds, such as 5 or 0.5, or has a unit: "
                    "100ms, 2m", word);
    else if (why)
        text_format(error,
                    "\"%s\" is out of range: a duration is more than 0 seconds, at most %lld", word,
                    (long long)MOST_SECONDS);
    else if (arguments->count > 1)
        text_format(error, "unexpected argument \"%s\": only a duration is accepted",
                    arguments->words[1]);
    else if (options->duration)
        text_format(error, "the duration is given twice: as \"%s\" and by -D", word);
    if (error->length)
        return -EINVAL;
    options->duration = duration;
    return 0;
}
