/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Unwind tables written by hand, byte by byte after DWARF 5 (6.4) and the LSB (10.6), and the rows they mean.
 */
#include "elf/frame_rows.h"

#include <stdarg.h>
#include <time.h>

#include "elf/frame_entries.h"
#include "elf_image.h"
#include "test.h"

/* Only code has an address that differs from its file offset. */
#define CODE_AT 0x1000
#define CODE 0x12000
#define CODE_BYTES 0x1800
#define TABLE_AT 0x200
#define ORDER_AT 0xc00 /* .eh_frame_hdr */
#define DEBUG_AT 0x2800
#define SECTIONS_AT 0x3800
#define NAMES_AT 0x3700

static const char names[] = "\0.eh_frame\0.eh_frame_hdr\0.debug_frame\0.names";

static struct image image;
static size_t at;                                 /* where the next byte goes */
static size_t table_end, order_end, debug_end;    /* 0: there is none */
static bool without_sections;

static void put(size_t size, uint64_t value)
{
    image_put(&image, at, size, value);
    at += size;
}

/* Bytes, terminated by a negative number. */
#define PUT(...) put_all((const int[]){__VA_ARGS__, -1})
static void put_all(const int *bytes)
{
    for (; *bytes >= 0; bytes++)
        put(1, (uint64_t)*bytes);
}

static void start(bool is_64, bool is_big, unsigned machine)
{
    static const struct image_segment segments[] = {
        {1, CODE_AT, CODE, CODE_BYTES},
        {1, 0, 0, CODE_AT},
        {0x6474e550, ORDER_AT, ORDER_AT, 0x300},
    };

    image_make(&image, is_64, is_big, 64, is_64 ? 56 : 32, segments, 3, sizeof(image.bytes));
    image_put(&image, 18, 2, machine);
    /* Nothing in the second one is executable. */
    image_put(&image, is_64 ? 64 + 56 + 4 : 64 + 32 + 24, 4, 4);
    table_end = order_end = debug_end = 0;
    without_sections = false;
    at = TABLE_AT;
}

static void put_sections(void)
{
    const struct image_section sections[] = {
        {0},
        {1, 1, 2, TABLE_AT, TABLE_AT, table_end ? table_end - TABLE_AT : 0, 0, 0, 0},
        {11, 1, 2, ORDER_AT, ORDER_AT, order_end ? order_end - ORDER_AT : 0, 0, 0, 0},
        {25, 1, 0, 0, DEBUG_AT, debug_end ? debug_end - DEBUG_AT : 0, 0, 0, 0},
        {38, 3, 0, 0, NAMES_AT, sizeof(names), 0, 0, 0},
    };

    memcpy(image.bytes + NAMES_AT, names, sizeof(names));
    if (!without_sections)
        image_put_sections(&image, SECTIONS_AT, sections, 5);
}

/* ---- Entries ---- */

static size_t begin(uint32_t id)
{
    const size_t length_at = at;

    put(4, 0);
    put(4, id);
    return length_at;
}

static void finish(size_t length_at)
{
    while ((at - length_at) % 4)
        put(1, 0); /* nop */
    image_put(&image, length_at, 4, at - length_at - 4);
}

/* A CIE for x86-64: the CFA is rsp+8, the return address CFA-8. Addresses are relative, with 32 bits. */
static size_t plain_common(void)
{
    const size_t here = begin(0);

    PUT(1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1);
    finish(here);
    return here;
}

static size_t begin_function(size_t common, uint64_t address, uint64_t size)
{
    const size_t here = begin((uint32_t)(at + 4 - common));

    put(4, address - at);
    put(4, size);
    put(1, 0);
    return here;
}

/* The whole file: a CIE, and one function of 0x100 bytes at file offset 0x1000, with these instructions. */
#define FUNCTION(...)                                                                     \
    do {                                                                                  \
        start(true, false, EM_X86_64);                                                    \
        const size_t function_ = begin_function(plain_common(), CODE, 0x100);             \
        PUT(__VA_ARGS__);                                                                 \
        finish(function_);                                                                \
        finish_table();                                                                   \
    } while (0)

static void finish_table(void)
{
    put(4, 0);
    table_end = at;
}

/* ---- Rows as text ---- */

static char said[65536];
static size_t said_length;
static uint64_t skipped;
static int result;

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    const int length = vsnprintf(said + said_length, sizeof(said) - said_length, format, arguments);
    va_end(arguments);
    if (length > 0 && said_length + (size_t)length < sizeof(said))
        said_length += (size_t)length;
}

