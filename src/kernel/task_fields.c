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

/* The tracepoint's own data precedes the arguments that we use. */
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

/* A member, its size (0: any), and where its offset goes in the struct that is filled in. */
struct field {
    uint8_t structure, bytes;
    uint16_t to;
    const char *name;
};
#define FIELD(structure, name, bytes, to) {structure, bytes, (uint16_t)(to), name}

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

static uint16_t *place_of(const struct field *field, void *found)
{
    return (uint16_t *)((char *)found + field->to);
}

/* Returns the member's size, or a negative errno. */
static int find(const struct kernel *kernel, const struct field *field, void *found)
{
    struct btf_member member;
    int result = btf_find_member_of(&kernel->btf, kernel->structs[field->structure].id, field->name,
                                    &member);

    if (result)
        return result;
    if ((field->bytes && member.size != field->bytes) || member.offset > INT16_MAX)
        return -EINVAL;
    *place_of(field, found) = (uint16_t)member.offset;
    return (int)member.size;
}

/* Returns the size of the last one, or a negative errno. */
static int find_each(const struct kernel *kernel, const struct field *fields, size_t count,
                     void *found)
{
    int result = 0;

    for (size_t i = 0; i < count && result >= 0; i++)
        result = find(kernel, &fields[i], found);
    return result;
}

/* A member of a member, both named, whose offset goes to the same place. */
static int find_within(const struct kernel *kernel, const struct field path[2], void *found)
{
    int result = find(kernel, &path[0], found);
    uint16_t *place = place_of(&path[0], found), base = *place;

    if (result >= 0)
        result = find(kernel, &path[1], found);
    *place = (uint16_t)(*place + base);
    return result;
}

/* ---- A task: its number, and the state in which it leaves its CPU ---- */

#define IN(member) offsetof(struct task_fields, member)

/* The state's name and size changed in 5.14. */
static int find_state(const struct kernel *kernel, struct task_fields *fields)
{
    static const struct field state = FIELD(TASK, "__state", 0, IN(state)),
        older = FIELD(TASK, "state", 0, IN(state));
    int size = find(kernel, &state, fields);

    if (size == -ENOENT)
        size = find(kernel, &older, fields);
    if (size != 4 && size != 8)
        return size < 0 ? size : -EINVAL;
    fields->has_state = true;
    fields->wide_state = size == 8;
    return 0;
}

static int find_task(const struct kernel *kernel, struct task_fields *fields)
{
    static const struct field pid = FIELD(TASK, "pid", 4, IN(pid));
    uint32_t parameters;
    int result = find(kernel, &pid, fields);

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
    static const struct field signal = FIELD(TASK, "signal", 0, IN(signal)),
        live = FIELD(SIGNAL, "live", 4, IN(live));
    int bytes = find(kernel, &signal, fields);

    fields->has_live = (bytes == 4 || bytes == 8) && find(kernel, &live, fields) >= 0;
    fields->pointer_bytes = fields->has_live ? (uint8_t)bytes : 0;
}

#undef IN

static int find_nesting(const struct kernel *kernel, struct nesting_fields *fields)
{
    static const struct field all[] = {
        FIELD(TASK, "utask", 8, offsetof(struct nesting_fields, utask)),
        FIELD(UTASK, "depth", 4, offsetof(struct nesting_fields, depth)),
    };

    return find_each(kernel, all, COUNT_OF(all), fields);
}

/* ---- A task's numbers in our PID namespace ---- */

static int find_numbers(const struct kernel *kernel, struct pid_fields *fields)
{
    struct read {
        struct pid_fields fields;
        uint16_t number, space, common;
    } read = {0};
#define IN(member) offsetof(struct read, member)
    static const struct field all[] = {
        FIELD(TASK, "thread_pid", POINTER_BYTES, IN(fields.task_pid)),
        FIELD(TASK, "signal", POINTER_BYTES, IN(fields.task_signal)),
        FIELD(SIGNAL, "pids", 0, IN(fields.signal_pid)),
        FIELD(PID, "level", 4, IN(fields.pid_level)),
        FIELD(PID, "numbers", 0, IN(fields.pid_number)),
        FIELD(NUMBER, "nr", 4, IN(number)),
        FIELD(NUMBER, "ns", POINTER_BYTES, IN(space)),
        FIELD(NAMESPACE, "ns", 0, IN(common)),
        FIELD(COMMON, "inum", 4, IN(fields.space_inode)),
    };
#undef IN
    int result = find_each(kernel, all, COUNT_OF(all), &read);

    *fields = read.fields;
    fields->signal_pid = (uint16_t)(fields->signal_pid + PIDTYPE_TGID * POINTER_BYTES);
    fields->pid_space = (uint16_t)(fields->pid_number + read.space);
    fields->pid_number = (uint16_t)(fields->pid_number + read.number);
    fields->space_inode = (uint16_t)(fields->space_inode + read.common);
    return result;
}

