/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "unwind/backlog.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"
#include "insns/unwind.h"
#include "kernel/bpf.h"

#define LOOK_MS 1000 /* whether it is to end, should nothing wake it up */

static int copy(void *context, const void *record, size_t size)
{
    const struct unwind_state *walk = record;
    struct backlog *backlog = context;

    if (size < UNWIND_KEPT_HEAD || walk->kept > size - UNWIND_KEPT_HEAD)
        return 0; /* programs write no such record */
    const uint64_t bytes = (UNWIND_RECORD_BYTES(walk->kept) + 7) & ~(uint64_t)7;
    if (bytes > size || backlog->copied.failed || backlog->copied.length + bytes > backlog->most) {
        backlog->dropped++;
        return 0;
    }
    text_append(&backlog->copied, (const char *)&bytes, sizeof(bytes));
    text_append(&backlog->copied, record, (size_t)bytes);
    return 0;
}

/* How many records there were. */
static int read_ring(struct backlog *backlog)
{
    pthread_mutex_lock(&backlog->lock);
    const int count = bpf_ring_read(&backlog->ring, copy, backlog);
    if (count > 0)
        (void)!write(backlog->bell, &(uint64_t){1}, sizeof(uint64_t));
    pthread_mutex_unlock(&backlog->lock);
    return count;
}

/* Before the makers of tables, too, which bpf_begin_unpreempted() may have raised. */
static void come_first(void)
{
    const struct sched_param second = {.sched_priority = 2};

    syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &second);
}

/* A program whose record is not submitted yet may be waiting for our CPU. */
static void *keep_reading(void *context)
{
    struct backlog *backlog = context;
    struct pollfd polled[] = {{.fd = backlog->stop, .events = POLLIN},
                              {.fd = backlog->ring.map, .events = POLLIN}};

    come_first();
    while (!__atomic_load_n(&backlog->ends, __ATOMIC_RELAXED)) {
        const int ready = poll(polled, COUNT_OF(polled), LOOK_MS);
        if (ready < 0)
            break;
        if (ready && !read_ring(backlog))
            (void)poll(NULL, 0, 1);
    }
    return NULL;
}

void backlog_begin(struct backlog *backlog)
{
    sigset_t all, before;

    if (backlog->has_reader || backlog->ring.map < 0)
        return;
    /* Signals are handled by the thread that waits for them. */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    backlog->has_reader = !pthread_create(&backlog->reader, NULL, keep_reading, backlog);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

int backlog_take(struct backlog *backlog, ring_take *take, void *context)
{
    int count = 0, result = 0;
    uint64_t size, times;

    if (backlog->ring.map < 0)
        return 0;
    /* The thread must not wait for us while we wait for a CPU. */
    bpf_begin_unpreempted();
    pthread_mutex_lock(&backlog->lock);
    (void)!read(backlog->bell, &times, sizeof(times));
    (void)bpf_ring_read(&backlog->ring, copy, backlog);
    struct text taken = backlog->copied;
    backlog->copied = (struct text){0};
    pthread_mutex_unlock(&backlog->lock);
    bpf_end_unpreempted();
    for (size_t at = 0; at < taken.length && !result; at += sizeof(size) + (size_t)size, count++) {
        memcpy(&size, taken.data + at, sizeof(size));
        result = take(context, taken.data + at + sizeof(size), (size_t)size);
    }
    text_free(&taken);
    return result ? result : count;
}

int backlog_open(struct backlog *backlog, size_t ring_bytes, size_t most)
{
    *backlog = (struct backlog){.ring.map = -1, .bell = -1, .stop = -1, .most = most};
    pthread_mutex_init(&backlog->lock, NULL);
    if (!ring_bytes)
        return 0;
    backlog->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    backlog->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return backlog->bell < 0 || backlog->stop < 0 ? -errno
                                                  : bpf_ring_open(&backlog->ring, ring_bytes);
}

void backlog_close(struct backlog *backlog)
{
    if (backlog->has_reader) {
        __atomic_store_n(&backlog->ends, true, __ATOMIC_RELAXED);
        (void)!write(backlog->stop, &(uint64_t){1}, sizeof(uint64_t));
        pthread_join(backlog->reader, NULL);
    }
    bpf_ring_close(&backlog->ring);
    if (backlog->bell >= 0)
        close(backlog->bell);
    if (backlog->stop >= 0)
        close(backlog->stop);
    text_free(&backlog->copied);
    pthread_mutex_destroy(&backlog->lock);
}
