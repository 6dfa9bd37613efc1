/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Hand-made rings: the records read from them, their order, and malformed rings. */
#include "rings/records.h"

#include "machine/machine.h"
#include "rings/ring_source.h"
#include "unit/test.h"

#define DATA_BYTES 4096
#define OTHER_TYPE 77 /* of a newer kernel */

struct made {
    struct ring ring;
    struct perf_event_mmap_page page;
    char data[DATA_BYTES];
};

static void make_ring(struct made *made, uint64_t begin)
{
    memset(made, 0, sizeof(*made));
    made->ring.ring = (struct perf_ring){
        .fd = -1, .page = &made->page, .data = made->data, .bytes = DATA_BYTES};
    made->ring.bytes = malloc(PERF_RING_MOST_RECORD_BYTES + 1);
    made->ring.at = begin;
    made->page.data_head = made->page.data_tail = begin;
}

static void put(struct made *made, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        made->data[made->page.data_head++ % DATA_BYTES] = ((const char *)bytes)[i];
}

static void put64(struct made *made, uint64_t word)
{
    put(made, &word, sizeof(word));
}

static void put_header(struct made *made, uint32_t type, size_t size)
{
    const struct perf_event_header header = {.type = type, .size = (uint16_t)size};

    put(made, &header, sizeof(header));
}

static uint64_t pair(uint32_t first, uint32_t second)
{
    const uint32_t both[] = {first, second};
    uint64_t word;

    memcpy(&word, both, sizeof(word));
    return word;
}

/* A sample of thread 12 of process 11, with three kernel and two user frames. */
static void put_sample(struct made *made, uint64_t time)
{
    const uint64_t chain[] = {(uint64_t)PERF_CONTEXT_KERNEL, 0xff1, 0xff2, 0xff3, (uint64_t)PERF_CONTEXT_USER,
                              0x401, 0x402, 0};

    put_header(made, PERF_RECORD_SAMPLE, 8 + 6 * 8 + sizeof(chain));
    put64(made, 5);
    put64(made, 0xff1);
    put64(made, pair(11, 12));
    put64(made, time);
    put64(made, pair(3, 0));
    put64(made, sizeof(chain) / sizeof(*chain));
    put(made, chain, sizeof(chain));
}

/* Of a kernel that walks no user stacks */
static void put_sample_alone(struct made *made, uint16_t mode)
{
    const struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .misc = mode, .size = 8 + 6 * 8 + 8};

    put(made, &header, sizeof(header));
    put64(made, 5);
    put64(made, 0x401);
    put64(made, pair(11, 12));
    put64(made, 10);
    put64(made, pair(3, 0));
    put64(made, 1);
    put64(made, (uint64_t)PERF_CONTEXT_USER);
}

static void put_trailer(struct made *made, uint64_t time)
{
    put64(made, pair(11, 12));
    put64(made, time);
    put64(made, pair(3, 0));
    put64(made, 5);
}

static void put_lost(struct made *made, uint64_t lost)
{
    put_header(made, PERF_RECORD_LOST, 8 + 2 * 8 + 4 * 8);
    put64(made, 5);
    put64(made, lost);
    put_trailer(made, 7);
}

static void put_name(struct made *made, uint16_t misc, uint64_t time)
{
    const struct perf_event_header header = {.type = PERF_RECORD_COMM, .misc = misc, .size = 8 + 8 + 8 + 32};

    put(made, &header, sizeof(header));
    put64(made, pair(11, 12));
    put(made, "renamed", 8);
    put_trailer(made, time);
}

struct seen {
    size_t count, tasks, kernel, user;
    uint64_t times[256], leaf;
    char name[16];
    int result;
};

static int see(void *context, const struct ring_record *record)
{
    struct seen *seen = context;

    seen->times[seen->count++ % 256] = record->time;
    if (record->kind == RECORD_TASK) {
        seen->tasks++;
        snprintf(seen->name, sizeof(seen->name), "%s", record->task.name ? record->task.name : "");
    } else {
        seen->kernel = record->sample.kernel_count;
        seen->user = record->sample.user_count;
        seen->leaf = seen->user ? record->sample.user[0] : 0;
    }
    return seen->result;
}

static struct seen read_one(struct made *made, struct ring_reading *reading)
{
    struct seen seen = {.count = 0};

