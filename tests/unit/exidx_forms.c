/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * .ARM.exidx and .ARM.extab written by hand, byte by byte after the Exception Handling ABI for the Arm
 * Architecture (sections 6 and 10), and the rules they mean.
 */
#include "elf/frame_entries.h"
#include "elf_image.h"
#include "test.h"

#define CODE_AT 0x1000
#define CODE 0x12000
#define CODE_BYTES 0x400
#define EXTAB_AT 0x200
#define EXTAB 0x20200
#define INDEX 0x20100

#define CANNOT 1u
#define FINISH 0xb0

static struct image image;
static unsigned char entries[4 * FRAME_EXIDX_BYTES];
static struct frame_section sections;

static void start(uint64_t code, uint64_t index)
{
    const struct image_segment segments[] = {
        {1, CODE_AT, code, CODE_BYTES},
        {1, EXTAB_AT, EXTAB, 0x400},
    };

    image_make(&image, false, false, 64, 32, segments, 2, CODE_AT + CODE_BYTES);
    image_put(&image, 64 + 32 + 24, 4, 4); /* the second one has no code */
    image_put(&image, 18, 2, 40);          /* EM_ARM */
    memset(entries, 0, sizeof(entries));
    sections = (struct frame_section){.bytes = entries, .size = sizeof(entries), .address = index};
}

/* An offset of 31 bits, from where it is stored. */
static uint32_t offset_to(uint64_t target, uint64_t from)
{
    return (uint32_t)(target - from) & 0x7fffffff;
}

static void put_entry(unsigned number, uint64_t function, uint32_t word)
{
    const size_t at = number * FRAME_EXIDX_BYTES;
    const uint32_t words[] = {offset_to(function, sections.address + at), word};

    for (size_t i = 0; i < FRAME_EXIDX_BYTES; i++)
        entries[at + i] = (unsigned char)(words[i / 4] >> 8 * (i % 4));
}

struct seen {
    unsigned count;
    uint64_t start, end, address;
    struct unwind_rule rule;
};

static int see(void *context, const struct frame_entry *entry)
{
    struct seen *seen = context;

    seen->count++;
    seen->start = entry->start;
    seen->end = entry->end;
    seen->address = entry->row->address;
    seen->rule = entry->row->rule;
    return 0;
}

static int read_entry(size_t at, struct seen *seen)
{
    AUTO_ELF elf = open_image(&image);

    sections.elf = &elf;
    *seen = (struct seen){0};
    return frame_exidx_see(&sections, at, see, seen);
}

/* ---- Instructions ---- */

struct form {
    const char *name;
    unsigned char code[12];
    size_t bytes;
    struct unwind_rule rule;
};

/* At calls: by the stack pointer, unless `cfa` says otherwise; nothing is saved, unless a place is given. */
#define LINK .return_kind = UNWIND_RETURN_IN_LINK
#define SAME .base = UNWIND_BASE_SAME
#define R7_AT(place) .frame_kind = UNWIND_FRAME_AT_CFA, .frame = (place)
#define BY(reg, at, ...) {.cfa = UNWIND_BY_##reg, .offset = (at), .inner = UNWIND_AT_CALLS, __VA_ARGS__}
#define BY_SP(...) BY(SP, __VA_ARGS__)
#define NO_RULE {.cfa = UNWIND_UNKNOWN}
#define FORM(name, rule, ...) {name, {__VA_ARGS__}, sizeof((unsigned char[]){__VA_ARGS__}), rule}
#define RULE(...) __VA_ARGS__ /* which has commas */

