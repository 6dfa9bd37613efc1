/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A flame as folded text. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flame/flame.h"

#include "base/index.h"
#include "base/text.h"
#include "base/util.h"

#define BYTES_AT_ONCE 65536

/* A stack that ends in this node. */
struct stack {
    uint64_t value, before;
    uint32_t node;
};

/* The node's values without its children's. */
static struct stack make_stack(const struct flame *flame, uint32_t index)
{
    const struct flame_node *node = &flame->nodes[index];
    struct stack stack = {node->value, node->before, index};

    for (uint32_t child = node->first_child; child; child = flame->nodes[child].next) {
        stack.value -= flame->nodes[child].value;
        stack.before -= flame->nodes[child].before;
    }
    return stack;
}

static size_t find_stacks(const struct flame *flame, struct stack *stacks)
{
    size_t count = 0, depth = 0;

    for (uint32_t node = 0; (node = flame_next(flame, node, &depth));) {
        stacks[count] = make_stack(flame, node);
        if (stacks[count].value || stacks[count].before)
            count++;
    }
    return count;
}

static size_t count_stacks(const struct flame *flame)
{
    size_t count = 0;

    for (size_t i = 1; i < flame->count; i++) {
        const struct stack stack = make_stack(flame, (uint32_t)i);
        count += stack.value || stack.before;
    }
    return count;
}

/* Sorts stably by one byte of the values. False: the byte is the same in all, and *to is unset. */
static bool sort_by_byte(const struct stack *from, struct stack *to, size_t count, unsigned shift)
{
    size_t ends[256] = {0}, at = 0;

    for (size_t i = 0; i < count; i++)
        ends[from[i].value >> shift & 255]++;
    for (size_t i = 0; i < 256; i++) {
        if (ends[i] == count)
            return false;
        ends[i] = at += ends[i];
    }
    for (size_t i = count; i--;)
        to[--ends[from[i].value >> shift & 255]] = from[i];
    return true;
}

/* Sorts with a second array as room; returns the one with the result. */
static struct stack *sort_stacks(struct stack *stacks, struct stack *room, size_t count)
{
    for (unsigned shift = 0; shift < 64 && count; shift += 8)
        if (sort_by_byte(stacks, room, count, shift)) {
            struct stack *sorted = room;
            room = stacks;
            stacks = sorted;
        }
    return stacks;
}

/* ---- Numbers in names ---- */

/*
 * The blank before a number at the end of a text, or NULL. In the last frame it would be read as
 * another count, so it is written as `_`.
 */
static const char *find_number(const char *text, size_t length)
{
    size_t at = length, points = 0;

    while (at && ((text[at - 1] >= '0' && text[at - 1] <= '9') || (text[at - 1] == '.' && !points)))
        points += text[--at] == '.';
    return at && at < length && text[at] != '.' && text[at - 1] == ' ' ? text + at - 1 : NULL;
}

static const struct flame_name *name_of(const struct flame *flame, uint32_t node)
{
    return &flame->names[flame->nodes[node].name];
}

/* The name with `_` in place of that blank, if there is one. */
static bool find_joined_name(const struct flame *flame, const struct flame_name *name,
                             const char *blank, struct text *text, uint32_t *joined)
{
    text_clear(text);
    text_append(text, name->text, name->length);
    if (text->failed)
        return false;
    text->data[blank - name->text] = '_';
    const struct flame_slice slice = {text->data, text->length};
    return flame_find_name(flame, &slice, joined);
}

static uint64_t hash_place(uint32_t parent, uint32_t name)
{
    return hash_word(0, (uint64_t)parent << 32 | name);
}

/* The stack of a sibling whose line would be the same, or NULL. */
static struct stack *find_joined(const struct flame *flame, const struct index *places,
                                 struct stack *stacks, uint32_t node, struct text *text)
{
    const struct flame_name *name = name_of(flame, node);
    const char *blank = name->kind == FLAME_PLAIN ? find_number(name->text, name->length) : NULL;
    const uint32_t parent = flame->nodes[node].parent;
    uint32_t joined, item;
    size_t at = 0;

    if (!blank || !find_joined_name(flame, name, blank, text, &joined))
        return NULL;
    const uint64_t hash = hash_place(parent, joined);
    while (index_next(places, hash, &at, &item)) {
        const struct flame_node *other = &flame->nodes[stacks[item].node];
        if (other->parent == parent && other->name == joined)
            return &stacks[item];
    }
    return NULL;
}

