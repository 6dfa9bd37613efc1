/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * One checked view of an ELF file, of either class and byte order. It reads from an open
 * descriptor, never by path and never by mmap: a file that shrinks meanwhile gives an error, not a
 * signal.
 */
#ifndef STACKBOX_SYMBOLS_ELF_H
#define STACKBOX_SYMBOLS_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of the file that is loaded. */
struct elf_segment {
    uint64_t offset, file_size, address;
};

struct elf {
    int fd; /* the caller's */
    bool is_64, swapped;
    struct elf_segment *segments;
    size_t segment_count;
};

/* 0, or a negative errno: -ENOEXEC for what is no ELF file or contradicts itself. */
int elf_open(struct elf *elf, int fd);
void elf_close(struct elf *elf);

/*
 * The virtual address that the file gives to one of its bytes: by the segment that holds it, since
 * the distance between the two may differ from segment to segment. False: no segment holds it.
 */
bool elf_address_of(const struct elf *elf, uint64_t offset, uint64_t *address);

#endif
