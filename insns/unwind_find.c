/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * unwind_find(index):
 *     state.at = state.exact ? state.pc : state.pc - 1
 *     if (it is in state.other)
 *         swap(state.mapping, state.other), return 0
 *     if (state.mapping is valid)
 *         state.other = state.mapping
 *     twice:                                              the tree may change meanwhile: then again
 *         state.entry = the root of mm's tree
 *         while (!(found = unwind_level(index)))          at most as often as such a tree is deep
 *         if (found == 1)
 *             goto found
 *     state.mapping is invalid
 *     return UNMAPPED + 1
 * found:                                                  state.node is a copy of the mapping
 *     if (!(node.flags & EXEC))                           except if any mapping will do
 *         state.mapping is invalid, return UNMAPPED + 1
 *     mapping.start, .end = node.start, .end              the state's mapping
 *     mapping.delta = (node.page << page_bits) - start
 *     state.key = {0}
 *     if (node.file)
 *         inode = node.file->inode
 *         state.key = {inode->super->device, inode->number, inode->generation, inode->written}
 *     else if (start == mm->vdso)
 *         mapping.delta = -start
 *     else
 *         mapping.kind = KEEPS_RECORDS, return 0
 *     mapping.kind = DEFERRED + 1
 *     if ((object = lookup(objects, &state.key)))
 *         mapping.object = *object, mapping.kind = object->kind
 *     return 0
 *
 * The program reads the kernel's own tree without its lock: probe_read_kernel checks every read,
 * and a mapping counts only if its own bounds hold the address.
 *
 * unwind_level(index):                                    0: one level down; 1: found; 2: not there
 *     red-black, below 6.1:
 *         if (!state.entry)
 *             return 2
 *         copy the mapping around it
 *         if (at >= end)         state.entry = right, return 0
 *         else if (at < start)   state.entry = left, return 0
 *         return 1
 *
 *     maple:                                              the root is a node if entry & 3 == 2
 *         copy the node at entry & ~255
 *         last = the number of its last slot
 *         slot = the first whose pivot >= at, or the last
 *         state.entry = slots[slot]
 *         if (its type >= 2)                              otherwise its slots are mappings
 *             return 0
 *     mapping:
 *         copy the mapping at state.entry
 *         return start <= at && at < end ? 1 : 2
 *
 * r6 = index, r7 = at, r8 = state, r9 = node or entry.
 */
#include "base/util.h"
#include "insns/fragments.h"
#include "insns/unwind.h"

#define MOST_LEVELS 40       /* for a red-black tree of 65530 mappings: 32 */
#define MOST_MAPLE_LEVELS 8  /* for a maple tree of that many: 5 */
#define TRIES 2

#define VM_EXEC 4

/* A maple tree's node; its address has the type in four bits from the third on. */
#define MAPLE_ADDRESS (-256)
#define MAPLE_PIVOTS 8
#define MAPLE_INNER 2        /* and above: its slots are nodes */
#define MAPLE_ARANGE 3       /* of inner nodes, with gaps: */
#define ARANGE_SLOTS 80
#define ARANGE_END 240       /* the byte with the number of its last slot */
#define RANGE_SLOTS 128
#define RANGE_LAST_PIVOT 120 /* 0: use that byte, otherwise the node is full */
#define RANGE_END 248
#define RANGE_FULL 15

enum {
    NODE = UNWIND_AT(node),
    TYPE = -16, /* on the stack */
    INODE = -16,
    TRY = -24,
};

/* What unwind_level() returns. */
enum {
    LEVEL_DOWN,
    LEVEL_FOUND,
    LEVEL_NOWHERE,
};

/* state.node = the bytes at r9 + before; goes to `failed` if they cannot be read. */
static void emit_copy(struct program *program, int32_t before, const char *failed)
{
    emit_unwind_peek(program, NODE, UNWIND_NODE_BYTES, before, failed);
}

void emit_unwind_follow(struct program *program, int32_t offset, int32_t bytes, const char *failed)
{
    EMIT(program, ST(DW, R8, UNWIND_AT(word), 0));
    emit_unwind_peek(program, UNWIND_AT(word), bytes, offset, failed);
    EMIT(program, LDX(DW, R9, R8, UNWIND_AT(word)));
}

