/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Names of addresses: which symbol wins, in hand-made files, and in malformed ones. */
#include "demangle/demangle.h"
#include "elf/elf_symbols.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/wait.h>

#include "elf_image.h"
#include "test.h"

enum { NONE, TEXT, MORE, DATA, SYMBOLS, STRINGS, NAMES, SECTIONS };

#define TEXT_ADDRESS 0x10000
#define MORE_ADDRESS 0x11000
#define DATA_ADDRESS 0x12000
#define SYMBOLS_OFFSET 0x100
#define STRINGS_OFFSET 0x300
#define NAMES_OFFSET 0x800
#define SECTION_TABLE 0x880
#define LENGTH 0xa80

#define FUNCTION 2
#define LABEL 0
#define IFUNC 10
#define LOCAL 0
#define GLOBAL 16
#define WEAK 32
#define UNIQUE 160

struct sample {
    const char *name;
    uint64_t address, size;
    uint8_t info;
    uint16_t section;
};

/* Writes symbols (after the empty first one) and their names; the sections refer to them. */
static void make_file(struct image *image, bool is_64, bool big_endian, bool full,
                      const struct sample *samples, size_t count)
{
    static const struct image_segment segments[] = {
        {1, 0, TEXT_ADDRESS, 0x2000}, {6, 0, 0, 0},
    };
    static const char names[] = "\0.text\0.more\0.data\0.syms\0.strs\0.names";
    image_make(image, is_64, big_endian, 0x40, is_64 ? 56 : 32, segments, COUNT_OF(segments), LENGTH);
    const size_t symbol = image_symbol_size(image);
    size_t text = 1;

    for (size_t i = 0; i < count; i++) {
        image_put_symbol(image, SYMBOLS_OFFSET + (i + 1) * symbol,
                         samples[i].name[0] ? (uint32_t)text : 0, samples[i].address,
                         samples[i].size, samples[i].info, samples[i].section);
        strcpy((char *)image->bytes + STRINGS_OFFSET + text, samples[i].name);
        text += strlen(samples[i].name) + 1;
    }
    memcpy(image->bytes + NAMES_OFFSET, names, sizeof(names));
    const struct image_section sections[SECTIONS] = {
        [TEXT] = {1, 1, 6, TEXT_ADDRESS, 0, 0x1000, 0, 0, 0},
        [MORE] = {7, 1, 6, MORE_ADDRESS, 0x1000, 0x200, 0, 0, 0},
        [DATA] = {13, 1, 3, DATA_ADDRESS, 0x2000, 0x1000, 0, 0, 0},
        [SYMBOLS] = {19, full ? 2 : 11, 0, 0, SYMBOLS_OFFSET, (count + 1) * symbol, STRINGS, 1,
                     symbol},
        [STRINGS] = {25, 3, 0, 0, STRINGS_OFFSET, text, 0, 0, 0},
        [NAMES] = {31, 3, 0, 0, NAMES_OFFSET, sizeof(names), 0, 0, 0},
    };
    image_put_sections(image, SECTION_TABLE, sections, SECTIONS);
}

static int find_one(const struct elf *elf, uint64_t address, struct text *answer)
{
    struct elf_found found = {0};
    int result = elf_find(elf, &address, 1, &found);

    text_clear(answer);
    if (found.found)
        text_format(answer, "%s %llx", found.name.data, (unsigned long long)found.start);
    else
        text_add(answer, "-");
    elf_found_free(&found, 1);
    return result;
}

struct question {
    uint64_t address;
    const char *full, *dynamic; /* NULL: the same as the full one */
};

#define MOST_QUESTIONS 64

static void ask(const struct image *image, bool full, const struct question *questions, size_t count)
{
    uint64_t addresses[MOST_QUESTIONS];
    struct elf_found found[MOST_QUESTIONS] = {0};
    AUTO_TEXT answer = {0};
    AUTO_ELF elf = open_image(image);

    for (size_t i = 0; i < count; i++)
        addresses[i] = questions[i].address;
    /* All at once, and one by one. */
    CHECK_NUMBER(elf_find(&elf, addresses, count, found), 0);
    for (size_t i = 0; i < count; i++) {
        const char *right = !full && questions[i].dynamic ? questions[i].dynamic
                                                          : questions[i].full;
        CHECK_NUMBER(find_one(&elf, addresses[i], &answer), 0);
        CHECK_STRING(answer.data, right);
        text_clear(&answer);
        if (found[i].found)
            text_format(&answer, "%s %llx", found[i].name.data, (unsigned long long)found[i].start);
        else
            text_add(&answer, "-");
        CHECK_STRING(answer.data, right);
    }
    elf_found_free(found, count);
}

