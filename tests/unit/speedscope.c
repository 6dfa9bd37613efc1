/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Reports for speedscope, read back by a strict JSON reader. */
#include "unit/json.h"
#include "unit/report_scene.h"

#define PROFILE .format = REPORT_SPEEDSCOPE, .layout = LAYOUT_PROFILE, BOTH

struct file {
    char *text;
    struct json json;
    const struct json *frames, *profiles;
};

/* A part of the file, which must exist and have its type. */
static const struct json *part(const struct json *of, const char *name, enum json_kind kind)
{
    static const struct json none;
    const struct json *found = json_member(of, name);

    CHECK(found && found->kind == kind);
    return found ? found : &none;
}

static struct file write_file(const struct scene *scene, struct report_options options)
{
    struct report_summary summary;
    struct file file = {0};
    size_t length;
    FILE *out = open_memstream(&file.text, &length);

    CHECK_NUMBER(report_write(out, &scene->tally, &scene->symbols, &options, &six_oclock, &summary), 0);
    fclose(out);
    CHECK_NUMBER(strlen(file.text), length);
    CHECK(json_parse(file.text, &file.json));
    CHECK_STRING(json_string(&file.json, "$schema"),
                 "https://www.speedscope.app/file-format-schema.json");
    CHECK(!strncmp(json_string(&file.json, "exporter"), "stackbox@", 9));
    file.frames = part(part(&file.json, "shared", JSON_OBJECT), "frames", JSON_ARRAY);
    file.profiles = part(&file.json, "profiles", JSON_ARRAY);
    CHECK(part(&file.json, "activeProfileIndex", JSON_NUMBER)->number < file.profiles->count);
    return file;
}

static void free_file(struct file *file)
{
    json_free(&file->json);
    free(file->text);
}

/* A sample as `name(file);name WEIGHT`. */
static void add_sample(struct text *text, const struct file *file, const struct json *sample, uint64_t weight)
{
    CHECK_NUMBER(sample->kind, JSON_ARRAY);
    for (size_t i = 0; i < sample->count; i++) {
        CHECK(sample->items[i].kind == JSON_NUMBER && sample->items[i].number < file->frames->count);
        const struct json *frame = &file->frames->items[sample->items[i].number];
        text_format(text, "%s%s", i ? ";" : "", json_string(frame, "name"));
        if (json_member(frame, "file"))
            text_format(text, "(%s)", json_string(frame, "file"));
    }
    text_format(text, " %llu\n", (unsigned long long)weight);
}

/* A profile has these samples and attributes. */
static void expect(const struct file *file, size_t index, const char *name, const char *unit,
                   const char *expected, uint64_t sum)
{
    CHECK(index < file->profiles->count);
    if (index >= file->profiles->count)
        return;
    const struct json *profile = &file->profiles->items[index];
    const struct json *samples = part(profile, "samples", JSON_ARRAY);
    const struct json *weights = part(profile, "weights", JSON_ARRAY);
    AUTO_TEXT text = {0};
    CHECK_STRING(json_string(profile, "type"), "sampled");
    CHECK_STRING(json_string(profile, "name"), name);
    CHECK_STRING(json_string(profile, "unit"), unit);
    CHECK_NUMBER(part(profile, "startValue", JSON_NUMBER)->number, 0);
    CHECK(part(profile, "endValue", JSON_NUMBER)->number == sum);
    CHECK_NUMBER(samples->count, weights->count);
    text_add(&text, "");
    for (size_t i = 0; i < samples->count && i < weights->count; i++) {
        CHECK_NUMBER(weights->items[i].kind, JSON_NUMBER);
        add_sample(&text, file, &samples->items[i], weights->items[i].number);
    }
    CHECK_STRING(text.data, expected);
}

