/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Records from the kernel: every length of each, and the records of this test's own children. */
#include "kernel/task_events.h"

#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "test.h"

/* ---- Made by hand ---- */

struct record {
    char bytes[512];
    size_t size;
};

static void put(struct record *record, const void *bytes, size_t size)
{
    memcpy(record->bytes + record->size, bytes, size);
    record->size += size;
}

static void put32(struct record *record, uint32_t value)
{
    put(record, &value, sizeof(value));
}

static void put64(struct record *record, uint64_t value)
{
    put(record, &value, sizeof(value));
}

static struct record begin_record(uint32_t type, uint16_t misc)
{
    struct record record = {.size = 0};
    const struct perf_event_header header = {.type = type, .misc = misc};

    put(&record, &header, sizeof(header));
    return record;
}

static struct record map_record(const char *path, uint32_t protection, uint16_t misc)
{
    struct record record = begin_record(PERF_RECORD_MMAP2, misc);
    char padded[256] = "";

    put32(&record, 11);
    put32(&record, 12);
    put64(&record, 0x401000);
    put64(&record, 0x3000);
    put64(&record, 0x1000);
    put32(&record, 8);
    put32(&record, 17);
    put64(&record, 123456);
    put64(&record, 77);
    put32(&record, protection);
    put32(&record, MAP_PRIVATE);
    strcpy(padded, path);
    put(&record, padded, (strlen(path) / 8 + 1) * 8);
    put64(&record, 999);
    return record;
}

static struct record fork_record(uint32_t type, uint32_t pid)
{
    struct record record = begin_record(type, 0);

    put32(&record, pid);
    put32(&record, 21);
    put32(&record, 22);
    put32(&record, 23);
    put64(&record, 998); /* the record's own time field: another clock on some kernels */
    put64(&record, 999);
    return record;
}

static struct record comm_record(uint16_t misc)
{
    struct record record = begin_record(PERF_RECORD_COMM, misc);

    put32(&record, 31);
    put32(&record, 32);
    put(&record, "name\0\0\0", 8);
    put64(&record, 999);
    return record;
}

static int parse(const struct record *record, size_t size, struct task_event *event)
{
    static char bytes[sizeof(record->bytes) + 1];

    memcpy(bytes, record->bytes, size);
    return task_event_parse(bytes, size, event);
}

static void every_kind_of_record(void)
{
    struct task_event event;
    struct record record = map_record("/usr/lib/libc.so.6", PROT_READ | PROT_EXEC, 0);

    CHECK_NUMBER(parse(&record, record.size, &event), 0);
    CHECK_NUMBER(event.kind, TASK_MAP);
    CHECK_NUMBER(event.time, 999);
    CHECK_NUMBER(event.pid, 11);
    CHECK_NUMBER(event.tid, 12);
    CHECK_NUMBER(event.start, 0x401000);
    CHECK_NUMBER(event.end, 0x404000);
    CHECK_NUMBER(event.offset, 0x1000);
    CHECK_NUMBER(event.device, makedev(8, 17));
    CHECK_NUMBER(event.inode, 123456);
    CHECK_NUMBER(event.generation, 77);
    CHECK_STRING(event.path, "/usr/lib/libc.so.6");
    record = map_record("1234567", PROT_EXEC, 0); /* its NUL is right before the time */
    CHECK_NUMBER(parse(&record, record.size, &event), 0);
    CHECK_STRING(event.path, "1234567");
    record = fork_record(PERF_RECORD_FORK, 20);
    CHECK_NUMBER(parse(&record, record.size, &event), 0);
    CHECK_NUMBER(event.kind, TASK_FORK);
    CHECK_NUMBER(event.time, 999);
    CHECK_NUMBER(event.pid, 20);
    CHECK_NUMBER(event.parent, 21);
    CHECK_NUMBER(event.tid, 22);
    record = fork_record(PERF_RECORD_EXIT, 20);
    CHECK_NUMBER(parse(&record, record.size, &event), 0);
    CHECK_NUMBER(event.kind, TASK_EXIT);
    CHECK_NUMBER(event.pid, 20);
    CHECK_NUMBER(event.tid, 22);
    record = comm_record(PERF_RECORD_MISC_COMM_EXEC);
    CHECK_NUMBER(parse(&record, record.size, &event), 0);
    CHECK_NUMBER(event.kind, TASK_EXEC);
    CHECK_NUMBER(event.pid, 31);
    CHECK_NUMBER(event.tid, 32);
    CHECK_STRING(event.path, "name");
    record = begin_record(PERF_RECORD_LOST, 0);
    put64(&record, 5);
    put64(&record, 41);
    put64(&record, 999);
    CHECK_NUMBER(parse(&record, record.size, &event), 0);
    CHECK_NUMBER(event.kind, TASK_LOST);
    CHECK_NUMBER(event.lost, 41);
    CHECK_NUMBER(event.time, 999);
}

