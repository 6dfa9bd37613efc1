/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"
#include "insns/fragments.h"
#include "kernel/bpf.h"
#include "kernel/btf.h"
#include "kernel/task_fields.h"

/* What it passes before the words that we use: its own data. */
#define OWN_PARAMETERS 1
#define POINTER_BYTES 8
#define MOST_LEVEL 32  /* MAX_PID_NS_LEVEL */
#define PIDTYPE_TGID 1 /* where signal_struct has the process's */

enum structure {
    TASK,
    SIGNAL,
    PID,
    NUMBER,
    NAMESPACE,
    COMMON,
    MM,
    MAPPING,
    FILE_OPEN,
    INODE,
    SUPER,
    MAPLE,
    CONTEXT,
    UTASK,
    RETURN,
    STRUCTS,
};

struct kernel {
    struct btf btf;
    struct btf_struct structs[STRUCTS];
};

/* A member: where its offset goes, and its size; 0: any. */
struct field {
    enum structure structure;
    const char *name;
    uint16_t *offset;
    uint32_t bytes;
};

static int open_types(struct kernel *kernel)
{
    static const char *const names[STRUCTS] = {
        [TASK] = "task_struct", [SIGNAL] = "signal_struct", [PID] = "pid", [NUMBER] = "upid",
        [NAMESPACE] = "pid_namespace", [COMMON] = "ns_common", [MM] = "mm_struct",
        [MAPPING] = "vm_area_struct", [FILE_OPEN] = "file", [INODE] = "inode",
        [SUPER] = "super_block", [MAPLE] = "maple_tree", [CONTEXT] = "mm_context_t",
        [UTASK] = "uprobe_task", [RETURN] = "return_instance",
    };
    int result = btf_open_kernel(&kernel->btf);

    if (result)
        return result;
    for (size_t i = 0; i < STRUCTS; i++)
        kernel->structs[i] = (struct btf_struct){.name = names[i]};
    btf_find_structs(&kernel->btf, kernel->structs, STRUCTS);
    return 0;
}

/* The member's size, or a negative errno. */
static int find(const struct kernel *kernel, const struct field *field)
{
    struct btf_member member;
    int result = btf_find_member_of(&kernel->btf, kernel->structs[field->structure].id, field->name,
                                    &member);

    if (result)
        return result;
    if ((field->bytes && member.size != field->bytes) || member.offset > INT16_MAX)
        return -EINVAL;
    *field->offset = (uint16_t)member.offset;
    return (int)member.size;
}

/* The size of the last one, or a negative errno. */
static int find_each(const struct kernel *kernel, const struct field *fields, size_t count)
{
    int result = 0;

    for (size_t i = 0; i < count && result >= 0; i++)
        result = find(kernel, &fields[i]);
    return result;
}

/* The same for fields that nothing else is read with. 0 or a negative errno. */
static int read_fields(const struct field *fields, size_t count)
{
    struct kernel kernel;
    int result = open_types(&kernel);

    if (result)
        return result;
    result = find_each(&kernel, fields, count);
    btf_free(&kernel.btf);
    return result < 0 ? result : 0;
}

/* A member of a member, both named. */
static int find_within(const struct kernel *kernel, const struct field *outer,
                       const struct field *inner)
{
    int result = find(kernel, outer);
    uint16_t base = *outer->offset;

    if (result >= 0)
        result = find(kernel, inner);
    if (result >= 0)
        *outer->offset = (uint16_t)(base + *inner->offset);
    return result;
}

/* ---- A task: its number, and the state in which it leaves its CPU ---- */

/* The state's name and size changed in 5.14. */
static int find_state(const struct kernel *kernel, struct task_fields *fields)
{
    int size = find(kernel, &(struct field){TASK, "__state", &fields->state, 0});

    if (size == -ENOENT)
        size = find(kernel, &(struct field){TASK, "state", &fields->state, 0});
    if (size != 4 && size != 8)
        return size < 0 ? size : -EINVAL;
    fields->has_state = true;
    fields->wide_state = size == 8;
    return 0;
}

static int find_task(const struct kernel *kernel, struct task_fields *fields)
{
    uint32_t parameters;
    int result = find(kernel, &(struct field){TASK, "pid", &fields->pid, 4});

    if (result > 0)
        result = btf_count_parameters(&kernel->btf, "btf_trace_sched_switch", &parameters);
    if (result)
        return result;
    if (parameters == OWN_PARAMETERS + SWITCH_STATE)
        return find_state(kernel, fields);
    return parameters == OWN_PARAMETERS + SWITCH_STATE + 1 ? 0 : -EINVAL;
}

static void find_live(const struct kernel *kernel, struct task_fields *fields)
{
    int bytes = find(kernel, &(struct field){TASK, "signal", &fields->signal, 0});

    fields->has_live = (bytes == 4 || bytes == 8) &&
                       find(kernel, &(struct field){SIGNAL, "live", &fields->live, 4}) >= 0;
    fields->pointer_bytes = fields->has_live ? (uint8_t)bytes : 0;
}

static struct task_fields task_fields;
static int task_fields_result;

static void read_task_fields(void)
{
    struct kernel kernel;
    int result = open_types(&kernel);

    if (!result) {
        result = find_task(&kernel, &task_fields);
        task_fields.known = !result;
        find_live(&kernel, &task_fields);
        btf_free(&kernel.btf);
    }
    task_fields_result = result;
}

/*
 * They never change, and reading the kernel's types takes 4 MB or more. `check` asks in several
 * threads.
 */