/* No two frames are the same. */
static void expect_frames(const struct file *file, size_t count)
{
    CHECK_NUMBER(file->frames->count, count);
    for (size_t i = 0; i < file->frames->count; i++)
        for (size_t other = 0; other < i; other++)
            CHECK(strcmp(json_string(&file->frames->items[i], "name"),
                         json_string(&file->frames->items[other], "name")) ||
                  strcmp(json_string(&file->frames->items[i], "file"),
                         json_string(&file->frames->items[other], "file")));
}

/* ---- */

TEST(events_alone)
{
    AUTO_SCENE scene = {0};
    uint32_t read = add_symbol(&scene, true, 0xffffffff81000000, "vfs_read", "", 4);
    uint32_t module = add_symbol(&scene, true, 0xffffffffc0000000, "mod_read", "mod", 4);
    uint32_t libc = add_symbol(&scene, false, 0x7f0000000000, NULL, "libc.so.6", 0x1234);
    uint32_t nothing = add_symbol(&scene, false, 0x10, NULL, NULL, 0);
    uint32_t start = add_symbol(&scene, false, 0x401000, "main", "tar", 4);

    add_entry(&scene, 2, 7, "tar", FRAMES(read, module), FRAMES(libc, start))->events = 2;
    add_entry(&scene, 5, 7, "tar", FRAMES(read), FRAMES(nothing, start))->events = 5;
    struct file file = write_file(&scene, (struct report_options){
                                              .format = REPORT_SPEEDSCOPE, BOTH,
                                              .show_process = true, .measure.events = "events"});
    CHECK_NUMBER(file.profiles->count, 1);
    expect(&file, 0, "events", "none",
           "tar;main(tar);[libc.so.6](libc.so.6);mod_read([mod]);vfs_read([kernel]) 2\n"
           "tar;main(tar);[unknown];vfs_read([kernel]) 5\n", 7);
    expect_frames(&file, 6);
    free_file(&file);
    /* Without processes there is no name at the root. */
    file = write_file(&scene, (struct report_options){.format = REPORT_SPEEDSCOPE, .kernel = true,
                                                      .measure.events = "events"});
    expect(&file, 0, "events", "none",
           "main(tar);[libc.so.6](libc.so.6);mod_read([mod]);vfs_read([kernel]) 2\n"
           "main(tar);[unknown];vfs_read([kernel]) 5\n", 7);
    free_file(&file);
}

TEST(a_profile_for_each_unit)
{
    const struct report_about about = {.applet = "profile", .command_line = "", .host = "",
                                       .losses = ""};
    AUTO_SCENE scene = {0};
    uint32_t f = add_symbol(&scene, false, 1, "f", "x", 0);
    struct report_options options = {PROFILE, .about = &about};

    add_entry(&scene, 7000, 1, "x", NO_FRAMES, FRAMES(f))->events = 3;
    options.measure = (struct report_measure){"samples", "cpu", "nanoseconds", 20408163};
    AUTO(free_file) struct file file = write_file(&scene, options);
    CHECK_NUMBER(file.profiles->count, 2);
    CHECK_NUMBER(part(&file.json, "activeProfileIndex", JSON_NUMBER)->number, 1);
    expect(&file, 0, "profile: samples", "none", "x;f(x) 3\n", 3);
    expect(&file, 1, "profile: cpu (nanoseconds)", "nanoseconds", "x;f(x) 61224489\n", 61224489);
    free_file(&file);

    options.measure = (struct report_measure){"samples", "page-faults", "count", 100};
    file = write_file(&scene, options);
    expect(&file, 1, "profile: page-faults", "none", "x;f(x) 300\n", 300);
    free_file(&file);

    /* Values are shown in microseconds, but kept in nanoseconds. */
    options.measure = (struct report_measure){"waits", "blocked", "microseconds", 0};
    options.unit = 1000;
    file = write_file(&scene, options);
    expect(&file, 0, "profile: waits", "none", "x;f(x) 3\n", 3);
    expect(&file, 1, "profile: blocked (microseconds)", "microseconds", "x;f(x) 7\n", 7);
}