static const struct form forms[] = {
    FORM("vsp + 4", RULE(BY_SP(4, LINK, SAME)), 0x00),
    FORM("vsp + 256", RULE(BY_SP(256, LINK, SAME)), 0x3f),
    FORM("vsp + 8 - 4", RULE(BY_SP(4, LINK, SAME)), 0x01, 0x40),
    FORM("vsp + 256 - 252", RULE(BY_SP(4, LINK, SAME)), 0x3f, 0x7e),
    FORM("vsp - 4", RULE(NO_RULE), 0x40),
    FORM("nothing after the end", RULE(BY_SP(4, LINK, SAME)), 0x00, FINISH, 0x3f),
    FORM("pop r14", RULE(BY_SP(4, .ret = -4, SAME)), 0x84, 0x00),
    FORM("pop r7", RULE(BY_SP(4, R7_AT(-4), LINK, SAME)), 0x80, 0x08),
    FORM("pop r11", RULE(BY_SP(4, LINK, .base = -4)), 0x80, 0x80),
    FORM("pop r4, r5, r7, r11, r14", RULE(BY_SP(20, R7_AT(-12), .ret = -4, .base = -8)), 0x84, 0x8b),
    FORM("pop r14, then vsp + 8", RULE(BY_SP(12, .ret = -12, SAME)), 0x84, 0x00, 0x01),
    FORM("refuse to unwind", RULE(NO_RULE), 0x80, 0x00),
    FORM("pop r13", RULE(NO_RULE), 0x82, 0x00),
    FORM("pop r15", RULE(NO_RULE), 0x88, 0x00),
    FORM("vsp = r7", RULE(BY(FRAME, 8, LINK, SAME)), 0x97, 0x01),
    FORM("vsp = r11", RULE(BY(REGISTER, 4, .reg = 11, LINK, SAME)), 0x3f, 0x9b, 0x00),
    FORM("vsp = r4", RULE(NO_RULE), 0x94),
    FORM("vsp = r13", RULE(NO_RULE), 0x9d),
    FORM("vsp = r15", RULE(NO_RULE), 0x9f),
    FORM("vsp = r7 after a pop", RULE(NO_RULE), 0xa0, 0x97),
    FORM("pop r4", RULE(BY_SP(4, LINK, SAME)), 0xa0),
    FORM("pop r4-r7", RULE(BY_SP(16, R7_AT(-4), LINK, SAME)), 0xa3),
    FORM("pop r4-r7, r14", RULE(BY_SP(20, R7_AT(-8), .ret = -4, SAME)), 0xab),
    FORM("pop r4-r11, r14", RULE(BY_SP(36, R7_AT(-24), .ret = -4, .base = -8)), 0xaf),
    FORM("pop r0-r3", RULE(BY_SP(16, LINK, SAME)), 0xb1, 0x0f),
    FORM("pop r3", RULE(BY_SP(4, LINK, SAME)), 0xb1, 0x08),
    FORM("spare: b1 00", RULE(NO_RULE), 0xb1, 0x00),
    FORM("spare: b1 10", RULE(NO_RULE), 0xb1, 0x11),
    FORM("vsp + 0x204 + 16", RULE(BY_SP(0x214, LINK, SAME)), 0xb2, 0x04),
    FORM("vsp + 0x204 + 516", RULE(BY_SP(0x408, LINK, SAME)), 0xb2, 0x81, 0x01),
    FORM("vsp + 0x204 + 0x40000", RULE(BY_SP(0x40204, LINK, SAME)), 0xb2, 0x80, 0x80, 0x04),
    FORM("far return", RULE(NO_RULE), 0x84, 0x00, 0xb2, 0x80, 0x80, 0x04),
    FORM("far r7", RULE(BY_SP(0x40208, .frame_kind = UNWIND_FRAME_LOST, .frame = (int16_t)-0x208, LINK, SAME)),
         0x80, 0x08, 0xb2, 0x80, 0x80, 0x04),
    FORM("far r11", RULE(BY_SP(0x40208, LINK, .base = 0)), 0x80, 0x80, 0xb2, 0x80, 0x80, 0x04),
    FORM("FSTMFDX, any", RULE(BY_SP(36, LINK, SAME)), 0xb3, 0x53),
    FORM("FSTMFDX, from D8", RULE(BY_SP(36, LINK, SAME)), 0xbb),
    FORM("VPUSH, from D16", RULE(BY_SP(32, LINK, SAME)), 0xc8, 0x53),
    FORM("VPUSH, any", RULE(BY_SP(32, LINK, SAME)), 0xc9, 0x53),
    FORM("VPUSH, from D8", RULE(BY_SP(32, LINK, SAME)), 0xd3),
    FORM("wireless MMX", RULE(NO_RULE), 0xc0),
    FORM("a return address's code", RULE(NO_RULE), 0xb4),
    FORM("spare: b7", RULE(NO_RULE), 0xb7),
    FORM("spare: ca", RULE(NO_RULE), 0xca),
    FORM("spare: d8", RULE(NO_RULE), 0xd8),
    FORM("spare: ff", RULE(NO_RULE), 0xff),
    FORM("cut off", RULE(NO_RULE), 0x00, 0x00, 0x84),
    FORM("a signal's frame", RULE({.cfa = UNWIND_SIGNAL, .offset = 8}), 0x01, 0xb1, 0x0f, 0x8f, 0xff),
    FORM("all registers, but not in a row", RULE(NO_RULE), 0xb1, 0x0f, 0x00, 0x8f, 0xff),
    FORM("all registers, by r7", RULE(NO_RULE), 0x97, 0xb1, 0x0f, 0x8f, 0xff),
    FORM("all but r0", RULE(NO_RULE), 0xb1, 0x0e, 0x8f, 0xff),
};

/* In the index itself; in .ARM.extab as the compact models 0 and 1; and after a personality routine. */
enum way { HERE, SHORT, LONG, GENERIC, WAYS };

