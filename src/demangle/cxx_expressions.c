/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Expressions in template arguments, decltype, noexcept, array bounds and requires clauses. */
#include <string.h>

#include "demangle/cxx.h"

static uint32_t cxx_fold(struct cxx *cxx);
static uint32_t cxx_new(struct cxx *cxx, int row);
static uint32_t cxx_designated(struct cxx *cxx, char kind);
static uint32_t cxx_subobject(struct cxx *cxx);
static uint32_t cxx_requires(struct cxx *cxx);
static uint32_t cxx_captured_count(struct cxx *cxx);
static uint32_t cxx_vendor_call(struct cxx *cxx);

/* A list of expressions, up to an E or '_'. */
static uint32_t cxx_expressions(struct cxx *cxx, char ending)
{
    size_t first = cxx->open.count;

    while (!cxx_take(cxx, ending))
        if (!cxx_push(cxx, &cxx->open, cxx_expression(cxx)))
            return 0;
    return cxx_list(cxx, first);
}

/* L <type> <value> E, L _Z <encoding> E, L <lambda> E */
uint32_t cxx_literal(struct cxx *cxx)
{
    if (!cxx_take(cxx, 'L'))
        return 0;
    if (cxx_take_two(cxx, "_Z") || cxx_take(cxx, 'Z')) {
        uint32_t encoding = cxx_encoding(cxx);
        return encoding && cxx_take(cxx, 'E') ? encoding : 0;
    }
    if (cxx_peek(cxx) == 'U' && cxx_peek_next(cxx) == 'l') {
        uint32_t lambda = cxx_unqualified(cxx, NULL, 0, 0);
        return lambda && cxx_take(cxx, 'E') ? lambda : 0;
    }
    uint32_t type = cxx_type(cxx);
    if (!type)
        return 0;
    const struct cxx_node *node = cxx_at(cxx, type);
    if (cxx_take(cxx, 'E')) {
        if (node->kind == CXX_ARRAY)
            return cxx_make(cxx, CXX_TEXT_LITERAL, type, 0, 0);
        /* Only nullptr has no value after its type. */
        return node->kind == CXX_BUILTIN && node->small == cxx_builtin_d('n') ? type : 0;
    }
    /* A float has its bytes in hexadecimal, a complex one twice. */
    bool is_complex = node->kind == CXX_SUFFIXED;
    bool is_float = is_complex || node->kind == CXX_FLOAT ||
                    (node->kind == CXX_BUILTIN && cxx_builtins[node->small].literal == 'f');
    bool is_negative = cxx_take(cxx, 'n');
    const char *first = cxx->at;
    while (cxx->at < cxx->end &&
           (cxx_is_digit(*cxx->at) || (is_float && *cxx->at >= 'a' && *cxx->at <= 'f') ||
            (is_complex && *cxx->at == '_')))
        cxx->at++;
    uint32_t literal = cxx->at == first
                           ? 0
                           : cxx_make(cxx, CXX_LITERAL, type, (uint32_t)(first - cxx->name),
                                      (uint32_t)(cxx->at - first));
    return cxx_take(cxx, 'E') ? cxx_flags(cxx, literal, is_negative) : 0;
}

/* fpT; fp <quals> [<number>] _; fL <level> p <quals> [<number>] _ */
static uint32_t function_parameter(struct cxx *cxx)
{
    uint32_t which;

    if (cxx->at[1] == 'L') {
        cxx->at += 2;
        if (!cxx_number(cxx, &which) || !cxx_take(cxx, 'p'))
            return 0;
    } else {
        cxx->at += 2;
        if (cxx_take(cxx, 'T'))
            return cxx_make(cxx, CXX_ARGUMENT, 0, 0, 0);
    }
    cxx_quals(cxx);
    return cxx_counted(cxx, &which) ? cxx_make(cxx, CXX_ARGUMENT, 0, 0, which + 1) : 0;
}

/* cv <type> <expression>, cv <type> _ <expression>... E */
static uint32_t cast(struct cxx *cxx)
{
    bool no_arguments = cxx->no_arguments;

    cxx->at += 2;
    cxx->no_arguments = false;
    uint32_t value, type = cxx_type(cxx);
    cxx->no_arguments = no_arguments;
    if (!type)
        return 0;
    value = cxx_take(cxx, '_') ? cxx_expressions(cxx, 'E') : cxx_expression(cxx);
    return value ? cxx_make(cxx, CXX_CAST, type, value, 0) : 0;
}

