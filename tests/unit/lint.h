/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Checks by a table whether the verifier of a kernel version accepts a program: instructions and their number,
 * loops, helpers, map types, and the memory that a helper's pointer refers to. It does not know how many
 * instructions the verifier processes (at most 1,000,000 since 5.2, 131,072 on 4.19): only a kernel does.
 */
#ifndef STACKBOX_TEST_LINT_H
#define STACKBOX_TEST_LINT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "insns/program.h"

#define V(major, minor) ((major) << 8 | (minor))

#define LINT_STACK_BYTES 512

/* ---- The tables ---- */

#define R(number) (1u << (number))
static const struct lint_helper {
    int32_t id;
    const char *name;
    unsigned since;
    unsigned keys, buffers; /* which arguments point to a key or a value of a map, or to other memory */
} lint_helpers[] = {
    {BPF_FUNC_map_lookup_elem, "map_lookup_elem", V(3, 19), R(2), 0},
    {BPF_FUNC_map_update_elem, "map_update_elem", V(3, 19), R(2) | R(3), 0},
    {BPF_FUNC_map_delete_elem, "map_delete_elem", V(3, 19), R(2), 0},
    {BPF_FUNC_probe_read, "probe_read", V(4, 1), 0, R(1)},
    {BPF_FUNC_ktime_get_ns, "ktime_get_ns", V(4, 1), 0, 0},
    {BPF_FUNC_get_smp_processor_id, "get_smp_processor_id", V(4, 1), 0, 0},
    {BPF_FUNC_get_current_pid_tgid, "get_current_pid_tgid", V(4, 2), 0, 0},
    {BPF_FUNC_get_current_uid_gid, "get_current_uid_gid", V(4, 2), 0, 0},
    {BPF_FUNC_get_current_comm, "get_current_comm", V(4, 2), 0, R(1)},
    {BPF_FUNC_perf_event_output, "perf_event_output", V(4, 4), 0, R(4)},
    {BPF_FUNC_get_stackid, "get_stackid", V(4, 6), 0, 0},
    {BPF_FUNC_get_current_task, "get_current_task", V(4, 8), 0, 0},
    {BPF_FUNC_current_task_under_cgroup, "current_task_under_cgroup", V(4, 9), 0, 0},
    {BPF_FUNC_probe_read_str, "probe_read_str", V(4, 11), 0, R(1)},
    {BPF_FUNC_get_stack, "get_stack", V(4, 18), 0, R(2)},
    {BPF_FUNC_probe_read_user, "probe_read_user", V(5, 5), 0, R(1)},
    {BPF_FUNC_probe_read_kernel, "probe_read_kernel", V(5, 5), 0, R(1)},
    {BPF_FUNC_probe_read_kernel_str, "probe_read_kernel_str", V(5, 5), 0, R(1)},
    {BPF_FUNC_get_ns_current_pid_tgid, "get_ns_current_pid_tgid", V(5, 7), 0, R(3)},
    {BPF_FUNC_ringbuf_reserve, "ringbuf_reserve", V(5, 8), 0, 0},
    {BPF_FUNC_ringbuf_submit, "ringbuf_submit", V(5, 8), 0, 0},
    {BPF_FUNC_snprintf, "snprintf", V(5, 13), 0, R(1) | R(3) | R(4)},
    {BPF_FUNC_kallsyms_lookup_name, "kallsyms_lookup_name", V(5, 16), 0, R(1) | R(4)},
    {BPF_FUNC_get_attach_cookie, "get_attach_cookie", V(5, 15), 0, 0},
};
#undef R

