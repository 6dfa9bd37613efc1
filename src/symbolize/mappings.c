/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "symbolize/mappings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/kallsyms.h"
#include "symbolize/symbolize.h"

#define KERNEL_NOTES "/sys/kernel/notes"
#define MODULE_NOTES "/sys/module/%s/notes/.note.gnu.build-id"
/* The half that 64-bit kernels are in; for a 32-bit one it is the whole. */
#define KERNEL_HALF ((uint64_t)1 << 63)
#define PAGE ((uint64_t)4096)

/* ---- Build ids ---- */

/* As text; "" if there is none. */
static void build_id_text(const struct elf *elf, char text[2 * ELF_LONGEST_BUILD_ID + 1])
{
    unsigned char id[ELF_LONGEST_BUILD_ID];
    size_t length;

    *text = '\0';
    if (elf_build_id(elf, id, &length))
        return;
    for (size_t i = 0; i < length; i++)
        sprintf(text + 2 * i, "%02x", id[i]);
}

/* The kernel exports only its notes, in its byte order: reads them like a bare ELF file's. */
static void read_kernel_notes(const char *path, char text[2 * ELF_LONGEST_BUILD_ID + 1])
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
        build_id_text(&elf, text);
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
        read_kernel_notes(path.data, text);
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

/* Adds the kernel itself; if its bounds are unknown it gets all kernel addresses. 0 or -ENOMEM. */
static int mappings_add_kernel(struct symbol_mappings *mappings, struct kernel_bounds bounds,
                               const char *build_id)
{
    if (bounds.end <= bounds.start || (bounds.start < KERNEL_HALF && bounds.end > UINT32_MAX))
        bounds = (struct kernel_bounds){KERNEL_HALF, UINT64_MAX};
    return mappings_add(mappings, KERNEL_PATH, build_id,
                        &(struct symbol_mapping){
                            .own_start = bounds.start, .own_limit = bounds.end, .is_fixed = true});
}

/* ---- What is outside it ---- */

/* A module, or code that the kernel generated: "[nfs]", "[bpf]". */
static int add_module(struct symbol_mappings *mappings, const struct symbol *symbol,
                      const struct recorded *recorded)
{
    static const struct symbol_mapping module = {.is_fixed = true};
    const char *name = symbol->file.length ? symbol->file.data : NULL, *build_id = "";
    char own[2 * ELF_LONGEST_BUILD_ID + 1];
    struct text path = {0};

    text_format(&path, name ? "[%s]" : "%s", name ? name : KERNEL_PATH);
    if (name && recorded) {
        build_id = recorded->build_id(recorded->context, name);
    } else if (name) {
        kernel_build_id(name, own);
        build_id = own;
    }
    int result = path.failed ? -ENOMEM : mappings_add(mappings, path.data, build_id, &module);
    text_free(&path);
    return result;
}

static bool same_module(const struct symbol *a, const struct symbol *b)
{
    return a->file.length == b->file.length &&
           (!a->file.length || !strcmp(a->file.data, b->file.data));
}

/* Begins it at the page of its first address, or after what already has a part of that page. */
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
    const uint64_t end = (address | (PAGE - 1)) + 1;

    module->own_limit = end ? end : UINT64_MAX;
    if (address < kernel->own_start && module->own_limit > kernel->own_start)
        module->own_limit = kernel->own_start;
}

static int add_kernel(struct symbol_mappings *mappings, const struct symbolize_options *options)
{
    const struct recorded *recorded = options->recorded;
    char build_id[2 * ELF_LONGEST_BUILD_ID + 1];

    if (recorded)
        return mappings_add_kernel(
            mappings, (struct kernel_bounds){recorded->kernel_start, recorded->kernel_end},
            recorded->build_id(recorded->context, NULL));
    kernel_build_id(NULL, build_id);
    return mappings_add_kernel(mappings, kernel_bounds_find(options->kallsyms), build_id);
}

/*
 * Adjacent symbols of the same module are one mapping: where modules begin and end is unknown, and
 * the kernel puts their parts wherever there is room.
 */
int mappings_take_kernel(struct symbol_mappings *mappings, struct symbol *const *symbols,
                         size_t count, const struct symbolize_options *options)
{
    const struct symbol *last = NULL; /* of the module added last, with none in between */

    if (add_kernel(mappings, options))
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
            if (add_module(mappings, symbol, options->recorded))
                return -ENOMEM;
            begin_module(&mappings->items[before + 1], address, &mappings->items[kernel],
                         before > kernel ? &mappings->items[before] : NULL);
        }
        last = is_kernels ? NULL : symbol;
        symbol->mapped_at = address;
        symbol->mapping = (uint32_t)(is_kernels ? kernel + 1 : mappings->count);
        if (!is_kernels)
            extend_module(&mappings->items[mappings->count - 1], address, &mappings->items[kernel]);
    }
    return 0;
}