static void emit_red_black(struct program *program, const struct unwind_fields *fields)
{
    const int16_t start = (int16_t)(NODE + fields->vma_start),
        end = (int16_t)(NODE + fields->vma_end);
    const int16_t right = (int16_t)(NODE + fields->vma_node + 8);
    const int16_t left = (int16_t)(NODE + fields->vma_node + 16);

    EMIT(program, JEQ_IMM(R9, 0, "unwind_nowhere"));
    emit_copy(program, -(int32_t)fields->vma_node, "unwind_nowhere");
    EMIT(program,
        LDX(DW, R9, R8, right),
        LDX(DW, R1, R8, end),
        JGE_REG(R7, R1, "unwind_down"),
        LDX(DW, R9, R8, left),
        LDX(DW, R1, R8, start),
        JLT_REG(R7, R1, "unwind_down"),
        RETURN(LEVEL_FOUND));
}

/* r5 = where slots are in the state, r4 = 8 times the number of the last one. */
static void emit_maple_shape(struct program *program)
{
    EMIT(program,
        MOV_REG(R0, R9),
        RSH_IMM(R0, 3),
        AND_IMM(R0, 15),
        STX(DW, R10, TYPE, R0),
        AND_IMM(R9, MAPLE_ADDRESS));
    emit_copy(program, 0, "unwind_nowhere");
    EMIT(program,
        MOV_REG(R5, R8),
        LDX(DW, R0, R10, TYPE),
        JEQ_IMM(R0, MAPLE_ARANGE, "unwind_arange"),
        ADD_IMM(R5, RANGE_SLOTS),
        MOV_IMM(R4, RANGE_FULL * 8),
        LDX(DW, R1, R8, NODE + RANGE_LAST_PIVOT),
        JNE_IMM(R1, 0, "unwind_shaped"),
        LDX(B, R4, R8, NODE + RANGE_END),
        LSH_IMM(R4, 3),
        JA("unwind_shaped"),
    LABEL("unwind_arange"),
        ADD_IMM(R5, ARANGE_SLOTS),
        LDX(B, R4, R8, NODE + ARANGE_END),
        LSH_IMM(R4, 3),
    LABEL("unwind_shaped"));
}

static void emit_maple(struct program *program, const struct unwind_fields *fields)
{
    EMIT(program,
        LDX(W, R1, R8, UNWIND_AT(is_root)),
        ST(W, R8, UNWIND_AT(is_root), 0),
        JEQ_IMM(R1, 0, "unwind_node"),
        MOV_REG(R1, R9),
        AND_IMM(R1, 3),
        JNE_IMM(R1, 2, "unwind_mapping"),
    LABEL("unwind_node"));
    emit_maple_shape(program);
    EMIT(program,
        MOV_REG(R2, R8),
        MOV_IMM(R3, 0),
    LABEL("unwind_pivot"),
        JGE_REG(R3, R4, "unwind_slot"),
        LDX(DW, R1, R2, NODE + MAPLE_PIVOTS),
        JGE_REG(R1, R7, "unwind_slot"),
        ADD_IMM(R2, 8),
        ADD_IMM(R5, 8),
        ADD_IMM(R3, 8),
        JLT_IMM(R3, RANGE_FULL * 8, "unwind_pivot"),
    LABEL("unwind_slot"),
        LDX(DW, R9, R5, NODE),
        LDX(DW, R0, R10, TYPE),
        JGE_IMM(R0, MAPLE_INNER, "unwind_down"),
    LABEL("unwind_mapping"),
        JEQ_IMM(R9, 0, "unwind_nowhere"));
    emit_copy(program, 0, "unwind_nowhere");
    EMIT(program,
        LDX(DW, R1, R8, (int16_t)(NODE + fields->vma_start)),
        JLT_REG(R7, R1, "unwind_nowhere"),
        LDX(DW, R1, R8, (int16_t)(NODE + fields->vma_end)),
        JGE_REG(R7, R1, "unwind_nowhere"),
        RETURN(LEVEL_FOUND));
}

