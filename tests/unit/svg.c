/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A flame graph's file: valid XML with any names, and every frame at its place. */
#include "flame/svg.h"
#include "unit/svg_file.h"

#define CHECK_PLACE(file, title, left, wide, top)                  \
    do {                                                           \
        const struct seen *seen_ = find(file, title);              \
        CHECK(is_near(seen_->x, left) && is_near(seen_->width, wide)); \
        CHECK_NUMBER(seen_->y, top);                               \
    } while (0)

/* ---- Frames ---- */

TEST(places_and_texts)
{
    AUTO(flame_free) struct flame flame;

    add_few(&flame);
    AUTO(free_file) struct file file = write_file(&flame, &(struct svg_options){.count_name = "events"});
    CHECK_NUMBER(file.count, 6);
    CHECK_PLACE(&file, "all (2,000 events, 100.00 %)", 0, 100, 64);
    CHECK_PLACE(&file, "tar (2,000 events, 100.00 %)", 0, 100, 48);
    CHECK_PLACE(&file, "main (2,000 events, 100.00 %)", 0, 100, 32);
    CHECK_PLACE(&file, "a (250 events, 12.50 %)", 0, 12.5, 16);
    CHECK_PLACE(&file, "read (250 events, 12.50 %)", 0, 12.5, 0);
    CHECK_PLACE(&file, "b (500 events, 25.00 %)", 12.5, 25, 16);
    CHECK_STRING(find(&file, "read (")->label, "read");
    CHECK(strstr(file.text, "<title>Flame Graph</title>"));
    CHECK(!strstr(file.text, "left out"));
    free_file(&file);
    file = write_file(&flame, &(struct svg_options){.inverted = true});
    CHECK_PLACE(&file, "all (2,000 samples", 0, 100, 0);
    CHECK_PLACE(&file, "read (250 samples", 0, 12.5, 64);
    CHECK(number_behind(strstr(file.text, "id=\"details\""), " y=\"") <
          number_behind(strstr(file.text, "id=\"frames\""), " y=\""));
}

/* Children are sorted by name, in any order of input. */
TEST(siblings_are_sorted)
{
    AUTO(flame_free) struct flame flame;
    char name[16];
    double left = 0;

    flame_init(&flame);
    for (unsigned i = 0; i < 200; i++) {
        snprintf(name, sizeof(name), "f%03u", i * 77 % 200);
        add(&flame, FLAME_NOW, name, i * 77 % 200 + 100);
    }
    AUTO(free_file) struct file file = write_file(&flame, &(struct svg_options){0});
    CHECK_NUMBER(file.count, 201);
    for (unsigned i = 0; i < 200; i++) {
        snprintf(name, sizeof(name), "f%03u (", i);
        CHECK(!strncmp(file.frames[i + 1].title, name, 6));
        CHECK(is_near(file.frames[i + 1].x, left));
        left += (i + 100) * 100.0 / (200 * 199 / 2 + 200 * 100);
    }
}

