/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Makes files' tables in the unprivileged reader, in the background: several at a time, as a
 * process costs more than a small file. Nobody has to wait.
 */
#ifndef STACKBOX_UNWIND_MAKING_H
#define STACKBOX_UNWIND_MAKING_H

#include <stddef.h>
#include <stdint.h>

#include "apart/apart.h"
#include "unwind/table.h"

#define MAKING_MOST 32
/* CPU time for all that are made together; and how long (ns) that may last. */
#define MAKING_SECONDS 10
#define MAKING_NS 60000000000

/* {0} is idle. */
struct making {
    unsigned seconds; /* 0: MAKING_SECONDS */
    struct apart_run run;
    uint64_t began;
    int fds[MAKING_MOST];
    size_t count;
};

/*
 * The result for one of them: 0 and its table, which was checked and is lent; or a negative errno:
 * -EAGAIN if others may be the cause, and it must be made alone; -ETIME if it was alone and took
 * too long.
 */
typedef void making_take(void *context, size_t which, int result, const struct table *table, uint64_t rows);

/* The descriptors are the caller's, and stay open until it has ended. 0 or a negative errno. */
int making_begin(struct making *making, const int *fds, size_t count);
/*
 * Waits until that time (now_ns) at most. -EINPROGRESS: not done yet; 0: it has ended, and `take`
 * was called with each.
 */
int making_end(struct making *making, uint64_t until, making_take *take, void *context);
/* At once; stops it if it is not done. */
void making_free(struct making *making);

/* The table of a file that we trust, made here. As table_make(). */
int making_of(const struct elf *elf, struct table *table, uint64_t *rows);

#endif