    *reading = (struct ring_reading){.rings = &made->ring, .count = 1};
    CHECK_NUMBER(rings_read(reading, UINT64_MAX, see, &seen), 0);
    CHECK_NUMBER(made->page.data_tail, made->page.data_head);
    free(made->ring.bytes);
    return seen;
}

/* A record that the ring's end splits at any byte. */
TEST(records_wrap_around)
{
    static struct made made;
    struct ring_reading reading;

    for (uint64_t begin = DATA_BYTES - 200; begin < DATA_BYTES + 8; begin += 8) {
        make_ring(&made, begin);
        put_sample(&made, 10);
        put_sample(&made, 20);
        const struct seen seen = read_one(&made, &reading);
        CHECK_NUMBER(seen.count, 2);
        CHECK_NUMBER(seen.times[1], 20);
        CHECK_NUMBER(seen.kernel, 3);
        CHECK_NUMBER(seen.user, 2);
        CHECK_NUMBER(seen.leaf, 0x401);
    }
}

TEST(what_ran_is_a_frame_of_its_own)
{
    static const struct { uint16_t mode; uint64_t leaf; } cases[] = {
        {PERF_RECORD_MISC_USER, 0x401}, {PERF_RECORD_MISC_KERNEL, 0},
    };
    static struct made made;
    struct ring_reading reading;

    for (size_t i = 0; i < 2; i++) {
        make_ring(&made, 0);
        put_sample_alone(&made, cases[i].mode);
        const struct seen seen = read_one(&made, &reading);
        CHECK_NUMBER(seen.kernel, 0);
        CHECK_NUMBER(seen.user, cases[i].leaf != 0);
        CHECK_NUMBER(seen.leaf, cases[i].leaf);
    }
}

/* 32-bit kernels count positions in 32 bits. */
TEST(positions_wrap_around)
{
    static struct made made;
    struct ring_reading reading;
    const uint64_t begin = ((uint64_t)1 << 32) - 200;

    make_ring(&made, begin);
    put_sample(&made, 10);
    put_sample(&made, 20);
    made.page.data_head = (uint32_t)made.page.data_head;
    CHECK_NUMBER(perf_ring_head(&made.ring.ring), begin + 2 * (8 + 6 * 8 + 8 * 8));
    reading = (struct ring_reading){.rings = &made.ring, .count = 1};
    struct seen seen = {.count = 0};
    CHECK_NUMBER(rings_read(&reading, UINT64_MAX, see, &seen), 0);
    CHECK_NUMBER(seen.count, 2);
    CHECK_NUMBER(reading.broken, 0);
    CHECK(!perf_ring_has_any(&made.ring.ring));
    CHECK_NUMBER((uint32_t)made.page.data_tail, made.page.data_head);
    free(made.ring.bytes);
}

TEST(losses_are_counted_and_unknown_types_are_skipped)
{
    static struct made made;
    struct ring_reading reading;

    make_ring(&made, 0);
    put_sample(&made, 10);
    put_lost(&made, 4711);
    put_header(&made, OTHER_TYPE, 24);
    put64(&made, 1);
    put64(&made, 2);
    put_name(&made, 0, 15);
    put_sample(&made, 20);
    put_lost(&made, 1);
    const struct seen seen = read_one(&made, &reading);
    CHECK_NUMBER(seen.count, 3);
    CHECK_NUMBER(seen.tasks, 1);
    CHECK_STRING(seen.name, "renamed");
    CHECK_NUMBER(reading.samples, 2);
    CHECK_NUMBER(reading.lost, 4712);
    CHECK_NUMBER(reading.broken, 0);
}

struct seen_gaps {
    const struct ring_reading *reading;
    size_t count;
    uint64_t since[8];
};

static int see_gap(void *context, const struct ring_record *record)
{
    struct seen_gaps *seen = context;

    (void)record;
    seen->since[seen->count++ % 8] = seen->reading->whole_since;
    return 0;
}

