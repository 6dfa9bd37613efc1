/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Drives a fuzzer if the compiler has no libFuzzer: inputs are made from the corpus by a generator
 * with a fixed seed, without coverage. It takes the libFuzzer arguments that scripts/fuzz.sh uses:
 * -max_total_time=SECONDS -artifact_prefix=PATH DIRECTORY, or files, each of which is run once. An
 * input that kills the fuzzer, or keeps it busy for 20 s, is kept as PATHcrash, and makes this end
 * with 1.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "fuzz.h"

#define MOST_BYTES 16384
#define MOST_SEEDS 256
#define BUSY_SECONDS 20

struct seed {
    uint8_t *bytes;
    size_t size;
};

static struct seed seeds[MOST_SEEDS];
static size_t seed_count;

/* The input that is running: shared, so that it outlives the process that ran it. */
struct input {
    uint64_t runs;
    size_t size;
    uint8_t bytes[MOST_BYTES];
};

static void add_seed(const char *directory, const char *name)
{
    char path[4096];
    struct seed *seed = &seeds[seed_count];

    snprintf(path, sizeof(path), "%s%s%s", directory, *directory ? "/" : "", name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    seed->bytes = malloc(MOST_BYTES);
    ALWAYS(seed->bytes);
    ssize_t got = fd < 0 ? -1 : read(fd, seed->bytes, MOST_BYTES);
    if (fd >= 0)
        close(fd);
    if (got < 0 || seed_count == MOST_SEEDS - 1) {
        free(seed->bytes);
        return;
    }
    seed->size = (size_t)got;
    seed_count++;
}

static int compare_seeds(const void *left, const void *right)
{
    const struct seed *a = left, *b = right;

    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    return memcmp(a->bytes, b->bytes, a->size);
}

/* False: it is not a directory. Sorts the seeds by contents: the order is the same everywhere. */
static bool add_directory(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *entry;

    if (!directory)
        return false;
    while ((entry = readdir(directory)))
        if (*entry->d_name != '.')
            add_seed(path, entry->d_name);
    closedir(directory);
    qsort(seeds, seed_count, sizeof(*seeds), compare_seeds);
    return true;
}

static size_t below(uint64_t *state, size_t limit)
{
    return limit ? fuzz_random(state) % limit : 0;
}

/* Overwrites 1 to 8 bytes with a number, most often one at a limit, where checks go wrong. */
static void put_number(struct input *input, uint64_t *state)
{
    static const uint64_t edges[] = {0,          1,          0x7f,           0x80,
                                     0xff,       0x7fff,     0xffff,         0x10000,
                                     0x7fffffff, 0x80000000, 0xffffffff,     UINT64_MAX >> 1,
                                     UINT64_MAX, 64,         UINT64_MAX - 8, 4096};
    uint64_t number = edges[below(state, sizeof(edges) / sizeof(*edges))];
    size_t size = (size_t)1 << below(state, 4);

    if (below(state, 3) == 0)
        number = below(state, input->size + 2);
    if (input->size < size)
        return;
    size_t at = below(state, input->size - size + 1);
    if (below(state, 2))
        at &= ~(size - 1);
    if (below(state, 4) == 0)
        number = __builtin_bswap64(number) >> (64 - 8 * size);
    memcpy(input->bytes + at, &number, size);
}

/* Inserts bytes of a random seed, or overwrites others with them. */
static void put_bytes(struct input *input, uint64_t *state)
{
    const struct seed *other = &seeds[below(state, seed_count)];
    size_t length = 1 + below(state, below(state, 2) ? 8 : 256);
    size_t from = below(state, other->size), to = below(state, input->size + 1);

    if (length > other->size - from)
        length = other->size - from;
    if (length > MOST_BYTES - input->size)
        return;
    if (below(state, 2)) {
        memmove(input->bytes + to + length, input->bytes + to, input->size - to);
        input->size += length;
    } else if (to + length > input->size) {
        input->size = to + length;
    }
    memcpy(input->bytes + to, other->bytes + from, length);
}

static void take_bytes(struct input *input, uint64_t *state)
{
    size_t at = below(state, input->size), left = input->size - at;
    size_t length = below(state, 4) ? below(state, left < 32 ? left : 32) : left;

    memmove(input->bytes + at, input->bytes + at + length, left - length);
    input->size -= length;
}

static void mutate(struct input *input, uint64_t *state)
{
    size_t at = below(state, input->size);

    switch (below(state, 8)) {
    case 0:
        if (input->size)
            input->bytes[at] ^= (uint8_t)(1 << below(state, 8));
        break;
    case 1:
        if (input->size)
            input->bytes[at] = (uint8_t)below(state, 256);
        break;
    case 2: case 3: case 4:
        put_number(input, state);
        break;
    case 5: case 6:
        put_bytes(input, state);
        break;
    default:
        take_bytes(input, state);
    }
}

static void run_inputs(struct input *input, time_t until)
{
    uint64_t state = 0x9e3779b97f4a7c15;

    while (input->runs < seed_count || time(NULL) < until) {
        size_t which = input->runs < seed_count ? input->runs : below(&state, seed_count);
        size_t mutations = input->runs < seed_count ? 0 : 1 + below(&state, 6);
        input->size = seeds[which].size;
        memcpy(input->bytes, seeds[which].bytes, input->size);
        while (mutations--)
            mutate(input, &state);
        /* A block of exactly its size: AddressSanitizer sees reads past the end. */
        uint8_t *bytes = malloc(input->size ? input->size : 1);
        ALWAYS(bytes);
        memcpy(bytes, input->bytes, input->size);
        alarm(BUSY_SECONDS);
        LLVMFuzzerTestOneInput(bytes, input->size);
        free(bytes);
        input->runs++;
    }
}

static void keep(const struct input *input, const char *prefix)
{
    char path[4096];

    snprintf(path, sizeof(path), "%scrash", prefix);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, input->bytes, input->size) != (ssize_t)input->size)
        perror(path);
    fprintf(stderr, "the input is %s\n", path);
    close(fd);
}

static int run_kept(const char *prefix, time_t until)
{
    struct input *input = mmap(NULL, sizeof(*input), PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = 0;

    ALWAYS(input != MAP_FAILED);
    pid_t pid = fork();
    if (!pid) {
        run_inputs(input, until);
        exit(0); /* which checks for leaks */
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status) {
        keep(input, prefix);
        return 1;
    }
    fprintf(stderr, "Done %llu runs\n", (unsigned long long)input->runs);
    return 0;
}

int main(int count, char **arguments)
{
    const char *prefix = "";
    time_t until = time(NULL);
    bool is_corpus = false;

    for (int i = 1; i < count; i++) {
        if (!strncmp(arguments[i], "-max_total_time=", 16))
            until += atol(arguments[i] + 16);
        else if (!strncmp(arguments[i], "-artifact_prefix=", 17))
            prefix = arguments[i] + 17;
        else if (*arguments[i] == '-')
            continue;
        else if (add_directory(arguments[i]))
            is_corpus = true;
        else
            add_seed("", arguments[i]);
    }
    if (!seed_count) {
        fprintf(stderr, "no input to begin with\n");
        return 2;
    }
    if (is_corpus)
        return run_kept(prefix, until);
    for (size_t i = 0; i < seed_count; i++)
        LLVMFuzzerTestOneInput(seeds[i].bytes, seeds[i].size);
    return 0;
}
