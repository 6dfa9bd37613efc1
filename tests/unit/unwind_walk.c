/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Walks over hand-written stacks, by hand-written tables: each rule and each end. */
#include "hand_made_stacks.h"

TEST(by_stack_pointer)
{
    LAY(1, PC(R_SP24, 5), 1, 2, PC(R_ROOT, 3));
    EXPECT(walk(PC(R_SP8, 0), 1, 0), UNWIND_END_ROOT, PC(R_SP8, 0), PC(R_SP24, 5), PC(R_ROOT, 3));
}

/* The walk looks up the first frame by its pc, all others by their return address - 1. */
TEST(exact_and_one_before)
{
    LAY(1, PC(R_SP8 + 1, 0), PC(R_ROOT + 1, 0));
    EXPECT(walk(PC(R_SP8, 0), 1, 0), UNWIND_END_ROOT, PC(R_SP8, 0), PC(R_SP8 + 1, 0), PC(R_ROOT + 1, 0));
}

TEST(by_frame_pointer)
{
    LAY(4, STACK + 10 * 8, PC(R_FRAME16, 1));
    stack[10] = 0x1234;
    stack[11] = PC(R_ROOT, 1);
    EXPECT(walk(PC(R_FRAME16, 2), 0, 4), UNWIND_END_ROOT, PC(R_FRAME16, 2), PC(R_FRAME16, 1), PC(R_ROOT, 1));
    /* and what was saved by a function that did not use it */
    LAY(1, STACK + 10 * 8, 7, PC(R_SP8, 2), PC(R_FRAME16, 1));
    stack[2] = STACK + 10 * 8;
    stack[10] = 0;
    stack[11] = PC(R_ROOT, 1);
    EXPECT(walk(PC(R_SP24, 2), 1, 50), UNWIND_END_ROOT, PC(R_SP24, 2), PC(R_SP8, 2), PC(R_FRAME16, 1),
           PC(R_ROOT, 1));
}

TEST(by_other_registers)
{
    LAY(0, 0);
    stack[19] = PC(R_ROOT, 1);
    registers.by_dwarf[10] = STACK + 20 * 8;
    EXPECT(walk(PC(R_BY_R10, 2), 1, 0), UNWIND_END_ROOT, PC(R_BY_R10, 2), PC(R_ROOT, 1));
    /* Sampled registers belong only to the first frame. */
    LAY(1, PC(R_BY_R10, 1));
    registers.by_dwarf[10] = STACK + 20 * 8;
    EXPECT(walk(PC(R_SP8, 2), 1, 0), UNWIND_END_UNSUPPORTED, PC(R_SP8, 2), PC(R_BY_R10, 1));
    LAY(0, 0);
    EXPECT(walk(PC(R_BY_PC, 2), 1, 0), UNWIND_END_UNSUPPORTED, PC(R_BY_PC, 2));
}

/* The return address is in a register, which is known in the first frame alone. */
TEST(popped_returns)
{
    LAY(1, PC(R_ROOT, 1));
    registers.by_dwarf[5] = PC(R_SP8, 1);
    EXPECT(walk(PC(R_POPPED, 2), 1, 0), UNWIND_END_ROOT, PC(R_POPPED, 2), PC(R_SP8, 1), PC(R_ROOT, 1));
    LAY(1, PC(R_POPPED, 1));
    registers.by_dwarf[5] = PC(R_SP8, 1);
    EXPECT(walk(PC(R_SP8, 2), 1, 0), UNWIND_END_UNSUPPORTED, PC(R_SP8, 2), PC(R_POPPED, 1));
    EXPECT(walk(PC(R_BEYOND, 2), 1, 0), UNWIND_END_UNSUPPORTED, PC(R_BEYOND, 2));
}

/* A handler from word 1 on, returning to the trampoline; below it the interrupted function. */
static void lay_signal(uint64_t pc, uint64_t sp, uint64_t frame)
{
    LAY(1, PC(R_SIGNAL, 1));
    stack[2 + 15] = frame;
    stack[2 + 20] = sp;
    stack[2 + 21] = pc;
}