/* A loss was between the records before and after it: in between, samples may be missing. */
TEST(what_may_lack_samples_is_told_in_time)
{
    static struct made made[3];
    struct ring rings[3];
    struct ring_reading reading = {.rings = rings, .count = 3};
    struct seen_gaps seen = {.reading = &reading};
    static const uint64_t since[] = {0, 0, 40, 40, 40, 40};

    for (size_t i = 0; i < 3; i++)
        make_ring(&made[i], 0);
    put_sample(&made[0], 10);
    put_sample(&made[0], 20);
    put_lost(&made[0], 1);
    put_sample(&made[0], 40);
    put_sample(&made[1], 25);
    put_sample(&made[1], 30);
    put_sample(&made[1], 50);
    put_lost(&made[2], 1);
    put_name(&made[2], 0, 60);
    for (size_t i = 0; i < 3; i++)
        rings[i] = made[i].ring;
    rings[2].of_tasks = true;
    CHECK_NUMBER(rings_read(&reading, 50, see_gap, &seen), 0);
    CHECK_NUMBER(seen.count, 6);
    for (size_t i = 0; i < 6; i++)
        CHECK_NUMBER(seen.since[i], since[i]);
    for (size_t i = 0; i < 3; i++)
        free(rings[i].bytes);
}

/* A full ring reports its losses only with the next record. */
TEST(behind_a_full_ring_samples_may_be_missing)
{
    static struct made made[2];
    struct ring rings[2];
    struct ring_reading reading = {.rings = rings, .count = 2};
    struct seen_gaps seen = {.reading = &reading};

    for (size_t i = 0; i < 2; i++)
        make_ring(&made[i], 0);
    while (made[0].page.data_head < DATA_BYTES / 2)
        put_sample(&made[0], 10);
    put_sample(&made[1], 20);
    for (size_t i = 0; i < 2; i++)
        rings[i] = made[i].ring;
    const uint64_t before = now_ns();
    CHECK_NUMBER(rings_read(&reading, UINT64_MAX, see_gap, &seen), 0);
    CHECK_NUMBER(seen.since[(seen.count - 2) % 8], 0);
    CHECK(seen.since[(seen.count - 1) % 8] >= before);
    for (size_t i = 0; i < 2; i++)
        free(rings[i].bytes);
}

/* Lost task records are not lost events. */
TEST(records_of_tasks_are_lost_apart)
{
    static struct made made[2];
    struct ring rings[2];
    struct ring_reading reading = {.rings = rings, .count = 2};
    struct seen seen = {.count = 0};

    for (size_t i = 0; i < 2; i++) {
        make_ring(&made[i], 0);
        put_lost(&made[i], i ? 500 : 30);
        put_name(&made[i], 0, 15);
        rings[i] = made[i].ring;
        rings[i].of_tasks = i;
    }
    CHECK_NUMBER(rings_read(&reading, UINT64_MAX, see, &seen), 0);
    CHECK_NUMBER(seen.tasks, 2);
    CHECK_NUMBER(reading.lost, 30);
    CHECK_NUMBER(reading.tasks_lost, 500);
    free(rings[0].bytes);
    free(rings[1].bytes);
}

/* Any of several rings may have many records before those of the others, or at the same time. */
TEST(runs_of_one_ring_end_where_another_begins)
{
    static struct made made[3];
    struct ring rings[3];
    struct ring_reading reading = {.rings = rings, .count = 3};
    struct seen seen = {.count = 0};

    for (size_t first = 0; first < 3; first++) {
        for (size_t i = 0; i < 3; i++)
            make_ring(&made[i], 0);
        for (uint64_t time = 0; time < 30; time++)
            put_sample(&made[(first + time / 4 + time / 7) % 3], 100 + time / 2);
        for (size_t i = 0; i < 3; i++)
            rings[i] = made[i].ring;
        seen.count = 0;
        CHECK_NUMBER(rings_read(&reading, UINT64_MAX, see, &seen), 0);
        CHECK_NUMBER(seen.count, 30);
        for (size_t i = 1; i < seen.count; i++)
            CHECK(seen.times[i] >= seen.times[i - 1]);
        for (size_t i = 0; i < 3; i++)
            free(rings[i].bytes);
    }
}

/* With any claimed size, the reader stays within the data, and goes on after the record. */
TEST(sizes_that_lie_end_the_reading)
{
    static struct made made;
    struct ring_reading reading;

    for (size_t size = 0; size < 600; size++) {
        make_ring(&made, 0);
        put_sample(&made, 10);
        put_header(&made, PERF_RECORD_SAMPLE, size);
        for (size_t i = 0; i < 20; i++)
            put64(&made, UINT64_MAX - i);
        const struct seen seen = read_one(&made, &reading);
        CHECK_NUMBER(seen.times[0], 10);
        CHECK(reading.broken || seen.count > 1);
    }
    make_ring(&made, 0);
    made.page.data_head = 5 * DATA_BYTES;
    CHECK_NUMBER(read_one(&made, &reading).count, 0);
    CHECK_NUMBER(reading.broken, 1);
}