/* Both tables, both classes, both byte orders. */
static void ask_all(const struct sample *samples, size_t count, const struct question *questions,
                    size_t question_count, uint16_t machine)
{
    struct image image;

    for (int kind = 0; kind < 8; kind++) {
        make_file(&image, kind & 1, kind & 2, kind & 4, samples, count);
        image_put(&image, 18, 2, machine);
        ask(&image, kind & 4, questions, question_count);
    }
}

#define ASK(samples, questions, machine)                                                       \
    ask_all(samples, COUNT_OF(samples), questions, COUNT_OF(questions), machine)

TEST(which_alias)
{
    static const struct sample samples[] = {
        {"local", 0x10000, 16, FUNCTION | LOCAL, TEXT},
        {"weak", 0x10000, 16, FUNCTION | WEAK, TEXT},
        {"__global", 0x10000, 16, FUNCTION | GLOBAL, TEXT},
        {"untyped", 0x10000, 16, LABEL | GLOBAL, TEXT},
        {"__two", 0x10010, 16, FUNCTION | GLOBAL, TEXT},
        {"_one_of_them", 0x10010, 16, FUNCTION | GLOBAL, TEXT},
        {"___three", 0x10010, 16, FUNCTION | GLOBAL, TEXT},
        {"longer", 0x10020, 16, FUNCTION | WEAK, TEXT},
        {"short", 0x10020, 16, FUNCTION | WEAK, TEXT},
        {"b", 0x10030, 16, FUNCTION, TEXT},
        {"a", 0x10030, 16, FUNCTION, TEXT},
        {"c", 0x10030, 16, FUNCTION, TEXT},
        {"without_size", 0x10040, 0, FUNCTION | GLOBAL, TEXT},
        {"with_size", 0x10040, 16, FUNCTION | LOCAL, TEXT},
        {"unique", 0x10050, 16, FUNCTION | UNIQUE, TEXT},
        {"wea", 0x10050, 16, FUNCTION | WEAK, TEXT},
        {"chosen@@V_2", 0x10060, 16, IFUNC | GLOBAL, TEXT},
        {"chosen_@V_1", 0x10060, 16, IFUNC | GLOBAL, TEXT},
        {"@", 0x10070, 16, IFUNC | GLOBAL, TEXT},
    };
    static const struct question questions[] = {
        {0xffff, "-", 0},
        {0x10000, "__global 10000", 0},
        {0x1000f, "__global 10000", 0},
        {0x10010, "_one_of_them 10010", 0},
        {0x10020, "short 10020", 0},
        {0x1002f, "short 10020", 0},
        {0x10035, "a 10030", 0},
        {0x10040, "with_size 10040", 0},
        {0x1004f, "with_size 10040", 0},
        {0x10050, "unique 10050", 0},
        {0x10060, "chosen 10060", 0},
        {0x10070, "@ 10070", 0},
        {0x10080, "-", 0},
        {UINT32_MAX, "-", 0},
    };
    ASK(samples, questions, 62);
}

/* Local functions in several sources may share a name, which is in the file once. */
TEST(one_name_for_two)
{
    static const struct sample samples[] = {
        {"cleanup", 0x10000, 16, FUNCTION, TEXT}, {"other", 0x10010, 16, FUNCTION, TEXT},
    };
    static const struct question questions[] = {
        {0x10000, "cleanup 10000", 0}, {0x1000f, "cleanup 10000", 0},
        {0x10010, "cleanup 10010", 0}, {0x1001f, "cleanup 10010", 0},
    };
    struct image image;

    make_file(&image, true, false, true, samples, COUNT_OF(samples));
    image_put(&image, SYMBOLS_OFFSET + 48, 4, 1);
    ask(&image, true, questions, COUNT_OF(questions));
}

