/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Reports, byte for byte: hand-made tallies and symbols, and the texts they must become. */
#include <signal.h>

#include "unit/report_scene.h"

/* tar reads: two kernel frames, two user frames. */
static struct scene one_block(void)
{
    struct scene scene = {0};
    uint32_t vfs_read = add_symbol(&scene, true, 0xffffffff812a0010, "vfs_read", "", 0x10);
    uint32_t mod_read = add_symbol(&scene, true, 0xffffffffc0201002, "mod_read", "mod", 0x2);
    uint32_t in_libc = add_symbol(&scene, false, 0x7f1122334455, "", "libc.so.6", 0x114992);
    uint32_t main_ = add_symbol(&scene, false, 0x401136, "main", "tar", 0x1f);

    add_entry(&scene, 7, 4242, "tar", FRAMES(vfs_read, mod_read), FRAMES(in_libc, main_));
    return scene;
}

TEST(plain_block)
{
    AUTO_SCENE scene = one_block();

    EXPECT(&scene,
           "\n"
           "  vfs_read\n"
           "  mod_read\n"
           "  libc.so.6+0x114992\n"
           "  main\n"
           "    tar (4242)\n"
           "    7\n"
           "\n", TEXT, BOTH);
    EXPECT(&scene, "\n  vfs_read\n  mod_read\n  libc.so.6+0x114992\n  main\n    7\n\n",
           .format = REPORT_TEXT, BOTH);
    EXPECT(&scene,
           "\n06:05:04\n  vfs_read\n  mod_read\n  libc.so.6+0x114992\n  main\n    7\n\n",
           .format = REPORT_TEXT, BOTH, .timestamp = true);
}

TEST(options_of_text)
{
    AUTO_SCENE scene = one_block();

    EXPECT(&scene,
           "\n"
           "  vfs_read\n"
           "  mod_read\n"
           "    --\n"
           "  libc.so.6+0x114992\n"
           "  main\n"
           "    tar (4242)\n"
           "    7\n"
           "\n", TEXT, BOTH, .delimited = true);
    EXPECT(&scene,
           "\n"
           "  vfs_read+0x10\n"
           "  mod_read+0x2\n"
           "  libc.so.6+0x114992\n"
           "  main+0x1f\n"
           "    tar (4242)\n"
           "    7\n"
           "\n", TEXT, BOTH, .offset = true);
    EXPECT(&scene,
           "\n"
           "  ffffffff812a0010 vfs_read\n"
           "  ffffffffc0201002 mod_read [mod]\n"
           "  7f1122334455     libc.so.6+0x114992\n"
           "  401136           main\n"
           "    tar (4242)\n"
           "    7\n"
           "\n", TEXT, BOTH, .verbose = true);
    EXPECT(&scene,
           "\n"
           "  vfs_read_[k]\n"
           "  mod_read_[k]\n"
           "  libc.so.6+0x114992\n"
           "  main\n"
           "    tar (4242)\n"
           "    7\n"
           "\n", TEXT, BOTH, .annotations = true);
    EXPECT(&scene,
           "\n"
           "06:05:04\n"
           "  ffffffff812a0010 vfs_read+0x10_[k]\n"
           "  ffffffffc0201002 mod_read+0x2 [mod]_[k]\n"
           "    --\n"
           "  7f1122334455     libc.so.6+0x114992\n"
           "  401136           main+0x1f\n"
           "    tar (4242)\n"
           "    7\n"
           "\n", TEXT, BOTH, .annotations = true, .verbose = true, .offset = true,
           .delimited = true, .timestamp = true);
}

