/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "demangle/cxx_print.h"

static void put_in(struct cxx_print *print, char open, uint32_t number, char close)
{
    cxx_put_byte(print, open);
    cxx_put_node(print, number);
    cxx_put_byte(print, close);
}

void cxx_put_within(struct cxx_print *print, uint32_t number)
{
    switch (cxx_at(print->cxx, number)->kind) {
    case CXX_NAME:
    case CXX_QUALIFIED:
    case CXX_ARGUMENT:
    case CXX_BRACED:
        cxx_put_node(print, number);
        return;
    default:
        put_in(print, '(', number, ')');
        return;
    }
}

static void put_literal(struct cxx_print *print, const struct cxx_node *node)
{
    const struct cxx_node *type = cxx_at(print->cxx, node->a);
    const struct cxx_builtin *builtin =
        type->kind == CXX_BUILTIN ? &cxx_builtins[type->small] : NULL;
    const char *digits = print->cxx->name + node->b;
    char how = builtin ? builtin->literal : '-';

    if (how == 'b' && node->c == 1 && !node->flags && (*digits == '0' || *digits == '1')) {
        cxx_put_string(print, *digits == '1' ? "true" : "false");
        return;
    }
    if (how == '-' || how == 'f' || how == 'b')
        put_in(print, '(', node->a, ')');
    if (node->flags)
        cxx_put_byte(print, '-');
    if (how == 'f')
        cxx_put_byte(print, '[');
    cxx_put(print, digits, node->c);
    if (how == 'f')
        cxx_put_byte(print, ']');
    static const char endings[] = "jlmxy";
    static const char *const texts[] = {"u", "l", "ul", "ll", "ull"};
    const char *ending = strchr(endings, how);
    if (ending)
        cxx_put_string(print, texts[ending - endings]);
}

/* The address of a member function without qualifiers is printed as its name only. */
static void put_address(struct cxx_print *print, uint32_t of)
{
    const struct cxx_node *node = cxx_at(print->cxx, of);

    if (node->kind == CXX_ENCODING && !node->b)
        cxx_put_node(print, node->a);
    else if (node->kind == CXX_ENCODING && !node->flags &&
             cxx_at(print->cxx, node->a)->kind == CXX_QUALIFIED)
        cxx_put_node(print, node->a);
    else
        cxx_put_within(print, of);
}

static void put_unary(struct cxx_print *print, const struct cxx_node *node)
{
    const char *text = cxx_operators[node->small].text;

    if (!node->a) {
        cxx_put(print, "throw", 5);
        return;
    }
    if (node->flags) {
        cxx_put_within(print, node->a);
        cxx_put_string(print, text);
        return;
    }
    cxx_put_string(print, text);
    if (*text >= 'a' && *text <= 'z')
        cxx_put_byte(print, ' ');
    if (!strcmp(text, "noexcept") || !strcmp(text, "typeid"))
        put_in(print, '(', node->a, ')');
    else if (*text == '&')
        put_address(print, node->a);
    else
        cxx_put_within(print, node->a);
}

static void put_binary(struct cxx_print *print, const struct cxx_node *node)
{
    const char *text = cxx_operators[node->small].text;
    /* It would otherwise end the template arguments. */
    bool is_greater = !strcmp(text, ">");

    if (is_greater)
        cxx_put_byte(print, '(');
    cxx_put_within(print, node->a);
    if (!strcmp(text, "[]")) {
        put_in(print, '[', node->b, ']');
    } else {
        cxx_put_string(print, text);
        cxx_put_within(print, node->b);
    }
    if (is_greater)
        cxx_put_byte(print, ')');
}

static void put_call(struct cxx_print *print, const struct cxx_node *node)
{
    const struct cxx_node *function = cxx_at(print->cxx, node->a);

    /* The call shows the parameters. */
    cxx_put_within(print, function->kind == CXX_ENCODING ? function->a : node->a);
    cxx_put_byte(print, '(');
    cxx_put_list(print, node->b);
    cxx_put_byte(print, ')');
}

