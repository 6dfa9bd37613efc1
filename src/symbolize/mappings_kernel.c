/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "symbolize/mappings_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "kernel/kallsyms.h"
#include "symbolize/symbolize.h"

#define KERNEL_NOTES "/sys/kernel/notes"
#define MODULE_NOTES "/sys/module/%s/notes/.note.gnu.build-id"
/* The half that 64-bit kernels are in; for a 32-bit one it is the whole. */
#define KERNEL_HALF ((uint64_t)1 << 63)
#define PAGE ((uint64_t)4096)

/* ---- Build ids ---- */

/* The kernel exports only notes, in its own byte order: as if in an ELF file with nothing else. */
static void read_build_id(const char *path, char text[2 * ELF_LONGEST_BUILD_ID + 1])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat about;

    *text = '\0';
    if (fd < 0)
        return;
    if (!fstat(fd, &about) && about.st_size > 0) {
        struct elf_segment notes = {.file_size = (uint64_t)about.st_size};
        const struct elf elf = {.fd = fd, .is_64 = sizeof(long) == 8, .notes = &notes,
                                .note_count = 1};
        mappings_read_build_id(&elf, text);
    }
    close(fd);
}

void kernel_build_id(const char *module, char text[2 * ELF_LONGEST_BUILD_ID + 1])
{
    struct text path = {0};

    *text = '\0';
    if (!module)
        text_add(&path, KERNEL_NOTES);
    else if (!strchr(module, '/'))
        text_format(&path, MODULE_NOTES, module);
    if (path.length && !path.failed)
        read_build_id(path.data, text);
    text_free(&path);
}

/* ---- The kernel itself ---- */

static int take_bound(void *context, const struct kallsyms_symbol *symbol)
{
    struct kernel_bounds *bounds = context;

    if (symbol->module)
        return 1;
    if (!strcmp(symbol->name, "_text"))
        bounds->start = symbol->address;
    else if (!strcmp(symbol->name, "_etext"))
        bounds->end = symbol->address;
    return bounds->start && bounds->end;
}

struct kernel_bounds kernel_bounds_find(int kallsyms)
{
    struct kernel_bounds bounds = {0};

    if (kallsyms >= 0)
        (void)kallsyms_each(kallsyms, take_bound, &bounds);
    return bounds;
}

int mappings_add_kernel(struct symbol_mappings *mappings, struct kernel_bounds bounds, const char *build_id,
                        struct symbol_mapping **kernel)
{
    if (bounds.end <= bounds.start || (bounds.start < KERNEL_HALF && bounds.end > UINT32_MAX))
        bounds = (struct kernel_bounds){KERNEL_HALF, UINT64_MAX};
    if (mappings_add(mappings, KERNEL_PATH, build_id, kernel))
        return -ENOMEM;
    (*kernel)->own_start = bounds.start;
    (*kernel)->own_limit = bounds.end;
    (*kernel)->is_fixed = true;
    return 0;
}

/* ---- What is outside it ---- */

/* A module, or code that the kernel generated: "[nfs]", "[bpf]". */
static int add_module(struct symbol_mappings *mappings, const struct symbol *symbol,
                      const struct recorded *recorded, struct symbol_mapping **module)
{
    char build_id[2 * ELF_LONGEST_BUILD_ID + 1] = "";
    const char *name = symbol->file.length ? symbol->file.data : NULL;
    struct text path = {0};

    if (name)
        text_format(&path, "[%s]", name);
    else
        text_add(&path, KERNEL_PATH);
    if (name && !recorded)
        kernel_build_id(name, build_id);
    int result = path.failed ? -ENOMEM
                             : mappings_add(mappings, path.data, name && recorded
                                            ? recorded->build_id(recorded->context, name) : build_id, module);
    text_free(&path);
    if (result)
        return result;
    (*module)->is_fixed = true;
    return 0;
}

static bool same_module(const struct symbol *a, const struct symbol *b)
{
    return a->file.length == b->file.length &&
           (!a->file.length || !strcmp(a->file.data, b->file.data));
}

static uint64_t page_end(uint64_t address)
{
    uint64_t end = (address | (PAGE - 1)) + 1;

    return end ? end : UINT64_MAX;
}

/* From the page of its first address on, unless that is taken. */
static void begin_module(struct symbol_mapping *module, uint64_t address,
                         const struct symbol_mapping *kernel, struct symbol_mapping *before)
{
    module->own_start = address & ~(PAGE - 1);
    if (before && before->own_limit > address)
        before->own_limit = address;
    if (before && before->own_limit > module->own_start)
        module->own_start = before->own_limit;
    if (address >= kernel->own_limit && module->own_start < kernel->own_limit)
        module->own_start = kernel->own_limit;
}

static void extend_module(struct symbol_mapping *module, uint64_t address,
                          const struct symbol_mapping *kernel)
{
    module->own_limit = page_end(address);
    if (address < kernel->own_start && module->own_limit > kernel->own_start)
        module->own_limit = kernel->own_start;
}

static int add_kernel(struct symbol_mappings *mappings, const struct symbolize_wishes *wishes,
                      struct symbol_mapping **kernel)
{
    const struct recorded *recorded = wishes->recorded;
    char build_id[2 * ELF_LONGEST_BUILD_ID + 1];

    if (recorded)
        return mappings_add_kernel(mappings, (struct kernel_bounds){recorded->kernel_start, recorded->kernel_end},
                                   recorded->build_id(recorded->context, NULL), kernel);
    kernel_build_id(NULL, build_id);
    return mappings_add_kernel(mappings, kernel_bounds_find(wishes->kallsyms), build_id, kernel);
}

/*
 * Adjacent symbols of the same module are one mapping: where modules begin and end is unknown, and
 * the kernel puts their parts wherever there is room.
 */
int mappings_take_kernel(struct symbol_mappings *mappings, struct symbol *const *symbols,
                         size_t count, const struct symbolize_wishes *wishes)
{
    struct symbol_mapping *added;
    const struct symbol *last = NULL; /* of the module added last, with none in between */

    if (add_kernel(mappings, wishes, &added))
        return -ENOMEM;
    const size_t kernel = mappings->count - 1;
    for (size_t i = 0; i < count; i++) {
        struct symbol *symbol = symbols[i];
        uint64_t address = symbol_lookup_address(symbol);
        if (address >= UINT64_MAX / PAGE * PAGE) {
            last = NULL;
            continue; /* nothing is in the last page */
        }
        bool is_kernels = address >= mappings->items[kernel].own_start &&
                          address < mappings->items[kernel].own_limit;
        if (!is_kernels && (!last || !same_module(last, symbol))) {
            if (mappings->count >= MAPPINGS_MOST)
                return 0;
            size_t before = mappings->count - 1;
            if (add_module(mappings, symbol, wishes->recorded, &added))
                return -ENOMEM;
            begin_module(added, address, &mappings->items[kernel],
                         before > kernel ? &mappings->items[before] : NULL);
        }
        last = is_kernels ? NULL : symbol;
        symbol->mapped_at = address;
        symbol->mapping = (uint32_t)(is_kernels ? kernel + 1 : mappings->count);
        if (!is_kernels)
            extend_module(&mappings->items[mappings->count - 1], address,
                          &mappings->items[kernel]);
    }
    return 0;
}
