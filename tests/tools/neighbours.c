/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * neighbours           stands in for other tools' programs while ours are tested
 *
 * Attaches programs that do nothing to the same places as ours: to the scheduler's tracepoints and
 * those of system calls, to a clock on each CPU, and to the function that most tests trace. Prints
 * `ready` and which of them it could attach, and keeps them until it is ended.
 */
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/util.h"
#include "kernel/bpf.h"
#include "kernel/perf.h"
#include "kernel/sampling.h"

static const struct bpf_insn nothing[] = {
    {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
    {.code = BPF_JMP | BPF_EXIT},
};

static int load(uint32_t type)
{
    struct text log = {0};
    const struct bpf_load program = {
        .type = type, .name = "neighbour", .code = {.insns = nothing, .count = COUNT_OF(nothing)}};
    int result = bpf_load_program(&program, &log);

    text_free(&log);
    return result;
}

static int attach_clock(struct sampling *sampling)
{
    struct sampling_config config = {
        .event = &sampling_events[0], .frequency = 49, .cpu = -1, .idle = true};

    config.program = load(BPF_PROG_TYPE_PERF_EVENT);
    return config.program < 0 ? config.program : sampling_open(sampling, &config);
}

static int attach_function(const char *name)
{
    struct perf_probe_type type;
    int program = load(BPF_PROG_TYPE_KPROBE), result = perf_probe_type("kprobe", &type);

    if (program < 0 || result)
        return program < 0 ? program : result;
    result = perf_open_kprobe(&type, false, name, 0, 0);
    return result < 0 ? result : perf_attach(result, program);
}

static void tell(const char *what, int result)
{
    printf("%s: %s\n", what, result < 0 ? strerror(-result) : "attached");
}

int main(void)
{
    static const char *const tracepoints[] = {"sched_switch", "sched_wakeup", "sys_enter",
                                              "sched_process_exit"};
    struct sampling sampling = {0};

    for (size_t i = 0; i < COUNT_OF(tracepoints); i++) {
        int program = load(BPF_PROG_TYPE_RAW_TRACEPOINT);
        tell(tracepoints[i], program < 0 ? program : bpf_open_raw_tracepoint(program, tracepoints[i]));
    }
    tell("a clock", attach_clock(&sampling));
    tell("__x64_sys_getppid", attach_function("__x64_sys_getppid"));
    printf("ready\n");
    fflush(stdout);
    for (;;)
        pause();
}
