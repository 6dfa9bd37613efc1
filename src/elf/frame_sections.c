/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "elf/frame_sections.h"

#include <errno.h>
#include <stdlib.h>

#include "elf/frame_exidx.h"
#include "elf/frame_go.h"

/* No linker makes more: libLLVM has 5 MB. */
#define MOST_SECTION_BYTES (256u << 20)

struct cfi_bytes frame_bytes(const struct frame_section *section, size_t at, size_t end)
{
    return (struct cfi_bytes){
        .elf = section->elf,
        .at = section->bytes + at,
        .end = section->bytes + end,
        .address = section->address + end,
    };
}

static int read_bytes(struct frame_section *section, uint64_t offset, uint64_t size)
{
    unsigned char last;

    if (!size)
        return 0;
    if (size > MOST_SECTION_BYTES)
        return -E2BIG;
    /* Before allocating: does the file have all of it? */
    int result = elf_read(section->elf, offset + (size - 1), &last, 1);
    if (result)
        return result;
    section->bytes = malloc((size_t)size);
    result = section->bytes ? elf_read(section->elf, offset, section->bytes, (size_t)size) : -ENOMEM;
    if (!result) {
        section->size = (size_t)size;
        return 0;
    }
    free(section->bytes);
    section->bytes = NULL;
    return result;
}

/* -ENOENT: it is not in the file, even if its section header is. */
static int read_section(struct frame_section *section, const struct elf *elf, const char *name, bool is_debug)
{
    const struct elf_section *found = elf_section(elf, name);

    *section = (struct frame_section){.elf = elf, .is_debug = is_debug};
    if (!found)
        return -ENOENT;
    if (found->type == SHT_NOBITS || found->flags & SHF_COMPRESSED)
        return 0;
    section->address = found->address;
    return read_bytes(section, found->offset, found->size);
}

/* ---- Without section headers ---- */

/* Reads what the file has from this address on, up to `most` bytes. */
static int read_loaded(struct frame_section *section, uint64_t address, uint64_t most)
{
    for (size_t i = 0; i < section->elf->segment_count; i++) {
        const struct elf_segment *segment = &section->elf->segments[i];
        const uint64_t distance = address - segment->address;
        if (address < segment->address || distance >= segment->file_size)
            continue;
        section->address = address;
        if (most > segment->file_size - distance)
            most = segment->file_size - distance;
        return read_bytes(section, segment->offset + distance, most);
    }
    return -ENOENT;
}

/*
 * .eh_frame_hdr has a segment of its own, and begins with the address of .eh_frame, but not its
 * end.
 */
static int read_by_segment(struct frame_sections *sections, const struct elf *elf)
{
    const struct elf_segment *order = &elf->frames;

    if (!order->file_size)
        return -ENOENT;
    int result = read_loaded(&sections->order, order->address, order->file_size);
    if (result)
        return result;
    struct cfi_bytes bytes = frame_bytes(&sections->order, 0, sections->order.size);
    cfi_skip(&bytes, 1); /* its version */
    const unsigned encoding = (unsigned)cfi_take(&bytes, 1);
    cfi_skip(&bytes, 2);
    const uint64_t address = cfi_take_pointer(&bytes, encoding, sections->order.address);
    return bytes.bad ? -ENOENT : read_loaded(&sections->table, address, MOST_SECTION_BYTES);
}

/* ---- All of them ---- */

static int read_table(struct frame_sections *sections, const struct elf *elf)
{
    int result = read_section(&sections->table, elf, ".eh_frame", false);

    if (result == -ENOENT) {
        sections->order = (struct frame_section){.elf = elf};
        return read_by_segment(sections, elf);
    }
    if (!result && sections->table.size && read_section(&sections->order, elf, ".eh_frame_hdr", false) == -ENOMEM)
        result = -ENOMEM;
    return result;
}

int frame_sections_read(struct frame_sections *sections, const struct elf *elf, const struct elf *debug)
{
    uint64_t address, size;
    bool is_go;

    *sections = (struct frame_sections){0};
    int result = read_table(sections, elf);
    /* Go's debug information covers code that keeps frame pointers, which are exact, too. */
    is_go = frame_go_text(elf, &address, &size);
    if ((result && result != -ENOENT) || is_go)
        return result == -ENOENT ? 0 : result;
    result = read_section(&sections->debug, elf, ".debug_frame", true);
    if (debug && !sections->debug.size && (!result || result == -ENOENT))
        result = read_section(&sections->debug, debug, ".debug_frame", true);
    if (HAS_EXIDX && elf->machine == EM_ARM && (!result || result == -ENOENT))
        result = read_section(&sections->index, elf, ".ARM.exidx", false);
    if (!result || result == -ENOENT)
        result = sections->table.size || sections->debug.size || sections->index.size ? 0 : -ENOENT;
    return result;
}

void frame_sections_free(struct frame_sections *sections)
{
    free(sections->table.bytes);
    free(sections->order.bytes);
    free(sections->debug.bytes);
    free(sections->index.bytes);
    *sections = (struct frame_sections){0};
}
