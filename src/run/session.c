/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/reading.h"
#include "base/say.h"
#include "base/text.h"
#include "base/util.h"
#include "kernel/bpf.h"
#include "kernel/limits.h"
#include "kernel/refusal.h"
#include "kernel/task_fields.h"
#include "machine/machine.h"
#include "processes/process.h"
#include "run/session.h"
#include "sandbox/privileges.h"
#include "store/store.h"

#define LEAST_MEMORY (12u << 20) /* see check_memory() */

#define CGROUP_V1_MAGIC 0x27e0eb /* CGROUP_SUPER_MAGIC */

void session_filter_namespace(struct event_filter *filter)
{
    struct stat about;

    if (stat("/proc/self/ns/pid", &about) || about.st_ino == INITIAL_PID_NAMESPACE)
        return;
    filter->in_namespace = true;
    filter->namespace_device = (uint64_t)major(about.st_dev) << 20 | minor(about.st_dev);
    filter->namespace_inode = about.st_ino;
}

/* Is there such a CPU? If /sys does not tell, assume so. */
static int check_cpu(const struct trace_options *options)
{
    static const char all[] = "/sys/devices/system/cpu";
    char one[64];

    snprintf(one, sizeof(one), "%s/cpu%lld", all, (long long)options->cpu);
    if (options->cpu < 0 || access(all, F_OK) || !access(one, F_OK))
        return 0;
    return fail_saying("there is no CPU %lld", (long long)options->cpu);
}

static bool is_of_cgroup_v1(const char *path)
{
    struct statfs about;

    return !statfs(path, &about) && about.f_type == CGROUP_V1_MAGIC;
}

/* A line in mounts is "what WHERE type ...". */
static bool take_cgroup_mount(void *path, char *line)
{
    char *rest = NULL;
    const char *where = strtok_r(line, " ", &rest) ? strtok_r(NULL, " ", &rest) : NULL;
    const char *type = where ? strtok_r(NULL, " ", &rest) : NULL;
    const bool is_it = type && !strcmp(type, "cgroup2");

    if (is_it)
        text_add(path, where);
    return is_it;
}

/* By path; "system.slice" and "/system.slice", as systemd writes them, also below the mount. */
static int find_cgroup(const char *typed, bool by_rings)
{
    struct text path = {0};
    int map = scope_open_cgroup(typed, by_rings);

    if (map != -ENOENT && map != -ENOTDIR && map != -EBADF)
        return map;
    if (each_line(AT_FDCWD, "/proc/self/mounts", take_cgroup_mount, &path)) {
        text_format(&path, "%s%s", *typed == '/' ? "" : "/", typed);
        int below = path.failed ? -ENOMEM : scope_open_cgroup(path.data, by_rings);
        map = below >= 0 ? below : map;
    }
    text_free(&path);
    return map;
}

static int open_cgroup(struct event_filter *filter, const char *path, bool by_rings)
{
    int map = path ? find_cgroup(path, by_rings) : 0;

    if (map >= 0) {
        filter->cgroup = map;
        return 0;
    }
    if ((map == -EBADF || map == -EINVAL) && is_of_cgroup_v1(path))
        say("--cgroup: \"%s\" is cgroup version 1, which BPF programs cannot see: mount version 2 "
            "(mount -t cgroup2 none DIR) and name a directory in it", path);
    else if (map == -EBADF || map == -EINVAL)
        say("--cgroup: \"%s\" is not a cgroup v2 directory, as found below /sys/fs/cgroup", path);
    else
        say("--cgroup: \"%s\": %s", path, strerror(-map));
    return EXIT_FAILURE;
}

/* Sets all that needs nothing to be opened. The pids stay the options' own. */
static void session_filter_init(struct event_filter *filter, const struct trace_options *options)
{
    *filter = (struct event_filter){
        .pids = options->pids.numbers,
        .pid_count = options->pids.count,
        .tids = options->tids.numbers,
        .tid_count = options->tids.count,
        .comms = options->comms.names,
        .comm_count = options->comms.count,
        .uids = options->uids.numbers,
        .uid_count = options->uids.count,
        .cpu = options->cpu,
    };
    session_filter_namespace(filter);
}