static void put_new(struct cxx_print *print, const struct cxx_node *node)
{
    cxx_put_string(print, cxx_operators[node->small].text);
    cxx_put_byte(print, ' ');
    if (cxx_at(print->cxx, node->a)->b) {
        put_in(print, '(', node->a, ')');
        cxx_put_byte(print, ' ');
    }
    cxx_put_node(print, node->b);
    if (node->c && cxx_at(print->cxx, node->c)->kind == CXX_LIST)
        put_in(print, '(', node->c, ')');
    else if (node->c)
        cxx_put_node(print, node->c);
}

static void put_braced(struct cxx_print *print, const struct cxx_node *node)
{
    if (node->a)
        cxx_put_node(print, node->a);
    put_in(print, '{', node->b, '}');
}

static void put_designated(struct cxx_print *print, const struct cxx_node *node)
{
    bool is_member = node->kind == CXX_DESIGNATED;

    cxx_put_byte(print, is_member ? '.' : '[');
    cxx_put_node(print, node->a);
    if (node->c) {
        cxx_put(print, " ... ", 5);
        cxx_put_node(print, node->c);
    }
    if (!is_member)
        cxx_put_byte(print, ']');
    uint8_t kind = cxx_at(print->cxx, node->b)->kind;
    if (kind == CXX_DESIGNATED || kind == CXX_INDEXED) {
        cxx_put_node(print, node->b);
    } else {
        cxx_put_byte(print, '=');
        cxx_put_within(print, node->b);
    }
}

static void put_fold(struct cxx_print *print, const struct cxx_node *node)
{
    const char *text = cxx_operators[node->small].text;
    int32_t pack = print->pack;

    print->pack = CXX_PACK_WHOLE;
    cxx_put_byte(print, '(');
    if (node->flags == 'l') {
        cxx_put(print, "...", 3);
    } else {
        cxx_put_within(print, node->a);
        cxx_put_string(print, text);
        if (node->flags != 'r')
            cxx_put(print, "...", 3);
    }
    if (node->flags == 'r') {
        cxx_put(print, "...", 3);
    } else {
        cxx_put_string(print, text);
        cxx_put_within(print, node->b ? node->b : node->a);
    }
    cxx_put_byte(print, ')');
    print->pack = pack;
}

static bool is_expanded_parameter(const struct cxx_print *print, uint32_t number)
{
    const struct cxx_node *node = cxx_at(print->cxx, number);

    return node->kind == CXX_EXPANSION && cxx_at(print->cxx, node->a)->kind == CXX_PARAMETER;
}

/* The number of a pack's arguments; one for a pattern without a pack. */
static uint32_t count_of(struct cxx_print *print, uint32_t number)
{
    const struct cxx_node *node = cxx_at(print->cxx, number);
    uint32_t sum = 0;

    if (is_expanded_parameter(print, number)) {
        number = node->a;
        node = cxx_at(print->cxx, number);
    }
    if (node->kind == CXX_PARAMETER) {
        int32_t pack = print->pack;
        print->pack = CXX_PACK_WHOLE;
        node = cxx_at(print->cxx, cxx_resolve(print, number));
        print->pack = pack;
    }
    if (node->kind == CXX_PACK)
        node = cxx_at(print->cxx, node->a);
    if (node->kind != CXX_LIST || !cxx_print_enter(print))
        return 1;
    for (uint32_t i = 0; i < node->b && cxx_step(print); i++) {
        uint32_t item = print->cxx->lists.items[node->a + i];
        sum += is_expanded_parameter(print, item) ? count_of(print, item) : 1;
    }
    print->depth--;
    return sum;
}

static void put_count(struct cxx_print *print, const struct cxx_node *node)
{
    uint8_t kind = cxx_at(print->cxx, node->a)->kind;

    if (kind == CXX_LIST || (kind == CXX_PARAMETER && !print->in_lambda)) {
        cxx_put_number(print, count_of(print, node->a));
        return;
    }
    cxx_put_string(print, "sizeof...");
    put_in(print, '(', node->a, ')');
}

static void put_requirement(struct cxx_print *print, const struct cxx_node *node)
{
    if (node->small == 'T') {
        cxx_put_string(print, "typename ");
        cxx_put_node(print, node->a);
    } else if (node->small == 'Q') {
        cxx_put_string(print, "requires ");
        cxx_put_node(print, node->a);
    } else if (node->b || node->flags) {
        put_in(print, '{', node->a, '}');
        if (node->flags)
            cxx_put_string(print, " noexcept");
        if (node->b) {
            cxx_put(print, " -> ", 4);
            cxx_put_node(print, node->b);
        }
    } else {
        cxx_put_node(print, node->a);
    }
    cxx_put(print, "; ", 2);
}