static void say_rule(const struct unwind_rule *rule)
{
    static const char *const cfas[UNWIND_CFAS] = {
        [UNWIND_UNKNOWN] = "unknown", [UNWIND_ROOT] = "root", [UNWIND_BY_SP] = "sp",
        [UNWIND_BY_FRAME] = "frame", [UNWIND_BY_REGISTER] = "reg", [UNWIND_BY_SP_WORD] = "*sp",
        [UNWIND_BY_FRAME_WORD] = "*frame", [UNWIND_BY_PLT] = "plt", [UNWIND_SIGNAL] = "signal",
        [UNWIND_FRAME_RECORD] = "record", [UNWIND_FAR_RECORD] = "far record", [UNWIND_UNSUPPORTED] = "unsupported",
    };
    static const char *const kinds[UNWIND_FRAMES] = {"same", "cfa", "frame", "lost"};

    say("%s", cfas[rule->cfa]);
    if (rule->cfa < UNWIND_BY_SP || rule->cfa > UNWIND_BY_PLT)
        return;
    if (rule->cfa == UNWIND_BY_REGISTER)
        say("%d", rule->reg);
    if (rule->inner)
        say("(%+d)", rule->inner);
    say("%+d %s", rule->offset, kinds[rule->frame_kind]);
    if (rule->frame)
        say("%+d", rule->frame);
    if (rule->return_kind == UNWIND_RETURN_IN_LINK)
        say(" link");
    else if (rule->return_kind == UNWIND_RETURN_IN_REGISTER)
        say(" in%d", rule->ret);
    else
        say(" %+d", rule->ret);
    if (rule->base)
        say(" base%+d", rule->base);
}

/* Reads the image: "offset rule; offset rule" or "". */
static const char *rows(void)
{
    struct frame_rows frames;
    struct elf elf;

    put_sections();
    said_length = 0;
    said[0] = 0;
    AUTO_FD fd = image_file(&image, image.length);
    result = elf_open(&elf, fd);
    if (result)
        return "no file";
    result = frame_rows_read(&frames, &elf);
    skipped = frames.skipped;
    for (size_t i = 0; i < frames.row_count; i++) {
        say("%s%llx ", i ? "; " : "", (unsigned long long)frames.rows[i].offset);
        say_rule(&frames.rules[frames.rows[i].rule]);
    }
    frame_rows_free(&frames);
    elf_close(&elf);
    return said;
}

#define ROWS(text)                                                                        \
    do {                                                                                  \
        CHECK_STRING(rows(), text);                                                       \
        CHECK_NUMBER(skipped, 0);                                                         \
    } while (0)
/* The only function is damaged. */
#define DAMAGED()                                                                         \
    do {                                                                                  \
        CHECK_STRING(rows(), "1000 unknown");                                             \
        CHECK_NUMBER(skipped, 1);                                                         \
    } while (0)

/* And of a file whose only function has these instructions. */
#define MEANS(text, ...)                                                                  \
    do {                                                                                  \
        FUNCTION(__VA_ARGS__);                                                            \
        ROWS(text);                                                                       \
    } while (0)
#define IS_DAMAGED(...)                                                                   \
    do {                                                                                  \
        FUNCTION(__VA_ARGS__);                                                            \
        DAMAGED();                                                                        \
    } while (0)

/* ---- Instructions ---- */

TEST(test_plain)
{
    MEANS("1000 sp+8 same -8; 1001 sp+16 cfa-16 -8; 1004 frame+16 cfa-16 -8; 1014 sp+8 cfa-16 -8; 1100 unknown",
          0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x50, 0x0c, 7, 8);
    MEANS("1000 sp+8 same -8; 1100 unknown", 0);
}

TEST(test_advance)
{
    MEANS("1000 sp+8 same -8; 1020 sp+16 same -8; 1030 sp+24 same -8; 1050 sp+32 same -8; 1100 unknown", 0x02,
          0x20, 0x0e, 16, 0x03, 0x10, 0, 0x0e, 24, 0x04, 0x20, 0, 0, 0, 0x0e, 32);
    /* Instructions that change nothing; rules that stay the same. */
    MEANS("1000 sp+24 same -8; 1002 sp+32 same -8; 1100 unknown", 0x0e, 16, 0x40, 0x0e, 24, 0x41, 0x0e, 24,
          0x41, 0x0e, 32);
    /* After the function, at its end, and backwards. */
    IS_DAMAGED(0x03, 1, 1, 0x0e, 16);
    MEANS("1000 sp+8 same -8; 1100 unknown", 0x03, 0, 1, 0x0e, 16);
    IS_DAMAGED(0x42, 0x0e, 16, 0x04, 255, 255, 255, 255, 0x0e, 24);

    start(true, false, EM_X86_64);
    size_t function = begin_function(plain_common(), CODE, 0x100);
    PUT(0x01); /* set_loc */
    put(4, CODE + 0x30 - at);
    PUT(0x0e, 16);
    finish(function);
    finish_table();
    ROWS("1000 sp+8 same -8; 1030 sp+16 same -8; 1100 unknown");
    image_put(&image, function + 18, 4, (uint32_t)(CODE - 1 - (function + 18)));
    DAMAGED();
}

