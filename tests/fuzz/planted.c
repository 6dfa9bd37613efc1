/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * No reader: the input says what it costs, so that scripts/fuzz.sh can test cost.c. The first byte
 * is m, r or t for memory, reads or time in proportion to the size squared; M, R or T to the size.
 */
#include "fuzz.h"

const struct fuzz_line fuzz_lines[FUZZ_COSTS] = {
    [FUZZ_BYTES] = {4096, 64, 0},
    [FUZZ_READS] = {16, 2, 0},
    [FUZZ_TIME] = {10000, 2, 0},
};

static void spend_once(char kind, const uint8_t *data, size_t size)
{
    int fd = fuzz_file(data, size);
    char byte;

    for (size_t i = 0; i < size; i++)
        if (kind == 'R' && i % 16 == 0)
            ALWAYS(pread(fd, &byte, 1, 0) == 1);
        else if (kind == 'T')
            __asm__ volatile("" : : "r"(data[i]));
}

void fuzz_input(const uint8_t *data, size_t size)
{
    const char kind = size ? (char)(*data & ~0x20) : 0;
    void *volatile held = NULL;
    const size_t times = size && *data & 0x20 ? size : 1;

    if (kind == 'M')
        held = malloc(size * times);
    free(held);
    for (size_t i = 0; i < times && kind != 'M'; i++)
        spend_once(kind, data, size);
}
