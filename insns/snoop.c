/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * snoop(context):
 *     account = the current bank's                        r9: see fragments.c
 *     if (there is none)
 *         return 0
 *     account.seen += 1
 *     if (the event was not asked for)                    r7 = pid << 32 | tid
 *         account.filtered += 1, return 0                 and see condition.c
 *     record = reserve(ring, its size)                    r8
 *     if (!record)
 *         goto full
 *     record.time = now
 *     record.pid, .tid, .cpu, .flags, .comm
 *     record.place = the number of the place that was hit
 *     record.generation = living[pid], or ended[pid]            see life.c
 *     record.caller = the return address                  see fragments.c
 *     record.frames = values of the context, each in a word before all frames
 *     record.frames, .kernel_bytes = the kernel's stack      see fragments.c
 *     record.frames, .user_bytes = the user's stack
 *     submit(record)
 *     return 0
 * full:
 *     account.table_full += 1
 *     return 0, at a tracepoint FOR_PERF_TOO              here and above
 *
 * The program takes the time once it has reserved the record: so a reader that has seen how far the
 * ring is reserved knows that all later records will have a later time.
 *
 * Without a ring buffer the program makes the record in a slot (fragments.h), and copies it to this
 * CPU's perf buffer instead of submit(); if there is no room, goto full.
 *
 * Another thread's program can preempt any of these. To detect that, each leaves its thread's
 * number in the account when it walks (fragments.c).
 *
 * r6 = context, r7 = pid << 32 | tid, r8 = record or slot, r9 = account.
 */
#include "insns/programs.h"

#include "insns/fragments.h"
#include "insns/layout.h"

#define WALKER ((int16_t)offsetof(struct account, walker))

/* Places on the stack, from r10. */
enum {
    INDEX = -4, /* a small map's key */
    FOREIGN = -8,
    PID_SCRATCH = -16,
    SCRATCH = -32, /* of 16 bytes */
};

/* A field's place in the record, from r8: a constant for each kind of buffer. */
#define AT(capture, member) \
    ((int16_t)(record_place(capture) + (int)offsetof(struct snoop_record, member)))

static int record_place(const struct capture *capture)
{
    return capture->to_ring ? 0 : (int)offsetof(struct snoop_slot, record);
}

static int32_t record_bytes(const struct capture *capture)
{
    return (int32_t)(SNOOP_RECORD_BYTES(capture->kernel_stack + capture->user_stack,
                                        capture->depth) +
                     capture->value_count * sizeof(uint64_t));
}

static void emit_reserve(struct program *program, const struct capture *capture)
{
    if (!capture->to_ring) {
        emit_claim_slot(program, capture->slots, true, INDEX);
        return;
    }
    EMIT(program,
        LOAD_MAP(R1, capture->buffer),
        MOV_IMM(R2, record_bytes(capture)),
        MOV_IMM(R3, 0),
        CALL(BPF_FUNC_ringbuf_reserve),
        JEQ_IMM(R0, 0, "full"),
        MOV_REG(R8, R0));
}

/* Clears first: some kernels do not fill all of a comm, and a caller or a life may stay unset. */
static void emit_event(struct program *program, const struct capture *capture)
{
    EMIT(program,
        CALL(BPF_FUNC_ktime_get_ns),
        STX(DW, R8, AT(capture, time), R0),
        ST(DW, R8, AT(capture, generation), 0),
        ST(DW, R8, AT(capture, caller), 0),
        STX(W, R8, AT(capture, tid), R7),
        MOV_REG(R1, R7),
        RSH_IMM(R1, 32),
        STX(W, R8, AT(capture, pid), R1),
        CALL(BPF_FUNC_get_smp_processor_id),
        STX(W, R8, AT(capture, cpu), R0),
        LDX(W, R1, R10, FOREIGN),
        OR_IMM(R1, (int32_t)capture->flags),
        STX(W, R8, AT(capture, flags), R1),
        CALL(BPF_FUNC_get_current_pid_tgid),
        STX(W, R8, AT(capture, walker), R0),
        ST(W, R8, AT(capture, kernel_bytes), 0),
        ST(W, R8, AT(capture, user_bytes), 0),
        ST(DW, R8, AT(capture, comm), 0),
        ST(DW, R8, (int16_t)(AT(capture, comm) + 8), 0));
    emit_comm(program, R8, AT(capture, comm));
    EMIT(program,
        MOV_REG(R1, R6),
    LABEL(SNOOP_PLACE_LABEL),
        MOV_IMM(R0, 0),
        STX(W, R8, AT(capture, place), R0));
}

