/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Call frame instructions (DWARF 5, 6.4): what the tables of a function say, from one of its instructions to
 * the next. Part of frame_rows: bytes are taken in frame_bytes.c, instructions run in frame_cfi.c, and rules are
 * made of what they come to in frame_rule.c.
 */
#ifndef STACKBOX_ELF_FRAME_CFI_H
#define STACKBOX_ELF_FRAME_CFI_H

#include "elf/elf.h"
#include "insns/unwind_layout.h"

/* Bytes that are taken one behind the other. Beyond their end there are zeros, and `bad` is set. */
struct cfi_bytes {
    const struct elf *elf;
    const unsigned char *at, *end;
    uint64_t address; /* that the file gives to what is at `end`, from which the others' follow */
    bool bad;
};

uint64_t cfi_take(struct cfi_bytes *bytes, size_t size);
uint64_t cfi_take_uleb(struct cfi_bytes *bytes);
int64_t cfi_take_sleb(struct cfi_bytes *bytes);
void cfi_skip(struct cfi_bytes *bytes, uint64_t size);
/* By a DW_EH_PE_ encoding; `data` is the base of those that are relative to data. */
uint64_t cfi_take_pointer(struct cfi_bytes *bytes, unsigned encoding, uint64_t data);

/* Where a register of the caller is. */
enum cfi_kind {
    CFI_UNSAID,
    CFI_SAME,
    CFI_UNDEFINED,
    CFI_AT_CFA,     /* saved at CFA + offset */
    CFI_EXPRESSION, /* saved at what an expression says */
    CFI_ELSEWHERE,  /* as no rule can say */
};

struct cfi_place {
    enum cfi_kind kind;
    int64_t offset;
    const unsigned char *expression, *expression_end;
};

struct cfi_state {
    uint64_t cfa_register;
    int64_t cfa_offset;
    const unsigned char *expression, *expression_end; /* of the CFA; NULL: it is by register */
    struct cfi_place frame, ret, base;
};

/* What functions have in common (a CIE). */
struct cfi_common {
    uint64_t code_factor;
    int64_t data_factor;
    uint64_t return_register;
    unsigned encoding;      /* of addresses */
    bool is_signal;         /* what a signal interrupted is its caller */
    bool has_augmentation;  /* FDEs have data of that, too */
    const unsigned char *program, *program_end;
    struct cfi_state state; /* at the first instruction of each */
};

/* Called for each stretch of code of which the same holds: from `address` on. Not 0 ends it. */
typedef int cfi_row(void *context, uint64_t address, const struct cfi_state *state);

/*
 * Runs the instructions in `bytes`, from the state at `address` on, which becomes that behind them. 0; -EBADMSG:
 * they are damaged; or what `row` returned.
 */
int cfi_run(const struct cfi_common *common, struct cfi_bytes *bytes, struct cfi_state *state,
            uint64_t address, cfi_row *row, void *context);

/* What of it a rule can say. `with_base`: where the machine's `base` is, too. */
struct unwind_rule cfi_rule(const struct elf *elf, const struct cfi_common *common, const struct cfi_state *state,
                            bool with_base);

#endif
