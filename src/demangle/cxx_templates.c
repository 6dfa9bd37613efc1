/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Template arguments and parameters, and substitutions. */
#include "demangle/cxx_nodes.h"

/* S_, S<base 36>_: a substitution. */
static uint32_t seen_before(struct cxx *cxx)
{
    size_t which = 0;

    if (cxx_take(cxx, '_'))
        return cxx->seen.count ? cxx->seen.items[0] : 0;
    for (; cxx_peek(cxx) != '_'; cxx->at++) {
        char byte = cxx_peek(cxx);
        bool is_digit = cxx_is_digit(byte);
        if ((!is_digit && (byte < 'A' || byte > 'Z')) || which > cxx->seen.count)
            return 0;
        which = which * 36 + (size_t)(is_digit ? byte - '0' : byte - 'A' + 10);
    }
    which++;
    cxx->at++;
    return which < cxx->seen.count ? cxx->seen.items[which] : 0;
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
    uint32_t standard = cxx_make(cxx, CXX_STANDARD, 0, 0, 0);

    if (!standard)
        return 0;
    cxx_at(cxx, standard)->small = row;
    return cxx_make(cxx, CXX_TEMPLATE, standard, arguments, 0);
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
    uint32_t letter = cxx_make(cxx, CXX_BUILTIN, 0, 0, 0);
    if (!letter)
        return 0;
    cxx_at(cxx, letter)->small = (uint16_t)cxx_builtin('c');
    if (!cxx_push(cxx, &cxx->open, letter))
        return 0;
    uint32_t arguments = cxx_wrap(cxx, CXX_ARGUMENTS, cxx_list(cxx, first));
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
    uint32_t parameter = cxx_make(cxx, CXX_PARAMETER, of_lambda, 0, 0);
    if (parameter)
        cxx_at(cxx, parameter)->small = (uint16_t)which;
    return parameter;
}

bool cxx_is_declaration(const struct cxx *cxx)
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
    return list && cxx_take(cxx, 'E') ? list : 0;
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
        uint32_t inner = cxx_is_declaration(cxx) ? cxx_declaration(cxx) : 0;
        if (inner)
            cxx_at(cxx, inner)->flags = 1;
        cxx_leave(cxx);
        return inner;
    }
    uint32_t name = cxx_make(cxx, CXX_PARAMETER_NAME, 0, 0, cxx->heads[kind]++);
    if (name)
        cxx_at(cxx, name)->small = (uint16_t)kind;
    if (which == 'n')
        of = cxx_type(cxx);
    else if (which == 't')
        of = template_declaration(cxx, &more);
    else if (which == 'k')
        of = cxx_name(cxx, NULL);
    if (name && (of || which == 'y'))
        declaration = cxx_make(cxx, CXX_DECLARATION, name, of, more);
    if (declaration)
        cxx_at(cxx, declaration)->small = (uint16_t)kind;
    cxx_leave(cxx);
    return declaration;
}

uint32_t cxx_argument(struct cxx *cxx)
{
    uint32_t item;
    size_t first = cxx->open.count;

    switch (cxx_peek(cxx)) {
    case 'X':
        cxx->at++;
        item = cxx_expression(cxx);
        return cxx_take(cxx, 'E') ? item : 0;
    case 'L':
        return cxx_literal(cxx);
    case 'I': /* an older compiler's J */
    case 'J':
        if (!cxx_enter(cxx))
            return 0;
        cxx->at++;
        while (!cxx_take(cxx, 'E'))
            if (!cxx_push(cxx, &cxx->open, cxx_argument(cxx)))
                return 0;
        cxx_leave(cxx);
        return cxx_wrap(cxx, CXX_PACK, cxx_list(cxx, first));
    case 'T':
        /* The parameter's kind only matters for overloading. */
        if (cxx_is_declaration(cxx))
            return cxx_declaration(cxx) ? cxx_argument(cxx) : 0;
        return cxx_type(cxx);
    default:
        return cxx_type(cxx);
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
    uint32_t arguments = cxx_template_arguments(cxx, of_encoding);

    return arguments ? cxx_make(cxx, CXX_TEMPLATE, name, arguments, 0) : 0;
}
