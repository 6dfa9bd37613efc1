/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Reports of losses: every kind in files, one line on stderr, and only if it matters. */
#include "collect/collector.h"

#include "test.h"

static struct losses losses;

static void expect(uint64_t events, const char *name, const char *summary, const char *lines)
{
    AUTO_TEXT said = {0}, all = {0};

    losses_add_summary(&losses, events, name, &said);
    CHECK_STRING(said.length ? said.data : "", summary);
    losses_add_lines(&losses, &all);
    CHECK_STRING(all.length ? all.data : "", lines);
}

static void expect_shares(uint64_t events, const char *name, const char *lines)
{
    AUTO_TEXT said = {0};

    losses_add_shares(&losses, events, name, &said);
    CHECK_STRING(said.length ? said.data : "", lines);
}

TEST(nothing)
{
    losses_add(&losses, &(struct loss){.count = 0}, "are gone");
    losses_add_recursion(&losses, "events", 0);
    expect(1000, "events", "", "");
    expect(0, "events", "", "");
    expect_shares(5, "events", "");
    losses_free(&losses);
}

/* One in a thousand is not worth a line, slightly more is. */
TEST(where_it_matters)
{
    losses_add(&losses, &(struct loss){.count = 5}, "have no stack: %s; raise %d", "full", 7);
    expect(5000, "waits", "", "5 events have no stack: full; raise 7\n");
    expect(4861, "waits", "5 of 4,861 waits, 0.1 %, have no stack: full; raise 7\n",
           "5 events have no stack: full; raise 7\n");
    expect_shares(12500, "waits", "5 events have no stack: full; raise 7 (0.04 % of 12,500 waits)\n");
    expect(5, "waits", "5 of 5 waits, 100 %, have no stack: full; raise 7\n",
           "5 events have no stack: full; raise 7\n");
    expect(33, "events", "5 of 33 events, 15 %, have no stack: full; raise 7\n",
           "5 events have no stack: full; raise 7\n");
    losses_free(&losses);
}

/* Events that were not counted are part of all events, but not of the counted ones. */
TEST(beside_what_was_counted)
{
    losses_add(&losses, &(struct loss){2, "waits", .beside = true}, "are not counted: why; what");
    expect(4859, "waits", "", "2 waits are not counted: why; what\n");
    expect_shares(4859, "waits", "2 waits are not counted: why; what (0.041 % of 4,861 waits)\n");
    expect(0, "waits", "2 of 2 waits, 100 %, are not counted: why; what\n",
           "2 waits are not counted: why; what\n");
    losses_free(&losses);
}

/* Losses that every tracer has matter from one in a hundred on, and do not add to others. */
TEST(common_losses)
{
    const struct loss unseen = {20, "waits", .beside = true, .matters = 100};

    losses_add(&losses, &unseen, "are not counted: why");
    expect(1980, "waits", "", "20 waits are not counted: why\n");
    expect(1900, "waits", "20 of 1,920 waits, 1 %, are not counted: why\n", "20 waits are not counted: why\n");
    losses_add(&losses, &(struct loss){.count = 3}, "have no stack: full");
    expect(1980, "waits", "3 of 2,000 waits, 0.15 %, have no stack: full (and 1 more kind of loss: see --debug)\n",
           "20 waits are not counted: why\n3 events have no stack: full\n");
    losses_free(&losses);
}

/* Waits that were too short for -m count as events. */
TEST(left_out_by_size)
{
    losses_add(&losses, &(struct loss){11, "waits", .beside = true, .matters = 100}, "are not counted: why");
    losses.unfit = 500;
    expect(0, "waits", "11 of 511 waits, 2.2 %, are not counted: why\n", "11 waits are not counted: why\n");
    losses.unfit = 5000;
    expect(0, "waits", "", "11 waits are not counted: why\n");
    losses_free(&losses);
}

/* If losses matter only together, the line has the largest, and says that there are others. */
TEST(several)
{
    losses_add(&losses, &(struct loss){.count = 6}, "are a; do b");
    losses_add_recursion(&losses, "switches and wakeups", 7);
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
    losses_free(&losses);
}

/* If the number is unknown, it is always reported. */
TEST(nobody_knows_how_many)
{
    losses_add(&losses, &(struct loss){.count = LOSSES_UNCOUNTED, .events = "samples"},
               "were missed: x");
    expect(1000000, "samples", "samples were missed: x\n", "samples were missed: x\n");
    expect_shares(1000000, "samples", "samples were missed: x\n");
    losses_free(&losses);
}

TEST_MAIN
