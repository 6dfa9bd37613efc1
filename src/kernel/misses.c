/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kernel/misses.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/reading.h"
#include "kernel/bpf.h"

uint64_t misses_of_program(int program)
{
    struct bpf_program_info info;

    return program >= 0 && !bpf_program_info(program, &info) ? info.recursion_misses : 0;
}

uint64_t misses_of_links(const int *fds, size_t count)
{
    uint64_t sum = 0, missed;

    for (size_t i = 0; i < count; i++)
        sum += bpf_link_missed(fds[i], &missed) ? 0 : missed;
    return sum;
}

/* "  name   hits   missed" */
static uint64_t misses_of_line(const char *line, const char *prefix)
{
    line += strspn(line, " \t");
    if (strncmp(line, prefix, strlen(prefix)))
        return 0;
    const char *last = strrchr(line, ' ');
    return last ? strtoull(last, NULL, 10) : 0;
}

uint64_t misses_of_text(int tracefs, const char *prefix)
{
    int fd = openat(tracefs, "kprobe_profile", O_RDONLY | O_CLOEXEC);
    struct lines lines;
    uint64_t sum = 0;
    size_t length;
    char *line;

    if (fd < 0)
        return 0;
    if (!lines_open(&lines, fd)) {
        while ((line = lines_next(&lines, &length)))
            sum += misses_of_line(line, prefix);
        lines_close(&lines);
    }
    close(fd);
    return sum;
}
