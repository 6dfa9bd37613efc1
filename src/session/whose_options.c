/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "session/whose_options.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/near.h"
#include "base/reading.h"
#include "base/say.h"
#include "base/text.h"
#include "base/util.h"

#define MOST_BYTES 65536
#define MOST_SHOWN 8 /* processes of a name */

/* Calls `take` with each of "a,b". */
static int each_word(const struct option *option, const char *text, void *destination, struct text *error,
                     int (*take)(const struct option *, const char *, void *, struct text *))
{
    char *copy = strdup(text), *rest = copy;
    int result = copy ? 0 : -ENOMEM;

    while (rest && !result)
        result = take(option, strsep(&rest, ","), destination, error);
    free(copy);
    return result;
}

/* ---- Processes by name ---- */

struct search {
    const char *name;
    struct number_list *found;
    size_t before;
    struct near near;
    bool is_full;
};

/* Under what name it was started: the last part of its first argument. */
static bool was_started_as(int process, const char *name)
{
    struct text content = {0};
    bool same = false;

    if (!read_file(process, "cmdline", MOST_BYTES, &content) && content.data) {
        const char *slash = strrchr(content.data, '/');
        same = !strcmp(slash ? slash + 1 : content.data, name);
    }
    text_free(&content);
    return same;
}

/* /proc/PID/stat: "12 (name) S ..." */
static void look_at_process(struct search *search, int process, uint32_t pid)
{
    struct text content = {0};
    char *name = NULL, *end = NULL;

    if (!read_file(process, "stat", MOST_BYTES, &content) && content.data) {
        name = strchr(content.data, '(');
        end = strrchr(content.data, ')');
    }
    const bool lives = name && end > name && end[1] && end[2] != 'Z' && end[2] != 'X';
    if (lives) {
        *end = '\0';
        near_offer(&search->near, name + 1);
        near_offer_words(&search->near, name + 1);
    }
    if (lives && (!strcmp(name + 1, search->name) || was_started_as(process, search->name))) {
        search->is_full = search->is_full || search->found->count == MOST_NUMBERS;
        if (!search->is_full)
            search->found->numbers[search->found->count++] = pid;
    }
    text_free(&content);
}

static int search_processes(struct search *search)
{
    DIR *directory = opendir("/proc");
    struct dirent *entry;
    uint64_t pid;

    if (!directory)
        return -errno;
    while ((entry = readdir(directory))) {
        if (parse_number(entry->d_name, 1, MOST_PID, &pid) || pid == (uint64_t)getpid())
            continue;
        int process = openat(dirfd(directory), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (process < 0)
            continue;
        look_at_process(search, process, (uint32_t)pid);
        close(process);
    }
    closedir(directory);
    return access("/proc/self/stat", F_OK) ? -errno : 0;
}

/* Which ones were taken, if it is more than one. */
static void say_found(const struct search *search)
{
    const size_t count = search->found->count - search->before;
    struct text list = {0};

    for (size_t i = 0; i < count && i < MOST_SHOWN; i++)
        text_format(&list, "%s%u", i ? ", " : "", search->found->numbers[search->before + i]);
    if (count > 1 && !list.failed)
        say("-p %s: %zu processes: %s%s", search->name, count, list.data, count > MOST_SHOWN ? ", ..." : "");
    text_free(&list);
}

static int take_process(const struct option *option, const char *word, void *destination, struct text *error)
{
    struct search search = {.name = word, .found = destination, .near.wanted = word};
    uint64_t number;

    search.before = search.found->count;
    if (!*word || parse_number(word, 0, UINT64_MAX, &number) != -EINVAL)
        return option_numbers(option, word, destination, error);
    int result = search_processes(&search);
    if (result)
        text_format(error, "cannot look for processes named \"%s\": /proc: %s", word, strerror(-result));
    else if (search.is_full)
        text_format(error, "takes at most %d processes, and more are named \"%s\"", MOST_NUMBERS, word);
    else if (search.found->count == search.before)
        text_format(error, "there is no process named \"%s\"", word);
    else
        say_found(&search);
    if (!result && search.found->count == search.before)
        near_add_to(&search.near, error);
    near_free(&search.near);
    return error->length || error->failed ? -EINVAL : 0;
}

int whose_processes(const struct option *option, const char *text, void *destination, struct text *error)
{
    return each_word(option, text, destination, error, take_process);
}

/* ---- Threads by name ---- */

/* The kernel keeps the first 15 bytes of a name. */
static int take_name(const struct option *option, const char *word, void *destination, struct text *error)
{
    struct comm_list *list = destination;
    const size_t length = strlen(word);

    (void)option;
    if (!length)
        text_add(error, "takes names of threads, as in /proc/PID/comm");
    else if (list->count == MOST_STRINGS)
        text_format(error, "takes at most %d names", MOST_STRINGS);
    else
        memcpy(list->names[list->count++], word, length < COMM_BYTES ? length : COMM_BYTES - 1);
    return error->length || error->failed ? -EINVAL : 0;
}

int whose_names(const struct option *option, const char *text, void *destination, struct text *error)
{
    return each_word(option, text, destination, error, take_name);
}

/* ---- Users ---- */

/* In /etc/passwd: "name:x:1000:...". 0, -ENOENT, or why that cannot be read. */
static int find_user(const char *name, uint64_t *uid, struct near *near)
{
    int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC), result = -ENOENT;
    struct lines lines;
    size_t length;
    char *line;

    if (fd < 0)
        return -errno;
    if (lines_open(&lines, fd)) {
        close(fd);
        return -ENOMEM;
    }
    while (result && (line = lines_next(&lines, &length))) {
        const char *user = strsep(&line, ":");
        const char *number = line && strsep(&line, ":") && line ? strsep(&line, ":") : NULL;
        if (near)
            near_offer(near, user);
        if (number && !strcmp(user, name))
            result = parse_number(number, 0, UINT32_MAX, uid);
    }
    lines_close(&lines);
    close(fd);
    return result;
}

bool whose_user_exists(const char *name)
{
    uint64_t uid;

    return !find_user(name, &uid, NULL);
}

static int take_user(const struct option *option, const char *word, void *destination, struct text *error)
{
    struct number_list *list = destination;
    struct near near = {.wanted = word};
    uint64_t uid;
    int result = parse_number(word, option->least, option->greatest, &uid);

    if (result == -EINVAL && *word)
        result = find_user(word, &uid, &near);
    if (result == -ENOENT) {
        text_format(error, "there is no user \"%s\" in /etc/passwd: give the UID, as id -u prints it", word);
        near_add_to(&near, error);
    } else if (result == -EINVAL || result == -ERANGE) {
        text_format(error, "\"%s\" is neither a user nor a UID", word);
    } else if (result) {
        text_format(error, "cannot look for user \"%s\": /etc/passwd: %s", word, strerror(-result));
    } else if (list->count == MOST_STRINGS) {
        text_format(error, "takes at most %d users", MOST_STRINGS);
    } else {
        list->numbers[list->count++] = (uint32_t)uid;
    }
    near_free(&near);
    return error->length || error->failed ? -EINVAL : 0;
}

int whose_users(const struct option *option, const char *text, void *destination, struct text *error)
{
    return each_word(option, text, destination, error, take_user);
}
