/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Reports of random tallies, in every layout and with any options. A report of many entries must equal the
 * reports of the single entries, with equal texts merged and summed up; the order of entries does not matter.
 */
#include <ctype.h>

#include "unit/report_scene.h"

#define ROUNDS 1500
#define MOST_ENTRIES 24

/* The same numbers in every run: a failure can be repeated. */
static uint64_t chance_state = 0x2545f4914f6cdd1d;

static uint32_t chance(uint32_t below)
{
    chance_state ^= chance_state << 13;
    chance_state ^= chance_state >> 7;
    chance_state ^= chance_state << 17;
    return (uint32_t)(chance_state >> 33) % below;
}

static const char *const functions[] = {"f", "g", "f", "a;b", "a:b", "c 12", "c_12", "\x1b[2J", "",
                                        "[unfinished]", "gr\xc3\xb6\xc3", "operator+ 3"};
static const char *const files[] = {"", "mod", "my file 2", "[vdso]"};
static const char *const comms[] = {"cat", "dog", "c;t", "c:t", "", "w 1", "w_1", "[no waker]",
                                    "123456789012345\xff"};

static struct frames random_frames(struct scene *scene, bool kernel, uint32_t *items)
{
    struct frames frames = {items, chance(4)};

    for (size_t i = 0; i < frames.count; i++) {
        do
            items[i] = chance((uint32_t)scene->symbols.count);
        while (scene->symbols.items[items[i]].kernel != kernel);
    }
    return frames;
}

static void lose_some(struct tally_task *task)
{
    if (task->kernel.state == STACK_NONE && !chance(4))
        task->kernel.state = STACK_FULL;
    if (task->user.state == STACK_NONE && !chance(4))
        task->user.state = STACK_FULL;
}

static void add_random_entry(struct scene *scene)
{
    uint32_t kernel[4], user[4];
    struct frames kernel_frames = random_frames(scene, true, kernel);
    struct tally_entry *entry = add_entry(scene, chance(3000), 1 + chance(3),
                                          comms[chance(COUNT_OF(comms))], kernel_frames,
                                          random_frames(scene, false, user));

    entry->task.tid = 1 + chance(4);
    entry->task.foreign = !chance(5);
    entry->mark = (enum tally_mark)(chance(2) * chance(3));
    lose_some(&entry->task);
    if (!chance(3))
        return;
    kernel_frames = random_frames(scene, true, kernel);
    add_waker(scene, entry, 1 + chance(3), comms[chance(COUNT_OF(comms))], kernel_frames,
              random_frames(scene, false, user));
    entry->waker.foreign = !chance(5);
    lose_some(&entry->waker);
}

static struct scene random_scene(void)
{
    struct scene scene = {0};
    uint32_t entries = chance(MOST_ENTRIES + 1);

    for (uint32_t i = 0; i < 8; i++)
        add_symbol(&scene, i % 2, 0x1000 * (i + 1), functions[chance(COUNT_OF(functions))],
                   files[chance(COUNT_OF(files))], chance(3));
    while (entries--)
        add_random_entry(&scene);
    return scene;
}

static struct report_options random_options(void)
{
    uint32_t sides = chance(4);

    return (struct report_options){
        .format = (enum report_format)chance(2),
        .layout = (enum report_layout)chance(4),
        .unit = chance(2) ? 1000 : chance(2),
        .by = (enum grouping)chance(GROUP_BY_NAME),
        .kernel = sides != 1,
        .user = sides != 2,
        .delimited = chance(2),
        .offset = chance(2),
        .verbose = chance(2),
        .annotations = chance(2),
        .show_process = chance(2),
        .time_as_root = chance(2),
    };
}

static char *written(const struct tally *tally, const struct symbols *symbols,
                     const struct report_options *options, struct report_summary *summary)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    CHECK_NUMBER(report_write(out, tally, symbols, options, &six_oclock, summary), 0);
    fclose(out);
    return text;
}

/* One block or line, with its number cut off. */
struct piece {
    char *text;
    uint64_t value;
};

/* Takes the next piece of a report, overwriting it; false at its end. */
static bool next_piece(char **report, bool folded, struct piece *piece)
{
    char *start = *report, *end = strstr(start, folded ? "\n" : "\n\n");

    if (!*start || !end)
        return false;
    *report = end + (folded ? 1 : 2);
    *end = '\0';
    char *number = end;
    while (number > start && isdigit((unsigned char)number[-1]))
        number--;
    piece->value = strtoull(number, NULL, 10);
    *number = '\0';
    piece->text = start;
    return true;
}

