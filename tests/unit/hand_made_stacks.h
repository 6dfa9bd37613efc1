/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Stacks written by hand, and a table with a function for each rule, for walk_stack(). */
#ifndef STACKBOX_HAND_MADE_STACKS_H
#define STACKBOX_HAND_MADE_STACKS_H

#include "machine/machine.h"
#include "test.h"
#include "unwind/walk.h"

#define CODE 0x400000ull  /* the object with a table: its file begins here */
#define FRAMED 0x500000ull /* code that keeps frame pointers, without a table */
#define TRAMPOLINES 0x700000ull /* the same; each address is a return address in a trampoline */
#define DEFERRED 0x600000ull   /* an object without a table */
#define MAPPED 0x10000ull  /* bytes of each */
#define STACK 0x7ffc00000000ull
#define WORDS 64
#define DEPTH 16

/* Each rule applies to 16 bytes of code, from 0x1000 on: PC(rule, byte). */
enum {
    R_UNKNOWN, R_ROOT, R_SP8, R_SP24, R_FRAME16, R_BY_R10, R_SP_WORD, R_FRAME_WORD, R_PLT, R_SIGNAL, R_RECORD,
    R_UNSUPPORTED, R_LOST, R_AT_FRAME, R_LINK, R_DOWN, R_ODD, R_FAR, R_NOBODY, R_BY_PC,
    R_BY_RBX, R_KEEPS_RBX, R_SAVES_RBX, R_LEAF, R_POPPED, R_BEYOND, RULES
};
#define PC(rule, byte) (CODE + 0x1000 + (rule) * 16 + (byte))

static struct unwind_rule rules[RULES] = {
    [R_ROOT] = {.cfa = UNWIND_ROOT},
    [R_SP8] = {.cfa = UNWIND_BY_SP, .offset = 8, .ret = -8},
    [R_SP24] = {.cfa = UNWIND_BY_SP, .offset = 24, .ret = -8, .frame_kind = UNWIND_FRAME_AT_CFA, .frame = -16},
    [R_FRAME16] = {.cfa = UNWIND_BY_FRAME, .offset = 16, .ret = -8, .frame_kind = UNWIND_FRAME_AT_CFA,
                   .frame = -16},
    [R_BY_R10] = {.cfa = UNWIND_BY_REGISTER, .reg = 10, .offset = 0, .ret = -8},
    [R_SP_WORD] = {.cfa = UNWIND_BY_SP_WORD, .inner = 8, .offset = 16, .ret = -8},
    [R_FRAME_WORD] = {.cfa = UNWIND_BY_FRAME_WORD, .inner = -8, .offset = 0, .ret = -8,
                      .frame_kind = UNWIND_FRAME_AT_FRAME, .frame = 0},
    [R_PLT] = {.cfa = UNWIND_BY_PLT, .inner = 11, .offset = 8, .ret = -8},
    [R_SIGNAL] = {.cfa = UNWIND_SIGNAL},
    [R_RECORD] = {.cfa = UNWIND_FRAME_RECORD},
    [R_UNSUPPORTED] = {.cfa = UNWIND_UNSUPPORTED},
    [R_LOST] = {.cfa = UNWIND_BY_SP, .offset = 8, .ret = -8, .frame_kind = UNWIND_FRAME_LOST},
    [R_AT_FRAME] = {.cfa = UNWIND_BY_SP, .offset = 8, .ret = -8, .frame_kind = UNWIND_FRAME_AT_FRAME,
                    .frame = 8},
    [R_LINK] = {.cfa = UNWIND_BY_SP, .offset = 8, .return_kind = UNWIND_RETURN_IN_LINK},
    [R_LEAF] = {.cfa = UNWIND_BY_SP, .return_kind = UNWIND_RETURN_IN_LINK},
    [R_POPPED] = {.cfa = UNWIND_BY_SP, .return_kind = UNWIND_RETURN_IN_REGISTER, .ret = 5},
    [R_BEYOND] = {.cfa = UNWIND_BY_SP, .return_kind = UNWIND_RETURN_IN_REGISTER, .ret = 16},
    [R_DOWN] = {.cfa = UNWIND_BY_SP, .offset = 0, .ret = -8},
    [R_ODD] = {.cfa = UNWIND_BY_SP, .offset = 12, .ret = -8},
    [R_FAR] = {.cfa = UNWIND_BY_SP, .offset = 200 << 10, .ret = -8},
    [R_NOBODY] = {.cfa = UNWIND_BY_SP, .offset = 8, .ret = 8 * WORDS},
    [R_BY_RBX] = {.cfa = UNWIND_BY_REGISTER, .reg = UNWIND_BASE, .offset = 24, .ret = -8, .base = -24},
    [R_KEEPS_RBX] = {.cfa = UNWIND_BY_SP, .offset = 8, .ret = -8, .base = UNWIND_BASE_SAME},
    [R_SAVES_RBX] = {.cfa = UNWIND_BY_SP, .offset = 24, .ret = -8, .base = -16},
    [R_BY_PC] = {.cfa = UNWIND_BY_REGISTER, .reg = 16, .offset = 8, .ret = -8},
};

