/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * unrolled(context):
 *     bank = control[0]
 *     if (bank == PAUSED)
 *         return 0
 *     scratch = scratches[cpu * 2 + bank - 1]              r9
 *     scratch.account.seen += 1
 *     if (the event was not asked for) {                   r7 = pid << 32 | tid
 *         scratch.account.filtered += 1
 *         return 0
 *     }
 *     take the pid, the tid, the comm                      each goes into the scratch and the hash, r8
 *
 *     frame = context.frame                                r7
 *     where = context.sp
 *     take context.pc                                      in the kernel
 *     take *(context.sp)                                   at a function's first instruction, where it has
 *                                                          no frame yet: the call has pushed the caller
 *     while (frame is a kernel address) {                  unrolled
 *         where = frame
 *         {frame, address} = *frame
 *         if (address is not kernel code)
 *             break
 *         take address
 *     }
 *                                                          now `frame` is the user's, which the kernel's
 *                                                          entry code left in its register
 *     regs = the last words before the end of the stack that `where` is in
 *     if (regs are those of 64-bit user code) {
 *         take regs.pc                                     in the program
 *         if (frame >= regs.sp)
 *             while (frame is a user address) {            unrolled
 *                 {next, address} = *frame
 *                 if (address is not a user address)
 *                     break
 *                 take address
 *                 if (next <= frame)
 *                     break
 *                 frame = next
 *             }
 *     }
 *     count it by its hash                                 see below
 *     return 0
 *
 * r6 = context, and then the limit of addresses; r7 = pid << 32 | tid, and then the frame; r8 =
 * hash, r9 = scratch.
 *
 * No other program runs on this CPU meanwhile: programs on kernel probes run with preemption off,
 * one at a time.
 */
#include "insns/fragments.h"
#include "insns/layout.h"
#include "insns/programs.h"

/* Places on the stack, from r10. */
enum {
    UNROLLED_INDEX = -4,    /* a map's key */
    UNROLLED_FOREIGN = -8,
    UNROLLED_BANK = -16,    /* its number */
    UNROLLED_PAIR = -32,    /* what a frame pointer points to: the next, and the return address */
    UNROLLED_WHERE = -40,   /* an address in the stack being walked */
    UNROLLED_REGS = -80,    /* the last words of struct pt_regs */
};

/* Mixes another word into the hash r8; an odd number without a pattern, sign-extended. */
#define UNROLLED_MIX (-1640531535)

#define WORD 8
#define COMM UNROLLED_PAIR
/* If a kernel has room for FRED, its struct pt_regs ends this far before the stack does (6.9). */
#define FRED_PADDING 16
#define MOST_USER_ADDRESS 0x7fffffffffff

/* Offsets in the scratch, from r9. */
enum {
    WALKED = (int)offsetof(struct walk_scratch, walked),
    WALKED_PID = WALKED + (int)offsetof(struct walked, pid),
    WALKED_TID = WALKED + (int)offsetof(struct walked, tid),
    WALKED_COMM = WALKED + (int)offsetof(struct walked, comm),
    WALKED_FRAMES = WALKED + (int)offsetof(struct walked, frames),
};

/* ---- The process ---- */

static void emit_load_scratch(struct program *program, const struct capture *capture)
{
    emit_look_up_only(program, capture->control, UNROLLED_INDEX, "out");
    EMIT(program,
        LDX(W, R1, R0, 0),
        JEQ_IMM(R1, CONTROL_PAUSED, "out"),
        ADD_IMM(R1, -1),
        STX(DW, R10, UNROLLED_BANK, R1),
        CALL(BPF_FUNC_get_smp_processor_id),
        LSH_IMM(R0, 1),
        LDX(DW, R1, R10, UNROLLED_BANK),
        ADD_REG(R0, R1),
        STX(W, R10, UNROLLED_INDEX, R0));
    emit_look_up(program, capture->scratches, UNROLLED_INDEX);
    EMIT(program,
        JEQ_IMM(R0, 0, "out"),
        MOV_REG(R9, R0),
        ACCOUNT(seen));
}

/* Mixes r1 into the hash. */
static void emit_mix(struct program *program)
{
    EMIT(program,
        XOR_REG(R8, R1),
        MUL_IMM(R8, UNROLLED_MIX));
}

