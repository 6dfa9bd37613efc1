/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Expressions in template arguments, decltype, noexcept, array bounds and requires clauses. */
#include <string.h>

#include "demangle/cxx.h"

/* L <type> <value> E, L _Z <encoding> E, L <lambda> E */
uint32_t cxx_literal(struct cxx *cxx)
{
    if (!cxx_take(cxx, 'L'))
        return 0;
    if (cxx_take_two(cxx, "_Z") || cxx_take(cxx, 'Z'))
        return cxx_ended(cxx, cxx_encoding(cxx));
    if (cxx_peek(cxx) == 'U' && cxx_peek_next(cxx) == 'l')
        return cxx_ended(cxx, cxx_unqualified(cxx, NULL, 0, 0));
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
    return cxx_ended(cxx, cxx_flags(cxx, literal, is_negative));
}

/*
 * The functions below are called with the two letters that begin a form behind them.
 *
 * fpT; fp <quals> [<number>] _; fL <level> p <quals> [<number>] _
 */
static uint32_t function_parameter(struct cxx *cxx, bool is_outer)
{
    uint32_t which;

    if (is_outer && (!cxx_number(cxx, &which) || !cxx_take(cxx, 'p')))
        return 0;
    if (!is_outer && cxx_take(cxx, 'T'))
        return cxx_make(cxx, CXX_ARGUMENT, 0, 0, 0);
    cxx_quals(cxx);
    return cxx_counted(cxx, &which) ? cxx_make(cxx, CXX_ARGUMENT, 0, 0, which + 1) : 0;
}

/* cv <type> <expression>, cv <type> _ <expression>... E */
static uint32_t cast(struct cxx *cxx)
{
    bool no_arguments = cxx->no_arguments;

    cxx->no_arguments = false;
    uint32_t type = cxx_type(cxx);
    cxx->no_arguments = no_arguments;
    if (!type)
        return 0;
    return cxx_pair(cxx, CXX_CAST, type, cxx_take(cxx, '_') ? cxx_until(cxx, 'E', cxx_expression)
                                                            : cxx_expression(cxx));
}

/* fl <operator> <pack>, fr ..., fL <operator> <first> <second>, fR ... */
static uint32_t fold(struct cxx *cxx, char kind)
{
    const int row = cxx->end - cxx->at > 1 ? cxx_row(cxx_operators, cxx->at) : -1;

    if (row < 0 || cxx_operators[row + CXX_ROW_LETTER] != 'b')
        return 0;
    cxx->at += 2;
    uint32_t a = cxx_expression(cxx), b = 0;
    if (!a || ((kind == 'L' || kind == 'R') && !(b = cxx_expression(cxx))))
        return 0;
    return cxx_flags(cxx, cxx_small(cxx, cxx_make(cxx, CXX_FOLD, a, b, 0), (unsigned)row), kind);
}

/* nw <expression>... _ <type> (E | pi <expression>... E | il <expression>... E) */
static uint32_t new_expression(struct cxx *cxx, unsigned row)
{
    uint32_t value = 0, places = cxx_until(cxx, '_', cxx_expression);
    uint32_t type = places ? cxx_type(cxx) : 0;

    if (!type)
        return 0;
    bool is_braced = cxx_take_two(cxx, "il");
    if (is_braced || cxx_take_two(cxx, "pi")) {
        value = cxx_until(cxx, 'E', cxx_expression);
        if (value && is_braced)
            value = cxx_make(cxx, CXX_BRACED, 0, value, 0);
        if (!value)
            return 0;
    } else if (!cxx_take(cxx, 'E')) {
        return 0;
    }
    return cxx_small(cxx, cxx_make(cxx, CXX_NEW, places, type, value), row);
}