TEST(what_is_no_function)
{
    static const struct sample samples[] = {
        {"object", 0x10000, 16, 1 | GLOBAL, TEXT},
        {"section", 0x10000, 16, 3, TEXT},
        {"file", 0x10000, 16, 4, TEXT},
        {"tls", 0x10000, 16, 6, TEXT},
        {"undefined", 0x10000, 16, FUNCTION | GLOBAL, 0},
        {"absolute", 0x10000, 16, FUNCTION | GLOBAL, 0xfff1},
        {"common", 0x10000, 16, FUNCTION | GLOBAL, 0xfff2},
        {"data", 0x12000, 16, FUNCTION | GLOBAL, DATA},
        {"data_label", 0x12000, 0, LABEL | GLOBAL, DATA},
        {"", 0x10000, 16, FUNCTION | GLOBAL, TEXT},
        {".Llabel", 0x10004, 0, LABEL, TEXT},
        {"elsewhere", 0x10100, 16, FUNCTION | GLOBAL, 0xffff}, /* said in another table */
        {"beyond", 0x10200, 16, FUNCTION | GLOBAL, 77},
        {"nowhere", 0x20000, 16, FUNCTION | GLOBAL, 0xffff},
    };
    static const struct question questions[] = {
        {0x10000, "-", 0}, {0x10004, "-", 0}, {0x1000f, "-", 0},
        {0x10108, "elsewhere 10100", 0}, {0x10208, "beyond 10200", 0}, {0x12000, "-", 0},
        {0x20000, "-", 0},
    };
    ASK(samples, questions, 62);
}

/* If functions overlap, the nearest start that covers the address counts. */
TEST(nested_functions)
{
    static const struct sample samples[] = {
        {"outer", 0x10000, 0x100, FUNCTION | LOCAL, TEXT},
        {"inner", 0x10040, 0x20, FUNCTION | LOCAL, TEXT},
        {"innermost", 0x10048, 4, FUNCTION | LOCAL, TEXT},
        {"across", 0x100f0, 0x20, FUNCTION | LOCAL, TEXT},
        {"label", 0x10080, 0, LABEL | LOCAL, TEXT},
        {"entry", 0x10090, 0, FUNCTION | LOCAL, TEXT},
        {"sized_label", 0x100a0, 8, LABEL | LOCAL, TEXT},
        {"huge", 0x11000, UINT64_MAX, FUNCTION, MORE},
    };
    static const struct question questions[] = {
        {0x10000, "outer 10000", 0},     {0x1003f, "outer 10000", 0},
        {0x10040, "inner 10040", 0},     {0x10048, "innermost 10048", 0},
        {0x1004b, "innermost 10048", 0}, {0x1004c, "inner 10040", 0},
        {0x10060, "outer 10000", 0},     {0x10080, "outer 10000", 0},
        {0x10090, "entry 10090", 0},     {0x10091, "outer 10000", 0},
        {0x100a4, "sized_label 100a0", 0}, {0x100a8, "outer 10000", 0},
        {0x100ef, "outer 10000", 0},     {0x100f0, "across 100f0", 0},
        {0x10105, "across 100f0", 0},    {0x10110, "-", 0},
        {0x11000, "huge 11000", 0},      {0x1fffff, "huge 11000", 0},
    };
    ASK(samples, questions, 62);
}

/*
 * Without a size: if all functions have symbols, up to the next one or the end of the section;
 * otherwise only that address. A label in between is not a function.
 */
TEST(functions_without_size)
{
    static const struct sample samples[] = {
        {"_start", 0x10000, 0, LABEL | GLOBAL, TEXT},
        {"first", 0x10020, 16, FUNCTION | GLOBAL, TEXT},
        {"assembly", 0x10040, 0, FUNCTION | LOCAL, TEXT},
        {"loop", 0x10044, 0, LABEL | LOCAL, TEXT},
        {"other", 0x10060, 0, FUNCTION | LOCAL, TEXT},
        {"alias", 0x10060, 0, FUNCTION | WEAK, TEXT},
        {"lonely", 0x10100, 0, LABEL | LOCAL, TEXT},
        {"last", 0x10800, 0, FUNCTION | GLOBAL, TEXT},
        {"sized", 0x10900, 4, FUNCTION | GLOBAL, TEXT},
        {"unsized", 0x10900, 0, FUNCTION | GLOBAL, TEXT},
        {"init", 0x11000, 0, FUNCTION | GLOBAL, MORE},
    };
    static const struct question questions[] = {
        {0x10000, "_start 10000", 0},    {0x10001, "_start 10000", "-"},
        {0x1001f, "_start 10000", "-"},  {0x10020, "first 10020", 0},
        {0x10030, "-", 0},               {0x10040, "assembly 10040", 0},
        {0x10044, "assembly 10040", "loop 10044"},
        {0x1005f, "assembly 10040", "-"}, {0x10060, "alias 10060", 0},
        {0x10100, "alias 10060", "lonely 10100"},
        {0x107ff, "alias 10060", "-"},   {0x10800, "last 10800", 0},
        {0x108ff, "last 10800", "-"},    {0x10900, "sized 10900", 0},
        {0x10903, "sized 10900", 0},     {0x10904, "-", 0},
        {0x10fff, "-", 0},               {0x11000, "init 11000", 0},
        {0x111ff, "init 11000", "-"},    {0x11200, "-", 0},
    };
    ASK(samples, questions, 62);
}

