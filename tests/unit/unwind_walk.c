/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Walks over stacks that are written by hand, along tables that are, too: each rule and each end. */
#include "unwind/walk.h"

#include "test.h"

#define CODE 0x400000ull  /* the object, whose table is: its file begins here */
#define FRAMED 0x500000ull /* code that keeps frame pointers, without a table */
#define COLD 0x600000ull   /* an object without a table */
#define MAPPED 0x10000ull  /* bytes of each */
#define STACK 0x7ffc00000000ull
#define WORDS 64
#define DEPTH 16

/* Each rule has 16 bytes of the code, from 0x1000 on: PC(rule, byte). */
enum {
    R_UNKNOWN, R_ROOT, R_SP8, R_SP24, R_FRAME16, R_BY_R10, R_SP_WORD, R_FRAME_WORD, R_PLT, R_SIGNAL, R_RECORD,
    R_UNSUPPORTED, R_LOST, R_AT_FRAME, R_LINK, R_DOWN, R_ODD, R_FAR, R_NOBODY, R_BY_PC,
    R_BY_RBX, R_KEEPS_RBX, R_SAVES_RBX, RULES
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
    [R_DOWN] = {.cfa = UNWIND_BY_SP, .offset = 0, .ret = -8},
    [R_ODD] = {.cfa = UNWIND_BY_SP, .offset = 12, .ret = -8},
    [R_FAR] = {.cfa = UNWIND_BY_SP, .offset = 200 << 10, .ret = -8},
    [R_NOBODY] = {.cfa = UNWIND_BY_SP, .offset = 8, .ret = 8 * WORDS},
    [R_BY_RBX] = {.cfa = UNWIND_BY_REGISTER, .reg = UNWIND_BASE, .offset = 24, .ret = -8, .base = -24},
    [R_KEEPS_RBX] = {.cfa = UNWIND_BY_SP, .offset = 8, .ret = -8, .base = UNWIND_BASE_SAME},
    [R_SAVES_RBX] = {.cfa = UNWIND_BY_SP, .offset = 24, .ret = -8, .base = -16},
    [R_BY_PC] = {.cfa = UNWIND_BY_REGISTER, .reg = 16, .offset = 8, .ret = -8},
};

static struct table table;
static struct walk_registers registers;
static uint64_t stack[WORDS], frames[DEPTH + 1];
static enum unwind_end end;
static size_t depth, reads;
static bool is_cold;

static void find(void *context, uint64_t pc, struct walk_object *object)
{
    (void)context;
    if (pc - CODE < MAPPED)
        *object = (struct walk_object){.table = is_cold ? NULL : &table, .end = UNWIND_END_COLD, .bias = CODE};
    else if (pc - FRAMED < MAPPED)
        *object = (struct walk_object){.frame_pointers = true};
    else if (pc - COLD < MAPPED)
        *object = (struct walk_object){.end = UNWIND_END_COLD};
    else
        *object = (struct walk_object){.end = UNWIND_END_UNMAPPED};
}

static bool read_stack(void *context, uint64_t address, uint64_t *word)
{
    (void)context;
    reads++;
    if (address < STACK || address >= STACK + sizeof(stack))
        return false;
    CHECK_NUMBER(address % 8, 0);
    *word = stack[(address - STACK) / 8];
    return true;
}

/* The first frame is here, with sp and rbp at these words of the stack; all else is to be set before. */
static size_t walk(uint64_t pc, uint64_t sp, uint64_t frame)
{
    const struct walk_wishes wishes = {.find = find, .read = read_stack, .depth = depth};

    registers.by_dwarf[16] = pc;
    registers.by_dwarf[7] = STACK + sp * 8;
    registers.by_dwarf[6] = STACK + frame * 8;
    memset(frames, 0x55, sizeof(frames));
    reads = 0;
    size_t count = walk_stack(&wishes, &registers, frames, &end);
    CHECK_NUMBER(frames[depth], 0x5555555555555555);
    return count;
}

