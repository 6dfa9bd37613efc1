/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The tree behind a flame graph: stacks that begin alike share their first frames. Made from
 * reports and from anybody's folded text, of up to millions of lines.
 */
#ifndef STACKBOX_PICTURE_FLAME_H
#define STACKBOX_PICTURE_FLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    uint32_t *name_table; /* found by hash: an index + 1, or 0 */
    uint32_t *node_table; /* for nodes with many siblings: an index, or 0 */
    size_t node_slots, name_slots; /* powers of two */
    size_t in_table;
    uint64_t *name_hashes;
    size_t hash_room;
    struct flame_bytes *bytes; /* hold the names' texts */
};

/* Bytes of somebody else's text. */
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
 * the caller adds values. 0, which is nobody's child: out of memory.
 */
uint32_t flame_child(struct flame *flame, uint32_t parent, const struct flame_slice *frame);

/* The kind that a name's suffix says. */
enum flame_kind flame_kind_of(const char *text, size_t length);

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

#endif
