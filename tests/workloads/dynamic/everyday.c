/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * everyday      prints `ready`, and then does what programs do all day, until it is ended: it allocates,
 *               touches new memory, computes, sleeps for some milliseconds, waits for a lock of a thread
 *               of its own, opens a file. It makes the events that users trace in any program.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static unsigned rounds;

static void *wait_for_rounds(void *unused)
{
    pthread_mutex_lock(&mutex);
    for (unsigned seen = rounds;; seen = rounds)
        while (seen == rounds)
            pthread_cond_wait(&change, &mutex);
    return unused;
}

static unsigned compute(const unsigned char *bytes, size_t size)
{
    unsigned sum = 0;

    for (unsigned times = 0; times < 200; times++)
        for (size_t i = 0; i < size; i++)
            sum = sum * 31 + bytes[i];
    return sum;
}

static unsigned one_round(void)
{
    const size_t size = 4096;
    const struct timespec pause = {.tv_nsec = 3000000};
    unsigned char *fresh = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *text = malloc(100);
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    unsigned sum = 0;

    if (fresh != MAP_FAILED) {
        memset(fresh, 1, size);
        sum = compute(fresh, size);
        munmap(fresh, size);
    }
    if (fd >= 0 && text)
        sum += (unsigned)read(fd, text, 100);
    close(fd);
    free(text);
    nanosleep(&pause, NULL);
    return sum;
}

/* The results are used: otherwise compilers need not compute them. */
static volatile unsigned total;

int main(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, wait_for_rounds, NULL))
        return 1;
    puts("ready");
    fflush(stdout);
    for (;;) {
        total += one_round();
        pthread_mutex_lock(&mutex);
        rounds++;
        pthread_cond_signal(&change);
        pthread_mutex_unlock(&mutex);
    }
}
