/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/opening.h"
#include "base/util.h"
#include "sandbox/sandbox.h"
#include "elf/elf_symbols.h"
#include "find/library.h"
#include "find/user_file.h"

struct search {
    struct find *find;
    const struct library_where *where;
    size_t known; /* how many places were found before */
};

/* ---- Answers of the reader ---- */

enum { AT_RETURN = 1, NAMED = 2, IS_USDT = 4, SAME_FILE = 8 }; /* of a place */

#define LONGEST ((size_t)1 << 20)

/* Does the pattern mean places in programs and libraries? */
static bool is_users(const struct pattern *pattern)
{
    return pattern->kind == PATTERN_USER_FUNCTION || pattern->kind == PATTERN_USDT;
}

/* Says why the sandbox's answer cannot be used. */
static void explain_reader(int result, int signal, struct text *error)
{
    text_clear(error);
    text_add(error, "cannot look for functions: the process that reads programs ");
    sandbox_explain(result, signal, error);
}

/* ---- Writing ---- */

static size_t number_of_file(const struct find *find, const struct place *place)
{
    size_t i = 0;

    while (i + 1 < find->file_count && (strcmp(find->files[i].library.file.data, place->file) ||
                                        strcmp(find->files[i].library.path.data, place->path)))
        i++;
    return i;
}

/* One file may have many thousands of places: the answer names the file once. */
static void put_place(struct text *answer, const struct find *find, const struct place *place,
                      const struct place *before)
{
    bool same = before && before->file == place->file && before->path == place->path;

    answer_put_byte(answer, (place->at_return ? AT_RETURN : 0) | (place->named ? NAMED : 0) |
                            (place->is_usdt ? IS_USDT : 0) | (same ? SAME_FILE : 0));
    if (!same)
        answer_put_number(answer, number_of_file(find, place));
    answer_put_bytes(answer, place->name, strlen(place->name));
    answer_put_byte(answer, place->start);
    answer_put_number(answer, place->address);
    answer_put_number(answer, place->offset);
    answer_put_number(answer, place->file_offset);
    answer_put_number(answer, place->semaphore);
}

void find_answer_write(const struct find *find, size_t known, int result, const struct text *error,
                       struct text *answer)
{
    answer_put_number(answer, (uint64_t)-result);
    answer_put_text(answer, error);
    answer_put_text(answer, &find->unread);
    answer_put_text(answer, &find->left_out);
    for (size_t i = 0; i < find->count; i++)
        if (is_users(&find->patterns[i]))
            answer_put_number(answer, find->matched[i]);
    answer_put_number(answer, find->places.count - known);
    for (size_t i = known; i < find->places.count; i++)
        put_place(answer, find, &find->places.items[i],
                  i > known ? &find->places.items[i - 1] : NULL);
}

/* ---- Reading ---- */

struct taking {
    const struct found_file *file; /* of the place before; NULL: none */
    struct text name;
};

/* "libc.so.6:malloc", from which place_own_name() takes what follows the file's name. */
static bool is_named_well(const struct taking *taking)
{
    const char *base = base_name(taking->file->library.path.data);
    const size_t length = strlen(base);

    return taking->name.length > length + 1 && !memcmp(taking->name.data, base, length) &&
           taking->name.data[length] == ':';
}

static void read_file(struct answer *answer, struct taking *taking, const struct find *read)
{
    const uint64_t number = answer_take_number(answer);

    answer->is_bad = answer->is_bad || number >= read->file_count;
    taking->file = answer->is_bad ? NULL : &read->files[number];
}

static void take_place(struct answer *answer, struct taking *taking, struct find *read)
{
    const unsigned flags = answer_take_flags(answer, AT_RETURN | NAMED | IS_USDT | SAME_FILE);
    struct place place = {
        .kind = PLACE_USER, .at_return = flags & AT_RETURN, .named = flags & NAMED,
        .is_usdt = flags & IS_USDT,
    };

    if (!(flags & SAME_FILE))
        read_file(answer, taking, read);
    answer_take_text(answer, LONGEST, &taking->name);
    place.start = (enum place_start)answer_take_byte(answer);
    place.address = answer_take_number(answer);
    place.offset = answer_take_number(answer);
    place.file_offset = answer_take_number(answer);
    place.semaphore = answer_take_number(answer);
    answer->is_bad = answer->is_bad || place.start > START_OTHER || place.file_offset > INT64_MAX ||
                     place.semaphore > INT64_MAX || !taking->file ||
                     (!answer->failed && !is_named_well(taking));
    if (answer->is_bad || answer->failed)
        return;
    place.name = taking->name.data;
    place.file = taking->file->library.file.data;
    place.path = taking->file->library.path.data;
    place.device = taking->file->about.st_dev;
    place.inode = taking->file->about.st_ino;
    answer->failed = places_add(&read->places, &place) != 0;
}