/* Every length that a record may be truncated to. */
TEST(short_records_are_no_samples)
{
    static struct made made;
    static const uint32_t types[] = {PERF_RECORD_SAMPLE, PERF_RECORD_LOST, PERF_RECORD_COMM, PERF_RECORD_FORK,
                                     PERF_RECORD_EXIT, PERF_RECORD_THROTTLE};
    struct ring_reading reading;

    for (size_t type = 0; type < sizeof(types) / sizeof(*types); type++)
        for (size_t size = 8; size < 48; size += 8) {
            make_ring(&made, 0);
            put_header(&made, types[type], size);
            for (size_t i = 8; i < size; i += 8)
                put64(&made, 0);
            CHECK(read_one(&made, &reading).count <= 1);
            CHECK_NUMBER(reading.samples, 0);
        }
}

TEST(rings_are_merged_by_time)
{
    static struct made made[2];
    struct ring rings[2];
    struct ring_reading reading = {.rings = rings, .count = 2};
    struct seen seen = {.count = 0};

    for (size_t i = 0; i < 2; i++) {
        make_ring(&made[i], 0);
        put_sample(&made[i], 10 + i);
        put_sample(&made[i], 20 - i);
        put_sample(&made[i], 30);
        rings[i] = made[i].ring;
    }
    CHECK_NUMBER(rings_read(&reading, 29, see, &seen), 0);
    CHECK_NUMBER(seen.count, 4);
    for (size_t i = 1; i < seen.count; i++)
        CHECK(seen.times[i] > seen.times[i - 1]);
    CHECK(made[0].page.data_tail < made[0].page.data_head);
    CHECK_NUMBER(rings_read(&reading, 30, see, &seen), 0);
    CHECK_NUMBER(seen.count, 6);
    CHECK_NUMBER(reading.samples, 6);
    free(rings[0].bytes);
    free(rings[1].bytes);
}

TEST(fields_have_to_fit)
{
    static struct made made;
    struct ring_reading reading = {.rings = &made.ring, .count = 1, .shape = {.raw = true}};
    struct seen seen = {.count = 0};

    for (uint32_t claimed = 0; claimed < 16; claimed++) {
        make_ring(&made, 0);
        put_header(&made, PERF_RECORD_SAMPLE, 8 + 6 * 8 + 8);
        for (size_t i = 0; i < 6; i++)
            put64(&made, 0);
        put64(&made, pair(claimed, 0));
        reading.samples = reading.broken = 0;
        CHECK_NUMBER(rings_read(&reading, UINT64_MAX, see, &seen), 0);
        CHECK_NUMBER(reading.samples, claimed <= 4);
        CHECK_NUMBER(reading.broken, claimed > 4);
        free(made.ring.bytes);
    }
}

/* ---- User registers and stacks ---- */

#define REGISTERS 17 /* x86-64's, as <asm/perf_regs.h> numbers them: rax to rip, r8 to r15 */
#define SHAPE {.raw = true, .registers = 0xff01ff}

struct user_part {
    uint64_t abi, claimed, copied;
};

/* Makes a sample with an event's fields and `stack` bytes of user stack; returns its size. */
static size_t make_user_sample(char *bytes, const struct user_part *part, size_t stack)
{
    uint64_t words[64] = {0, 5, 0xff1, pair(11, 12), 10, pair(3, 0), 0, pair(4, 0x1234)};
    size_t count = 8;

    words[count++] = part->abi;
    for (size_t i = 0; i < REGISTERS && part->abi; i++)
        words[count++] = 100 + i;
    words[count++] = part->claimed;
    for (size_t i = 0; i < stack / 8; i++)
        words[count++] = 0x5000 + i;
    if (stack)
        words[count++] = part->copied;
    const struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .size = (uint16_t)(count * 8)};
    memcpy(words, &header, sizeof(header));
    memcpy(bytes, words, count * 8);
    return count * 8;
}

static struct ring_record parse_user(const struct user_part *part, size_t stack)
{
    static const struct record_shape shape = SHAPE;
    static uint64_t bytes[80];
    struct ring_record record;

