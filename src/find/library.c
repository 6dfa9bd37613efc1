/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "find/library.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "elf/elf.h"
#include "find/library_search.h"
#include "find/link_cache.h"
#include "find/root_path.h"
#include "machine/machine.h"

#define CACHE_LIMIT (8 << 20)     /* 200,000 libraries */
#define PATH_FILE_LIMIT (64 << 10)
#define MOST_FILES 200000         /* of a directory */

#define MUSL_DIRECTORIES "/lib:/usr/local/lib:/usr/lib"
#define PROGRAM_DIRECTORIES "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

int library_take_file(struct library_search *search, const char *root, const char *path)
{
    struct library *library = search->library;

    library->fd = root_take(ROOT_FILE, root, path, &library->path);
    if (library->fd < 0)
        return library->fd;
    text_clear(&library->file);
    text_format(&library->file, "%s%s", root, library->path.data);
    text_clear(&library->asked);
    text_add(&library->asked, path);
    library->is_ours = *search->where->root && !*root;
    library->mapping = 0;
    if (!library->file.failed && !library->asked.failed)
        return 1;
    close(library->fd);
    return -ENOMEM;
}

/* The likeliest candidate that is an ELF file for this machine: 64-bit first. */
static int take_candidate(struct library_search *search)
{
    struct library_candidates *candidates = &search->candidates;
    int result = 0;

    library_sort(candidates);
    for (int class = ELFCLASS64; class >= ELFCLASS32 && !result; class--) {
        for (size_t i = 0; i < candidates->count && !result; i++) {
            result = library_take_file(search, search->where->root, candidates->items[i].path);
            if (result > 0 && elf_own_class(search->library->fd) != class) {
                close(search->library->fd);
                result = 0;
            }
            result = result == -ENOMEM || result > 0 ? result : 0;
        }
    }
    library_forget(candidates);
    return result;
}

/* Appends a file in the root, if it exists. */
static int read_in_root(struct library_search *search, const char *path, size_t limit, struct text *bytes)
{
    struct text resolved = {0};
    int fd = root_take(ROOT_FILE, search->where->root, path, &resolved), result = 0;

    text_free(&resolved);
    if (fd < 0)
        return fd;
    for (ssize_t got = 1; got && !result && bytes->length < limit && !bytes->failed;) {
        char piece[4096];
        got = read(fd, piece, sizeof(piece));
        if (got < 0 && errno != EINTR)
            result = -errno;
        text_append(bytes, piece, got > 0 ? (size_t)got : 0);
    }
    close(fd);
    return bytes->failed ? -ENOMEM : result;
}

static int offer_cached(void *context, const struct link_cache_entry *entry)
{
    struct library_search *search = context;

    struct library_candidate candidate = {.path = entry->path};

    if (entry->special)
        candidate.level = machine_level_of(entry->path);
    if (entry->special && !candidate.level)
        return 0; /* the dynamic linker does not use it here */
    return library_offer(&search->candidates, entry->name, &candidate);
}

static int find_cached(struct library_search *search)
{
    struct text bytes = {0};
    int result = read_in_root(search, "/etc/ld.so.cache", CACHE_LIMIT, &bytes);

    if (!result)
        result = link_cache_each(bytes.data, bytes.length, offer_cached, search);
    text_free(&bytes);
    return result == -ENOMEM ? result : take_candidate(search);
}

/* The files of a directory in the root; `each` may decide to look at only one directory. */
static DIR *open_directory(struct library_search *search, const char *path)
{
    struct text resolved = {0};
    int fd = root_take(ROOT_DIRECTORY, search->where->root, path, &resolved);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);

    if (fd >= 0 && !directory)
        close(fd);
    text_free(&resolved);
    return directory;
}

static int find_in_directory(struct library_search *search, const char *path)
{
    DIR *directory = open_directory(search, path);
    struct text whole = {0};
    const struct dirent *file;
    int result = 0;

    if (!directory)
        return 0;
    for (size_t i = 0; i < MOST_FILES && !result && (file = readdir(directory)); i++) {
        if (!library_name_rank(search->typed, file->d_name))
            continue;
        text_clear(&whole);
        text_format(&whole, "%s/%s", path, file->d_name);
        const struct library_candidate candidate = {.path = whole.data};
        result = whole.failed ? -ENOMEM
                              : library_offer(&search->candidates, file->d_name, &candidate);
    }
    text_free(&whole);
    closedir(directory);
    return result ? result : take_candidate(search);
}

static int find_program_in(struct library_search *search, const char *path)
{
    struct text whole = {0};
    struct stat file;

    text_format(&whole, "%s/%s", path, search->typed);
    int result = whole.failed ? -ENOMEM : library_take_file(search, search->where->root, whole.data);
    text_free(&whole);
    if (result > 0 && (fstat(search->library->fd, &file) || !(file.st_mode & 0111))) {
        close(search->library->fd);
        result = 0;
    }
    return result == -ENOMEM || result > 0 ? result : 0;
}

