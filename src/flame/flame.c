/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "flame/flame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define BYTES_AT_ONCE 65536
#define CHILDREN_IN_LIST 2
#define MOST_NODES (UINT32_MAX - 1)

/* Texts are kept in large pieces, which never move. */
struct flame_bytes {
    struct flame_bytes *before;
    size_t used, room;
    char bytes[];
};

static const char *keep(struct flame *flame, const char *text, size_t length)
{
    struct flame_bytes *piece = flame->bytes;

    if (!piece || piece->room - piece->used < length) {
        size_t room = length > BYTES_AT_ONCE ? length : BYTES_AT_ONCE;
        piece = malloc(sizeof(*piece) + room);
        if (!piece)
            return NULL;
        *piece = (struct flame_bytes){.before = flame->bytes, .room = room};
        flame->bytes = piece;
    }
    char *kept = piece->bytes + piece->used;
    memcpy(kept, text, length);
    piece->used += length;
    return kept;
}

/* ---- Hashes ---- */

static uint64_t mix(uint64_t hash)
{
    hash ^= hash >> 32;
    hash *= 0xd6e8feb86659fd93;
    return hash ^ hash >> 32;
}

static uint64_t word_at(const char *text)
{
    uint64_t word;

    memcpy(&word, text, sizeof(word));
    return word;
}

/* A text of up to eight bytes, without reading beyond its end. */
static uint64_t short_text(const char *text, size_t length)
{
    uint32_t first = 0, last;

    if (length >= sizeof(first)) {
        memcpy(&first, text, sizeof(first));
        memcpy(&last, text + length - sizeof(last), sizeof(last));
        return (uint64_t)last << 32 | first;
    }
    for (size_t i = 0; i < length; i++)
        first = first << 8 | (unsigned char)text[i];
    return first;
}

/* The last eight bytes are a word that may overlap the one before. */
static uint64_t hash_text(const char *text, size_t length)
{
    uint64_t hash = length;

    if (length <= sizeof(hash))
        return mix(hash ^ short_text(text, length) * 0x9e3779b97f4a7c15);
    for (size_t at = 0; at < length - sizeof(hash); at += sizeof(hash))
        hash = mix(hash ^ word_at(text + at));
    return mix(hash ^ word_at(text + length - sizeof(hash)));
}

static bool is_same(const char *a, const char *b, size_t length)
{
    if (length <= sizeof(uint64_t))
        return short_text(a, length) == short_text(b, length);
    for (size_t at = 0; at < length - sizeof(uint64_t); at += sizeof(uint64_t))
        if (word_at(a + at) != word_at(b + at))
            return false;
    return word_at(a + length - sizeof(uint64_t)) == word_at(b + length - sizeof(uint64_t));
}

static uint64_t hash_child(uint32_t parent, uint32_t name)
{
    return mix((uint64_t)parent << 32 | name);
}

/* ---- Names ---- */

static const char letters[] = {
    [FLAME_KERNEL] = 'k', [FLAME_JIT] = 'j', [FLAME_INLINED] = 'i', [FLAME_WAKER] = 'w',
};

enum flame_kind flame_kind_of(const char *text, size_t *length)
{
    if (*length <= 2 && *length && text[0] == '-' && text[*length - 1] == '-')
        return *length == 1 ? FLAME_DELIMITER : FLAME_MEETING;
    if (*length <= 4 || text[*length - 1] != ']' || text[*length - 3] != '[' ||
        text[*length - 4] != '_')
        return FLAME_PLAIN;
    for (enum flame_kind kind = FLAME_KERNEL; kind <= FLAME_WAKER; kind++)
        if (text[*length - 2] == letters[kind]) {
            *length -= 4;
            return kind;
        }
    return FLAME_PLAIN;
}

struct name_key {
    const char *text;
    size_t length;
    uint64_t hash;
    enum flame_kind kind;
};

static struct name_key make_key(const struct flame_slice *frame)
{
    struct name_key key = {.text = frame->text, .length = frame->length};

    key.kind = flame_kind_of(key.text, &key.length);
    key.hash = mix(hash_text(key.text, key.length) + key.kind);
    return key;
}

static bool find_name(const struct flame *flame, const struct name_key *key, uint32_t *name)
{
    size_t at = 0;

    while (index_next(&flame->name_index, key->hash, &at, name)) {
        const struct flame_name *known = &flame->names[*name];
        if (known->length == key->length && known->kind == key->kind &&
            is_same(known->text, key->text, key->length))
            return true;
    }
    return false;
}

