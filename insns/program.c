/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "insns/program.h"

void program_emit(struct program *program, const union insn *insns, size_t count)
{
    size_t need;

    if (program->failed || !count)
        return;
    if (__builtin_add_overflow(program->count, count, &need) ||
        ARRAY_RESERVE(program->insns, program->room, need)) {
        program->failed = true;
        return;
    }
    memcpy(program->insns + program->count, insns, count * sizeof(*insns));
    program->count = need;
}

void program_name_map(struct program *program, int fd, const char *name)
{
    if (ARRAY_RESERVE(program->maps, program->map_room, program->map_count + 1)) {
        program->failed = true;
        return;
    }
    program->maps[program->map_count++] = (struct program_map){fd, name};
}

const char *program_map_name(const struct program *program, int fd)
{
    for (size_t i = 0; i < program->map_count; i++)
        if (program->maps[i].fd == fd)
            return program->maps[i].name;
    return NULL;
}

static bool is_label(const union insn *insn)
{
    return insn->code.code == INSN_LABEL || insn->code.code == INSN_FUNCTION;
}

static bool is_wide(const union insn *insn)
{
    return insn->code.code == (BPF_LD | BPF_IMM | BPF_DW);
}

static bool is_local_call(const union insn *insn)
{
    return insn->code.code == (BPF_JMP | BPF_CALL) && insn->code.src_reg == BPF_PSEUDO_CALL;
}

static bool is_jump(const union insn *insn)
{
    switch (insn->code.code) {
    case BPF_JMP | BPF_CALL:
        return is_local_call(insn);
    case BPF_JMP | BPF_EXIT:
        return false;
    }
    return BPF_CLASS(insn->code.code) == BPF_JMP || BPF_CLASS(insn->code.code) == BPF_JMP32;
}

/* The next instruction, past the label or value that an instruction may have after it. */
static const union insn *next_insn(const union insn *insn)
{
    return insn + (is_label(insn) || is_jump(insn) || is_wide(insn) ? 2 : 1);
}

static size_t slots(const union insn *insn)
{
    return is_label(insn) ? 0 : is_wide(insn) ? 2 : 1;
}

static int out_of_memory(struct text *why)
{
    text_add(why, "out of memory for a program");
    return -ENOMEM;
}

/* The program itself is the first. */
static int add_function(struct program *program, size_t slot)
{
    const size_t need = program->function_count + 2;

    if (ARRAY_RESERVE(program->functions, program->function_room, need))
        return -ENOMEM;
    if (!program->function_count)
        program->functions[program->function_count++] = 0;
    program->functions[program->function_count++] = (uint32_t)slot;
    return 0;
}

/*
 * Gives every label its slot, and returns the number of slots, and the last instruction. 0 or
 * -ENOMEM.
 */
static int place_labels(struct program *program, size_t *length, const union insn **last)
{
    const union insn *end = program->insns + program->count;
    size_t slot = 0;

    program->label_count = 0;
    program->function_count = 0;
    for (const union insn *insn = program->insns; insn < end; insn = next_insn(insn)) {
        *last = insn;
        if (insn->code.code == INSN_FUNCTION && add_function(program, slot))
            return -ENOMEM;
        if (is_label(insn)) {
            if (ARRAY_RESERVE(program->labels, program->label_room, program->label_count + 1))
                return -ENOMEM;
            program->labels[program->label_count++] = (struct program_label){insn[1].label, slot};
        }
        slot += slots(insn);
    }
    *length = slot;
    return 0;
}

/* Refuses a program by its length or its end, before its jumps are resolved. */
static int check_shape(const union insn *last, size_t length, struct text *why)
{
    if (!length) {
        text_add(why, "the program is empty");
        return -EINVAL;
    }
    if (length > PROGRAM_LIMIT) {
        text_format(why, "the program has %zu instructions, the limit is %d", length,
                    PROGRAM_LIMIT);
        return -E2BIG;
    }
    if (is_label(last)) {
        text_format(why, "the label \"%s\" has no instruction after it", last[1].label);
        return -EINVAL;
    }
    switch (last->code.code) {
    case BPF_JMP | BPF_EXIT:
    case BPF_JMP | BPF_JA:
    case BPF_JMP32 | BPF_JA:
        return 0;
    }
    text_format(why, "the last instruction, %zu, is neither exit nor goto", length - slots(last));
    return -EINVAL;
}

static int compare_labels(const void *left, const void *right)
{
    const struct program_label *a = left, *b = right;

    return strcmp(a->name, b->name) ?: order_of(a->slot, b->slot);
}

static int check_doubles(const struct program_label *by_name, size_t count, struct text *why)
{
    for (size_t i = 1; i < count; i++) {
        const struct program_label *first = &by_name[i - 1], *second = &by_name[i];
        if (strcmp(first->name, second->name))
            continue;
        text_format(why, "the label \"%s\" is defined twice, at instructions %zu and %zu",
                    first->name, first->slot, second->slot);
        return -EINVAL;
    }
    return 0;
}

