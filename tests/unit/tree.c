/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Trees in text, for stacks with obvious shares. */
#include "base/screen.h"
#include "unit/report_scene.h"

#define BELOW(percent) .format = REPORT_TREE, .narrow = (uint64_t)((percent) * (double)TREE_PERCENT), BOTH
#define TREE BELOW(1)
#define HEADER(whole) "  self%  total%  of " whole " samples\n"

/* A chain stays in one column, even if its frames have shares of their own. */
TEST(chains)
{
    AUTO_SCENE scene = {0};
    uint32_t leaf = add_symbol(&scene, true, 1, "leaf", "", 0);
    uint32_t middle = add_symbol(&scene, false, 2, "middle", "x", 0);
    uint32_t root = add_symbol(&scene, false, 3, "root", "x", 0);

    add_entry(&scene, 30, 1, "x", FRAMES(leaf), FRAMES(middle, root));
    add_entry(&scene, 70, 1, "x", NO_FRAMES, FRAMES(middle, root));
    EXPECT(&scene,
           HEADER("100")
           "         100.00  root\n"
           "  70.00  100.00  middle\n"
           "  30.00   30.00  leaf\n", TREE);
    EXPECT(&scene,
           HEADER("100")
           "         100.00  x\n"
           "         100.00  root\n"
           "  70.00  100.00  middle\n"
           "  30.00   30.00  leaf_[k]\n", TREE, .show_process = true, .annotations = true);
}

/*
 * A callee with more than half of its caller's total stays in its column, below the branches; two
 * halves are both branches.
 */
TEST(branches)
{
    AUTO_SCENE scene = {0};
    uint32_t a = add_symbol(&scene, false, 1, "a", "x", 0);
    uint32_t b = add_symbol(&scene, false, 2, "b", "x", 0);
    uint32_t c = add_symbol(&scene, false, 3, "c", "x", 0);
    uint32_t d = add_symbol(&scene, false, 4, "d", "x", 0);
    uint32_t root = add_symbol(&scene, false, 5, "root", "x", 0);

    add_entry(&scene, 10, 1, "x", NO_FRAMES, FRAMES(a, b, root));
    add_entry(&scene, 10, 1, "x", NO_FRAMES, FRAMES(d, b, root));
    add_entry(&scene, 10, 1, "x", NO_FRAMES, FRAMES(b, root));
    add_entry(&scene, 69, 1, "x", NO_FRAMES, FRAMES(a, c, root));
    add_entry(&scene, 1, 1, "x", NO_FRAMES, FRAMES(root));
    EXPECT(&scene,
           HEADER("100")
           "   1.00  100.00  root\n"
           "  10.00   30.00  |- b\n"
           "  10.00   10.00  |  |- a\n"
           "  10.00   10.00  |  `- d\n"
           "          69.00  c\n"
           "  69.00   69.00  a\n", TREE);
}

/*
 * Narrow branches are one line with their sum, before the frame that goes on, or at the end; one
 * percent is not narrow.
 */
TEST(narrow_branches)
{
    AUTO_SCENE scene = {0};
    uint32_t a = add_symbol(&scene, false, 1, "a", "x", 0);
    uint32_t b = add_symbol(&scene, false, 2, "b", "x", 0);
    uint32_t c = add_symbol(&scene, false, 3, "c", "x", 0);
    uint32_t d = add_symbol(&scene, false, 4, "d", "x", 0);
    uint32_t root = add_symbol(&scene, false, 5, "root", "x", 0);
    uint32_t other = add_symbol(&scene, false, 6, "other", "x", 0);

    add_entry(&scene, 9, 1, "x", NO_FRAMES, FRAMES(a, root));
    add_entry(&scene, 8, 1, "x", NO_FRAMES, FRAMES(b, root));
    add_entry(&scene, 10, 1, "x", NO_FRAMES, FRAMES(c, root));
    add_entry(&scene, 960, 1, "x", NO_FRAMES, FRAMES(d, root));
    add_entry(&scene, 5, 1, "x", NO_FRAMES, FRAMES(a, d, root));
    add_entry(&scene, 8, 1, "x", NO_FRAMES, FRAMES(other));
    EXPECT(&scene,
           HEADER("1000")
           "          99.20  root\n"
           "   1.00    1.00  |- c\n"
           "           1.70  |- (2 branches below 1%)\n"
           "  96.00   96.50  d\n"
           "           0.50  `- (1 branch below 1%)\n"
           "\n"
           "           0.80  (1 branch below 1%)\n", TREE);
    EXPECT(&scene,
           HEADER("1000")
           "          99.20  root\n"
           "           2.70  |- (3 branches below 2.5%)\n"
           "  96.00   96.50  d\n"
           "           0.50  `- (1 branch below 2.5%)\n"
           "\n"
           "           0.80  (1 branch below 2.5%)\n", BELOW(2.5));
    EXPECT(&scene,
           HEADER("1000")
           "          99.20  root\n"
           "   1.00    1.00  |- c\n"
           "   0.90    0.90  |- a\n"
           "   0.80    0.80  |- b\n"
           "  96.00   96.50  d\n"
           "   0.50    0.50  a\n"
           "\n"
           "   0.80    0.80  other\n", BELOW(0));
    EXPECT(&scene,
           HEADER("1000")
           "         100.00  (2 branches below 100%)\n", BELOW(100));
}