TEST(test_states)
{
    MEANS("1000 sp+16 cfa-16 -8; 1001 sp+8 same -8; 1002 sp+16 cfa-16 -8; 1003 sp+16 same -8; 1100 unknown",
          0x0e, 16, 0x86, 2, 0x41, 0x0a, 0x0e, 8, 0xc6, 0x41, 0x0b, 0x41, 0x06, 6);
    /* restore_extended, same_value, undefined; for a register that does not matter. */
    MEANS("1000 sp+8 cfa-16 -8; 1001 sp+8 same -8; 1002 sp+8 cfa-16 -8; 1003 sp+8 lost -8; 1100 unknown", 0x86,
          2, 0x41, 0x08, 6, 0x41, 0x86, 2, 0x41, 0x07, 6, 0x41, 0x07, 12, 0x83, 3, 0x08, 15);
    MEANS("1000 sp+8 same -8; 1001 root; 1100 unknown", 0x41, 0x07, 16);
    /* 16 states are remembered, and no more. */
    MEANS("1000 sp+8 same -8; 1100 unknown", 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10,
          0x0e, 16, 11);
    IS_DAMAGED(10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10);
    IS_DAMAGED(11);
}

TEST(test_registers)
{
    /* Not in memory: register, val_offset, val_offset_sf, val_expression. */
    MEANS("1000 sp+8 lost -8; 1100 unknown", 0x09, 6, 12);
    MEANS("1000 sp+8 lost -8; 1100 unknown", 0x14, 6, 2);
    MEANS("1000 sp+8 lost -8; 1100 unknown", 0x15, 6, 0x7e);
    MEANS("1000 sp+8 lost -8; 1100 unknown", 0x16, 6, 2, 0x77, 8);
    MEANS("1000 sp+8 same in2; 1100 unknown", 0x09, 16, 2);
    MEANS("1000 sp+0 same in5; 1001 sp+8 same -8; 1100 unknown", 0x0e, 0, 0x09, 16, 5, 0x41, 0x0e, 8, 0x90, 1);
    /* As in longjmp(), where the CFA is not the caller's stack pointer; and no register. */
    MEANS("1000 unsupported; 1100 unknown", 0x0c, 5, 0, 0x09, 7, 8, 0x09, 16, 1);
    MEANS("1000 unsupported; 1100 unknown", 0x09, 16, 32);
    MEANS("1000 unsupported; 1100 unknown", 0x08, 16);
    /* offset_extended, its signed and negative variants; args_size. */
    MEANS("1000 sp+8 cfa-16 -8; 1001 sp+8 cfa-24 -8; 1002 sp+8 cfa+24 -8; 1100 unknown", 0x05, 6, 2, 0x41, 0x11,
          6, 0x03, 0x41, 0x2f, 6, 3, 0x2e, 32);
    /* def_cfa_sf, def_cfa_offset_sf, another register, and one too many. */
    FUNCTION(0x12, 6, 0x7e, 0x41, 0x13, 0x7d, 0x41, 0x0c, 10, 0, 0x41, 0x0d, 16, 0x41, 0x0d, 32);
    ROWS("1000 frame+16 same -8; 1001 frame+24 same -8; 1002 reg10+0 same -8; 1003 reg16+0 same -8; "
         "1004 unsupported; 1100 unknown");
    /* The return address, elsewhere. */
    MEANS("1000 sp+8 same -24; 1100 unknown", 0x90, 3);
}

TEST(test_far)
{
    MEANS("1000 sp+2147483647 same -8; 1001 unsupported; 1100 unknown", 0x0e, 0xff, 0xff, 0xff, 0xff, 7, 0x41,
          0x0e, 0x80, 0x80, 0x80, 0x80, 8);
    MEANS("1000 sp+8 cfa-32768 -8; 1001 sp+8 lost -8; 1100 unknown", 0x86, 0x80, 0x20, 0x41, 0x86, 0x81, 0x20);
    MEANS("1000 sp+8 same -32768; 1001 unsupported; 1100 unknown", 0x90, 0x80, 0x20, 0x41, 0x90, 0x81, 0x20);
    /* As many bytes as there are. */
    MEANS("1000 sp+8 same -8; 1100 unknown", 0x0e, 0x88, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
          0x80, 0x80, 0);
    IS_DAMAGED(0x0e, 0x88, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
               0x80, 0x80, 0x80);
}

