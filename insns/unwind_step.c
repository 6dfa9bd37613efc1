/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * unwind_step(index):                                     0, or an end + 1
 *     at = state.exact ? state.pc : state.pc - 1
 *     if (at is not in the last mapping found)
 *         ended = unwind_find(index)
 *     if ((ended || mapping.kind == KEEPS_RECORDS) && unwind_returns(index))
 *         ended = unwind_find(index)                      for the real return address
 *     if (ended)
 *         return ended                                    a frame counts only if it is in code
 *     if (state.count == depth)
 *         return DEPTH + 1
 *     frames[state.count++] = state.pc + (state.exact && !state.first)
 *     if (state.first && state.at_entry)
 *         cfa = sp + 8, state.pc = *(cfa - 8)             or sp, and the link register; the rest is unchanged
 *         goto called
 *     if (mapping.kind == KEEPS_RECORDS)
 *         if (state.exact && !state.frame)
 *             return SENSELESS + 1                        running code that keeps no frame pointers: Java's
 *         if (state.pc and .sp are a call's, and what is at state.pc is a trampoline's)
 *             rule = its own, goto rule known
 *         goto records
 *     if (mapping.kind)
 *         return mapping.kind                             sparse machines: goto records by NO_TABLE, here and below
 *     rule = the one for at + mapping.delta, or return NO_TABLE + 1     r9: see unwind_rule.c
 *
 *     cfa = by the rule, or an end                        r7: see unwind_rule.c
 *     if (cfa <= sp || cfa cannot be one)                 or cfa < sp, if it returns by a register
 *         return SENSELESS + 1
 *     state.pc = *(cfa + rule.ret)                        or the link register, if state.exact; or another's, if
 *                                                         state.first
 * called:
 *     state.frame = by rule.frame_kind                    by a lost register it stays lost
 *     state.base = rule.base is SAME ? state.base : rule.base ? cfa + rule.base : LOST
 *     state.sp = cfa, state.exact = state.first = 0
 *     return state.pc ? 0 : cfa & MISALIGNED ? SENSELESS + 1 : ROOT + 1
 *
 * r6 = index, until the rule is known; r7 = at, offset, cfa; r8 = state; r9 = rule.
 */
#include "insns/unwind.h"

#include "insns/fragments.h"

/*
 * If the kernel has replaced the return address for a probe, goes to the real one. The replacement
 * is the first address of a mapping without a file, so the address looked up, one below, is not
 * mapped or also in a mapping without a file.
 */
static void emit_real_return(struct program *program)
{
    EMIT(program,
        LDX(W, R0, R8, UNWIND_AT(mapping.kind)),
        JNE32_IMM(R0, (int32_t)UNWIND_KEEPS_RECORDS, "unwind_no_probe"),
    LABEL("unwind_outside"),
        MOV_REG(R1, R6),
        CALL_LABEL("unwind_returns"),
        JNE_IMM(R0, 0, "unwind_probed"),
        LDX(DW, R1, R8, UNWIND_AT(mapping.end)),
        JNE_IMM(R1, 0, "unwind_no_probe"),
        RETURN(UNWIND_END_UNMAPPED + 1),
    LABEL("unwind_probed"),
        MOV_REG(R1, R6),
        CALL_LABEL("unwind_find"),
        JNE_IMM(R0, 0, "unwind_step_out"),
        LDX(DW, R7, R8, UNWIND_AT(pc)),
        ADD_IMM(R7, -1),
    LABEL("unwind_no_probe"));
}