/* All unmapped, but what comes behind it: a word for each. */
static void lay(size_t first, const uint64_t *words, size_t count)
{
    for (size_t i = 0; i < WORDS; i++)
        stack[i] = 0xdead0000 + i;
    memcpy(stack + first, words, count * sizeof(*words));
    memset(&registers, 0, sizeof(registers));
    depth = DEPTH;
    is_cold = false;
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

static void by_stack_pointer(void)
{
    LAY(1, PC(R_SP24, 5), 1, 2, PC(R_ROOT, 3));
    EXPECT(walk(PC(R_SP8, 0), 1, 0), UNWIND_END_ROOT, PC(R_SP8, 0), PC(R_SP24, 5), PC(R_ROOT, 3));
}

/* The first by its own address, all others by what is before their return addresses. */
static void exact_and_one_before(void)
{
    LAY(1, PC(R_SP8 + 1, 0), PC(R_ROOT + 1, 0));
    EXPECT(walk(PC(R_SP8, 0), 1, 0), UNWIND_END_ROOT, PC(R_SP8, 0), PC(R_SP8 + 1, 0), PC(R_ROOT + 1, 0));
}

static void by_frame_pointer(void)
{
    LAY(4, STACK + 10 * 8, PC(R_FRAME16, 1));
    stack[10] = 0x1234;
    stack[11] = PC(R_ROOT, 1);
    EXPECT(walk(PC(R_FRAME16, 2), 0, 4), UNWIND_END_ROOT, PC(R_FRAME16, 2), PC(R_FRAME16, 1), PC(R_ROOT, 1));
    /* and what was saved by somebody who did not use it */
    LAY(1, STACK + 10 * 8, 7, PC(R_SP8, 2), PC(R_FRAME16, 1));
    stack[2] = STACK + 10 * 8;
    stack[10] = 0;
    stack[11] = PC(R_ROOT, 1);
    EXPECT(walk(PC(R_SP24, 2), 1, 50), UNWIND_END_ROOT, PC(R_SP24, 2), PC(R_SP8, 2), PC(R_FRAME16, 1),
           PC(R_ROOT, 1));
}

static void by_other_registers(void)
{
    LAY(0, 0);
    stack[19] = PC(R_ROOT, 1);
    registers.by_dwarf[10] = STACK + 20 * 8;
    EXPECT(walk(PC(R_BY_R10, 2), 1, 0), UNWIND_END_ROOT, PC(R_BY_R10, 2), PC(R_ROOT, 1));
    /* They are the first frame's alone. */
    LAY(1, PC(R_BY_R10, 1));
    registers.by_dwarf[10] = STACK + 20 * 8;
    EXPECT(walk(PC(R_SP8, 2), 1, 0), UNWIND_END_UNSUPPORTED, PC(R_SP8, 2), PC(R_BY_R10, 1));
    LAY(0, 0);
    EXPECT(walk(PC(R_BY_PC, 2), 1, 0), UNWIND_END_UNSUPPORTED, PC(R_BY_PC, 2));
}

/* A handler at words 1 and on, returning to the trampoline; below it what it interrupted. */
static void lay_signal(uint64_t pc, uint64_t sp, uint64_t frame)
{
    LAY(1, PC(R_SIGNAL, 1));
    stack[2 + 15] = frame;
    stack[2 + 20] = sp;
    stack[2 + 21] = pc;
}

/* Of the others one is followed. */
static void by_followed_register(void)
{
    LAY(1, PC(R_BY_RBX, 1));
    registers.by_dwarf[3] = STACK + 20 * 8;
    stack[22] = PC(R_ROOT, 1);
    EXPECT(walk(PC(R_KEEPS_RBX, 2), 1, 0), UNWIND_END_ROOT, PC(R_KEEPS_RBX, 2), PC(R_BY_RBX, 1), PC(R_ROOT, 1));
    /* Somebody saved it, and others did not touch it then. */
    LAY(1, 7, STACK + 20 * 8, PC(R_KEEPS_RBX, 1), PC(R_BY_RBX, 1));
    registers.by_dwarf[3] = 99;
    stack[22] = PC(R_ROOT, 1);
    EXPECT(walk(PC(R_SAVES_RBX, 2), 1, 0), UNWIND_END_ROOT, PC(R_SAVES_RBX, 2), PC(R_KEEPS_RBX, 1),
           PC(R_BY_RBX, 1), PC(R_ROOT, 1));
    /* And what was by it has saved its caller's. */
    stack[22] = PC(R_BY_RBX, 1);
    stack[20] = STACK + 30 * 8;
    stack[32] = PC(R_ROOT, 1);
    EXPECT(walk(PC(R_SAVES_RBX, 2), 1, 0), UNWIND_END_ROOT, PC(R_SAVES_RBX, 2), PC(R_KEEPS_RBX, 1),
           PC(R_BY_RBX, 1), PC(R_BY_RBX, 1), PC(R_ROOT, 1));
    /* One who does not tell loses it. */
    LAY(1, 7, STACK + 20 * 8, PC(R_SP8, 1), PC(R_BY_RBX, 1));
    EXPECT(walk(PC(R_SAVES_RBX, 2), 1, 0), UNWIND_END_UNSUPPORTED, PC(R_SAVES_RBX, 2), PC(R_SP8, 1),
           PC(R_BY_RBX, 1));
    LAY(1, 7, WORDS * 8 + STACK, PC(R_BY_RBX, 1));
    EXPECT(walk(PC(R_SAVES_RBX, 2), 1, 0), UNWIND_END_UNREADABLE, PC(R_SAVES_RBX, 2), PC(R_BY_RBX, 1));
    /* What a signal interrupted has it in that frame. */
    lay_signal(PC(R_BY_RBX, 0), STACK, 0);
    stack[2 + 16] = STACK + 30 * 8;
    stack[32] = PC(R_ROOT, 1);
    EXPECT(walk(PC(R_SP8, 3), 1, 0), UNWIND_END_ROOT, PC(R_SP8, 3), PC(R_SIGNAL, 1), PC(R_BY_RBX, 0) + 1,
           PC(R_ROOT, 1));
}

static void by_words(void)
{
    LAY(1, 1, STACK + 20 * 8);
    stack[21] = PC(R_ROOT, 1);
    EXPECT(walk(PC(R_SP_WORD, 0), 1, 0), UNWIND_END_ROOT, PC(R_SP_WORD, 0), PC(R_ROOT, 1));
    /* As gcc realigns a stack: where it was is below the frame pointer, the caller's at it. */
    LAY(5, STACK + 30 * 8, STACK + 40 * 8);
    stack[29] = PC(R_FRAME16, 4);
    stack[40] = 0;
    stack[41] = PC(R_ROOT, 4);
    EXPECT(walk(PC(R_FRAME_WORD, 0), 1, 6), UNWIND_END_ROOT, PC(R_FRAME_WORD, 0), PC(R_FRAME16, 4),
           PC(R_ROOT, 4));
    EXPECT(walk(PC(R_FRAME_WORD, 0), 1, WORDS + 1), UNWIND_END_UNREADABLE, PC(R_FRAME_WORD, 0));
}

static void by_plt(void)
{
    for (unsigned byte = 0; byte < 16; byte++) {
        LAY(1, byte < 11 ? PC(R_ROOT, 1) : 77, byte < 11 ? 78 : PC(R_ROOT, 1));
        EXPECT(walk(PC(R_PLT, byte), 1, 0), UNWIND_END_ROOT, PC(R_PLT, byte), PC(R_ROOT, 1));
    }
}

static void signals(void)
{
    /* The interrupted function was at its first byte, and is found by that. */
    lay_signal(PC(R_SP8, 0), STACK + 40 * 8, 0);
    stack[40] = PC(R_ROOT, 1);
    EXPECT(walk(PC(R_SP8, 3), 1, 0), UNWIND_END_ROOT, PC(R_SP8, 3), PC(R_SIGNAL, 1), PC(R_SP8, 0) + 1,
           PC(R_ROOT, 1));
    /* An alternate stack may be above the other one. */
    lay_signal(PC(R_SP8, 0), STACK, 0);
    stack[0] = PC(R_FRAME16, 1);
    stack[17] = STACK + 50 * 8;
    stack[51] = PC(R_ROOT, 1);
    EXPECT(walk(PC(R_LOST, 3), 1, 0), UNWIND_END_ROOT, PC(R_LOST, 3), PC(R_SIGNAL, 1), PC(R_SP8, 0) + 1,
           PC(R_FRAME16, 1), PC(R_ROOT, 1));
    /* Its registers are not the event's. */
    lay_signal(PC(R_BY_R10, 0), STACK, 0);
    registers.by_dwarf[10] = STACK + 60 * 8;
    EXPECT(walk(PC(R_SP8, 3), 1, 0), UNWIND_END_UNSUPPORTED, PC(R_SP8, 3), PC(R_SIGNAL, 1), PC(R_BY_R10, 0) + 1);
    /* Who called NULL, or what is not mapped, has a caller whom nobody knows. */
    lay_signal(0, STACK + 40 * 8, 0);
    EXPECT(walk(PC(R_SP8, 3), 1, 0), UNWIND_END_UNMAPPED, PC(R_SP8, 3), PC(R_SIGNAL, 1));
    lay_signal(0x1234, STACK + 40 * 8, 0);
    EXPECT(walk(PC(R_SP8, 3), 1, 0), UNWIND_END_UNMAPPED, PC(R_SP8, 3), PC(R_SIGNAL, 1));
    LAY(0, 0);
    EXPECT(walk(PC(R_SIGNAL, 3), WORDS - 21, 0), UNWIND_END_UNREADABLE, PC(R_SIGNAL, 3));
}

static void frame_records(void)
{
    for (int tabled = 0; tabled < 2; tabled++) {
        const uint64_t code = tabled ? PC(R_RECORD, 4) : FRAMED + 4;

        LAY(4, STACK + 10 * 8, code + 1);
        stack[10] = STACK + 20 * 8;
        stack[11] = PC(R_FRAME16, 3);
        stack[20] = 0;
        stack[21] = code + 2;
        EXPECT(walk(code, 0, 4), UNWIND_END_ROOT, code, code + 1, PC(R_FRAME16, 3), code + 2);
        stack[10] = 0;
        stack[11] = 0;
        EXPECT(walk(code, 0, 4), UNWIND_END_ROOT, code, code + 1);
        stack[10] = STACK + 10 * 8; /* a circle */
        stack[11] = code + 2;
        EXPECT(walk(code, 0, 4), UNWIND_END_SENSELESS, code, code + 1, code + 2);
        EXPECT(walk(code, 5, 4), UNWIND_END_SENSELESS, code);
        CHECK_NUMBER(reads, 0);
        registers.by_dwarf[6] = 0;
        EXPECT(walk(code, 0, 0 - STACK / 8), UNWIND_END_ROOT, code);
        EXPECT(walk(code, 0, WORDS), UNWIND_END_UNREADABLE, code);
    }
    LAY(1, FRAMED + 9);
    EXPECT(walk(PC(R_LOST, 0), 1, 10), UNWIND_END_UNSUPPORTED, PC(R_LOST, 0), FRAMED + 9);
}

static void lost_frame_pointers(void)
{
    LAY(1, PC(R_FRAME16, 1));
    EXPECT(walk(PC(R_LOST, 0), 1, 10), UNWIND_END_UNSUPPORTED, PC(R_LOST, 0), PC(R_FRAME16, 1));
    LAY(1, PC(R_FRAME_WORD, 1));
    EXPECT(walk(PC(R_LOST, 0), 1, 10), UNWIND_END_UNSUPPORTED, PC(R_LOST, 0), PC(R_FRAME_WORD, 1));
    /* Nor is anything found by it, */
    LAY(1, PC(R_AT_FRAME, 1), PC(R_FRAME16, 1));
    EXPECT(walk(PC(R_LOST, 0), 1, 10), UNWIND_END_UNSUPPORTED, PC(R_LOST, 0), PC(R_AT_FRAME, 1), PC(R_FRAME16, 1));
    EXPECT(walk(PC(R_LOST, 0), 1, WORDS), UNWIND_END_UNSUPPORTED, PC(R_LOST, 0), PC(R_AT_FRAME, 1),
           PC(R_FRAME16, 1));
    /* until somebody has saved it. */
    LAY(1, PC(R_SP24, 1), 5, STACK + 10 * 8, PC(R_FRAME16, 1));
    stack[11] = PC(R_ROOT, 1);
    EXPECT(walk(PC(R_LOST, 0), 1, 10), UNWIND_END_ROOT, PC(R_LOST, 0), PC(R_SP24, 1), PC(R_FRAME16, 1),
           PC(R_ROOT, 1));
    LAY(1, PC(R_FRAME16, 1));
    stack[11] = STACK + 20 * 8;
    stack[21] = PC(R_ROOT, 1);
    EXPECT(walk(PC(R_AT_FRAME, 0), 1, 10), UNWIND_END_ROOT, PC(R_AT_FRAME, 0), PC(R_FRAME16, 1), PC(R_ROOT, 1));
}

static void ends(void)
{
    LAY(1, 0);
    EXPECT(walk(PC(R_SP8, 0), 1, 0), UNWIND_END_ROOT, PC(R_SP8, 0));
    LAY(0, 0);
    EXPECT(walk(PC(R_UNKNOWN, 0), 1, 0), UNWIND_END_NO_TABLE, PC(R_UNKNOWN, 0));
    EXPECT(walk(CODE + 0x800, 1, 0), UNWIND_END_NO_TABLE, CODE + 0x800);
    EXPECT(walk(CODE + 0x8000, 1, 0), UNWIND_END_NO_TABLE, CODE + 0x8000);
    EXPECT(walk(PC(R_UNSUPPORTED, 0), 1, 0), UNWIND_END_UNSUPPORTED, PC(R_UNSUPPORTED, 0));
    EXPECT(walk(PC(R_LINK, 0), 1, 0), UNWIND_END_UNSUPPORTED, PC(R_LINK, 0));
    EXPECT(walk(COLD + 1, 1, 0), UNWIND_END_COLD, COLD + 1);
    CHECK_NUMBER(walk(0x1000, 1, 0), 0);
    CHECK_NUMBER(end, UNWIND_END_UNMAPPED);
    CHECK_NUMBER(walk(0, 1, 0), 0);
    CHECK_NUMBER(end, UNWIND_END_UNMAPPED);
    EXPECT(walk(PC(R_SP8, 0), 1, 0), UNWIND_END_UNMAPPED, PC(R_SP8, 0));
    EXPECT(walk(PC(R_DOWN, 0), 1, 0), UNWIND_END_SENSELESS, PC(R_DOWN, 0));
    EXPECT(walk(PC(R_ODD, 0), 1, 0), UNWIND_END_SENSELESS, PC(R_ODD, 0));
    CHECK_NUMBER(reads, 0);
    EXPECT(walk(PC(R_FAR, 0), 1, 0), UNWIND_END_UNREADABLE, PC(R_FAR, 0));
    EXPECT(walk(PC(R_NOBODY, 0), 1, 0), UNWIND_END_UNREADABLE, PC(R_NOBODY, 0));
    EXPECT(walk(PC(R_SP24, 0), WORDS - 2, 0), UNWIND_END_UNREADABLE, PC(R_SP24, 0));
    /* The code begins behind this call, so what is before that is no code. */
    LAY(1, CODE);
    EXPECT(walk(PC(R_SP8, 0), 1, 0), UNWIND_END_UNMAPPED, PC(R_SP8, 0));
    LAY(1, CODE + MAPPED);
    EXPECT(walk(PC(R_SP8, 0), 1, 0), UNWIND_END_NO_TABLE, PC(R_SP8, 0), CODE + MAPPED);
    is_cold = true;
    EXPECT(walk(PC(R_SP8, 0), 1, 0), UNWIND_END_COLD, PC(R_SP8, 0));
}

/* As wild values as there can be: none is read that is below the stack or no user's. */
/* Start code has no table, and is left to code that has no caller; what is further up tells nothing. */
static void start_code(void)
{
    LAY(1, PC(R_UNKNOWN, 1));
    stack[9] = PC(R_ROOT, 1);
    EXPECT(walk(PC(R_SP8, 0), 1, 0), UNWIND_END_ROOT, PC(R_SP8, 0), PC(R_UNKNOWN, 1));
    stack[9] = PC(R_SP8, 1);
    stack[10] = PC(R_ROOT, 1);
    EXPECT(walk(PC(R_SP8, 0), 1, 0), UNWIND_END_NO_TABLE, PC(R_SP8, 0), PC(R_UNKNOWN, 1));
    EXPECT(walk(PC(R_UNKNOWN, 0), 8, 0), UNWIND_END_ROOT, PC(R_UNKNOWN, 0));
}

static void wild_pointers(void)
{
    static const uint64_t wild[] = {0, 1, 8, 0x00ffffffffffffffull, 0x0100000000000000ull, 0x7ffffffffffffff8ull,
                                    0x8000000000000000ull, 0xfffffffffffffff0ull, 0xfffffffffffffff8ull, UINT64_MAX};

    for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++)
        for (int rule = 0; rule < RULES; rule++) {
            LAY(1, PC(rule, 1), PC(rule, 2));
            registers.by_dwarf[10] = wild[i];
            CHECK(walk(PC(rule, 3), 1, wild[i] / 8 - STACK / 8) <= DEPTH);
            CHECK(walk(PC(R_SP24, 3), wild[i] / 8 - STACK / 8, 0) <= DEPTH);
            CHECK(rule == R_SIGNAL || end < UNWIND_ENDS);
        }
}

