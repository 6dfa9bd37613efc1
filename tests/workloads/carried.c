/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * carried [OPTION]... PLACE [ROW=TEXT | ROW~TEXT]...
 *
 * Judges stackbox where there is no shell: runs each applet that it lists with a program that knows
 * the right answer (known.c), and prints `PASS carried: PLACE: ROW`, or FAIL and why, for each row
 * of a table. An applet without a row fails.
 *
 * A row passes if the answer is right and everything else printed is whole lines by the applet.
 * With ROW=TEXT stackbox must refuse instead: nothing on stdout, one line on stderr that contains
 * TEXT, and the command has not run. With ROW~TEXT either passes. ROW is the name of a row or an
 * applet, or `all`; the first match counts.
 *
 *   -s FILE    stackbox, if not /stackbox
 *   -n FILE    known, if not /known
 *   -k         this kernel has kernel probes
 *   -u         functions have no names here, and each answer says so
 *   -U ID      runs everything as this user and group
 *   -c DIGITS  closes these descriptors, 0 to 2, first; output for a closed stdout is refused
 *   -t COLUMNS everything is on a terminal of that width, and stderr is not judged
 *   -o DIR     reports go to files there, if the applet can, and not to stdout
 *   -N COMM    processes' name at their first exec, if not `known`
 *
 * As pid 1 it is the init of a machine with only these three files: it judges with nothing mounted,
 * with /proc, and with /sys, too, prints what tests/guest/init prints, and powers off.
 */
#include <signal.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "captured.h"

static struct {
    const char *place, *stackbox, *known, *directory, *comm;
    int has_kprobes, is_unnamed, is_emulated, failed;
    int has_names; /* the last run's stacks have all expected frames, in spite of is_unnamed */
    int only_probes; /* runs stackcount and check alone */
    struct way_to_run how;
    const char **expected;
} here = {
    .stackbox = "/stackbox",
    .known = "/known",
    .comm = "known",
    .how = { .uid = -1, .closed = "", .columns = -1 },
};

struct row {
    const char *name, *applet;
    const char *words; /* %K: known's path; %C: the command `known way number`; %P: its pid */
    const char *way, *number;
    const char *(*judge)(const struct row *row); /* returns NULL, or what is wrong */
    const char *frames[2];                       /* only lines with these frames count */
    double least, most; /* bounds of the counts' sum, as factors of known's own count */
    double more;        /* added to the upper bound */
    double pause;       /* us; if not 0, `least` is a factor of `number` of these instead */
    const char *input;
    size_t input_size; /* 0: it is text */
    const char *ending; /* of the report's file name */
    int needs_kprobes, has_ticks;
};

/* ---- judging */

static int line_has(const char *line, const char *frame)
{
    char inner[64], last[64];

    snprintf(inner, sizeof(inner), ";%s;", frame);
    snprintf(last, sizeof(last), ";%s ", frame);
    return strstr(line, inner) || strstr(line, last);
}

static int starts(const char *line, const char *name)
{
    return !strncmp(line, name, strlen(name)) && line[strlen(name)] == ';';
}

/* The folded lines with the row's frames must add up to known's own count. */
static const char *judge_folded(const struct row *row)
{
    static char why[200];
    double sum = 0, named = 0;
    char *rest = captured.out;

    for (char *line; (line = strsep(&rest, "\n"));) {
        const char *value = strrchr(line, ' ');
        /* With -K a line begins with no process. */
        int counts = value && (strstr(row->words, " -K ") || starts(line, here.comm) ||
                               starts(line, "waker"));
        int has_frames = counts;

        for (int i = 0; i < 2 && row->frames[i]; i++)
            has_frames = has_frames && line_has(line, row->frames[i]);
        if (counts && (has_frames || here.is_unnamed))
            sum += atof(value + 1);
        if (has_frames)
            named += atof(value + 1);
    }
    /* An emulated machine gets late ticks as one. */
    double least = row->least / (row->has_ticks && here.is_emulated ? 20 : 1) *
                   (row->pause > 0 ? atof(row->number) * row->pause : captured.known);
    double most = here.is_unnamed && row->more > 0 ? 1e18 : captured.most * row->most + row->more;
    here.has_names = named >= least;
    if (captured.known >= 0 && sum >= least && sum <= most)
        return NULL;
    snprintf(why, sizeof(why), "%.0f, should be %.0f to %.0f", sum, least, most);
    return why;
}

