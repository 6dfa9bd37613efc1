/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>

#include "insns/fragments.h"
#include "insns/layout.h"
#include "insns/programs.h"

void emit_look_up(struct program *program, int map, int16_t key)
{
    EMIT(program,
        ADDRESS(R2, R10, key),
        LOAD_MAP(R1, map),
        CALL(BPF_FUNC_map_lookup_elem));
}

void emit_look_up_only(struct program *program, int map, int16_t index, const char *none)
{
    EMIT(program, ST(W, R10, index, 0));
    emit_look_up(program, map, index);
    EMIT(program, JEQ_IMM(R0, 0, none));
}

void emit_update(struct program *program, int map, int16_t key, int16_t value, int32_t flags)
{
    EMIT(program,
        LOAD_MAP(R1, map),
        ADDRESS(R2, R10, key),
        ADDRESS(R3, R10, value),
        MOV_IMM(R4, flags),
        CALL(BPF_FUNC_map_update_elem));
}

void emit_delete(struct program *program, int map, int16_t key)
{
    EMIT(program,
        LOAD_MAP(R1, map),
        ADDRESS(R2, R10, key),
        CALL(BPF_FUNC_map_delete_elem));
}

void emit_zeros(struct program *program, unsigned base, int at, int bytes)
{
    for (int end = at + bytes; at < end; at += 8)
        EMIT(program, ST(DW, base, (int16_t)at, 0));
}

void emit_words(struct program *program, unsigned to, int to_at, unsigned from, int from_at,
                int bytes)
{
    for (int i = 0; i < bytes; i += 8)
        EMIT(program,
            LDX(DW, R1, from, (int16_t)(from_at + i)),
            STX(DW, to, (int16_t)(to_at + i), R1));
}

void emit_comm(struct program *program, unsigned base, int at)
{
    EMIT(program,
        ADDRESS(R1, base, at),
        MOV_IMM(R2, COMM_BYTES),
        CALL(BPF_FUNC_get_current_comm));
}

void emit_return(struct program *program, const char *label, int32_t value)
{
    EMIT(program,
    LABEL(label),
        RETURN(value));
}

void name_maps(struct program *program, const struct capture *capture)
{
#define MAP(member) (uint8_t)(offsetof(struct capture, member) / sizeof(int))
    static const struct {
        uint8_t at;
        char name[15];
    } maps[] = {
        {MAP(control), "control"},
        {MAP(account), "account"},
        {MAP(slots), "slots"},
        {MAP(lifetimes.living), "living"},
        {MAP(lifetimes.ended), "ended"},
        {MAP(lifetimes.account), "life_account"},
        {MAP(ids.map), "ids"},
        {MAP(ids.settled), "settled"},
        {MAP(banks.first[BANK_COUNTS]), "counts"},
        {MAP(banks.others[BANK_COUNTS]), "other_counts"},
        {MAP(banks.first[BANK_SHALLOW]), "shallow"},
        {MAP(banks.others[BANK_SHALLOW]), "other_shallow"},
        {MAP(banks.first[BANK_DEEP]), "deep"},
        {MAP(banks.others[BANK_DEEP]), "other_deep"},
        {MAP(scratches), "scratches"},
        {MAP(buckets), "buckets"},
        {MAP(waits), "waits"},
        {MAP(cuts), "cuts"},
        {MAP(rests), "rests"},
    };
    _Static_assert(offsetof(struct capture, rests) / sizeof(int) <= UINT8_MAX, "near");

    for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++) {
        const int fd = ((const int *)capture)[maps[i].at];
        if (fd > 0)
            program_name_map(program, fd, maps[i].name);
    }
    if (capture->buffer > 0)
        program_name_map(program, capture->buffer, capture->to_ring ? "ring" : "buffers");
}

/*
 *     mode = control[0]
 *     if (mode == PAUSED)
 *         goto paused
 *     account = accounts[mode]                            r9, of this CPU
 *     account.bank = mode
 */

void emit_load_account(struct program *program, const struct capture *capture, int16_t index,
                       const char *paused)
{
    emit_look_up_only(program, capture->control, index, paused);
    EMIT(program,
        LDX(W, R1, R0, 0),
        JEQ_IMM(R1, CONTROL_PAUSED, paused),
        STX(W, R10, index, R1));
    emit_look_up(program, capture->account, index);
    EMIT(program,
        JEQ_IMM(R0, 0, paused),
        MOV_REG(R9, R0),
        LDX(W, R1, R10, index),
        STX(DW, R9, (int16_t)offsetof(struct account, bank), R1));
}

void emit_begin(struct program *program, const struct capture *capture, int16_t index,
                const char *paused)
{
    name_maps(program, capture);
    EMIT(program, MOV_REG(R6, R1));
    emit_load_account(program, capture, index, paused);
}