TEST(names_of_arm)
{
    static const struct sample samples[] = {
        {"thumb", 0x10001, 16, FUNCTION | GLOBAL, TEXT},
        {"arm", 0x10010, 16, FUNCTION | GLOBAL, TEXT},
        {"$t", 0x10000, 0, LABEL, TEXT},
        {"$d.7", 0x10040, 0, LABEL, TEXT},
        {"$x", 0x10050, 0, LABEL, TEXT},
    };
    static const struct question arm[] = {
        {0x10000, "thumb 10000", 0}, {0x1000f, "thumb 10000", 0}, {0x10010, "arm 10010", 0},
        {0x10040, "-", 0}, {0x10050, "-", 0},
    };
    static const struct question x86[] = {
        {0x10000, "$t 10000", 0}, {0x10001, "thumb 10001", 0}, {0x1000f, "thumb 10001", 0},
        {0x10010, "arm 10010", 0}, {0x10040, "$d.7 10040", 0},
    };
    static const struct question arm64[] = {{0x10050, "-", 0}};
    ASK(samples, arm, 40);
    ASK(samples, arm64, 183);
    ASK(samples, x86, 62);
}

/* ---- Streams of all symbols ---- */

static int list(void *context, const struct elf_symbol *symbol)
{
    text_format(context, "%s:%llx:%llx:%u:%u ", symbol->name, (unsigned long long)symbol->address,
                (unsigned long long)symbol->size, symbol->type, symbol->binding);
    return 0;
}

static int stop_at_once(void *context, const struct elf_symbol *symbol)
{
    (void)symbol;
    return ++*(int *)context == 1 ? 1 : -EDOM;
}

TEST(every_function)
{
    static const struct sample samples[] = {
        {"one@@V", 0x10001, 16, FUNCTION | GLOBAL, TEXT}, {"$t", 0x10000, 0, LABEL, TEXT},
        {"data", 0x12000, 16, FUNCTION | GLOBAL, DATA},   {"two", 0x10010, 0, IFUNC | WEAK, TEXT},
        {"out", 0, 0, FUNCTION | GLOBAL, 0},              {"label", 0x10020, 0, LABEL, TEXT},
    };
    AUTO_TEXT text = {0};
    struct image image;

    for (int kind = 0; kind < 8; kind++) {
        int calls = 0;
        make_file(&image, kind & 1, kind & 2, kind & 4, samples, COUNT_OF(samples));
        image_put(&image, 18, 2, 40);
        AUTO_ELF elf = open_image(&image);
        text_clear(&text);
        CHECK_NUMBER(elf_each_function(&elf, list, &text), 0);
        CHECK_STRING(text.data, "one:10000:10:2:1 two:10010:0:10:2 label:10020:0:0:0 ");
        CHECK_NUMBER(elf_each_function(&elf, stop_at_once, &calls), 0);
        CHECK_NUMBER(elf_each_function(&elf, stop_at_once, &calls), -EDOM);
    }
}

/* ---- An image in memory: the kernel's own, of this process ---- */

struct vdso {
    uint64_t address;
    unsigned count;
};

static int take_clock(void *context, const struct elf_symbol *symbol)
{
    struct vdso *vdso = context;

    vdso->count++;
    if (strstr(symbol->name, "clock_gettime"))
        vdso->address = symbol->address;
    return 0;
}

TEST(the_vdso)
{
    const uint64_t base = getauxval(AT_SYSINFO_EHDR);
    struct vdso vdso = {0};
    AUTO_TEXT answer = {0};
    struct elf elf;
    AUTO_FD fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);

    if (base) {
        uint64_t offset, address;
        CHECK_NUMBER(elf_open_watched(&elf, fd, base, NULL), 0);
        CHECK_NUMBER(elf_each_function(&elf, take_clock, &vdso), 0);
        CHECK(vdso.count >= 2 && vdso.address);
        CHECK_NUMBER(find_one(&elf, vdso.address + 1, &answer), 0);
        CHECK(answer.data && strstr(answer.data, "clock_gettime"));
        CHECK(elf_offset_of(&elf, vdso.address, &offset));
        CHECK(elf_address_of(&elf, offset, &address) && address == vdso.address);
        elf_close(&elf);
        /* Where nothing is mapped. */
        CHECK(elf_open_watched(&elf, fd, 0x1000, NULL) < 0);
    }
}

