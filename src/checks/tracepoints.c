/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Tracepoints, and what hangs on those of the scheduler. */
#include <errno.h>
#include <unistd.h>

#include "checks/look.h"
#include "kernel/follow.h"
#include "kernel/lives.h"
#include "kernel/perf.h"
#include "kernel/tracefs.h"

/* One that every kernel has, and that applets use. */
static int attach(int tracefs)
{
    uint32_t id;
    int result = tracefs_event_id(tracefs, "sched", "sched_switch", &id);
    int program = result ? result : check_load(BPF_PROG_TYPE_TRACEPOINT);
    int event = program < 0 ? program : perf_open_tracepoint(id);

    result = event < 0 ? event : perf_attach(event, program);
    if (event >= 0)
        close(event);
    if (program >= 0)
        close(program);
    return result;
}

/* Where the files of tracepoints are; an open directory or below 0. */
static int check_tracefs(struct check *check)
{
    int tracefs = tracefs_open_mounted();

    if (tracefs < 0) {
        tracefs = tracefs_open();
        if (tracefs >= 0)
            text_add(&check->detail, "mounted for stackbox alone, whenever it needs it");
    }
    check_decide(check, REFUSED_TRACEFS, tracefs, 0);
    return tracefs;
}


void check_commands(struct checks *checks)
{
    struct event_filter filter = {.cpu = -1};
    struct follow follow;
    enum refused what;
    int result = follow_open(&follow, &filter, &what);

    check_decide(&checks->of[CHECK_COMMANDS], what, result, follow.size);
    follow_close(&follow);
}

void check_lives(struct checks *checks)
{
    struct lives lives;

    check_decide(&checks->of[CHECK_LIVES], REFUSED_PROBES, lives_open(&lives), 0);
    lives_close(&lives);
}

void check_tracepoints(struct checks *checks)
{
    int tracefs = check_tracefs(&checks->of[CHECK_TRACEFS]);

    enum refused what = tracefs < 0 ? REFUSED_TRACEFS : REFUSED_PROBES;
    int result = tracefs < 0 ? tracefs : attach(tracefs);

    check_decide(&checks->of[CHECK_TRACEPOINTS], what, result, 0);
    check_decide(&checks->of[CHECK_SWITCHES], what, result, 0);
    if (tracefs >= 0)
        close(tracefs);
}
