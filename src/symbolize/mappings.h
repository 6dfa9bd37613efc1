/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Tells tools that look symbols up again which part of which file an address is in: one mapping per
 * file and segment, wherever processes had it mapped. Mappings get new addresses: files with fixed
 * addresses, such as the kernel, and the main program keep theirs; others get a range of their own,
 * so that no two mappings overlap. `address - start + offset` is the byte in the file.
 */
#ifndef STACKBOX_SYMBOLIZE_MAPPINGS_H
#define STACKBOX_SYMBOLIZE_MAPPINGS_H

#include "base/text.h"
#include "elf/elf.h"

struct symbol;
struct symbolize_options;

/*
 * A limit for recordings, which may claim any number, as each mapping is compared with all others:
 * addresses beyond it have no mapping.
 */
#define MAPPINGS_MOST 16384

struct symbol_mapping {
    struct text path;      /* raw bytes: "/usr/bin/cat", "[kernel.kallsyms]", "[nfs]", "[anon]" */
    struct text build_id;  /* hexadecimal; empty: none, or unknown */
    uint64_t start, limit; /* its addresses here; both 0: left out, it is too large */
    uint64_t offset;       /* of `start` in the file */
    uint64_t own_start, own_limit; /* its addresses in the file */
    bool is_fixed;         /* these must be kept here */
    bool grows;            /* its segment is unknown: it spans the first to the last address */
};

struct symbol_mappings {
    struct symbol_mapping *items;
    size_t count, room;
    size_t main; /* what is traced: the program, or the kernel. Valid if there are any */
};

/* The program that is traced, if it is one. */
struct traced_file {
    const char *path; /* as in mappings; NULL: there is none */
    int fd;           /* open on it, or below 0 */
};

void mappings_free(struct symbol_mappings *mappings);

/* For the mappings of one file. */
struct mapping_source {
    const char *path;
    const struct elf *elf; /* NULL: it cannot be read, or is not a file */
    char build_id[2 * ELF_LONGEST_BUILD_ID + 1];
    uint32_t last; /* the one found last: its number + 1; 0: none */
};

/* `path` and `elf` must stay valid as long as the source is used. */
void mapping_source_init(struct mapping_source *source, const char *path, const struct elf *elf);

/* Takes the symbol's address as the file has it. 0 or -ENOMEM. */
int mappings_take(struct symbol_mappings *mappings, struct mapping_source *source,
                  struct symbol *symbol, uint64_t address);

/* Adds the first code segment of the program, if no symbol is in the program. 0 or -ENOMEM. */
int mappings_take_program(struct symbol_mappings *mappings, const struct traced_file *program);

/* For kernel symbols, sorted by the address that is looked up. 0 or -ENOMEM. */
int mappings_take_kernel(struct symbol_mappings *mappings, struct symbol *const *symbols,
                         size_t count, const struct symbolize_options *options);

/* At the end: finds the main one and assigns addresses. 0 or -ENOMEM. */
int mappings_place(struct symbol_mappings *mappings, const struct traced_file *program,
                   struct symbol *symbols, size_t count);

/* Other tools' name for a kernel whose symbols are in kallsyms. */
#define KERNEL_PATH "[kernel.kallsyms]"

struct kernel_bounds {
    uint64_t start, end; /* both 0: unknown */
};

/* From _text to _etext of /proc/kallsyms, open as `kallsyms`. */
struct kernel_bounds kernel_bounds_find(int kallsyms);

/* Of a module, or, if NULL, of the kernel: as text, "" if there is none. */
void kernel_build_id(const char *module, char text[2 * ELF_LONGEST_BUILD_ID + 1]);

/* Anything larger is not part of a program. */
#define MAPPINGS_LARGEST ((uint64_t)1 << 40)

/* Adds a mapping like this one, but with this path and build id. 0 or -ENOMEM. */
int mappings_add(struct symbol_mappings *mappings, const char *path, const char *build_id,
                 const struct symbol_mapping *wanted);

#endif