/* ---- Without sections: what PT_DYNAMIC says ---- */

#define DYNAMIC 0x500
#define HASH 0x600

static void make_without_sections(struct image *image, bool is_64, bool big_endian, bool gnu)
{
    static const struct sample samples[] = {
        {"import", 0, 0, FUNCTION | GLOBAL, 0},
        {"first", 0x10000, 16, FUNCTION | GLOBAL, 9},
        {"second", 0x10010, 16, FUNCTION | GLOBAL, 9},
        {"third", 0x10020, 16, FUNCTION | GLOBAL, 9},
        {"behind_the_last", 0x10030, 16, FUNCTION | GLOBAL, 9},
    };
    static const struct image_segment segments[] = {
        {1, 0, TEXT_ADDRESS, 0x2400}, {2, DYNAMIC, TEXT_ADDRESS + DYNAMIC, 0x100},
    };
    const size_t word = is_64 ? 8 : 4;
    const uint64_t tags[][2] = {
        {5, TEXT_ADDRESS + STRINGS_OFFSET}, {10, 100}, {6, TEXT_ADDRESS + SYMBOLS_OFFSET},
        {11, is_64 ? 24 : 16}, {gnu ? 0x6ffffef5 : 4, TEXT_ADDRESS + HASH}, {0, 0},
        {6, 0x999}, /* past the end */
    };

    make_file(image, is_64, big_endian, false, samples, COUNT_OF(samples));
    image_put(image, image_shoff(image), word, 0);
    image_put(image, image_shnum(image), 2, 0);
    for (size_t i = 0; i < COUNT_OF(segments); i++)
        image_put_segment(image, 0x40 + i * (is_64 ? 56 : 32), &segments[i]);
    for (size_t i = 0; i < COUNT_OF(tags); i++) {
        image_put(image, DYNAMIC + i * 2 * word, word, tags[i][0]);
        image_put(image, DYNAMIC + i * 2 * word + word, word, tags[i][1]);
    }
    /* 1 bucket and 5 symbols; or 3 buckets, the first symbol is 2, two words of the filter */
    const uint32_t classic[] = {1, 5}, other[] = {3, 2, 2, 6};
    for (size_t i = 0; i < (gnu ? COUNT_OF(other) : COUNT_OF(classic)); i++)
        image_put(image, HASH + i * 4, 4, (gnu ? other : classic)[i]);
    const size_t buckets = HASH + 16 + 2 * word;
    const uint32_t rest[] = {0, 3, 2, /* and of symbols 2 3 4 */ 0x11, 0x22, 0x33, 0x40};
    for (size_t i = 0; gnu && i < COUNT_OF(rest); i++)
        image_put(image, buckets + i * 4, 4, rest[i]);
}

TEST(without_sections)
{
    static const struct question questions[] = {
        {0x10000, "first 10000", 0}, {0x1001f, "second 10010", 0}, {0x10020, "third 10020", 0},
        {0x10030, "-", 0},
    };
    struct image image;

    for (int kind = 0; kind < 8; kind++) {
        make_without_sections(&image, kind & 1, kind & 2, kind & 4);
        ask(&image, false, questions, COUNT_OF(questions));
        if (!(kind & 4))
            continue;
        image_put(&image, HASH + 4, 4, 5); /* none of the first five is hashed */
        for (size_t i = 0; i < 3; i++)
            image_put(&image, HASH + 16 + (kind & 1 ? 16 : 8) + i * 4, 4, 0);
        ask(&image, false, questions, COUNT_OF(questions));
    }
}

/* ---- PLT entries: x86-64, as ld and other linkers make them ---- */

#define PLT_OFFSET 0x680
#define PLT_ADDRESS (TEXT_ADDRESS + 0x800)
#define RELA_OFFSET 0x700

static void put_bytes(struct image *image, size_t at, const char *bytes, size_t size)
{
    memcpy(image->bytes + at, bytes, size);
}

/* jmp *WORD(%rip) at `skip` bytes into an entry */
static void put_jump(struct image *image, size_t entry, size_t skip, uint64_t word)
{
    const size_t at = PLT_OFFSET + entry * 16 + skip;

    put_bytes(image, at, "\xff\x25", 2);
    image_put(image, at + 2, 4, word - (PLT_ADDRESS + entry * 16 + skip + 6));
}

