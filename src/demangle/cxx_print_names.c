/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "demangle/cxx_print.h"

/* A constructor's name: the last name of its class, without arguments. */
static void put_base_name(struct cxx_print *print, uint32_t number)
{
    while (cxx_step(print)) {
        const struct cxx_node *node = cxx_at(print->cxx, cxx_resolve(print, number));
        switch (node->kind) {
        case CXX_QUALIFIED:
        case CXX_LOCAL:
        case CXX_DEFAULT:
            number = node->b;
            continue;
        case CXX_TEMPLATE:
        case CXX_TAGGED:
        case CXX_IN_MODULE:
        case CXX_FRIEND:
            number = node->a;
            continue;
        case CXX_STANDARD:
            cxx_put_string(print, cxx_standards[node->small].base);
            return;
        default:
            cxx_put_node(print, number);
            return;
        }
    }
}

/* Nothing, or only empty packs. */
static bool is_empty(const struct cxx_print *print, uint32_t number)
{
    const struct cxx_node *list = cxx_at(print->cxx, number);

    for (uint32_t i = 0; i < list->b; i++) {
        const struct cxx_node *item = cxx_at(print->cxx, print->cxx->lists.items[list->a + i]);
        if (item->kind != CXX_PACK || cxx_at(print->cxx, item->a)->b)
            return false;
    }
    return true;
}

static void put_arguments(struct cxx_print *print, const struct cxx_node *arguments)
{
    if (cxx_last(print) == '<')
        cxx_put_byte(print, ' ');
    cxx_put_byte(print, '<');
    if (print->wishes->shorten && !is_empty(print, arguments->a))
        cxx_put(print, "...", 3);
    else
        cxx_put_list(print, arguments->a);
    /* c++filt prints no blank after something empty. */
    if (cxx_last(print) == '>' && print->dropped != print->length)
        cxx_put_byte(print, ' ');
    cxx_put_byte(print, '>');
}

/*
 * A name that S_ refers to is the same text again: it is copied from its first appearance. Except
 * where its text depends on its place, through a pack's argument or a lambda's parameter.
 */
static void put_once(struct cxx_print *print, const struct cxx_node *node)
{
    struct cxx_node *known = &print->cxx->nodes[node - print->cxx->nodes];
    size_t first = print->length;

    if (node->small && !print->changing) {
        cxx_put_again(print, node->c, node->small);
        return;
    }
    cxx_put_node(print, node->a);
    if (node->kind == CXX_TEMPLATE) {
        put_arguments(print, cxx_at(print->cxx, node->b));
    } else {
        cxx_put(print, "::", 2);
        cxx_put_node(print, node->b);
    }
    if (!print->changing && print->length - first <= UINT16_MAX) {
        known->small = (uint16_t)(print->length - first);
        known->c = (uint32_t)first;
    }
}

static void put_operator(struct cxx_print *print, const char *text)
{
    cxx_put(print, "operator", 8);
    if (*text >= 'a' && *text <= 'z')
        cxx_put_byte(print, ' ');
    cxx_put_string(print, text);
}

static void put_declaration(struct cxx_print *print, const struct cxx_node *node)
{
    const char *dots = node->flags ? "..." : "";

    if (node->small == 1) {
        cxx_put_left(print, node->b);
        if (cxx_last(print) != '*' && cxx_last(print) != '&' && cxx_last(print) != '(')
            cxx_put_byte(print, ' ');
        else if (cxx_at(print->cxx, node->b)->kind != CXX_POINTER || cxx_last(print) == '&')
            cxx_put_byte(print, ' ');
        cxx_put_string(print, dots);
        cxx_put_node(print, node->a);
        cxx_put_right(print, node->b);
        return;
    }
    if (node->small == 2) {
        cxx_put_string(print, "template<");
        cxx_put_list(print, node->b);
        cxx_put_string(print, "> typename");
    } else if (node->b) {
        cxx_put_node(print, node->b);
    } else {
        cxx_put_string(print, "typename");
    }
    cxx_put_string(print, dots);
    cxx_put_byte(print, ' ');
    cxx_put_node(print, node->a);
}

static void put_lambda(struct cxx_print *print, const struct cxx_node *node)
{
    int32_t pack = print->pack;

    cxx_put(print, "{lambda", 7);
    print->in_lambda++;
    print->changing++;
    print->pack = CXX_PACK_WHOLE;
    if (cxx_at(print->cxx, node->b)->b) {
        cxx_put_byte(print, '<');
        cxx_put_list(print, node->b);
        cxx_put_byte(print, '>');
    }
    cxx_put_byte(print, '(');
    cxx_put_list(print, node->a);
    cxx_put(print, ")#", 2);
    print->pack = pack;
    print->in_lambda--;
    print->changing--;
    cxx_put_number(print, node->c);
    cxx_put_byte(print, '}');
}

static void put_numbered(struct cxx_print *print, const char *what, uint32_t number)
{
    cxx_put_string(print, what);
    cxx_put_number(print, number);
    cxx_put_byte(print, '}');
}

static void put_module(struct cxx_print *print, const struct cxx_node *module)
{
    if (module->a)
        cxx_put_node(print, module->a);
    if (module->a || module->flags)
        cxx_put_byte(print, module->flags ? ':' : '.');
    cxx_put_node(print, module->b);
}

