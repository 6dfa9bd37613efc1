/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "demangle/cxx.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"

/* A name that repeats parts of itself could grow without end: longer ones are rejected. */
#define MOST_BYTES (128 * 1024)
#define MOST_STEPS 400000
/* Nested nodes; through S_ there may be more of them than the name has. */
#define DEEPEST 256

/* Makes room for so many more bytes. */
static bool make_room(struct cxx_print *print, size_t length)
{
    if (print->error)
        return false;
    if (print->length + length > MOST_BYTES)
        print->error = -EINVAL;
    else if (ARRAY_RESERVE(print->out, print->room, print->length + length))
        print->error = -ENOMEM;
    return !print->error;
}

/* Copies in pieces of a fixed size: texts are short, and calling memcpy() would take longer. */
void cxx_put(struct cxx_print *print, const char *bytes, size_t length)
{
    if (!length || (length > print->room - print->length && !make_room(print, length)))
        return;
    char *to = print->out + print->length;
    print->length += length;
    for (; length >= 8; length -= 8, to += 8, bytes += 8)
        memcpy(to, bytes, 8);
    if (length & 4) {
        memcpy(to, bytes, 4);
        to += 4;
        bytes += 4;
    }
    if (length & 2) {
        memcpy(to, bytes, 2);
        to += 2;
        bytes += 2;
    }
    if (length & 1)
        *to = *bytes;
}

void cxx_put_byte(struct cxx_print *print, char byte)
{
    if (print->length < print->room)
        print->out[print->length++] = byte;
    else
        cxx_put(print, &byte, 1);
}

static void put_again(struct cxx_print *print, size_t first, size_t length)
{
    /* Room first: it may move. */
    if (length <= print->room - print->length || make_room(print, length))
        cxx_put(print, print->out + first, length);
}

static void put_string(struct cxx_print *print, const char *string)
{
    cxx_put(print, string, strlen(string));
}

static void put_number(struct cxx_print *print, uint32_t number)
{
    char digits[12], *first = digits + sizeof(digits);

    do
        *--first = (char)('0' + number % 10);
    while (number /= 10);
    cxx_put(print, first, (size_t)(digits + sizeof(digits) - first));
}

bool cxx_step(struct cxx_print *print)
{
    if (++print->steps > MOST_STEPS && !print->error)
        print->error = -EINVAL;
    return !print->error;
}

/* The same for something nested; on leaving it, print->depth--. */
static bool enter(struct cxx_print *print)
{
    if (print->depth >= DEEPEST && !print->error)
        print->error = -EINVAL;
    if (!cxx_step(print))
        return false;
    print->depth++;
    return true;
}

/* Does it need no parentheses within another? */
static bool is_simple(const struct cxx_print *print, uint32_t number)
{
    uint8_t kind = cxx_at(print->cxx, number)->kind;

    return kind == CXX_NAME || kind == CXX_QUALIFIED || kind == CXX_ARGUMENT || kind == CXX_BRACED;
}

/* An expression within another: in parentheses unless it is simple. */
static void put_operand(struct cxx_print *print, uint32_t number)
{
    const bool bare = is_simple(print, number);

    if (!bare)
        cxx_put_byte(print, '(');
    cxx_put_node(print, number);
    if (!bare)
        cxx_put_byte(print, ')');
}

/*
 * How most kinds are printed: %a %b %c are the node's parts, %A %B %C the same as operands, %n the
 * number in c, %o the operator's text, %t the text of cxx_texts.
 */
static const char *const forms[] = {
    [CXX_ANONYMOUS] = "(anonymous namespace)",
    [CXX_STRING] = "string literal",
    [CXX_DEFAULT] = "{default arg#%n}::%b",
    [CXX_PACK] = "%a",
    [CXX_TAGGED] = "%a[abi:%b]",
    [CXX_CONVERSION] = "operator %a",
    [CXX_LITERAL_NAME] = "operator\"\" %a",
    [CXX_VENDOR_NAME] = "operator %a",
    [CXX_UNNAMED] = "{unnamed type#%n}",
    [CXX_BLOCK] = "{block literal#%n}",
    [CXX_BINDING] = "[%a]",
    [CXX_IN_MODULE] = "%a@%b",
    [CXX_FRIEND] = "%a[friend]",
    [CXX_SUFFIXED] = "%a%t",
    [CXX_PREFIXED] = "%t%a",
    [CXX_CONSTRAINED] = "%a%t",
    [CXX_VECTOR] = "%a __vector(%b)",
    [CXX_DECLTYPE] = "decltype (%a)",
    [CXX_TEXT_LITERAL] = "\"<%a>\"",
    [CXX_TERNARY] = "%A?%B : %C",
    [CXX_CAST] = "(%a)%B",
    [CXX_NAMED_CAST] = "%o<%a>(%b)",
    [CXX_OF_TYPE] = "%o (%a)",
    [CXX_BRACED] = "%a{%b}",
    [CXX_PACK_INDEX] = "%a...[%b]",
    [CXX_GLOBAL] = "::%a",
    [CXX_SUBOBJECT] = "%b.<%a>",
    [CXX_VENDOR_CALL] = "%a(%b)",
};

