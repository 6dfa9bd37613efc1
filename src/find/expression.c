/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "find/expression.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "find/expression_steps.h"

#define MOST_STEPS 4096
#define MOST_TIMES 255
#define MOST_NESTED 64

struct parser {
    struct expression *expression;
    const char *at;
    const char **why;
    unsigned nested;
};

static int refuse(const struct parser *parser, const char *why)
{
    *parser->why = why;
    return -EINVAL;
}

/* Inserts that many steps at this index: what is there moves on. */
static int make_room(const struct parser *parser, size_t at, size_t count)
{
    struct expression *expression = parser->expression;

    if (expression->count + count > MOST_STEPS)
        return refuse(parser, "it is too long");
    int result = array_reserve(&expression->steps, &expression->room, expression->count + count,
                               sizeof(*expression->steps));
    if (result)
        return result;
    struct expression_step *place = expression->steps + at;
    memmove(place + count, place, (expression->count - at) * sizeof(*place));
    memset(place, 0, count * sizeof(*place));
    expression->count += count;
    return 0;
}

static int insert(const struct parser *parser, size_t at, struct expression_step step)
{
    int result = make_room(parser, at, 1);

    if (!result)
        parser->expression->steps[at] = step;
    return result;
}

static int insert_either(const struct parser *parser, size_t at, size_t to, size_t or_to)
{
    return insert(parser, at, (struct expression_step){
        .kind = STEP_EITHER,
        .to = (int16_t)(to - at),
        .or_to = (int16_t)(or_to - at),
    });
}

static int add(const struct parser *parser, struct expression_step step)
{
    return insert(parser, parser->expression->count, step);
}

static void set_add(struct expression_step *step, unsigned char byte)
{
    step->set[byte / 32] |= 1u << byte % 32;
}

static void set_turn(struct expression_step *step)
{
    for (size_t i = 0; i < COUNT_OF(step->set); i++)
        step->set[i] = ~step->set[i];
}

static void set_add_kind(struct expression_step *step, int (*is_of)(int))
{
    for (int byte = 0; byte < 128; byte++)
        if (is_of(byte))
            set_add(step, (unsigned char)byte);
}

/* [:alpha:], after its first two characters. */
static int add_class(struct parser *parser, struct expression_step *step)
{
    static const struct {
        const char *name;
        int (*is_of)(int);
    } classes[] = {
        {"alnum:]", isalnum}, {"alpha:]", isalpha}, {"blank:]", isblank}, {"cntrl:]", iscntrl},
        {"digit:]", isdigit}, {"graph:]", isgraph}, {"lower:]", islower}, {"print:]", isprint},
        {"punct:]", ispunct}, {"space:]", isspace}, {"upper:]", isupper}, {"xdigit:]", isxdigit},
    };

    for (size_t i = 0; i < COUNT_OF(classes); i++) {
        const size_t length = strlen(classes[i].name);
        if (strncmp(parser->at, classes[i].name, length))
            continue;
        set_add_kind(step, classes[i].is_of);
        parser->at += length;
        return 0;
    }
    return refuse(parser, "there is no such class between [: and :]");
}

/* A character of a set, or a range: a-z. */
static int add_range(struct parser *parser, struct expression_step *step)
{
    const unsigned char first = (unsigned char)*parser->at++;
    unsigned char last = first;

    if (parser->at[0] == '-' && parser->at[1] && parser->at[1] != ']') {
        last = (unsigned char)parser->at[1];
        parser->at += 2;
    }
    if (last < first)
        return refuse(parser, "a range within [] ends before it begins");
    for (unsigned byte = first; byte <= last; byte++)
        set_add(step, (unsigned char)byte);
    return 0;
}

/* After the [. */
static int parse_set(struct parser *parser)
{
    struct expression_step step = {.kind = STEP_BYTE};
    const bool turned = *parser->at == '^';
    int result = 0;

    parser->at += turned;
    for (bool first = true; !result && (first || *parser->at != ']'); first = false) {
        if (!*parser->at)
            return refuse(parser, "a [ has no ]");
        if (parser->at[0] == '[' && strchr(".=", parser->at[1]) && parser->at[1])
            return refuse(parser, "[. and [= are not supported");
        if (parser->at[0] == '[' && parser->at[1] == ':') {
            parser->at += 2;
            result = add_class(parser, &step);
        } else {
            result = add_range(parser, &step);
        }
    }
    parser->at++;
    if (turned)
        set_turn(&step);
    return result ? result : add(parser, step);
}

static int add_edge(const struct parser *parser, enum edge edge)
{
    return add(parser, (struct expression_step){.kind = STEP_EDGE, .edge = edge});
}

static int add_byte(const struct parser *parser, char byte)
{
    struct expression_step step = {.kind = STEP_BYTE};

    set_add(&step, (unsigned char)byte);
    return add(parser, step);
}

/* After the backslash. */
static int parse_escape(struct parser *parser)
{
    struct expression_step step = {.kind = STEP_BYTE};
    const char letter = *parser->at;

    if (!letter)
        return refuse(parser, "nothing follows its last \\");
    parser->at++;
    switch (letter) {
    case '<': return add_edge(parser, EDGE_WORD_START);
    case '>': return add_edge(parser, EDGE_WORD_END);
    case 'b': return add_edge(parser, EDGE_WORD);
    case 'B': return add_edge(parser, EDGE_NO_WORD);
    }
    switch (tolower((unsigned char)letter)) {
    case 'w': set_add_kind(&step, is_word); break;
    case 'd': set_add_kind(&step, isdigit); break;
    case 's': set_add_kind(&step, isspace); break;
    default:
        if (isalnum((unsigned char)letter))
            return refuse(parser, "\\ precedes a letter or digit without a meaning");
        return add_byte(parser, letter);
    }
    if (isupper((unsigned char)letter))
        set_turn(&step);
    return add(parser, step);
}