/* Merges lines that would be equal. 0 or -ENOMEM; *count becomes how many are left. */
static int merge_joined(const struct flame *flame, struct stack *stacks, size_t *count)
{
    struct index places = {0};
    struct text text = {0};
    size_t kept = 0;
    int result = 0;

    for (size_t i = 0; i < *count && !result; i++) {
        const struct flame_node *node = &flame->nodes[stacks[i].node];
        result = index_add(&places, hash_place(node->parent, node->name), (uint32_t)i);
    }
    for (size_t i = 0; i < *count && !result; i++) {
        struct stack *same = find_joined(flame, &places, stacks, stacks[i].node, &text);
        if (!same)
            continue;
        same->value += stacks[i].value;
        same->before += stacks[i].before;
        stacks[i].value = stacks[i].before = 0;
    }
    text_free(&text);
    index_free(&places);
    for (size_t i = 0; i < *count; i++)
        if (stacks[i].value || stacks[i].before)
            stacks[kept++] = stacks[i];
    *count = kept;
    return result;
}

/* ---- Lines ---- */

struct path {
    uint32_t *nodes; /* leaf first */
    size_t count, room;
};

static int make_path(struct path *path, const struct flame *flame, uint32_t node)
{
    for (path->count = 0; node; node = flame->nodes[node].parent) {
        if (ARRAY_RESERVE(path->nodes, path->room, path->count + 1))
            return -ENOMEM;
        path->nodes[path->count++] = node;
    }
    return 0;
}

/*
 * A line of # alone, or that begins with # and a blank, is a comment: readers take \x23 for the #.
 */
static void mark_comment(struct text *lines, size_t begin)
{
    const char *line = lines->data + begin;
    const size_t length = lines->length - begin;

    if (*line != '#' || (length > 1 && line[1] != ' ' && line[1] != '\t'))
        return;
    text_append(lines, "...", 3);
    if (lines->failed)
        return;
    memmove(lines->data + begin + 3, lines->data + begin, length);
    memcpy(lines->data + begin, "\\x23", 4);
}

/* Appends the line of a stack. */
static int add_stack(struct text *lines, const struct flame *flame, const struct stack *stack,
                     bool differential, struct path *path)
{
    size_t begin = lines->length;
    int result = make_path(path, flame, stack->node);

    for (size_t i = path->count; i-- && !result;) {
        flame_add_name(lines, name_of(flame, path->nodes[i]));
        if (i)
            text_append(lines, ";", 1);
    }
    if (result || lines->failed)
        return -ENOMEM;
    const char *blank = find_number(lines->data + begin, lines->length - begin);
    if (blank)
        lines->data[blank - lines->data] = '_';
    mark_comment(lines, begin);
    if (differential)
        text_format(lines, " %llu", (unsigned long long)stack->before);
    text_format(lines, " %llu\n", (unsigned long long)stack->value);
    return lines->failed ? -ENOMEM : 0;
}

static int write_stacks(FILE *out, const struct flame *flame, const struct stack *stacks,
                        size_t count, bool differential)
{
    struct path path = {0};
    struct text lines = {0};
    int result = 0;

    for (size_t i = 0; i < count && !result; i++) {
        result = add_stack(&lines, flame, &stacks[i], differential, &path);
        /* A few large pieces: some libcs have no large buffer. */
        if (!result && (lines.length >= BYTES_AT_ONCE || i + 1 == count)) {
            fwrite(lines.data, 1, lines.length, out);
            text_clear(&lines);
        }
    }
    free(path.nodes);
    text_free(&lines);
    return result;
}

int flame_write_folded(FILE *out, const struct flame *flame, bool differential)
{
    const size_t count = count_stacks(flame);
    size_t left = 0;
    struct stack *stacks = calloc(count + 1, sizeof(*stacks));
    struct stack *room = calloc(count + 1, sizeof(*room));
    int result = stacks && room ? 0 : -ENOMEM;

    if (!result) {
        left = find_stacks(flame, stacks);
        result = merge_joined(flame, stacks, &left);
    }
    if (!result)
        result = write_stacks(out, flame, sort_stacks(stacks, room, left), left, differential);
    free(stacks);
    free(room);
    return result;
}
