/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "picture/flame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define BYTES_AT_ONCE 65536
#define FIRST_SLOTS 1024
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

/* A frame's kind; its suffix is cut off. */
static enum flame_kind kind_of(const char *text, size_t *length)
{
    static const char letters[] = {
        [FLAME_KERNEL] = 'k', [FLAME_JIT] = 'j', [FLAME_INLINED] = 'i', [FLAME_WAKER] = 'w',
    };

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

enum flame_kind flame_kind_of(const char *text, size_t length)
{
    return kind_of(text, &length);
}

struct name_key {
    const char *text;
    size_t length;
    uint64_t hash;
    enum flame_kind kind;
};

static bool is_name(const struct flame_name *name, enum flame_kind kind, const char *text,
                    size_t length)
{
    return name->length == length && name->kind == kind && is_same(name->text, text, length);
}

static int add_name(struct flame *flame, const struct name_key *key, uint32_t *name)
{
    if (key->length > UINT32_MAX ||
        array_reserve(&flame->names, &flame->name_room, flame->name_count + 1,
                      sizeof(*flame->names)) ||
        array_reserve(&flame->name_hashes, &flame->hash_room, flame->name_count + 1,
                      sizeof(*flame->name_hashes)))
        return -ENOMEM;
    const char *kept = keep(flame, key->text, key->length);
    if (!kept)
        return -ENOMEM;
    *name = (uint32_t)flame->name_count++;
    flame->names[*name] = (struct flame_name){kept, (uint32_t)key->length, key->kind};
    flame->name_hashes[*name] = key->hash;
    return 0;
}

/* Where it is, or could be, in the table, which has room. */
static size_t find_name_slot(const struct flame *flame, const struct name_key *key)
{
    size_t slot = (size_t)key->hash & (flame->name_slots - 1);

    for (; flame->name_table[slot]; slot = (slot + 1) & (flame->name_slots - 1)) {
        uint32_t name = flame->name_table[slot] - 1;
        if (flame->name_hashes[name] == key->hash &&
            is_name(&flame->names[name], key->kind, key->text, key->length))
            break;
    }
    return slot;
}

static struct name_key make_key(const struct flame_slice *frame)
{
    struct name_key key = {.text = frame->text, .length = frame->length};

