/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The view of an ELF file: addresses in hand-made files, and files that contradict themselves. */
#include "elf/elf.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "elf_image.h"
#include "test.h"

/* Address minus offset differs in each segment; the bytes between segments are not loaded. */
static const struct image_segment segments[] = {
    {6, 64, 0x400040, 0x1000},            /* the program headers */
    {1, 0, 0x400000, 0x234},              /* loaded */
    {4, 0x240, 0x500240, 0x40},           /* a note */
    {1, 0x1000, 0x402000, 0x1000},        /* loaded */
    {1, 0x2000, 0x404f00, 0},             /* loaded, nothing in the file */
    {1, 0x2100, 0x80405100, 0x20},        /* loaded */
    {0x6474e551, 0, 0, 0x7fffffff},       /* the stack's permissions */
};

static const struct {
    uint64_t offset;
    bool held;
    uint64_t address;
} places[] = {
    {0, true, 0x400000},       {0x233, true, 0x400233},    {0x234, false, 0},
    {0x250, false, 0},         {0xfff, false, 0},          {0x1000, true, 0x402000},
    {0x1abc, true, 0x402abc},  {0x1fff, true, 0x402fff},   {0x2000, false, 0},
    {0x2100, true, 0x80405100}, {0x211f, true, 0x8040511f}, {0x2120, false, 0},
    {UINT64_MAX, false, 0},
};

#define TABLE 0x40

static void make_sample(struct image *image, bool is_64, bool big_endian, size_t table, size_t entry_size)
{
    image_make(image, is_64, big_endian, table, entry_size, segments, COUNT_OF(segments), 0x2200);
}

static void check_places(const struct image *image)
{
    struct elf elf;
    int fd = image_file(image, image->length), result = elf_open(&elf, fd);

    CHECK_NUMBER(result, 0);
    for (size_t i = 0; i < COUNT_OF(places) && !result; i++) {
        uint64_t address = 0;
        CHECK_NUMBER(elf_address_of(&elf, places[i].offset, &address), places[i].held);
        CHECK_NUMBER(address, places[i].address);
        uint64_t offset = 0;
        if (places[i].held && elf_offset_of(&elf, address, &offset))
            CHECK_NUMBER(offset, places[i].offset);
        else
            CHECK(!places[i].held);
    }
    uint64_t none;
    CHECK(result || !elf_offset_of(&elf, 0x404f00, &none));
    CHECK(result || !elf_offset_of(&elf, 0x400234, &none));
    CHECK(result || !elf_offset_of(&elf, 0x3fffff, &none));
    if (!result) {
        CHECK_NUMBER(elf.segment_count, 4);
        elf_close(&elf);
    }
    close(fd);
}

/* Each class and byte order, and each place and spacing of the program headers. */
TEST(addresses_of_offsets)
{
    struct image image;

    for (int kind = 0; kind < 16; kind++) {
        bool is_64 = kind & 1;
        size_t entry_size = (is_64 ? 56 : 32) + (kind & 4 ? 24 : 0);
        make_sample(&image, is_64, kind & 2, kind & 8 ? 0x1803 : TABLE, entry_size);
        check_places(&image);
    }
}

TEST(the_running_program)
{
    AUTO(elf_close) struct elf elf;
    uint64_t address;
    AUTO_FD fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

    CHECK_NUMBER(elf_open(&elf, fd), 0);
    CHECK(elf.segment_count >= 2);
    CHECK(elf_address_of(&elf, 0, &address));
}

static int open_result(const struct image *image, size_t length)
{
    struct elf elf;
    int fd = image_file(image, length), result = elf_open(&elf, fd);

    if (!result)
        elf_close(&elf);
    CHECK(!elf.segments && !elf.segment_count);
    close(fd);
    return result;
}

