/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <string.h>

#include "demangle/cxx_nodes.h"

unsigned cxx_quals(struct cxx *cxx)
{
    unsigned quals = 0;

    if (cxx_take(cxx, 'r'))
        quals |= CXX_RESTRICT;
    if (cxx_take(cxx, 'V'))
        quals |= CXX_VOLATILE;
    if (cxx_take(cxx, 'K'))
        quals |= CXX_CONST;
    return quals;
}

/*
 * A pointer, a reference or a qualified type. Most are plain: no part of them can follow what they
 * declare, and they do not merge with what they are of; then printing need not check.
 */
static uint32_t around(struct cxx *cxx, enum cxx_kind kind, uint32_t of, unsigned flags)
{
    uint32_t type = cxx_wrap(cxx, kind, of);

    if (!type)
        return 0;
    const struct cxx_node *inner = cxx_at(cxx, of);
    struct cxx_node *node = cxx_at(cxx, type);
    node->flags = (uint8_t)flags;
    node->small = inner->kind < CXX_PARAMETER || (inner->kind >= CXX_POINTER &&
                  inner->kind <= CXX_QUALS && inner->kind != kind && inner->small);
    return type;
}

uint32_t cxx_parameters(struct cxx *cxx)
{
    size_t first = cxx->open.count;

    if (cxx_take(cxx, 'v'))
        return cxx_list(cxx, first);
    do {
        if (!cxx_push(cxx, &cxx->open, cxx_type(cxx)))
            return 0;
    } while (cxx->at < cxx->end && !strchr("E.Q_", *cxx->at) &&
             !((*cxx->at == 'R' || *cxx->at == 'O') && cxx_peek_next(cxx) == 'E'));
    return cxx_list(cxx, first);
}

uint32_t cxx_decltype(struct cxx *cxx)
{
    cxx->at += 2;
    uint32_t expression = cxx_expression(cxx);
    return expression && cxx_take(cxx, 'E') ? cxx_make(cxx, CXX_DECLTYPE, expression, 0, 0) : 0;
}

static uint32_t throw_types(struct cxx *cxx)
{
    size_t first = cxx->open.count;

    do {
        if (!cxx_push(cxx, &cxx->open, cxx_type(cxx)))
            return 0;
    } while (!cxx_take(cxx, 'E'));
    return cxx_wrap(cxx, CXX_THROW, cxx_list(cxx, first));
}

static bool is_function(const struct cxx *cxx)
{
    return cxx_peek(cxx) == 'F' ||
           (cxx_peek(cxx) == 'D' && cxx_peek_next(cxx) && strchr("oOwx", cxx_peek_next(cxx)));
}

/* [<exceptions>] [Dx] F [Y] <returned> <parameters> [R | O] E */
static uint32_t function_type(struct cxx *cxx, unsigned quals)
{
    uint32_t exceptions = 0;

    if (cxx_take_two(cxx, "Do")) {
        exceptions = cxx_make(cxx, CXX_NOEXCEPT, 0, 0, 0);
    } else if (cxx_take_two(cxx, "DO")) {
        exceptions = cxx_wrap(cxx, CXX_NOEXCEPT, cxx_expression(cxx));
        if (!exceptions || !cxx_take(cxx, 'E'))
            return 0;
    } else if (cxx_take_two(cxx, "Dw")) {
        if (!(exceptions = throw_types(cxx)))
            return 0;
    }
    if (cxx_take_two(cxx, "Dx"))
        quals |= CXX_SAFE;
    if (!cxx_take(cxx, 'F'))
        return 0;
    cxx_take(cxx, 'Y');
    uint32_t returned = cxx_type(cxx), list = returned ? cxx_parameters(cxx) : 0;
    if (!list)
        return 0;
    if (cxx_take(cxx, 'R'))
        quals |= CXX_LVALUE;
    else if (cxx_take(cxx, 'O'))
        quals |= CXX_RVALUE;
    uint32_t type = cxx_make(cxx, CXX_FUNCTION, returned, list, exceptions);
    if (!type || !cxx_take(cxx, 'E'))
        return 0;
    cxx_at(cxx, type)->flags = (uint8_t)quals;
    return type;
}

