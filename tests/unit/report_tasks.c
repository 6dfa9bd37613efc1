/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The tasks of blocks, in profile and the applets of waits: numbers, names, marks, order. */
#include "unit/report_waits.h"

TEST(marks)
{
    AUTO_SCENE scene = {0};
    struct names n = add_names(&scene);

    add_entry(&scene, 1000, 7, "cat", FRAMES(n.schedule), FRAMES(n.main_));
    add_entry(&scene, 3000, 7, "cat", FRAMES(n.schedule), FRAMES(n.main_))->mark = MARK_UNFINISHED;
    add_entry(&scene, 2000, 7, "cat", FRAMES(n.schedule), FRAMES(n.main_))->mark = MARK_UNFINISHED;
    add_entry(&scene, 9000, 7, "cat", FRAMES(n.schedule), NO_FRAMES)->mark = MARK_ALL_ALONG;
    EXPECT(&scene,
           "\n"
           "    __schedule\n    main\n    -                cat (7)\n        1\n\n"
           "    __schedule\n    main\n    [unfinished]\n    -                cat (7)\n"
           "        5\n\n"
           "    __schedule\n    [blocked all along]\n    -                cat (7)\n"
           "        9\n\n", WAITS, BOTH);
    EXPECT(&scene, "cat;main;__schedule 1\ncat;[unfinished];main;__schedule 5\n"
                   "cat;[blocked all along];__schedule 9\n", WAITS, AS_FOLDED, BOTH);
    EXPECT(&scene, "06:05:04;cat;main;-;__schedule 1\n"
                   "06:05:04;cat;[unfinished];main;-;__schedule 5\n"
                   "06:05:04;cat;[blocked all along];__schedule 9\n", WAITS, AS_FOLDED, BOTH,
           .time_as_root = true, .delimited = true);
    EXPECT(&scene,
           "\n"
           "    waker:           [no waker]\n"
           "    --               --\n"
           "    __schedule\n    main\n    target:          cat (7)\n        1\n\n"
           "    waker:           [no waker]\n"
           "    --               --\n"
           "    __schedule\n    main\n    [unfinished]\n    target:          cat (7)\n        5\n\n"
           "    waker:           [no waker]\n"
           "    --               --\n"
           "    __schedule\n    [blocked all along]\n    target:          cat (7)\n        9\n\n",
           BOTH_SIDES, BOTH);
    EXPECT(&scene, "cat;main;__schedule;--;[no waker] 1\n"
                   "cat;[unfinished];main;__schedule;--;[no waker] 5\n"
                   "cat;[blocked all along];__schedule;--;[no waker] 9\n", BOTH_SIDES, AS_FOLDED,
           BOTH);
    EXPECT(&scene, "[no waker];cat 1\n[no waker];[unfinished];cat 5\n"
                   "[no waker];[blocked all along];cat 9\n", WAKES, AS_FOLDED, BOTH);
    free_scene(&scene);

    /* And if there is no stack, or it was lost. */
    scene = (struct scene){0};
    add_entry(&scene, 1000, 7, "cat", NO_FRAMES, NO_FRAMES)->mark = MARK_ALL_ALONG;
    EXPECT(&scene, "\n    [no stack]\n    [blocked all along]\n    -                cat (7)\n"
                   "        1\n\n", WAITS, BOTH);
    EXPECT(&scene, "cat;[blocked all along];[no stack] 1\n", WAITS, AS_FOLDED, BOTH);
    scene.tally.entries[0].task.kernel.state = STACK_FULL;
    EXPECT(&scene, "cat;[blocked all along];[stack storage full] 1\n", WAITS, AS_FOLDED, BOTH);
}

