/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* One of the files being read: what its numbers stand for. Part of read.c. */
#ifndef STACKBOX_RECORDING_PART_H
#define STACKBOX_RECORDING_PART_H

#include "elf/identity.h"
#include "recording/format.h"
#include "recording/read.h"
#include "recording/reader.h"

struct recorded_row {
    enum recorded_file kind;
    struct mapped_file mapped; /* for a process's; `path` also for the kernel's: a module's name */
    struct file_identity identity;
    char build_id[2 * ELF_LONGEST_BUILD_ID + 1];
    uint64_t base, size;
};

struct recorded_group {
    const struct recorded_row *row;
    uint64_t base;
};

struct recorded_process {
    uint32_t pid;
    bool foreign;
    uint64_t born; /* different for each that was read: its number */
};

/* The applet's name, and what was measured. */
enum { RECORDED_WORDS = 4 };

struct recording_part {
    struct recording_part *next;
    char *pool;
    const char **strings;
    struct recorded_row *files;
    size_t file_count;
    struct recorded_process *processes;
    size_t process_count;
    struct recorded_group *groups;
    size_t first_symbol, symbol_count;
    struct text words[RECORDED_WORDS]; /* printed as they are: escaped */
    struct waiting_text waiting; /* from the kernel's start on */
};

void part_take_strings(struct reader *reader, struct recording_part *part);
void part_take_files(struct reader *reader, struct recording_part *part);
void part_take_processes(struct reader *reader, struct recording *recording, struct recording_part *part);
void part_take_symbols(struct reader *reader, struct recording *recording, struct recording_part *part);
void part_take_comm(struct reader *reader, char comm[COMM_BYTES + 1]);
void parts_free(struct recording_part *parts);

#endif
