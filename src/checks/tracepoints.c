/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Tracepoints, and what depends on the scheduler's. */
#include <errno.h>
#include <unistd.h>

#include "base/text.h"
#include "checks/look.h"
#include "kernel/perf.h"
#include "kernel/switches.h"
#include "kernel/tracefs.h"
#include "maps/follow.h"
#include "maps/lives.h"
#include "maps/waits.h"

/* One that every kernel has and applets use. */
static int attach(int tracefs, const char *name)
{
    uint32_t id;
    int result = tracefs_event_id(tracefs, "sched", name, &id);

    if (check_rings)
        return result ? result : check_ring_event(PERF_TYPE_TRACEPOINT, id);
    int program = result ? result : check_load(BPF_PROG_TYPE_TRACEPOINT);
    int event = program < 0 ? program : perf_open_tracepoint(id);

    result = event < 0 ? event : perf_attach(event, program);
    if (event >= 0)
        close(event);
    if (program >= 0)
        close(program);
    return result;
}

/* Finds the files of tracepoints; an open directory or below 0. */
static int check_tracefs(struct check *check)
{
    /* As all applets do, which do not use a mounted one if nothing in it can be opened. */
    int tracefs = tracefs_open(), mounted = tracefs_open_mounted();

    if (mounted >= 0)
        close(mounted);
    else if (tracefs >= 0)
        text_add(&check->detail, "mounted for stackbox alone when needed");
    check_decide(check, REFUSED_TRACEFS, tracefs, 0);
    return tracefs;
}


void check_commands(struct checks *checks)
{
    struct event_filter filter = {.cpu = -1};
    struct follow follow = FOLLOW_NONE;
    enum refused what;

    /* Rings follow whatever a task forks. */
    if (check_rings) {
        checks->of[CHECK_COMMANDS].yes = true;
        return;
    }
    int result = follow_open(&follow, &filter, &what);

    check_decide(&checks->of[CHECK_COMMANDS], what, result, follow.size);
    follow_close(&follow);
}

void check_lives(struct checks *checks)
{
    struct lives lives;

    if (check_rings) {
        checks->of[CHECK_LIVES].yes = true;
        return;
    }
    check_decide(&checks->of[CHECK_LIVES], REFUSED_PROBES, lives_open(&lives, &(struct event_filter){.cpu = -1}), 0);
    lives_close(&lives);
}

/* The programs themselves, with everything that applets record when a thread leaves its CPU. */
static int open_switches(struct switches *switches, struct store *store, struct waits *waits,
                         struct switches_refusal *refusal)
{
    struct offwake_wishes wishes = {
        .view = VIEW_OFFCPU,
        .filter = {.cpu = -1},
        .kernel_stack = true,
        .user_stack = true,
        .states = STATE_BLOCKED,
        .most = UINT64_MAX,
        .depth = store->depth,
        .control = store->controls.control,
        .account = store->controls.account,
        .slots = store->controls.slots,
        .lives = LIFE_MAPS_NONE,
        .waits = waits->map,
        .banks = store->banks,
    };

    return switches_open(switches, &wishes, NULL, refusal);
}

/* Does it work by tracefs? */
static bool check_switches(struct check *check)
{
    const struct store_wishes wishes = {
        .stacks = 1,
        .key_bytes = (uint32_t)offwake_key_bytes(VIEW_OFFCPU),
        .value_bytes = (uint32_t)offwake_value_bytes(false),
    };
    struct store store;
    struct waits waits = {.store = &store, .view = VIEW_OFFCPU, .most = UINT64_MAX, .map = -1, .rests = -1};
    struct switches switches = SWITCHES_NONE;
    struct switches_refusal refusal = {.what = REFUSED_MAPS};
    int result = store_open(&store, &wishes);

    if (!result)
        result = waits_open(&waits);
    if (!result)
        result = open_switches(&switches, &store, &waits, &refusal);
    check_decide(check, refusal.what, result, 0);
    if (!result && switches.raw)
        text_add(&check->detail, "by raw tracepoints and BTF");
    bool by_tracefs = !result && !switches.raw;
    switches_close(&switches);
    waits_close(&waits);
    store_close(&store);
    text_free(&refusal.log);
    return by_tracefs;
}

static void check_by_tracefs(struct check *check, int tracefs, const char *name)
{
    check_decide(check, tracefs < 0 ? REFUSED_TRACEFS : REFUSED_PROBES,
                 tracefs < 0 ? tracefs : attach(tracefs, name), 0);
}

/* What takes the same calls need not be tried twice. */
void check_tracepoints(struct checks *checks)
{
    struct check *check = &checks->of[CHECK_TRACEPOINTS];
    int tracefs = check_tracefs(&checks->of[CHECK_TRACEFS]);

    if (check_rings)
        check_by_tracefs(&checks->of[CHECK_SWITCHES], tracefs, "sched_waking");
    else
        check->yes = check_switches(&checks->of[CHECK_SWITCHES]);
    if (!check->yes)
        check_by_tracefs(check, tracefs, "sched_switch");
    if (tracefs >= 0)
        close(tracefs);
}