/* Shares are of printed times, and less than one unit has none. */
TEST(units)
{
    AUTO_SCENE scene = {0};
    uint32_t a = add_symbol(&scene, false, 1, "a", "x", 0);
    uint32_t b = add_symbol(&scene, false, 2, "b", "x", 0);

    add_entry(&scene, 999, 1, "x", NO_FRAMES, FRAMES(b));
    EXPECT(&scene,
           "06:05:04\n"
           "  self%  total%  of 0 us\n"
           "           0.00  (1 branch below 0%)\n", BELOW(0), .timestamp = true, .unit = 1000,
           .measure = {.events = "waits", .value = "blocked", .unit = "microseconds"});
    add_entry(&scene, 2999, 1, "x", NO_FRAMES, FRAMES(a));
    EXPECT(&scene,
           HEADER("2")
           " 100.00  100.00  a\n"
           "\n"
           "           0.00  (1 branch below 1%)\n", TREE, .unit = 1000);
}

TEST(nothing_came)
{
    AUTO_SCENE scene = {0};

    EXPECT(&scene, HEADER("0"), TREE);
}

/* The total needs all 64 bits. */
TEST(great_numbers)
{
    AUTO_SCENE scene = {0};
    uint32_t f = add_symbol(&scene, false, 1, "f", "x", 0);
    uint32_t g = add_symbol(&scene, false, 2, "g", "x", 0);

    add_entry(&scene, 3ull << 61, 1, "x", NO_FRAMES, FRAMES(f, g));
    add_entry(&scene, 1ull << 61, 1, "x", NO_FRAMES, FRAMES(g));
    EXPECT(&scene,
           HEADER("9223372036854775808")
           "  25.00  100.00  g\n"
           "  75.00   75.00  f\n", TREE);
}

/* Lines are at most as wide as the terminal, and no character is cut in two. */
TEST(widths)
{
    AUTO_SCENE scene = {0};
    uint32_t long_one = add_symbol(&scene, false, 1, "a_long_name", "x", 0);
    uint32_t greek = add_symbol(&scene, false, 2, "\xce\xb1\xce\xb2\xce\xb3\xce\xb4\xce\xb5", "x", 0);
    uint32_t wide = add_symbol(&scene, false, 3, "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2", "x", 0);

    add_entry(&scene, 1, 1, "x", NO_FRAMES, FRAMES(long_one, greek, wide));
    EXPECT(&scene,
           "  self%  total%  of...\n"
           "         100.00  \xe6\xbc\xa2...\n"
           "         100.00  \xce\xb1\xce\xb2\xce\xb3\xce\xb4\xce\xb5\n"
           " 100.00  100.00  a_...\n", TREE, .width = 22);
    EXPECT(&scene,
           "  self%  total%  of 1 sam...\n"
           "         100.00  \xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\n"
           "         100.00  \xce\xb1\xce\xb2\xce\xb3\xce\xb4\xce\xb5\n"
           " 100.00  100.00  a_long_name\n", TREE, .width = 28);
    CHECK_NUMBER(columns_fit("abc", 3, 0), 0);
    CHECK_NUMBER(columns_fit("", 0, 5), 0);
    CHECK_NUMBER(columns_fit("\xe6\xbc\xa2", 3, 1), 0);
    /* Only a few of U+200B, which has no width, are allowed. */
    CHECK_NUMBER(columns_fit("\xe2\x80\x8b\xe2\x80\x8b", 6, 3), 3);
}

/*
 * A step to the right at least halves what is left: binary branching, the worst case, has at most
 * six to a branch of one percent or more. Here the first step is between two trees, and the last
 * one is that of the narrow branches.
 */
TEST(indentation)
{
    AUTO_SCENE scene = {0};
    uint32_t up = add_symbol(&scene, false, 1, "up", "x", 0);
    uint32_t down = add_symbol(&scene, false, 2, "down", "x", 0);
    size_t length, most = 0;
    char *written = NULL;
    struct report_summary summary;
    FILE *out = open_memstream(&written, &length);

    for (unsigned path = 0; path < 4096; path++) {
        uint32_t frames[12];
        for (unsigned i = 0; i < 12; i++)
            frames[i] = path >> i & 1 ? up : down;
        add_entry(&scene, 1, 1, "x", NO_FRAMES, (struct frames){frames, 12});
    }
    struct report_options options = {TREE};
    CHECK_NUMBER(report_write(out, &scene.tally, &scene.symbols, &options, &six_oclock, &summary), 0);
    fclose(out);
    for (const char *line = strchr(written, '\n'); line && line[1]; line = strchr(line + 1, '\n'))
        if (strlen(line) > 18) {
            size_t mark = strcspn(line + 18, "ud(");
            most = mark > most ? mark : most;
        }
    CHECK_NUMBER(most, 6 * 3);
    free(written);
}

TEST_MAIN