    ring_record_parse((char *)bytes, make_user_sample((char *)bytes, part, stack), &shape, &record);
    return record;
}

TEST(samples_have_registers_and_a_stack)
{
    const struct ring_record whole = parse_user(&(struct user_part){PERF_SAMPLE_REGS_ABI_64, 64, 40}, 64);
    const struct ring_record narrow = parse_user(&(struct user_part){PERF_SAMPLE_REGS_ABI_32, 64, 64}, 64);
    const struct ring_record none = parse_user(&(struct user_part){PERF_SAMPLE_REGS_ABI_NONE, 0, 0}, 0);
    uint64_t word;

    CHECK_NUMBER(whole.kind, RECORD_SAMPLE);
    CHECK_NUMBER(whole.sample.raw_size, 4);
    CHECK_NUMBER(whole.sample.stack_bytes, 40);
    memcpy(&word, (const char *)whole.sample.registers + 16 * 8, sizeof(word));
    CHECK_NUMBER(word, 116);
    memcpy(&word, (const char *)whole.sample.stack + 32, sizeof(word));
    CHECK_NUMBER(word, 0x5004);
    CHECK_NUMBER(narrow.kind, RECORD_SAMPLE);
    CHECK(!narrow.sample.registers);
    CHECK_NUMBER(none.kind, RECORD_SAMPLE);
    CHECK(!none.sample.registers);
    CHECK_NUMBER(none.sample.stack_bytes, 0);
}

/* On 32-bit kernels, 32-bit stacks are walked. */
TEST(registers_are_of_the_code_that_is_walked)
{
    static const struct record_shape shape = {.raw = true, .registers = 0xff01ff, .narrow = true};
    static uint64_t bytes[80];
    struct ring_record record;

    for (uint64_t abi = PERF_SAMPLE_REGS_ABI_32; abi <= PERF_SAMPLE_REGS_ABI_64; abi++) {
        const size_t size = make_user_sample((char *)bytes, &(struct user_part){abi, 64, 64}, 64);
        ring_record_parse((char *)bytes, size, &shape, &record);
        CHECK_NUMBER(record.kind, RECORD_SAMPLE);
        CHECK_NUMBER(record.sample.registers != NULL, abi == PERF_SAMPLE_REGS_ABI_32);
    }
}

TEST(what_does_not_fit_is_no_stack)
{
    static const struct user_part lies[] = {
        {PERF_SAMPLE_REGS_ABI_64, 64, 65}, {PERF_SAMPLE_REGS_ABI_64, 64, UINT64_MAX},
        {PERF_SAMPLE_REGS_ABI_64, 80, 8}, {PERF_SAMPLE_REGS_ABI_64, UINT64_MAX, 8},
        {PERF_SAMPLE_REGS_ABI_64, UINT64_MAX - 7, 8}, {PERF_SAMPLE_REGS_ABI_64, 72, 8},
    };

    for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++)
        CHECK_NUMBER(parse_user(&lies[i], 64).kind, RECORD_BROKEN);
}

/* Truncated anywhere, with nothing readable after its end. */
TEST(cut_samples_are_broken)
{
    const struct user_part part = {PERF_SAMPLE_REGS_ABI_64, 64, 64};
    static const struct record_shape shape = SHAPE;
    static char whole[640];
    const size_t size = make_user_sample(whole, &part, 64);
    struct ring_record record;

    for (size_t cut = 8; cut < size; cut++) {
        char *bytes = malloc(cut + 1);
        memcpy(bytes, whole, cut);
        ring_record_parse(bytes, cut, &shape, &record);
        CHECK_NUMBER(record.kind, RECORD_BROKEN);
        free(bytes);
    }
}

/* ---- Callers among the fields of an event ---- */

static uint64_t caller_by(const struct ring_place *place, size_t bytes)
{
    const struct {
        uint64_t others, wide;
        uint32_t narrow, more;
    } fields = {0x1111, 0xc0de87650000, 0xc0de8765, 0x2222};
    struct ring_task_state nobody = {.pid = 0};
    struct ring_unwind unwind = {.machine = NULL};
    struct ring_place places[] = {*place};
    struct ring_source source = {.options.unwind = &unwind, .places = places, .place_count = 1, .depth = 8,
                                 .tasks = {.tasks = &nobody, .count = 1}};
    const struct ring_record record = {.sample = {.raw = (const void *)&fields, .raw_size = bytes}};
    struct counted_task task;

    ring_source_task(&source, &record, 0, &task);
    return task.caller;
}

