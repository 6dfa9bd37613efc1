/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Shared by the fuzzers of readers. A fuzzer is one function, which libFuzzer, or driver.c if there
 * is none, calls with input after input; corpus/NAME has the inputs to begin with. Whatever breaks
 * a promise of the reader's header aborts.
 */
#ifndef STACKBOX_FUZZ_H
#define STACKBOX_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ALWAYS(condition)                                                                 \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);       \
            abort();                                                                      \
        }                                                                                 \
    } while (0)

/* A file with the input, at offset 0: the same file each time. */
static inline int fuzz_file(const uint8_t *data, size_t size)
{
    static int fd = -1;

    if (fd < 0)
        fd = memfd_create("input", MFD_CLOEXEC);
    ALWAYS(fd >= 0 && !ftruncate(fd, 0) && pwrite(fd, data, size, 0) == (ssize_t)size);
    ALWAYS(!lseek(fd, 0, SEEK_SET));
    return fd;
}

/* Numbers for questions to a reader, independent of the input: the same each time. */
static inline uint64_t fuzz_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static inline int fuzz_compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/* Sorts addresses and removes duplicates; returns how many are left. */
static inline size_t fuzz_sort(uint64_t *addresses, size_t count)
{
    size_t kept = 0;

    qsort(addresses, count, sizeof(*addresses), fuzz_compare);
    for (size_t i = 0; i < count; i++)
        if (!i || addresses[i] != addresses[i - 1])
            addresses[kept++] = addresses[i];
    return kept;
}

#endif
