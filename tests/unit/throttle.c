/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What a sampled event's ring reports about throttling, record by record. */
#include "unit/test.h"

#include <linux/perf_event.h>

#include "kernel/ring_buffers.h"

static void tell(struct throttle *throttle, uint32_t type, uint64_t time)
{
    const struct {
        struct perf_event_header header;
        uint64_t time, id, stream_id;
    } record = {{type, 0, sizeof(record)}, time, 7, 7};

    throttle_take(throttle, (const char *)&record, sizeof(record));
}

TEST(stops_add_up)
{
    struct throttle throttle = {0};

    tell(&throttle, PERF_RECORD_THROTTLE, 1000);
    tell(&throttle, PERF_RECORD_UNTHROTTLE, 1400);
    tell(&throttle, PERF_RECORD_THROTTLE, 2000);
    tell(&throttle, PERF_RECORD_UNTHROTTLE, 2030);
    CHECK_NUMBER(throttle.times, 2);
    CHECK_NUMBER(throttle_stopped(&throttle), 430);
}

TEST(a_stop_that_lasts_counts_until_now)
{
    struct throttle throttle = {0};
    uint64_t begin = now_ns() - 5000000;

    tell(&throttle, PERF_RECORD_THROTTLE, begin);
    CHECK(throttle_stopped(&throttle) >= 5000000);
    CHECK(throttle_stopped(&throttle) <= now_ns() - begin);
}

TEST(what_was_lost_is_no_stop)
{
    struct throttle throttle = {0};

    tell(&throttle, PERF_RECORD_UNTHROTTLE, 900); /* of a throttle that was not reported */
    tell(&throttle, PERF_RECORD_THROTTLE, 1000);
    tell(&throttle, PERF_RECORD_LOST, 1);
    tell(&throttle, PERF_RECORD_THROTTLE, 5000);
    tell(&throttle, PERF_RECORD_UNTHROTTLE, 5010);
    CHECK_NUMBER(throttle_stopped(&throttle), 10);
}

TEST(other_records_say_nothing)
{
    struct throttle throttle = {0};

    tell(&throttle, PERF_RECORD_SAMPLE, 1000);
    throttle_take(&throttle, "\5\0\0", 3);
    CHECK_NUMBER(throttle.times, 0);
    CHECK_NUMBER(throttle_stopped(&throttle), 0);
}

TEST_MAIN