/* Members that do not tell counts apart stay 0 in every scratch. */
static void emit_take_process(struct program *program, const struct capture *capture)
{
    emit_zeros(program, R10, COMM, COMM_BYTES);
    if (!capture->per_process) {
        EMIT(program, MOV_IMM(R8, 0));
        return;
    }
    if (capture->per_thread)
        EMIT(program,
            STX(W, R9, WALKED_TID, R7),
            MOV_REG(R8, R7));
    EMIT(program,
        RSH_IMM(R7, 32),
        STX(W, R9, WALKED_PID, R7));
    if (!capture->per_thread)
        EMIT(program, MOV_REG(R8, R7));
    emit_comm(program, R10, COMM);
    for (int16_t at = 0; at < 2 * WORD; at += WORD) {
        EMIT(program,
            LDX(DW, R1, R10, COMM + at),
            STX(DW, R9, WALKED_COMM + at, R1));
        emit_mix(program);
    }
}

/* ---- Steps ---- */

/* One of the two stacks, as written to the scratch. */
struct part {
    int16_t count;  /* where its number of frames is, */
    uint32_t first; /* the index of its first frame */
    uint32_t depth; /* and their limit: the walk goes on above it, but stores no more */
};

/* Stores r1 as its frame i. */
static void emit_take(struct program *program, const struct part *part, uint32_t i)
{
    if (i >= part->depth)
        return;
    EMIT(program, STX(DW, R9, (int16_t)(WALKED_FRAMES + (part->first + i) * WORD), R1));
    emit_mix(program);
    EMIT(program, ST(W, R9, part->count, (int32_t)i + 1));
}

/* *(r10 + to) = that many bytes at r3, or goes to `otherwise`. */
static void emit_read(struct program *program, int16_t to, int32_t bytes, const char *otherwise)
{
    EMIT(program,
        ADDRESS(R1, R10, to),
        MOV_IMM(R2, bytes),
        CALL(BPF_FUNC_probe_read),
        JNE_IMM(R0, 0, otherwise));
}

/* ---- The kernel's ---- */

/* The caller is at the stack pointer. */
static void emit_take_caller(struct program *program, const struct part *part)
{
    EMIT(program, LDX(DW, R3, R10, UNROLLED_WHERE));
    emit_read(program, UNROLLED_PAIR, WORD, "kernel_cut");
    EMIT(program, LDX(DW, R1, R10, UNROLLED_PAIR));
    emit_take(program, part, 1);
}

static void emit_kernel_step(struct program *program, const struct part *part, uint32_t i)
{
    EMIT(program,
        STX(DW, R10, UNROLLED_WHERE, R7),
        MOV_REG(R3, R7));
    emit_read(program, UNROLLED_PAIR, 2 * WORD, "kernel_cut");
    EMIT(program,
        LDX(DW, R7, R10, UNROLLED_PAIR),
        LDX(DW, R1, R10, UNROLLED_PAIR + WORD),
        JGT_REG(R6, R1, "kernel_cut"));
    emit_take(program, part, i);
    EMIT(program, JSGE_IMM(R7, 0, "kernel_ended"));
}

/* If the user's part follows, the walk must reach the kernel stack's outermost frame. */
static void emit_kernel_part(struct program *program, const struct capture *capture)
{
    const struct machine *machine = capture->machine;
    const struct part part = {
        .count = WALKED + (int16_t)offsetof(struct walked, kernel_frames),
        .depth = capture->kernel_stack ? capture->depth : 0,
    };
    const uint32_t most = capture->user_stack ? capture->steps : capture->depth;

    EMIT(program,
        LDX(DW, R7, R6, machine_place(machine, machine->frame)),
        LDX(DW, R1, R6, machine_place(machine, machine->sp)),
        STX(DW, R10, UNROLLED_WHERE, R1));
    if (capture->kernel_stack) {
        EMIT(program, LDX(DW, R1, R6, machine_place(machine, machine->pc)));
        emit_take(program, &part, 0);
    }
    if (capture->kernel_stack && capture->at_start)
        emit_take_caller(program, &part);
    EMIT(program,
        MOV_IMM(R6, machine->kernel_code),
        JSGE_IMM(R7, 0, "kernel_ended"));
    for (uint32_t i = capture->at_start ? 2 : 1; i < most; i++)
        emit_kernel_step(program, &part, i);
    EMIT(program,
    LABEL("kernel_cut"),
        MOV_IMM(R7, 0),
    LABEL("kernel_ended"));
}

/* ---- The user's ---- */

/* The words of struct pt_regs from the program counter on, which are in UNROLLED_REGS. */
static int32_t tail_bytes(const struct machine *machine)
{
    return (machine->walk->registers - machine->pc.word) * WORD;
}

