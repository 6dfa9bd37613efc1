/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A flame graph's colours: the same for the same name, legible, red and blue for changes. */
#include "flame/svg.h"

#include "unit/svg_file.h"

/* ---- Colours ---- */

/* x to the power of 2.4, for x from 0 to 1: x * x times the fifth root of x * x. */
static double power(double x)
{
    double square = x * x, root = 1;

    for (int i = 0; i < 60; i++)
        root = root - (root * root * root * root * root - square) / (5 * root * root * root * root);
    return square * root;
}

/* As WCAG defines it; for a value in halves, of which there are few. */
static double channel(double value)
{
    static double known[511];
    double *light = &known[(size_t)(value * 2)];

    if (value > 0 && *light == 0)
        *light = value / 255 <= 0.03928 ? value / 255 / 12.92
                                        : power((value / 255 + 0.055) / 1.055);
    return *light;
}

static double luminance(double red, double green, double blue)
{
    return 0.2126 * channel(red) + 0.7152 * channel(green) + 0.0722 * channel(blue);
}

static double contrast(double one, double other)
{
    return one > other ? (one + 0.05) / (other + 0.05) : (other + 0.05) / (one + 0.05);
}

static double half_on(struct svg_color color, struct svg_color page)
{
    return luminance((color.red + page.red) / 2.0, (color.green + page.green) / 2.0,
                     (color.blue + page.blue) / 2.0);
}

/* Text is black; on a dark page it is white, except on pale frames. */
static bool is_legible(struct svg_color color)
{
    double dark_page_text = svg_color_is_pale(color) ? 0 : 1;

    return contrast(luminance(color.red, color.green, color.blue), 0) >= 4.5 &&
           contrast(half_on(color, (struct svg_color){255, 255, 255}), 0) >= 4.5 &&
           contrast(half_on(color, SVG_DIFFERENTIAL_PAGE), 0) >= 4.5 &&
           contrast(half_on(color, SVG_DARK_PAGE), dark_page_text) >= 4.5;
}

TEST(power_is_right)
{
    CHECK(is_near(power(0.5), 0.189465) && is_near(power(0.9), 0.776556) && is_near(power(1), 1));
    CHECK(is_near(contrast(luminance(255, 255, 255), luminance(0, 0, 0)), 21));
}

static bool palette_is_legible(const char *palette_name)
{
    const struct svg_palette *palette = svg_palette_by_name(palette_name);
    char text[24];

    for (unsigned i = 0; i < 3000; i++)
        for (uint32_t kind = FLAME_PLAIN; kind <= FLAME_MEETING; kind++)
            for (unsigned side = SVG_PLAIN; side < SVG_SIDES; side++) {
                snprintf(text, sizeof(text), i % 2 ? "a::f%u" : "f%u", i);
                const struct flame_name name = {text, (uint32_t)strlen(text), kind};
                struct svg_color color = svg_color_of(palette, &name, (enum svg_side)side);
                if (is_legible(color))
                    continue;
                printf("  %s: %s of kind %u: #%02x%02x%02x\n", palette_name, text, kind, color.red,
                       color.green, color.blue);
                return false;
            }
    return true;
}

TEST(every_colour_is_legible)
{
    static const char *const names[] = {
        "kinds", "hot", "mem", "io", "java", "js", "perl", "wakeup", "chain", "red", "green",
        "blue", "aqua", "yellow", "purple", "orange",
    };
    struct text all = {0}, expected = {0};

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        CHECK(svg_has_colors(names[i]) && palette_is_legible(names[i]));
        text_format(&expected, i ? ", %s" : "%s", names[i]);
    }
    svg_add_colors(&all);
    CHECK_STRING(all.data, expected.data);
    CHECK(!svg_has_colors("mauve") && !svg_has_colors(""));
    text_free(&all);
    text_free(&expected);
    for (int i = -1000; i <= 1000; i++)
        CHECK(is_legible(svg_color_of_change(i / 1000.0)));
    CHECK(is_legible((struct svg_color){0xe6, 0, 0xe6})); /* a match */
}