/* r7 = the offset in the object; stores the frame. */
static void emit_place(struct program *program, const struct unwind_config *config)
{
    EMIT(program,
        LDX(DW, R7, R8, UNWIND_AT(pc)),
        LDX(W, R1, R8, UNWIND_AT(exact)),
        ADD_REG(R7, R1),
        ADD_IMM(R7, -1),
        LDX(DW, R1, R8, UNWIND_AT(mapping.start)),
        LDX(DW, R2, R8, UNWIND_AT(mapping.end)),
        SUB_REG(R2, R1),
        MOV_REG(R3, R7),
        SUB_REG(R3, R1),
        JLT_REG(R3, R2, "unwind_in_mapping"),
        MOV_REG(R1, R6),
        CALL_LABEL("unwind_find"),
        JNE_IMM(R0, 0, config->fields->returns ? "unwind_outside" : "unwind_step_out"),
    LABEL("unwind_in_mapping"));
    if (config->fields->returns)
        emit_real_return(program);
    EMIT(program,
        MOV_IMM(R0, UNWIND_END_DEPTH + 1),
        LDX(W, R2, R8, UNWIND_AT(count)),
        JGE_IMM(R2, (int32_t)config->depth, "unwind_step_out"),
        MOV_REG(R3, R2),
        LSH_IMM(R3, 3),
        ADD_REG(R3, R8),
        ADD_IMM(R2, 1),
        STX(W, R8, UNWIND_AT(count), R2),
        LDX(DW, R1, R8, UNWIND_AT(pc)),
        LDX(W, R2, R8, UNWIND_AT(exact)),
        ADD_REG(R1, R2),
        LDX(W, R2, R8, UNWIND_AT(first)),
        SUB_REG(R1, R2),
        STX(DW, R3, UNWIND_AT(frames), R1),
        LDX(W, R1, R8, UNWIND_AT(at_entry)),
        AND_REG(R1, R2),
        JNE_IMM(R1, 0, "unwind_entry"),
        LDX(W, R0, R8, UNWIND_AT(mapping.kind)),
        JEQ32_IMM(R0, (int32_t)UNWIND_KEEPS_RECORDS, "unwind_no_file"));
    if (config->machine->walk->is_sparse)
        EMIT(program, JEQ_IMM(R0, UNWIND_END_NO_TABLE + 1, "unwind_records"));
    EMIT(program,
        JNE_IMM(R0, 0, "unwind_step_out"),
        LDX(DW, R1, R8, UNWIND_AT(mapping.delta)),
        ADD_REG(R7, R1));
}

/* Can r7 be a stack pointer? */
static void emit_check_place(struct program *program)
{
    EMIT(program,
        MOV_REG(R1, R7),
        AND_IMM(R1, 7),
        JNE_IMM(R1, 0, "unwind_senseless"),
        MOV_REG(R1, R7),
        RSH_IMM(R1, UNWIND_USER_BITS),
        JNE_IMM(R1, 0, "unwind_senseless"));
}

/* Can r7 be the caller's stack pointer? A function that has saved nothing returns by a register. */
static void emit_check(struct program *program)
{
    EMIT(program,
        LDX(DW, R1, R8, UNWIND_AT(sp)),
        JLT_REG(R7, R1, "unwind_senseless"),
        JNE_REG(R7, R1, "unwind_above"),
        LDX(B, R1, R9, UNWIND_RULE_AT(return_kind)),
        JEQ_IMM(R1, UNWIND_RETURN_AT_CFA, "unwind_senseless"),
    LABEL("unwind_above"));
    emit_check_place(program);
}

/* state.pc = the address in r1, without its signature. */
static void emit_return_to(struct program *program, const struct machine_walk *walk)
{
    if (walk->address)
        EMIT(program,
            LD_IMM64(R2, walk->address),
            AND_REG(R1, R2));
    EMIT(program, STX(DW, R8, UNWIND_AT(pc), R1));
}

/*
 * In code that has made no call yet, the link register is known; in the first frame all others are,
 * too.
 */
