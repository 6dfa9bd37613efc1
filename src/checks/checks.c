/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>

#include "base/util.h"
#include "checks/checks.h"
#include "flame/svg.h"
#include "ptrace/breakpoints.h"
#include "ptrace/ptrace_source.h"
#include "rings/rings.h"

/* A check's name in JSON, and in text. */
static const struct check_title {
    const char *key, *title;
} check_titles[CHECKS] = {
    [CHECK_BPF] = {"bpf", "bpf(2)"},
    [CHECK_JIT] = {"jit", "JIT"},
    [CHECK_STACK_MAPS] = {"stack_maps", "stack maps"},
    [CHECK_BATCHES] = {"map_batch", "map batch"},
    [CHECK_MEMORY] = {"memory", "memory"},
    [CHECK_WAITS] = {"wait_memory", "memory for waits"},
    [CHECK_BUFFER] = {"ring_buffer", "ring buffer"},
    [CHECK_KPROBE_MULTI] = {"kprobe_multi", "kprobe multi"},
    [CHECK_KPROBE_PMU] = {"kprobe_pmu", "kprobe PMU"},
    [CHECK_KERNEL_FUNCTIONS] = {"kernel_functions", "kernel functions"},
    [CHECK_UPROBE_MULTI] = {"uprobe_multi", "uprobe multi"},
    [CHECK_UPROBE_PMU] = {"uprobe_pmu", "uprobe PMU"},
    [CHECK_USER_FUNCTIONS] = {"user_functions", "user functions"},
    [CHECK_TRACEFS] = {"tracefs", "tracefs"},
    [CHECK_TRACEPOINTS] = {"tracepoints", "tracepoints"},
    [CHECK_SWITCHES] = {"switches", "switches and wakeups"},
    [CHECK_PERF_EVENTS] = {"perf_events", "perf_event_open(2)"},
    [CHECK_SAMPLING] = {"sampling", "perf sampling"},
    [CHECK_RINGS] = {"rings", "collecting by rings"},
    [CHECK_OWN_RINGS] = {"own_rings", "rings of your own programs"},
    [CHECK_PTRACE] = {"ptrace", "interrupting threads"},
    [CHECK_HARDWARE] = {"hardware_events", "hardware events"},
    [CHECK_COMMANDS] = {"commands", "-- COMMAND"},
    [CHECK_LIVES] = {"process_ends", "execs and exits"},
    [CHECK_KALLSYMS] = {"kallsyms", "kallsyms addresses"},
    [CHECK_BTF] = {"btf", "BTF"},
    [CHECK_UNWINDING] = {"unwind_tables", "unwind tables"},
    [CHECK_OTHERS] = {"other_processes", "others' processes"},
    [CHECK_REAL_TIME] = {"real_time", "exact intervals"},
    [CHECK_CGROUPS] = {"cgroup_v2", "cgroup v2"},
    [CHECK_CAPABILITIES] = {"capabilities", "capabilities"},
    [CHECK_LOCKDOWN] = {"not_locked_down", "no lockdown"},
};

void check_decide(struct check *check, enum refused what, int result, uint64_t map_bytes)
{
    check->yes = result >= 0;
    if (check->yes)
        return;
    if (check_rings && result != -EOPNOTSUPP && what != REFUSED_MAPS && what != REFUSED_TRACEFS)
        rings_explain(result, &check->detail);
    else
        refusal_explain(what, result, map_bytes, &check->detail);
}

void check_refuse(struct check *check, const char *sentence)
{
    check->yes = false;
    text_add(&check->detail, sentence);
}

bool check_is_limited;

struct part {
    void (*look)(struct checks *checks);
    struct checks *checks;
};

static void *look_at_part(void *part)
{
    ((struct part *)part)->look(((struct part *)part)->checks);
    return NULL;
}

/*
 * Before Linux 5.11 the kernel charges all maps of a user to the limit on locked memory, closed
 * ones until a moment later. Sets the limit to 0: if it applies, creating a map raises it.
 */
static bool find_limit(void)
{
    struct rlimit before, now, none;
    int map;

    if (prlimit(0, RLIMIT_MEMLOCK, NULL, &before) || before.rlim_cur == RLIM_INFINITY)
        return false;
    none = (struct rlimit){0, before.rlim_max};
    if (prlimit(0, RLIMIT_MEMLOCK, &none, NULL))
        return false;
    (void)bpf_create_numbered(&map, BPF_MAP_TYPE_ARRAY, "check", sizeof(uint32_t), 1);
    close_fd(map);
    bool counts = !prlimit(0, RLIMIT_MEMLOCK, NULL, &now) && now.rlim_cur;
    if (now.rlim_max == before.rlim_max)
        (void)prlimit(0, RLIMIT_MEMLOCK, &before, NULL);
    return counts && now.rlim_cur != RLIM_INFINITY;
}

