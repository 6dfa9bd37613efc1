/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * If the next frame is in an object that has no table yet, this keeps the state of the walk, and the rest of the
 * stack as far as it can be read, for a walk in C once there is a table (src/unwind/cold.h).
 *
 * unwind_keep(index):
 *     state.time = now
 *     state.pid, .tid = the current thread's; state.first_stack
 *     if (it is outside the pid namespace)
 *         goto lost                                       its mappings are unknown to us
 *     state.number = COLD_FRAME(++state.serial, cpu, index)
 *     least = MOST                                        r9: for threads; or up to where the process began:
 *     if (state.first_stack + START_BYTES - state.sp < MOST)
 *         least = that
 *     for (bytes = 0; bytes < least; bytes = the rest of that page, then page by page)      r7
 *         if (state.sp + bytes cannot be read)
 *             goto counted
 *     bytes = least
 * counted:
 *     for room of 32, 8 and 2 KB, downwards from the smallest that is enough
 *         if ((record = reserve(cold, room)))             r9; r6 = room
 *             goto fill
 * lost:
 *     state.not_kept += 1
 *     return 1
 * fill:
 *     copy the state to the record
 *     record->kept = min(bytes, room), or 0 if they cannot be copied
 *     submit(record), without a wakeup
 *     return 0
 *
 * Reading many pages at once fails if one of them cannot be read. Most stacks are small, which is found out
 * first: taking less of the buffer leaves room for others.
 */
#include "insns/unwind.h"

#include "base/util.h"

/* A frame's number, lowest bits first: the state's, the CPU's, the serial number. */
#define PLACE -16 /* of 8 bytes, on the stack */
#define CPU_SHIFT 3
#define SERIAL_SHIFT 19 /* 2^37 of each: no run counts further */
_Static_assert(SLOTS_PER_CPU == 1 << CPU_SHIFT, "each index has its number");
#define MOST_PAGES (UNWIND_MOST_KEPT / UNWIND_PAGE_BYTES + 1) /* the first may be partial */

static void emit_whose(struct program *program, const struct unwind_wishes *wishes)
{
    EMIT(program,
        CALL(BPF_FUNC_ktime_get_ns),
        STX(DW, R8, UNWIND_AT(time), R0));
    if (!wishes->in_namespace) {
        EMIT(program,
            CALL(BPF_FUNC_get_current_pid_tgid),
            STX(DW, R8, UNWIND_AT(tid), R0));
        return;
    }
    EMIT(program,
        LD_IMM64(R1, wishes->namespace_device),
        LD_IMM64(R2, wishes->namespace_inode),
        MOV_REG(R3, R8),
        ADD_IMM(R3, UNWIND_AT(tid)),
        MOV_IMM(R4, 8),
        CALL(BPF_FUNC_get_ns_current_pid_tgid));
    if (!wishes->numbers) {
        EMIT(program, JNE_IMM(R0, 0, "unwind_lost"));
        return;
    }
    EMIT(program, JEQ_IMM(R0, 0, "unwind_whose"));
    emit_load_numbers(program, wishes->numbers, PLACE, "unwind_lost");
    EMIT(program,
        STX(DW, R8, UNWIND_AT(tid), R7),
    LABEL("unwind_whose"));
}

static void emit_number(struct program *program)
{
    EMIT(program,
        CALL(BPF_FUNC_get_smp_processor_id),
        LSH_IMM(R0, CPU_SHIFT),
        OR_REG(R0, R6),
        LDX(DW, R1, R8, UNWIND_AT(serial)),
        ADD_IMM(R1, 1),
        STX(DW, R8, UNWIND_AT(serial), R1),
        LSH_IMM(R1, SERIAL_SHIFT),
        OR_REG(R0, R1),
        LD_IMM64(R1, UNWIND_COLD_FRAME(0)),
        OR_REG(R0, R1),
        STX(DW, R8, UNWIND_AT(number), R0));
}

