/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Mappings of a program that others replaced: a library that was unloaded, and another one at its
 * address. The kernel does not report unmapping: a mapping lasts until another replaces it.
 */
#ifndef STACKBOX_PROCESSES_REPLACED_H
#define STACKBOX_PROCESSES_REPLACED_H

#include "processes/image.h"

/* Per program; the oldest are forgotten. */
#define REPLACED_MOST 1024

struct replaced {
    struct mapping mapping;
    uint64_t until; /* CLOCK_MONOTONIC, ns */
};

struct replaced_list {
    struct replaced *items; /* by time; each holds a reference of its file */
    size_t count, room;
    uint32_t forgotten; /* before the first */
};

/*
 * Keeps those of the image's mappings that `mapping` is about to replace. 0; -ENOMEM; or how many
 * were forgotten for it.
 */
int replaced_keep(struct replaced_list *list, struct mapped_files *files, const struct image *image,
                  const struct mapping *mapping, uint64_t time);
/* Forgets what was replaced before `time`. */
void replaced_forget(struct replaced_list *list, struct mapped_files *files, uint64_t time);
void replaced_free(struct replaced_list *list, struct mapped_files *files);

/* A number for the time between two replacements in one program: never 0. */
uint32_t replaced_epoch(const struct replaced_list *list, uint64_t time);
/* What was mapped at the address in that time; NULL: what is there now. */
const struct mapping *replaced_find(const struct replaced_list *list, uint32_t epoch,
                                    uint64_t address);

/*
 * From *at on: the next mapping that held the address and was replaced at `since` or later. NULL:
 * there are no more.
 */
const struct mapping *replaced_next(const struct replaced_list *list, uint64_t address,
                                    uint64_t since, size_t *at);

/* Is the address the same byte of the same file in both? */
bool replaced_is_same(const struct mapping *a, const struct mapping *b);

#endif