/* The directories in a list, separated by colons or newlines, one after another. */
static int find_in_list(struct library_search *search, const char *list,
                        int (*find_in)(struct library_search *search, const char *path))
{
    int result = 0;

    while (*list && !result) {
        size_t length = strcspn(list, ":\n");
        char *path = strndup(list, length);
        if (!path)
            return -ENOMEM;
        if (*path == '/')
            result = find_in(search, path);
        free(path);
        list += length + (list[length] != '\0');
    }
    return result;
}

/* musl's linker looks where /etc/ld-musl-ARCH.path says. */
static int find_by_musl(struct library_search *search)
{
    DIR *directory = open_directory(search, "/etc");
    struct text path = {0}, list = {0};
    const struct dirent *file;
    int result = 0;

    while (directory && (file = readdir(directory))) {
        const char *ending = strstr(file->d_name, ".path");
        if (strncmp(file->d_name, "ld-musl-", 8) || !ending || ending[5])
            continue;
        text_clear(&path);
        text_format(&path, "/etc/%s", file->d_name);
        result = path.failed ? -ENOMEM : read_in_root(search, path.data, PATH_FILE_LIMIT, &list);
        text_add(&list, "\n");
    }
    if (directory)
        closedir(directory);
    if (result != -ENOMEM)
        result = find_in_list(search, list.data ? list.data : MUSL_DIRECTORIES,
                              find_in_directory);
    text_free(&path);
    text_free(&list);
    return result;
}

/* "goapp" where one was just built: as ./goapp, after all other places. */
static int find_here(struct library_search *search)
{
    struct text path = {0};
    struct stat file;

    text_format(&path, "./%s", search->typed);
    int result = path.failed ? -ENOMEM : library_take_file(search, "", path.data);
    text_free(&path);
    if (result > 0 && (fstat(search->library->fd, &file) || !(file.st_mode & 0111) ||
                       !elf_own_class(search->library->fd))) {
        close(search->library->fd);
        result = 0;
    }
    return result == -ENOMEM || result > 0 ? result : 0;
}

static int find_by_linker(struct library_search *search)
{
    const char *own = machine_ours()->multiarch;
    struct text list = {0};

    text_format(&list, "/lib/%s:/usr/lib/%s:/lib64:/usr/lib64:/lib:/usr/lib", own, own);
    int result = list.failed ? -ENOMEM : find_in_list(search, list.data, find_in_directory);
    text_free(&list);
    return result;
}

static int find_by_name(struct library_search *search)
{
    const char *programs = getenv("PATH");
    int result = library_find_mapped(search);

    if (!result)
        result = find_cached(search);
    if (!result)
        result = find_by_linker(search);
    if (!result)
        result = find_by_musl(search);
    if (!result)
        result = find_in_list(search, programs && *programs ? programs : PROGRAM_DIRECTORIES,
                              find_program_in);
    if (!result)
        result = find_here(search);
    if (!result)
        text_format(search->error, "no library or program \"%s\": looked %sin /etc/ld.so.cache, "
                    "the directories of libraries, PATH%s%s, and here", search->typed,
                    search->where->pid ? "at what the process has mapped, " : "",
                    *search->where->root ? ", below " : "", search->where->root);
    return result;
}

static int find_by_path(struct library_search *search)
{
    int result = library_find_mapped(search);

    if (result)
        return result;
    result = -ENOENT;
    if (*search->typed == '/' && *search->where->root)
        result = library_take_file(search, search->where->root, search->typed);
    if (result < 0)
        result = library_take_file(search, "", search->typed);
    if (result == -EISDIR || result == -EINVAL)
        text_format(search->error, "\"%s\" has no functions: %s", search->typed,
                    result == -EISDIR ? "it is a directory" : "it is not a regular file");
    else if (result < 0)
        text_format(search->error, "cannot open \"%s\": %s", search->typed, strerror(-result));
    return result;
}

int library_find(const struct library_where *where, const char *typed, struct library *library,
                 struct text *error)
{
    struct library_search search = {
        .where = where, .typed = typed, .candidates.typed = typed, .library = library,
        .error = error,
    };

    *library = (struct library){.fd = -1};
    int result = strchr(typed, '/') ? find_by_path(&search) : find_by_name(&search);
    library_forget(&search.candidates);
    if (result > 0)
        return 0;
    library->fd = -1;
    library_close(library);
    return result ? result : -ENOENT;
}

void library_close(struct library *library)
{
    if (library->fd >= 0)
        close(library->fd);
    text_free(&library->file);
    text_free(&library->path);
    text_free(&library->asked);
    *library = (struct library){.fd = -1};
}