static unsigned occurrences(const char *text)
{
    unsigned count = 0;

    for (const char *at = captured.out; (at = strstr(at, text)); at += strlen(text))
        count++;
    return count;
}

/* A heading for each event, with its stack below it. */
static const char *judge_events(const struct row *row)
{
    unsigned wanted = (unsigned)atoi(row->number);

    if (occurrences("syscalls:sys_enter_getppid\n") != wanted || captured.known != wanted)
        return "not as many events as there were";
    if (!here.is_unnamed && occurrences("\n\tcalled\n") != wanted)
        return "not all events have their stack";
    return NULL;
}

static const char *judge_picture(const struct row *row)
{
    (void)row;
    int is_right = occurrences("<title>b (3 samples, 42.86 %)") == 1 &&
                   occurrences("<title>all (7 samples, 100.00 %)") == 1 &&
                   !strcmp(captured.out + captured.out_size - 7, "</svg>\n");
    return is_right ? NULL : "not the picture of what was given";
}

/* The contents of tests/recordings/version1.txt, with files from another architecture. */
extern const char recording_start[];
__asm__(".pushsection .rodata.recording,\"a\"\n"
        ".globl recording_start\n"
        "recording_start:\n"
        ".incbin \"tests/recordings/version1.sbx\"\n"
        ".popsection\n");
#define RECORDING_BYTES 476

static const char *judge_recording(const struct row *row)
{
    (void)row;
    int is_right = occurrences("\n    libgone.so+0x11010\n    libgone.so+0x11021\n") == 1 &&
                   occurrences("\n    nfs_read\n    written+0x40\n    jitted\n    __vdso_time\n") == 1;
    return is_right ? NULL : "not the stacks that were recorded";
}

/* Its output is checked by other tests: here it must end, and list everything. */
static const char *judge_check(const struct row *row)
{
    (void)row;
    return occurrences("\nstackcount: ") == 1 && occurrences("\nflamegraph: yes\n") == 1
               ? NULL
               : "it does not say what can run";
}

/* Waits: known's own time includes waiting for a CPU, so its pauses give the lower bound. */
/* (--unwind fp: known has frame pointers, but its libc has neither those nor unwind tables.) */
#define ROUGHLY .ending = ".folded", .pause = 20000, .least = 0.3, .most = 1.2, .more = 30000
#define EXACTLY .ending = ".folded", .least = 1, .most = 1

static const struct row rows[] = {
    { "program", "stackcount", "-f -U %K:called %C", "calls", "300", judge_folded, { "called" },
      EXACTLY },
    { "tracepoint", "stackcount", "-f t:syscalls:sys_enter_getppid %C", "calls", "300", judge_folded,
      { "called" }, EXACTLY },
    { "process", "stackcount", "-f -U -p %P %K:called", "calls", "300", judge_folded, { "called" },
      EXACTLY },
    { "function", "stackcount", "-f -K __x64_sys_getppid %C", "calls", "300", judge_folded,
      { "__x64_sys_getppid" }, EXACTLY, .needs_kprobes = 1 },
    { "events", "stacksnoop", "t:syscalls:sys_enter_getppid %C", "calls", "20", judge_events,
      .least = 0 },
    /* Samples per nanosecond, at 99 Hz. */
    { "profile", "profile", "-f -F 99 %C", "burns", "300", judge_folded, { "burn_here" },
      .least = 40e-9, .most = 115e-9, .more = 3, .has_ticks = 1, .ending = ".folded" },
    { "offcputime", "offcputime", "-f --unwind fp %C", "naps", "5", judge_folded, { "nap_here" }, ROUGHLY },
    { "wakeuptime", "wakeuptime", "-f --unwind fp %C", "waits", "5", judge_folded, { "wake_other" }, ROUGHLY },
    { "offwaketime", "offwaketime", "-f --unwind fp %C", "waits", "5", judge_folded,
      { "wait_here", "wake_other" }, ROUGHLY },
    { "walltime", "walltime", "-f --unwind fp %C", "naps", "5", judge_folded, { "nap_here" }, ROUGHLY },
    { "flamegraph", "flamegraph", "", NULL, NULL, judge_picture, .input = "a;b 3\na;c 4\n",
      .ending = ".svg" },
    { "check", "check", "", NULL, NULL, judge_check, .input = "" },
    { "report", "report", "-", NULL, NULL, judge_recording, .input = recording_start,
      .input_size = RECORDING_BYTES },
};
#define ROWS (sizeof(rows) / sizeof(*rows))

