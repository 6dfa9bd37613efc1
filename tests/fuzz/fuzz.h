/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Shared by the fuzzers. A fuzzer is one function, which libFuzzer, or else driver.c, calls through
 * cost.c for each input; corpus/NAME holds its seeds. The fuzzer aborts when the reader breaks a
 * promise of its header, and cost.c when an input costs more than its line.
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

/* Each fuzzer defines this one. */
void fuzz_input(const uint8_t *data, size_t size);

/* The most that an input may cost: least + each * its size, plus `hole` if it has a hole. */
struct fuzz_line {
    double least, each, hole;
};

enum fuzz_cost {
    FUZZ_BYTES, /* of memory, the most held at a time */
    FUZZ_READS, /* calls of read and pread */
    FUZZ_TIME,  /* us of CPU time */
    FUZZ_COSTS,
};

/* Each fuzzer defines its lines. */
extern const struct fuzz_line fuzz_lines[FUZZ_COSTS];

#define ALWAYS(condition)                                                                 \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);       \
            abort();                                                                      \
        }                                                                                 \
    } while (0)

/* Writes the input into a memfd, at offset 0. All calls share the descriptor. */
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

/* The hole's size: 2^N if the input ends in PLACE (2 bytes), N, any byte, "HOLE"; otherwise 0. */
static inline uint64_t fuzz_hole(const uint8_t *data, size_t size)
{
    if (size < FUZZ_HOLE || memcmp(data + size - 4, "HOLE", 4))
        return 0;
    return UINT64_C(1) << data[size - 6] % 62;
}

/* The same with the input's hole, if any. Sets *whole to the file's size. */
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

/* Pseudorandom numbers that depend only on *state, so a run can be repeated. */
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
