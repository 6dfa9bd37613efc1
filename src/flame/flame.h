/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The tree behind a flame graph: stacks share their common first frames. Made from reports and from
 * folded text of any tool, of up to millions of lines.
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

/* Adds a stack, root first. The texts are copied. 0 or -ENOMEM. */
int flame_add(struct flame *flame, enum flame_side side, const struct flame_slice *frames,
              size_t count, uint64_t value);

/*
 * The same step by step: the index of the child of `parent` with this name, made if there is none;
 * the caller adds values. 0, which is the root: out of memory.
 */
uint32_t flame_child(struct flame *flame, uint32_t parent, const struct flame_slice *frame);

/* The kind by a name's suffix; *length becomes the length without the suffix. */
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
 * Adds each node's value to all its ancestors. Call it once, after values were added only to
 * stacks' last nodes.
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
 * Writers of a summed and ordered flame; if `differential`, with two values: before and now. 0 or
 * -ENOMEM. The caller checks `out` for errors.
 */

/* A line per stack, by count, greatest last; then by names. Differential: two counts. */
int flame_write_folded(FILE *out, const struct flame *flame, bool differential);

/* Each name's count in a flame, by itself and with what it calls. Pure. */

struct function_counts {
    uint64_t self;  /* of stacks that end in it */
    uint64_t total; /* of stacks that contain it */
};

struct function {
    struct function_counts now, before;
    uint32_t open; /* how often it is on the path to the current node */
};

struct functions {
    const struct flame *flame;
    struct function *items; /* by the index of their names; delimiters have no counts */
    uint32_t *leaves;       /* by depth: the node to which a stack that ends there belongs, or 0 */
    size_t room;
};

/* For a summed flame. 0 or -ENOMEM; functions_free after either. */
int functions_make(struct functions *functions, const struct flame *flame);
void functions_free(struct functions *functions);

/* By how many standard errors a share must exceed the limit: by chance, once in 740. */
#define VERDICT_SIGMAS 3

/* `count` of `all`. */
struct share {
    uint64_t count, all; /* all: not 0 */
};

/*
 * By how much a share has grown at least, 1 being all: the lower end of the score interval for the
 * difference of two independent proportions (Newcombe 1998, his tenth).
 */
double share_growth_at_least(const struct share *before, const struct share *now, double sigmas);

struct verdict_options {
    double limit;     /* of all, 1 being all */
    const char *text; /* the same as typed */
};

/*
 * Writes the verdict, and the three functions that have grown most, by themselves or with what they
 * call: first those that have grown significantly by more than the limit. *grown becomes the number
 * of these. For a summed flame whose totals are both not 0. 0 or -ENOMEM.
 */
int verdict_write(FILE *out, const struct flame *flame, const struct verdict_options *options,
                  size_t *grown);

/*
 * Reads folded stacks: one per line, root first, `main;read_all;read 12`. Many tools make them, so
 * the reader checks every line, and counts those that are not stacks.
 */

/* Longer lines are not stacks. */
#define FOLDED_MOST_BYTES (64 << 20)

/* Lines of one kind. */
struct folded_lines {
    uint64_t count, first; /* the first one's line number, from 1, in its file */
    const char *file;      /* and that file: `name` when it was read */
};

struct folded {
    /* Where it goes: set before the first file. */
    struct flame *flame;
    enum flame_side side;        /* for lines with one count */
    bool reversed;               /* leaf first */
    bool bare;                   /* without compilers' suffixes: see folded_name_length() */
    const char *name;            /* of the file being read: the caller's */

    /* What was found, in all files so far. */
    uint64_t stacks;           /* lines added to the flame */
    uint64_t sums[2];          /* of their counts, by flame_side */
    bool pairs;                /* lines have two counts: before and now */
    struct folded_lines bad;   /* no count, or no stack */
    struct folded_lines large; /* with this count the sum would overflow */
    struct folded_lines odd;   /* one count among pairs, or two among single ones */

    /* Private. */
    char *buffer;
    size_t room, start, end;
    uint64_t line;
    struct folded_stack *stacks_waiting;
    size_t waiting;
    uint64_t carry[2];
    struct text text;
};

/*
 * Reads a whole file, or a pipe, and adds its stacks to the flame: counts only to their last
 * frames, so flame_sum() is needed at the end. A file whose first line has two counts is one of
 * pairs, and so are those after it.
 *
 * A count may have a fraction, of which six digits are used. A fraction is carried over to the next
 * line that has one: the sum is off by less than one.
 *
 * Bytes that must not be shown are escaped; a frame without a name is [unknown]. Lines that begin
 * with `#` and a blank are comments. 0, or the error of reading; what was read is then in the
 * flame.
 */
int folded_read(struct folded *folded, int fd);
void folded_free(struct folded *folded);

/*
 * The length of a name without the suffixes that compilers add, as two builds of a program may
 * differ in them: .isra.N, .constprop.N, .part.N, .llvm.N, .cold, .cold.N (also as " [clone .cold]"
 * and " (.cold)"), and ::h with sixteen hexadecimal digits; a name may have several.
 */
size_t folded_name_length(const char *name, size_t length);

#endif
