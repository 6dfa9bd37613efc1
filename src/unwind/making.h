/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Tables of files, made by the reader without rights while we do something else: several at a time, for a
 * process costs more than a small file. Nobody waits for it who does not want to.
 */
#ifndef STACKBOX_UNWIND_MAKING_H
#define STACKBOX_UNWIND_MAKING_H

#include <stddef.h>
#include <stdint.h>

#include "apart/apart.h"
#include "unwind/table.h"

#define MAKING_MOST 32
/* Of CPU time, for all that are made at a time; and how long that may last (ns). */
#define MAKING_SECONDS 10
#define MAKING_NS 60000000000

/* {0} makes none. */
struct making {
    unsigned seconds; /* 0: MAKING_SECONDS */
    struct apart_run run;
    uint64_t began;
    int fds[MAKING_MOST];
    size_t count;
};

/*
 * What became of one of them: 0 and its table, which was checked and is lent; or a negative errno. That is
 * -EAGAIN where others may be to blame, and it is to be made alone; -ETIME where it was and took too long.
 */
typedef void making_take(void *context, size_t which, int result, const struct table *table, uint64_t rows);

/* The descriptors are the caller's, and stay open until it has ended. 0 or a negative errno. */
int making_begin(struct making *making, const int *fds, size_t count);
/*
 * Waits until that time (now_ns) at most. -EINPROGRESS: it is not done; 0: it has ended, and `take` was called
 * with each.
 */
int making_end(struct making *making, uint64_t until, making_take *take, void *context);
/* At once; ends it, if it is not done. */
void making_free(struct making *making);

/* The table of a file that we trust, made here. As table_make(). */
int making_of(const struct elf *elf, struct table *table, uint64_t *rows);

#endif
