/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The bytes of every instruction, what linking refuses, and a dump that accepts any bytes. */
#include "unit/test.h"

#include "insns/program.h"
#include "unit/forms.h"

/* ---- Every form ---- */

/* Links it, with the label "there" five instructions after it. */
static struct linked link_form(struct program *program, const struct form *form)
{
    struct linked linked;
    AUTO_TEXT why = {0};

    program_emit(program, form->insn, form->words);
    for (int i = 0; i < 5; i++)
        EMIT(program, MOV_IMM(R0, i));
    EMIT(program, LABEL("there"), EXIT());
    CHECK_NUMBER(program_link(program, &linked, &why), 0);
    return linked;
}

/* Dumps instructions that were not linked from a program. */
static const struct program nameless;

/* Their bytes on a little-endian machine. */
static void hexadecimal(struct text *text, const struct bpf_insn *insns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct bpf_insn insn = insns[i];
        const uint32_t imm = (uint32_t)insn.imm;
        text_format(text, "%s%02x %x%x %02x %02x %02x %02x %02x %02x", i ? " " : "", insn.code, insn.src_reg,
                    insn.dst_reg, insn.off & 0xff, insn.off >> 8 & 0xff, imm & 0xff, imm >> 8 & 0xff,
                    imm >> 16 & 0xff, imm >> 24);
    }
}

static size_t form_slots(const struct form *form)
{
    return strlen(form->bytes) > 8 * 3 ? 2 : 1;
}

TEST(every_form_has_the_bytes_of_the_document)
{
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        AUTO(program_free) struct program program = {0};
        AUTO_TEXT bytes = {0};
        struct linked linked = link_form(&program, &forms[i]);

        CHECK_NUMBER(linked.count, form_slots(&forms[i]) + 6);
        hexadecimal(&bytes, linked.insns, form_slots(&forms[i]));
        if (strcmp(bytes.data, forms[i].bytes))
            printf("  %s:\n", forms[i].macro);
        CHECK_STRING(bytes.data, forms[i].bytes);
    }
}

TEST(every_form_has_its_text)
{
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        AUTO(program_free) struct program program = {0};
        AUTO_TEXT dump = {0}, expected = {0};
        struct linked linked = link_form(&program, &forms[i]);

        dump_insns(&dump, linked.insns, form_slots(&forms[i]), &nameless);
        text_format(&expected, "     0: %s\n", forms[i].text);
        CHECK_STRING(dump.data, expected.data);
    }
}

/* ---- Linking ---- */

/* Links what has been emitted so far, and frees it. */
static void refused(struct program *program, int error, const char *sentence)
{
    struct linked linked;
    AUTO_TEXT why = {0};

    CHECK_NUMBER(program_link(program, &linked, &why), error);
    CHECK_STRING(why.data, sentence);
    CHECK(!linked.insns && !linked.count);
    program_free(program);
}

TEST(linking_refuses_an_empty_program)
{
    struct program program = {0};

    refused(&program, -EINVAL, "the program is empty");
    EMIT(&program, LABEL("alone"));
    refused(&program, -EINVAL, "the program is empty");
}

TEST(linking_refuses_an_undefined_label)
{
    struct program program = {0};

    EMIT(&program,
        LD_IMM64(R0, 0),
        JEQ_IMM(R0, 0, "here"),
        JA("nowhere"),
    LABEL("here"),
        EXIT());
    refused(&program, -EINVAL,
            "instruction 3 jumps to \"nowhere\", a label that is not defined");
}

TEST(linking_refuses_a_doubled_label)
{
    struct program program = {0};

    EMIT(&program,
    LABEL("again"),
        MOV_IMM(R0, 0),
    LABEL("other"),
        LD_IMM64(R1, 0),
    LABEL("again"),
        EXIT());
    refused(&program, -EINVAL,
            "the label \"again\" is defined twice, at instructions 0 and 3");
}

TEST(linking_refuses_a_label_at_the_end)
{
    struct program program = {0};

    EMIT(&program, JA("end"), EXIT(), LABEL("end"));
    refused(&program, -EINVAL, "the label \"end\" has no instruction after it");
}

