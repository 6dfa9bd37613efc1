/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "find/library.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/sandbox.h"
#include "base/reading.h"
#include "base/util.h"
#include "elf/elf.h"
#include "machine/machine.h"

/* ---- Names ---- */

/* Files with a matching name: real directories have less than half as many. */
#define MOST_CANDIDATES 1000

enum { RANK_NONE, RANK_MUSL, RANK_DASH_VERSION, RANK_PLAIN, RANK_VERSION, RANK_WHOLE };

/* ".6", ".1.0.2k": a digit after each dot; ".6.debug" and ".6.dpkg-new" are something else. */
static bool is_version(const char *ending)
{
    for (; *ending; ending++)
        if (*ending == '.' && (ending[1] < '0' || ending[1] > '9'))
            return false;
    return true;
}

/* What follows the short name: ".so", ".so.1.2", "-1.2.so", "-1.2.so.3". */
static unsigned rank_ending(const char *ending)
{
    if (*ending == '-' && ending[1] >= '0' && ending[1] <= '9') {
        ending += 1 + strspn(ending + 1, "0123456789.");
        /* The last dot was that of ".so". */
        return starts_with(ending - 1, ".so") ? RANK_DASH_VERSION : RANK_NONE;
    }
    if (!starts_with(ending, ".so"))
        return RANK_NONE;
    if (!ending[3])
        return RANK_PLAIN;
    return ending[3] == '.' && is_version(ending + 3) ? RANK_VERSION : RANK_NONE;
}

unsigned library_name_rank(const char *typed, const char *name)
{
    const char *ending = starts_with(name, typed), *bare = starts_with(name, "lib");

    if (!strcmp(typed, name))
        return RANK_WHOLE;
    if (!strcmp(typed, "c") && starts_with(name, "ld-musl-"))
        return RANK_MUSL;
    if (ending && rank_ending(ending))
        return rank_ending(ending);
    ending = bare ? starts_with(bare, typed) : NULL;
    return ending ? rank_ending(ending) : RANK_NONE;
}

int library_offer(struct library_candidates *candidates, const char *name,
                  const struct library_candidate *candidate)
{
    unsigned rank = library_name_rank(candidates->typed, name);

    if (!rank || candidates->count == MOST_CANDIDATES)
        return 0;
    if (ARRAY_RESERVE(candidates->items, candidates->room, candidates->count + 1))
        return -ENOMEM;
    struct library_candidate *added = &candidates->items[candidates->count];
    *added = *candidate;
    added->rank = rank;
    added->path = strdup(candidate->path);
    if (!added->path)
        return -ENOMEM;
    candidates->count++;
    return 0;
}

size_t length_without_deleted(const char *path)
{
    static const char deleted[] = " (deleted)";
    size_t length = strlen(path), ending = sizeof(deleted) - 1;

    return length > ending && !strcmp(path + length - ending, deleted) ? length - ending : length;
}

static int likelier_first(const void *left, const void *right)
{
    const struct library_candidate *a = left, *b = right;

    return order_of(b->rank, a->rank)
        ?: strverscmp(base_name(b->path), base_name(a->path)) ?: b->level - a->level;
}

void library_sort(struct library_candidates *candidates)
{
    if (candidates->count)
        qsort(candidates->items, candidates->count, sizeof(*candidates->items), likelier_first);
}

void library_forget(struct library_candidates *candidates)
{
    for (size_t i = 0; i < candidates->count; i++)
        free((char *)candidates->items[i].path);
    free(candidates->items);
    *candidates = (struct library_candidates){.typed = candidates->typed};
}

/* ---- Files that processes have mapped ---- */

#define MOST_OPENED 128 /* of what a process has mapped; a few have the same name */

struct looking {
    struct library_seen *seen;
    const char *const *typed;
    size_t count;
};

/* The file's name in the path, without " (deleted)". */
static void copy_name(const char *path, char name[PATH_MAX])
{
    const char *base = base_name(path);

    snprintf(name, PATH_MAX, "%.*s", (int)length_without_deleted(base), base);
}

bool library_mapped_is(const char *path, const char *typed)
{
    char name[PATH_MAX];

    copy_name(path, name);
    return library_name_rank(base_name(typed), name);
}

static bool may_be_meant(const struct looking *looking, const char *path)
{
    size_t i = 0;

    while (i < looking->count && !library_mapped_is(path, looking->typed[i]))
        i++;
    return i < looking->count;
}

static int see_entry(void *context, const struct maps_entry *entry)
{
    const struct looking *looking = context;
    struct library_seen *seen = looking->seen;

    if (!entry->inode || *entry->path != '/' ||
        (seen->count && !strcmp(seen->items[seen->count - 1].entry.path, entry->path)) ||
        !may_be_meant(looking, entry->path))
        return 0;
    if (ARRAY_RESERVE(seen->items, seen->room, seen->count + 1))
        return -ENOMEM;
    struct library_mapped *added = &seen->items[seen->count];
    char link[64];
    *added = (struct library_mapped){*entry, -1};
    added->entry.path = strdup(entry->path);
    if (!added->entry.path)
        return -ENOMEM;
    snprintf(link, sizeof(link), "/proc/%u/map_files/%llx-%llx", seen->shown_by,
             (unsigned long long)entry->start, (unsigned long long)entry->end);
    added->fd = seen->count < MOST_OPENED ? open(link, O_PATH | O_CLOEXEC) : -EMFILE;
    if (added->fd == -1)
        added->fd = -errno;
    seen->count++;
    return 0;
}