/* Events without room for a count of their own are in the total, and belong to no task. */
TEST(table_full)
{
    AUTO_SCENE scene = {0};
    struct names n = add_names(&scene);

    add_entry(&scene, 2000, 7, "cat", FRAMES(n.schedule), NO_FRAMES);
    add_entry(&scene, 1000, 0, "", NO_FRAMES, NO_FRAMES)->mark = MARK_TABLE_FULL;
    add_entry(&scene, 4000, 0, "", NO_FRAMES, NO_FRAMES)->mark = MARK_TABLE_FULL;
    EXPECT(&scene,
           "\n"
           "    __schedule\n    -                cat (7)\n        2\n\n"
           "    [table full]\n        5\n\n", WAITS, BOTH);
    EXPECT(&scene, "cat;__schedule 2\n[table full] 5\n", WAITS, AS_FOLDED, BOTH);
    EXPECT(&scene, "06:05:04;cat;__schedule 2\n06:05:04;[table full] 5\n", WAITS, AS_FOLDED, BOTH,
           .time_as_root = true);
    EXPECT(&scene,
           "\n"
           "    waker:           [no waker]\n    --               --\n    __schedule\n"
           "    target:          cat (7)\n        2\n\n"
           "    [table full]\n        5\n\n", BOTH_SIDES, BOTH);
    EXPECT(&scene, "cat;__schedule;--;[no waker] 2\n[table full] 5\n", BOTH_SIDES, AS_FOLDED, BOTH);
    EXPECT(&scene, "[no waker];cat 2\n[table full] 5\n", WAKES, AS_FOLDED, BOTH);
}

TEST(tasks_elsewhere)
{
    AUTO_SCENE scene = {0};
    struct names n = add_names(&scene);

    add_entry(&scene, 1000, 7, "cat", FRAMES(n.schedule), NO_FRAMES)->task.foreign = true;
    struct tally_entry *entry = add_entry(&scene, 2000, 7, "cat", FRAMES(n.schedule), NO_FRAMES);
    add_waker(&scene, entry, 9, "yes", FRAMES(n.wake_up), NO_FRAMES);
    entry->waker.foreign = true;
    EXPECT(&scene,
           "\n"
           "    __schedule\n    -                cat (host 7)\n        1000\n\n"
           "    __schedule\n    -                cat (7)\n        2000\n\n", SAMPLES, BOTH);
    EXPECT(&scene, "cat;__schedule 3000\n", SAMPLES, AS_FOLDED, BOTH);
    EXPECT(&scene,
           "\n"
           "    waker:           [no waker]\n    --               --\n    __schedule\n"
           "    target:          cat (host 7)\n        1\n\n"
           "    waker:           yes (host 9)\n    try_to_wake_up\n    --               --\n"
           "    __schedule\n    target:          cat (7)\n        2\n\n", BOTH_SIDES, BOTH);
}

/* Threads of one process are blocks of their own only if threads are shown. */
TEST(threads_and_processes)
{
    AUTO_SCENE scene = {0};
    struct names n = add_names(&scene);

    add_entry(&scene, 1000, 7, "cat", FRAMES(n.schedule), NO_FRAMES)->task.tid = 100;
    add_entry(&scene, 2000, 7, "cat", FRAMES(n.schedule), NO_FRAMES)->task.tid = 101;
    EXPECT(&scene,
           "\n"
           "    __schedule\n    -                cat (7/100)\n        1\n\n"
           "    __schedule\n    -                cat (7/101)\n        2\n\n", WAITS, BOTH,
           .by = GROUP_BY_THREAD);
    EXPECT(&scene, "\n    __schedule\n    -                cat (7)\n        3000\n\n", SAMPLES, BOTH);
    EXPECT(&scene, "cat;__schedule 3\n", WAITS, AS_FOLDED, BOTH);
}

