/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Mappings over mappings, compared with a table that has an entry for every address. */
#include "processes/image.h"

#include "test.h"

#define ADDRESSES 64
#define FILES 5

static struct mapped_files *files;
static struct mapped_file *some[FILES];

static void make_files(void)
{
    static const char *const names[FILES] = {"[a]", "[b]", "[c]", "[d]", "[e]"};

    CHECK_NUMBER(mapped_files_open(&files), 0);
    for (size_t i = 0; i < FILES; i++) {
        const struct mapped_sight sight = {.path = names[i]};
        some[i] = mapped_files_see(files, &sight);
        CHECK(some[i] && some[i]->references == 1);
    }
}

static int add(struct image **image, uint64_t start, uint64_t end, uint64_t offset, size_t file)
{
    const struct mapping mapping = {start, end, offset, some[file]};

    mapped_file_hold(some[file]);
    return image_add(image, files, &mapping);
}

struct expected {
    const struct mapped_file *file;
    uint64_t offset;
};

static void check_image(const struct image *image, const struct expected *expected)
{
    for (uint64_t address = 0; address < ADDRESSES; address++) {
        const struct mapping *mapping = image_find(image, address);
        CHECK((mapping ? mapping->file : NULL) == expected[address].file);
        if (mapping && expected[address].file)
            CHECK_NUMBER(address - mapping->start + mapping->offset, expected[address].offset);
    }
    for (size_t i = 0; i < image->count; i++)
        CHECK(image->mappings[i].start < image->mappings[i].end &&
              (!i || image->mappings[i - 1].end <= image->mappings[i].start));
}

/* Each remaining mapping holds one reference to its file, and there are no other references. */
static void check_references(const struct image *const *images, size_t count)
{
    for (size_t file = 0; file < FILES; file++) {
        size_t references = 1;
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; images[i] && j < images[i]->count; j++)
                references += images[i]->mappings[j].file == some[file];
        CHECK_NUMBER(some[file]->references, references);
    }
}

TEST(the_newest_wins)
{
    srand(7);
    for (int round = 0; round < 2000 && !test_failures_here; round++) {
        struct expected expected[ADDRESSES] = {{.file = NULL}};
        struct image *image = image_make();
        for (int i = rand() % 30; i >= 0; i--) {
            uint64_t start = (uint64_t)rand() % (ADDRESSES - 1);
            uint64_t end = start + 1 + (uint64_t)rand() % (ADDRESSES - start);
            size_t file = (size_t)rand() % FILES;
            CHECK_NUMBER(add(&image, start, end, 1000, file), 0);
            for (uint64_t address = start; address < end && address < ADDRESSES; address++)
                expected[address] = (struct expected){some[file], 1000 + address - start};
        }
        check_image(image, expected);
        check_references((const struct image *const[]){image}, 1);
        image_drop(image, files);
        check_references(NULL, 0);
    }
}

TEST(what_is_shared_is_copied)
{
    struct image *parent = image_make(), *child = parent;

    CHECK_NUMBER(add(&parent, 10, 20, 0, 0), 0);
    image_hold(child);
    CHECK(parent == child);
    CHECK_NUMBER(add(&child, 15, 30, 0, 1), 0);
    CHECK(parent != child);
    CHECK_NUMBER(parent->references, 1);
    CHECK_NUMBER(child->references, 1);
    CHECK(image_find(parent, 15)->file == some[0]);
    CHECK(image_find(child, 14)->file == some[0] && image_find(child, 15)->file == some[1]);
    CHECK(!image_find(parent, 20) && !image_find(child, 30) && !image_find(child, 9));
    check_references((const struct image *const[]){parent, child}, 2);
    image_drop(parent, files);
    check_references((const struct image *const[]){child}, 1);
    image_drop(child, files);
}

TEST(the_ends_of_memory)
{
    struct image *image = image_make();

    CHECK(!image_find(image, 0) && !image_find(image, UINT64_MAX));
    CHECK_NUMBER(add(&image, 0, UINT64_MAX, 0, 0), 0);
    CHECK(image_find(image, 0) && image_find(image, UINT64_MAX - 1));
    CHECK(!image_find(image, UINT64_MAX));
    CHECK_NUMBER(add(&image, UINT64_MAX - 1, UINT64_MAX, UINT64_MAX, 1), 0);
    CHECK(image_find(image, UINT64_MAX - 1)->file == some[1]);
    CHECK_NUMBER(image->count, 2);
    image_drop(image, files);
}

TEST(there_is_a_bound)
{
    struct image *image = image_make();
    uint64_t at;

    for (at = 0; at < IMAGE_MAPPINGS; at++)
        if (add(&image, at * 2, at * 2 + 1, 0, (size_t)at % FILES))
            break;
    CHECK_NUMBER(at, IMAGE_MAPPINGS);
    CHECK_NUMBER(add(&image, at * 2, at * 2 + 1, 0, 0), -ENOSPC);
    CHECK_NUMBER(image->count, IMAGE_MAPPINGS);
    CHECK(image_bytes(image) <= IMAGE_MAPPINGS * 2 * sizeof(struct mapping));
    check_references((const struct image *const[]){image}, 1);
    image_drop(image, files);
}

int main(void)
{
    make_files();
    run_tests();
    for (size_t i = 0; i < FILES; i++)
        mapped_file_drop(files, some[i]);
    mapped_files_close(files);
    return tests_done();
}