/*
 * By name and file: `main` in two programs is two frames, and so is a name that is both a program
 * and a function.
 */
TEST(frames_are_shared)
{
    AUTO_SCENE scene = {0};
    uint32_t of_a = add_symbol(&scene, false, 1, "main", "a", 0);
    uint32_t again = add_symbol(&scene, false, 9, "main", "a", 8);
    uint32_t of_b = add_symbol(&scene, false, 2, "main", "b", 0);
    uint32_t nowhere = add_symbol(&scene, false, 3, "x", NULL, 0);
    uint32_t kernel = add_symbol(&scene, true, 4, "x_[k]", NULL, 0);

    add_entry(&scene, 1, 1, "x", NO_FRAMES, FRAMES(of_a, again))->events = 1;
    add_entry(&scene, 2, 1, "x", NO_FRAMES, FRAMES(of_b, nowhere))->events = 2;
    add_entry(&scene, 4, 1, "x_[k]", FRAMES(kernel), FRAMES(nowhere, nowhere))->events = 4;
    AUTO(free_file) struct file file = write_file(&scene, (struct report_options){PROFILE});
    expect(&file, 0, "events", "none",
           "x;main(a);main(a) 1\nx;x;main(b) 2\nx_[k];x;x;x_[k]([kernel]) 4\n", 7);
    expect_frames(&file, 5);
}

TEST(texts_from_outside)
{
    const struct report_about about = {
        .applet = "profile", .command_line = "profile -- \"a\\b\n\xff</script>", .host = "h\x1bost",
        .began = 1000000000, .ended = 3500000000, .events = 12,
        .losses = "3 are \"lost\"\n4 more\n",
    };
    AUTO_SCENE scene = {0};
    uint32_t odd = add_symbol(&scene, false, 1, "op\"\\;\n\x7f</script><!-- <a>\xc3\xb6\xc2\x85",
                              "f\"\n\\", 0);

    add_entry(&scene, 1, 1, "a\";\\\t\xff", NO_FRAMES, FRAMES(odd))->events = 1;
    struct file file = write_file(&scene, (struct report_options){PROFILE, .about = &about,
                                                                  .measure.events = "samples"});
    CHECK_STRING(json_string(&file.json, "name"),
                 "profile -- \"a\\b\\x0a\\xff</script> on h\\x1bost, 2.5 s, 12 samples; "
                 "3 are \"lost\"; 4 more");
    expect(&file, 0, "profile: samples", "none",
           "a\";\\\\x09\\xff;op\"\\;\\x0a\\x7f</script><!-- <a>\xc3\xb6\\xc2\\x85(f\"\\x0a\\) 1\n", 1);
    CHECK(!strstr(file.text, "</") && !strstr(file.text, "<!") && strstr(file.text, "<a>"));
    free_file(&file);
}

TEST(nothing_came)
{
    AUTO_SCENE scene = {0};

    struct file file = write_file(&scene, (struct report_options){
                                              PROFILE, .measure = {"waits", "blocked",
                                                                   "microseconds", 0}});
    expect_frames(&file, 0);
    CHECK_NUMBER(file.profiles->count, 2);
    expect(&file, 0, "waits", "none", "", 0);
    expect(&file, 1, "blocked (microseconds)", "microseconds", "", 0);
    free_file(&file);
}