TEST(hostile_headers)
{
    struct image image;

    for (int kind = 0; kind < 4; kind++) {
        bool is_64 = kind & 1;
        size_t entry_size = is_64 ? 56 : 32, word = is_64 ? 8 : 4;
        uint64_t greatest = is_64 ? UINT64_MAX : UINT32_MAX;
#define MAKE() make_sample(&image, is_64, kind & 2, TABLE, entry_size)
        MAKE();
        CHECK_NUMBER(open_result(&image, image.length), 0);
        for (size_t wrong = 0; wrong < entry_size; wrong += entry_size - 1) {
            MAKE();
            image_put(&image, image_phentsize(&image), 2, wrong);
            CHECK_NUMBER(open_result(&image, image.length), -ENOEXEC);
        }
        MAKE(); /* an entry size that leads out of the file */
        image_put(&image, image_phentsize(&image), 2, 0xffff);
        CHECK_NUMBER(open_result(&image, image.length), -ENOEXEC);
        static const uint16_t counts[] = {300, 4096, 4097, 0x7fff, 0xffff};
        for (size_t i = 0; i < COUNT_OF(counts); i++) {
            MAKE();
            image_put(&image, image_phnum(&image), 2, counts[i]);
            CHECK_NUMBER(open_result(&image, image.length), -ENOEXEC);
        }
        const uint64_t offsets[] = {image.length, image.length - entry_size + 1, greatest,
                                    greatest - entry_size, greatest / 2, greatest / 2 + 1,
                                    greatest / 2 - 55};
        for (size_t i = 0; i < COUNT_OF(offsets); i++) {
            MAKE();
            image_put(&image, image_phoff(&image), word, offsets[i]);
            CHECK_NUMBER(open_result(&image, image.length), -ENOEXEC);
        }
        MAKE(); /* no program headers, whatever their offset: an object file */
        image_put(&image, image_phnum(&image), 2, 0);
        image_put(&image, image_phentsize(&image), 2, 0);
        image_put(&image, image_phoff(&image), word, greatest);
        CHECK_NUMBER(open_result(&image, image.length), 0);
        for (int byte = 0; byte < 6; byte++) {
            MAKE();
            image.bytes[byte] ^= 0xff;
            CHECK_NUMBER(open_result(&image, image.length), -ENOEXEC);
        }
        MAKE();
        image.bytes[4] = image.bytes[5] = 0;
        CHECK_NUMBER(open_result(&image, image.length), -ENOEXEC);
#undef MAKE
    }
}

/* A segment at the end of the number range: no sum may wrap around. */
TEST(hostile_segments)
{
    static const struct image_segment wide[] = {
        {1, UINT64_MAX - 0xff, 0x1000, UINT64_MAX},
        {1, 0x100, UINT64_MAX - 0xf, 0x100},
        {1, 0x1000, 0, UINT64_MAX},
    };
    struct image image;
    uint64_t address = 0;

    image_make(&image, true, false, TABLE, 56, wide, COUNT_OF(wide), 0x1000);
    AUTO_ELF elf = open_image(&image);
    CHECK(!elf_address_of(&elf, 0, &address));
    CHECK(!elf_address_of(&elf, 0xff, &address));
    CHECK(elf_address_of(&elf, UINT64_MAX, &address));
    CHECK_NUMBER(address, 0x10ff);
    CHECK(elf_address_of(&elf, 0x100, &address));
    CHECK(address == UINT64_MAX - 0xf);
    CHECK(elf_address_of(&elf, 0x1005, &address));
    CHECK_NUMBER(address, 5);
}

/* ---- Sections and notes ---- */

enum { NONE, TEXT, ID, STRANGE, NAMES, SECTIONS };

#define NAMES_OFFSET 0x300
#define ID_OFFSET 0x400
#define STRANGE_OFFSET 0x500
#define SECTION_TABLE 0x1800

static const char section_names[] = "\0.text\0.note.gnu.build-id\0.note.strange\0.names";

static size_t put_note(struct image *image, size_t at, const char *owner, size_t owner_size,
                       uint32_t type, const char *descriptor, size_t size)
{
    image_put(image, at, 4, owner_size);
    image_put(image, at + 4, 4, size);
    image_put(image, at + 8, 4, type);
    memcpy(image->bytes + at + 12, owner, owner_size);
    at += 12 + (owner_size + 3) / 4 * 4;
    memcpy(image->bytes + at, descriptor, size);
    return at + (size + 3) / 4 * 4;
}