/* Refuses a process in a PID namespace below ours, which programs cannot tell from others. */
static int check_namespaces(const struct event_filter *filter, const struct number_list *numbers)
{
    struct stat about;
    char path[32];

    for (size_t i = 0; i < numbers->count; i++) {
        snprintf(path, sizeof(path), "/proc/%u/ns/pid", numbers->numbers[i]);
        if (stat(path, &about) || about.st_ino == filter->namespace_inode)
            continue;
        return fail_saying("process %u is in another PID namespace, which BPF programs cannot see "
                           "from this one without the kernel's BTF (Linux 5.10): use --collect "
                           "rings, or run it on the host", numbers->numbers[i]);
    }
    return 0;
}

static int find_numbers(struct event_filter *filter, const struct trace_options *options)
{
    if (!filter->in_namespace)
        return 0;
    filter->numbers = pid_fields_find(filter->namespace_inode);
    if (filter->numbers)
        return 0;
    int status = check_namespaces(filter, &options->pids);
    return status ? status : check_namespaces(filter, &options->tids);
}

/* The CPU and the cgroup. 0 or the exit status, with errors reported. */
static int session_filter_open(struct event_filter *filter, const struct trace_options *options,
                               bool by_rings)
{
    int status = check_cpu(options);

    if (!status && !by_rings)
        status = find_numbers(filter, options);
    return status ? status : open_cgroup(filter, options->cgroup, by_rings);
}

/* Are there no BPF programs, only records of single events? */
static bool has_records(const struct session *session)
{
    const enum collect_way way = session->config.collecting.way;

    return way == COLLECT_RINGS || way == COLLECT_PTRACE;
}

static bool walks(const struct session *session)
{
    return session->config.collecting.way == COLLECT_WALK;
}

/*
 * A thread that executes a program goes on under its process's number. Its own number ends before
 * that is known: with rings, not before the reader gets to the exec's record.
 */
#define WENT_ON_TRIES 30

static bool threads_live_on(const void *context)
{
    const struct session *session = context;

    for (int i = 0; i < WENT_ON_TRIES; i++) {
        if (scope_thread_lives(&session->scope))
            return true;
        (void)poll(NULL, 0, 10);
    }
    return false;
}

static int open_run(struct session *session)
{
    const struct trace_options *options = session->options;
    bool by_tid = !options->pids.count && options->tids.count;
    const struct run_config config = {
        .duration = options->duration,
        .interval = options->interval,
        .pids = by_tid ? options->tids.numbers : options->pids.numbers,
        .pid_count = by_tid ? options->tids.count : options->pids.count,
        .live_on = by_tid ? threads_live_on : NULL,
        .context = session,
        .command = options->command,
    };
    uint32_t missing = 0;
    int result = run_open(&session->run, &config, &missing);

    if (result == -ESRCH)
        say("there is no %s %u%s", by_tid ? "thread" : "process", missing,
            session->scope.filter.in_namespace ? " in this PID namespace: give the PIDs seen from "
                                            "here" : "");
    else if (result)
        say("cannot start: %s", strerror(-result));
    return result ? EXIT_FAILURE : 0;
}

/*
 * The tracker follows mappings from before the first event, and from then on events tell which
 * process and program they belong to. Without the rights to both, processes that exec or exit may
 * lack names.
 */
static int open_processes(struct session *session)
{
    const struct trace_options *options = session->options;
    const struct processes_options config = {
        .pids = options->pids.numbers,
        .pid_count = options->follow || session->config.wakers ? 0 : options->pids.count,
        .told = session->config.collecting.way == COLLECT_PTRACE,
        .task = options->command ? (uint32_t)session->command.pid : trace_options_process(options),
        .free_memory = kernel_free_memory(),
    };

    int result = processes_open(&session->processes, &config);
    if (result)
        return fail_saying("cannot inspect processes: %s", strerror(-result));
    int listening = processes_listening(session->processes);
    if (options->debug && listening)
        say("processes are only looked up in /proc: %s", strerror(-listening));
    processes_begin(session->processes);
    session->run.watched = processes_fd(session->processes);
    return 0;
}

/* Does this kernel allow that depth? */
static int check_depth(const struct trace_options *options)
{
    uint64_t limit = options->depth ? store_depth_limit() : 0;

    if (options->depth <= limit)
        return 0;
    say("--depth: \"%llu\" is more than this kernel allows: it takes 1 to %llu%s",
        (unsigned long long)options->depth, (unsigned long long)limit,
        limit == kernel_stack_depth() && !access("/proc/sys/kernel/perf_event_max_stack", F_OK)
            ? " (sysctl kernel.perf_event_max_stack)" : "");
    return EXIT_USAGE;
}