/* The walk follows one other register through the frames: rbx. */
TEST(by_followed_register)
{
    LAY(1, PC(R_BY_RBX, 1));
    registers.by_dwarf[3] = STACK + 20 * 8;
    stack[22] = PC(R_ROOT, 1);
    EXPECT(walk(PC(R_KEEPS_RBX, 2), 1, 0), UNWIND_END_ROOT, PC(R_KEEPS_RBX, 2), PC(R_BY_RBX, 1), PC(R_ROOT, 1));
    /* One function saved it, and the others did not change it. */
    LAY(1, 7, STACK + 20 * 8, PC(R_KEEPS_RBX, 1), PC(R_BY_RBX, 1));
    registers.by_dwarf[3] = 99;
    stack[22] = PC(R_ROOT, 1);
    EXPECT(walk(PC(R_SAVES_RBX, 2), 1, 0), UNWIND_END_ROOT, PC(R_SAVES_RBX, 2), PC(R_KEEPS_RBX, 1),
           PC(R_BY_RBX, 1), PC(R_ROOT, 1));
    /* A function that used rbx as its frame pointer saved its caller's rbx. */
    stack[22] = PC(R_BY_RBX, 1);
    stack[20] = STACK + 30 * 8;
    stack[32] = PC(R_ROOT, 1);
    EXPECT(walk(PC(R_SAVES_RBX, 2), 1, 0), UNWIND_END_ROOT, PC(R_SAVES_RBX, 2), PC(R_KEEPS_RBX, 1),
           PC(R_BY_RBX, 1), PC(R_BY_RBX, 1), PC(R_ROOT, 1));
    /* Without a rule for rbx in a function, the walk loses it. */
    LAY(1, 7, STACK + 20 * 8, PC(R_SP8, 1), PC(R_BY_RBX, 1));
    EXPECT(walk(PC(R_SAVES_RBX, 2), 1, 0), UNWIND_END_UNSUPPORTED, PC(R_SAVES_RBX, 2), PC(R_SP8, 1),
           PC(R_BY_RBX, 1));
    LAY(1, 7, WORDS * 8 + STACK, PC(R_BY_RBX, 1));
    EXPECT(walk(PC(R_SAVES_RBX, 2), 1, 0), UNWIND_END_UNREADABLE, PC(R_SAVES_RBX, 2), PC(R_BY_RBX, 1));
    /* For an interrupted function, the signal frame has rbx. */
    lay_signal(PC(R_BY_RBX, 0), STACK, 0);
    stack[2 + 16] = STACK + 30 * 8;
    stack[32] = PC(R_ROOT, 1);
    EXPECT(walk(PC(R_SP8, 3), 1, 0), UNWIND_END_ROOT, PC(R_SP8, 3), PC(R_SIGNAL, 1), PC(R_BY_RBX, 0) + 1,
           PC(R_ROOT, 1));
}

TEST(by_words)
{
    LAY(1, 1, STACK + 20 * 8);
    stack[21] = PC(R_ROOT, 1);
    EXPECT(walk(PC(R_SP_WORD, 0), 1, 0), UNWIND_END_ROOT, PC(R_SP_WORD, 0), PC(R_ROOT, 1));
    /* How gcc realigns a stack: the old stack pointer is below the frame pointer, the caller's at it. */
    LAY(5, STACK + 30 * 8, STACK + 40 * 8);
    stack[29] = PC(R_FRAME16, 4);
    stack[40] = 0;
    stack[41] = PC(R_ROOT, 4);
    EXPECT(walk(PC(R_FRAME_WORD, 0), 1, 6), UNWIND_END_ROOT, PC(R_FRAME_WORD, 0), PC(R_FRAME16, 4),
           PC(R_ROOT, 4));
    EXPECT(walk(PC(R_FRAME_WORD, 0), 1, WORDS + 1), UNWIND_END_UNREADABLE, PC(R_FRAME_WORD, 0));
}

TEST(by_plt)
{
    for (unsigned byte = 0; byte < 16; byte++) {
        LAY(1, byte < 11 ? PC(R_ROOT, 1) : 77, byte < 11 ? 78 : PC(R_ROOT, 1));
        EXPECT(walk(PC(R_PLT, byte), 1, 0), UNWIND_END_ROOT, PC(R_PLT, byte), PC(R_ROOT, 1));
    }
}

