/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Events that arrive roughly in order leave in order, and none before its time. */
#include "run/event_printer.h"

#include "test.h"

struct made {
    uint64_t time, number;
};

static void add(struct timeline *timeline, uint64_t time, uint64_t number)
{
    const struct made made = {time, number};

    CHECK_NUMBER(timeline_add(timeline, time, &made, sizeof(made)), 0);
}

/* The number of the index-th waiting event, all of whose bytes must be unchanged. */
static uint64_t number_at(const struct timeline *timeline, size_t index)
{
    size_t size;
    struct made made;

    memcpy(&made, timeline_bytes(timeline, index, &size), sizeof(made));
    CHECK_NUMBER(size, sizeof(made));
    CHECK_NUMBER(made.time, timeline->entries[timeline->given + index].time);
    return made.number;
}

TEST(goes_out_by_time)
{
    AUTO(timeline_free) struct timeline timeline = {0};

    CHECK_NUMBER(timeline_ready(&timeline, UINT64_MAX), 0);
    add(&timeline, 30, 1);
    add(&timeline, 10, 2);
    add(&timeline, 20, 3);
    CHECK_NUMBER(timeline_ready(&timeline, 9), 0);
    CHECK_NUMBER(timeline_ready(&timeline, 20), 2);
    CHECK_NUMBER(number_at(&timeline, 0), 2);
    CHECK_NUMBER(number_at(&timeline, 1), 3);
    timeline_give(&timeline, 2);
    CHECK_NUMBER(timeline_waiting(&timeline), 1);
    add(&timeline, 25, 4);
    CHECK_NUMBER(timeline_ready(&timeline, UINT64_MAX), 2);
    CHECK_NUMBER(number_at(&timeline, 0), 4);
    CHECK_NUMBER(number_at(&timeline, 1), 1);
    CHECK_NUMBER(timeline.late, 0);
}

TEST(equal_times_stay_in_order)
{
    AUTO(timeline_free) struct timeline timeline = {0};

    for (uint64_t i = 0; i < 100; i++)
        add(&timeline, 7 - i / 50, i);
    CHECK_NUMBER(timeline_ready(&timeline, 7), 100);
    for (uint64_t i = 0; i < 100; i++)
        CHECK_NUMBER(number_at(&timeline, (size_t)i), (i + 50) % 100);
}

TEST(what_comes_late_is_counted)
{
    AUTO(timeline_free) struct timeline timeline = {0};

    add(&timeline, 10, 1);
    CHECK_NUMBER(timeline_ready(&timeline, 10), 1);
    timeline_give(&timeline, 1);
    add(&timeline, 10, 2);
    CHECK_NUMBER(timeline.late, 0);
    add(&timeline, 9, 3);
    CHECK_NUMBER(timeline.late, 1);
    CHECK_NUMBER(timeline_ready(&timeline, 10), 2);
}

/* CPUs write in bursts, each in its own order, and the reader stops at a time that all passed. */
TEST(many_cpus_become_one)
{
    enum { CPUS = 7, EVENTS = 20000 };
    uint64_t clock[CPUS] = {0}, number = 0, given = 0, last = 0, most_waiting = 0;
    AUTO(timeline_free) struct timeline timeline = {0};

    srandom(1);
    while (number < EVENTS) {
        unsigned cpu = (unsigned)random() % CPUS;
        for (long burst = random() % 50; burst && number < EVENTS; burst--)
            add(&timeline, clock[cpu] += (uint64_t)random() % 5, number++);
        uint64_t until = UINT64_MAX;
        for (unsigned i = 0; i < CPUS; i++)
            until = clock[i] < until ? clock[i] : until;
        /* A CPU may still write an event with its current time. */
        size_t ready = until ? timeline_ready(&timeline, until - 1) : 0;
        for (size_t i = 0; i < ready; i++) {
            (void)number_at(&timeline, i);
            CHECK(timeline.entries[timeline.given + i].time >= last);
            last = timeline.entries[timeline.given + i].time;
        }
        timeline_give(&timeline, ready);
        given += ready;
        if (timeline_waiting(&timeline) > most_waiting)
            most_waiting = timeline_waiting(&timeline);
    }
    given += timeline_ready(&timeline, UINT64_MAX);
    CHECK_NUMBER(given, EVENTS);
    CHECK_NUMBER(timeline.late, 0);
    /* Memory is for the events that wait at one time, not for all. */
    CHECK(most_waiting < EVENTS);
    CHECK(timeline.room <= 8 * most_waiting);
    CHECK(timeline.bytes_room <= 8 * most_waiting * sizeof(struct made));
}

TEST_MAIN
