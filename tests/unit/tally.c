/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Merging: random tallies, and every way in which two entries can differ. */
#include "tally/tally.h"

#include <stdlib.h>

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

static void equal_entries_are_one(void)
{
    struct tally tally = {0};

    for (unsigned i = 0; i < 3; i++) {
        struct tally_entry *entry = add(&tally, 10 + i);
        entry->task.pid = 7;
        memcpy(entry->task.comm, "tar", 4);
        give_stack(&tally, &entry->task.kernel, 0, 3);
        give_stack(&tally, &entry->task.user, 1, 2);
    }
    CHECK_NUMBER(tally_merge(&tally), 0);
    CHECK_NUMBER(tally.count, 1);
    CHECK_NUMBER(tally.entries[0].value, 33);
    CHECK_NUMBER(tally.entries[0].events, 3);
    CHECK_NUMBER(tally.address_count, 5);
    CHECK(!memcmp(tally.addresses + tally.entries[0].task.kernel.first, frames, 24));
    CHECK(!memcmp(tally.addresses + tally.entries[0].task.user.first, frames + 1, 16));
    tally_free(&tally);
}

/* One entry, and one more for each thing that can differ. */
static void what_differs_stays_apart(void)
{
    struct tally tally = {0};

    for (unsigned which = 0; which < 16; which++) {
        struct tally_entry *entry = add(&tally, 1);
        struct tally_task *task = which < 8 ? &entry->task : &entry->waker;
        switch (which % 8) {
        case 1: task->pid = 1; break;
        case 2: task->tid = 1; break;
        case 3: task->generation = 2; break;
        case 4: task->foreign = true; break;
        case 5: memcpy(task->comm, "a", 2); break;
        case 6: give_stack(&tally, &task->kernel, 0, 2); break;
        case 7: give_stack(&tally, &task->user, 0, 2); break;
        default: entry->has_waker = which == 8; break;
        }
    }
    add(&tally, 1)->mark = MARK_UNFINISHED;
    add(&tally, 1)->mark = MARK_ALL_ALONG;
    add(&tally, 1)->task.user.state = STACK_FULL;
    struct tally_entry *deeper = add(&tally, 1);
    give_stack(&tally, &deeper->task.user, 0, 3);
    size_t count = tally.count;
    CHECK_NUMBER(tally_merge(&tally), 0);
    CHECK_NUMBER(tally.count, count);
    tally_free(&tally);
}

/* Entries are of few kinds: the test sums each kind as it makes them. */
static void sums_are_kept(void)
{
    enum { KINDS = 60, ENTRIES = 5000 };
    struct tally tally = {0};
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
    }
    CHECK_NUMBER(tally_merge(&tally), 0);
    CHECK_NUMBER(tally.count, used);
    for (size_t i = 0; i < tally.count; i++) {
        uint32_t kind = tally.entries[i].waker.tid;
        CHECK_NUMBER(tally.entries[i].value, sums[kind]);
        CHECK_NUMBER(tally.entries[i].events, events[kind]);
        CHECK_NUMBER(tally.entries[i].task.pid, kind % 5 + 1);
        CHECK_NUMBER(tally.entries[i].waker.user.count, kind % 2 ? 2 : 0);
        if (kind % 2)
            CHECK_NUMBER(tally.addresses[tally.entries[i].waker.user.first], frames[kind % 3]);
    }
    CHECK(tally.address_count <= 6);
    tally_free(&tally);
}

static void nothing_stays_nothing(void)
{
    struct tally tally = {0};

    CHECK_NUMBER(tally_merge(&tally), 0);
    CHECK_NUMBER(tally.count, 0);
    tally_free(&tally);
}

int main(void)
{
    TEST(equal_entries_are_one);
    TEST(what_differs_stays_apart);
    TEST(sums_are_kept);
    TEST(nothing_stays_nothing);
    return tests_done();
}