static void emit_values(struct program *program, const struct capture *capture)
{
    for (size_t i = 0; i < capture->value_count; i++) {
        emit_event_value(program, &capture->values[i], R1);
        EMIT(program, STX(DW, R8, (int16_t)(AT(capture, frames) + (int)(i * sizeof(uint64_t))),
                          R1));
    }
}

static void emit_frames(struct program *program, const struct capture *capture, bool user)
{
    int32_t behind = user && capture->kernel_stack ? (int32_t)(capture->depth * sizeof(uint64_t))
        : 0;

    emit_walk(program, &(struct stack_walk){
        .user = user,
        .depth = capture->depth,
        .frames = AT(capture, frames) + (int32_t)(capture->value_count * sizeof(uint64_t)) + behind,
        .disturbed = true,
        .own = {R8, AT(capture, walker)},
        .last = {R9, WALKER},
        .walked = user ? "user_walked" : "kernel_walked",
        .unwind = capture->unwind,
        .unwind_place = {.at_entry = capture->caller, .index = INDEX, .failed = "unwind_failed",
                         .done = "unwind_done"},
        .unwound = "unwound",
    });
    EMIT(program, STX(W, R8, user ? AT(capture, user_bytes) : AT(capture, kernel_bytes), R0));
}

/* Submits the record, or goes to "full". */
static void emit_hand_over(struct program *program, const struct capture *capture)
{
    if (capture->to_ring) {
        EMIT(program,
            MOV_REG(R1, R8),
            MOV_IMM(R2, 0),
            CALL(BPF_FUNC_ringbuf_submit),
            JA("out"));
        return;
    }
    EMIT(program,
        MOV_REG(R1, R6),
        LOAD_MAP(R2, capture->buffer),
        MOV32_IMM(R3, -1), /* BPF_F_CURRENT_CPU */
        ADDRESS(R4, R8, record_place(capture)),
        MOV_IMM(R5, record_bytes(capture)),
        CALL(BPF_FUNC_perf_event_output),
        MOV_REG(R7, R0));
    emit_release_slot(program);
    EMIT(program, JEQ_IMM(R7, 0, "out"));
}

void emit_snoop(struct program *program, const struct capture *capture)
{
    emit_begin(program, capture, INDEX, "out");
    EMIT(program, ACCOUNT(seen));
    emit_event_filter(program, &capture->filter,
                      &(struct filter_places){FOREIGN, PID_SCRATCH, NULL, SCRATCH}, true);
    if (capture->condition)
        emit_event_condition(program, capture->condition, SCRATCH);
    emit_reserve(program, capture);
    emit_event(program, capture);
    emit_values(program, capture);
    if (capture->user_stack && capture->lifetimes.living >= 0)
        emit_load_life(program, &capture->lifetimes, true, capture->filter.in_namespace ?
                       FOREIGN : 0,
                       INDEX, AT(capture, generation));
    if (capture->flags & KEY_KERNEL_START ? capture->kernel_stack
        : capture->user_stack && capture->caller)
        emit_load_caller(program, capture->machine, capture->flags, AT(capture, caller));
    /* A user probe's event comes from user code, so it has no kernel stack. */
    if (capture->kernel_stack && !(capture->flags & KEY_USER_PROBE))
        emit_frames(program, capture, false);
    if (capture->user_stack)
        emit_frames(program, capture, true);
    emit_hand_over(program, capture);
    EMIT(program,
    LABEL("full"),
        ACCOUNT(table_full));
    emit_end(program, capture);
}
