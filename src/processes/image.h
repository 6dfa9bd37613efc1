/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The executable memory of a program: what is mapped where. Shared after a fork. */
#ifndef STACKBOX_PROCESSES_IMAGE_H
#define STACKBOX_PROCESSES_IMAGE_H

#include "processes/mapped_files.h"

/* A process may have some 65,000 mappings; image_add refuses more executable ones than this. */
#define IMAGE_MAPPINGS 16384

struct mapping {
    uint64_t start, end, offset; /* offset: of `start` in the file, or in the mapping */
    struct mapped_file *file;    /* with a reference */
};

struct image {
    size_t references;
    size_t current; /* how many of the references are of what living processes run */
    size_t count, room;
    struct mapping *mappings; /* by address, without overlaps */
};

/* An empty one, with one reference. NULL: out of memory. */
struct image *image_make(void);
void image_hold(struct image *image);
void image_drop(struct image *image, struct mapped_files *files);

/*
 * Adds a mapping over what it replaces. Takes the reference of mapping->file, after an error, too.
 * If the image has other references, *image becomes a copy. 0, -ENOMEM, or -ENOSPC.
 */
int image_add(struct image **image, struct mapped_files *files, const struct mapping *mapping);

/* The mapping that holds an address; NULL: none does. */
const struct mapping *image_find(const struct image *image, uint64_t address);
/* The index of the first mapping that ends above an address; image->count if none does. */
size_t image_first_behind(const struct image *image, uint64_t address);
/* Is some of it anonymous memory, which a JIT may have written? */
bool image_has_anonymous(const struct image *image);

/* The memory that it takes. */
size_t image_bytes(const struct image *image);

#endif