/* Something within a function, which is printed without its return type. */
static void put_local(struct cxx_print *print, const struct cxx_node *node)
{
    const struct cxx_node *function = cxx_at(print->cxx, node->a);
    unsigned in_lambda = print->in_lambda;

    print->in_lambda = 0;
    if (function->kind == CXX_ENCODING)
        cxx_put_encoding(print, function, true);
    else
        cxx_put_node(print, node->a);
    cxx_put(print, "::", 2);
    cxx_put_node(print, node->b);
    print->in_lambda = in_lambda;
}

static void put_special(struct cxx_print *print, const struct cxx_node *node)
{
    const char *row = cxx_specials[node->small];

    cxx_put_string(print, row + 2);
    if (row[0] == 'G' && row[1] == 'R') {
        cxx_put_number(print, node->c);
        cxx_put(print, " for ", 5);
    }
    if (node->b) {
        cxx_put_node(print, node->a);
        cxx_put(print, "-in-", 4);
        cxx_put_node(print, node->b);
    } else {
        cxx_put_node(print, node->a);
    }
}

static void put_auto(struct cxx_print *print, const struct cxx_node *parameter)
{
    cxx_put(print, "auto:", 5);
    cxx_put_number(print, parameter->small + 1u);
}

static void put_parameter_name(struct cxx_print *print, const struct cxx_node *node)
{
    static const char *const kinds[] = {"$T", "$N", "$TT"};

    cxx_put_string(print, kinds[node->small]);
    cxx_put_number(print, node->c);
}

static bool put_function_name(struct cxx_print *print, const struct cxx_node *node)
{
    switch (node->kind) {
    case CXX_CONSTRUCTOR:
        put_base_name(print, node->a);
        return true;
    case CXX_DESTRUCTOR:
        cxx_put_byte(print, '~');
        put_base_name(print, node->a);
        return true;
    case CXX_OPERATOR:
        put_operator(print, cxx_operators[node->small].text);
        return true;
    case CXX_CONVERSION:
        cxx_put(print, "operator ", 9);
        cxx_put_node(print, node->a);
        return true;
    case CXX_LITERAL_NAME:
        cxx_put_string(print, "operator\"\" ");
        cxx_put_node(print, node->a);
        return true;
    case CXX_VENDOR_NAME:
        cxx_put(print, "operator ", 9);
        cxx_put_node(print, node->a);
        return true;
    case CXX_LAMBDA:
        put_lambda(print, node);
        return true;
    case CXX_UNNAMED:
        put_numbered(print, "{unnamed type#", node->c);
        return true;
    case CXX_BLOCK:
        put_numbered(print, "{block literal#", node->c);
        return true;
    default:
        return false;
    }
}

static bool put_rare(struct cxx_print *print, const struct cxx_node *node)
{
    switch (node->kind) {
    case CXX_BINDING:
        cxx_put_byte(print, '[');
        cxx_put_list(print, node->a);
        cxx_put_byte(print, ']');
        return true;
    case CXX_MODULE:
        put_module(print, node);
        return true;
    case CXX_IN_MODULE:
        cxx_put_node(print, node->a);
        cxx_put_byte(print, '@');
        cxx_put_node(print, node->b);
        return true;
    case CXX_FRIEND:
        cxx_put_node(print, node->a);
        cxx_put(print, "[friend]", 8);
        return true;
    case CXX_PARAMETER_NAME:
        put_parameter_name(print, node);
        return true;
    case CXX_DECLARATION:
        put_declaration(print, node);
        return true;
    case CXX_STRING:
        cxx_put_string(print, "string literal");
        return true;
    case CXX_DEFAULT:
        put_numbered(print, "{default arg#", node->c);
        cxx_put(print, "::", 2);
        cxx_put_node(print, node->b);
        return true;
    case CXX_TAGGED:
        cxx_put_node(print, node->a);
        cxx_put(print, "[abi:", 5);
        cxx_put_node(print, node->b);
        cxx_put_byte(print, ']');
        return true;
    default:
        return false;
    }
}

bool cxx_put_name_left(struct cxx_print *print, const struct cxx_node *node)
{
    switch (node->kind) {
    case CXX_NONE:
        return true;
    case CXX_NAME:
        cxx_put(print, print->cxx->name + node->a, node->b);
        return true;
    case CXX_BUILTIN:
        cxx_put(print, cxx_builtins[node->small].text, cxx_builtins[node->small].length);
        return true;
    case CXX_STANDARD:
        cxx_put_string(print, node->flags ? cxx_standards[node->small].full
                                          : cxx_standards[node->small].text);
        return true;
    case CXX_QUALIFIED:
    case CXX_TEMPLATE:
        put_once(print, node);
        return true;
    case CXX_PACK:
        cxx_put_list(print, node->a);
        return true;
    case CXX_LOCAL:
        put_local(print, node);
        return true;
    case CXX_PARAMETER:
        if (node->a)
            cxx_put_node(print, node->a);
        else
            put_auto(print, node);
        return true;
    case CXX_ENCODING:
        cxx_put_encoding(print, node, false);
        return true;
    case CXX_SPECIAL:
        put_special(print, node);
        return true;
    case CXX_ANONYMOUS:
        cxx_put_string(print, "(anonymous namespace)");
        return true;
    case CXX_LIST:
        cxx_put_list(print, (uint32_t)(node - print->cxx->nodes));
        return true;
    default:
        return put_function_name(print, node) || put_rare(print, node);
    }
}