int library_see(uint32_t pid, const char *const *typed, size_t count, struct library_seen *seen)
{
    struct looking looking = {seen, typed, count};

    *seen = (struct library_seen){0};
    return maps_each_of(pid, &seen->shown_by, see_entry, &looking) == -ENOMEM ? -ENOMEM : 0;
}

void library_seen_free(struct library_seen *seen)
{
    for (size_t i = 0; i < seen->count; i++) {
        free((char *)(uintptr_t)seen->items[i].entry.path);
        close_fd(seen->items[i].fd);
    }
    free(seen->items);
    *seen = (struct library_seen){0};
}

/* ---- Mapped libraries ---- */

struct library_search {
    const struct library_where *where;
    const char *typed;
    struct library_candidates candidates;
    struct library *library;
    struct text *error;
};

/* Takes a file by a path in the root. 1: it is the library now; otherwise a negative errno. */
static int take_file(struct library_search *search, const char *root, const char *path)
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

/* `mapping` is a number in the list of what was seen, from 1 on. */
static int offer_mapped(struct library_search *search, size_t mapping)
{
    const char *path = search->where->seen->items[mapping - 1].entry.path;
    const struct library_candidate mapped = {.path = path, .mapping = mapping};
    char name[PATH_MAX];

    copy_name(path, name);
    return library_offer(&search->candidates, name, &mapped);
}

/*
 * A file that was deleted, or whose name we cannot see, can be opened through its mapping's
 * addresses, but only by root.
 */
static int take_mapping(struct library_search *search, const struct library_candidate *candidate)
{
    const struct library_seen *seen = search->where->seen;
    const struct library_mapped *mapped = &seen->items[candidate->mapping - 1];
    const size_t length = length_without_deleted(candidate->path);
    struct library *library = search->library;
    struct text path = {0};

    text_append(&path, candidate->path, length);
    text_clear(&library->file);
    text_format(&library->file, "/proc/%u/map_files/%llx-%llx", seen->shown_by,
                (unsigned long long)mapped->entry.start, (unsigned long long)mapped->entry.end);
    library->mapping = candidate->mapping;
    int fd = library->file.failed || path.failed ? -ENOMEM : mapped->fd;
    if (fd >= 0)
        fd = sandbox_readable(fd);
    if (fd < 0) {
        if (fd != -ENOMEM)
            text_format(search->error, "process %u runs a %s that %s: %s", search->where->pid,
                        path.data, candidate->path[length] ? "was deleted, and cannot be opened"
                        : "cannot be opened", strerror(-fd));
        text_free(&path);
        return fd;
    }
    text_free(&library->path);
    library->path = path;
    library->fd = fd;
    return 1;
}

/* In a chroot the kernel shows the path from our root, if both are in the same mount namespace. */
static int take_ours(struct library_search *search, const struct library_candidate *candidate)
{
    const uint64_t inode = search->where->seen->items[candidate->mapping - 1].entry.inode;
    struct stat file;
    int result = take_file(search, "", candidate->path);

    if (result > 0 && (fstat(search->library->fd, &file) || file.st_ino != inode)) {
        close(search->library->fd);
        result = -ENOENT;
    }
    return result;
}

static int take_mapped(struct library_search *search, const struct library_candidate *candidate)
{
    int result = 0;

    if (!candidate->path[length_without_deleted(candidate->path)]) {
        result = take_file(search, search->where->root, candidate->path);
        if (result < 0 && *search->where->root)
            result = take_ours(search, candidate);
    }
    return result > 0 ? result : take_mapping(search, candidate);
}

/*
 * Takes the likeliest file, by its name, that the process has mapped; by its path only if that was
 * deleted, as the path may lead to another file now. Finds none if the process is gone or we may
 * not look at it. 1: the library is taken; 0: there is none; otherwise a negative errno, with a
 * line in `error` for one that cannot be opened.
 */
static int find_mapped(struct library_search *search)
{
    const struct library_seen *seen = search->where->seen;
    const bool by_path = strchr(search->typed, '/');
    int result = 0;

    search->candidates.typed = base_name(search->typed);
    for (size_t i = 0; search->where->pid && i < seen->count && !result; i++)
        result = offer_mapped(search, i + 1);
    library_sort(&search->candidates);
    for (size_t i = 0; i < search->candidates.count && !result; i++) {
        const struct library_candidate *candidate = &search->candidates.items[i];
        const size_t length = length_without_deleted(candidate->path);
        if (!by_path || (candidate->path[length] && strlen(search->typed) == length &&
                         !memcmp(search->typed, candidate->path, length)))
            result = take_mapped(search, candidate);
    }
    library_forget(&search->candidates);
    return result;
}

