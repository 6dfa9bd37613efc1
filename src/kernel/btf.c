/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/reading.h"
#include "base/text.h"
#include "base/util.h"
#include "kernel/bpf_abi.h"
#include "kernel/btf.h"
#include "machine/machine.h"

#define MAGIC 0xeb9f /* in the kernel's byte order, which is ours */
#define VERSION 1
#define MOST_BYTES (64 << 20)
#define TYPE_BYTES 12
#define MEMBER_BYTES 12
/* The longest chain of types that only name, qualify or hold another. */
#define MOST_STEPS 32
#define DEEPEST 8
/* Members searched for one: the largest struct has some hundreds. */
#define MOST_MEMBERS 65536

/*
 * Header: u16 magic, u8 version, u8 flags, u32 header length, and from its end on: u32 offset and
 * length of the types, u32 offset and length of the strings.
 *
 * Type: u32 name, u32 info, u32 size or type, and what its kind adds.
 * info: bits 0-15 how many follow, 24-28 kind, 31 a flag.
 * Member: u32 name, u32 type, u32 offset in bits; with the flag 24 bits of that, and 8 of the size
 * of a bit field.
 */
enum {
    HEADER_BYTES = 24,
    AT_HEADER_LENGTH = 4,
    AT_TYPES = 8,
    AT_TYPES_SIZE = 12,
    AT_STRINGS = 16,
    AT_STRINGS_SIZE = 20,
    AT_INFO = 4,
    AT_SIZE = 8,
    AT_MEMBER_TYPE = 4,
    AT_MEMBER_OFFSET = 8,
};

enum kind {
    KIND_INT = 1,
    KIND_PTR,
    KIND_ARRAY,
    KIND_STRUCT,
    KIND_UNION,
    KIND_ENUM,
    KIND_FWD,
    KIND_TYPEDEF,
    KIND_VOLATILE,
    KIND_CONST,
    KIND_RESTRICT,
    KIND_FUNC,
    KIND_FUNC_PROTO,
    KIND_VAR,
    KIND_DATASEC,
    KIND_FLOAT,    /* 5.12 */
    KIND_DECL_TAG, /* 5.16 */
    KIND_TYPE_TAG, /* 5.17 */
    KIND_ENUM64,   /* 6.0 */
};

struct type {
    uint32_t name, size; /* or the type that it refers to */
    enum kind kind;
    bool flag;
    uint32_t count;
    const char *members; /* or parameters */
};

static uint32_t number_at(const char *bytes, size_t offset)
{
    uint32_t number;

    memcpy(&number, bytes + offset, sizeof(number));
    return number;
}

/* The bytes that follow a type; false: a kind that is not known yet. */
static bool bytes_behind(enum kind kind, uint32_t count, size_t *bytes)
{
    static const uint8_t fixed[] = {[KIND_INT] = 4, [KIND_ARRAY] = 12, [KIND_VAR] = 4,
                                    [KIND_DECL_TAG] = 4, [KIND_ENUM64] = 0};
    static const uint8_t each[] = {[KIND_STRUCT] = 12, [KIND_UNION] = 12, [KIND_ENUM] = 8,
                                   [KIND_FUNC_PROTO] = 8, [KIND_DATASEC] = 12, [KIND_ENUM64] = 12};

    if (kind < KIND_INT || kind > KIND_ENUM64)
        return false;
    *bytes = fixed[kind] + (size_t)each[kind] * count;
    return true;
}

static struct type parse_type(const char *at)
{
    uint32_t info = number_at(at, AT_INFO);

    return (struct type){
        .name = number_at(at, 0),
        .size = number_at(at, AT_SIZE),
        .kind = info >> 24 & 0x1f,
        .flag = info >> 31,
        .count = info & 0xffff,
        .members = at + TYPE_BYTES,
    };
}

/* Reads the type at `at` and moves on to the next. False: there is none within the types. */
static bool take_type(const struct btf *btf, uint32_t *at, struct type *type)
{
    size_t behind;

    if (btf->types_size - *at < TYPE_BYTES)
        return false;
    *type = parse_type(btf->types + *at);
    if (!bytes_behind(type->kind, type->count, &behind) ||
        behind > btf->types_size - *at - TYPE_BYTES)
        return false;
    *at += TYPE_BYTES + (uint32_t)behind;
    return true;
}

/* Finds where types are. Each of them is within the section, and the last one ends with it. */
static int index_types(struct btf *btf)
{
    size_t room = 0;
    struct type type;
    uint32_t at = 0;

    for (btf->count = 1; at < btf->types_size; btf->count++) {
        const uint32_t place = (btf->count - 1) / BTF_STRIDE;
        if (ARRAY_RESERVE(btf->places, room, place + 1))
            return -ENOMEM;
        if (place * BTF_STRIDE + 1 == btf->count)
            btf->places[place] = at;
        if (!take_type(btf, &at, &type))
            return -ENOEXEC;
    }
    return 0;
}

/* A part that the header describes: it must be after the header and inside the data. */
static bool has_part(const struct btf *btf, size_t header, uint32_t offset, uint32_t size)
{
    size_t room = btf->size - header;

    return offset <= room && size <= room - offset;
}