TEST(test_expressions)
{
    /* As linkers write it for a .plt, with the numbers of each form. */
    MEANS("1000 sp+16 same -8; 1006 sp+24 same -8; 1010 plt(+11)+8 same -8; 1100 unknown", 0x0e, 16, 0x46, 0x0e,
          24, 0x4a, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22);
    MEANS("1000 plt(+9)+8 same -8; 1100 unknown", 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x39, 0x2a, 0x33,
          0x24, 0x22);
    /* Close to that: by rbp, by another register, with 14, without a number, longer. */
    MEANS("1000 unsupported; 1100 unknown", 0x0f, 11, 0x76, 8, 0x80, 0, 0x3f, 0x1a, 0x39, 0x2a, 0x33, 0x24,
          0x22);
    MEANS("1000 unsupported; 1100 unknown", 0x0f, 11, 0x77, 8, 0x7f, 0, 0x3f, 0x1a, 0x39, 0x2a, 0x33, 0x24,
          0x22);
    MEANS("1000 unsupported; 1100 unknown", 0x0f, 11, 0x77, 8, 0x80, 0, 0x3e, 0x1a, 0x39, 0x2a, 0x33, 0x24,
          0x22);
    MEANS("1000 unsupported; 1100 unknown", 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x06, 0x2a, 0x33, 0x24,
          0x22);
    MEANS("1000 unsupported; 1100 unknown", 0x0f, 12, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x39, 0x2a, 0x33, 0x24,
          0x22, 0x22);

    /* DRAP: *(rbp - 8), and rbp where it points; *(rsp + 160) + 16. */
    MEANS("1000 reg10+0 same -8; 100a reg10+0 frame -8; 100e *frame(-8)+0 frame -8; 1100 unknown", 0x0c, 10, 0,
          0x4a, 0x10, 6, 2, 0x76, 0, 0x44, 0x0f, 3, 0x76, 0x78, 6);
    MEANS("1000 *sp(+160)+16 frame-16 -8; 1100 unknown", 0x0f, 6, 0x77, 0xa0, 1, 6, 0x23, 16, 0x10, 6, 2, 0x76,
          0x70);
    /* By another register; two words; two additions; a truncated one; none. */
    MEANS("1000 unsupported; 1100 unknown", 0x0f, 3, 0x7a, 0x78, 6);
    MEANS("1000 unsupported; 1100 unknown", 0x0f, 4, 0x76, 0x78, 6, 6);
    MEANS("1000 unsupported; 1100 unknown", 0x0f, 7, 0x76, 0x78, 6, 0x23, 1, 0x23, 1);
    MEANS("1000 unsupported; 1100 unknown", 0x0f, 4, 0x76, 0x78, 6, 0x23);
    MEANS("1000 unsupported; 1100 unknown", 0x0f, 1, 0x77);
    MEANS("1000 unsupported; 1100 unknown", 0x0f, 0);
    /* rbp by rsp, by nothing, farther away. */
    MEANS("1000 sp+8 lost -8; 1100 unknown", 0x10, 6, 2, 0x77, 0, 0x41, 0x10, 6, 0, 0x41, 0x10, 6, 4, 0x76,
          0x80, 0x80, 2);
    /* The return address by one; back to a register. */
    MEANS("1000 unsupported; 1001 *frame(-8)+0 same -8; 1002 sp+8 same -8; 1100 unknown", 0x10, 16, 2, 0x77, 0,
          0x41, 0x90, 1, 0x0f, 3, 0x76, 0x78, 6, 0x41, 0x0c, 7, 8);
    /* Longer than the data. */
    IS_DAMAGED(0x0f, 0x7f, 0x77, 8);
    IS_DAMAGED(0x0f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0x77, 8);
}

TEST(test_unknown_instruction)
{
    IS_DAMAGED(0x41, 0x0e, 16, 0x3f);
    IS_DAMAGED(0x41, 0x0e, 16, 0x1c, 6);
}

/* If one rule needs rbx, every rule of the file says where rbx is saved. */
TEST(test_base)
{
    FUNCTION(0x41, 0x0e, 16, 0x83, 2, 0x43, 0x0c, 3, 24, 0x41, 0x07, 3, 0x0c, 7, 8, 0x41, 0x83, 0x81, 0x20);
    ROWS("1000 sp+8 same -8 base+1; 1001 sp+16 same -8 base-16; 1004 reg3+24 same -8 base-16; "
         "1005 sp+8 same -8; 1100 unknown");
}

/* ---- Functions ---- */

static void put_function(size_t common, uint64_t address, uint64_t size)
{
    finish(begin_function(common, address, size));
}

TEST(test_functions)
{
    start(true, false, EM_X86_64);
    size_t common = plain_common();
    put_function(common, CODE + 0x200, 0x10);
    put_function(common, CODE + 0x210, 0x10); /* next to each other, with one rule */
    put_function(common, CODE + 0x100, 0x20);
    put_function(common, CODE + 0x120, 0); /* of nothing */
    finish_table();
    ROWS("1100 sp+8 same -8; 1120 unknown; 1200 sp+8 same -8; 1220 unknown");

    /*
     * A function within another is ignored; the first of two at one address counts; the end of the
     * code, and beyond.
     */
    start(true, false, EM_X86_64);
    common = plain_common();
    put_function(common, CODE + 0x100, 0x20);
    put_function(common, CODE + 0x110, 0x20);
    size_t function = begin_function(common, CODE + 0x100, 0x8);
    PUT(0x0e, 16);
    finish(function);
    put_function(common, CODE + CODE_BYTES - 0x10, 0x10);
    put_function(common, CODE + CODE_BYTES, 0x10);
    put_function(common, CODE + CODE_BYTES - 0x8, 0x10);
    put_function(common, CODE - 1, 0x10);
    put_function(common, 0x100, 0x10); /* is loaded, but not code */
    finish_table();
    CHECK_STRING(rows(), "1100 sp+8 same -8; 1120 unknown; 27f0 sp+8 same -8; 2800 unknown");
    CHECK_NUMBER(skipped, 6);

    /* Damage costs only the damaged part. */
    start(true, false, EM_X86_64);
    common = plain_common();
    put_function(common, CODE, 0x10);
    function = begin_function(common, CODE + 0x10, 0x10);
    PUT(0x41, 0x0e, 16, 0x3f);
    finish(function);
    put_function(common, CODE + 0x20, 0x10);
    put_function(common + 4, CODE + 0x30, 0x10); /* there is no CIE */
    put_function(function, CODE + 0x40, 0x10);   /* which is not one */
    put_function(0, CODE + 0x50, 0x10);          /* nor in the section */
    put_function(common, CODE + 0x60, 0x10);
    finish_table();
    CHECK_STRING(rows(), "1000 sp+8 same -8; 1010 unknown; 1020 sp+8 same -8; 1030 unknown; "
                         "1060 sp+8 same -8; 1070 unknown");
    CHECK_NUMBER(skipped, 4);
}