static void emit_level(struct program *program, const struct unwind_config *config)
{
    EMIT(program, FUNCTION("unwind_level"));
    emit_unwind_state(program, config, "unwind_nowhere");
    EMIT(program,
        LDX(DW, R7, R8, UNWIND_AT(at)),
        LDX(DW, R9, R8, UNWIND_AT(entry)));
    if (config->fields->maple)
        emit_maple(program, config->fields);
    else
        emit_red_black(program, config->fields);
    EMIT(program,
    LABEL("unwind_down"),
        STX(DW, R8, UNWIND_AT(entry), R9),
        RETURN(LEVEL_DOWN));
    emit_return(program, "unwind_nowhere", LEVEL_NOWHERE);
}

/*
 * Swaps back to the previous mapping if it holds the address, as when a library calls back and
 * returns. Otherwise `mapping` becomes `other`.
 */
static void emit_other(struct program *program)
{
    EMIT(program,
        LDX(DW, R1, R8, UNWIND_AT(other.start)),
        LDX(DW, R2, R8, UNWIND_AT(other.end)),
        SUB_REG(R2, R1),
        SUB_REG(R7, R1),
        JLT_REG(R7, R2, "unwind_back"),
        LDX(DW, R1, R8, UNWIND_AT(mapping.end)),
        JEQ_IMM(R1, 0, "unwind_search"));
    emit_words(program, R8, UNWIND_AT(other), R8, UNWIND_AT(mapping),
               sizeof(struct unwind_mapping));
    EMIT(program,
        JA("unwind_search"),
    LABEL("unwind_back"));
    for (int16_t at = 0; at < (int16_t)sizeof(struct unwind_mapping); at += 8)
        EMIT(program,
            LDX(DW, R1, R8, UNWIND_AT(mapping) + at),
            LDX(DW, R2, R8, UNWIND_AT(other) + at),
            STX(DW, R8, UNWIND_AT(other) + at, R1),
            STX(DW, R8, UNWIND_AT(mapping) + at, R2));
    EMIT(program,
        RETURN(0),
    LABEL("unwind_search"));
}

/* Goes to unwind_mapped with a copy of r7's mapping. */
static void emit_search(struct program *program, const struct unwind_config *config)
{
    const struct unwind_fields *fields = config->fields;

    EMIT(program,
        ST(DW, R10, TRY, 0),
    LABEL("unwind_try"),
        LDX(DW, R9, R8, UNWIND_AT(mm)));
    emit_unwind_follow(program, fields->mm_tree, 8, "unwind_unmapped");
    EMIT(program,
        STX(DW, R8, UNWIND_AT(entry), R9),
        ST(W, R8, UNWIND_AT(is_root), 1),
        MOV_IMM(R7, 0),
    LABEL("unwind_next_level"),
        MOV_REG(R1, R6),
        CALL_LABEL("unwind_level"),
        JEQ_IMM(R0, LEVEL_FOUND, "unwind_mapped"),
        JNE_IMM(R0, LEVEL_DOWN, "unwind_again"),
        ADD_IMM(R7, 1),
        JLT_IMM(R7, fields->maple ? MOST_MAPLE_LEVELS : MOST_LEVELS, "unwind_next_level"),
    LABEL("unwind_again"),
        LDX(DW, R1, R10, TRY),
        ADD_IMM(R1, 1),
        STX(DW, R10, TRY, R1),
        JLT_IMM(R1, TRIES, "unwind_try"),
    LABEL("unwind_unmapped"),
        ST(DW, R8, UNWIND_AT(mapping.start), 0),
        ST(DW, R8, UNWIND_AT(mapping.end), 0));
    emit_return(program, "unwind_not_found", UNWIND_END_UNMAPPED + 1);
    EMIT(program, LABEL("unwind_mapped"));
}