static int parse(struct btf *btf)
{
    uint16_t magic;

    if (btf->size < HEADER_BYTES)
        return -ENOEXEC;
    memcpy(&magic, btf->data, sizeof(magic));
    uint32_t header = number_at(btf->data, AT_HEADER_LENGTH);
    if (magic != MAGIC || btf->data[2] != VERSION || header < HEADER_BYTES || header > btf->size)
        return -ENOEXEC;
    uint32_t types = number_at(btf->data, AT_TYPES), strings = number_at(btf->data, AT_STRINGS);
    btf->types_size = number_at(btf->data, AT_TYPES_SIZE);
    btf->strings_size = number_at(btf->data, AT_STRINGS_SIZE);
    if (!has_part(btf, header, types, btf->types_size) ||
        !has_part(btf, header, strings, btf->strings_size))
        return -ENOEXEC;
    btf->types = btf->data + header + types;
    btf->strings = btf->data + header + strings;
    /* The last string ends with the section, so that none leads out of it. */
    if (!btf->strings_size || btf->strings[btf->strings_size - 1])
        return -ENOEXEC;
    return index_types(btf);
}

int btf_read(struct btf *btf, int fd)
{
    struct text bytes = {0};
    int result = read_to_end(fd, MOST_BYTES, &bytes);

    *btf = (struct btf){.data = bytes.data, .size = bytes.length};
    if (!result)
        result = parse(btf);
    if (result)
        btf_free(btf);
    return result;
}

/* Since 6.15 the kernel lets us map the file, which takes no time. */
static int map_kernel(struct btf *btf, int fd)
{
    struct stat about;

    *btf = (struct btf){0};
    if (fstat(fd, &about) || about.st_size <= 0 || about.st_size > MOST_BYTES)
        return -ENODEV;
    void *data = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
        return -errno;
    *btf = (struct btf){.data = data, .size = (size_t)about.st_size, .mapped = true};
    int result = parse(btf);
    if (result)
        btf_free(btf);
    return result;
}

int btf_open_kernel(struct btf *btf)
{
    int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);

    *btf = (struct btf){0};
    if (fd < 0)
        return -errno;
    int result = map_kernel(btf, fd);
    if (result && result != -ENOMEM)
        result = btf_read(btf, fd);
    close(fd);
    return result;
}

void btf_free(struct btf *btf)
{
    if (btf->mapped)
        munmap(btf->data, btf->size);
    else
        free(btf->data);
    free(btf->places);
    *btf = (struct btf){0};
}

/* ---- Lookups ---- */

/* False: there is no such type, or it is void. */
static bool get_type(const struct btf *btf, uint32_t id, struct type *type)
{
    if (!id || id >= btf->count)
        return false;
    uint32_t at = btf->places[(id - 1) / BTF_STRIDE];
    for (uint32_t left = (id - 1) % BTF_STRIDE + 1; left; left--)
        (void)take_type(btf, &at, type);
    return true;
}

static bool is_called(const struct btf *btf, uint32_t name, const char *wanted)
{
    return name < btf->strings_size && !strcmp(btf->strings + name, wanted);
}

static bool is_one_of(enum kind kind, uint32_t kinds)
{
    return kinds >> kind & 1;
}
#define KIND(kind) (1u << KIND_##kind)
#define NAMES_ANOTHER \
    (KIND(TYPEDEF) | KIND(VOLATILE) | KIND(CONST) | KIND(RESTRICT) | KIND(TYPE_TAG))
#define HAS_SIZE (KIND(INT) | KIND(ENUM) | KIND(ENUM64) | KIND(STRUCT) | KIND(UNION))

/* The type that others name or qualify. False: there is none, or they go round in a circle. */
static bool get_bare_type(const struct btf *btf, uint32_t id, struct type *type)
{
    for (int step = 0; step < MOST_STEPS && get_type(btf, id, type); step++) {
        if (!is_one_of(type->kind, NAMES_ANOTHER))
            return true;
        id = type->size;
    }
    return false;
}

/* The size, if a program can read the value at once; otherwise 0. */
static uint32_t size_of(const struct type *type)
{
    if (type->kind == KIND_PTR)
        return machine_of_kernel()->bits ? machine_of_kernel()->bits / 8 : sizeof(long);
    return is_one_of(type->kind, HAS_SIZE) ? type->size : 0;
}

struct search {
    const struct btf *btf;
    const char *member;
    size_t looked_at;
    struct btf_member *found;
};

static int take_member(struct search *search, uint32_t id, uint64_t offset)
{
    struct type type;
    const bool is_known = get_bare_type(search->btf, id, &type);
    uint32_t size = is_known ? size_of(&type) : 0;

    if ((!size && (!is_known || type.kind != KIND_ARRAY)) || offset % 8 ||
        offset / 8 > UINT32_MAX - size)
        return -EINVAL;
    *search->found = (struct btf_member){(uint32_t)(offset / 8), size};
    return 0;
}