/* Bit 0 of ARM's lr says that the caller is Thumb code, and is no part of the address. */
TEST(callers_are_addresses)
{
    CHECK_NUMBER(caller_by(&(struct ring_place){.caller = 16, .caller_bytes = 4, .thumb = 1}, 24), 0xc0de8764);
    CHECK_NUMBER(caller_by(&(struct ring_place){.caller = 16, .caller_bytes = 4}, 24), 0xc0de8765);
    CHECK_NUMBER(caller_by(&(struct ring_place){.caller = 8, .caller_bytes = 8}, 24), 0xc0de87650000);
    CHECK_NUMBER(caller_by(&(struct ring_place){.caller = 16, .caller_bytes = 4}, 19), 0);
    CHECK_NUMBER(caller_by(&(struct ring_place){.caller = 16, .caller_bytes = 4}, 20), 0xc0de8765);
    CHECK_NUMBER(caller_by(&(struct ring_place){.caller = 16, .caller_bytes = 0}, 24), 0);
}

/* ---- And walks by them ---- */

static bool find_frames(void *context, const struct unwind_state *walk, uint64_t pc, struct walk_object *object)
{
    (void)context, (void)walk;
    *object = (struct walk_object){.end = UNWIND_END_UNMAPPED, .frame_pointers = pc < 0x9000};
    return true;
}

/* As <asm/perf_regs.h> of that machine numbers them. */
struct numbers {
    const struct machine *machine;
    size_t pc, sp, frame, count;
};

/* The frames of the kernel's walk by frame pointers, for samples without that register. */
struct chain {
    const uint64_t *frames;
    size_t count;
};

/* Walks a stack of two frame records, with `copied` of at most `most` bytes; returns the 3rd frame. */
static uint64_t walk_by(const struct numbers *numbers, struct processes *processes, size_t copied, size_t most,
                        const struct chain *chain)
{
    const struct machine_walk *walk = numbers->machine->walk;
    const struct deferred_options config = {.machine = numbers->machine, .find = find_frames, .depth = 8,
                                       .most_bytes = 65536, .sampled_bytes = most};
    const uint64_t sp = 0x7000, stack[8] = {0, 0, sp + 48 - (uint64_t)walk->record, 0x1111, 0, 0, 0, 0x2222};
    struct deferred_objects objects = {.processes = processes};
    struct ring_unwind unwind = {.machine = numbers->machine, .objects = &objects};
    uint64_t frames[16] = {0}, registers[64];
    struct ring_stack found = {NULL, 0};

    CHECK_NUMBER((uint64_t)__builtin_popcountll(walk->sampled), numbers->count);
    for (size_t i = 0; i < 64; i++)
        registers[i] = 0xbad000 + i;
    registers[numbers->pc] = 0x3333;
    registers[numbers->sp] = sp;
    registers[numbers->frame] = chain ? UINT64_MAX : sp + 16 - (uint64_t)walk->record;
    CHECK_NUMBER(deferred_open(&unwind.deferred, &config), 0);
    unwind.frames = frames;
    const struct ring_sample sample = {.registers = registers, .stack = stack, .stack_bytes = copied,
                                       .user = chain ? chain->frames : NULL, .user_count = chain ? chain->count : 0};
    CHECK(ring_unwind_walk(&unwind, &sample, 1, false, &found));
    CHECK_NUMBER(found.frames[0], 0x3333);
    CHECK(found.count == 2 || found.frames[1] == 0x1111);
    deferred_close(unwind.deferred);
    return found.frames[found.count - 1];
}

TEST(registers_are_told_apart)
{
    static const struct numbers kernels[] = {
        {&machine_x86_64, 8, 7, 6, 17}, {&machine_aarch64, 32, 31, 29, 33}, {&machine_riscv64, 0, 2, 8, 32}};
    struct processes *processes;

    CHECK_NUMBER(processes_open(&processes, &(struct processes_options){.silent = true}), 0);
    for (size_t i = 0; i < 3; i++) {
        CHECK_NUMBER(walk_by(&kernels[i], processes, 64, 64, NULL), 0x2222);
        CHECK_NUMBER(walk_by(&kernels[i], processes, 56, 64, NULL), UNWIND_END_FRAME(UNWIND_END_UNREADABLE));
        CHECK_NUMBER(walk_by(&kernels[i], processes, 56, 56, NULL), UNWIND_END_FRAME(UNWIND_END_BEYOND));
    }
    processes_close(processes);
}

