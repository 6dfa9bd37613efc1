/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "symbolize/mappings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "symbolize/mappings_kernel.h"
#include "symbolize/symbolize.h"

#define PAGE 4096
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
                 struct symbol_mapping **added)
{
    if (mappings->count >= UINT32_MAX - 1 ||
        array_reserve(&mappings->items, &mappings->room, mappings->count + 1,
                      sizeof(*mappings->items)))
        return -ENOMEM;
    struct symbol_mapping *mapping = &mappings->items[mappings->count++];
    *mapping = (struct symbol_mapping){0};
    text_add(&mapping->path, path);
    text_add(&mapping->build_id, build_id);
    *added = mapping;
    return mapping->path.failed || mapping->build_id.failed ? -ENOMEM : 0;
}

void mappings_read_build_id(const struct elf *elf, char text[2 * ELF_LONGEST_BUILD_ID + 1])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char id[ELF_LONGEST_BUILD_ID];
    size_t length;

    *text = '\0';
    if (elf_build_id(elf, id, &length))
        return;
    for (size_t i = 0; i < length; i++) {
        text[2 * i] = digits[id[i] >> 4];
        text[2 * i + 1] = digits[id[i] & 15];
    }
    text[2 * length] = '\0';
}

/* ---- Of files ---- */

void mapping_source_init(struct mapping_source *source, const char *path, const struct elf *elf)
{
    *source = (struct mapping_source){.path = path, .elf = elf};
    if (elf)
        mappings_read_build_id(elf, source->build_id);
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

/* Code, if there is any; a bad stack may lead anywhere. */
static const struct elf_segment *segment_at(const struct elf *elf, uint64_t address)
{
    const struct elf_segment *code = elf_code_at(elf, address);

    for (size_t i = 0; i < elf->segment_count && !code; i++)
        if (address >= elf->segments[i].address &&
            address - elf->segments[i].address < elf->segments[i].memory_size)
            code = &elf->segments[i];
    return code;
}

static void describe(const struct mapping_source *source, uint64_t address,
                     struct symbol_mapping *mapping)
{
    const struct elf_segment *segment = source->elf ? segment_at(source->elf, address) : NULL;

    if (!segment || !describe_segment(segment, source->elf->type == ET_EXEC, mapping))
        *mapping = (struct symbol_mapping){.grows = true};
}

static bool is_same(const struct symbol_mapping *a, const struct symbol_mapping *b)
{
    return a->grows == b->grows && a->is_fixed == b->is_fixed &&
           (a->grows ||
            (a->own_start == b->own_start && a->own_limit == b->own_limit &&
             a->offset == b->offset));
}

/* A file that exists twice, in two containers for example, is one if it has a build id. */
static bool is_of(const struct symbol_mapping *mapping, const struct mapping_source *source)
{
    return !strcmp(mapping->path.data, source->path) &&
           !strcmp(mapping->build_id.data, source->build_id);
}

static int find_or_add(struct symbol_mappings *mappings, struct mapping_source *source,
                       const struct symbol_mapping *wanted)
{
    struct symbol_mapping *added;

    if (source->last && is_same(&mappings->items[source->last - 1], wanted))
        return 0;
    for (size_t i = 0; i < mappings->count; i++)
        if (is_same(&mappings->items[i], wanted) && is_of(&mappings->items[i], source)) {
            source->last = (uint32_t)i + 1;
            return 0;
        }
    source->last = 0;
    if (mappings->count >= MAPPINGS_MOST)
        return 0;
    if (mappings_add(mappings, source->path, source->build_id, &added))
        return -ENOMEM;
    added->own_start = wanted->grows ? UINT64_MAX : wanted->own_start;
    added->own_limit = wanted->own_limit;
    added->offset = wanted->offset;
    added->is_fixed = wanted->is_fixed;
    added->grows = wanted->grows;
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
    describe(source, address, &wanted);
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
    struct symbol_mapping *kernel;

    if (program->path && find_program(mappings, program->path))
        return 0;
    if (find_program(mappings, KERNEL_PATH))
        return 0;
    mappings->main = mappings->count;
    kernel_build_id(NULL, build_id);
    return mappings_add_kernel(mappings, (struct kernel_bounds){0}, build_id, &kernel);
}

/* ---- Places ---- */

/*
 * The main program is where its file numbers it, wherever it was: simple readers look up its
 * instructions without asking.
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

/* Among those that have a place. */
static bool is_free(const struct symbol_mappings *mappings, uint64_t start, uint64_t limit)
{
    for (size_t i = 0; i < mappings->count; i++)
        if (mappings->items[i].start < limit && start < mappings->items[i].limit)
            return false;
    return true;
}

/* Where it must be, if that is free. */
static void place_fixed(const struct symbol_mappings *mappings, struct symbol_mapping *mapping)
{
    bool is_kernels = mapping->own_start >> 63;

    if (!mapping->is_fixed || mapping->limit || (!is_kernels && mapping->own_limit > FIRST_FREE) ||
        !is_free(mappings, mapping->own_start, mapping->own_limit))
        return;
    mapping->start = mapping->own_start;
    mapping->limit = mapping->own_limit;
}

/* After all others. */
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
    /* The main one has first choice. */
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
