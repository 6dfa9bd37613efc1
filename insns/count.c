/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * count(context):
 *     account = the current bank's                        r9: see fragments.c
 *     if (there is none)
 *         return 0
 *     account.seen += 1
 *     if (the CPU is idle ||                              with without_idle
 *         the event was not asked for) {                  r7 = pid << 32 | tid
 *         account.filtered += 1
 *         return 0
 *     }                                                   and see condition.c
 *     slot = a slot of this CPU                           r8: see fragments.c
 *     slot.zero = 0, slot.key = {0}
 *     slot.key.pid = pid; get_current_comm(slot.key.comm)
 *     slot.key.flags |= tid << KEY_TID_SHIFT              with per_thread
 *     slot.key.generation = lives[pid]                          see life.c
 *     slot.key.caller = the return address                see fragments.c
 *     slot.key.kernel_stack = the kernel's stack          see stacks.c
 *     slot.key.user_stack = the user's stack
 *     counts = the map of counts of the account's bank    see stacks.c
 *     if (!(number = counts[slot.key])) {
 *         account.inserted += 1                           so that it is drained before it is full
 *         update(counts, slot.key, slot.zero, NOEXIST)    another CPU may have been first:
 *         if (!(number = counts[slot.key])) {             then this finds its entry
 *             account.table_full += 1
 *             goto done
 *         }
 *     }
 *     lock *number += 1
 *     value = the event's                                 with a sum: see add_value
 *     lock number.sum += value
 * done:
 *     give the slot back
 *     return 0, at a tracepoint FOR_PERF_TOO              here and above
 *
 * r6 = context, r7 = pid << 32 | tid, r8 = slot, r9 = account.
 *
 * A perf event interrupts whatever runs, but never this program: on each CPU the kernel runs only
 * one program of perf events, probes and tracepoints at a time, and skips those that would
 * interrupt it. So the first slot is free, and no program sees a map in the middle of an update.
 * Programs that may nest (fragments.h) cannot rely on that: they claim a slot, and once everything
 * but the stacks is known, r7 is the first slot.
 */
#include "insns/programs.h"

#include "insns/fragments.h"
#include "insns/layout.h"

/* Places on the stack, from r10. */
enum {
    INDEX = -4,       /* a small map's key */
    FOREIGN = -8,     /* flags known before the slot is claimed */
    PID_SCRATCH = -16,
    SCRATCH = -32,    /* of 16 bytes */
};

/* Places in the slot, from r8. */
enum {
    ZERO = offsetof(struct slot, zero),
    KEY = offsetof(struct slot, key),
    KEY_KERNEL_STACK = KEY + (int)offsetof(struct count_key, kernel_stack),
    KEY_USER_STACK = KEY + (int)offsetof(struct count_key, user_stack),
    KEY_GENERATION = KEY + (int)offsetof(struct count_key, generation),
    KEY_CALLER = KEY + (int)offsetof(struct count_key, caller),
    KEY_PID = KEY + (int)offsetof(struct count_key, pid),
    KEY_FLAGS = KEY + (int)offsetof(struct count_key, flags),
    KEY_COMM = KEY + (int)offsetof(struct count_key, comm),
};

/* By the host's tid, which is 0 only for the idle tasks, on every CPU. */
static void emit_idle_filter(struct program *program)
{
    EMIT(program,
        CALL(BPF_FUNC_get_current_pid_tgid),
        JEQ_IMM(R0, 0, "filtered"));
}

/* Clears everything: some kernels do not fill all of a comm, and a hash map compares every byte. */
static void emit_clear(struct program *program, const struct capture *capture)
{
    EMIT(program,
        ST(DW, R8, ZERO, 0),
        ST(DW, R8, KEY_KERNEL_STACK, NO_STACK),
        ST(DW, R8, KEY_USER_STACK, NO_STACK),
        ST(DW, R8, KEY_GENERATION, 0),
        ST(DW, R8, KEY_CALLER, 0),
        ST(W, R8, KEY_PID, 0),
        ST(W, R8, KEY_FLAGS, (int32_t)capture->flags),
        ST(DW, R8, KEY_COMM, 0),
        ST(DW, R8, KEY_COMM + 8, 0));
}

static void emit_process(struct program *program, const struct capture *capture)
{
    if (capture->filter.in_namespace)
        EMIT(program,
            LDX(W, R1, R10, FOREIGN),
            OR_IMM(R1, (int32_t)capture->flags),
            STX(W, R8, KEY_FLAGS, R1));
    EMIT(program,
        MOV_REG(R1, R7),
        RSH_IMM(R1, 32),
        STX(W, R8, KEY_PID, R1));
    emit_comm(program, R8, KEY_COMM);
}