static void emit_key(struct program *program, const struct unwind_fields *fields)
{
    const int inode = NODE - fields->inode_super; /* as if its copy began at offset 0 */
    const int16_t number = (int16_t)(inode + fields->inode_number),
        written = (int16_t)(inode + fields->inode_written),
        written_ns = (int16_t)(inode + fields->inode_written_ns);

    emit_unwind_follow(program, fields->file_inode, 8, "unwind_unmapped");
    EMIT(program, STX(DW, R10, INODE, R9));
    emit_unwind_peek(program, NODE, UNWIND_INODE_BYTES, fields->inode_super, "unwind_unmapped");
    if (fields->wide_number)
        EMIT(program, LDX(DW, R1, R8, number));
    else
        EMIT(program, LDX(W, R1, R8, number));
    EMIT(program,
        STX(DW, R8, UNWIND_AT(key.inode), R1),
        LDX(DW, R1, R8, written),
        MUL_IMM(R1, 1000000000),
        LDX(W, R2, R8, written_ns),
        ADD_REG(R1, R2),
        STX(W, R8, UNWIND_AT(key.written), R1),
        LDX(DW, R9, R8, NODE));
    emit_unwind_follow(program, fields->super_device, 4, "unwind_unmapped");
    EMIT(program,
        STX(DW, R8, UNWIND_AT(key.device), R9),
        LDX(DW, R9, R10, INODE));
    emit_unwind_follow(program, fields->inode_generation, 4, "unwind_unmapped");
    EMIT(program, STX(W, R8, UNWIND_AT(key.generation), R9));
}

static void emit_place(struct program *program, const struct unwind_config *config)
{
    const struct unwind_fields *fields = config->fields;

    if (!config->readable)
        EMIT(program,
            LDX(DW, R1, R8, (int16_t)(NODE + fields->vma_flags)),
            AND_IMM(R1, VM_EXEC),
            JEQ_IMM(R1, 0, "unwind_unmapped"));
    EMIT(program,
        LDX(DW, R1, R8, (int16_t)(NODE + fields->vma_start)),
        STX(DW, R8, UNWIND_AT(mapping.start), R1),
        LDX(DW, R2, R8, (int16_t)(NODE + fields->vma_end)),
        STX(DW, R8, UNWIND_AT(mapping.end), R2),
        LDX(DW, R2, R8, (int16_t)(NODE + fields->vma_page)),
        LSH_IMM(R2, fields->page_bits),
        SUB_REG(R2, R1),
        STX(DW, R8, UNWIND_AT(mapping.delta), R2),
        ST(DW, R8, UNWIND_AT(key.device), 0),
        ST(DW, R8, UNWIND_AT(key.inode), 0),
        ST(DW, R8, UNWIND_AT(key.generation), 0),
        LDX(DW, R9, R8, (int16_t)(NODE + fields->vma_file)),
        JNE_IMM(R9, 0, "unwind_file"),
        LDX(DW, R9, R8, UNWIND_AT(mm)));
    emit_unwind_follow(program, fields->mm_vdso, 8, "unwind_unmapped");
    EMIT(program,
        LDX(DW, R1, R8, UNWIND_AT(mapping.start)),
        JEQ_REG(R1, R9, "unwind_vdso"),
        ST(W, R8, UNWIND_AT(mapping.kind), (int32_t)UNWIND_KEEPS_RECORDS),
        RETURN(0),
    LABEL("unwind_vdso"),
        NEG(R1),
        STX(DW, R8, UNWIND_AT(mapping.delta), R1),
        JA("unwind_object"),
    LABEL("unwind_file"));
    emit_key(program, fields);
}

static void emit_object(struct program *program, const struct unwind_config *config)
{
    EMIT(program,
    LABEL("unwind_object"),
        ST(W, R8, UNWIND_AT(mapping.kind), UNWIND_END_DEFERRED + 1),
        ADDRESS(R2, R8, UNWIND_AT(key)),
        LOAD_MAP(R1, config->maps.objects),
        CALL(BPF_FUNC_map_lookup_elem),
        JEQ_IMM(R0, 0, "unwind_known"));
    emit_words(program, R8, UNWIND_AT(mapping.object), R0, 0, sizeof(struct unwind_object));
    EMIT(program,
        LDX(W, R1, R8, UNWIND_AT(mapping.object.kind)),
        STX(W, R8, UNWIND_AT(mapping.kind), R1));
    emit_return(program, "unwind_known", 0);
}

