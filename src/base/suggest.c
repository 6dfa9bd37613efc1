/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "base/suggest.h"

#include <stdlib.h>
#include <string.h>

#define LONGEST_NAME 128
#define PARTS "_:-" /* separates words */

/* A typing error per four letters, and two at least. */
static unsigned farthest(size_t length)
{
    return length / 4 > 2 ? (unsigned)(length / 4) : length < 4 ? 1 : 2;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/*
 * How many letters must be changed, left out, inserted or swapped with their neighbour to turn one
 * name into the other; `limit` + 1 for anything above `limit`.
 */
static unsigned distance(const char *a, size_t a_length, const char *b, size_t b_length,
                         unsigned limit)
{
    unsigned rows[3][LONGEST_NAME + 1];
    unsigned *before_last = rows[0], *last = rows[1], *row = rows[2];

    for (unsigned j = 0; j <= b_length; j++)
        last[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        unsigned smallest = row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_length; j++) {
            row[j] = least(least(last[j], row[j - 1]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before_last[j - 2] + 1);
            smallest = least(smallest, row[j]);
        }
        if (smallest > limit)
            return limit + 1;
        unsigned *spare = before_last;
        before_last = last;
        last = row;
        row = spare;
    }
    return least(last[b_length], limit + 1);
}

static void keep(struct suggestions *suggestions, const char *name, unsigned found)
{
    size_t at = suggestions->count;

    for (size_t i = 0; i < suggestions->count; i++)
        if (!strcmp(suggestions->best[i].name, name))
            return; /* a static function may be there several times */
    while (at && suggestions->best[at - 1].distance > found)
        at--;
    if (at == MOST_SUGGESTIONS)
        return;
    char *copy = strdup(name);
    if (!copy)
        return;
    if (suggestions->count == MOST_SUGGESTIONS)
        free(suggestions->best[--suggestions->count].name);
    memmove(suggestions->best + at + 1, suggestions->best + at,
            (suggestions->count - at) * sizeof(suggestions->best[0]));
    suggestions->best[at].name = copy;
    suggestions->best[at].distance = found;
    suggestions->count++;
}

void suggest(struct suggestions *suggestions, const char *name)
{
    size_t wanted_length = strlen(suggestions->wanted), length = strlen(name);
    unsigned limit = farthest(wanted_length);

    if (wanted_length > LONGEST_NAME || length > LONGEST_NAME || length + limit < wanted_length ||
        wanted_length + limit < length)
        return;
    unsigned found = distance(suggestions->wanted, wanted_length, name, length, limit);
    if (found <= limit)
        keep(suggestions, name, found);
}

static bool has_word(const char *name, const char *word, size_t length)
{
    while (*name) {
        size_t own = strcspn(name, PARTS);
        if (own == length && !memcmp(name, word, length))
            return true;
        name += own + (name[own] != '\0');
    }
    return false;
}

void suggest_by_words(struct suggestions *suggestions, const char *name)
{
    size_t length = strlen(name), wanted_length = strlen(suggestions->wanted);

    for (const char *at = suggestions->wanted; *at;) {
        size_t own = strcspn(at, PARTS);
        if (own && !has_word(name, at, own))
            return;
        at += own + (at[own] != '\0');
    }
    /* Ranks behind all typing errors; the fewer additional letters, the better. */
    if (length <= LONGEST_NAME && wanted_length <= LONGEST_NAME)
        keep(suggestions, name,
             LONGEST_NAME + (unsigned)(length > wanted_length ? length - wanted_length : 0));
}

void suggestions_add(const struct suggestions *suggestions, struct text *text)
{
    for (size_t i = 0; i < suggestions->count; i++)
        text_format(text, "%s%s", i ? ", " : "; near: ", suggestions->best[i].name);
}

void suggestions_free(struct suggestions *suggestions)
{
    for (size_t i = 0; i < suggestions->count; i++)
        free(suggestions->best[i].name);
    suggestions->count = 0;
}