/*
 * Refuses to run without the memory that small tables, their programs, names of functions and this
 * process take. At a cgroup's limit the kernel kills; a machine's free memory is an estimate.
 */
static int check_memory(void)
{
    struct cgroup_memory cgroup;

    cgroup_memory_find(&cgroup);
    const bool is_enough = cgroup.left >= LEAST_MEMORY;
    if (!is_enough)
        say("only %.1f of %.1f MB of memory are left by %s, and tracing takes up to %u MB: raise "
            "that limit, or run stackbox outside the cgroup", (double)cgroup.left / (1 << 20),
            (double)cgroup.limit / (1 << 20),
            cgroup.file.data ? cgroup.file.data : "a cgroup", LEAST_MEMORY >> 20);
    text_free(&cgroup.file);
    return is_enough ? 0 : EXIT_FAILURE;
}

/* If memory runs short all the same, the kernel ends us, not what is traced. */
static void be_first_to_go(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    (void)!write(fd, "1000", 4);
    close(fd);
}

static int start_command(struct session *session)
{
    int result = command_hold(&session->command, &session->run, session->config.stdout_is_free);

    if (result)
        say("cannot start \"%s\": %s", session->options->command[0], strerror(-result));
    session->scope.command = (uint32_t)session->command.pid;
    return result ? EXIT_FAILURE : 0;
}

/* A command is followed from its fork on, so that comes first. */
static int follow(struct session *session)
{
    const bool is_command = session->options->command;
    struct text why = {0};
    int result = has_records(session) ? 0 : scope_follow(&session->scope, &why);

    session->scope.follows = !is_command;
    if (!result)
        return is_command ? start_command(session) : 0;
    if (walks(session) && result == -EINVAL) {
        text_clear(&why);
        text_add(&why, "--collect walk needs Linux 4.17 for that: use --collect rings");
    }
    return say_cannot(is_command ? "follow a command" : "follow what processes fork", &why, result);
}

/* Tells programs which tasks are asked for, as later on others may have their numbers. */
static int ask(struct session *session)
{
    const struct trace_options *options = session->options;
    struct text why = {0};

    if (has_records(session) || !(options->pids.count || options->tids.count))
        return 0;
    int result = scope_ask(&session->scope, &why);
    if (result)
        return say_cannot("create maps", &why, result);
    result = options->follow ? 0 : scope_watch_asked(&session->scope);
    if (result && options->debug)
        say("whoever gets the PID of a process asked for, once that has ended, is counted as "
            "well: %s", strerror(-result));
    return 0;
}

/* Refuses a stdout that is closed, or only open for reading. */
static int check_stdout(const struct session *session)
{
    int flags = fcntl(STDOUT_FILENO, F_GETFL);
    bool closed = flags < 0 || flags & O_PATH;

    if (session->config.stdout_is_free || (!closed && (flags & O_ACCMODE) != O_RDONLY))
        return 0;
    return fail_saying("stdout is %s, so output would be lost: redirect it, such as to >FILE",
                       closed ? "closed" : "not open for writing");
}

static bool is_along_tables(const struct session *session)
{
    const enum unwind_way way = session->options->unwind;

    return !walks(session) && (way == UNWIND_WAY_BEST || way == UNWIND_WAY_TABLES);
}

