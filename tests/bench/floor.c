/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * floor [-K | -U] CATEGORY NAME COMMAND...
 * floor [-K | -U] -F HZ COMMAND...
 *
 * The least that counting stacks can cost: a program on a tracepoint that gets the ids of the kernel
 * and the user stack, the pid and the comm, and adds one to an entry of a hash map: no filter, one
 * bank, no exact accounting; or the same at each tick of the clocks of all CPUs but idle ones. With
 * -U only the user stack; with -K only the kernel stack, without pid and comm. Runs COMMAND and
 * prints the average time of a run of the program, by the kernel's statistics:
 *
 *     ns per event: 1418
 *
 * kernel.bpf_stats_enabled must be 1.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "insns/program.h"
#include "kernel/bpf.h"
#include "kernel/perf.h"
#include "kernel/sampling.h"
#include "kernel/tracefs.h"

struct floor_key {
    uint32_t pid;
    int32_t kernel_stack, user_stack;
    uint32_t none;
    char comm[16];
};

enum {
    KEY = -(int)sizeof(struct floor_key),
    KEY_KERNEL_STACK = KEY + (int)offsetof(struct floor_key, kernel_stack),
    KEY_USER_STACK = KEY + (int)offsetof(struct floor_key, user_stack),
    KEY_COMM = KEY + (int)offsetof(struct floor_key, comm),
    ONE = KEY - 8,
};

static void die(const char *what, int error)
{
    fprintf(stderr, "floor: %s: %s\n", what, strerror(-error));
    exit(1);
}

static int ok(const char *what, int result)
{
    if (result < 0)
        die(what, result);
    return result;
}

static bool kernel = true, user = true;

static void emit_stack(struct program *program, int stacks, int32_t flags, int key)
{
    EMIT(program,
        MOV_REG(R1, R6),
        LOAD_MAP(R2, stacks),
        MOV_IMM(R3, flags),
        CALL(BPF_FUNC_get_stackid),
        STX(W, R10, (int16_t)key, R0));
}

static void emit_process(struct program *program)
{
    EMIT(program,
        CALL(BPF_FUNC_get_current_pid_tgid),
        RSH_IMM(R0, 32),
        STX(W, R10, KEY, R0),
        MOV_REG(R1, R10),
        ADD_IMM(R1, KEY_COMM),
        MOV_IMM(R2, 16),
        CALL(BPF_FUNC_get_current_comm));
}

static void emit_floor(struct program *program, int counts, int stacks)
{
    EMIT(program,
        MOV_REG(R6, R1),
        ST(DW, R10, KEY, 0),
        ST(DW, R10, KEY + 8, 0),
        ST(DW, R10, KEY_COMM, 0),
        ST(DW, R10, KEY_COMM + 8, 0));
    if (kernel)
        emit_stack(program, stacks, 0, KEY_KERNEL_STACK);
    if (user) {
        emit_stack(program, stacks, BPF_F_USER_STACK, KEY_USER_STACK);
        emit_process(program);
    }
    EMIT(program,
        LOAD_MAP(R1, counts),
        MOV_REG(R2, R10),
        ADD_IMM(R2, KEY),
        CALL(BPF_FUNC_map_lookup_elem),
        JEQ_IMM(R0, 0, "insert"),
        MOV_IMM(R1, 1),
        XADD(DW, R0, 0, R1),
        JA("out"),
    LABEL("insert"),
        ST(DW, R10, ONE, 1),
        LOAD_MAP(R1, counts),
        MOV_REG(R2, R10),
        ADD_IMM(R2, KEY),
        MOV_REG(R3, R10),
        ADD_IMM(R3, ONE),
        MOV_IMM(R4, BPF_NOEXIST),
        CALL(BPF_FUNC_map_update_elem),
    LABEL("out"),
        MOV_IMM(R0, 0),
        EXIT());
}

static int load_floor(uint32_t type)
{
    const struct bpf_map_shape counts = {
        BPF_MAP_TYPE_HASH, "floor_counts", sizeof(struct floor_key), 8, 32768, 0, 0};
    const struct bpf_map_shape stacks = {
        BPF_MAP_TYPE_STACK_TRACE, "floor_stacks", 4, 127 * 8, 16384, 0, 0};
    struct program program = {0};
    struct linked linked;
    struct text why = {0};

    emit_floor(&program, ok("counts", bpf_create_map(&counts)), ok("stacks", bpf_create_map(&stacks)));
    ok("link", program_link(&program, &linked, &why));
    const struct bpf_load load = {
        .type = type,
        .name = "floor",
        .code = linked,
    };
    int fd = bpf_load_program(&load, &why);
    if (fd < 0)
        fprintf(stderr, "%s\n", why.data ? why.data : "");
    program_free(&program);
    return ok("load", fd);
}

static void run_command(char **command, int *status)
{
    pid_t child = fork();

    if (!child) {
        execvp(command[0], command);
        _exit(127);
    }
    waitpid(child, status, 0);
}

/* Runs the command while the program is attached. Returns the program's descriptor. */
static int at_tracepoint(const char *category, const char *name, char **command, int *status)
{
    uint32_t id;
    int program = load_floor(BPF_PROG_TYPE_TRACEPOINT);
    int tracefs = ok("tracefs", tracefs_open());

    ok("tracepoint", tracefs_event_id(tracefs, category, name, &id));
    int event = ok("event", perf_open_tracepoint(id));
    ok("attach", perf_attach(event, program));
    run_command(command, status);
    close(event);
    return program;
}

static int at_ticks(const char *frequency, char **command, int *status)
{
    struct sampling sampling;
    const struct sampling_config config = {
        .event = sampling_events,
        .frequency = strtoull(frequency, NULL, 10),
        .cpu = -1,
        .program = load_floor(BPF_PROG_TYPE_PERF_EVENT),
    };

    if (!config.frequency)
        die("HZ", -EINVAL);
    ok("sampling", sampling_open(&sampling, &config));
    run_command(command, status);
    sampling_close(&sampling);
    return config.program;
}

int main(int argc, char **argv)
{
    struct bpf_program_info info;
    int status;

    if (argc > 1 && (!strcmp(argv[1], "-K") || !strcmp(argv[1], "-U"))) {
        *(argv[1][1] == 'K' ? &user : &kernel) = false;
        argc--, argv++;
    }
    if (argc < 4) {
        fprintf(stderr, "usage: floor [-K | -U] CATEGORY NAME COMMAND...\n"
                        "       floor [-K | -U] -F HZ COMMAND...\n");
        return 2;
    }
    int program = strcmp(argv[1], "-F") ? at_tracepoint(argv[1], argv[2], argv + 3, &status)
                                        : at_ticks(argv[2], argv + 3, &status);
    ok("info", bpf_program_info(program, &info));
    if (!info.run_count)
        die("no event was seen: is kernel.bpf_stats_enabled set", -1);
    printf("ns per event: %llu\n", (unsigned long long)(info.run_time_ns / info.run_count));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
