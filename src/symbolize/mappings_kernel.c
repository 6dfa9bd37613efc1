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
/* The half that kernels of 64 bits are in; for one of 32 each address space is the whole. */
#define KERNEL_HALF ((uint64_t)1 << 63)
#define PAGE ((uint64_t)4096)

/* ---- Build ids ---- */

/* The kernel gives out notes alone, in its own byte order: an ELF file of nothing else. */
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

/* ---- The kernel itself ---- */

struct bounds {
    uint64_t start, end;
};

static int take_bound(void *context, const struct kallsyms_symbol *symbol)
{
    struct bounds *bounds = context;

    if (symbol->module)
        return 1;
    if (!strcmp(symbol->name, "_text"))
        bounds->start = symbol->address;
    else if (!strcmp(symbol->name, "_etext"))
        bounds->end = symbol->address;
    return bounds->start && bounds->end;
}

int mappings_add_kernel(struct symbol_mappings *mappings, int kallsyms,
                        struct symbol_mapping **kernel)
{
    char build_id[2 * ELF_LONGEST_BUILD_ID + 1];
    struct bounds bounds = {0};

    if (kallsyms >= 0)
        (void)kallsyms_each(kallsyms, take_bound, &bounds);
    if (bounds.end <= bounds.start || (bounds.start < KERNEL_HALF && bounds.end > UINT32_MAX))
        bounds = (struct bounds){KERNEL_HALF, UINT64_MAX};
    read_build_id(KERNEL_NOTES, build_id);
    if (mappings_add(mappings, KERNEL_PATH, build_id, kernel))
        return -ENOMEM;
    (*kernel)->own_start = bounds.start;
    (*kernel)->own_limit = bounds.end;
    (*kernel)->is_fixed = true;
    return 0;
}

/* ---- What is not in it ---- */

/* Of a module, or of code that the kernel made later: "[nfs]", "[bpf]". */
static int add_module(struct symbol_mappings *mappings, const struct symbol *symbol,
                      struct symbol_mapping **module)
{
    char build_id[2 * ELF_LONGEST_BUILD_ID + 1] = "";
    struct text path = {0}, notes = {0};

    if (symbol->file.length) {
        text_format(&path, "[%s]", symbol->file.data);
        text_format(&notes, MODULE_NOTES, symbol->file.data);
    } else {
        text_add(&path, KERNEL_PATH);
    }
    if (notes.length && !notes.failed && !strchr(symbol->file.data, '/'))
        read_build_id(notes.data, build_id);
    int result = path.failed || notes.failed ? -ENOMEM
                                             : mappings_add(mappings, path.data, build_id, module);
    text_free(&path);
    text_free(&notes);
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

/* From the page of its first address on, if that is nobody else's. */
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

/*
 * What is next to each other and of the same module is one mapping: where modules begin and end is
 * not told, and the kernel puts their parts wherever there is room.
 */
int mappings_take_kernel(struct symbol_mappings *mappings, struct symbol *const *symbols,
                         size_t count, int kallsyms)
{
    struct symbol_mapping *added;
    const struct symbol *last = NULL; /* of the module that was added last, with none between */

    if (mappings_add_kernel(mappings, kallsyms, &added))
        return -ENOMEM;
    const size_t kernel = mappings->count - 1;
    for (size_t i = 0; i < count; i++) {
        struct symbol *symbol = symbols[i];
        uint64_t address = symbol_lookup_address(symbol);
        if (address >= UINT64_MAX / PAGE * PAGE) {
            last = NULL;
            continue; /* in the last page nobody is */
        }
        bool is_kernels = address >= mappings->items[kernel].own_start &&
                          address < mappings->items[kernel].own_limit;
        if (!is_kernels && (!last || !same_module(last, symbol))) {
            size_t before = mappings->count - 1;
            if (add_module(mappings, symbol, &added))
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
