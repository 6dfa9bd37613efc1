/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What a recording numbers: files, processes and symbols, without duplicates. Part of write.c. */
#ifndef STACKBOX_RECORDING_TABLES_H
#define STACKBOX_RECORDING_TABLES_H

#include "recording/format.h"
#include "recording/identities.h"
#include "recording/strings.h"
#include "recording/write.h"

struct file_row {
    enum recorded_file kind;
    const char *path; /* or a module's name, or a memory area's */
    uint64_t base, size; /* of the kernel; of a module, its base */
};

struct process_row {
    uint32_t pid;
    bool foreign;
    uint64_t born;
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
    struct identified *identified; /* of each file */
    size_t file_count, file_room, identified_room;
    struct process_row *processes;
    size_t process_count, process_room;
    struct spot *spots; /* in the symbols' order */
    uint32_t *numbers;  /* of the symbols */
    struct index file_index, process_index;
};

/* 0 or -ENOMEM; tables_free after either. */
int tables_make(struct tables *tables, const struct recording_source *source);
void tables_free(struct tables *tables);

/* For a party in the tally. */
uint32_t tables_process(const struct tables *tables, uint32_t pid, uint64_t born, bool foreign);

static inline bool spots_are_one_group(const struct spot *a, const struct spot *b)
{
    return a->process == b->process && a->file == b->file && a->base == b->base;
}

#endif
