/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* offcputime, wakeuptime, offwaketime: where threads block, and who wakes them. */
#include <errno.h>

#include "applets/applets.h"
#include "base/text.h"
#include "base/util.h"
#include "options/applet.h"
#include "run/blocked_time.h"

struct offwake_options {
    struct trace_options trace;
    uint64_t least, most; /* us */
    bool user_threads, kernel_threads, unfinished, pairs;
    struct states {
        bool given, runnable;
        uint32_t mask;
    } states;
};

static struct offwake_options settings;

#define AT(member) offsetof(struct offwake_options, member)
#define MOST_US ((uint64_t)MOST_SECONDS * 1000000)

/* ---- Options ---- */

/* As in ps(1) and /proc/TID/stat. */
static const struct {
    char letter;
    uint32_t bit;
} letters[] = {
    {'R', 0}, {'S', 1}, {'D', 2}, {'T', 4}, {'t', 8}, {'P', 0x40}, {'I', 0x80},
};

static int add_letter(char letter, struct states *states)
{
    for (size_t i = 0; i < COUNT_OF(letters); i++)
        if (letters[i].letter == letter) {
            states->mask |= letters[i].bit;
            states->runnable = states->runnable || !letters[i].bit;
            return 0;
        }
    return -EINVAL;
}

/* "D", "D,S", "DS", or a mask as in bcc: 2, with 0 for runnable threads. */
static int option_states(const struct option *option, const char *text, void *destination,
                         struct text *error)
{
    struct states *states = destination;
    uint64_t mask;
    int why = parse_number(text, 0, STATE_BLOCKED, &mask);

    (void)option;
    states->given = true;
    if (!why && !(mask & STATE_ENDING)) {
        states->mask |= (uint32_t)mask;
        states->runnable = states->runnable || !mask;
        return 0;
    }
    bool known = *text && why == -EINVAL;
    for (const char *at = text; *at && known; at++)
        known = *at == ',' || !add_letter(*at, states);
    if (known && (states->mask || states->runnable))
        return 0;
    return text_refuse(error, "\"%s\" is not a state: it takes letters of R, S, D, T, t, P and I, "
                       "such as D,S, or their mask (S 1, D 2, T 4, t 8, P 0x40, I 0x80; R 0)",
                       text);
}

static const struct option own_options[] = {
    OPTION_HEADING("Waits"),
    {'m', "min-block-time", "US", option_microseconds, AT(least), 0, MOST_US,
     "only waits of at least US microseconds", ""},
    {'M', "max-block-time", "US", option_microseconds, AT(most), 0, MOST_US,
     "only waits of at most US microseconds"},
    {0, "state", "LETTERS", option_states, AT(states), 0, 0,
     "only waits in these states",
     ": S (sleep), D (uninterruptible sleep), T, t (stopped, traced), P (parked), I (idle kernel "
     "thread), R (preempted), or their mask (default: all but R)"},
    {'u', "user-threads-only", NULL, option_flag, AT(user_threads), 0, 0,
     "user threads only"},
    {'k', "kernel-threads-only", NULL, option_flag, AT(kernel_threads), 0, 0,
     "kernel threads only"},
    {0, "unfinished", NULL, option_flag, AT(unfinished), 0, 0,
     "include waits still pending when tracing stops"},
    {0},
};

static const struct option both_options[] = {
    {0, "pairs", NULL, option_flag, AT(pairs), 0, 0,
     "print who waited for whom, one pair per line, without stacks: time, waits, the longest; the "
     "top ten, or as many as --top says"},
    {0},
};

static const struct option *const options[] = {own_options, trace_options, common_options, NULL};
static const struct option *const offwaketime_options[] = {
    own_options, both_options, trace_options, common_options, NULL};

/* ---- The command line ---- */

/* Everything that can be checked without the kernel. 0, or -EINVAL with one line in `error`. */
static int check_usage(const struct arguments *arguments, struct text *error)
{
    if (settings.user_threads && arguments->count && whose_user_exists(arguments->words[0]))
        text_format(error,
                    "-u takes no user, since it means user threads only: --uid %s selects that "
                    "user's threads", arguments->words[0]);
    if (error->length || trace_options_check(&settings.trace, arguments, error) ||
        trace_options_choose_files(&settings.trace, error) ||
        trace_options_take_duration(&settings.trace, arguments, error))
        return -EINVAL;
    if (settings.user_threads && settings.kernel_threads)
        text_add(error, "-u and -k cannot be combined: without either, all threads are traced");
    else if (settings.kernel_threads && settings.trace.user_only)
        text_add(error, "-k and -U cannot be combined: kernel threads have no user stacks");
    else if (settings.least > settings.most)
        text_format(error, "-m %llu is more than -M %llu: no wait is both",
                    (unsigned long long)settings.least, (unsigned long long)settings.most);
    return text_refusal(error);
}

