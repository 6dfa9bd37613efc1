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
 * These replace musl's functions, whose Unicode tables are 13 KB: regcomp(3) takes only ASCII's
 * letters for letters.
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
    return text_refuse(error, "\"%s\" is not an extended regular expression: %s", text, why);
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

/* A pattern being parsed. */
struct parsing {
    struct pattern *pattern;
    bool is_regex;
    struct text *error;
};

/* `why` follows the pattern in quotes. */
static int refuse(const struct parsing *parsing, const char *why)
{
    return text_refuse(parsing->error, "\"%s\"%s", parsing->pattern->typed, why);
}

static char *find_colon(const struct parsing *parsing, char *at)
{
    return (char *)next_colon(at, parsing->is_regex);
}

static int make_matcher(const struct parsing *parsing, struct matcher *matcher, const char *text)
{
    return matcher_make(matcher, text, parsing->is_regex, parsing->error);
}

/* "vfs_read+0x10" -> "vfs_read" and 0x10. In a regular expression a plus has its own meaning. */
static int split_offset(const struct parsing *parsing, char *name)
{
    struct pattern *pattern = parsing->pattern;
    char *plus = parsing->is_regex ? NULL : strrchr(name, '+');

    if (!plus || is_of_name(name, plus))
        return 0;
    if (parse_number(plus + 1, 0, UINT32_MAX, &pattern->offset))
        return refuse(parsing, ": expected an offset such as 0x10 after +");
    /* Only the file can tell whether "f(char*)" is a name. */
    bool is_name = pattern->kind == PATTERN_USER_FUNCTION && may_have_star(name);
    if (strchr(name, '*') && !is_name)
        return refuse(parsing, ": an offset needs one function, not a *");
    if (pattern->at_return && pattern->offset)
        return refuse(parsing, ": a return has no offset");
    *plus = '\0';
    return 0;
}

static int parse_function(const struct parsing *parsing, char *name)
{
    int result = split_offset(parsing, name);

    if (!result && !*name)
        result = refuse(parsing, " does not name a function");
    return result ? result : make_matcher(parsing, &parsing->pattern->name, name);
}

static int parse_tracepoint(const struct parsing *parsing, char *category)
{
    struct pattern *pattern = parsing->pattern;
    char *colon = find_colon(parsing, category);

    pattern->kind = PATTERN_TRACEPOINT;
    if (!colon || colon == category || !colon[1])
        return refuse(parsing, ": a tracepoint is t:CATEGORY:NAME, such as t:sched:sched_switch");
    *colon = '\0';
    int result = make_matcher(parsing, &pattern->category, category);
    return result ? result : make_matcher(parsing, &pattern->name, colon + 1);
}

/* The library ends at the first colon, and may contain any other character. */
static int take_library(struct pattern *pattern, char *library, char *colon)
{
    *colon = '\0';
    pattern->library = strdup(library);
    return pattern->library ? 0 : -ENOMEM;
}

static int parse_usdt(const struct parsing *parsing, char *library)
{
    static const char form[] = ": a USDT probe is u:LIBRARY:PROBE or u:LIBRARY:PROVIDER:PROBE, "
                               "such as u:python3:gc__start";
    struct pattern *pattern = parsing->pattern;
    const char *provider = "*";
    char *colon = strchr(library, ':');

    pattern->kind = PATTERN_USDT;
    if (!colon || colon == library)
        return refuse(parsing, form);
    char *probe = colon + 1;
    int result = take_library(pattern, library, colon);
    colon = find_colon(parsing, probe);
    if (colon) {
        *colon = '\0';
        provider = probe;
        probe = colon + 1;
    }
    if (!result && (!*provider || !*probe || find_colon(parsing, probe)))
        result = refuse(parsing, form);
    if (!result)
        result = matcher_make(&pattern->category, provider, parsing->is_regex && colon,
                              parsing->error);
    return result ? result : make_matcher(parsing, &pattern->name, probe);
}

/* "0x1234": an address as the file numbers it. Also in place of a regular expression. */
static int parse_address(const struct parsing *parsing, const char *name)
{
    struct pattern *pattern = parsing->pattern;

    pattern->is_address = true;
    if (parse_number(name, 0, UINT64_MAX, &pattern->address))
        return refuse(parsing, ": expected an address such as 0x1234 after the last colon");
    return matcher_make(&pattern->name, name, false, parsing->error);
}