/* r7 = how many bytes to keep. */
static void emit_count_bytes(struct program *program)
{
    EMIT(program,
        LDX(DW, R9, R8, UNWIND_AT(first_stack)),
        LDX(DW, R1, R8, UNWIND_AT(sp)),
        SUB_REG(R9, R1),
        ADD_IMM(R9, UNWIND_START_BYTES),
        JLE_IMM(R9, UNWIND_MOST_KEPT, "unwind_least"),
        MOV_IMM(R9, UNWIND_MOST_KEPT),
    LABEL("unwind_least"),
        ST(DW, R8, UNWIND_AT(kept), 0),
        MOV_IMM(R7, 0),
    LABEL("unwind_page"),
        MOV_REG(R1, R8),
        ADD_IMM(R1, UNWIND_AT(word)),
        MOV_IMM(R2, 8),
        LDX(DW, R3, R8, UNWIND_AT(sp)),
        LDX(DW, R0, R8, UNWIND_AT(kept)),
        ADD_REG(R3, R0),
        CALL(BPF_FUNC_probe_read_user),
        JNE_IMM(R0, 0, "unwind_counted"),
        LDX(DW, R2, R8, UNWIND_AT(sp)),
        LDX(DW, R1, R8, UNWIND_AT(kept)),
        ADD_REG(R1, R2),
        OR_IMM(R1, UNWIND_PAGE_BYTES - 1),
        ADD_IMM(R1, 1),
        SUB_REG(R1, R2),
        STX(DW, R8, UNWIND_AT(kept), R1),
        JGE_REG(R1, R9, "unwind_enough"),
        ADD_IMM(R7, 1),
        JLT_IMM(R7, MOST_PAGES, "unwind_page"),
    LABEL("unwind_enough"),
        STX(DW, R8, UNWIND_AT(kept), R9),
    LABEL("unwind_counted"),
        LDX(DW, R7, R8, UNWIND_AT(kept)));
}

/* Goes to unwind_fill with a record at r9 that has room for r6 bytes of the stack. */
static void emit_reserve(struct program *program, const struct unwind_wishes *wishes)
{
    static const char *const less[] = {"unwind_8_kb", "unwind_2_kb"};

    for (size_t i = 0; i <= COUNT_OF(less); i++) {
        const int32_t room = UNWIND_MOST_KEPT / (1 << 2 * i);
        if (i < COUNT_OF(less))
            EMIT(program, JLE_IMM(R7, room / 4, less[i]));
        EMIT(program,
            LOAD_MAP(R1, wishes->maps.cold),
            MOV_IMM(R2, (int32_t)UNWIND_RECORD_BYTES(room)),
            MOV_IMM(R3, 0),
            MOV_IMM(R6, room),
            CALL(BPF_FUNC_ringbuf_reserve),
            JNE_IMM(R0, 0, "unwind_fill"));
        if (i < COUNT_OF(less))
            EMIT(program, LABEL(less[i]));
    }
}

static void emit_fill(struct program *program)
{
    EMIT(program,
    LABEL("unwind_fill"),
        MOV_REG(R9, R0),
        JLE_REG(R7, R6, "unwind_fits"),
        MOV_REG(R7, R6),
    LABEL("unwind_fits"),
        STX(DW, R8, UNWIND_AT(kept), R7),
        MOV_REG(R1, R9),
        MOV_IMM(R2, UNWIND_KEPT_HEAD),
        MOV_REG(R3, R8),
        CALL(BPF_FUNC_probe_read_kernel),
        MOV_REG(R1, R9),
        ADD_IMM(R1, UNWIND_KEPT_HEAD),
        MOV_REG(R2, R7),
        LDX(DW, R3, R8, UNWIND_AT(sp)),
        CALL(BPF_FUNC_probe_read_user),
        JEQ_IMM(R0, 0, "unwind_filled"),
        ST(DW, R9, UNWIND_AT(kept), 0),
    LABEL("unwind_filled"),
        MOV_REG(R1, R9),
        MOV_IMM(R2, BPF_RB_NO_WAKEUP),
        CALL(BPF_FUNC_ringbuf_submit),
        MOV_IMM(R0, 0),
        EXIT());
}

void emit_unwind_keep(struct program *program, const struct unwind_wishes *wishes)
{
    EMIT(program, FUNCTION("unwind_keep"));
    emit_unwind_state(program, wishes, "unwind_no_state");
    emit_whose(program, wishes);
    emit_unwind_first_stack(program, wishes);
    emit_number(program);
    emit_count_bytes(program);
    emit_reserve(program, wishes);
    EMIT(program,
    LABEL("unwind_lost"),
        LDX(DW, R1, R8, UNWIND_AT(counts.not_kept)),
        ADD_IMM(R1, 1),
        STX(DW, R8, UNWIND_AT(counts.not_kept), R1),
    LABEL("unwind_no_state"),
        MOV_IMM(R0, 1),
        EXIT());
    emit_fill(program);
}
