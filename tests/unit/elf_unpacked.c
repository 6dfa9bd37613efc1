/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Compressed symbols in hand-made files: as stored blocks of xz and zlib, which need no compressor. */
#include "elf/elf_symbols.h"

#include "elf_image.h"
#include "test.h"
#include "unit/xz_image.h"

enum { NONE, TEXT, SYMBOLS, STRINGS, PACKED, NAMES, SECTIONS };

#define TEXT_ADDRESS 0x10000
#define SYMBOLS_OFFSET 0x100
#define STRINGS_OFFSET 0x200
#define NAMES_OFFSET 0x280
#define SECTION_TABLE 0x300
#define PLAIN_LENGTH 0x500 /* of a file whose PACKED is empty; otherwise that follows */

#define X86_64 62

#define FUNCTION 2
#define LABEL 0
#define LOCAL 0
#define GLOBAL 16
#define WEAK 32

struct sample {
    const char *name;
    uint64_t address, size;
    uint8_t info;
};

static void put_section(struct image *image, int which, const struct image_section *section)
{
    image_put_section(image, SECTION_TABLE + (size_t)which * image_section_size(image), section);
}

static void make_file(struct image *image, int kind, bool full, const struct sample *samples, size_t count)
{
    static const struct image_segment segment = {1, 0, TEXT_ADDRESS, 0x1000};
    static const char names[] = "\0.text\0.syms\0.strs\0.gnu_debugdata\0.names";
    const bool is_64 = kind & 1;

    image_make(image, is_64, kind & 2, 0x40, is_64 ? 56 : 32, &segment, 1, PLAIN_LENGTH);
    image_put(image, 18, 2, X86_64);
    const size_t symbol = image_symbol_size(image);
    size_t text = 1;
    for (size_t i = 0; i < count; i++) {
        image_put_symbol(image, SYMBOLS_OFFSET + (i + 1) * symbol, (uint32_t)text,
                         samples[i].address, samples[i].size, samples[i].info, TEXT);
        strcpy((char *)image->bytes + STRINGS_OFFSET + text, samples[i].name);
        text += strlen(samples[i].name) + 1;
    }
    memcpy(image->bytes + NAMES_OFFSET, names, sizeof(names));
    const struct image_section sections[SECTIONS] = {
        [TEXT] = {1, 1, 6, TEXT_ADDRESS, 0, 0x1000, 0, 0, 0},
        [SYMBOLS] = {7, full ? 2 : 11, 0, 0, SYMBOLS_OFFSET, (count + 1) * symbol, STRINGS, 1,
                     symbol},
        [STRINGS] = {13, 3, 0, 0, STRINGS_OFFSET, text, 0, 0, 0},
        [PACKED] = {0, 1, 0, 0, PLAIN_LENGTH, 0, 0, 0, 0},
        [NAMES] = {34, 3, 0, 0, NAMES_OFFSET, sizeof(names), 0, 0, 0},
    };
    image_put_sections(image, SECTION_TABLE, sections, SECTIONS);
}

/* ---- Packing without compression ---- */

static struct xz_image packed;

/* As one uncompressed chunk of LZMA2: how many bytes, minus one, then these, and the end. */
static void pack_xz(const unsigned char *bytes, size_t size)
{
    unsigned char chunk[4096] = {1, (unsigned char)((size - 1) >> 8), (unsigned char)(size - 1)}, check[4];
    const struct xz_block block = {.raw = chunk, .raw_size = size + 4, .unpacked = size,
                                   .said_packed = XZ_NO_SIZE, .said_unpacked = XZ_NO_SIZE, .check = check};

    memcpy(chunk + 3, bytes, size);
    xz_put_low(check, xz_crc32(bytes, size), sizeof(check));
    packed.size = 0;
    xz_begin(&packed, 1);
    xz_add_block(&packed, &block);
    xz_end(&packed);
}

