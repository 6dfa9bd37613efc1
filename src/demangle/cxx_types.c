/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <string.h>

#include "demangle/cxx.h"

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
    uint32_t type = cxx_wrap(cxx, kind, of, 0);

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
    return cxx_wrap(cxx, CXX_DECLTYPE, cxx_ended(cxx, cxx_expression(cxx)), 0);
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
        exceptions = cxx_wrap(cxx, CXX_NOEXCEPT, cxx_ended(cxx, cxx_expression(cxx)), 0);
        if (!exceptions)
            return 0;
    } else if (cxx_take_two(cxx, "Dw")) {
        if (cxx_peek(cxx) == 'E' ||
            !(exceptions = cxx_wrap(cxx, CXX_THROW, cxx_until(cxx, 'E', cxx_type), 0)))
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
    return cxx_ended(cxx, cxx_flags(cxx, type, quals));
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

/* A [<number> | <expression>] _ <type>, and the like. */
static uint32_t array_type(struct cxx *cxx, enum cxx_kind kind)
{
    uint32_t size = 0;

    if (cxx_is_digit(cxx_peek(cxx))) {
        if (!(size = cxx_digits(cxx)) || !cxx_take(cxx, '_'))
            return 0;
    } else if (!cxx_take(cxx, '_') || kind == CXX_VECTOR) {
        if (!(size = cxx_expression(cxx)) || !cxx_take(cxx, '_'))
            return 0;
    }
    uint32_t of = cxx_type(cxx);
    return of ? cxx_make(cxx, kind, of, size, 0) : 0;
}

static uint32_t member_type(struct cxx *cxx)
{
    uint32_t of = cxx_type(cxx);

    return cxx_pair(cxx, CXX_MEMBER, of ? cxx_type(cxx) : 0, of);
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
    uint32_t type = cxx_wrap(cxx, CXX_BIT_INT, size, 0);

    return cxx_take(cxx, '_') ? cxx_flags(cxx, type, is_unsigned) : 0;
}

/* D and a letter; *is_new: S_ may refer to them. */
static uint32_t d_type(struct cxx *cxx, bool *is_new)
{
    char which = cxx_peek_next(cxx);
    int row = cxx_builtin_d(which);

    if (row >= 0) {
        cxx->at += 2;
        *is_new = false;
        return cxx_wrap(cxx, CXX_BUILTIN, 1, row);
    }
    if (is_function(cxx))
        return function_type(cxx, 0);
    if (which == 't' || which == 'T')
        return cxx_decltype(cxx);
    cxx->at += 2;
    switch (which) {
    case 'p': return cxx_wrap(cxx, CXX_EXPANSION, cxx_type(cxx), 0);
    case 'v': return array_type(cxx, CXX_VECTOR);
    case 'k':
        return cxx_wrap(cxx, CXX_CONSTRAINED, cxx_name(cxx, NULL), CXX_TEXT_AUTO);
    case 'K':
        return cxx_wrap(cxx, CXX_CONSTRAINED, cxx_name(cxx, NULL), CXX_TEXT_DECLTYPE_AUTO);
    case 'B':
    case 'U':
        *is_new = false;
        return bit_int_type(cxx, which == 'U');
    case 'F':
        *is_new = false;
        return float_type(cxx);
    default: return 0;
    }
}

/* T_, which may be a template's name; Ts, Tu, Te: struct, union, enum. */
static uint32_t t_type(struct cxx *cxx)
{
    static const char kinds[] = "sue";
    const char *kind = cxx_peek_next(cxx) ? strchr(kinds, cxx_peek_next(cxx)) : NULL;

    if (kind) {
        cxx->at += 2;
        return cxx_wrap(cxx, CXX_PREFIXED, cxx_name(cxx, NULL),
                        CXX_TEXT_STRUCT + (unsigned)(kind - kinds));
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
    case 'K': return qualified_type(cxx);
    case 'P': return wrapped(cxx, CXX_POINTER, 0);
    case 'R': return wrapped(cxx, CXX_REFERENCE, 0);
    case 'O': return wrapped(cxx, CXX_REFERENCE, 1);
    case 'C':
        cxx->at++;
        return cxx_wrap(cxx, CXX_SUFFIXED, cxx_type(cxx), CXX_TEXT_COMPLEX);
    case 'G':
        cxx->at++;
        return cxx_wrap(cxx, CXX_SUFFIXED, cxx_type(cxx), CXX_TEXT_IMAGINARY);
    case 'F': return function_type(cxx, 0);
    case 'A':
        cxx->at++;
        return array_type(cxx, CXX_ARRAY);
    case 'M':
        cxx->at++;
        return member_type(cxx);
    case 'T': return t_type(cxx);
    case 'U':
        cxx->at++;
        return vendor_qualified(cxx);
    case 'u': /* <name> [<arguments>] */
        cxx->at++;
        return cxx_maybe_template(cxx, cxx_source_name(cxx));
    case 'D': return d_type(cxx, is_new);
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
    return cxx_wrap(cxx, CXX_BUILTIN, 1, row);
}

/* Template arguments and parameters, and substitutions. */

/* S_, S<base 36>_: a substitution. */
static uint32_t seen_before(struct cxx *cxx)
{
    uint32_t which;

    return cxx_sequence(cxx, &which) && which < cxx->seen.count ? cxx->seen.items[which] : 0;
}

uint32_t cxx_substitution(struct cxx *cxx, bool in_prefix)
{
    char which = cxx_peek_next(cxx);
    uint16_t row = 0;

    cxx->at++;
    if (which == '_' || cxx_is_digit(which) || (which >= 'A' && which <= 'Z'))
        return seen_before(cxx);
    while (cxx_standards[row].code && cxx_standards[row].code != which)
        row++;
    uint32_t standard = cxx_standards[row].code ? cxx_make(cxx, CXX_STANDARD, 0, 0, 0) : 0;
    if (!standard)
        return 0;
    cxx->at++;
    cxx_at(cxx, standard)->small = row;
    /* Before the constructor of std::string, its abbreviation is printed in full. */
    char behind = cxx_peek(cxx);
    if (in_prefix && (behind == 'C' || behind == 'D'))
        cxx_at(cxx, standard)->flags = 1;
    uint32_t tagged = row ? cxx_tags(cxx, standard) : standard;
    return tagged == standard ? standard : cxx_remember(cxx, tagged);
}

static uint32_t standard_of_char(struct cxx *cxx, uint16_t row, uint32_t arguments)
{
    uint32_t standard = cxx_small(cxx, cxx_make(cxx, CXX_STANDARD, 0, 0, 0), row);

    return cxx_pair(cxx, CXX_TEMPLATE, standard, arguments);
}

/*
 * Ss is basic_string<char, char_traits<char>, allocator<char>>, and Si, So and Sd have the first
 * two. Only a requires-clause of their members says T_: compilers replace it everywhere else.
 */
uint32_t cxx_standard_arguments(struct cxx *cxx, uint32_t name)
{
    const struct cxx_node *node = cxx_at(cxx, name);
    size_t first = cxx->open.count;

    while (node->kind == CXX_QUALIFIED || node->kind == CXX_TAGGED)
        node = cxx_at(cxx, node->a);
    char code = node->kind == CXX_STANDARD ? cxx_standards[node->small].code : '\0';
    if (code != 's' && code != 'i' && code != 'o' && code != 'd')
        return 0;
    uint32_t letter = cxx_small(cxx, cxx_make(cxx, CXX_BUILTIN, 0, 0, 0),
                                (unsigned)cxx_builtin('c'));
    if (!cxx_push(cxx, &cxx->open, letter))
        return 0;
    uint32_t arguments = cxx_wrap(cxx, CXX_ARGUMENTS, cxx_list(cxx, first), 0);
    if (!arguments || !cxx_push(cxx, &cxx->open, letter) ||
        !cxx_push(cxx, &cxx->open, standard_of_char(cxx, CXX_CHAR_TRAITS, arguments)) ||
        (code == 's' &&
         !cxx_push(cxx, &cxx->open, standard_of_char(cxx, CXX_ALLOCATOR, arguments))))
        return 0;
    return cxx_list(cxx, first);
}

uint32_t cxx_parameter(struct cxx *cxx)
{
    uint32_t level = 0, which, of_lambda = 0;

    cxx->at++;
    if (cxx_take(cxx, 'L') && (!cxx_counted(cxx, &level) || !++level))
        return 0;
    if (!cxx_counted(cxx, &which) || which > UINT16_MAX)
        return 0;
    if (level && which < cxx->inner.count)
        of_lambda = cxx_at(cxx, cxx->open.items[cxx->inner.first + which])->a;
    else if (cxx->in_lambda && which < cxx->head.count)
        of_lambda = cxx_at(cxx, cxx->open.items[cxx->head.first + which])->a;
    else if (level && !cxx->in_lambda)
        return 0;
    return cxx_small(cxx, cxx_make(cxx, CXX_PARAMETER, of_lambda, 0, 0), which);
}

static bool cxx_is_declaration(const struct cxx *cxx)
{
    char which = cxx_peek_next(cxx);

    return cxx_peek(cxx) == 'T' &&
           (which == 'y' || which == 'n' || which == 't' || which == 'p' || which == 'k');
}

bool cxx_declarations(struct cxx *cxx, struct cxx_heads *heads)
{
    while (cxx_is_declaration(cxx)) {
        if (!cxx_push(cxx, &cxx->open, cxx_declaration(cxx)))
            return false;
        heads->count++;
    }
    return true;
}

/* Tt <declarations> [Q <expression>] E */
static uint32_t template_declaration(struct cxx *cxx, uint32_t *required)
{
    size_t first = cxx->open.count;
    struct cxx_heads outer = cxx->inner;

    cxx->inner = (struct cxx_heads){.first = (uint32_t)first};
    bool is_fine = cxx_declarations(cxx, &cxx->inner);
    cxx->inner = outer;
    uint32_t list = is_fine ? cxx_list(cxx, first) : 0;
    if (list && cxx_take(cxx, 'Q') && !(*required = cxx_expression(cxx)))
        return 0;
    return cxx_ended(cxx, list);
}

/* Ty, Tn <type>, Tt <declarations> E, Tp <declaration>, Tk <concept> */
uint32_t cxx_declaration(struct cxx *cxx)
{
    char which = cxx_peek_next(cxx);
    unsigned kind = which == 'n' ? 1 : which == 't' ? 2 : 0;
    uint32_t of = 0, more = 0, declaration = 0;

    if (!cxx_enter(cxx))
        return 0;
    cxx->at += 2;
    if (which == 'p') {
        declaration = cxx_is_declaration(cxx) ? cxx_declaration(cxx) : 0;
        cxx_leave(cxx);
        return cxx_flags(cxx, declaration, 1);
    }
    uint32_t name = cxx_small(cxx, cxx_make(cxx, CXX_PARAMETER_NAME, 0, 0, cxx->heads[kind]++),
                              kind);
    if (which == 'n')
        of = cxx_type(cxx);
    else if (which == 't')
        of = template_declaration(cxx, &more);
    else if (which == 'k')
        of = cxx_name(cxx, NULL);
    if (name && (of || which == 'y'))
        declaration = cxx_small(cxx, cxx_make(cxx, CXX_DECLARATION, name, of, more), kind);
    cxx_leave(cxx);
    return declaration;
}

uint32_t cxx_argument(struct cxx *cxx)
{
    uint32_t item;

    switch (cxx_peek(cxx)) {
    case 'X':
        cxx->at++;
        return cxx_ended(cxx, cxx_expression(cxx));
    case 'L': return cxx_literal(cxx);
    case 'I': /* an older compiler's J */
    case 'J':
        if (!cxx_enter(cxx))
            return 0;
        cxx->at++;
        item = cxx_until(cxx, 'E', cxx_argument);
        cxx_leave(cxx);
        return cxx_wrap(cxx, CXX_PACK, item, 0);
    case 'T':
        /* The parameter's kind only matters for overloading. */
        if (cxx_is_declaration(cxx))
            return cxx_declaration(cxx) ? cxx_argument(cxx) : 0;
        return cxx_type(cxx);
    default: return cxx_type(cxx);
    }
}

uint32_t cxx_template_arguments(struct cxx *cxx, bool of_encoding)
{
    size_t first = cxx->open.count;
    uint32_t required = 0;
    bool no_arguments = cxx->no_arguments;

    if (!cxx_enter(cxx) || (!cxx_take(cxx, 'I') && !cxx_take(cxx, 'J')))
        return 0;
    cxx->no_arguments = false;
    while (!cxx_take(cxx, 'E')) {
        if (cxx_take(cxx, 'Q')) {
            if (!(required = cxx_expression(cxx)) || !cxx_take(cxx, 'E'))
                return 0;
            break;
        }
        if (!cxx_push(cxx, &cxx->open, cxx_argument(cxx)))
            return 0;
    }
    cxx->no_arguments = no_arguments;
    uint32_t list = cxx_list(cxx, first);
    if (of_encoding)
        cxx->arguments = list;
    cxx_leave(cxx);
    return list ? cxx_make(cxx, CXX_ARGUMENTS, list, required, 0) : 0;
}

uint32_t cxx_template(struct cxx *cxx, uint32_t name, bool of_encoding)
{
    return cxx_pair(cxx, CXX_TEMPLATE, name, cxx_template_arguments(cxx, of_encoding));
}

uint32_t cxx_maybe_template(struct cxx *cxx, uint32_t name)
{
    return name && cxx_peek(cxx) == 'I' ? cxx_template(cxx, name, false) : name;
}