void cxx_put_form(struct cxx_print *print, const struct cxx_node *node, const char *form)
{
    for (;;) {
        const char *end = strchrnul(form, '%');
        cxx_put(print, form, (size_t)(end - form));
        if (!*end)
            return;
        form = end + 2;
        switch (end[1]) {
        case 'a': cxx_put_node(print, node->a); break;
        case 'b': cxx_put_node(print, node->b); break;
        case 'c': cxx_put_node(print, node->c); break;
        case 'A': put_operand(print, node->a); break;
        case 'B': put_operand(print, node->b); break;
        case 'C': put_operand(print, node->c); break;
        case 'n': put_number(print, node->c); break;
        case 'o': put_string(print, cxx_operators + node->small + CXX_ROW_TEXT); break;
        case 't': put_string(print, cxx_texts[node->small]); break;
        }
    }
}

/* The pack's argument at this point of the expansion; 0: there are no more. */
static uint32_t of_pack(struct cxx_print *print, const struct cxx_node *list)
{
    if (print->pack == CXX_PACK_UNKNOWN) {
        print->pack = 0;
        print->pack_count = (int32_t)list->b;
    }
    return (uint32_t)print->pack < list->b
               ? print->cxx->lists.items[list->a + (uint32_t)print->pack]
               : 0;
}

uint32_t cxx_resolve(struct cxx_print *print, uint32_t number)
{
    for (unsigned rounds = 0; rounds < DEEPEST; rounds++) {
        const struct cxx_node *node = cxx_at(print->cxx, number);
        if (node->kind != CXX_PARAMETER || print->in_lambda)
            return number;
        const struct cxx_node *list = cxx_at(print->cxx, print->arguments);
        if (!print->arguments || node->small >= list->b)
            break;
        number = print->cxx->lists.items[list->a + node->small];
        node = cxx_at(print->cxx, number);
        if (node->kind == CXX_PACK && print->pack != CXX_PACK_WHOLE)
            number = of_pack(print, cxx_at(print->cxx, node->a));
    }
    print->error = print->error ? print->error : -EINVAL;
    return 0;
}

/* Puts an item of a list that began at `first`. False: it is empty, and leaves no text. */
static bool put_item(struct cxx_print *print, size_t first, uint32_t number)
{
    const size_t before = print->length;

    if (before > first)
        cxx_put(print, ", ", 2);
    const size_t empty = print->length;
    cxx_put_node(print, number);
    const bool any = print->length != empty;
    if (!any)
        print->length = before;
    return any;
}

static void put_list(struct cxx_print *print, uint32_t number)
{
    const struct cxx_node *list = cxx_at(print->cxx, number);
    size_t first = print->length;

    for (uint32_t i = 0; i < list->b && !print->error; i++)
        if (!put_item(print, first, print->cxx->lists.items[list->a + i]))
            print->dropped = print->length;
}

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
            put_string(print, cxx_standards[node->small].base);
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
    if (print->options->shorten && !is_empty(print, arguments->a))
        cxx_put(print, "...", 3);
    else
        put_list(print, arguments->a);
    /* c++filt prints no blank after something empty. */
    if (cxx_last(print) == '>' && print->dropped != print->length)
        cxx_put_byte(print, ' ');
    cxx_put_byte(print, '>');
}

/*
 * Copies the text of a name that S_ refers to from its first appearance, except where the text
 * depends on its place, through a pack's argument or a lambda's parameter.
 */