bool flame_find_name(const struct flame *flame, const struct flame_slice *frame, uint32_t *name)
{
    const struct name_key key = make_key(frame);

    return find_name(flame, &key, name);
}

void flame_expect_name(const struct flame *flame, const struct flame_slice *frame)
{
    index_expect(&flame->name_index, make_key(frame).hash);
}

int flame_name(struct flame *flame, const struct flame_slice *frame, uint32_t *name)
{
    const struct name_key key = make_key(frame);

    if (find_name(flame, &key, name))
        return 0;
    if (key.length > UINT32_MAX ||
        ARRAY_RESERVE(flame->names, flame->name_room, flame->name_count + 1))
        return -ENOMEM;
    const char *kept = keep(flame, key.text, key.length);
    *name = (uint32_t)flame->name_count;
    if (!kept || index_add(&flame->name_index, key.hash, *name))
        return -ENOMEM;
    flame->names[flame->name_count++] = (struct flame_name){kept, (uint32_t)key.length, key.kind};
    return 0;
}

/* ---- Nodes ---- */

static int add_node(struct flame *flame, uint32_t parent, uint32_t name)
{
    if (flame->count >= MOST_NODES || ARRAY_RESERVE(flame->nodes, flame->room, flame->count + 1))
        return -ENOMEM;
    struct flame_node *node = &flame->nodes[flame->count++];
    *node = (struct flame_node){.name = name, .parent = parent};
    if (node != flame->nodes) {
        node->next = flame->nodes[parent].first_child;
        flame->nodes[parent].first_child = (uint32_t)(flame->count - 1);
    }
    return 0;
}

/*
 * Most nodes have few children, the latest first: these are searched one by one, which is as fast
 * as an index and needs no memory. Others are in the index.
 */
void flame_expect_child(const struct flame *flame, uint32_t parent, uint32_t name)
{
    __builtin_prefetch(&flame->nodes[flame->nodes[parent].first_child]);
    index_expect(&flame->node_index, hash_child(parent, name));
}

uint32_t flame_named_child(struct flame *flame, uint32_t parent, uint32_t name)
{
    const struct flame_node *nodes = flame->nodes;
    uint32_t child = nodes[parent].first_child, last = 0, found;
    unsigned looked_at = 0;
    size_t at = 0;

    for (; child && looked_at < CHILDREN_IN_LIST; child = nodes[child].next, looked_at++) {
        if (nodes[child].name == name)
            return child;
        last = child;
    }
    while (child && index_next(&flame->node_index, hash_child(parent, name), &at, &found))
        if (nodes[found].parent == parent && nodes[found].name == name)
            return found;
    /* The new child pushes the last one searched out of the list's searched part. */
    if (looked_at == CHILDREN_IN_LIST &&
        index_add(&flame->node_index, hash_child(parent, nodes[last].name), last))
        return 0;
    return add_node(flame, parent, name) ? 0 : (uint32_t)flame->count - 1;
}

uint32_t flame_child(struct flame *flame, uint32_t parent, const struct flame_slice *frame)
{
    uint32_t name;

    return flame_name(flame, frame, &name) ? 0 : flame_named_child(flame, parent, name);
}

int flame_init(struct flame *flame)
{
    uint32_t name;

    *flame = (struct flame){0};
    if (flame_name(flame, &(struct flame_slice){"all", 3}, &name))
        return -ENOMEM;
    return add_node(flame, 0, name);
}

static void add_value(struct flame_node *node, enum flame_side side, uint64_t value)
{
    *(side == FLAME_NOW ? &node->value : &node->before) += value;
}

int flame_add(struct flame *flame, enum flame_side side, const struct flame_slice *frames,
              size_t count, uint64_t value)
{
    uint32_t at = 0;

    for (size_t i = 0; i < count; i++) {
        at = flame_child(flame, at, &frames[i]);
        if (!at)
            return -ENOMEM;
    }
    for (; at; at = flame->nodes[at].parent)
        add_value(&flame->nodes[at], side, value);
    add_value(flame->nodes, side, value);
    return 0;
}

/* No child comes before its parent. */
void flame_sum(struct flame *flame)
{
    for (size_t i = flame->count; i-- > 1;) {
        struct flame_node *parent = &flame->nodes[flame->nodes[i].parent];
        parent->value += flame->nodes[i].value;
        parent->before += flame->nodes[i].before;
    }
}

void flame_free(struct flame *flame)
{
    for (struct flame_bytes *piece = flame->bytes, *before; piece; piece = before) {
        before = piece->before;
        free(piece);
    }
    free(flame->nodes);
    free(flame->names);
    index_free(&flame->name_index);
    index_free(&flame->node_index);
    *flame = (struct flame){0};
}

