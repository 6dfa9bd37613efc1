/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which file a report goes to, its name, and failures to write it. */
#include <sys/stat.h>

#include "report/report_files.h"
#include "files.h"

#define PATHS(...)                                                                        \
    (&(struct string_list){{__VA_ARGS__},                                                 \
                           sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)})
#define NO_PATHS (&(struct string_list){.count = 0})

/* Each as `FORMAT NAME`, with - for stdout; or the error. */
static void expect(const struct report_files_options *config, const char *expected)
{
    static const char *const names[] = {
        [REPORT_TEXT] = "text", [REPORT_FOLDED] = "folded", [REPORT_FLAT] = "flat",
        [REPORT_TREE] = "tree",
        [REPORT_SVG] = "svg", [REPORT_PPROF] = "pprof", [REPORT_SPEEDSCOPE] = "speedscope",
        [REPORT_SBX] = "sbx",
    };
    struct report_files files;
    AUTO_TEXT error = {0}, got = {0};
    int result = report_files_choose(&files, config, &error);

    CHECK_NUMBER(result, error.length ? -EINVAL : 0);
    for (size_t i = 0; i < files.count && !result; i++)
        text_format(&got, "%s%s %s", i ? ", " : "", names[files.items[i].format],
                    files.items[i].path ? files.items[i].path : "-");
    CHECK_STRING(result ? error.data : got.data, expected);
}

#define EXPECT(expected, ...) expect(&(struct report_files_options){__VA_ARGS__}, expected)

TEST(one_way_each)
{
    EXPECT("text -", .paths = NO_PATHS);
    EXPECT("folded -", .paths = NO_PATHS, .folded = true);
    EXPECT("flat -", .paths = NO_PATHS, .flat = true);
    EXPECT("tree -", .paths = NO_PATHS, .tree = true);
    EXPECT("tree a.tree, svg b.svg", .paths = PATHS("a.tree", "b.svg"), .tree = true);
    EXPECT("svg -", .paths = NO_PATHS, .format = "svg");
    EXPECT("folded -", .paths = NO_PATHS, .folded = true, .format = "folded");
    EXPECT("speedscope a.speedscope.json", .paths = PATHS("a.speedscope.json"));
    EXPECT("sbx a.sbx", .paths = PATHS("a.sbx"));
    EXPECT("text a.txt, folded b.folded, flat c.flat, svg d.svg",
           .paths = PATHS("a.txt", "b.folded", "c.flat", "d.svg"));
    EXPECT("folded a.b/c", .paths = PATHS("a.b/c"), .format = "folded");
    EXPECT("flat c", .paths = PATHS("c"), .flat = true);
    /* A requested format that no file has goes to stdout. */
    EXPECT("svg a.svg, folded -", .paths = PATHS("a.svg"), .folded = true);
    EXPECT("svg a.svg", .paths = PATHS("a.svg"), .format = "svg");
    EXPECT("svg a%n.svg", .paths = PATHS("a%n.svg"), .format = "svg", .interval = 1);
    EXPECT("folded a.folded, svg b.svg", .paths = PATHS("a.folded", "b.svg"), .folded = true);
    EXPECT("svg a.svg, folded b", .paths = PATHS("a.svg", "b"), .folded = true);
    EXPECT("svg a.svg, text -", .paths = PATHS("a.svg", "-"));
    EXPECT("svg a.svg, folded -", .paths = PATHS("a.svg", "-"), .format = "folded");
    EXPECT("text -", .paths = PATHS("/dev/stdout"));
    EXPECT("folded -", .paths = PATHS("/dev/fd/1"), .folded = true);
    /* A file name that consists of an extension counts as without one. */
    EXPECT("text .svg", .paths = PATHS(".svg"), .format = "text");
}

