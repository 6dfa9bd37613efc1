/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * signal_runs [-n RUNS] [-s SEED] [-l LANES] [-m MS] [-d DIRECTORY] FILE
 *
 * Runs the commands in FILE, one a line, words between blanks, in turn, and sends each SIGINT,
 * SIGTERM, SIGHUP or SIGKILL, 0 to MS milliseconds after its start. A run's output is in DIRECTORY/N.out
 * and DIRECTORY/N.err. For each run it prints
 *
 *     run N LINE SIGNAL US STATUS BYTES NEWLINES
 *
 * LINE is the command's line, from 1 on, US when it was signalled, STATUS its exit status, 1000 + the
 * signal that ended it, or 9999 if a signal did not end it in a minute; BYTES how many it printed,
 * and NEWLINES how many newlines are at their end, at most 2. At the end it waits for all descendants
 * of the runs: those that do not end are reported, `left PID`, and killed.
 *
 *   -n RUNS      200
 *   -s SEED      1: which signals, and when
 *   -l LANES     4: how many run at the same time
 *   -m MS        300
 *   -d DIRECTORY .
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>

#include "word.h"

#define MOST_LINES 64
#define MOST_WORDS 64
#define MOST_LANES 16
#define LOOK_NS 200000
#define MINUTE_NS 60000000000ull
#define LEFT_NS 20000000000ull
#define NEVER_ENDED 9999

struct lane {
    pid_t pid; /* 0: none */
    unsigned run;
    int signal;
    int signalled;
    int status; /* -1: it runs */
    uint64_t start, delay;
};

static char text[65536];
static char *lines[MOST_LINES][MOST_WORDS + 1];
static unsigned line_count;
static struct lane lanes[MOST_LANES];
static const char *directory = ".";

/* The same numbers for the same seed, everywhere (splitmix64's constants). */
static uint64_t random_of(uint64_t seed, uint64_t number)
{
    uint64_t mixed = seed + (number + 1) * 0x9e3779b97f4a7c15;

    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
}

static void read_lines(const char *path)
{
    FILE *file = fopen(path, "r");
    char *line, *rest = text;

    if (!file || !fread(text, 1, sizeof(text) - 1, file))
        die(path);
    fclose(file);
    while ((line = strtok_r(NULL, "\n", &rest)) && line_count < MOST_LINES) {
        unsigned count = 0;
        for (char *word = strtok(line, " "); word && count < MOST_WORDS; word = strtok(NULL, " "))
            lines[line_count][count++] = word;
        line_count += count > 0;
    }
    if (!line_count)
        die("no commands");
}

/* ---- A run ---- */

static void open_as(int fd, unsigned run, const char *ending)
{
    char path[4096];
    int file;

    snprintf(path, sizeof(path), "%s/%u%s", directory, run, ending);
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file < 0 || dup2(file, fd) < 0)
        _exit(126);
    close(file);
}

static void be_run(unsigned run, char **words)
{
    sigset_t none;

    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    open_as(STDOUT_FILENO, run, ".out");
    open_as(STDERR_FILENO, run, ".err");
    execvp(words[0], words);
    _exit(127);
}

static void begin_run(struct lane *lane, unsigned run, uint64_t seed, uint64_t most)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGKILL, SIGHUP };

    lane->run = run;
    lane->signal = signals[random_of(seed, 2 * run) % 4];
    lane->delay = random_of(seed, 2 * run + 1) % (most * 1000000);
    lane->signalled = 0;
    lane->status = -1;
    lane->start = clock_ns(CLOCK_MONOTONIC);
    lane->pid = fork();
    if (lane->pid < 0)
        die("fork");
    if (!lane->pid)
        be_run(run, lines[run % line_count]);
}

