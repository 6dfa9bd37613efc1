/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Reports of profile, offcputime, wakeuptime and offwaketime, byte for byte. */
#include "unit/report_waits.h"

/* cat [4242, thread 4243] waits for yes [77, thread 78]. */
static struct scene one_wake(uint64_t value)
{
    struct scene scene = {0};
    struct names n = add_names(&scene);
    struct tally_entry *entry = add_entry(&scene, value, 4242, "cat",
                                          FRAMES(n.schedule, n.read_pipe),
                                          FRAMES(n.in_libc, n.main_));

    add_waker(&scene, entry, 77, "yes", FRAMES(n.wake_up, n.write_pipe), FRAMES(n.send, n.loop));
    return scene;
}

/* wakeuptime keeps no stack of the waiting thread. */
static struct scene one_wake_up(uint64_t value)
{
    struct scene scene = {0};
    struct names n = add_names(&scene);
    struct tally_entry *entry = add_entry(&scene, value, 4242, "cat", NO_FRAMES, NO_FRAMES);

    add_waker(&scene, entry, 77, "yes", FRAMES(n.wake_up, n.write_pipe), FRAMES(n.send, n.loop));
    return scene;
}

TEST(profile_text)
{
    AUTO_SCENE scene = one_wake(7);

    EXPECT(&scene,
           "\n"
           "    __schedule\n"
           "    read_pipe\n"
           "    libc.so.6+0x114992\n"
           "    main\n"
           "    -                cat (4242)\n"
           "        7\n"
           "\n", SAMPLES, BOTH);
    EXPECT(&scene,
           "\n"
           "    __schedule\n"
           "    read_pipe\n"
           "    --\n"
           "    libc.so.6+0x114992\n"
           "    main\n"
           "    -                cat (4242)\n"
           "        7\n"
           "\n", SAMPLES, BOTH, .delimited = true);
    EXPECT(&scene,
           "\n"
           "    __schedule+0x10\n"
           "    read_pipe+0x2\n"
           "    libc.so.6+0x114992\n"
           "    main+0x1f\n"
           "    -                cat (4242)\n"
           "        7\n"
           "\n", SAMPLES, BOTH, .offset = true);
    EXPECT(&scene,
           "\n"
           "06:05:04\n"
           "    ffffffff81a00010 __schedule_[k]\n"
           "    ffffffffc0201002 read_pipe [mod]_[k]\n"
           "    7f1122334455     libc.so.6+0x114992\n"
           "    401136           main\n"
           "    -                cat (4242)\n"
           "        7\n"
           "\n", SAMPLES, BOTH, .verbose = true, .annotations = true, .timestamp = true);
    EXPECT(&scene,
           "\n"
           "    __schedule\n"
           "    read_pipe\n"
           "    libc.so.6+0x114992\n"
           "    main\n"
           "    -                cat (4242/4243)\n"
           "        7\n"
           "\n", SAMPLES, BOTH, .by = GROUP_BY_THREAD);
}

TEST(profile_folded)
{
    AUTO_SCENE scene = one_wake(7);

    EXPECT(&scene, "cat;main;[libc.so.6];read_pipe;__schedule 7\n", SAMPLES, AS_FOLDED, BOTH);
    EXPECT(&scene, "cat;main;[libc.so.6];-;read_pipe;__schedule 7\n", SAMPLES, AS_FOLDED, BOTH,
           .delimited = true);
    EXPECT(&scene, "06:05:04;cat;main+0x1f;[libc.so.6];read_pipe+0x2_[k];__schedule+0x10_[k] 7\n",
           SAMPLES, AS_FOLDED, BOTH, .offset = true, .annotations = true, .timestamp = true,
           .time_as_root = true, .verbose = true);
}

