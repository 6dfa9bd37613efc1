/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "session/collecting.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/say.h"
#include "base/util.h"
#include "collect/walk_counts.h"
#include "kernel/bpf.h"
#include "kernel/refusal.h"
#include "rings/rings_try.h"
#include "session/session_filter.h"

/* In a container with its own PIDs, programs must ask for those. */
static int try_namespace(void)
{
    struct event_filter filter = {0};

    session_filter_namespace(&filter);
    return filter.in_namespace ? bpf_try_namespaces() : 0;
}

static int try_bpf(const struct collecting_wishes *wishes)
{
    int map = -1, result = bpf_create_numbered(&map, BPF_MAP_TYPE_PERCPU_ARRAY, "stackbox", sizeof(uint64_t), 1);

    (void)wishes;
    if (map >= 0)
        close(map);
    if (!result)
        result = bpf_try_stacks();
    return result ? result : try_namespace();
}

static int try_walk(const struct collecting_wishes *wishes)
{
    const int result = wishes->walks ? walk_counts_try() : -EOPNOTSUPP;

    return result ? result : try_namespace();
}

static int try_rings(const struct collecting_wishes *wishes)
{
    return rings_try(wishes->own, !wishes->own);
}

/* The first is the best. */
static const struct way {
    enum collect_way way;
    int (*try)(const struct collecting_wishes *wishes);
    const char *name; /* NULL: the first */
} ways[] = {
    {COLLECT_BPF, try_bpf, NULL},
    {COLLECT_WALK, try_walk, "stackbox's own walk"},
    {COLLECT_RINGS, try_rings, "perf's rings"},
};

/* A temporary shortage is no reason to collect in another way. */
static bool is_shortage(int error)
{
    return error == -ENOMEM || error == -EMFILE || error == -ENFILE || error == -EAGAIN || error == -EINTR;
}

/*
 * A container's filter may allow rings but not programs, and says so with EPERM; the kernel says
 * EACCES. Rings for one's own tasks need no rights at all. Nothing helps a bpf(2) that is too old,
 * unless rights are what is missing.
 */
static bool tells_more(const struct collecting_wishes *wishes, int refused, int result)
{
    if (result == -EOPNOTSUPP)
        return false; /* not for this applet, or left out of this build */
    return wishes->takes_own || (result == -EPERM && prctl(PR_GET_SECCOMP) == 2) ||
           (refused == -EINVAL && refusal_has_capability(CAP_SYS_ADMIN));
}

struct collecting collecting_find(const struct collecting_wishes *wishes)
{
    struct collecting found = {.way = ways[0].way, .refused = ways[0].try(wishes)};

    if (is_shortage(found.refused))
        found.refused = 0;
    found.result = found.refused;
    for (size_t i = 1; i < COUNT_OF(ways) && found.result && !wishes->programs; i++) {
        const int result = ways[i].try(wishes);
        if (!result || tells_more(wishes, found.refused, result))
            found = (struct collecting){ways[i].way, found.refused, result};
    }
    return found;
}

static const char *why_not_first(int refused)
{
    return refused == -ENOSYS ? "this kernel has no bpf(2)"
           : refused == -EPERM || refused == -EACCES ? "bpf(2) is refused"
                                                     : "this kernel's bpf(2) cannot";
}

void collecting_choose(struct trace_options *options, const struct collecting_wishes *wishes)
{
    if (options->collect == COLLECT_BEST) {
        const struct collecting found = collecting_find(wishes);
        options->collect = found.way;
        options->not_by_bpf = found.refused ? why_not_first(found.refused) : NULL;
    }
    options->by_rings = options->collect == COLLECT_RINGS;
    options->by_walk = options->collect == COLLECT_WALK && wishes->walks;
}

void collecting_say(const struct trace_options *options)
{
    size_t i = 0;

    if (!options->not_by_bpf)
        return;
    while (ways[i].way != options->collect)
        i++;
    say("stacks are collected by %s, as %s", ways[i].name, options->not_by_bpf);
}