/* The frames of the kernel's walk tell the frame pointer from words that only look like one. */
TEST(a_frame_pointer_that_is_not_told_is_found)
{
    static const struct numbers machine = {&machine_x86_64, 8, 7, 6, 17};
    static const uint64_t all[] = {0x3333, 0x1111, 0x2222, 0x4444}, others[] = {0x3333, 0x1111, 0x5555};
    struct processes *processes;

    CHECK_NUMBER(processes_open(&processes, &(struct processes_options){.silent = true}), 0);
    CHECK_NUMBER(walk_by(&machine, processes, 64, 64, &(struct chain){all, 4}), 0x2222);
    CHECK_NUMBER(walk_by(&machine, processes, 64, 64, &(struct chain){all, 2}), 0x2222);
    CHECK_NUMBER(walk_by(&machine, processes, 40, 40, &(struct chain){all, 3}), UNWIND_END_FRAME(UNWIND_END_BEYOND));
    for (size_t copied = 0; copied < 32; copied++)
        CHECK_NUMBER(walk_by(&machine, processes, copied, 64, &(struct chain){all, 3}),
                     UNWIND_END_FRAME(UNWIND_END_UNSUPPORTED));
    CHECK_NUMBER(walk_by(&machine, processes, 64, 64, &(struct chain){all, 1}),
                 UNWIND_END_FRAME(UNWIND_END_UNSUPPORTED));
    CHECK_NUMBER(walk_by(&machine, processes, 64, 64, &(struct chain){others, 3}),
                 UNWIND_END_FRAME(UNWIND_END_UNSUPPORTED));
    processes_close(processes);
}

/* ---- 32-bit ARM ---- */

static struct table table;

/*
 * Functions in .ARM.exidx: one with a system call at 0x1004, one by its frame pointer, a leaf, the
 * root, a signal, one by r11.
 */
static void make_table(void)
{
    static struct unwind_rule rules[] = {
        {.cfa = UNWIND_UNKNOWN},
        {.cfa = UNWIND_BY_SP, .offset = 8, .ret = -4, .frame_kind = UNWIND_FRAME_AT_CFA, .frame = -8,
         .base = UNWIND_BASE_SAME},
        {.cfa = UNWIND_BY_SP, .offset = 8, .ret = -4, .frame_kind = UNWIND_FRAME_AT_CFA, .frame = -8,
         .inner = UNWIND_AT_CALLS},
        {.cfa = UNWIND_BY_FRAME, .offset = 24, .ret = -4, .frame_kind = UNWIND_FRAME_AT_CFA, .frame = -8,
         .inner = UNWIND_AT_CALLS},
        {.cfa = UNWIND_BY_SP, .return_kind = UNWIND_RETURN_IN_LINK},
        {.cfa = UNWIND_ROOT},
        {.cfa = UNWIND_SIGNAL, .offset = 32},
        {.cfa = UNWIND_BY_REGISTER, .reg = 11, .offset = 4, .ret = -4, .base = -8, .inner = UNWIND_AT_CALLS},
    };
    static struct frame_row rows[] = {{0x1000, 2}, {0x1006, 1}, {0x1007, 2}, {0x2000, 3}, {0x3000, 4},
                                      {0x4000, 5}, {0x5000, 6}, {0x6000, 7}};
    const struct frame_rows all = {.rows = rows, .row_count = 8, .rules = rules, .rule_count = 8};

    CHECK_NUMBER(table_make(&table, &all), 0);
    CHECK_NUMBER(table_check(&table), 0);
}

static bool find_by_table(void *context, const struct unwind_state *walk, uint64_t pc, struct walk_object *object)
{
    (void)context, (void)walk;
    *object = (struct walk_object){.end = UNWIND_END_UNMAPPED};
    if (pc < 0x7000)
        object->table = &table;
    else if (pc < 0x9000)
        object->frame_pointers = true;
    return true;
}

#define MOST_FRAMES 8

/*
 * A stack of 32-bit words from 0x7000 on, of which that many were copied. Returns how many frames
 * it has, including the end.
 */