/* A name without enough room is cut between characters, not bytes. */
TEST(labels_are_cut)
{
    AUTO(flame_free) struct flame flame;

    flame_init(&flame);
    add(&flame, FLAME_NOW, "a_name_that_is_longer_than_a_twelfth_of_it", 100);
    add(&flame, FLAME_NOW, "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 40);
    add(&flame, FLAME_NOW, "x", 1060);
    AUTO(free_file) struct file file = write_file(&flame, &(struct svg_options){0});
    /* 100 px without margins are 13 letters, 40 px are 4. */
    CHECK_STRING(find(&file, "a_name_that")->label, "a_name_that..");
    CHECK_STRING(find(&file, "\xc3\xa4")->label, "\xc3\xa4\xc3\xa4..");
}

/* ---- Names ---- */

TEST(hostile_names)
{
    static const char *const names[] = {
        "<script>alert(1)</script>", "]]>", "&amp", "\"'", "a\001b\x7f\n", "\xff\xc3",
        "\xef\xbf\xbe",
        "\xef\xbf\xbf", "\xed\xa0\x80", "<!--", "-->", "\\", "_[k]", "%s%n", "\xf4\x90\x80\x80",
    };
    static const char *const shown[] = {
        "&lt;script&gt;alert(1)&lt;/script&gt; (", "]]&gt; (", "&amp;amp (", "&quot;&#39; (",
        "a\\x01b\\x7f\\x0a (", "\\xff\\xc3 (", "\\xef\\xbf\\xbe (", "\\xef\\xbf\\xbf (",
        "\\xed\\xa0\\x80 (", "&lt;!-- (", "--&gt; (", "\\ (", "_[k] (", "%s%n (",
        "\\xf4\\x90\\x80\\x80 (",
    };
    AUTO(flame_free) struct flame flame;

    flame_init(&flame);
    for (size_t i = 0; i < COUNT_OF(names); i++)
        add(&flame, FLAME_NOW, names[i], 100);
    for (unsigned byte = 1; byte < 256; byte++) {
        const char name[] = {'n', (char)byte, (char)byte, 'm', '\0'};
        add(&flame, FLAME_NOW, byte == ';' ? "n" : name, 20);
    }
    struct file file = write_file(&flame, &(struct svg_options){
        .title = "<&>\"]]>\x01", .subtitle = "--> \xff <\n]]>", .count_name = "<b>\x02",
        .notes = "-----> <!-- -\n--",
    });
    CHECK_NUMBER(file.count, 1 + COUNT_OF(names) + 255);
    for (size_t i = 0; i < COUNT_OF(shown); i++)
        find(&file, shown[i]);
    CHECK(strstr(file.text, ">&lt;&amp;&gt;&quot;]]&gt;\\x01</text>"));
    CHECK(!strstr(file.text, "<script>alert"));
    /* The file's only script ends where we end it, also within an HTML page. */
    const char *script = strstr(file.text, "<script>");
    CHECK(script && strlen(strstr(script, "</script>")) == strlen("</script>\n</svg>\n"));
    CHECK(script && strlen(strstr(script, "]]>")) == strlen("]]></script>\n</svg>\n"));
    free_file(&file);
}

TEST(texts)
{
    AUTO_TEXT text = {0};

    svg_add_number(&text, 0);
    svg_add_number(&text, 999);
    svg_add_number(&text, 1000);
    svg_add_number(&text, UINT64_MAX);
    CHECK_STRING(text.data, "09991,00018,446,744,073,709,551,615");
    text_clear(&text);
    svg_add_decimal(&text, 100);
    svg_add_decimal(&text, 0.25);
    svg_add_decimal(&text, 0.00001);
    svg_add_decimal(&text, 12.34567);
    CHECK_STRING(text.data, "1000.25012.3457");
    text_clear(&text);
    svg_add_json(&text, "a\"\\<]]>&", 8);
    CHECK_STRING(text.data, "\"a\\\"\\\\\\u003c]]\\u003e\\u0026\"");
    CHECK_NUMBER(svg_fitting("\xc3\xa4\xc3\xa4", 4, 1), 2);
    CHECK_NUMBER(svg_fitting("\xe6\x97\xa5\xe6\x97\xa5", 6, 3), 3);
}

TEST(script_and_style_are_small)
{
    const size_t style = strlen(svg_style), script = strlen(svg_script);

    CHECK(style > 500 && script > 2000);
    CHECK(!memmem(svg_style, style, "]]>", 3));
    CHECK(!memmem(svg_script, script, "]]>", 3));
    CHECK(!memmem(svg_script, script, "</", 2));
    CHECK(!memmem(svg_script, script, "eval(", 5));
    AUTO(flame_free) struct flame flame;
    add_few(&flame);
    AUTO(free_file) struct file file = write_file(&flame, &(struct svg_options){0});
    /* Six frames and the texts around them are less than 3,000 bytes. */
    CHECK(file.length < 12 * 1024 + 3000);
    /* Nothing is fetched from anywhere: the URLs are XML namespaces. */
    const char *at = file.text;
    while ((at = strstr(at, "//"))) {
        CHECK(!strncmp(at, "//www.w3.org/2000/svg\"", 22) || !strncmp(at, "//www.w3.org/1999/xhtml\"", 24));
        at += 2;
    }
    CHECK(!strstr(file.text, "url(") && !strstr(file.text, "@import"));
    CHECK(!strstr(file.text, "href"));
}

/* ---- What is left out ---- */

/* One frame with nearly everything, and `count` with `value` of `total` each. */
static void add_narrow(struct flame *flame, unsigned count, uint64_t value, uint64_t total)
{
    char name[24];

    flame_init(flame);
    for (unsigned i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "base;n%u", i);
        add(flame, FLAME_NOW, name, value);
    }
    add(flame, FLAME_NOW, "wide", total - count * value);
}