/* `colon` separates the library from the function. */
static int parse_user_function(const struct parsing *parsing, char *library, char *colon)
{
    char *name = colon + 1;

    parsing->pattern->kind = PATTERN_USER_FUNCTION;
    if (colon == library || *name == ':')
        return refuse(parsing, ": a user function is LIBRARY:FUNCTION or p:LIBRARY:FUNCTION, "
                               "such as c:malloc or p:/usr/bin/bash:readline");
    int result = take_library(parsing->pattern, library, colon);
    if (result)
        return result;
    return name[0] == '0' && name[1] == 'x' ? parse_address(parsing, name)
                                            : parse_function(parsing, name);
}

static int refuse_half(const struct parsing *parsing, const char *rest)
{
    char kind = parsing->pattern->at_return ? 'r' : 'p';

    return text_refuse(parsing->error, "\"%s\" does not name a library: %c::%s is a kernel "
                       "function, %c:LIBRARY:%s one of a library or program",
                       parsing->pattern->typed, kind, *rest ? rest : "vfs_read", kind,
                       *rest ? rest : "malloc");
}

/* After p: or r: another colon separates the function from its library, or from nothing. */
static int parse_after_letter(const struct parsing *parsing, char *rest)
{
    char *colon = strchr(rest, ':');

    if (!colon)
        return refuse_half(parsing, rest);
    /* p::f and r::f are kernel functions; p:lib:f and r:lib:f are in a library. */
    if (colon != rest)
        return parse_user_function(parsing, rest, colon);
    const char *further = find_colon(parsing, rest + 1);
    if (further && further[1] != ':') /* it belongs to the name: p::kernel::print */
        return refuse(parsing, " has too many colons: write p::vfs_read or p:c:malloc");
    return parse_function(parsing, rest + 1);
}

/* Parses the rest as the letter says. */
static int parse_kind(const struct parsing *parsing, char letter, char *rest)
{
    if (letter == 't')
        return parse_tracepoint(parsing, rest);
    if (letter == 'u')
        return parse_usdt(parsing, rest);
    parsing->pattern->at_return = letter == 'r';
    return parse_after_letter(parsing, rest);
}

/*
 * Other tools' words: kprobe:f, uretprobe:/path:f, tracepoint:a:b, usdt:lib:probe. `colon` is the
 * first one. 1: it is none of them.
 */
static int parse_dialect(const struct parsing *parsing, const char *typed, char *colon)
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
    /* For kernel functions the rest keeps its colon, and parses like p::f. */
    return parse_kind(parsing, words[i].letter, words[i].of_kernel ? colon : colon + 1);
}

static int parse_parts(const struct parsing *parsing, char *typed)
{
    /*
     * A path ends at its first colon; a regular expression for the kernel may contain [[:alpha:]].
     */
    bool is_path = *typed == '/' || *typed == '.';
    char *first = is_path && strchr(typed, '/') ? strchr(typed, ':') : find_colon(parsing, typed);

    if (!first)
        return parse_function(parsing, typed);
    int result = first != typed + 1      ? parse_dialect(parsing, typed, first)
                 : strchr("tupr", *typed) ? parse_kind(parsing, *typed, first + 1) : 1;
    if (result <= 0)
        return result;
    parsing->pattern->is_plain = true;
    return parse_user_function(parsing, typed, first);
}

int pattern_parse(struct pattern *pattern, const char *typed, bool is_regex, struct text *error)
{
    const struct parsing parsing = {pattern, is_regex, error};

    *pattern = (struct pattern){.typed = typed};
    char *copy = strdup(typed);
    int result = copy ? parse_parts(&parsing, copy) : -ENOMEM;

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

bool pattern_is_call(const struct pattern *pattern)
{
    return pattern->kind == PATTERN_KERNEL_FUNCTION && pattern->name.kind == MATCH_PLAIN &&
           starts_with(pattern->name.text, "sys_");
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
 * A part that the compiler split off a function runs within a call of it, so the name does not mean
 * it. It has a compiler's suffix: "f() [clone .cold]", in Rust "f (.cold)".
 */
static bool is_piece(const char *name)
{
    const char *clone = strstr(name, " [clone "), *added = clone ? clone : strstr(name, " (.");

    return added && (strstr(added, ".cold") || strstr(added, ".warm") || strstr(added, ".part."));
}

/* By the readable name: only mangled names have one. */
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