static void depths(void)
{
    LAY(1, 0);
    for (size_t i = 1; i < WORDS; i++)
        stack[i] = PC(R_SP8, 1 + i % 8);
    CHECK_NUMBER(walk(PC(R_SP8, 0), 1, 0), DEPTH);
    CHECK_NUMBER(end, UNWIND_END_DEPTH);
    /* As many as there is room for are whole, */
    stack[DEPTH - 1] = PC(R_ROOT, 3);
    CHECK_NUMBER(walk(PC(R_SP8, 0), 1, 0), DEPTH);
    CHECK_NUMBER(end, UNWIND_END_ROOT);
    stack[DEPTH - 1] = PC(R_SP8, 3);
    stack[DEPTH] = 0;
    CHECK_NUMBER(walk(PC(R_SP8, 0), 1, 0), DEPTH);
    CHECK_NUMBER(end, UNWIND_END_ROOT);
    /* and one more is not; what is no code is no frame. */
    stack[DEPTH] = PC(R_ROOT, 1);
    CHECK_NUMBER(walk(PC(R_SP8, 0), 1, 0), DEPTH);
    CHECK_NUMBER(end, UNWIND_END_DEPTH);
    stack[DEPTH] = 12;
    CHECK_NUMBER(walk(PC(R_SP8, 0), 1, 0), DEPTH);
    CHECK_NUMBER(end, UNWIND_END_UNMAPPED);
}

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

int main(void)
{
    make_table();
    TEST(by_stack_pointer);
    TEST(exact_and_one_before);
    TEST(by_frame_pointer);
    TEST(by_other_registers);
    TEST(by_followed_register);
    TEST(by_words);
    TEST(by_plt);
    TEST(signals);
    TEST(frame_records);
    TEST(lost_frame_pointers);
    TEST(ends);
    TEST(start_code);
    TEST(wild_pointers);
    TEST(depths);
    table_free(&table);
    return tests_done();
}
