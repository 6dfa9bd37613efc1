/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The parts of a file that describe frames, read into memory. Part of frame_rows. */
#ifndef STACKBOX_ELF_FRAME_SECTIONS_H
#define STACKBOX_ELF_FRAME_SECTIONS_H

#include "elf/elf.h"
#include "elf/frame_cfi.h"

struct frame_section {
    const struct elf *elf;
    unsigned char *bytes;
    size_t size; /* 0: there is none */
    uint64_t address;
    bool is_debug; /* .debug_frame, where some things differ */
};

struct frame_sections {
    struct frame_section table; /* .eh_frame */
    struct frame_section order; /* .eh_frame_hdr, which has its functions by address */
    struct frame_section debug; /* .debug_frame */
    struct frame_section index; /* .ARM.exidx: frame_exidx.h */
};

/*
 * Reads those that exist, even without section headers; see frame_rows_read() for `debug`. 0;
 * -ENOENT: none of the three tables exists; or another negative errno. frame_sections_free after either.
 */
int frame_sections_read(struct frame_sections *sections, const struct elf *elf, const struct elf *debug);
void frame_sections_free(struct frame_sections *sections);

/* The section's bytes from `at` up to `end`. */
struct cfi_bytes frame_bytes(const struct frame_section *section, size_t at, size_t end);

#endif