/* The bytes of the instructions from `at` on, the first in the highest ones, with ends behind them. */
static uint32_t word_of(const struct form *form, size_t *at, unsigned bytes)
{
    uint32_t word = 0;

    for (; bytes--; ++*at)
        word = word << 8 | (*at < form->bytes ? form->code[*at] : FINISH);
    return word;
}

/* False: there is no room for them. A form that is cut off has to fill its words. */
static bool put_form(const struct form *form, enum way way)
{
    const unsigned in_first = way == LONG ? 2 : 3;
    const size_t rest = form->bytes > in_first ? form->bytes - in_first : 0, words = (rest + 3) / 4;
    size_t at = 0, place = EXTAB_AT;

    if ((way < LONG && rest) || (!strcmp(form->name, "cut off") && way == LONG))
        return false;
    const uint32_t first = word_of(form, &at, in_first);
    if (way == HERE) {
        put_entry(0, CODE, 0x80000000 | first);
        return true;
    }
    put_entry(0, CODE, offset_to(EXTAB, INDEX + 4));
    if (way == GENERIC) {
        image_put(&image, place, 4, offset_to(CODE, EXTAB));
        place += 4;
    }
    image_put(&image, place, 4, way == SHORT  ? 0x80000000 | first
                                : way == LONG ? 0x81000000 | (uint32_t)words << 16 | first
                                              : (uint32_t)words << 24 | first);
    for (size_t i = 0; i < words; i++)
        image_put(&image, place += 4, 4, word_of(form, &at, 4));
    return true;
}

TEST(instructions)
{
    struct seen seen;
    bool is_wrong;

    for (size_t i = 0; i < COUNT_OF(forms); i++)
        for (enum way way = HERE; way < WAYS; way++) {
            const struct unwind_rule *rule = &forms[i].rule;
            start(CODE, INDEX);
            if (!put_form(&forms[i], way))
                continue;
            put_entry(1, CODE + 0x40, CANNOT);
            is_wrong = read_entry(0, &seen) != 0;
            if (rule->cfa == UNWIND_UNKNOWN)
                is_wrong = is_wrong || seen.count;
            else
                is_wrong = is_wrong || seen.count != 1 || memcmp(&seen.rule, rule, sizeof(*rule)) ||
                           seen.start != CODE || seen.address != CODE || seen.end != CODE + 0x40;
            CHECK(!is_wrong);
            if (is_wrong)
                printf("  %s, way %d: rule %u, %d\n", forms[i].name, way, seen.rule.cfa, seen.rule.offset);
        }
}

/* Repeats `vsp + 0x3fffffc + 0x204`, five bytes, in .ARM.extab. */
static int read_sums(unsigned count, struct seen *seen)
{
    static const unsigned char sum[] = {0xb2, 0xff, 0xff, 0xff, 0x07};
    const unsigned bytes = count * (unsigned)sizeof(sum), words = (bytes + 3) / 4;

    start(CODE, INDEX);
    put_entry(0, CODE, offset_to(EXTAB, INDEX + 4));
    image_put(&image, EXTAB_AT, 4, 0x81004000 | words << 16); /* vsp - 4, and + 4 */
    for (unsigned i = 0; i < 4 * words; i++) /* the highest byte of a word comes first */
        image.bytes[EXTAB_AT + 4 + (i ^ 3)] = i < bytes ? sum[i % sizeof(sum)] : FINISH;
    return read_entry(0, seen);
}

TEST(large_numbers)
{
    struct seen seen;

    CHECK_NUMBER(read_sums(31, &seen), 0);
    CHECK_NUMBER(seen.rule.offset, 31 * (0x3fffffcLL + 0x204));
    CHECK_NUMBER(read_sums(32, &seen), 0); /* past INT32_MAX */
    CHECK_NUMBER(seen.count, 0);
    CHECK_NUMBER(read_sums(51, &seen), 0); /* 64 words: no more are read */
    CHECK_NUMBER(read_sums(52, &seen), -EBADMSG);
}

TEST(places)
{
    static const struct {
        uint64_t code, index;
    } places[] = {
        {CODE, INDEX},
        {CODE, 0x100},
        {0xfffff000, 0x100}, /* offsets wrap at 32 bits */
    };
    struct seen seen;
    uint64_t begins;

    for (size_t i = 0; i < COUNT_OF(places); i++) {
        start(places[i].code, places[i].index);
        put_entry(0, places[i].code + 0x10, 0x8000b0b0);
        put_entry(1, places[i].code + 0x30, 0x8001b0b0);
        put_entry(2, places[i].code + CODE_BYTES + 0x10, CANNOT);
        CHECK_NUMBER(read_entry(0, &seen), 0);
        CHECK(seen.start == places[i].code + 0x10 && seen.end == places[i].code + 0x30);
        /* The last one ends with its segment. */
        CHECK_NUMBER(read_entry(FRAME_EXIDX_BYTES, &seen), 0);
        CHECK(seen.start == places[i].code + 0x30 && seen.end == places[i].code + CODE_BYTES);
        CHECK_NUMBER(seen.rule.offset, 8);
        CHECK(frame_exidx_start(&sections, 2 * FRAME_EXIDX_BYTES, &begins));
        CHECK_NUMBER(begins, (places[i].code + CODE_BYTES + 0x10) & UINT32_MAX);
        CHECK(!frame_exidx_start(&sections, 2 * FRAME_EXIDX_BYTES + 4, &begins)); /* between entries */
    }
}

