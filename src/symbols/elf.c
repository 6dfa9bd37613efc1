/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "symbols/elf.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* More than any linker makes; each is read for its type at least. */
#define MOST_SEGMENTS 4096

/* Every read of the file goes through here: all of it, or nothing. */
static int read_at(const struct elf *elf, uint64_t offset, void *to, size_t size)
{
    if (offset > INT64_MAX - size)
        return -ENOEXEC;
    ssize_t got = pread(elf->fd, to, size, (off_t)offset);
    if (got < 0)
        return -errno;
    return (size_t)got == size ? 0 : -ENOEXEC;
}

static uint16_t get16(const struct elf *elf, uint16_t value)
{
    return elf->swapped ? __builtin_bswap16(value) : value;
}

static uint32_t get32(const struct elf *elf, uint32_t value)
{
    return elf->swapped ? __builtin_bswap32(value) : value;
}

static uint64_t get64(const struct elf *elf, uint64_t value)
{
    return elf->swapped ? __builtin_bswap64(value) : value;
}

static int read_ident(struct elf *elf)
{
    unsigned char ident[EI_NIDENT];
    int result = read_at(elf, 0, ident, sizeof(ident));

    if (result)
        return result;
    if (memcmp(ident, ELFMAG, SELFMAG) ||
        (ident[EI_CLASS] != ELFCLASS32 && ident[EI_CLASS] != ELFCLASS64) ||
        (ident[EI_DATA] != ELFDATA2LSB && ident[EI_DATA] != ELFDATA2MSB))
        return -ENOEXEC;
    elf->is_64 = ident[EI_CLASS] == ELFCLASS64;
    elf->swapped = (ident[EI_DATA] == ELFDATA2LSB) != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    return 0;
}

struct table {
    uint64_t offset;
    uint16_t entry_size, count;
};

static int read_header(const struct elf *elf, struct table *segments)
{
    union {
        Elf32_Ehdr narrow;
        Elf64_Ehdr wide;
    } header;
    int result = read_at(elf, 0, &header, elf->is_64 ? sizeof(header.wide) : sizeof(header.narrow));

    if (result)
        return result;
    *segments = elf->is_64
        ? (struct table){get64(elf, header.wide.e_phoff), get16(elf, header.wide.e_phentsize),
                         get16(elf, header.wide.e_phnum)}
        : (struct table){get32(elf, header.narrow.e_phoff), get16(elf, header.narrow.e_phentsize),
                         get16(elf, header.narrow.e_phnum)};
    return 0;
}

/* One program header; *is_loaded: it is a PT_LOAD. */
static int read_segment(const struct elf *elf, uint64_t offset, struct elf_segment *segment,
                        bool *is_loaded)
{
    union {
        Elf32_Phdr narrow;
        Elf64_Phdr wide;
    } header;
    int result = read_at(elf, offset, &header,
                         elf->is_64 ? sizeof(header.wide) : sizeof(header.narrow));

    if (result)
        return result;
    *is_loaded = get32(elf, elf->is_64 ? header.wide.p_type : header.narrow.p_type) == PT_LOAD;
    *segment = elf->is_64
        ? (struct elf_segment){get64(elf, header.wide.p_offset), get64(elf, header.wide.p_filesz),
                               get64(elf, header.wide.p_vaddr)}
        : (struct elf_segment){get32(elf, header.narrow.p_offset),
                               get32(elf, header.narrow.p_filesz),
                               get32(elf, header.narrow.p_vaddr)};
    return 0;
}

static int read_segments(struct elf *elf)
{
    struct table table;
    int result = read_header(elf, &table);
    size_t least = elf->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);

    if (result)
        return result;
    if (!table.count)
        return 0; /* an object file */
    if (table.entry_size < least || table.count > MOST_SEGMENTS)
        return -ENOEXEC;
    elf->segments = calloc(table.count, sizeof(*elf->segments));
    if (!elf->segments)
        return -ENOMEM;
    for (uint16_t i = 0; i < table.count && !result; i++) {
        uint64_t offset;
        bool is_loaded = false;
        if (__builtin_add_overflow(table.offset, (uint64_t)i * table.entry_size, &offset))
            return -ENOEXEC;
        result = read_segment(elf, offset, &elf->segments[elf->segment_count], &is_loaded);
        elf->segment_count += !result && is_loaded;
    }
    return result;
}

int elf_open(struct elf *elf, int fd)
{
    *elf = (struct elf){.fd = fd};
    int result = read_ident(elf);

    if (!result)
        result = read_segments(elf);
    if (result)
        elf_close(elf);
    return result;
}

void elf_close(struct elf *elf)
{
    free(elf->segments);
    elf->segments = NULL;
    elf->segment_count = 0;
}

bool elf_address_of(const struct elf *elf, uint64_t offset, uint64_t *address)
{
    for (size_t i = 0; i < elf->segment_count; i++) {
        const struct elf_segment *segment = &elf->segments[i];
        if (offset >= segment->offset && offset - segment->offset < segment->file_size) {
            *address = segment->address + (offset - segment->offset);
            return true;
        }
    }
    return false;
}
