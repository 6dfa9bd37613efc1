/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "session/collecting.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/say.h"
#include "base/text.h"
#include "base/util.h"
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

static int try_bpf(const struct collecting_wishes *wishes)
{
    int map = -1, result = bpf_create_numbered(&map, BPF_MAP_TYPE_PERCPU_ARRAY, "stackbox", sizeof(uint64_t), 1);

    (void)wishes;
    if (map >= 0)
        close(map);
    return result ? result : try_program();
}

static int try_rings(const struct collecting_wishes *wishes)
{
    return rings_try(wishes->own);
}

/* The first is the best. */
static const struct way {
    enum collect_way way;
    int (*try)(const struct collecting_wishes *wishes);
    const char *name;
} ways[] = {
    {COLLECT_BPF, try_bpf, "programs in the kernel"},
    {COLLECT_RINGS, try_rings, "perf's rings"},
};

static const struct way *find_way(enum collect_way way)
{
    size_t i = 0;

    while (ways[i].way != way)
        i++;
    return &ways[i];
}

int collecting_try(enum collect_way way, const struct collecting_wishes *wishes)
{
    return find_way(way)->try(wishes);
}

/* What is out at the moment is no reason to do it otherwise. */
static bool is_shortage(int error)
{
    return error == -ENOMEM || error == -EMFILE || error == -ENFILE || error == -EAGAIN || error == -EINTR;
}

enum collect_way collecting_find(const struct collecting_wishes *wishes, int *refused)
{
    *refused = ways[0].try(wishes);
    if (!*refused || is_shortage(*refused)) {
        *refused = 0;
        return ways[0].way;
    }
    for (size_t i = 1; i < COUNT_OF(ways); i++)
        if (!ways[i].try(wishes))
            return ways[i].way;
    /* Containers' filters let rings through for less than programs, and of own tasks for nothing. */
    return wishes->takes_own || prctl(PR_GET_SECCOMP) == 2 ? COLLECT_RINGS : ways[0].way;
}

static void say_way(enum collect_way way, int refused)
{
    say("stacks are collected by %s, as %s", find_way(way)->name,
        refused == -ENOSYS ? "this kernel has no bpf(2)"
        : refused == -EPERM || refused == -EACCES ? "bpf(2) is refused" : "this kernel's bpf(2) takes none");
}

void collecting_choose(struct trace_options *options, const struct collecting_wishes *wishes)
{
    int refused;

    if (options->collect == COLLECT_BEST) {
        options->collect = collecting_find(wishes, &refused);
        if (options->collect != ways[0].way)
            say_way(options->collect, refused);
    }
    options->by_rings = options->collect == COLLECT_RINGS;
}