static int16_t tail_place(const struct machine *machine, unsigned word)
{
    return (int16_t)(UNROLLED_REGS + (int)(word - machine->pc.word) * WORD);
}

/* r3 and UNROLLED_WHERE point to the user's registers; goes to "walked" if there are none. */
static void emit_find_regs(struct program *program, const struct machine *machine)
{
    const int32_t bytes = tail_bytes(machine);
    const int16_t mode = tail_place(machine, machine->walk->mode.word);

    emit_zeros(program, R10, UNROLLED_REGS, bytes);
    EMIT(program,
        LDX(DW, R3, R10, UNROLLED_WHERE),
        OR_IMM(R3, (1 << machine->kernel_stack) - 1),
        ADD_IMM(R3, 1 - bytes),
        STX(DW, R10, UNROLLED_WHERE, R3));
    emit_read(program, UNROLLED_REGS, bytes, "walked");
    EMIT(program,
        LDX(DW, R1, R10, mode),
        JEQ_IMM(R1, (int32_t)machine->walk->mode.value, "from_user"),
        LDX(DW, R3, R10, UNROLLED_WHERE),
        ADD_IMM(R3, -FRED_PADDING),
        STX(DW, R10, UNROLLED_WHERE, R3));
    emit_read(program, UNROLLED_REGS, bytes, "walked");
    EMIT(program,
        LDX(DW, R1, R10, mode),
        JNE_IMM(R1, (int32_t)machine->walk->mode.value, "walked"),
    LABEL("from_user"));
}

static void emit_load_user_frame(struct program *program, const struct machine *machine)
{
    EMIT(program,
        LDX(DW, R3, R10, UNROLLED_WHERE),
        ADD_IMM(R3, -(machine->pc.word - machine->frame.word) * WORD));
    emit_read(program, UNROLLED_PAIR, WORD, "walked");
    EMIT(program, LDX(DW, R7, R10, UNROLLED_PAIR));
}

static void emit_user_step(struct program *program, const struct part *part, uint32_t i)
{
    if (i > 1)
        EMIT(program,
            LDX(DW, R1, R10, UNROLLED_PAIR),
            JGE_REG(R7, R1, "walked"),
            MOV_REG(R7, R1));
    EMIT(program,
        JGT_REG(R7, R6, "walked"),
        MOV_REG(R3, R7));
    emit_read(program, UNROLLED_PAIR, 2 * WORD, "walked");
    EMIT(program,
        LDX(DW, R1, R10, UNROLLED_PAIR + WORD),
        JEQ_IMM(R1, 0, "walked"),
        JGT_REG(R1, R6, "walked"));
    emit_take(program, part, i);
}

static void emit_user_part(struct program *program, const struct capture *capture)
{
    const struct machine *machine = capture->machine;
    const struct part part = {
        .count = WALKED + (int16_t)offsetof(struct walked, user_frames),
        .first = capture->kernel_stack ? capture->depth : 0,
        .depth = capture->depth,
    };

    emit_find_regs(program, machine);
    EMIT(program, LDX(DW, R1, R10, tail_place(machine, machine->pc.word)));
    emit_take(program, &part, 0);
    if (capture->from_regs)
        emit_load_user_frame(program, machine);
    EMIT(program,
        LD_IMM64(R6, MOST_USER_ADDRESS),
        LDX(DW, R1, R10, tail_place(machine, machine->sp.word)),
        JGT_REG(R1, R7, "walked"));
    for (uint32_t i = 1; i < capture->depth; i++)
        emit_user_step(program, &part, i);
}

/* ---- Counting it ---- */

/*
 *     mix the hash once more, so that each of its bits depends on all
 *     for (tries = 0; tries < TRIES; tries++) {            unrolled
 *         bucket = buckets[bank << bits | the last bits of hash >> tries * SHIFT]      r0
 *         if (bucket.hash == hash)
 *             goto found
 *         if (bucket.hash)
 *             continue                                     another stack has it
 *         lock bucket.claims += 1
 *         if (bucket.claims == 1)
 *             goto claimed
 *         lock bucket.claims -= 1                          another CPU is about to fill it
 *     }
 *     account.table_full += 1
 *     goto out
 * claimed:
 *     account.inserted += 1
 *     bucket.time = now                                    tells which program the user stack belongs to
 *     bucket.walked = scratch.walked
 *     bucket.hash = hash
 * found:
 *     lock bucket.count += 1
 *
 * r7 = bucket; r0 has the time.
 *
 * A hash map of these kernels would allocate memory for every new key, within the probe. If two
 * CPUs are the first to count a stack at the same time, it can get two buckets: the reader adds
 * them up.
 */