/* User frames are warm and kernel frames cool: they cannot be confused. */
TEST(kinds_are_told_apart)
{
    const struct svg_palette *palette = svg_palette_by_name(NULL);
    char text[24];

    for (unsigned i = 0; i < 3000; i++) {
        snprintf(text, sizeof(text), "f%u", i);
        struct flame_name name = {text, (uint32_t)strlen(text), FLAME_PLAIN};
        struct svg_color user = svg_color_of(palette, &name, false);
        name.kind = FLAME_KERNEL;
        struct svg_color kernel = svg_color_of(palette, &name, false);
        CHECK(user.red > user.blue + 130 && user.red > user.green && kernel.blue > kernel.red + 40);
        struct svg_color waker = svg_color_of(palette, &name, true);
        CHECK(waker.green < waker.red && waker.red < waker.blue && kernel.green > kernel.red);
    }
}

static bool is_side(const char *name, enum svg_side below, enum svg_side side)
{
    const struct flame_name frame = {name, (uint32_t)strlen(name), FLAME_PLAIN};

    return svg_side_of(&frame, below) == side;
}

/* Running is warm, runnable yellow, waiting blue, whatever the frame is in. */
TEST(parts_are_told_apart)
{
    const struct svg_palette *palette = svg_palette_by_name(NULL);
    char text[24];

    CHECK(is_side("[running]", SVG_PLAIN, SVG_RUNNING) && is_side("[runnable]", SVG_PLAIN, SVG_RUNNABLE));
    CHECK(is_side("[blocked]", SVG_PLAIN, SVG_BLOCKED) && is_side("read", SVG_BLOCKED, SVG_BLOCKED));
    CHECK(is_side("[blocked", SVG_PLAIN, SVG_PLAIN) && is_side("read", SVG_WAKER, SVG_WAKER));
    for (unsigned i = 0; i < 3000; i++) {
        snprintf(text, sizeof(text), "f%u", i);
        const struct flame_name name = {text, (uint32_t)strlen(text), i % 2 ? FLAME_PLAIN : FLAME_KERNEL};
        struct svg_color runs = svg_color_of(palette, &name, SVG_RUNNING);
        struct svg_color could = svg_color_of(palette, &name, SVG_RUNNABLE);
        struct svg_color waits = svg_color_of(palette, &name, SVG_BLOCKED);
        CHECK(waits.blue > waits.red + 40 && runs.red > runs.blue + 130 && could.red > could.blue + 130);
        CHECK(could.green + 40 > could.red && runs.red > 200);
    }
}

TEST(same_name_same_colour)
{
    AUTO(flame_free) struct flame flame;

    add_few(&flame);
    AUTO(free_file) struct file one = write_file(&flame, &(struct svg_options){0});
    flame_free(&flame);
    flame_init(&flame);
    add(&flame, FLAME_NOW, "main;x;y;read_[k]", 3);
    add(&flame, FLAME_NOW, "main;x;y;read", 4);
    add(&flame, FLAME_NOW, "zero;-;tar;--;main;-;read_[k];z_[w]", 2);
    add(&flame, FLAME_NOW, "zero;-;tar;read_[w];z_[k]", 1);
    AUTO(free_file) struct file other = write_file(&flame, &(struct svg_options){.title = "other"});
    CHECK_NUMBER(find(&one, "main (2,000")->fill, find(&other, "main (7")->fill);
    CHECK_NUMBER(find(&one, "tar (")->fill, find(&other, "tar (")->fill);
    CHECK_NUMBER(find(&one, "read (250")->fill, find(&other, "read (3")->fill);
    CHECK(find(&other, "read (4")->fill != find(&other, "read (3")->fill);
    /* Everything above a `--` has the waker's colour, including the delimiter and the kernel's part. */
    CHECK(find(&other, "main (2")->fill != find(&other, "main (7")->fill);
    CHECK_NUMBER(find(&other, "read (1")->fill, find(&other, "read (2")->fill);
    CHECK(find(&other, "z (1")->fill != find(&other, "z (2")->fill);
    /* Light grey, dark grey. */
    CHECK_NUMBER(find(&other, "- (3")->fill, 0xc8c8c8);
    CHECK_NUMBER(find(&other, "- (2")->fill, 0xc8c8c8);
    CHECK_NUMBER(find(&other, "-- (")->fill, 0x828282);
}

