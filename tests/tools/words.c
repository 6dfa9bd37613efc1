/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * words [-v] [-n RUNS] [-s SEED] [-d SECONDS] PROGRAM [WORD]...
 *
 * Runs PROGRAM, stackbox with any words before its own, with random command lines, and judges how
 * each ends. They are made from the applets' own tables: existing options, with values that are
 * right, wrong, empty, huge or missing, joined to their option or after it, repeated and in any
 * order, and options that do not exist. For many the right exit status follows from how they were
 * made: the first invalid word, or request for help, decides. For all others the
 * status must be one of those defined.
 *
 * No run may end by a signal, go on for a minute although it was interrupted, fail without a
 * sentence on stderr, print anything on stdout besides a usage error, or have a sanitizer complain.
 * Each that does is reported, `bad N: WHY: WORDS`; the last line counts the runs by exit
 * status. It writes files into the working directory.
 *
 *   -v           prints all lines
 *   -d SECONDS   each line of a tracing applet ends with this --duration
 *
 * Exit: 0, or 1 if one was bad.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "applets/applets.h"
#include "base/say.h"
#include "base/util.h"

#define MOST_WORDS 96
#define INTERRUPT_MS 3000
#define HANG_MS 60000
#define SANITIZER 99
#define INTERRUPTED (1000 + SIGINT)

static uint64_t state;
static bool is_mild; /* this line is likely to be valid, so that it gets further */

static uint64_t below(uint64_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return limit ? state % limit : 0;
}

/* ---- A line ---- */

enum decided {
    NOTHING_YET,
    IS_WRONG, /* a usage error */
    IS_HELP,
    IS_OPEN, /* the option's value may be the next word: nothing more is known */
};

struct line {
    char *words[MOST_WORDS + 1];
    size_t count, first; /* the first that is not PROGRAM's */
    enum decided decided;
    bool has_command;
};

static __attribute__((format(printf, 2, 3))) void add(struct line *line, const char *format, ...)
{
    va_list list;

    if (line->count == MOST_WORDS)
        return;
    va_start(list, format);
    if (vasprintf(&line->words[line->count], format, list) < 0)
        exit(2);
    va_end(list);
    line->words[++line->count] = NULL;
}

static void decide(struct line *line, enum decided decided)
{
    if (line->decided == NOTHING_YET)
        line->decided = decided;
}

static const char *const texts[] = {
    "", "-", "--", "x", "1", "0", "-1", "1e3", "0x10", "99999999999999999999", "4096", "/", "/dev/null", ".", "..",
    "no/such/place", "x.svg", "x.folded", "x.txt", "x.pb.gz", "x.sbx", "x.speedscope.json", "%n.txt", "%t.folded",
    "%%", "%", "%n%t%x.svg", "text", "folded", "svg", "flat", "tree", "json", "sbx", "pprof", "perf", "name",
    "thread", "process", "fp", "tables", "none", "bpf", "rings", "walk", "multi", "pmu", "tracefs", "cycles",
    "cpu-clock", "500M", "5%", "0.5", ".", "nan", "inf", "arg1", "arg1:i32", "arg1 > 1", "comm == \"x\"", "((((",
    "ret && !", "prev_pid == 1 || next_pid", "a b", "\t", "\xff\xfe", "\xc3\xa9", "%s%n%d", "system.slice",
    "self,../..", "1,2,3", "1,,2", "R", "D,S", "2000-01-01", "*", "[", "\\", "$(x)", "; x",
};

static const char *const patterns[] = {
    "t:sched:sched_switch", "t:syscalls:sys_enter_getppid", "t:sched:sched_w*", "t:none:such", "c:getppid", "c:nosuch",
    "p:c:getpid", "r:c:getppid", "vfs_read", "r::vfs_read", "u:c:setjmp", "u:none:x", "/bin/sh:main", "/nope:x",
    "/bin/sh:0x0", "/bin/sh:0xfffffffffffffffff", "c:getppid+0x1", "uprobe:c:getppid", "kprobe:vfs_read",
    "tracepoint:sched:sched_switch", ":", "::", "t:", "r:", "p::", "",
};