TEST(signals)
{
    /* The interrupted function was at its first byte, and is found by that address. */
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
    /* An interrupted function's registers are not the event's. */
    lay_signal(PC(R_BY_R10, 0), STACK, 0);
    registers.by_dwarf[10] = STACK + 60 * 8;
    EXPECT(walk(PC(R_SP8, 3), 1, 0), UNWIND_END_UNSUPPORTED, PC(R_SP8, 3), PC(R_SIGNAL, 1), PC(R_BY_R10, 0) + 1);
    /* After a call of NULL, or of an unmapped address, the caller is unknown. */
    lay_signal(0, STACK + 40 * 8, 0);
    EXPECT(walk(PC(R_SP8, 3), 1, 0), UNWIND_END_UNMAPPED, PC(R_SP8, 3), PC(R_SIGNAL, 1));
    lay_signal(0x1234, STACK + 40 * 8, 0);
    EXPECT(walk(PC(R_SP8, 3), 1, 0), UNWIND_END_UNMAPPED, PC(R_SP8, 3), PC(R_SIGNAL, 1));
    LAY(0, 0);
    EXPECT(walk(PC(R_SIGNAL, 3), WORDS - 21, 0), UNWIND_END_UNREADABLE, PC(R_SIGNAL, 3));
}

TEST(frame_records)
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
        /* In running code without a file it is a JIT's that keeps none. */
        EXPECT(walk(code, 0, 0 - STACK / 8), tabled ? UNWIND_END_ROOT : UNWIND_END_SENSELESS, code);
        EXPECT(walk(code, 0, WORDS), UNWIND_END_UNREADABLE, code);
    }
    LAY(1, FRAMED + 9);
    EXPECT(walk(PC(R_LOST, 0), 1, 10), UNWIND_END_UNSUPPORTED, PC(R_LOST, 0), FRAMED + 9);
}

/* Trampolines push one word, set up no frame pointer, and preserve their caller's. */
TEST(trampolines)
{
    LAY(1, TRAMPOLINES + 10, 7, PC(R_SP8, 1), TRAMPOLINES + 42, 7, PC(R_FRAME16, 1));
    stack[21] = PC(R_BY_RBX, 1);
    registers.by_dwarf[3] = STACK + 20 * 8;
    stack[22] = PC(R_ROOT, 1);
    EXPECT(walk(PC(R_KEEPS_RBX, 2), 1, 20), UNWIND_END_UNSUPPORTED, PC(R_KEEPS_RBX, 2), TRAMPOLINES + 10, PC(R_SP8, 1),
           TRAMPOLINES + 42, PC(R_FRAME16, 1), PC(R_BY_RBX, 1));
    LAY(1, TRAMPOLINES + 10, 7, PC(R_BY_RBX, 1));
    registers.by_dwarf[3] = STACK + 20 * 8;
    stack[22] = PC(R_ROOT, 1);
    EXPECT(walk(PC(R_KEEPS_RBX, 2), 1, 30), UNWIND_END_ROOT, PC(R_KEEPS_RBX, 2), TRAMPOLINES + 10, PC(R_BY_RBX, 1),
           PC(R_ROOT, 1));
    /* At a pc that is no return address, the trampoline's code gives no rule. */
    stack[30] = 0;
    stack[31] = PC(R_ROOT, 1);
    EXPECT(walk(TRAMPOLINES + 6, 1, 30), UNWIND_END_ROOT, TRAMPOLINES + 6, PC(R_ROOT, 1));
    LAY(1, PC(R_ROOT, 1));
    EXPECT(walk(TRAMPOLINES + 6, 1, 40), UNWIND_END_UNMAPPED, TRAMPOLINES + 6);
}

TEST(lost_frame_pointers)
{
    LAY(1, PC(R_FRAME16, 1));
    EXPECT(walk(PC(R_LOST, 0), 1, 10), UNWIND_END_UNSUPPORTED, PC(R_LOST, 0), PC(R_FRAME16, 1));
    LAY(1, PC(R_FRAME_WORD, 1));
    EXPECT(walk(PC(R_LOST, 0), 1, 10), UNWIND_END_UNSUPPORTED, PC(R_LOST, 0), PC(R_FRAME_WORD, 1));
    /* A lost frame pointer leads to nothing, */
    LAY(1, PC(R_AT_FRAME, 1), PC(R_FRAME16, 1));
    EXPECT(walk(PC(R_LOST, 0), 1, 10), UNWIND_END_UNSUPPORTED, PC(R_LOST, 0), PC(R_AT_FRAME, 1), PC(R_FRAME16, 1));
    EXPECT(walk(PC(R_LOST, 0), 1, WORDS), UNWIND_END_UNSUPPORTED, PC(R_LOST, 0), PC(R_AT_FRAME, 1),
           PC(R_FRAME16, 1));
    /* until a function has saved the frame pointer. */
    LAY(1, PC(R_SP24, 1), 5, STACK + 10 * 8, PC(R_FRAME16, 1));
    stack[11] = PC(R_ROOT, 1);
    EXPECT(walk(PC(R_LOST, 0), 1, 10), UNWIND_END_ROOT, PC(R_LOST, 0), PC(R_SP24, 1), PC(R_FRAME16, 1),
           PC(R_ROOT, 1));
    LAY(1, PC(R_FRAME16, 1));
    stack[11] = STACK + 20 * 8;
    stack[21] = PC(R_ROOT, 1);
    EXPECT(walk(PC(R_AT_FRAME, 0), 1, 10), UNWIND_END_ROOT, PC(R_AT_FRAME, 0), PC(R_FRAME16, 1), PC(R_ROOT, 1));
}