/* By the names that programs give them */
static const struct lint_map {
    const char *name;
    unsigned since; /* of its kind, if that is newer than the first */
    bool holds_maps;
} lint_maps[] = {
    {"control", 0, false}, {"counts", 0, false}, {"shallow", 0, false}, {"deep", 0, false},
    {"waits", 0, false}, {"cuts", 0, false}, {"rests", 0, false}, {"followed", 0, false}, {"asked", 0, false},
     {"own", 0, false}, {"living", 0, false},
    {"life_account", 0, false},
    {"other_counts", V(4, 12), true}, {"other_shallow", V(4, 12), true}, {"other_deep", V(4, 12), true},
    {"account", V(4, 6), false}, {"slots", V(4, 6), false}, {"walks", V(4, 6), false}, /* of each CPU */
    {"ids", V(4, 6), false},     /* stacks */
    {"cgroup", V(4, 8), false},
    {"ended", V(4, 10), false},  /* of the last one used */
    {"buffers", V(4, 3), false}, /* of perf events */
    {"settled", V(5, 5), false}, /* shared with us, too */
    {"objects", 0, false}, {"chunks", V(4, 12), true}, {"rules", V(5, 5), false}, {"cache", 0, false},
    {"ring", V(5, 8), false}, {"cold", V(5, 8), false},
    {"scratches", 0, false}, {"buckets", 0, false},
    {"symbol", V(5, 5), false}, {"format", V(5, 2), false}, /* shared with us; frozen */
    {"banks", 0, false}, /* of one family of programs */
};

/* Since when instructions exist; the others are older than 4.4. */
static unsigned lint_since(const struct bpf_insn *insn, const char **what)
{
    const uint8_t class = BPF_CLASS(insn->code), operation = BPF_OP(insn->code);
    const bool is_jump = class == BPF_JMP || class == BPF_JMP32, is_alu = class == BPF_ALU || class == BPF_ALU64;

    *what = "a jump by 32 bits";
    if (class == BPF_JMP32)
        return operation == BPF_JA ? V(6, 6) : V(5, 1);
    *what = "this comparison";
    if (is_jump && (operation == BPF_JLT || operation == BPF_JLE || operation == BPF_JSLT || operation == BPF_JSLE))
        return V(4, 14);
    *what = "a call of a function";
    if (is_jump && operation == BPF_CALL && insn->src_reg == BPF_PSEUDO_CALL)
        return V(4, 16);
    *what = "an address in a map's value";
    if (insn->code == (BPF_LD | BPF_IMM | BPF_DW) && insn->src_reg == BPF_PSEUDO_MAP_VALUE)
        return V(5, 2);
    *what = "an atomic operation other than a sum";
    if (class == BPF_STX && BPF_MODE(insn->code) == BPF_ATOMIC && insn->imm != BPF_ADD)
        return V(5, 12);
    *what = "a shift by 32 bits that keeps the sign";
    if (class == BPF_ALU && operation == BPF_ARSH)
        return V(5, 0);
    *what = "arithmetic with a sign";
    return is_alu && insn->off ? V(6, 6) : 0;
}

/* ---- What registers hold ---- */

enum lint_kind {
    LINT_UNSEEN, /* unreachable, as far as is known */
    LINT_NUMBER,
    LINT_STACK,
    LINT_VALUE,  /* a map value, or a pointer returned like one */
    LINT_MAP,
    LINT_MIXED,  /* one or the other */
};

struct lint_registers {
    uint8_t kind[11];
    const struct lint_map *map[11]; /* of LINT_MAP, if known */
};

struct lint {
    const struct linked *linked;
    const struct program *program;
    unsigned floor;
    struct lint_registers *before; /* each instruction */
    struct text *why;
};

static const struct lint_helper *lint_find_helper(const struct bpf_insn *insn)
{
    for (size_t i = 0; i < COUNT_OF(lint_helpers); i++)
        if (lint_helpers[i].id == insn->imm)
            return &lint_helpers[i];
    return NULL;
}

static const struct lint_map *lint_find_map(const struct lint *lint, const struct bpf_insn *insn)
{
    const char *name = program_map_name(lint->program, insn->imm);

    for (size_t i = 0; name && i < COUNT_OF(lint_maps); i++)
        if (!strcmp(lint_maps[i].name, name))
            return &lint_maps[i];
    return NULL;
}

static void lint_complain(const struct lint *lint, size_t at, unsigned since, const char *what)
{
    text_format(lint->why, "%zu: %s takes Linux %u.%u, and it is for %u.%u\n", at, what, since >> 8, since & 0xff,
                lint->floor >> 8, lint->floor & 0xff);
}