TEST(both_sides_have_numbers)
{
    struct scene scene = {0};
    struct names n = add_names(&scene);

    add_waker(&scene, add_entry(&scene, 1500, 7, "cat", NO_FRAMES, NO_FRAMES), 20, "yes",
              FRAMES(n.wake_up), NO_FRAMES);
    add_waker(&scene, add_entry(&scene, 1500, 8, "cat", NO_FRAMES, NO_FRAMES), 21, "yes",
              FRAMES(n.wake_up), NO_FRAMES);
    add_waker(&scene, add_entry(&scene, 1500, 8, "cat", NO_FRAMES, NO_FRAMES), 21, "no",
              FRAMES(n.wake_up), NO_FRAMES);
    add_waker(&scene, add_entry(&scene, 1500, 8, "dog", NO_FRAMES, NO_FRAMES), 21, "no",
              FRAMES(n.wake_up), NO_FRAMES);
#define WAKE(task, waker, value)                                                               \
    "    target:          " task "\n    try_to_wake_up\n    waker:           " waker "\n"        \
    "        " value "\n\n"
    EXPECT(&scene, "\n" WAKE("cat (7)", "yes (20)", "1") WAKE("cat (8)", "no (21)", "1")
           WAKE("cat (8)", "yes (21)", "1") WAKE("dog (8)", "no (21)", "1"), WAKES, BOTH);
    EXPECT(&scene, "\n" WAKE("cat (1 process)", "no (1 process)", "1")
           WAKE("dog (1 process)", "no (1 process)", "1")
           WAKE("cat (2 processes)", "yes (2 processes)", "3"), WAKES, BOTH, .by = GROUP_BY_NAME);
    EXPECT(&scene, "\n" WAKE("cat (7/8)", "yes (20/21)", "1") WAKE("cat (8/9)", "no (21/22)", "1")
           WAKE("cat (8/9)", "yes (21/22)", "1") WAKE("dog (8/9)", "no (21/22)", "1"), WAKES, BOTH,
           .by = GROUP_BY_THREAD);
    EXPECT(&scene, "yes (20);try_to_wake_up;cat (7) 1\nno (21);try_to_wake_up;cat (8) 1\n"
                   "yes (21);try_to_wake_up;cat (8) 1\nno (21);try_to_wake_up;dog (8) 1\n", WAKES,
           AS_FOLDED, BOTH, .by = GROUP_BY_PROCESS);
    EXPECT(&scene, "no;try_to_wake_up;cat 1\nno;try_to_wake_up;dog 1\nyes;try_to_wake_up;cat 3\n",
           WAKES, AS_FOLDED, BOTH);
    free_scene(&scene);
}

/* cat five times, by three processes and four threads, one of them outside; and a dog. */
static struct scene many_of_a_name(void)
{
    struct scene scene = {0};
    struct names n = add_names(&scene);

    for (uint32_t i = 0; i < 5; i++) {
        struct tally_entry *entry = add_entry(&scene, 1000, 7, "cat", FRAMES(n.schedule), NO_FRAMES);
        entry->task.tid = 30 + (i + 1) / 2;
        if (i == 3)
            entry->task.pid = 8;
        entry->task.foreign = i == 4;
        add_waker(&scene, entry, 20 + i / 4, "yes", FRAMES(n.wake_up), NO_FRAMES);
    }
    add_waker(&scene, add_entry(&scene, 500, 9, "dog", FRAMES(n.schedule), NO_FRAMES), 20, "yes",
              FRAMES(n.wake_up), NO_FRAMES);
    return scene;
}

