/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * birth(context), in the thread that forks:
 *     state = followed[the current tid]       NOT_FOLLOWED if it is too large for the map
 *     if (it is the thread `self`)            by its tid in the caller's pid namespace
 *         state = HELD
 *     with pids instead: if (its process is one of them) state = FOLLOWED
 *     if (context->pid)                       not an idle task, all of which have 0
 *         followed[context->pid] = state
 *     return 1                                for perf, too: see FOR_PERF_TOO
 *
 * exec(context):
 *     if (followed[the current tid] == HELD)
 *         followed[the current tid] = FOLLOWED
 *     return 0
 *
 * r6 = context, r7 = a task's number, pid << 32 | tid in between, r8 = state.
 */
#include "insns/follow.h"

#include "insns/layout.h"
#include "insns/look_up.h"

enum {
    FOREIGN = -4,
    SCRATCH = -16,
};

/* r1 = the new task's number */
static void emit_load_new_pid(struct program *program, const struct follow_programs *programs)
{
    if (!programs->task.known) {
        EMIT(program, LDX(W, R1, R6, (int16_t)programs->pid));
        return;
    }
    emit_read_task(program, NEWTASK_TASK, programs->task.pid, 4, SCRATCH);
    EMIT(program, LDX(W, R1, R10, SCRATCH));
}

void emit_follow_birth(struct program *program, const struct follow_programs *programs)
{
    const struct event_filter *filter = programs->filter;
    const struct event_filter nobody_asked = {
        .in_namespace = filter->in_namespace,
        .namespace_device = filter->namespace_device,
        .namespace_inode = filter->namespace_inode,
    };

    EMIT(program,
        MOV_REG(R6, R1),
        MOV_IMM(R8, TASK_NOT_FOLLOWED));
    emit_load_followed(program, filter, R7, SCRATCH, "beyond");
    EMIT(program,
        MOV_REG(R8, R0),
    LABEL("beyond"),
        ST(W, R10, FOREIGN, 0));
    emit_load_pid(program, &nobody_asked, FOREIGN, SCRATCH);
    EMIT(program,
        LDX(W, R1, R10, FOREIGN),
        JNE_IMM(R1, 0, "another"));
    if (filter->pid_count) {
        emit_if_pid(program, filter, "asked_for");
        EMIT(program,
            JA("another"),
        LABEL("asked_for"),
            MOV_IMM(R8, TASK_FOLLOWED));
    } else {
        EMIT(program,
            MOV32_REG(R1, R7),
            JNE_IMM(R1, (int32_t)programs->self, "another"),
            MOV_IMM(R8, TASK_HELD));
    }
    EMIT(program, LABEL("another"));
    emit_load_new_pid(program, programs);
    EMIT(program,
        MOV_REG(R7, R1),
        JEQ_IMM(R7, 0, "out"),
        JGE_IMM(R7, (int32_t)filter->followed_size, "out"));
    emit_look_up_only(program, filter->followed, SCRATCH, "out");
    EMIT(program,
        ADD_REG(R0, R7),
        STX(B, R0, 0, R8),
    LABEL("out"),
        MOV_IMM(R0, FOR_PERF_TOO),
        EXIT());
}

void emit_follow_exec(struct program *program, const struct event_filter *filter)
{
    emit_load_followed(program, filter, R7, SCRATCH, "out");
    EMIT(program,
        JNE_IMM(R0, TASK_HELD, "out"),
        ST(B, R2, 0, TASK_FOLLOWED),
    LABEL("out"),
        MOV_IMM(R0, 0),
        EXIT());
}
