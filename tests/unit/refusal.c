/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The messages about a program that the kernel's verifier rejects. */
#include "unit/test.h"

#include "insns/program.h"
#include "kernel/bpf.h"
#include "kernel/limits.h"
#include "kernel/refusal.h"

static void check_sentence(int error, const char *said, const char *sentence)
{
    AUTO_TEXT log = {0}, why = {0};

    text_add(&log, said);
    refusal_explain_program(REFUSED_PROBES, error, &log, &why);
    CHECK_STRING(why.data ? why.data : "", sentence);
}

#define REFUSED(words) "the kernel's verifier rejects the program (\"" words "\"), which is a bug in " \
                       "stackbox: please report it with the output of --debug"

TEST(last_words)
{
    /* Linux 6.12 on riscv64, and 5.10 on x86-64. */
    check_sentence(-EACCES,
                   "0: (7b) *(u64 *)(r1 +88) = r2\n"
                   "misaligned value access off (0x0; 0x3ff)+0+88 size 8\n"
                   "processed 210 insns (limit 1000000) max_states_per_insn 1 total_states 9 "
                   "peak_states 9 mark_read 5\n",
                   REFUSED("misaligned value access off (0x0; 0x3ff)+0+88 size 8"));
    check_sentence(-EINVAL, "unknown opcode e5\nverification time 34 usec\nstack depth 0\n",
                   REFUSED("unknown opcode e5"));
    check_sentence(-EACCES, "R1 \033[31m", REFUSED("R1 \\x1b[31m"));
}

/* A log of statistics alone, or an empty one, has no reason; other errors are no rejection. */
TEST(no_words)
{
    static const char *const logs[] = {"", "\n\n", "processed 2 insns (limit 1000000)\n"};

    for (size_t i = 0; i < COUNT_OF(logs); i++) {
        AUTO_TEXT log = {0}, why = {0}, plain = {0};
        text_add(&log, logs[i]);
        refusal_explain_program(REFUSED_PROBES, -EACCES, &log, &why);
        refusal_explain(REFUSED_PROBES, -EACCES, 0, &plain);
        CHECK_STRING(why.data, plain.data);
    }
    check_sentence(-EMFILE, "some words\n", "too many open files: raise the limit (ulimit -n)");
}

/* A program that reads beyond its stack: this kernel's own message. */
TEST(a_real_one)
{
    AUTO(program_free) struct program program = {0};
    struct linked linked;
    AUTO_TEXT log = {0}, why = {0};

    EMIT(&program,
        LDX(DW, R0, R10, 8),
        EXIT());
    CHECK_NUMBER(program_link(&program, &linked, &log), 0);
    const struct bpf_load load = {
        .type = BPF_PROG_TYPE_RAW_TRACEPOINT,
        .name = "beyond",
        .code = linked,
    };
    int fd = bpf_load_program(&load, &log);
    CHECK(fd < 0);
    if (fd != -EACCES || !log.length) {
        puts("SKIP a_real_one: bpf(2) says no before its verifier does");
    } else {
        refusal_explain_program(REFUSED_PROBES, fd, &log, &why);
        CHECK(why.data && strstr(why.data, "invalid read from stack"));
    }
}

/* Messages of kernels that do not interpret all programs. */
TEST(no_jit)
{
    const char *sentence = kernel_jit_is_off()
        ? "this kernel cannot interpret the program, and net.core.bpf_jit_enable is 0: sysctl "
          "net.core.bpf_jit_enable=1"
        : "this kernel cannot interpret the program, and has no JIT compiler: boot one with "
          "CONFIG_BPF_JIT";

    check_sentence(-EINVAL, "program requires BPF JIT compiler but it is not available\nprocessed 90 insns\n",
                   sentence);
    check_sentence(-EINVAL, "callbacks are not allowed in non-JITed programs\n", sentence);
    check_sentence(-KERNEL_ENOTSUPP, "program requires BPF JIT compiler but it is not available\n",
                   kernel_jit_is_off() ? "net.core.bpf_jit_enable is 0, and then this kernel refuses stacksnoop, "
                                         "--cpu and unwind tables: sysctl net.core.bpf_jit_enable=1" : sentence);
}

TEST_MAIN