/* ---- Mappings ---- */

/* Mappings without a place of their own begin here, up to where there is no room. */
#define FIRST_FREE ((uint64_t)0x7f0000000000)
#define END_OF_FREE ((uint64_t)1 << 62)
/* Addresses keep their offset from a multiple of this, as linkers align segments to. */
#define ALIGNMENT 65536

void mappings_free(struct symbol_mappings *mappings)
{
    for (size_t i = 0; i < mappings->count; i++) {
        text_free(&mappings->items[i].path);
        text_free(&mappings->items[i].build_id);
    }
    free(mappings->items);
    *mappings = (struct symbol_mappings){0};
}

int mappings_add(struct symbol_mappings *mappings, const char *path, const char *build_id,
                 const struct symbol_mapping *wanted)
{
    if (mappings->count >= UINT32_MAX - 1 ||
        ARRAY_RESERVE(mappings->items, mappings->room, mappings->count + 1))
        return -ENOMEM;
    struct symbol_mapping *mapping = &mappings->items[mappings->count++];
    *mapping = *wanted;
    mapping->path = mapping->build_id = (struct text){0};
    text_add(&mapping->path, path);
    text_add(&mapping->build_id, build_id);
    return mapping->path.failed || mapping->build_id.failed ? -ENOMEM : 0;
}

/* ---- Of files ---- */

void mapping_source_init(struct mapping_source *source, const char *path, const struct elf *elf)
{
    *source = (struct mapping_source){.path = path, .elf = elf};
    if (elf)
        build_id_text(elf, source->build_id);
}

/* A segment as the kernel maps it, in whole pages. False: it cannot be mapped. */
static bool describe_segment(const struct elf_segment *segment, bool is_fixed,
                             struct symbol_mapping *mapping)
{
    uint64_t before = segment->address % PAGE;

    if (segment->memory_size > MAPPINGS_LARGEST || segment->address > END_OF_FREE ||
        segment->offset % PAGE != before)
        return false;
    *mapping = (struct symbol_mapping){
        .own_start = segment->address - before,
        .own_limit = (segment->address + segment->memory_size + PAGE - 1) / PAGE * PAGE,
        .offset = segment->offset - before,
        .is_fixed = is_fixed,
    };
    return true;
}

/* A segment with code, if there is one: a bad stack may lead anywhere. */
static const struct elf_segment *segment_at(const struct elf *elf, uint64_t address)
{
    const struct elf_segment *code = elf_code_at(elf, address);

    for (size_t i = 0; i < elf->segment_count && !code; i++)
        if (address >= elf->segments[i].address &&
            address - elf->segments[i].address < elf->segments[i].memory_size)
            code = &elf->segments[i];
    return code;
}

static bool is_same(const struct symbol_mapping *a, const struct symbol_mapping *b)
{
    return a->grows == b->grows && a->is_fixed == b->is_fixed &&
           (a->grows ||
            (a->own_start == b->own_start && a->own_limit == b->own_limit &&
             a->offset == b->offset));
}

static int find_or_add(struct symbol_mappings *mappings, struct mapping_source *source,
                       const struct symbol_mapping *wanted)
{
    if (source->last && is_same(&mappings->items[source->last - 1], wanted))
        return 0;
    /* Copies of a file, in two containers for example, are one file by their build id. */
    for (size_t i = 0; i < mappings->count; i++) {
        const struct symbol_mapping *mapping = &mappings->items[i];
        if (is_same(mapping, wanted) && !strcmp(mapping->path.data, source->path) &&
            !strcmp(mapping->build_id.data, source->build_id)) {
            source->last = (uint32_t)i + 1;
            return 0;
        }
    }
    source->last = 0;
    if (mappings->count >= MAPPINGS_MOST)
        return 0;
    if (mappings_add(mappings, source->path, source->build_id, wanted))
        return -ENOMEM;
    source->last = (uint32_t)mappings->count;
    return 0;
}

/* Extends it to the page of an address. */
static void grow(struct symbol_mapping *mapping, uint64_t address)
{
    uint64_t start = address / PAGE * PAGE, limit = start + PAGE;

    if (mapping->own_start > start)
        mapping->own_start = start;
    if (mapping->own_limit < limit)
        mapping->own_limit = limit;
}

int mappings_take(struct symbol_mappings *mappings, struct mapping_source *source,
                  struct symbol *symbol, uint64_t address)
{
    struct symbol_mapping wanted;

