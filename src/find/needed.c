/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "find/needed.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "apart/apart.h"
#include "elf/elf_needed.h"
#include "find/library.h"
#include "find/root_path.h"
#include "machine/machine.h"

#define MOST_FILES 512

struct search {
    const char *program;
    struct text *paths;
    size_t count;
};

static int add(struct search *search, const char *path)
{
    struct text *paths = search->paths;

    for (const char *known = paths->data; known && known < paths->data + paths->length;
         known += strlen(known) + 1)
        if (!strcmp(known, path))
            return 0;
    if (search->count++ < MOST_FILES)
        text_append(paths, path, strlen(path) + 1);
    return paths->failed ? -ENOMEM : 0;
}

/* Missing ones are not reported: the dynamic linker will do that. */
static int take_needed(void *context, const char *name)
{
    const struct library_where where = {.root = ""};
    struct text error = {0};
    struct library library;
    int result = 0;

    if (!library_find(&where, name, &library, &error)) {
        result = library.path.data ? add(context, library.path.data) : 0;
        library_close(&library);
    }
    text_free(&error);
    return result;
}

static int look_into(struct search *search, const char *path)
{
    int fd = apart_open(NULL, path), result = 0;
    struct elf elf;

    if (fd < 0)
        return 0;
    if (!elf_open(&elf, fd)) {
        result = elf_each_needed(&elf, take_needed, search);
        elf_close(&elf);
    }
    close(fd);
    return result;
}

static int search_apart(void *context, struct text *answer)
{
    struct search search = {.program = context, .paths = answer};
    int result = add(&search, search.program);

    /* What is found is searched in turn; the text moves as it grows. */
    for (size_t at = 0; at < answer->length && !result;) {
        struct text path = {0};
        text_add(&path, answer->data + at);
        at += strlen(answer->data + at) + 1;
        result = path.failed ? -ENOMEM : look_into(&search, path.data);
        text_free(&path);
    }
    return result;
}

int needed_find(const char *program, struct text *paths)
{
    const struct apart_job job = {
        .work = search_apart,
        .context = (void *)(uintptr_t)program,
        .open = root_take_here,
        .machine = machine_ours(),
    };
    int signal, result = apart_run(&job, paths, &signal);

    /* Each ends with a NUL: otherwise it is not ours. */
    if (!result && (!paths->length || paths->data[paths->length - 1]))
        result = -EBADMSG;
    return result;
}