/*
 *     for (index = 0; index < SLOTS_PER_CPU; index++) {    unrolled
 *         slot = slots[index], slot->number = index + 1
 *         lock slot->users += 1
 *         if (slot->users == 1)
 *             goto claimed
 *         lock slot->users -= 1
 *     }
 *     account.slots_taken += 1
 *     goto out
 *
 * If two programs claim at once, both may see 2 and try the next slot: that wastes a slot, but no
 * slot ever has two users. A program that cannot nest takes the first without claiming it.
 */

static void emit_try(struct program *program, int slots, int number, int16_t index)
{
    EMIT(program, ST(W, R10, index, number));
    emit_look_up(program, slots, index);
    EMIT(program,
        JEQ_IMM(R0, 0, "out"),
        MOV_REG(R8, R0),
        ST(W, R8, (int16_t)offsetof(struct slot, number), number + 1),
        XADD_IMM(R8, (int16_t)offsetof(struct slot, users), 1),
        LDX(DW, R1, R8, (int16_t)offsetof(struct slot, users)),
        JEQ_IMM(R1, 1, "claimed"));
    emit_release_slot(program);
}

void emit_claim_slot(struct program *program, int slots, bool meets, int16_t index)
{
    if (!meets) {
        emit_look_up_only(program, slots, index, "out");
        EMIT(program, MOV_REG(R8, R0));
        return;
    }
    for (int number = 0; number < SLOTS_PER_CPU; number++)
        emit_try(program, slots, number, index);
    EMIT(program,
        ACCOUNT(slots_taken),
        JA("out"),
    LABEL("claimed"));
}

void emit_load_first_slot(struct program *program, int slots, int16_t index, const char *none)
{
    emit_look_up_only(program, slots, index, none);
    EMIT(program, MOV_REG(R7, R0));
}

void emit_release_slot(struct program *program)
{
    EMIT(program, XADD_IMM(R8, (int16_t)offsetof(struct slot, users), -1));
}

/*
 *     if ((bytes = unwind(frames)) >= 0)                      with tables: see unwind.c
 *         goto unwound
 *     bytes = get_stack(context, frames, depth * 8, flags)
 *
 * If another program may walk on this CPU in between:
 *
 *     up to 4 times:
 *         last = own
 *         bytes = get_stack(context, frames, depth * 8, flags)
 *         if (last == own)
 *             goto walked
 *     bytes = -EFAULT
 *     walked:
 *
 * The kernel walks into a per-CPU buffer and copies from there. If another thread's program walks a
 * stack on this CPU in between, the kernel copies that one. (Interrupts have their own buffer.)
 */

#define MOST_WALKS 4

static void emit_get_stack(struct program *program, const struct stack_walk *walk)
{
    const bool first_alone = walk->user && walk->unwind && walk->unwind->first_alone;
    const uint32_t depth = first_alone ? 1 : walk->depth;

    EMIT(program,
        MOV_REG(R1, R6),
        ADDRESS(R2, R8, walk->frames),
        MOV_IMM(R3, (int32_t)(depth * sizeof(uint64_t))),
        MOV_IMM(R4, walk->user ? BPF_F_USER_STACK : 0),
        CALL(BPF_FUNC_get_stack));
}

static void emit_disturbed(struct program *program, const struct stack_walk *walk)
{
    const struct walk_word own = walk->own, last = walk->last;

    for (int tried = 0; tried < MOST_WALKS; tried++) {
        EMIT(program,
            LDX(W, R1, own.base, own.at),
            STX(W, last.base, last.at, R1));
        emit_get_stack(program, walk);
        EMIT(program,
            LDX(W, R1, own.base, own.at),
            LDX(W, R2, last.base, last.at),
            JEQ_REG(R1, R2, walk->walked));
    }
    EMIT(program,
        MOV_IMM(R0, -EFAULT),
    LABEL(walk->walked));
}

void emit_walk(struct program *program, const struct stack_walk *walk)
{
    const bool unwinds = walk->user && walk->unwind && !walk->unwind->first_alone;

    if (unwinds) {
        struct unwind_place place = walk->unwind_place;
        place.frames = walk->frames;
        emit_unwind(program, walk->unwind, &place);
        EMIT(program, JSGE_IMM(R0, 0, walk->unwound));
    }
    if (walk->disturbed)
        emit_disturbed(program, walk);
    else
        emit_get_stack(program, walk);
    if (unwinds)
        EMIT(program, LABEL(walk->unwound));
}

/* In the kernel's own code, the call has pushed the 8-byte return address. */
static void emit_load_pushed(struct program *program, const struct machine *machine, int16_t place)
{
    EMIT(program,
        LDX(DW, R3, R6, machine_place(machine, machine->sp)),
        MOV_IMM(R2, 8),
        ADDRESS(R1, R8, place),
        CALL(BPF_FUNC_probe_read_kernel));
}