static bool comes(const struct cxx *cxx, const char *two)
{
    return cxx->at[0] == two[0] && cxx->at[1] == two[1];
}

/* Forms that begin with s and are not operators. */
static uint32_t s_expression(struct cxx *cxx)
{
    uint32_t a, b;

    switch (cxx->at[1]) {
    case 'r': return cxx_scoped_name(cxx);
    case 'p':
        cxx->at += 2;
        return cxx_wrap(cxx, CXX_EXPANSION, cxx_expression(cxx));
    case 'Z':
        cxx->at += 2;
        if (cxx_peek(cxx) == 'T')
            return cxx_wrap(cxx, CXX_COUNT, cxx_parameter(cxx));
        return cxx_peek(cxx) == 'f' ? cxx_wrap(cxx, CXX_COUNT, cxx_expression(cxx)) : 0;
    case 'P': /* how many were captured */
        cxx->at += 2;
        return cxx_captured_count(cxx);
    case 'y':
        cxx->at += 2;
        a = cxx_peek(cxx) == 'T' ? cxx_parameter(cxx) : cxx_expression(cxx);
        b = a ? cxx_expression(cxx) : 0;
        return b ? cxx_make(cxx, CXX_PACK_INDEX, a, b, 0) : 0;
    case 'o':
        cxx->at += 2;
        return cxx_subobject(cxx);
    default: return 0;
    }
}

/* Forms that are not in the operator table. */
static uint32_t special_expression(struct cxx *cxx)
{
    uint32_t type = 0, list;

    switch (cxx->at[0]) {
    case 'f':
        return comes(cxx, "fp") || (comes(cxx, "fL") && cxx_is_digit(cxx->at[2]))
                   ? function_parameter(cxx)
                   : strchr("lrLR", cxx->at[1]) ? cxx_fold(cxx) : 0;
    case 's': return s_expression(cxx);
    case 'r': return comes(cxx, "rq") || comes(cxx, "rQ") ? cxx_requires(cxx) : 0;
    case 't':
        if (cxx_take_two(cxx, "tr"))
            return cxx_make(cxx, CXX_UNARY, 0, 0, 0);
        if (!cxx_take_two(cxx, "tl") || !(type = cxx_type(cxx)))
            return 0;
        list = cxx_expressions(cxx, 'E');
        return list ? cxx_make(cxx, CXX_BRACED, type, list, 0) : 0;
    case 'i':
        if (!cxx_take_two(cxx, "il"))
            return 0;
        list = cxx_expressions(cxx, 'E');
        return list ? cxx_make(cxx, CXX_BRACED, 0, list, 0) : 0;
    case 'c': return comes(cxx, "cv") ? cast(cxx) : 0;
    case 'd':
        if (comes(cxx, "dn"))
            return cxx_base_name(cxx);
        if (!comes(cxx, "di") && !comes(cxx, "dx") && !comes(cxx, "dX"))
            return 0;
        cxx->at += 2;
        return cxx_designated(cxx, cxx->at[-1]);
    case 'm':
        if (!cxx_take_two(cxx, "mc") || !(type = cxx_type(cxx)))
            return 0;
        list = cxx_expression(cxx);
        cxx_take(cxx, 'n');
        cxx_digits(cxx);
        return list && cxx_take(cxx, 'E') ? cxx_make(cxx, CXX_CAST, type, list, 0) : 0;
    case 'o': return comes(cxx, "on") ? cxx_base_name(cxx) : 0;
    default: return 0;
    }
}

