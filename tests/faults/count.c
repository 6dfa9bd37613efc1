/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "fault.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *const kind_names[KINDS] = {
    "malloc", "mmap", "thread", "fork", "bpf", "perf", "read", "write", "open", "descriptor",
    "ioctl", "file", "process", "other",
};

struct fault fault = {.kind = KINDS, .log = -1};

#define MOST_SITES 4096 /* a power of two */

struct site {
    uint32_t name; /* 0: free */
    uint32_t kind, calls;
};

/* `counted` is NULL while no calls are counted. The memory is shared with forked children. */
static struct counted {
    uint32_t calls[KINDS];
    struct site sites[MOST_SITES];
} *counted, *shared;

_Noreturn void die(const char *why)
{
    fprintf(stderr, "inject: %s\n", why);
    _exit(88);
}

/*
 * Collects the return addresses into our own code, as offsets in it. Our code keeps frame pointers;
 * the C library does not, and the walk follows what it leaves if that points up the stack.
 */
__attribute__((no_sanitize("address"))) static int walk(const void *const *frame,
                                                          uint32_t *addresses)
{
    extern const char __executable_start[], etext[];
    extern void *__libc_stack_end;
    const void *const *least = (const void *const *)__builtin_frame_address(0);
    int count = 0;

    while (count < MOST_FRAMES && frame > least &&
           frame < (const void *const *)__libc_stack_end && !((uintptr_t)frame & 7)) {
        const char *returned = frame[1];
        if (returned >= __executable_start && returned < etext)
            addresses[count++] = (uint32_t)(returned - __executable_start);
        least = frame;
        frame = (const void *const *)frame[0];
    }
    return count;
}

static void log_failure(const uint32_t *addresses, int count)
{
    char line[16 + MOST_FRAMES * 16];
    int length = snprintf(line, sizeof(line), "%s", kind_names[fault.kind]);

    for (int i = 0; i < count; i++)
        length += snprintf(line + length, sizeof(line) - (size_t)length, " %#x", addresses[i]);
    line[length++] = '\n';
    if (fault.log >= 0)
        inject_call(SYS_write, fault.log, (long)line, length, 0, 0, 0);
}

/* A site has the same name in every run of the same binary. */
static uint32_t name_site(enum kind kind, const uint32_t *addresses, int count)
{
    uint32_t name = kind + 1;

    for (int i = 0; i < count && i < fault.frames; i++)
        name = (name ^ addresses[i]) * 0x9e3779b1;
    return name ? name : 1;
}

/* Returns how many calls this site has made, including this one. */
static uint32_t count_site(enum kind kind, uint32_t name)
{
    for (uint32_t i = 0; i < MOST_SITES; i++) {
        struct site *site = &counted->sites[(name + i) & (MOST_SITES - 1)];
        uint32_t none = 0;

        if (__atomic_compare_exchange_n(&site->name, &none, name, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
            site->kind = kind;
        if (__atomic_load_n(&site->name, __ATOMIC_SEQ_CST) == name)
            return __atomic_add_fetch(&site->calls, 1, __ATOMIC_SEQ_CST);
    }
    die("there are too many sites");
}

int count_call(enum kind kind, const void *frame)
{
    uint32_t addresses[MOST_FRAMES];

    if (!counted)
        return 0;
    int depth = walk(frame, addresses);
    uint32_t name = name_site(kind, addresses, depth), by_site = count_site(kind, name);
    uint32_t number = __atomic_add_fetch(&counted->calls[kind], 1, __ATOMIC_SEQ_CST);
    if (fault.site)
        number = fault.site == name ? by_site : 0;
    if (kind != fault.kind || number < fault.first || (number > fault.first && !fault.on))
        return 0;
    log_failure(addresses, depth);
    return fault.how;
}

void write_counts(FILE *file)
{
    const struct counted *counts = shared;

    for (int i = 0; i < KINDS; i++)
        fprintf(file, "count %s %u\n", kind_names[i], counts->calls[i]);
    for (int i = 0; i < MOST_SITES; i++)
        if (counts->sites[i].name)
            fprintf(file, "site %s %x %u\n", kind_names[counts->sites[i].kind],
                    counts->sites[i].name, counts->sites[i].calls);
}

void *__real_mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset);

bool counting_begins(void)
{
    shared = __real_mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                         0);
    counted = shared == MAP_FAILED ? NULL : shared;
    return counted;
}

void counting_ends(void)
{
    counted = NULL;
}