static void emit_in_register(struct program *program, const struct machine *machine)
{
    EMIT(program, JEQ_IMM(R1, UNWIND_RETURN_AT_CFA, "unwind_saved"));
    if (machine_has_link(machine))
        EMIT(program,
            JNE_IMM(R1, UNWIND_RETURN_IN_LINK, "unwind_elsewhere"),
            LDX(W, R2, R8, UNWIND_AT(exact)),
            JEQ_IMM(R2, 0, "unwind_unsupported"),
            LDX(DW, R1, R8, UNWIND_WORD_AT(machine->link.word)),
            JA("unwind_returns_by"),
        LABEL("unwind_elsewhere"));
    EMIT(program,
        LDX(W, R2, R8, UNWIND_AT(first)),
        JEQ_IMM(R2, 0, "unwind_unsupported"),
        LDX(H, R1, R9, UNWIND_RULE_AT(ret)),
        JGE_IMM(R1, machine->walk->numbered, "unwind_unsupported"));
    emit_unwind_load_register(program, machine->walk, R1);
    EMIT(program, LABEL("unwind_returns_by"));
    emit_return_to(program, machine->walk);
    EMIT(program,
        JA("unwind_returns_to"),
    LABEL("unwind_saved"));
}

static void emit_base(struct program *program)
{
    EMIT(program,
        LDX(H, R1, R9, UNWIND_RULE_AT(base)),
        JEQ_IMM(R1, UNWIND_BASE_SAME, "unwind_base_known"),
        JEQ_IMM(R1, 0, "unwind_base_lost"),
        UNWIND_SIGNED(R1, 16),
        ADD_REG(R1, R7),
    LABEL("unwind_base_lost"),
        STX(DW, R8, UNWIND_AT(base), R1),
    LABEL("unwind_base_known"));
}

/* The caller's pc and frame pointer, with r7 = the CFA. */
static void emit_caller(struct program *program, const struct machine *machine)
{
    EMIT(program, LDX(B, R1, R9, UNWIND_RULE_AT(return_kind)));
    emit_in_register(program, machine);
    EMIT(program,
        LDX(H, R3, R9, UNWIND_RULE_AT(ret)),
        UNWIND_SIGNED(R3, 16),
        ADD_REG(R3, R7));
    emit_unwind_read(program, UNWIND_AT(pc), "unwind_pc_seen", "unwind_pc_read");
    if (machine->walk->address) {
        EMIT(program, LDX(DW, R1, R8, UNWIND_AT(pc)));
        emit_return_to(program, machine->walk);
    }
    EMIT(program, LABEL("unwind_returns_to"));
    if (machine->walk->base)
        emit_base(program);
    if (machine->walk->sp_unknown)
        EMIT(program, ST(W, R8, UNWIND_AT(sp_lost), 0));
    EMIT(program,
        LDX(H, R3, R9, UNWIND_RULE_AT(frame)),
        UNWIND_SIGNED(R3, 16),
        LDX(B, R1, R9, UNWIND_RULE_AT(frame_kind)),
        JEQ_IMM(R1, UNWIND_FRAME_SAME, "unwind_called"),
        JEQ_IMM(R1, UNWIND_FRAME_AT_CFA, "unwind_frame_at_cfa"),
        JEQ_IMM(R1, UNWIND_FRAME_AT_FRAME, "unwind_frame_at_frame"),
        ST(W, R8, UNWIND_AT(frame_lost), 1),
        JA("unwind_called"),
    LABEL("unwind_frame_at_frame"),
        LDX(W, R1, R8, UNWIND_AT(frame_lost)),
        JNE_IMM(R1, 0, "unwind_called"),
        LDX(DW, R1, R8, UNWIND_AT(frame)),
        ADD_REG(R3, R1),
        JA("unwind_read_frame"),
    LABEL("unwind_frame_at_cfa"),
        ST(W, R8, UNWIND_AT(frame_lost), 0),
        ADD_REG(R3, R7),
    LABEL("unwind_read_frame"));
    emit_unwind_read(program, UNWIND_AT(frame), "unwind_frame_seen", "unwind_frame_read");
    EMIT(program,
    LABEL("unwind_called"),
        ST(W, R8, UNWIND_AT(exact), 0));
}

/*
 * A leaf function has saved the caller's frame pointer where others have the return address, which
 * is still in the link register. r7 = past the record, which is in state.word.
 */