static void make_sections(struct image *image, bool is_64, bool big_endian)
{
    static const struct image_segment note[] = {
        {1, 0, 0x400000, 0x1000},
        {4, STRANGE_OFFSET, 0x400000 + STRANGE_OFFSET, 0x40},
    };
    struct image_section sections[SECTIONS] = {
        [TEXT] = {1, 1, 6, 0x401000, 0x1000, 0x100, 0, 0, 0},
        [ID] = {7, 7, 2, 0x400000 + ID_OFFSET, ID_OFFSET, 0, 0, 0, 0},
        [STRANGE] = {26, 7, 2, 0x400000 + STRANGE_OFFSET, STRANGE_OFFSET, 0, 0, 0, 0},
        [NAMES] = {40, 3, 0, 0, NAMES_OFFSET, sizeof(section_names), 0, 0, 0},
    };

    image_make(image, is_64, big_endian, TABLE, is_64 ? 56 : 32, note, COUNT_OF(note), 0x2200);
    memcpy(image->bytes + NAMES_OFFSET, section_names, sizeof(section_names));
    size_t end = put_note(image, ID_OFFSET, "Other", 6, 3, "not this", 8);
    end = put_note(image, end, "GNU", 4, 1, "nor this", 8);
    end = put_note(image, end, "GNU", 4, 3, "build id of twenty..", 20);
    sections[ID].size = end - ID_OFFSET;
    end = put_note(image, STRANGE_OFFSET, "", 0, 7, "x", 1);
    end = put_note(image, end, "abcd", 4, 8, "", 0); /* no NUL after the owner */
    sections[STRANGE].size = end - STRANGE_OFFSET;
    image_put_sections(image, SECTION_TABLE, sections, SECTIONS);
}

struct seen {
    unsigned count;
    char text[256];
};

static int see_note(void *context, const struct elf_note *note)
{
    struct seen *seen = context;
    size_t used = strlen(seen->text);

    seen->count++;
    snprintf(seen->text + used, sizeof(seen->text) - used, "%s:%u:%.*s ", note->owner, note->type,
             (int)note->size, (const char *)note->descriptor);
    return 0;
}

static int stop_at_once(void *context, const struct elf_note *note)
{
    (void)note;
    ++*(int *)context;
    return *(int *)context == 1 ? 1 : -EDOM;
}

TEST(sections_and_notes)
{
    struct image image;

    for (int kind = 0; kind < 4; kind++) {
        unsigned char id[ELF_LONGEST_BUILD_ID];
        size_t length = 0;
        struct seen seen = {0};
        int calls = 0;
        make_sections(&image, kind & 1, kind & 2);
        AUTO_ELF elf = open_image(&image);
        CHECK_NUMBER(elf.section_count, SECTIONS);
        const struct elf_section *text = elf_section(&elf, ".text");
        CHECK(text && text->address == 0x401000 && text->flags == 6 && text->size == 0x100);
        CHECK(!elf_section(&elf, ".tex") && !elf_section(&elf, ".text."));
        CHECK(elf_section(&elf, "") == NULL);
        CHECK_NUMBER(elf_build_id(&elf, id, &length), 0);
        CHECK_NUMBER(length, 20);
        CHECK(!memcmp(id, "build id of twenty..", 20));
        CHECK_NUMBER(elf_each_note(&elf, ".note.strange", see_note, &seen), 0);
        CHECK_STRING(seen.text, ":7:x abcd:8: ");
        CHECK_NUMBER(elf_each_note(&elf, ".note.strange", stop_at_once, &calls), 0);
        CHECK_NUMBER(elf_each_note(&elf, ".note.strange", stop_at_once, &calls), -EDOM);
    }
}

/* Notes that claim to be longer than their section, and a section longer than the file. */
TEST(hostile_notes)
{
    struct image image;
    static const struct { size_t at; uint64_t value; int result; } wrong[] = {
        {0, 0xffffffff, -ENOEXEC}, {4, 0xffffffff, -ENOEXEC}, {0, 0x7ffffffd, -ENOEXEC},
        {4, 0xfffffffd, -ENOEXEC}, {4, 21 + 24, -ENOEXEC},    {0, 0, 0},
    };

    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct seen seen = {0};
        make_sections(&image, true, false);
        image_put(&image, STRANGE_OFFSET + wrong[i].at, 4, wrong[i].value);
        AUTO_ELF elf = open_image(&image);
        CHECK_NUMBER(elf_each_note(&elf, ".note.strange", see_note, &seen), wrong[i].result);
    }
    static const uint64_t sizes[] = {0x3000, 0x1000000, 0x1000001, INT64_MAX, UINT64_MAX};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        struct seen seen = {0};
        make_sections(&image, true, false);
        image_put(&image, SECTION_TABLE + STRANGE * 64 + 32, 8, sizes[i]);
        AUTO_ELF elf = open_image(&image);
        CHECK_NUMBER(elf_each_note(&elf, ".note.strange", see_note, &seen), -ENOEXEC);
    }
}

