/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Keys from terminals' byte sequences, and the part of a text that a screen shows. */

#include "base/screen.h"
#include "test.h"

/* The keys in these bytes; bytes that are no keys are dropped. */
static void expect_keys(const char *bytes, size_t count, const enum key *expected)
{
    struct keys keys = {0};
    size_t at = 0;

    for (; *bytes; bytes++) {
        enum key key = keys_take(&keys, (unsigned char)*bytes);
        if (key == KEY_NONE)
            continue;
        CHECK(at < count);
        if (at < count)
            CHECK_NUMBER(key, expected[at]);
        at++;
    }
    CHECK_NUMBER(at, count);
}

#define KEYS(bytes, ...)                                                                    \
    expect_keys(bytes, COUNT_OF(((const enum key[]){__VA_ARGS__})), (const enum key[]){__VA_ARGS__})

TEST(keys)
{
    KEYS("qQ\003", KEY_QUIT, KEY_QUIT, KEY_QUIT);
    KEYS("pjk gGb", KEY_PAUSE, KEY_DOWN, KEY_UP, KEY_PAGE_DOWN, KEY_HOME, KEY_END, KEY_PAGE_UP);
    KEYS("\033[A\033[B\033OC\033OD", KEY_UP, KEY_DOWN, KEY_RIGHT, KEY_LEFT);
    KEYS("\033[5~\033[6~\033[1~\033[4~\033[H\033OF", KEY_PAGE_UP, KEY_PAGE_DOWN, KEY_HOME, KEY_END, KEY_HOME,
         KEY_END);
    KEYS("\033[1;5A\014", KEY_UP, KEY_REDRAW);
    /* No byte of an unknown sequence counts as a key. */
    KEYS("\033[200~\033[15;2~x\033[?1q" "p", KEY_PAUSE);
    KEYS("\033q", KEY_QUIT);
    KEYS("\033\033[A", KEY_UP);
    KEYS("\033[1\033[B", KEY_DOWN);
}

TEST(size_is_answered)
{
    struct keys keys = {0};
    const char answer[] = "\033[43;99999999999R";

    for (size_t i = 0; i + 2 < sizeof(answer); i++)
        CHECK_NUMBER(keys_take(&keys, (unsigned char)answer[i]), KEY_NONE);
    CHECK_NUMBER(keys_take(&keys, 'R'), KEY_SIZE);
    CHECK(keys.numbers[0] == 43 && keys.numbers[1] == 9999);
}

TEST(scrolling)
{
    static struct screen screen;

    screen_init(&screen);
    CHECK(screen.rows == 24 && screen.columns == 80);
    CHECK(screen_resize(&screen, 4, 10) && !screen_resize(&screen, 4, 10));
    screen_set_text(&screen, "1\n2\n3\n4\n5\n6\n7\n8\n");
    screen_press(&screen, KEY_UP);
    CHECK_NUMBER(screen.top, 0);
    screen_press(&screen, KEY_PAGE_DOWN);
    CHECK_NUMBER(screen.top, 3);
    screen_press(&screen, KEY_PAGE_DOWN);
    CHECK_NUMBER(screen.top, 5);
    screen_press(&screen, KEY_DOWN);
    CHECK_NUMBER(screen.top, 5);
    screen_press(&screen, KEY_PAGE_UP);
    CHECK_NUMBER(screen.top, 2);
    screen_press(&screen, KEY_END);
    CHECK_NUMBER(screen.top, 5);
    /* A larger screen, and a shorter text, leave no gap at the end. */
    screen_resize(&screen, 6, 10);
    CHECK_NUMBER(screen.top, 3);
    screen_set_text(&screen, "1\n2\n");
    CHECK_NUMBER(screen.top, 0);
    screen_resize(&screen, 1, 1);
    screen_press(&screen, KEY_PAGE_DOWN);
    CHECK_NUMBER(screen.top, 1);
    screen_press(&screen, KEY_PAUSE);
    CHECK(screen.paused && !screen.ended);
    screen_press(&screen, KEY_QUIT);
    CHECK(screen.ended);
    screen_resize(&screen, 100000, 1);
    CHECK_NUMBER(screen.rows, SCREEN_MOST_ROWS);
}

TEST(drawing)
{
    static struct screen screen;
    AUTO_TEXT out = {0};

    screen_init(&screen);
    screen_resize(&screen, 3, 12);
    screen_set_text(&screen, "one and more than fits\nt\033[2Jo\nthree\n");
    screen_draw(&screen, "S", &out);
    CHECK_STRING(out.data, "\033[1;1Hone and more\033[0m\033[K\033[2;1Ht\\x1b[2Jo\033[0m\033[K"
                           "\033[3;1H\033[7mS; lines 1-2\033[0m\033[K");
    text_clear(&out);
    screen_draw(&screen, "S", &out);
    CHECK_NUMBER(out.length, 0);
    screen_press(&screen, KEY_RIGHT);
    screen_draw(&screen, "S", &out);
    CHECK_STRING(out.data, "\033[1;1Hmore than fi\033[0m\033[K\033[2;1H\033[0m\033[K");
    text_clear(&out);
    screen_press(&screen, KEY_HOME);
    screen_set_text(&screen, "");
    screen_draw(&screen, "T", &out);
    CHECK_STRING(out.data, "\033[1;1H\033[0m\033[K\033[3;1H\033[7mT; lines 0-0\033[0m\033[K");
}

TEST_MAIN