/* As one stored block; returns how many bytes it has. */
static size_t pack_zlib(unsigned char *to, const unsigned char *bytes, size_t size)
{
    uint32_t low = 1, high = 0;

    for (size_t i = 0; i < size; i++) {
        low = (low + bytes[i]) % 65521;
        high = (high + low) % 65521;
    }
    memcpy(to, "\x78\x01\x01", 3);
    xz_put_low(to + 3, size, 2);
    xz_put_low(to + 5, size ^ 0xffff, 2);
    memcpy(to + 7, bytes, size);
    xz_put_low(to + 7 + size, __builtin_bswap32(high << 16 | low), 4);
    return size + 11;
}

/* Gives a file what was packed as its .gnu_debugdata. */
static void put_packed(struct image *image)
{
    memcpy(image->bytes + PLAIN_LENGTH, packed.bytes, packed.size);
    image->length = PLAIN_LENGTH + packed.size;
    put_section(image, PACKED, &(struct image_section){19, 1, 0, 0, PLAIN_LENGTH, packed.size, 0, 0, 1});
}

/* ---- Asking ---- */

struct opened {
    struct elf elf;
    struct elf_unpacked unpacked;
};

static void open_file(struct opened *opened, const struct image *image)
{
    *opened = (struct opened){.elf.fd = -1};
    CHECK_NUMBER(elf_open(&opened->elf, image_file(image, image->length)), 0);
    opened->elf.unpacked = &opened->unpacked;
}

static void close_file(struct opened *opened)
{
    elf_unpacked_free(&opened->unpacked);
    elf_close(&opened->elf);
    close(opened->elf.fd);
}

/* "name start" for each address, "-" for none, separated by blanks. */
static void ask(const struct elf *elf, const uint64_t *addresses, size_t count, struct text *answer)
{
    struct elf_found *found = calloc(count, sizeof(*found));

    text_clear(answer);
    CHECK_NUMBER(elf_find(elf, addresses, count, found), 0);
    for (size_t i = 0; i < count; i++)
        if (found[i].found)
            text_format(answer, "%s%s+%llx", i ? " " : "", found[i].name.data,
                        (unsigned long long)(addresses[i] - found[i].start));
        else
            text_add(answer, i ? " -" : "-");
    elf_found_free(found, count);
    free(found);
}

static int list(void *context, const struct elf_symbol *symbol)
{
    text_format(context, "%s:%llx ", symbol->name, (unsigned long long)symbol->address);
    return 0;
}

#define KINDS 4 /* both classes, both byte orders */

static const struct sample exported[] = {
    {"outer", 0x10100, 0x100, FUNCTION | GLOBAL},
    {"known@@V1", 0x10300, 0x10, FUNCTION | GLOBAL},
    {"_twin", 0x10400, 0x10, FUNCTION | GLOBAL},
    {"unsized", 0x10500, 0, FUNCTION | GLOBAL},
};

static const struct sample others[] = {
    {"inner", 0x10140, 0x20, FUNCTION | LOCAL},
    {"known", 0x10300, 0x10, FUNCTION | GLOBAL}, /* again, as its version hid it */
    {"twin", 0x10400, 0x10, FUNCTION | GLOBAL},
    {"weak_twin", 0x10400, 0x10, FUNCTION | WEAK},
    {"behind", 0x10600, 0, FUNCTION | LOCAL},
    {"last", 0x10700, 0x10, FUNCTION | LOCAL},
};

static const uint64_t asked[] = {0x10010, 0x1013f, 0x10140, 0x1015f, 0x10160, 0x10301, 0x10401,
                                 0x105ff, 0x106ff, 0x1070f};
#define ALL_ANSWERS "- outer+3f inner+0 inner+1f outer+60 known+1 twin+1 unsized+ff behind+ff last+f"
#define EXPORTED_ANSWERS "- outer+3f outer+40 outer+5f outer+60 known+1 _twin+1 - - -"

static void make_inner(struct image *image, int kind)
{
    make_file(image, kind, true, others, COUNT_OF(others));
}

static void make_outer(struct image *image, int kind, const struct image *inner)
{
    make_file(image, kind, false, exported, COUNT_OF(exported));
    pack_xz(inner->bytes, inner->length);
    put_packed(image);
}

