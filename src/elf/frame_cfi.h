/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Call frame instructions (DWARF 5, 6.4): what the tables say about a function, from one
 * instruction to the next.
 */
#ifndef STACKBOX_ELF_FRAME_CFI_H
#define STACKBOX_ELF_FRAME_CFI_H

#include "elf/elf.h"
#include "insns/unwind_layout.h"

/* A byte range that is read forwards. Reading past the end gives zeros, and sets `bad`. */
struct cfi_bytes {
    const struct elf *elf;
    const unsigned char *at, *end;
    uint64_t address; /* of `end`; the addresses of other bytes follow from it */
    bool bad;
};

uint64_t cfi_take(struct cfi_bytes *bytes, size_t size);
uint64_t cfi_take_uleb(struct cfi_bytes *bytes);
int64_t cfi_take_sleb(struct cfi_bytes *bytes);
void cfi_skip(struct cfi_bytes *bytes, uint64_t size);
/* Reads a pointer in a DW_EH_PE_ encoding; `data` is the base for DW_EH_PE_datarel. */
uint64_t cfi_take_pointer(struct cfi_bytes *bytes, unsigned encoding, uint64_t data);

/* Where a register of the caller is. */
enum cfi_kind {
    CFI_UNSAID,
    CFI_SAME,
    CFI_UNDEFINED,
    CFI_AT_CFA,     /* saved at CFA + offset */
    CFI_EXPRESSION, /* saved where an expression says */
    CFI_IN_REGISTER, /* in the register with the number `offset` */
    CFI_ELSEWHERE,  /* in a way that no rule can express */
};

struct cfi_place {
    enum cfi_kind kind;
    int64_t offset;
    const unsigned char *expression, *expression_end;
};

struct cfi_state {
    uint64_t cfa_register;
    int64_t cfa_offset;
    const unsigned char *expression, *expression_end; /* of the CFA; NULL: by register */
    struct cfi_place frame, ret, base;
};

/* What functions share (a CIE). */
struct cfi_common {
    uint64_t code_factor;
    int64_t data_factor;
    uint64_t return_register;
    unsigned encoding;      /* of addresses */
    bool is_signal;         /* the caller is what a signal interrupted */
    bool has_augmentation;  /* FDEs have augmentation data, too */
    struct cfi_state state; /* at each function's first instruction */
};

/*
 * Called for each stretch of code with the same state, which begins at `address`. A result other
 * than 0 ends the run.
 */
typedef int cfi_row(void *context, uint64_t address, const struct cfi_state *state);

/*
 * Runs the instructions in `bytes`, starting with `state` at `address`; `state` becomes the one
 * after them. 0; -EBADMSG: they are damaged; or what `row` returned.
 */
int cfi_run(const struct cfi_common *common, struct cfi_bytes *bytes, struct cfi_state *state,
            uint64_t address, cfi_row *row, void *context);

/* The state as a rule, as far as a rule can express it. `with_base`: also where `base` is. */
struct unwind_rule cfi_rule(const struct elf *elf, const struct cfi_common *common,
                            const struct cfi_state *state, bool with_base);

#endif
