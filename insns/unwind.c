/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * unwind_user(at_entry): the index of the state that has the frames
 *     for (index = 0; index < SLOTS_PER_CPU; index++)     unrolled; without `claims` the first one is used
 *         state = states[index]
 *         lock state->users += 1
 *         if (state->users == 1)
 *             goto claimed
 *         lock state->users -= 1
 *     return -EBUSY
 * claimed:
 *     state->at_entry = at_entry
 *     wrong = unwind_walk(index)
 *     if (wrong)
 *         lock state->users -= 1
 *     return wrong ? wrong : index
 *
 * unwind_release(index):                                  how many bytes of frames it had
 *     lock state->users -= 1
 *     return state->bytes
 *
 * unwind_walk(index):
 *     state.walks += 1
 *     state.mm = current->mm
 *     state.registers = *(current->stack + registers)     the user's, at the top of its kernel stack
 *     if (they are not those of 64-bit user code)
 *         return -EFAULT
 *     state.pc, .sp, .frame = those; state.exact = state.first = 1; state.count = 0
 *     for (i = 0; i <= depth; i += SOME)                  in two loops, each of which is verified once
 *         if ((ended = unwind_some(index)))
 *             goto ended
 * ended:
 *     if (ended is NO_TABLE && it is in start code)       see unwind_step.c
 *         ended = ROOT
 *     if (ended is UNMAPPED && there is no frame && the system call is an exec)
 *         ended = EXEC
 *     last = END_FRAME(ended)
 *     if (ended is DEFERRED && !unwind_keep(index))
 *         last = state.number                             the rest is walked later
 *     if (ended is NO_ROOM, or DEFERRED and nothing can be kept)
 *         state.fell_back += 1
 *         return -EAGAIN                                  another walk does what it can
 *     if (count == depth && ended is not ROOT)            unless that depth was asked for
 *         count -= 1                                      the end's frame replaces the last one
 *     if (count < depth)
 *         frames[count++] = last
 *     state.bytes = 8 * count
 *     return 0
 *
 * unwind_some(index):
 *     for (i = 0; i < SOME; i++)
 *         if ((ended = unwind_step(index)))
 *             return ended
 *     return 0
 */
#include "insns/unwind.h"

#include <errno.h>

#include "insns/fragments.h"

#define SOME 16 /* frames */

void emit_unwind_state(struct program *program, const struct unwind_config *config,
                       const char *none)
{
    EMIT(program,
        MOV_REG(R6, R1),
        STX(W, R10, UNWIND_INDEX, R1));
    emit_look_up(program, config->maps.states, UNWIND_INDEX);
    EMIT(program,
        JEQ_IMM(R0, 0, none),
        MOV_REG(R8, R0));
}

static void emit_users(struct program *program, int32_t add)
{
    EMIT(program, XADD_IMM(R8, UNWIND_AT(users), add));
}

static void emit_user(struct program *program, const struct unwind_config *config)
{
    EMIT(program,
    FUNCTION("unwind_user"),
        MOV_REG(R7, R1));
    for (int index = 0; index < (config->claims ? SLOTS_PER_CPU : 1); index++) {
        EMIT(program, MOV_IMM(R1, index));
        emit_unwind_state(program, config, "unwind_busy");
        if (!config->claims)
            break;
        emit_users(program, 1);
        EMIT(program,
            LDX(DW, R1, R8, UNWIND_AT(users)),
            JEQ_IMM(R1, 1, "unwind_claimed"));
        emit_users(program, -1);
    }
    if (config->claims)
        EMIT(program, JA("unwind_busy"));
    EMIT(program,
    LABEL("unwind_claimed"),
        STX(W, R8, UNWIND_AT(at_entry), R7),
        MOV_REG(R1, R6),
        CALL_LABEL("unwind_walk"),
        JEQ_IMM(R0, 0, "unwind_user_walked"));
    if (config->claims)
        emit_users(program, -1);
    EMIT(program,
        EXIT(),
    LABEL("unwind_user_walked"),
        MOV_REG(R0, R6),
        EXIT());
    emit_return(program, "unwind_busy", -EBUSY);
}