static bool lint_is_wide(const struct bpf_insn *insn)
{
    return insn->code == (BPF_LD | BPF_IMM | BPF_DW);
}

static bool lint_is_call(const struct bpf_insn *insn)
{
    return insn->code == (BPF_JMP | BPF_CALL);
}

/* Returns whether a register's state changed. */
static bool lint_merge(struct lint_registers *into, const struct lint_registers *from)
{
    bool is_new = false;

    for (int i = 0; i < 11; i++) {
        if (from->kind[i] == LINT_UNSEEN || (into->kind[i] == from->kind[i] && into->map[i] == from->map[i]))
            continue;
        const bool first = into->kind[i] == LINT_UNSEEN, same_kind = into->kind[i] == from->kind[i];
        const uint8_t kind = first || same_kind ? from->kind[i] : LINT_MIXED;
        const struct lint_map *map = first ? from->map[i] : NULL;
        is_new = is_new || into->kind[i] != kind || into->map[i] != map;
        into->kind[i] = kind;
        into->map[i] = map;
    }
    return is_new;
}

static void lint_call(const struct bpf_insn *insn, struct lint_registers *registers)
{
    const bool is_helper = insn->src_reg != BPF_PSEUDO_CALL;
    const struct lint_map *map = registers->map[1];
    uint8_t result = LINT_NUMBER;

    if (is_helper && insn->imm == BPF_FUNC_map_lookup_elem)
        result = map && map->holds_maps ? LINT_MAP : LINT_VALUE;
    if (is_helper && insn->imm == BPF_FUNC_ringbuf_reserve)
        result = LINT_VALUE;
    for (int i = 0; i < 6; i++) {
        registers->kind[i] = i ? LINT_NUMBER : result;
        registers->map[i] = NULL;
    }
}

/* What the registers hold after an instruction. */
static void lint_step(const struct lint *lint, const struct bpf_insn *insn, struct lint_registers *registers)
{
    const uint8_t class = BPF_CLASS(insn->code);
    const unsigned to = insn->dst_reg, from = insn->src_reg;
    const bool is_move = insn->code == (BPF_ALU64 | BPF_MOV | BPF_X);
    const bool is_sum = insn->code == (BPF_ALU64 | BPF_ADD | BPF_X) || insn->code == (BPF_ALU64 | BPF_ADD | BPF_K);

    if (lint_is_call(insn)) {
        lint_call(insn, registers);
    } else if (lint_is_wide(insn)) {
        registers->kind[to] = !from ? LINT_NUMBER : from == BPF_PSEUDO_MAP_FD ? LINT_MAP : LINT_VALUE;
        registers->map[to] = from == BPF_PSEUDO_MAP_FD ? lint_find_map(lint, insn) : NULL;
    } else if (is_move) {
        registers->kind[to] = registers->kind[from];
        registers->map[to] = registers->map[from];
    } else if (!is_sum && (class == BPF_ALU || class == BPF_ALU64 || class == BPF_LDX)) {
        registers->kind[to] = LINT_NUMBER;
        registers->map[to] = NULL;
    }
}

/* The instructions at which execution can continue: at most two. */
static size_t lint_next(const struct bpf_insn *insn, size_t at, size_t next[2])
{
    const uint8_t class = BPF_CLASS(insn->code), operation = BPF_OP(insn->code);
    size_t count = 0;

    if (insn->code == (BPF_JMP | BPF_EXIT))
        return 0;
    if (insn->code != (BPF_JMP | BPF_JA))
        next[count++] = at + 1 + lint_is_wide(insn);
    if ((class == BPF_JMP || class == BPF_JMP32) && operation != BPF_CALL)
        next[count++] = (size_t)((int64_t)at + 1 + insn->off);
    return count;
}

/* Its arguments are numbers. */
static void lint_begin(struct lint *lint, size_t at)
{
    for (int i = 0; i < 10; i++)
        lint->before[at].kind[i] = LINT_NUMBER;
    lint->before[at].kind[10] = LINT_STACK;
}