/* Messages must be whole lines, each by the applet, or "Tracing ..." or "Sampling ...". */
static const char *judge_words(const struct row *row)
{
    static char why[300];
    size_t length = strlen(row->applet);
    char copy[sizeof(captured.err)], *rest = copy;

    memcpy(copy, captured.err, sizeof(copy));
    for (char *line; (line = strsep(&rest, "\n")) && rest;) {
        if ((!strncmp(line, row->applet, length) && !strncmp(line + length, ": ", 2)) ||
            !strncmp(line, "Tracing ", 8) || !strncmp(line, "Sampling ", 9))
            continue;
        snprintf(why, sizeof(why), "it says \"%.200s\"", line);
        return why;
    }
    return rest || copy[0] == 0 || !captured.err_size || captured.err[captured.err_size - 1] == '\n'
               ? NULL
               : "what it says does not end in a line's end";
}

/* The applet writes to a closed stdout, and must fail and say why. */
static const char *judge_unheard(void)
{
    if (captured.status != 1 && captured.status != 125)
        return "its output is lost, and it does not fail";
    return strchr(here.how.closed, '2') || strstr(captured.err, "stdout is closed") ? NULL : "it does not say why";
}

static const char *judge_right(const struct row *row)
{
    const char *wrong = NULL;

    if (row->input && *row->input && strchr(here.how.closed, '0'))
        return captured.status == 1 ? NULL : "it drew what it was not given";
    if (strchr(here.how.closed, '1') && !(here.directory && row->ending))
        return judge_unheard();
    if (captured.status && strcmp(row->applet, "check"))
        return "its exit status is not 0";
    here.has_names = 0;
    wrong = row->judge(row);
    if (!wrong && here.is_unnamed && !here.has_names && row->way && !strstr(captured.err, " no name"))
        wrong = "it does not say why there are no names";
    return wrong ? wrong : judge_words(row);
}

static const char *judge_refused(const struct row *row, const char *text)
{
    const char *end = strchr(captured.err, '\n');
    size_t length = strlen(row->applet);

    if (captured.status != 1 && captured.status != 125)
        return "its exit status is none of a refusal";
    if (captured.out_size)
        return "something is on stdout";
    if (captured.known >= 0 && strcmp(row->name, "process"))
        return "the command has run";
    if (!end || end[1])
        return "it is not one line";
    if (strncmp(captured.err, row->applet, length) || strncmp(captured.err + length, ": ", 2))
        return "the line does not say who speaks";
    return strstr(captured.err, text) ? NULL : "it is another line";
}

/* ---- running */

