/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "elf/frame_v8.h"

#include <string.h>

#include "elf/elf_symbols.h"

/* Files that contain V8 are larger; the symbols of others are not searched. */
#define LEAST_CODE (4u << 20)
/* The code itself is more than one megabyte, and nothing else that has no tables comes near. */
#define LEAST_BLOB (256u << 10)

struct blob {
    uint64_t start, end; /* end 0: not found */
};

/* The whole has a symbol, and so does each of its functions. */
static int see_symbol(void *context, const struct elf_symbol *symbol)
{
    struct blob *blob = context;
    const uint64_t end = symbol->address + symbol->size;

    if (!strcmp(symbol->name, "v8_Default_embedded_blob_code_"))
        blob->start = symbol->address;
    else if (!strncmp(symbol->name, "Builtins_", 9) && symbol->size && end > symbol->address && end > blob->end)
        blob->end = end;
    return 0;
}

bool frame_v8_text(const struct elf *elf, uint64_t *address, uint64_t *size)
{
    const struct elf_section *text = elf_section(elf, ".text");
    struct blob blob = {0};

    if (!text || text->size < LEAST_CODE || !elf_section(elf, ".symtab") ||
        elf_each_function(elf, see_symbol, &blob) || !blob.start || blob.end <= blob.start)
        return false;
    *address = blob.start;
    *size = blob.end - blob.start;
    return true;
}

/* Libraries export what returns the code's place, even if its symbols were stripped. */
static int see_export(void *context, const struct elf_symbol *symbol)
{
    bool *is_exported = context;

    *is_exported = !strcmp(symbol->name, "_ZN2v88internal23DefaultEmbeddedBlobCodeEv");
    return *is_exported;
}

bool frame_v8_is_gap(const struct elf *elf, uint64_t size)
{
    bool is_exported = false;

    return size >= LEAST_BLOB && !elf_each_function(elf, see_export, &is_exported) && is_exported;
}
