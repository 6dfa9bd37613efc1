/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kernel/limits.h"

#include <errno.h>
#include <fcntl.h>

#include "base/reading.h"
#include "base/text.h"
#include "base/util.h"

#define ONLINE "/sys/devices/system/cpu/online"
#define PRESENT "/sys/devices/system/cpu/present"
#define POSSIBLE "/sys/devices/system/cpu/possible"
#define LONGEST_LIST 65536
#define MOST_CPUS 8192 /* more than any kernel is built for */

static bool take_number(const char **list, unsigned *number)
{
    const char *at = *list;
    unsigned value = 0;

    for (; *at >= '0' && *at <= '9' && value < MOST_CPUS; at++)
        value = value * 10 + (unsigned)(*at - '0');
    bool taken = at != *list && value < MOST_CPUS;
    *list = at;
    *number = value;
    return taken;
}

bool cpus_next(const char **list, unsigned *first, unsigned *last)
{
    if (!take_number(list, first))
        return false;
    *last = *first;
    if (**list == '-') {
        ++*list;
        if (!take_number(list, last) || *last < *first)
            return false;
    }
    if (**list == ',')
        ++*list;
    return true;
}

/* If the CPU numbers are guessed, the first one that the kernel does not know ends the loop. */
struct adding {
    cpus_add *add;
    void *context;
    bool guessed, any;
};

/* 1: there are no more. */
static int add_range(struct adding *adding, unsigned first, unsigned last)
{
    for (unsigned cpu = first; cpu <= last; cpu++) {
        int result = adding->add(adding->context, cpu);
        if (result == -EINVAL && adding->guessed && adding->any)
            return 1;
        if (result && result != -ENODEV)
            return result;
        adding->any = true;
    }
    return 0;
}

static int each_of(const char *path, cpus_add *add, void *context)
{
    struct adding adding = {.add = add, .context = context};
    struct text list = {0};
    unsigned first, last;

    if (read_file(AT_FDCWD, path, LONGEST_LIST, &list) || !list.length) {
        adding.guessed = true;
        text_clear(&list);
        text_format(&list, "0-%d\n", MOST_CPUS - 1);
    }
    const char *at = list.data;
    int result = list.failed ? -ENOMEM : 0;
    while (!result && cpus_next(&at, &first, &last))
        result = add_range(&adding, first, last);
    text_free(&list);
    return result < 0 ? result : 0;
}

int cpus_each_online(cpus_add *add, void *context)
{
    return each_of(ONLINE, add, context);
}

int cpus_each_present(cpus_add *add, void *context)
{
    return each_of(PRESENT, add, context);
}

struct trial {
    cpus_add *open;
    void *context;
};

/* -ECANCELED: it can be opened, so no further CPU is tried. */
static int try_on(void *context, unsigned cpu)
{
    const struct trial *trial = context;
    int fd = trial->open(trial->context, cpu);

    close_fd(fd);
    return fd < 0 ? fd : -ECANCELED;
}

int cpus_try(cpus_add *open, void *context)
{
    int result = cpus_each_online(try_on, &(struct trial){open, context});

    return result == -ECANCELED ? 0 : result ? result : -ENODEV;
}

static int count_cpu(void *count, unsigned cpu)
{
    (void)cpu;
    ++*(uint64_t *)count;
    return 0;
}

uint64_t cpus_count(int (*each)(cpus_add *add, void *context))
{
    uint64_t count = 0;

    return each(count_cpu, &count) ? 0 : count;
}

size_t cpus_possible(void)
{
    static size_t known; /* constant */
    struct text list = {0};
    unsigned first, last;

    if (known)
        return known;
    if (!read_file(AT_FDCWD, POSSIBLE, LONGEST_LIST, &list) && list.data) {
        const char *at = list.data;
        while (cpus_next(&at, &first, &last))
            known = last + 1;
    }
    text_free(&list);
    if (!known)
        known = MOST_CPUS;
    return known;
}
