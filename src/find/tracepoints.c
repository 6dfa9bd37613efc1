/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "find/tracepoints.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/near.h"
#include "base/text.h"
#include "kernel/tracefs.h"

struct search {
    int tracefs;
    const struct pattern *pattern;
    struct places *places;
    size_t matched;
};

static int add_event(struct search *search, const char *category, const char *name)
{
    struct text full = {0};
    struct place place = {.kind = PLACE_TRACEPOINT};
    int result = tracefs_event_id(search->tracefs, category, name, &place.id);

    if (result) /* not an event that can be opened, such as ftrace's own */
        return result == -ENOENT || result == -EINVAL || result == -ENOTDIR ? 0 : result;
    text_format(&full, "%s:%s", category, name);
    place.name = full.data;
    /* The id identifies a tracepoint as an address does a function. */
    place.address = place.id;
    result = full.failed ? -ENOMEM : places_add(search->places, &place);
    text_free(&full);
    search->matched++;
    return result;
}

static bool category_matches(void *context, const char *category)
{
    struct search *search = context;

    return matcher_matches(&search->pattern->category, category);
}

static int add_if_matched(void *context, const char *category, const char *name)
{
    struct search *search = context;

    if (!matcher_matches(&search->pattern->name, name))
        return 0;
    return add_event(search, category, name);
}

static int offer_near(void *context, const char *category, const char *name)
{
    struct text full = {0};

    text_format(&full, "t:%s:%s", category, name);
    if (!full.failed) {
        near_offer(context, full.data);
        near_offer_words(context, full.data);
    }
    text_free(&full);
    return 0;
}

int tracepoints_find(int tracefs, const struct pattern *pattern, struct places *places,
                     size_t *matched, struct text *near_names)
{
    struct search search = {tracefs, pattern, places, 0};
    int result;

    bool plain = pattern->category.kind == MATCH_PLAIN && pattern->name.kind == MATCH_PLAIN;
    if (plain)
        result = add_event(&search, pattern->category.text, pattern->name.text);
    else
        result = tracefs_each_event(tracefs, category_matches, add_if_matched, &search);
    if (!result && plain && !search.matched) {
        struct text wanted = {0};
        text_format(&wanted, "t:%s:%s", pattern->category.text, pattern->name.text);
        struct near near = {.wanted = wanted.data};
        result = wanted.failed ? -ENOMEM : tracefs_each_event(tracefs, NULL, offer_near, &near);
        near_add_to(&near, near_names);
        near_free(&near);
        text_free(&wanted);
    }
    *matched = search.matched;
    return result;
}