static void emit_release(struct program *program, const struct unwind_config *config)
{
    EMIT(program, FUNCTION("unwind_release"));
    emit_unwind_state(program, config, "unwind_released");
    EMIT(program, LDX(DW, R0, R8, UNWIND_AT(bytes)));
    if (config->claims)
        emit_users(program, -1);
    EMIT(program,
    LABEL("unwind_released"),
        EXIT());
}

void emit_unwind_peek(struct program *program, int16_t to, int32_t bytes, int32_t offset,
                      const char *failed)
{
    EMIT(program,
        ADDRESS(R1, R8, to),
        MOV_IMM(R2, bytes),
        ADDRESS(R3, R9, offset),
        CALL(BPF_FUNC_probe_read_kernel),
        JNE_IMM(R0, 0, failed));
}

static void emit_task_word(struct program *program, int32_t offset, int16_t to)
{
    emit_unwind_peek(program, to, 8, offset, "unwind_nobody");
}

/* An earlier walk's mappings do not apply to this one. */
static void emit_no_mappings(struct program *program)
{
    EMIT(program,
        ST(DW, R8, UNWIND_AT(mapping.start), 0),
        ST(DW, R8, UNWIND_AT(mapping.end), 0),
        ST(DW, R8, UNWIND_AT(other.start), 0),
        ST(DW, R8, UNWIND_AT(other.end), 0));
}

/* Goes to unwind_nobody if the registers are not from 64-bit user code. */
static void emit_mode(struct program *program, const struct machine_walk *walk)
{
    EMIT(program, LDX(DW, R1, R8, UNWIND_WORD_AT(walk->mode.word)));
    if (~walk->mode.bits)
        EMIT(program, AND_IMM(R1, (int32_t)walk->mode.bits));
    EMIT(program, JNE_IMM(R1, (int32_t)walk->mode.value, "unwind_nobody"));
}

/* state.mm and .registers, of the current thread. */
static void emit_registers(struct program *program, const struct unwind_config *config)
{
    const struct unwind_fields *fields = config->fields;
    const struct machine *machine = config->machine;

    EMIT(program,
        CALL(BPF_FUNC_get_current_task),
        MOV_REG(R9, R0));
    emit_task_word(program, fields->task_mm, UNWIND_AT(mm));
    EMIT(program,
        LDX(DW, R1, R8, UNWIND_AT(mm)),
        JEQ_IMM(R1, 0, "unwind_nobody"));
    emit_task_word(program, fields->task_stack, UNWIND_AT(word));
    EMIT(program,
        ADDRESS(R1, R8, UNWIND_AT(registers)),
        MOV_IMM(R2, machine->walk->registers * 8),
        LDX(DW, R3, R8, UNWIND_AT(word)),
        ADD_IMM(R3, (int32_t)fields->registers),
        CALL(BPF_FUNC_probe_read_kernel),
        JNE_IMM(R0, 0, "unwind_nobody"));
    emit_mode(program, machine->walk);
    EMIT(program,
        LDX(DW, R1, R8, UNWIND_WORD_AT(machine->pc.word)),
        JEQ_IMM(R1, 0, "unwind_nobody"),
        STX(DW, R8, UNWIND_AT(pc), R1),
        LDX(DW, R1, R8, UNWIND_WORD_AT(machine->sp.word)),
        STX(DW, R8, UNWIND_AT(sp), R1),
        LDX(DW, R1, R8, UNWIND_WORD_AT(machine->frame.word)),
        STX(DW, R8, UNWIND_AT(frame), R1),
        ST(W, R8, UNWIND_AT(count), 0),
        ST(W, R8, UNWIND_AT(exact), 1),
        ST(W, R8, UNWIND_AT(first), 1),
        ST(W, R8, UNWIND_AT(frame_lost), 0),
        ST(W, R8, UNWIND_AT(sp_lost), 0),
        ST(DW, R8, UNWIND_AT(base), UNWIND_BASE_IN_REGISTERS),
        ST(DW, R8, UNWIND_AT(returns), 0),
        LD_IMM64(R1, UNWIND_NO_WINDOW),
        STX(DW, R8, UNWIND_AT(window_start), R1));
    emit_no_mappings(program);
}

