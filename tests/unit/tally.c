/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Counting: random tallies, every way in which two entries can differ, limits and moves. */
#include "tally/tally.h"

#include "test.h"

static const uint64_t frames[] = {0x1000, 0x2000, 0x3000, 0x4000};

static struct tally_entry *add(struct tally *tally, uint64_t value)
{
    struct tally_entry *entry = tally_add(tally);

    if (!entry)
        abort();
    entry->value = value;
    entry->events = 1;
    return entry;
}

static void give_stack(struct tally *tally, struct stack *stack, size_t first, size_t count)
{
    if (tally_add_stack(tally, stack, frames + first, count))
        abort();
}

static void add_equal(struct tally *tally, uint64_t value)
{
    struct tally_entry *entry = add(tally, value);

    entry->longest = value;
    entry->task.pid = 7;
    memcpy(entry->task.comm, "tar", 4);
    give_stack(tally, &entry->task.kernel, 0, 3);
    give_stack(tally, &entry->task.user, 1, 2);
}

TEST(equal_entries_are_one)
{
    AUTO(tally_free) struct tally tally = {0};

    for (unsigned i = 0; i < 3; i++)
        add_equal(&tally, 12 - i);
    CHECK_NUMBER(tally.count, 3);
    CHECK_NUMBER(tally_merge(&tally), 0);
    CHECK_NUMBER(tally.count, 1);
    CHECK_NUMBER(tally.entries[0].value, 33);
    CHECK_NUMBER(tally.entries[0].events, 3);
    CHECK_NUMBER(tally.entries[0].longest, 12);
    CHECK(!memcmp(tally.addresses + tally.entries[0].task.kernel.first, frames, 24));
    CHECK(!memcmp(tally.addresses + tally.entries[0].task.user.first, frames + 1, 16));
    add_equal(&tally, 20);
    add(&tally, 5);
    add_equal(&tally, 1);
    add(&tally, 6);
    CHECK_NUMBER(tally_merge(&tally), 0);
    CHECK_NUMBER(tally.count, 2);
    CHECK_NUMBER(tally.entries[0].value, 54);
    CHECK_NUMBER(tally.entries[0].longest, 20);
    CHECK_NUMBER(tally.entries[1].value, 11);
}

TEST(equal_stacks_are_one)
{
    AUTO(tally_free) struct tally tally = {0};
    struct stack stacks[4];

    give_stack(&tally, &stacks[0], 0, 3);
    give_stack(&tally, &stacks[1], 0, 2);
    give_stack(&tally, &stacks[2], 0, 3);
    give_stack(&tally, &stacks[3], 3, 0);
    CHECK(stacks[0].state == STACK_KEPT && stacks[0].count == 3);
    CHECK(!memcmp(&stacks[0], &stacks[2], sizeof(stacks[0])));
    CHECK(stacks[0].first != stacks[1].first && stacks[1].count == 2);
    CHECK(stacks[3].state == STACK_NONE && !stacks[3].first && !stacks[3].count);
}

/* One entry, and one more for each thing that can differ. */
static void add_different(struct tally *tally)
{
    for (unsigned which = 0; which < 16; which++) {
        struct tally_entry *entry = add(tally, 1);
        struct tally_task *task = which < 8 ? &entry->task : &entry->waker;
        switch (which % 8) {
        case 1: task->pid = 1; break;
        case 2: task->tid = 1; break;
        case 3: task->generation = 2; break;
        case 4: task->foreign = true; break;
        case 5: memcpy(task->comm, "a", 2); break;
        case 6: give_stack(tally, &task->kernel, 0, 2); break;
        case 7: give_stack(tally, &task->user, 0, 2); break;
        default: entry->has_waker = which == 8; break;
        }
    }
    add(tally, 1)->mark = MARK_UNFINISHED;
    add(tally, 1)->mark = MARK_ALL_ALONG;
    add(tally, 1)->task.user.state = STACK_FULL;
    add(tally, 1)->caller = 0x1000;
    add(tally, 1)->task.interrupt = INTERRUPT_TIMER;
    struct tally_entry *deeper = add(tally, 1);
    give_stack(tally, &deeper->task.user, 0, 3);
}

TEST(what_differs_stays_apart)
{
    AUTO(tally_free) struct tally tally = {0};

    add_different(&tally);
    size_t count = tally.count;
    CHECK_NUMBER(tally_merge(&tally), 0);
    CHECK_NUMBER(tally.count, count);
    add_different(&tally);
    CHECK_NUMBER(tally_merge(&tally), 0);
    CHECK_NUMBER(tally.count, count);
    for (size_t i = 0; i < count; i++)
        CHECK_NUMBER(tally.entries[i].events, 2);
}

