/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf/elf.h"

#define HEADER_BYTES 12
/* More than all note sections of a file have; and the limits of a note's owner and descriptor. */
#define MOST_BYTES (16 << 20)
#define LONGEST_OWNER 64
#define LONGEST_DESCRIPTOR 65536

struct walk {
    const struct elf *elf;
    elf_note_callback *each;
    void *context;
    uint64_t left; /* of MOST_BYTES: any number of segments may refer to the same bytes */
    char owner[LONGEST_OWNER + 1];
    unsigned char descriptor[LONGEST_DESCRIPTOR];
};

static uint64_t aligned(uint64_t size)
{
    return (size + 3) & ~(uint64_t)3;
}

/* The note at `offset`; `left` bytes are left in the section. *used: its length. */
static int give_note(struct walk *walk, uint64_t offset, uint64_t left, uint64_t *used)
{
    const struct elf *elf = walk->elf;
    unsigned char header[HEADER_BYTES];
    int result = elf_read(elf, offset, header, sizeof(header));
    if (result)
        return result;
    const uint32_t owner_size = elf_get32(elf, header), size = elf_get32(elf, header + 4);
    const uint64_t at = sizeof(header) + aligned(owner_size);
    if (at > left || size > left - at)
        return -ENOEXEC;
    *used = at + aligned(size);
    if (owner_size > LONGEST_OWNER || size > LONGEST_DESCRIPTOR)
        return 0; /* not a note that we know */
    result = elf_read(elf, offset + sizeof(header), walk->owner, owner_size);
    if (!result)
        result = elf_read(elf, offset + at, walk->descriptor, size);
    if (result)
        return result;
    walk->owner[owner_size] = '\0';
    const struct elf_note note = {walk->owner, elf_get32(elf, header + 8), walk->descriptor, size};
    return walk->each(walk->context, &note);
}

static int walk_part(struct walk *walk, uint64_t offset, uint64_t size)
{
    int result = 0;

    if (size > walk->left || offset > UINT64_MAX - size)
        return -ENOEXEC;
    walk->left -= size;
    /* A shorter rest is padding; the last note may lack its own. */
    while (size >= HEADER_BYTES && !result) {
        uint64_t used = 0;
        result = give_note(walk, offset, size, &used);
        offset += used;
        size -= used < size ? used : size;
    }
    return result;
}

int elf_each_note(const struct elf *elf, const char *section, elf_note_callback *each,
                  void *context)
{
    struct walk *walk = malloc(sizeof(*walk));
    int result = 0;

    if (!walk)
        return -ENOMEM;
    walk->elf = elf;
    walk->each = each;
    walk->context = context;
    walk->left = MOST_BYTES;
    const struct elf_section *notes = elf_section(elf, section);
    if (notes && notes->type == SHT_NOTE)
        result = walk_part(walk, notes->offset, notes->size);
    for (size_t i = 0; !notes && i < elf->note_count && !result; i++)
        result = walk_part(walk, elf->notes[i].offset, elf->notes[i].file_size);
    free(walk);
    return result < 0 ? result : 0;
}

struct build_id {
    unsigned char *id;
    size_t *length;
};

static int take_build_id(void *context, const struct elf_note *note)
{
    const struct build_id *wanted = context;

    if (strcmp(note->owner, "GNU") || note->type != NT_GNU_BUILD_ID || !note->size ||
        note->size > ELF_LONGEST_BUILD_ID)
        return 0;
    memcpy(wanted->id, note->descriptor, note->size);
    *wanted->length = note->size;
    return 1;
}

int elf_build_id(const struct elf *elf, unsigned char id[ELF_LONGEST_BUILD_ID], size_t *length)
{
    struct build_id wanted = {id, length};

    *length = 0;
    int result = elf_each_note(elf, ".note.gnu.build-id", take_build_id, &wanted);
    return result ? result : *length ? 0 : -ENOENT;
}
