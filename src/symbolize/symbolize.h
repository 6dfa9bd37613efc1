/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* From a tally's addresses to symbols with names, reading each source once. */
#ifndef STACKBOX_SYMBOLIZE_SYMBOLIZE_H
#define STACKBOX_SYMBOLIZE_SYMBOLIZE_H

#include "base/text.h"
#include "demangle/demangle.h"
#include "kernel/kallsyms.h"
#include "symbolize/mappings.h"
#include "tally/tally.h"

/* Kernel addresses up to this one number frames that the kernel gave only as text. */
#define SYMBOL_TEXTS UINT16_MAX

struct symbol {
    bool kernel;
    uint32_t pid;     /* the process that the address is from; 0 for the kernel */
    uint64_t generation;    /* and its life: see insns/layout.h */
    uint32_t epoch;   /* the period of that life: see processes/process.h; 0: unknown */
    bool foreign;     /* pid is not one of ours: nothing can be looked up */
    bool jitted;      /* its name comes from a JIT */
    bool has_start;   /* without a name: `offset` is its function's start, from unwind tables */
    bool waits;       /* in recordings: it is in the kernel text that leads to waits */
    bool is_return;   /* a return address: one byte past the call */
    uint64_t address;
    struct text function; /* empty: unknown */
    struct text raw;      /* as in its table, if the readable name differs; else empty */
    struct text file;     /* the kernel's module, or the program's file; empty: none */
    uint64_t offset;  /* from the function's start; without a name, an address in the file */
    uint32_t mapping;   /* if mappings were asked for: its mapping's number + 1; 0: none */
    uint64_t mapped_at; /* the lookup address, in its mapping */
};

struct symbols {
    struct symbol *items; /* each address of each process once */
    size_t count;
    uint32_t *frames;     /* for every frame of the tally: an index into items */
    /* In this order: the task's kernel and user stack, the waker's kernel and user stack. */
    size_t *first;        /* for every entry: where the frames of its four stacks begin */
    struct symbol_mappings mappings; /* if asked for */
};

struct processes;
struct process_place;
struct stack_texts;

/*
 * Recorded symbols, which may be from another machine. Those of the kernel, and of code that is in
 * no file, have their names and offsets already.
 */
struct recorded {
    void *context;
    /* For a process's symbol. The place's file has an identity, by which naming finds it. */
    void (*place)(void *context, const struct symbol *symbol, struct process_place *place);
    /* In hexadecimal, of a module or, if NULL, of the kernel; "": unknown. */
    const char *(*build_id)(void *context, const char *module);
    uint64_t kernel_start, kernel_end; /* both 0: unknown */
    const char *cache;    /* where debuginfod-find(1) keeps files, or NULL */
    struct text *missing; /* gets build ids of files without full symbols, one per line; or NULL */
};

struct symbolize_options {
    int kallsyms; /* an open /proc/kallsyms, or below 0 */
    struct kallsyms_known *known; /* of it, by earlier calls; or NULL */
    struct kernel_names *kernel;  /* with `known`: asked before it is read; or NULL */
    const struct stack_texts *texts; /* the frames that addresses up to SYMBOL_TEXTS number */
    /* Among several names of a kernel function these are preferred; sorted by strcmp. */
    const struct kallsyms_name *preferred;
    size_t preferred_count;
    struct processes *processes; /* who had what mapped; NULL: user frames get no names */
    const struct demangle_options *readable; /* how; NULL: names as in the tables */
    const char *symfs;           /* look here for binaries and debug files first, or NULL */
    /* The main program of the mappings that symbols are to have; NULL: no mappings. */
    const struct traced_file *mapped_for;
    const struct recorded *recorded; /* NULL: everything is looked up here */
    /* Called with the place of each symbol of a process; or NULL. */
    void (*located)(void *context, const struct symbol *symbol, const struct process_place *place);
    void *locating;
    bool without_files; /* functions in files need no names */
};

/* Why names are missing. {0} is empty; added to. */
struct symbolize_notes {
    bool kernel_hidden;       /* the kernel shows no addresses in kallsyms */
    bool user_frames;         /* there are some */
    bool unknown_frames;      /* for some it is unknown what was mapped there */
    const char *jit_advice;   /* what makes a perf map of a known runtime; NULL: nothing does */
    struct text refused_map;  /* "/tmp/perf-1.map: why": a JIT's names that cannot be trusted */
    struct text changed_file; /* it was written to since it was mapped */
    struct text unopened_file; /* "/tmp/a: why": the first that could not be opened */
    bool more_unopened;        /* and there were others */
    struct text packed_file;   /* "/tmp/a: why": the first whose compressed symbols are not read */
    bool more_packed;
    uint32_t missing_files; /* how many recorded files are not here */
    struct text unread; /* why the sandbox first failed to read files for names */
    struct text unidentified; /* why it first failed to identify the files for a recording */
};
void symbolize_notes_free(struct symbolize_notes *notes);

/* Names every frame of the tally. 0 or a negative errno; symbols_free after either. */
int symbols_make(struct symbols *symbols, const struct tally *tally,
                 const struct symbolize_options *options, struct symbolize_notes *notes);
/* The same for given symbols with their frames; they may have places or names. */
int symbols_name_all(struct symbols *symbols, const struct symbolize_options *options,
                     struct symbolize_notes *notes);
void symbols_free(struct symbols *symbols);

/*
 * Names `count` symbols, without duplicates; sorts them. The places have been set, the names are
 * empty. `mappings` is NULL, or gets the mappings of all. 0 or a negative errno.
 */
int symbols_name(struct symbol **symbols, size_t count, const struct symbolize_options *options,
                 struct symbolize_notes *notes, struct symbol_mappings *mappings);

/* Is it the symbol of that place, a symbol with no more than that? And a hash of a place. */
bool symbol_is_at(const struct symbol *symbol, const struct symbol *place);
uint64_t symbol_hash(const struct symbol *place);

/* ---- For those that find names ---- */

/* For a return address, one byte less: the call may be its function's last instruction. */
uint64_t symbol_lookup_address(const struct symbol *symbol);

/* Sets every name that is shown, given as in its table. 0 or -ENOMEM. */
int symbol_set_function(struct symbol *symbol, const char *name,
                        const struct symbolize_options *options);
/* Frees its texts. */
void symbol_free(struct symbol *symbol);

#endif
