/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * life_begins(context):
 *     time = now, even
 *     if (update(living, pid, time)) {                    if there is no room
 *         account.living_full += 1
 *         update(ended, pid, time)                        may be forgotten, but the loss was counted
 *     }
 *     return 1                                            for perf, too: see FOR_PERF_TOO
 *
 * life_ends(context):
 *     if (the process goes on)
 *         return 0
 *     ended[pid] = now, odd
 *     delete(living, pid)
 *     account.ends += 1
 *     return 0
 *
 * Both run in the process itself: all of its events after the exec see the new time, and no other
 * process gets the pid before life_ends has run. Only the end of its process removes an entry from
 * `living`, which refuses new ones when it is full. `ended` is an LRU hash and evicts old ones.
 */
#include "insns/programs.h"

#include "insns/fragments.h"
#include "insns/layout.h"

enum {
    PID = -8,
    TIME = -16,
    INDEX = -20,
    LIVE = -24,
    SIGNAL = -32,
    FOREIGN = -36,
    SCRATCH = -48,
};

#define EXIT_GROUP_DEAD 8 /* in sched_process_exit's context: a bool */

static void name_life_maps(struct program *program, const struct life_maps *maps)
{
    program_name_map(program, maps->living, "living");
    program_name_map(program, maps->ended, "ended");
    program_name_map(program, maps->account, "life_account");
}

/* r0 = pid << 32 | tid; goes to "out" if the process is outside the namespace. */
static void emit_numbers(struct program *program, const struct event_filter *filter)
{
    if (!filter->in_namespace) {
        EMIT(program, CALL(BPF_FUNC_get_current_pid_tgid));
        return;
    }
    emit_load_inside(program, filter, FOREIGN, SCRATCH, "out");
    EMIT(program, MOV_REG(R0, R7));
}

/* PID = the current process's pid, TIME = now, with the lowest bit as required. */
static void emit_pid_and_time(struct program *program, const struct event_filter *filter,
                              bool ended)
{
    emit_numbers(program, filter);
    EMIT(program,
        RSH_IMM(R0, 32),
        STX(W, R10, PID, R0),
        CALL(BPF_FUNC_ktime_get_ns),
        OR_IMM(R0, LIFE_ENDED));
    if (!ended)
        EMIT(program, XOR_IMM(R0, LIFE_ENDED));
    EMIT(program, STX(DW, R10, TIME, R0));
}

static void emit_add(struct program *program, const struct life_maps *maps, int16_t word)
{
    emit_look_up_only(program, maps->account, INDEX, "out");
    EMIT(program, XADD_IMM(R0, word, 1));
}

void emit_life_begins(struct program *program, const struct life_maps *maps,
                      const struct event_filter *filter)
{
    name_life_maps(program, maps);
    emit_pid_and_time(program, filter, false);
    emit_update(program, maps->living, PID, TIME, BPF_ANY);
    EMIT(program, JEQ_IMM(R0, 0, "out"));
    emit_add(program, maps, (int16_t)offsetof(struct life_account, living_full));
    emit_update(program, maps->ended, PID, TIME, BPF_ANY);
    emit_return(program, "out", FOR_PERF_TOO);
}

/* Goes to "out" if other threads of the process go on; the context is in r1. */
static void emit_is_last(struct program *program, enum life_telling telling,
                         const struct task_fields *fields)
{
    switch (telling) {
    case LIFE_TOLD:
        EMIT(program,
            LDX(DW, R1, R1, EXIT_GROUP_DEAD),
            AND_IMM(R1, 0xff),
            JEQ_IMM(R1, 0, "out"));
        return;
    case LIFE_READ:
        EMIT(program,
            MOV_REG(R6, R1),
            ST(DW, R10, SIGNAL, 0));
        emit_read_task(program, EXIT_TASK, fields->signal, fields->pointer_bytes, SIGNAL);
        EMIT(program,
            LDX(DW, R3, R10, SIGNAL),
            ADD_IMM(R3, fields->live),
            MOV_IMM(R2, 4),
            ADDRESS(R1, R10, LIVE),
            CALL(BPF_FUNC_probe_read_kernel),
            LDX(W, R1, R10, LIVE),
            JNE_IMM(R1, 0, "out"));
        return;
    case LIFE_GUESSED:
        EMIT(program,
            CALL(BPF_FUNC_get_current_pid_tgid),
            MOV32_REG(R1, R0),
            RSH_IMM(R0, 32),
            JNE_REG(R0, R1, "out"));
    }
}

void emit_life_ends(struct program *program, const struct life_maps *maps,
                    enum life_telling telling, const struct task_fields *fields,
                    const struct event_filter *filter)
{
    name_life_maps(program, maps);
    emit_is_last(program, telling, fields);
    emit_pid_and_time(program, filter, true);
    emit_update(program, maps->ended, PID, TIME, BPF_ANY);
    emit_delete(program, maps->living, PID);
    emit_add(program, maps, (int16_t)offsetof(struct life_account, ends));
    emit_return(program, "out", 0);
}

void emit_load_life(struct program *program, const struct life_maps *maps, bool pid_known,
                    int16_t foreign, int16_t key, int16_t place)
{
    if (foreign)
        EMIT(program,
            LDX(W, R0, R10, foreign),
            JNE_IMM(R0, 0, "first_life"));
    if (pid_known)
        EMIT(program, MOV_REG(R0, R7));
    else
        EMIT(program, CALL(BPF_FUNC_get_current_pid_tgid));
    EMIT(program,
        RSH_IMM(R0, 32),
        STX(W, R10, key, R0));
    emit_look_up(program, maps->living, key);
    EMIT(program, JNE_IMM(R0, 0, "life"));
    emit_look_up(program, maps->ended, key);
    EMIT(program,
        JEQ_IMM(R0, 0, "first_life"),
    LABEL("life"),
        LDX(DW, R1, R0, 0),
        STX(DW, R8, place, R1),
    LABEL("first_life"));
}