static void emit_leaf_record(struct program *program, const struct machine *machine)
{
    EMIT(program,
        LDX(DW, R1, R8, UNWIND_AT(word[1])),
        LDX(W, R2, R8, UNWIND_AT(exact)),
        JEQ_IMM(R2, 0, "unwind_full_record"),
        MOV_REG(R2, R1),
        SUB_REG(R2, R7),
        JGT_IMM(R2, UNWIND_MOST_STACK_BYTES, "unwind_full_record"),
        STX(DW, R8, UNWIND_AT(word), R1),
        LDX(DW, R1, R8, UNWIND_WORD_AT(machine->link.word)),
        STX(DW, R8, UNWIND_AT(word[1]), R1),
    LABEL("unwind_full_record"));
}

/* r7 = the record, by the frame pointer; if that is 0, there is no caller. */
static void emit_record_place(struct program *program, const struct machine_walk *walk)
{
    emit_unwind_load_frame(program, R7);
    EMIT(program, JEQ_IMM(R7, 0, "unwind_root"));
    if (walk->record)
        EMIT(program, ADD_IMM(R7, walk->record));
}

/*
 * Code that cannot be read is no trampoline: the word is 0 then. The program stores the rule by
 * members, so that it is the same for both byte orders.
 */
static void emit_trampoline(struct program *program, const struct machine_walk *walk)
{
    const struct unwind_rule rule = unwind_trampoline(walk);

    EMIT(program,
        LDX(W, R1, R8, UNWIND_AT(exact)),
        LDX(W, R2, R8, UNWIND_AT(sp_lost)),
        OR_REG(R1, R2),
        JNE_IMM(R1, 0, "unwind_records"),
        ST(DW, R8, UNWIND_AT(word), 0),
        ADDRESS(R1, R8, UNWIND_AT(word)),
        MOV_IMM(R2, walk->trampoline.bytes),
        LDX(DW, R3, R8, UNWIND_AT(pc)),
        CALL(BPF_FUNC_probe_read_user),
        LDX(DW, R1, R8, UNWIND_AT(word)),
        LD_IMM64(R2, walk->trampoline.code),
        JNE_REG(R1, R2, "unwind_records"),
        ST(DW, R8, UNWIND_AT(rule), 0),
        ST(DW, R8, UNWIND_AT(rule.inner), 0),
        ST(B, R8, UNWIND_AT(rule.cfa), rule.cfa),
        ST(B, R8, UNWIND_AT(rule.frame_kind), rule.frame_kind),
        ST(W, R8, UNWIND_AT(rule.offset), rule.offset),
        ST(H, R8, UNWIND_AT(rule.frame), rule.frame),
        ST(H, R8, UNWIND_AT(rule.ret), rule.ret),
        ST(H, R8, UNWIND_AT(rule.base), rule.base),
        JA("unwind_rule_known"));
}

/* The frame pointer leads to the caller's, which is followed by the return address. */
static void emit_records(struct program *program, const struct machine *machine)
{
    const struct machine_walk *walk = machine->walk;

    EMIT(program,
    LABEL("unwind_no_file"),
        LDX(DW, R1, R8, UNWIND_AT(frame)),
        LDX(W, R2, R8, UNWIND_AT(exact)),
        JLT_REG(R1, R2, "unwind_senseless")); /* 0 and exact */
    if (walk->trampoline.code)
        emit_trampoline(program, walk);
    if (walk->is_sparse)
        EMIT(program, LABEL("unwind_no_table"));
    EMIT(program,
    LABEL("unwind_records"));
    emit_record_place(program, walk);
    EMIT(program,
        LDX(DW, R1, R8, UNWIND_AT(sp)),
        JLT_REG(R7, R1, "unwind_senseless"),
        JA("unwind_record"),
    LABEL("unwind_far_record"));
    emit_record_place(program, walk);
    EMIT(program,
    LABEL("unwind_record"),
        ADD_IMM(R7, 16));
    emit_check_place(program);
    EMIT(program, ADDRESS(R3, R7, -16));
    emit_unwind_copy(program, UNWIND_AT(word), 16);
    if (walk->is_sparse)
        emit_leaf_record(program, machine);
    EMIT(program,
        LDX(DW, R1, R8, UNWIND_AT(word)),
        STX(DW, R8, UNWIND_AT(frame), R1),
        LDX(DW, R1, R8, UNWIND_AT(word[1])));
    emit_return_to(program, walk);
    if (walk->base)
        EMIT(program, ST(DW, R8, UNWIND_AT(base), UNWIND_BASE_LOST));
    if (walk->sp_unknown)
        EMIT(program, ST(W, R8, UNWIND_AT(sp_lost), 1));
    EMIT(program, JA("unwind_called"));
}