/* The result of a search: 0 or a negative errno. */
static int take_result(struct answer *answer)
{
    const uint64_t negative = answer_take_number(answer);

    answer->is_bad = answer->is_bad || negative > 4095;
    return answer->is_bad ? 0 : -(int)negative;
}

/* `read` is a struct find with only what this answer has. */
static void take_all(struct answer *answer, struct find *read, int *found, struct text *error)
{
    struct taking taking = {0};

    *found = take_result(answer);
    answer_take_text(answer, LONGEST, error);
    answer_take_text(answer, LONGEST, &read->unread);
    answer_take_text(answer, LONGEST, &read->left_out);
    for (size_t i = 0; i < read->count; i++)
        if (is_users(&read->patterns[i]))
            read->matched[i] = (size_t)answer_take_number(answer);
    for (uint64_t left = answer_take_number(answer);
         left && !answer->is_bad && !answer->failed; left--)
        take_place(answer, &taking, read);
    answer->is_bad = answer->is_bad || (!answer->failed && answer->at != answer->end);
    text_free(&taking.name);
}

int find_answer_read(const char *bytes, size_t length, struct find *find, int *found,
                     struct text *error)
{
    struct answer answer = {.at = bytes, .end = bytes + length, .for_good = true};
    struct find read = {.patterns = find->patterns, .count = find->count,
                        .files = find->files, .file_count = find->file_count,
                        .matched = calloc(find->count + 1, sizeof(*read.matched))};
    int result = read.matched && length ? 0 : read.matched ? -EBADMSG : -ENOMEM;

    if (!result) {
        take_all(&answer, &read, found, error);
        result = answer.is_bad ? -EBADMSG : answer.failed ? -ENOMEM : 0;
    }
    for (size_t i = 0; i < read.places.count && !result; i++)
        result = places_add(&find->places, &read.places.items[i]);
    for (size_t i = 0; i < find->count && !result; i++)
        if (is_users(&find->patterns[i]))
            find->matched[i] = read.matched[i];
    if (!result && read.unread.length && !find->unread.length)
        text_append(&find->unread, read.unread.data, read.unread.length);
    if (!result && read.left_out.length && !find->left_out.length)
        text_append(&find->left_out, read.left_out.data, read.left_out.length);
    if (result || !*found)
        text_clear(error);
    places_free(&read.places);
    text_free(&read.unread);
    text_free(&read.left_out);
    free(read.matched);
    return result;
}

/* ---- Files ---- */

/* The file that a pattern means. */
static struct found_file *file_of_pattern(const struct find *find, const struct pattern *pattern)
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
        if (is_users(pattern) && !file_of_pattern(find, pattern))
            find->files[find->file_count++] =
                (struct found_file){pattern->library, {.fd = -1}, {0}};
    }
    return 0;
}

/* ---- In the sandbox ---- */