static size_t walk_narrow(uint64_t pc, uint64_t link, const uint32_t *stack, size_t words, uint64_t frames[MOST_FRAMES])
{
    const struct deferred_options config = {.machine = &machine_arm, .find = find_by_table, .depth = MOST_FRAMES - 1,
                                       .most_bytes = 65536, .sampled_bytes = 4096};
    const uint64_t registers[16] = {[7] = 0x7020, [11] = 0x7044, [13] = 0x7000, [14] = link, [15] = pc};
    struct processes *processes;
    struct ring_stack found = {NULL, 0};

    CHECK_NUMBER(processes_open(&processes, &(struct processes_options){.silent = true}), 0);
    struct deferred_objects objects = {.processes = processes};
    struct ring_unwind unwind = {.machine = &machine_arm, .objects = &objects, .frames = frames};
    CHECK_NUMBER(deferred_open(&unwind.deferred, &config), 0);
    const struct ring_sample sample = {.registers = registers, .stack = stack, .stack_bytes = words * 4};
    CHECK(ring_unwind_walk(&unwind, &sample, 1, false, &found));
    deferred_close(unwind.deferred);
    processes_close(processes);
    return found.count;
}

TEST(arms_stacks_are_of_32_bits)
{
    uint32_t stack[32] = {0x7020, 0x2011, [13] = 0x4011};
    uint64_t frames[MOST_FRAMES];

    make_table();
    CHECK_NUMBER(walk_narrow(0x1006, 0, stack, 14, frames), 3);
    CHECK(frames[0] == 0x1006 && frames[1] == 0x2010 && frames[2] == 0x4010);
    CHECK_NUMBER(walk_narrow(0x1006, 0, stack, 13, frames), 3);
    CHECK_NUMBER(frames[2], UNWIND_END_FRAME(UNWIND_END_UNREADABLE));
    CHECK_NUMBER(walk_narrow(0x3004, 0x4011, stack, 0, frames), 2);
    CHECK_NUMBER(frames[1], 0x4010);
    table_free(&table);
}

/* Elsewhere than at calls there is no rule, and the walk does not make one up. */
TEST(what_holds_at_calls_does_not_elsewhere)
{
    const uint32_t stack[32] = {0x7020, 0x2011, [13] = 0x4011};
    uint64_t frames[MOST_FRAMES];

    make_table();
    for (uint64_t pc = 0x1000; pc < 0x1010; pc += pc == 0x1004 ? 4 : 2) {
        CHECK_NUMBER(walk_narrow(pc, 0x4011, stack, 32, frames), 2);
        CHECK(frames[0] == pc && frames[1] == UNWIND_END_FRAME(UNWIND_END_UNSUPPORTED));
    }
    CHECK_NUMBER(walk_narrow(0x8000, 0x4011, stack, 32, frames), 2);
    CHECK_NUMBER(frames[1], UNWIND_END_FRAME(UNWIND_END_NO_TABLE));
    table_free(&table);
}

/* The registers that a signal interrupted are r0 to r15, 32 bytes above the stack pointer. */
TEST(arms_signals_lie_as_tables_say)
{
    const uint32_t stack[32] = {[8 + 7] = 0x7020, [8 + 13] = 0x7060, [8 + 14] = 0, [8 + 15] = 0x1006, [24] = 0, 0x4011};
    uint64_t frames[MOST_FRAMES];

    make_table();
    CHECK_NUMBER(walk_narrow(0x5000, 0, stack, 32, frames), 3);
    CHECK(frames[0] == 0x5000 && frames[1] == 0x1006 + 1 && frames[2] == 0x4010);
    table_free(&table);
}

/* ARM's frame pointer is followed like Thumb's. */
TEST(both_of_arms_frame_pointers)
{
    const uint32_t stack[32] = {0x7020, 0x6010, [16] = 0x705c, [17] = 0x6020, [22] = 0xbad, [23] = 0x4011};
    uint64_t frames[MOST_FRAMES];

    make_table();
    CHECK_NUMBER(walk_narrow(0x1006, 0, stack, 32, frames), 4);
    CHECK(frames[0] == 0x1006 && frames[1] == 0x6010 && frames[2] == 0x6020 && frames[3] == 0x4010);
    CHECK_NUMBER(walk_narrow(0x6010, 0, stack, 32, frames), 2);
    CHECK_NUMBER(frames[1], UNWIND_END_FRAME(UNWIND_END_UNSUPPORTED));
    table_free(&table);
}

TEST_MAIN