/* di <name> <value>, dx <index> <value>, dX <first> <last> <value> */
static uint32_t designated(struct cxx *cxx, char kind)
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
static uint32_t subobject(struct cxx *cxx)
{
    uint32_t unused, type = cxx_type(cxx), of = type ? cxx_expression(cxx) : 0;

    cxx_take(cxx, 'n');
    do
        cxx_number(cxx, &unused);
    while (cxx_take(cxx, '_'));
    cxx_take(cxx, 'p');
    return cxx_ended(cxx, cxx_pair(cxx, CXX_SUBOBJECT, type, of));
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
static uint32_t requires(struct cxx *cxx, bool has_parameters)
{
    uint32_t list = 0;

    if (has_parameters && (!(list = cxx_parameters(cxx)) || !cxx_take(cxx, '_')))
        return 0;
    uint32_t requirements = cxx_peek(cxx) == 'E' ? 0 : cxx_until(cxx, 'E', requirement);
    return requirements ? cxx_make(cxx, CXX_REQUIRES, list, requirements, 0) : 0;
}

/* u <name> <argument>... E: known to one compiler only. */
static uint32_t vendor_call(struct cxx *cxx)
{
    cxx->at++;
    uint32_t name = cxx_source_name(cxx);
    return cxx_pair(cxx, CXX_VENDOR_CALL, name, name ? cxx_until(cxx, 'E', cxx_argument) : 0);
}

#define TWO(first, second) ((first) * 256 + (second))

/* Forms that are not in the operator table. */
static uint32_t special_expression(struct cxx *cxx)
{
    const char second = cxx->at[1];
    const int both = TWO(cxx->at[0], second);
    uint32_t a, b;

    if (both == TWO('d', 'n') || both == TWO('o', 'n'))
        return cxx_base_name(cxx);
    cxx->at += 2;
    switch (both) {
    case TWO('f', 'p'): return function_parameter(cxx, false);
    case TWO('f', 'L'):
        return cxx_is_digit(cxx_peek(cxx)) ? function_parameter(cxx, true) : fold(cxx, second);
    case TWO('f', 'l'):
    case TWO('f', 'r'):
    case TWO('f', 'R'): return fold(cxx, second);
    case TWO('s', 'r'): return cxx_scoped_name(cxx);
    case TWO('s', 'p'): return cxx_wrap(cxx, CXX_EXPANSION, cxx_expression(cxx), 0);
    case TWO('s', 'Z'):
        a = cxx_peek(cxx) == 'T' ? cxx_parameter(cxx)
            : cxx_peek(cxx) == 'f' ? cxx_expression(cxx) : 0;
        return cxx_wrap(cxx, CXX_COUNT, a, 0);
    case TWO('s', 'P'): /* how many were captured */
        return cxx_wrap(cxx, CXX_COUNT, cxx_until(cxx, 'E', cxx_argument), 0);
    case TWO('s', 'y'):
        a = cxx_expression(cxx);
        return cxx_pair(cxx, CXX_PACK_INDEX, a, a ? cxx_expression(cxx) : 0);
    case TWO('s', 'o'): return subobject(cxx);
    case TWO('r', 'q'):
    case TWO('r', 'Q'): return requires(cxx, second == 'Q');
    case TWO('t', 'r'): return cxx_make(cxx, CXX_UNARY, 0, 0, 0);
    case TWO('t', 'l'):
        a = cxx_type(cxx);
        return cxx_pair(cxx, CXX_BRACED, a, a ? cxx_until(cxx, 'E', cxx_expression) : 0);
    case TWO('i', 'l'):
        b = cxx_until(cxx, 'E', cxx_expression);
        return b ? cxx_make(cxx, CXX_BRACED, 0, b, 0) : 0;
    case TWO('c', 'v'): return cast(cxx);
    case TWO('d', 'i'):
    case TWO('d', 'x'):
    case TWO('d', 'X'): return designated(cxx, second);
    case TWO('m', 'c'):
        a = cxx_type(cxx);
        b = a ? cxx_expression(cxx) : 0;
        cxx_take(cxx, 'n');
        cxx_digits(cxx);
        return cxx_ended(cxx, cxx_pair(cxx, CXX_CAST, a, b));
    default: return 0;
    }
}

/* An operator from the table, which is that row, and its operands. */
static uint32_t operation(struct cxx *cxx, unsigned row)
{
    const char *operator = cxx_operators + row;
    const bool is_type = strchr("tc", operator[CXX_ROW_LETTER]);
    uint32_t a, b;

    cxx->at += 2;
    if (operator[CXX_ROW_LETTER] == 'n')
        return new_expression(cxx, row);
    bool is_prefix = operator[CXX_ROW_LETTER] == 'p' && cxx_take(cxx, '_');
    a = is_type ? cxx_type(cxx) : cxx_expression(cxx);
    switch (operator[CXX_ROW_LETTER]) {
    case 't': return cxx_wrap(cxx, CXX_OF_TYPE, a, row);
    case 'p': return cxx_flags(cxx, cxx_wrap(cxx, CXX_UNARY, a, row), !is_prefix);
    case 'u':
    case 'd': return cxx_wrap(cxx, CXX_UNARY, a, row);
    }
    if (!a)
        return 0;
    if (!strncmp(operator, "cl", 2))
        return cxx_pair(cxx, CXX_CALL, a, cxx_until(cxx, 'E', cxx_expression));
    b = cxx_expression(cxx);
    if (b && !strncmp(operator, "qu", 2)) {
        uint32_t c = cxx_expression(cxx);
        return c ? cxx_make(cxx, CXX_TERNARY, a, b, c) : 0;
    }
    return cxx_small(cxx, cxx_pair(cxx, is_type ? CXX_NAMED_CAST : CXX_BINARY, a, b), row);
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
        return vendor_call(cxx);
    if (cxx->end - cxx->at < 3)
        return 0;
    is_global = cxx_take_two(cxx, "gs");
    if (cxx->end - cxx->at < 3)
        return 0;
    row = cxx_row(cxx_operators, cxx->at);
    uint32_t made = row >= 0 ? operation(cxx, (unsigned)row)
                    : cxx_is_digit(cxx_peek(cxx)) ? cxx_base_name(cxx) : special_expression(cxx);
    return is_global ? cxx_wrap(cxx, CXX_GLOBAL, made, 0) : made;
}

uint32_t cxx_expression(struct cxx *cxx)
{
    if (!cxx_enter(cxx))
        return 0;
    uint32_t made = expression(cxx);
    cxx_leave(cxx);
    return made;
}