TEST(linking_refuses_a_program_that_runs_off_its_end)
{
    struct program program = {0};

    EMIT(&program, EXIT(), MOV_IMM(R0, 0));
    refused(&program, -EINVAL, "the last instruction, 1, is neither exit nor goto");
    EMIT(&program, EXIT(), LD_IMM64(R0, 0));
    refused(&program, -EINVAL, "the last instruction, 1, is neither exit nor goto");
    EMIT(&program, LABEL("top"), JEQ_IMM(R0, 0, "top"));
    refused(&program, -EINVAL, "the last instruction, 0, is neither exit nor goto");
    EMIT(&program, CALL(BPF_FUNC_ktime_get_ns));
    refused(&program, -EINVAL, "the last instruction, 0, is neither exit nor goto");
}

TEST(linking_refuses_more_than_the_limit)
{
    struct program program = {0};
    struct linked linked;
    AUTO_TEXT why = {0};

    for (int i = 0; i < 4093; i++)
        EMIT(&program, MOV_IMM(R0, i));
    EMIT(&program, LABEL("labels take no room"), MOV_IMM(R0, 0), EXIT());
    CHECK_NUMBER(program_link(&program, &linked, &why), 0);
    CHECK_NUMBER(linked.count, 4095);
    EMIT(&program, EXIT());
    refused(&program, -E2BIG, "the program has 4096 instructions, the limit is 4095");
}

TEST(linking_tells_that_memory_ran_out)
{
    struct program program = {0};
    union insn insn = EXIT();

    /* A size beyond all memory: the array is refused before anything is read from `insn`. */
    EMIT(&program, MOV_IMM(R0, 0));
    program_emit(&program, &insn, SIZE_MAX / 2);
    EMIT(&program, EXIT());
    refused(&program, -ENOMEM, "out of memory for a program");
}

/* A jump (two words) over `distance` instructions, forward, or back to before them. */
static void link_jump(const union insn *jump, int distance, bool back)
{
    AUTO(program_free) struct program program = {0};
    AUTO_TEXT why = {0};
    struct linked linked;

    if (back)
        EMIT(&program, LABEL("there"));
    else
        program_emit(&program, jump, 2);
    for (int i = 0; i < distance; i++)
        EMIT(&program, MOV_IMM(R0, 0));
    if (back)
        program_emit(&program, jump, 2);
    else
        EMIT(&program, LABEL("there"));
    EMIT(&program, EXIT());
    CHECK_NUMBER(program_link(&program, &linked, &why), 0);
    const struct bpf_insn *code = &linked.insns[back ? distance : 0];
    int expected = back ? -distance - 1 : distance;
    CHECK_NUMBER(jump->code.src_reg == BPF_PSEUDO_CALL ? code->imm : code->off, expected);
}

#define LINK_JUMP(jump, ...) link_jump((const union insn[]){jump}, __VA_ARGS__)

TEST(jumps_reach_all_of_the_longest_program)
{
    LINK_JUMP(JA("there"), 0, false);
    LINK_JUMP(JA("there"), 0, true);
    LINK_JUMP(JEQ_IMM(R0, 0, "there"), PROGRAM_LIMIT - 2, false);
    LINK_JUMP(JLT_REG(R1, R2, "there"), PROGRAM_LIMIT - 2, true);
    LINK_JUMP(CALL_LABEL("there"), PROGRAM_LIMIT - 2, false);
    LINK_JUMP(CALL_LABEL("there"), PROGRAM_LIMIT - 2, true);
}

TEST(a_program_can_be_linked_again)
{
    AUTO(program_free) struct program program = {0};
    struct linked linked;
    AUTO_TEXT why = {0};

    EMIT(&program, JA("later"));
    CHECK_NUMBER(program_link(&program, &linked, &why), -EINVAL);
    text_clear(&why);
    EMIT(&program, LABEL("later"), EXIT());
    for (int i = 0; i < 2; i++) {
        CHECK_NUMBER(program_link(&program, &linked, &why), 0);
        CHECK_NUMBER(linked.count, 2);
        CHECK_NUMBER(program.label_count, 1);
    }
    CHECK_NUMBER(why.length, 0);
}

/* ---- The dump ---- */

TEST(a_dump_shows_the_names_of_its_program)
{
    struct program program = {0};
    struct linked linked;
    AUTO_TEXT why = {0}, dump = {0};

    program_name_map(&program, 7, "counts");
    EMIT(&program,
        LOAD_MAP(R1, 7),
        LOAD_MAP_VALUE(R2, 7, 8),
        LOAD_MAP(R3, 8),
        JEQ_IMM(R0, 0, "second name"),
    LABEL("first name"),
    LABEL("second name"),
        CALL(BPF_FUNC_map_lookup_elem),
    LABEL("unused"),
        EXIT());
    CHECK_NUMBER(program_link(&program, &linked, &why), 0);
    dump_insns(&dump, linked.insns, linked.count, &program);
    CHECK_STRING(dump.data, "     0: r1 = map counts\n"
                            "     2: r2 = map counts value + 8\n"
                            "     4: r3 = map fd 8\n"
                            "     6: if r0 == 0 goto first name\n"
                            "first name:\n"
                            "second name:\n"
                            "     7: call map_lookup_elem\n"
                            "unused:\n"
                            "     8: exit\n");
    program_free(&program);
}