/* ---- What unwinding by tables reads ---- */

#define IN(member) offsetof(struct unwind_fields, member)

/* 6.1 brought the maple tree. */
static int find_tree(const struct kernel *kernel, struct unwind_fields *fields)
{
    static const struct field maple[] = {
        FIELD(MM, "mm_mt", 0, IN(mm_tree)),
        FIELD(MAPLE, "ma_root", 8, IN(mm_tree)),
    };
    static const struct field red_black[] = {
        FIELD(MM, "mm_rb", 8, IN(mm_tree)),
        FIELD(MAPPING, "vm_rb", 24, IN(vma_node)),
    };
    int result = find_within(kernel, maple, fields);

    fields->maple = result >= 0;
    return result == -ENOENT ? find_each(kernel, red_black, COUNT_OF(red_black), fields) : result;
}

static int find_vdso(const struct kernel *kernel, struct unwind_fields *fields)
{
    static const struct field vdso[] = {
        FIELD(MM, "context", 0, IN(mm_vdso)),
        FIELD(CONTEXT, "vdso", 8, IN(mm_vdso)),
    };

    return find_within(kernel, vdso, fields);
}

/*
 * When a file was written to: 6.7 renamed it, 6.11 split it. A kernel that has it elsewhere again
 * gives the number in its place, which says nothing new.
 */
static int find_inode(const struct kernel *kernel, struct unwind_fields *fields)
{
    static const struct field split[] = {
        FIELD(INODE, "i_mtime_nsec", 4, IN(inode_written_ns)),
        FIELD(INODE, "i_mtime_sec", 8, IN(inode_written)),
    };
    static const struct field whole[] = {
        FIELD(INODE, "__i_mtime", 16, IN(inode_written)),
        FIELD(INODE, "i_mtime", 16, IN(inode_written)),
    };
    const uint16_t most = (uint16_t)(fields->inode_super + UNWIND_INODE_BYTES - 8);

    if (fields->inode_number < fields->inode_super || fields->inode_number > most)
        return -EINVAL;
    if (find_each(kernel, split, COUNT_OF(split), fields) < 0) {
        fields->inode_written = UINT16_MAX;
        for (size_t i = 0; i < COUNT_OF(whole); i++)
            (void)find(kernel, &whole[i], fields);
        /* The nanoseconds have 64 bits there. */
        fields->inode_written_ns = (uint16_t)(
            fields->inode_written + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 12 : 8));
    }
    if (fields->inode_written < fields->inode_super || fields->inode_written > most ||
        fields->inode_written_ns < fields->inode_super || fields->inode_written_ns > most)
        fields->inode_written = fields->inode_written_ns = fields->inode_number;
    return 0;
}

/* Kernels without uprobes have none of these. */
static bool find_returns(const struct kernel *kernel, struct unwind_fields *fields)
{
    static const struct field all[] = {
        FIELD(TASK, "utask", 8, IN(task_utask)),
        FIELD(UTASK, "return_instances", 8, IN(utask_returns)),
        FIELD(RETURN, "stack", 8, IN(return_stack)),
        FIELD(RETURN, "orig_ret_vaddr", 8, IN(return_address)),
        FIELD(RETURN, "next", 8, IN(return_next)),
    };

    return find_each(kernel, all, COUNT_OF(all), fields) >= 0 &&
           fields->return_stack + 8 <= UNWIND_RETURN_BYTES &&
           fields->return_address + 8 <= UNWIND_RETURN_BYTES &&
           fields->return_next + 8 <= UNWIND_RETURN_BYTES;
}

