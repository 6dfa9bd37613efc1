/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which part of which file the addresses of symbols are in, for who wants to look them up again:
 * one mapping for each file and segment, whoever had it mapped where. Addresses are given anew: where
 * the file says itself where it is to be, as the kernel does, it is there, and so is the main
 * program; others get a place of their own, so that no two mappings share an address. From any of
 * them `- start + offset` leads to the byte in the file.
 */
#ifndef STACKBOX_SYMBOLIZE_MAPPINGS_H
#define STACKBOX_SYMBOLIZE_MAPPINGS_H

#include "base/text.h"
#include "elf/elf.h"

struct symbol;
struct symbolize_wishes;

struct symbol_mapping {
    struct text path;      /* raw bytes: "/usr/bin/cat", "[kernel.kallsyms]", "[nfs]", "[anon]" */
    struct text build_id;  /* hexadecimal; empty: it has none, or that is not known */
    uint64_t start, limit; /* the addresses that it has here; both 0: left out, it is too large */
    uint64_t offset;       /* of `start` in the file */
    uint64_t own_start, own_limit; /* where the file has it */
    bool is_fixed;         /* and it is to be there here, too */
    bool grows;            /* no segment is known: it goes from the first to the last address */
};

struct symbol_mappings {
    struct symbol_mapping *items;
    size_t count, room;
    size_t main; /* what is looked at: the traced program, or the kernel. Good if there are any */
};

/* The program that is traced, where it is one. */
struct traced_file {
    const char *path; /* as mappings have it; NULL: there is none */
    int fd;           /* of it, or below 0 */
};

void mappings_free(struct symbol_mappings *mappings);

/* Where the mappings of one file come from. */
struct mapping_source {
    const char *path;
    const struct elf *elf; /* NULL: it cannot be read, or is no file */
    char build_id[2 * ELF_LONGEST_BUILD_ID + 1];
    uint32_t last; /* the one that was found last: its number + 1; 0: none */
};

/* What `path` and `elf` point to must stay as long as the source is used. */
void mapping_source_init(struct mapping_source *source, const char *path, const struct elf *elf);

/* The symbol is at `address` of the file, as that numbers it. 0 or -ENOMEM. */
int mappings_take(struct symbol_mappings *mappings, struct mapping_source *source,
                  struct symbol *symbol, uint64_t address);

/* The first segment of the program's code, where no symbol was in any. 0 or -ENOMEM. */
int mappings_take_program(struct symbol_mappings *mappings, const struct traced_file *program);

/* Of kernel symbols, sorted by the address that is looked up. 0 or -ENOMEM. */
int mappings_take_kernel(struct symbol_mappings *mappings, struct symbol *const *symbols,
                         size_t count, const struct symbolize_wishes *wishes);

/* When all are taken: finds the main one, and gives out addresses. 0 or -ENOMEM. */
int mappings_place(struct symbol_mappings *mappings, const struct traced_file *program,
                   struct symbol *symbols, size_t count);

#endif
