/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "probes/pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* `*` stands for any letters, none included; everything else for itself. */
static bool glob_matches(const char *glob, const char *name)
{
    const char *star = NULL, *resume = NULL;

    while (*name) {
        if (*glob == '*') {
            star = glob++;
            resume = name;
        } else if (*glob == *name) {
            glob++;
            name++;
        } else if (star) {
            /* The last star takes one more letter. An earlier one never needs to. */
            glob = star + 1;
            name = ++resume;
        } else {
            return false;
        }
    }
    while (*glob == '*')
        glob++;
    return !*glob;
}

int matcher_make(struct matcher *matcher, const char *text, bool is_regex, struct text *error)
{
    *matcher = (struct matcher){
        .kind = is_regex ? MATCH_REGEX : strchr(text, '*') ? MATCH_GLOB : MATCH_PLAIN,
    };
    if (is_regex) {
        int wrong = regcomp(&matcher->regex, text, REG_EXTENDED | REG_NOSUB);
        if (wrong) {
            char reason[128];
            regerror(wrong, &matcher->regex, reason, sizeof(reason));
            text_format(error, "\"%s\" is not an extended regular expression: %s", text, reason);
            return -EINVAL;
        }
    }
    matcher->text = strdup(text);
    if (!matcher->text) {
        matcher_free(matcher);
        return -ENOMEM;
    }
    return 0;
}

bool matcher_matches(const struct matcher *matcher, const char *name)
{
    switch (matcher->kind) {
    case MATCH_PLAIN:
        return !strcmp(matcher->text, name);
    case MATCH_GLOB:
        return glob_matches(matcher->text, name);
    case MATCH_REGEX:
        return !regexec(&matcher->regex, name, 0, NULL, 0);
    }
    return false;
}

void matcher_free(struct matcher *matcher)
{
    if (matcher->kind == MATCH_REGEX)
        regfree(&matcher->regex);
    free(matcher->text);
    *matcher = (struct matcher){0};
}

/* The next colon that parts a pattern: in a regular expression, none within brackets ([[:alpha:]]). */
static const char *next_colon(const char *at, bool is_regex)
{
    bool bracket = false;

    for (; *at; at++) {
        if (is_regex && *at == '\\' && at[1] && !bracket) {
            at++;
        } else if (is_regex && *at == '[' && !bracket) {
            bracket = true;
            /* A bracket right at the start of a set is a letter of it. */
            at += at[1] == '^' ? 1 : 0;
            at += at[1] == ']' ? 1 : 0;
        } else if (bracket && *at == '[' && at[1] == ':') {
            const char *end = strstr(at + 2, ":]");
            at = end ? end + 1 : at;
        } else if (bracket && *at == ']') {
            bracket = false;
        } else if (*at == ':' && !bracket) {
            return at;
        }
    }
    return NULL;
}

/* "vfs_read+0x10" -> "vfs_read" and 0x10. In a regular expression a plus has its own meaning. */
static int split_offset(struct pattern *pattern, char *name, bool is_regex, struct text *error)
{
    char *plus = is_regex ? NULL : strrchr(name, '+');

    if (!plus)
        return 0;
    if (parse_number(plus + 1, 0, UINT32_MAX, &pattern->offset)) {
        text_format(error, "\"%s\": what follows the + is no offset such as 0x10", pattern->typed);
        return -EINVAL;
    }
    if (strchr(name, '*')) {
        text_format(error, "\"%s\": an offset needs one function, not a *", pattern->typed);
        return -EINVAL;
    }
    if (pattern->at_return && pattern->offset) {
        text_format(error, "\"%s\": a return has no offset", pattern->typed);
        return -EINVAL;
    }
    *plus = '\0';
    return 0;
}

static int parse_function(struct pattern *pattern, char *name, bool is_regex, struct text *error)
{
    int result = split_offset(pattern, name, is_regex, error);

    if (!result && !*name) {
        text_format(error, "\"%s\" names no function", pattern->typed);
        result = -EINVAL;
    }
    return result ? result : matcher_make(&pattern->name, name, is_regex, error);
}

static int parse_tracepoint(struct pattern *pattern, char *category, bool is_regex,
                            struct text *error)
{
    char *colon = (char *)next_colon(category, is_regex);

    pattern->kind = PATTERN_TRACEPOINT;
    if (!colon || colon == category || !colon[1]) {
        text_format(error, "\"%s\": a tracepoint is t:CATEGORY:NAME, such as t:sched:sched_switch",
                    pattern->typed);
        return -EINVAL;
    }
    *colon = '\0';
    int result = matcher_make(&pattern->category, category, is_regex, error);
    if (!result)
        result = matcher_make(&pattern->name, colon + 1, is_regex, error);
    return result;
}

static int refuse_kind(const struct pattern *pattern, const char *kind, struct text *error)
{
    text_format(error, "\"%s\": %s cannot be traced yet; kernel functions (vfs_read, r::vfs_read) "
                "and tracepoints (t:sched:sched_switch) can", pattern->typed, kind);
    return -EINVAL;
}

static int parse_parts(struct pattern *pattern, char *typed, bool is_regex, struct text *error)
{
    char *first = (char *)next_colon(typed, is_regex);

    if (!first)
        return parse_function(pattern, typed, is_regex, error);
    bool one_letter = first == typed + 1;
    char *rest = first + 1;
    if (one_letter && *typed == 't')
        return parse_tracepoint(pattern, rest, is_regex, error);
    if (one_letter && *typed == 'u')
        return refuse_kind(pattern, "a USDT probe", error);
    /* p::f and r::f are of the kernel; p:lib:f, lib:f and c:f are of a library. */
    if (one_letter && (*typed == 'p' || *typed == 'r') && *rest == ':') {
        pattern->at_return = *typed == 'r';
        return parse_function(pattern, rest + 1, is_regex, error);
    }
    return refuse_kind(pattern, "a function of a program or library", error);
}

int pattern_parse(struct pattern *pattern, const char *typed, bool is_regex, struct text *error)
{
    *pattern = (struct pattern){.typed = typed};
    char *copy = strdup(typed);
    int result = copy ? parse_parts(pattern, copy, is_regex, error) : -ENOMEM;

    free(copy);
    if (result)
        pattern_free(pattern);
    return result;
}

void pattern_free(struct pattern *pattern)
{
    matcher_free(&pattern->name);
    matcher_free(&pattern->category);
}
