/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Profiles for pprof, read back by a reader of our own. */
#include "report/gzip.h"
#include "unit/pprof_reader.h"
#include "unit/report_waits.h"

#define AS_PPROF .format = REPORT_PPROF
#define MEASURE(word, second, in, each) .measure = {word, second, in, each}

static void write_and_read(const struct scene *scene, const struct report_options *options,
                           struct read_profile *profile)
{
    struct report_summary summary;
    size_t length;
    char *written = NULL;
    FILE *out = open_memstream(&written, &length);

    CHECK_NUMBER(report_write(out, &scene->tally, &scene->symbols, options, &six_oclock, &summary), 0);
    fclose(out);
    read_profile(profile, written, length);
    CHECK(profile->counts[6] && !profile->items[6][0].body.left); /* the first string is "" */
    free(written);
}

static void expect(const struct scene *scene, struct report_options options, bool places,
                   const char *types, const char *samples)
{
    AUTO(free_profile) struct read_profile profile;
    AUTO_TEXT shown = {0};

    write_and_read(scene, &options, &profile);
    show_types(&shown, &profile);
    CHECK_STRING(shown.data, types);
    text_clear(&shown);
    text_add(&shown, "");
    show_samples(&shown, &profile, places);
    if (strcmp(shown.data, samples)) {
        printf("--- got\n%s--- should be\n%s---\n", shown.data, samples);
        WRONG("the samples");
    }
}

#define EXPECT_PPROF(scene, types, samples, ...)                                               \
    expect(scene, (struct report_options){AS_PPROF, __VA_ARGS__}, false, types, samples)

/* ---- gzip ---- */

TEST(checksums)
{
    struct crc32 crc;

    crc32_begin(&crc);
    CHECK_NUMBER(crc32_value(&crc), 0);
    crc32_add(&crc, (const unsigned char *)"1234", 4);
    crc32_add(&crc, (const unsigned char *)"56789", 5);
    CHECK_NUMBER(crc32_value(&crc), 0xcbf43926); /* as in every description of the format */
}

/* All blocks but the last are full; the contents do not depend on the sizes of the writes. */
TEST(blocks)
{
    static const size_t sizes[] = {0, 1, 65534, 65535, 65536, 131070, 131071, 300000};
    struct gzip *gzip = malloc(sizeof(*gzip));
    char *bytes = malloc(300000);

    if (!gzip || !bytes)
        abort();
    for (size_t i = 0; i < 300000; i++)
        bytes[i] = (char)(i * i >> 7);
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        for (size_t piece = 1000; piece <= 400000; piece *= 20) {
            AUTO_TEXT read = {0};
            char *file = NULL;
            size_t length;
            FILE *out = open_memstream(&file, &length);
            gzip_begin(gzip, out);
            for (size_t at = 0; at < sizes[i]; at += piece)
                gzip_add(gzip, bytes + at, sizes[i] - at < piece ? sizes[i] - at : piece);
            gzip_end(gzip);
            fclose(out);
            gunzip_stored((struct bytes){(unsigned char *)file, length}, &read);
            CHECK_NUMBER(read.length, sizes[i]);
            CHECK(!sizes[i] || !memcmp(read.data, bytes, sizes[i]));
            free(file);
        }
    free(bytes);
    free(gzip);
}

/* ---- What is measured ---- */

TEST(measures)
{
    AUTO_SCENE scene = {0};
    struct names n = add_names(&scene);

    add_entry(&scene, 3, 7, "cat", FRAMES(n.read_pipe), FRAMES(n.main_))->events = 3;
    EXPECT_PPROF(&scene, "samples/count cpu/nanoseconds period cpu/nanoseconds 5000 default cpu\n",
                 "3 15000 | read_pipe;main | comm=cat pid=7\n", SAMPLES, BOTH,
                 MEASURE("samples", "cpu", "nanoseconds", 5000));
    EXPECT_PPROF(&scene,
                 "samples/count page-faults/count period page-faults/count 2 default page-faults\n",
                 "3 6 | read_pipe;main | comm=cat pid=7\n", SAMPLES, BOTH,
                 MEASURE("samples", "page-faults", "count", 2));
    EXPECT_PPROF(&scene, "samples/count default samples\n",
                 "3 | read_pipe;main | comm=cat pid=7\n", SAMPLES, BOTH,
                 MEASURE("samples", NULL, NULL, 0));
    EXPECT_PPROF(&scene, "events/count default events\n",
                 "3 | read_pipe;main | comm=cat pid=7\n", BOTH, .show_process = true,
                 MEASURE("events", NULL, NULL, 0));
    EXPECT_PPROF(&scene, "events/count default events\n", "3 | read_pipe;main |\n", BOTH);
    free_scene(&scene);

    /* A wait's value is divided, its events are not; two entries with one stack are one sample. */
    scene = (struct scene){0};
    n = add_names(&scene);
    add_entry(&scene, 2700, 7, "cat", FRAMES(n.schedule), FRAMES(n.main_))->events = 2;
    add_entry(&scene, 2400, 7, "cat", FRAMES(n.schedule), FRAMES(n.main_))->events = 3;
    EXPECT_PPROF(&scene, "waits/count blocked/microseconds default blocked\n",
                 "5 5 | __schedule;main | comm=cat pid=7\n", WAITS, BOTH,
                 MEASURE("waits", "blocked", "microseconds", 0));
}