/* An operator from the table, and its operands. */
static uint32_t operation(struct cxx *cxx, int row)
{
    uint32_t a, b, c;
    bool is_prefix;

    cxx->at += 2;
    switch (cxx_operators[row].shape) {
    case 'n': return cxx_new(cxx, row);
    case 't':
        a = cxx_type(cxx);
        return cxx_small(cxx, cxx_wrap(cxx, CXX_OF_TYPE, a), row);
    case 'p':
        is_prefix = cxx_take(cxx, '_');
        a = cxx_expression(cxx);
        return cxx_flags(cxx, cxx_small(cxx, cxx_wrap(cxx, CXX_UNARY, a), row), !is_prefix);
    case 'u':
    case 'd':
        a = cxx_expression(cxx);
        return cxx_small(cxx, cxx_wrap(cxx, CXX_UNARY, a), row);
    case 'c':
        a = cxx_type(cxx);
        b = a ? cxx_expression(cxx) : 0;
        return b ? cxx_small(cxx, cxx_make(cxx, CXX_NAMED_CAST, a, b, 0), row) : 0;
    default:
        break;
    }
    if (!(a = cxx_expression(cxx)))
        return 0;
    if (!strcmp(cxx_operators[row].code, "cl")) {
        b = cxx_expressions(cxx, 'E');
        return b ? cxx_make(cxx, CXX_CALL, a, b, 0) : 0;
    }
    b = cxx_expression(cxx);
    if (!b || strcmp(cxx_operators[row].code, "qu"))
        return b ? cxx_small(cxx, cxx_make(cxx, CXX_BINARY, a, b, 0), row) : 0;
    c = cxx_expression(cxx);
    return c ? cxx_make(cxx, CXX_TERNARY, a, b, c) : 0;
}

static uint32_t expression(struct cxx *cxx)
{
    char first = cxx_peek(cxx);
    bool is_global;
    int row;

    if (first == 'L')
        return cxx_literal(cxx);
    if (first == 'T')
        return cxx_parameter(cxx);
    if (cxx_is_digit(first))
        return cxx_base_name(cxx);
    if (first == 'u')
        return cxx_vendor_call(cxx);
    if (cxx->end - cxx->at < 3)
        return 0;
    is_global = cxx_take_two(cxx, "gs");
    if (cxx->end - cxx->at < 3)
        return 0;
    row = cxx_operator(cxx->at);
    uint32_t made = row >= 0 ? operation(cxx, row)
                    : cxx_is_digit(cxx_peek(cxx)) ? cxx_base_name(cxx) : special_expression(cxx);
    return is_global ? cxx_wrap(cxx, CXX_GLOBAL, made) : made;
}

uint32_t cxx_expression(struct cxx *cxx)
{
    if (!cxx_enter(cxx))
        return 0;
    uint32_t made = expression(cxx);
    cxx_leave(cxx);
    return made;
}

/* Expressions that are rare in names. */

/* fl <operator> <pack>, fr ..., fL <operator> <first> <second>, fR ... */
static uint32_t cxx_fold(struct cxx *cxx)
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
    return cxx_flags(cxx, cxx_small(cxx, cxx_make(cxx, CXX_FOLD, a, b, 0), row), kind);
}

/* After the operator, which is that row. */
/* nw <expression>... _ <type> (E | pi <expression>... E | il <expression>... E) */
static uint32_t cxx_new(struct cxx *cxx, int row)
{
    uint32_t value = 0, places = cxx_expressions(cxx, '_'), type = places ? cxx_type(cxx) : 0;

    if (!type)
        return 0;
    bool is_braced = cxx_take_two(cxx, "il");
    if (is_braced || cxx_take_two(cxx, "pi")) {
        value = cxx_expressions(cxx, 'E');
        if (value && is_braced)
            value = cxx_make(cxx, CXX_BRACED, 0, value, 0);
        if (!value)
            return 0;
    } else if (!cxx_take(cxx, 'E')) {
        return 0;
    }
    return cxx_small(cxx, cxx_make(cxx, CXX_NEW, places, type, value), row);
}

/* After di, dx or dX. */
/* di <name> <value>, dx <index> <value>, dX <first> <last> <value> */
static uint32_t cxx_designated(struct cxx *cxx, char kind)
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
static uint32_t cxx_subobject(struct cxx *cxx)
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
    return cxx_flags(cxx, cxx_small(cxx, made, (unsigned char)kind), is_noexcept);
}

/* rq <requirement>... E, rQ <parameters> _ <requirement>... E */
static uint32_t cxx_requires(struct cxx *cxx)
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
static uint32_t cxx_captured_count(struct cxx *cxx)
{
    return cxx_wrap(cxx, CXX_COUNT, arguments(cxx));
}

/* u <name> <argument>... E: known to one compiler only. */
static uint32_t cxx_vendor_call(struct cxx *cxx)
{
    cxx->at++;
    uint32_t name = cxx_source_name(cxx), list = name ? arguments(cxx) : 0;
    return list ? cxx_make(cxx, CXX_VENDOR_CALL, name, list, 0) : 0;
}