TEST(both_tables_are_one)
{
    struct image inner, outer;
    AUTO_TEXT answer = {0};
    struct opened opened;

    for (int kind = 0; kind < KINDS; kind++) {
        make_inner(&inner, kind);
        make_outer(&outer, kind, &inner);
        open_file(&opened, &outer);
        ask(&opened.elf, asked, COUNT_OF(asked), &answer);
        CHECK_STRING(answer.data, ALL_ANSWERS);
        CHECK(!opened.unpacked.refusal);
        for (size_t i = 0; i < COUNT_OF(asked); i++)
            ask(&opened.elf, &asked[i], 1, &answer);
        CHECK_STRING(answer.data, "last+f");
        text_clear(&answer);
        CHECK_NUMBER(elf_each_function(&opened.elf, list, &answer), 0);
        CHECK_STRING(answer.data, "outer:10100 known:10300 _twin:10400 unsized:10500 "
                     "inner:10140 twin:10400 weak_twin:10400 behind:10600 last:10700 ");
        close_file(&opened);
        /* A caller that does not ask for it gets the file's other symbols. */
        open_file(&opened, &outer);
        opened.elf.unpacked = NULL;
        ask(&opened.elf, asked, COUNT_OF(asked), &answer);
        CHECK_STRING(answer.data, EXPORTED_ANSWERS);
        close_file(&opened);
    }
}

/* A static program has no .dynsym; one with .symtab needs nothing else. */
TEST(alone)
{
    struct image inner, outer;
    AUTO_TEXT answer = {0};
    AUTO(close_file) struct opened opened;
    const uint64_t behind = 0x10601;

    make_inner(&inner, 1);
    make_outer(&outer, 1, &inner);
    put_section(&outer, SYMBOLS, &(struct image_section){0});
    open_file(&opened, &outer);
    ask(&opened.elf, &behind, 1, &answer);
    CHECK_STRING(answer.data, "behind+1");
    close_file(&opened);
    make_outer(&outer, 1, &inner);
    image_put(&outer, SECTION_TABLE + SYMBOLS * image_section_size(&outer) + 4, 4, 2);
    open_file(&opened, &outer);
    ask(&opened.elf, asked, COUNT_OF(asked), &answer);
    CHECK_STRING(answer.data, "- outer+3f outer+40 outer+5f outer+60 known+1 _twin+1 "
                 "unsized+ff unsized+1ff unsized+20f");
    CHECK(!opened.unpacked.image_tried);
}

/* It is unpacked once: later changes of the file do not matter. */
TEST(once)
{
    struct image inner, outer;
    AUTO_TEXT answer = {0};
    AUTO(close_file) struct opened opened;

    make_inner(&inner, 1);
    make_outer(&outer, 1, &inner);
    open_file(&opened, &outer);
    for (int i = 0; i < 3; i++) {
        ask(&opened.elf, asked, COUNT_OF(asked), &answer);
        CHECK_STRING(answer.data, ALL_ANSWERS);
        CHECK_NUMBER(pwrite(opened.elf.fd, "\0", 1, PLAIN_LENGTH), 1);
    }
    elf_unpacked_free(&opened.unpacked);
    ask(&opened.elf, asked, COUNT_OF(asked), &answer);
    CHECK_STRING(answer.data, EXPORTED_ANSWERS);
}

/* ---- What is wrong with it ---- */

static void check_refused(const struct image *outer, const char *why)
{
    AUTO_TEXT answer = {0};
    AUTO(close_file) struct opened opened;

    open_file(&opened, outer);
    ask(&opened.elf, asked, COUNT_OF(asked), &answer);
    CHECK_STRING(answer.data, EXPORTED_ANSWERS);
    if (why)
        CHECK_STRING(opened.unpacked.refusal, why);
    else
        CHECK(!opened.unpacked.refusal);
}

