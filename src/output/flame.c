/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "output/flame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

#define BYTES_AT_ONCE 65536
#define FIRST_SLOTS 1024
#define MOST_NODES (UINT32_MAX - 1)

/* Texts are kept in large pieces, of which none ever moves. */
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

static uint64_t hash_text(const char *text, size_t length)
{
    uint64_t hash = length, word;

    for (; length >= sizeof(word); text += sizeof(word), length -= sizeof(word)) {
        memcpy(&word, text, sizeof(word));
        hash = mix(hash ^ word);
    }
    word = 0;
    memcpy(&word, text, length);
    return mix(hash ^ word);
}

static uint64_t hash_child(uint32_t parent, uint32_t name)
{
    return mix((uint64_t)parent << 32 | name);
}

/* Slots of twice the number; of every index below `count` its hash is asked for. 0 or -ENOMEM. */
static int grow_table(const struct flame *flame, uint32_t **table, size_t *slots, size_t count,
                      uint64_t (*hash_of)(const struct flame *flame, size_t index))
{
    size_t more = *slots ? *slots * 2 : FIRST_SLOTS;
    uint32_t *grown = calloc(more, sizeof(*grown));

    if (!grown)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        size_t slot = hash_of(flame, i) & (more - 1);
        while (grown[slot])
            slot = (slot + 1) & (more - 1);
        grown[slot] = (uint32_t)i + 1;
    }
    free(*table);
    *table = grown;
    *slots = more;
    return 0;
}

static uint64_t hash_of_name(const struct flame *flame, size_t index)
{
    return flame->name_hashes[index];
}

static uint64_t hash_of_node(const struct flame *flame, size_t index)
{
    return hash_child(flame->nodes[index].parent, flame->nodes[index].name);
}

/* ---- Names ---- */

/* The kind of a frame; its ending is taken off. */
static enum flame_kind kind_of(const char *text, size_t *length)
{
    static const char letters[] = {
        [FLAME_KERNEL] = 'k', [FLAME_JIT] = 'j', [FLAME_INLINED] = 'i', [FLAME_WAKER] = 'w',
    };

    if (*length == 1 && text[0] == '-')
        return FLAME_DELIMITER;
    if (*length == 2 && !memcmp(text, "--", 2))
        return FLAME_MEETING;
    if (*length <= 4 || memcmp(text + *length - 4, "_[", 2) || text[*length - 1] != ']')
        return FLAME_PLAIN;
    for (enum flame_kind kind = FLAME_KERNEL; kind <= FLAME_WAKER; kind++)
        if (text[*length - 2] == letters[kind]) {
            *length -= 4;
            return kind;
        }
    return FLAME_PLAIN;
}

static bool is_name(const struct flame_name *name, enum flame_kind kind, const char *text,
                    size_t length)
{
    return name->length == length && name->kind == kind && !memcmp(name->text, text, length);
}

static int add_name(struct flame *flame, enum flame_kind kind, const char *text, size_t length,
                    uint64_t hash, uint32_t *name)
{
    if (length > UINT32_MAX ||
        array_reserve(&flame->names, &flame->name_room, flame->name_count + 1,
                      sizeof(*flame->names)) ||
        array_reserve(&flame->name_hashes, &flame->hash_room, flame->name_count + 1,
                      sizeof(*flame->name_hashes)))
        return -ENOMEM;
    const char *kept = keep(flame, text, length);
    if (!kept)
        return -ENOMEM;
    *name = (uint32_t)flame->name_count++;
    flame->names[*name] = (struct flame_name){kept, (uint32_t)length, kind};
    flame->name_hashes[*name] = hash;
    return 0;
}

static int find_name(struct flame *flame, const struct flame_slice *frame, uint32_t *name)
{
    size_t length = frame->length;
    enum flame_kind kind = kind_of(frame->text, &length);
    uint64_t hash = mix(hash_text(frame->text, length) + kind);

    if (flame->name_count >= flame->name_slots / 2 &&
        grow_table(flame, &flame->name_table, &flame->name_slots, flame->name_count, hash_of_name))
        return -ENOMEM;
    size_t slot = hash & (flame->name_slots - 1);
    for (; flame->name_table[slot]; slot = (slot + 1) & (flame->name_slots - 1)) {
        *name = flame->name_table[slot] - 1;
        if (flame->name_hashes[*name] == hash &&
            is_name(&flame->names[*name], kind, frame->text, length))
            return 0;
    }
    int result = add_name(flame, kind, frame->text, length, hash, name);
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

uint32_t flame_child(struct flame *flame, uint32_t parent, const struct flame_slice *frame)
{
    uint32_t name;

    if (find_name(flame, frame, &name))
        return 0;
    if (flame->count >= flame->node_slots / 2 &&
        grow_table(flame, &flame->node_table, &flame->node_slots, flame->count, hash_of_node))
        return 0;
    size_t slot = hash_child(parent, name) & (flame->node_slots - 1);
    for (; flame->node_table[slot]; slot = (slot + 1) & (flame->node_slots - 1)) {
        uint32_t index = flame->node_table[slot] - 1;
        const struct flame_node *node = &flame->nodes[index];
        /* The root is nobody's child, though its parent is 0. */
        if (index && node->parent == parent && node->name == name)
            return index;
    }
    if (add_node(flame, parent, name))
        return 0;
    flame->node_table[slot] = (uint32_t)flame->count;
    return (uint32_t)flame->count - 1;
}

int flame_init(struct flame *flame)
{
    uint32_t name;

    *flame = (struct flame){0};
    if (find_name(flame, &(struct flame_slice){"all", 3}, &name))
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
