/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Folded stacks become a tree whose names can be shown and whose sums are right; written as folded
 * stacks again, it reads back as the same.
 */

#include <string.h>

#include "base/text.h"
#include "flame/flame.h"
#include "fuzz.h"
#include "report/report.h"

struct reading {
    struct flame flame;
    struct folded folded;
};

static void read_bytes(struct reading *reading, const uint8_t *data, size_t size)
{
    reading->folded.flame = &reading->flame;
    reading->folded.name = "input";
    ALWAYS(!folded_read(&reading->folded, fuzz_file(data, size)));
}

static void close_reading(struct reading *reading)
{
    folded_free(&reading->folded);
    flame_free(&reading->flame);
}

static void check_name(const struct flame_name *name)
{
    struct text shown = {0};

    ALWAYS(name->length);
    ALWAYS(!memchr(name->text, ';', name->length));
    escape_bytes(&shown, name->text, name->length);
    ALWAYS(!shown.failed && shown.length == name->length &&
           !memcmp(shown.data, name->text, name->length));
    text_free(&shown);
}

/* Before sorting: the children of a node have different names. */
static void check_tree(const struct flame *flame)
{
    size_t *seen = calloc(flame->name_count, sizeof(*seen)), met = 0;

    ALWAYS(seen);
    for (size_t i = 0; i < flame->count; i++) {
        uint64_t value = 0;
        check_name(&flame->names[flame->nodes[i].name]);
        for (uint32_t at = flame->nodes[i].first_child; at; at = flame->nodes[at].next, met++) {
            ALWAYS(at > i && at < flame->count && flame->nodes[at].parent == i);
            ALWAYS(seen[flame->nodes[at].name] != i + 1);
            seen[flame->nodes[at].name] = i + 1;
            value += flame->nodes[at].value;
        }
        ALWAYS(flame->nodes[i].value >= value);
    }
    ALWAYS(met == flame->count - 1);
    free(seen);
}

static char *write_back(struct reading *reading, size_t *length)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, length);

    ALWAYS(out && !flame_order(&reading->flame));
    ALWAYS(!flame_write_folded(out, &reading->flame, reading->folded.pairs));
    ALWAYS(!fclose(out));
    return text;
}

static void write_texts(const struct reading *reading)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    ALWAYS(out && !flame_write_functions(out, &reading->flame, "samples"));
    ALWAYS(!flame_write_changes(out, &reading->flame, false));
    ALWAYS(!flame_write_changes(out, &reading->flame, true));
    ALWAYS(!fclose(out));
    free(text);
}

/* Reads and writes; returns what it wrote, which the caller frees. */
static char *round_trip(const uint8_t *data, size_t size, size_t *length, struct folded *found)
{
    struct reading reading = {0};

    ALWAYS(!flame_init(&reading.flame));
    read_bytes(&reading, data, size);
    flame_sum(&reading.flame);
    ALWAYS(reading.flame.nodes[0].value == reading.folded.sums[FLAME_NOW]);
    ALWAYS(reading.flame.nodes[0].before == reading.folded.sums[FLAME_BEFORE]);
    check_tree(&reading.flame);
    char *text = write_back(&reading, length);
    write_texts(&reading);
    *found = reading.folded;
    close_reading(&reading);
    return text;
}

/*
 * The output is read completely, and written as the same lines. If a blank before a number was
 * replaced, two lines with the same count may swap, once.
 */
static void check_round(const uint8_t *data, size_t size)
{
    struct folded first, second, third;
    size_t lengths[3];
    char *one = round_trip(data, size, &lengths[0], &first);
    char *two = round_trip((const uint8_t *)one, lengths[0], &lengths[1], &second);
    char *three = round_trip((const uint8_t *)two, lengths[1], &lengths[2], &third);

    ALWAYS(!second.bad.count && !second.large.count && !second.odd.count);
    ALWAYS(second.sums[FLAME_NOW] == first.sums[FLAME_NOW]);
    ALWAYS(second.sums[FLAME_BEFORE] == first.sums[FLAME_BEFORE]);
    ALWAYS(lengths[0] == lengths[1] && second.stacks == third.stacks);
    ALWAYS(lengths[1] == lengths[2] && !memcmp(two, three, lengths[1]));
    free(one);
    free(two);
    free(three);
}

/* Takes half of the input as the old run. */
static void check_difference(const uint8_t *data, size_t size, bool reversed)
{
    struct reading reading = {0};
    uint64_t *scaled = NULL;

    ALWAYS(!flame_init(&reading.flame));
    reading.folded = (struct folded){
        .side = FLAME_BEFORE,
        .reversed = reversed,
        .bare = true,
    };
    read_bytes(&reading, data, size / 2);
    reading.folded.side = FLAME_NOW;
    read_bytes(&reading, data + size / 2, size - size / 2);
    flame_sum(&reading.flame);
    check_tree(&reading.flame);
    write_texts(&reading);
    const struct flame_node *nodes = reading.flame.nodes;
    ALWAYS(!flame_scale(&reading.flame, &scaled));
    ALWAYS(scaled[0] == (nodes[0].before ? nodes[0].value : 0));
    flame_exchange_before(&reading.flame, scaled);
    for (size_t i = 0; i < reading.flame.count; i++) {
        uint64_t sum = 0;
        for (uint32_t at = nodes[i].first_child; at; at = nodes[at].next)
            sum += nodes[at].before;
        ALWAYS(sum <= nodes[i].before);
    }
    free(scaled);
    close_reading(&reading);
}

/* Lines, and a node for each two bytes, three times; two trees are drawn for each. */
const struct fuzz_line fuzz_lines[FUZZ_COSTS] = {
    [FUZZ_BYTES] = {1 << 20, 600, 0},
    [FUZZ_READS] = {64, 1, 0},
    [FUZZ_TIME] = {30000, 20, 0},
};

void fuzz_input(const uint8_t *data, size_t size)
{
    check_round(data, size);
    check_difference(data, size, size & 1);
}
