/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Separate debug files: where they are found, which are refused, and what they name. */
#include "elf/debug_files.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "elf_image.h"
#include "test.h"

#define FUNCTION_OFFSET 0x40
#define LENGTH 0xc00
#define ID "\xab\x01\x02\x03\x04\x05\x06\x07"
#define ID_PATH "/usr/lib/debug/.build-id/ab/01020304050607.debug"

struct plan {
    uint64_t text;       /* address */
    const char *id;      /* eight bytes, or NULL */
    const char *link;    /* or NULL */
    uint32_t checksum;   /* that belongs to it */
    const char *name;    /* of the only function in .symtab; NULL: only .dynsym, with "exported" */
};

static void make_file(struct image *image, const struct plan *plan)
{
    static const char names[] =
        "\0.text\0.note.gnu.build-id\0.gnu_debuglink\0.symtab\0.strtab\0.shstrtab";
    const struct image_segment segment = {1, 0x200, plan->text, 0x100};
    const size_t link_size = plan->link ? strlen(plan->link) / 4 * 4 + 8 : 0;
    const bool full = plan->name;

    image_make(image, true, false, 0x40, 56, &segment, 1, LENGTH);
    image_put(image, 18, 2, 62);
    if (plan->id) {
        image_put(image, 0x400, 4, 4);
        image_put(image, 0x404, 4, 8);
        image_put(image, 0x408, 4, 3);
        memcpy(image->bytes + 0x40c, "GNU", 4);
        memcpy(image->bytes + 0x410, plan->id, 8);
    }
    if (plan->link) {
        memcpy(image->bytes + 0x440, plan->link, strlen(plan->link));
        image_put(image, 0x440 + link_size - 4, 4, plan->checksum);
    }
    image_put_symbol(image, 0x598, 1, plan->text + (full ? FUNCTION_OFFSET : 0x80), 16, 0x12, 1);
    strcpy((char *)image->bytes + 0x601, full ? plan->name : "exported");
    memcpy(image->bytes + 0x680, names, sizeof(names));
    const struct image_section sections[] = {
        {0},
        {1, 1, 6, plan->text, 0x200, 0x100, 0, 0, 0},
        {7, 7, 2, 0, 0x400, plan->id ? 24 : 0, 0, 0, 0},
        {26, 1, 0, 0, 0x440, link_size, 0, 0, 0},
        {41, full ? 2 : 11, 0, 0, 0x580, 48, 5, 1, 24},
        {49, 3, 0, 0, 0x600, 0x60, 0, 0, 0},
        {57, 3, 0, 0, 0x680, sizeof(names), 0, 0, 0},
    };
    image_put_sections(image, 0x800, sections, COUNT_OF(sections));
}

/* By its definition, bit by bit. */
static uint32_t checksum_of(const struct image *image)
{
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < image->length; i++) {
        crc ^= image->bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
    }
    return ~crc;
}

static char top[] = "/tmp/debug_files.XXXXXX";

/* Writes an image below `top`, with the directories that it needs. */
static void put_file(const struct image *image, const char *path)
{
    char whole[PATH_MAX];

    snprintf(whole, sizeof(whole), "%s%s", top, path);
    for (char *at = whole + strlen(top) + 1; (at = strchr(at, '/')); *at++ = '/') {
        *at = '\0';
        mkdir(whole, 0700);
    }
    AUTO_FD fd = open(whole, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, image->bytes, image->length) != (ssize_t)image->length)
        WRONG("a file");
}

static void clear_top(void)
{
    char command[PATH_MAX];

    snprintf(command, sizeof(command), "rm -rf %s/*", top);
    CHECK_NUMBER(system(command), 0);
}

static const char *below(const char *path)
{
    static char whole[2][PATH_MAX];
    static int turn;

    turn = !turn;
    snprintf(whole[turn], sizeof(whole[turn]), "%s%s", top, path);
    return whole[turn];
}

