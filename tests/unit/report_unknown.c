/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Unknown frames on top of each other become one that says how many: in every format. */
#include "unit/report_scene.h"

/* Three entries of one process: two of them differ only in the addresses of their unknown frames. */
static struct scene make_scene(void)
{
    struct scene scene = {0};
    uint32_t kernel = add_symbol(&scene, true, 0xffffffff81000000, "vfs_read", NULL, 0);
    uint32_t hidden = add_symbol(&scene, true, 0xffffffff81000100, NULL, NULL, 0);
    uint32_t main = add_symbol(&scene, false, 0x1000, "main", "prog", 0);
    uint32_t unknown[5];

    for (uint64_t i = 0; i < COUNT_OF(unknown); i++)
        unknown[i] = add_symbol(&scene, false, 0x2000 + i, NULL, NULL, 0);
    add_entry(&scene, 1, 7, "x", FRAMES(kernel, hidden, hidden),
              FRAMES(unknown[0], unknown[1], unknown[2], main, unknown[3]));
    add_entry(&scene, 2, 7, "x", FRAMES(kernel, hidden, hidden),
              FRAMES(unknown[2], unknown[3], unknown[4], main, unknown[0]));
    add_entry(&scene, 4, 7, "x", FRAMES(kernel), FRAMES(unknown[0], unknown[1]));
    for (size_t i = 0; i < scene.tally.count; i++)
        scene.tally.entries[i].events = scene.tally.entries[i].value;
    return scene;
}

TEST(text)
{
    AUTO_SCENE scene = make_scene();

    EXPECT(&scene,
           "\n"
           "  vfs_read\n"
           "  [unknown]\n"
           "  [unknown]\n"
           "  [unknown] (3 frames)\n"
           "  main\n"
           "  [unknown]\n"
           "    x (7)\n"
           "    3\n"
           "\n"
           "  vfs_read\n"
           "  [unknown] (2 frames)\n"
           "    x (7)\n"
           "    4\n"
           "\n", TEXT, BOTH);
}

/* With -v addresses are shown. */
TEST(text_with_addresses)
{
    AUTO_SCENE scene = make_scene();

    scene.tally.count = 1;
    EXPECT(&scene,
           "\n"
           "  ffffffff81000000 vfs_read\n"
           "  ffffffff81000100 [unknown]\n"
           "  ffffffff81000100 [unknown]\n"
           "  2000             [unknown]\n"
           "  2001             [unknown]\n"
           "  2002             [unknown]\n"
           "  1000             main\n"
           "  2003             [unknown]\n"
           "    x (7)\n"
           "    1\n"
           "\n", TEXT, BOTH, .verbose = true);
}

TEST(folded_and_flat)
{
    AUTO_SCENE scene = make_scene();

    EXPECT(&scene,
           "x;[unknown];main;[unknown] (3 frames);[unknown];[unknown];vfs_read 3\n"
           "x;[unknown] (2 frames);vfs_read 4\n", FOLDED, BOTH);
    EXPECT(&scene,
           "  self%  total%  of 7 samples\n"
           " 100.00  100.00  vfs_read\n"
           "   0.00   57.14  [unknown] (2 frames)\n"
           "   0.00   42.86  [unknown]\n"
           "   0.00   42.86  [unknown] (3 frames)\n"
           "   0.00   42.86  main\n", .format = REPORT_FLAT, BOTH);
}

static char *written(const struct scene *scene, struct report_options options, size_t *length)
{
    struct report_summary summary;
    char *bytes = NULL;
    FILE *out = open_memstream(&bytes, length);

    CHECK_NUMBER(report_write(out, &scene->tally, &scene->symbols, &options, &six_oclock, &summary), 0);
    fclose(out);
    return bytes;
}

TEST(pictures_and_json)
{
    static const struct report_options formats[] = {
        {.format = REPORT_SVG, BOTH}, {.format = REPORT_SPEEDSCOPE, BOTH},
        {.format = REPORT_PPROF, .measure = {.events = "samples"}, BOTH}};
    static const char *const names[] = {"[unknown] (3 frames)", "[unknown] (2 frames)"};

    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        AUTO_SCENE scene = make_scene();
        size_t length;
        char *bytes = written(&scene, formats[i], &length);
        for (size_t name = 0; name < COUNT_OF(names); name++)
            CHECK(memmem(bytes, length, names[name], strlen(names[name])));
        free(bytes);
    }
}

TEST_MAIN