static void say_end(struct lane *lane)
{
    char path[4096], last[2] = { 0 };
    off_t size;
    int file, newlines;

    snprintf(path, sizeof(path), "%s/%u.out", directory, lane->run);
    file = open(path, O_RDONLY | O_CLOEXEC);
    size = file < 0 ? 0 : lseek(file, 0, SEEK_END);
    if (size > 1 && pread(file, last, sizeof(last), size - 2) != 2)
        die(path);
    if (file >= 0)
        close(file);
    newlines = last[1] != '\n' ? 0 : last[0] != '\n' ? 1 : 2;
    printf("run %u %u %d %llu %d %lld %d\n", lane->run, lane->run % line_count + 1, lane->signal,
           (unsigned long long)lane->delay / 1000, lane->status, (long long)size, newlines);
    lane->pid = 0;
}

/* A run occupies its lane until it has been signalled and has ended. */
static void look_at(struct lane *lane, uint64_t time)
{
    if (lane->status < 0 && !lane->signalled && time - lane->start >= lane->delay) {
        kill(lane->pid, lane->signal);
        lane->signalled = 1;
    }
    if (lane->status < 0 && time - lane->start >= lane->delay + MINUTE_NS) {
        kill(lane->pid, SIGKILL);
        waitpid(lane->pid, NULL, 0);
        lane->status = NEVER_ENDED;
    }
    if (lane->status >= 0)
        say_end(lane);
}

/* ---- Ends ---- */

/* The runs' descendants become our children when their parent is gone. */
static int take_end(int options)
{
    int status;
    pid_t pid = waitpid(-1, &status, options);

    if (pid <= 0)
        return pid < 0 && errno == ECHILD ? -1 : 0;
    for (unsigned i = 0; i < MOST_LANES; i++)
        if (lanes[i].pid == pid && lanes[i].status < 0)
            lanes[i].status =
                WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
    return 1;
}

static void sleep_for(uint64_t ns)
{
    struct timespec time = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

    nanosleep(&time, NULL);
}

/* Kills our children, and processes that thereby become our children. */
static void kill_left(void)
{
    char path[64], children[4096];
    FILE *file;
    char *at, *end;

    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    while ((file = fopen(path, "r"))) {
        size_t size = fread(children, 1, sizeof(children) - 1, file);
        fclose(file);
        children[size] = '\0';
        for (at = children; strtol(at, &end, 10) > 0; at = end) {
            printf("left %ld\n", strtol(at, NULL, 10));
            kill((pid_t)strtol(at, NULL, 10), SIGKILL);
        }
        if (take_end(0) < 0)
            return;
    }
    printf("left unknown\n");
}

int main(int argc, char **argv)
{
    unsigned long runs = 200, seed = 1, lane_count = 4, most = 300;
    unsigned begun = 0, running = 0;
    int option;

    setvbuf(stdout, NULL, _IOLBF, 0);
    while ((option = getopt(argc, argv, "n:s:l:m:d:")) != -1) {
        switch (option) {
        case 'n': runs = strtoul(optarg, NULL, 10); break;
        case 's': seed = strtoul(optarg, NULL, 10); break;
        case 'l': lane_count = strtoul(optarg, NULL, 10); break;
        case 'm': most = strtoul(optarg, NULL, 10); break;
        case 'd': directory = optarg; break;
        default: return 2;
        }
    }
    if (optind + 1 != argc || !lane_count || lane_count > MOST_LANES || !most)
        return 2;
    read_lines(argv[optind]);
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
        die("prctl");
    do {
        running = 0;
        while (take_end(WNOHANG) > 0)
            ;
        for (unsigned i = 0; i < lane_count; i++) {
            if (!lanes[i].pid && begun < runs)
                begin_run(&lanes[i], begun++, seed, most);
            if (lanes[i].pid)
                look_at(&lanes[i], clock_ns(CLOCK_MONOTONIC));
            running += lanes[i].pid != 0;
        }
        sleep_for(LOOK_NS);
    } while (running || begun < runs);
    for (uint64_t since = clock_ns(CLOCK_MONOTONIC); clock_ns(CLOCK_MONOTONIC) - since < LEFT_NS;
         sleep_for(LOOK_NS * 10))
        if (take_end(WNOHANG) < 0)
            return 0;
    kill_left();
    return 1;
}