TEST(folded_lines)
{
    AUTO_SCENE scene = one_block();

    EXPECT(&scene, "tar;main;[libc.so.6];mod_read;vfs_read 7\n", FOLDED, BOTH);
    EXPECT(&scene, "main;[libc.so.6];mod_read;vfs_read 7\n", .format = REPORT_FOLDED, BOTH);
    EXPECT(&scene, "tar;main;[libc.so.6];-;mod_read;vfs_read 7\n", FOLDED, BOTH,
           .delimited = true);
    EXPECT(&scene, "tar (4242);main;[libc.so.6];mod_read;vfs_read 7\n", FOLDED, BOTH,
           .by = GROUP_BY_PROCESS);
    EXPECT(&scene, "tar;main;[libc.so.6];mod_read_[k];vfs_read_[k] 7\n", FOLDED, BOTH,
           .annotations = true);
    EXPECT(&scene, "tar;main+0x1f;[libc.so.6];mod_read+0x2;vfs_read+0x10 7\n", FOLDED, BOTH,
           .offset = true);
    EXPECT(&scene, "tar;main;[libc.so.6];mod_read;vfs_read 7\n", FOLDED, BOTH, .verbose = true);
    /* -T adds no line here: the time is the root, if that was asked for. */
    EXPECT(&scene, "tar;main;[libc.so.6];mod_read;vfs_read 7\n", FOLDED, BOTH, .timestamp = true);
    EXPECT(&scene, "06:05:04;tar;main;[libc.so.6];mod_read;vfs_read 7\n", FOLDED, BOTH,
           .timestamp = true, .time_as_root = true);
    EXPECT(&scene,
           "06:05:04;tar (4242);main+0x1f;[libc.so.6];-;mod_read+0x2_[k];vfs_read+0x10_[k] 7\n",
           FOLDED, BOTH, .time_as_root = true, .by = GROUP_BY_PROCESS, .offset = true,
           .annotations = true, .delimited = true);
}

TEST(one_side_empty)
{
    struct scene kernel = {0}, user = {0};
    uint32_t tick = add_symbol(&kernel, true, 0xffffffff81000000, "tick", "", 0);
    uint32_t main_ = add_symbol(&user, false, 0x401136, "main", "tar", 0);

    add_entry(&kernel, 1, 2, "kthreadd", FRAMES(tick), NO_FRAMES);
    add_entry(&user, 1, 3, "tar", NO_FRAMES, FRAMES(main_));
    EXPECT(&kernel, "\n  tick\n    kthreadd (2)\n    1\n\n", TEXT, BOTH);
    EXPECT(&kernel, "\n  tick\n    --\n    kthreadd (2)\n    1\n\n", TEXT, BOTH,
           .delimited = true);
    EXPECT(&kernel, "\n  tick\n    kthreadd (2)\n    1\n\n", TEXT, .kernel = true,
           .delimited = true);
    EXPECT(&user, "\n    --\n  main\n    tar (3)\n    1\n\n", TEXT, BOTH, .delimited = true);
    EXPECT(&user, "\n  main\n    tar (3)\n    1\n\n", TEXT, .user = true, .delimited = true);
    EXPECT(&kernel, "kthreadd;-;tick 1\n", FOLDED, BOTH, .delimited = true);
    EXPECT(&kernel, "kthreadd;tick 1\n", FOLDED, .kernel = true, .delimited = true);
    EXPECT(&user, "tar;main;- 1\n", FOLDED, BOTH, .delimited = true);
    EXPECT(&user, "tar;main 1\n", FOLDED, .user = true, .delimited = true);
    free_scene(&kernel);
    free_scene(&user);
}

TEST(no_stack_at_all)
{
    AUTO_SCENE scene = {0};

    add_entry(&scene, 5, 1, "init", NO_FRAMES, NO_FRAMES);
    EXPECT(&scene, "\n  [no stack]\n    init (1)\n    5\n\n", TEXT, BOTH);
    EXPECT(&scene, "\n  [no stack]\n    --\n    init (1)\n    5\n\n", TEXT, BOTH,
           .delimited = true);
    EXPECT(&scene, "\n  [no kernel stack]\n    init (1)\n    5\n\n", TEXT, .kernel = true);
    EXPECT(&scene, "\n  [no user stack]\n    init (1)\n    5\n\n", TEXT, .user = true,
           .delimited = true);
    EXPECT(&scene, "\n  [no stack]\n    init (1)\n    5\n\n", TEXT, BOTH, .verbose = true);
    EXPECT(&scene, "\n  [no stack]\n    init (1)\n    5\n\n", TEXT, BOTH, .annotations = true,
           .offset = true);
    EXPECT(&scene, "init;[no stack] 5\n", FOLDED, BOTH);
    EXPECT(&scene, "init;[no kernel stack] 5\n", FOLDED, .kernel = true);
    EXPECT(&scene, "init;[no user stack] 5\n", FOLDED, .user = true);
    EXPECT(&scene, "[no kernel stack] 5\n", .format = REPORT_FOLDED, .kernel = true);
}