TEST(names_for_processes)
{
    AUTO_SCENE scene = many_of_a_name();

    EXPECT(&scene,
           "\n"
           "  __schedule\n    dog (1 process)\n    500\n\n"
           "  __schedule\n    cat (3 processes)\n    5000\n\n", BOTH, .show_process = true,
           .by = GROUP_BY_NAME);
    EXPECT(&scene,
           "\n"
           "    __schedule\n    -                dog (1 process)\n        500\n\n"
           "    __schedule\n    -                cat (3 processes)\n        5000\n\n", SAMPLES,
           BOTH, .by = GROUP_BY_NAME);
    EXPECT(&scene,
           "\n"
           "    __schedule\n    -                dog (1 process)\n        0\n\n"
           "    __schedule\n    -                cat (3 processes)\n        5\n\n", WAITS, BOTH,
           .by = GROUP_BY_NAME);
    EXPECT(&scene,
           "\n"
           "    waker:           yes (1 process)\n    try_to_wake_up\n    --               --\n"
           "    __schedule\n    target:          dog (1 process)\n        0\n\n"
           "    waker:           yes (2 processes)\n    try_to_wake_up\n    --               --\n"
           "    __schedule\n    target:          cat (3 processes)\n        5\n\n", BOTH_SIDES, BOTH,
           .by = GROUP_BY_NAME);
    EXPECT(&scene, "dog;__schedule 500\ncat;__schedule 5000\n", SAMPLES, AS_FOLDED, BOTH,
           .by = GROUP_BY_NAME);
    EXPECT(&scene, "dog;__schedule 500\ncat;__schedule 5000\n", AS_FOLDED, BOTH, .by = GROUP_BY_NAME,
           .show_process = true);
    EXPECT(&scene, "dog;__schedule;--;try_to_wake_up;yes 0\n"
                   "cat;__schedule;--;try_to_wake_up;yes 5\n", BOTH_SIDES, AS_FOLDED, BOTH,
           .by = GROUP_BY_NAME);
    EXPECT(&scene, "yes;try_to_wake_up;dog 0\nyes;try_to_wake_up;cat 5\n", WAKES, AS_FOLDED, BOTH,
           .by = GROUP_BY_NAME);
    EXPECT(&scene, "\n  __schedule\n    5500\n\n", BOTH, .by = GROUP_BY_NAME);
}

/* An interrupt has no pid; the thread that it hit follows it if that is asked for. */
TEST(interrupts)
{
    AUTO_SCENE scene = {0};
    struct names n = add_names(&scene);
    struct tally_entry *first = add_entry(&scene, 1000, 7, "cat", FRAMES(n.schedule), NO_FRAMES);

    add_waker(&scene, first, 0, "", FRAMES(n.wake_up), NO_FRAMES);
    first->waker.interrupt = INTERRUPT_TIMER;
    EXPECT(&scene, "\n    target:          cat (7)\n    try_to_wake_up\n"
                   "    waker:           [timer interrupt]\n        1\n\n", WAKES, BOTH);
    EXPECT(&scene, "[timer interrupt];try_to_wake_up;cat (7) 1\n", WAKES, AS_FOLDED, BOTH,
           .by = GROUP_BY_PROCESS);
    EXPECT(&scene, "cat;__schedule;--;try_to_wake_up;[timer interrupt] 1\n", BOTH_SIDES, AS_FOLDED, BOTH);
    snprintf(scene.tally.entries[0].waker.comm, COMM_BYTES, "cc1");
    EXPECT(&scene, "[timer interrupt] on cc1;try_to_wake_up;cat (7/8) 1\n", WAKES, AS_FOLDED, BOTH,
           .by = GROUP_BY_THREAD);
}

TEST(nobody_by_name)
{
    AUTO_SCENE scene = {0};
    struct names n = add_names(&scene);

    add_entry(&scene, 1000, 7, "cat", FRAMES(n.schedule), NO_FRAMES);
    add_entry(&scene, 1000, 8, "cat", FRAMES(n.schedule), NO_FRAMES);
    EXPECT(&scene,
           "\n"
           "    waker:           [no waker]\n    --               --\n    __schedule\n"
           "    target:          cat (2 processes)\n        2\n\n", BOTH_SIDES, BOTH,
           .by = GROUP_BY_NAME);
}