TEST(narrow_frames_are_left_out)
{
    AUTO(flame_free) struct flame flame;

    /* 0.96 px each; together they are wide enough. */
    add_narrow(&flame, 1000, 80, 100000);
    AUTO(free_file) struct file file = write_file(&flame, &(struct svg_options){0});
    CHECK_NUMBER(file.count, 3);
    CHECK(strstr(file.text, ">1,000 frames narrower than 1 px are left out<"));
    free_file(&file);
    file = write_file(&flame, &(struct svg_options){.least_given = true});
    CHECK_NUMBER(file.count, 1003);
    CHECK(!strstr(file.text, "left out"));
    free_file(&file);
    /* And of 1,300 px they are 1.04 each. */
    file = write_file(&flame, &(struct svg_options){.width = 1300});
    CHECK_NUMBER(file.count, 1003);
    CHECK(strstr(file.text, " class=\"flame\" width=\"1300\" height="));
    free_file(&file);
    file = write_file(&flame, &(struct svg_options){.least_given = true, .least_width = 2000});
    CHECK_NUMBER(file.count, 1);
    CHECK(strstr(file.text, ">1,002 frames narrower than 2000 px are left out<"));
}

static size_t said_left_out(const struct file *file)
{
    const char *said = strstr(file->text, " frames narrower than ");
    size_t number = 0;

    if (!said)
        return 0;
    while (said[-1] != '>')
        said--;
    for (; *said != ' '; said++)
        if (*said != ',')
            number = number * 10 + (size_t)(*said - '0');
    return number;
}

/* 40 levels of 1,000 frames of random widths: drawn ones and reported omissions add up to all. */
TEST(file_stays_small)
{
    AUTO(flame_free) struct flame flame;
    uint32_t random = 1;
    char stack[64 * 24];

    flame_init(&flame);
    for (unsigned i = 0; i < 20000; i++) {
        size_t length = 0;
        for (unsigned depth = 0; depth < 40; depth++)
            length += (size_t)snprintf(stack + length, sizeof(stack) - length,
                                       "%sfunction_%u_of_them", depth ? ";" : "",
                                       depth == 39 ? i : i % 1000 * 7 + depth);
        random = random * 1664525 + 1013904223;
        add(&flame, FLAME_NOW, stack, 90 + (random >> 16) % 20);
    }
    AUTO(free_file) struct file file = write_file(&flame, &(struct svg_options){0});
    CHECK(file.length < 5000000);
    CHECK(file.count > 1000 && file.count <= SVG_MOST_PARTS);
    CHECK_NUMBER(file.count + said_left_out(&file), flame.count);
}

TEST(deep_stacks)
{
    static struct flame_slice frames[100000];
    AUTO(flame_free) struct flame flame;

    for (size_t i = 0; i < COUNT_OF(frames); i++)
        frames[i] = (struct flame_slice){"again", 5};
    flame_init(&flame);
    flame_add(&flame, FLAME_NOW, frames, 1000, 1);
    AUTO(free_file) struct file file = write_file(&flame, &(struct svg_options){0});
    CHECK_NUMBER(file.count, 1001);
    CHECK_NUMBER(file.frames[0].y, 16000);
    CHECK_NUMBER(file.frames[1000].y, 0);
    free_file(&file);
    flame_add(&flame, FLAME_NOW, frames, COUNT_OF(frames), 1);
    file = write_file(&flame, &(struct svg_options){0});
    CHECK_NUMBER(file.count, SVG_MOST_PARTS / SVG_NAMED_PARTS);
    CHECK(strstr(file.text, ">94,001 frames above the lowest 6000 levels are left out<"));
    free_file(&file);
    file = write_file(&flame, &(struct svg_options){.least_given = true});
    CHECK_NUMBER(file.count, 100001);
}

/* ---- Texts around it ---- */

TEST(empty_flame)
{
    AUTO(flame_free) struct flame flame;

    flame_init(&flame);
    AUTO(free_file) struct file file = write_file(&flame, &(struct svg_options){.subtitle = "a\nb"});
    CHECK_NUMBER(file.count, 0);
    CHECK(strstr(file.text, "no stacks in it"));
    CHECK(strstr(file.text, ">a</tspan>") && strstr(file.text, ">b</tspan>"));
    CHECK(!strstr(file.text, "<script"));
}

/* Long lines are wrapped; of too many only the last are left. */
TEST(subtitle_is_wrapped)
{
    AUTO(flame_free) struct flame flame;
    char line[5000];
    unsigned rows = 0;

    add_few(&flame);
    for (size_t i = 0; i < sizeof(line) - 1; i++)
        line[i] = i % 10 == 9 ? ' ' : 'w';
    line[sizeof(line) - 1] = '\0';
    AUTO(free_file) struct file file = write_file(&flame, &(struct svg_options){.subtitle = line});
    for (const char *at = file.text; (at = strstr(at, "<tspan ")); rows++) {
        at = strchr(at, '>') + 1;
        CHECK(strcspn(at, "<") <= 169 && at[strcspn(at, "<") - 1] == 'w');
    }
    CHECK_NUMBER(rows, 30);
    CHECK(strstr(file.text, "wwwwwwwww</tspan> <tspan "));
}

TEST_MAIN
