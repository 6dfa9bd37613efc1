/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/say.h"
#include "base/text.h"
#include "base/util.h"
#include "collect/walk_counts.h"
#include "kernel/bpf.h"
#include "kernel/refusal.h"
#include "machine/machine.h"
#include "ptrace/breakpoints.h"
#include "ptrace/tracer.h"
#include "rings/rings.h"
#include "run/collecting.h"
#include "run/session.h"

/* In a PID namespace, programs must be able to tell the numbers that tasks have there. */
static int try_namespace(void)
{
    struct event_filter filter = {0};

    session_filter_namespace(&filter);
    return filter.in_namespace ? bpf_try_namespaces() : 0;
}

static int try_bpf(const struct collecting_config *config)
{
    int map = -1, result = bpf_create_numbered(&map, BPF_MAP_TYPE_PERCPU_ARRAY, "stackbox",
                                               sizeof(uint64_t), 1);

    close_fd(map);
    if (!result)
        result = bpf_try_stacks();
    /* Rings have user stacks even if programs cannot walk them. */
    if (!result && !config->programs && !config->kernel_only && machine_of_kernel()->no_user_walk)
        result = -ENODATA;
    return result ? result : try_namespace();
}

static int try_walk(const struct collecting_config *config)
{
    const int result = config->walks ? walk_counts_try() : -EOPNOTSUPP;

    return result ? result : try_namespace();
}

static int try_rings(const struct collecting_config *config)
{
    const bool own = config->takes_own && config->own;

    return config->programs ? -EOPNOTSUPP : rings_try(own, !own);
}

static bool traces(const struct collecting_config *config)
{
    return config->traces || config->calls || (config->breaks && breakpoints_count());
}

/* ptrace(2) is for certain tasks only. */
static int try_ptrace(const struct collecting_config *config)
{
    return traces(config) && config->own ? tracer_try(NULL) : -EOPNOTSUPP;
}

/* The first is the best. */
static const struct way {
    enum collect_way way;
    int (*try)(const struct collecting_config *config);
    const char *name; /* NULL: the first */
} ways[] = {
    {COLLECT_BPF, try_bpf, NULL},
    {COLLECT_WALK, try_walk, "stackbox's own walk"},
    {COLLECT_RINGS, try_rings, "perf's rings"},
    {COLLECT_PTRACE, try_ptrace, "interrupting threads (ptrace)"},
};

/* A temporary shortage is no reason to collect in another way. */
static bool is_shortage(int error)
{
    return error == -ENOMEM || error == -EMFILE || error == -ENFILE || error == -EAGAIN ||
        error == -EINTR;
}

/*
 * A container may allow rings but not programs: its seccomp filter says EPERM, the kernel EACCES.
 * Rings of own tasks need no rights at all. If bpf(2) is too old and no right is missing, nothing
 * helps it: the refusal of the rings tells more.
 */
static bool tells_more(const struct collecting_config *config, int refused, int result)
{
    if (result == -EOPNOTSUPP)
        return false; /* not for this applet, or left out of this build */
    return config->takes_own || (result == -EPERM && prctl(PR_GET_SECCOMP) == 2) ||
           (refused == -EINVAL && refusal_has_capability(CAP_SYS_ADMIN));
}

struct collector_found collecting_find(const struct collecting_config *config)
{
    struct collector_found found = {.way = ways[0].way, .refused = ways[0].try(config)};

    if (is_shortage(found.refused))
        found.refused = 0;
    found.result = found.refused;
    for (size_t i = 1; i < COUNT_OF(ways) && found.result; i++) {
        const int result = ways[i].try(config);
        if (!result || (ways[i].way != COLLECT_PTRACE && tells_more(config, found.refused, result)))
            found = (struct collector_found){ways[i].way, found.refused, result};
    }
    return found;
}

static const char *why_not_first(int refused)
{
    return refused == -ENOSYS ? "this kernel has no bpf(2)"
           : refused == -ENODATA ? "programs get no user stacks from this kernel"
           : refused == -EPERM || refused == -EACCES ? "bpf(2) is refused"
                                                     : "this kernel's bpf(2) cannot";
}

