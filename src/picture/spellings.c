/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "picture/spellings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"

#define HASH_DIGITS 16

/* ---- Suffixes ---- */

static bool ends_in(const char *name, size_t length, const char *ending, size_t ending_length)
{
    return length > ending_length && !memcmp(name + length - ending_length, ending, ending_length);
}

static size_t without_hash(const char *name, size_t length)
{
    size_t left = length;

    while (left && length - left < HASH_DIGITS && strchr("0123456789abcdef", name[left - 1]))
        left--;
    return length - left == HASH_DIGITS && ends_in(name, left, "::h", 3) ? left - 3 : length;
}

static size_t without_plain_ending(const char *name, size_t length)
{
    static const char *const numbered[] = {".isra.", ".constprop.", ".part.", ".llvm.", ".cold."};
    size_t left = length;

    if (ends_in(name, length, ".cold", 5))
        return length - 5;
    while (left && name[left - 1] >= '0' && name[left - 1] <= '9')
        left--;
    if (left == length || !left || name[left - 1] != '.')
        return length;
    for (size_t i = 0; i < COUNT_OF(numbered); i++)
        if (ends_in(name, left, numbered[i], strlen(numbered[i])))
            return left - strlen(numbered[i]);
    return length;
}

/*
 * The brackets at the end of a name, if they only hold suffixes: of "x.isra.0" only x would be
 * left.
 */
static size_t without_bracketed(const char *name, size_t length, const char *open)
{
    const size_t open_length = strlen(open);
    size_t start = length;

    while (start && name[start - 1] != open[1])
        start--;
    if (start < 3 || length - start < open_length || memcmp(name + start - 2, open, open_length))
        return length;
    start += open_length - 2;
    /* Cut with a letter in front, as nothing is a suffix by itself. */
    const char *const letter = name + start - 1;
    size_t left = length - start, before;
    do {
        before = left;
        left = without_plain_ending(letter, left);
    } while (left < before);
    return left == 1 ? start - open_length : length;
}

/*
 * One of them, with its number: "f.isra.0" or, in readable form, "f() [clone .isra.0]" of C++ and
 * "f (.cold)" of Rust, which may hold several.
 */
static size_t without_ending(const char *name, size_t length)
{
    if (length && name[length - 1] == ']')
        return without_bracketed(name, length, " [clone ");
    if (length && name[length - 1] == ')')
        return without_bracketed(name, length, " (");
    return without_plain_ending(name, length);
}

size_t spelling_length(const char *name, size_t length)
{
    size_t left = length, before;

    do {
        before = left;
        left = without_hash(name, without_ending(name, left));
    } while (left < before);
    return left;
}

/* ---- Names ---- */

/* The name without its suffix, but with that of its kind, such as _[k]. */
static int add_name(struct flame *flame, const struct flame_slice *frame,
                    const struct flame_name *spelled, uint32_t *name)
{
    size_t length = spelling_length(spelled->text, spelled->length);
    struct text text = {0};

    text_append(&text, frame->text, length);
    text_append(&text, frame->text + spelled->length, frame->length - spelled->length);
    /* A suffix that hid the kind's suffix stays. */
    if (!text.failed && (length == spelled->length ||
                         flame_kind_of(text.data, text.length) != (enum flame_kind)spelled->kind)) {
        text_free(&text);
        return flame_name(flame, frame, name);
    }
    const struct flame_slice left = {text.data, text.length};
    int result = text.failed ? -ENOMEM : flame_name(flame, &left, name);
    text_free(&text);
    return result;
}

/* Puts the last one before the others of its name. 0 or -ENOMEM. */
static int add_spelling(struct spellings *spellings, uint32_t name)
{
    if (array_reserve(&spellings->items, &spellings->room, spellings->count + 1,
                      sizeof(*spellings->items)) ||
        array_reserve(&spellings->first, &spellings->first_room, (size_t)name + 1,
                      sizeof(*spellings->first)))
        return -ENOMEM;
    while (spellings->named <= name)
        spellings->first[spellings->named++] = 0;
    spellings->items[spellings->count++] = (struct spelling){name, spellings->first[name], 0};
    spellings->first[name] = (uint32_t)spellings->count;
    return 0;
}

int spellings_name(struct spellings *spellings, struct flame *flame, enum flame_side side,
                   const struct flame_slice *frame, uint32_t *name)
{
    uint32_t spelled;

    if (flame_name(&spellings->texts, frame, &spelled))
        return -ENOMEM;
    if (spelled == spellings->count &&
        (add_name(flame, frame, &spellings->texts.names[spelled], name) ||
         add_spelling(spellings, *name)))
        return -ENOMEM;
    spellings->items[spelled].sides |= 1U << side;
    *name = spellings->items[spelled].name;
    return 0;
}

static uint32_t first_of(const struct spellings *spellings, uint32_t name)
{
    return name < spellings->named ? spellings->first[name] : 0;
}

static void add_side(const struct spellings *spellings, uint32_t name, enum flame_side side,
                     struct text *text)
{
    const char *between = "";

    for (uint32_t i = first_of(spellings, name); i; i = spellings->items[i - 1].next)
        if (spellings->items[i - 1].sides & 1U << side) {
            const struct flame_name *spelled = &spellings->texts.names[i - 1];
            text_add(text, between);
            text_append(text, spelled->text, spelled->length);
            between = ", ";
        }
}

void spellings_add(const struct spellings *spellings, uint32_t name, struct text *text)
{
    const uint32_t both = 1U << FLAME_NOW | 1U << FLAME_BEFORE;
    uint32_t all = 0;
    bool differ = false;

    for (uint32_t i = first_of(spellings, name); i; i = spellings->items[i - 1].next) {
        differ = differ || spellings->items[i - 1].sides != both;
        all |= spellings->items[i - 1].sides;
    }
    if (!differ || all != both)
        return;
    text_add(text, " (");
    add_side(spellings, name, FLAME_BEFORE, text);
    text_add(text, " = ");
    add_side(spellings, name, FLAME_NOW, text);
    text_add(text, ")");
}

void spellings_free(struct spellings *spellings)
{
    flame_free(&spellings->texts);
    free(spellings->items);
    free(spellings->first);
    *spellings = (struct spellings){0};
}