static void make_plt(struct image *image)
{
    static const struct sample samples[] = {
        {"malloc", 0, 0, FUNCTION | GLOBAL, 0},
        {"free", 0, 0, FUNCTION | GLOBAL, 0},
        {"strlen", 0x10000, 8, IFUNC | GLOBAL, TEXT},
        {"function", 0x10010, 8, FUNCTION | GLOBAL, TEXT},
    };
    static const char names[] = "\0.plt.sec\0.rela.plt\0.dynsym\0.dynstr\0.names\0.text";

    make_file(image, true, false, false, samples, COUNT_OF(samples));
    image_put(image, 18, 2, 62);
    put_jump(image, 1, 0, 0x18000);                     /* the classic form */
    put_bytes(image, PLT_OFFSET + 32, "\xf3\x0f\x1e\xfa\xf2", 5); /* endbr64; bnd */
    put_jump(image, 2, 5, 0x18008);
    put_bytes(image, PLT_OFFSET + 48, "\xf3\x0f\x1e\xfa\x41\xbb\1\0\0\0", 10);
    put_jump(image, 3, 10, 0x18000);                    /* mov $1,%r11d before it */
    put_jump(image, 4, 0, 0x18010);
    put_jump(image, 5, 0, 0x18018);                     /* a word without a relocation */
    put_bytes(image, PLT_OFFSET + 96, "\xff\x35\0\0\0\0\xff\x25", 8);
    const uint64_t rela[][3] = {
        {0x18000, (uint64_t)1 << 32 | 7, 0}, {0x18008, (uint64_t)2 << 32 | 7, 0},
        {0x18010, 37, 0x10000},              {0x18000, (uint64_t)2 << 32 | 7, 0},
        {0x18018, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rela) * 3; i++)
        image_put(image, RELA_OFFSET + i * 8, 8, rela[i / 3][i % 3]);
    memcpy(image->bytes + NAMES_OFFSET, names, sizeof(names));
    const struct image_section sections[] = {
        {0},
        {44, 1, 6, TEXT_ADDRESS, 0, 0x800, 0, 0, 0},
        {1, 1, 6, PLT_ADDRESS, PLT_OFFSET, 7 * 16, 0, 0, 16},
        {10, 4, 2, 0, RELA_OFFSET, sizeof(rela), 4, 0, 24},
        {20, 11, 2, 0, SYMBOLS_OFFSET, 24 * 5, 5, 1, 24},
        {28, 3, 2, 0, STRINGS_OFFSET, 32, 0, 0, 0},
        {36, 3, 0, 0, NAMES_OFFSET, sizeof(names), 0, 0, 0},
    };
    image_put_sections(image, SECTION_TABLE, sections, COUNT_OF(sections));
}

TEST(jump_table_entries)
{
    static const struct question questions[] = {
        {0x10000, "strlen 10000", 0},      {0x10800, "-", 0},
        {0x10810, "malloc@plt 10810", 0},  {0x1081f, "malloc@plt 10810", 0},
        {0x10820, "free@plt 10820", 0},    {0x10824, "free@plt 10820", 0},
        {0x10830, "malloc@plt 10830", 0},  {0x10845, "strlen@plt 10840", 0},
        {0x10850, "-", 0},                 {0x10860, "-", 0},
        {0x10870, "-", 0},
    };
    struct image image;

    make_plt(&image);
    ask(&image, false, questions, COUNT_OF(questions));
}

/* ---- Malformed files ---- */

/* Any bytes must give an answer or an error. */
static int look_at_all(const struct elf *elf)
{
    uint64_t addresses[40];
    struct elf_found found[COUNT_OF(addresses)] = {0};
    AUTO_TEXT text = {0};
    unsigned char id[ELF_LONGEST_BUILD_ID];
    size_t length;

    for (size_t i = 0; i < COUNT_OF(addresses); i++)
        addresses[i] = i + 1 < COUNT_OF(addresses) ? TEXT_ADDRESS + i * 0x73 : UINT64_MAX;
    int result = elf_find(elf, addresses, COUNT_OF(addresses), found);
    for (size_t i = 0; i < COUNT_OF(addresses); i++)
        CHECK(!found[i].found || found[i].name.length);
    elf_found_free(found, COUNT_OF(addresses));
    int streamed = elf_each_function(elf, list, &text);
    CHECK(streamed == 0 || streamed == -ENOEXEC);
    elf_build_id(elf, id, &length);
    return result;
}