/* The tid shares its word with the flags. */
static void emit_thread(struct program *program)
{
    EMIT(program,
        LDX(W, R1, R8, KEY_FLAGS),
        MOV_REG(R2, R7),
        LSH_IMM(R2, KEY_TID_SHIFT),
        OR_REG(R1, R2),
        STX(W, R8, KEY_FLAGS, R1));
}

#define SUM ((int)offsetof(struct summed, sum))

/*
 * add_value:
 *     value = the event's
 *     if (value < 0)                                      if it is signed
 *         account.negative += 1
 *     else
 *         lock number.sum += value
 *         account.sum_high += value >> 32                 shows how often sums have overflowed
 */
static void emit_add_value(struct program *program, const struct event_value *value)
{
    EMIT(program, LABEL("add_value"));
    emit_event_value(program, value, R2);
    if (value->is_signed) {
        EMIT(program,
            JSGE_IMM(R2, 0, "summed"),
            ACCOUNT(negative),
            JA("done"),
        LABEL("summed"));
    }
    EMIT(program,
        XADD(DW, R0, SUM, R2),
        RSH_IMM(R2, 32),
        XADD(DW, R9, (int16_t)offsetof(struct account, sum_high), R2));
}

static void emit_add_one(struct program *program, const struct capture *capture)
{
    emit_find_count(program, &(struct count_place){
        .capture = capture,
        .index = INDEX,
        .labels = &count_labels,
        .base = R8,
        .key = KEY,
        .new_base = capture->sum ? R10 : R8,
        .new_value = capture->sum ? SCRATCH : ZERO,
        .cleared = capture->sum ? sizeof(struct summed) : 0,
        .late = true,
    });
    if (capture->sum)
        EMIT(program,
            ADDRESS(R0, R9, (int)offsetof(struct account, table_full_ns) - SUM),
            JA("add_value"));
    else
        EMIT(program, JA("done"));
    EMIT(program,
    LABEL("found"),
        XADD_IMM(R0, 0, 1));
    if (capture->sum)
        emit_add_value(program, capture->sum);
    EMIT(program, LABEL("done"));
}

static bool meets(const struct capture *capture)
{
    return capture->flags & KEY_USER_PROBE || capture->meets;
}

/* A user probe's event comes from user code, so it has no kernel stack. */
static bool has_kernel_stack(const struct capture *capture)
{
    return capture->kernel_stack && !(capture->flags & KEY_USER_PROBE);
}

static bool wants_caller(const struct capture *capture)
{
    return capture->flags & KEY_KERNEL_START ? capture->kernel_stack
        : capture->user_stack && capture->caller;
}

void emit_count(struct program *program, const struct capture *capture)
{
    const bool kernel = has_kernel_stack(capture);

    emit_begin(program, capture, INDEX, "out");
    EMIT(program, ACCOUNT(seen));
    if (capture->without_idle)
        emit_idle_filter(program);
    emit_event_filter(program, &capture->filter,
                      &(struct filter_places){FOREIGN, PID_SCRATCH, NULL, SCRATCH},
                      capture->per_process);
    if (capture->condition)
        emit_event_condition(program, capture->condition, SCRATCH);
    emit_claim_slot(program, capture->slots, meets(capture), INDEX);
    emit_clear(program, capture);
    if (capture->per_process)
        emit_process(program, capture);
    if (capture->per_thread)
        emit_thread(program);
    /* In a pid namespace, r7 is needed. */
    if ((capture->per_process || (capture->user_stack && !capture->filter.in_namespace)) &&
        capture->lifetimes.living >= 0)
        emit_load_life(program, &capture->lifetimes, capture->per_process,
                       capture->filter.in_namespace ? FOREIGN : 0, INDEX, KEY_GENERATION);
    if (wants_caller(capture))
        emit_load_caller(program, capture->machine, capture->flags, KEY_CALLER);
    if (meets(capture) && (kernel || capture->user_stack))
        emit_load_first_slot(program, capture->slots, INDEX, "done");
    emit_stacks(program, capture, INDEX, meets(capture), kernel ? KEY_KERNEL_STACK : 0,
                capture->user_stack ? KEY_USER_STACK : 0);
    emit_add_one(program, capture);
    if (meets(capture))
        emit_release_slot(program);
    emit_end(program, capture);
}
