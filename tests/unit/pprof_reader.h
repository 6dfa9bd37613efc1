/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A reader of pprof files that shares no code with the writer: gzip of stored blocks by RFC 1951
 * and 1952, the message by the field numbers of pprof's profile.proto. It prints each part as a
 * line of text. Any irregularity is a failure.
 */
#ifndef STACKBOX_PPROF_READER_H
#define STACKBOX_PPROF_READER_H

#include "test.h"

struct bytes {
    const unsigned char *at;
    size_t left;
};

static inline uint64_t take_little(struct bytes *from, size_t count)
{
    uint64_t value = 0;

    if (from->left < count) {
        WRONG("it ends early");
        from->left = 0;
        return 0;
    }
    for (size_t i = 0; i < count; i++)
        value |= (uint64_t)from->at[i] << 8 * i;
    from->at += count;
    from->left -= count;
    return value;
}

/* Bit by bit, while the writer uses a table. */
static inline uint32_t slow_crc32(const char *bytes, size_t length)
{
    uint32_t crc = 0xffffffff;

    for (size_t i = 0; i < length; i++) {
        crc ^= (unsigned char)bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
    }
    return ~crc;
}

static inline void gunzip_stored(struct bytes from, struct text *to)
{
    bool last = false;

    CHECK_NUMBER(take_little(&from, 4), 0x00088b1f); /* deflated, no flags */
    CHECK_NUMBER(take_little(&from, 4), 0);          /* no time */
    take_little(&from, 2);
    while (!last && from.left) {
        last = take_little(&from, 1) == 1;
        size_t length = (size_t)take_little(&from, 2);
        CHECK_NUMBER(take_little(&from, 2), 0xffff & ~length);
        CHECK(from.left >= length && (last || length));
        if (from.left < length)
            return;
        text_append(to, (const char *)from.at, length);
        from.at += length;
        from.left -= length;
    }
    CHECK(last);
    CHECK_NUMBER(take_little(&from, 4), slow_crc32(to->length ? to->data : "", to->length));
    CHECK_NUMBER(take_little(&from, 4), to->length);
    CHECK_NUMBER(from.left, 0);
}

static inline uint64_t take_varint(struct bytes *from)
{
    uint64_t value = 0;

    for (unsigned shift = 0;; shift += 7) {
        uint64_t byte = take_little(from, 1);
        value |= (byte & 0x7f) << shift;
        if (!(byte & 0x80) || shift > 63)
            return value;
    }
}

/* The next field; false at the end. A number is in `value`, anything else in `inside`. */
static inline bool take_field(struct bytes *from, unsigned *field, uint64_t *value, struct bytes *inside)
{
    if (!from->left)
        return false;
    uint64_t tag = take_varint(from);
    *field = (unsigned)(tag >> 3);
    *inside = (struct bytes){0};
    *value = take_varint(from);
    CHECK((tag & 7) == 0 || (tag & 7) == 2);
    if ((tag & 7) == 0)
        return true;
    CHECK(*value <= from->left);
    *inside = (struct bytes){from->at, *value <= from->left ? (size_t)*value : 0};
    from->at += inside->left;
    from->left -= inside->left;
    return true;
}

struct read_item {
    uint64_t numbers[16]; /* by field, for messages without repeated parts */
    struct bytes body;
};

struct read_profile {
    struct text bytes;
    struct read_item *items[16];
    size_t counts[16], rooms[16];
    uint64_t numbers[16];
};

static inline struct read_item read_message(struct bytes body)
{
    struct read_item item = {.body = body};
    struct bytes inside;
    unsigned field;
    uint64_t value;

    while (take_field(&body, &field, &value, &inside))
        if (field < 16)
            item.numbers[field] = value;
    return item;
}

static inline void read_profile(struct read_profile *profile, const char *file, size_t length)
{
    struct bytes inside;
    unsigned field;
    uint64_t value;

    *profile = (struct read_profile){0};
    gunzip_stored((struct bytes){(const unsigned char *)file, length}, &profile->bytes);
    struct bytes all = {(const unsigned char *)profile->bytes.data, profile->bytes.length};
    while (take_field(&all, &field, &value, &inside)) {
        CHECK(field < 15 && field != 7 && field != 8);
        if (field >= 16)
            continue;
        profile->numbers[field] = value;
        if (array_reserve(&profile->items[field], &profile->rooms[field],
                          profile->counts[field] + 1, sizeof(struct read_item)))
            abort();
        /* Strings are not messages, comments are string numbers. */
        profile->items[field][profile->counts[field]++] =
            field == 6 || !inside.at ? (struct read_item){{value}, inside} : read_message(inside);
    }
}