static void put_order(int pairs, const size_t *functions, const uint64_t *addresses)
{
    const size_t before = at;

    at = ORDER_AT;
    PUT(1, 0x1b, 3, 0x3b);
    put(4, TABLE_AT - at);
    put(4, (uint64_t)pairs);
    for (int i = 0; i < pairs; i++) {
        put(4, addresses[i] - ORDER_AT);
        put(4, functions[i] - ORDER_AT);
    }
    order_end = at;
    at = before;
}

TEST(test_order)
{
    static const char sorted[] = "1100 sp+8 same -8; 1120 unknown; 1200 sp+8 same -8; 1210 unknown";
    uint64_t addresses[] = {CODE + 0x100, CODE + 0x200, CODE + 0x300};
    size_t functions[3];

    start(true, false, EM_X86_64);
    size_t common = plain_common();
    functions[1] = at;
    put_function(common, CODE + 0x200, 0x10);
    functions[0] = at;
    put_function(common, CODE + 0x100, 0x20);
    functions[2] = at;
    finish_table();
    put_order(2, functions, addresses);
    ROWS(sorted);
    without_sections = true;
    image_put(&image, image_shoff(&image), 8, 0);
    image_put(&image, image_shnum(&image), 2, 0);
    ROWS(sorted);
    /* It refers to something that is not a CIE, after the section and before it. */
    put_order(3, functions, addresses);
    CHECK_STRING(rows(), sorted);
    CHECK_NUMBER(skipped, 1);
    without_sections = false;
    functions[2] = sizeof(image.bytes);
    put_order(3, functions, addresses);
    CHECK_STRING(rows(), sorted);
    CHECK_NUMBER(skipped, 1);
    /* It is unsorted, too long, or of another form: then all functions are read. */
    addresses[1] = CODE;
    put_order(2, functions, addresses);
    ROWS(sorted);
    addresses[1] = CODE + 0x200;
    put_order(1, functions, addresses);
    image_put(&image, ORDER_AT + 8, 4, 0x40000000);
    ROWS(sorted);
    put_order(1, functions, addresses);
    image_put(&image, ORDER_AT + 3, 1, 0x3c);
    ROWS(sorted);
    put_order(0, functions, addresses);
    ROWS(sorted);
    /* If it is used, only it counts. */
    put_order(1, functions, addresses);
    ROWS("1100 sp+8 same -8; 1120 unknown");
}

TEST(test_commons)
{
    /* LSDA and personality; omitted ones; what follows an unknown letter. */
    start(true, false, EM_X86_64);
    size_t here = begin(0);
    PUT(3, 'z', 'P', 'L', 'R', 0, 1, 0x78, 16, 7, 0x9b, 1, 2, 3, 4, 0x1b, 0x1b, 0x0c, 7, 8, 0x90, 1);
    finish(here);
    size_t function = begin((uint32_t)(at + 4 - here));
    put(4, CODE - at);
    put(4, 0x10);
    PUT(4, 0x0e, 16, 0x0e, 24); /* data */
    finish(function);
    here = begin(0);
    PUT(1, 'z', 'P', 'R', 'B', 'X', 0, 1, 0x78, 16, 5, 0xff, 0x1b, 1, 2, 3, 0x0c, 7, 16, 0x90, 1);
    finish(here);
    put_function(here, CODE + 0x10, 0x10);
    finish_table();
    ROWS("1000 sp+8 same -8; 1010 sp+16 same -8; 1020 unknown");

    /* Invalid ones: by version, letters, ends. */
    static const int wrong[][24] = {
        {2, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, -1},
        {1, 'e', 'h', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, -1},
        {1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x5b, 0x0c, 7, 8, 0x90, 1, -1}, /* aligned */
        {1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x9b, 0x0c, 7, 8, 0x90, 1, -1}, /* indirect */
        {1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1f, 0x0c, 7, 8, 0x90, 1, -1},
        {1, 'z', 'R', 0, 1, 0x78, 16, 0, 0x0c, 7, 8, 0x90, 1, -1}, /* its data is not there */
        {1, 'z', 'R', 0, 1, 0x78, 16, 0x7f, 0x1b, 0x0c, 7, 8, 0x90, 1, -1},
        {1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x3f, -1},
        {1, 'z', 'R', 'R', 'R', 'R', 'R', 'R', 'R', 'R', 'R', 'R', -1},
        {1, -1},
        {-1},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        start(true, false, EM_X86_64);
        here = begin(0);
        put_all(wrong[i]);
        finish(here);
        put_function(here, CODE, 0x10);
        put_function(plain_common(), CODE + 0x10, 0x10);
        finish_table();
        CHECK_STRING(rows(), "1010 sp+8 same -8; 1020 unknown");
        CHECK_NUMBER(skipped, 1);
    }
}

