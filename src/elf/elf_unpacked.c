/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "elf/elf_symbols.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "unpack/unpack.h"

#define MOST_PACKED_BYTES ((uint64_t)64 << 20)
/* A browser with 600,000 functions has some 60 MB. */
#define MOST_UNPACKED_BYTES ((size_t)128 << 20)

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

typedef int unpacker(const unsigned char *packed, size_t size, size_t most, struct text *to);

/* The compressed bytes are freed when it is done. */
static int unpack_part(const struct elf *elf, uint64_t offset, uint64_t size, unpacker *unpack,
                       size_t most, struct text *to)
{
    if (size > MOST_PACKED_BYTES)
        return -EFBIG;
    int result = elf_has(elf, offset, size);
    if (result)
        return result;
    unsigned char *packed = malloc((size_t)size + 1);
    if (!packed)
        return -ENOMEM;
    result = elf_read(elf, offset, packed, (size_t)size);
    if (!result)
        result = unpack(packed, (size_t)size, most, to);
    free(packed);
    return to->failed ? -ENOMEM : result;
}

/* NULL: a read error, which elf->trouble has. */
static const char *reason_of(int result, const char *const reasons[4])
{
    switch (result) {
    case -EBADMSG:
    case -ENOEXEC: return reasons[0];
    case -EOPNOTSUPP: return reasons[1];
    case -EFBIG: return reasons[2];
    case -ENOMEM: return reasons[3];
    }
    return NULL;
}

static void drop_parts(struct elf_unpacked *unpacked)
{
    for (size_t i = 0; i < COUNT_OF(unpacked->parts); i++)
        text_free(&unpacked->parts[i]);
    unpacked->kind = UNPACKED_NOTHING;
}

/* ---- Compressed sections ---- */

static int unpack_section(const struct elf *elf, const struct elf_section *section, size_t part,
                          struct elf_section *plain)
{
    const size_t header_size = ELF_SIZE(elf, Chdr);
    struct text *to = &elf->unpacked->parts[part];
    unsigned char header[sizeof(Elf64_Chdr)];

    *plain = *section;
    if (!(section->flags & SHF_COMPRESSED))
        return 0;
    if (section->size < header_size || section->offset > UINT64_MAX - section->size)
        return -ENOEXEC;
    int result = elf_read(elf, section->offset, header, header_size);
    if (result)
        return result;
    const uint64_t type = ELF_FIELD(elf, header, Chdr, ch_type);
    const uint64_t size = ELF_FIELD(elf, header, Chdr, ch_size);
    if (type != ELFCOMPRESS_ZLIB)
        return type == ELFCOMPRESS_ZSTD ? -ENOPKG : -EOPNOTSUPP;
    if (size > MOST_UNPACKED_BYTES || section->size > MOST_PACKED_BYTES)
        return -EFBIG;
    result = unpack_part(elf, section->offset + header_size, section->size - header_size,
                         unpack_zlib, (size_t)size, to);
    if (result == -EFBIG || (!result && to->length != size))
        return -EBADMSG; /* its size is not the declared one */
    plain->flags &= ~(uint64_t)SHF_COMPRESSED;
    plain->offset = (part ? ELF_UNPACKED_MORE : ELF_UNPACKED) - elf->base;
    plain->size = size;
    return result;
}

#define WHAT_TO_DO ": unpack them with \"eu-elfcompress -t none -n .symtab -n .strtab\""

bool elf_unpack_symbols(const struct elf *elf, const struct elf_section *symbols,
                        const struct elf_section *names)
{
    static const char *const reasons[] = {
        "its symbols are damaged: they cannot be unpacked",
        "its symbols are compressed in a way that is not supported" WHAT_TO_DO,
        "its symbols are compressed, and too large" WHAT_TO_DO,
        "there is not enough memory to unpack its symbols",
    };
    struct elf_unpacked *unpacked = elf->unpacked;

    /* The compressed symbols of an unpacked image are not unpacked. */
    if (!unpacked || unpacked->symbols_tried || elf->base == ELF_UNPACKED)
        return unpacked && unpacked->kind == UNPACKED_SYMBOLS && elf->base != ELF_UNPACKED;
    int result = unpack_section(elf, symbols, 0, &unpacked->symbols);
    if (!result)
        result = unpack_section(elf, names, 1, &unpacked->names);
    unpacked->symbols_tried = result != -ENOMEM;
    if (!result) {
        unpacked->kind = UNPACKED_SYMBOLS;
        return true;
    }
    drop_parts(unpacked);
    unpacked->refusal = result == -ENOPKG
        ? "its symbols are compressed with zstd, which is not supported" WHAT_TO_DO
        : reason_of(result, reasons);
    return false;
}

/* ---- .gnu_debugdata ---- */

static int unpack_image(const struct elf *elf)
{
    const struct elf_section *section = elf_section(elf, ".gnu_debugdata");

    if (!section || section->type == SHT_NOBITS)
        return -ENOENT;
    if (section->flags & SHF_COMPRESSED)
        return -EOPNOTSUPP;
    return unpack_part(elf, section->offset, section->size, unpack_xz, MOST_UNPACKED_BYTES,
                       &elf->unpacked->parts[0]);
}

/* If its addresses differed from the file's, every name would be wrong. */
static bool is_its_own(const struct elf *elf, const struct elf *image)
{
    const struct elf_section *ours = elf_section(elf, ".text"), *theirs;

    if (image->machine != elf->machine || image->is_64 != elf->is_64 ||
        image->swapped != elf->swapped)
        return false;
    theirs = ours ? elf_section(image, ".text") : NULL;
    return !theirs || ours->address == theirs->address;
}

static void try_image(const struct elf *elf)
{
    static const char *const reasons[] = {
        "its .gnu_debugdata is damaged",
        "its .gnu_debugdata is packed in a way that is not supported",
        "its .gnu_debugdata is too large",
        "there is not enough memory to unpack its .gnu_debugdata",
    };
    struct elf_unpacked *unpacked = elf->unpacked;
    struct elf image;

    int result = unpack_image(elf);
    unpacked->image_tried = result != -ENOMEM;
    if (!result)
        result = elf_open_unpacked(&image, unpacked, elf->trouble);
    if (!result) {
        if (is_its_own(elf, &image))
            unpacked->kind = UNPACKED_IMAGE;
        else
            unpacked->refusal = "its .gnu_debugdata is that of another file";
        elf_close(&image);
    } else if (result != -ENOENT) {
        unpacked->refusal = reason_of(result, reasons);
    }
    if (unpacked->kind != UNPACKED_IMAGE)
        drop_parts(unpacked);
}

bool elf_unpack_image(const struct elf *elf, struct elf *image)
{
    struct elf_unpacked *unpacked = elf->unpacked;

    if (!unpacked || unpacked->kind == UNPACKED_SYMBOLS || elf->base == ELF_UNPACKED)
        return false;
    if (!unpacked->image_tried)
        try_image(elf);
    return unpacked->kind == UNPACKED_IMAGE && !elf_open_unpacked(image, unpacked, elf->trouble);
}

void elf_unpacked_free(struct elf_unpacked *unpacked)
{
    drop_parts(unpacked);
    *unpacked = (struct elf_unpacked){0};
}
