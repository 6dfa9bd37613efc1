/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A table in the format of insns/unwind_layout.h: made from rows in the reader, checked by us, and
 * searched.
 */
#ifndef STACKBOX_UNWIND_TABLE_H
#define STACKBOX_UNWIND_TABLE_H

#include "elf/frame_rows.h"
#include "insns/unwind_layout.h"
#include "sandbox/sandbox.h"

struct table {
    uint32_t *words; /* NULL: it is in programs' maps: block n is in chunks[n >> 6] */
    uint32_t *const *chunks;
    size_t blocks; /* of UNWIND_BLOCK_WORDS each */
    struct unwind_object object; /* with `words`, its `block` is 0 */
};

/* 0, -ENOENT: there are no rows, -E2BIG, or -ENOMEM. table_free after either. */
int table_make(struct table *table, const struct frame_rows *frames);
void table_free(struct table *table);

/*
 * Is everything as unwind_layout.h promises: indices within bounds, rows in order, rules known? A
 * table from the reader must not be used before. 0, or -EBADMSG.
 */
int table_check(const struct table *table);

/* The rule for an offset in the file, in a table that was checked; NULL: none covers it. */
const struct unwind_rule *table_find(const struct table *table, uint64_t offset);

/*
 * Builds tables of files in the unprivileged reader, in the background: several files at a time, as
 * a process costs more than a small file.
 */
#define BUILDER_MOST 32

/* CPU time for all tables of a batch; and how long (ns) the batch may last. */
#define BUILDER_SECONDS 10
#define BUILDER_NS 60000000000

/* {0} is idle. */
struct table_builder {
    unsigned seconds; /* 0: BUILDER_SECONDS */
    struct sandbox_run run;
    uint64_t began;
    int fds[BUILDER_MOST];
    size_t count;
};

/*
 * The result for one file: 0 and its table, which is checked and valid during the call; or a
 * negative errno: -EAGAIN if another file may be the cause, so it must be made alone; -ETIME if it
 * was alone and took too long.
 */
typedef void table_builder_take(void *context, size_t which, int result, const struct table *table,
                         const struct frame_counts *counts);

/* The descriptors stay the caller's, and open until the end. 0 or a negative errno. */
int table_builder_begin(struct table_builder *builder, const int *fds, size_t count);

/*
 * Waits until that time (now_ns) at most. -EINPROGRESS: not done yet; 0: done, after calling `take`
 * with each file.
 */
int table_builder_end(struct table_builder *builder, uint64_t until, table_builder_take *take,
                      void *context);

/* Does not wait: stops the reader if it is not done. */
void table_builder_free(struct table_builder *builder);

/* The table of a file that we trust, made here. As table_make(). */
int table_build(const struct elf *elf, struct table *table, struct frame_counts *counts);

#endif
