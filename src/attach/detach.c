/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "attach/detach.h"

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#define THREADS 8

struct share {
    const int *fds;
    size_t count;
};

static void *close_share(void *context)
{
    const struct share *share = context;

    for (size_t i = 0; i < share->count; i++)
        close(share->fds[i]);
    return NULL;
}

void detach_all(const int *fds, size_t count)
{
    pthread_t threads[THREADS];
    struct share shares[THREADS];
    bool started[THREADS];

    if (count < THREADS) {
        close_share(&(struct share){fds, count});
        return;
    }
    for (size_t i = 0; i < THREADS; i++) {
        size_t from = count * i / THREADS, to = count * (i + 1) / THREADS;
        shares[i] = (struct share){fds + from, to - from};
        started[i] = !pthread_create(&threads[i], NULL, close_share, &shares[i]);
        if (!started[i])
            close_share(&shares[i]);
    }
    for (size_t i = 0; i < THREADS; i++)
        if (started[i])
            pthread_join(threads[i], NULL);
}
