/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Samples from RFC 3492, section 7.1, and what is not punycode. */
#include "demangle/rust.h"

#include "test.h"

static void check(const char *encoded, char delimiter, const uint32_t *expected, size_t count)
{
    uint32_t characters[64];

    CHECK_NUMBER(punycode_decode(encoded, strlen(encoded), delimiter, characters, 64), count);
    if (memcmp(characters, expected, count * sizeof(*characters)))
        WRONG(encoded);
}

#define CHECK_DECODED(encoded, delimiter, ...)                                            \
    do {                                                                                  \
        static const uint32_t expected_[] = {__VA_ARGS__};                                \
        check(encoded, delimiter, expected_, COUNT_OF(expected_));                        \
    } while (0)

TEST(samples_of_the_rfc)
{
    CHECK_DECODED("egbpdaj6bu4bxfgehfvwxn", '-', 0x644, 0x64a, 0x647, 0x645, 0x627, 0x628, 0x62a,
                  0x643, 0x644, 0x645, 0x648, 0x634, 0x639, 0x631, 0x628, 0x64a, 0x61f);
    CHECK_DECODED("ihqwcrb4cv8a8dqg056pqjye", '-', 0x4ed6, 0x4eec, 0x4e3a, 0x4ec0, 0x4e48, 0x4e0d,
                  0x8bf4, 0x4e2d, 0x6587);
    CHECK_DECODED("3B-ww4c5e180e575a65lsy2b", '-', '3', 0x5e74, 'B', 0x7d44, 0x91d1, 0x516b, 0x5148, 0x751f);
    CHECK_DECODED("MajiKoi5-783gue6qz075azm5e", '-', 'M', 'a', 'j', 'i', 0x3067, 'K', 'o', 'i',
                  0x3059, 0x308b, '5', 0x79d2, 0x524d);
    CHECK_DECODED("-> $1.00 <--", '-', '-', '>', ' ', '$', '1', '.', '0', '0', ' ', '<', '-');
}

TEST(as_rust_has_it)
{
    CHECK_DECODED("gdel_5qa", '_', 'g', 0xf6, 'd', 'e', 'l');
    CHECK_DECODED("n84amf", '_', 0x94c1, 0x9508);
    CHECK_DECODED("__ylb7e", '_', 0x3b1, '_', 0x3c9);
    CHECK_DECODED("fq9h", '_', 0x1f926);
    CHECK_DECODED("abc_", '_', 'a', 'b', 'c');
}

static int decode(const char *encoded, size_t room)
{
    uint32_t characters[8];

    return (int)punycode_decode(encoded, strlen(encoded), '_', characters, room);
}

TEST(what_is_none)
{
    CHECK_NUMBER(decode("gdel_5q", 8), -EINVAL);
    CHECK_NUMBER(decode("gdel_5q!", 8), -EINVAL);
    CHECK_NUMBER(decode("gdel_5qa\xc3", 8), -EINVAL);
    CHECK_NUMBER(decode("g\xc3_5qa", 8), -EINVAL);
    CHECK_NUMBER(decode("_5qa", 8), -EINVAL);
    CHECK_NUMBER(decode("gdel_99999999", 8), -EINVAL);
    CHECK_NUMBER(decode("99999999999999999999999", 8), -EINVAL);
    /* Characters that do not exist: U+110000, and half of a surrogate pair, U+D800. */
    CHECK_NUMBER(decode("dn32g", 8), 1);
    CHECK_NUMBER(decode("en32g", 8), -EINVAL);
    CHECK_NUMBER(decode("hb9b", 8), 1);
    CHECK_NUMBER(decode("ib9b", 8), -EINVAL);
    CHECK_NUMBER(decode("zy0c", 8), -EINVAL);
    CHECK_NUMBER(decode("0y0c", 8), 1);
}

TEST(room)
{
    CHECK_NUMBER(decode("", 8), 0);
    CHECK_NUMBER(decode("gdel_5qa", 5), 5);
    CHECK_NUMBER(decode("gdel_5qa", 4), -EINVAL);
    CHECK_NUMBER(decode("gdel_5qa", 3), -EINVAL);
    CHECK_NUMBER(decode("n84amf", 0), -EINVAL);
}

TEST_MAIN