TEST(what_is_refused)
{
    EXPECT("-f and --flat are two formats: give one", .paths = NO_PATHS, .folded = true,
           .flat = true);
    EXPECT("--flat and --tree are two formats: give one", .paths = NO_PATHS, .flat = true,
           .tree = true);
    EXPECT("-f and --format svg are two formats: give one", .paths = NO_PATHS,
           .folded = true, .format = "svg");
    EXPECT("--flat and --format text are two formats: give one", .paths = NO_PATHS,
           .flat = true, .format = "text");
    EXPECT("-i: each report is a document of its own in this format: write them with -o FILE and "
           "%n in its name", .paths = NO_PATHS, .format = "svg", .interval = 1);
    EXPECT("-o: needs the name of a file", .paths = PATHS(""));
    EXPECT("-o: \"a.svg\" is given twice", .paths = PATHS("a.svg", "b.svg", "a.svg"));
    EXPECT("-o: \"-\" is given twice", .paths = PATHS("-", "/dev/stdout"));
    EXPECT("-o: \"a%\": % must be followed by n (the number of the report), t (its time) or "
           "another %",
           .paths = PATHS("a%"), .format = "svg");
    EXPECT("-o: \"%N.svg\": % must be followed by n (the number of the report), t (its time) or "
           "another %",
           .paths = PATHS("%N.svg"));
    EXPECT("-o: \"a%%%.svg\": % must be followed by n (the number of the report), t (its time) or "
           "another %",
           .paths = PATHS("a%%%.svg"));
}

TEST(unknown_endings_are_named)
{
    struct report_files_options config = {.paths = PATHS("report.html")};
    struct report_files files;
    AUTO_TEXT error = {0};

    CHECK_NUMBER(report_files_choose(&files, &config, &error), -EINVAL);
    CHECK(strstr(error.data, "\"report.html\"") && strstr(error.data, ".speedscope.json") &&
          strstr(error.data, ".svg") && strstr(error.data, "--format"));
    text_clear(&error);
    config = (struct report_files_options){.paths = NO_PATHS, .format = "html"};
    CHECK_NUMBER(report_files_choose(&files, &config, &error), -EINVAL);
    CHECK(strstr(error.data, "\"html\"") && strstr(error.data, "speedscope") && strstr(error.data, "folded"));
}

TEST(with_an_interval)
{
    EXPECT("svg a-%n.svg", .paths = PATHS("a-%n.svg"), .interval = 1);
    EXPECT("svg a-%t.svg, text -", .paths = PATHS("a-%t.svg", "-"), .interval = 1);
    EXPECT("-o: with -i each report needs a file of its own: put %n (the number of the report) or "
           "%t (its time) into \"a.svg\"", .paths = PATHS("a.svg"), .interval = 1);
    EXPECT("-o: with -i each report needs a file of its own: put %n (the number of the report) or "
           "%t (its time) into \"%%n.svg\"", .paths = PATHS("%%n.svg"), .interval = 1);
}

static void expect_name(const char *path, uint64_t number, bool last, const char *expected)
{
    /* A leap day, and its last millisecond. */
    const struct report_turn turn = {number, 1709251199999999999, last};
    AUTO_TEXT name = {0};

    file_name_add(&name, path, &turn);
    CHECK_STRING(name.data, expected);
}

TEST(names)
{
    expect_name("a.svg", 7, true, "a.svg");
    expect_name("a.svg", 7, false, "a.00007.svg");
    expect_name("a.speedscope.json", 7, false, "a.00007.speedscope.json");
    expect_name("d.svg/a", 7, false, "d.svg/a.00007");
    expect_name("%n.svg", 1, false, "00001.svg");
    expect_name("%n.svg", 1, true, "00001.svg");
    expect_name("%n", 123456, false, "123456");
    expect_name("%n-%n%%.txt", 2, true, "00002-00002%.txt");
    expect_name("100%%.txt", 2, true, "100%.txt");
    expect_name("%%n.txt", 2, true, "%n.txt");
    /* That is not a number: such a report gets one. */
    expect_name("%%n.txt", 2, false, "%n.00002.txt");
    expect_name("%%%n.txt", 2, false, "%00002.txt");
    expect_name("d/%t.svg", 3, false, "d/20240229-235959.999.svg");
    expect_name("%t-%n.svg", 3, true, "20240229-235959.999-00003.svg");
}

/* ---- Writing ---- */

struct writing {
    unsigned written;
    int result;
    enum report_format fails;
};

static int write_one(void *context, FILE *out, enum report_format format)
{
    struct writing *writing = context;

    writing->written++;
    fprintf(out, "%u\n", format);
    return format == writing->fails ? writing->result : 0;
}

static bool exists(const char *name)
{
    return !access(name, F_OK);
}

