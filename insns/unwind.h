/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Unwinding by tables (unwind_layout.h), for whole stacks of code without frame pointers: functions
 * after a program's end. They need no context, so they are the same for programs of every type.
 */
#ifndef STACKBOX_INSNS_UNWIND_H
#define STACKBOX_INSNS_UNWIND_H

#include <stdbool.h>

#include "insns/layout.h"
#include "insns/machine.h"
#include "insns/program.h"
#include "insns/task.h"
#include "insns/unwind_layout.h"

/* Where the kernel keeps what it needs: distances in bytes. */
struct unwind_fields {
    uint16_t task_mm, task_stack;
    uint32_t registers; /* from the beginning of a thread's stack to the user's struct pt_regs */
    uint16_t mm_tree;   /* the root of its mappings: */
    bool maple;         /* a maple tree (6.1), otherwise a red-black tree, */
    uint16_t vma_node;  /* whose nodes are there in a mapping */
    uint16_t vma_start, vma_end, vma_page, vma_flags, vma_file;
    uint16_t file_inode;
    uint16_t inode_super, inode_number; /* these are within UNWIND_INODE_BYTES of the first: */
    uint16_t inode_written, inode_written_ns; /* seconds of 64 bits; nanoseconds of 32 */
    uint16_t inode_generation;
    bool wide_number;   /* of 64 bits */
    uint8_t page_bits;  /* of the unit of a mapping's offset in its file */
    uint16_t super_device;
    uint16_t mm_vdso, mm_first_stack;
    bool returns; /* it lists, at these places, the return addresses that probes replaced */
    uint16_t task_utask, utask_returns;
    uint16_t return_stack, return_address, return_next; /* within UNWIND_RETURN_BYTES */
};
/* How much a walk reads at once of a mapping, a maple tree's node; of an inode; of a return. */
#define UNWIND_NODE_BYTES 256
#define UNWIND_INODE_BYTES 128
#define UNWIND_RETURN_BYTES 64

struct unwind_maps {
    int states;  /* by CPU, SLOTS_PER_CPU of UNWIND_STATE_BYTES(depth) each */
    int objects; /* struct unwind_key to struct unwind_object */
    int chunks;  /* of blocks */
    int cache;   /* struct unwind_cached [UNWIND_CACHED], in one value */
    /* a ring buffer for unfinished stacks; below 0: none, frame pointers must do */
    int deferred;
};

struct unwind_config {
    const struct machine *machine; /* the kernel's, and its programs' */
    const struct unwind_fields *fields;
    struct unwind_maps maps;
    uint32_t depth;
    bool asked;    /* the user chose that depth: keep all of its frames, and do not mark the end */
    bool claims;   /* programs may nest (fragments.h): a walk claims its state */
    bool readable; /* unwind_find() also accepts mappings that are not executable */
    bool first_alone; /* no walk: the first frame is enough, and the members above are unset */
    /* Outside the initial pid namespace: for the pid that is kept with a part of a stack. */
    bool in_namespace;
    uint64_t namespace_device, namespace_inode;
    const struct pid_fields *numbers; /* as in struct event_filter */
};

#define UNWIND_REGISTERS 34 /* words of struct pt_regs, on the machine that has most */

#define UNWIND_BASE_LOST 0
#define UNWIND_BASE_IN_REGISTERS 1

/* The part of the stack that is read at once: 64 words. */
#define UNWIND_WINDOW_BYTES 512
#define UNWIND_WINDOW_WORDS (UNWIND_WINDOW_BYTES - 8) /* the bits of an offset in it */
#define UNWIND_NO_WINDOW (1ull << 63)

/* Walks so far: in all; left to frame pointers; without room to keep the rest. */
struct unwind_counts {
    uint64_t walks, fell_back, not_kept;
};

/* Where an object, or anything else, is mapped. */
struct unwind_mapping {
    uint64_t start, end;     /* end 0: nothing is */
    uint64_t delta;          /* turns an address into an offset in its object */
    uint32_t kind, unused;   /* what it is: unwind_layout.h */
    struct unwind_object object;
};