/* Counts that do not fit into the header are in the first section. */
TEST(great_counts)
{
    struct image image;
    struct elf elf;

    for (int kind = 0; kind < 4; kind++) {
        const bool is_64 = kind & 1;
        const size_t word = is_64 ? 8 : 4;
        make_sections(&image, is_64, kind & 2);
        image_put(&image, image_shnum(&image), 2, 0);
        image_put(&image, image_shstrndx(&image), 2, 0xffff);
        image_put(&image, image_phnum(&image), 2, 0xffff);
        const struct image_section first = {0, 0, 0, 0, 0, SECTIONS, NAMES, 2, 0};
        image_put_section(&image, SECTION_TABLE, &first);
        AUTO_ELF whole = open_image(&image);
        CHECK_NUMBER(whole.section_count, SECTIONS);
        CHECK_NUMBER(whole.segment_count, 1);
        CHECK_NUMBER(whole.note_count, 1);
        CHECK(elf_section(&whole, ".text"));
        /* More than there are, and more than any file has: a file without sections. */
        static const uint32_t counts[] = {1000, 131072, 131073, 0x7fffffff, 0xffffffff};
        for (size_t i = 0; i < COUNT_OF(counts); i++) {
            image_put(&image, SECTION_TABLE + 8 + 3 * word, word, counts[i]);
            AUTO_ELF cut = open_image(&image);
            CHECK_NUMBER(cut.section_count, 0);
            CHECK(!elf_section(&cut, ".text"));
            /* Then its notes are those of its segments. */
            struct seen seen = {0};
            CHECK_NUMBER(elf_each_note(&cut, ".any", see_note, &seen), 0);
            CHECK(seen.count >= 2);
        }
        image_put(&image, SECTION_TABLE + 12 + 4 * word, 4, 0xffffffff);
        AUTO_FD nameless = image_file(&image, image.length);
        CHECK_NUMBER(elf_open(&elf, nameless), -ENOEXEC);
    }
}

/* A whole file within another, like the vDSO in a process. */
TEST(an_image_within)
{
    struct image image;
    struct elf elf;
    unsigned char id[ELF_LONGEST_BUILD_ID];
    size_t length;

    make_sections(&image, true, false);
    AUTO_FD fd = memfd_create("outer", MFD_CLOEXEC);
    CHECK_NUMBER(pwrite(fd, image.bytes, image.length, 0x1237), image.length);
    CHECK_NUMBER(elf_open(&elf, fd), -ENOEXEC);
    CHECK_NUMBER(elf_open_watched(&elf, fd, 0x1237, NULL), 0);
    CHECK(elf_section(&elf, ".text"));
    CHECK_NUMBER(elf_build_id(&elf, id, &length), 0);
    elf_close(&elf);
    static const uint64_t bases[] = {0x1236, 0x1238, 0x10000, INT64_MAX, UINT64_MAX};
    for (size_t i = 0; i < COUNT_OF(bases); i++)
        CHECK_NUMBER(elf_open_watched(&elf, fd, bases[i], NULL), -ENOEXEC);
}

TEST(cut_at_every_byte)
{
    struct image image;

    for (int kind = 0; kind < 4; kind++) {
        size_t entry_size = kind & 1 ? 56 : 32;
        size_t needed = TABLE + COUNT_OF(segments) * entry_size;
        make_sample(&image, kind & 1, kind & 2, TABLE, entry_size);
        for (size_t length = 0; length <= needed + 4; length++)
            CHECK_NUMBER(open_result(&image, length), length < needed ? -ENOEXEC : 0);
    }
}