static void records_that_do_not_matter(void)
{
    struct task_event event;
    struct record record = map_record("/data", PROT_READ, 0);

    CHECK_NUMBER(parse(&record, record.size, &event), -EINVAL);
    record = map_record("/id", PROT_EXEC, PERF_RECORD_MISC_MMAP_BUILD_ID);
    CHECK_NUMBER(parse(&record, record.size, &event), -EINVAL);
    record = fork_record(PERF_RECORD_FORK, 0); /* of another pid namespace */
    CHECK_NUMBER(parse(&record, record.size, &event), -EINVAL);
    record = fork_record(PERF_RECORD_EXIT, UINT32_MAX);
    CHECK_NUMBER(parse(&record, record.size, &event), -EINVAL);
    record = comm_record(0); /* only a name */
    CHECK_NUMBER(parse(&record, record.size, &event), -EINVAL);
    for (uint32_t type = 0; type < 40; type++) {
        bool known = type == PERF_RECORD_FORK || type == PERF_RECORD_EXIT;
        record = fork_record(type, 20);
        if (type != PERF_RECORD_LOST && type != PERF_RECORD_COMM)
            CHECK_NUMBER(parse(&record, record.size, &event), known ? 0 : -EINVAL);
    }
    record = fork_record(UINT32_MAX, 20);
    CHECK_NUMBER(parse(&record, record.size, &event), -EINVAL);
}

/* Truncated anywhere: no record, or one whose path ends within it. */
static void short_records(void)
{
    const struct record records[] = {
        map_record("/a/path/to/a/file", PROT_EXEC, 0), fork_record(PERF_RECORD_FORK, 20),
        fork_record(PERF_RECORD_EXIT, 20), comm_record(PERF_RECORD_MISC_COMM_EXEC),
    };
    static const size_t least[] = {8 + 64 + 8, 8 + 24 + 8, 8 + 24 + 8, 8 + 8 + 8};

    for (size_t i = 0; i < COUNT_OF(records); i++)
        for (size_t size = 0; size <= records[i].size; size++) {
            struct task_event event;
            /* Exactly as long as the data, so that sanitizers see overruns. */
            char *bytes = malloc(size + 1);
            memcpy(bytes, records[i].bytes, size);
            int result = task_event_parse(bytes, size, &event);
            CHECK_NUMBER(result, size < least[i] ? -EINVAL : 0);
            if (!result && event.kind == TASK_MAP)
                CHECK(strlen(event.path) <= size - least[i]);
            free(bytes);
        }
}

static void lengths_that_overflow(void)
{
    struct record record = map_record("/a", PROT_EXEC, 0);
    uint64_t length = UINT64_MAX - 0x401000 + 1;
    struct task_event event;

    memcpy(record.bytes + 24, &length, 8);
    CHECK_NUMBER(parse(&record, record.size, &event), -EINVAL);
    length--;
    memcpy(record.bytes + 24, &length, 8);
    CHECK_NUMBER(parse(&record, record.size, &event), 0);
    length = 0;
    memcpy(record.bytes + 24, &length, 8);
    CHECK_NUMBER(parse(&record, record.size, &event), -EINVAL);
}

/* ---- Live ---- */

#define RESTS 4
#define AFTER_REST 10
#define CHILDREN 50
#define MAPPINGS 20000 /* more than the rings can hold */

struct heard {
    uint64_t last_time;    /* in this call of read_events() */
    uint64_t last_of_ours; /* in all calls */
    pid_t parent;
    unsigned forks, execs, maps, exits, threads, own_maps, seen, out_of_order;
    uint64_t lost;
    bool is_new; /* the current event was seen */
};

static struct task_events *events;

static bool see(void *context, const struct task_event *event)
{
    struct heard *heard = context;

    (void)event;
    heard->seen++;
    return heard->is_new;
}

static bool ours[1 << 22];