/* ---- Differences ---- */

/* 1,000 of each, and as much of `even` as before, but in other stacks. */
static void add_both(struct flame *flame)
{
    flame_init(flame);
    add(flame, FLAME_NOW, "more", 600);
    add(flame, FLAME_BEFORE, "more", 200);
    add(flame, FLAME_NOW, "less", 100);
    add(flame, FLAME_BEFORE, "less", 300);
    add(flame, FLAME_NOW, "even;x", 300);
    add(flame, FLAME_BEFORE, "even;x", 293);
    add(flame, FLAME_BEFORE, "even;<gone>;too", 7);
    add(flame, FLAME_BEFORE, "away", 200);
}

static bool is_red(unsigned fill)
{
    return (fill >> 16) > (fill & 0xff) && (fill >> 16) == 0xff;
}

static bool is_blue(unsigned fill)
{
    return (fill & 0xff) > fill >> 16 && (fill & 0xff) == 0xff;
}

TEST(differences)
{
    AUTO(flame_free) struct flame flame;

    add_both(&flame);
    AUTO(free_file) struct file file = write_file(&flame, &(struct svg_options){.differential = true});
    CHECK_NUMBER(file.count, 5);
    CHECK(is_red(find(&file, "more (600 samples, 60.00 %, +40.00%)")->fill));
    CHECK(is_blue(find(&file, "less (100 samples, 10.00 %, -20.00%)")->fill));
    CHECK_NUMBER(find(&file, "even (300 samples, 30.00 %, +0.00%)")->fill, 0xffffff);
    CHECK_NUMBER(find(&file, "all (1,000 samples, 100.00 %, +0.00%)")->fill, 0xffffff);
    CHECK(strstr(file.text, "Vanished: 3 frames that only the older one has:<"));
    const char *away = strstr(file.text, ">-20.00%  away (200 samples)<");
    const char *gone = strstr(file.text, ">-0.70%  even;&lt;gone&gt; (7 samples)<");
    CHECK(away && gone && away < gone);
    free_file(&file);
    file = write_file(&flame, &(struct svg_options){.differential = true, .negate = true});
    CHECK(is_blue(find(&file, "more (")->fill) && is_red(find(&file, "less (")->fill));
    free_file(&file);
    file = write_file(&flame, &(struct svg_options){0});
    CHECK(!strstr(file.text, "Vanished"));
}

/* Of many that vanished, the largest are named, and all are counted. */
TEST(greatest_vanished)
{
    AUTO(flame_free) struct flame flame;
    char name[24];
    unsigned lines = 0;

    flame_init(&flame);
    add(&flame, FLAME_NOW, "here", 1000);
    for (unsigned i = 0; i < 1500; i++) {
        snprintf(name, sizeof(name), "gone%u;leaf", i * 7 % 1500);
        add(&flame, FLAME_BEFORE, name, i * 7 % 1500 + 1);
    }
    AUTO(free_file) struct file file = write_file(&flame, &(struct svg_options){.differential = true});
    CHECK(strstr(file.text, "Vanished: 3,000 frames that only the older one has. The 20 greatest "
                            "paths, of 1,500:<"));
    for (unsigned i = 1499; i >= 1480; i--) {
        snprintf(name, sizeof(name), "  gone%u (", i);
        CHECK(strstr(file.text, name));
    }
    for (const char *at = file.text; (at = strstr(at, "  gone")); at++)
        lines++;
    CHECK_NUMBER(lines, 20);
}

TEST_MAIN