/* A plausible value for an argument of this name in the help. */
static const char *mild_text_of(const char *kind)
{
    static const struct {
        const char *kind, *texts[4];
    } likely[] = {
        {"FILE", {"x.svg", "x.folded", "%n.pb.gz", "/dev/null"}}, {"FORMAT", {"folded", "text", "svg", "json"}},
        {"WAY", {"fp", "tables", "rings", "pmu"}},                {"PATH", {"/", "/", "system.slice", "x"}},
        {"DIR", {"/", ".", "/usr", "/"}},                         {"EVENT", {"cpu-clock", "page-faults", "cycles", "x"}},
        {"CONDITION", {"arg1 > 1", "prev_pid > 1", "comm == \"x\"", "comm != \"x\""}},
        {"WHO", {"name", "thread", "process", "name"}},           {"VALUE", {"arg1", "ret", "prev_pid", "x"}},
        {"PERCENT", {"5%", "5", "0.1", "100"}},                   {"STATES", {"R", "D,S", "S", "D"}},
    };

    for (size_t i = 0; i < COUNT_OF(likely); i++)
        if (strstr(kind, likely[i].kind))
            return likely[i].texts[below(4)];
    return texts[below(COUNT_OF(texts))];
}

static const char *text_of(void)
{
    static char large[20001];

    if (below(40) || is_mild)
        return texts[below(COUNT_OF(texts))];
    size_t length = 1 + (size_t)below(sizeof(large) - 1);
    memset(large, "a1;:/*%"[below(7)], length);
    large[length] = '\0';
    return large;
}

/* A number that the row accepts, or one that it does not. */
static const char *number_of(const struct option *row, bool is_right)
{
    static const char *const wrong[] = {"", "x", "-1", "1x", "0x", " 1", "99999999999999999999", "1.5", "+-1"};
    static char number[32];
    uint64_t span = row->greatest - row->least;

    if (is_right) {
        snprintf(number, sizeof(number), "%llu",
                 (unsigned long long)(row->least + below(below(4) ? 100 < span ? 100 : span + 1 : span)));
        return number;
    }
    if (row->greatest != UINT64_MAX && !below(3)) {
        snprintf(number, sizeof(number), "%llu", (unsigned long long)row->greatest + 1);
        return number;
    }
    return wrong[below(COUNT_OF(wrong))];
}

static bool takes_number(const struct option *row)
{
    return row->parse == option_number || row->parse == option_numbers;
}

/* Invalid numbers and times decide the line; for parsers of text it stays open. */
static void add_value(struct line *line, const struct option *row, char *to, size_t room)
{
    const char *text = is_mild ? mild_text_of(row->argument) : text_of();

    if (takes_number(row)) {
        bool is_right = is_mild || below(4);
        text = number_of(row, is_right);
        if (!is_right)
            decide(line, IS_WRONG);
    } else if (row->parse == option_seconds) {
        static const char *const right[] = {"0.01", "1", "0.001", "2.5", "100000"};
        static const char *const wrong[] = {"", "0", "-1", "x", "1s", "99999999999999999999", ".", "1.2.3"};
        bool is_right = is_mild || below(4);
        text = is_right ? right[below(COUNT_OF(right))] : wrong[below(COUNT_OF(wrong))];
        if (!is_right)
            decide(line, IS_WRONG);
    } else if (row->parse != option_string && row->parse != option_strings && row->parse != option_ignore) {
        decide(line, IS_OPEN);
    }
    snprintf(to, room, "%s", text);
}

static bool is_rare(const struct option *row)
{
    return row->parse == option_ask && row->name;
}

static void add_option(struct line *line, const struct option *row)
{
    static char value[20010];
    const enum decided before = line->decided;

    if (row->parse == option_mark)
        return;
    if (is_rare(row))
        decide(line, IS_HELP);
    else if (!row->argument && row->parse != option_flag && row->parse != option_ignore)
        decide(line, IS_OPEN);
    if (!row->argument) {
        if (row->name && !is_mild && !below(40)) {
            if (before == NOTHING_YET)
                line->decided = IS_WRONG;
            add(line, "--%s=%s", row->name, text_of());
        } else if (row->letter && (!row->name || below(2))) {
            add(line, "-%c", row->letter);
        } else {
            add(line, "--%s", row->name);
        }
        return;
    }
    bool may_lack = row->argument[0] == '[';
    add_value(line, row, value, sizeof(value));
    if (row->name && below(2)) {
        add(line, "--%s=%s", row->name, value);
    } else {
        if (may_lack)
            decide(line, IS_OPEN);
        if (row->letter && (!row->name || below(2))) {
            if (*value && below(2)) {
                add(line, "-%c%s", row->letter, value);
                return;
            }
            add(line, "-%c", row->letter);
        } else {
            add(line, "--%s", row->name);
        }
        if (!may_lack || below(2))
            add(line, "%s", value);
    }
}