static int run_view(const struct arguments *arguments, enum offwake_view view)
{
    struct text error = {0};
    char of_states[COUNT_OF(letters) + 1] = "";
    uint32_t mask = settings.states.given ? settings.states.mask : STATE_BLOCKED;
    const struct blocked_time_config config = {
        .trace = &settings.trace,
        .view = view,
        .threads = settings.user_threads ? THREADS_USER
                 : settings.kernel_threads ? THREADS_KERNEL : THREADS_ALL,
        .states = mask,
        .letters = of_states,
        .runnable = settings.states.runnable,
        .least = settings.least * 1000,
        .most = settings.most == UINT64_MAX ? UINT64_MAX : settings.most * 1000 + 999,
        .unfinished = settings.unfinished,
        .pairs = settings.pairs,
    };
    const int result = applet_see_help(check_usage(arguments, &error), &error);

    for (size_t i = 0, count = 0; i < COUNT_OF(letters); i++)
        if (letters[i].bit & mask)
            of_states[count++] = letters[i].letter;
    return result ? applet_refuse(result, &error, arguments->command) : blocked_time_run(&config);
}

static int run_offcputime(const struct arguments *arguments)
{
    return run_view(arguments, VIEW_OFFCPU);
}

static int run_wakeuptime(const struct arguments *arguments)
{
    return run_view(arguments, VIEW_WAKEUP);
}

static int run_offwaketime(const struct arguments *arguments)
{
    return run_view(arguments, VIEW_OFFWAKE);
}

static const struct manual_row offcputime_examples[] = {
    {"offcputime 5", "where threads block, for five seconds"},
    {"offcputime -p 185 -m 1000", "waits of a process of at least a millisecond"},
    {"offcputime -K --state D 10", "kernel stacks of uninterruptible waits: disks, locks"},
    {"offcputime -f -u 10 > out.folded", "user threads, as input for a flame graph"},
    {"offcputime --unfinished -p 185 5", "also what a hung process is stuck in"},
    {0},
};

static const struct manual_row wakeuptime_examples[] = {
    {"wakeuptime 5", "who ends the waits of all threads, for five seconds"},
    {"wakeuptime -p 185", "those of one process, until Ctrl-C"},
    {"wakeuptime -o out.svg 10", "a flame graph"},
    {0},
};

static const struct manual_row offwaketime_examples[] = {
    {"offwaketime 5", "where threads block and who wakes them, for five seconds"},
    {"offwaketime -p 185 -m 1000", "waits of a process of at least a millisecond"},
    {"offwaketime --pairs 5", "who waits for whom, in ten lines"},
    {"offwaketime -o out.svg 10", "a flame graph of both stacks, one on top of the other"},
    {0},
};

static const struct manual_row output[] = {
    {"waker, target",
     "who ended the wait, and who waited; with both stacks -- stands between them"},
    {"[timer interrupt], [network interrupt], [disk interrupt], [RCU interrupt], [interrupt by "
     "another CPU], [interrupt]",
     "a device or timer ended the wait, with the kernel's stack alone, since the thread it "
     "interrupted has nothing to do with it; -v adds that thread"},
    {"[no waker]", "the wakeup was not seen"},
    {"[unfinished]", "with --unfinished, a wait still pending at the end"},
    {0},
};

static const struct manual_row notes[] = {
    {NULL, "A wait lasts from when a thread leaves its CPU, blocked, until it runs again; for "
     "wakeuptime, until it is woken. It counts in the report in which it ends. Preempted threads "
     "do not wait, unless --state R is given."},
    {NULL,
     "-p, -t, --comm, --uid, -C, --cgroup, -u, -k and --state select the threads that block, not "
     "their wakers."},
    {NULL, "Requires root, or CAP_BPF and CAP_PERFMON; offcputime requires nothing for your own "
     "programs (-p, -- COMMAND): see --collect. Without raw tracepoints and "
     "/sys/kernel/btf/vmlinux, tracefs is used, and mounted for this process alone if it is not "
     "mounted."},
    {0},
};

static const struct manual_section sections[] = {{0}};

static void begin(void *memory)
{
    trace_options_begin(memory);
    settings.most = UINT64_MAX;
}

#define OFFWAKE_APPLET(word, tables, sentence, paragraph) {                                        \
    .name = #word,                                                                                 \
    .summary = sentence,                                                                           \
    .usage = "[options] [SECONDS] [-- COMMAND [ARG]...]",                                          \
    .about = paragraph " Runs for SECONDS, or until Ctrl-C, then prints the sums in microseconds, "\
             "the greatest last.",                                                                 \
    .sections = sections,                                                                          \
    .examples = word##_examples,                                                                   \
    .output = output,                                                                              \
    .notes = notes,                                                                                \
    .options = tables,                                                                             \
    .settings = &settings,                                                                         \
    .begin = begin,                                                                                \
    .run = run_##word,                                                                             \
}

const struct applet offcputime_applet = OFFWAKE_APPLET(
    offcputime, options, "sum up blocked time by the stacks that block",
    "Sums up how long threads are off the CPU because they wait for a disk, a lock, a message or "
    "a timer, by their process and the stack that blocked.");

const struct applet wakeuptime_applet = OFFWAKE_APPLET(
    wakeuptime, options, "sum up blocked time by the stacks that end it",
    "Sums up how long threads wait until they are woken, by the waker's process and stack, and "
    "the process that waited.");

const struct applet offwaketime_applet = OFFWAKE_APPLET(
    offwaketime, offwaketime_options,
    "sum up blocked time by both stacks: who blocks and who wakes",
    "Sums up how long threads are off the CPU because they wait, by the process and stack that "
    "waited and those that ended the wait.");