int task_fields_find(struct task_fields *fields)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, read_task_fields);
    *fields = task_fields;
    return task_fields_result;
}

int nesting_fields_find(struct nesting_fields *fields)
{
    const struct field all[] = {
        {TASK, "utask", &fields->utask, 8},
        {UTASK, "depth", &fields->depth, 4},
    };

    return read_fields(all, COUNT_OF(all));
}

/* ---- A task's numbers in our PID namespace ---- */

static int read_pid_fields(struct pid_fields *fields)
{
    uint16_t number = 0, space = 0, common = 0;
    const struct field all[] = {
        {TASK, "thread_pid", &fields->task_pid, POINTER_BYTES},
        {TASK, "signal", &fields->task_signal, POINTER_BYTES},
        {SIGNAL, "pids", &fields->signal_pid, 0},
        {PID, "level", &fields->pid_level, 4},
        {PID, "numbers", &fields->pid_number, 0},
        {NUMBER, "nr", &number, 4},
        {NUMBER, "ns", &space, POINTER_BYTES},
        {NAMESPACE, "ns", &common, 0},
        {COMMON, "inum", &fields->space_inode, 4},
    };
    int result = read_fields(all, COUNT_OF(all));

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
        STX(DW, R10, PLACE, R7));
    emit_update(program, answer, INDEX, PLACE, BPF_ANY);
    EMIT(program,
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
    int result = read_pid_fields(fields);

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

/* ---- What unwinding by tables reads ---- */

/* 6.1 brought the maple tree. */
static int find_tree(const struct kernel *kernel, struct unwind_fields *fields)
{
    uint16_t inner = 0;
    const struct field maple = {MM, "mm_mt", &fields->mm_tree, 0};
    const struct field maple_root = {MAPLE, "ma_root", &inner, 8};
    const struct field red_black = {MM, "mm_rb", &fields->mm_tree, 8};
    const struct field node = {MAPPING, "vm_rb", &fields->vma_node, 24};
    int result = find_within(kernel, &maple, &maple_root);

    fields->maple = result >= 0;
    if (result != -ENOENT)
        return result;
    result = find(kernel, &red_black);
    return result < 0 ? result : find(kernel, &node);
}

static int find_vdso(const struct kernel *kernel, struct unwind_fields *fields)
{
    uint16_t inner = 0;
    const struct field context = {MM, "context", &fields->mm_vdso, 0};
    const struct field vdso = {CONTEXT, "vdso", &inner, 8};

    return find_within(kernel, &context, &vdso);
}

/* Kernels without uprobes have none of it. */
static bool find_returns(const struct kernel *kernel, struct unwind_fields *fields)
{
    const struct field all[] = {
        {TASK, "utask", &fields->task_utask, 8},
        {UTASK, "return_instances", &fields->utask_returns, 8},
        {RETURN, "stack", &fields->return_stack, 8},
        {RETURN, "orig_ret_vaddr", &fields->return_address, 8},
        {RETURN, "next", &fields->return_next, 8},
    };

    return find_each(kernel, all, COUNT_OF(all)) >= 0 &&
        fields->return_stack + 8 <= UNWIND_RETURN_BYTES &&
           fields->return_address + 8 <= UNWIND_RETURN_BYTES &&
               fields->return_next + 8 <= UNWIND_RETURN_BYTES;
}

/* Only a mapping's first bytes are read. */
static bool are_near(const struct unwind_fields *fields)
{
    const uint16_t places[] = {fields->vma_start, fields->vma_end, fields->vma_page,
                               fields->vma_flags,
                               fields->vma_file, (uint16_t)(fields->vma_node + 16)};

    for (size_t i = 0; i < COUNT_OF(places); i++)
        if (places[i] + sizeof(uint64_t) > UNWIND_NODE_BYTES)
            return false;
    return true;
}

static int find_unwind_fields(const struct kernel *kernel, struct unwind_fields *fields)
{
    const struct field all[] = {
        {TASK, "mm", &fields->task_mm, 8},
        {TASK, "stack", &fields->task_stack, 8},
        {MAPPING, "vm_start", &fields->vma_start, 8},
        {MAPPING, "vm_end", &fields->vma_end, 8},
        {MAPPING, "vm_pgoff", &fields->vma_page, 8},
        {MAPPING, "vm_flags", &fields->vma_flags, 8},
        {MAPPING, "vm_file", &fields->vma_file, 8},
        {FILE_OPEN, "f_inode", &fields->file_inode, 8},
        {INODE, "i_generation", &fields->inode_generation, 4},
        {INODE, "i_sb", &fields->inode_super, 8},
        {SUPER, "s_dev", &fields->super_device, 4},
        {MM, "start_stack", &fields->mm_first_stack, 8},
        {INODE, "i_ino", &fields->inode_number, 0},
    };
    int result = find_each(kernel, all, COUNT_OF(all));

    fields->wide_number = result == 8;
    if (result >= 0)
        result = find_tree(kernel, fields);
    if (result >= 0)
        result = find_vdso(kernel, fields);
    fields->returns = result >= 0 && find_returns(kernel, fields);
    return result < 0 ? result : are_near(fields) ? 0 : -EINVAL;
}

int unwind_fields_find(struct unwind_fields *fields)
{
    struct kernel kernel;
    int result = open_types(&kernel);

    *fields = (struct unwind_fields){
        .page_bits = (uint8_t)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE)),
    };
    if (result)
        return result;
    result = find_unwind_fields(&kernel, fields);
    btf_free(&kernel.btf);
    return result;
}