void emit_unwind_find(struct program *program, const struct unwind_config *config)
{
    EMIT(program, FUNCTION("unwind_find"));
    emit_unwind_state(program, config, "unwind_not_found");
    EMIT(program,
        LDX(DW, R7, R8, UNWIND_AT(pc)),
        LDX(W, R1, R8, UNWIND_AT(exact)),
        ADD_REG(R7, R1),
        ADD_IMM(R7, -1),
        STX(DW, R8, UNWIND_AT(at), R7));
    emit_other(program);
    emit_search(program, config);
    emit_place(program, config);
    emit_object(program, config);
    emit_level(program, config);
}

/*
 * If the next frame is in an object that has no table yet, this keeps the state of the walk, and
 * the rest of the stack as far as it can be read, for a walk in C once there is a table
 * (src/unwind/deferred.h).
 *
 * unwind_keep(index):
 *     state.time = now
 *     state.pid, .tid = the current thread's; state.first_stack
 *     if (it is outside the pid namespace)
 *         goto lost                                       its mappings are unknown to us
 *     state.number = DEFERRED_FRAME(++state.serial, cpu, index)
 *     least = MOST                                        r9: for threads; or up to where the process began:
 *     if (state.first_stack + START_BYTES - state.sp < MOST)
 *         least = that
 *     state.pages = state.kept = 0
 *     for (page = at = 0; at < least; page++)             at = the next page's
 *         if (state.sp + at can be read)
 *             state.kept = the end of that page, least at most; state.pages |= 1 << page
 *     bytes = state.kept                                  r7
 *     if (state.pages & (state.pages + 1))                a bit above a gap
 *         bytes = MOST
 *     else
 *         state.pages = 0
 *     for room of 32, 16, 8, 4 and 2 KB, downwards from the smallest that is enough
 *         if ((record = reserve(deferred, room)))         r9; r6 = room
 *             goto fill
 * lost:
 *     state.not_kept += 1
 *     return 1
 * fill:
 *     if (!state.pages || room < MOST)
 *         state.kept = min(bytes, room)
 *         copy the state to the record, and then the stack
 *     else
 *         state.kept = min(state.kept, room - a page)    the first may be partial
 *         copy the state to the record, and then each of the pages
 *     if (a copy failed)
 *         record->kept = 0
 *     submit(record)
 *     return 0
 *
 * Most stacks are small: finding their size first takes less of the ring buffer, which leaves room
 * for others. A page that the program has never touched cannot be read, nor can all at once then: a
 * large array on the stack, of which little is used, has such gaps.
 */

/* A frame's number, lowest bits first: the state's, the CPU's, the serial number. */
#define PLACE -16 /* of 8 bytes, on the stack */
#define CPU_SHIFT 3
#define SERIAL_SHIFT 19 /* 2^37 of each: no run counts further */
_Static_assert(SLOTS_PER_CPU == 1 << CPU_SHIFT, "each index has its number");
#define MOST_PAGES (UNWIND_MOST_KEPT / UNWIND_PAGE_BYTES + 1) /* the first may be partial */

static void emit_whose(struct program *program, const struct unwind_config *config)
{
    EMIT(program,
        CALL(BPF_FUNC_ktime_get_ns),
        STX(DW, R8, UNWIND_AT(time), R0));
    if (!config->in_namespace) {
        EMIT(program,
            CALL(BPF_FUNC_get_current_pid_tgid),
            STX(DW, R8, UNWIND_AT(tid), R0));
        return;
    }
    EMIT(program,
        LD_IMM64(R1, config->namespace_device),
        LD_IMM64(R2, config->namespace_inode),
        ADDRESS(R3, R8, UNWIND_AT(tid)),
        MOV_IMM(R4, 8),
        CALL(BPF_FUNC_get_ns_current_pid_tgid));
    if (!config->numbers) {
        EMIT(program, JNE_IMM(R0, 0, "unwind_lost"));
        return;
    }
    EMIT(program, JEQ_IMM(R0, 0, "unwind_whose"));
    emit_load_numbers(program, config->numbers, PLACE, "unwind_lost");
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
        UNWIND_COUNT(serial),
        LSH_IMM(R1, SERIAL_SHIFT),
        OR_REG(R0, R1),
        LD_IMM64(R1, UNWIND_DEFERRED_FRAME(0)),
        OR_REG(R0, R1),
        STX(DW, R8, UNWIND_AT(number), R0));
}

