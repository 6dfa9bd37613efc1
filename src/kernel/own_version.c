/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kernel/own_version.h"

#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#define NAME "Linux"
#define PADDED(bytes) (((size_t)(bytes) + 3) & ~(size_t)3)

static uint32_t version_in(const char *notes, size_t size)
{
    uint32_t version;

    for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= size;) {
        const ElfW(Nhdr) *note = (const void *)(notes + at);
        const char *name = (const char *)(note + 1);
        if (!note->n_type && note->n_descsz == sizeof(version) && note->n_namesz == sizeof(NAME) &&
            !memcmp(name, NAME, sizeof(NAME))) {
            memcpy(&version, name + PADDED(sizeof(NAME)), sizeof(version));
            return version;
        }
        at += sizeof(*note) + PADDED(note->n_namesz) + PADDED(note->n_descsz);
    }
    return 0;
}

uint32_t own_version(void)
{
    const char *image = (const char *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
    const ElfW(Ehdr) *header = (const void *)image;
    uint32_t version = 0;

    for (size_t i = 0; image && i < header->e_phnum && !version; i++) {
        const ElfW(Phdr) *segment = (const void *)(image + header->e_phoff + i * sizeof(*segment));
        if (segment->p_type == PT_NOTE)
            version = version_in(image + segment->p_offset, segment->p_filesz);
    }
    return version;
}
