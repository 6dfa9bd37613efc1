/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "find/library_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* Files with a matching name: no honest directory has half as many. */
#define MOST_CANDIDATES 1000

enum { RANK_NONE, RANK_MUSL, RANK_DASH_VERSION, RANK_PLAIN, RANK_VERSION, RANK_WHOLE };

static bool starts_with(const char *text, const char *start)
{
    return !strncmp(text, start, strlen(start));
}

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
    size_t length = strlen(typed);

    if (!strcmp(typed, name))
        return RANK_WHOLE;
    if (!strcmp(typed, "c") && starts_with(name, "ld-musl-"))
        return RANK_MUSL;
    if (!strncmp(name, typed, length) && rank_ending(name + length))
        return rank_ending(name + length);
    if (starts_with(name, "lib") && !strncmp(name + 3, typed, length))
        return rank_ending(name + 3 + length);
    return RANK_NONE;
}

int library_offer(struct library_candidates *candidates, const char *name,
                  const struct library_candidate *candidate)
{
    unsigned rank = library_name_rank(candidates->typed, name);

    if (!rank || candidates->count == MOST_CANDIDATES)
        return 0;
    if (array_reserve(&candidates->items, &candidates->room, candidates->count + 1,
                      sizeof(*candidates->items)))
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

const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
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

    if (a->rank != b->rank)
        return a->rank > b->rank ? -1 : 1;
    int order = strverscmp(base_name(b->path), base_name(a->path));
    return order ? order : b->level - a->level;
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