TEST(lost_stacks)
{
    AUTO_SCENE scene = {0};
    uint32_t main_ = add_symbol(&scene, false, 0x401136, "main", "tar", 0);

    add_entry(&scene, 1, 7, "tar", NO_FRAMES, FRAMES(main_))->task.kernel.state = STACK_FULL;
    add_entry(&scene, 2, 7, "tar", NO_FRAMES, NO_FRAMES)->task.user.state = STACK_FULL;
    EXPECT(&scene,
           "\n"
           "  [stack storage full]\n  main\n    tar (7)\n    1\n\n"
           "  [stack storage full]\n    tar (7)\n    2\n\n", TEXT, BOTH);
    EXPECT(&scene, "tar;main;[stack storage full] 1\ntar;[stack storage full] 2\n", FOLDED, BOTH);
    /* Equal ones are one block, as with other stacks. */
    add_entry(&scene, 3, 7, "tar", NO_FRAMES, NO_FRAMES)->task.user.state = STACK_FULL;
    EXPECT(&scene, "tar;main;[stack storage full] 1\ntar;[stack storage full] 5\n", FOLDED, BOTH);
}

TEST(names_that_are_not_known)
{
    AUTO_SCENE scene = {0};
    uint32_t kernel = add_symbol(&scene, true, 0xffffffff81000000, NULL, NULL, 0);
    uint32_t user = add_symbol(&scene, false, 0x1234, NULL, NULL, 0);
    uint32_t vdso = add_symbol(&scene, false, 0x7ffc00c5, NULL, "[vdso]", 0xc5);
    uint32_t anon = add_symbol(&scene, false, 0x7f0000c5, NULL, "[anon]", 0x10);
    uint32_t blank = add_symbol(&scene, false, 0x500000, NULL, "my file 2", 0x20);

    add_entry(&scene, 1, 7, "x", FRAMES(kernel), FRAMES(user, vdso, anon, blank));
    EXPECT(&scene,
           "\n"
           "  [unknown]\n"
           "  [unknown]\n"
           "  [vdso]+0xc5\n"
           "  [anon]+0x10\n"
           "  my file 2+0x20\n"
           "    x (7)\n"
           "    1\n"
           "\n", TEXT, BOTH);
    EXPECT(&scene,
           "\n"
           "  ffffffff81000000 [unknown]_[k]\n"
           "  1234             [unknown]\n"
           "  7ffc00c5         [vdso]+0xc5\n"
           "  7f0000c5         [anon]+0x10\n"
           "  500000           my file 2+0x20\n"
           "    x (7)\n"
           "    1\n"
           "\n", TEXT, BOTH, .verbose = true, .annotations = true, .offset = true);
    EXPECT(&scene, "x;[my file 2];[anon];[vdso];[unknown];[unknown]_[k] 1\n", FOLDED, BOTH,
           .annotations = true, .offset = true);
}

TEST(bytes_in_names)
{
    AUTO_SCENE scene = {0};
    uint32_t odd = add_symbol(&scene, false, 1, "op;\x1b[2J\n\xff", "x", 0);
    uint32_t umlaut = add_symbol(&scene, false, 2, "gr\xc3\xb6\xc3\x9f" "e", "x", 0);
    uint32_t file = add_symbol(&scene, false, 3, NULL, "a;b\t", 5);

    add_entry(&scene, 1, 7, "a;b\n\x80", FRAMES(odd), FRAMES(umlaut, file));
    EXPECT(&scene,
           "\n"
           "  op;\\x1b[2J\\x0a\\xff\n"
           "  gr\xc3\xb6\xc3\x9f" "e\n"
           "  a;b\\x09+0x5\n"
           "    a;b\\x0a\\x80 (7)\n"
           "    1\n"
           "\n", TEXT, BOTH);
    EXPECT(&scene, "a:b\\x0a\\x80;[a:b\\x09];gr\xc3\xb6\xc3\x9f" "e;op:\\x1b[2J\\x0a\\xff 1\n", FOLDED, BOTH);
    free_scene(&scene);

    scene = (struct scene){0};
    umlaut = add_symbol(&scene, true, 2, "f", "", 0);
    add_entry(&scene, 1, 7, "", FRAMES(umlaut), NO_FRAMES);
    /* All the bytes that a name may have, the last one an incomplete character. */
    add_entry(&scene, 2, 7, "123456789012345\xc3", FRAMES(umlaut), NO_FRAMES);
    EXPECT(&scene,
           "\n  f\n    [unknown] (7)\n    1\n\n  f\n    123456789012345\\xc3 (7)\n    2\n\n", TEXT,
           BOTH);
    EXPECT(&scene, "[unknown];f 1\n123456789012345\\xc3;f 2\n", FOLDED, BOTH);
}