static const struct option *choose_option(const struct option *const *tables)
{
    size_t count = 0, which;

    for (const struct option *const *table = tables; *table; table++)
        for (const struct option *row = *table; row->parse; row++)
            count++;
    which = (size_t)below(count);
    for (const struct option *const *table = tables;; table++)
        for (const struct option *row = *table; row->parse; row++)
            if (!which--)
                return row;
}

static void add_item(struct line *line, const struct applet *applet)
{
    const struct option *row = choose_option(applet->options);

    switch (is_mild ? 7 + below(17) : below(24)) {
    case 0:
        decide(line, IS_WRONG);
        add(line, "%s", below(2) ? "--no-such-option" : "--no-such=5");
        return;
    case 1:
        decide(line, IS_OPEN);
        add(line, "%s%s", below(2) ? "-" : "", text_of());
        return;
    case 6: case 7: case 8:
        if (is_mild && !strstr(applet->usage, "PATTERN"))
            return;
        add(line, "%s", patterns[below(COUNT_OF(patterns))]);
        return;
    case 5:
        add(line, "%s", text_of());
        if (line->words[line->count - 1][0] == '-')
            decide(line, IS_OPEN);
        return;
    default:
        if (!is_rare(row) || !below(6))
            add_option(line, row);
    }
}

static const struct option *find_row(const struct applet *applet, const char *name)
{
    for (const struct option *const *table = applet->options; *table; table++)
        for (const struct option *row = *table; row->parse; row++)
            if (row->name && row->parse != option_mark && !strcmp(row->name, name))
                return row;
    return NULL;
}

/* The last option lacks its value. */
static void add_lacking(struct line *line, const struct applet *applet)
{
    const struct option *row = choose_option(applet->options);

    if (!row->argument || row->argument[0] == '[' || !row->name || row->parse == option_mark)
        return;
    decide(line, IS_WRONG);
    add(line, "--%s", row->name);
}

static void make_line(struct line *line, const char *duration)
{
    size_t count = 0, items = (size_t)(below(5) ? below(5) : below(16));
    static const char *const commands[] = {"true", "false", "/no/such/program", "/", "sleep 0.01", ""};

    while (applets[count])
        count++;
    const struct applet *applet = applets[below(count)];
    add(line, "%s", below(50) ? applet->name : text_of());
    if (strcmp(line->words[line->count - 1], applet->name))
        line->decided = IS_OPEN;
    is_mild = below(2);
    if (is_mild && strstr(applet->usage, "PATTERN"))
        add(line, "%s", patterns[below(2)]);
    if (is_mild && strstr(applet->usage, "FILE"))
        add(line, "%s", below(2) ? "x.folded" : "x.sbx");
    while (items--)
        add_item(line, applet);
    const struct option *row = find_row(applet, "duration");
    if (duration && row)
        add(line, "--duration=%s", duration);
    if (!is_mild && !below(25)) {
        add_lacking(line, applet);
    } else if (!below(5)) {
        const char *command = commands[below(COUNT_OF(commands))];
        line->has_command = true;
        add(line, "--");
        if (!strncmp(command, "sleep ", 6)) {
            add(line, "sleep");
            command += 6;
        }
        if (*command || below(2))
            add(line, "%s", command);
    }
}

/* ---- A run ---- */

static long milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void open_as(int fd, const char *path, int flags)
{
    int file = open(path, flags, 0644);

    if (file < 0 || dup2(file, fd) < 0)
        _exit(98);
    close(file);
}

static void be_run(char **words)
{
    sigset_t none;

    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    open_as(STDIN_FILENO, "/dev/null", O_RDONLY);
    open_as(STDOUT_FILENO, "words.out", O_WRONLY | O_CREAT | O_TRUNC);
    open_as(STDERR_FILENO, "words.err", O_WRONLY | O_CREAT | O_TRUNC);
    execvp(words[0], words);
    _exit(98);
}

/* The exit status; 1000 + the signal; -1: it did not end. */
static int run(char **words)
{
    int status = 0;
    bool is_interrupted = false;
    long begin = milliseconds();
    pid_t pid = fork();

    if (!pid)
        be_run(words);
    if (pid < 0)
        exit(2);
    while (!waitpid(pid, &status, WNOHANG)) {
        long took = milliseconds() - begin;
        if (took > INTERRUPT_MS && !is_interrupted)
            is_interrupted = !kill(pid, SIGINT);
        if (took > HANG_MS) {
            kill(pid, SIGKILL);
            waitpid(pid, NULL, 0);
            return -1;
        }
        usleep(took < 100 ? 1000 : 10000);
    }
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

static char *read_back(const char *path, size_t *size)
{
    static char bytes[2][65536];
    char *to = bytes[!strcmp(path, "words.err")];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, to, sizeof(bytes[0]) - 1);

    if (got < 0)
        exit(2);
    close(fd);
    to[got] = '\0';
    *size = (size_t)got;
    return to;
}