/* Applets that may collect in another way than most if only certain tasks are asked for. */
static const struct kind {
    const char *applet; /* NULL: all others */
    struct collecting_config config;
} kinds[] = {
    {NULL, {.own = false}},
    {"profile", {.own = true, .takes_own = true, .traces = true}},
    {"offcputime", {.own = true, .traces = true}},
    {"walltime", {.own = true, .programs = true, .traces = true}},
    {"stackcount", {.own = true, .breaks = true, .calls = true}},
    {"stacksnoop", {.own = true, .breaks = true, .calls = true}},
};

static size_t kind_of(const char *applet)
{
    size_t kind = COUNT_OF(kinds) - 1;

    while (kind && strcmp(kinds[kind].applet, applet))
        kind--;
    return kind;
}

/*
 * Detaching waits in the kernel, up to a tenth of a second: so all checks run in parallel, unless
 * together they would exceed the limit on memory.
 */
void checks_look(struct checks *checks)
{
    struct part parts[] = {
        {check_maps, checks},           {check_user_functions, checks},   {check_commands, checks},
        {check_lives, checks},          {check_tracepoints, checks},      {check_events, checks},
        {check_kernel_functions, checks}, {check_rights, checks},
        {check_unwinding, checks},
    };
    pthread_t threads[COUNT_OF(parts)];
    bool started[COUNT_OF(parts)];

    *checks = (struct checks){0};
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        checks->found[i] = collecting_find(&kinds[i].config);
    checks->walks = checks->found[0].way == COLLECT_RINGS &&
                    collecting_find(&(struct collecting_config){.walks = true}).way == COLLECT_WALK;
    check_is_limited = find_limit();
    check_rings_open(checks);
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        started[i] = !check_is_limited && !check_rings &&
            !pthread_create(&threads[i], NULL, look_at_part, &parts[i]);
        if (!started[i])
            look_at_part(&parts[i]);
    }
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        if (started[i])
            pthread_join(threads[i], NULL);
    if (checks->of[CHECK_UNWINDING].yes)
        check_functions(&checks->of[CHECK_UNWINDING]);
    check_rings_close();
}

void checks_free(struct checks *checks)
{
    for (size_t i = 0; i < CHECKS; i++)
        text_free(&checks->of[i].detail);
}

/* ---- Applets ---- */

/* What applets need, in the order in which they ask for it, and what they can do without. */
struct need {
    const char *applets;
    const char *without; /* NULL: it cannot do without */
    enum check_name check;
    enum collect_way way; /* only if they collect in this way; COLLECT_BEST: in any way */
};

#define TRACERS " stackcount profile offcputime wakeuptime offwaketime walltime stacksnoop "
#define COUNTERS " stackcount profile offcputime wakeuptime offwaketime walltime "
#define WAITS " offcputime wakeuptime offwaketime walltime "
#define BY_TRACING " profile offcputime walltime stackcount stacksnoop "
#define PATTERNS " stackcount stacksnoop "

