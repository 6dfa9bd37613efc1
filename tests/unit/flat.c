/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Functions with their shares, for stacks with obvious shares. */
#include "unit/report_scene.h"

#define FLAT .format = REPORT_FLAT, .show_process = true, BOTH
#define HEADER(whole) "  self%  total%  of " whole "\n"

TEST(self_and_total)
{
    AUTO_SCENE scene = {0};
    uint32_t leaf = add_symbol(&scene, true, 1, "leaf", "", 0);
    uint32_t middle = add_symbol(&scene, false, 2, "middle", "x", 0);
    uint32_t other = add_symbol(&scene, false, 3, "other", "x", 0);
    uint32_t root = add_symbol(&scene, false, 4, "root", "x", 0);

    /* Names of processes are not functions. */
    add_entry(&scene, 60, 1, "x", FRAMES(leaf), FRAMES(middle, root));
    add_entry(&scene, 25, 2, "y", NO_FRAMES, FRAMES(middle, root));
    add_entry(&scene, 15, 3, "leaf", NO_FRAMES, FRAMES(other, root));
    EXPECT(&scene,
           HEADER("100 samples")
           "  60.00   60.00  leaf\n"
           "  25.00   85.00  middle\n"
           "  15.00   15.00  other\n"
           "   0.00  100.00  root\n", FLAT);
    EXPECT(&scene,
           HEADER("100 samples")
           "  60.00   60.00  leaf\n"
           "  25.00   85.00  middle\n", FLAT, .functions = 2);
    EXPECT(&scene,
           HEADER("100 samples")
           "  60.00   60.00  leaf\n"
           "  25.00   85.00  middle\n"
           "  15.00   15.00  other\n"
           "   0.00  100.00  root\n", FLAT, .functions = 5);
    EXPECT(&scene,
           HEADER("100 samples")
           "  60.00   60.00  leaf_[k]\n"
           "  25.00   85.00  middle\n"
           "  15.00   15.00  other\n"
           "   0.00  100.00  root\n", FLAT, .annotations = true, .verbose = true);
}

TEST(recursion_counts_once)
{
    AUTO_SCENE scene = {0};
    uint32_t f = add_symbol(&scene, false, 1, "f", "x", 0);
    uint32_t elsewhere = add_symbol(&scene, false, 9, "f", "x", 8);
    uint32_t g = add_symbol(&scene, false, 2, "g", "x", 0);

    add_entry(&scene, 3, 1, "x", NO_FRAMES, FRAMES(f, elsewhere, g, f));
    add_entry(&scene, 1, 1, "x", NO_FRAMES, FRAMES(g, f, g));
    EXPECT(&scene,
           HEADER("4 samples")
           "  75.00  100.00  f\n"
           "  25.00  100.00  g\n", FLAT);
    EXPECT(&scene,
           HEADER("4 samples")
           "  75.00  100.00  f+0x0\n"
           "  25.00  100.00  g+0x0\n"
           "   0.00   75.00  f+0x8\n", FLAT, .offset = true);
}

/* By self, then total, then name. */
TEST(order)
{
    AUTO_SCENE scene = {0};
    uint32_t a = add_symbol(&scene, false, 1, "a", "x", 0);
    uint32_t b = add_symbol(&scene, false, 2, "b", "x", 0);
    uint32_t c = add_symbol(&scene, false, 3, "c", "x", 0);
    uint32_t d = add_symbol(&scene, false, 4, "d", "x", 0);

    add_entry(&scene, 1, 1, "x", NO_FRAMES, FRAMES(c, d));
    add_entry(&scene, 1, 1, "x", NO_FRAMES, FRAMES(b));
    add_entry(&scene, 1, 1, "x", NO_FRAMES, FRAMES(a, c));
    EXPECT(&scene,
           HEADER("3 samples")
           "  33.33   66.67  c\n"
           "  33.33   33.33  a\n"
           "  33.33   33.33  b\n"
           "   0.00   33.33  d\n", FLAT);
}

/* Files without symbols are one function each; the delimiter of two stacks is not one. */
TEST(frames_without_functions)
{
    AUTO_SCENE scene = {0};
    uint32_t one = add_symbol(&scene, false, 1, NULL, "libc.so.6", 0x10);
    uint32_t two = add_symbol(&scene, false, 2, NULL, "libc.so.6", 0x20);
    uint32_t odd = add_symbol(&scene, false, 3, "a;b\n 5", "x", 0);
    uint32_t leaf = add_symbol(&scene, true, 4, "leaf", "", 0);

    add_entry(&scene, 2, 1, "x", FRAMES(leaf), FRAMES(one, odd));
    add_entry(&scene, 1, 1, "x", NO_FRAMES, FRAMES(two, odd));
    add_entry(&scene, 1, 1, "x", NO_FRAMES, NO_FRAMES);
    EXPECT(&scene,
           HEADER("4 samples")
           "  50.00   50.00  leaf\n"
           "  25.00   75.00  [libc.so.6]\n"
           "  25.00   25.00  [no stack]\n"
           "   0.00   75.00  a;b\\x0a 5\n", FLAT, .delimited = true);
}

