/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The tree behind a flame graph: stacks that begin alike share the frames that they begin with.
 * Made of reports and of anybody's folded text, of up to millions of lines.
 */
#ifndef STACKBOX_PICTURE_FLAME_H
#define STACKBOX_PICTURE_FLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a frame is of, as the ending of its name says, which is not shown. */
enum flame_kind {
    FLAME_PLAIN,     /* a program's, or not known */
    FLAME_KERNEL,    /* name_[k] */
    FLAME_JIT,       /* name_[j] */
    FLAME_INLINED,   /* name_[i] */
    FLAME_WAKER,     /* name_[w]; all frames on a `--` are drawn as such */
    FLAME_DELIMITER, /* `-` */
    FLAME_MEETING,   /* `--` */
};

struct flame_name {
    const char *text; /* not NUL-terminated; without the ending of its kind */
    uint32_t length;
    uint32_t kind; /* an enum flame_kind */
};

/* Nodes are found by their index; the root, which is all stacks, has 0. */
struct flame_node {
    uint64_t value;  /* of the stacks that go through it */
    uint64_t before; /* the same of those that it is compared with */
    uint32_t name;
    uint32_t parent, first_child, next; /* next: of the same parent, in no order; 0: none */
};

struct flame {
    struct flame_node *nodes;
    size_t count, room;
    struct flame_name *names;
    size_t name_count, name_room;
    uint32_t *name_table; /* found by hash: an index + 1, or 0 */
    uint32_t *node_table; /* of nodes with many siblings: an index, or 0 */
    size_t node_slots, name_slots; /* powers of two */
    size_t in_table;
    uint64_t *name_hashes;
    size_t hash_room;
    struct flame_bytes *bytes; /* what the names' texts are in */
};

/* Bytes of a text that is somebody else's. */
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
 * Adds a stack, root first. The texts are copied. *leaf becomes its last node (the root's without
 * frames), if it is not NULL. 0 or -ENOMEM.
 */
int flame_add(struct flame *flame, enum flame_side side, const struct flame_slice *frames,
              size_t count, uint64_t value, uint32_t *leaf);

/*
 * The same for who knows where frames were added before: the child of `parent` with this name, made
 * if there is none, as an index; values are the caller's to add. 0, which is nobody's child: memory
 * ran out.
 */
uint32_t flame_child(struct flame *flame, uint32_t parent, const struct flame_slice *frame);

/* What the ending of a frame's name says. */
enum flame_kind flame_kind_of(const char *text, size_t length);

/* The name of a frame, made if there is none, as an index. 0 or -ENOMEM. */
int flame_name(struct flame *flame, const struct flame_slice *frame, uint32_t *name);
/* The same where nothing is made: false, there is none. */
bool flame_find_name(const struct flame *flame, const struct flame_slice *frame, uint32_t *name);
/* As flame_child, of whose frame the name is known. */
uint32_t flame_named_child(struct flame *flame, uint32_t parent, uint32_t name);

/* Soon flame_find_name() or flame_named_child() will be asked this: memory takes its time. */
void flame_expect_name(const struct flame *flame, const struct flame_slice *frame);
void flame_expect_child(const struct flame *flame, uint32_t parent, uint32_t name);
/*
 * Once, for who added values to the last nodes of stacks alone: adds those to all that are on the
 * way to them.
 */
void flame_sum(struct flame *flame);

#endif