/* 128 + SIGINT: the run was interrupted before its command ran. */
static bool is_of_command(int status)
{
    return (status >= EXIT_TRACER && status <= EXIT_NOT_FOUND) || status == 128 + SIGINT;
}

static bool is_usual(const struct line *line, int status)
{
    if (status >= 0 && status <= EXIT_USAGE)
        return true;
    if (line->has_command)
        return is_of_command(status);
    /* A -- may have been the value of an option. */
    for (size_t i = line->first; i < line->count; i++)
        if (!strcmp(line->words[i], "--"))
            return is_of_command(status);
    return status == EXIT_GREW && !strcmp(line->words[line->first], "flamegraph");
}

/* Why it is bad, or NULL. */
static const char *judge(const struct line *line, int status)
{
    size_t out_size, err_size;

    (void)read_back("words.out", &out_size);
    const char *err = read_back("words.err", &err_size);
    if (status < 0)
        return "it did not end";
    if (status == INTERRUPTED && !out_size)
        return NULL; /* it had hardly started, or was about to end */
    if (status >= 1000)
        return "a signal ended it";
    if (status == SANITIZER || strstr(err, "Sanitizer") || strstr(err, "runtime error"))
        return "a sanitizer complains";
    if (!is_usual(line, status))
        return "there is no such exit status";
    if (line->decided == IS_WRONG && status != EXIT_USAGE)
        return "its command line is wrong, which it should say";
    if (line->decided == IS_HELP && (status || !out_size))
        return "it should print its help";
    if ((status == EXIT_USAGE || status == EXIT_TRACER) && !err_size)
        return "it failed without a word";
    if (status == EXIT_FAILURE && !line->has_command && !err_size && strcmp(line->words[line->first], "check"))
        return "it failed without a word";
    if (status == EXIT_USAGE && out_size)
        return "a usage error, and something on stdout";
    if (status == EXIT_USAGE && !strchr(err, ':'))
        return "a usage error that says nothing";
    return NULL;
}

static void say_line(unsigned long number, int status, const char *why, const struct line *line)
{
    size_t size;

    printf("%s %lu: status %d: %s:", why ? "bad" : "line", number, status, why ? why : "right");
    for (size_t i = line->first; i < line->count; i++)
        printf(" '%.60s'", line->words[i]);
    printf(": %.600s\n", read_back("words.err", &size));
}

int main(int argc, char **argv)
{
    unsigned long runs = 1000, seed = 1, bad = 0, statuses[256] = {0}, decided[4] = {0};
    const char *duration = NULL;
    bool verbose = false;
    int letter;

    while ((letter = getopt(argc, argv, "+vn:s:d:")) != -1) {
        switch (letter) {
        case 'v': verbose = true; break;
        case 'n': runs = strtoul(optarg, NULL, 10); break;
        case 's': seed = strtoul(optarg, NULL, 10); break;
        case 'd': duration = optarg; break;
        default: return 2;
        }
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (unsigned long number = 0; number < runs; number++) {
        struct line line = {0};
        /* Each line has its own random state, so that any one can be repeated. */
        state = ((uint64_t)seed << 32 | (number + 1)) * 0x9e3779b97f4a7c15;
        for (int i = 0; i < 8; i++)
            below(2);
        for (char **word = argv + optind; *word; word++)
            add(&line, "%s", *word);
        line.first = line.count;
        make_line(&line, duration);
        int status = run(line.words);
        const char *why = judge(&line, status);
        if (why || verbose)
            say_line(number, status, why, &line);
        bad += why != NULL;
        statuses[status & 255]++;
        decided[line.decided]++;
        while (line.count)
            free(line.words[--line.count]);
    }
    printf("%lu lines, %lu wrong in themselves, %lu for help:", runs, decided[IS_WRONG], decided[IS_HELP]);
    for (int i = 0; i < 256; i++)
        if (statuses[i])
            printf(" %lu end with %d,", statuses[i], i);
    printf(" %lu bad\n", bad);
    return bad != 0;
}