/* Nothing has been saved yet. */
static void emit_entry(struct program *program, const struct machine *machine)
{
    EMIT(program,
    LABEL("unwind_entry"),
        LDX(DW, R7, R8, UNWIND_AT(sp)));
    if (machine_has_link(machine)) {
        emit_check_place(program);
        EMIT(program, LDX(DW, R1, R8, UNWIND_WORD_AT(machine->link.word)));
        emit_return_to(program, machine->walk);
    } else {
        EMIT(program, ADD_IMM(R7, 8));
        emit_check_place(program);
        EMIT(program, ADDRESS(R3, R7, -8));
        emit_unwind_copy(program, UNWIND_AT(pc), 8);
    }
    EMIT(program, JA("unwind_called"));
}

/* The stack of interrupted code may be anywhere. */
static void emit_signal(struct program *program, const struct machine *machine)
{
    const struct machine_walk *walk = machine->walk;
    const int16_t read = UNWIND_AT(node);

    EMIT(program, LABEL("unwind_signal"));
    if (walk->base)
        EMIT(program,
            ADDRESS(R1, R7, walk->signal.at + UNWIND_SIGNAL_BASE),
            STX(DW, R8, UNWIND_AT(base), R1));
    EMIT(program, ADDRESS(R3, R7, walk->signal.at));
    emit_unwind_copy(program, read, walk->signal.bytes);
    EMIT(program,
        LDX(DW, R1, R8, (int16_t)(read + walk->signal.frame)),
        STX(DW, R8, UNWIND_AT(frame), R1),
        LDX(DW, R7, R8, (int16_t)(read + walk->signal.sp)),
        LDX(DW, R1, R8, (int16_t)(read + walk->signal.pc)),
        STX(DW, R8, UNWIND_AT(pc), R1));
    if (walk->signal.link)
        EMIT(program,
            LDX(DW, R1, R8, (int16_t)(read + walk->signal.link)),
            STX(DW, R8, UNWIND_WORD_AT(machine->link.word), R1));
    EMIT(program,
        ST(W, R8, UNWIND_AT(frame_lost), 0),
        ST(W, R8, UNWIND_AT(exact), 1),
        STX(DW, R8, UNWIND_AT(sp), R7),
        ST(W, R8, UNWIND_AT(first), 0),
        RETURN(0));
}

static void emit_ends(struct program *program, const struct machine_walk *walk)
{
    static const struct {
        const char *label;
        enum unwind_end end;
    } ends[] = {
        {"unwind_root", UNWIND_END_ROOT},
        {"unwind_no_table", UNWIND_END_NO_TABLE},
        {"unwind_unsupported", UNWIND_END_UNSUPPORTED},
        {"unwind_unreadable", UNWIND_END_UNREADABLE},
        {"unwind_senseless", UNWIND_END_SENSELESS},
    };

    EMIT(program,
    LABEL("unwind_returns_to_0"),
        AND_IMM(R7, UNWIND_MISALIGNED),
        JNE_IMM(R7, 0, "unwind_senseless"));
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        if (walk->is_sparse && ends[i].end == UNWIND_END_NO_TABLE)
            continue;
        emit_return(program, ends[i].label, ends[i].end + 1);
    }
    EMIT(program,
    LABEL("unwind_step_out"),
        EXIT());
}