/* ---- Whose ---- */

TEST(tasks)
{
    AUTO_SCENE scene = {0};
    struct names n = add_names(&scene);

    add_entry(&scene, 30, 7, "cat", FRAMES(n.schedule), NO_FRAMES);
    add_entry(&scene, 20, 9, "cat", FRAMES(n.schedule), NO_FRAMES);
    add_entry(&scene, 10, 9, "", FRAMES(n.schedule), NO_FRAMES)->task.foreign = true;
    add_entry(&scene, 5, 0, "swapper/0", FRAMES(n.schedule), NO_FRAMES);
    /* The largest first; the host's pids are not labelled as ours. */
    EXPECT_PPROF(&scene, "events/count default events\n",
                 "30 | __schedule | comm=cat pid=7\n"
                 "20 | __schedule | comm=cat pid=9\n"
                 "10 | __schedule | comm=[unknown] host_pid=9\n"
                 "5 | __schedule | comm=swapper/0\n", SAMPLES, BOTH);
    EXPECT_PPROF(&scene, "events/count default events\n",
                 "50 | __schedule | comm=cat\n"
                 "10 | __schedule | comm=[unknown]\n"
                 "5 | __schedule | comm=swapper/0\n", SAMPLES, BOTH, .by = GROUP_BY_NAME);
    EXPECT_PPROF(&scene, "events/count default events\n",
                 "30 | __schedule | comm=cat pid=7 tid=8\n"
                 "20 | __schedule | comm=cat pid=9 tid=10\n", SAMPLES, BOTH, .by = GROUP_BY_THREAD,
                 .top = 2);
}

/* Special frames are locations; the time of a report is not. */
TEST(special_frames)
{
    AUTO_SCENE scene = {0};
    struct names n = add_names(&scene);

    add_entry(&scene, 9000, 7, "cat", FRAMES(n.schedule), FRAMES(n.main_))->mark = MARK_UNFINISHED;
    add_entry(&scene, 8000, 7, "cat", NO_FRAMES, NO_FRAMES);
    add_entry(&scene, 7000, 7, "cat", NO_FRAMES, NO_FRAMES)->task.user.state = STACK_FULL;
    add_entry(&scene, 6000, 0, "", NO_FRAMES, NO_FRAMES)->mark = MARK_TABLE_FULL;
    EXPECT_PPROF(&scene, "events/count default events\n",
                 "9 | __schedule;-;main;[unfinished] | comm=cat pid=7\n"
                 "8 | [no stack] | comm=cat pid=7\n"
                 "7 | [stack storage full] | comm=cat pid=7\n"
                 "6 | [table full] |\n", WAITS, BOTH, .delimited = true, .time_as_root = true);
}

TEST(wakers)
{
    AUTO_SCENE scene = {0};
    struct names n = add_names(&scene);
    struct tally_entry *entry = add_entry(&scene, 9000, 7, "cat", FRAMES(n.schedule), FRAMES(n.main_));

    add_waker(&scene, entry, 20, "yes", FRAMES(n.wake_up), FRAMES(n.send, n.loop));
    add_entry(&scene, 5000, 7, "cat", FRAMES(n.schedule), FRAMES(n.main_));
    EXPECT_PPROF(&scene, "events/count default events\n",
                 "9 | try_to_wake_up;send;loop | comm=cat pid=7 waker=yes waker_pid=20\n"
                 "5 | [no waker] | comm=cat pid=7\n", WAKES, BOTH);
    EXPECT_PPROF(&scene, "events/count default events\n",
                 "9 | loop;send;try_to_wake_up;--;__schedule;main | comm=cat pid=7 "
                 "waker=yes waker_pid=20\n"
                 "5 | [no waker];--;__schedule;main | comm=cat pid=7\n", BOTH_SIDES, BOTH);
}