/* Values are summed before they are divided, and an entry that rounds to 0 is printed, too. */
TEST(units)
{
    AUTO_SCENE scene = {0};
    struct report_summary summary;
    struct names n = add_names(&scene);

    add_entry(&scene, 700, 1, "a", FRAMES(n.schedule), NO_FRAMES);
    add_entry(&scene, 700, 1, "a", FRAMES(n.schedule), NO_FRAMES);
    add_entry(&scene, 999, 1, "b", FRAMES(n.schedule), NO_FRAMES);
    add_entry(&scene, 1001, 1, "c", FRAMES(n.schedule), NO_FRAMES);
    add_entry(&scene, 2000, 1, "d", FRAMES(n.schedule), NO_FRAMES);
    EXPECT(&scene,
           "\n"
           "    __schedule\n    -                b (1)\n        0\n\n"
           "    __schedule\n    -                a (1)\n        1\n\n"
           "    __schedule\n    -                c (1)\n        1\n\n"
           "    __schedule\n    -                d (1)\n        2\n\n", WAITS, BOTH);
    EXPECT(&scene, "b;__schedule 0\na;__schedule 1\nc;__schedule 1\nd;__schedule 2\n", WAITS, AS_FOLDED, BOTH);
    struct report_options options = {WAITS, AS_FOLDED, BOTH, .top = 2};
    expect_all(&scene, options, "c;__schedule 1\nd;__schedule 2\n", &summary);
    CHECK_NUMBER(summary.blocks, 2);
    CHECK_NUMBER(summary.value, 3);
    CHECK_NUMBER(summary.left_blocks, 2);
    CHECK_NUMBER(summary.left_value, 2); /* of 2399 */
}

TEST(wakeuptime_text)
{
    AUTO_SCENE scene = one_wake_up(12345678);

    EXPECT(&scene,
           "\n"
           "    target:          cat (4242)\n"
           "    try_to_wake_up\n"
           "    write_pipe\n"
           "    send\n"
           "    loop\n"
           "    waker:           yes (77)\n"
           "        12345\n"
           "\n", WAKES, BOTH);
    EXPECT(&scene,
           "\n"
           "06:05:04\n"
           "    target:          cat (4242)\n"
           "    ffffffff81100020 try_to_wake_up+0x20_[k]\n"
           "    ffffffff81100030 write_pipe+0x30_[k]\n"
           "    --\n"
           "    401200           send+0x4\n"
           "    401300           loop+0x8\n"
           "    waker:           yes (77)\n"
           "        12345\n"
           "\n", WAKES, BOTH, .delimited = true, .verbose = true, .offset = true,
           .annotations = true, .timestamp = true);
}

TEST(wakeuptime_folded)
{
    AUTO_SCENE scene = one_wake_up(12345678);

    EXPECT(&scene, "yes;loop;send;write_pipe;try_to_wake_up;cat 12345\n", WAKES, AS_FOLDED, BOTH);
    EXPECT(&scene, "06:05:04;yes;loop+0x8;send+0x4;-;write_pipe+0x30_[k];try_to_wake_up+0x20_[k];"
                   "cat 12345\n", WAKES, AS_FOLDED, BOTH, .delimited = true, .offset = true,
           .annotations = true, .time_as_root = true, .timestamp = true);
}

TEST(offwaketime_text)
{
    AUTO_SCENE scene = one_wake(12345678);

    EXPECT(&scene,
           "\n"
           "    waker:           yes (77)\n"
           "    loop\n"
           "    send\n"
           "    write_pipe\n"
           "    try_to_wake_up\n"
           "    --               --\n"
           "    __schedule\n"
           "    read_pipe\n"
           "    libc.so.6+0x114992\n"
           "    main\n"
           "    target:          cat (4242)\n"
           "        12345\n"
           "\n", BOTH_SIDES, BOTH);
    EXPECT(&scene,
           "\n"
           "06:05:04\n"
           "    waker:           yes (77)\n"
           "    401300           loop+0x8\n"
           "    401200           send+0x4\n"
           "    -\n"
           "    ffffffff81100030 write_pipe+0x30_[k]\n"
           "    ffffffff81100020 try_to_wake_up+0x20_[k]\n"
           "    --               --\n"
           "    ffffffff81a00010 __schedule+0x10_[k]\n"
           "    ffffffffc0201002 read_pipe+0x2 [mod]_[k]\n"
           "    -\n"
           "    7f1122334455     libc.so.6+0x114992\n"
           "    401136           main+0x1f\n"
           "    target:          cat (4242)\n"
           "        12345\n"
           "\n", BOTH_SIDES, BOTH, .delimited = true, .verbose = true, .offset = true,
           .annotations = true, .timestamp = true);
}