/* The words of a row, with each %X replaced by its meaning: valid until the next call. */
static const char *const *words_of(const struct row *row, pid_t process, const char *report)
{
    static char text[400], program[300], number[20];
    static const char *words[32];
    char *rest = text;
    size_t n = 0;

    snprintf(text, sizeof(text), "%s", row->words);
    snprintf(program, sizeof(program), "%s:called", here.known);
    snprintf(number, sizeof(number), "%d", (int)process);
    words[n++] = here.stackbox;
    words[n++] = row->applet;
    if (report) {
        words[n++] = "-o";
        words[n++] = report;
    }
    for (const char *word; (word = strsep(&rest, " "));) {
        if (!*word || (report && !strcmp(word, "-f")))
            continue;
        if (strcmp(word, "%C")) {
            words[n++] = !strcmp(word, "%K:called") ? program : !strcmp(word, "%P") ? number : word;
            continue;
        }
        words[n++] = "--";
        words[n++] = here.known;
        words[n++] = "-r";
        words[n++] = RESULT_FD;
        words[n++] = row->way;
        words[n++] = row->number;
    }
    words[n] = NULL;
    return words;
}

static void read_report(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, captured.out, sizeof(captured.out) - 1);

    captured.out_size = got > 0 ? (size_t)got : 0;
    captured.out[captured.out_size] = 0;
    close(fd);
    unlink(path);
}

static void run(const struct row *row)
{
    const char *const known[] = { here.known, "-r",     RESULT_FD,   "-g",
                                  GO_FD,      row->way, row->number, NULL };
    char report[300] = "";
    pid_t process = 0;

    open_ends(&here.how);
    if (strstr(row->words, "%P"))
        process = start_beside(&here.how, known);
    if (here.directory && row->ending)
        snprintf(report, sizeof(report), "%s/report%s", here.directory, row->ending);
    run_captured(&here.how, words_of(row, process, *report ? report : NULL), row->input, row->input_size, process);
    if (*report)
        read_report(report);
}

/* ---- the table */

/* "ROW=TEXT" of this row: what follows the name; NULL if there is none */
static const char *expectation(const struct row *row)
{
    const char *const names[] = { row->name, row->applet, "all" };

    for (const char **word = here.expected; *word; word++) {
        size_t length = strcspn(*word, "=~");

        for (int i = 0; i < 3 && (*word)[length]; i++) {
            if (strlen(names[i]) == length && !strncmp(names[i], *word, length))
                return *word + length;
        }
    }
    return NULL;
}

static void join_lines(char *text)
{
    while ((text = strchr(text, '\n')))
        *text = '|';
}

static void judge(const struct row *row)
{
    const char *expected = expectation(row);

    run(row);
    const char *wrong = expected && *expected == '=' ? judge_refused(row, expected + 1)
                                                     : judge_right(row);
    if (wrong && expected && *expected == '~' && !judge_refused(row, expected + 1))
        wrong = NULL;
    if (!wrong) {
        printf("PASS carried: %s: %s\n", here.place, row->name);
        return;
    }
    here.failed = 1;
    join_lines(captured.err);
    join_lines(captured.out);
    printf("FAIL carried: %s: %s: %s: status %d, it said \"%.600s\", and \"%.600s\"\n", here.place,
           row->name, wrong, captured.status, captured.err, captured.out);
}

static const struct row *row_of(const char *applet)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (!strcmp(rows[i].applet, applet))
            return &rows[i];
    }
    return NULL;
}

/* With a closed stderr no message shows that tracing has begun, so %P gets no go-ahead. */
static int can_be_judged(const struct row *row)
{
    if (here.only_probes && strcmp(row->applet, "stackcount") && strcmp(row->applet, "check"))
        return 0;
    return (here.has_kprobes || !row->needs_kprobes) &&
           !(strchr(here.how.closed, '2') && strstr(row->words, "%P"));
}