void emit_unwind_step(struct program *program, const struct unwind_config *config)
{
    EMIT(program, FUNCTION("unwind_step"));
    emit_unwind_state(program, config, "unwind_senseless");
    emit_place(program, config);
    emit_unwind_rule(program, config);
    emit_unwind_cfa(program, config);
    emit_check(program);
    emit_caller(program, config->machine);
    EMIT(program,
        STX(DW, R8, UNWIND_AT(sp), R7),
        ST(W, R8, UNWIND_AT(first), 0),
        LDX(DW, R1, R8, UNWIND_AT(pc)),
        JEQ_IMM(R1, 0, "unwind_returns_to_0"),
        RETURN(0));
    emit_records(program, config->machine);
    emit_entry(program, config->machine);
    emit_signal(program, config->machine);
    emit_ends(program, config->machine->walk);
    emit_unwind_reader(program, config);
}

/*
 * If a function's return is probed, the kernel has replaced its return address by one of its own,
 * and keeps the real one:
 *
 * unwind_returns(index):                                  1: state.pc is now the real one
 *     if (state.exact)
 *         return 0
 *     at = state.returns ? state.returns : current->utask->return_instances
 *     for (i = 0; i < MOST_RETURNS && at; i++)            the innermost first, as in our walk
 *         state.node = *at
 *         if (node.stack == state.sp - 8)                 where it was; or sp, for the link register
 *             state.returns = at                          a tail-called function has the same address
 *             state.pc = node.address
 *             return 1
 *         at = node.next
 *     return 0
 *
 * r6 = index, r7 = i, r8 = state, r9 = at.
 */

#define MOST_RETURNS 8 /* longjmp() can leave stale ones in the list; else it is the first */

#define NODE(field) ((int16_t)(UNWIND_AT(node) + (field)))

void emit_unwind_returns(struct program *program, const struct unwind_config *config)
{
    const struct unwind_fields *fields = config->fields;

    EMIT(program, FUNCTION("unwind_returns"));
    emit_unwind_state(program, config, "unwind_no_return");
    EMIT(program,
        LDX(W, R1, R8, UNWIND_AT(exact)),
        JNE_IMM(R1, 0, "unwind_no_return"),
        MOV_IMM(R7, 0),
        LDX(DW, R9, R8, UNWIND_AT(returns)),
        JNE_IMM(R9, 0, "unwind_return"),
        CALL(BPF_FUNC_get_current_task),
        MOV_REG(R9, R0));
    emit_unwind_follow(program, fields->task_utask, 8, "unwind_no_return");
    EMIT(program, JEQ_IMM(R9, 0, "unwind_no_return"));
    emit_unwind_follow(program, fields->utask_returns, 8, "unwind_no_return");
    EMIT(program,
    LABEL("unwind_return"),
        JEQ_IMM(R9, 0, "unwind_no_return"),
        ADDRESS(R1, R8, UNWIND_AT(node)),
        MOV_IMM(R2, UNWIND_RETURN_BYTES),
        MOV_REG(R3, R9),
        CALL(BPF_FUNC_probe_read_kernel),
        JNE_IMM(R0, 0, "unwind_no_return"),
        LDX(DW, R1, R8, NODE(fields->return_stack)),
        ADD_IMM(R1, machine_has_link(config->machine) ? 0 : 8),
        LDX(DW, R2, R8, UNWIND_AT(sp)),
        JEQ_REG(R1, R2, "unwind_returned"),
        LDX(DW, R9, R8, NODE(fields->return_next)),
        ADD_IMM(R7, 1),
        JLT_IMM(R7, MOST_RETURNS, "unwind_return"),
    LABEL("unwind_no_return"),
        RETURN(0),
    LABEL("unwind_returned"),
        STX(DW, R8, UNWIND_AT(returns), R9),
        LDX(DW, R1, R8, NODE(fields->return_address)),
        STX(DW, R8, UNWIND_AT(pc), R1),
        RETURN(1));
}