/* NULL: the applet can be collected so. */
static const char *refuse(enum collect_way way, const struct collecting_config *config)
{
    switch (way) {
    case COLLECT_RINGS:
        return config->programs ? "rings: this can only be collected by bpf" : NULL;
    case COLLECT_PTRACE:
        return config->breaks && !traces(config)
            ? "ptrace: this machine has no hardware breakpoints"
            : !traces(config) ? "ptrace: only for profile, walltime and offcputime, and for "
                                "functions of programs and system calls in stackcount and "
                                "stacksnoop"
            : config->own ? NULL : "ptrace: only for certain programs: give -p or -- COMMAND";
    case COLLECT_WALK:
        return config->walks ? NULL
            : "walk: only for stackcount of kernel functions, without --if and --sum";
    default:
        return NULL;
    }
}

static int take_traced(struct trace_options *options, bool waits)
{
    if (options->cgroup)
        say("--cgroup: ptrace(2) knows no cgroups: use -p or -- COMMAND alone");
    else if (options->kernel_only && !waits)
        say("-K: ptrace(2) shows no kernel stacks: run it as root, outside of a container, or "
            "without -K");
    else {
        options->user_only |= !waits;
        return 0;
    }
    return EXIT_USAGE;
}

int collecting_choose(struct collecting *collecting, struct trace_options *options,
                      const struct collecting_config *config)
{
    const char *refused = refuse(options->collect, config);

    *collecting = (struct collecting){.way = options->collect, .breaks = config->breaks,
                                      .calls = config->calls};
    if (refused) {
        say("--collect %s", refused);
        return EXIT_USAGE;
    }
    if (options->collect == COLLECT_BEST) {
        struct collecting_config wanted = *config;
        wanted.kernel_only |= options->kernel_only;
        const struct collector_found found = collecting_find(&wanted);
        collecting->way = found.way;
        collecting->why = found.refused ? why_not_first(found.refused) : NULL;
        /* If the kernel itself refuses rings (EACCES), their message suggests own tasks already. */
        collecting->traces_own = found.result && traces(config) && !config->own &&
            !(config->takes_own && found.result == -EACCES) && !tracer_try(NULL);
    }
    const int status = collecting->way == COLLECT_PTRACE ? take_traced(options, config->waits) : 0;
    collecting->user_only = collecting->way == COLLECT_PTRACE && options->user_only;
    return status;
}

static const char *name_of(const struct collecting *collecting)
{
    size_t i = 0;

    if (collecting->way == COLLECT_PTRACE && collecting->breaks)
        return "hardware breakpoints (ptrace)";
    if (collecting->way == COLLECT_PTRACE && collecting->calls)
        return "stops at system calls (ptrace)";
    while (ways[i].way != collecting->way)
        i++;
    return ways[i].name;
}

void collecting_say(const struct collecting *collecting)
{
    if (collecting->why)
        say("stacks are collected by %s%s, as %s", name_of(collecting),
            collecting->user_only ? ", user stacks only" : "", collecting->why);
}

void decisions_say_machine(const struct trace_options *options)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct held[_LINUX_CAPABILITY_U32S_3] = {{0}};
    struct utsname machine;

    if (!options->debug || uname(&machine))
        return;
    (void)syscall(SYS_capget, &header, held);
    say("Linux %s, %s, %ld CPUs; user %u with the capabilities 0x%llx", machine.release,
        machine.machine, sysconf(_SC_NPROCESSORS_ONLN), (unsigned)geteuid(),
        (unsigned long long)held[1].effective << 32 | held[0].effective);
}

void decisions_say_program(const struct trace_options *options, const char *what, const char *of,
                           struct program *program)
{
    const bool listing = options->dump_program;
    struct text dump = {0}, why = {0};
    struct linked linked;

    if (!options->debug && !listing)
        return;
    if (program_link(program, &linked, &why))
        say("%s%s: %s", what, of, text_string(&why));
    else
        say("%s%s, %zu instructions%s", what, of, linked.count, listing ? ":" : "");
    if (listing && linked.count)
        dump_insns(&dump, linked.insns, linked.count, program);
    if (dump.length && !dump.failed)
        fprintf(stderr, "%s", dump.data);
    text_free(&dump);
    text_free(&why);
}