static void dumps_as(const struct bpf_insn *insns, size_t count, const char *expected)
{
    AUTO_TEXT dump = {0};

    dump_insns(&dump, insns, count, &nameless);
    CHECK_STRING(dump.data, expected);
}

TEST(a_dump_takes_jumps_to_anywhere)
{
    const struct bpf_insn outside[] = {
        {.code = 0x05, .off = -2}, {.code = 0x05, .off = 1}, {.code = 0x05, .off = -1},
        {.code = 0x85, .src_reg = 1, .imm = INT32_MIN}, {.code = 0x85, .src_reg = 1, .imm = INT32_MAX},
    };
    dumps_as(outside, 5, "     0: goto pc-2\n"
                         "     1: goto pc+1\n"
                         "     2: goto pc-1\n"
                         "     3: call local pc-2147483648\n"
                         "     4: call local pc+2147483647\n");
    /* A jump into the second slot of a 64-bit constant, where no instruction begins. */
    const struct bpf_insn within[] = {{.code = 0x05, .off = 1}, {.code = 0x18, .imm = 1}, {0}};
    dumps_as(within, 3, "     0: goto pc+1\n"
                        "     1: r0 = 0x1 ll\n");
}

/* Does the dump know this one instruction (with an empty slot after it)? */
static bool is_known(const struct bpf_insn *insn)
{
    struct bpf_insn two[2] = {*insn};
    AUTO_TEXT dump = {0};

    dump_insns(&dump, two, 2, &nameless);
    bool known = !strstr(dump.data, "     0: unknown");
    return known;
}

/* With the bytes of this machine. */
TEST(a_dump_says_unknown)
{
    const bool is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    const struct bpf_insn cut_off[] = {{.code = 0x18, .imm = 1}};
    dumps_as(cut_off, 1, is_big ? "     0: unknown 0x18: 18 00 00 00 00 00 00 01\n"
                                : "     0: unknown 0x18: 18 00 00 00 01 00 00 00\n");

    const struct bpf_insn bad_second[] = {{.code = 0x18}, {.code = 0x95}};
    dumps_as(bad_second, 2, "     0: unknown 0x18: 18 00 00 00 00 00 00 00\n"
                            "     1: exit\n");

    const struct bpf_insn map_with_offset[] = {{.code = 0x18, .src_reg = 1}, {.imm = 8}};
    dumps_as(map_with_offset, 2, is_big ? "     0: unknown 0x18: 18 01 00 00 00 00 00 00\n"
                                          "     1: unknown 0x00: 00 00 00 00 00 00 00 08\n"
                                        : "     0: unknown 0x18: 18 10 00 00 00 00 00 00\n"
                                          "     1: unknown 0x00: 00 00 00 00 08 00 00 00\n");

    const struct bpf_insn nearly[] = {
        {.code = 0xbc, .off = 16},   /* a sign-extending move */
        {.code = 0x3f, .off = 1},    /* a signed division */
        {.code = 0x81},              /* a sign-extending load */
        {.code = 0xdb, .imm = 0x40}, /* an atomic other than an addition, */
        {.code = 0xdb, .imm = 0x01}, /* one that fetches, */
        {.code = 0xcb, .imm = 0x00}, /* and one of 16 bits */
        {.code = 0xd7, .imm = 16},   /* bytes swapped, */
        {.code = 0xd4, .imm = 8},    /* and one byte in another order */
        {.code = 0x06, .imm = 5},    /* a long jump */
    };
    for (size_t i = 0; i < COUNT_OF(nearly); i++)
        CHECK(!is_known(&nearly[i]));
}

