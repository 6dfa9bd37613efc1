/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Functions and types, some of which surround what they declare. */
#include "demangle/cxx.h"

enum shape { PLAIN, ARRAY, FUNCTION };

/* The shape around a pointer to this type, or none. */
static enum shape shape_of(struct cxx_print *print, uint32_t number)
{
    while (cxx_step(print)) {
        const struct cxx_node *node = cxx_at(print->cxx, cxx_resolve(print, number));
        if (node->kind == CXX_ARRAY)
            return ARRAY;
        if (node->kind == CXX_FUNCTION)
            return FUNCTION;
        if (node->kind != CXX_QUALS && node->kind != CXX_VENDOR_QUAL)
            break;
        number = node->a;
    }
    return PLAIN;
}

/* Does part of it follow what it declares? */
static bool has_right(struct cxx_print *print, uint32_t number)
{
    while (cxx_step(print)) {
        const struct cxx_node *node = cxx_at(print->cxx, cxx_resolve(print, number));
        if (node->kind == CXX_ARRAY || node->kind == CXX_FUNCTION)
            return true;
        if (node->kind < CXX_POINTER || node->kind > CXX_MEMBER)
            break;
        number = node->a;
    }
    return false;
}

/* The qualifiers that a type already has: an array has its items'. */
static unsigned quals_of(struct cxx_print *print, uint32_t number)
{
    unsigned quals = 0;

    while (cxx_step(print)) {
        const struct cxx_node *node = cxx_at(print->cxx, cxx_resolve(print, number));
        if (node->kind == CXX_QUALS)
            quals |= node->flags;
        else if (node->kind != CXX_ARRAY)
            break;
        number = node->a;
    }
    return quals;
}

static void open_around(struct cxx_print *print, enum shape shape, bool is_member)
{
    char last = cxx_last(print);

    if (shape == PLAIN)
        return;
    if (last != ' ' && (shape == ARRAY || is_member || (last != '(' && last != '*')))
        cxx_put_byte(print, ' ');
    cxx_put_byte(print, '(');
}

static void put_quals(struct cxx_print *print, unsigned quals)
{
    if (quals & CXX_CONST)
        cxx_put(print, " const", 6);
    if (quals & CXX_VOLATILE)
        cxx_put(print, " volatile", 9);
    if (quals & CXX_RESTRICT)
        cxx_put(print, " restrict", 9);
    if (quals & CXX_SAFE)
        cxx_put(print, " transaction_safe", 17);
    if (quals & CXX_LVALUE)
        cxx_put(print, " &", 2);
    if (quals & CXX_RVALUE)
        cxx_put(print, " &&", 3);
}

static void put_parameters(struct cxx_print *print, const struct cxx_node *function,
                           bool has_object)
{
    int32_t pack = print->pack;

    cxx_put_form(print, function, has_object ? "(this %b)" : "(%b)");
    if (pack != CXX_PACK_UNKNOWN)
        print->pack = pack;
}

static void put_returned(struct cxx_print *print, uint32_t type)
{
    cxx_put_left(print, type);
    if (!has_right(print, type))
        cxx_put_byte(print, ' ');
}

void cxx_put_encoding(struct cxx_print *print, const struct cxx_node *encoding, bool is_inner)
{
    const struct cxx_node *function = cxx_at(print->cxx, encoding->b);
    uint32_t returned = is_inner || !encoding->b ? 0 : function->a;
    unsigned in_lambda = print->in_lambda;
    uint32_t arguments = print->arguments;

    print->in_lambda = 0;
    /* T_ means something else in the names of another encoding. */
    print->changing += print->inner++ > 0;
    if (encoding->c)
        print->arguments = encoding->c;
    if (returned)
        put_returned(print, returned);
    cxx_put_node(print, encoding->a);
    if (encoding->b)
        put_parameters(print, function, function->flags & CXX_OBJECT);
    put_quals(print, encoding->flags);
    if (returned)
        cxx_put_right(print, returned);
    if (encoding->b && function->c && !is_inner)
        cxx_put_form(print, function, " requires %c");
    print->in_lambda = in_lambda;
    print->changing -= --print->inner > 0;
    print->arguments = arguments;
}

