/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "find/find_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apart/answer.h"
#include "apart/apart.h"
#include "base/text.h"
#include "base/util.h"
#include "find/find_answer.h"
#include "find/library_names.h"
#include "find/root_path.h"
#include "machine/machine.h"

#define LONGEST ((size_t)1 << 20)

struct locating {
    struct find *find;
    const struct library_where *where;
};

struct found_file *find_file_of(const struct find *find, const struct pattern *pattern)
{
    for (size_t i = 0; i < find->file_count; i++)
        if (!strcmp(find->files[i].typed, pattern->library))
            return &find->files[i];
    return NULL;
}

static int list_files(struct find *find)
{
    if (find->files)
        return 0;
    find->files = calloc(find->count + 1, sizeof(*find->files));
    if (!find->files)
        return -ENOMEM;
    for (size_t i = 0; i < find->count; i++) {
        const struct pattern *pattern = &find->patterns[i];
        if (find_is_users(pattern) && !find_file_of(find, pattern))
            find->files[find->file_count++] = (struct found_file){pattern->library, {.fd = -1}, {0}};
    }
    return 0;
}

/* ---- In the process apart ---- */

/* The first that is not found ends it. */
static int locate_apart(void *context, struct text *answer)
{
    const struct locating *locating = context;
    const struct find *find = locating->find;
    int result = 0;

    for (size_t i = 0; i < find->file_count && !result; i++) {
        struct library library;
        struct text error = {0};
        result = library_find(locating->where, find->files[i].typed, &library, &error);
        answer_put_number(answer, (uint64_t)-result);
        answer_put_text(answer, &error);
        if (!result) {
            answer_put_byte(answer, library.is_ours);
            answer_put_number(answer, library.mapping);
            answer_put_text(answer, &library.asked);
            library_close(&library);
        }
        text_free(&error);
    }
    return 0;
}

/* ---- Here ---- */

static const struct library_mapped *find_seen(const struct library_where *where, const char *path)
{
    for (size_t i = 0; i < where->seen->count; i++)
        if (!strcmp(where->seen->items[i].entry.path, path))
            return &where->seen->items[i];
    return NULL;
}

/* A program that took over its reader may name no other file than what was typed may mean. */
static bool may_mean(const struct library_where *where, const char *typed, const struct library *library)
{
    const char *asked = library->asked.data;

    if (strchr(typed, '/'))
        return !strcmp(asked, typed);
    if (!library_name_rank(typed, base_name(asked)))
        return false;
    return !library->is_ours || find_seen(where, asked) || !strncmp(asked, "./", 2);
}

static int open_mapped(const struct library_where *where, const char *typed, struct library *library)
{
    if (library->mapping > where->seen->count)
        return -EBADMSG;
    const struct library_mapped *mapped = &where->seen->items[library->mapping - 1];
    const char *path = mapped->entry.path, *name = base_name(path);
    char *own = strndup(name, length_without_deleted(name));
    const bool is_meant = own && library_name_rank(base_name(typed), own);

    free(own);
    if (!is_meant || mapped->fd < 0)
        return own ? -EBADMSG : -ENOMEM;
    text_append(&library->path, path, length_without_deleted(path));
    library->fd = fcntl(mapped->fd, F_DUPFD_CLOEXEC, 0);
    return library->fd < 0 ? -errno : 0;
}

static int open_asked(const struct library_where *where, const char *typed, struct library *library)
{
    if (!library->asked.length || !may_mean(where, typed, library))
        return -EBADMSG;
    library->fd = root_take_here(ROOT_FILE, library->is_ours ? "" : where->root, library->asked.data,
                                 &library->path);
    return library->fd < 0 ? library->fd : 0;
}

/* What was mapped there may have been exchanged for something else: a link to a file of ours. */
static bool is_mapped(const struct library_where *where, const struct found_file *file)
{
    const struct library_mapped *mapped =
        file->library.is_ours && !strchr(file->typed, '/') ? find_seen(where, file->library.asked.data) : NULL;

    return !mapped || mapped->entry.inode == file->about.st_ino;
}