static inline void free_profile(struct read_profile *profile)
{
    for (size_t i = 0; i < 16; i++)
        free(profile->items[i]);
    text_free(&profile->bytes);
}

static inline void show_string(struct text *to, const struct read_profile *profile, uint64_t number)
{
    if (number >= profile->counts[6])
        WRONG("a string that is not in the table");
    else
        text_append(to, (const char *)profile->items[6][number].body.at, profile->items[6][number].body.left);
}

/* The item of a kind with this id, its first field. */
static inline const struct read_item *with_id(const struct read_profile *profile, unsigned kind, uint64_t id)
{
    const struct read_item *found = NULL;

    for (size_t i = 0; i < profile->counts[kind]; i++)
        if (profile->items[kind][i].numbers[1] == id) {
            CHECK(!found && id);
            found = &profile->items[kind][i];
        }
    CHECK(found);
    return found;
}

/* "main", or with its file: "main@burn+0x1234" */
static inline void show_location(struct text *to, const struct read_profile *profile, uint64_t id, bool places)
{
    const struct read_item *location = with_id(profile, 4, id), *function, *mapping;
    struct bytes body, inside;
    unsigned field;
    uint64_t value;

    if (!location)
        return;
    body = location->body;
    while (take_field(&body, &field, &value, &inside)) {
        if (field != 4)
            continue;
        struct read_item line = read_message(inside);
        function = with_id(profile, 5, line.numbers[1]);
        if (function)
            show_string(to, profile, function->numbers[2]);
    }
    mapping = location->numbers[2] ? with_id(profile, 3, location->numbers[2]) : NULL;
    if (!mapping || !places)
        return;
    CHECK(location->numbers[3] >= mapping->numbers[2] && location->numbers[3] < mapping->numbers[3]);
    text_add(to, "@");
    show_string(to, profile, mapping->numbers[5]);
    text_format(to, "+0x%llx", (unsigned long long)(location->numbers[3] - mapping->numbers[2] +
                                                    mapping->numbers[4]));
}

static inline void show_row(struct text *to, struct bytes row)
{
    for (bool first = true; row.left; first = false)
        text_format(to, first ? "%llu" : " %llu", (unsigned long long)take_varint(&row));
}

/* "cat(str) main: 3 1000 | leaf;root | comm=cat pid=7": values, stack, labels */
static inline void show_sample(struct text *to, const struct read_profile *profile,
                               struct bytes body, bool places)
{
    struct text stack = {0}, labels = {0};
    struct bytes inside;
    unsigned field;
    uint64_t value;

    while (take_field(&body, &field, &value, &inside)) {
        struct read_item label = {0};
        if (field == 1)
            while (inside.left) {
                text_add(&stack, stack.length ? ";" : "");
                show_location(&stack, profile, take_varint(&inside), places);
            }
        else if (field == 2)
            show_row(to, inside);
        else if (field == 3) {
            label = read_message(inside);
            text_add(&labels, " ");
            show_string(&labels, profile, label.numbers[1]);
            if (label.numbers[2]) {
                text_add(&labels, "=");
                show_string(&labels, profile, label.numbers[2]);
            } else {
                text_format(&labels, "=%llu", (unsigned long long)label.numbers[3]);
            }
        } else {
            WRONG("a field of samples");
        }
    }
    CHECK(stack.length);
    text_format(to, " | %s |%s\n", stack.data ? stack.data : "", labels.data ? labels.data : "");
    text_free(&stack);
    text_free(&labels);
}

static inline void show_samples(struct text *to, const struct read_profile *profile, bool places)
{
    for (size_t i = 0; i < profile->counts[2]; i++)
        show_sample(to, profile, profile->items[2][i].body, places);
}

/* "samples/count cpu/nanoseconds [cpu] period cpu/nanoseconds 5000" */
static inline void show_types(struct text *to, const struct read_profile *profile)
{
    for (unsigned kind = 1; kind <= 11; kind += 10)
        for (size_t i = 0; i < profile->counts[kind]; i++) {
            text_add(to, kind == 11 ? "period " : "");
            show_string(to, profile, profile->items[kind][i].numbers[1]);
            text_add(to, "/");
            show_string(to, profile, profile->items[kind][i].numbers[2]);
            text_add(to, " ");
            if (kind == 11)
                text_format(to, "%llu ", (unsigned long long)profile->numbers[12]);
        }
    text_add(to, "default ");
    show_string(to, profile, profile->numbers[14]);
    text_add(to, "\n");
}

#endif