    if (address >= UINT64_MAX / PAGE * PAGE)
        return 0; /* the last page: nothing can end after it, and no file has it */
    const struct elf_segment *segment = source->elf ? segment_at(source->elf, address) : NULL;
    if (!segment || !describe_segment(segment, source->elf->type == ET_EXEC, &wanted))
        wanted = (struct symbol_mapping){.grows = true, .own_start = UINT64_MAX};
    if (find_or_add(mappings, source, &wanted))
        return -ENOMEM;
    if (!source->last)
        return 0;
    struct symbol_mapping *mapping = &mappings->items[source->last - 1];
    if (mapping->grows) {
        grow(mapping, address);
        mapping->offset = mapping->own_start;
    }
    symbol->mapping = source->last;
    symbol->mapped_at = address;
    return 0;
}

/* ---- The main one ---- */

static bool find_program(struct symbol_mappings *mappings, const char *path)
{
    for (size_t i = 0; i < mappings->count; i++)
        if (!strcmp(mappings->items[i].path.data, path)) {
            mappings->main = i;
            return true;
        }
    return false;
}

int mappings_take_program(struct symbol_mappings *mappings, const struct traced_file *program)
{
    struct mapping_source source;
    struct symbol unused = {0};
    struct elf elf;
    size_t i = 0;
    int result = 0;

    if (!program->path || program->fd < 0 || find_program(mappings, program->path) ||
        elf_open(&elf, program->fd))
        return 0; /* a script, for one */
    mapping_source_init(&source, program->path, &elf);
    while (i < elf.segment_count && !(elf.segments[i].flags & PF_X))
        i++;
    if (i < elf.segment_count)
        result = mappings_take(mappings, &source, &unused, elf.segments[i].address);
    elf_close(&elf);
    return result;
}

static int find_main(struct symbol_mappings *mappings, const struct traced_file *program)
{
    char build_id[2 * ELF_LONGEST_BUILD_ID + 1];

    if (program->path && find_program(mappings, program->path))
        return 0;
    if (find_program(mappings, KERNEL_PATH))
        return 0;
    mappings->main = mappings->count;
    kernel_build_id(NULL, build_id);
    return mappings_add_kernel(mappings, (struct kernel_bounds){0}, build_id);
}

/* ---- Places ---- */

/*
 * The main program gets the addresses that its file has, wherever it was mapped: simple readers
 * look them up in the file as they are.
 */
static void fix_main(struct symbol_mappings *mappings)
{
    const struct symbol_mapping *main = &mappings->items[mappings->main];

    for (size_t i = 0; i < mappings->count; i++) {
        struct symbol_mapping *mapping = &mappings->items[i];
        if (!mapping->grows && !strcmp(mapping->path.data, main->path.data) &&
            !strcmp(mapping->build_id.data, main->build_id.data))
            mapping->is_fixed = true;
    }
}

/* Is the range free among the mappings that already have addresses? */
static bool is_free(const struct symbol_mappings *mappings, uint64_t start, uint64_t limit)
{
    for (size_t i = 0; i < mappings->count; i++)
        if (mappings->items[i].start < limit && start < mappings->items[i].limit)
            return false;
    return true;
}

/* Gives it the file's own addresses, if these are free. */
static void place_fixed(const struct symbol_mappings *mappings, struct symbol_mapping *mapping)
{
    bool is_kernels = mapping->own_start >> 63;

    if (!mapping->is_fixed || mapping->limit || (!is_kernels && mapping->own_limit > FIRST_FREE) ||
        !is_free(mappings, mapping->own_start, mapping->own_limit))
        return;
    mapping->start = mapping->own_start;
    mapping->limit = mapping->own_limit;
}

/* Gives it the next addresses after all others. */
static void place_free(struct symbol_mapping *mapping, uint64_t *next)
{
    uint64_t size = mapping->own_limit - mapping->own_start;

    if (mapping->limit || size > MAPPINGS_LARGEST || *next > END_OF_FREE)
        return;
    mapping->start = *next + mapping->own_start % ALIGNMENT;
    mapping->limit = mapping->start + size;
    *next = (mapping->limit + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

int mappings_place(struct symbol_mappings *mappings, const struct traced_file *program,
                   struct symbol *symbols, size_t count)
{
    uint64_t next = FIRST_FREE;

    if (find_main(mappings, program))
        return -ENOMEM;
    fix_main(mappings);
    /* The main mapping comes first, so that its addresses are free. */
    place_fixed(mappings, &mappings->items[mappings->main]);
    for (size_t i = 0; i < mappings->count; i++)
        place_fixed(mappings, &mappings->items[i]);
    for (size_t i = 0; i < mappings->count; i++)
        place_free(&mappings->items[i], &next);
    for (size_t i = 0; i < count; i++) {
        struct symbol *symbol = &symbols[i];
        if (!symbol->mapping)
            continue;
        const struct symbol_mapping *mapping = &mappings->items[symbol->mapping - 1];
        symbol->mapped_at += mapping->start - mapping->own_start;
        if (!mapping->limit)
            symbol->mapping = 0;
    }
    return 0;
}