TEST(offwaketime_folded)
{
    AUTO_SCENE scene = one_wake(12345678);

    EXPECT(&scene, "cat;main;[libc.so.6];read_pipe;__schedule;--;"
                   "try_to_wake_up;write_pipe;send;loop;yes 12345\n", BOTH_SIDES, AS_FOLDED, BOTH);
    EXPECT(&scene, "06:05:04;cat;main+0x1f;[libc.so.6];-;read_pipe+0x2_[k];__schedule+0x10_[k];--;"
                   "try_to_wake_up+0x20_[k];write_pipe+0x30_[k];-;send+0x4;loop+0x8;yes 12345\n",
           BOTH_SIDES, AS_FOLDED, BOTH, .delimited = true, .offset = true, .annotations = true,
           .time_as_root = true, .timestamp = true);
}

TEST(nobody_woke_it)
{
    AUTO_SCENE scene = {0};
    struct names n = add_names(&scene);

    add_entry(&scene, 5000, 7, "cat", FRAMES(n.schedule), FRAMES(n.main_));
    /* A waker may be named "[no waker]": its block is not that of waits without one. */
    struct tally_entry *named = add_entry(&scene, 6000, 7, "cat", FRAMES(n.schedule), FRAMES(n.main_));
    add_waker(&scene, named, 8, "[no waker]", NO_FRAMES, NO_FRAMES);
    EXPECT(&scene,
           "\n"
           "    waker:           [no waker]\n"
           "    --               --\n"
           "    __schedule\n"
           "    main\n"
           "    target:          cat (7)\n"
           "        5\n"
           "\n"
           "    waker:           [no waker] (8)\n"
           "    [no stack]\n"
           "    --               --\n"
           "    __schedule\n"
           "    main\n"
           "    target:          cat (7)\n"
           "        6\n"
           "\n", BOTH_SIDES, BOTH);
    EXPECT(&scene, "cat;main;__schedule;--;[no waker] 5\n"
                   "cat;main;__schedule;--;[no stack];[no waker] 6\n", BOTH_SIDES, AS_FOLDED, BOTH);
    EXPECT(&scene,
           "\n"
           "    target:          cat (7)\n"
           "    waker:           [no waker]\n"
           "        5\n"
           "\n"
           "    target:          cat (7)\n"
           "    [no stack]\n"
           "    waker:           [no waker] (8)\n"
           "        6\n"
           "\n", WAKES, BOTH);
    EXPECT(&scene, "[no waker];cat 5\n[no waker];[no stack];cat 6\n", WAKES, AS_FOLDED, BOTH);
}

/* With -d there is a delimiter if both stacks have frames, and nowhere else. */
TEST(one_side_empty)
{
    AUTO_SCENE scene = {0};
    struct names n = add_names(&scene);
    struct tally_entry *entry = add_entry(&scene, 1000, 2, "kthread", FRAMES(n.schedule), NO_FRAMES);

    add_waker(&scene, entry, 9, "yes", NO_FRAMES, FRAMES(n.loop));
    EXPECT(&scene, "\n    __schedule\n    -                kthread (2)\n        1\n\n", WAITS, BOTH,
           .delimited = true);
    EXPECT(&scene, "kthread;__schedule 1\n", WAITS, AS_FOLDED, BOTH, .delimited = true);
    EXPECT(&scene, "\n    target:          kthread (2)\n    loop\n    waker:           yes (9)\n"
                   "        1\n\n", WAKES, BOTH, .delimited = true);
    EXPECT(&scene, "yes;loop;kthread 1\n", WAKES, AS_FOLDED, BOTH, .delimited = true);
    EXPECT(&scene,
           "\n"
           "    waker:           yes (9)\n"
           "    loop\n"
           "    --               --\n"
           "    __schedule\n"
           "    target:          kthread (2)\n"
           "        1\n"
           "\n", BOTH_SIDES, BOTH, .delimited = true);
    EXPECT(&scene, "kthread;__schedule;--;loop;yes 1\n", BOTH_SIDES, AS_FOLDED, BOTH,
           .delimited = true);
}

