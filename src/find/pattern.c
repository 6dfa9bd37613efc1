/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "find/pattern.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

#include "base/util.h"
#include "demangle/demangle.h"

/* `*` stands for any number of characters; everything else for itself. */
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
            /* The last star takes one more character. Earlier ones never need to. */
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

/*
 * What regcomp(3) takes for letters: those of ASCII, in place of musl's functions, whose tables of
 * Unicode are 13 KB.
 */
static bool is_ascii(wint_t character)
{
    return character < 128;
}

int iswalpha(wint_t character)
{
    return is_ascii(character) && isalpha((int)character);
}

int iswpunct(wint_t character)
{
    return is_ascii(character) && ispunct((int)character);
}

wint_t towlower(wint_t character)
{
    return is_ascii(character) ? (wint_t)tolower((int)character) : character;
}

wint_t towupper(wint_t character)
{
    return is_ascii(character) ? (wint_t)toupper((int)character) : character;
}

static int compile(regex_t *regex, const char *text, struct text *error)
{
    char why[128];
    const int result = regcomp(regex, text, REG_EXTENDED | REG_NOSUB);

    if (!result)
        return 0;
    if (result == REG_ESPACE)
        return -ENOMEM;
    regerror(result, regex, why, sizeof(why));
    text_format(error, "\"%s\" is not an extended regular expression: %s", text, why);
    return -EINVAL;
}

int matcher_make(struct matcher *matcher, const char *text, bool is_regex, struct text *error)
{
    *matcher = (struct matcher){.kind = strchr(text, '*') ? MATCH_GLOB : MATCH_PLAIN};
    if (is_regex) {
        int result = compile(&matcher->regex, text, error);
        if (result)
            return result;
        matcher->kind = MATCH_REGEX;
    }
    matcher->text = strdup(text);
    if (!matcher->text) {
        matcher_free(matcher);
        return -ENOMEM;
    }
    return 0;
}

