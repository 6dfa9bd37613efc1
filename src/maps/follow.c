/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "maps/follow.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"
#include "base/util.h"
#include "insns/follow.h"
#include "insns/layout.h"
#include "kernel/bpf.h"
#include "kernel/limits.h"
#include "kernel/task_fields.h"
#include "kernel/tracefs.h"

static int create_map(struct follow *follow)
{
    follow->size = kernel_pid_limit();
    const struct bpf_map_shape shape = {
        .type = BPF_MAP_TYPE_ARRAY,
        .name = "followed",
        .key_size = sizeof(uint32_t),
        .value_size = follow->size,
        .entries = 1,
    };

    follow->map = bpf_create_map(&shape);
    return follow->map < 0 ? follow->map : 0;
}

/* `tracefs` below 0: use the raw tracepoint. */
static int attach_birth(struct follow *follow, int tracefs, const struct follow_programs *programs)
{
    const struct tracepoint_wishes wishes = {tracefs, "task", "task_newtask", "follow_birth"};
    struct program program = {0};
    struct text log = {0};

    emit_follow_birth(&program, programs);
    int result = tracefs < 0 ? tracepoint_open_raw(&follow->birth, wishes.name, wishes.program_name,
                                                   &program, &log)
                             : tracepoint_open(&follow->birth, &wishes, &program, &log);
    program_free(&program);
    text_free(&log);
    return result;
}

static int follow_births_by_tracefs(struct follow *follow, struct follow_programs *programs,
                                    enum refused *what)
{
    struct tracefs_field pid;

    *what = REFUSED_TRACEFS;
    int tracefs = tracefs_open();
    if (tracefs < 0)
        return tracefs;
    int result = tracefs_find_field(tracefs, "task", "task_newtask", "pid", &pid);
    if (!result) {
        *what = REFUSED_PROBES;
        programs->pid = pid.offset;
        result = attach_birth(follow, tracefs, programs);
    }
    close(tracefs);
    return result;
}

/*
 * If we may not use tracefs or perf_event_open(2), the raw tracepoint takes fewer rights. In a
 * namespace, only that knows the number that a new task has there.
 */
static int follow_births(struct follow *follow, const struct event_filter *filter,
                         enum refused *what)
{
    struct follow_programs programs = {
        .filter = filter,
        .self = (uint32_t)syscall(SYS_gettid),
    };
    int result;

    if (filter->asked && filter->numbers && !task_fields_find(&programs.task)) {
        *what = REFUSED_PROBES;
        result = attach_birth(follow, -1, &programs);
        if (!result)
            return 0;
        tracepoint_close(&follow->birth);
        programs.task.known = false;
    }
    result = follow_births_by_tracefs(follow, &programs, what);
    if (!result || result == -ENOMEM)
        return result;
    tracepoint_close(&follow->birth);
    int raw = task_fields_find(&programs.task);
    if (!raw)
        raw = attach_birth(follow, -1, &programs);
    /* Of two refusals, report the way that needs fewer rights. */
    if (raw && raw != -EPERM && raw != -EACCES)
        return result;
    *what = REFUSED_PROBES;
    return raw;
}

static int attach_exec(struct follow *follow, const struct event_filter *filter,
                       void (*emit)(struct program *program, const struct event_filter *filter))
{
    struct program program = {0};
    struct text log = {0};

    emit(&program, filter);
    int result = tracepoint_open_raw(&follow->exec, "sched_process_exec", "follow_exec", &program,
                                     &log);
    program_free(&program);
    text_free(&log);
    return result;
}

static int put(int map, const uint32_t *numbers, size_t count, uint32_t bit)
{
    int result = 0;

    for (size_t i = 0; i < count && !result; i++) {
        uint32_t bits = 0;
        (void)bpf_lookup(map, &numbers[i], &bits);
        bits |= bit;
        result = bpf_update(map, &numbers[i], &bits, BPF_ANY);
    }
    return result;
}

int follow_ask(struct follow *follow, struct event_filter *filter)
{
    /* A thread that executes a program goes on with another number. */
    const size_t most = filter->pid_count + 2 * filter->tid_count;
    int result = bpf_create_numbered(&follow->asked, BPF_MAP_TYPE_HASH, "asked", sizeof(uint32_t), (uint32_t)most);

    if (!result)
        result = put(follow->asked, filter->pids, filter->pid_count, ASKED_PROCESS);
    if (!result)
        result = put(follow->asked, filter->tids, filter->tid_count, ASKED_THREAD);
    filter->asked = follow->asked;
    return result;
}

int follow_asked(struct follow *follow, const struct event_filter *filter)
{
    enum refused what;

    (void)attach_exec(follow, filter, emit_follow_thread);
    return filter->in_namespace && !filter->numbers ? -EOPNOTSUPP : follow_births(follow, filter, &what);
}

uint32_t follow_other(const struct follow *follow, const struct event_filter *filter)
{
    for (size_t i = 0; i < filter->pid_count; i++) {
        uint32_t bits = 0;
        if (!bpf_lookup(follow->asked, &filter->pids[i], &bits) && bits & ASKED_OTHER)
            return filter->pids[i];
    }
    return 0;
}

int follow_open(struct follow *follow, struct event_filter *filter, enum refused *what)
{
    *what = REFUSED_MAPS;
    int result = create_map(follow);
    if (result)
        return result;
    filter->followed = follow->map;
    filter->followed_size = follow->size;
    result = follow_births(follow, filter, what);
    return result || filter->pid_count ? result : attach_exec(follow, filter, emit_follow_exec);
}

void follow_close(struct follow *follow)
{
    tracepoint_close(&follow->birth);
    tracepoint_close(&follow->exec);
    if (follow->map >= 0)
        close(follow->map);
    if (follow->asked >= 0)
        close(follow->asked);
    *follow = (struct follow)FOLLOW_NONE;
}

uint64_t follow_missed(const struct follow *follow)
{
    return tracepoint_missed(&follow->birth) + tracepoint_missed(&follow->exec);
}

bool follow_is_outgrown(const struct follow *follow)
{
    return follow->map >= 0 && kernel_pid_limit() > follow->size;
}