TEST(test_signal)
{
    static const char *const wanted[] = {"1000 signal; 1010 unknown", "1000 unsupported; 1010 unknown"};

    for (int odd = 0; odd < 2; odd++) {
        start(true, false, EM_X86_64);
        size_t here = begin(0);
        PUT(1, 'z', 'R', 'S', 0, 1, 0x78, 16, 1, 0x1b, 0x0f, 4, 0x77, 0xa0, 1, 6, 0x10, 16, 3, 0x77, 0xa8 + odd, 1);
        finish(here);
        put_function(here, CODE, 0x10);
        finish_table();
        ROWS(wanted[odd]);
    }
}

/* ---- Other files ---- */

TEST(test_encodings)
{
    static const struct {
        int encoding;
        size_t size;
        uint64_t minus; /* of an address */
    } forms[] = {{0x00, 8, 0}, {0x03, 4, 0}, {0x04, 8, 0}, {0x0b, 4, 0}, {0x0c, 8, 0}, {0x1c, 8, 1}, {0x14, 8, 1}};

    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        start(true, false, EM_X86_64);
        size_t here = begin(0);
        PUT(1, 'z', 'R', 0, 1, 0x78, 16, 1, forms[i].encoding, 0x0c, 7, 8, 0x90, 1);
        finish(here);
        size_t function = begin((uint32_t)(at + 4 - here));
        put(forms[i].size, CODE - (forms[i].minus ? at : 0));
        put(forms[i].size, 0x10);
        PUT(0);
        finish(function);
        finish_table();
        ROWS("1000 sp+8 same -8; 1010 unknown");
    }
    /* uleb and sleb, udata2 (which cannot reach that far) */
    start(true, false, EM_X86_64);
    size_t here = begin(0);
    PUT(1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x01, 0x0c, 7, 8, 0x90, 1);
    finish(here);
    size_t function = begin((uint32_t)(at + 4 - here));
    PUT(0x80, 0xc0, 4, 0x10, 0); /* 0x12000 */
    finish(function);
    finish_table();
    ROWS("1000 sp+8 same -8; 1010 unknown");
    image_put(&image, here + 16, 1, 0x02);
    CHECK_STRING(rows(), "");
    CHECK_NUMBER(result, -ENOENT);
}

static void put_arm(bool is_64, unsigned frame, unsigned link)
{
    size_t here = begin(0);
    PUT(1, 'z', 'R', 0, 4, 0x78, (int)link, 1, 0x1b, 0x0c, is_64 ? 31 : 4, 0);
    finish(here);
    size_t function = begin_function(here, CODE, 0x100);
    PUT(0x41, 0x2d, 0x0e, 32, 0x80 + (int)frame, 4, 0x80 + (int)link, 3, 0x42, 0x0d, (int)frame, 0x41, 0x07, (int)link);
    finish(function);
    finish_table();
}

TEST(test_machines)
{
    for (int big = 0; big < 2; big++) {
        start(true, big, EM_AARCH64);
        put_arm(true, 29, 30);
        ROWS("1000 sp+0 same link; 1004 sp+32 cfa-32 -24; 100c frame+32 cfa-32 -24; 1010 root; 1100 unknown");
    }
    /* 32-bit files; their words have 4 bytes. */
    start(false, false, EM_386);
    size_t here = begin(0);
    PUT(1, 'z', 'R', 0, 1, 0x7c, 8, 1, 0x1b, 0x0c, 4, 4, 0x88, 1);
    finish(here);
    size_t function = begin_function(here, CODE, 0x10);
    PUT(0x41, 0x0e, 8, 0x85, 2, 0x42, 0x0d, 5);
    finish(function);
    finish_table();
    ROWS("1000 sp+4 same -4; 1001 sp+8 cfa-8 -4; 1003 frame+8 cfa-8 -4; 1010 unknown");
    /* An unknown machine. */
    start(true, false, 0xfeba);
    put_arm(true, 29, 30);
    rows();
}

/* ---- .debug_frame ---- */

static size_t debug_common(int version)
{
    const size_t here = begin(UINT32_MAX);

    PUT(version, 0);
    if (version == 4)
        PUT(8, 0);
    PUT(1, 0x78, 16, 0x0c, 7, 8, 0x90, 1);
    finish(here);
    return here;
}