TEST(ends)
{
    LAY(1, 0);
    EXPECT(walk(PC(R_SP8, 0), 1, 0), UNWIND_END_ROOT, PC(R_SP8, 0));
    /* Not what a coroutine begins with. */
    LAY(2, 0);
    EXPECT(walk(PC(R_SP8, 0), 2, 0), UNWIND_END_SENSELESS, PC(R_SP8, 0));
    LAY(0, 0);
    EXPECT(walk(PC(R_UNKNOWN, 0), 1, 0), UNWIND_END_NO_TABLE, PC(R_UNKNOWN, 0));
    EXPECT(walk(CODE + 0x800, 1, 0), UNWIND_END_NO_TABLE, CODE + 0x800);
    EXPECT(walk(CODE + 0x8000, 1, 0), UNWIND_END_NO_TABLE, CODE + 0x8000);
    EXPECT(walk(PC(R_UNSUPPORTED, 0), 1, 0), UNWIND_END_UNSUPPORTED, PC(R_UNSUPPORTED, 0));
    EXPECT(walk(PC(R_LINK, 0), 1, 0), UNWIND_END_UNSUPPORTED, PC(R_LINK, 0));
    EXPECT(walk(DEFERRED + 1, 1, 0), UNWIND_END_DEFERRED, DEFERRED + 1);
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
    /* The code begins after this call, so what precedes it is not code. */
    LAY(1, CODE);
    EXPECT(walk(PC(R_SP8, 0), 1, 0), UNWIND_END_UNMAPPED, PC(R_SP8, 0));
    LAY(1, CODE + MAPPED);
    EXPECT(walk(PC(R_SP8, 0), 1, 0), UNWIND_END_NO_TABLE, PC(R_SP8, 0), CODE + MAPPED);
    is_deferred = true;
    EXPECT(walk(PC(R_SP8, 0), 1, 0), UNWIND_END_DEFERRED, PC(R_SP8, 0));
}

/* Wild values: the walk reads nothing below the stack or outside user memory. */
/* Start code has no table: the walk takes it for code without a caller, and ignores the rest. */
TEST(start_code)
{
    LAY(1, PC(R_UNKNOWN, 1));
    stack[9] = PC(R_ROOT, 1);
    EXPECT(walk(PC(R_SP8, 0), 1, 0), UNWIND_END_ROOT, PC(R_SP8, 0), PC(R_UNKNOWN, 1));
    stack[9] = PC(R_SP8, 1);
    stack[10] = PC(R_ROOT, 1);
    EXPECT(walk(PC(R_SP8, 0), 1, 0), UNWIND_END_NO_TABLE, PC(R_SP8, 0), PC(R_UNKNOWN, 1));
    EXPECT(walk(PC(R_UNKNOWN, 0), 8, 0), UNWIND_END_ROOT, PC(R_UNKNOWN, 0));
}

TEST(wild_pointers)
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

TEST(depths)
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
    stack[DEPTH + 1] = 0;
    CHECK_NUMBER(walk(PC(R_SP8, 0), 2, 0), DEPTH);
    CHECK_NUMBER(end, UNWIND_END_ROOT);
    /* and one more is not; what is not code is not a frame. */
    stack[DEPTH] = PC(R_ROOT, 1);
    CHECK_NUMBER(walk(PC(R_SP8, 0), 1, 0), DEPTH);
    CHECK_NUMBER(end, UNWIND_END_DEPTH);
    stack[DEPTH] = 12;
    CHECK_NUMBER(walk(PC(R_SP8, 0), 1, 0), DEPTH);
    CHECK_NUMBER(end, UNWIND_END_UNMAPPED);
}

int main(void)
{
    make_table();
    run_tests();
    return tests_done();
}
