/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The numbered tables of a recording: files, processes and symbols. Part of write.c. */
#ifndef STACKBOX_RECORDING_TABLES_H
#define STACKBOX_RECORDING_TABLES_H

#include "base/index.h"
#include "elf/debug_files.h"
#include "processes/mapped_files.h"
#include "recording/format.h"
#include "recording/write.h"

struct file_row {
    enum recorded_file kind;
    const char *path; /* or a module's name, or a memory area's */
    uint64_t base, size; /* of the kernel; of a module, its base */
    struct mapped_file *file; /* NULL: there is nothing to read */
    bool is_read;
    struct file_identity identity;
    struct elf_segment *segments; /* of the file, for its addresses; free() */
    size_t segment_count;
};

/* A key, whose every byte counts. */
struct process_row {
    uint64_t generation;
    uint32_t pid, foreign;
};

/* A symbol's process and file: symbols that share both are a group. */
struct spot {
    uint32_t symbol;
    uint32_t process; /* its number + 1; 0: the kernel */
    uint32_t file;
    uint64_t base;    /* address - base is its offset in the file */
    uint64_t address;
    bool is_return;
};

struct tables {
    const struct recording_source *source;
    struct file_row *files;
    size_t file_count, file_room;
    struct numbering processes; /* by their struct process_row */
    struct spot *spots; /* in the symbols' order */
    uint32_t *numbers;  /* of the symbols */
    struct index file_index;
    bool failed; /* memory ran out for a process */
};

/* 0 or -ENOMEM; tables_free after either. */
int tables_make(struct tables *tables, const struct recording_source *source);
void tables_free(struct tables *tables);

/* For a task in the tally, whose number is there. */
uint32_t tables_process(struct tables *tables, uint32_t pid, uint64_t generation, bool foreign);

static inline bool spots_are_one_group(const struct spot *a, const struct spot *b)
{
    return a->process == b->process && a->file == b->file && a->base == b->base;
}

/* More segments than any mapped file has. */
#define MOST_SEGMENTS 64

/*
 * The sandbox reads the files that are open and were not written to. 0 or -ENOMEM; what it cannot
 * read stays unknown. If the sandbox fails, *unread says how.
 */
int identities_read(struct file_row *files, size_t count, struct text *unread);

#endif
