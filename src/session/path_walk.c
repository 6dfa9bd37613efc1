/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "session/path_walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WITHOUT_PATH "/usr/local/bin:/bin:/usr/bin"

void path_walk_begin(struct path_walk *walk, const char *name)
{
    const char *path = getenv("PATH");

    walk->name = name;
    walk->at = !*name ? NULL : path ? path : WITHOUT_PATH;
}

const char *path_walk_next(struct path_walk *walk)
{
    if (walk->at && strchr(walk->name, '/')) {
        walk->at = NULL;
        return walk->name;
    }
    while (walk->at) {
        const char *at = walk->at;
        int length = (int)strcspn(at, ":");
        int size = snprintf(walk->path, sizeof(walk->path), "%.*s%s%s", length, at, length ? "/" : "",
                            walk->name);
        walk->at = at[length] ? at + length + 1 : NULL;
        if (size > 0 && (size_t)size < sizeof(walk->path))
            return walk->path;
    }
    return NULL;
}

bool path_is_program(const char *path)
{
    struct stat about;

    return !stat(path, &about) && S_ISREG(about.st_mode) && !access(path, X_OK);
}

char *path_walk_find(const char *name)
{
    struct path_walk walk;
    const char *path;

    path_walk_begin(&walk, name);
    while ((path = path_walk_next(&walk)))
        if (path_is_program(path))
            return realpath(path, NULL);
    return NULL;
}
