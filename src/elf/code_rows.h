/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Rows for code without tables, from the code itself: each function is followed from its first
 * instruction along its jumps, with how far the stack pointer has moved, and where the frame
 * pointer and the return address were saved. Part of frame_rows: code_rows.c finds functions,
 * code_follow.c follows them, code_ARCH.c decodes an architecture's instructions.
 */
#ifndef STACKBOX_ELF_CODE_ROWS_H
#define STACKBOX_ELF_CODE_ROWS_H

#include "elf/elf.h"
#include "elf/frame_rows.h"

/* ---- What an architecture's decoder knows ---- */

#define CODE_LOST INT32_MIN /* unknown, or not expressible in this way */
#define CODE_IN_PLACE 0     /* of a saved register: it still holds the caller's */
/* Of the return address: in the register with this DWARF number, which is not the link register. */
#define CODE_IN_REGISTER(dwarf) ((dwarf) + 1)

/*
 * The state before an instruction. The CFA is the stack pointer before the call (x86-64: above the
 * return address). Where two ways meet, fields that differ become CODE_LOST, and `scratch` 0.
 */
struct code_state {
    union {
        struct {
            int32_t sp; /* CFA = stack pointer + sp; or CODE_LOST */
            /* CFA = frame pointer + fp (the row's `frame`); CODE_LOST: it is not there for that */
            int32_t fp;
            /*
             * Where the caller's frame pointer and the return address are: at CFA + this, which is
             * below 0; CODE_IN_PLACE (of the return address: in the link register), CODE_LOST,
             * CODE_IN_REGISTER().
             */
            int32_t fp_at, ra_at;
            /* The same for the row's `base`, if the machine is walked with one (ARM's r11). */
            int32_t base, base_at;
            int32_t scratch[2]; /* the decoder's own: what registers hold, 0 for nothing */
        };
        int32_t fields[6];
        uint64_t words[4]; /* all of it, which is compared faster */
    };
};

enum code_kind {
    CODE_NEXT,     /* on to the next instruction; also after what only returns under a condition */
    CODE_JUMP,     /* to `target` only */
    CODE_BRANCH,   /* there or to the next */
    CODE_CALL,     /* calls `target`, 0: unknown; then the next, unless that does not return */
    CODE_RETURN,   /* to the caller: the state is that of before, apart from what it pops */
    CODE_INDIRECT, /* to an address from elsewhere: a tail call, or a switch's case */
    CODE_STOP,     /* never goes on: a trap */
    CODE_SIGNAL,   /* it begins the code to which signal handlers return: two instructions */
};

/* All 0 before each instruction. */
struct code_flow {
    enum code_kind kind;
    /*
     * The state at the target of CODE_JUMP and CODE_BRANCH is the one before the instruction, but
     * with the `scratch` of *state; the rest of *state is for the next instruction only.
     */
    uint64_t target;
    uint64_t taken;  /* an address, maybe of code, that it computes; 0: none */
    uint64_t data;   /* a constant in code that this instruction reads; 0: none */
    uint8_t data_size; /* in bytes */
    bool is_padding; /* linkers and compilers fill gaps with it */
    /*
     * It changes no state whose `scratch` is 0 and whose return address is in no other register,
     * so it need not be decoded again. May always be false.
     */
    bool is_plain;
};

/*
 * Decodes the instruction at address `at`, applies it to *state, and says where it goes. Returns
 * its length; 0: it is unknown, or longer than `size` bytes. The lowest bit of `at`, `target` and
 * `taken` is set for Thumb code.
 */
typedef size_t code_step(const unsigned char *bytes, size_t size, uint64_t at,
                         struct code_state *state, struct code_flow *flow);

struct code_finding;
struct code_area;
/*
 * Chooses the likelier kind of code there and returns its place, odd for Thumb code. Decides for a
 * stretch at a time, up to *decided.
 */
typedef uint64_t code_choose(struct code_finding *finding, const struct code_area *area,
                             uint64_t place, uint64_t *decided);

struct code_machine {
    uint16_t elf; /* e_machine */
    uint8_t bits;
    uint8_t alignment; /* of instructions */
    code_choose *choose; /* NULL: it has one kind of code */
    code_step *step;
    struct code_state start; /* at a function's first instruction */
    bool by_frame; /* rows prefer the frame pointer, as tables of its compilers do */
};

/* One for each architecture. In files named after them. */
code_choose code_armv7_choose;
code_step code_x86_64, code_arm64, code_riscv64, code_loongarch64, code_armv7;

extern const struct code_machine code_machine_x86_64, code_machine_arm64, code_machine_riscv64,
    code_machine_loongarch64, code_machine_armv7;

/* The machine of this build, whose code alone it analyses; NULL: unknown. Tests choose another. */
extern const struct code_machine *code_machine;

/* ---- Rows ---- */

struct code_rule {
    struct unwind_rule rule;
    uint32_t number; /* for the caller's use; 0 at first */
};

/* A stretch of code without tables, in the file. */
struct code_gap {
    uint64_t offset, size, address;
    /* What is known about calls there; rows that contradict it are wrong. Else UNWIND_UNKNOWN. */
    struct unwind_rule at_calls;
};

struct code_rows {
    struct frame_row *rows; /* by offset */
    size_t count, room;
    struct code_rule *rules; /* with duplicates */
    uint64_t functions; /* that have rows */
    uint64_t unknown;   /* stretches of code without rows */
};

/*
 * Analyses these gaps, which are sorted and do not overlap. 0; -ENOENT: this build has no decoder
 * for the machine; or another negative errno. code_rows_free after either.
 */
int code_rows_find(struct code_rows *code, const struct elf *elf, const struct code_gap *gaps,
                   size_t count);
void code_rows_free(struct code_rows *code);

#endif