static uint32_t qualified_type(struct cxx *cxx)
{
    unsigned quals = cxx_quals(cxx);

    if (is_function(cxx))
        return function_type(cxx, quals);
    return around(cxx, CXX_QUALS, cxx_type(cxx), quals);
}

static uint32_t vendor_qualified(struct cxx *cxx)
{
    uint32_t arguments = 0, name = cxx_source_name(cxx);

    if (!name || (cxx_peek(cxx) == 'I' && !(arguments = cxx_template_arguments(cxx, false))))
        return 0;
    uint32_t type = cxx_type(cxx);
    return type ? cxx_make(cxx, CXX_VENDOR_QUAL, type, name, arguments) : 0;
}

/* u <name> [<arguments>] */
static uint32_t vendor_type(struct cxx *cxx)
{
    uint32_t name = cxx_source_name(cxx);

    return name && cxx_peek(cxx) == 'I' ? cxx_template(cxx, name, false) : name;
}

/* A [<number> | <expression>] _ <type>, and the like. */
static uint32_t array_type(struct cxx *cxx, enum cxx_kind kind)
{
    uint32_t size = 0;

    if (cxx_is_digit(cxx_peek(cxx))) {
        if (!(size = cxx_digits(cxx)) || !cxx_take(cxx, '_'))
            return 0;
    } else if (kind == CXX_VECTOR && cxx_take(cxx, '_')) {
        if (!(size = cxx_expression(cxx)) || !cxx_take(cxx, '_'))
            return 0;
    } else if (!cxx_take(cxx, '_')) {
        if (!(size = cxx_expression(cxx)) || !cxx_take(cxx, '_'))
            return 0;
    }
    uint32_t of = cxx_type(cxx);
    return of ? cxx_make(cxx, kind, of, size, 0) : 0;
}

static uint32_t member_type(struct cxx *cxx)
{
    uint32_t of = cxx_type(cxx), type = of ? cxx_type(cxx) : 0;

    return type ? cxx_make(cxx, CXX_MEMBER, type, of, 0) : 0;
}

/* DF<digits>_, DF<digits>b, DF<digits>x */
static uint32_t float_type(struct cxx *cxx)
{
    uint32_t digits = cxx_digits(cxx);

    if (!digits)
        return 0;
    struct cxx_node *node = cxx_at(cxx, digits);
    char ending = cxx_peek(cxx);
    if (!ending || !strchr("_bx", ending))
        return 0;
    cxx->at++;
    node->kind = CXX_FLOAT;
    node->flags = (uint8_t)ending;
    return digits;
}

static uint32_t bit_int_type(struct cxx *cxx, bool is_unsigned)
{
    uint32_t size = cxx_is_digit(cxx_peek(cxx)) ? cxx_digits(cxx) : cxx_expression(cxx);
    uint32_t type = cxx_wrap(cxx, CXX_BIT_INT, size);

    if (!type || !cxx_take(cxx, '_'))
        return 0;
    cxx_at(cxx, type)->flags = is_unsigned;
    return type;
}

/* A type with a word before or after it. */
static uint32_t worded(struct cxx *cxx, enum cxx_kind kind, uint32_t of, uint16_t word)
{
    uint32_t type = cxx_wrap(cxx, kind, of);

    if (type)
        cxx_at(cxx, type)->small = word;
    return type;
}

