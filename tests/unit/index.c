/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Items by their hashes, the hashes of words and bytes, and the first item that is not before a key. */
#include "unit/test.h"

#include "base/index.h"

#define MANY 20000

/* Counts the items with this hash, and sums their numbers. */
static size_t count(const struct index *index, uint64_t hash, uint64_t *sum)
{
    size_t found = 0, at = 0;
    uint32_t item;

    for (*sum = 0; index_next(index, hash, &at, &item); found++)
        *sum += item;
    return found;
}

/* Each item is found under its hash, and no other item, as the table grows. */
TEST(finds_all)
{
    struct index index = {0};
    uint64_t sum, wrong = 0;

    CHECK_NUMBER(count(&index, 0, &sum), 0);
    for (uint32_t i = 0; i < MANY; i++)
        CHECK_NUMBER(index_add(&index, hash_word(0, i / 3), i), 0);
    for (uint32_t i = 0; i + 3 <= MANY; i += 3)
        wrong += count(&index, hash_word(0, i / 3), &sum) < 3 || sum < 3 * i + 3;
    CHECK_NUMBER(wrong, 0);
    CHECK_NUMBER(index.count, MANY);
    CHECK(index.size > 2 * index.count);
    index_free(&index);
    CHECK(!index.slots && !index.size);
}

/* Items with one hash are all found, in the order of insertion until the table grows. */
TEST(equal_hashes)
{
    AUTO(index_free) struct index index = {0};
    uint64_t sum;

    for (uint32_t i = 0; i < 2000; i++)
        CHECK_NUMBER(index_add(&index, UINT64_MAX, i), 0);
    CHECK_NUMBER(count(&index, UINT64_MAX, &sum), 2000);
    CHECK_NUMBER(sum, 1999 * 1000);
    CHECK_NUMBER(count(&index, 1, &sum), 0);
}

static int compare(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return a < b ? -1 : a > b;
}

/* How many of 2^16 slots MANY hashes occupy: 17,200 by chance. */
static size_t places(uint64_t (*hash_of)(uint32_t number))
{
    static uint32_t at[MANY];
    size_t distinct = 0;

    for (uint32_t i = 0; i < MANY; i++) {
        const uint64_t hash = hash_of(i);
        at[i] = (uint32_t)(hash ^ hash >> 32) & 0xffff;
    }
    qsort(at, MANY, sizeof(*at), compare);
    for (uint32_t i = 0; i < MANY; i++)
        distinct += !i || at[i] != at[i - 1];
    return distinct;
}

static uint64_t of_number(uint32_t number) { return hash_word(0, number); }
static uint64_t of_page(uint32_t number) { return hash_word(0, 0xffffffff81000000 + ((uint64_t)number << 12)); }
static uint64_t of_high_word(uint32_t number) { return hash_word(0, (uint64_t)number << 32); }
static uint64_t of_pair(uint32_t number) { return hash_word(hash_word(0, number % 100), number / 100); }

static uint64_t of_text(uint32_t number)
{
    char text[32];

    return hash_bytes(0, text, (size_t)snprintf(text, sizeof(text), "libstdc++.so.%u", number));
}

TEST(hashes_scatter)
{
    uint64_t (*const ways[])(uint32_t) = {of_number, of_page, of_high_word, of_pair, of_text};

    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        const size_t distinct = places(ways[i]);
        printf("  way %zu: %zu places\n", i, distinct);
        CHECK(distinct > 16000);
    }
}

/* The hash depends on the bytes and their number, not on their address. */
TEST(hashes_of_bytes)
{
    char bytes[64] = {0}, moved[65];

    for (size_t i = 0; i < sizeof(bytes); i++) {
        memset(bytes, 'x', i);
        memcpy(moved + 1, bytes, sizeof(bytes));
        CHECK(hash_bytes(7, bytes, i) == hash_bytes(7, moved + 1, i));
        CHECK(hash_bytes(7, bytes, i) != hash_bytes(8, bytes, i));
        CHECK(hash_bytes(7, bytes, i) != hash_bytes(7, bytes, i + 1));
        if (i) {
            moved[i] ^= 1;
            CHECK(hash_bytes(7, bytes, i) != hash_bytes(7, moved + 1, i));
        }
    }
    CHECK(hash_bytes(0, NULL, 0) == hash_bytes(0, bytes, 0));
}

static bool is_below(const void *item, const void *key)
{
    return *(const unsigned char *)item < *(const unsigned char *)key;
}

/* In 0 to 40 items, some of them equal, compared with a linear search. */
TEST(first_not_before)
{
    unsigned char items[40][3] = {{0}};

    for (size_t length = 0; length <= COUNT_OF(items); length++) {
        for (unsigned char key = 0; key < 60; key++) {
            size_t wanted = 0;
            while (wanted < length && items[wanted][0] < key)
                wanted++;
            CHECK_NUMBER(search_first(items, length, sizeof(*items), &key, is_below), wanted);
        }
        if (length < COUNT_OF(items))
            items[length][0] = (unsigned char)(length / 2 * 3);
    }
}

TEST_MAIN