int session_open(struct session *session, const struct session_config *config)
{
    const struct trace_options *options = config->options;

    *session = (struct session){
        .config = *config,
        .options = options,
        .kallsyms = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC),
    };
    decisions_say_machine(options);
    command_init(&session->command, options->command);
    session->command.is_traced = config->collecting.way == COLLECT_PTRACE;
    scope_init(&session->scope);
    user_stacks_init(&session->user_stacks);
    if (has_records(session) && !options->kernel_only && is_along_tables(session))
        user_stacks_take_samples(&session->user_stacks);
    session_filter_init(&session->scope.filter, options);
    /* First of all: signals are taken over, and the command must run even if nothing else works. */
    int status = open_run(session);
    if (session->config.stdout_is_free)
        session->run.watches_reader = false;
    if (!status)
        status = check_stdout(session);
    if (!status)
        status = check_depth(options);
    if (!status)
        status = check_memory();
    if (!status)
        status = session_filter_open(&session->scope.filter, options, has_records(session));
    if (!status && !options->include_self)
        scope_leave_own_out(&session->scope, has_records(session));
    if (!status)
        status = ask(session);
    /* Programs run in the order of attaching: at an exec, the new life begins before following. */
    if (!status && config->collecting.way == COLLECT_BPF)
        scope_count_lifetimes(&session->scope);
    if (!status && (options->command || options->follow))
        status = follow(session);
    /* After the command has been forked, and before everything else that we fork or start. */
    if (!status)
        be_first_to_go();
    if (!status && options->nice &&
        setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + (int)options->nice))
        status = fail_saying("--nice: %s", strerror(errno));
    return status;
}

/* Does not mention tables that were not asked for on machines that never have them. */
static void say_no_tables(const struct session *session)
{
    const int refused = session->user_stacks.refused;
    struct text why = {0};

    if (walks(session) && session->options->unwind == UNWIND_WAY_TABLES)
        say("user stacks are unwound by frame pointers, not tables: those need --collect bpf");
    if (session->user_stacks.config.first_alone && session->options->unwind == UNWIND_WAY_BEST) {
        /* MIPS kernels give rings no function at all, but for samples. */
        const bool lacks_memory = has_records(session) && refused == -ENOMEM;
        say("user stacks are %s the first function, and its caller if the probe is at its "
            "start: %s%s", lacks_memory ? "at most" : "only",
            lacks_memory ? "there is too little free memory for tables"
                         : "code on this architecture keeps no frame pointers",
            has_records(session) ? "" : "; --collect rings finds callers of system calls");
        return;
    }
    if (!refused || (refused == -EOPNOTSUPP && session->options->unwind == UNWIND_WAY_BEST))
        return;
    kernel_offsets_explain(refused, &why);
    say("user stacks are unwound by frame pointers, not tables: %s", text_or_error(&why, refused));
    text_free(&why);
}

static void open_user_stacks(struct session *session, uint32_t depth)
{
    const struct trace_options *options = session->options;

    user_stacks_open(&session->user_stacks, session->processes, &(struct user_stacks_config){
        .depth = depth,
        .asked = options->depth,
        .filter = &session->scope.filter,
        .by_rings = has_records(session),
    });
    if (options->command)
        user_stacks_see_command(&session->user_stacks, options->command[0]);
    if (session->user_stacks.refused && options->unwind == UNWIND_WAY_BEST &&
        machine_of_kernel()->no_frames)
        user_stacks_take_first_alone(&session->user_stacks);
    user_stacks_look(&session->user_stacks, 0); /* while places are found and attached */
}

void session_await_tables(struct session *session)
{
    user_stacks_look_at_all(&session->user_stacks);
    user_stacks_begin(&session->user_stacks);
    say_no_tables(session);
}

int session_follow_processes(struct session *session, uint32_t depth)
{
    const struct trace_options *options = session->options;
    const bool names = !session->config.together && options->by != GROUP_BY_THREAD &&
        options->by != GROUP_BY_NAME;
    int status = !depth ? fail_saying("%s", refusal_no_frames)
        : names || !options->kernel_only ? open_processes(session) : 0;

    if (status || options->kernel_only)
        return status;
    if (is_along_tables(session))
        open_user_stacks(session, depth);
    else if (session->options->unwind == UNWIND_WAY_NONE)
        user_stacks_take_first_alone(&session->user_stacks);
    return 0;
}

void session_header(struct session *session, const char *what, uint64_t duration)
{
    struct text raw = {0}, line = {0};
    FILE *out = session->config.data_on_stdout ? stderr : stdout;

    collecting_say(&session->config.collecting);
    text_add(&raw, what);
    heading_add_end(&raw, duration, session->run.by_enter);
    escape_text(&line, &raw);
    if (!line.failed)
        fprintf(out, "%s\n", line.data);
    else
        say("cannot print what is traced: out of memory");
    /* Errors of stdout show when there is something to report. */
    fflush(out);
    text_free(&line);
}

int session_detaching(void)
{
    errno = 0;
    fputs("Detaching...\n", stdout);
    return output_end("write", output_flush(stdout));
}

