/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kernel/pid_fields.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/bpf.h"
#include "kernel/btf.h"

#define POINTER_BYTES 8
#define MOST_LEVEL 32 /* MAX_PID_NS_LEVEL */
#define PIDTYPE_TGID 1 /* where signal_struct has the process's */

enum {
    TASK,
    SIGNAL,
    PID,
    NUMBER,
    SPACE,
    COMMON,
    STRUCTS,
};

static const char *const names[STRUCTS] = {
    [TASK] = "task_struct",
    [SIGNAL] = "signal_struct",
    [PID] = "pid",
    [NUMBER] = "upid",
    [SPACE] = "pid_namespace",
    [COMMON] = "ns_common",
};

static int read_fields(struct pid_fields *fields)
{
    struct btf_struct structs[STRUCTS];
    uint16_t number, space, common;
    const struct {
        unsigned structure;
        const char *member;
        uint32_t bytes; /* 0: an array, or any struct */
        uint16_t *place;
    } wanted[] = {
        {TASK, "thread_pid", POINTER_BYTES, &fields->task_pid},
        {TASK, "signal", POINTER_BYTES, &fields->task_signal},
        {SIGNAL, "pids", 0, &fields->signal_pid},
        {PID, "level", 4, &fields->pid_level},
        {PID, "numbers", 0, &fields->pid_number},
        {NUMBER, "nr", 4, &number},
        {NUMBER, "ns", POINTER_BYTES, &space},
        {SPACE, "ns", 0, &common},
        {COMMON, "inum", 4, &fields->space_inode},
    };
    struct btf_member member;
    struct btf btf;
    int result = btf_open_kernel(&btf);

    if (result)
        return result;
    for (size_t i = 0; i < STRUCTS; i++)
        structs[i] = (struct btf_struct){.name = names[i]};
    btf_find_structs(&btf, structs, STRUCTS);
    for (size_t i = 0; i < COUNT_OF(wanted) && !result; i++) {
        result = btf_find_member_of(&btf, structs[wanted[i].structure].id, wanted[i].member, &member);
        if (!result && ((wanted[i].bytes && member.size != wanted[i].bytes) || member.offset > INT16_MAX))
            result = -EINVAL;
        *wanted[i].place = result ? 0 : (uint16_t)member.offset;
    }
    btf_free(&btf);
    fields->signal_pid = (uint16_t)(fields->signal_pid + PIDTYPE_TGID * POINTER_BYTES);
    fields->pid_space = (uint16_t)(fields->pid_number + space);
    fields->pid_number = (uint16_t)(fields->pid_number + number);
    fields->space_inode = (uint16_t)(fields->space_inode + common);
    return result;
}

/* The namespaces' numbers follow each other: { nr; ns; } */
static void choose_level(struct pid_fields *fields, uint32_t level)
{
    const uint32_t bytes = fields->pid_space + POINTER_BYTES - fields->pid_number;

    fields->level = level;
    fields->pid_number = (uint16_t)(fields->pid_number + level * bytes);
    fields->pid_space = (uint16_t)(fields->pid_space + level * bytes);
}

enum { INDEX = -4, PLACE = -16 };

/* The answer is r7, or 0. */
static void emit_answer(struct program *program, int answer)
{
    EMIT(program,
        JA("known"),
    LABEL("unknown"),
        MOV_IMM(R7, 0),
    LABEL("known"),
        ST(W, R10, INDEX, 0),
        STX(DW, R10, PLACE, R7),
        LOAD_MAP(R1, answer),
        MOV_REG(R2, R10),
        ADD_IMM(R2, INDEX),
        MOV_REG(R3, R10),
        ADD_IMM(R3, PLACE),
        MOV_IMM(R4, BPF_ANY),
        CALL(BPF_FUNC_map_update_elem),
        MOV_IMM(R0, 0),
        EXIT());
}

/* Runs it once, for us. */
static int run(struct program *program, int answer, uint64_t *answered)
{
    const uint64_t nothing = 0;
    const uint32_t zero = 0;
    struct text log = {0};
    struct linked linked;

    emit_answer(program, answer);
    int result = program_link(program, PROGRAM_LIMIT_OLD, &linked, &log);
    if (!result) {
        const struct bpf_load load = {
            .type = BPF_PROG_TYPE_RAW_TRACEPOINT,
            .name = "numbers",
            .insns = linked.insns,
            .count = linked.count,
        };
        result = bpf_load_program(&load, &log);
    }
    if (result >= 0) {
        const int loaded = result;
        result = bpf_run_raw(loaded, &nothing, 1);
        close(loaded);
    }
    program_free(program);
    text_free(&log);
    return result ? result : bpf_lookup(answer, &zero, answered);
}

/* We are in our own namespace: its level is that of our number. */
static int learn_level(struct pid_fields *fields, int answer)
{
    struct program program = {0};
    uint64_t level = 0;

    emit_load_level(&program, fields, PLACE, "unknown");
    int result = run(&program, answer, &level);
    if (!result && (!level || level > MOST_LEVEL))
        result = -ENODATA;
    if (!result)
        choose_level(fields, (uint32_t)level);
    return result;
}

/* What it says of us must be what we know. */
static int try_fields(const struct pid_fields *fields, int answer)
{
    const uint64_t own = (uint64_t)getpid() << 32 | (uint32_t)syscall(SYS_gettid);
    struct program program = {0};
    uint64_t numbers = 0;

    emit_load_numbers(&program, fields, PLACE, "unknown");
    int result = run(&program, answer, &numbers);
    return result ? result : numbers == own ? 0 : -ENODATA;
}

static int learn(struct pid_fields *fields)
{
    int answer;
    int result = read_fields(fields);

    if (result)
        return result;
    result = bpf_create_numbered(&answer, BPF_MAP_TYPE_ARRAY, "numbers", sizeof(uint64_t), 1);
    if (result)
        return result;
    result = learn_level(fields, answer);
    if (!result)
        result = try_fields(fields, answer);
    close(answer);
    return result;
}

const struct pid_fields *pid_fields_find(uint64_t inode)
{
    static struct pid_fields found;

    found = (struct pid_fields){.inode = (uint32_t)inode};
    return learn(&found) ? NULL : &found;
}