/* r9 = the frame for the end of the walk: after the frames, unless it is complete. */
static void emit_last_frame(struct program *program, const struct unwind_config *config)
{
    EMIT(program,
        LDX(W, R2, R8, UNWIND_AT(count)),
        JLT_IMM(R2, (int32_t)config->depth, "unwind_has_room"));
    if (config->asked)
        EMIT(program, JA("unwind_full"));
    else
        EMIT(program,
            LD_IMM64(R1, UNWIND_END_FRAME(UNWIND_END_ROOT)),
            JEQ_REG(R9, R1, "unwind_full"),
            MOV_IMM(R2, (int32_t)config->depth - 1));
    EMIT(program,
    LABEL("unwind_has_room"),
        MOV_REG(R3, R2),
        LSH_IMM(R3, 3),
        ADD_REG(R3, R8),
        STX(DW, R3, UNWIND_AT(frames), R9),
        ADD_IMM(R2, 1),
    LABEL("unwind_full"),
        LSH_IMM(R2, 3),
        STX(DW, R8, UNWIND_AT(bytes), R2),
        RETURN(0));
}

/* During exec the registers are still those of the old program. */
static void emit_exec(struct program *program, const struct machine_walk *walk)
{
    EMIT(program,
        JNE_IMM(R9, UNWIND_END_UNMAPPED, "unwind_no_exec"),
        LDX(W, R1, R8, UNWIND_AT(count)),
        JNE_IMM(R1, 0, "unwind_no_exec"),
        LDX(DW, R1, R8, UNWIND_WORD_AT(walk->call)),
        JEQ_IMM(R1, walk->execs[0], "unwind_exec"),
        JNE_IMM(R1, walk->execs[1], "unwind_no_exec"),
    LABEL("unwind_exec"),
        MOV_IMM(R9, UNWIND_END_EXEC),
    LABEL("unwind_no_exec"));
}

static void emit_loop(struct program *program, const struct unwind_config *config)
{
    EMIT(program, FUNCTION("unwind_walk"));
    emit_unwind_state(program, config, "unwind_nobody");
    EMIT(program, UNWIND_COUNT(counts.walks));
    emit_registers(program, config);
    EMIT(program,
        MOV_IMM(R7, 0),
    LABEL("unwind_frame"),
        MOV_REG(R1, R6),
        CALL_LABEL("unwind_some"),
        JNE_IMM(R0, 0, "unwind_ended"),
        ADD_IMM(R7, SOME),
        JLE_IMM(R7, (int32_t)config->depth, "unwind_frame"),
        MOV_IMM(R0, UNWIND_END_DEPTH + 1),
    LABEL("unwind_ended"),
        MOV_REG(R9, R0),
        ADD_IMM(R9, -1),
        AND_IMM(R9, 0xff),
        JNE_IMM(R9, UNWIND_END_NO_TABLE, "unwind_ended_so"));
    emit_unwind_start_code(program, config);
    EMIT(program,
    LABEL("unwind_ended_so"),
        JEQ_IMM(R9, UNWIND_END_NO_ROOM, "unwind_no_room"));
    emit_exec(program, config->machine->walk);
    if (config->maps.deferred < 0)
        EMIT(program, JEQ_IMM(R9, UNWIND_END_DEFERRED, "unwind_no_room"));
    else
        EMIT(program,
            JNE_IMM(R9, UNWIND_END_DEFERRED, "unwind_known_end"),
            MOV_REG(R1, R6),
            CALL_LABEL("unwind_keep"),
            JNE_IMM(R0, 0, "unwind_known_end"),
            LDX(DW, R9, R8, UNWIND_AT(number)),
            JA("unwind_end_frame"));
    EMIT(program,
    LABEL("unwind_known_end"),
        LD_IMM64(R1, UNWIND_END_FRAME(0)),
        OR_REG(R9, R1),
    LABEL("unwind_end_frame"));
    emit_last_frame(program, config);
    EMIT(program,
    LABEL("unwind_no_room"),
        UNWIND_COUNT(counts.fell_back),
        RETURN(-EAGAIN));
    emit_return(program, "unwind_nobody", -EFAULT);
}