/* `base`: the offset of `structure` in the struct that was asked for, in bits. */
static int search_in(struct search *search, const struct type *structure, uint64_t base, int depth)
{
    struct type inner;

    for (uint32_t i = 0; i < structure->count; i++) {
        const char *member = structure->members + (size_t)i * MEMBER_BYTES;
        uint32_t name = number_at(member, 0), id = number_at(member, AT_MEMBER_TYPE);
        uint32_t place = number_at(member, AT_MEMBER_OFFSET);
        bool is_bit_field = structure->flag && place >> 24;
        uint64_t offset = base + (structure->flag ? place & 0xffffff : place);
        if (++search->looked_at > MOST_MEMBERS)
            return -EINVAL;
        if (is_called(search->btf, name, search->member))
            return is_bit_field ? -EINVAL : take_member(search, id, offset);
        if (!is_called(search->btf, name, "") || depth == DEEPEST ||
            !get_bare_type(search->btf, id, &inner) ||
            !is_one_of(inner.kind, KIND(STRUCT) | KIND(UNION)))
            continue;
        int result = search_in(search, &inner, offset, depth + 1);
        if (result != -ENOENT)
            return result;
    }
    return -ENOENT;
}

/* What was found by its tag is compared no more: the kernel's main structs come early. */
void btf_find_structs(const struct btf *btf, struct btf_struct *structs, size_t count)
{
    struct type type, bare;
    uint32_t at = 0;

    for (size_t i = 0; i < count; i++)
        structs[i] = (struct btf_struct){.name = structs[i].name};
    for (uint32_t id = 1; take_type(btf, &at, &type); id++) {
        if (type.kind != KIND_STRUCT && type.kind != KIND_TYPEDEF)
            continue;
        for (size_t i = 0; i < count; i++) {
            struct btf_struct *wanted = &structs[i];
            if (wanted->has_tag || !is_called(btf, type.name, wanted->name))
                continue;
            wanted->has_tag = type.kind == KIND_STRUCT;
            if (wanted->has_tag || (!wanted->id && get_bare_type(btf, type.size, &bare) &&
                                    bare.kind == KIND_STRUCT))
                wanted->id = id;
        }
    }
}

int btf_find_member_of(const struct btf *btf, uint32_t id, const char *member,
                       struct btf_member *found)
{
    struct search search = {.btf = btf, .member = member, .found = found};
    struct type type;

    if (!*member || !get_bare_type(btf, id, &type) || type.kind != KIND_STRUCT)
        return -ENOENT;
    return search_in(&search, &type, 0, 0);
}

int btf_count_parameters(const struct btf *btf, const char *name, uint32_t *count)
{
    struct type type;
    uint32_t at = 0;

    do
        if (!take_type(btf, &at, &type))
            return -ENOENT;
    while (type.kind != KIND_TYPEDEF || !is_called(btf, type.name, name));
    if (!get_bare_type(btf, type.size, &type) || type.kind != KIND_PTR ||
        !get_bare_type(btf, type.size, &type) || type.kind != KIND_FUNC_PROTO)
        return -EINVAL;
    *count = type.count;
    return 0;
}

#define INFO(kind, count) ((uint32_t)(kind) << 24 | (count))
#define LINKAGE_STATIC 0
#define LINKAGE_GLOBAL 1
#define SIGNED (1u << 24)

#define NAMES "\0int\0a\0p\0f"
enum {
    NO_NAME = 0,
    NAME_INT = 1,
    NAME_ARGUMENT = 5,
    NAME_PROGRAM = 7,
    NAME_FUNCTION = 9,
};

#define WORDS_OF_TYPES 15

/* By number: {name, info, size or type, what the kind adds}. */
static const struct {
    uint16_t magic;
    uint8_t version, flags;
    uint32_t header_length, types, types_size, strings, strings_size;
    uint32_t words[WORDS_OF_TYPES];
    char names[sizeof(NAMES)];
} types = {
    .magic = MAGIC,
    .version = VERSION,
    .header_length = HEADER_BYTES,
    .types_size = WORDS_OF_TYPES * sizeof(uint32_t),
    .strings = WORDS_OF_TYPES * sizeof(uint32_t),
    .strings_size = sizeof(NAMES),
    .words = {
        NAME_INT, INFO(KIND_INT, 0), sizeof(int), SIGNED | 8 * sizeof(int),
        NO_NAME, INFO(KIND_FUNC_PROTO, 1), OWN_BTF_INT, NAME_ARGUMENT, OWN_BTF_INT,
        NAME_PROGRAM, INFO(KIND_FUNC, LINKAGE_STATIC), OWN_BTF_PROTOTYPE,
        NAME_FUNCTION, INFO(KIND_FUNC, LINKAGE_GLOBAL), OWN_BTF_PROTOTYPE,
    },
    .names = NAMES,
};

int own_btf_load(void)
{
    struct bpf_abi_btf_load load = {
        .btf = pointer(&types),
        .size = (uint32_t)(offsetof(__typeof__(types), names) + sizeof(types.names)),
    };

    return bpf_call(BPF_ABI_BTF_LOAD, &load, sizeof(load));
}