int flame_compare_names(const struct flame_name *a, const struct flame_name *b)
{
    return memcmp(a->text, b->text, a->length < b->length ? a->length : b->length)
        ?: order_of(a->length, b->length) ?: order_of(a->kind, b->kind);
}

/* qsort() passes no context to the comparison function. */
static const struct flame_name *sorted_names;

static int compare_indexes(const void *left, const void *right)
{
    return flame_compare_names(&sorted_names[*(const uint32_t *)left],
                               &sorted_names[*(const uint32_t *)right]);
}

/* ranks[name]: its rank among the others. */
static void rank_names(const struct flame *flame, uint32_t *names, uint32_t *ranks)
{
    for (size_t i = 0; i < flame->name_count; i++)
        names[i] = (uint32_t)i;
    sorted_names = flame->names;
    qsort(names, flame->name_count, sizeof(*names), compare_indexes);
    for (size_t i = 0; i < flame->name_count; i++)
        ranks[names[i]] = (uint32_t)i;
}

/* All nodes but the root, by their names' ranks: a counting sort. */
static void sort_nodes(const struct flame *flame, const uint32_t *ranks, uint32_t *ends,
                       uint32_t *order)
{
    uint32_t at = 0;

    memset(ends, 0, flame->name_count * sizeof(*ends));
    for (size_t i = 1; i < flame->count; i++)
        ends[ranks[flame->nodes[i].name]]++;
    for (size_t i = 0; i < flame->name_count; i++)
        ends[i] = at += ends[i];
    for (size_t i = flame->count; i-- > 1;)
        order[--ends[ranks[flame->nodes[i].name]]] = (uint32_t)i;
}

int flame_order(struct flame *flame)
{
    uint32_t *names = malloc((flame->name_count + 1) * sizeof(*names));
    uint32_t *ranks = malloc((flame->name_count + 1) * sizeof(*ranks));
    uint32_t *order = malloc((flame->count + 1) * sizeof(*order));
    int result = names && ranks && order ? 0 : -ENOMEM;

    if (!result) {
        rank_names(flame, names, ranks);
        sort_nodes(flame, ranks, names, order);
        for (size_t i = 0; i < flame->count; i++)
            flame->nodes[i].first_child = 0;
        /* Last first: each is put before those already there. */
        for (size_t i = flame->count - 1; i--;) {
            struct flame_node *node = &flame->nodes[order[i]];
            node->next = flame->nodes[node->parent].first_child;
            flame->nodes[node->parent].first_child = order[i];
        }
    }
    free(names);
    free(ranks);
    free(order);
    return result;
}

uint32_t flame_next(const struct flame *flame, uint32_t node, size_t *depth)
{
    if (flame->nodes[node].first_child) {
        ++*depth;
        return flame->nodes[node].first_child;
    }
    while (node && !flame->nodes[node].next) {
        node = flame->nodes[node].parent;
        --*depth;
    }
    return node ? flame->nodes[node].next : 0;
}

/* Scales a part of the values before; a greater part never scales to less. */
static uint64_t scale(uint64_t part, const struct flame_node *root)
{
    double scaled = root->before ? (double)part / (double)root->before * (double)root->value : 0;

    return part == root->before || scaled >= (double)root->value ? root->value : (uint64_t)scaled;
}

int flame_scale(const struct flame *flame, uint64_t **scaled)
{
    const struct flame_node *nodes = flame->nodes;
    uint64_t *begins = *scaled = calloc(flame->count, sizeof(*begins));

    if (!begins)
        return -ENOMEM;
    /* (*scaled)[i] is the node's offset in the whole, until the loop comes to it. */
    for (size_t i = 0; i < flame->count; i++) {
        uint64_t at = begins[i], end = at + nodes[i].before;
        for (uint32_t child = nodes[i].first_child; child; child = nodes[child].next) {
            begins[child] = at;
            at += nodes[child].before;
        }
        begins[i] = scale(end, nodes) - scale(begins[i], nodes);
    }
    return 0;
}

void flame_exchange_before(struct flame *flame, uint64_t *values)
{
    for (size_t i = 0; i < flame->count; i++) {
        uint64_t value = flame->nodes[i].before;
        flame->nodes[i].before = values[i];
        values[i] = value;
    }
}

void flame_add_name(struct text *text, const struct flame_name *name)
{
    text_append(text, name->text, name->length);
    if (name->kind >= FLAME_KERNEL && name->kind <= FLAME_WAKER)
        text_append(text, (const char[]){'_', '[', letters[name->kind], ']'}, 4);
}