/* A wait belongs to the function that waits, not to the one that ends it. */
TEST(waits)
{
    AUTO_SCENE scene = {0};
    uint32_t sleeps = add_symbol(&scene, true, 1, "schedule", "", 0);
    uint32_t pipe = add_symbol(&scene, false, 2, "wait", "x", 0);
    uint32_t wakes = add_symbol(&scene, true, 3, "wake_up", "", 0);
    uint32_t writes = add_symbol(&scene, false, 4, "write", "y", 0);
    struct tally_entry *entry = add_entry(&scene, 4000, 1, "x", FRAMES(sleeps), FRAMES(pipe));

    add_waker(&scene, entry, 9, "y", FRAMES(wakes), FRAMES(writes));
    /* Less than one unit in text still has its share. */
    add_entry(&scene, 400, 1, "x", FRAMES(sleeps), NO_FRAMES);
    EXPECT(&scene,
           HEADER("4 us")
           " 100.00  100.00  schedule\n"
           "   0.00   90.91  wait\n"
           "   0.00   90.91  wake_up\n"
           "   0.00   90.91  write\n", FLAT, .layout = LAYOUT_OFFWAKETIME, .unit = 1000,
           .measure = {"waits", "blocked", "microseconds", 0});
    EXPECT(&scene,
           HEADER("4 us")
           "  90.91   90.91  wake_up\n"
           "   0.00   90.91  write\n", FLAT, .layout = LAYOUT_WAKEUPTIME, .unit = 1000, .functions = 2,
           .measure = {"waits", "blocked", "microseconds", 0});
}

/*
 * A wait is not counted at functions that only lead to it (of the scheduler and of locks), known by
 * the kernel's sections, or else by name.
 */
TEST(where_it_waits)
{
    static const struct waiting_text sections = {{100, 900}, {200, 950}}, unknown = {{0}, {0}};
    AUTO_SCENE scene = {0};
    uint32_t leaves = add_symbol(&scene, true, 110, "__schedule", "", 0);
    uint32_t odd = add_symbol(&scene, true, 199, "odd_in_section", "", 0);
    uint32_t locks = add_symbol(&scene, true, 920, "spins", "", 0);
    uint32_t waits_here = add_symbol(&scene, true, 200, "futex_do_wait", "", 0);
    uint32_t entry = add_symbol(&scene, true, 300, "do_syscall_64", "", 0);
    uint32_t user = add_symbol(&scene, false, 120, "main", "x", 0);

    add_entry(&scene, 5, 1, "x", FRAMES(leaves, odd, locks, waits_here, entry), FRAMES(user));
    add_entry(&scene, 3, 1, "x", FRAMES(leaves, entry), FRAMES(user));
    add_entry(&scene, 2, 2, "y", FRAMES(leaves), NO_FRAMES);
    EXPECT(&scene,
           HEADER("10 samples")
           "  50.00   50.00  futex_do_wait\n"
           "  30.00   80.00  main\n"
           "  20.00  100.00  __schedule\n", FLAT, .waiting = &sections, .functions = 3);
    EXPECT(&scene,
           HEADER("10 samples")
           "  50.00   50.00  odd_in_section\n"
           "  30.00   80.00  main\n"
           "  20.00  100.00  __schedule\n", FLAT, .waiting = &unknown, .functions = 3);
    /* With --by: shares are of the total. */
    EXPECT(&scene,
           HEADER("10 samples")
           "  50.00   50.00  x (1): futex_do_wait\n"
           "  30.00   80.00  x (1): main\n"
           "  20.00   20.00  y (2): __schedule\n", FLAT, .waiting = &sections, .functions = 3,
           .by = GROUP_BY_PROCESS);
}

TEST(nothing_came)
{
    AUTO_SCENE scene = {0};
    uint32_t f = add_symbol(&scene, false, 1, "f", "x", 0);

    EXPECT(&scene, HEADER("0 samples"), FLAT);
    add_entry(&scene, 0, 1, "x", NO_FRAMES, FRAMES(f));
    EXPECT(&scene, HEADER("0 samples") "   0.00    0.00  f\n", FLAT);
}

/* Shares are right even if the sum needs all 64 bits. */
TEST(great_numbers)
{
    AUTO_SCENE scene = {0};
    uint32_t f = add_symbol(&scene, false, 1, "f", "x", 0);
    uint32_t g = add_symbol(&scene, false, 2, "g", "x", 0);

    add_entry(&scene, 3ull << 61, 1, "x", NO_FRAMES, FRAMES(f, g));
    add_entry(&scene, 1ull << 61, 1, "x", NO_FRAMES, FRAMES(g));
    EXPECT(&scene,
           HEADER("9223372036854775808 samples")
           "  75.00   75.00  f\n"
           "  25.00  100.00  g\n", FLAT);
}

TEST_MAIN
