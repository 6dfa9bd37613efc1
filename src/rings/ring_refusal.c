/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Why there are no rings, or no event in them, and what to do about it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "base/reading.h"
#include "kernel/refusal.h"
#include "rings/ring_source.h"
#include "rings/rings_try.h"

#define NUMBER_CAP_SYS_ADMIN 21
#define NUMBER_CAP_PERFMON 38 /* 5.8 */

static void explain_memory(struct text *sentence)
{
    struct text own = {0};
    struct rlimit limit;

    text_add(sentence, "the kernel refuses the memory for the rings");
    if (!read_file(AT_FDCWD, "/proc/sys/kernel/perf_event_mlock_kb", 64, &own) && own.data &&
        !getrlimit(RLIMIT_MEMLOCK, &limit)) {
        text_format(sentence, ", of which a user may have %lu KB per CPU", strtoul(own.data, NULL, 10));
        if (limit.rlim_cur != RLIM_INFINITY)
            text_format(sentence, " plus %llu KB", (unsigned long long)limit.rlim_cur / 1024);
    }
    text_free(&own);
    text_add(sentence, ": stop other tracers, or raise sysctl kernel.perf_event_mlock_kb or "
                       "ulimit -l");
}

/* A filter says EPERM; the kernel says EACCES if perf_event_paranoid is the reason. */
static void explain_no_right(int error, struct text *sentence)
{
    const bool admin = refusal_has_capability(NUMBER_CAP_SYS_ADMIN);
    const bool perfmon = admin || refusal_has_capability(NUMBER_CAP_PERFMON);
    const bool filtered = error == -EPERM && prctl(PR_GET_SECCOMP) == 2;
    const long paranoid = refusal_paranoid();

    if (filtered && !perfmon)
        text_add(sentence, "a seccomp filter blocks perf_event_open(2): give the container "
                 "CAP_PERFMON (--cap-add PERFMON; --cap-add SYS_ADMIN before Linux 5.8)");
    else if (filtered)
        text_add(sentence, "a seccomp filter blocks perf_event_open(2): start the container or "
                 "service with a filter that allows it");
    else if (paranoid > 2 && !admin)
        text_format(sentence, "perf_event_open(2) is refused at kernel.perf_event_paranoid = %ld: "
                    "run it as root, or lower it (sysctl kernel.perf_event_paranoid=2)", paranoid);
    else if (!perfmon)
        text_add(sentence, "without CAP_PERFMON you can only trace your own processes: give -p "
                 "PID or -- COMMAND, or run it as root");
    else
        refusal_explain(REFUSED_SAMPLING, error, 0, sentence);
}

void rings_explain(int error, struct text *sentence)
{
    if (error == -EPERM || error == -EACCES)
        explain_no_right(error, sentence);
    else if (error == -ENOMEM)
        explain_memory(sentence);
    else if (error == -EMFILE || error == -ENOSYS)
        refusal_explain(REFUSED_SAMPLING, error, 0, sentence);
    else
        text_add(sentence, strerror(-error));
}

void ring_source_explain(const struct ring_source *source, int error, struct text *sentence)
{
    if (error == -EINVAL && source->wishes.scope->filter.cgroup)
        text_add(sentence, "this kernel cannot filter by cgroup (CONFIG_CGROUP_PERF)");
    else if (error == -ENODATA)
        text_add(sentence, "perf does not see this cgroup: enable a controller in its parent "
                 "(echo +pids >cgroup.subtree_control), on Linux 4.11 or later");
    else if (error == -ENODEV)
        text_format(sentence, "CPU %lld is offline: bring it online", (long long)source->wishes.scope->filter.cpu);
    else
        rings_explain(error, sentence);
}