/* An instruction with a nonzero unused field is unknown to the dump. */
TEST(a_field_that_should_be_0_is_unknown)
{
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        AUTO(program_free) struct program program = {0};
        struct bpf_insn good = *link_form(&program, &forms[i]).insns, bad;
        bool jump = BPF_CLASS(good.code) == BPF_JMP || BPF_CLASS(good.code) == BPF_JMP32;
        bool memory = BPF_CLASS(good.code) == BPF_LDX || BPF_CLASS(good.code) == BPF_ST ||
                      BPF_CLASS(good.code) == BPF_STX;

        CHECK(is_known(&good));
        bad = good;
        bad.dst_reg = 11;
        CHECK(!is_known(&bad));
        bad = good;
        bad.src_reg = 11;
        CHECK(!is_known(&bad));
        bad = good;
        bad.off = 99; /* not a number of bits, and more than the 1 of a signed division */
        bool has_distance = jump && good.code != 0x85 && good.code != 0x95 && good.code != 0x06;
        CHECK_NUMBER(is_known(&bad), memory || has_distance);
        bool computes = BPF_CLASS(good.code) == BPF_ALU || BPF_CLASS(good.code) == BPF_ALU64;
        if ((jump || computes) && good.code != 0x85) { /* one field is unused */
            bad = good;
            if (good.code & 8)
                bad.imm = 77;
            else
                bad.src_reg = 1;
            CHECK(!is_known(&bad));
        }
    }
}

TEST(all_opcodes_but_those_of_the_forms_are_unknown)
{
    bool expected[256] = {false};

    for (size_t i = 0; i < COUNT_OF(forms); i++)
        expected[forms[i].insn->code.code] = true;
    for (int code = 0; code < 256; code++) {
        bool known = false;
        static const int immediates[] = {0, 16, 64, -1};
        for (size_t i = 0; i < COUNT_OF(immediates); i++)
            for (int bits = 0; bits < 32; bits++) {
                struct bpf_insn insn = {.code = (__u8)code};
                insn.dst_reg = (__u8)(bits & 3) * 5;
                insn.src_reg = (__u8)(bits >> 2 & 1) * 9;
                insn.off = (__s16)((bits >> 3) * 8);
                insn.imm = immediates[i];
                known |= is_known(&insn);
            }
        if (known != expected[code])
            printf("  opcode 0x%02x:\n", (unsigned)code);
        CHECK(known == expected[code]);
    }
}

static uint64_t random_state = 0x9e3779b97f4a7c15;

static uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Half of them random bytes, half with few bits set, so that many are known. */
TEST(a_million_random_instructions_are_dumped)
{
    static struct bpf_insn insns[1000];
    size_t unknown = 0, known = 0, broken = 0;

    for (int round = 0, most = rounds(1000); round < most; round++) {
        AUTO_TEXT dump = {0};
        for (size_t i = 0; i < COUNT_OF(insns); i++) {
            uint64_t bits = random_bits();
            if (i & 1)
                bits &= 0x000700000007 << (bits >> 60) | 0x77ff;
            insns[i] = (struct bpf_insn){
                .code = (uint8_t)bits,
                .dst_reg = bits >> 8 & 0xf,
                .src_reg = bits >> 12 & 0xf,
                .off = (int16_t)(bits >> 16),
                .imm = (int32_t)(bits >> 32),
            };
        }
        dump_insns(&dump, insns, COUNT_OF(insns), &nameless);
        CHECK(!dump.failed && dump.data[dump.length - 1] == '\n');
        for (char *line = strtok(dump.data, "\n"); line; line = strtok(NULL, "\n")) {
            size_t length = strlen(line);
            if (strstr(line, ": unknown 0x"))
                unknown++;
            else
                known++;
            broken += length < 3 || length > 80;
        }
    }
    CHECK_NUMBER(broken, 0);
    const size_t all = COUNT_OF(insns) * (size_t)rounds(1000);
    CHECK(unknown > all / 2 && unknown + known <= all);
    CHECK(known > all / 100 && unknown + known > all / 100 * 99);
}

/* ---- Helpers ---- */

TEST(helpers_have_the_names_of_the_kernel_header)
{
#define NAME(name) #name
    static const char *const header[] = {__BPF_FUNC_MAPPER(NAME)};

    unsigned named = 0;

    for (uint32_t id = 1; id < COUNT_OF(header); id++) {
        const char *name = helper_name(id);
        named += name != NULL;
        if (name)
            CHECK_STRING(name, header[id]);
    }
    CHECK(named > 10);
    CHECK_STRING(helper_name(BPF_FUNC_get_stackid), "get_stackid");
    CHECK_STRING(helper_name(174), "get_attach_cookie"); /* 5.15: older headers lack it */
    CHECK(!helper_name(0) && !helper_name(UINT32_MAX));
}

TEST_MAIN