struct unwind_state {
    uint64_t users;
    struct unwind_counts counts;
    uint64_t pc, sp, frame;  /* of the current frame */
    uint32_t count;          /* frames found */
    uint32_t exact;          /* 1: pc is the frame's address, otherwise a return address */
    uint32_t first;          /* `registers` are this frame's */
    uint32_t frame_lost;     /* its frame pointer is unknown */
    uint32_t sp_lost;        /* so is its stack pointer, which is above `sp` */
    uint32_t pages;          /* of what is kept, a bit each, sp's first; 0: all of them */
    uint64_t base;           /* where the caller's UNWIND_BASE is; or UNWIND_BASE_ as below */
    uint64_t mm;
    uint64_t first_stack;    /* the process's initial stack pointer, if it was needed */
    uint64_t returns;        /* where the last replaced return was found; 0: none yet */
    uint64_t at, entry;      /* the address to find, and the search's place in the mappings' tree */
    struct unwind_mapping mapping, other; /* the one that it is in, and the previous one */
    uint32_t is_root;        /* `entry` is the tree's root */
    uint32_t at_entry;       /* 1: the event is at a function's first instruction */
    struct unwind_key key;
    struct unwind_rule rule; /* of the frame */
    uint64_t word[2];
    uint64_t registers[UNWIND_REGISTERS]; /* the link register also for what a signal interrupted */
    uint64_t number, time;   /* of what was kept last: as in its frame, and CLOCK_MONOTONIC */
    uint32_t tid, pid;       /* whose it is */
    uint64_t kept;           /* bytes of the stack, from sp on, but for gaps */
    unsigned char node[UNWIND_NODE_BYTES];
    uint64_t from;           /* what is read next, unless it is in the window: */
    uint64_t window_start;   /* the address of its first word */
    uint64_t window[UNWIND_WINDOW_BYTES / 8];
    uint64_t serial; /* of what was kept */
    uint64_t bytes; /* of the frames */
    uint64_t frames[];
};
#define UNWIND_STATE_BYTES(depth) (offsetof(struct unwind_state, frames) + (size_t)(depth) * 8)
#define UNWIND_MOST_DEPTH 3900
_Static_assert(UNWIND_STATE_BYTES(UNWIND_MOST_DEPTH) <= MOST_CPU_VALUE_BYTES, "a value of a CPU");
_Static_assert(offsetof(struct unwind_state, users) == offsetof(struct slot, users),
               "claimed alike");

/*
 * What is kept if an object has no table yet: the walk's state, whose last frame is the one without
 * a table, and `kept` bytes of the stack from there on: as many as are needed and readable.
 */
#define UNWIND_PAGE_BYTES (1 << UNWIND_PAGE_BITS)
#define UNWIND_MOST_KEPT (32 << 10)
#define UNWIND_KEPT_HEAD offsetof(struct unwind_state, node)
#define UNWIND_RECORD_BYTES(kept) (UNWIND_KEPT_HEAD + (size_t)(kept))

/* Appends them after the program, which has ended with EXIT. */
void emit_unwind_functions(struct program *program, const struct unwind_config *config);

/*
 * The program that finds the kernel's key of what we mapped: run by bpf_run_raw() with the address
 * as the first word of its context, it leaves `key`, and `kind` and `end`, in the CPU's state 0.
 */
void emit_unwind_key(struct program *program, const struct unwind_config *config);

/*
 * Part of a walk: r0 = how many bytes of frames went to r8 + frames, or a negative errno if another
 * walk must do it: there are no user registers, or an object on the way has no table yet. Uses 4
 * bytes at r10 + index. r1 to r5 are lost.
 */
struct unwind_place {
    bool at_entry; /* the event is at a function's first instruction */
    int32_t frames;
    int16_t index;
    const char *failed, *done; /* labels that the program has only once */
};
void emit_unwind(struct program *program, const struct unwind_config *config,
                 const struct unwind_place *place);

/* ---- For unwind*.c only ---- */

#define UNWIND_INDEX -4 /* on the stack: where emit_unwind_state() puts it */
#define UNWIND_AT(member) ((int16_t)offsetof(struct unwind_state, member))