/* ---- Search paths ---- */

#define CACHE_LIMIT (8 << 20)     /* 200,000 libraries */
#define PATH_FILE_LIMIT (64 << 10)
#define MOST_FILES 200000         /* of a directory */

#define MUSL_DIRECTORIES "/lib:/usr/local/lib:/usr/lib"
#define PROGRAM_DIRECTORIES "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* The likeliest candidate that is an ELF file for this machine: 64-bit first. */
static int take_candidate(struct library_search *search)
{
    struct library_candidates *candidates = &search->candidates;
    int result = 0;

    library_sort(candidates);
    for (int class = ELFCLASS64; class >= ELFCLASS32 && !result; class--) {
        for (size_t i = 0; i < candidates->count && !result; i++) {
            result = take_file(search, search->where->root, candidates->items[i].path);
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
static int read_in_root(struct library_search *search, const char *path, size_t limit,
                        struct text *bytes)
{
    struct text resolved = {0};
    int fd = root_take(ROOT_FILE, search->where->root, path, &resolved), result = 0;

    text_free(&resolved);
    if (fd < 0)
        return fd;
    for (ssize_t got = 1; got > 0 && bytes->length < limit && !bytes->failed;) {
        char piece[4096];
        got = read_some(fd, piece, sizeof(piece));
        text_append(bytes, piece, got > 0 ? (size_t)got : 0);
        result = got < 0 ? (int)got : 0;
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

/* A program in this directory of the root; `is_elf`: it must be one for this machine. */
static int take_program(struct library_search *search, const char *root, const char *path,
                        bool is_elf)
{
    struct text whole = {0};
    struct stat file;

    text_format(&whole, "%s/%s", path, search->typed);
    int result = whole.failed ? -ENOMEM : take_file(search, root, whole.data);
    text_free(&whole);
    if (result > 0 && (fstat(search->library->fd, &file) || !(file.st_mode & 0111) ||
                       (is_elf && !elf_own_class(search->library->fd)))) {
        close(search->library->fd);
        result = 0;
    }
    return result == -ENOMEM || result > 0 ? result : 0;
}

static int find_program_in(struct library_search *search, const char *path)
{
    return take_program(search, search->where->root, path, false);
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
        if (!starts_with(file->d_name, "ld-musl-") || !ending || ending[5])
            continue;
        text_clear(&path);
        text_format(&path, "/etc/%s", file->d_name);
        result = path.failed ? -ENOMEM : read_in_root(search, path.data, PATH_FILE_LIMIT, &list);
        text_add(&list, "\n");
    }
    if (directory)
        closedir(directory);
    if (result != -ENOMEM)
        result = find_in_list(search, list.data ? list.data : MUSL_DIRECTORIES, find_in_directory);
    text_free(&path);
    text_free(&list);
    return result;
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
    int result = find_mapped(search);

    if (!result)
        result = find_cached(search);
    if (!result)
        result = find_by_linker(search);
    if (!result)
        result = find_by_musl(search);
    if (!result)
        result = find_in_list(search, programs && *programs ? programs : PROGRAM_DIRECTORIES,
                              find_program_in);
    /* "goapp" where one was just built: as ./goapp, after all other places. */
    if (!result)
        result = take_program(search, "", ".", true);
    if (!result)
        text_format(search->error, "no library or program \"%s\": looked %sin /etc/ld.so.cache, "
                    "the directories of libraries, PATH%s%s, and here", search->typed,
                    search->where->pid ? "at what the process has mapped, " : "",
                    *search->where->root ? ", below " : "", search->where->root);
    return result;
}

static int find_by_path(struct library_search *search)
{
    int result = find_mapped(search);

    if (result)
        return result;
    result = -ENOENT;
    if (*search->typed == '/' && *search->where->root)
        result = take_file(search, search->where->root, search->typed);
    if (result < 0)
        result = take_file(search, "", search->typed);
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
    close_fd(library->fd);
    text_free(&library->file);
    text_free(&library->path);
    text_free(&library->asked);
    *library = (struct library){.fd = -1};
}

/* ---- What a program needs ---- */

#define MOST_NEEDED 512

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
    if (search->count++ < MOST_NEEDED)
        text_append(paths, path, strlen(path) + 1);
    return paths->failed ? -ENOMEM : 0;
}

/* Skips missing ones, which the dynamic linker reports. */
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
    int fd = sandbox_open(NULL, path), result = 0;
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

    /* Searches in turn what it finds; the text moves as it grows. */
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
    const struct sandbox_job job = {
        .work = search_apart,
        .context = (void *)(uintptr_t)program,
        .open = root_take_here,
    };
    int signal, result = sandbox_run(&job, paths, &signal);

    /* Our code ends each path with a NUL: an answer without it is invalid. */
    if (!result && (!paths->length || paths->data[paths->length - 1]))
        result = -EBADMSG;
    return result;
}