TEST(damaged_entries)
{
    struct seen seen;
    uint64_t begins;

    start(CODE, INDEX);
    put_entry(0, CODE + 0x10, 0x8000b0b0);
    put_entry(1, CODE + 0x10, 0x8000b0b0);
    put_entry(2, CODE + CODE_BYTES, 0x8000b0b0); /* not in code, nor is the next one */
    put_entry(3, CODE + CODE_BYTES, CANNOT);
    CHECK_NUMBER(read_entry(0, &seen), -EBADMSG); /* it is empty */
    CHECK_NUMBER(read_entry(2 * FRAME_EXIDX_BYTES, &seen), -EBADMSG);
    CHECK_NUMBER(read_entry(3 * FRAME_EXIDX_BYTES, &seen), 0);
    CHECK_NUMBER(seen.count, 0);
    CHECK_NUMBER(read_entry(4, &seen), -EBADMSG);
    CHECK_NUMBER(read_entry(4 * FRAME_EXIDX_BYTES, &seen), -EBADMSG);
    put_entry(1, CODE + 0x40, 0x8000b0b0);
    CHECK_NUMBER(read_entry(FRAME_EXIDX_BYTES, &seen), 0);
    entries[FRAME_EXIDX_BYTES + 3] |= 0x80;
    CHECK_NUMBER(read_entry(FRAME_EXIDX_BYTES, &seen), -EBADMSG);
    CHECK(!frame_exidx_start(&sections, FRAME_EXIDX_BYTES, &begins));
    /* .ARM.extab elsewhere, and one that ends too early */
    put_entry(1, CODE + 0x40, offset_to(0x40000, INDEX + FRAME_EXIDX_BYTES + 4));
    CHECK_NUMBER(read_entry(FRAME_EXIDX_BYTES, &seen), -EBADMSG);
    put_entry(1, CODE + 0x40, offset_to(EXTAB + 0x3fc, INDEX + FRAME_EXIDX_BYTES + 4));
    image_put(&image, EXTAB_AT + 0x3fc, 4, 0x8101b0b0);
    CHECK_NUMBER(read_entry(FRAME_EXIDX_BYTES, &seen), -EBADMSG);
    image_put(&image, EXTAB_AT + 0x3fc, 4, 0x8100b0b0);
    CHECK_NUMBER(read_entry(FRAME_EXIDX_BYTES, &seen), 0);
}

/* exit(2) of a thread, in a function that cannot be unwound: there its stack has its root. */
TEST(thread_exits)
{
    static const unsigned char thumb[] = {0x4f, 0xf0, 0x01, 0x07, 0x00, 0xdf}; /* mov.w r7, #1; svc 0 */
    static const unsigned char arm[] = {0x01, 0x70, 0xa0, 0xe3, 0, 0, 0, 0xef};
    struct seen seen;

    for (int i = 0; i < 4; i++) {
        start(CODE, INDEX);
        put_entry(0, CODE, CANNOT);
        put_entry(1, CODE + 0x40, CANNOT);
        memcpy(image.bytes + CODE_AT + (i == 2 ? 0 : 0x10), i % 2 ? arm : thumb,
               i % 2 ? sizeof(arm) : sizeof(thumb));
        if (i == 3)
            image.bytes[CODE_AT + 0x10 + 7] = 0xee; /* another instruction */
        CHECK_NUMBER(read_entry(0, &seen), 0);
        CHECK_NUMBER(seen.count, i < 2);
        if (i < 2) {
            CHECK_NUMBER(seen.rule.cfa, UNWIND_ROOT);
            CHECK(seen.start == CODE + 0xf && seen.address == seen.start && seen.end == CODE + 0x11);
        }
    }
    start(CODE, INDEX);
    put_entry(0, CODE, CANNOT);
    put_entry(1, CODE + 0x40, CANNOT);
    memcpy(image.bytes + CODE_AT + 0x10, thumb, sizeof(thumb) - 1); /* svc 0 is cut off */
    CHECK_NUMBER(read_entry(0, &seen), 0);
    CHECK_NUMBER(seen.count, 0);
}

TEST_MAIN