#define SHIFT 6

/* Each try, and what follows the last. */
static const char *const tries[] = {
    "try_1", "try_2", "try_3", "try_4", "try_5", "try_6", "try_7", "try_8", "no_bucket",
};
#define TRIES (sizeof(tries) / sizeof(*tries) - 1)

enum {
    CLAIMS = offsetof(struct walk_bucket, claims),
    HASH = offsetof(struct walk_bucket, hash),
    COUNT = offsetof(struct walk_bucket, count),
    TIME = offsetof(struct walk_bucket, time),
};

static void emit_finish_hash(struct program *program)
{
    EMIT(program,
        MOV_REG(R1, R8),
        RSH_IMM(R1, 32),
        XOR_REG(R8, R1),
        MUL_IMM(R8, UNROLLED_MIX),
        MOV_REG(R1, R8),
        RSH_IMM(R1, 32),
        XOR_REG(R8, R1),
        JNE_IMM(R8, 0, tries[0]),
        MOV_IMM(R8, 1)); /* 0 means no stack */
}

static void emit_try(struct program *program, const struct capture *capture, size_t i)
{
    EMIT(program,
    LABEL(tries[i]),
        MOV_REG(R1, R8));
    if (i)
        EMIT(program, RSH_IMM(R1, (int32_t)(i * SHIFT)));
    EMIT(program,
        AND_IMM(R1, (1 << capture->bits) - 1),
        LDX(DW, R2, R10, UNROLLED_BANK),
        LSH_IMM(R2, (int32_t)capture->bits),
        OR_REG(R1, R2),
        STX(W, R10, UNROLLED_INDEX, R1));
    emit_look_up(program, capture->buckets, UNROLLED_INDEX);
    EMIT(program,
        JEQ_IMM(R0, 0, "out"),
        LDX(DW, R1, R0, HASH),
        JEQ_REG(R1, R8, "found"),
        JNE_IMM(R1, 0, tries[i + 1]),
        XADD_IMM(R0, CLAIMS, 1),
        LDX(DW, R1, R0, CLAIMS),
        JEQ_IMM(R1, 1, "claimed"),
        XADD_IMM(R0, CLAIMS, -1));
}

/* Word by word, up to the longest stack: nothing reads past a stack's end. */
static void emit_copy(struct program *program, const struct capture *capture)
{
    const size_t stacks = (size_t)capture->kernel_stack + capture->user_stack;
    const size_t bytes = sizeof(struct walked) + stacks * capture->depth * sizeof(uint64_t);

    emit_words(program, R0, offsetof(struct walk_bucket, walked), R9, WALKED, (int)bytes);
}

static void emit_keep_unrolled(struct program *program, const struct capture *capture)
{
    emit_finish_hash(program);
    for (size_t i = 0; i < TRIES; i++)
        emit_try(program, capture, i);
    EMIT(program,
    LABEL(tries[TRIES]),
        ACCOUNT(table_full),
        JA("out"),
    LABEL("claimed"),
        ACCOUNT(inserted));
    if (capture->user_stack)
        EMIT(program,
            MOV_REG(R7, R0),
            CALL(BPF_FUNC_ktime_get_ns),
            STX(DW, R7, TIME, R0),
            MOV_REG(R0, R7));
    emit_copy(program, capture);
    EMIT(program,
        STX(DW, R0, HASH, R8),
    LABEL("found"),
        XADD_IMM(R0, COUNT, 1));
}

/* ---- All of it ---- */

void emit_unrolled(struct program *program, const struct capture *capture)
{
    const int16_t counts = WALKED + (int16_t)offsetof(struct walked, kernel_frames);

    name_maps(program, capture);
    EMIT(program, MOV_REG(R6, R1));
    emit_load_scratch(program, capture);
    emit_event_filter(program, &capture->filter,
                      &(struct filter_places){UNROLLED_FOREIGN, UNROLLED_PAIR, NULL, UNROLLED_PAIR},
                      capture->per_process);
    emit_take_process(program, capture);
    EMIT(program, ST(DW, R9, counts, 0)); /* both */
    emit_kernel_part(program, capture);
    if (capture->user_stack)
        emit_user_part(program, capture);
    EMIT(program, LABEL("walked"));
    emit_keep_unrolled(program, capture);
    emit_end(program, capture);
}