/* Stops at the first file that it cannot find. */
static int locate_apart(void *context, struct text *answer)
{
    const struct search *search = context;
    const struct find *find = search->find;
    int result = 0;

    for (size_t i = 0; i < find->file_count && !result; i++) {
        struct library library;
        struct text error = {0};
        result = library_find(search->where, find->files[i].typed, &library, &error);
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

/* A compromised sandbox must not name a file that `typed` cannot mean. */
static bool may_mean(const struct library_where *where, const char *typed,
                     const struct library *library)
{
    const char *asked = library->asked.data;

    if (strchr(typed, '/'))
        return !strcmp(asked, typed);
    if (!library_name_rank(typed, base_name(asked)))
        return false;
    return !library->is_ours || find_seen(where, asked) || starts_with(asked, "./");
}

static int open_mapped(const struct library_where *where, const char *typed,
                       struct library *library)
{
    if (library->mapping > where->seen->count)
        return -EBADMSG;
    const struct library_mapped *mapped = &where->seen->items[library->mapping - 1];
    const char *path = mapped->entry.path;

    if (!library_mapped_is(path, typed) || mapped->fd < 0)
        return -EBADMSG;
    text_append(&library->path, path, length_without_deleted(path));
    library->fd = fcntl(mapped->fd, F_DUPFD_CLOEXEC, 0);
    return library->fd < 0 ? -errno : 0;
}

/* It is only named to the kernel: closing it must not wait for its file system. */
static void keep_seen(int *fd)
{
    struct stat about;
    char link[32];

    snprintf(link, sizeof(link), "/proc/self/fd/%d", *fd);
    const int seen = open_regular(link, O_PATH, &about);
    if (seen < 0)
        return;
    close(*fd);
    *fd = seen;
}

static int open_asked(const struct library_where *where, const char *typed, struct library *library)
{
    if (!library->asked.length || !may_mean(where, typed, library))
        return -EBADMSG;
    library->fd = root_take_here(ROOT_FILE, library->is_ours ? "" : where->root,
                                 library->asked.data, &library->path);
    keep_seen(&library->fd);
    return library->fd < 0 ? library->fd : 0;
}

/* The path may lead to another file by now, even by a link to one of ours: compares inodes. */
static bool is_mapped(const struct library_where *where, const struct found_file *file)
{
    const struct library_mapped *mapped = file->library.is_ours && !strchr(file->typed, '/')
                                              ? find_seen(where, file->library.asked.data)
                                              : NULL;

    return !mapped || mapped->entry.inode == file->about.st_ino;
}

/*
 * Names the file by its descriptor here, so that the kernel finds it whatever is at its path by
 * then; without /proc by its path. The same file always gets the same name.
 */
static int name_file(const struct find *find, const struct library_where *where,
                     struct found_file *file)
{
    struct text *name = &file->library.file;

    for (const struct found_file *other = find->files; other < file && !name->length; other++)
        if (same_file(&other->about, &file->about))
            text_add(name, other->library.file.data);
    if (!name->length) {
        text_format(name, "/proc/self/fd/%d", file->library.fd);
        if (!name->failed && access(name->data, F_OK)) {
            text_clear(name);
            text_format(name, "%s%s", file->library.is_ours ? "" : where->root,
                        file->library.path.data);
        }
    }
    return name->failed || file->library.path.failed ? -ENOMEM : 0;
}

static int open_file(const struct find *find, const struct library_where *where,
                     struct found_file *file, struct text *error)
{
    int result = file->library.mapping ? open_mapped(where, file->typed, &file->library)
                                       : open_asked(where, file->typed, &file->library);

    if (!result && fstat(file->library.fd, &file->about))
        result = -errno;
    if (!result && !is_mapped(where, file))
        result = -ESTALE;
    if (!result)
        result = name_file(find, where, file);
    if (result == -ESTALE)
        text_format(error, "\"%s\" was replaced after it was read: try again", file->typed);
    else if (result && result != -EBADMSG)
        text_format(error, "cannot open \"%s\": %s", file->typed, strerror(-result));
    return result;
}

/* Sets *found to the result of the search, with a line in `error`. */
static int take_file(struct answer *answer, struct library *library, int *found, struct text *error)
{
    *found = take_result(answer);
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
    struct answer answer = {
        .at = bytes->data, .end = bytes->data + bytes->length, .for_good = true};
    int result = bytes->length ? list_files(find) : -EBADMSG;

    for (size_t i = 0; i < find->file_count && !result && !*found; i++) {
        result = take_file(&answer, &find->files[i].library, found, error);
        if (!result && !*found &&
            (*found = open_file(find, where, &find->files[i], error)) == -EBADMSG)
            result = *found;
    }
    return result;
}

/*
 * Opens find->files, one for each name that a pattern has for a file. 0, or a negative errno with
 * one line in `error`. find_files_free after either.
 */
static int open_files(struct search *search, struct text *error)
{
    const struct library_where *where = search->where;
    struct find *find = search->find;
    int *keep = calloc(where->seen->count + 1, sizeof(*keep)), signal = 0, found = 0;
    const struct sandbox_job job = {
        .work = locate_apart, .context = search, .keep = keep, .keep_count = where->seen->count,
        .open = root_take_here,
    };
    struct text answer = {0};
    int result = keep ? list_files(find) : -ENOMEM;

    for (size_t i = 0; keep && i < where->seen->count; i++)
        keep[i] = where->seen->items[i].fd;
    if (!result)
        result = sandbox_run(&job, &answer, &signal);
    if (!result)
        result = find_files_take(find, where, &answer, &found, error);
    if (result)
        explain_reader(result, signal, error);
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

/* ---- Places ---- */

/* ---- In the sandbox ---- */

/* Refuses a file in which the kernel would accept a probe that never hits. */
static int check_probed(const struct find *find, const struct user_file *file, struct text *error)
{
    if (!find->kernel->probes_wide_alone || file->elf.row->bits != 32)
        return 0;
    text_format(error, "\"%s\" is a 32-bit program, which this kernel cannot probe: trace "
                "kernel functions or tracepoints instead", file->library.path.data);
    return -ENOTSUP;
}

/* One pattern for a function or USDT probe; the previous one's file may be read already. */
static int find_in_file(struct find *find, size_t i, struct user_file *file, const char **opened,
                        struct text *error)
{
    const struct pattern *pattern = &find->patterns[i];
    const size_t first = find->places.count;
    int result = 0;

    if (!*opened || strcmp(*opened, pattern->library)) {
        if (*opened)
            user_file_forget(file);
        *file = (struct user_file){.library = file_of_pattern(find, pattern)->library};
        result = user_file_read(file, error);
        *opened = result ? NULL : pattern->library;
    } else {
        elf_renew_budget(&file->elf);
    }
    if (!result)
        result = check_probed(find, file, error);
    if (result)
        return result;
    result = pattern->kind == PATTERN_USDT
        ? usdt_find(file, pattern, &find->places, &find->matched[i], error)
        : user_functions_find(file, pattern, &find->places, &find->matched[i], error);
    if (HAS_ARM_CODES && !result)
        result = thumb_remove(file, pattern, &find->places, first, &find->left_out, error);
    /* If a single function was named and found, nothing is missing. */
    if (!result && file->unpacked.refusal && pattern->kind == PATTERN_USER_FUNCTION &&
        !pattern->is_address && pattern->name.kind != MATCH_PLAIN && !find->unread.length)
        text_format(&find->unread, "%s: %s", file->library.path.data, file->unpacked.refusal);
    if (!file->trouble)
        return result;
    /* The function may be in the part that was not read. */
    text_clear(error);
    text_format(error, "cannot read \"%s\": %s", pattern->library,
                file->trouble == -ETIME ? "it takes too long" : strerror(-file->trouble));
    return file->trouble;
}

static int find_in_files(struct search *search, struct text *error)
{
    struct find *find = search->find;
    struct user_file file;
    const char *opened = NULL;
    int result = 0;

    for (size_t i = 0; i < find->count && !result; i++)
        if (is_users(&find->patterns[i]))
            result = find_in_file(find, i, &file, &opened, error);
    if (opened)
        user_file_forget(&file);
    return result;
}

static int search_apart(void *context, struct text *answer)
{
    struct search *search = context;
    struct text error = {0};
    int result = find_in_files(search, &error);

    find_answer_write(search->find, search->known, result, &error, answer);
    text_free(&error);
    return 0;
}

/* ---- Here ---- */

/* The sandbox opens nothing here: it reads the files that will be probed. */
static int run_apart(struct search *search, struct text *error)
{
    struct find *find = search->find;
    int *keep = calloc(find->file_count + 1, sizeof(*keep)), signal = 0, found = 0;
    const struct sandbox_job job = {
        .work = search_apart, .context = search, .keep = keep, .keep_count = find->file_count,
        .asks_nothing = true,
    };
    struct text answer = {0};

    for (size_t i = 0; keep && i < find->file_count; i++)
        keep[i] = find->files[i].library.fd;
    int result = keep ? sandbox_run(&job, &answer, &signal) : -ENOMEM;
    if (!result)
        result = find_answer_read(answer.data, answer.length, find, &found, error);
    if (result)
        explain_reader(result, signal, error);
    text_free(&answer);
    free(keep);
    return result ? result : found;
}

/* Lists for the search what the process has mapped, and opens what a pattern may mean. */
static int see(const struct find *find, struct library_seen *seen)
{
    const char **typed = calloc(find->count + 1, sizeof(*typed));
    size_t count = 0;

    if (!typed)
        return -ENOMEM;
    for (size_t i = 0; i < find->count; i++)
        if (is_users(&find->patterns[i]))
            typed[count++] = find->patterns[i].library;
    int result = library_see(find->pid, typed, count, seen);
    free(typed);
    return result;
}

int find_user_places(struct find *find, struct text *error)
{
    struct text root = {0};
    struct library_seen seen = {0};
    int result = 0;

    if (!find_any_of_kind(find, PATTERN_USER_FUNCTION) && !find_any_of_kind(find, PATTERN_USDT))
        return 0;
    if (find->pid)
        result = root_of_process(find->pid, &root);
    if (!result && find->pid)
        result = see(find, &seen);
    const struct library_where where = {text_string(&root), find->pid, &seen};
    struct search search = {find, &where, find->places.count};
    if (!result)
        result = open_files(&search, error);
    library_seen_free(&seen);
    text_free(&root);
    return result ? result : run_apart(&search, error);
}