TEST(of_other_files)
{
    static const char another[] = "its .gnu_debugdata is that of another file";
    struct image inner, outer;

    for (int kind = 0; kind < KINDS; kind++) {
        for (int other = 0; other < KINDS; other++) {
            make_inner(&inner, other);
            make_outer(&outer, kind, &inner);
            if (other != kind)
                check_refused(&outer, another);
        }
        make_inner(&inner, kind);
        image_put(&inner, 18, 2, 183);
        make_outer(&outer, kind, &inner);
        check_refused(&outer, another);
        make_inner(&inner, kind);
        put_section(&inner, TEXT, &(struct image_section){1, 1, 6, 0x20000, 0, 0x1000, 0, 0, 0});
        make_outer(&outer, kind, &inner);
        check_refused(&outer, another);
        make_inner(&inner, kind);
        inner.bytes[0] = 0;
        make_outer(&outer, kind, &inner);
        check_refused(&outer, "its .gnu_debugdata is damaged");
        /* One that is incomplete, one that was removed, and none. */
        make_inner(&inner, kind);
        make_outer(&outer, kind, &inner);
        outer.length -= 1;
        check_refused(&outer, "its .gnu_debugdata is damaged");
        pack_xz(inner.bytes, inner.length);
        put_packed(&outer);
        put_section(&outer, PACKED, &(struct image_section){19, 8, 0, 0, PLAIN_LENGTH,
                                                            packed.size, 0, 0, 1});
        check_refused(&outer, NULL);
        put_section(&outer, PACKED, &(struct image_section){19, 1, 0, 0, PLAIN_LENGTH,
                                                            ((uint64_t)64 << 20) + 1, 0, 0, 1});
        check_refused(&outer, "its .gnu_debugdata is too large");
        make_file(&outer, kind, false, exported, COUNT_OF(exported));
        check_refused(&outer, NULL);
    }
}

/* Only one table; one that leads out of the file; one that claims to be compressed again. */
TEST(hostile_inside)
{
    struct image inner, outer;

    for (int kind = 0; kind < KINDS; kind++) {
        const size_t symbol = kind & 1 ? 24 : 16;
        make_inner(&inner, kind);
        put_section(&inner, SYMBOLS, &(struct image_section){7, 2, 0, 0, SYMBOLS_OFFSET, 1 << 30,
                                                             STRINGS, 1, symbol});
        make_outer(&outer, kind, &inner);
        check_refused(&outer, NULL);
        put_section(&inner, SYMBOLS, &(struct image_section){7, 2, SHF_COMPRESSED, 0,
                                                             SYMBOLS_OFFSET, 7 * symbol, STRINGS,
                                                             1, symbol});
        make_outer(&outer, kind, &inner);
        check_refused(&outer, NULL);
    }
}

/* Each bit of it in turn. */
TEST(every_bit)
{
    struct image inner, outer;
    AUTO_TEXT answer = {0};
    struct opened opened;
    unsigned wrong = 0, refused = 0, as_before = 0;

    make_inner(&inner, 1);
    make_outer(&outer, 1, &inner);
    for (size_t at = PLAIN_LENGTH; at < outer.length; at++)
        for (int bit = 0; bit < 8; bit++) {
            outer.bytes[at] ^= (unsigned char)(1 << bit);
            open_file(&opened, &outer);
            ask(&opened.elf, asked, COUNT_OF(asked), &answer);
            if (opened.unpacked.refusal)
                refused += !strcmp(answer.data, EXPORTED_ANSWERS);
            else
                as_before += !strcmp(answer.data, ALL_ANSWERS);
            wrong += strcmp(answer.data, opened.unpacked.refusal ? EXPORTED_ANSWERS : ALL_ANSWERS);
            close_file(&opened);
            outer.bytes[at] ^= (unsigned char)(1 << bit);
        }
    CHECK_NUMBER(wrong, 0);
    CHECK_NUMBER(refused + as_before, (outer.length - PLAIN_LENGTH) * 8);
    CHECK(refused >= PLAIN_LENGTH * 8);
}

/* ---- Compressed tables ---- */

#define SYMBOLS_PART 1
#define STRINGS_PART 2