/* Any bytes must give an answer or an error: nothing else is checked here. */
TEST(random_mutations)
{
    struct image image, mutant;
    struct elf elf;
    uint64_t address;
    unsigned opened = 0, refused = 0;
    AUTO_FD fd = memfd_create("mutants", MFD_CLOEXEC);

    srand(4);
    for (int round = 0, most = rounds(200000); round < most; round++) {
        int kind = round & 3;
        if (round < 4 || !(round & 63))
            make_sample(&image, kind & 1, kind & 2, TABLE, kind & 1 ? 56 : 32);
        mutant = image;
        for (int i = rand() % 6; i >= 0; i--)
            mutant.bytes[rand() % (rand() % 2 ? 64 : 512)] = (unsigned char)(rand() % 256);
        if (pwrite(fd, mutant.bytes, 512, 0) != 512 || (!(round & 15) && ftruncate(fd, rand() % 600)))
            WRONG("a file");
        int result = elf_open(&elf, fd);
        CHECK(result == 0 || result == -ENOEXEC);
        for (int i = 0; !result && i < 3; i++)
            elf_address_of(&elf, (uint64_t)rand() << (rand() % 33), &address);
        if (!result)
            elf_close(&elf);
        opened += !result;
        refused += result != 0;
    }
    /* Both kinds of mutants occurred. */
    CHECK(opened > (unsigned)rounds(10000) && refused > (unsigned)rounds(10000));
}

TEST(what_cannot_be_read)
{
    struct elf elf;
    int ends[2], fd = open("/", O_RDONLY | O_CLOEXEC);

    CHECK_NUMBER(elf_open(&elf, fd), -EISDIR);
    close(fd);
    CHECK_NUMBER(elf_open(&elf, -1), -EBADF);
    CHECK_NUMBER(pipe(ends), 0);
    CHECK_NUMBER(elf_open(&elf, ends[0]), -ESPIPE);
    close(ends[0]);
    close(ends[1]);
    fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    CHECK_NUMBER(elf_open(&elf, fd), -ENOEXEC);
    close(fd);
}

/* Another process truncates and refills the file: an error, never a signal. */
TEST(a_file_that_shrinks)
{
    struct image image;
    struct elf elf;
    unsigned opened = 0, refused = 0;

    make_sample(&image, true, false, TABLE, 56);
    AUTO_FD fd = image_file(&image, image.length);
    pid_t child = fork();
    if (!child)
        for (;;)
            if (ftruncate(fd, 0) || pwrite(fd, image.bytes, image.length, 0) < 0)
                _exit(1);
    uint64_t end = now_ns() + 5000000000;
    while ((opened < 100 || refused < 100) && now_ns() < end) {
        int result = elf_open(&elf, fd);
        CHECK(result == 0 || result == -ENOEXEC);
        opened += !result;
        refused += result != 0;
        if (!result)
            elf_close(&elf);
    }
    CHECK(opened && refused);
    if (child > 0) /* kill(-1) signals all processes */
        kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* Of a sparse file at most the limit is read, in any pieces; then the caller gets an error. */
TEST(a_sparse_file)
{
    static char bytes[1 << 20];
    static const size_t pieces[] = {4, sizeof(bytes)};
    struct image image;

    for (size_t i = 0; i < COUNT_OF(pieces); i++) {
        AUTO(elf_close) struct elf elf;
        int trouble = 0, result = 0;
        uint64_t reads = 0;
        image_make(&image, true, false, 64, 56, segments, COUNT_OF(segments), 8192);
        AUTO_FD fd = image_file(&image, image.length);
        CHECK(!ftruncate(fd, (off_t)1 << 40));
        CHECK_NUMBER(elf_open_watched(&elf, fd, 0, &trouble), 0);
        for (; !result && reads < 1000000; reads++)
            result = elf_read(&elf, reads * pieces[i], bytes, pieces[i]);
        CHECK_NUMBER(result, -ETIME);
        CHECK_NUMBER(trouble, -ETIME);
        CHECK(reads * pieces[i] <= (uint64_t)65 << 20 && reads <= 200000);
        CHECK_NUMBER(elf_read(&elf, 0, bytes, 4), -ETIME);
    }
}

TEST_MAIN
