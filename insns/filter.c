/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "insns/filter.h"

#include <string.h>

#include "base/util.h"
#include "insns/fragments.h"

static bool leaves_own_out(const struct event_filter *filter)
{
    return filter->own && !filter->followed && !filter->pid_count && !filter->tid_count;
}

bool filter_asks(const struct event_filter *filter)
{
    return filter_asks_others(filter) || leaves_own_out(filter);
}

bool filter_asks_others(const struct event_filter *filter)
{
    return filter->cpu >= 0 || filter->cgroup || filter->followed || filter->pid_count ||
           filter->tid_count || filter->comm_count || filter->uid_count;
}

bool filter_takes_name(const struct event_filter *filter, const char *comm)
{
    for (size_t i = 0; i < filter->comm_count; i++)
        if (!strncmp(filter->comms[i], comm, COMM_BYTES))
            return true;
    return !filter->comm_count;
}

bool filter_takes_user(const struct event_filter *filter, uint32_t uid)
{
    return !filter->uid_count || has_number(filter->uids, filter->uid_count, uid);
}

bool filter_may_change(const struct event_filter *filter)
{
    return filter->cpu >= 0 || filter->comm_count || filter->uid_count;
}

/* Drops events on other CPUs than the one asked for. */
static void emit_cpu_filter(struct program *program, const struct event_filter *filter)
{
    if (filter->cpu < 0)
        return;
    EMIT(program,
        CALL(BPF_FUNC_get_smp_processor_id),
        JNE_IMM(R0, (int32_t)filter->cpu, "filtered"));
}

/* Drops events of tasks outside the cgroup asked for and those below it. */
static void emit_cgroup_filter(struct program *program, const struct event_filter *filter)
{
    if (!filter->cgroup)
        return;
    program_name_map(program, filter->cgroup, "cgroup");
    EMIT(program,
        LOAD_MAP(R1, filter->cgroup),
        MOV_IMM(R2, 0),
        CALL(BPF_FUNC_current_task_under_cgroup),
        JNE_IMM(R0, 1, "filtered"));
}

/* By the real user, like other tools' programs, even if the executable is set-user-ID. */
static void emit_user_filter(struct program *program, const struct event_filter *filter)
{
    if (!filter->uid_count)
        return;
    EMIT(program,
        CALL(BPF_FUNC_get_current_uid_gid),
        MOV32_REG(R0, R0));
    for (size_t i = 0; i < filter->uid_count; i++)
        EMIT(program,
            MOV32_IMM(R1, (int32_t)filter->uids[i]),
            JEQ_REG(R0, R1, "user_asked_for"));
    EMIT(program,
        JA("filtered"),
    LABEL("user_asked_for"));
}

static void emit_name_filter(struct program *program, const struct event_filter *filter,
                             int16_t comm)
{
    uint64_t words[COMM_BYTES / sizeof(uint64_t)];

    if (!filter->comm_count)
        return;
    emit_zeros(program, R10, comm, COMM_BYTES);
    emit_comm(program, R10, comm);
    EMIT(program,
        LDX(DW, R1, R10, comm),
        LDX(DW, R2, R10, (int16_t)(comm + 8)));
    for (size_t i = 0; i < filter->comm_count; i++) {
        memcpy(words, filter->comms[i], sizeof(words));
        EMIT(program,
            LD_IMM64(R3, words[0]),
            XOR_REG(R3, R1),
            LD_IMM64(R4, words[1]),
            XOR_REG(R4, R2),
            OR_REG(R3, R4),
            JEQ_IMM(R3, 0, "name_asked_for"));
    }
    EMIT(program,
        JA("filtered"),
    LABEL("name_asked_for"));
}

/* A tid can exceed the map if kernel.pid_max was lowered before we began, or raised since. */
void emit_load_followed(struct program *program, const struct event_filter *filter, unsigned tid,
                        int16_t index, const char *beyond)
{
    program_name_map(program, filter->followed, "followed");
    EMIT(program,
        CALL(BPF_FUNC_get_current_pid_tgid),
        MOV32_REG(tid, R0),
        JGE_IMM(tid, (int32_t)filter->followed_size, beyond));
    emit_look_up_only(program, filter->followed, index, beyond);
    EMIT(program,
        MOV_REG(R2, R0),
        ADD_REG(R2, tid),
        LDX(B, R0, R2, 0));
}

/* Drops tasks that are not followed. The register is lost. */
static void emit_followed_filter(struct program *program, const struct event_filter *filter,
                                 unsigned tid, int16_t index)
{
    emit_load_followed(program, filter, tid, index, "filtered");
    EMIT(program, JNE_IMM(R0, TASK_FOLLOWED, "filtered"));
}

static bool asks_by_number(const struct event_filter *filter)
{
    return (filter->pid_count || filter->tid_count) && !filter->followed;
}

const char *filter_outside(const struct event_filter *filter)
{
    return asks_by_number(filter) ? "filtered" : "foreign";
}

/*
 * The helper (5.7) fills in { u32 pid; u32 tgid; }, or fails for a task in another namespace, even
 * if that is below this one.
 */