/* Names at the end of a line are its last frame, and no frame contains a separator. */
TEST(bytes_in_names)
{
    AUTO_SCENE scene = {0};
    struct names n = add_names(&scene);
    uint32_t numbered = add_symbol(&scene, true, 1, "f 12", "", 0);

    add_waker(&scene, add_entry(&scene, 1000, 7, "c;t 1\n", FRAMES(numbered), NO_FRAMES), 9,
              "y;s 22", FRAMES(numbered), FRAMES(n.loop));
    EXPECT(&scene,
           "\n"
           "    waker:           y;s 22 (9)\n    loop\n    f 12\n    --               --\n"
           "    f 12\n    target:          c;t 1\\x0a (7)\n        1\n\n", BOTH_SIDES, BOTH);
    EXPECT(&scene, "c:t 1\\x0a;f 12;--;f 12;loop;y:s_22 1\n", BOTH_SIDES, AS_FOLDED, BOTH);
    EXPECT(&scene, "y:s 22;loop;f 12;c:t 1\\x0a 1\n", WAKES, AS_FOLDED, BOTH);
    EXPECT(&scene, "c:t 1\\x0a;f_12 1\n", WAITS, AS_FOLDED, BOTH);
    EXPECT(&scene, "\n    target:          c;t 1\\x0a (7)\n    f 12\n    loop\n"
                   "    waker:           y;s 22 (9)\n        1\n\n", WAKES, BOTH);
    free_scene(&scene);

    /* Replacements can make lines equal, and then they are one. */
    scene = (struct scene){0};
    n = add_names(&scene);
    add_waker(&scene, add_entry(&scene, 1000, 7, "a 1", FRAMES(n.schedule), NO_FRAMES), 9, "b 1",
              FRAMES(n.wake_up), NO_FRAMES);
    add_waker(&scene, add_entry(&scene, 2000, 7, "a_1", FRAMES(n.schedule), NO_FRAMES), 9, "b 1",
              FRAMES(n.wake_up), NO_FRAMES);
    add_waker(&scene, add_entry(&scene, 4000, 7, "a 1", FRAMES(n.schedule), NO_FRAMES), 9, "b_1",
              FRAMES(n.wake_up), NO_FRAMES);
    add_waker(&scene, add_entry(&scene, 8000, 7, "", FRAMES(n.schedule), NO_FRAMES), 9, "",
              FRAMES(n.wake_up), NO_FRAMES);
    EXPECT(&scene, "b 1;try_to_wake_up;a_1 3\nb_1;try_to_wake_up;a_1 4\n"
                   "[unknown];try_to_wake_up;[unknown] 8\n", WAKES, AS_FOLDED, BOTH);
    EXPECT(&scene, "a_1;__schedule;--;try_to_wake_up;b_1 2\n"
                   "a 1;__schedule;--;try_to_wake_up;b_1 5\n"
                   "[unknown];__schedule;--;try_to_wake_up;[unknown] 8\n", BOTH_SIDES, AS_FOLDED,
           BOTH);
}

/* By value, then the target's name and number, then the waker's. */
TEST(order_of_blocks)
{
    struct scene scene = {0};
    struct names n = add_names(&scene);
    static const struct {
        const char *task, *waker;
        uint32_t pid, waker_pid;
    } cases[] = {
        {"b", "a", 1, 1}, {"a", "b", 1, 1}, {"a", "a", 2, 1}, {"a", "a", 1, 2}, {"a", "a", 1, 1},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++)
        add_waker(&scene, add_entry(&scene, 1000 + i, cases[i].pid, cases[i].task,
                                    FRAMES(n.schedule), NO_FRAMES),
                  cases[i].waker_pid, cases[i].waker, FRAMES(n.wake_up), NO_FRAMES);
    struct report_options options = {BOTH_SIDES, BOTH, .top = 4};
    struct report_summary summary;
#define BLOCK(waker, task)                                                                     \
    "    waker:           " waker "\n    try_to_wake_up\n    --               --\n"            \
    "    __schedule\n    target:          " task "\n        1\n\n"
    expect_all(&scene, options,
               "\n" BLOCK("a (2)", "a (1)") BLOCK("b (1)", "a (1)") BLOCK("a (1)", "a (2)")
               BLOCK("a (1)", "b (1)"), &summary);
    CHECK_NUMBER(summary.left_blocks, 1);
    CHECK_NUMBER(summary.left_value, 1);
    free_scene(&scene);
}

TEST_MAIN
