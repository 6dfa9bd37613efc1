/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "elf/elf_needed.h"

#include <errno.h>
#include <string.h>

#define MOST_ENTRIES 4096

struct dynamic {
    const struct elf *elf;
    uint64_t names, names_size;
};

/* The entry with that number; DT_NULL past the last. */
static uint64_t entry_at(const struct elf *elf, uint64_t number, uint64_t *value)
{
    unsigned char bytes[sizeof(Elf64_Dyn)];
    const size_t size = ELF_SIZE(elf, Dyn);

    *value = 0;
    if (number >= MOST_ENTRIES || number >= elf->dynamic.file_size / size ||
        elf_read(elf, elf->dynamic.offset + number * size, bytes, size))
        return DT_NULL;
    *value = ELF_FIELD(elf, bytes, Dyn, d_un.d_val);
    return ELF_FIELD(elf, bytes, Dyn, d_tag);
}

static void find_names(struct dynamic *dynamic)
{
    uint64_t tag, value;

    for (uint64_t i = 0; (tag = entry_at(dynamic->elf, i, &value)) != DT_NULL; i++) {
        if (tag == DT_STRTAB && !elf_offset_of(dynamic->elf, value, &dynamic->names))
            return;
        if (tag == DT_STRSZ)
            dynamic->names_size = value;
    }
}

/* False: it leads out of the table, or is too long. */
static bool read_name(const struct dynamic *dynamic, uint64_t at, char name[ELF_LONGEST_NEEDED + 1])
{
    if (at >= dynamic->names_size)
        return false;
    uint64_t size = dynamic->names_size - at;
    if (size > ELF_LONGEST_NEEDED + 1)
        size = ELF_LONGEST_NEEDED + 1;
    return !elf_read(dynamic->elf, dynamic->names + at, name, (size_t)size) &&
           memchr(name, '\0', (size_t)size) && *name;
}

int elf_each_needed(const struct elf *elf, elf_needed_callback *each, void *context)
{
    struct dynamic dynamic = {.elf = elf};
    char name[ELF_LONGEST_NEEDED + 1];
    uint64_t tag, value;
    int result = 0;

    find_names(&dynamic);
    for (uint64_t i = 0; !result && (tag = entry_at(elf, i, &value)) != DT_NULL; i++)
        if (tag == DT_NEEDED && read_name(&dynamic, value, name))
            result = each(context, name);
    return result;
}
