/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Does lint.h notice what is too new? Each test plants one fault in a valid program. */
#include "unit/lint.h"

#include "insns/program.h"
#include "insns/programs.h"
#include "machine/machine.h"
#include "unit/test.h"

enum { FD_ARRAY = 10, FD_SHARED, FD_HASH, FD_UNKNOWN };

/* A valid program with `count` instructions inserted after the lookup, where r0 is a value's address. */
static void lint_planted(const union insn *planted, size_t count, unsigned floor, struct text *why)
{
    AUTO(program_free) struct program program = {0};
    struct linked linked;

    program_name_map(&program, FD_ARRAY, "control");
    program_name_map(&program, FD_SHARED, "settled");
    program_name_map(&program, FD_HASH, "counts");
    EMIT(&program,
        MOV_REG(R6, R1),
        ST(DW, R10, -8, 0),
        MOV_REG(R2, R10),
        ADD_IMM(R2, -8),
        LOAD_MAP(R1, FD_ARRAY),
        CALL(BPF_FUNC_map_lookup_elem),
        JEQ_IMM(R0, 0, "out"),
    LABEL("back"));
    program_emit(&program, planted, count);
    EMIT(&program,
    LABEL("out"),
        MOV_IMM(R0, 0),
        EXIT());
    if (!program_link(&program, &linked, why))
        lint(&linked, &program, floor, why);
}

/* Refused for `floor`, with these words in one line, and accepted for `since`. */
static void expect(const union insn *planted, size_t count, unsigned floor, const char *words, unsigned since)
{
    AUTO_TEXT why = {0};

    lint_planted(planted, count, floor, &why);
    CHECK(why.data && strstr(why.data, words));
    CHECK(why.length && strchr(why.data, '\n') == why.data + why.length - 1);
    if (!why.data || !strstr(why.data, words))
        printf("  wanted: %s; got: %s\n", words, why.data ? why.data : "nothing");
    text_clear(&why);
    lint_planted(planted, count, since, &why);
    CHECK_STRING(why.data ? why.data : "", "");
}
#define EXPECT(floor, words, since, ...)                                                       \
    expect((const union insn[]){__VA_ARGS__},                                                 \
           sizeof((const union insn[]){__VA_ARGS__}) / sizeof(union insn), floor, words, since)

TEST(a_sound_program_is_for_the_oldest)
{
    AUTO_TEXT why = {0};

    lint_planted(NULL, 0, V(4, 4), &why);
    CHECK_STRING(why.data ? why.data : "", "");
}

TEST(instructions_have_an_age)
{
    EXPECT(V(5, 0), "8: a jump by 32 bits takes Linux 5.1, and it is for 5.0", V(5, 1), JEQ32_IMM(R0, 0, "out"));
    EXPECT(V(4, 13), "comparison takes Linux 4.14", V(4, 14), JLT_IMM(R0, 5, "out"));
    EXPECT(V(4, 13), "comparison takes Linux 4.14", V(4, 14), JSLE_REG(R0, R0, "out"));
    EXPECT(V(5, 1), "an address in a map's value takes Linux 5.2", V(5, 2), LOAD_MAP_VALUE(R2, FD_ARRAY, 0));
    EXPECT(V(5, 11), "an atomic operation other than a sum", V(5, 12), MOV_IMM(R1, 1),
           ATOMIC(DW, BPF_ADD | 1, R0, 0, R1));
    EXPECT(V(4, 20), "keeps the sign takes Linux 5.0", V(5, 0), ARSH32_IMM(R1, 1));
    EXPECT(V(5, 2), "a way back takes Linux 5.3", V(5, 3), JNE_IMM(R0, 0, "back"));
    EXPECT(V(4, 15), "a call of a function takes Linux 4.16", V(4, 16), CALL_LABEL("out"));
}

TEST(helpers_and_maps_have_an_age)
{
    EXPECT(V(5, 4), "probe_read_user takes Linux 5.5", V(5, 5), CALL(BPF_FUNC_probe_read_user));
    EXPECT(V(4, 17), "get_stack takes Linux 4.18", V(4, 18), CALL(BPF_FUNC_get_stack));
    EXPECT(V(5, 6), "get_ns_current_pid_tgid takes Linux 5.7", V(5, 7), CALL(BPF_FUNC_get_ns_current_pid_tgid));
    EXPECT(V(5, 4), "settled takes Linux 5.5", V(5, 5), LOAD_MAP(R1, FD_SHARED));
}

TEST(what_is_in_no_table_is_no_kernel_s)
{
    static const union insn unknown_helper[] = {CALL(9999)};
    const union insn unknown_map[] = {LOAD_MAP(R1, FD_UNKNOWN)}, beside[] = {ST(DW, R10, -520, 0)};
    AUTO_TEXT why = {0};

    lint_planted(unknown_helper, COUNT_OF(unknown_helper), V(9, 9), &why);
    CHECK(why.data && strstr(why.data, "helper 9999"));
    text_clear(&why);
    lint_planted(unknown_map, COUNT_OF(unknown_map), V(9, 9), &why);
    CHECK(why.data && strstr(why.data, "of this map"));
    text_clear(&why);
    lint_planted(beside, COUNT_OF(beside), V(9, 9), &why);
    CHECK(why.data && strstr(why.data, "-520 is not on the stack"));
}

