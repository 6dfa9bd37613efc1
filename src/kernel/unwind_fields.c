/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kernel/unwind_fields.h"

#include <errno.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/btf.h"

enum {
    TASK,
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

static const char *const names[STRUCTS] = {
    [TASK] = "task_struct",
    [MM] = "mm_struct",
    [MAPPING] = "vm_area_struct",
    [FILE_OPEN] = "file",
    [INODE] = "inode",
    [SUPER] = "super_block",
    [MAPLE] = "maple_tree",
    [CONTEXT] = "mm_context_t",
    [UTASK] = "uprobe_task",
    [RETURN] = "return_instance",
};

struct kernel {
    struct btf btf;
    struct btf_struct structs[STRUCTS];
};

/* A wanted member: its name, and its required size; 0: any. */
struct wanted {
    unsigned structure;
    const char *member;
    uint16_t *place;
    uint32_t bytes;
};

/* Its size, or a negative errno. */
static int find(const struct kernel *kernel, const struct wanted *wanted)
{
    struct btf_member member;
    int result = btf_find_member_of(&kernel->btf, kernel->structs[wanted->structure].id, wanted->member,
                                    &member);

    if (result)
        return result;
    if ((wanted->bytes && member.size != wanted->bytes) || member.offset > INT16_MAX)
        return -EINVAL;
    *wanted->place = (uint16_t)member.offset;
    return (int)member.size;
}

/* A member of a member, both named. */
static int find_within(const struct kernel *kernel, const struct wanted *outer, const struct wanted *inner)
{
    int result = find(kernel, outer);
    uint16_t base = *outer->place;

    if (result >= 0)
        result = find(kernel, inner);
    if (result >= 0)
        *outer->place = (uint16_t)(base + *inner->place);
    return result;
}

/* 6.1 brought the maple tree. */
static int find_tree(const struct kernel *kernel, struct unwind_fields *fields)
{
    uint16_t inner = 0;
    const struct wanted maple = {MM, "mm_mt", &fields->mm_tree, 0};
    const struct wanted maple_root = {MAPLE, "ma_root", &inner, 8};
    const struct wanted red_black = {MM, "mm_rb", &fields->mm_tree, 8};
    const struct wanted node = {MAPPING, "vm_rb", &fields->vma_node, 24};
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
    const struct wanted context = {MM, "context", &fields->mm_vdso, 0};
    const struct wanted vdso = {CONTEXT, "vdso", &inner, 8};

    return find_within(kernel, &context, &vdso);
}

/* Kernels without uprobes have none of it. */
static bool find_returns(const struct kernel *kernel, struct unwind_fields *fields)
{
    const struct wanted all[] = {
        {TASK, "utask", &fields->task_utask, 8},
        {UTASK, "return_instances", &fields->utask_returns, 8},
        {RETURN, "stack", &fields->return_stack, 8},
        {RETURN, "orig_ret_vaddr", &fields->return_address, 8},
        {RETURN, "next", &fields->return_next, 8},
    };
    bool are_there = true;

    for (size_t i = 0; i < COUNT_OF(all) && are_there; i++)
        are_there = find(kernel, &all[i]) >= 0;
    return are_there && fields->return_stack + 8 <= UNWIND_RETURN_BYTES &&
           fields->return_address + 8 <= UNWIND_RETURN_BYTES && fields->return_next + 8 <= UNWIND_RETURN_BYTES;
}

/* Only a mapping's first bytes are read. */
static bool are_near(const struct unwind_fields *fields)
{
    const uint16_t places[] = {fields->vma_start, fields->vma_end, fields->vma_page, fields->vma_flags,
                               fields->vma_file, (uint16_t)(fields->vma_node + 16)};

    for (size_t i = 0; i < COUNT_OF(places); i++)
        if (places[i] + sizeof(uint64_t) > UNWIND_NODE_BYTES)
            return false;
    return true;
}

static int find_all(const struct kernel *kernel, struct unwind_fields *fields)
{
    const struct wanted all[] = {
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
    int result = 0;

    for (size_t i = 0; i < COUNT_OF(all) && result >= 0; i++)
        result = find(kernel, &all[i]);
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
    int result = btf_open_kernel(&kernel.btf);

    *fields = (struct unwind_fields){.page_bits = (uint8_t)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE))};
    if (result)
        return result;
    for (size_t i = 0; i < STRUCTS; i++)
        kernel.structs[i].name = names[i];
    btf_find_structs(&kernel.btf, kernel.structs, STRUCTS);
    result = find_all(&kernel, fields);
    btf_free(&kernel.btf);
    return result;
}
