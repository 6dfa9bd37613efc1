/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The only giver of names: from a tally's addresses to symbols, each source read once. */
#ifndef STACKBOX_SYMBOLIZE_SYMBOLIZE_H
#define STACKBOX_SYMBOLIZE_SYMBOLIZE_H

#include <stdbool.h>

#include "base/text.h"
#include "demangle/demangle.h"
#include "symbolize/mappings.h"
#include "tally/tally.h"

struct symbol {
    bool kernel;
    uint32_t pid;     /* of the process whose address it is; 0 for the kernel */
    uint64_t born;    /* and of its life: see insns/layout.h */
    uint32_t epoch;   /* and of its time in that: see symbols/process.h; 0: not known */
    bool foreign;     /* pid is no number of ours: nothing can be looked up */
    bool jitted;      /* its name is a just-in-time compiler's */
    bool has_start;   /* without a name: `offset` is where its function begins, as tables of unwinding tell */
    bool waits;       /* of one that was recorded: it is in the kernel's text that leads to waits */
    bool is_return;   /* the address is where a call comes back to: one byte behind the call */
    uint64_t address;
    struct text function; /* empty: not known */
    struct text raw;      /* as its table has it, where people write it in another way; else empty */
    struct text file;     /* the kernel's module, the program's file; empty: none */
    uint64_t offset;  /* behind the start of the function; without a name, an address in the file */
    uint32_t mapping;   /* where mappings were wished for: the number of its + 1; 0: none */
    uint64_t mapped_at; /* the address that is looked up, as its mapping has it */
};

struct symbols {
    struct symbol *items; /* each address of each process once */
    size_t count;
    uint32_t *frames;     /* for every frame of the tally: an index into items */
    /* In the order: the task's kernel and user stack, the waker's kernel and user stack. */
    size_t *first;        /* for every entry: where the frames of its four stacks begin */
    struct symbol_mappings mappings; /* where they were wished for */
};

struct processes;
struct process_place;

/*
 * What was recorded of symbols whose machine is not asked any more. Those of the kernel, and of code that is in
 * no file, have their names and offsets already.
 */
struct recorded {
    void *context;
    /* Of a symbol of a process; its file has an identity, by which it is looked for. */
    void (*place)(void *context, const struct symbol *symbol, struct process_place *place);
    /* In hexadecimal digits, of a module or, with NULL, of the kernel; "": not known. */
    const char *(*build_id)(void *context, const char *module);
    uint64_t kernel_start, kernel_end; /* both 0: not known */
    const char *cache;    /* where debuginfod-find(1) keeps files, or NULL */
    struct text *missing; /* gets the build ids without a file that has all symbols, a line each; or NULL */
};

struct symbolize_wishes {
    int kallsyms; /* an open /proc/kallsyms, or below 0 */
    /* Of several names of a kernel function these are shown; sorted by strcmp. */
    const char *const *preferred;
    size_t preferred_count;
    struct processes *processes; /* who had what mapped; NULL: user frames get no names */
    const struct demangle_wishes *readable; /* how; NULL: names as the tables have them */
    const char *symfs;           /* look for binaries and debug files here first, or NULL */
    /* Symbols are to have mappings, of which this program's is the main one; NULL: they need none. */
    const struct traced_file *mapped_for;
    const struct recorded *recorded; /* NULL: all of this is asked for here */
    /* Told where each symbol of a process is; or NULL. */
    void (*located)(void *context, const struct symbol *symbol, const struct process_place *place);
    void *locating;
    bool without_files; /* what is in files need not have a name */
};

/* Why there are fewer names than there could be. {0} is empty; it is added to. */
struct symbolize_notes {
    bool kernel_hidden;       /* the kernel shows no addresses in kallsyms */
    bool user_frames;         /* there are any */
    bool unknown_frames;      /* of some nobody knows what was mapped there */
    struct text refused_map;  /* "/tmp/perf-1.map: why": a JIT's names that are not to be trusted */
    struct text changed_file; /* it was written to since it was mapped */
    struct text unopened_file; /* "/tmp/a: why": the first that could not be opened */
    bool more_unopened;        /* and it was not the only one */
    struct text packed_file;   /* "/tmp/a: why": the first whose packed symbols are not read */
    bool more_packed;
    uint32_t missing_files; /* that were recorded, and are not here */
    struct text unread; /* what befell the process that reads files, for the first time */
};
void symbolize_notes_free(struct symbolize_notes *notes);

/* Names every frame of the tally. 0 or a negative errno; symbols_free after either. */
int symbols_make(struct symbols *symbols, const struct tally *tally,
                 const struct symbolize_wishes *wishes, struct symbolize_notes *notes);
/* The same of symbols that are there, with their frames, and have places, or names, or neither. */
int symbols_name_all(struct symbols *symbols, const struct symbolize_wishes *wishes,
                     struct symbolize_notes *notes);
void symbols_free(struct symbols *symbols);

/*
 * Names `count` symbols, of which no two are equal; sorts them. The places have been set, the names are
 * empty. 0 or a negative errno.
 */
int symbols_name(struct symbol **symbols, size_t count, const struct symbolize_wishes *wishes,
                 struct symbolize_notes *notes);

/* ---- For the givers of names ---- */

/* What a return address belongs to is the call before it, which may end its function. */
uint64_t symbol_lookup_address(const struct symbol *symbol);

/* Every name that is shown goes through here, as its table has it. 0 or -ENOMEM. */
int symbol_set_function(struct symbol *symbol, const char *name,
                        const struct symbolize_wishes *wishes);
/* Frees its texts. */
void symbol_free(struct symbol *symbol);

#endif