TEST(no_stacks)
{
    AUTO_SCENE scene = {0};
    struct tally_entry *entry = add_entry(&scene, 1000, 2, "cat", NO_FRAMES, NO_FRAMES);

    add_waker(&scene, entry, 9, "yes", NO_FRAMES, NO_FRAMES);
    EXPECT(&scene, "\n    [no stack]\n    -                cat (2)\n        1\n\n", WAITS, BOTH,
           .delimited = true, .verbose = true);
    EXPECT(&scene, "\n    [no user stack]\n    -                cat (2)\n        1\n\n", WAITS,
           .user = true);
    EXPECT(&scene, "cat;[no kernel stack] 1\n", WAITS, AS_FOLDED, .kernel = true);
    EXPECT(&scene, "\n    target:          cat (2)\n    [no kernel stack]\n    waker:           yes (9)\n"
                   "        1\n\n", WAKES, .kernel = true);
    EXPECT(&scene, "yes;[no user stack];cat 1\n", WAKES, AS_FOLDED, .user = true);
    EXPECT(&scene,
           "\n"
           "    waker:           yes (9)\n"
           "    [no stack]\n"
           "    --               --\n"
           "    [no stack]\n"
           "    target:          cat (2)\n"
           "        1\n"
           "\n", BOTH_SIDES, BOTH, .delimited = true);
    EXPECT(&scene, "cat;[no user stack];--;[no user stack];yes 1\n", BOTH_SIDES, AS_FOLDED,
           .user = true, .delimited = true);
}

TEST(lost_stacks)
{
    AUTO_SCENE scene = {0};
    struct names n = add_names(&scene);
    struct tally_entry *entry = add_entry(&scene, 1000, 2, "cat", NO_FRAMES, FRAMES(n.main_));

    entry->task.kernel.state = STACK_FULL;
    add_waker(&scene, entry, 9, "yes", FRAMES(n.wake_up), NO_FRAMES);
    entry->waker.user.state = STACK_FULL;
    EXPECT(&scene,
           "\n"
           "    waker:           yes (9)\n"
           "    [stack storage full]\n"
           "    -\n"
           "    try_to_wake_up\n"
           "    --               --\n"
           "    [stack storage full]\n"
           "    -\n"
           "    main\n"
           "    target:          cat (2)\n"
           "        1\n"
           "\n", BOTH_SIDES, BOTH, .delimited = true);
    EXPECT(&scene, "cat;main;[stack storage full];--;try_to_wake_up;[stack storage full];yes 1\n",
           BOTH_SIDES, AS_FOLDED, BOTH);
    EXPECT(&scene, "cat;main;[stack storage full] 1\n", WAITS, AS_FOLDED, BOTH);
    EXPECT(&scene, "yes;[stack storage full];try_to_wake_up;cat 1\n", WAKES, AS_FOLDED, BOTH);
    EXPECT(&scene, "\n    target:          cat (2)\n    try_to_wake_up\n    --\n"
                   "    [stack storage full]\n    waker:           yes (9)\n        1\n\n", WAKES, BOTH,
           .delimited = true);
}

TEST(nothing_counted)
{
    struct scene scene = {0};

    EXPECT(&scene, "\n", SAMPLES, BOTH);
    EXPECT(&scene, "\n", WAKES, BOTH, .by = GROUP_BY_NAME);
    EXPECT(&scene, "\n06:05:04\n", BOTH_SIDES, BOTH, .timestamp = true);
    EXPECT(&scene, "", SAMPLES, AS_FOLDED, BOTH);
    EXPECT(&scene, "", WAKES, AS_FOLDED, BOTH, .time_as_root = true);
    EXPECT(&scene, "", BOTH_SIDES, AS_FOLDED, BOTH, .by = GROUP_BY_NAME);
}

TEST_MAIN