/* D and a letter; *is_new: S_ may refer to them. */
static uint32_t d_type(struct cxx *cxx, bool *is_new)
{
    char which = cxx_peek_next(cxx);
    int row = cxx_builtin_d(which);

    if (row >= 0) {
        cxx->at += 2;
        *is_new = false;
        return worded(cxx, CXX_BUILTIN, 1, (uint16_t)row);
    }
    if (is_function(cxx))
        return function_type(cxx, 0);
    if (which == 't' || which == 'T')
        return cxx_decltype(cxx);
    cxx->at += 2;
    switch (which) {
    case 'p':
        return cxx_wrap(cxx, CXX_EXPANSION, cxx_type(cxx));
    case 'v':
        return array_type(cxx, CXX_VECTOR);
    case 'k':
        return worded(cxx, CXX_CONSTRAINED, cxx_name(cxx, NULL), CXX_TEXT_AUTO);
    case 'K':
        return worded(cxx, CXX_CONSTRAINED, cxx_name(cxx, NULL), CXX_TEXT_DECLTYPE_AUTO);
    case 'B':
    case 'U':
        *is_new = false;
        return bit_int_type(cxx, which == 'U');
    case 'F':
        *is_new = false;
        return float_type(cxx);
    default:
        return 0;
    }
}

/* T_, which may be a template's name; Ts, Tu, Te: struct, union, enum. */
static uint32_t t_type(struct cxx *cxx)
{
    static const char kinds[] = "sue";
    const char *kind = cxx_peek_next(cxx) ? strchr(kinds, cxx_peek_next(cxx)) : NULL;

    if (kind) {
        cxx->at += 2;
        return worded(cxx, CXX_PREFIXED, cxx_name(cxx, NULL),
                      (uint16_t)(CXX_TEXT_STRUCT + (kind - kinds)));
    }
    uint32_t type = cxx_parameter(cxx);
    if (!type || cxx_peek(cxx) != 'I' || cxx->no_arguments)
        return type;
    return cxx_remember(cxx, type) ? cxx_template(cxx, type, false) : 0;
}

static uint32_t wrapped(struct cxx *cxx, enum cxx_kind kind, unsigned flags)
{
    cxx->at++;
    return around(cxx, kind, cxx_type(cxx), flags);
}

static uint32_t new_type(struct cxx *cxx, bool *is_new)
{
    switch (cxx_peek(cxx)) {
    case 'r':
    case 'V':
    case 'K':
        return qualified_type(cxx);
    case 'P':
        return wrapped(cxx, CXX_POINTER, 0);
    case 'R':
        return wrapped(cxx, CXX_REFERENCE, 0);
    case 'O':
        return wrapped(cxx, CXX_REFERENCE, 1);
    case 'C':
        cxx->at++;
        return worded(cxx, CXX_SUFFIXED, cxx_type(cxx), CXX_TEXT_COMPLEX);
    case 'G':
        cxx->at++;
        return worded(cxx, CXX_SUFFIXED, cxx_type(cxx), CXX_TEXT_IMAGINARY);
    case 'F':
        return function_type(cxx, 0);
    case 'A':
        cxx->at++;
        return array_type(cxx, CXX_ARRAY);
    case 'M':
        cxx->at++;
        return member_type(cxx);
    case 'T':
        return t_type(cxx);
    case 'U':
        cxx->at++;
        return vendor_qualified(cxx);
    case 'u':
        cxx->at++;
        return vendor_type(cxx);
    case 'D':
        return d_type(cxx, is_new);
    default:
        break;
    }
    uint32_t type = cxx_name(cxx, NULL);
    *is_new = !cxx->was_seen;
    return type;
}

static uint32_t compound_type(struct cxx *cxx)
{
    bool is_new = true;

    if (!cxx_enter(cxx))
        return 0;
    uint32_t type = new_type(cxx, &is_new);
    if (type && is_new)
        type = cxx_remember(cxx, type);
    cxx_leave(cxx);
    return type;
}

uint32_t cxx_type(struct cxx *cxx)
{
    int row = cxx_builtin(cxx_peek(cxx));

    if (row < 0)
        return compound_type(cxx);
    cxx->at++;
    return worded(cxx, CXX_BUILTIN, 1, (uint16_t)row);
}
