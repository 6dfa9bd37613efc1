/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "session/traced_program.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/opening.h"
#include "session/path_walk.h"

/* The link leads to the file, whatever its path is by now; the path is as in mappings. */
static void open_of_process(struct traced_program *program, uint32_t pid)
{
    static const char deleted[] = " (deleted)";
    char link[32], path[PATH_MAX];
    struct stat about;

    snprintf(link, sizeof(link), "/proc/%u/exe", pid);
    ssize_t length = readlink(link, path, sizeof(path) - 1), ending = sizeof(deleted) - 1;
    if (length <= 0)
        return;
    path[length] = '\0';
    if (length > ending && !strcmp(path + length - ending, deleted))
        path[length - ending] = '\0';
    program->path = strdup(path);
    program->fd = open_regular(link, 0, &about);
}

void traced_program_open(struct traced_program *program, const struct trace_options *options)
{
    uint32_t pid = trace_options_process(options);
    struct stat about;

    *program = (struct traced_program){.fd = -1};
    if (options->command) {
        program->path = path_walk_find(options->command[0]);
        if (program->path)
            program->fd = open_regular(program->path, 0, &about);
    } else if (pid) {
        open_of_process(program, pid);
    }
}

void traced_program_close(struct traced_program *program)
{
    if (program->fd >= 0)
        close(program->fd);
    free(program->path);
    *program = (struct traced_program){.fd = -1};
}