static const struct machine *machine = &machine_x86_64;
static struct table table;
static struct walk_registers registers;
static uint64_t stack[WORDS], frames[DEPTH + 1];
static enum unwind_end end;
static size_t depth, reads;
static bool is_deferred;

static void find(void *context, uint64_t pc, struct walk_object *object)
{
    (void)context;
    if (pc - CODE < MAPPED)
        *object = (struct walk_object){.table = is_deferred ? NULL : &table, .end = UNWIND_END_DEFERRED, .bias = CODE};
    else if (pc - FRAMED < MAPPED)
        *object = (struct walk_object){.frame_pointers = true};
    else if (pc - TRAMPOLINES < MAPPED)
        *object = (struct walk_object){.frame_pointers = true, .trampoline = true};
    else if (pc - DEFERRED < MAPPED)
        *object = (struct walk_object){.end = UNWIND_END_DEFERRED};
    else
        *object = (struct walk_object){.end = UNWIND_END_UNMAPPED};
}

/* What the walk reads from a signal frame is at this word of the stack, far from the rest. */
#define FRAME_WORDS_AT 1000
static const uint64_t *frame_words;

static bool read_stack(void *context, uint64_t address, uint64_t *word)
{
    (void)context;
    reads++;
    const uint64_t in_frame = address - (STACK + FRAME_WORDS_AT * 8) - (uint64_t)machine->walk->signal.at;
    if (frame_words && in_frame < sizeof(stack)) {
        *word = frame_words[in_frame / 8];
        return true;
    }
    if (address < STACK || address >= STACK + sizeof(stack))
        return false;
    CHECK_NUMBER(address % 8, 0);
    *word = stack[(address - STACK) / 8];
    return true;
}

/*
 * The first frame is here, with stack and frame pointer at these words of the stack; everything
 * else must be set before.
 */
static size_t walk(uint64_t pc, uint64_t sp, uint64_t frame)
{
    const struct walk_options config = {.machine = machine, .find = find, .read = read_stack, .depth = depth};

    registers.pc = pc;
    registers.by_dwarf[machine->sp.dwarf] = STACK + sp * 8;
    registers.by_dwarf[machine->frame.dwarf] = STACK + frame * 8;
    memset(frames, 0x55, sizeof(frames));
    reads = 0;
    size_t count = walk_stack(&config, &registers, frames, &end);
    CHECK_NUMBER(frames[depth], 0x5555555555555555);
    return count;
}

/* All unmapped, except what follows it: a word for each. */
static void lay(size_t first, const uint64_t *words, size_t count)
{
    for (size_t i = 0; i < WORDS; i++)
        stack[i] = 0xdead0000 + i;
    memcpy(stack + first, words, count * sizeof(*words));
    memset(&registers, 0, sizeof(registers));
    depth = DEPTH;
    is_deferred = false;
}
#define LAY(first, ...) \
    lay(first, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void check_frames(size_t count, enum unwind_end expected, const uint64_t *expected_frames,
                         size_t expected_count)
{
    CHECK_NUMBER(end, expected);
    CHECK_NUMBER(count, expected_count);
    for (size_t i = 0; i < count && i < expected_count; i++)
        CHECK_NUMBER(frames[i], expected_frames[i]);
}
#define EXPECT(walked, expected_end, ...)                          \
    check_frames(walked, expected_end, (const uint64_t[]){__VA_ARGS__}, \
                 sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void make_table(void)
{
    struct frame_row rows[RULES + 1];
    struct frame_rows made = {.rows = rows, .rules = rules, .rule_count = RULES};

    for (int i = 0; i < RULES; i++)
        rows[made.row_count++] = (struct frame_row){PC(i, 0) - CODE, i};
    rows[made.row_count++] = (struct frame_row){PC(RULES, 0) - CODE, R_UNKNOWN};
    if (table_make(&table, &made) || table_check(&table)) {
        printf("FAIL unwind_walk: no table\n");
        exit(1);
    }
}

#endif
