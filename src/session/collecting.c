/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "session/collecting.h"

#include <errno.h>
#include <linux/bpf.h>
#include <unistd.h>

#include "base/say.h"
#include "base/text.h"
#include "insns/program.h"
#include "kernel/bpf.h"
#include "rings/rings_try.h"

/* A program that takes a stack, which is what is younger than bpf(2): get_stack (4.18). */
static int try_program(void)
{
    struct program program = {0};
    struct linked linked;
    struct text log = {0};

    EMIT(&program,
        MOV_REG(R2, R10),
        ADD_IMM(R2, -8),
        MOV_IMM(R3, 8),
        MOV_IMM(R4, 0),
        CALL(BPF_FUNC_get_stack),
        MOV_IMM(R0, 0),
        EXIT());
    int result = program_link(&program, PROGRAM_LIMIT_OLD, &linked, &log);
    if (!result) {
        const struct bpf_load load = {
            .type = BPF_PROG_TYPE_PERF_EVENT,
            .name = "stackbox",
            .insns = linked.insns,
            .count = linked.count,
        };
        result = bpf_load_program(&load, &log);
    }
    text_free(&log);
    program_free(&program);
    if (result < 0)
        return result;
    close(result);
    return 0;
}

static int try_bpf(void)
{
    int map = -1, result = bpf_create_numbered(&map, BPF_MAP_TYPE_PERCPU_ARRAY, "stackbox", sizeof(uint64_t), 1);

    if (map >= 0)
        close(map);
    return result ? result : try_program();
}

void collecting_choose(struct trace_options *options, bool own_suffice)
{
    options->by_rings = options->collect == COLLECT_RINGS;
    if (options->collect != COLLECT_BEST)
        return;
    int refused = try_bpf();
    if (!refused || refused == -ENOMEM || rings_try(own_suffice && (options->pids.count || options->command)))
        return;
    options->by_rings = true;
    say("stacks are collected by perf's rings, as %s", refused == -ENOSYS ? "this kernel has no bpf(2)"
        : refused == -EPERM || refused == -EACCES ? "bpf(2) is refused" : "this kernel's bpf(2) takes none");
}
