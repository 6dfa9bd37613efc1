/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kernel/switches.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "kernel/task_fields.h"

struct opening {
    struct switches *switches;
    struct capture *capture;
    const struct switches_show *show;
    struct switches_refusal *refusal;
    int tracefs; /* below 0: use raw tracepoints */
};

static int refuse(const struct opening *opening, enum refused what, const char *event, int error)
{
    opening->refusal->what = what;
    opening->refusal->event = event;
    opening->refusal->error = error;
    opening->refusal->no_field = what == REFUSED_TRACEFS && event && error == -ENOENT;
    return error;
}

static const char *category_of(const char *event)
{
    return strcmp(event, "task_rename") ? "sched" : "task";
}

static int find_field(const struct opening *opening, const char *event, const char *name,
                      int16_t *offset, uint16_t *size)
{
    struct tracefs_field field;
    int result = tracefs_find_field(opening->tracefs, category_of(event), event, name, &field);

    if (result)
        return refuse(opening, REFUSED_TRACEFS, event, result);
    *offset = (int16_t)field.offset;
    *size = field.size;
    return 0;
}

static int find_fields(const struct opening *opening)
{
    struct capture *capture = opening->capture;
    uint16_t size;
    int result = find_field(opening, "sched_switch", "prev_pid", &capture->prev_pid, &size);

    if (!result)
        result = find_field(opening, "sched_switch", "next_pid", &capture->next_pid, &size);
    if (!result && capture->view != VIEW_OFFCPU)
        result = find_field(opening, capture->view == VIEW_WALL ? "sched_wakeup" : "sched_waking",
                            "pid", &capture->target_pid, &size);
    if (!result)
        result = find_field(opening, "sched_switch", "prev_state", &capture->prev_state, &size);
    capture->wide_state = size == sizeof(uint64_t);
    if (!result && capture->view == VIEW_WALL)
        result = find_field(opening, "task_rename", "newcomm", &capture->new_comm, &size);
    if (!result && capture->view == VIEW_WALL &&
        find_field(opening, "task_rename", "pid", &capture->renamed_pid, &size))
        capture->renamed_pid = 0;
    return result;
}

typedef void emit_program(struct program *program, const struct capture *capture);

static void emit_birth(struct program *program, const struct capture *capture)
{
    emit_wall_wakeup(program, capture, true);
}

static void emit_wakeup(struct program *program, const struct capture *capture)
{
    emit_wall_wakeup(program, capture, false);
}

static int attach_program(const struct opening *opening, struct tracepoint *tracepoint,
                          const char *event, emit_program *emit)
{
    const struct tracepoint_config config = {
        .tracefs = opening->tracefs,
        .category = category_of(event),
        .name = event,
        .program_name = event,
    };
    struct program program = {0};

    emit(&program, opening->capture);
    if (opening->show)
        opening->show->show(opening->show->context, &program, event);
    int result = tracepoint_open(tracepoint, &config, &program, &opening->refusal->log);
    return result ? refuse(opening, REFUSED_PROBES, event, result) : 0;
}

/* Wakeups first, so that the waker is known of every thread that is seen to wait. */
static int attach(const struct opening *opening)
{
    static const struct row {
        const char *event;
        emit_program *emit;
    } waits[SWITCHES_POINTS] = {
        [SWITCHES_WAKING] = {"sched_waking", emit_waking},
        [SWITCHES_SWITCH] = {"sched_switch", emit_switch},
    }, wall[SWITCHES_POINTS] = {
        [SWITCHES_BIRTH] = {"sched_wakeup_new", emit_birth},
        [SWITCHES_WAKING] = {"sched_wakeup", emit_wakeup},
        [SWITCHES_SWITCH] = {"sched_switch", emit_wall_switch},
        [SWITCHES_RENAME] = {"task_rename", emit_wall_rename},
        [SWITCHES_EXIT] = {"sched_process_exit", emit_wall_exit},
    };
    const struct row *of = opening->capture->view == VIEW_WALL ? wall : waits;
    int result = 0;

    for (int i = opening->capture->view == VIEW_OFFCPU ? SWITCHES_SWITCH : 0;
         i < SWITCHES_POINTS && !result; i++)
        if (of[i].event)
            result = attach_program(opening, &opening->switches->points[i], of[i].event,
                                    of[i].emit);
    return result;
}

static int open_by_tracefs(struct opening *opening)
{
    opening->tracefs = tracefs_open();
    if (opening->tracefs < 0)
        return refuse(opening, REFUSED_TRACEFS, NULL, opening->tracefs);
    int result = find_fields(opening);
    if (!result)
        result = attach(opening);
    close(opening->tracefs);
    return result;
}

static int open_raw(struct opening *opening)
{
    opening->tracefs = -1;
    opening->switches->raw = true;
    int result = task_fields_find(&opening->capture->task);
    return result ? refuse(opening, REFUSED_PROBES, NULL, result) : attach(opening);
}

/*
 * Raw tracepoints first: they miss no event, while those of tracefs miss events during the kernel's
 * bpf(2). If both fail, reports the refusal of raw ones, which need fewer rights, but only if a
 * right was missing: the user can grant it.
 */
int switches_open(struct switches *switches, struct capture *capture,
                  const struct switches_show *show, struct switches_refusal *refusal)
{
    struct switches_refusal raw = {0};
    struct opening opening = {switches, capture, show, &raw, -1};

    *switches = (struct switches)SWITCHES_NONE;
    *refusal = (struct switches_refusal){0};
    const int first = open_raw(&opening);
    if (!first)
        return 0;
    switches_close(switches);
    capture->task.known = false;
    opening.refusal = refusal;
    const int result = open_by_tracefs(&opening);
    if (!result || result == -ENOMEM || (first != -EPERM && first != -EACCES)) {
        text_free(&raw.log);
        return result;
    }
    text_free(&refusal->log);
    *refusal = raw;
    return first;
}

void switches_close(struct switches *switches)
{
    for (int i = 0; i < SWITCHES_POINTS; i++)
        tracepoint_close(&switches->points[i]);
    switches->raw = false;
}

uint64_t switches_missed(const struct switches *switches)
{
    uint64_t missed = 0;

    for (int i = 0; i < SWITCHES_POINTS; i++)
        missed += tracepoint_missed(&switches->points[i]);
    return missed;
}
