/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Parses the environment and installs the filter before main(). */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"

static pid_t counter; /* the process that writes the counts */

static const struct {
    const char *name;
    int value;
} errors[] = {
    {"EPERM", EPERM},   {"EACCES", EACCES}, {"EINVAL", EINVAL}, {"ENOMEM", ENOMEM},
    {"EINTR", EINTR},   {"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EMFILE", EMFILE},
    {"EAGAIN", EAGAIN}, {"EPIPE", EPIPE},   {"E2BIG", E2BIG},   {"EBUSY", EBUSY},
    {"ENOENT", ENOENT}, {"ENODEV", ENODEV}, {"ENOSYS", ENOSYS},
};

static void parse_how(const char *how)
{
    if (!strcmp(how, "short"))
        fault.how = ALWAYS_SHORT;
    for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
        if (!strcmp(how, errors[i].name))
            fault.how = errors[i].value;
    if (!fault.how)
        die("FAULT: no such way to fail");
}

/* KIND[@SITE]:N[+]:HOW */
static void parse_fault(const char *wish)
{
    size_t length = strcspn(wish, "@:");
    char *rest = (char *)(uintptr_t)wish + length;

    for (size_t i = 0; i < KINDS; i++)
        if (strlen(kind_names[i]) == length && !strncmp(wish, kind_names[i], length))
            fault.kind = (enum kind)i;
    if (fault.kind == KINDS)
        die("FAULT: no such kind of calls");
    if (*rest == '@')
        fault.site = (uint32_t)strtoul(rest + 1, &rest, 16);
    if (*rest == ':')
        fault.first = (uint32_t)strtoul(rest + 1, &rest, 10);
    fault.on = *rest == '+';
    rest += fault.on;
    if (!fault.first || *rest != ':')
        die("FAULT: must be KIND:N:HOW or KIND@SITE:N:HOW");
    parse_how(rest + 1);
}

static int open_out_of_the_way(const char *path)
{
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
    int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 500);

    if (fd >= 0)
        close(fd);
    if (path && high < 0)
        die("a file cannot be written");
    return high;
}

/* Stops counting before LeakSanitizer's check, which runs after this. */
static void finish(void)
{
    const char *path = getenv("FAULT_COUNTS");

    counting_ends();
    if (!path || getpid() != counter)
        return;
    FILE *file = fopen(path, "w");
    if (!file)
        die("the counts cannot be written");
    write_counts(file);
    fclose(file);
}

static __attribute__((constructor)) void start(void)
{
    const char *wish = getenv("FAULT");

    if (!wish && !getenv("FAULT_COUNTS"))
        return;
    fault.log = open_out_of_the_way(getenv("FAULT_LOG"));
    fault.frames = getenv("FAULT_FRAMES") ? atoi(getenv("FAULT_FRAMES")) : MOST_FRAMES;
    counter = getpid();
    if (wish)
        parse_fault(wish);
    trap_calls();
    if (atexit(finish) || !counting_begins())
        die("no memory");
}