TEST(arguments_are_where_a_kernel_takes_them)
{
    EXPECT(V(4, 11), "memory of a map, where the stack was wanted, takes Linux 4.12", V(4, 12),
           MOV_REG(R1, R0), MOV_IMM(R2, 16), CALL(BPF_FUNC_get_current_comm));
    EXPECT(V(4, 17), "a key or value that is not on the stack takes Linux 4.18", V(4, 18),
           MOV_REG(R2, R0), LOAD_MAP(R1, FD_HASH), CALL(BPF_FUNC_map_lookup_elem));
    /* In another way: the address is kept across a call, and moved. */
    EXPECT(V(4, 17), "a key or value that is not on the stack takes Linux 4.18", V(4, 18),
           MOV_REG(R8, R0), CALL(BPF_FUNC_ktime_get_ns), MOV_REG(R3, R8), ADD_IMM(R3, 8), MOV_REG(R2, R10),
           ADD_IMM(R2, -8), LOAD_MAP(R1, FD_HASH), MOV_IMM(R4, 0), CALL(BPF_FUNC_map_update_elem));
    EXPECT(V(4, 8), "an address within a map's value takes Linux 4.9", V(4, 9), ADD_IMM(R0, 8));
    /* On only one of two paths. */
    EXPECT(V(4, 11), "memory of a map", V(4, 12), MOV_REG(R1, R0), JEQ_IMM(R6, 7, "with the value"), MOV_REG(R1, R10),
           ADD_IMM(R1, -8), LABEL("with the value"), MOV_IMM(R2, 8), CALL(BPF_FUNC_get_current_comm));
}

/* The real one: loops, or reads as since 5.5, are not for 4.18. */
TEST(a_real_program_is_too_young)
{
    static const struct capture config = {
        .filter = {.cpu = -1}, .kernel_stack = true, .depth = 127, .control = 1, .account = 2, .slots = 3,
        .lifetimes = {-1, -1, -1}, .ids = {-1, -1, 0}, .banks = {{4, 5, 6}, {7, 8, 9}, 32, false}};
    AUTO(program_free) struct program program = {0};
    struct linked linked;
    AUTO_TEXT why = {0};

    emit_count(&program, &config);
    CHECK_NUMBER(program_link(&program, &linked, &why), 0);
    lint(&linked, &program, V(4, 18), &why);
    CHECK(why.data && strstr(why.data, "a way back takes Linux 5.3, and it is for 4.18"));
}

/*
 * ---- The unrolled walk, at its largest, is for 4.4: lint.h would find anything newer in it ----
 */

static const uint32_t some_pids[100] = {1};
static const char some_names[16][COMM_BYTES];

static void lint_unrolled(struct capture config, bool planted, struct text *why)
{
    const bool both = config.kernel_stack && config.user_stack;
    AUTO(program_free) struct program program = {0};
    struct linked linked;

    config.filter = (struct event_filter){.cpu = 1, .own = 9, .asked = 4, .pids = some_pids, .pid_count = COUNT_OF(some_pids),
        .comms = some_names, .comm_count = COUNT_OF(some_names), .uids = some_pids, .uid_count = COUNT_OF(some_names)};
    config.depth = both ? UNROLLED_MOST_OF_BOTH : UNROLLED_MOST_OF_ONE;
    config.steps = UNROLLED_MOST_OF_BOTH;
    config.machine = &machine_x86_64;
    config.bits = 14;
    config.control = 1, config.scratches = 2, config.buckets = 3;
    emit_unrolled(&program, &config);
    CHECK_NUMBER(program_link(&program, &linked, why), 0);
    struct bpf_insn *insns = (struct bpf_insn *)(uintptr_t)linked.insns;
    for (size_t i = linked.count; planted && i-- > 0; planted = insns[i].code != (BPF_JMP | BPF_JLT | BPF_X))
        if (insns[i].code == (BPF_JMP | BPF_JGT | BPF_X))
            insns[i].code = BPF_JMP | BPF_JLT | BPF_X;
    lint(&linked, &program, V(4, 4), why);
}

TEST(the_walk_is_for_the_oldest)
{
    AUTO_TEXT why = {0};

    for (unsigned i = 0; i < 1 << 6; i++) {
        const struct capture config = {
            .kernel_stack = i & 1, .user_stack = i & 2, .at_start = i & 4, .from_regs = i & 8,
            .per_process = i & 16, .per_thread = i & 32};
        lint_unrolled(config, false, &why);
    }
    CHECK_STRING(why.data ? why.data : "", "");
    lint_unrolled((struct capture){.kernel_stack = true, .user_stack = true}, true, &why);
    CHECK(why.data && strstr(why.data, "this comparison takes Linux 4.14, and it is for 4.4"));
    CHECK(why.data && strchr(why.data, '\n') == why.data + why.length - 1);
}

TEST(older_words_are_found)
{
    struct bpf_insn insns[] = {
        INSN_CODE(CALL(BPF_FUNC_probe_read_user)), INSN_CODE(CALL(BPF_FUNC_probe_read_kernel)),
        INSN_CODE(CALL(BPF_FUNC_get_stack)),
        {.code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_CALL, .imm = BPF_FUNC_probe_read_user},
    };

    insns_make_older(insns, COUNT_OF(insns));
    CHECK_NUMBER(insns[0].imm, BPF_FUNC_probe_read);
    CHECK_NUMBER(insns[1].imm, BPF_FUNC_probe_read);
    CHECK_NUMBER(insns[2].imm, BPF_FUNC_get_stack);
    CHECK_NUMBER(insns[3].imm, BPF_FUNC_probe_read_user);
}

TEST_MAIN
