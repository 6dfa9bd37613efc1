/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "maps/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/reading.h"
#include "base/text.h"
#include "base/util.h"
#include "insns/follow.h"
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

/* If we may not use tracefs or perf_event_open(2), the raw tracepoint takes fewer rights. */
static int follow_births(struct follow *follow, const struct event_filter *filter,
                         enum refused *what)
{
    struct follow_programs programs = {
        .filter = filter,
        .self = (uint32_t)syscall(SYS_gettid),
    };
    int result = follow_births_by_tracefs(follow, &programs, what);

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

static int attach_exec(struct follow *follow, const struct event_filter *filter)
{
    struct program program = {0};
    struct text log = {0};

    emit_follow_exec(&program, filter);
    int result = tracepoint_open_raw(&follow->exec, "sched_process_exec", "follow_exec", &program,
                                     &log);
    program_free(&program);
    text_free(&log);
    return result;
}

int follow_open(struct follow *follow, struct event_filter *filter, enum refused *what)
{
    *follow = (struct follow)FOLLOW_NONE;
    *what = REFUSED_MAPS;
    int result = create_map(follow);
    if (result)
        return result;
    filter->followed = follow->map;
    filter->followed_size = follow->size;
    result = follow_births(follow, filter, what);
    return result || filter->pid_count ? result : attach_exec(follow, filter);
}

void follow_close(struct follow *follow)
{
    tracepoint_close(&follow->birth);
    tracepoint_close(&follow->exec);
    if (follow->map >= 0)
        close(follow->map);
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