struct capture session_capture(const struct session *session)
{
    struct capture capture = trace_options_capture(session->options);

    capture.filter = session->scope.filter;
    capture.lifetimes = session->scope.lifetimes.maps;
    capture.unwind = user_stacks_config(&session->user_stacks);
    return capture;
}

struct ring_options session_rings(struct session *session, const struct trace_options *options)
{
    return (struct ring_options){
        .scope = &session->scope,
        .unwind = &session->user_stacks.rings,
        .capture = trace_options_capture(options),
        .stacks = options->storage,
    };
}

struct ptrace_options session_ptrace(struct session *session, const struct trace_options *options,
                                     uint64_t frequency)
{
    return (struct ptrace_options){
        .scope = &session->scope,
        .unwind = &session->user_stacks.rings,
        .processes = &session->processes,
        .capture = trace_options_capture(options),
        .frequency = frequency,
        .stacks = options->storage,
    };
}

void say_cost(int program, const char *tracepoint)
{
    struct bpf_program_info info;

    if (program >= 0 && !bpf_program_info(program, &info) && info.run_count)
        say("program %u%s%s: %llu runs, ns per event: %llu", info.id,
            tracepoint ? " of sched:" : "", tracepoint ? tracepoint : "",
            (unsigned long long)info.run_count,
            (unsigned long long)(info.run_time_ns / info.run_count));
}

void session_shed_rights(struct session *session)
{
    if (session->config.collecting.way == COLLECT_BPF && !session->options->user_only)
        kernel_names_open(&session->kernel_names);
    /* Each thread has its own rights: the maker ends, and begins anew with fewer. */
    user_stacks_end(&session->user_stacks);
    int result = privileges_keep_tracing();

    user_stacks_begin(&session->user_stacks);
    if (result)
        say("cannot drop privileges that are no longer needed: %s", strerror(-result));
}

/* Says in one line what a missing /proc causes. False: that is not the reason; it says nothing. */
static bool say_no_proc(const struct session *session)
{
    const struct symbolize_notes *notes = &session->notes;
    bool lacks_names = notes->unopened_file.length || notes->unknown_frames ||
                       (notes->kernel_hidden && session->kallsyms < 0);

    if (!lacks_names || !access("/proc/self/stat", F_OK))
        return false;
    say("functions have no names because /proc is not mounted: mount -t proc proc /proc");
    return true;
}

static void say_files_unread(const struct symbolize_notes *notes)
{
    if (notes->unopened_file.length)
        say("functions of this file%s have no names: %s",
            notes->more_unopened ? " and others" : "", notes->unopened_file.data);
    if (notes->packed_file.length)
        say("functions of this file%s may have no names: %s",
            notes->more_packed ? " and others" : "", notes->packed_file.data);
}

void session_before_names(struct session *session)
{
    if (session->processes && scope_losses(&session->scope).forgets)
        processes_ends_forgotten(session->processes);
}

static void say_count(uint64_t count, const char *what)
{
    if (count)
        say("%llu %s", (unsigned long long)count, what);
}