/* The names at the function that only the debug file has, and at the exported one. */
static void check(const struct plan *plan, const struct debug_search *where, const char *name)
{
    const uint64_t addresses[] = {plan->text + FUNCTION_OFFSET + 5, plan->text + 0x84,
                                  plan->text + 0xa0};
    struct elf_found found[COUNT_OF(addresses)] = {0};
    struct image image;

    make_file(&image, plan);
    AUTO_ELF elf = open_image(&image);
    CHECK_NUMBER(debug_files_find(&elf, where, addresses, COUNT_OF(addresses), found), 0);
    CHECK_STRING(found[0].found ? found[0].name.data : "-", name);
    CHECK(!found[0].found || found[0].start == plan->text + FUNCTION_OFFSET);
    CHECK_STRING(found[1].found ? found[1].name.data : "-", plan->name ? "-" : "exported");
    CHECK(!found[2].found);
    elf_found_free(found, COUNT_OF(addresses));
}

TEST(by_build_id)
{
    const struct plan main = {.text = 0x1000, .id = ID};
    struct plan debug = {.text = 0x1000, .id = ID, .name = "in_root"};
    struct image image;
    char root[PATH_MAX], symfs[PATH_MAX];

    snprintf(root, sizeof(root), "%s/root", top);
    snprintf(symfs, sizeof(symfs), "%s/symfs", top);
    const struct debug_search both = {symfs, root, "/bin/main", NULL, false, NULL};
    const struct debug_search one = {.root = root};
    clear_top();
    check(&main, &both, "-");
    check(&main, NULL, "-");
    make_file(&image, &debug);
    put_file(&image, "/root" ID_PATH);
    check(&main, &both, "in_root");
    check(&main, &one, "in_root");
    check(&main, NULL, "-");
    debug.name = "in_symfs";
    make_file(&image, &debug);
    put_file(&image, "/symfs" ID_PATH);
    check(&main, &both, "in_symfs");
    check(&main, &one, "in_root");
    /* A file with another build id, or without .symtab, is skipped. */
    debug.id = "\xab\x01\x02\x03\x04\x05\x06\x08";
    make_file(&image, &debug);
    put_file(&image, "/symfs" ID_PATH);
    check(&main, &both, "in_root");
    debug.id = NULL;
    make_file(&image, &debug);
    put_file(&image, "/root" ID_PATH);
    check(&main, &both, "-");
    debug.id = ID;
    debug.name = NULL;
    make_file(&image, &debug);
    put_file(&image, "/root" ID_PATH);
    check(&main, &both, "-");
    /* And one for another machine. */
    debug.name = "other";
    make_file(&image, &debug);
    image_put(&image, 18, 2, 183);
    put_file(&image, "/root" ID_PATH);
    check(&main, &both, "-");
}

TEST(by_link)
{
    static const char *const places[] = {"/opt/dir/main.debug", "/opt/dir/.debug/main.debug",
                                         "/usr/lib/debug/opt/dir/main.debug"};
    const struct debug_search where = {.root = top, .path = "/opt/dir/main"};
    const struct debug_search elsewhere = {.root = top, .path = "/opt/main"};
    struct plan main = {.text = 0x1000, .link = "main.debug"};
    const struct plan debug = {.text = 0x1000, .name = "debugged"};
    struct image image;

    make_file(&image, &debug);
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        clear_top();
        put_file(&image, places[i]);
        main.checksum = checksum_of(&image);
        check(&main, &where, "debugged");
        check(&main, &elsewhere, "-");
        main.checksum ^= 0x100;
        check(&main, &where, "-");
    }
    main.checksum = checksum_of(&image);
    main.link = "../dir/.debug/main.debug"; /* a name, no path */
    clear_top();
    put_file(&image, places[1]);
    check(&main, &where, "-");
    main.link = "a"; /* one of each length that is padded differently */
    put_file(&image, "/opt/dir/a");
    check(&main, &where, "debugged");
    main.link = "ab";
    put_file(&image, "/opt/dir/ab");
    check(&main, &where, "debugged");
    main.link = "abc";
    put_file(&image, "/opt/dir/abc");
    check(&main, &where, "debugged");
    main.link = "..";
    check(&main, &where, "-");
    /* Different build ids count more than an equal checksum. */
    main = (struct plan){.text = 0x1000, .id = ID, .link = "x"};
    const struct plan other = {.text = 0x1000, .id = "another.", .name = "debugged"};
    make_file(&image, &other);
    main.checksum = checksum_of(&image);
    put_file(&image, "/opt/dir/x");
    check(&main, &where, "-");
}