/* Judges each applet that stackbox itself lists, so that none is left out. */
static void judge_all(void)
{
    static char listed[sizeof(captured.out)];
    const char *words[] = { here.stackbox, NULL };
    int out[2];
    size_t size = 0;

    make_pipe(out);
    pid_t child = fork();
    if (!child) {
        dup2(out[1], 1);
        execv(here.stackbox, (char *const *)words);
        _exit(127);
    }
    close(out[1]);
    for (ssize_t got; (got = read(out[0], listed + size, sizeof(listed) - 1 - size)) > 0;)
        size += (size_t)got;
    close(out[0]);
    waitpid(child, NULL, 0);
    char *rest = listed;
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        line[strcspn(line, " ")] = 0;
        if (!row_of(line)) {
            printf("FAIL carried: %s: %s: no row knows what is right of it\n", here.place, line);
            here.failed = 1;
        }
        for (size_t i = 0; i < ROWS; i++) {
            if (!strcmp(rows[i].applet, line) && can_be_judged(&rows[i]))
                judge(&rows[i]);
        }
    }
    if (!size) {
        printf("FAIL carried: %s: stackbox lists no applets\n", here.place);
        here.failed = 1;
    }
}

/* ---- process 1 */

/* Any kernel warning after boot counts as caused by stackbox. */
static void judge_kernel(void)
{
    static const char *const words[] = { "WARNING: ", "BUG: ", "BUG at ", "Oops",
                                         "general protection" };
    static char said[1 << 18];
    int size = klogctl(4, said, sizeof(said) - 1); /* SYSLOG_ACTION_READ_CLEAR */

    said[size > 0 ? size : 0] = 0;
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        const char *complaint = strstr(said, words[i]);

        if (!complaint)
            continue;
        here.failed = 1;
        printf("FAIL carried: %s: the kernel complained: %.*s\n", here.place,
               (int)strcspn(complaint, "\n"), complaint);
    }
}

static void judge_as_test(const char *place, int is_unnamed, const char **expected)
{
    printf("@test %s\n", place);
    here.place = place;
    here.is_unnamed = is_unnamed;
    here.expected = expected;
    here.failed = 0;
    judge_all();
    judge_kernel();
    printf("@exit %d %s\n", here.failed, place);
}

static int be_init(void)
{
    struct utsname machine;

    setvbuf(stdout, NULL, _IOLBF, 0);
    klogctl(8, NULL, 1); /* kernel messages must not split our lines */
    klogctl(5, NULL, 0); /* clears the boot messages */
    uname(&machine);
    printf("@init %s\n", machine.release);
    here.has_kprobes = here.is_emulated = 1;
    judge_as_test("nothing-mounted", 1,
                  (const char *[]){ "function=cannot read /proc/kallsyms", NULL });
    if (mkdir("/proc", 0755) == 0 || errno == EEXIST)
        mount("proc", "/proc", "proc", 0, NULL);
    judge_as_test("proc-alone", 0, (const char *[]){ NULL });
    if (mkdir("/sys", 0755) == 0 || errno == EEXIST)
        mount("sysfs", "/sys", "sysfs", 0, NULL);
    here.only_probes = 1; /* other tests run the others with everything mounted */
    judge_as_test("proc-and-sys", 0, (const char *[]){ NULL });
    printf("@end\n");
    reboot(RB_POWER_OFF);
    return 1;
}

int main(int argc, char **argv)
{
    int option;

    signal(SIGPIPE, SIG_IGN);
    if (getpid() == 1 && argc == 1)
        return be_init();
    while ((option = getopt(argc, argv, "s:n:kuU:c:t:o:N:")) != -1) {
        switch (option) {
        case 's': here.stackbox = optarg; break;
        case 'n': here.known = optarg; break;
        case 'k': here.has_kprobes = 1; break;
        case 'u': here.is_unnamed = 1; break;
        case 'U': here.how.uid = atol(optarg); break;
        case 'c': here.how.closed = optarg; break;
        case 't': here.how.columns = atol(optarg); break;
        case 'o': here.directory = optarg; break;
        case 'N': here.comm = optarg; break;
        default: return 125;
        }
    }
    if (optind >= argc)
        return 125;
    setvbuf(stdout, NULL, _IOLBF, 0);
    here.place = argv[optind];
    here.expected = (const char **)argv + optind + 1;
    judge_all();
    return here.failed;
}
