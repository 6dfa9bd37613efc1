/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * birth(context), in the thread that forks:
 *     state = followed[the current tid]       NOT_FOLLOWED if it is too large for the map
 *     if (it is the thread `self`)            by its tid in the caller's pid namespace
 *         state = HELD
 *     with pids instead: if (its process is one of them) state = FOLLOWED
 *     delete(asked, context->pid)             by its number in the caller's pid namespace
 *     if (context->pid)                       not an idle task, all of which have 0
 *         followed[context->pid] = state
 *     return 1                                for perf, too: see FOR_PERF_TOO
 *
 * exec(context):
 *     if (followed[the current tid] == HELD)
 *         followed[the current tid] = FOLLOWED
 *     return 1                                for perf, too: see FOR_PERF_TOO
 *
 * thread(context), once the thread has its process's number:
 *     if (context->old_tid == the current tid)        r9, by the host's numbers
 *         return 0
 *     bits = asked[context->old_tid] & ASKED_THREAD   in the initial namespace
 *     bits |= asked[the current pid]
 *     if (bits)
 *         asked[the current pid] = bits | ASKED_OTHER
 *     return 0
 *
 * r6 = context, r7 = a task's number, pid << 32 | tid in between, r8 = state, or bits.
 */
#include "insns/programs.h"

#include "insns/fragments.h"
#include "insns/layout.h"

enum {
    FOREIGN = -4,
    BITS = FOREIGN, /* once that is known */
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

/* r8 = what the new task will be */
static void emit_state(struct program *program, const struct follow_programs *programs)
{
    const struct event_filter *filter = programs->filter;

    EMIT(program, MOV_IMM(R8, TASK_NOT_FOLLOWED));
    emit_load_followed(program, filter, R7, SCRATCH, "beyond");
    EMIT(program,
        MOV_REG(R8, R0),
    LABEL("beyond"));
    emit_load_inside(program, filter, FOREIGN, SCRATCH, "another");
    if (filter->pid_count) {
        emit_look_up_process(program, filter, SCRATCH, "another");
        EMIT(program,
            JSET_IMM(R0, ASKED_PROCESS, "asked_for"),
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
}

/* The kernel reuses the number: the task that was asked for by it has ended. */
static void emit_forget(struct program *program, const struct follow_programs *programs)
{
    const struct event_filter *filter = programs->filter;

    program_name_map(program, filter->asked, "asked");
    if (filter->in_namespace) {
        EMIT(program, LDX(DW, R7, R6, NEWTASK_TASK * 8));
        emit_load_number(program, filter->numbers, SCRATCH, "not_ours");
        EMIT(program, STX(W, R10, SCRATCH, R7));
    } else {
        emit_load_new_pid(program, programs);
        EMIT(program, STX(W, R10, SCRATCH, R1));
    }
    emit_delete(program, filter->asked, SCRATCH);
    if (filter->in_namespace)
        EMIT(program, LABEL("not_ours"));
}

static void emit_keep_state(struct program *program, const struct follow_programs *programs)
{
    const struct event_filter *filter = programs->filter;

    emit_load_new_pid(program, programs);
    EMIT(program,
        MOV_REG(R7, R1),
        JEQ_IMM(R7, 0, "out"),
        JGE_IMM(R7, (int32_t)filter->followed_size, "out"));
    emit_look_up_only(program, filter->followed, SCRATCH, "out");
    EMIT(program,
        ADD_REG(R0, R7),
        STX(B, R0, 0, R8),
    LABEL("out"));
}

void emit_follow_birth(struct program *program, const struct follow_programs *programs)
{
    const struct event_filter *filter = programs->filter;

    EMIT(program, MOV_REG(R6, R1));
    if (filter->followed)
        emit_state(program, programs);
    if (filter->asked && (!filter->in_namespace || (filter->numbers && programs->task.known)))
        emit_forget(program, programs);
    if (filter->followed)
        emit_keep_state(program, programs);
    EMIT(program, RETURN(FOR_PERF_TOO));
}

void emit_follow_exec(struct program *program, const struct event_filter *filter)
{
    emit_load_followed(program, filter, R7, SCRATCH, "out");
    EMIT(program,
        JNE_IMM(R0, TASK_HELD, "out"),
        ST(B, R2, 0, TASK_FOLLOWED));
    emit_return(program, "out", FOR_PERF_TOO);
}

void emit_follow_thread(struct program *program, const struct event_filter *filter)
{
    EMIT(program,
        LDX(DW, R9, R1, EXEC_OLD_TID * 8),
        MOV32_REG(R9, R9),
        CALL(BPF_FUNC_get_current_pid_tgid),
        MOV32_REG(R0, R0),
        JEQ_REG(R0, R9, "out"),
        MOV_IMM(R8, 0));
    emit_load_inside(program, filter, FOREIGN, SCRATCH, "out");
    if (!filter->in_namespace) {
        EMIT(program, MOV_REG(R0, R9));
        emit_look_up_asked(program, filter, SCRATCH, "another");
        EMIT(program,
            AND_IMM(R0, ASKED_THREAD),
            MOV_REG(R8, R0),
        LABEL("another"));
    }
    emit_look_up_process(program, filter, SCRATCH, "new");
    EMIT(program,
        OR_REG(R8, R0),
    LABEL("new"),
        JEQ_IMM(R8, 0, "out"),
        OR_IMM(R8, ASKED_OTHER),
        STX(W, R10, BITS, R8));
    emit_update(program, filter->asked, SCRATCH, BITS, BPF_ANY);
    emit_return(program, "out", 0);
}
