/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * state(context), as the kernel makes it for the tracepoint's field prev_state:
 *     if (preempted)
 *         return 0
 *     if (state has all bits of an idle kernel thread)
 *         return 0x80
 *     if (it will never run again)
 *         return 0x10                         dead
 *     if (it waits for a real-time kernel's lock, or is frozen)
 *         state |= 2                          uninterruptible
 *     return state & 0x4f
 *
 * The field also has the bits of exit_state, with which a thread may still wait for such locks.
 */
#include "insns/task.h"

enum {
    STATE_UNINTERRUPTIBLE = 2,
    STATE_IDLE_THREAD = 0x402, /* TASK_IDLE: uninterruptible, and no load */
    STATE_LOCK_OR_FROZEN = 0x9000, /* TASK_RTLOCK_WAIT, TASK_FROZEN */
    STATE_DEAD = 0x80,         /* TASK_DEAD, since 4.14 */
    STATE_TOLD = 0x4f,         /* TASK_REPORT, without exit_state's */
    STATE_TOLD_DEAD = 0x10,
    STATE_TOLD_IDLE = 0x80,    /* TASK_REPORT_IDLE */
};

void emit_read_task(struct program *program, int word, uint16_t offset, int bytes, int16_t place)
{
    EMIT(program,
        LDX(DW, R3, R6, (int16_t)(word * 8)),
        ADD_IMM(R3, offset),
        MOV_IMM(R2, bytes),
        ADDRESS(R1, R10, place),
        CALL(BPF_FUNC_probe_read_kernel));
}

/* r0 = the kernel's 4 or 8 bytes there; goes to `failed` if they cannot be read */
static void emit_read(struct program *program, unsigned base, uint16_t offset, int bytes,
                      int16_t place, const char *failed)
{
    EMIT(program,
        ADDRESS(R3, base, offset),
        MOV_IMM(R2, bytes),
        ADDRESS(R1, R10, place),
        CALL(BPF_FUNC_probe_read_kernel),
        JNE_IMM(R0, 0, failed),
        LDX_WIDE(bytes == 8, R0, R10, place));
}

void emit_load_level(struct program *program, const struct pid_fields *fields, int16_t place,
                     const char *failed)
{
    EMIT(program, CALL(BPF_FUNC_get_current_task));
    emit_read(program, R0, fields->task_pid, 8, place, failed);
    emit_read(program, R0, fields->pid_level, 4, place, failed);
    EMIT(program, MOV_REG(R7, R0));
}

/* A task whose namespace is neither ours nor below it has no number in ours. */
void emit_load_number(struct program *program, const struct pid_fields *fields, int16_t place,
                      const char *outside)
{
    emit_read(program, R7, fields->task_pid, 8, place, outside);
    EMIT(program, MOV_REG(R7, R0));
    emit_read(program, R7, fields->pid_level, 4, place, outside);
    EMIT(program, JLT_IMM(R0, (int32_t)fields->level, outside));
    emit_read(program, R7, fields->pid_space, 8, place, outside);
    emit_read(program, R0, fields->space_inode, 4, place, outside);
    EMIT(program,
        MOV32_IMM(R1, (int32_t)fields->inode),
        JNE_REG(R0, R1, outside));
    emit_read(program, R7, fields->pid_number, 4, place, outside);
    EMIT(program, MOV_REG(R7, R0));
}

void emit_load_numbers(struct program *program, const struct pid_fields *fields, int16_t place,
                       const char *outside)
{
    EMIT(program,
        CALL(BPF_FUNC_get_current_task),
        MOV_REG(R7, R0));
    emit_load_number(program, fields, place, outside);
    EMIT(program, CALL(BPF_FUNC_get_current_task));
    emit_read(program, R0, fields->task_signal, 8, place, outside);
    emit_read(program, R0, fields->signal_pid, 8, place, outside);
    emit_read(program, R0, fields->pid_number, 4, place, outside);
    EMIT(program,
        LSH_IMM(R0, 32),
        OR_REG(R7, R0));
}

/* The kernel gives a task its uprobe_task at its first hit of a user probe. */
void emit_load_nesting(struct program *program, const struct nesting_fields *fields, int16_t place,
                       const char *none)
{
    EMIT(program, CALL(BPF_FUNC_get_current_task));
    emit_read(program, R0, fields->utask, 8, place, none);
    EMIT(program, JEQ_IMM(R0, 0, none));
    emit_read(program, R0, fields->depth, 4, place, none);
}

/* r1 = the state as the task has it */
static void emit_own_state(struct program *program, const struct task_fields *fields, int16_t place)
{
    if (!fields->has_state) {
        EMIT(program, LDX(DW, R1, R6, SWITCH_STATE * 8));
        return;
    }
    emit_read_task(program, SWITCH_PREV, fields->state, fields->wide_state ? 8 : 4, place);
    EMIT(program, LDX_WIDE(fields->wide_state, R1, R10, place));
}

void emit_read_state(struct program *program, const struct task_fields *fields, int16_t place)
{
    EMIT(program,
        ST(DW, R10, place, 0),
        LDX(DW, R1, R6, SWITCH_PREEMPTED * 8),
        AND_IMM(R1, 0xff),
        JNE_IMM(R1, 0, "state_read"));
    emit_own_state(program, fields, place);
    EMIT(program,
        MOV_REG(R2, R1),
        AND_IMM(R2, STATE_IDLE_THREAD),
        JEQ_IMM(R2, STATE_IDLE_THREAD, "state_idle"),
        JSET_IMM(R1, STATE_DEAD, "state_dead"),
        MOV_REG(R2, R1),
        AND_IMM(R2, STATE_LOCK_OR_FROZEN),
        JEQ_IMM(R2, 0, "state_plain"),
        OR_IMM(R1, STATE_UNINTERRUPTIBLE),
    LABEL("state_plain"),
        AND_IMM(R1, STATE_TOLD),
        JA("state_known"),
    LABEL("state_dead"),
        MOV_IMM(R1, STATE_TOLD_DEAD),
        JA("state_known"),
    LABEL("state_idle"),
        MOV_IMM(R1, STATE_TOLD_IDLE),
    LABEL("state_known"),
        STX(DW, R10, place, R1),
    LABEL("state_read"));
}
