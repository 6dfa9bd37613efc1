/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "unwind/kernel_offsets.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/bpf.h"
#include "kernel/bpf_abi.h"
#include "kernel/refusal.h"
#include "kernel/task_fields.h"
#include "machine/machine.h"

/* Sizes of a thread's kernel stack */
static const uint32_t stack_sizes[] = {16384, 32768, 8192, 65536};
/*
 * A function's frame is at most this far from our stack pointer. AddressSanitizer keeps locals
 * elsewhere.
 */
#define NEAR_BYTES (256 << 10)

/* ---- Where the user's registers are ---- */

/*
 *     stack = current->stack
 *     answer[0] = the KERNEL_STACK_END_BYTES below stack + context[0]
 */
static void emit_end_of_stack(struct program *program, const struct unwind_fields *fields,
                              int answer)
{
    EMIT(program,
        MOV_REG(R6, R1),
        ST(W, R10, -4, 0),
        ADDRESS(R2, R10, -4),
        LOAD_MAP(R1, answer),
        CALL(BPF_FUNC_map_lookup_elem),
        JEQ_IMM(R0, 0, "none"),
        MOV_REG(R8, R0),
        CALL(BPF_FUNC_get_current_task),
        ADDRESS(R3, R0, fields->task_stack),
        ADDRESS(R1, R10, -16),
        MOV_IMM(R2, 8),
        CALL(BPF_FUNC_probe_read_kernel),
        JNE_IMM(R0, 0, "none"),
        MOV_REG(R1, R8),
        MOV_IMM(R2, KERNEL_STACK_END_BYTES),
        LDX(DW, R3, R10, -16),
        LDX(DW, R4, R6, 0),
        ADD_REG(R3, R4),
        ADD_IMM(R3, -KERNEL_STACK_END_BYTES),
        CALL(BPF_FUNC_probe_read_kernel),
    LABEL("none"),
        RETURN(0));
}

/* The last that look like them are: below, earlier calls have left copies of theirs. */
uint32_t kernel_offsets_find_call(const struct machine *machine, const uint64_t *words)
{
    const struct machine_walk *walk = machine->walk;
    const struct machine *own = machine_ours();
    const bool wide = own == machine;
    const uint8_t call = wide ? walk->call : own->in_wide.call,
                  sp = wide ? machine->sp.word : own->in_wide.sp;
    const uint64_t mode = wide ? walk->mode.value : own->in_wide.mode;
    const uint64_t ours = (uint64_t)(uintptr_t)__builtin_frame_address(0);

    for (uint32_t at = KERNEL_STACK_END_BYTES / 8 - walk->registers; at; at--) {
        const uint64_t *registers = words + at;
        if (registers[call] == SYS_bpf && (registers[walk->mode.word] & walk->mode.bits) == mode &&
            registers[sp] - ours + NEAR_BYTES < 2 * NEAR_BYTES)
            return at * 8;
    }
    return 0;
}

static int learn_registers(const struct machine *machine, struct unwind_fields *fields,
                           struct text *log)
{
    struct program program = {0};
    uint64_t words[KERNEL_STACK_END_BYTES / 8];
    const uint32_t first = 0;
    int answer;
    int result = bpf_create_numbered(&answer, BPF_MAP_TYPE_ARRAY, "learned", sizeof(words), 1);

    if (result)
        return result;
    emit_end_of_stack(&program, fields, answer);
    int loaded = result = bpf_link_and_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "learn", &program, log);
    program_free(&program);
    for (size_t i = 0; i < COUNT_OF(stack_sizes) && loaded >= 0; i++) {
        const uint64_t size = stack_sizes[i];
        memset(words, 0, sizeof(words));
        result = bpf_update(answer, &first, words, 0);
        if (!result)
            result = bpf_run_raw(loaded, &size, 1);
        if (!result)
            result = bpf_lookup(answer, &first, words);
        if (result)
            break;
        uint32_t at = kernel_offsets_find_call(machine, words);
        fields->registers = at ? stack_sizes[i] - KERNEL_STACK_END_BYTES + at : 0;
        if (at)
            break;
        result = -ENODATA;
    }
    close_fd(loaded);
    close(answer);
    return result;
}

/* ---- Keys ---- */

static int load_key_program(struct kernel_offsets *offsets, struct text *log)
{
    struct program program = {0};
    const struct unwind_config options = {
        .machine = offsets->machine,
        .fields = &offsets->fields,
        .maps = {.states = offsets->answer, .objects = offsets->answer, .chunks = offsets->answer,
                 .cache = offsets->answer},
        .readable = true,
    };

    emit_unwind_key(&program, &options);
    offsets->program = bpf_link_and_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "key", &program, log);
    program_free(&program);
    return offsets->program < 0 ? offsets->program : 0;
}

int kernel_offsets_key(void *context, const void *mapped, struct unwind_key *key)
{
    const struct kernel_offsets *offsets = context;
    const uint64_t address = (uint64_t)(uintptr_t)mapped;
    const uint32_t first = 0;
    union {
        struct unwind_state state;
        char bytes[UNWIND_STATE_BYTES(0)];
    } answer;
    int result = bpf_run_raw(offsets->program, &address, 1);

    if (!result)
        result = bpf_lookup(offsets->answer, &first, &answer);
    if (!result && (answer.state.pc != address || !answer.state.mapping.end))
        result = -ENODATA;
    *key = answer.state.key;
    return result;
}

int kernel_offsets_open(struct kernel_offsets *offsets, struct text *log)
{
    const struct machine *machine = machine_of_kernel();
    /* BPF programs only walk stacks of 64 bits. */
    const bool walks = machine_walks() && machine->bits == 64 && machine->walk->registers;
    int result = walks ? 0 : -EOPNOTSUPP;

    *offsets = (struct kernel_offsets)KERNEL_OFFSETS_NONE;
    offsets->machine = machine;
    if (!result)
        result = unwind_fields_find(&offsets->fields);
    if (!result)
        result = learn_registers(machine, &offsets->fields, log);
    if (!result)
        result = bpf_create_numbered(&offsets->answer, BPF_MAP_TYPE_ARRAY, "key",
                                     UNWIND_STATE_BYTES(0), 1);
    return result ? result : load_key_program(offsets, log);
}

static const char *reason_of(int error)
{
    switch (-error) {
    case EOPNOTSUPP:
        return "stackbox only does that on x86-64, arm64, riscv64 and LoongArch, and on armv7 and "
               "MIPS with --collect rings";
    case ENOENT:
        return "this kernel has no BTF: mount /sys, or boot one with CONFIG_DEBUG_INFO_BTF";
    case ENOMEM: return "there is too little free memory for them";
    case ENODATA: return "this kernel's layout of registers or mappings is unknown";
    case EINVAL:
    case KERNEL_ENOTSUPP: return "that needs Linux 5.10 or later";
    }
    return strerror(-error);
}

void kernel_offsets_explain(int error, struct text *why)
{
    if (!refusal_explain_interpreter(error, why))
        text_add(why, reason_of(error));
}

void kernel_offsets_close(struct kernel_offsets *offsets)
{
    close_fd(offsets->answer);
    close_fd(offsets->program);
    *offsets = (struct kernel_offsets)KERNEL_OFFSETS_NONE;
}