static void put_requires(struct cxx_print *print, const struct cxx_node *node)
{
    const struct cxx_node *list = cxx_at(print->cxx, node->b);

    cxx_put_string(print, "requires ");
    if (node->a) {
        put_in(print, '(', node->a, ')');
        cxx_put_byte(print, ' ');
    }
    cxx_put(print, "{ ", 2);
    for (uint32_t i = 0; i < list->b; i++)
        cxx_put_node(print, print->cxx->lists.items[list->a + i]);
    cxx_put_byte(print, '}');
}

static void put_cast(struct cxx_print *print, const struct cxx_node *node)
{
    put_in(print, '(', node->a, ')');
    cxx_put_within(print, node->b);
}

static bool put_rare(struct cxx_print *print, const struct cxx_node *node)
{
    switch (node->kind) {
    case CXX_TEXT_LITERAL:
        cxx_put(print, "\"<", 2);
        cxx_put_node(print, node->a);
        cxx_put(print, ">\"", 2);
        return true;
    case CXX_NEW:
        put_new(print, node);
        return true;
    case CXX_DESIGNATED:
    case CXX_INDEXED:
        put_designated(print, node);
        return true;
    case CXX_FOLD:
        put_fold(print, node);
        return true;
    case CXX_COUNT:
        put_count(print, node);
        return true;
    case CXX_PACK_INDEX:
        cxx_put_node(print, node->a);
        cxx_put(print, "...[", 4);
        cxx_put_node(print, node->b);
        cxx_put_byte(print, ']');
        return true;
    case CXX_REQUIRES:
        put_requires(print, node);
        return true;
    case CXX_REQUIREMENT:
        put_requirement(print, node);
        return true;
    case CXX_SUBOBJECT:
        cxx_put_node(print, node->b);
        cxx_put_string(print, ".<");
        cxx_put_node(print, node->a);
        cxx_put_byte(print, '>');
        return true;
    case CXX_VENDOR_CALL:
        cxx_put_node(print, node->a);
        put_in(print, '(', node->b, ')');
        return true;
    default:
        return false;
    }
}

static void put_argument(struct cxx_print *print, const struct cxx_node *node)
{
    if (!node->c) {
        cxx_put(print, "this", 4);
        return;
    }
    cxx_put(print, "{parm#", 6);
    cxx_put_number(print, node->c);
    cxx_put_byte(print, '}');
}

bool cxx_put_expression(struct cxx_print *print, const struct cxx_node *node)
{
    switch (node->kind) {
    case CXX_LITERAL:
        put_literal(print, node);
        return true;
    case CXX_NUMBER:
        cxx_put(print, print->cxx->name + node->a, node->b);
        return true;
    case CXX_ARGUMENT:
        put_argument(print, node);
        return true;
    case CXX_UNARY:
        put_unary(print, node);
        return true;
    case CXX_BINARY:
        put_binary(print, node);
        return true;
    case CXX_TERNARY:
        cxx_put_within(print, node->a);
        cxx_put_byte(print, '?');
        cxx_put_within(print, node->b);
        cxx_put(print, " : ", 3);
        cxx_put_within(print, node->c);
        return true;
    case CXX_CALL:
        put_call(print, node);
        return true;
    case CXX_CAST:
        put_cast(print, node);
        return true;
    case CXX_NAMED_CAST:
        cxx_put_string(print, cxx_operators[node->small].text);
        put_in(print, '<', node->a, '>');
        put_in(print, '(', node->b, ')');
        return true;
    case CXX_OF_TYPE:
        cxx_put_string(print, cxx_operators[node->small].text);
        cxx_put_byte(print, ' ');
        put_in(print, '(', node->a, ')');
        return true;
    case CXX_BRACED:
        put_braced(print, node);
        return true;
    case CXX_GLOBAL:
        cxx_put(print, "::", 2);
        cxx_put_node(print, node->a);
        return true;
    default:
        return put_rare(print, node);
    }
}
