/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "find/find_user.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "apart/apart.h"
#include "base/text.h"
#include "find/find_answer.h"
#include "find/find_files.h"
#include "find/root_path.h"
#include "find/thumb.h"
#include "find/usdt.h"
#include "find/user_functions.h"
#include "machine/machine.h"

struct search {
    struct find *find;
    size_t known; /* how many places were found before */
};

/* ---- In the process apart ---- */

/* Where the kernel would accept a probe that never hits. */
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
        *file = (struct user_file){.library = find_file_of(find, pattern)->library};
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
    if (!result)
        result = thumb_remove(file, pattern, &find->places, first, &find->left_out, error);
    /* If a single function was named and found, nothing is missing. */
    if (!result && file->unpacked.refusal && pattern->kind == PATTERN_USER_FUNCTION &&
        !pattern->is_address && pattern->name.kind != MATCH_PLAIN && !find->unread.length)
        text_format(&find->unread, "%s: %s", file->library.path.data, file->unpacked.refusal);
    if (!file->trouble)
        return result;
    /* What was not found may be there. */
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
        if (find_is_users(&find->patterns[i]))
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

/* It opens nothing: what it reads is what will be probed. */
static int run_apart(struct search *search, struct text *error)
{
    struct find *find = search->find;
    int *keep = calloc(find->file_count + 1, sizeof(*keep)), signal = 0, found = 0;
    const struct apart_job job = {
        .work = search_apart, .context = search, .keep = keep, .keep_count = find->file_count,
        .machine = machine_ours(), .asks_nothing = true,
    };
    struct text answer = {0};

    for (size_t i = 0; keep && i < find->file_count; i++)
        keep[i] = find->files[i].library.fd;
    int result = keep ? apart_run(&job, &answer, &signal) : -ENOMEM;
    if (!result)
        result = find_answer_read(answer.data, answer.length, find, &found, error);
    if (result)
        find_explain_apart(result, signal, error);
    text_free(&answer);
    free(keep);
    return result ? result : found;
}

/* What the process has mapped that may be meant goes along with the search. */
static int see(const struct find *find, struct library_seen *seen)
{
    const char **typed = calloc(find->count + 1, sizeof(*typed));
    size_t count = 0;

    if (!typed)
        return -ENOMEM;
    for (size_t i = 0; i < find->count; i++)
        if (find_is_users(&find->patterns[i]))
            typed[count++] = find->patterns[i].library;
    int result = library_see(find->pid, typed, count, seen);
    free(typed);
    return result;
}

int find_user_places(struct find *find, struct text *error)
{
    struct text root = {0};
    struct library_seen seen = {0};
    struct search search = {.find = find, .known = find->places.count};
    int result = 0;

    if (!find_any_of_kind(find, PATTERN_USER_FUNCTION) && !find_any_of_kind(find, PATTERN_USDT))
        return 0;
    if (find->pid)
        result = root_of_process(find->pid, &root);
    if (!result && find->pid)
        result = see(find, &seen);
    const struct library_where where = {root.length ? root.data : "", find->pid, &seen};
    if (!result)
        result = find_files_open(find, &where, error);
    library_seen_free(&seen);
    text_free(&root);
    return result ? result : run_apart(&search, error);
}