/*
 * The kernel finds what is open here by its descriptor, whatever is put at its path: only without
 * /proc by that. What is the same file has the same name.
 */
static int name_file(const struct find *find, const struct library_where *where, struct found_file *file)
{
    struct text *name = &file->library.file;

    for (const struct found_file *other = find->files; other < file && !name->length; other++)
        if (other->about.st_dev == file->about.st_dev && other->about.st_ino == file->about.st_ino)
            text_add(name, other->library.file.data);
    if (!name->length) {
        text_format(name, "/proc/self/fd/%d", file->library.fd);
        if (!name->failed && access(name->data, F_OK)) {
            text_clear(name);
            text_format(name, "%s%s", file->library.is_ours ? "" : where->root, file->library.path.data);
        }
    }
    return name->failed || file->library.path.failed ? -ENOMEM : 0;
}

static int open_file(const struct find *find, const struct library_where *where, struct found_file *file,
                     struct text *error)
{
    int result = file->library.mapping ? open_mapped(where, file->typed, &file->library)
                                       : open_asked(where, file->typed, &file->library);

    if (!result && fstat(file->library.fd, &file->about))
        result = -errno;
    if (!result && !is_mapped(where, file))
        result = -ESTALE;
    if (!result)
        result = name_file(find, where, file);
    if (result && result != -EBADMSG)
        text_format(error, "cannot open \"%s\": %s", file->typed, strerror(-result));
    return result;
}

/* 0; *found is then what the search came to, with a line in `error`. */
static int take_file(struct answer *answer, struct library *library, int *found, struct text *error)
{
    const uint64_t negative = answer_take_number(answer);

    answer->is_bad = answer->is_bad || negative > 4095;
    *found = answer->is_bad ? 0 : -(int)negative;
    answer_take_text(answer, LONGEST, error);
    if (!*found) {
        library->is_ours = answer_take_flags(answer, true);
        library->mapping = (size_t)answer_take_number(answer);
        answer_take_text(answer, LONGEST, &library->asked);
    }
    return answer->is_bad ? -EBADMSG : answer->failed ? -ENOMEM : 0;
}

int find_files_take(struct find *find, const struct library_where *where, const struct text *bytes,
                    int *found, struct text *error)
{
    struct answer answer = {.at = bytes->data, .end = bytes->data + bytes->length, .for_good = true};
    int result = bytes->length ? list_files(find) : -EBADMSG;

    for (size_t i = 0; i < find->file_count && !result && !*found; i++) {
        result = take_file(&answer, &find->files[i].library, found, error);
        if (!result && !*found && (*found = open_file(find, where, &find->files[i], error)) == -EBADMSG)
            result = *found;
    }
    return result;
}

int find_files_open(struct find *find, const struct library_where *where, struct text *error)
{
    struct locating locating = {find, where};
    int *keep = calloc(where->seen->count + 1, sizeof(*keep)), signal = 0, found = 0;
    const struct apart_job job = {
        .work = locate_apart, .context = &locating, .keep = keep, .keep_count = where->seen->count,
        .open = root_take_here, .machine = machine_ours(),
    };
    struct text answer = {0};
    int result = keep ? list_files(find) : -ENOMEM;

    for (size_t i = 0; keep && i < where->seen->count; i++)
        keep[i] = where->seen->items[i].fd;
    if (!result)
        result = apart_run(&job, &answer, &signal);
    if (!result)
        result = find_files_take(find, where, &answer, &found, error);
    if (result)
        find_explain_apart(result, signal, error);
    text_free(&answer);
    free(keep);
    return result ? result : found;
}

void find_files_free(struct find *find)
{
    for (size_t i = 0; i < find->file_count; i++)
        library_close(&find->files[i].library);
    free(find->files);
    find->files = NULL;
    find->file_count = 0;
}