TEST(processes_elsewhere)
{
    AUTO_SCENE scene = {0};
    uint32_t f = add_symbol(&scene, true, 2, "f", "", 0);

    add_entry(&scene, 1, 15069, "tar", FRAMES(f), NO_FRAMES)->task.foreign = true;
    add_entry(&scene, 1, 15069, "tar", FRAMES(f), NO_FRAMES);
    EXPECT(&scene,
           "\n  f\n    tar (15069)\n    1\n\n  f\n    tar (host 15069)\n    1\n\n", TEXT, BOTH);
    EXPECT(&scene, "tar (15069);f 1\ntar (host 15069);f 1\n", FOLDED, BOTH, .by = GROUP_BY_PROCESS);
    EXPECT(&scene, "tar;f 2\n", FOLDED, BOTH);
}

/* Two calls in one function, two modules with functions of the same name. */
TEST(equal_lines_are_one)
{
    AUTO_SCENE scene = {0};
    uint32_t one = add_symbol(&scene, true, 0xffffffff81000010, "f", "", 0x10);
    uint32_t other = add_symbol(&scene, true, 0xffffffff81000020, "f", "", 0x20);
    uint32_t in_mod = add_symbol(&scene, true, 0xffffffffc0000010, "f", "mod", 0x10);

    add_entry(&scene, 1, 7, "tar", FRAMES(one), NO_FRAMES);
    add_entry(&scene, 10, 7, "tar", FRAMES(other), NO_FRAMES);
    add_entry(&scene, 100, 7, "tar", FRAMES(in_mod), NO_FRAMES);
    add_entry(&scene, 1000, 7, "tar", FRAMES(one), NO_FRAMES);
    EXPECT(&scene, "\n  f\n    tar (7)\n    1111\n\n", TEXT, BOTH);
    EXPECT(&scene, "tar;f 1111\n", FOLDED, BOTH);
    EXPECT(&scene,
           "\n"
           "  f+0x20\n    tar (7)\n    10\n\n"
           "  f+0x10\n    tar (7)\n    1101\n\n", TEXT, BOTH, .offset = true);
    EXPECT(&scene, "tar;f+0x20 10\ntar;f+0x10 1101\n", FOLDED, BOTH, .offset = true);
    EXPECT(&scene,
           "\n"
           "  ffffffff81000020 f\n    tar (7)\n    10\n\n"
           "  ffffffffc0000010 f [mod]\n    tar (7)\n    100\n\n"
           "  ffffffff81000010 f\n    tar (7)\n    1001\n\n", TEXT, BOTH, .verbose = true);
    EXPECT(&scene, "tar;f 1111\n", FOLDED, BOTH, .verbose = true);
    free_scene(&scene);

    /*
     * Stacks are merged only if all frames are equal; and the boundary between kernel and user
     * frames is not a line.
     */
    scene = (struct scene){0};
    uint32_t a = add_symbol(&scene, true, 1, "a", "", 0);
    uint32_t b = add_symbol(&scene, true, 2, "b", "", 0);
    uint32_t user_b = add_symbol(&scene, false, 3, "b", "x", 0);
    add_entry(&scene, 1, 7, "tar", FRAMES(a), NO_FRAMES);
    add_entry(&scene, 2, 7, "tar", FRAMES(a, b), NO_FRAMES);
    add_entry(&scene, 4, 7, "tar", FRAMES(a), FRAMES(user_b));
    EXPECT(&scene, "\n  a\n    1\n\n  a\n  b\n    6\n\n", .format = REPORT_TEXT, BOTH);
    EXPECT(&scene, "\n  a\n    --\n    1\n\n  a\n  b\n    --\n    2\n\n  a\n    --\n  b\n    4\n\n",
           .format = REPORT_TEXT, BOTH, .delimited = true);
    EXPECT(&scene, "\n  a_[k]\n    1\n\n  a_[k]\n  b_[k]\n    2\n\n  a_[k]\n  b\n    4\n\n",
           .format = REPORT_TEXT, BOTH, .annotations = true);
}

