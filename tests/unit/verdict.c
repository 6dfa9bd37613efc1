/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* How much a share has grown at least: compared with published figures, and with chance itself. */
#include "flame/flame.h"

#include "unit/test.h"

/* A double as a whole number of millionths. */
static long long millionths(double value)
{
    return (long long)(value * 1e6 + (value < 0 ? -0.5 : 0.5));
}

static double least(uint64_t a, uint64_t of_a, uint64_t b, uint64_t of_b, double sigmas)
{
    return share_growth_at_least(&(struct share){a, of_a}, &(struct share){b, of_b}, sigmas);
}

/* Newcombe, Statistics in Medicine 17 (1998), table II, method 10: lower limits at 95 %, with four digits. */
TEST(as_it_was_published)
{
    static const struct {
        uint64_t now, all_now, before, all_before;
        long long lower; /* ten-thousandths */
    } rows[] = {
        {56, 70, 48, 80, 524}, {9, 10, 3, 10, 1705},  {6, 7, 2, 7, 582},
        {5, 56, 0, 29, -381},  {0, 10, 0, 20, -1611}, {0, 10, 0, 10, -2775},
        {10, 10, 0, 20, 6791}, {10, 10, 0, 10, 6075},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        double found = least(rows[i].before, rows[i].all_before, rows[i].now, rows[i].all_now, 1.959964);
        CHECK_NUMBER((millionths(found) + 10000000 + 50) / 100 - 100000, rows[i].lower);
    }
}

TEST(ends_of_the_range)
{
    const uint64_t most = UINT64_MAX;

    CHECK_NUMBER(millionths(least(0, most, most, most, 3)), 1000000);
    CHECK_NUMBER(millionths(least(most, most, 0, most, 3)), -1000000);
    CHECK(least(0, 1, 1, 1, 3) < 0);
    CHECK(least(0, 1, 0, 1, 3) < 0);
    CHECK(least(1, 1, 1, 1, 3) < 0);
    CHECK(least(0, 1, 0, most, 3) > -1);
}

static uint64_t state = 88172645463325252;

/* Uniformly distributed, 0 to 1. */
static double random_part(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) / 9007199254740992.0;
}

static uint64_t draw(uint64_t all, double part)
{
    uint64_t count = 0;

    for (uint64_t i = 0; i < all; i++)
        count += random_part() < part;
    return count;
}

/*
 * If the true growth is exactly the limit, every verdict is a mistake: at most the promised number
 * may occur (1 in 740, plus four standard errors for that many rounds). If the growth is far above,
 * nearly all rounds must have a verdict.
 */
TEST(chance_is_wrong_as_rarely_as_is_said)
{
    static const struct {
        uint64_t before, now;
        double part, grown;
    } rows[] = {
        {200, 200, 0.1, 0.05}, {50, 200, 0.02, 0.05}, {1000, 100, 0.4, 0.05}, {30, 30, 0.5, 0.0},
        {200, 1000, 0.0, 0.05},
    };
    const int most = rounds(20000);

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        int wrong = 0, found = 0;
        for (int round = 0; round < most; round++) {
            uint64_t before = draw(rows[i].before, rows[i].part);
            uint64_t now = draw(rows[i].now, rows[i].part + rows[i].grown);
            uint64_t more = draw(rows[i].now, rows[i].part + 0.5);
            wrong += least(before, rows[i].before, now, rows[i].now, VERDICT_SIGMAS) > rows[i].grown;
            found += least(before, rows[i].before, more, rows[i].now, VERDICT_SIGMAS) > rows[i].grown;
        }
        double expected = most / 740.0;
        /* (wrong - expected) <= 4 * sqrt(expected), without libm */
        if (wrong > expected)
            CHECK((wrong - expected) * (wrong - expected) <= 16 * expected);
        printf("  %d of %d wrong, %d found\n", wrong, most, found);
        CHECK(found > most * 9 / 10);
    }
}

TEST_MAIN
