/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "demangle/cxx_print.h"

#include <errno.h>

#include "base/text.h"
#include "base/util.h"

/* A name that repeats parts of itself could grow without end: longer ones are rejected. */
#define MOST_BYTES (128 * 1024)
#define MOST_STEPS 400000
/* Nested nodes; through S_ there may be more of them than the name has. */
#define DEEPEST 256

/* Room for that many more bytes. */
static bool make_room(struct cxx_print *print, size_t length)
{
    if (print->error)
        return false;
    if (print->length + length > MOST_BYTES)
        print->error = -EINVAL;
    else if (array_reserve(&print->out, &print->room, print->length + length, 1))
        print->error = -ENOMEM;
    return !print->error;
}

static void put_slowly(struct cxx_print *print, const char *bytes, size_t length)
{
    if (make_room(print, length))
        cxx_put(print, bytes, length);
}

/* In pieces of a fixed size: they are short, and a call of memcpy() would take longer. */
void cxx_put(struct cxx_print *print, const char *bytes, size_t length)
{
    if (length > print->room - print->length) {
        put_slowly(print, bytes, length);
        return;
    }
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

void cxx_put_again(struct cxx_print *print, size_t first, size_t length)
{
    /* Room first: it may move. */
    if (length <= print->room - print->length || make_room(print, length))
        cxx_put(print, print->out + first, length);
}

void cxx_put_string(struct cxx_print *print, const char *string)
{
    cxx_put(print, string, strlen(string));
}

void cxx_put_number(struct cxx_print *print, uint32_t number)
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

bool cxx_print_enter(struct cxx_print *print)
{
    if (print->depth >= DEEPEST && !print->error)
        print->error = -EINVAL;
    if (!cxx_step(print))
        return false;
    print->depth++;
    return true;
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

/* The pattern once per argument of the pack in it; with dots if the pack is unknown. */
static void put_expansion(struct cxx_print *print, uint32_t pattern)
{
    int32_t pack = print->pack, count = print->pack_count;
    size_t first = print->length;
    uint8_t kind = cxx_at(print->cxx, pattern)->kind;

    print->pack = CXX_PACK_UNKNOWN;
    print->changing++;
    cxx_put_node(print, pattern);
    if (print->pack == CXX_PACK_UNKNOWN) {
        if (kind != CXX_NAME && kind != CXX_QUALIFIED && kind != CXX_ARGUMENT &&
            kind != CXX_BRACED) {
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
            size_t before = print->length;
            if (before > first)
                cxx_put(print, ", ", 2);
            size_t empty = print->length;
            print->pack = i;
            cxx_put_node(print, pattern);
            if (print->length == empty)
                print->length = before;
        }
    }
    print->changing--;
    print->pack = pack;
    print->pack_count = count;
}

void cxx_put_list(struct cxx_print *print, uint32_t number)
{
    const struct cxx_node *list = cxx_at(print->cxx, number);
    size_t first = print->length;

    for (uint32_t i = 0; i < list->b && !print->error; i++) {
        size_t before = print->length;
        if (before > first)
            cxx_put(print, ", ", 2);
        size_t empty = print->length;
        cxx_put_node(print, print->cxx->lists.items[list->a + i]);
        if (print->length == empty) {
            print->length = before;
            print->dropped = before;
        }
    }
}

void cxx_put_left(struct cxx_print *print, uint32_t number)
{
    const struct cxx_node *node = cxx_at(print->cxx, number);

    if (!cxx_print_enter(print))
        return;
    if (node->kind == CXX_PARAMETER) {
        number = cxx_resolve(print, number);
        node = cxx_at(print->cxx, number);
    }
    if (node->kind < CXX_POINTER)
        cxx_put_name_left(print, node);
    else if (node->kind >= CXX_LITERAL)
        cxx_put_expression(print, node);
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

    if (!may_have_right(node) || !cxx_print_enter(print))
        return;
    node = cxx_at(print->cxx, cxx_resolve(print, number));
    if (node->kind >= CXX_POINTER && may_have_right(node))
        cxx_put_type_right(print, node);
    print->depth--;
}

static void put_both(struct cxx_print *print, uint32_t number)
{
    cxx_put_left(print, number);
    cxx_put_right(print, number);
}

void cxx_put_node(struct cxx_print *print, uint32_t number)
{
    const struct cxx_node *node = cxx_at(print->cxx, number);

    if (node->kind == CXX_NAME)
        cxx_put(print, print->cxx->name + node->a, node->b);
    else if (may_have_right(node))
        put_both(print, number);
    else
        cxx_put_left(print, number);
}

/* The whole name; if so wished, of a function only what precedes its types. */
static void put_whole(struct cxx_print *print, uint32_t number)
{
    const struct cxx_node *node = cxx_at(print->cxx, number);

    if (node->kind == CXX_ENCODING && print->wishes->without_parameters && node->b) {
        print->arguments = node->c;
        cxx_put_node(print, node->a);
    } else {
        cxx_put_node(print, number);
    }
}

int cxx_print(const struct cxx *cxx, uint32_t number, const struct demangle_wishes *wishes,
              struct text *to)
{
    struct cxx_print print = {.cxx = cxx, .wishes = wishes, .out = to->data, .room = to->room,
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