static void make_kind(struct image *image, int kind)
{
    static const struct sample samples[] = {
        {"one", 0x10000, 0x100, FUNCTION | GLOBAL, TEXT},
        {"two", 0x10100, 0x200, FUNCTION | GLOBAL, TEXT},
        {"zero", 0x10300, 0, FUNCTION | GLOBAL, TEXT},
        {"too", 0x10100, 0x200, FUNCTION | GLOBAL, TEXT},
    };
    const bool is_64 = kind & 1, big_endian = kind & 2;

    switch (kind / 4 % 5) {
    case 0: make_file(image, is_64, big_endian, true, samples, COUNT_OF(samples)); break;
    case 1: make_file(image, is_64, big_endian, false, samples, COUNT_OF(samples)); break;
    case 2: make_without_sections(image, is_64, big_endian, false); break;
    case 3: make_without_sections(image, is_64, big_endian, true); break;
    default: make_plt(image);
    }
}

TEST(cut_at_every_byte)
{
    struct image image;
    struct elf elf;
    unsigned opened = 0;

    for (int kind = 0; kind <= 16; kind++) {
        make_kind(&image, kind);
        AUTO_FD fd = image_file(&image, image.length);
        for (size_t length = image.length; length-- > 0;) {
            CHECK_NUMBER(ftruncate(fd, (off_t)length), 0);
            int result = elf_open(&elf, fd);
            CHECK(result == 0 || result == -ENOEXEC);
            if (result)
                continue;
            CHECK_NUMBER(look_at_all(&elf), 0);
            elf_close(&elf);
            opened++;
        }
    }
    CHECK(opened > 16 * 0x800);
}

TEST(random_mutations)
{
    static const uint32_t extremes[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x10000, 0xfff};
    struct image image, mutant;
    struct elf elf;
    unsigned opened = 0;
    AUTO_FD fd = memfd_create("mutants", MFD_CLOEXEC);

    srand(7);
    for (int round = 0, most = rounds(20000); round < most; round++) {
        if (!(round & 7))
            make_kind(&image, round / 8 % 20);
        mutant = image;
        for (int i = rand() % 4; i >= 0; i--) {
            static const size_t ends[] = {0x40, 0xc0, LENGTH, LENGTH};
            static const size_t starts[] = {0, 0, SECTION_TABLE, SYMBOLS_OFFSET};
            int part = rand() % 4;
            size_t at = starts[part] + (size_t)rand() % (ends[part] - starts[part] - 8);
            if (rand() % 2)
                image_put(&mutant, at / 4 * 4, 4, extremes[(size_t)rand() % COUNT_OF(extremes)]);
            else
                mutant.bytes[at] = (unsigned char)rand();
        }
        if (pwrite(fd, mutant.bytes, mutant.length, 0) != (ssize_t)mutant.length)
            WRONG("a file");
        if (elf_open(&elf, fd))
            continue;
        int result = look_at_all(&elf);
        CHECK(result == 0 || result == -ENOEXEC);
        elf_close(&elf);
        opened++;
    }
    CHECK(opened > (unsigned)rounds(5000));
}

/* Tables that claim the largest possible sizes; sparse files can have any length. */
TEST(endless_tables)
{
    struct image image;
    struct elf elf;

    for (int kind = 0; kind < 20; kind++) {
        const size_t word = kind & 1 || kind >= 16 ? 8 : 4;
        static const uint64_t sizes[] = {UINT64_MAX, INT64_MAX, 0x7fffffff, 0xffffffff};
        for (size_t i = 0; i < COUNT_OF(sizes) * SECTIONS; i++) {
            make_kind(&image, kind);
            if (kind / 4 == 2 || kind / 4 == 3)
                image_put(&image, HASH + i % SECTIONS * 4, 4, sizes[i / SECTIONS]);
            else
                image_put(&image, SECTION_TABLE + i % SECTIONS * image_section_size(&image) + 8 +
                          3 * word, word, sizes[i / SECTIONS]);
            AUTO_FD fd = image_file(&image, image.length);
            CHECK_NUMBER(ftruncate(fd, 0x800000), 0);
            CHECK_NUMBER(elf_open(&elf, fd), 0);
            CHECK_NUMBER(look_at_all(&elf), 0);
            elf_close(&elf);
        }
    }
}