/* r8 = the state with index r1, r6 = that index; goes to `none` if there is none. */
void emit_unwind_state(struct program *program, const struct unwind_config *config,
                       const char *none);

/* Increments it; r1 = its new value. */
#define UNWIND_COUNT(member) \
    LDX(DW, R1, R8, UNWIND_AT(member)), ADD_IMM(R1, 1), STX(DW, R8, UNWIND_AT(member), R1)

/* A word of state.registers. */
#define UNWIND_WORD_AT(word) ((int16_t)(UNWIND_AT(registers) + (word) * 8))

#define UNWIND_RULE_AT(member) ((int16_t)offsetof(struct unwind_rule, member))

/* dst = a signed number of that many bits. */
#define UNWIND_SIGNED(dst, bits) LSH_IMM(dst, 64 - (bits)), ARSH_IMM(dst, 64 - (bits))

/* *(r8 + to) = the user's bytes at r3; or goes to unwind_unreadable. */
void emit_unwind_copy(struct program *program, int16_t to, int32_t bytes);

/* The rule for a return address in a trampoline of that machine. */
static inline struct unwind_rule unwind_trampoline(const struct machine_walk *walk)
{
    return (struct unwind_rule){.cfa = UNWIND_BY_SP, .offset = 16, .ret = -8, .frame = -16,
                                .frame_kind = walk->trampoline.frame_kind,
                                .base = UNWIND_BASE_SAME};
}

/*
 * *(r8 + to) = the user's word at r3: from the window, if it is there; or goes to
 * unwind_unreadable. The labels are for this place only.
 */
void emit_unwind_read(struct program *program, int16_t to, const char *seen, const char *read);

/* The function unwind_read(index). */
void emit_unwind_reader(struct program *program, const struct unwind_config *config);

/* The register `to` = the frame pointer; goes to unwind_unsupported if it is lost. */
void emit_unwind_load_frame(struct program *program, unsigned to);

/*
 * The register `to` = the event's register with the DWARF number r1, one of walk->numbered. r2 is
 * lost.
 */
void emit_unwind_load_register(struct program *program, const struct machine_walk *walk,
                               unsigned to);

/* r7 = the CFA by the rule in r9; goes to labels of unwind_step() if the rule gives none. */
void emit_unwind_cfa(struct program *program, const struct unwind_config *config);

/* The function unwind_step(index): one frame. 0, or an end + 1. */
void emit_unwind_step(struct program *program, const struct unwind_config *config);

/* r9 = the rule for the offset in r7; r6 is lost. Goes to unwind_no_table if there is none. */
void emit_unwind_rule(struct program *program, const struct unwind_config *config);

/*
 * The function unwind_returns(index): 1 if a probe had replaced the return address state.pc: that
 * is now the real one.
 */
void emit_unwind_returns(struct program *program, const struct unwind_config *config);

/* *(r8 + to) = the kernel's bytes at r9 + offset; goes to `failed` if they cannot be read. */
void emit_unwind_peek(struct program *program, int16_t to, int32_t bytes, int32_t offset,
                      const char *failed);

/*
 * r9 = the kernel's word at r9 + offset, of that many bytes; goes to `failed` if it cannot be read.
 */
void emit_unwind_follow(struct program *program, int32_t offset, int32_t bytes, const char *failed);

/* The function unwind_find(index): the mapping that state.pc is in. 0, or an end + 1. */
void emit_unwind_find(struct program *program, const struct unwind_config *config);

/* state.first_stack = that of state.mm, or 0. */
void emit_unwind_first_stack(struct program *program, const struct unwind_config *config);

/* r9 = UNWIND_END_ROOT if only start code uses the stack above the frame's stack pointer. */
void emit_unwind_start_code(struct program *program, const struct unwind_config *config);

/* The function unwind_exits(index). */
void emit_unwind_exits(struct program *program, const struct unwind_config *config);

/* The function unwind_keep(index): 0, with state.number for a frame; or 1: there is no room. */
void emit_unwind_keep(struct program *program, const struct unwind_config *config);

#endif
