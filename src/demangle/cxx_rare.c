/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Expressions that are rare in names. */
#include "demangle/cxx_expressions.h"

/* fl <operator> <pack>, fr ..., fL <operator> <first> <second>, fR ... */
uint32_t cxx_fold(struct cxx *cxx)
{
    char kind = cxx->at[1];

    cxx->at += 2;
    int row = cxx->end - cxx->at > 1 ? cxx_operator(cxx->at) : -1;
    if (row < 0 || cxx_operators[row].shape != 'b')
        return 0;
    cxx->at += 2;
    uint32_t a = cxx_expression(cxx), b = 0;
    if (!a || ((kind == 'L' || kind == 'R') && !(b = cxx_expression(cxx))))
        return 0;
    uint32_t made = cxx_with_operator(cxx, CXX_FOLD, row, a, b);
    if (made)
        cxx_at(cxx, made)->flags = (uint8_t)kind;
    return made;
}

/* nw <expression>... _ <type> (E | pi <expression>... E | il <expression>... E) */
uint32_t cxx_new(struct cxx *cxx, int row)
{
    uint32_t value = 0, places = cxx_expressions(cxx, '_'), type = places ? cxx_type(cxx) : 0;

    if (!type)
        return 0;
    if (cxx_take_two(cxx, "pi")) {
        value = cxx_expressions(cxx, 'E');
    } else if (cxx_take_two(cxx, "il")) {
        value = cxx_expressions(cxx, 'E');
        value = value ? cxx_make(cxx, CXX_BRACED, 0, value, 0) : 0;
    } else {
        return cxx_take(cxx, 'E') ? cxx_with_operator(cxx, CXX_NEW, row, places, type) : 0;
    }
    uint32_t made = value ? cxx_with_operator(cxx, CXX_NEW, row, places, type) : 0;
    if (made)
        cxx_at(cxx, made)->c = value;
    return made;
}

/* di <name> <value>, dx <index> <value>, dX <first> <last> <value> */
uint32_t cxx_designated(struct cxx *cxx, char kind)
{
    uint32_t name = kind == 'i' ? cxx_source_name(cxx) : cxx_expression(cxx), last = 0;

    if (!name || (kind == 'X' && !(last = cxx_expression(cxx))))
        return 0;
    uint32_t value = cxx_expression(cxx);
    if (!value)
        return 0;
    return cxx_make(cxx, kind == 'i' ? CXX_DESIGNATED : CXX_INDEXED, name, value, last);
}

/* so <type> <expression> [<offset>] <selector>... [p] E */
uint32_t cxx_subobject(struct cxx *cxx)
{
    uint32_t unused, type = cxx_type(cxx), of = type ? cxx_expression(cxx) : 0;

    if (!of)
        return 0;
    cxx_take(cxx, 'n');
    if (cxx_is_digit(cxx_peek(cxx)))
        cxx_number(cxx, &unused);
    while (cxx_take(cxx, '_'))
        if (cxx_is_digit(cxx_peek(cxx)))
            cxx_number(cxx, &unused);
    cxx_take(cxx, 'p');
    return cxx_take(cxx, 'E') ? cxx_make(cxx, CXX_SUBOBJECT, type, of, 0) : 0;
}

/* X <expression> [N] [R <constraint>], T <type>, Q <expression> */
static uint32_t requirement(struct cxx *cxx)
{
    char kind = cxx_peek(cxx);
    uint32_t of = 0, type = 0;
    bool is_noexcept = false;

    cxx->at++;
    if (kind == 'X') {
        of = cxx_expression(cxx);
        is_noexcept = of && cxx_take(cxx, 'N');
        if (of && cxx_take(cxx, 'R') && !(type = cxx_name(cxx, NULL)))
            return 0;
    } else if (kind == 'T') {
        of = cxx_type(cxx);
    } else if (kind == 'Q') {
        of = cxx_expression(cxx);
    }
    uint32_t made = of ? cxx_make(cxx, CXX_REQUIREMENT, of, type, 0) : 0;
    if (made) {
        cxx_at(cxx, made)->small = (uint16_t)kind;
        cxx_at(cxx, made)->flags = is_noexcept;
    }
    return made;
}

/* rq <requirement>... E, rQ <parameters> _ <requirement>... E */
uint32_t cxx_requires(struct cxx *cxx)
{
    uint32_t list = 0;

    if (cxx->at[1] == 'Q') {
        cxx->at += 2;
        if (!(list = cxx_parameters(cxx)) || !cxx_take(cxx, '_'))
            return 0;
    } else {
        cxx->at += 2;
    }
    size_t first = cxx->open.count;
    do {
        if (!cxx_push(cxx, &cxx->open, requirement(cxx)))
            return 0;
    } while (!cxx_take(cxx, 'E'));
    uint32_t requirements = cxx_list(cxx, first);
    return requirements ? cxx_make(cxx, CXX_REQUIRES, list, requirements, 0) : 0;
}

/* Template arguments up to an E: a list. */
static uint32_t arguments(struct cxx *cxx)
{
    size_t first = cxx->open.count;

    while (!cxx_take(cxx, 'E'))
        if (!cxx_push(cxx, &cxx->open, cxx_argument(cxx)))
            return 0;
    return cxx_list(cxx, first);
}

/* sP <argument>... E: their number. */
uint32_t cxx_captured_count(struct cxx *cxx)
{
    return cxx_wrap(cxx, CXX_COUNT, arguments(cxx));
}

/* u <name> <argument>... E: known to one compiler only. */
uint32_t cxx_vendor_call(struct cxx *cxx)
{
    cxx->at++;
    uint32_t name = cxx_source_name(cxx), list = name ? arguments(cxx) : 0;
    return list ? cxx_make(cxx, CXX_VENDOR_CALL, name, list, 0) : 0;
}