/* From the link register, without the bit that says that the caller is Thumb code. */
static void emit_load_link(struct program *program, const struct machine *machine, int16_t place)
{
    const int16_t link = machine_place(machine, machine->link);

    if (machine->bits == 64)
        EMIT(program, LDX(DW, R1, R6, link));
    else
        EMIT(program, LDX(W, R1, R6, link));
    if (machine->marks.thumb)
        EMIT(program, AND_IMM(R1, -2));
    EMIT(program, STX(DW, R8, place, R1));
}

void emit_load_caller(struct program *program, const struct machine *machine, uint32_t flags,
                      int16_t place)
{
    if (flags & KEY_KERNEL_START && machine->kernel_tables)
        emit_load_pushed(program, machine, place);
    else if (machine->emit_load_caller)
        machine->emit_load_caller(program, place);
    else if (machine->link.word && machine->link.word != MACHINE_NOWHERE &&
             (flags & KEY_KERNEL_START || !machine->link_first))
        emit_load_link(program, machine, place);
}

/* In the slot, from r8. */
enum {
    TASK = offsetof(struct slot, task),
    TASK_KERNEL_STACK = TASK + (int)offsetof(struct task_stacks, kernel_stack),
    TASK_USER_STACK = TASK + (int)offsetof(struct task_stacks, user_stack),
    TASK_GENERATION = TASK + (int)offsetof(struct task_stacks, generation),
    TASK_PID = TASK + (int)offsetof(struct task_stacks, pid),
    TASK_TID = TASK + (int)offsetof(struct task_stacks, tid),
    TASK_FLAGS = TASK + (int)offsetof(struct task_stacks, flags),
    TASK_COMM = TASK + (int)offsetof(struct task_stacks, comm),
    SCRATCH = (int)offsetof(struct slot, spilled),
};

void emit_no_task(struct program *program, unsigned base, int place)
{
    for (int at = 0; at < (int)sizeof(struct task_stacks); at += 8) {
        bool is_stack = at == offsetof(struct task_stacks, kernel_stack) ||
                        at == offsetof(struct task_stacks, user_stack);
        EMIT(program, ST(DW, base, (int16_t)(place + at), is_stack ? NO_STACK : 0));
    }
}

void emit_clear_task(struct program *program)
{
    emit_no_task(program, R8, TASK);
    EMIT(program, ST(W, R8, TASK_FLAGS, TASK_SEEN));
}

void emit_look_for_user(struct program *program)
{
    emit_walk(program, &(struct stack_walk){.user = true, .depth = 1, .frames = SCRATCH});
}

static void emit_numbers(struct program *program, const struct capture *capture,
                         const struct task_place *shown)
{
    EMIT(program,
        MOV_REG(R1, R7),
        RSH_IMM(R1, 32),
        STX(W, R8, TASK_PID, R1),
        STX(W, R8, TASK_TID, R7));
    if (capture->filter.in_namespace)
        EMIT(program,
            LDX(W, R1, R10, shown->foreign),
            OR_IMM(R1, TASK_SEEN),
            STX(W, R8, TASK_FLAGS, R1));
}

void emit_who(struct program *program, const struct capture *capture,
              const struct task_place *shown)
{
    emit_numbers(program, capture, shown);
    emit_comm(program, R8, TASK_COMM);
    if (capture->lifetimes.living >= 0)
        emit_load_life(program, &capture->lifetimes, true,
                       capture->filter.in_namespace ? shown->foreign : 0, shown->index,
                           TASK_GENERATION);
}

void emit_task_stacks(struct program *program, const struct capture *capture,
                      const struct task_place *shown)
{
    emit_stacks(program, capture, shown->index, false, shown->kernel_stack ? TASK_KERNEL_STACK : 0,
                shown->user_stack ? TASK_USER_STACK : 0);
}

void emit_task(struct program *program, const struct capture *capture,
               const struct task_place *shown)
{
    emit_who(program, capture, shown);
    emit_task_stacks(program, capture, shown);
}

void emit_copy_task(struct program *program, int place)
{
    emit_words(program, R0, place, R8, TASK, sizeof(struct task_stacks));
}

void emit_end(struct program *program, const struct capture *capture)
{
    if (capture->without_idle || filter_asks(&capture->filter) ||
        (capture->condition && capture->condition->count)) {
        EMIT(program,
            JA("out"),
        LABEL("filtered"),
            ACCOUNT(filtered));
    }
    emit_return(program, "out", capture->flags & KEY_TRACEPOINT ? FOR_PERF_TOO : 0);
    if (capture->user_stack && capture->unwind)
        emit_unwind_functions(program, capture->unwind);
}
