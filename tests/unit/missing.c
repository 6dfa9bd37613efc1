/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Reports of losses: every kind in files, one line for people, and only if it matters. */
#include "collect/missing.h"

#include "base/text.h"
#include "test.h"

static struct missing missing;

static void expect(uint64_t events, const char *name, const char *summary, const char *lines)
{
    struct text said = {0}, all = {0};

    missing_add_summary(&missing, events, name, &said);
    CHECK_STRING(said.length ? said.data : "", summary);
    missing_add_lines(&missing, &all);
    CHECK_STRING(all.length ? all.data : "", lines);
    text_free(&said);
    text_free(&all);
}

static void expect_shares(uint64_t events, const char *name, const char *lines)
{
    struct text said = {0};

    missing_add_shares(&missing, events, name, &said);
    CHECK_STRING(said.length ? said.data : "", lines);
    text_free(&said);
}

static void nothing(void)
{
    missing_add(&missing, &(struct loss){.count = 0}, "are gone");
    missing_add_recursion(&missing, "events", 0);
    expect(1000, "events", "", "");
    expect(0, "events", "", "");
    expect_shares(5, "events", "");
    missing_free(&missing);
}

/* One in a thousand is not worth a line, slightly more is. */
static void where_it_matters(void)
{
    missing_add(&missing, &(struct loss){.count = 5}, "have no stack: %s; raise %d", "full", 7);
    expect(5000, "waits", "", "5 events have no stack: full; raise 7\n");
    expect(4861, "waits", "5 of 4,861 waits, 0.1 %, have no stack: full; raise 7\n",
           "5 events have no stack: full; raise 7\n");
    expect_shares(12500, "waits", "5 events have no stack: full; raise 7 (0.04 % of 12,500 waits)\n");
    expect(5, "waits", "5 of 5 waits, 100 %, have no stack: full; raise 7\n",
           "5 events have no stack: full; raise 7\n");
    expect(33, "events", "5 of 33 events, 15 %, have no stack: full; raise 7\n",
           "5 events have no stack: full; raise 7\n");
    missing_free(&missing);
}

/* Events that were not counted are part of all events, but not of the counted ones. */
static void beside_what_was_counted(void)
{
    missing_add(&missing, &(struct loss){2, "waits", .beside = true}, "are not counted: why; what");
    expect(4859, "waits", "", "2 waits are not counted: why; what\n");
    expect_shares(4859, "waits", "2 waits are not counted: why; what (0.041 % of 4,861 waits)\n");
    expect(0, "waits", "2 of 2 waits, 100 %, are not counted: why; what\n",
           "2 waits are not counted: why; what\n");
    missing_free(&missing);
}

/* What every tracer misses now and then matters from one in a hundred on, and not by its sum with others. */
static void common_losses(void)
{
    const struct loss unseen = {20, "waits", .beside = true, .matters = 100};

    missing_add(&missing, &unseen, "are not counted: why");
    expect(1980, "waits", "", "20 waits are not counted: why\n");
    expect(1900, "waits", "20 of 1,920 waits, 1 %, are not counted: why\n", "20 waits are not counted: why\n");
    missing_add(&missing, &(struct loss){.count = 3}, "have no stack: full");
    expect(1980, "waits", "3 of 2,000 waits, 0.15 %, have no stack: full (and 1 more kind of loss: see --debug)\n",
           "20 waits are not counted: why\n3 events have no stack: full\n");
    missing_free(&missing);
}

/* Waits that were too short for -m were there nevertheless. */
static void left_out_by_size(void)
{
    missing_add(&missing, &(struct loss){11, "waits", .beside = true, .matters = 100}, "are not counted: why");
    missing.unfit = 500;
    expect(0, "waits", "11 of 511 waits, 2.2 %, are not counted: why\n", "11 waits are not counted: why\n");
    missing.unfit = 5000;
    expect(0, "waits", "", "11 waits are not counted: why\n");
    missing_free(&missing);
}

/* Together they matter; the largest is reported, and that there are others. */
static void several(void)
{
    missing_add(&missing, &(struct loss){.count = 6}, "are a; do b");
    missing_add_recursion(&missing, "switches and wakeups", 7);
    expect(10000, "waits",
           "up to 7 switches and wakeups for 10,007 waits, 0.07 %, were missed: they hit while a "
           "BPF program was already running on that CPU; shorter stacks (--depth, -K, -U) make "
           "that rarer (and 1 more kind of loss: see --debug)\n",
           "6 events are a; do b\nup to 7 switches and wakeups were missed: they hit while a BPF "
           "program was already running on that CPU; shorter stacks (--depth, -K, -U) make that "
           "rarer\n");
    expect(13000, "waits", "",
           "6 events are a; do b\nup to 7 switches and wakeups were missed: they hit while a BPF "
           "program was already running on that CPU; shorter stacks (--depth, -K, -U) make that "
           "rarer\n");
    missing_free(&missing);
}

/* If the number is unknown, it is always reported. */
static void nobody_knows_how_many(void)
{
    missing_add(&missing, &(struct loss){.count = MISSING_UNCOUNTED, .events = "samples"},
                "were missed: x");
    expect(1000000, "samples", "samples were missed: x\n", "samples were missed: x\n");
    expect_shares(1000000, "samples", "samples were missed: x\n");
    missing_free(&missing);
}

int main(void)
{
    TEST(nothing);
    TEST(where_it_matters);
    TEST(beside_what_was_counted);
    TEST(common_losses);
    TEST(left_out_by_size);
    TEST(several);
    TEST(nobody_knows_how_many);
    return tests_done();
}