static void lint_follow(struct lint *lint)
{
    const struct linked *linked = lint->linked;
    bool is_new = true;

    lint_begin(lint, 0);
    for (size_t i = 0; linked->functions && i < linked->function_count; i++)
        lint_begin(lint, linked->functions[i]);
    while (is_new) {
        is_new = false;
        for (size_t at = 0; at < linked->count; at += 1 + lint_is_wide(&linked->insns[at])) {
            struct lint_registers after = lint->before[at];
            size_t next[2], count = lint_next(&linked->insns[at], at, next);
            lint_step(lint, &linked->insns[at], &after);
            for (size_t i = 0; i < count; i++)
                if (next[i] < linked->count)
                    is_new = lint_merge(&lint->before[next[i]], &after) || is_new;
        }
    }
}

/* ---- Judging ---- */

static void lint_look_at_call(const struct lint *lint, size_t at)
{
    const struct lint_helper *helper = lint_find_helper(&lint->linked->insns[at]);
    const uint8_t *kind = lint->before[at].kind;

    if (!helper) {
        text_format(lint->why, "%zu: of helper %d lint.h does not know since when it is there\n", at,
                    (int)lint->linked->insns[at].imm);
        return;
    }
    if (lint->floor < helper->since)
        lint_complain(lint, at, helper->since, helper->name);
    for (int i = 1; i < 6; i++) {
        const bool is_elsewhere = kind[i] == LINT_VALUE || kind[i] == LINT_MIXED;
        if (is_elsewhere && helper->buffers >> i & 1 && lint->floor < V(4, 12))
            lint_complain(lint, at, V(4, 12), "memory of a map, where the stack was wanted,");
        if (is_elsewhere && helper->keys >> i & 1 && lint->floor < V(4, 18))
            lint_complain(lint, at, V(4, 18), "a key or value that is not on the stack");
    }
}

static void lint_look_at(const struct lint *lint, size_t at)
{
    const struct bpf_insn *insn = &lint->linked->insns[at];
    const struct lint_registers *before = &lint->before[at];
    const uint8_t class = BPF_CLASS(insn->code), operation = BPF_OP(insn->code);
    const bool is_store = class == BPF_ST || class == BPF_STX, is_memory = is_store || class == BPF_LDX;
    const char *what;
    const unsigned since = lint_since(insn, &what);

    if (lint->floor < since)
        lint_complain(lint, at, since, what);
    if ((class == BPF_JMP || class == BPF_JMP32) && operation != BPF_CALL && operation != BPF_EXIT &&
        insn->off < 0 && lint->floor < V(5, 3))
        lint_complain(lint, at, V(5, 3), "a way back");
    if (class == BPF_ALU64 && operation == BPF_ADD && before->kind[insn->dst_reg] == LINT_VALUE &&
        lint->floor < V(4, 9))
        lint_complain(lint, at, V(4, 9), "an address within a map's value");
    if (is_memory && (is_store ? insn->dst_reg : insn->src_reg) == R10 &&
        (insn->off >= 0 || insn->off < -LINT_STACK_BYTES))
        text_format(lint->why, "%zu: %d is not on the stack\n", at, insn->off);
    if (lint_is_call(insn) && insn->src_reg != BPF_PSEUDO_CALL)
        lint_look_at_call(lint, at);
    if (lint_is_wide(insn) && insn->src_reg) {
        const struct lint_map *map = lint_find_map(lint, insn);
        if (!map)
            text_format(lint->why, "%zu: of this map lint.h does not know of which kind it is\n", at);
        else if (lint->floor < map->since)
            lint_complain(lint, at, map->since, map->name);
    }
}

/* Lists what in a program is too new for the kernel `floor`, such as V(4, 18), one per line; empty: nothing. */
static void lint(const struct linked *linked, const struct program *program, unsigned floor, struct text *why)
{
    struct lint lint = {linked, program, floor, calloc(linked->count + 1, sizeof(*lint.before)), why};

    if (linked->functions && floor < V(5, 6))
        lint_complain(&lint, linked->functions[0], V(5, 6), "functions that are verified by themselves");
    lint_follow(&lint);
    for (size_t at = 0; at < linked->count; at += 1 + lint_is_wide(&linked->insns[at]))
        lint_look_at(&lint, at);
    free(lint.before);
}

#endif
