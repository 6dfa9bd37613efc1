/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the kernel and our capabilities allow. Each check makes the same calls as the applets,
 * reports a refusal with the same sentence, and undoes them at once. No check goes by a version.
 */
#ifndef STACKBOX_CHECKS_CHECKS_H
#define STACKBOX_CHECKS_CHECKS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/text.h"
#include "kernel/bpf.h"
#include "kernel/refusal.h"
#include "rings/ring_source.h"
#include "run/collecting.h"

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
    CHECK_PTRACE,
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
    bool needs_jit; /* the JIT is off; this kernel interprets no programs that ask for their CPU */
    bool walks;     /* stackcount walks stacks of kernel functions itself, as it does before 4.6 */
    struct collector_found found[6]; /* how applets would collect: see kinds */
};

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

/* Checks and what they mean for applets, as text or as JSON. */

/* An applet that was asked about. */
struct judged {
    const char *applet;
    struct verdict verdict;
};

/* Errors of `out` show when it is flushed. 0 or -ENOMEM. */
int checks_print_text(FILE *out, const struct checks *checks, const struct judged *judged,
                      size_t count);
int checks_print_json(FILE *out, const struct checks *checks, const struct judged *judged,
                      size_t count);

/* Shared by the parts of the checks. For src/checks only. */

/* Yes if `result` is not negative; otherwise no, with refusal_explain's sentence. */
void check_decide(struct check *check, enum refused what, int result, uint64_t map_bytes);
/* No, with this sentence. */
void check_refuse(struct check *check, const char *sentence);

/* Does a limit that we cannot raise apply to all maps together? */
extern bool check_is_limited;

/*
 * If perf rings collect instead of BPF programs: open rings for the other checks; otherwise NULL.
 */
extern struct ring_source *check_rings;
/*
 * Tries rings, and opens check_rings if they collect; checks->found must be set. Call it before the
 * other checks, which run one after another if rings are open.
 */
void check_rings_open(struct checks *checks);
void check_rings_close(void);

/* Each of these fills in the checks of its part; they run in parallel. */
void check_maps(struct checks *checks);
void check_kernel_functions(struct checks *checks);
void check_user_functions(struct checks *checks);
void check_tracepoints(struct checks *checks);
void check_commands(struct checks *checks);
void check_lives(struct checks *checks);
void check_events(struct checks *checks);
void check_rights(struct checks *checks);
void check_unwinding(struct checks *checks);

/* After those: adds how functions of the parent process's C library are unwound. */
void check_functions(struct check *unwinding);

#endif