static void emit_load_pid_of_namespace(struct program *program, const struct event_filter *filter,
                                       const struct filter_places *places)
{
    bool asked = asks_by_number(filter);
    const int16_t scratch = places->scratch;
    const char *const outside = places->numberless ? places->numberless : filter_outside(filter);

    EMIT(program,
        LD_IMM64(R1, filter->namespace_device),
        LD_IMM64(R2, filter->namespace_inode),
        ADDRESS(R3, R10, scratch),
        MOV_IMM(R4, 8),
        CALL(BPF_FUNC_get_ns_current_pid_tgid),
        JNE_IMM(R0, 0, filter->numbers ? "below" : outside),
        LDX(W, R7, R10, (int16_t)(scratch + 4)),
        LSH_IMM(R7, 32),
        LDX(W, R0, R10, scratch),
        OR_REG(R7, R0));
    if (filter->numbers) {
        EMIT(program,
            JA("numbers_known"),
        LABEL("below"));
        emit_load_numbers(program, filter->numbers, scratch, outside);
    }
    if (!asked)
        EMIT(program,
            JA("numbers_known"),
        LABEL("foreign"),
            CALL(BPF_FUNC_get_current_pid_tgid),
            MOV_REG(R7, R0),
            ST(W, R10, places->foreign, 1));
    if (!asked || filter->numbers || places->numberless)
        EMIT(program, LABEL("numbers_known"));
}

/*
 * r7 = pid << 32 | tid of the current task in the caller's pid namespace. A filter by number drops
 * a task outside it; without one, r7 is from the initial namespace then, and *(u32 *)(r10 +
 * foreign) = 1.
 */
static void emit_load_pid(struct program *program, const struct event_filter *filter,
                          const struct filter_places *places)
{
    if (filter->in_namespace) {
        emit_load_pid_of_namespace(program, filter, places);
        return;
    }
    EMIT(program,
        CALL(BPF_FUNC_get_current_pid_tgid),
        MOV_REG(R7, R0));
}

void emit_load_anybody(struct program *program, const struct event_filter *filter, int16_t foreign,
                       int16_t scratch)
{
    const struct event_filter anybody = {
        .in_namespace = filter->in_namespace,
        .namespace_device = filter->namespace_device,
        .namespace_inode = filter->namespace_inode,
        .numbers = filter->numbers,
    };

    EMIT(program, ST(W, R10, foreign, 0));
    emit_load_pid(program, &anybody, &(struct filter_places){foreign, scratch, NULL, 0});
}

void emit_load_inside(struct program *program, const struct event_filter *filter, int16_t foreign,
                      int16_t scratch, const char *outside)
{
    emit_load_anybody(program, filter, foreign, scratch);
    EMIT(program,
        LDX(W, R1, R10, foreign),
        JNE_IMM(R1, 0, outside));
}

void emit_look_up_asked(struct program *program, const struct event_filter *filter, int16_t key,
                        const char *none)
{
    program_name_map(program, filter->asked, "asked");
    EMIT(program, STX(W, R10, key, R0));
    emit_look_up(program, filter->asked, key);
    EMIT(program,
        JEQ_IMM(R0, 0, none),
        LDX(W, R0, R0, 0));
}

void emit_look_up_process(struct program *program, const struct event_filter *filter, int16_t key,
                          const char *none)
{
    EMIT(program,
        MOV_REG(R0, R7),
        RSH_IMM(R0, 32));
    emit_look_up_asked(program, filter, key, none);
}

/* Drops all but the processes and threads asked for, and followed tasks. */
static void emit_pid_filter(struct program *program, const struct event_filter *filter,
                            const struct filter_places *places)
{
    if (filter->pid_count) {
        if (filter->followed && filter->in_namespace)
            EMIT(program,
                LDX(W, R0, R10, places->foreign),
                JNE_IMM(R0, 0, "no_pid"));
        emit_look_up_process(program, filter, places->scratch,
                             filter->followed ? "no_pid" : "filtered");
        EMIT(program, JSET_IMM(R0, ASKED_PROCESS, "pid_asked_for"));
        if (filter->followed) {
            EMIT(program, LABEL("no_pid"));
            emit_followed_filter(program, filter, R8, places->scratch);
        } else {
            EMIT(program, JA("filtered"));
        }
        EMIT(program, LABEL("pid_asked_for"));
    }
    if (filter->tid_count) {
        EMIT(program, MOV32_REG(R0, R7));
        emit_look_up_asked(program, filter, places->scratch, "filtered");
        EMIT(program,
            JSET_IMM(R0, ASKED_THREAD, "tid_asked_for"),
            JA("filtered"),
        LABEL("tid_asked_for"));
    }
}

/*
 * Drops events of the tracer's processes, by r7 from emit_load_pid; but not those asked for by pid
 * or as a command, nor tasks outside our namespace, whose numbers can equal the tracer's.
 */
static void emit_own_filter(struct program *program, const struct event_filter *filter,
                            const struct filter_places *places)
{
    if (!leaves_own_out(filter))
        return;
    program_name_map(program, filter->own, "own");
    if (filter->in_namespace)
        EMIT(program,
            LDX(W, R0, R10, places->foreign),
            JNE_IMM(R0, 0, "not_own"));
    emit_look_up_only(program, filter->own, places->scratch, "filtered");
    EMIT(program,
        MOV_REG(R1, R7),
        RSH_IMM(R1, 32));
    for (size_t i = 0; i < OWN_PROCESSES; i++)
        EMIT(program,
            LDX(W, R2, R0, (int16_t)(i * sizeof(uint32_t))),
            JEQ_REG(R1, R2, "filtered"));
    if (filter->in_namespace)
        EMIT(program, LABEL("not_own"));
}

void emit_event_filter(struct program *program, const struct event_filter *filter,
                       const struct filter_places *places, bool load_pid)
{
    emit_cpu_filter(program, filter);
    if (filter->followed && !filter->pid_count)
        emit_followed_filter(program, filter, R7, places->scratch);
    emit_cgroup_filter(program, filter);
    emit_user_filter(program, filter);
    emit_name_filter(program, filter, places->comm);
    EMIT(program, ST(W, R10, places->foreign, 0));
    if (load_pid || filter->pid_count || filter->tid_count || leaves_own_out(filter))
        emit_load_pid(program, filter, places);
    emit_pid_filter(program, filter, places);
    emit_own_filter(program, filter, places);
}