TEST(processes_that_are_not_shown)
{
    AUTO_SCENE scene = {0};
    uint32_t f = add_symbol(&scene, true, 1, "f", "", 0);

    add_entry(&scene, 1, 7, "tar", FRAMES(f), NO_FRAMES);
    add_entry(&scene, 2, 8, "tar", FRAMES(f), NO_FRAMES);
    add_entry(&scene, 4, 8, "gzip", FRAMES(f), NO_FRAMES);
    EXPECT(&scene, "\n  f\n    tar (7)\n    1\n\n  f\n    tar (8)\n    2\n\n"
                   "  f\n    gzip (8)\n    4\n\n", TEXT, BOTH);
    EXPECT(&scene, "\n  f\n    7\n\n", .format = REPORT_TEXT, BOTH);
    EXPECT(&scene, "tar;f 3\ngzip;f 4\n", FOLDED, BOTH);
    EXPECT(&scene, "tar (7);f 1\ntar (8);f 2\ngzip (8);f 4\n", FOLDED, BOTH, .by = GROUP_BY_PROCESS);
    EXPECT(&scene, "f 7\n", .format = REPORT_FOLDED, BOTH);
}

/* Replacements in folded text can make names equal, and then they are one line, too. */
TEST(equal_lines_after_replacing)
{
    AUTO_SCENE scene = {0};
    uint32_t semicolon = add_symbol(&scene, true, 1, "a;b", "", 0);
    uint32_t colon = add_symbol(&scene, true, 2, "a:b", "", 0);
    uint32_t blank = add_symbol(&scene, true, 3, "c 12", "", 0);
    uint32_t underscore = add_symbol(&scene, true, 4, "c_12", "", 0);

    add_entry(&scene, 1, 7, "t;r", FRAMES(semicolon), NO_FRAMES);
    add_entry(&scene, 2, 7, "t:r", FRAMES(colon), NO_FRAMES);
    add_entry(&scene, 4, 7, "tar", FRAMES(blank), NO_FRAMES);
    add_entry(&scene, 8, 7, "tar", FRAMES(underscore), NO_FRAMES);
    add_entry(&scene, 16, 7, "tar", FRAMES(colon, blank), NO_FRAMES);
    add_entry(&scene, 32, 7, "tar", FRAMES(colon, underscore), NO_FRAMES);
    EXPECT(&scene, "t:r;a:b 3\ntar;c_12 12\ntar;c 12;a:b 16\ntar;c_12;a:b 32\n", FOLDED, BOTH);
}