static void debug_function(size_t common, uint64_t address, uint64_t size)
{
    const size_t here = begin((uint32_t)(common - DEBUG_AT));

    put(8, address);
    put(8, size);
    PUT(0x41, 0x0e, 16);
    finish(here);
}

TEST(test_debug)
{
    for (int version = 1; version <= 4; version += version == 1 ? 2 : 1) {
        start(true, false, EM_X86_64);
        at = DEBUG_AT;
        size_t common = debug_common(version);
        debug_function(common, CODE + 0x20, 0x10);
        debug_function(common, 0, 0x2000); /* dropped by the linker */
        debug_function(common, CODE, 0x10);
        debug_end = at;
        ROWS("1000 sp+8 same -8; 1001 sp+16 same -8; 1010 unknown; 1020 sp+8 same -8; 1021 sp+16 same -8; "
             "1030 unknown");
    }
    /* Next to .eh_frame, which takes precedence. */
    at = TABLE_AT;
    put_function(plain_common(), CODE + 0x1c, 0x10);
    put_function(TABLE_AT, CODE, 0x10);
    finish_table();
    size_t functions[] = {at};
    uint64_t addresses[] = {CODE};
    put_order(1, functions, addresses);
    at = debug_end;
    debug_function(DEBUG_AT, CODE + 0x80, 0x10);
    debug_end = at;
    ROWS("1000 sp+8 same -8; 1010 unknown; 101c sp+8 same -8; 102c unknown; 1080 sp+8 same -8; "
         "1081 sp+16 same -8; 1090 unknown");
    /* Addresses of 4 bytes in a 64-bit file; segments. */
    start(true, false, EM_X86_64);
    at = DEBUG_AT;
    size_t common = debug_common(4);
    debug_function(common, CODE, 0x10);
    debug_end = at;
    image_put(&image, DEBUG_AT + 10, 1, 4);
    CHECK_STRING(rows(), "");
    image_put(&image, DEBUG_AT + 10, 2, 0x108);
    CHECK_STRING(rows(), "");
}

/* 64-bit DWARF. */
TEST(test_wide)
{
    start(true, false, EM_X86_64);
    at = DEBUG_AT;
    put(4, 0xffffffff);
    put(8, 20);
    put(8, UINT64_MAX);
    PUT(3, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1, 0, 0);
    put(4, 0xffffffff);
    put(8, 28);
    put(8, 0);
    put(8, CODE);
    put(8, 0x10);
    PUT(0x41, 0x0e, 16, 0);
    debug_end = at;
    ROWS("1000 sp+8 same -8; 1001 sp+16 same -8; 1010 unknown");
    /* A length beyond the data. */
    image_put(&image, DEBUG_AT + 4, 8, UINT64_MAX - 3);
    CHECK_STRING(rows(), "");
}

/* ---- None, and hostile ones ---- */

TEST(test_none)
{
    start(true, false, EM_X86_64);
    CHECK_STRING(rows(), "");
    CHECK_NUMBER(result, -ENOENT);
    start(true, false, EM_X86_64);
    finish_table();
    CHECK_STRING(rows(), "");
    CHECK_NUMBER(result, -ENOENT);
    /* Its length is more than the file. */
    FUNCTION(0);
    put_sections();
    table_end = TABLE_AT + sizeof(image.bytes);
    CHECK_STRING(rows(), "");
    CHECK(result < 0);
    /* Truncated at each byte: no rows that were not there before. */
    FUNCTION(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x50, 0x0c, 7, 8);
    const size_t whole = table_end;
    for (table_end = TABLE_AT; table_end < whole; table_end++) {
        const char *text = rows();
        CHECK(!*text || !strcmp(text, "1000 unknown") || table_end >= whole - 4);
    }
}

/* arm64's first entry saves once; one that does so twice has no more rows than others. */
TEST(test_linked_plt)
{
    static const char own[] = "\0.plt\0.names";
    static const int nop[] = {0x1f, 0x20, 0x03, 0xd5, -1}, save[] = {0xf0, 0x7b, 0xbf, 0xa9, -1};
    const struct image_section sections[] = {
        {0}, {1, 1, 6, CODE, CODE_AT, 0x40, 0, 0, 16}, {6, 3, 0, 0, NAMES_AT, sizeof(own), 0, 0, 0}};

    for (int saves = 0; saves < 4; saves++) {
        struct frame_gap gaps[FRAME_GAPS_MOST];
        start(true, false, EM_AARCH64);
        at = CODE_AT;
        put_all(saves & 1 ? save : nop);
        put_all(saves & 2 ? save : nop);
        memcpy(image.bytes + NAMES_AT, own, sizeof(own));
        image_put_sections(&image, SECTIONS_AT, sections, 3);
        AUTO_ELF elf = open_image(&image);
        CHECK_NUMBER(frame_gaps(&elf, gaps), 1);
        CHECK_NUMBER(gaps[0].count, saves ? 3 : 1);
        CHECK_NUMBER(gaps[0].rows[1].offset, saves & 1 ? CODE_AT + 4 : saves ? CODE_AT + 8 : 0);
        CHECK_NUMBER(gaps[0].rows[2].offset, saves ? CODE_AT + 32 : 0);
    }
}