/* The expected pieces: those of every entry on its own. Returns their number; the caller frees texts[i]. */
static size_t pieces_of_each(const struct scene *scene, struct report_options options,
                             struct piece *pieces, char **texts)
{
    bool folded = options.format == REPORT_FOLDED;
    size_t count = 0;

    options.unit = 1;
    for (size_t i = 0; i < scene->tally.count; i++) {
        struct tally tally = scene->tally;
        struct symbols symbols = scene->symbols;
        struct report_summary summary;
        struct piece piece = {0};
        size_t same = 0;
        tally.entries += i;
        tally.count = 1;
        symbols.first += i;
        char *at = texts[i] = written(&tally, &symbols, &options, &summary);
        at += !folded; /* the empty line before the first */
        CHECK(next_piece(&at, folded, &piece));
        CHECK(!*at);
        CHECK_NUMBER(piece.value, scene->tally.entries[i].value);
        while (same < count && strcmp(pieces[same].text, piece.text))
            same++;
        if (same == count)
            pieces[count++] = piece;
        else
            pieces[same].value += piece.value;
    }
    return count;
}

static void check_report(const struct scene *scene, const struct report_options *options)
{
    bool folded = options->format == REPORT_FOLDED;
    struct piece pieces[MOST_ENTRIES], piece;
    char *texts[MOST_ENTRIES];
    struct report_summary summary;
    size_t count = pieces_of_each(scene, *options, pieces, texts), found = 0;
    char *report = written(&scene->tally, &scene->symbols, options, &summary), *at = report;
    uint64_t last = 0, unit = options->unit ? options->unit : 1;

    CHECK_NUMBER(summary.blocks, count);
    for (at += !folded; next_piece(&at, folded, &piece); found++) {
        size_t same = 0;
        while (same < count && strcmp(pieces[same].text, piece.text))
            same++;
        CHECK(same < count);
        if (same < count)
            CHECK_NUMBER(piece.value, pieces[same].value / unit);
        CHECK(piece.value >= last);
        last = piece.value;
    }
    CHECK_NUMBER(found, count);
    for (size_t i = 0; i < scene->tally.count; i++)
        free(texts[i]);
    free(report);
}

static void swap_entries(struct scene *scene, size_t a, size_t b)
{
    struct tally_entry entry = scene->tally.entries[a];
    size_t first = scene->symbols.first[a];

    scene->tally.entries[a] = scene->tally.entries[b];
    scene->symbols.first[a] = scene->symbols.first[b];
    scene->tally.entries[b] = entry;
    scene->symbols.first[b] = first;
}

static void check_order(struct scene *scene, const struct report_options *options)
{
    struct report_summary summary;
    char *before = written(&scene->tally, &scene->symbols, options, &summary);

    for (size_t i = 1; i < scene->tally.count; i++)
        swap_entries(scene, i, chance((uint32_t)i + 1));
    char *after = written(&scene->tally, &scene->symbols, options, &summary);
    CHECK_STRING(after, before);
    free(before);
    free(after);
}

/* Printed and left out together are everything. */
static void check_sums(const struct scene *scene, struct report_options options)
{
    struct report_summary summary;
    uint64_t sum = 0;

    options.unit = 1;
    options.top = chance(5);
    for (size_t i = 0; i < scene->tally.count; i++)
        sum += scene->tally.entries[i].value;
    free(written(&scene->tally, &scene->symbols, &options, &summary));
    CHECK_NUMBER(summary.value + summary.left_value, sum);
    CHECK(!options.top || summary.blocks <= options.top);
}

TEST(entries_alone_and_together)
{
    for (int round = 0, most = rounds(ROUNDS); round < most && !test_failures_here; round++) {
        AUTO_SCENE scene = random_scene();
        struct report_options options = random_options();

        check_report(&scene, &options);
        check_order(&scene, &options);
        check_sums(&scene, options);
    }
}

/*
 * If processes with one name are merged, the text has the number of processes, and so differs from
 * the text of a single one.
 */
TEST(names_for_processes)
{
    for (int round = 0, most = rounds(ROUNDS); round < most && !test_failures_here; round++) {
        AUTO_SCENE scene = random_scene();
        struct report_options options = random_options();

        options.by = GROUP_BY_NAME;
        if (options.format == REPORT_FOLDED)
            check_report(&scene, &options);
        check_order(&scene, &options);
        check_sums(&scene, options);
    }
}

TEST_MAIN