/* Why frames lack names that they could have. */
void session_say_names_lost(const struct session *session)
{
    const struct symbolize_notes *notes = &session->notes;
    struct processes_lost lost = {0};
    const struct scope_losses scope = scope_losses(&session->scope);
    int listening = 0;

    if (scope.follow_missed)
        say("the kernel missed %llu forks and execs: those processes and their children may not "
            "be in the report", (unsigned long long)scope.follow_missed);
    if (scope.outgrown)
        say("kernel.pid_max was raised during the run: processes with PIDs above %u are not in "
            "the report", scope.outgrown);

    if (session->processes) {
        processes_look_at_cpus(session->processes, true);
        lost = processes_lost(session->processes);
        listening = processes_listening(session->processes);
    }
    if (notes->unknown_frames && listening && listening != -ECANCELED)
        say("cannot track processes: %s; frames of processes that have exited have no "
            "names", strerror(-listening));
    if (session->scope.lifetimes_refused)
        say("cannot track execs and exits: %s; frames of such processes may have wrong names or "
            "none", strerror(-session->scope.lifetimes_refused));
    if (lost.unread)
        say("the mappings of a process could not be read %llu times: its frames may have no names",
            (unsigned long long)lost.unread);
    say_count(lost.records, "mmap/exec records were lost: some user frames may have no name, or an "
              "earlier program's");
    if (lost.cpus && notes->user_frames)
        say("CPUs came online during the run, %u times: frames of programs that began there "
            "within half a second of it may have no names, and processes renamed there have their "
            "old ones",
            lost.cpus);
    say_count(lost.forgotten, "exited programs were dropped from memory before the report: their "
              "frames have no names; shorter intervals (-i) help");
    say_count(lost.doubtful, "processes reused the PID of one no longer in memory: their frames "
              "have no names; a shorter run helps");
    say_count(scope.crowded_out, "programs were started while too many were running to track: "
              "their frames may have no names");
    say_count(lost.files, "files were not opened, for lack of file descriptors: their functions "
              "have no names; raise the limit (ulimit -n)");
    if (scope.lifetimes_missed && notes->user_frames)
        say("the kernel missed %llu execs and exits: frames of those processes may have wrong "
            "names", (unsigned long long)scope.lifetimes_missed);
    if (notes->unread.length)
        say("user frames may have no names: the process that reads their files %s",
            notes->unread.data);
    if (notes->unidentified.length)
        say("the recording has no build ids, so its functions may have no names later: the "
            "process that reads files %s", notes->unidentified.data);
    if (notes->refused_map.length)
        say("names of JIT-compiled code are ignored: %s", notes->refused_map.data);
    if (notes->jit_advice)
        say("[anon] is JIT-compiled code: with %s it has names", notes->jit_advice);
    if (notes->changed_file.length)
        say("%s was modified after it was mapped: its functions have no names",
            notes->changed_file.data);
    if (say_no_proc(session))
        return;
    say_files_unread(notes);
    if (notes->kernel_hidden && session->kallsyms < 0)
        say("/proc/kallsyms cannot be read, so kernel functions have no names");
    else if (notes->kernel_hidden)
        say("%s", refusal_hidden_names);
}

int session_close(struct session *session, int status)
{
    const struct trace_options *options = session->options;

    scope_close(&session->scope);
    user_stacks_close(&session->user_stacks);
    processes_close(session->processes);
    symbolize_notes_free(&session->notes);
    kallsyms_known_free(&session->known);
    kernel_names_close(&session->kernel_names);
    close_fd(session->kallsyms);
    /* It runs although tracing failed, unless a signal asked to end before. */
    if (options->command && options->best_effort && status == EXIT_FAILURE &&
        !session->run.command_went) {
        if (!session->command.pid && !run_stopped)
            start_command(session);
        run_let_command_go(&session->run, true);
        status = 0;
    }
    if (options->command)
        status = command_finish(&session->command, &session->run, status);
    run_close(&session->run);
    return status;
}

static void add_numbers(struct text *line, const char *one, const struct number_list *list)
{
    text_format(line, "%s%s ", one, list->count > 1 ? "s" : "");
    for (size_t i = 0; i < list->count; i++)
        text_format(line, i ? ",%u" : "%u", list->numbers[i]);
}

void heading_add_whose(struct text *line, const struct trace_options *options, const char *all)
{
    if (!options->pids.count && !options->tids.count)
        text_add(line, all);
    if (options->pids.count)
        add_numbers(line, "PID", &options->pids);
    if (options->follow)
        text_add(line, " and its children");
    if (options->pids.count && options->tids.count)
        text_add(line, ", ");
    if (options->tids.count)
        add_numbers(line, "TID", &options->tids);
    for (size_t i = 0; i < options->comms.count; i++)
        text_format(line, "%s\"%s\"", i ? ", " : " named ", options->comms.names[i]);
    if (options->uids.count)
        add_numbers(line, " of UID", &options->uids);
}

const char *heading_stacks(const struct trace_options *options)
{
    return options->user_only ? "user" : options->kernel_only ? "kernel" : "user + kernel";
}

void heading_add_cpu(struct text *line, const struct trace_options *options)
{
    if (options->cpu >= 0)
        text_format(line, " on CPU#%lld", (long long)options->cpu);
}

void heading_add_end(struct text *line, uint64_t duration, bool by_enter)
{
    if (duration)
        text_format(line, " for %g secs.", (double)duration / 1e9);
    else
        text_format(line, "... Hit %s to end.", by_enter ? "Enter" : "Ctrl-C");
}