/* Each byte of a table is changed in turn: nothing breaks, rows are in order. */
TEST(test_damage)
{
    FUNCTION(0x41, 0x0e, 16, 0x86, 2, 0x0a, 0x43, 0x0f, 3, 0x76, 0x78, 6, 0x50, 0x0b, 0x0c, 7, 8);
    const struct image whole = image;

    for (size_t i = TABLE_AT; i < table_end; i++)
        for (int bit = 0; bit < 8; bit++) {
            image = whole;
            image.bytes[i] ^= (unsigned char)(1 << bit);
            rows();
            unsigned long long before = 0, now;
            for (const char *row = said; row && *row; row = strstr(row, "; ")) {
                row += *row == ';' ? 2 : 0;
                now = strtoull(row, NULL, 16);
                CHECK(row == said || now > before);
                before = now;
            }
        }
}

static void put_little(unsigned char *to, const uint32_t *words, size_t count)
{
    for (size_t i = 0; i < 4 * count; i++)
        to[i] = (unsigned char)(words[i / 4] >> i % 4 * 8);
}

/*
 * Functions with overlapping entries: each skips to the same 4 MB of nops after them, which would
 * be run 6,000 times.
 */
TEST(test_time)
{
    enum { NOPS = 4 << 20, STEP = 24, FUNCTIONS = 6000, TABLE = 0x4000, ENTRIES = TABLE + 32 };
    const size_t nops = ENTRIES + FUNCTIONS * STEP, end = nops + NOPS, size = end + 12 + FUNCTIONS * 8;
    unsigned char *bytes = calloc(1, size);
    struct timespec time;
    AUTO(frame_rows_free) struct frame_rows frames;
    AUTO(elf_close) struct elf elf;

    start(true, false, EM_X86_64);
    plain_common();
    const struct image_section sections[] = {
        {0},
        {1, 1, 2, TABLE, TABLE, end - TABLE, 0, 0, 0},
        {11, 1, 2, end, end, size - end, 0, 0, 0},
        {38, 3, 0, 0, NAMES_AT, sizeof(names), 0, 0, 0},
    };
    memcpy(image.bytes + NAMES_AT, names, sizeof(names));
    image_put_sections(&image, SECTIONS_AT, sections, 4);
    memcpy(bytes, image.bytes, sizeof(image.bytes));
    memcpy(bytes + TABLE, image.bytes + TABLE_AT, at - TABLE_AT);
    const uint32_t order[] = {0x3b031b01, 0, FUNCTIONS};
    put_little(bytes + end, order, COUNT_OF(order));
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        const size_t entry = ENTRIES + (size_t)i * STEP, data = nops - (entry + 19);
        const uint32_t fields[] = {(uint32_t)(end - entry - 4), (uint32_t)(entry + 4 - TABLE),
                                   (uint32_t)(CODE + i - entry - 8), 1};
        put_little(bytes + entry, fields, COUNT_OF(fields));
        for (int part = 0; part < 3; part++)
            bytes[entry + 16 + part] = (unsigned char)((data >> 7 * part & 0x7f) | (part < 2 ? 0x80 : 0));
        const uint32_t pair[] = {(uint32_t)(CODE + i - end), (uint32_t)(entry - end)};
        put_little(bytes + end + 12 + (size_t)i * 8, pair, COUNT_OF(pair));
    }
    AUTO_FD fd = memfd_create("hostile", MFD_CLOEXEC);
    CHECK(write(fd, bytes, size) == (ssize_t)size);
    CHECK_NUMBER(elf_open(&elf, fd), 0);
    CHECK_NUMBER(frame_rows_read(&frames, &elf), 0);
    CHECK_NUMBER(frames.row_count, 2); /* of some of them, which are equal; and the end */
    CHECK(frames.skipped > FUNCTIONS - 16 && frames.skipped < FUNCTIONS);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    CHECK(time.tv_sec < 60); /* of all tests */
    free(bytes);
}

TEST(test_bounds)
{
    struct frame_function *functions;

    start(true, false, EM_X86_64);
    const size_t common = plain_common();
    put_function(common, CODE + 0x200, 0x10);
    put_function(common, CODE + 0x100, 0x20);
    put_function(common, CODE + 0x110, 0x20);
    put_function(common, CODE + CODE_BYTES, 0x20);
    finish_table();
    put_sections();
    AUTO_ELF elf = open_image(&image);
    CHECK_NUMBER(frame_functions(&elf, &functions), 2);
    CHECK_NUMBER(functions[0].offset, 0x1100);
    CHECK_NUMBER(functions[0].size, 0x20);
    CHECK_NUMBER(functions[1].offset, 0x1200);
    CHECK_NUMBER(functions[1].size, 0x10);
    free(functions);
}

TEST_MAIN