static const struct need needs[] = {
    {" profile ", NULL, CHECK_OWN_RINGS, COLLECT_RINGS},
    {WAITS PATTERNS, NULL, CHECK_RINGS, COLLECT_RINGS},
    {BY_TRACING, NULL, CHECK_PTRACE, COLLECT_PTRACE},
    {" profile ", NULL, CHECK_MEMORY, COLLECT_BPF},
    {" stackcount ", NULL, CHECK_STACK_MAPS, COLLECT_BPF},
    {" stacksnoop ", NULL, CHECK_BUFFER, COLLECT_BPF},
    {" profile walltime ", NULL, CHECK_SAMPLING, COLLECT_BPF},
    {WAITS, NULL, CHECK_WAITS, COLLECT_BPF},
    {WAITS, NULL, CHECK_SWITCHES, COLLECT_BPF},
    {WAITS, NULL, CHECK_SWITCHES, COLLECT_RINGS},
    {" profile ", "others' programs", CHECK_RINGS, COLLECT_RINGS},
    {" profile ", "others' programs, kernel stacks", CHECK_RINGS, COLLECT_PTRACE},
    {" offcputime ", "others' programs, whole kernel stacks", CHECK_RINGS, COLLECT_PTRACE},
    {" walltime ", "others' programs, whole kernel stacks", CHECK_BPF, COLLECT_PTRACE},
    {PATTERNS, "others' programs, kernel stacks", CHECK_RINGS, COLLECT_PTRACE},
    {PATTERNS, "kernel functions", CHECK_KERNEL_FUNCTIONS, COLLECT_BEST},
    {PATTERNS, "user functions", CHECK_USER_FUNCTIONS, COLLECT_BEST},
    {PATTERNS, "t:CATEGORY:EVENT", CHECK_TRACEPOINTS, COLLECT_BEST},
    {" profile ", "-e cycles and the like", CHECK_HARDWARE, COLLECT_BEST},
    {PATTERNS, "--if, --sum, --print", CHECK_BPF, COLLECT_RINGS},
    {TRACERS, "-- COMMAND", CHECK_COMMANDS, COLLECT_BPF},
    {TRACERS, "--cgroup", CHECK_CGROUPS, COLLECT_BEST},
    {TRACERS, "names of kernel functions", CHECK_KALLSYMS, COLLECT_BEST},
    {TRACERS, "user stacks of code without frame pointers", CHECK_UNWINDING, COLLECT_BPF},
    {TRACERS, "user frames' names in others' processes", CHECK_OTHERS, COLLECT_BEST},
    {TRACERS, "user frames' names once a process has exited", CHECK_PERF_EVENTS, COLLECT_BPF},
    {TRACERS, "user frames' names across execs", CHECK_LIVES, COLLECT_BPF},
    {COUNTERS, "exact intervals", CHECK_REAL_TIME, COLLECT_BPF},
};

/* Is it among these, with a blank before and after each? */
static bool is_among(const char *applets, const char *applet)
{
    size_t length = strlen(applet);

    for (const char *at = applets; (at = strstr(at, applet)); at += length)
        if (at[-1] == ' ' && at[length] == ' ')
            return true;
    return false;
}

/* Collecting by breakpoints, an applet needs no probes for user functions. */
static bool has(const struct checks *checks, enum check_name check, enum collect_way way)
{
    return checks->of[check].yes || (check == CHECK_USER_FUNCTIONS && way == COLLECT_PTRACE &&
                                     breakpoints_count());
}

/* For an applet that takes patterns: can it get no kind of event at all? */
static bool has_no_events(const struct checks *checks, const char *applet, enum collect_way way)
{
    return is_among(PATTERNS, applet) && !has(checks, CHECK_KERNEL_FUNCTIONS, way) &&
           !has(checks, CHECK_USER_FUNCTIONS, way) && !has(checks, CHECK_TRACEPOINTS, way) &&
           (way != COLLECT_PTRACE || ptrace_hits_try_calls());
}

static struct verdict refuse(enum check_name because)
{
    return (struct verdict){.because = because};
}

void checks_judge(const struct checks *checks, const char *applet, struct verdict *verdict)
{
    const enum collect_way way = checks->found[kind_of(applet)].way;

    *verdict = (struct verdict){
        .yes = true,
        .way = is_among(TRACERS, applet) ? way : COLLECT_BEST,
        .walks = checks->walks && !strcmp(applet, "stackcount"),
    };
    for (const struct need *need = needs; need < needs + COUNT_OF(needs); need++) {
        if ((need->way && need->way != way) || !is_among(need->applets, applet) ||
            has(checks, need->check, way))
            continue;
        if (!need->without) {
            *verdict = refuse(need->check);
            return;
        }
        if (verdict->limit_count < MOST_LIMITS)
            verdict->limits[verdict->limit_count++] = (struct limit){need->without, need->check};
    }
    if (way == COLLECT_BPF && checks->needs_jit && !strcmp(applet, "stacksnoop"))
        *verdict = refuse(CHECK_JIT);
    if (has_no_events(checks, applet, way))
        *verdict = refuse(CHECK_KERNEL_FUNCTIONS);
}

/* ---- Text: a line each ---- */

static int print_line(FILE *out, const char *name, bool yes, const struct text *detail)
{
    struct text line = {0};

    text_format(&line, "%s: %s", name, yes ? "yes" : "no");
    if (detail->length) {
        text_add(&line, ": ");
        escape_bytes(&line, detail->data, detail->length);
    }
    int result = line.failed || detail->failed ? -ENOMEM : 0;
    if (!result)
        fprintf(out, "%s\n", line.data);
    text_free(&line);
    return result;
}

