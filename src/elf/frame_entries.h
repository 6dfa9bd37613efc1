/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Parts of frame_rows: tables of functions (FDEs), .ARM.exidx, and code without tables. */
#ifndef STACKBOX_ELF_FRAME_ENTRIES_H
#define STACKBOX_ELF_FRAME_ENTRIES_H

#include "elf/elf.h"
#include "elf/frame_cfi.h"

struct frame_section {
    const struct elf *elf;
    unsigned char *bytes;
    size_t size; /* 0: there is none */
    uint64_t address;
    bool is_debug; /* .debug_frame, whose format differs a little */
};

struct frame_sections {
    struct frame_section table; /* .eh_frame */
    struct frame_section order; /* .eh_frame_hdr, which sorts its functions by address */
    struct frame_section debug; /* .debug_frame */
    struct frame_section index; /* .ARM.exidx */
};

/*
 * Reads the sections that exist, even without section headers. 0; -ENOENT: none of the three tables
 * exists; or another negative errno. frame_sections_free after either.
 */
int frame_sections_read(struct frame_sections *sections, const struct elf *elf);
void frame_sections_free(struct frame_sections *sections);

struct frame_entry_row {
    uint64_t address; /* from here on */
    struct unwind_rule rule;
};

struct frame_entry {
    const struct cfi_common *common;
    struct cfi_bytes program; /* of this function only */
    const struct frame_entry_row *row; /* of .ARM.exidx, instead of those two; else NULL */
    uint64_t start, end;      /* addresses; not empty */
    bool is_debug; /* from .debug_frame or .ARM.exidx: other tables may have it, too */
};

/* A result other than 0 ends the walk, except -EBADMSG: this entry is damaged. */
typedef int frame_callback(void *context, const struct frame_entry *entry);

/*
 * Calls `each` with all functions, by address unless a table is damaged; for equal addresses first
 * those of .eh_frame, then of .debug_frame, then of .ARM.exidx. *skipped grows by the damaged ones.
 * 0, what `each` returned, or -ENOMEM.
 */
int frame_each(const struct frame_sections *sections, frame_callback *each, void *context,
               uint64_t *skipped);

/* ---- frame_exidx.c ---- */

/*
 * .ARM.exidx and .ARM.extab, which 32-bit ARM files have instead of .eh_frame (Exception Handling
 * ABI for the Arm Architecture). They tell how to find a function's caller while the function calls
 * another one, but not in its prologue and epilogue: so rows that are made from the code itself
 * come first, if they agree with the tables at calls. Other builds do not read these tables.
 */
#if defined(__arm__)
#define HAS_EXIDX 1
#else
#define HAS_EXIDX 0
#endif

#define FRAME_EXIDX_BYTES 8 /* of an entry */

/*
 * Calls `each` with the function whose entry is at this offset of .ARM.exidx, if it has a row.
 * 0; -EBADMSG: the entry is damaged; -ENOMEM; or what `each` returned.
 */
int frame_exidx_see(const struct frame_section *index, size_t at, frame_callback *each,
                    void *context);

/* Where the function of that entry begins. False: the entry is damaged. */
bool frame_exidx_start(const struct frame_section *index, size_t at, uint64_t *start);

/* ---- frame_gaps.c ---- */

/*
 * Code without tables whose frames are known by what the code is: Go's, V8's, where the kernel
 * enters a program, and what linkers write themselves (.plt, .init).
 */
#define FRAME_GAPS_MOST 10
#define FRAME_GAP_ROWS 3

struct frame_gap {
    uint64_t offset, size; /* in the file */
    unsigned count;
    struct {
        uint64_t offset; /* the first is the gap's */
        struct unwind_rule rule;
    } rows[FRAME_GAP_ROWS];
};

/*
 * Returns how many gaps there are, sorted by offset; they may have tables nevertheless, and
 * overlap. There is room for one more.
 */
size_t frame_gaps(const struct elf *elf, struct frame_gap gaps[FRAME_GAPS_MOST]);

/*
 * Inserts a stretch of code without any tables, if it is V8's. Returns how many gaps there are.
 */
size_t frame_gaps_search(const struct elf *elf, uint64_t from, uint64_t to,
                         struct frame_gap gaps[FRAME_GAPS_MOST], size_t count);

/*
 * Go's code, by the table of its functions (.gopclntab): one range within a segment of code. False:
 * there is none.
 */
bool frame_go_text(const struct elf *elf, uint64_t *address, uint64_t *size);

#endif
