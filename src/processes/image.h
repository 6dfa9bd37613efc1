/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The executable memory of a program: what is mapped where. Shared by those who forked. */
#ifndef STACKBOX_PROCESSES_IMAGE_H
#define STACKBOX_PROCESSES_IMAGE_H

#include "processes/mapped_files.h"

/* No process can map more at a time than some 65,000; what is beyond this is not remembered. */
#define IMAGE_MAPPINGS 16384

struct mapping {
    uint64_t start, end, offset; /* offset: of `start` in the file, or behind where it began */
    struct mapped_file *file;    /* with a reference */
};

struct image {
    size_t references;
    size_t current; /* of these: what a living process runs now */
    size_t count, room;
    struct mapping *mappings; /* by address; none overlaps another */
};

/* An empty one, with one reference. NULL: memory ran out. */
struct image *image_make(void);
void image_hold(struct image *image);
void image_drop(struct image *image, struct mapped_files *files);

/*
 * Maps something over what was there. Takes the reference of mapping->file, after an error too.
 * An image that others hold, too, is left to them: *image becomes a copy of it. 0, -ENOMEM, or
 * -ENOSPC.
 */
int image_add(struct image **image, struct mapped_files *files, const struct mapping *mapping);

/* The mapping that holds an address; NULL: none does. */
const struct mapping *image_find(const struct image *image, uint64_t address);
/* The number of the first mapping that ends behind an address; image->count: none does. */
size_t image_first_behind(const struct image *image, uint64_t address);
/* Is some of it of no file, and may have been made by a JIT? */
bool image_has_anonymous(const struct image *image);

/* What it takes of memory. */
size_t image_bytes(const struct image *image);

#endif