    key.kind = kind_of(key.text, &key.length);
    key.hash = mix(hash_text(key.text, key.length) + key.kind);
    return key;
}

bool flame_find_name(const struct flame *flame, const struct flame_slice *frame, uint32_t *name)
{
    const struct name_key key = make_key(frame);
    uint32_t found = flame->name_table[find_name_slot(flame, &key)];

    *name = found - 1;
    return found;
}

void flame_expect_name(const struct flame *flame, const struct flame_slice *frame)
{
    const struct name_key key = make_key(frame);

    __builtin_prefetch(&flame->name_table[key.hash & (flame->name_slots - 1)]);
}

/* Twice the slots. 0 or -ENOMEM. */
static int grow_names(struct flame *flame)
{
    size_t slots = flame->name_slots ? flame->name_slots * 2 : FIRST_SLOTS;
    uint32_t *table = calloc(slots, sizeof(*table));

    if (!table)
        return -ENOMEM;
    for (size_t i = 0; i < flame->name_count; i++) {
        size_t slot = (size_t)flame->name_hashes[i] & (slots - 1);
        while (table[slot])
            slot = (slot + 1) & (slots - 1);
        table[slot] = (uint32_t)i + 1;
    }
    free(flame->name_table);
    flame->name_table = table;
    flame->name_slots = slots;
    return 0;
}

int flame_name(struct flame *flame, const struct flame_slice *frame, uint32_t *name)
{
    const struct name_key key = make_key(frame);

    if (flame->name_count >= flame->name_slots / 2 && grow_names(flame))
        return -ENOMEM;
    size_t slot = find_name_slot(flame, &key);
    if (flame->name_table[slot]) {
        *name = flame->name_table[slot] - 1;
        return 0;
    }
    int result = add_name(flame, &key, name);
    if (!result)
        flame->name_table[slot] = *name + 1;
    return result;
}

/* ---- Nodes ---- */

static int add_node(struct flame *flame, uint32_t parent, uint32_t name)
{
    if (flame->count >= MOST_NODES ||
        array_reserve(&flame->nodes, &flame->room, flame->count + 1, sizeof(*flame->nodes)))
        return -ENOMEM;
    struct flame_node *node = &flame->nodes[flame->count++];
    *node = (struct flame_node){.name = name, .parent = parent};
    if (node != flame->nodes) {
        node->next = flame->nodes[parent].first_child;
        flame->nodes[parent].first_child = (uint32_t)(flame->count - 1);
    }
    return 0;
}

/* Where it is in the table, or could be. */
static size_t find_node_slot(const struct flame *flame, uint32_t parent, uint32_t name)
{
    size_t slot = (size_t)hash_child(parent, name) & (flame->node_slots - 1);

    for (; flame->node_table[slot]; slot = (slot + 1) & (flame->node_slots - 1)) {
        const struct flame_node *node = &flame->nodes[flame->node_table[slot]];
        if (node->parent == parent && node->name == name)
            break;
    }
    return slot;
}

/* Twice the slots. 0, or -ENOMEM with everything unchanged. */
static int grow_nodes(struct flame *flame)
{
    struct flame grown = *flame;

    grown.node_slots = flame->node_slots ? flame->node_slots * 2 : FIRST_SLOTS;
    grown.node_table = calloc(grown.node_slots, sizeof(*grown.node_table));
    if (!grown.node_table)
        return -ENOMEM;
    for (size_t i = 0; i < flame->node_slots; i++)
        if (flame->node_table[i]) {
            const struct flame_node *node = &flame->nodes[flame->node_table[i]];
            grown.node_table[find_node_slot(&grown, node->parent, node->name)] =
                flame->node_table[i];
        }
    free(flame->node_table);
    flame->node_table = grown.node_table;
    flame->node_slots = grown.node_slots;
    return 0;
}

static int put_into_table(struct flame *flame, uint32_t index)
{
    const struct flame_node *node = &flame->nodes[index];

    if (flame->in_table >= flame->node_slots / 8 * 5 && grow_nodes(flame))
        return -ENOMEM;
    flame->node_table[find_node_slot(flame, node->parent, node->name)] = index;
    flame->in_table++;
    return 0;
}

/*
 * Most nodes have few children, the latest first: these are searched one by one, which is as fast
 * as a table and needs no memory. Others are in the hash table.
 */
void flame_expect_child(const struct flame *flame, uint32_t parent, uint32_t name)
{
    uint32_t child = flame->nodes[parent].first_child;

    __builtin_prefetch(&flame->nodes[child]);
    if (flame->node_table)
        __builtin_prefetch(&flame->node_table[hash_child(parent, name) & (flame->node_slots - 1)]);
}

uint32_t flame_named_child(struct flame *flame, uint32_t parent, uint32_t name)
{
    const struct flame_node *nodes = flame->nodes;
    uint32_t child = nodes[parent].first_child, last = 0;
    unsigned looked_at = 0;

    for (; child && looked_at < CHILDREN_IN_LIST; child = nodes[child].next, looked_at++) {
        if (nodes[child].name == name)
            return child;
        last = child;
    }
    if (child && flame->node_table) {
        uint32_t found = flame->node_table[find_node_slot(flame, parent, name)];
        if (found)
            return found;
    }
    /* The one looked at last will then be one too many. */
    if (looked_at == CHILDREN_IN_LIST && put_into_table(flame, last))
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
              size_t count, uint64_t value, uint32_t *leaf)
{
    uint32_t at = 0;

    for (size_t i = 0; i < count; i++) {
        at = flame_child(flame, at, &frames[i]);
        if (!at)
            return -ENOMEM;
    }
    if (leaf)
        *leaf = at;
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
    free(flame->name_hashes);
    free(flame->node_table);
    free(flame->name_table);
    *flame = (struct flame){0};
}