/* One that fails does not affect the others, or stdout. */
TEST(the_others_are_written)
{
    struct report_files files = {
        .items = {{.format = REPORT_TEXT}, {.path = "a.txt", .format = REPORT_SVG},
                  {.path = "none/b.svg", .format = REPORT_FLAT}, {.path = "c.txt", .format = REPORT_FOLDED}},
        .count = 4,
    };
    const struct report_turn turn = {.number = 1, .began = 1, .last = true};
    struct writing writing = {.result = -EPIPE, .fails = REPORT_TEXT};

    /* The test itself prints to its own stdout. */
    CHECK_NUMBER(report_files_write(&files, &turn, write_one, &writing), -EPIPE);
    CHECK_NUMBER(writing.written, 3);
    CHECK(files.failed && exists("a.txt") && exists("c.txt"));
    remove("a.txt");
    remove("c.txt");

    files.failed = false;
    files.count = 2;
    writing = (struct writing){.result = -ENOMEM, .fails = REPORT_SVG};
    CHECK_NUMBER(report_files_write(&files, &turn, write_one, &writing), 0);
    CHECK(files.failed && !exists("a.txt"));
}

/* Reports that begin in the same millisecond have different names. */
TEST(times_differ)
{
    struct report_files files = {.items = {{.path = "%t.txt", .format = REPORT_FLAT}}, .count = 1};
    const uint64_t began[] = {1709251199000000000, 1709251199000900000, 1709251199001000000,
                              1709251190000000000};
    static const char *const expected[] = {
        "20240229-235959.000.txt", "20240229-235959.001.txt", "20240229-235959.002.txt",
        "20240229-235950.000.txt"};
    struct writing writing = {.fails = REPORT_TEXT};

    for (size_t i = 0; i < COUNT_OF(began); i++) {
        const struct report_turn turn = {.number = i + 1, .began = began[i]};
        CHECK_NUMBER(report_files_write(&files, &turn, write_one, &writing), 0);
    }
    for (size_t i = 0; i < COUNT_OF(expected); i++)
        CHECK(!remove(expected[i]));
}

/* An existing file with that time, such as from before the clock was set back, stays. */
TEST(nothing_is_overwritten)
{
    struct report_files files = {.items = {{.path = "%t.txt", .format = REPORT_FLAT}}, .count = 1};
    const struct report_turn turn = {.number = 1, .began = 1709251199000000000};
    struct writing writing = {.fails = REPORT_TEXT};
    FILE *file = fopen("20240229-235959.000.txt", "w");

    fputs("before", file);
    fclose(file);
    CHECK(!mkdir("20240229-235959.001.txt", 0700));
    CHECK_NUMBER(report_files_write(&files, &turn, write_one, &writing), 0);
    CHECK(!files.failed && exists("20240229-235959.002.txt"));
    struct stat about;
    CHECK(!stat("20240229-235959.000.txt", &about) && about.st_size == 6);
    remove("20240229-235959.000.txt");
    remove("20240229-235959.001.txt");
    remove("20240229-235959.002.txt");
}

/* The next one that is written says how many were not. */
TEST(the_unwritten_are_counted)
{
    struct report_files files = {
        .items = {{.path = "no/%t.txt", .format = REPORT_FLAT}, {.path = "a.txt", .format = REPORT_FLAT}},
        .count = 2,
    };
    struct writing writing = {.fails = REPORT_TEXT};

    for (unsigned i = 1; i <= 2; i++) {
        const struct report_turn turn = {.number = i, .began = i * 1000000000ull, .last = true};
        CHECK_NUMBER(report_files_write(&files, &turn, write_one, &writing), 0);
        CHECK_NUMBER(files.unwritten, i);
    }
    CHECK(!mkdir("no", 0700));
    const struct report_turn turn = {.number = 3, .began = 3000000000ull, .last = true};
    CHECK_NUMBER(report_files_write(&files, &turn, write_one, &writing), 0);
    CHECK_NUMBER(files.unwritten, 0);
    remove("no/19700101-000003.000.txt");
    remove("no");
    remove("a.txt");
}

int main(void)
{
    setenv("TZ", "UTC0", 1);
    if (!enter_own_directory())
        return 1;
    run_tests();
    leave_own_directory();
    return tests_done();
}