/* "yes: by perf's rings, without A (check), B", or why not, in the check's words. */
static int print_applet(FILE *out, const struct checks *checks, const struct judged *judged)
{
    const struct verdict *verdict = &judged->verdict;
    struct text detail = {0};

    if (!verdict->yes)
        return print_line(out, judged->applet, false, &checks->of[verdict->because].detail);
    if (verdict->way == COLLECT_PTRACE)
        text_format(&detail, "by ptrace%s", verdict->limit_count ? ", " : "");
    else if (verdict->way == COLLECT_RINGS)
        text_format(&detail, "%sby perf's rings%s",
                    verdict->walks ? "kernel functions by stackbox's own walk, all others " : "",
                    verdict->limit_count ? ", " : "");
    for (size_t i = 0; i < verdict->limit_count; i++) {
        const char *without = verdict->limits[i].without;
        const char *because = check_titles[verdict->limits[i].because].title;
        text_format(&detail, "%s%s", i ? ", " : "without ", without);
        if (strcmp(without, because))
            text_format(&detail, " (%s)", because);
    }
    int result = print_line(out, judged->applet, true, &detail);
    text_free(&detail);
    return result;
}

int checks_print_text(FILE *out, const struct checks *checks, const struct judged *judged,
                      size_t count)
{
    int result = 0;

    for (size_t i = 0; i < CHECKS && !result; i++)
        result = print_line(out, check_titles[i].title, checks->of[i].yes, &checks->of[i].detail);
    for (size_t i = 0; i < count && !result; i++)
        result = print_applet(out, checks, &judged[i]);
    return result;
}

/* ---- JSON ---- */

static void add_member(struct text *json, const char *key, const char *text, size_t length)
{
    text_format(json, ", \"%s\": ", key);
    svg_add_json_bytes(json, text, length);
}

/* The first ": " separates why from what to do. */
static void add_answer(struct text *json, bool yes, const struct text *detail)
{
    const char *all = text_string(detail), *end = strstr(all, ": ");

    text_format(json, ", \"yes\": %s", yes ? "true" : "false");
    json->failed = json->failed || detail->failed;
    if (yes) {
        add_member(json, "detail", all, detail->length);
        return;
    }
    add_member(json, "why", all, end ? (size_t)(end - all) : detail->length);
    add_member(json, "what_to_do", end ? end + 2 : "", end ? strlen(end + 2) : 0);
}

static void add_check(struct text *json, enum check_name name, const struct check *check)
{
    const struct check_title *title = &check_titles[name];

    text_format(json, "%s\n    {\"key\": \"%s\"", name ? "," : "", title->key);
    add_member(json, "name", title->title, strlen(title->title));
    add_answer(json, check->yes, &check->detail);
    text_add(json, "}");
}

static void add_applet(struct text *json, const struct checks *checks, const struct judged *judged)
{
    const struct verdict *verdict = &judged->verdict;
    static const struct text nothing;

    text_add(json, "{\"name\": ");
    svg_add_json_bytes(json, judged->applet, strlen(judged->applet));
    add_answer(json, verdict->yes, verdict->yes ? &nothing : &checks->of[verdict->because].detail);
    if (verdict->way)
        text_format(json, ", \"by\": \"%s\"", verdict->way == COLLECT_PTRACE ? "ptrace"
                    : verdict->way == COLLECT_RINGS ? "rings" : "bpf");
    text_add(json, ", \"without\": [");
    for (size_t i = 0; i < verdict->limit_count; i++) {
        const struct limit *limit = &verdict->limits[i];
        text_format(json, "%s{\"because\": \"%s\"", i ? ", " : "",
                    check_titles[limit->because].key);
        add_member(json, "what", limit->without, strlen(limit->without));
        text_add(json, "}");
    }
    text_add(json, "]}");
}

int checks_print_json(FILE *out, const struct checks *checks, const struct judged *judged,
                      size_t count)
{
    struct text json = {0};

    text_add(&json, "{\n  \"checks\": [");
    for (enum check_name i = 0; i < CHECKS; i++)
        add_check(&json, i, &checks->of[i]);
    text_add(&json, "\n  ],\n  \"applets\": [");
    for (size_t i = 0; i < count; i++) {
        text_add(&json, i ? ",\n    " : "\n    ");
        add_applet(&json, checks, &judged[i]);
    }
    text_add(&json, "\n  ]\n}\n");
    int result = json.failed ? -ENOMEM : 0;
    if (!result)
        fputs(json.data, out);
    text_free(&json);
    return result;
}
