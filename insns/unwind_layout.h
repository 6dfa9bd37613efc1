/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Unwind tables, which C writes and BPF programs read. An object is a file, or the vDSO; its table
 * says for each instruction where the caller's stack pointer, frame pointer and return address are.
 * It is independent of the format that it was made from.
 *
 * A table is an array of 32-bit words, in blocks of UNWIND_BLOCK_WORDS, which it does not share:
 *
 *     rules       struct unwind_rule, one after another, from word 0 on
 *     directory   struct unwind_page, one for each page of 4096 bytes of the file, from the first
 *                 that has code to the last
 *     rows        a word for each, by offset within its page; those of a page are all in one block
 *
 * No rule, no entry of the directory and no page's rows cross the border between two blocks. Places
 * in the file are offsets, not addresses: a process's mappings give offsets, too.
 */
#ifndef STACKBOX_INSNS_UNWIND_LAYOUT_H
#define STACKBOX_INSNS_UNWIND_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNWIND_BLOCK_WORDS 4096 /* a row for each byte of a page would fit */
#define UNWIND_BLOCK_BYTES (UNWIND_BLOCK_WORDS * sizeof(uint32_t))
#define UNWIND_PAGE_BITS 12

/* Where the canonical frame address (CFA) is, which is the caller's stack pointer. */
enum unwind_cfa {
    UNWIND_UNKNOWN,        /* no table covers this instruction: the walk ends, incomplete */
    UNWIND_ROOT,           /* there is no caller: the stack is whole */
    UNWIND_BY_SP,          /* sp + offset */
    UNWIND_BY_FRAME,       /* frame pointer + offset */
    UNWIND_BY_REGISTER,    /* register `reg` + offset: as the event had it, so in the first frame,
                              or UNWIND_BASE where all frames before tell of it */
    UNWIND_BY_SP_WORD,     /* *(sp + inner) + offset */
    UNWIND_BY_FRAME_WORD,  /* *(frame pointer + inner) + offset */
    UNWIND_BY_PLT,         /* sp + offset + ((pc & 15) >= inner ? 8 : 0) */
    /* what a signal interrupted: all registers are in the frame at sp (rt_sigframe) */
    UNWIND_SIGNAL,
    /* code that keeps frame pointers, and has no table: after the record at the frame pointer; if
       that is 0, there is no caller */
    UNWIND_FRAME_RECORD,
    /* the same for code that switches stacks, so that the caller's may be anywhere: Go's */
    UNWIND_FAR_RECORD,
    /* the table needs what no rule can express: as UNWIND_UNKNOWN */
    UNWIND_UNSUPPORTED,
    UNWIND_CFAS,
};

/* Where the caller's frame pointer is. */
enum unwind_frame {
    UNWIND_FRAME_SAME,     /* where it was: the function did not touch it */
    UNWIND_FRAME_AT_CFA,   /* *(CFA + frame) */
    UNWIND_FRAME_AT_FRAME, /* *(frame pointer + frame) */
    UNWIND_FRAME_LOST,     /* the function used it for other data: it is unknown from here on */
    UNWIND_FRAMES,
};

/* Where the return address is. */
enum unwind_return {
    UNWIND_RETURN_AT_CFA,  /* *(CFA + ret) */
    UNWIND_RETURN_IN_LINK, /* in the link register; first frame, and what a signal interrupted */
    UNWIND_RETURN_IN_REGISTER, /* in the one of DWARF's number `ret`; first frame alone */
    UNWIND_RETURNS,
};

/*
 * Besides sp and the frame pointer, walks track one more register, in files that need it: rbx, from
 * which x86-64's dynamic linker restores sp after it binds a function at its first call; and, only
 * in walk.c, 32-bit ARM's r11.
 */
#define UNWIND_BASE 3
#define UNWIND_BASE_SAME 1

/* What walks of 64-bit stacks go by, in programs and in src/unwind/walk.c. */
#define UNWIND_USER_BITS 56                /* of addresses */
#define UNWIND_MOST_STACK_BYTES (64 << 20) /* no two frames are this far apart */
#define UNWIND_MISALIGNED 8  /* a bit of a CFA where no coroutine begins: a return address of 0
                                there is other data */
#define UNWIND_SIGNAL_BASE 8 /* of UNWIND_BASE in x86-64's signal frame, after the frame pointer */

/* `inner` of a rule by a register that is only right at calls of functions: 32-bit ARM's. */
#define UNWIND_AT_CALLS 1

struct unwind_rule {
    uint8_t cfa, frame_kind, return_kind;
    uint8_t reg;     /* DWARF's number */
    int32_t offset;
    int16_t inner;
    int16_t frame;
    int16_t ret;
    int16_t base; /* the caller's UNWIND_BASE: 0 unknown, UNWIND_BASE_SAME, or at (CFA + base) */
};
_Static_assert(sizeof(struct unwind_rule) == 16, "4 words, and 4096 can be divided by that");

/* Can a rule hold this distance? */
static inline bool unwind_fits(int64_t distance)
{
    return distance == (int16_t)distance;
}

/* A page: `count` rows from the table's word `first` on. 0 rows: no table covers any of it. */
struct unwind_page {
    uint32_t first;
    uint32_t count;
};
_Static_assert(sizeof(struct unwind_page) == 8, "2 words");

/*
 * A row applies from its offset up to the next row's. The first row of a page that has any is at
 * offset 0, and offsets rise, so a search always finds one.
 */