/*
 * Code without a table may be the start code of the process or the thread: then the stack is whole.
 *
 *     if (current->mm.start_stack - state.sp <= START_BYTES ||
 *             unwind_exits(index) for state.pc, or a word of START_BYTES from state.sp on, as state.from)
 *         ended = ROOT
 *
 * unwind_exits(index):                                    1: the code at state.from ends a thread
 *     return state.from is in this mapping && *state.from == machine.thread_exit
 */

void emit_unwind_first_stack(struct program *program, const struct unwind_config *config)
{
    EMIT(program,
        ST(DW, R8, UNWIND_AT(first_stack), 0),
        ADDRESS(R1, R8, UNWIND_AT(first_stack)),
        MOV_IMM(R2, 8),
        LDX(DW, R3, R8, UNWIND_AT(mm)),
        ADD_IMM(R3, config->fields->mm_first_stack),
        CALL(BPF_FUNC_probe_read_kernel));
}

/* Goes to unwind_started if the code at one of these addresses ends a thread. */
static void emit_thread_exit(struct program *program)
{
    EMIT(program,
        ADDRESS(R1, R8, UNWIND_AT(node)),
        MOV_IMM(R2, UNWIND_START_BYTES),
        LDX(DW, R3, R8, UNWIND_AT(sp)),
        CALL(BPF_FUNC_probe_read_user),
        JNE_IMM(R0, 0, "unwind_ended_so"),
        LDX(DW, R1, R8, UNWIND_AT(pc)),
        STX(DW, R8, UNWIND_AT(node) + UNWIND_START_BYTES, R1),
        MOV_IMM(R7, 0),
    LABEL("unwind_start_word"),
        MOV_REG(R3, R8),
        ADD_REG(R3, R7),
        LDX(DW, R3, R3, UNWIND_AT(node)),
        STX(DW, R8, UNWIND_AT(from), R3),
        MOV_REG(R1, R6),
        CALL_LABEL("unwind_exits"),
        JNE_IMM(R0, 0, "unwind_started"),
        ADD_IMM(R7, 8),
        JLE_IMM(R7, UNWIND_START_BYTES, "unwind_start_word"));
}

void emit_unwind_start_code(struct program *program, const struct unwind_config *config)
{
    emit_unwind_first_stack(program, config);
    EMIT(program,
        LDX(DW, R1, R8, UNWIND_AT(first_stack)),
        LDX(DW, R2, R8, UNWIND_AT(sp)),
        SUB_REG(R1, R2),
        JLE_IMM(R1, UNWIND_START_BYTES, "unwind_started"));
    if (config->machine->walk->thread_exit)
        emit_thread_exit(program);
    EMIT(program,
        JA("unwind_ended_so"),
    LABEL("unwind_started"),
        MOV_IMM(R9, UNWIND_END_ROOT));
}

/* A function of its own, which the verifier checks once instead of once for each word. */
void emit_unwind_exits(struct program *program, const struct unwind_config *config)
{
    EMIT(program, FUNCTION("unwind_exits"));
    emit_unwind_state(program, config, "unwind_no_exit");
    EMIT(program,
        LDX(DW, R3, R8, UNWIND_AT(from)),
        LDX(DW, R1, R8, UNWIND_AT(mapping.start)),
        LDX(DW, R2, R8, UNWIND_AT(mapping.end)),
        JLT_REG(R3, R1, "unwind_no_exit"),
        JGE_REG(R3, R2, "unwind_no_exit"),
        ADDRESS(R1, R8, UNWIND_AT(word)),
        MOV_IMM(R2, 8),
        CALL(BPF_FUNC_probe_read_user),
        JNE_IMM(R0, 0, "unwind_no_exit"),
        MOV_IMM(R0, 1),
        LDX(DW, R1, R8, UNWIND_AT(word)),
        LD_IMM64(R2, config->machine->walk->thread_exit),
        JEQ_REG(R1, R2, "unwind_exit_found"),
    LABEL("unwind_no_exit"),
        MOV_IMM(R0, 0),
    LABEL("unwind_exit_found"),
        EXIT());
}
