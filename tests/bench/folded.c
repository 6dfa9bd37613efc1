/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * folded ORDER LINES [BYTES]
 *
 * Writes folded stacks, hardly any of them twice, of BYTES each on average (100), the same ones
 * each time. ORDER: sorted, where neighbours share most of their frames, as in tools' output;
 * shuffled; or flat, where each frame is any of 500 names.
 *
 * The last line on stderr is the sum of the counts.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES 6000
#define MOST_FRAMES 4096

static uint64_t state = 0x9e3779b97f4a7c15;

static uint64_t random_number(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static char names[NAMES][40];

/* Names of 3 to 30 bytes, some of them like C++'s. */
static void make_names(void)
{
    static const char *const parts[] = {
        "read", "write", "alloc", "page", "sys", "do", "tcp", "lock", "send", "queue", "vm", "map",
        "std::", "foo", "get", "put", "node", "hash", "task", "run", "x", "inode", "ext4", "sched",
    };

    for (size_t i = 0; i < NAMES; i++) {
        size_t words = 1 + random_number() % 3, at = 0;
        while (words--)
            at += (size_t)snprintf(names[i] + at, sizeof(names[i]) - at, "%s%s",
                                   parts[random_number() % 24], words ? "_" : "");
        snprintf(names[i] + at, sizeof(names[i]) - at, "%zu", i);
    }
}

static const char *stack[MOST_FRAMES];
static size_t depth;

static size_t stack_bytes(void)
{
    size_t bytes = depth;

    for (size_t i = 0; i < depth; i++)
        bytes += strlen(stack[i]);
    return bytes;
}

/* Pops some frames, and pushes others. */
static void walk(size_t bytes, bool flat)
{
    size_t gone = flat ? depth : 1 + random_number() % 5;

    depth -= gone < depth ? gone : depth;
    size_t until = bytes / 2 + random_number() % (bytes + 1);
    do
        stack[depth++] = names[random_number() % (flat ? 500 : NAMES)];
    while (stack_bytes() < until && depth < MOST_FRAMES);
}

struct line {
    size_t begin, length;
};

int main(int count, char **arguments)
{
    if (count < 3)
        return 2;
    size_t lines = strtoul(arguments[2], NULL, 10);
    size_t bytes = count > 3 ? strtoul(arguments[3], NULL, 10) : 100;
    bool flat = !strcmp(arguments[1], "flat"), shuffled = !strcmp(arguments[1], "shuffled");
    size_t room = 4 << 20, used = 0;
    char *text = malloc(room);
    struct line *order = calloc(lines + 1, sizeof(*order));
    uint64_t sum = 0;

    make_names();
    for (size_t i = 0; i < lines && text && order; i++) {
        walk(bytes, flat);
        size_t begin = used, need = stack_bytes() + 64;
        if (used + need > room)
            text = realloc(text, room = room * 2 + need);
        if (!text)
            break;
        for (size_t at = 0; at < depth; at++)
            used += (size_t)sprintf(text + used, "%s%s", at ? ";" : "", stack[at]);
        uint64_t value = 1 + random_number() % 50;
        sum += value;
        used += (size_t)sprintf(text + used, " %llu\n", (unsigned long long)value);
        order[i] = (struct line){begin, used - begin};
    }
    if (!text || !order)
        return 1;
    for (size_t i = lines; shuffled && i > 1; i--) {
        size_t other = random_number() % i;
        struct line line = order[i - 1];
        order[i - 1] = order[other];
        order[other] = line;
    }
    for (size_t i = 0; i < lines; i++)
        fwrite(text + order[i].begin, 1, order[i].length, stdout);
    fprintf(stderr, "%llu\n", (unsigned long long)sum);
    return fflush(stdout) || ferror(stdout);
}
