/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The small libc functions find and sort like the plainest code possible. */
#include "base/small_libc.h"

#include <stdint.h>

#include "test.h"

static uint32_t state = 2463534242u;

static uint32_t draw(uint32_t below)
{
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    return state % below;
}

/* With few letters, so that words are found, and also begin without being complete. */
static size_t draw_text(char *text, size_t most)
{
    const size_t length = draw((uint32_t)most + 1);

    for (size_t i = 0; i < length; i++)
        text[i] = (char)('a' + draw(2));
    text[length] = '\0';
    return length;
}

static void words_are_found(void)
{
    char text[24], word[6];

    for (int round = 0; round < 200000; round++) {
        const size_t length = draw_text(text, sizeof(text) - 1), word_length = draw_text(word, sizeof(word) - 1);
        const char *right = NULL;
        for (size_t at = 0; at + word_length <= length && !right; at++)
            if (!memcmp(text + at, word, word_length))
                right = text + at;
        if (small_strstr(text, word) != right || small_memmem(text, length, word, word_length) != right) {
            WRONG(text);
            return;
        }
    }
    CHECK(!small_memmem("a\0b", 3, "bc", 2));
    CHECK_STRING((char *)small_memmem("a\0b", 4, "\0b", 2) + 1, "b");
}

struct item {
    uint32_t key;
    char rest[7];
};

static int compare(const void *one, const void *other)
{
    const uint32_t a = ((const struct item *)one)->key, b = ((const struct item *)other)->key;

    return (a > b) - (a < b);
}

static void items_are_sorted(void)
{
    static struct item items[1000];

    for (size_t count = 0; count <= 1000; count += 1 + count / 7) {
        uint32_t sum = 0, after = 0;
        for (size_t i = 0; i < count; i++) {
            items[i] = (struct item){.key = draw(count % 2 ? 10 : 1u << 31)};
            memcpy(items[i].rest, &items[i].key, sizeof(items[i].key));
            sum += items[i].key;
        }
        small_qsort(items, count, sizeof(*items), compare);
        for (size_t i = 0; i < count; i++) {
            after += items[i].key;
            CHECK(!i || items[i - 1].key <= items[i].key);
            CHECK(!memcmp(items[i].rest, &items[i].key, sizeof(items[i].key)));
        }
        CHECK_NUMBER(after, sum);
    }
}

static int compares;

static int compare_and_count(const void *one, const void *other)
{
    compares++;
    return compare(one, other);
}

/* Already sorted, or reversed, input takes no longer. */
static void sorting_is_never_slow(void)
{
    static struct item items[1 << 14];

    for (uint32_t kind = 0; kind < 3; kind++) {
        for (uint32_t i = 0; i < 1 << 14; i++)
            items[i].key = kind == 0 ? i : kind == 1 ? ~i : 5;
        compares = 0;
        small_qsort(items, 1 << 14, sizeof(*items), compare_and_count);
        CHECK(compares <= 2 * 14 * (1 << 14));
    }
}

int main(void)
{
    TEST(words_are_found);
    TEST(items_are_sorted);
    TEST(sorting_is_never_slow);
    return tests_done();
}