#define PAGE_AT UNWIND_AT(from) /* which only the walk had used, and that has ended */

/* r7 = how many bytes to keep room for. */
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
        ST(W, R8, UNWIND_AT(pages), 0),
        ST(DW, R8, PAGE_AT, 0),
        MOV_IMM(R7, 0),
    LABEL("unwind_page"),
        ADDRESS(R1, R8, UNWIND_AT(word)),
        MOV_IMM(R2, 8),
        LDX(DW, R3, R8, UNWIND_AT(sp)),
        LDX(DW, R0, R8, PAGE_AT),
        ADD_REG(R3, R0),
        CALL(BPF_FUNC_probe_read_user),
        LDX(DW, R2, R8, UNWIND_AT(sp)),
        LDX(DW, R3, R8, PAGE_AT),
        ADD_REG(R3, R2),
        OR_IMM(R3, UNWIND_PAGE_BYTES - 1),
        ADD_IMM(R3, 1),
        SUB_REG(R3, R2),
        STX(DW, R8, PAGE_AT, R3),
        JNE_IMM(R0, 0, "unwind_next_page"),
        STX(DW, R8, UNWIND_AT(kept), R3),
        MOV_IMM(R1, 1),
        LSH_REG(R1, R7),
        LDX(W, R2, R8, UNWIND_AT(pages)),
        OR_REG(R2, R1),
        STX(W, R8, UNWIND_AT(pages), R2),
    LABEL("unwind_next_page"),
        JGE_REG(R3, R9, "unwind_enough"),
        ADD_IMM(R7, 1),
        JLT_IMM(R7, MOST_PAGES, "unwind_page"),
    LABEL("unwind_enough"),
        LDX(DW, R7, R8, UNWIND_AT(kept)),
        JLE_REG(R7, R9, "unwind_counted"),
        MOV_REG(R7, R9),
        STX(DW, R8, UNWIND_AT(kept), R7),
    LABEL("unwind_counted"),
        LDX(W, R1, R8, UNWIND_AT(pages)),
        MOV_REG(R2, R1),
        ADD_IMM(R2, 1),
        AND_REG(R2, R1),
        JEQ_IMM(R2, 0, "unwind_solid"),
        MOV_IMM(R7, UNWIND_MOST_KEPT),
        JA("unwind_reserve"),
    LABEL("unwind_solid"),
        ST(W, R8, UNWIND_AT(pages), 0),
    LABEL("unwind_reserve"));
}

/* Goes to unwind_fill with a record at r9 that has room for r6 bytes of the stack. */
static void emit_reserve(struct program *program, const struct unwind_config *config)
{
    static const char *const less[] = {"unwind_16_kb", "unwind_8_kb", "unwind_4_kb", "unwind_2_kb"};

    for (size_t i = 0; i <= COUNT_OF(less); i++) {
        const int32_t room = UNWIND_MOST_KEPT >> i;
        if (i < COUNT_OF(less))
            EMIT(program, JLE_IMM(R7, room / 2, less[i]));
        EMIT(program,
            LOAD_MAP(R1, config->maps.deferred),
            MOV_IMM(R2, (int32_t)UNWIND_RECORD_BYTES(room)),
            MOV_IMM(R3, 0),
            MOV_IMM(R6, room),
            CALL(BPF_FUNC_ringbuf_reserve),
            JNE_IMM(R0, 0, "unwind_fill"));
        if (i < COUNT_OF(less))
            EMIT(program, LABEL(less[i]));
    }
}

static void emit_copy_state(struct program *program)
{
    EMIT(program,
        STX(DW, R8, UNWIND_AT(kept), R7),
        MOV_REG(R1, R9),
        MOV_IMM(R2, UNWIND_KEPT_HEAD),
        MOV_REG(R3, R8),
        CALL(BPF_FUNC_probe_read_kernel));
}