static int compare_name(const void *name, const void *label)
{
    return strcmp(name, ((const struct program_label *)label)->name);
}

static const struct program_label *find_label(const struct program_label *by_name, size_t count,
                                              const char *name)
{
    return count ? bsearch(name, by_name, count, sizeof(*by_name), compare_name) : NULL;
}

_Static_assert(PROGRAM_LIMIT <= INT16_MAX, "every jump reaches every instruction");

/* Writes the distance from the jump at `slot` to its label into `code`. */
static int resolve_jump(const union insn *insn, size_t slot, const struct program_label *target,
                        struct bpf_insn *code, struct text *why)
{
    if (!target) {
        text_format(why, "instruction %zu jumps to \"%s\", a label that is not defined", slot,
                    insn[1].label);
        return -EINVAL;
    }
    /* Distances count from the next instruction. */
    const int distance = (int)target->slot - (int)slot - 1;
    if (is_local_call(insn))
        code->imm = distance;
    else
        code->off = (__s16)distance;
    return 0;
}

static int write_code(struct program *program, const struct program_label *by_name,
                      struct text *why)
{
    const union insn *end = program->insns + program->count;
    size_t slot = 0;

    for (const union insn *insn = program->insns; insn < end; insn = next_insn(insn)) {
        if (is_label(insn))
            continue;
        struct bpf_insn *code = &program->code[slot];
        *code = insn->code;
        if (is_wide(insn)) {
            code[0].imm = (__s32)(uint32_t)insn[1].value;
            code[1] = (struct bpf_insn){.imm = (__s32)(insn[1].value >> 32)};
        } else if (is_jump(insn)) {
            const struct program_label *target =
                find_label(by_name, program->label_count, insn[1].label);
            int error = resolve_jump(insn, slot, target, code, why);
            if (error)
                return error;
        }
        slot += slots(insn);
    }
    return 0;
}

int program_link(struct program *program, struct linked *linked, struct text *why)
{
    struct program_label *by_name = NULL;
    const union insn *last = NULL;
    size_t length, room = 0;
    int result;

    *linked = (struct linked){0};
    if (program->failed || place_labels(program, &length, &last))
        return out_of_memory(why);
    result = check_shape(last, length, why);
    if (result)
        return result;
    if (ARRAY_RESERVE(program->code, program->code_room, length) ||
        ARRAY_RESERVE(by_name, room, program->label_count)) {
        result = out_of_memory(why);
        goto out;
    }
    if (program->label_count) {
        memcpy(by_name, program->labels, program->label_count * sizeof(*by_name));
        qsort(by_name, program->label_count, sizeof(*by_name), compare_labels);
    }
    result = check_doubles(by_name, program->label_count, why);
    if (result)
        goto out;
    result = write_code(program, by_name, why);
    if (result)
        goto out;
    *linked = (struct linked){program->code, length, program->functions, program->function_count};
out:
    free(by_name);
    return result;
}

void program_free(struct program *program)
{
    free(program->insns);
    free(program->maps);
    free(program->labels);
    free(program->code);
    free(program->functions);
    *program = (struct program){0};
}

/*
 * The helpers that insns/ calls, by the kernel's numbers: an older linux/bpf.h may lack new ones.
 */
static const char helpers[] =
    "1 map_lookup_elem\0"
    "2 map_update_elem\0"
    "3 map_delete_elem\0"
    "4 probe_read\0"
    "5 ktime_get_ns\0"
    "8 get_smp_processor_id\0"
    "14 get_current_pid_tgid\0"
    "15 get_current_uid_gid\0"
    "16 get_current_comm\0"
    "25 perf_event_output\0"
    "27 get_stackid\0"
    "35 get_current_task\0"
    "37 current_task_under_cgroup\0"
    "45 probe_read_str\0"
    "67 get_stack\0"
    "112 probe_read_user\0"
    "113 probe_read_kernel\0"
    "115 probe_read_kernel_str\0"
    "120 get_ns_current_pid_tgid\0"
    "131 ringbuf_reserve\0"
    "132 ringbuf_submit\0"
    "165 snprintf\0"
    "174 get_attach_cookie\0"
    "179 kallsyms_lookup_name\0";

const char *helper_name(uint32_t id)
{
    char *name;

    for (const char *at = helpers; *at; at += strlen(at) + 1)
        if (strtoul(at, &name, 10) == id)
            return name + 1;
    return NULL;
}

void insns_make_older(struct bpf_insn *insns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (insns[i].code != (BPF_JMP | BPF_CALL) || insns[i].src_reg)
            continue;
        if (insns[i].imm == BPF_FUNC_probe_read_user || insns[i].imm == BPF_FUNC_probe_read_kernel)
            insns[i].imm = BPF_FUNC_probe_read;
        else if (insns[i].imm == BPF_FUNC_probe_read_kernel_str)
            insns[i].imm = BPF_FUNC_probe_read_str;
    }
}