static int parse_ways(struct parser *parser);

/* After the (. */
static int parse_group(struct parser *parser)
{
    if (++parser->nested > MOST_NESTED)
        return refuse(parser, "its ( are nested too deeply");
    int result = parse_ways(parser);
    parser->nested--;
    if (!result && *parser->at++ != ')')
        return refuse(parser, "a ( has no )");
    return result;
}

static int parse_atom(struct parser *parser)
{
    struct expression_step any = {.kind = STEP_BYTE};
    const char letter = *parser->at++;

    switch (letter) {
    case '(': return parse_group(parser);
    case '[': return parse_set(parser);
    case '\\': return parse_escape(parser);
    case '^': return add_edge(parser, EDGE_START);
    case '$': return add_edge(parser, EDGE_END);
    case '*': case '+': case '?': case '{':
        return refuse(parser, "nothing to repeat");
    case '.':
        set_turn(&any);
        return add(parser, any);
    }
    return add_byte(parser, letter);
}

/* Repeats what is from `from` on after it; may be done any number of times. */
static int copy(const struct parser *parser, size_t from, size_t length)
{
    const size_t end = parser->expression->count;
    int result = length ? make_room(parser, end, length) : 0;

    if (!result && length) /* there may be no steps at all */
        memcpy(parser->expression->steps + end, parser->expression->steps + from,
               length * sizeof(*parser->expression->steps));
    return result;
}

static int make_optional(const struct parser *parser, size_t from)
{
    return insert_either(parser, from, from + 1, parser->expression->count + 1);
}

/* a* is (a+)?, and a+ may go back. */
static int make_endless(const struct parser *parser, size_t from)
{
    return insert_either(parser, parser->expression->count, from, parser->expression->count + 1);
}

/* Repeats what is from `from` on, `least` to `most` times; MOST_TIMES + 1: no limit. */
static int repeat(const struct parser *parser, size_t from, unsigned least, unsigned most)
{
    struct expression *expression = parser->expression;
    const size_t length = expression->count - from;
    size_t last = from;
    int result = 0;

    if (!most)
        expression->count = from;
    for (unsigned i = 1; i < most && !result && (i < least || most <= MOST_TIMES); i++) {
        last = expression->count;
        result = copy(parser, from, length);
        if (!result && i >= least)
            result = make_optional(parser, last);
    }
    if (!result && most > MOST_TIMES)
        result = make_endless(parser, last);
    return !result && !least && most ? make_optional(parser, from) : result;
}

static bool read_times(struct parser *parser, unsigned *number)
{
    if (!isdigit((unsigned char)*parser->at))
        return false;
    for (*number = 0; isdigit((unsigned char)*parser->at) && *number <= MOST_TIMES; parser->at++)
        *number = *number * 10 + (unsigned)(*parser->at - '0');
    return true;
}

/* {2}, {2,}, {2,5}, {,5} */
static int parse_times(struct parser *parser, unsigned *least, unsigned *most)
{
    const bool begins = read_times(parser, least);

    *most = *least;
    if (*parser->at == ',') {
        parser->at++;
        if (!read_times(parser, most) && begins)
            *most = MOST_TIMES + 1;
        else if (*most > MOST_TIMES)
            return refuse(parser, "a number between { and } is above 255");
    } else if (!begins) {
        return refuse(parser, "no numbers between { and }");
    }
    if (*parser->at++ != '}')
        return refuse(parser, "no numbers between { and }");
    if (*least > MOST_TIMES)
        return refuse(parser, "a number between { and } is above 255");
    return *most < *least ? refuse(parser, "the second number between { and } is smaller") : 0;
}

static int parse_piece(struct parser *parser)
{
    const size_t from = parser->expression->count;
    int result = parse_atom(parser);

    while (!result && *parser->at && strchr("*+?{", *parser->at)) {
        const char letter = *parser->at++;
        unsigned least = letter == '+', most = letter == '?' ? 1 : MOST_TIMES + 1;
        if (letter == '{')
            result = parse_times(parser, &least, &most);
        if (!result)
            result = repeat(parser, from, least, most);
    }
    return result;
}

static int parse_ways(struct parser *parser)
{
    const size_t from = parser->expression->count;
    int result = 0;

    while (!result && *parser->at && !strchr("|)", *parser->at))
        result = parse_piece(parser);
    if (result || *parser->at != '|')
        return result;
    /* from: either this one and on to the end, or what follows */
    result = insert_either(parser, from, from + 1, parser->expression->count + 2);
    const size_t go = parser->expression->count;
    if (!result)
        result = add(parser, (struct expression_step){.kind = STEP_GO});
    parser->at++;
    if (!result)
        result = parse_ways(parser);
    if (!result)
        parser->expression->steps[go].to = (int16_t)(parser->expression->count - go);
    return result;
}

int expression_make(struct expression *expression, const char *text, const char **why)
{
    struct parser parser = {.expression = expression, .at = text, .why = why};

    *expression = (struct expression){.steps = NULL};
    int result = parse_ways(&parser);
    if (!result && *parser.at)
        result = refuse(&parser, "a ) has no (");
    if (!result)
        result = add(&parser, (struct expression_step){.kind = STEP_DONE});
    if (result)
        return result;
    /* Three lists of steps, and for each step whether it is in one. */
    expression->scratch = malloc(4 * expression->count * sizeof(*expression->scratch));
    return expression->scratch ? 0 : -ENOMEM;
}

void expression_free(struct expression *expression)
{
    free(expression->steps);
    free(expression->scratch);
    *expression = (struct expression){.steps = NULL};
}