/* Compresses .symtab, its names or both, after the file; *headers: where their headers begin. */
static void compress(struct image *image, int which, uint32_t type, size_t *headers)
{
    const size_t word = image->is_64 ? 8 : 4;
    size_t at = PLAIN_LENGTH;

    for (int part = 0; part < 2; part++) {
        const int section = part ? STRINGS : SYMBOLS;
        const size_t offset = part ? STRINGS_OFFSET : SYMBOLS_OFFSET;
        const size_t size = part ? 0x80 : (COUNT_OF(others) + 1) * image_symbol_size(image);
            if (!(which & (part ? STRINGS_PART : SYMBOLS_PART)))
            continue;
        headers[part] = at;
        const size_t length = 3 * word + pack_zlib(image->bytes + at + 3 * word, image->bytes + offset, size);
        memset(image->bytes + offset, 0xee, size);
        image_put(image, at, 4, type);
        image_put(image, at + word, word, size);
        image_put(image, at + 2 * word, word, 8);
        put_section(image, section, &(struct image_section){
            part ? 13 : 7, part ? 3 : 2, SHF_COMPRESSED, 0, at, length,
            part ? 0 : STRINGS, 1, part ? 0 : image_symbol_size(image)});
        at += length;
    }
    image->length = at;
}

#define OTHERS_ANSWERS "- - inner+0 inner+1f - known+1 twin+1 - behind+ff last+f"
#define NO_ANSWERS "- - - - - - - - - -"
#define WHAT_TO_DO ": unpack them with \"eu-elfcompress -t none -n .symtab -n .strtab\""

static void check_compressed(const struct image *image, const char *answers, const char *why)
{
    AUTO_TEXT answer = {0};
    AUTO(close_file) struct opened opened;

    open_file(&opened, image);
    ask(&opened.elf, asked, COUNT_OF(asked), &answer);
    CHECK_STRING(answer.data, answers);
    if (why)
        CHECK_STRING(opened.unpacked.refusal, why);
    else
        CHECK(!opened.unpacked.refusal);
    text_clear(&answer);
    CHECK_NUMBER(elf_each_function(&opened.elf, list, &answer), 0);
    CHECK_STRING(answer.data, why ? "" : "inner:10140 known:10300 twin:10400 weak_twin:10400 "
                                         "behind:10600 last:10700 ");
}

TEST(compressed_tables)
{
    struct image image;
    size_t headers[2];

    for (int kind = 0; kind < KINDS; kind++)
        for (int which = 0; which < 4; which++) {
            make_inner(&image, kind);
            compress(&image, which, 1, headers);
            check_compressed(&image, OTHERS_ANSWERS, NULL);
        }
}

TEST(compressed_badly)
{
    static const char damaged[] = "its symbols are damaged: they cannot be unpacked";
    struct image image;
    size_t headers[2];

    for (int kind = 0; kind < KINDS; kind++)
        for (int part = 0; part < 2; part++) {
            const int which = part ? STRINGS_PART : SYMBOLS_PART;
            const size_t word = kind & 1 ? 8 : 4;
            make_inner(&image, kind);
            compress(&image, which, 2, headers);
            check_compressed(&image, NO_ANSWERS, "its symbols are compressed with zstd, which is "
                             "not supported" WHAT_TO_DO);
            image_put(&image, headers[part], 4, 3);
            check_compressed(&image, NO_ANSWERS, "its symbols are compressed in a way that is not "
                             "supported" WHAT_TO_DO);
            image_put(&image, headers[part], 4, 1);
            image.bytes[image.length - 1] ^= 1;
            check_compressed(&image, NO_ANSWERS, damaged);
            image.bytes[image.length - 1] ^= 1;
            for (int change = -1; change <= 1; change += 2) {
                const size_t size = part ? 0x80
                                         : (COUNT_OF(others) + 1) * image_symbol_size(&image);
                image_put(&image, headers[part] + word, word, size + (size_t)change);
                check_compressed(&image, NO_ANSWERS, damaged);
            }
            image_put(&image, headers[part] + word, word, ((uint64_t)128 << 20) + 1);
            check_compressed(&image, NO_ANSWERS, "its symbols are compressed, and too large"
                             WHAT_TO_DO);
            image_put(&image, headers[part] + word, word, UINT64_MAX);
            check_compressed(&image, NO_ANSWERS, "its symbols are compressed, and too large"
                             WHAT_TO_DO);
        }
}

TEST_MAIN