TEST(last_frames_like_counts)
{
    static const struct {
        const char *name, *shown;
    } cases[] = {
        {"f 1", "f_1"},       {"f 1.5", "f_1.5"},         {"a b 12", "a b_12"},
        {"f 1x", "f 1x"},     {"f ", "f "},               {"f 12 ", "f 12 "},
        {"12", "12"},         {"operator+ 3", "operator+_3"}, {"f -1", "f -1"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        AUTO_SCENE scene = {0};
        AUTO_TEXT expected = {0};
        uint32_t f = add_symbol(&scene, true, 1, cases[i].name, "", 0);

        add_entry(&scene, 3, 7, "tar", FRAMES(f, f), FRAMES(f));
        text_format(&expected, "tar;%s;%s;%s 3\n", cases[i].name, cases[i].name, cases[i].shown);
        EXPECT(&scene, expected.data, FOLDED, BOTH);
        /* The default format has the names unchanged. */
        text_clear(&expected);
        text_format(&expected, "\n  %s\n    3\n\n", cases[i].name);
        scene.tally.entries[0].task.kernel.count = 1;
        scene.tally.entries[0].task.user = (struct stack){0};
        EXPECT(&scene, expected.data, .format = REPORT_TEXT, BOTH);
    }
}

/* By count, then name, pid and frames. */
TEST(order_of_blocks)
{
    AUTO_SCENE scene = {0};
    uint32_t b = add_symbol(&scene, true, 1, "b", "", 0);
    uint32_t a = add_symbol(&scene, true, 2, "a", "", 0);
    uint32_t user = add_symbol(&scene, false, 3, "a", "x", 0);

    add_entry(&scene, 5, 9, "zip", FRAMES(a), NO_FRAMES);
    add_entry(&scene, 5, 10, "tar", FRAMES(a), NO_FRAMES);
    add_entry(&scene, 5, 9, "tar", FRAMES(b, a), NO_FRAMES);
    add_entry(&scene, 5, 9, "tar", FRAMES(b), NO_FRAMES);
    add_entry(&scene, 5, 9, "tar", FRAMES(a), FRAMES(user));
    add_entry(&scene, 5, 9, "tar", FRAMES(a), NO_FRAMES);
    add_entry(&scene, 1, 9, "zip", FRAMES(b), NO_FRAMES);
    add_entry(&scene, 18446744073709551615u, 1, "bar", FRAMES(a), NO_FRAMES);
    EXPECT(&scene,
           "\n"
           "  b\n    zip (9)\n    1\n\n"
           "  a\n    tar (9)\n    5\n\n"
           "  a\n  a\n    tar (9)\n    5\n\n"
           "  b\n    tar (9)\n    5\n\n"
           "  b\n  a\n    tar (9)\n    5\n\n"
           "  a\n    tar (10)\n    5\n\n"
           "  a\n    zip (9)\n    5\n\n"
           "  a\n    bar (1)\n    18446744073709551615\n\n", TEXT, BOTH);
    EXPECT(&scene,
           "zip (9);b 1\n"
           "tar (9);a 5\n"
           "tar (9);a;a 5\n"
           "tar (9);a;b 5\n"
           "tar (9);b 5\n"
           "tar (10);a 5\n"
           "zip (9);a 5\n"
           "bar (1);a 18446744073709551615\n", FOLDED, BOTH, .by = GROUP_BY_PROCESS);
}

TEST(the_greatest_alone)
{
    AUTO_SCENE scene = {0};
    struct report_summary summary;
    uint32_t a = add_symbol(&scene, true, 1, "a", "", 0);
    uint32_t b = add_symbol(&scene, true, 2, "b", "", 0);
    uint32_t c = add_symbol(&scene, true, 3, "c", "", 0);

    add_entry(&scene, 20, 1, "x", FRAMES(a), NO_FRAMES);
    add_entry(&scene, 15, 1, "x", FRAMES(b), NO_FRAMES);
    add_entry(&scene, 15, 1, "x", FRAMES(b), NO_FRAMES); /* larger once it is one block */
    add_entry(&scene, 3, 1, "x", FRAMES(c), NO_FRAMES);
    struct report_options options = {FOLDED, BOTH, .top = 1};
    expect_all(&scene, options, "x;b 30\n", &summary);
    CHECK_NUMBER(summary.blocks, 1);
    CHECK_NUMBER(summary.value, 30);
    CHECK_NUMBER(summary.left_blocks, 2);
    CHECK_NUMBER(summary.left_value, 23);
    options.top = 2;
    expect_all(&scene, options, "x;a 20\nx;b 30\n", &summary);
    CHECK_NUMBER(summary.left_value, 3);
    static const uint64_t none_left[] = {0, 3, 4, UINT64_MAX};
    for (size_t i = 0; i < COUNT_OF(none_left); i++) {
        options.top = none_left[i];
        expect_all(&scene, options, "x;c 3\nx;a 20\nx;b 30\n", &summary);
        CHECK_NUMBER(summary.blocks, 3);
        CHECK_NUMBER(summary.value, 53);
        CHECK_NUMBER(summary.left_blocks, 0);
        CHECK_NUMBER(summary.left_value, 0);
    }
}

TEST(nothing_counted)
{
    AUTO_SCENE scene = {0};

    EXPECT(&scene, "\n", TEXT, BOTH);
    EXPECT(&scene, "\n06:05:04\n", TEXT, BOTH, .timestamp = true);
    EXPECT(&scene, "", FOLDED, BOTH, .time_as_root = true);
}

static int write_to(FILE *out, const struct scene *scene, enum report_format format)
{
    const struct report_options options = {.format = format, BOTH};
    struct report_summary summary;

    return report_write(out, &scene->tally, &scene->symbols, &options, &six_oclock, &summary);
}

TEST(writing_fails)
{
    AUTO_SCENE scene = one_block();

    for (enum report_format format = REPORT_TEXT; format <= REPORT_FOLDED; format++) {
        FILE *full = fopen("/dev/full", "w");
        CHECK(full != NULL);
        CHECK_NUMBER(write_to(full, &scene, format), -ENOSPC);
        fclose(full);
        int ends[2];
        CHECK_NUMBER(pipe(ends), 0);
        FILE *closed = fdopen(ends[1], "w");
        close(ends[0]);
        CHECK_NUMBER(write_to(closed, &scene, format), -EPIPE);
        fclose(closed);
    }
    /* More than one buffer. */
    for (uint64_t i = 0; i < 900; i++)
        add_entry(&scene, i, (uint32_t)i, "tar", FRAMES(0, 1), FRAMES(2, 3));
    FILE *full = fopen("/dev/full", "w");
    const struct report_options options = {TEXT, BOTH};
    struct report_summary summary;
    CHECK_NUMBER(report_write(full, &scene.tally, &scene.symbols, &options, &six_oclock, &summary), -ENOSPC);
    fclose(full);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    run_tests();
    return tests_done();
}