TEST(unstripped_below_symfs)
{
    const struct debug_search where = {.symfs = top, .path = "/bin/main"};
    const struct debug_search root = {.root = top, .path = "/bin/main"};
    const struct plan main = {.text = 0x1000}, with_id = {.text = 0x1000, .id = ID};
    struct plan whole = {.text = 0x1000, .name = "unstripped"};
    struct image image;

    clear_top();
    make_file(&image, &whole);
    put_file(&image, "/bin/main");
    check(&main, &where, "unstripped");
    check(&main, &root, "-");
    whole.id = ID;
    make_file(&image, &whole);
    put_file(&image, "/bin/main");
    check(&with_id, &where, "unstripped");
    whole.id = "another.";
    make_file(&image, &whole);
    put_file(&image, "/bin/main");
    check(&with_id, &where, "-");
    whole.id = NULL;
    whole.text = 0x2000; /* another program */
    make_file(&image, &whole);
    put_file(&image, "/bin/main");
    check(&main, &where, "-");
}

/* One of the two files has other addresses. */
TEST(prelinked)
{
    const struct debug_search where = {.root = top};
    const struct plan low = {.text = 0x1000, .id = ID}, high = {.text = 0x3000001000, .id = ID};
    struct plan debug = {.text = 0x1000, .id = ID, .name = "function"};
    struct image image;

    clear_top();
    make_file(&image, &debug);
    put_file(&image, ID_PATH);
    check(&high, &where, "function");
    debug.text = 0x41000;
    make_file(&image, &debug);
    put_file(&image, ID_PATH);
    check(&low, &where, "function");
    debug.text = 0xfffffffffffff000; /* their sum must not wrap into another order */
    make_file(&image, &debug);
    put_file(&image, ID_PATH);
    check(&low, &where, "function");
}

/*
 * A container's symlink resolves inside the container, and opening something that is not a regular
 * file does not block.
 */
TEST(hostile_places)
{
    const struct debug_search where = {.root = top, .path = "/bin/main"};
    const struct plan main = {.text = 0x1000, .id = ID, .link = "fifo"};
    const struct plan debug = {.text = 0x1000, .id = ID, .name = "within"};
    struct image image;

    clear_top();
    make_file(&image, &debug);
    put_file(&image, "/real/file");
    put_file(&image, "/usr/lib/debug/.build-id/ab/x");
    CHECK_NUMBER(symlink("/real/file", below(ID_PATH)), 0);
    check(&main, &where, "within");
    CHECK_NUMBER(unlink(below(ID_PATH)), 0);
    CHECK_NUMBER(mkfifo(below(ID_PATH), 0600), 0);
    put_file(&image, "/bin/x");
    CHECK_NUMBER(mkfifo(below("/bin/fifo"), 0600), 0);
    check(&main, &where, "-");
    CHECK_NUMBER(unlink(below(ID_PATH)), 0);
    CHECK_NUMBER(mkdir(below(ID_PATH), 0700), 0);
    check(&main, &where, "-");
    const struct debug_search nowhere = {"/nowhere", "", "", NULL, false, NULL};
    const struct debug_search odd = {"", "/proc/self/exe", "main", NULL, false, NULL};
    check(&main, &nowhere, "-");
    check(&main, &odd, "-");
}

TEST(own_symbols_first)
{
    const struct debug_search where = {.root = top};
    const struct plan main = {.text = 0x1000, .id = ID, .name = "own"};
    const struct plan debug = {.text = 0x1000, .id = ID, .name = "other"};
    struct image image;

    clear_top();
    make_file(&image, &debug);
    put_file(&image, ID_PATH);
    check(&main, &where, "own");
}

int main(void)
{
    if (!mkdtemp(top))
        return 1;
    run_tests();
    clear_top();
    rmdir(top);
    return tests_done();
}
