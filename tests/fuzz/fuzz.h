/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Shared by the fuzzers of readers. A fuzzer is one function, which libFuzzer, or driver.c if there
 * is none, calls with input after input, by way of cost.c; corpus/NAME has the inputs to begin with.
 * Whatever breaks a promise of the reader's header aborts, and whatever costs more than it may.
 */
#ifndef STACKBOX_FUZZ_H
#define STACKBOX_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The fuzzer. */
void fuzz_input(const uint8_t *data, size_t size);

/* What an input may cost: least + each * its size, and if it has a hole, `hole` more. */
struct fuzz_line {
    double least, each, hole;
};

enum fuzz_cost {
    FUZZ_BYTES, /* of memory, at a time */
    FUZZ_READS, /* calls of read and pread */
    FUZZ_TIME,  /* us on the CPU */
    FUZZ_COSTS,
};

/* Each fuzzer has its own. */
extern const struct fuzz_line fuzz_lines[FUZZ_COSTS];

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

#define FUZZ_HOLE 8

/* Sparse files: the last bytes say where the hole is, how long (2^N), and HOLE. 0: the file has none. */
static inline uint64_t fuzz_hole(const uint8_t *data, size_t size)
{
    if (size < FUZZ_HOLE || memcmp(data + size - 4, "HOLE", 4))
        return 0;
    return UINT64_C(1) << data[size - 6] % 62;
}

/* A file with the input, which may have a hole; its size is *whole then. */
static inline int fuzz_sparse_file(const uint8_t *data, size_t size, uint64_t *whole)
{
    const uint64_t hole = fuzz_hole(data, size);

    *whole = size;
    if (!hole)
        return fuzz_file(data, size);
    size -= FUZZ_HOLE;
    const size_t place = data[size] | (size_t)data[size + 1] << 8, at = place < size ? place : size;
    int fd = fuzz_file(data, at);
    *whole = size + hole;
    ALWAYS(!ftruncate(fd, (off_t)*whole));
    ALWAYS(pwrite(fd, data + at, size - at, (off_t)(at + hole)) == (ssize_t)(size - at));
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