/* Copies a page: r7 = how much of the first one is kept. For the verifier, offsets only grow. */
static void emit_copy_page(struct program *program, int32_t page, const char *next)
{
    const int32_t at = page * UNWIND_PAGE_BYTES;

    EMIT(program,
        LDX(W, R1, R9, UNWIND_AT(pages)),
        AND_IMM(R1, 1 << page),
        JEQ_IMM(R1, 0, next),
        ADDRESS(R1, R9, (int32_t)UNWIND_KEPT_HEAD),
        MOV_REG(R2, R7),
        LDX(DW, R3, R8, UNWIND_AT(sp)));
    if (page)
        EMIT(program,
            ADD_IMM(R1, at - UNWIND_PAGE_BYTES),
            ADD_REG(R1, R7),
            MOV_IMM(R2, UNWIND_PAGE_BYTES),
            ADD_IMM(R3, at - UNWIND_PAGE_BYTES),
            ADD_REG(R3, R7));
    EMIT(program,
        CALL(BPF_FUNC_probe_read_user),
        JNE_IMM(R0, 0, "unwind_uncopied"),
    LABEL(next));
}

static void emit_copy_pages(struct program *program)
{
    static const char *const next[] = {"unwind_page_1", "unwind_page_2", "unwind_page_3",
                                       "unwind_page_4", "unwind_page_5", "unwind_page_6",
                                       "unwind_page_7", "unwind_page_8"};
    _Static_assert(COUNT_OF(next) == UNWIND_MOST_KEPT / UNWIND_PAGE_BYTES, "all of them");

    EMIT(program,
        LDX(DW, R7, R8, UNWIND_AT(kept)),
        JLE_IMM(R7, UNWIND_MOST_KEPT - UNWIND_PAGE_BYTES, "unwind_pages_fit"),
        MOV_IMM(R7, UNWIND_MOST_KEPT - UNWIND_PAGE_BYTES),
    LABEL("unwind_pages_fit"));
    emit_copy_state(program);
    EMIT(program,
        MOV_IMM(R7, UNWIND_PAGE_BYTES),
        LDX(DW, R1, R8, UNWIND_AT(sp)),
        AND_IMM(R1, UNWIND_PAGE_BYTES - 1),
        SUB_REG(R7, R1));
    for (int32_t page = 0; page < (int32_t)COUNT_OF(next); page++)
        emit_copy_page(program, page, next[page]);
    EMIT(program, JA("unwind_filled"));
}

static void emit_fill(struct program *program)
{
    EMIT(program,
    LABEL("unwind_fill"),
        MOV_REG(R9, R0),
        LDX(W, R1, R8, UNWIND_AT(pages)),
        JEQ_IMM(R1, 0, "unwind_at_once"),
        JEQ_IMM(R6, UNWIND_MOST_KEPT, "unwind_pages"),
    LABEL("unwind_at_once"),
        JLE_REG(R7, R6, "unwind_fits"),
        MOV_REG(R7, R6),
    LABEL("unwind_fits"));
    emit_copy_state(program);
    EMIT(program,
        ADDRESS(R1, R9, UNWIND_KEPT_HEAD),
        MOV_REG(R2, R7),
        LDX(DW, R3, R8, UNWIND_AT(sp)),
        CALL(BPF_FUNC_probe_read_user),
        JEQ_IMM(R0, 0, "unwind_filled"),
    LABEL("unwind_uncopied"),
        ST(DW, R9, UNWIND_AT(kept), 0),
    LABEL("unwind_filled"),
        MOV_REG(R1, R9),
        MOV_IMM(R2, 0),
        CALL(BPF_FUNC_ringbuf_submit),
        RETURN(0),
    LABEL("unwind_pages"));
    emit_copy_pages(program);
}

void emit_unwind_keep(struct program *program, const struct unwind_config *config)
{
    EMIT(program, FUNCTION("unwind_keep"));
    emit_unwind_state(program, config, "unwind_no_state");
    emit_whose(program, config);
    emit_unwind_first_stack(program, config);
    emit_number(program);
    emit_count_bytes(program);
    emit_reserve(program, config);
    EMIT(program,
    LABEL("unwind_lost"),
        UNWIND_COUNT(counts.not_kept));
    emit_return(program, "unwind_no_state", 1);
    emit_fill(program);
}