#define UNWIND_ROW_RULE_BITS 20
#define UNWIND_MOST_RULES (1u << UNWIND_ROW_RULE_BITS)
#define UNWIND_ROW(low, rule) ((uint32_t)(low) << UNWIND_ROW_RULE_BITS | (uint32_t)(rule))
#define UNWIND_ROW_LOW(row) ((row) >> UNWIND_ROW_RULE_BITS)
#define UNWIND_ROW_RULE(row) ((row) & (UNWIND_MOST_RULES - 1))

/* An object's key, from the kernel's inode. All 0: the vDSO. */
struct unwind_key {
    uint64_t device, inode;
    uint32_t generation;
    uint32_t written; /* the low bits of when, in nanoseconds: a file may be written to in place */
};
_Static_assert(sizeof(struct unwind_key) == 24, "a hash key must hold no padding");

/*
 * The part of an object's table that walks need first. 0 pages: the object has no table, and keeps
 * at most frame pointers.
 */
struct unwind_object {
    uint32_t block;      /* its first, among all: they are consecutive */
    uint32_t directory;  /* the table's word where that begins */
    uint32_t first_page; /* the page (offset >> UNWIND_PAGE_BITS) of its first entry, */
    uint32_t pages;      /* and how many there are */
    uint32_t rules;      /* how many */
    uint32_t number;     /* unique to this table; not 0 */
    uint32_t kind;       /* 0; without a table (pages 0) what to do there: below */
    uint32_t unused;
};

/* The kind of a mapping's object: 0, it has a table; an end + 1, with which walks end there; or */
#define UNWIND_KEEPS_RECORDS UINT32_MAX /* memory without a file: a JIT's */

/*
 * A rule that a walk found, by its object's number and the offset; the sum tells if it is intact.
 */
struct unwind_cached {
    uint64_t key;
    struct unwind_rule rule;
    uint64_t sum; /* key ^ both words of the rule */
};
#define UNWIND_CACHED 4096 /* of them */

/*
 * Blocks are in chunks, separate arrays in an array of maps: block n is element n & 63 of chunk n
 * >> 6.
 */
#define UNWIND_CHUNK_BLOCKS 64
#define UNWIND_MOST_CHUNKS 1024 /* 1 GB */

/* Why a walk ended. */
enum unwind_end {
    UNWIND_END_ROOT,        /* the stack is whole */
    UNWIND_END_DEPTH,       /* there are more frames than asked for */
    /* the object has no table yet, and the rest of the stack was not kept */
    UNWIND_END_DEFERRED,
    UNWIND_END_NO_TABLE,    /* this place in the object has none */
    UNWIND_END_UNSUPPORTED, /* it needs what rules cannot express, or a register that was lost */
    UNWIND_END_UNMAPPED,    /* nothing is mapped there, or nothing executable */
    UNWIND_END_UNREADABLE,  /* the stack could not be read there */
    UNWIND_END_SENSELESS,   /* the rule led down the stack, or to impossible addresses */
    UNWIND_END_RETURN_PROBE, /* a return probe has put its own address there */
    UNWIND_END_NO_REGISTERS, /* of the user: it is a kernel thread */
    UNWIND_END_UNREAD,       /* the object's file could not be read */
    UNWIND_END_NO_ROOM,      /* there was no room or time for its table: frame pointers must do */
    UNWIND_END_BEYOND,       /* there is more of the stack than was copied */
    /* exec has replaced the memory, but not set the registers yet: there is no stack */
    UNWIND_END_EXEC,
    UNWIND_END_UNKNOWN,      /* what the process has mapped is not known here */
    UNWIND_END_STEPS,        /* a program without loops takes no more steps */
    UNWIND_ENDS,
};

/*
 * Start code may have no table: musl's is asm and plain C. A process's has this many bytes of
 * stack, from its beginning, which no function that it calls uses; a thread's has a return address
 * within as many, and ends the thread there. A walk that ends there as NO_TABLE is complete.
 */
#define UNWIND_START_BYTES 64

/*
 * The last frame, which says how the walk ended; there is none if the stack is whole and has as
 * many frames as there is room for. No program has code at it. Before it are the addresses, leaf
 * first. All but the first, and those that a signal interrupted, are return addresses; what a
 * signal interrupted is stored as its address + 1, so that all but the first are looked up one
 * below.
 */
#define UNWIND_END_FRAME(end) (UINT64_C(0xffffffffffff0000) | (uint64_t)(end))
#define UNWIND_IS_END_FRAME(address) (((address) & ~UINT64_C(0xff)) == UINT64_C(0xffffffffffff0000))

/*
 * Or the last frame has the number under which the rest of the stack was kept, for a walk once the
 * object of the frame before it has a table. No user or kernel address begins like this. Each
 * number is used once.
 */
#define UNWIND_DEFERRED_FRAME_BITS 56
#define UNWIND_DEFERRED_FRAME(number) \
    (UINT64_C(0xc0) << UNWIND_DEFERRED_FRAME_BITS | (uint64_t)(number))
#define UNWIND_IS_DEFERRED_FRAME(address) ((address) >> UNWIND_DEFERRED_FRAME_BITS == 0xc0)

/*
 * How many frames to show: all but the end frame of a whole stack. *by_tables: a walk by tables.
 */
static inline size_t unwind_count_frames(const uint64_t *frames, size_t count, bool *by_tables)
{
    *by_tables = count &&
        (UNWIND_IS_END_FRAME(frames[count - 1]) || UNWIND_IS_DEFERRED_FRAME(frames[count - 1]));
    return *by_tables && frames[count - 1] == UNWIND_END_FRAME(UNWIND_END_ROOT) ? count - 1 : count;
}

#endif
