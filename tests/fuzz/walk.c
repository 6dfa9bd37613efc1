/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Unwinding by tables, with hostile copies of stacks: whatever rules, registers and words are, a
 * walk ends, says why, and has no more frames than there is room for; the same each time.
 *
 * The input: a byte for the machine, one for the depth, the registers, the rules, and the rest is
 * the stack.
 */
#include "unwind/walk.h"

#include <string.h>

#include "fuzz.h"
#include "machine/machine.h"

#define CODE 0x400000ull
#define STACK 0x7ffc00000000ull
#define RULES 16
#define MOST_DEPTH 128
/* A frame reads some words, a signal frame a few more. */
#define MOST_READS (8 * (MOST_DEPTH + 2))

struct copied {
    const uint8_t *bytes;
    size_t size, reads;
    struct table table;
};

static void find(void *context, uint64_t pc, struct walk_object *object)
{
    const struct copied *copied = context;

    switch (pc >> 12) {
    case (CODE >> 12) + 1:
        *object = (struct walk_object){.table = &copied->table, .bias = CODE};
        return;
    case (CODE >> 12) + 2:
        *object = (struct walk_object){.frame_pointers = true};
        return;
    case (CODE >> 12) + 3:
        *object = (struct walk_object){.end = UNWIND_END_DEFERRED};
        return;
    default:
        *object = (struct walk_object){.end = UNWIND_END_UNMAPPED};
    }
}

static bool read_word(void *context, uint64_t address, uint64_t *word)
{
    struct copied *copied = context;
    const uint64_t at = address - STACK;

    copied->reads++;
    if (at >= copied->size || copied->size - at < sizeof(*word))
        return false;
    memcpy(word, copied->bytes + at, sizeof(*word));
    return true;
}

/* A rule for each 256 bytes of code. Invalid rules are turned into valid ones. */
static bool make_table(struct copied *copied, const uint8_t *bytes)
{
    struct unwind_rule rules[RULES + 1];
    struct frame_row rows[RULES];
    struct frame_rows made = {.rows = rows, .row_count = RULES, .rules = rules, .rule_count = RULES + 1};

    memset(rules, 0, sizeof(*rules));
    memcpy(rules + 1, bytes, RULES * sizeof(*rules));
    for (size_t i = 1; i <= RULES; i++) {
        rules[i].cfa %= UNWIND_CFAS;
        rules[i].frame_kind %= UNWIND_FRAMES;
        rules[i].return_kind %= UNWIND_RETURNS;
        rows[i - 1] = (struct frame_row){0x1000 + 256 * (i - 1), (uint32_t)i};
    }
    return !table_make(&copied->table, &made);
}

static const struct machine *choose(uint8_t number)
{
    const struct machine *walked[8];
    size_t count = 0;

    for (const struct machine *const *machine = machines; *machine; machine++)
        if ((*machine)->walk && count < 8)
            walked[count++] = *machine;
    ALWAYS(count);
    return walked[number % count];
}

static void try_walk(struct copied *copied, const struct walk_options *config, const struct walk_registers *registers)
{
    uint64_t frames[2][MOST_DEPTH + 1];
    enum unwind_end ends[2];
    size_t counts[2];

    memset(frames, 0x55, sizeof(frames));
    for (int i = 0; i < 2; i++) {
        copied->reads = 0;
        counts[i] = walk_stack(config, registers, frames[i], &ends[i]);
        ALWAYS(copied->reads <= MOST_READS);
        ALWAYS(counts[i] <= config->depth && ends[i] < UNWIND_ENDS);
        ALWAYS(frames[i][config->depth] == 0x5555555555555555);
    }
    ALWAYS(counts[0] == counts[1] && ends[0] == ends[1]);
    ALWAYS(!memcmp(frames[0], frames[1], sizeof(frames[0])));
}

/* A table of 16 rules. */
const struct fuzz_line fuzz_lines[FUZZ_COSTS] = {
    [FUZZ_BYTES] = {64 << 10, 4, 0},
    [FUZZ_READS] = {1, 0, 0},
    [FUZZ_TIME] = {10000, 5, 0},
};

void fuzz_input(const uint8_t *data, size_t size)
{
    struct walk_registers registers;
    struct copied copied = {0};
    const size_t head = 2 + sizeof(registers) + RULES * sizeof(struct unwind_rule);

    if (size < head)
        return;
    const struct walk_options config = {
        .machine = choose(data[0]),
        .context = &copied,
        .find = find,
        .read = read_word,
        .first_stack = data[0] & 0x80 ? STACK + size - head : 0,
        .depth = 1 + data[1] % MOST_DEPTH,
    };
    memcpy(&registers, data + 2, sizeof(registers));
    copied.bytes = data + head;
    copied.size = size - head;
    if (make_table(&copied, data + 2 + sizeof(registers))) {
        ALWAYS(!table_check(&copied.table));
        try_walk(&copied, &config, &registers);
    }
    table_free(&copied.table);
}
