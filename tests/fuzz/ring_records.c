/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Records of perf's ring buffers: every part that the parser returns lies within the record. The
 * input's first byte says which sample fields were requested.
 */
#include "rings/records.h"

#include <string.h>

#include "fuzz.h"

#define X86_64_REGISTERS 0xff0fffu

static volatile unsigned char touched;

struct bounds {
    const char *start;
    size_t size;
};

/* Checks that the part lies within the record, and reads all of it. */
static void must_lie(const struct bounds *record, const void *part, size_t bytes)
{
    const uintptr_t start = (uintptr_t)record->start, at = (uintptr_t)part;

    if (!bytes)
        return;
    ALWAYS(at >= start && at - start <= record->size && bytes <= record->size - (at - start));
    for (size_t i = 0; i < bytes; i++)
        touched ^= ((const unsigned char *)part)[i];
}

static void look_at_sample(const struct bounds *record, const struct record_shape *shape,
                           const struct ring_sample *sample)
{
    const size_t registers = (size_t)__builtin_popcountll(shape->registers);

    must_lie(record, sample->kernel, sample->kernel_count * sizeof(uint64_t));
    must_lie(record, sample->user, sample->user_count * sizeof(uint64_t));
    ALWAYS(!sample->kernel_count || sample->kernel[sample->kernel_count - 1]);
    ALWAYS(!sample->user_count || sample->user[sample->user_count - 1]);
    ALWAYS(!sample->raw == !shape->raw);
    must_lie(record, sample->raw, sample->raw_size);
    ALWAYS(!sample->registers || registers);
    must_lie(record, sample->registers, sample->registers ? registers * sizeof(uint64_t) : 0);
    must_lie(record, sample->stack, sample->stack_bytes);
}

/* The parser takes records in place. */
const struct fuzz_line fuzz_lines[FUZZ_COSTS] = {
    [FUZZ_BYTES] = {4096, 4, 0},
    [FUZZ_READS] = {1, 0, 0},
    [FUZZ_TIME] = {10000, 5, 0},
};

void fuzz_input(const uint8_t *data, size_t size)
{
    struct ring_record record;

    if (!size)
        return;
    const struct record_shape shape = {
        .raw = data[0] & 1,
        .narrow = data[0] & 2,
        .registers = data[0] & 4 ? X86_64_REGISTERS : 0,
    };
    char *bytes = malloc(size); /* and the byte of room */
    ALWAYS(bytes);
    memcpy(bytes, data + 1, size - 1);
    const struct bounds bounds = {bytes, size - 1};
    ring_record_parse(bytes, bounds.size, &shape, &record);
    if (record.kind == RECORD_SAMPLE)
        look_at_sample(&bounds, &shape, &record.sample);
    else if (record.kind == RECORD_TASK && record.task.kind <= RING_TASK_EXECS && record.task.name)
        must_lie(&bounds, record.task.name, strlen(record.task.name) + 1);
    ALWAYS(record.kind != RECORD_TASK || record.task.name ||
           record.task.kind == RING_TASK_FORKED || record.task.kind == RING_TASK_ENDED);
    free(bytes);
}
