/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Judges what an input costs: the most memory held at a time, the reads of files, and CPU time. The
 * fuzzer defines a line for each, least + each * SIZE. An input above a line is a finding, so a
 * reader that costs the square of the size is found long before it takes seconds.
 *
 * Counts are the same each time. CPU time is not: the input must be above the line in each try.
 *
 * With FUZZ_COSTS=1 no input is a finding: those that come nearest to a line so far are shown.
 */
#include <sys/types.h>
#include <time.h>

#include "fuzz.h"

#define TRIES 5

static const char *const names[FUZZ_COSTS] = {"bytes of memory", "reads", "us of CPU time"};

static uint64_t counted[FUZZ_COSTS];
static int64_t held;

/* The sanitizers' allocator calls these hooks for each allocation and each free. */
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *));
size_t __sanitizer_get_allocated_size(const volatile void *at);

static void count_malloc(const volatile void *at, size_t size)
{
    (void)at;
    held += (int64_t)size;
    if (held > (int64_t)counted[FUZZ_BYTES])
        counted[FUZZ_BYTES] = (uint64_t)held;
}

static void count_free(const volatile void *at)
{
    held -= at ? (int64_t)__sanitizer_get_allocated_size(at) : 0;
}

/* The linker redirects calls of read() and pread() here (--wrap). */
ssize_t __real_read(int fd, void *to, size_t size);
ssize_t __real_pread(int fd, void *to, size_t size, off_t at);
ssize_t __wrap_read(int fd, void *to, size_t size);
ssize_t __wrap_pread(int fd, void *to, size_t size, off_t at);

ssize_t __wrap_read(int fd, void *to, size_t size)
{
    counted[FUZZ_READS]++;
    return __real_read(fd, to, size);
}

ssize_t __wrap_pread(int fd, void *to, size_t size, off_t at)
{
    counted[FUZZ_READS]++;
    return __real_pread(fd, to, size, at);
}

static uint64_t cpu_time(void)
{
    struct timespec now;

    ALWAYS(!clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now));
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void spend(const uint8_t *data, size_t size)
{
    for (int i = 0; i < FUZZ_COSTS; i++)
        counted[i] = 0;
    held = 0;
    const uint64_t before = cpu_time();
    fuzz_input(data, size);
    counted[FUZZ_TIME] = cpu_time() - before;
}

static double share_of(int cost, const uint8_t *data, size_t size)
{
    const struct fuzz_line *line = &fuzz_lines[cost];

    return (double)counted[cost] /
           (line->least + line->each * (double)size + (fuzz_hole(data, size) ? line->hole : 0));
}

static void check(int cost, const uint8_t *data, size_t size)
{
    static double most[FUZZ_COSTS];
    const double share = share_of(cost, data, size);

    if (share <= (getenv("FUZZ_COSTS") ? most[cost] : 1))
        return;
    fprintf(stderr, "%llu %s for an input of %zu bytes: %.2f times its line\n",
            (unsigned long long)counted[cost], names[cost], size, share);
    if (!getenv("FUZZ_COSTS"))
        abort();
    most[cost] = share;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool hooked;

    if (!hooked)
        ALWAYS(__sanitizer_install_malloc_and_free_hooks(count_malloc, count_free));
    hooked = true;
    spend(data, size);
    check(FUZZ_BYTES, data, size);
    check(FUZZ_READS, data, size);
    for (int tries = getenv("FUZZ_COSTS") ? TRIES : 1; share_of(FUZZ_TIME, data, size) > 1 && tries < TRIES; tries++)
        spend(data, size);
    check(FUZZ_TIME, data, size);
    return 0;
}