static void take(void *context, const struct task_event *event)
{
    struct heard *heard = context;

    heard->out_of_order += event->time < heard->last_time;
    heard->last_time = event->time;
    heard->lost += event->kind == TASK_LOST ? event->lost : 0;
    if (event->kind == TASK_FORK && event->parent == (uint32_t)heard->parent)
        heard->forks += event->pid != event->parent;
    if (event->kind == TASK_FORK && event->pid == event->parent && event->pid == (uint32_t)heard->parent)
        heard->threads++;
    heard->own_maps += event->kind == TASK_MAP && event->pid == (uint32_t)heard->parent;
    if (event->pid >= COUNT_OF(ours))
        return;
    if (event->kind == TASK_FORK && event->parent == (uint32_t)heard->parent && event->pid != event->parent)
        ours[event->pid] = true;
    if (!ours[event->pid])
        return;
    /*
     * A child's records are in the rings before this process goes on. (Those of other processes may
     * come with a later read: a virtual CPU can stall between a record's time and its end.)
     */
    heard->out_of_order += event->time < heard->last_of_ours;
    heard->last_of_ours = event->time;
    heard->execs += event->kind == TASK_EXEC;
    heard->exits += event->kind == TASK_EXIT;
    heard->maps += event->kind == TASK_MAP && event->inode && event->path[0] == '/';
}

static void read_events(struct heard *heard, uint64_t until)
{
    heard->last_time = 0;
    task_events_read(events, until, see, take, heard);
}

static void make_children(struct heard *heard, int count)
{
    for (int i = 0; i < count; i++) {
        pid_t child = fork();
        if (!child) {
            execl("/proc/self/exe", "child", NULL);
            _exit(1);
        }
        int status = 1;
        waitpid(child, &status, 0);
        CHECK_NUMBER(status, 0);
        /* All processes of the machine fill the same rings: drain them all the time. */
        if (heard)
            read_events(heard, now_ns() - 1000000);
    }
}

static void *do_nothing(void *nothing)
{
    return nothing;
}

/* All records of the children arrive, in order. */
TEST(what_children_do)
{
    struct heard heard = {.parent = getpid()};
    pthread_t thread;

    pthread_create(&thread, NULL, do_nothing, NULL);
    pthread_join(thread, NULL);
    make_children(&heard, CHILDREN);
    read_events(&heard, UINT64_MAX);
    CHECK_NUMBER(heard.lost, 0);
    CHECK_NUMBER(heard.forks, CHILDREN);
    CHECK_NUMBER(heard.execs, CHILDREN);
    CHECK_NUMBER(heard.exits, CHILDREN);
    CHECK_NUMBER(heard.threads, 1);
    CHECK(heard.maps >= CHILDREN);
    CHECK_NUMBER(heard.out_of_order, 0);
}

/*
 * A read sees a record at once, and only once, even if it is too recent to be taken; the descriptor
 * is readable until a read takes it.
 */
TEST(what_is_left_for_later)
{
    struct heard heard = {.parent = getpid()};
    struct pollfd readable = {.fd = task_events_fd(events), .events = POLLIN};

    make_children(NULL, 1);
    CHECK_NUMBER(poll(&readable, 1, 10000), 1);
    read_events(&heard, 0);
    CHECK(heard.seen >= 4);
    CHECK_NUMBER(heard.last_time, 0); /* no record is that old */
    CHECK_NUMBER(poll(&readable, 1, 10000), 1);
    read_events(&heard, UINT64_MAX);
    CHECK_NUMBER(heard.forks, 1);
    CHECK_NUMBER(heard.execs, 1);
    CHECK_NUMBER(heard.exits, 1);
    read_events(&heard, UINT64_MAX);
    CHECK_NUMBER(heard.exits, 1); /* once */
}

#define WAITS 25
#define BUSY 30 /* with more records per wait, the kernel itself may wake us */

/*
 * How long it takes after a read until the descriptor is readable, sorted; *records: the average
 * number of records in such a wait.
 */
static void wait_often(struct heard *heard, uint64_t waits[WAITS], unsigned *records)
{
    struct pollfd readable = {.fd = task_events_fd(events), .events = POLLIN};
    const unsigned seen = heard->seen;

    for (unsigned i = 0; i < WAITS; i++) {
        make_children(NULL, 1);
        read_events(heard, UINT64_MAX);
        const uint64_t began = now_ns();
        CHECK_NUMBER(poll(&readable, 1, 10000), 1);
        waits[i] = now_ns() - began;
    }
    qsort(waits, WAITS, sizeof(*waits), compare_by_number);
    *records = (heard->seen - seen) / WAITS;
}