TEST(great_numbers)
{
    AUTO_SCENE scene = {0};
    uint32_t f = add_symbol(&scene, false, 1, "f", "x", 0);
    struct report_options options = {PROFILE, .measure = {"waits", "blocked", "nanoseconds", 0}};

    /* JavaScript has no number between these. */
    add_entry(&scene, 9007199254740993, 1, "x", NO_FRAMES, FRAMES(f))->events = 1;
    AUTO(free_file) struct file file = write_file(&scene, options);
    expect(&file, 1, "blocked (nanoseconds)", "nanoseconds", "x;f(x) 9007199254740993\n", 9007199254740993);
    free_file(&file);
    /* A sum that overflows is the largest number, and not a small one. */
    add_entry(&scene, UINT64_MAX, 2, "y", NO_FRAMES, FRAMES(f))->events = 1ull << 62;
    file = write_file(&scene, options);
    expect(&file, 1, "blocked (nanoseconds)", "nanoseconds",
           "x;f(x) 9007199254740993\ny;f(x) 18446744073709551615\n", UINT64_MAX);
    free_file(&file);
    options.measure.per_event = 8;
    file = write_file(&scene, options);
    expect(&file, 1, "blocked (nanoseconds)", "nanoseconds",
           "x;f(x) 8\ny;f(x) 18446744073709551615\n", UINT64_MAX);
}

TEST(layouts_of_waits)
{
    AUTO_SCENE scene = {0};
    uint32_t sleeps = add_symbol(&scene, true, 1, "schedule", "", 0);
    uint32_t waits = add_symbol(&scene, false, 2, "wait", "x", 0);
    uint32_t wakes = add_symbol(&scene, true, 3, "wake_up", "", 0);
    uint32_t writes = add_symbol(&scene, false, 4, "write", "y", 0);
    struct tally_entry *entry = add_entry(&scene, 5, 1, "x", FRAMES(sleeps), FRAMES(waits));
    struct report_options options = {PROFILE,
                                     .measure = {"waits", "blocked", "microseconds", 0}};

    entry->events = 2;
    add_waker(&scene, entry, 9, "y", FRAMES(wakes), FRAMES(writes));
    options.layout = LAYOUT_OFFWAKETIME;
    AUTO(free_file) struct file file = write_file(&scene, options);
    expect(&file, 1, "blocked (microseconds)", "microseconds",
           "x;wait(x);schedule([kernel]);--;wake_up([kernel]);write(y);y 5\n", 5);
    free_file(&file);
    options.layout = LAYOUT_WAKEUPTIME;
    file = write_file(&scene, options);
    expect(&file, 0, "waits", "none", "y;write(y);wake_up([kernel]);x 2\n", 2);
    free_file(&file);
    options.layout = LAYOUT_PROFILE;
    options.time_as_root = true;
    options.by = GROUP_BY_PROCESS;
    file = write_file(&scene, options);
    expect(&file, 0, "waits", "none", "06:05:04;x (1);wait(x);schedule([kernel]) 2\n", 2);
}

TEST(nowhere_to_write)
{
    AUTO_SCENE scene = {0};
    uint32_t f = add_symbol(&scene, false, 1, "f", "x", 0);
    const struct report_options options = {PROFILE};
    struct report_summary summary;
    FILE *full = fopen("/dev/full", "w");

    add_entry(&scene, 1, 1, "x", NO_FRAMES, FRAMES(f));
    CHECK(full);
    CHECK_NUMBER(report_write(full, &scene.tally, &scene.symbols, &options, &six_oclock, &summary),
                 -28); /* ENOSPC */
    fclose(full);
}

/* The test's own reader accepts JSON, and nothing else. */
TEST(the_reader_is_strict)
{
    static const char *const wrong[] = {
        "", "[", "[1,]", "[1 2]", "{\"a\"}", "{\"a\":}", "{a:1}", "{\"a\":1,}", "[01]", "[-1]", "[1.5]",
        "\"a\nb\"", "\"\\x41\"", "\"\\u12\"", "\"a", "[] []", "nul", "[\"\\\"]",
    };
    AUTO(json_free) struct json json;

    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        CHECK(!json_parse(wrong[i], &json));
        json_free(&json);
    }
    CHECK(json_parse(" {\"a\\u003c\\\"\" : [ 1 , \"\\\\\" , [] , {} ] }\n", &json));
    CHECK_NUMBER(part(&json, "a<\"", JSON_ARRAY)->count, 4);
}

TEST_MAIN
