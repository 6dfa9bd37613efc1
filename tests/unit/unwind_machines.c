/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Where unwinding on other machines differs from x86-64: the link register, frame records, signal frames. */
#include "hand_made_stacks.h"

#define SIGNED 0x003b000000000000ull /* bits that pointer authentication may add to an address */

static void set_link(uint64_t link)
{
    registers.by_dwarf[machine->link.dwarf] = link;
}

/* A function that has saved nothing returns by the link register: only the first frame. */
static void by_link(void)
{
    LAY(1, PC(R_ROOT, 1));
    set_link(PC(R_ROOT, 2));
    EXPECT(walk(PC(R_LINK, 0), 1, 0), UNWIND_END_ROOT, PC(R_LINK, 0), PC(R_ROOT, 2));
    EXPECT(walk(PC(R_LEAF, 0), 1, 0), UNWIND_END_ROOT, PC(R_LEAF, 0), PC(R_ROOT, 2));
    set_link(PC(R_SP8, 1));
    EXPECT(walk(PC(R_LEAF, 0), 1, 0), UNWIND_END_ROOT, PC(R_LEAF, 0), PC(R_SP8, 1), PC(R_ROOT, 1));
    /* Otherwise the walk would not end. */
    set_link(PC(R_LEAF, 1));
    EXPECT(walk(PC(R_LEAF, 0), 1, 0), UNWIND_END_UNSUPPORTED, PC(R_LEAF, 0), PC(R_LEAF, 1));
    EXPECT(walk(PC(R_DOWN, 0), 1, 0), UNWIND_END_SENSELESS, PC(R_DOWN, 0));
}

static void at_entries(void)
{
    const struct walk_options config = {.machine = machine, .find = find, .read = read_stack, .depth = DEPTH};
    struct walk_start start = {
        .pc = PC(R_SP24, 0), .sp = STACK + 8, .exact = true, .first = true, .at_entry = true,
    };

    LAY(1, PC(R_ROOT, 1));
    start.registers.by_dwarf[machine->link.dwarf] = PC(R_SP8, 3);
    EXPECT(walk_on(&config, &start, frames, &end), UNWIND_END_ROOT, PC(R_SP24, 0), PC(R_SP8, 3), PC(R_ROOT, 1));
}

static void no_base(void)
{
    LAY(1, PC(R_BY_RBX, 1));
    registers.by_dwarf[UNWIND_BASE] = STACK + 20 * 8;
    stack[22] = PC(R_ROOT, 1);
    EXPECT(walk(PC(R_BY_RBX, 2), 1, 0), UNWIND_END_ROOT, PC(R_BY_RBX, 2), PC(R_ROOT, 1));
    EXPECT(walk(PC(R_KEEPS_RBX, 2), 1, 0), UNWIND_END_UNSUPPORTED, PC(R_KEEPS_RBX, 2), PC(R_BY_RBX, 1));
}

static void signed_addresses(void)
{
    LAY(1, PC(R_SP8, 1) | SIGNED, PC(R_ROOT, 1) | SIGNED);
    set_link(PC(R_SP8, 2) | SIGNED);
    EXPECT(walk(PC(R_LEAF, 0), 1, 0), UNWIND_END_ROOT, PC(R_LEAF, 0), PC(R_SP8, 2), PC(R_SP8, 1), PC(R_ROOT, 1));
    LAY(4, STACK + 10 * 8, PC(R_ROOT, 1) | SIGNED);
    EXPECT(walk(FRAMED, 1, 4), UNWIND_END_ROOT, FRAMED, PC(R_ROOT, 1));
}

/*
 * A frame record is at the bottom of its function's frame: it gives the frame pointer, but not the
 * stack pointer.
 */
static void records_tell_no_sp(void)
{
    LAY(4, STACK + 10 * 8, PC(R_SP8, 1), PC(R_ROOT, 1));
    EXPECT(walk(FRAMED, 1, 4), UNWIND_END_UNSUPPORTED, FRAMED, PC(R_SP8, 1));
    LAY(4, STACK + 10 * 8, PC(R_FRAME16, 1));
    stack[10] = 0;
    stack[11] = PC(R_SP24, 1);
    stack[14] = PC(R_ROOT, 1);
    EXPECT(walk(FRAMED, 1, 4), UNWIND_END_ROOT, FRAMED, PC(R_FRAME16, 1), PC(R_SP24, 1), PC(R_ROOT, 1));
    LAY(4, STACK + 10 * 8, PC(R_SIGNAL, 1));
    EXPECT(walk(FRAMED, 1, 4), UNWIND_END_UNSUPPORTED, FRAMED, PC(R_SIGNAL, 1));
}

/* As in struct rt_sigframe: the interrupted function may be a leaf. */
static void arm_signals(void)
{
    static uint64_t frame[WORDS];

    memset(frame, 0, sizeof(frame));
    LAY(0, 0);
    CHECK_NUMBER(machine->walk->signal.at + machine->walk->signal.pc, 568);
    frame_words = frame;
    frame[(544 - 544) / 8] = STACK + 4 * 8; /* x29, x30, sp, pc */
    frame[(552 - 544) / 8] = PC(R_ROOT, 1);
    frame[(560 - 544) / 8] = STACK + 8;
    frame[(568 - 544) / 8] = PC(R_LEAF, 2);
    set_link(PC(R_SIGNAL, 1));
    EXPECT(walk(PC(R_LEAF, 0), FRAME_WORDS_AT, 0), UNWIND_END_ROOT, PC(R_LEAF, 0), PC(R_SIGNAL, 1), PC(R_LEAF, 2) + 1,
           PC(R_ROOT, 1));
    frame_words = NULL;
}

/* The frame pointer is the caller's stack pointer, and both words are below it. */
static void records_below(void)
{
    LAY(8, STACK + 20 * 8, PC(R_SP8, 1), PC(R_ROOT, 1));
    EXPECT(walk(FRAMED, 1, 10), UNWIND_END_ROOT, FRAMED, PC(R_SP8, 1), PC(R_ROOT, 1));
    EXPECT(walk(FRAMED, 9, 10), UNWIND_END_SENSELESS, FRAMED);
    /* A leaf saves the frame pointer where other functions have the return address. */
    LAY(9, STACK + 20 * 8);
    stack[18] = 0;
    stack[19] = PC(R_ROOT, 1);
    set_link(FRAMED + 4);
    EXPECT(walk(FRAMED, 1, 10), UNWIND_END_ROOT, FRAMED, FRAMED + 4, PC(R_ROOT, 1));
}

/* Without compilers' tables: frame pointers. */
static void sparse_tables(void)
{
    LAY(8, 0, PC(R_UNKNOWN, 1));
    EXPECT(walk(PC(R_UNKNOWN, 2), 1, 10), UNWIND_END_ROOT, PC(R_UNKNOWN, 2), PC(R_UNKNOWN, 1));
    EXPECT(walk(CODE + MAPPED - 8, 1, 10), UNWIND_END_ROOT, CODE + MAPPED - 8, PC(R_UNKNOWN, 1));
}

int main(void)
{
    make_table();
    machine = &machine_aarch64;
    RUN(by_link);
    RUN(at_entries);
    RUN(no_base);
    RUN(signed_addresses);
    RUN(records_tell_no_sp);
    RUN(arm_signals);
    machine = &machine_riscv64;
    RUN(by_link);
    RUN(at_entries);
    RUN(records_below);
    RUN(sparse_tables);
    table_free(&table);
    return tests_done();
}