/* Without new files the wakeups come later; a new file makes them come soon, for a while. */
TEST(what_is_new_is_read_soon)
{
    struct heard heard = {.parent = getpid()};
    uint64_t waits[WAITS];
    unsigned records;

    wait_often(&heard, waits, &records);
    if (records > BUSY)
        printf("SKIP what_is_new_is_read_soon, in part: %u records at a time\n", records);
    else
        CHECK(waits[WAITS * 3 / 4] >= TASK_EVENTS_LATER_NS);
    heard.is_new = true;
    wait_often(&heard, waits, &records);
    CHECK(waits[WAITS / 4] < TASK_EVENTS_LATER_NS);
}

/* Is this machine idle for a while? */
static bool comes_to_rest(struct heard *heard)
{
    struct pollfd readable = {.fd = task_events_fd(events), .events = POLLIN};
    uint64_t end = now_ns() + 10000000000;

    while (poll(&readable, 1, 300)) {
        if (now_ns() > end)
            return false;
        read_events(heard, UINT64_MAX);
    }
    return true;
}

/* At rest there are no wakeups; the first event makes one at once. */
TEST(what_ends_a_rest)
{
    struct heard heard = {.parent = getpid()};
    struct pollfd readable = {.fd = task_events_fd(events), .events = POLLIN};
    cpu_set_t before, one;

    /* All on one CPU, and more than its wakeup page has room for. */
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_getaffinity(0, sizeof(before), &before);
    sched_setaffinity(0, sizeof(one), &one);
    for (unsigned rest = 1; rest <= RESTS; rest++) {
        if (!comes_to_rest(&heard)) {
            printf("SKIP what_ends_a_rest, in part: this machine does not rest\n");
            break;
        }
        make_children(NULL, AFTER_REST);
        CHECK_NUMBER(poll(&readable, 1, 10000), 1);
        read_events(&heard, UINT64_MAX);
        CHECK_NUMBER(heard.forks, rest * AFTER_REST);
    }
    sched_setaffinity(0, sizeof(before), &before);
}

/* More records than fit: the kernel reports the right number of losses, and reading goes on. */
static void map_and_unmap(int times)
{
    for (int i = 0; i < times; i++)
        munmap(mmap(NULL, 4096, PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
}

TEST(what_is_lost_is_counted)
{
    struct heard heard = {.parent = getpid()};
    cpu_set_t before, one;

    /* The kernel reports losses with the CPU's next record that fits. */
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_getaffinity(0, sizeof(before), &before);
    sched_setaffinity(0, sizeof(one), &one);
    map_and_unmap(MAPPINGS);
    read_events(&heard, UINT64_MAX);
    CHECK(heard.own_maps < MAPPINGS);
    map_and_unmap(1);
    sched_setaffinity(0, sizeof(before), &before);
    make_children(&heard, CHILDREN);
    read_events(&heard, UINT64_MAX);
    CHECK_NUMBER(heard.forks, CHILDREN);
    CHECK_NUMBER(heard.execs, CHILDREN);
    CHECK_NUMBER(heard.exits, CHILDREN);
    CHECK(heard.lost > 0);
    CHECK(heard.own_maps + heard.lost >= MAPPINGS);
}

/*
 * All processes of the machine fill the rings. If they fork enough while this one waits for a CPU,
 * records are lost, as they should be, and the children's have gaps. So this process and its
 * children get real-time priority.
 */
static void come_first(void)
{
    const struct sched_param first = {.sched_priority = 1};

    /* musl's sched_setscheduler() does not make the system call. */
    if (syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &first))
        printf("it may not come before others: %s\n", strerror(errno));
}

int main(int argc, char **argv)
{
    if (argc && !strcmp(argv[0], "child"))
        return 0;
    RUN(every_kind_of_record);
    RUN(records_that_do_not_matter);
    RUN(short_records);
    RUN(lengths_that_overflow);
    int result = task_events_open(&events, 0);
    if (result) {
        printf("SKIP what_children_do: the kernel does not let us listen: %s\n", strerror(-result));
        return tests_done();
    }
    come_first();
    run_tests();
    task_events_close(events);
    return tests_done();
}
