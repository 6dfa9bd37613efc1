/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What this kernel and these rights allow: each thing is tried with the same calls that applets
 * make, reported with the same sentence if it is refused, and undone at once. Nothing is concluded
 * from a version.
 */
#ifndef STACKBOX_CHECKS_CHECKS_H
#define STACKBOX_CHECKS_CHECKS_H

#include <stdbool.h>

#include "base/text.h"
#include "session/collecting.h"

/* In the order in which they are tried and shown. */
enum check_name {
    CHECK_BPF,
    CHECK_JIT,
    CHECK_STACK_MAPS,
    CHECK_BATCHES,
    CHECK_MEMORY,
    CHECK_WAITS,
    CHECK_BUFFER,
    CHECK_KPROBE_MULTI,
    CHECK_KPROBE_PMU,
    CHECK_KERNEL_FUNCTIONS,
    CHECK_UPROBE_MULTI,
    CHECK_UPROBE_PMU,
    CHECK_USER_FUNCTIONS,
    CHECK_TRACEFS,
    CHECK_TRACEPOINTS,
    CHECK_SWITCHES,
    CHECK_PERF_EVENTS,
    CHECK_SAMPLING,
    CHECK_RINGS,
    CHECK_OWN_RINGS,
    CHECK_HARDWARE,
    CHECK_COMMANDS,
    CHECK_LIVES,
    CHECK_KALLSYMS,
    CHECK_BTF,
    CHECK_UNWINDING,
    CHECK_OTHERS,
    CHECK_REAL_TIME,
    CHECK_CGROUPS,
    CHECK_CAPABILITIES,
    CHECK_LOCKDOWN,
    CHECKS,
};

struct check {
    bool yes;
    struct text detail; /* what to know; for a no: why and, after ": ", what to do */
};

struct checks {
    struct check of[CHECKS];
    bool needs_jit; /* it is off, and this kernel interprets no programs that ask for their CPU */
    bool walks;     /* stackcount walks stacks of kernel functions itself, as it does before 4.6 */
    struct collecting found[2]; /* how applets would collect; [1]: those that take_own */
};

/* Its name in JSON, and for people. */
struct check_title {
    const char *key, *title;
};
extern const struct check_title check_titles[CHECKS];

/* Tries everything. checks_free afterwards. */
void checks_look(struct checks *checks);
void checks_free(struct checks *checks);

/* ---- What they mean for an applet ---- */

#define MOST_LIMITS 12

struct verdict {
    bool yes;
    enum collect_way way;    /* for a yes; COLLECT_BEST: it collects nothing */
    bool walks;              /* kernel functions in another way: COLLECT_WALK */
    enum check_name because; /* for a no */
    struct limit {
        const char *without; /* it runs without this */
        enum check_name because;
    } limits[MOST_LIMITS];
    size_t limit_count;
};

/* An applet not listed here needs nothing from the kernel. */
void checks_judge(const struct checks *checks, const char *applet, struct verdict *verdict);

#endif