/* ---- Where ---- */

static void set_mapping(struct scene *scene, size_t number, const char *path, const char *build_id,
                        uint64_t start, uint64_t limit, uint64_t offset)
{
    struct symbol_mappings *mappings = &scene->symbols.mappings;

    if (!mappings->items && !(mappings->items = calloc(8, sizeof(*mappings->items))))
        abort();
    mappings->count = number > mappings->count ? number : mappings->count;
    struct symbol_mapping *mapping = &mappings->items[number - 1];
    *mapping = (struct symbol_mapping){.start = start, .limit = limit, .offset = offset};
    text_add(&mapping->path, path);
    text_add(&mapping->build_id, build_id);
}

static void set_place(struct scene *scene, uint32_t symbol, uint32_t mapping, uint64_t address)
{
    scene->symbols.items[symbol].mapping = mapping;
    scene->symbols.items[symbol].mapped_at = address;
}

/* Two addresses in a function are two locations of one function, and two stacks. */
TEST(places)
{
    AUTO_SCENE scene = {0};
    uint32_t near = add_symbol(&scene, false, 0x7f01, "spin", "burn", 1);
    uint32_t far = add_symbol(&scene, false, 0x7f02, "spin", "burn", 2);
    uint32_t nameless = add_symbol(&scene, false, 0x7f03, NULL, "libc;.so", 0x1234);
    uint32_t odd = add_symbol(&scene, false, 0x7f04, "a<b>(c)\x1b ;1", NULL, 0);
    uint32_t unknown = add_symbol(&scene, false, 0x7f05, NULL, NULL, 0);
    AUTO(free_profile) struct read_profile profile;

    set_mapping(&scene, 1, "/lib/libc;.so", "", 0x10000, 0x20000, 0x5000);
    set_mapping(&scene, 2, "/bin/burn", "abcdef", 0x401000, 0x402000, 0x1000);
    scene.symbols.mappings.main = 1;
    set_place(&scene, near, 2, 0x401100);
    set_place(&scene, far, 2, 0x401200);
    set_place(&scene, nameless, 1, 0x10010);
    add_entry(&scene, 3, 7, "burn", NO_FRAMES, FRAMES(near, nameless, unknown));
    add_entry(&scene, 2, 7, "burn", NO_FRAMES, FRAMES(far, odd));
    const struct report_options options = {AS_PPROF, BOTH, SAMPLES};
    expect(&scene, options, true, "events/count default events\n",
           "3 | spin@/bin/burn+0x1100;libc;.so+0x1234@/lib/libc;.so+0x5010;[unknown] | "
           "comm=burn pid=7\n"
           "2 | spin@/bin/burn+0x1200;a<b>(c)\\x1b ;1 | comm=burn pid=7\n");

    write_and_read(&scene, &options, &profile);
    CHECK_NUMBER(profile.counts[3], 2);
    CHECK_NUMBER(profile.items[3][0].numbers[1], 2); /* the main file comes first */
    CHECK_NUMBER(profile.items[3][0].numbers[2], 0x401000);
    CHECK_NUMBER(profile.items[3][0].numbers[7], 1); /* it has functions */
    CHECK_NUMBER(profile.items[3][1].numbers[7], 1);
    CHECK_NUMBER(profile.counts[4], 5);
    CHECK_NUMBER(profile.counts[5], 4); /* spin is one of them */
    for (size_t i = 0; i < profile.counts[5]; i++) {
        AUTO_TEXT name = {0};
        const struct read_item *function = &profile.items[5][i];
        show_string(&name, &profile, function->numbers[2]);
        /* The raw name, escaped, if another one is shown; otherwise none. */
        CHECK_NUMBER(function->numbers[3], 0);
        text_clear(&name);
        show_string(&name, &profile, function->numbers[4]);
        CHECK(!name.length || !strcmp(name.data, "/bin/burn") || !strcmp(name.data, "/lib/libc;.so"));
    }
}

/* A frame shown with a suffix also has the plain name. */
TEST(raw_names)
{
    AUTO_SCENE scene = {0};
    struct names n = add_names(&scene);
    const struct report_options options = {AS_PPROF, BOTH, SAMPLES, .annotations = true,
                                           .offset = true};
    AUTO(free_profile) struct read_profile profile;
    AUTO_TEXT name = {0};

    add_entry(&scene, 3, 7, "cat", FRAMES(n.schedule), NO_FRAMES);
    write_and_read(&scene, &options, &profile);
    CHECK_NUMBER(profile.counts[5], 1);
    show_string(&name, &profile, profile.items[5][0].numbers[2]);
    CHECK_STRING(name.data, "__schedule+0x10_[k]");
    text_clear(&name);
    show_string(&name, &profile, profile.items[5][0].numbers[3]);
    CHECK_STRING(name.data, "__schedule");
}