/* Every symbol covers every address, and all have the same rank: the work is still bounded. */
TEST(all_cover_all)
{
    enum { COUNT = 200000, ADDRESSES = 2000 };
    static const struct sample one[] = {{"name", TEXT_ADDRESS, 0x1000, FUNCTION, TEXT}};
    struct image image;
    AUTO(elf_close) struct elf elf;
    uint64_t *addresses = calloc(ADDRESSES, sizeof(*addresses));
    struct elf_found *found = calloc(ADDRESSES, sizeof(*found));
    unsigned char (*symbols)[24] = calloc(COUNT, sizeof(*symbols));

    make_file(&image, true, false, true, one, 1);
    const size_t header = SECTION_TABLE + SYMBOLS * 64;
    image_put(&image, header + 24, 8, LENGTH);
    image_put(&image, header + 32, 8, (uint64_t)COUNT * 24);
    for (size_t i = 0; i < COUNT; i++) {
        memcpy(symbols[i], image.bytes + SYMBOLS_OFFSET + 24, 24);
        symbols[i][0] = (unsigned char)(1 + i % 4); /* "name", "ame", "me", "e" */
    }
    for (size_t i = 0; i < ADDRESSES; i++)
        addresses[i] = TEXT_ADDRESS + i;
    AUTO_FD fd = image_file(&image, image.length);
    CHECK_NUMBER(pwrite(fd, symbols, (size_t)COUNT * 24, LENGTH), (ssize_t)COUNT * 24);
    CHECK_NUMBER(elf_open(&elf, fd), 0);
    CHECK_NUMBER(elf_find(&elf, addresses, ADDRESSES, found), 0);
    for (size_t i = 0; i < ADDRESSES; i++)
        if (!found[i].found || strcmp(found[i].name.data, "e"))
            WRONG("a name");
    elf_found_free(found, ADDRESSES);
    free(found);
    free(addresses);
    free(symbols);
}

/* A name that is read in several pieces is whole; one that never ends is cut, and not used. */
TEST(long_names)
{
    enum { ROOM = 40000 };
    static const struct sample one[] = {{"n", TEXT_ADDRESS, 16, FUNCTION, TEXT}};
    static const size_t lengths[] = {255, 256, 257, 4095, 4096, 5000, 16383, 16384, 16385, 39998};
    static const struct demangle_options config;
    char *name = malloc(ROOM);
    struct image image;
    struct elf elf;

    memset(name, 'i', ROOM);
    memcpy(name + 1, "_Z1f", 4); /* f(int, int ... */
    make_file(&image, true, false, true, one, 1);
    image_put(&image, SECTION_TABLE + STRINGS * 64 + 24, 8, LENGTH);
    image_put(&image, SECTION_TABLE + STRINGS * 64 + 32, 8, ROOM);
    AUTO_FD fd = image_file(&image, image.length);
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
        struct elf_found found = {0};
        const uint64_t address = TEXT_ADDRESS;
        name[lengths[i] + 1] = '\0';
        CHECK_NUMBER(pwrite(fd, name, ROOM, LENGTH), ROOM);
        name[lengths[i] + 1] = 'i';
        CHECK_NUMBER(elf_open(&elf, fd), 0);
        CHECK_NUMBER(elf_find(&elf, &address, 1, &found), 0);
        bool is_cut = lengths[i] > 16384;
        CHECK(found.found);
        CHECK_NUMBER(found.name.length, is_cut ? 16384 + strlen("...") : lengths[i]);
        CHECK_NUMBER(!strcmp(found.name.data + found.name.length - 3, "..."), is_cut);
        AUTO_TEXT text = {0};
        CHECK_NUMBER(demangle_symbol(found.name.data, &config, &text), is_cut ? -EINVAL : 0);
        text_clear(&text);
        CHECK_NUMBER(elf_each_function(&elf, list, &text), 0);
        CHECK(text.length > found.name.length);
        elf_found_free(&found, 1);
        elf_close(&elf);
    }
    free(name);
}

/* Another process truncates and refills the file while it is read. */
TEST(a_file_that_shrinks)
{
    struct image image;
    struct elf elf;
    unsigned whole = 0, other = 0;

    make_kind(&image, 1);
    AUTO_FD fd = image_file(&image, image.length);
    pid_t child = fork();
    if (!child)
        for (;;)
            if (ftruncate(fd, rand() % LENGTH) || pwrite(fd, image.bytes, image.length, 0) < 0)
                _exit(1);
    uint64_t end = now_ns() + 5000000000;
    while ((whole < 100 || other < 100) && now_ns() < end) {
        const uint64_t address = TEXT_ADDRESS + 0x10;
        struct elf_found found = {0};
        if (elf_open(&elf, fd))
            continue;
        CHECK_NUMBER(elf_find(&elf, &address, 1, &found), 0);
        whole += found.found && !strcmp(found.name.data, "one");
        other += !found.found;
        elf_found_free(&found, 1);
        elf_close(&elf);
    }
    CHECK(whole && other);
    if (child > 0) /* kill(-1) signals all processes */
        kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

TEST_MAIN