/* Entries are of few kinds: the test sums each kind as it makes them. */
TEST(sums_are_kept)
{
    enum { KINDS = 60, ENTRIES = 5000 };
    AUTO(tally_free) struct tally tally = {0}, moved = {0};
    uint64_t sums[KINDS] = {0}, events[KINDS] = {0};
    unsigned used = 0;

    srandom(1);
    for (unsigned i = 0; i < ENTRIES; i++) {
        unsigned kind = (unsigned)random() % KINDS, value = (unsigned)random() % 1000;
        struct tally_entry *entry = add(&tally, value);
        entry->task.pid = kind % 5 + 1;
        entry->waker.tid = kind; /* by which it is recognized below */
        if (kind % 2)
            give_stack(&tally, &entry->waker.user, kind % 3, 1 + kind % 2);
        sums[kind] += value;
        used += !events[kind]++;
        if (!(random() % 500))
            CHECK_NUMBER(tally_merge(&tally), 0);
        if (!(random() % 1000)) {
            CHECK_NUMBER(tally_move(&tally, &moved), 0);
            CHECK_NUMBER(tally.count, 0);
        }
    }
    CHECK_NUMBER(tally_move(&tally, &moved), 0);
    CHECK_NUMBER(tally_merge(&moved), 0);
    CHECK_NUMBER(moved.count, used);
    for (size_t i = 0; i < moved.count; i++) {
        uint32_t kind = moved.entries[i].waker.tid;
        CHECK_NUMBER(moved.entries[i].value, sums[kind]);
        CHECK_NUMBER(moved.entries[i].events, events[kind]);
        CHECK_NUMBER(moved.entries[i].task.pid, kind % 5 + 1);
        CHECK_NUMBER(moved.entries[i].waker.user.count, kind % 2 ? 2 : 0);
        if (kind % 2)
            CHECK_NUMBER(moved.addresses[moved.entries[i].waker.user.first], frames[kind % 3]);
    }
    CHECK(moved.address_count <= 9);
}

/* Stacks become equal once they are completed: those entries are one after that. */
TEST(changed_entries_are_counted_anew)
{
    AUTO(tally_free) struct tally tally = {0};

    for (unsigned i = 0; i < 3; i++)
        give_stack(&tally, &add(&tally, 1)->task.user, i, 1);
    CHECK_NUMBER(tally_merge(&tally), 0);
    CHECK_NUMBER(tally.count, 3);
    for (unsigned i = 1; i < 3; i++)
        give_stack(&tally, &tally.entries[i].task.user, 0, 4);
    tally_count_anew(&tally);
    give_stack(&tally, &add(&tally, 5)->task.user, 0, 4);
    CHECK_NUMBER(tally_merge(&tally), 0);
    CHECK_NUMBER(tally.count, 2);
    CHECK_NUMBER(tally.entries[0].value, 1);
    CHECK_NUMBER(tally.entries[1].value, 7);
}

static void count(struct tally *tally, uint32_t pid, size_t first, uint64_t value)
{
    struct tally_entry entry = {.value = value, .events = 1, .longest = value, .task.pid = pid};

    give_stack(tally, &entry.task.user, first, 1);
    CHECK_NUMBER(tally_count(tally, &entry), 0);
}

/* What finds no room - for its stack, or only for its entry - is one entry, without a task. */
TEST(a_full_table_counts_the_rest)
{
    AUTO(tally_free) struct tally tally = {.most = 2};

    count(&tally, 1, 0, 10);
    count(&tally, 1, 1, 20);
    const size_t addresses = tally.address_count;
    count(&tally, 1, 2, 30);
    count(&tally, 2, 0, 40);
    count(&tally, 1, 0, 50);
    CHECK_NUMBER(tally.count, 3);
    CHECK_NUMBER(tally.full, 2);
    CHECK_NUMBER(tally.address_count, addresses);
    CHECK_NUMBER(tally.entries[0].value, 60);
    CHECK_NUMBER(tally.entries[0].longest, 50);
    CHECK_NUMBER(tally.entries[1].value, 20);
    CHECK_NUMBER(tally.entries[2].mark, MARK_TABLE_FULL);
    CHECK_NUMBER(tally.entries[2].value, 70);
    CHECK_NUMBER(tally.entries[2].events, 2);
    CHECK_NUMBER(tally.entries[2].longest, 0);
    CHECK_NUMBER(tally.entries[2].task.pid, 0);
    tally_clear(&tally);
    count(&tally, 1, 2, 30);
    CHECK_NUMBER(tally.count, 1);
    CHECK_NUMBER(tally.full, 0);
    CHECK_NUMBER(tally.entries[0].task.user.state, STACK_KEPT);
}

TEST(nothing_stays_nothing)
{
    AUTO(tally_free) struct tally tally = {0}, other = {0};

    CHECK_NUMBER(tally_merge(&tally), 0);
    CHECK_NUMBER(tally_move(&tally, &other), 0);
    CHECK_NUMBER(tally.count + other.count, 0);
}

TEST_MAIN
