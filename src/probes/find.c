/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "probes/find.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/refusal.h"
#include "kernel/tracefs.h"
#include "probes/kernel_functions.h"
#include "probes/root_path.h"
#include "probes/tracepoints.h"
#include "probes/usdt.h"
#include "probes/user_functions.h"

int find_parse(struct find *find, char *const *words, size_t count, bool is_regex,
               struct text *error)
{
    int result = 0;

    find->patterns = calloc(count + 1, sizeof(*find->patterns));
    find->matched = calloc(count + 1, sizeof(*find->matched));
    if (!find->patterns || !find->matched)
        result = -ENOMEM;
    while (!result && find->count < count) {
        result = pattern_parse(&find->patterns[find->count], words[find->count], is_regex, error);
        find->count += !result;
    }
    if (result == -ENOMEM)
        text_add(error, "out of memory");
    return result;
}

bool find_any_of_kind(const struct find *find, enum pattern_kind kind)
{
    for (size_t i = 0; i < find->count; i++)
        if (find->patterns[i].kind == kind)
            return true;
    return false;
}

/* The first pattern of a kind that matched nothing; find->count: there is none. */
static size_t first_unmatched(const struct find *find, enum pattern_kind kind)
{
    size_t i = 0;

    while (i < find->count && (find->patterns[i].kind != kind || find->matched[i]))
        i++;
    return i;
}

static int find_functions(struct find *find, struct text *error)
{
    if (!find_any_of_kind(find, PATTERN_KERNEL_FUNCTION))
        return 0;
    int result = find->kallsyms < 0
        ? -ENOENT
        : kernel_functions_find(find->kallsyms, find->patterns, find->count, &find->places,
                                find->matched);
    if (result) {
        text_format(error, "cannot read /proc/kallsyms, which tells the kernel's functions: %s%s",
                    strerror(-result), find->kallsyms < 0 ? " (is /proc mounted?)" : "");
        return result;
    }
    size_t unmatched = first_unmatched(find, PATTERN_KERNEL_FUNCTION);
    if (unmatched == find->count)
        return kernel_functions_check_offsets(find->kallsyms, &find->places, error);
    const struct pattern *pattern = &find->patterns[unmatched];
    text_format(error, "0 functions matched by \"%s\"", pattern->typed);
    if (pattern->name.kind == MATCH_PLAIN)
        (void)kernel_functions_near(find->kallsyms, pattern->name.text, error);
    return -ENOENT;
}

static int find_tracepoints(struct find *find, struct text *error)
{
    struct text near = {0};
    int result = 0;

    for (size_t i = 0; i < find->count && !result; i++) {
        if (find->patterns[i].kind != PATTERN_TRACEPOINT)
            continue;
        result = find->tracefs < 0 ? find->tracefs
                                   : tracepoints_find(find->tracefs, &find->patterns[i],
                                                      &find->places, &find->matched[i], &near);
        if (result)
            refusal_explain(REFUSED_TRACEFS, result, 0, error);
    }
    size_t unmatched = result ? find->count : first_unmatched(find, PATTERN_TRACEPOINT);
    if (unmatched < find->count) {
        text_format(error, "0 tracepoints matched by \"%s\"%s", find->patterns[unmatched].typed,
                    near.data ? near.data : "");
        result = -ENOENT;
    }
    text_free(&near);
    return result;
}

/* One pattern of a function or USDT probe; the file of the one before it may be open already. */
static int find_in_file(struct find *find, size_t i, const struct library_where *where,
                        struct user_file *file, const char **opened, struct text *error)
{
    const struct pattern *pattern = &find->patterns[i];
    int result = 0;

    if (!*opened || strcmp(*opened, pattern->library)) {
        if (*opened)
            user_file_close(file);
        result = user_file_open(file, where, pattern->library, error);
        *opened = result ? NULL : pattern->library;
    }
    if (result)
        return result;
    result = pattern->kind == PATTERN_USDT
        ? usdt_find(file, pattern, &find->places, &find->matched[i], error)
        : user_functions_find(file, pattern, &find->places, &find->matched[i], error);
    /* Who names one function, and gets it, misses none. */
    if (!result && file->unpacked.refusal && pattern->kind == PATTERN_USER_FUNCTION &&
        !pattern->is_address && pattern->name.kind != MATCH_PLAIN && !find->unread.length)
        text_format(&find->unread, "%s: %s", file->library.path.data, file->unpacked.refusal);
    if (!file->trouble)
        return result;
    /* What was not found may be there. */
    text_clear(error);
    text_format(error, "cannot read \"%s\": %s", pattern->library, strerror(-file->trouble));
    return file->trouble;
}

static int find_in_files(struct find *find, struct text *error)
{
    struct text root = {0};
    struct library_where where = {.root = "", .pid = find->pid};
    struct user_file file;
    const char *opened = NULL;
    int result = find->pid ? root_of_process(find->pid, &root) : 0;

    if (root.length)
        where.root = root.data;
    for (size_t i = 0; i < find->count && !result; i++)
        if (find->patterns[i].kind == PATTERN_USER_FUNCTION ||
            find->patterns[i].kind == PATTERN_USDT)
            result = find_in_file(find, i, &where, &file, &opened, error);
    if (opened)
        user_file_close(&file);
    text_free(&root);
    return result;
}

int find_places(struct find *find, struct text *error)
{
    find->tracefs = tracefs_open();
    int result = find_functions(find, error);

    if (!result)
        result = find_tracepoints(find, error);
    if (!result)
        result = find_in_files(find, error);
    if (result == -ENOMEM && !error->length)
        text_add(error, "out of memory");
    places_remove_doubles(&find->places);
    return result;
}

void find_close(struct find *find)
{
    for (size_t i = 0; i < find->count; i++)
        pattern_free(&find->patterns[i]);
    free(find->patterns);
    free(find->matched);
    places_free(&find->places);
    text_free(&find->unread);
    if (find->tracefs >= 0)
        close(find->tracefs);
    *find = (struct find){.tracefs = -1, .kallsyms = -1};
}