/* A demangled frame also has the name from the symbol table. */
TEST(mangled_names)
{
    AUTO_SCENE scene = {0};
    uint32_t f = add_symbol(&scene, false, 0x401136, "A::f(int)", "cat", 0x1f);
    const struct report_options options = {AS_PPROF, BOTH, SAMPLES};
    AUTO(free_profile) struct read_profile profile;
    AUTO_TEXT name = {0};

    text_add(&scene.symbols.items[f].raw, "_ZN1A1fEi");
    add_entry(&scene, 3, 7, "cat", NO_FRAMES, FRAMES(f));
    write_and_read(&scene, &options, &profile);
    CHECK_NUMBER(profile.counts[5], 1);
    show_string(&name, &profile, profile.items[5][0].numbers[2]);
    CHECK_STRING(name.data, "A::f(int)");
    text_clear(&name);
    show_string(&name, &profile, profile.items[5][0].numbers[3]);
    CHECK_STRING(name.data, "_ZN1A1fEi");
}

/* ---- The run ---- */

TEST(about_the_run)
{
    const struct report_about about = {
        .applet = "profile", .command_line = "profile -F 99 '\x01'", .host = "vm", .kernel = "6.1",
        .began = 1700000000123456789, .ended = 1700000005123456790, .losses = "3 lost\n4 gone\n",
    };
    static const char *const comments[] = {"profile -F 99 '\\x01'", "on vm, Linux 6.1", "3 lost",
                                           "4 gone"};
    AUTO_SCENE scene = {0};
    struct names n = add_names(&scene);
    const struct report_options options = {AS_PPROF, BOTH, SAMPLES, .about = &about};
    AUTO(free_profile) struct read_profile profile;

    add_entry(&scene, 3, 7, "cat", FRAMES(n.schedule), NO_FRAMES);
    write_and_read(&scene, &options, &profile);
    CHECK_NUMBER(profile.numbers[9], 1700000000123456789);
    CHECK_NUMBER(profile.numbers[10], 5000000001);
    CHECK_NUMBER(profile.counts[13], COUNT_OF(comments));
    for (size_t i = 0; i < profile.counts[13] && i < COUNT_OF(comments); i++) {
        AUTO_TEXT comment = {0};
        show_string(&comment, &profile, profile.items[13][i].numbers[0]);
        CHECK_STRING(comment.data, comments[i]);
    }
}

TEST(nothing_counted)
{
    AUTO_SCENE scene = {0};

    EXPECT_PPROF(&scene, "waits/count blocked/microseconds default blocked\n", "", WAITS, BOTH,
                 MEASURE("waits", "blocked", "microseconds", 0));
}

/* Many stacks, each once; the sum that is read is the sum that was counted. */
TEST(many_stacks)
{
    enum { STACKS = 20000, SYMBOLS = 3000, DEPTH = 12 };
    AUTO_SCENE scene = {0};
    AUTO(free_profile) struct read_profile profile;
    uint64_t sum = 0, counted = 0;
    uint32_t frames[DEPTH];
    char name[32];

    srand(5);
    for (unsigned i = 0; i < SYMBOLS; i++) {
        snprintf(name, sizeof(name), "f%u", i / 3);
        add_symbol(&scene, false, 0x400000 + i, name, "burn", i % 3);
    }
    for (unsigned i = 0; i < STACKS; i++) {
        for (unsigned k = 0; k < DEPTH; k++)
            frames[k] = (uint32_t)rand() % SYMBOLS;
        counted += i % 7 + 1;
        add_entry(&scene, i % 7 + 1, 7, "burn", NO_FRAMES, (struct frames){frames, DEPTH});
    }
    const struct report_options options = {AS_PPROF, BOTH, SAMPLES};
    write_and_read(&scene, &options, &profile);
    CHECK_NUMBER(profile.counts[2], STACKS);
    CHECK_NUMBER(profile.counts[4], SYMBOLS);
    CHECK_NUMBER(profile.counts[5], SYMBOLS / 3);
    for (size_t i = 0; i < profile.counts[2]; i++) {
        struct bytes body = profile.items[2][i].body, inside;
        unsigned field;
        uint64_t value;
        while (take_field(&body, &field, &value, &inside))
            if (field == 2)
                sum += take_varint(&inside);
    }
    CHECK_NUMBER(sum, counted);
}

TEST_MAIN