static void put_once(struct cxx_print *print, const struct cxx_node *node)
{
    struct cxx_node *known = &print->cxx->nodes[node - print->cxx->nodes];
    size_t first = print->length;

    if (node->small && !print->changing) {
        put_again(print, node->c, node->small);
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
    put_string(print, text);
}

static void put_declaration(struct cxx_print *print, const struct cxx_node *node)
{
    const char *dots = node->flags ? "..." : "";

    if (node->small == 1) {
        cxx_put_left(print, node->b);
        if ((cxx_last(print) != '*' && cxx_last(print) != '(') ||
            cxx_at(print->cxx, node->b)->kind != CXX_POINTER)
            cxx_put_byte(print, ' ');
        put_string(print, dots);
        cxx_put_node(print, node->a);
        cxx_put_right(print, node->b);
        return;
    }
    cxx_put_form(print, node,
                 node->small == 2 ? "template<%b> typename" : node->b ? "%b" : "typename");
    put_string(print, dots);
    cxx_put_form(print, node, " %a");
}

static void put_lambda(struct cxx_print *print, const struct cxx_node *node)
{
    int32_t pack = print->pack;

    cxx_put(print, "{lambda", 7);
    print->in_lambda++;
    print->changing++;
    print->pack = CXX_PACK_WHOLE;
    cxx_put_form(print, node, cxx_at(print->cxx, node->b)->b ? "<%b>(%a)#" : "(%a)#");
    print->pack = pack;
    print->in_lambda--;
    print->changing--;
    cxx_put_form(print, node, "%n}");
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
    cxx_put_form(print, node, "::%b");
    print->in_lambda = in_lambda;
}

static void put_special(struct cxx_print *print, const struct cxx_node *node)
{
    const char *row = cxx_specials + node->small;

    put_string(print, row + CXX_ROW_TEXT);
    if (row[CXX_ROW_LETTER] == 'R')
        cxx_put_form(print, node, "%n for ");
    cxx_put_form(print, node, node->b ? "%a-in-%b" : "%a");
}

static void put_parameter(struct cxx_print *print, const struct cxx_node *node)
{
    if (node->a) {
        cxx_put_node(print, node->a);
        return;
    }
    cxx_put(print, "auto:", 5);
    put_number(print, node->small + 1u);
}

static void put_name(struct cxx_print *print, const struct cxx_node *node)
{
    static const char *const parameters[] = {"$T%n", "$N%n", "$TT%n"};

    switch (node->kind) {
    case CXX_NAME: cxx_put(print, print->cxx->name + node->a, node->b); break;
    case CXX_BUILTIN:
        cxx_put(print, cxx_builtins[node->small].text, cxx_builtins[node->small].length);
        break;
    case CXX_STANDARD:
        put_string(print, node->flags ? cxx_standards[node->small].full
                                      : cxx_standards[node->small].text);
        break;
    case CXX_QUALIFIED:
    case CXX_TEMPLATE: put_once(print, node); break;
    case CXX_LOCAL: put_local(print, node); break;
    case CXX_PARAMETER: put_parameter(print, node); break;
    case CXX_ENCODING: cxx_put_encoding(print, node, false); break;
    case CXX_SPECIAL: put_special(print, node); break;
    case CXX_LIST: put_list(print, (uint32_t)(node - print->cxx->nodes)); break;
    case CXX_DESTRUCTOR:
        cxx_put_byte(print, '~');
        put_base_name(print, node->a);
        break;
    case CXX_CONSTRUCTOR: put_base_name(print, node->a); break;
    case CXX_OPERATOR: put_operator(print, cxx_operators + node->small + CXX_ROW_TEXT); break;
    case CXX_LAMBDA: put_lambda(print, node); break;
    case CXX_MODULE:
        cxx_put_form(print, node, node->flags ? "%a:%b" : node->a ? "%a.%b" : "%b");
        break;
    case CXX_PARAMETER_NAME: cxx_put_form(print, node, parameters[node->small]); break;
    case CXX_DECLARATION: put_declaration(print, node); break;
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
        put_string(print, *digits == '1' ? "true" : "false");
        return;
    }
    if (how == '-' || how == 'f' || how == 'b')
        cxx_put_form(print, node, "(%a)");
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
        put_string(print, texts[ending - endings]);
}

/* The address of a member function without qualifiers is printed as its name only. */
static void put_address(struct cxx_print *print, uint32_t of)
{
    const struct cxx_node *node = cxx_at(print->cxx, of);

    if (node->kind == CXX_ENCODING &&
        (!node->b || (!node->flags && cxx_at(print->cxx, node->a)->kind == CXX_QUALIFIED)))
        cxx_put_node(print, node->a);
    else
        put_operand(print, of);
}

static void put_unary(struct cxx_print *print, const struct cxx_node *node)
{
    const char *text = cxx_operators + node->small + CXX_ROW_TEXT;

    if (!node->a) {
        cxx_put(print, "throw", 5);
        return;
    }
    if (node->flags) {
        cxx_put_form(print, node, "%A%o");
        return;
    }
    put_string(print, text);
    if (*text >= 'a' && *text <= 'z')
        cxx_put_byte(print, ' ');
    if (!strcmp(text, "noexcept") || !strcmp(text, "typeid"))
        cxx_put_form(print, node, "(%a)");
    else if (*text == '&')
        put_address(print, node->a);
    else
        put_operand(print, node->a);
}

static void put_fold(struct cxx_print *print, const struct cxx_node *node)
{
    int32_t pack = print->pack;

    print->pack = CXX_PACK_WHOLE;
    switch (node->flags) {
    case 'l': cxx_put_form(print, node, "(...%o%A)"); break;
    case 'r': cxx_put_form(print, node, "(%A%o...)"); break;
    default: cxx_put_form(print, node, "(%A%o...%o%B)");
    }
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
    if (node->kind != CXX_LIST || !enter(print))
        return 1;
    for (uint32_t i = 0; i < node->b && cxx_step(print); i++) {
        uint32_t item = print->cxx->lists.items[node->a + i];
        sum += is_expanded_parameter(print, item) ? count_of(print, item) : 1;
    }
    print->depth--;
    return sum;
}

static void put_binary(struct cxx_print *print, const struct cxx_node *node)
{
    const char *text = cxx_operators + node->small + CXX_ROW_TEXT;

    if (!strcmp(text, ">")) /* it would otherwise end the template arguments */
        cxx_put_form(print, node, "(%A%o%B)");
    else
        cxx_put_form(print, node, strcmp(text, "[]") ? "%A%o%B" : "%A[%b]");
}

static void put_call(struct cxx_print *print, const struct cxx_node *node)
{
    const struct cxx_node *function = cxx_at(print->cxx, node->a);

    /* The call shows the parameters. */
    put_operand(print, function->kind == CXX_ENCODING ? function->a : node->a);
    cxx_put_form(print, node, "(%b)");
}

static void put_new(struct cxx_print *print, const struct cxx_node *node)
{
    bool has_places = cxx_at(print->cxx, node->a)->b;
    bool is_list = cxx_at(print->cxx, node->c)->kind == CXX_LIST;

    cxx_put_form(print, node, has_places ? "%o (%a) %b" : "%o %b");
    cxx_put_form(print, node, is_list ? "(%c)" : "%c");
}

static void put_designated(struct cxx_print *print, const struct cxx_node *node)
{
    uint8_t kind = cxx_at(print->cxx, node->b)->kind;

    cxx_put_form(print, node,
                 node->kind == CXX_DESIGNATED ? ".%a" : node->c ? "[%a ... %c]" : "[%a]");
    cxx_put_form(print, node, kind == CXX_DESIGNATED || kind == CXX_INDEXED ? "%b" : "=%B");
}

static void put_count(struct cxx_print *print, const struct cxx_node *node)
{
    uint8_t kind = cxx_at(print->cxx, node->a)->kind;

    if (kind == CXX_LIST || (kind == CXX_PARAMETER && !print->in_lambda))
        put_number(print, count_of(print, node->a));
    else
        cxx_put_form(print, node, "sizeof...(%a)");
}

static void put_requirement(struct cxx_print *print, const struct cxx_node *node)
{
    bool has_braces = node->small == 'X' && (node->b || node->flags);

    cxx_put_form(print, node, node->small == 'T'   ? "typename %a"
                              : node->small == 'Q' ? "requires %a"
                              : has_braces         ? "{%a}" : "%a");
    if (has_braces && node->flags)
        put_string(print, " noexcept");
    if (has_braces && node->b)
        cxx_put_form(print, node, " -> %b");
    cxx_put(print, "; ", 2);
}

static void put_requires(struct cxx_print *print, const struct cxx_node *node)
{
    const struct cxx_node *list = cxx_at(print->cxx, node->b);

    cxx_put_form(print, node, node->a ? "requires (%a) { " : "requires { ");
    for (uint32_t i = 0; i < list->b; i++)
        cxx_put_node(print, print->cxx->lists.items[list->a + i]);
    cxx_put_byte(print, '}');
}

static void put_expression(struct cxx_print *print, const struct cxx_node *node)
{
    switch (node->kind) {
    case CXX_LITERAL: put_literal(print, node); break;
    case CXX_NUMBER: cxx_put(print, print->cxx->name + node->a, node->b); break;
    case CXX_ARGUMENT: cxx_put_form(print, node, node->c ? "{parm#%n}" : "this"); break;
    case CXX_UNARY: put_unary(print, node); break;
    case CXX_BINARY: put_binary(print, node); break;
    case CXX_CALL: put_call(print, node); break;
    case CXX_NEW: put_new(print, node); break;
    case CXX_DESIGNATED:
    case CXX_INDEXED: put_designated(print, node); break;
    case CXX_FOLD: put_fold(print, node); break;
    case CXX_COUNT: put_count(print, node); break;
    case CXX_REQUIRES: put_requires(print, node); break;
    case CXX_REQUIREMENT: put_requirement(print, node); break;
    }
}

/* The pattern once per argument of the pack in it; with dots if the pack is unknown. */
static void put_expansion(struct cxx_print *print, uint32_t pattern)
{
    int32_t pack = print->pack, count = print->pack_count;
    size_t first = print->length;

    print->pack = CXX_PACK_UNKNOWN;
    print->changing++;
    cxx_put_node(print, pattern);
    if (print->pack == CXX_PACK_UNKNOWN) {
        if (!is_simple(print, pattern)) {
            cxx_put_byte(print, ')');
            if (!print->error) {
                memmove(print->out + first + 1, print->out + first, print->length - first - 1);
                print->out[first] = '(';
                cxx_put_byte(print, ')');
            }
        }
        cxx_put(print, "...", 3);
    } else {
        int32_t here = print->pack_count;
        if (!here)
            print->length = first;
        for (int32_t i = 1; i < here && !print->error; i++) {
            print->pack = i;
            put_item(print, first, pattern);
        }
    }
    print->changing--;
    print->pack = pack;
    print->pack_count = count;
}

void cxx_put_left(struct cxx_print *print, uint32_t number)
{
    const struct cxx_node *node = cxx_at(print->cxx, number);

    if (!enter(print))
        return;
    if (node->kind == CXX_PARAMETER) {
        number = cxx_resolve(print, number);
        node = cxx_at(print->cxx, number);
    }
    if (node->kind < COUNT_OF(forms) && forms[node->kind])
        cxx_put_form(print, node, forms[node->kind]);
    else if (node->kind < CXX_POINTER)
        put_name(print, node);
    else if (node->kind >= CXX_LITERAL)
        put_expression(print, node);
    else if (node->kind == CXX_EXPANSION)
        put_expansion(print, node->a);
    else
        cxx_put_type_left(print, node);
    print->depth--;
}

static bool may_have_right(const struct cxx_node *node)
{
    return node->kind == CXX_PARAMETER ||
           (node->kind >= CXX_POINTER && node->kind < CXX_DECLTYPE && !node->small);
}

void cxx_put_right(struct cxx_print *print, uint32_t number)
{
    const struct cxx_node *node = cxx_at(print->cxx, number);

    if (!may_have_right(node) || !enter(print))
        return;
    node = cxx_at(print->cxx, cxx_resolve(print, number));
    if (node->kind >= CXX_POINTER && may_have_right(node))
        cxx_put_type_right(print, node);
    print->depth--;
}

void cxx_put_node(struct cxx_print *print, uint32_t number)
{
    const struct cxx_node *node = cxx_at(print->cxx, number);

    if (node->kind == CXX_NAME) {
        cxx_put(print, print->cxx->name + node->a, node->b);
        return;
    }
    cxx_put_left(print, number);
    if (may_have_right(node))
        cxx_put_right(print, number);
}

/* The whole name; with `without_parameters`, of a function only what precedes its types. */
static void put_whole(struct cxx_print *print, uint32_t number)
{
    const struct cxx_node *node = cxx_at(print->cxx, number);

    if (node->kind == CXX_ENCODING && print->options->without_parameters && node->b) {
        print->arguments = node->c;
        cxx_put_node(print, node->a);
    } else {
        cxx_put_node(print, number);
    }
}

int cxx_print(const struct cxx *cxx, uint32_t number, const struct demangle_options *options,
              struct text *to)
{
    struct cxx_print print = {.cxx = cxx, .options = options, .out = to->data, .room = to->room,
                              .length = to->length,
                              .pack = CXX_PACK_WHOLE};

    put_whole(&print, number);
    cxx_put_byte(&print, '\0');
    to->data = print.out;
    to->room = print.room;
    to->length = print.error ? 0 : print.length - 1;
    if (!print.error && !to->length)
        print.error = -EINVAL;
    return print.error;
}