/* May a * in this be part of a function's name: f(char*), A<char*>::f, A::operator*? */
static bool may_have_star(const char *name)
{
    return strpbrk(name, "(<") || strstr(name, "operator");
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

/*
 * The next colon that separates parts: in a regular expression, not one within brackets
 * ([[:alpha:]]).
 */
static const char *next_colon(const char *at, bool is_regex)
{
    bool bracket = false;

    for (; *at; at++) {
        if (is_regex && *at == '\\' && at[1] && !bracket) {
            at++;
        } else if (is_regex && *at == '[' && !bracket) {
            bracket = true;
            /* A bracket right at the start of a set belongs to it. */
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

/*
 * "A::operator+(A)", "A::operator++", "decltype ({parm#1}+{parm#2}) f": this plus is part of the
 * name.
 */
static bool is_of_name(const char *name, const char *plus)
{
    const char *const word = "operator";
    const size_t length = strlen(word);

    if (strpbrk(plus, ")>"))
        return true;
    if (plus[1] >= '0' && plus[1] <= '9')
        return false;
    if (plus > name && plus[-1] == '+')
        plus--;
    return (size_t)(plus - name) >= length && !memcmp(plus - length, word, length);
}

/* "vfs_read+0x10" -> "vfs_read" and 0x10. In a regular expression a plus has its own meaning. */
static int split_offset(struct pattern *pattern, char *name, bool is_regex, struct text *error)
{
    char *plus = is_regex ? NULL : strrchr(name, '+');

    if (!plus || is_of_name(name, plus))
        return 0;
    if (parse_number(plus + 1, 0, UINT32_MAX, &pattern->offset)) {
        text_format(error, "\"%s\": expected an offset such as 0x10 after +", pattern->typed);
        return -EINVAL;
    }
    /* Only the file can tell whether "f(char*)" is a name. */
    bool is_name = pattern->kind == PATTERN_USER_FUNCTION && may_have_star(name);
    if (strchr(name, '*') && !is_name) {
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
        text_format(error, "\"%s\" does not name a function", pattern->typed);
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

/* Before the first colon is a library, which may contain anything else. */
static int take_library(struct pattern *pattern, char *library, char *colon)
{
    *colon = '\0';
    pattern->library = strdup(library);
    return pattern->library ? 0 : -ENOMEM;
}

static int refuse_usdt(const struct pattern *pattern, struct text *error)
{
    text_format(error, "\"%s\": a USDT probe is u:LIBRARY:PROBE or u:LIBRARY:PROVIDER:PROBE, such "
                "as u:python3:gc__start", pattern->typed);
    return -EINVAL;
}

static int parse_usdt(struct pattern *pattern, char *library, bool is_regex, struct text *error)
{
    const char *provider = "*";
    char *colon = strchr(library, ':');

    pattern->kind = PATTERN_USDT;
    if (!colon || colon == library)
        return refuse_usdt(pattern, error);
    char *probe = colon + 1;
    int result = take_library(pattern, library, colon);
    colon = (char *)next_colon(probe, is_regex);
    bool has_provider = colon;
    if (has_provider) {
        *colon = '\0';
        provider = probe;
        probe = colon + 1;
    }
    if (!result && (!*provider || !*probe || next_colon(probe, is_regex)))
        result = refuse_usdt(pattern, error);
    if (!result)
        result = matcher_make(&pattern->category, provider, is_regex && has_provider, error);
    return result ? result : matcher_make(&pattern->name, probe, is_regex, error);
}

/* "0x1234": an address as the file numbers it. Also in place of a regular expression. */
static int parse_address(struct pattern *pattern, const char *name, struct text *error)
{
    pattern->is_address = true;
    int result = parse_number(name, 0, UINT64_MAX, &pattern->address);
    if (result)
        text_format(error, "\"%s\": expected an address such as 0x1234 after the last colon",
                    pattern->typed);
    return result ? -EINVAL : matcher_make(&pattern->name, name, false, error);
}

/* `colon` separates the library from the function. */
static int parse_user_function(struct pattern *pattern, char *library, char *colon, bool is_regex,
                               struct text *error)
{
    char *name = colon + 1;

    pattern->kind = PATTERN_USER_FUNCTION;
    if (colon == library || *name == ':') {
        text_format(error, "\"%s\": a user function is LIBRARY:FUNCTION or p:LIBRARY:FUNCTION, "
                    "such as c:malloc or p:/usr/bin/bash:readline", pattern->typed);
        return -EINVAL;
    }
    int result = take_library(pattern, library, colon);
    if (result)
        return result;
    if (name[0] == '0' && name[1] == 'x')
        return parse_address(pattern, name, error);
    return parse_function(pattern, name, is_regex, error);
}

static int refuse_half(const struct pattern *pattern, const char *rest, struct text *error)
{
    char kind = pattern->at_return ? 'r' : 'p';

    text_format(error, "\"%s\" does not name a library: %c::%s is a kernel function, "
                "%c:LIBRARY:%s one of a library or program", pattern->typed, kind,
                *rest ? rest : "vfs_read", kind, *rest ? rest : "malloc");
    return -EINVAL;
}

/* After p: or r: another colon separates the function from its library, or from nothing. */
static int parse_after_letter(struct pattern *pattern, char *rest, bool is_regex,
                              struct text *error)
{
    char *colon = strchr(rest, ':');

    if (!colon)
        return refuse_half(pattern, rest, error);
    /* p::f and r::f are kernel functions; p:lib:f and r:lib:f are in a library. */
    if (colon != rest)
        return parse_user_function(pattern, rest, colon, is_regex, error);
    const char *further = next_colon(rest + 1, is_regex);
    if (further && further[1] != ':') { /* it belongs to the name: p::kernel::print */
        text_format(error, "\"%s\" has too many colons: write p::vfs_read or p:c:malloc",
                    pattern->typed);
        return -EINVAL;
    }
    return parse_function(pattern, rest + 1, is_regex, error);
}

/*
 * Other tools' words: kprobe:f, uretprobe:/path:f, tracepoint:a:b, usdt:lib:probe. `colon` is the
 * first one. 1: it is none of them.
 */
static int parse_dialect(struct pattern *pattern, const char *typed, char *colon, bool is_regex,
                         struct text *error)
{
    static const struct {
        const char *word;
        char letter;
        bool of_kernel;
    } words[] = {
        {"kprobe", 'p', true}, {"kretprobe", 'r', true}, {"tracepoint", 't', false},
        {"uprobe", 'p', false}, {"uretprobe", 'r', false}, {"usdt", 'u', false},
    };
    size_t i = 0, length = (size_t)(colon - typed);

    while (i < COUNT_OF(words) &&
           (strlen(words[i].word) != length || memcmp(words[i].word, typed, length)))
        i++;
    if (i == COUNT_OF(words))
        return 1;
    if (words[i].letter == 't')
        return parse_tracepoint(pattern, colon + 1, is_regex, error);
    if (words[i].letter == 'u')
        return parse_usdt(pattern, colon + 1, is_regex, error);
    pattern->at_return = words[i].letter == 'r';
    /* With its colon the rest is like p::f. */
    return parse_after_letter(pattern, words[i].of_kernel ? colon : colon + 1, is_regex, error);
}

static int parse_parts(struct pattern *pattern, char *typed, bool is_regex, struct text *error)
{
    /*
     * A path ends at its first colon; a regular expression for the kernel may contain [[:alpha:]].
     */
    bool is_path = *typed == '/' || *typed == '.';
    char *first = is_path && strchr(typed, '/') ? strchr(typed, ':')
                                                : (char *)next_colon(typed, is_regex);

    if (!first)
        return parse_function(pattern, typed, is_regex, error);
    if (first != typed + 1) {
        int result = parse_dialect(pattern, typed, first, is_regex, error);
        if (result <= 0)
            return result;
        pattern->is_plain = true;
        return parse_user_function(pattern, typed, first, is_regex, error);
    }
    switch (*typed) {
    case 't':
        return parse_tracepoint(pattern, first + 1, is_regex, error);
    case 'u':
        return parse_usdt(pattern, first + 1, is_regex, error);
    case 'p':
    case 'r':
        pattern->at_return = *typed == 'r';
        return parse_after_letter(pattern, first + 1, is_regex, error);
    }
    pattern->is_plain = true;
    return parse_user_function(pattern, typed, first, is_regex, error);
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

int pattern_as_tracepoint(struct pattern *tracepoint, const struct pattern *pattern)
{
    const bool is_regex = pattern->name.kind == MATCH_REGEX;
    struct text error = {0};

    if (pattern->kind != PATTERN_USER_FUNCTION || !pattern->is_plain || pattern->offset ||
        pattern->is_address || strchr(pattern->library, '/'))
        return -ENOENT;
    *tracepoint = (struct pattern){.kind = PATTERN_TRACEPOINT, .typed = pattern->typed};
    int result = matcher_make(&tracepoint->category, pattern->library, false, &error);
    if (!result)
        result = matcher_make(&tracepoint->name, pattern->name.text, is_regex, &error);
    if (result)
        pattern_free(tracepoint);
    text_free(&error);
    return result;
}

void pattern_free(struct pattern *pattern)
{
    matcher_free(&pattern->name);
    matcher_free(&pattern->category);
    free(pattern->library);
    pattern->library = NULL;
}

/* ---- Functions' names ---- */

static const struct demangle_options whole = {0}, said = {.without_parameters = true};

/*
 * A piece that was split off a function runs within a call of it: it is not what the name means. It
 * has a compiler's suffix: "f() [clone .cold]", in Rust "f (.cold)".
 */
static bool is_piece(const char *name)
{
    const char *clone = strstr(name, " [clone "), *added = clone ? clone : strstr(name, " (.");

    return added && (strstr(added, ".cold") || strstr(added, ".warm") || strstr(added, ".part."));
}

/* A name that is not mangled matches in no other way. */
static int matches_readable(const struct matcher *wanted, const char *symbol, struct text *scratch)
{
    int result = demangle_symbol(symbol, &whole, scratch);

    if (!result && matcher_matches(wanted, scratch->data))
        return 1;
    if (!result && is_piece(scratch->data))
        return 0;
    if (!result)
        result = demangle_symbol(symbol, &said, scratch);
    if (result)
        return result == -ENOMEM ? result : 0;
    return matcher_matches(wanted, scratch->data);
}

int function_matches(const struct matcher *wanted, const char *symbol, struct text *scratch)
{
    return matcher_matches(wanted, symbol) ? 1 : matches_readable(wanted, symbol, scratch);
}

int function_is_typed(const struct matcher *typed, const char *symbol, struct text *scratch)
{
    const struct matcher plain = {.kind = MATCH_PLAIN, .text = typed->text};

    if (matcher_matches(&plain, symbol)) /* Go's: main.(*T).f */
        return 1;
    return may_have_star(typed->text) ? matches_readable(&plain, symbol, scratch) : 0;
}