/* Programs read only the first UNWIND_NODE_BYTES of a mapping. */
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
    static const struct field all[] = {
        FIELD(TASK, "mm", 8, IN(task_mm)),
        FIELD(TASK, "stack", 8, IN(task_stack)),
        FIELD(MAPPING, "vm_start", 8, IN(vma_start)),
        FIELD(MAPPING, "vm_end", 8, IN(vma_end)),
        FIELD(MAPPING, "vm_pgoff", 8, IN(vma_page)),
        FIELD(MAPPING, "vm_flags", 8, IN(vma_flags)),
        FIELD(MAPPING, "vm_file", 8, IN(vma_file)),
        FIELD(FILE_OPEN, "f_inode", 8, IN(file_inode)),
        FIELD(INODE, "i_generation", 4, IN(inode_generation)),
        FIELD(INODE, "i_sb", 8, IN(inode_super)),
        FIELD(SUPER, "s_dev", 4, IN(super_device)),
        FIELD(MM, "start_stack", 8, IN(mm_first_stack)),
        FIELD(INODE, "i_ino", 0, IN(inode_number)),
    };
    int result = find_each(kernel, all, COUNT_OF(all), fields);

    fields->wide_number = result == 8;
    if (result >= 0)
        result = find_inode(kernel, fields);
    if (result >= 0)
        result = find_tree(kernel, fields);
    if (result >= 0)
        result = find_vdso(kernel, fields);
    fields->returns = result >= 0 && find_returns(kernel, fields);
    return result < 0 ? result : are_near(fields) ? 0 : -EINVAL;
}

/* ---- All ---- */

static struct {
    struct task_fields task;
    struct nesting_fields nesting;
    struct pid_fields pid;
    struct unwind_fields unwind;
    int task_result, nesting_result, pid_result, unwind_result; /* below 0: they are not known */
} known;

static void read_all(void)
{
    struct kernel kernel;
    const int result = open_types(&kernel);

    known.task_result = known.nesting_result = known.pid_result = known.unwind_result = result;
    if (result)
        return;
    known.task_result = find_task(&kernel, &known.task);
    known.task.known = !known.task_result;
    find_live(&kernel, &known.task);
    known.nesting_result = find_nesting(&kernel, &known.nesting);
    known.pid_result = find_numbers(&kernel, &known.pid);
    known.unwind_result = find_unwind_fields(&kernel, &known.unwind);
    btf_free(&kernel.btf);
}

/* The fields never change, and reading BTF takes 4 MB or more. `check` asks in several threads. */
static void read_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, read_all);
}

int task_fields_find(struct task_fields *fields)
{
    read_once();
    *fields = known.task;
    return known.task_result;
}

int nesting_fields_find(struct nesting_fields *fields)
{
    read_once();
    *fields = known.nesting;
    return known.nesting_result < 0 ? known.nesting_result : 0;
}

int unwind_fields_find(struct unwind_fields *fields)
{
    read_once();
    *fields = known.unwind;
    fields->page_bits = (uint8_t)__builtin_ctzl(page_bytes());
    return known.unwind_result;
}

/* ---- Where a task has its numbers in our namespace: the kernel is asked ---- */

/* The namespaces' numbers follow each other: { nr; ns; } */
static void choose_level(struct pid_fields *fields, uint32_t level)
{
    const uint32_t bytes = fields->pid_space + POINTER_BYTES - fields->pid_number;

    fields->level = level;
    fields->pid_number = (uint16_t)(fields->pid_number + level * bytes);
    fields->pid_space = (uint16_t)(fields->pid_space + level * bytes);
}

enum { INDEX = -4, PLACE = -16 };

/* Stores the answer: r7, or 0 if it is unknown. */
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
    EMIT(program, RETURN(0));
}

/* Runs the program once, within our own bpf(2) call. */
static int run(struct program *program, int answer, uint64_t *answered)
{
    const uint64_t nothing = 0;
    const uint32_t zero = 0;
    struct text log = {0};

    emit_answer(program, answer);
    int result = bpf_link_and_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "numbers", program, &log);
    if (result >= 0) {
        const int loaded = result;
        result = bpf_run_raw(loaded, &nothing, 1);
        close(loaded);
    }
    program_free(program);
    text_free(&log);
    return result ? result : bpf_lookup(answer, &zero, answered);
}

/* Our current namespace is the deepest that has a number of ours: its level is our pid's. */
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

/* The program must report the numbers that we know ourselves to have. */
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
    int result = bpf_create_numbered(&answer, BPF_MAP_TYPE_ARRAY, "numbers", sizeof(uint64_t), 1);
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

    read_once();
    found = known.pid;
    found.inode = (uint32_t)inode;
    return known.pid_result < 0 || learn(&found) ? NULL : &found;
}