/* References to references collapse: && only if both are. */
static void put_reference(struct cxx_print *print, const struct cxx_node *node, bool is_left)
{
    bool is_rvalue = node->flags;
    uint32_t to = node->a;

    while (cxx_step(print)) {
        const struct cxx_node *inner = cxx_at(print->cxx, cxx_resolve(print, to));
        if (inner->kind != CXX_REFERENCE)
            break;
        is_rvalue = is_rvalue && inner->flags;
        to = inner->a;
    }
    enum shape shape = shape_of(print, to);
    if (is_left) {
        cxx_put_left(print, to);
        open_around(print, shape, false);
        cxx_put(print, "&&", is_rvalue ? 2 : 1);
    } else {
        if (shape != PLAIN)
            cxx_put_byte(print, ')');
        cxx_put_right(print, to);
    }
}

static void put_float(struct cxx_print *print, const struct cxx_node *node)
{
    bool is_bfloat = node->flags == 'b';

    cxx_put_form(print, node, is_bfloat ? "std::bfloat" : "_Float");
    cxx_put(print, print->cxx->name + node->a, node->b);
    cxx_put_form(print, node, is_bfloat ? "_t" : node->flags == 'x' ? "x" : "");
}

void cxx_put_type_left(struct cxx_print *print, const struct cxx_node *node)
{
    bool is_plain = node->small && node->kind <= CXX_QUALS;
    enum shape shape;

    switch (node->kind) {
    case CXX_POINTER:
        cxx_put_left(print, node->a);
        if (!is_plain)
            open_around(print, shape_of(print, node->a), false);
        cxx_put_byte(print, '*');
        return;
    case CXX_REFERENCE:
        if (is_plain)
            cxx_put_form(print, node, node->flags ? "%a&&" : "%a&");
        else
            put_reference(print, node, true);
        return;
    case CXX_QUALS:
        cxx_put_left(print, node->a);
        put_quals(print, is_plain ? node->flags : node->flags & ~quals_of(print, node->a));
        return;
    case CXX_FUNCTION:
        put_returned(print, node->a);
        return;
    case CXX_ARRAY:
        cxx_put_left(print, node->a);
        return;
    case CXX_MEMBER:
        shape = shape_of(print, node->a);
        cxx_put_left(print, node->a);
        open_around(print, shape, true);
        cxx_put_form(print, node, shape == PLAIN ? " %b::*" : "%b::*");
        return;
    case CXX_VENDOR_QUAL:
        cxx_put_left(print, node->a);
        cxx_put_form(print, node, " %b");
        if (node->c)
            cxx_put_form(print, cxx_at(print->cxx, node->c), "<%a>");
        return;
    case CXX_BIT_INT:
        cxx_put_form(print, node, node->flags ? "unsigned _BitInt(%a)" : "_BitInt(%a)");
        return;
    case CXX_FLOAT:
        put_float(print, node);
        return;
    }
}

void cxx_put_type_right(struct cxx_print *print, const struct cxx_node *node)
{
    const struct cxx_node *exceptions;

    switch (node->kind) {
    case CXX_REFERENCE:
        put_reference(print, node, false);
        return;
    case CXX_POINTER:
    case CXX_MEMBER:
        if (shape_of(print, node->a) != PLAIN)
            cxx_put_byte(print, ')');
        break;
    case CXX_ARRAY: cxx_put_form(print, node, cxx_last(print) == ']' ? "[%b]" : " [%b]"); break;
    case CXX_FUNCTION:
        put_parameters(print, node, false);
        put_quals(print, node->flags);
        exceptions = cxx_at(print->cxx, node->c);
        if (node->c)
            cxx_put_form(print, exceptions, exceptions->kind == CXX_THROW ? " throw(%a)"
                                            : exceptions->a ? " noexcept(%a)" : " noexcept");
        break;
    case CXX_QUALS:
    case CXX_VENDOR_QUAL:
        break;
    default:
        return;
    }
    cxx_put_right(print, node->a);
}
