/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The tree behind a flame graph: stacks that begin alike share their first frames. Made from
 * reports and from folded text of any tool, of up to millions of lines.
 */
#ifndef STACKBOX_FLAME_FLAME_H
#define STACKBOX_FLAME_FLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/index.h"
#include "base/text.h"

/* A frame's kind, by the suffix of its name, which is not shown. */
enum flame_kind {
    FLAME_PLAIN,     /* a program's, or unknown */
    FLAME_KERNEL,    /* name_[k] */
    FLAME_JIT,       /* name_[j] */
    FLAME_INLINED,   /* name_[i] */
    FLAME_WAKER,     /* name_[w]; all frames above a `--` are drawn so */
    FLAME_DELIMITER, /* `-` */
    FLAME_MEETING,   /* `--` */
};

struct flame_name {
    const char *text; /* not NUL-terminated; without the kind's suffix */
    uint32_t length;
    uint32_t kind; /* an enum flame_kind */
};

/* Nodes are found by index; the root, which stands for all stacks, is 0. */
struct flame_node {
    uint64_t value;  /* of the stacks through it */
    uint64_t before; /* the same in the flame compared with */
    uint32_t name;
    uint32_t parent, first_child, next; /* next: of the same parent, unordered; 0: none */
};

struct flame {
    struct flame_node *nodes;
    size_t count, room;
    struct flame_name *names;
    size_t name_count, name_room;
    struct index name_index, node_index; /* the latter for nodes with many siblings */
    struct flame_bytes *bytes; /* hold the names' texts */
};

/* A part of the caller's text. */
struct flame_slice {
    const char *text;
    size_t length;
};

/* Which of a node's two values. */
enum flame_side {
    FLAME_NOW,
    FLAME_BEFORE,
};

/* 0 or -ENOMEM; flame_free after either. */
int flame_init(struct flame *flame);
void flame_free(struct flame *flame);

/*
 * Adds a stack, root first. The texts are copied. *leaf, unless it is NULL, becomes its last node
 * (the root without frames). 0 or -ENOMEM.
 */
int flame_add(struct flame *flame, enum flame_side side, const struct flame_slice *frames,
              size_t count, uint64_t value, uint32_t *leaf);

/*
 * The same step by step: the index of the child of `parent` with this name, made if there is none;
 * the caller adds values. 0, which is the root: out of memory.
 */
uint32_t flame_child(struct flame *flame, uint32_t parent, const struct flame_slice *frame);

/* The kind that a name's suffix says; *length becomes that without the suffix. */
enum flame_kind flame_kind_of(const char *text, size_t *length);

/* The index of a frame's name, made if there is none. 0 or -ENOMEM. */
int flame_name(struct flame *flame, const struct flame_slice *frame, uint32_t *name);
/* The same without making one. False: there is none. */
bool flame_find_name(const struct flame *flame, const struct flame_slice *frame, uint32_t *name);
/* As flame_child, for a name that is known. */
uint32_t flame_named_child(struct flame *flame, uint32_t parent, uint32_t name);

/* Prefetches for a flame_find_name() or flame_named_child() to come. */
void flame_expect_name(const struct flame *flame, const struct flame_slice *frame);
void flame_expect_child(const struct flame *flame, uint32_t parent, uint32_t name);
/*
 * To be called once if values were added to stacks' last nodes only: adds them to all their
 * ancestors.
 */
void flame_sum(struct flame *flame);

/* Makes children lists ordered by name, as bytes. 0 or -ENOMEM. */
int flame_order(struct flame *flame);

/*
 * The next node, parents before their children, or 0 after the last. *depth, 0 for the root,
 * becomes its depth.
 */
uint32_t flame_next(const struct flame *flame, uint32_t node, size_t *depth);

/* By their bytes, then by their kinds. */
int flame_compare_names(const struct flame_name *a, const struct flame_name *b);

/*
 * Scales the values before to the total now: *scaled becomes a value per node, which the caller
 * frees. A node's is never less than its children's together, and off by less than one. 0 or
 * -ENOMEM.
 */
int flame_scale(const struct flame *flame, uint64_t **scaled);
/* Exchanges these values for the nodes' `before`. */
void flame_exchange_before(struct flame *flame, uint64_t *values);

/* Appends a name with the suffix of its kind, as it was read: "vfs_read_[k]". */
void flame_add_name(struct text *text, const struct flame_name *name);

/*
 * Writers of a flame whose values are summed and whose children are in order. With `differential`
 * it is two: before and now. 0 or -ENOMEM: the caller checks whether it was written.
 */

/* A line per stack, by count, greatest last; then by names. Differential: two counts. */
int flame_write_folded(FILE *out, const struct flame *flame, bool differential);

#endif