static void emit_some(struct program *program)
{
    EMIT(program,
    FUNCTION("unwind_some"),
        MOV_REG(R6, R1),
        MOV_IMM(R7, 0),
    LABEL("unwind_next"),
        MOV_REG(R1, R6),
        CALL_LABEL("unwind_step"),
        JNE_IMM(R0, 0, "unwind_some_done"),
        ADD_IMM(R7, 1),
        JLT_IMM(R7, SOME, "unwind_next"),
    LABEL("unwind_some_done"),
        EXIT());
}

void emit_unwind_functions(struct program *program, const struct unwind_config *config)
{
    if (config->first_alone)
        return;
    program_name_map(program, config->maps.states, "walks");
    program_name_map(program, config->maps.objects, "objects");
    program_name_map(program, config->maps.chunks, "chunks");
    program_name_map(program, config->maps.cache, "rules");
    if (config->maps.deferred >= 0)
        program_name_map(program, config->maps.deferred, "cold");
    emit_user(program, config);
    emit_release(program, config);
    emit_loop(program, config);
    if (config->machine->walk->thread_exit)
        emit_unwind_exits(program, config);
    emit_some(program);
    emit_unwind_step(program, config);
    if (config->fields->returns)
        emit_unwind_returns(program, config);
    emit_unwind_find(program, config);
    if (config->maps.deferred >= 0)
        emit_unwind_keep(program, config);
}

void emit_unwind_key(struct program *program, const struct unwind_config *config)
{
    EMIT(program,
        MOV_REG(R7, R1),
        MOV_IMM(R1, 0));
    emit_unwind_state(program, config, "unwind_nobody");
    EMIT(program,
        CALL(BPF_FUNC_get_current_task),
        MOV_REG(R9, R0));
    emit_task_word(program, config->fields->task_mm, UNWIND_AT(mm));
    EMIT(program,
        LDX(DW, R1, R7, 0),
        STX(DW, R8, UNWIND_AT(pc), R1),
        ST(W, R8, UNWIND_AT(exact), 1));
    emit_no_mappings(program);
    EMIT(program,
        MOV_IMM(R1, 0),
        CALL_LABEL("unwind_find"),
        RETURN(0));
    emit_return(program, "unwind_nobody", 0);
    emit_unwind_find(program, config);
}

void emit_unwind(struct program *program, const struct unwind_config *config,
                 const struct unwind_place *place)
{
    EMIT(program,
        MOV_IMM(R1, place->at_entry),
        CALL_LABEL("unwind_user"),
        JSLT_IMM(R0, 0, place->done),
        STX(W, R10, place->index, R0));
    emit_look_up(program, config->maps.states, place->index);
    EMIT(program,
        JEQ_IMM(R0, 0, place->failed),
        LDX(DW, R2, R0, UNWIND_AT(bytes)),
        JGT_IMM(R2, (int32_t)(config->depth * 8), place->failed),
        ADDRESS(R1, R8, place->frames),
        ADDRESS(R3, R0, UNWIND_AT(frames)),
        CALL(BPF_FUNC_probe_read_kernel),
        LDX(W, R1, R10, place->index),
        CALL_LABEL("unwind_release"),
        JLE_IMM(R0, (int32_t)(config->depth * 8), place->done), /* unchanged, for the verifier */
    LABEL(place->failed),
        MOV_IMM(R0, -EFAULT),
    LABEL(place->done));
}
