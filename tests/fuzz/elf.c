/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* ELF files: headers, sections, notes, functions, names of addresses and of PLT entries. */
#include "symbols/elf.h"

#include <string.h>

#include "fuzz.h"
#include "symbols/elf_symbols.h"

#define MOST_ADDRESSES 512

static volatile unsigned char touched;

struct asked {
    uint64_t addresses[MOST_ADDRESSES];
    size_t count;
};

static void ask(struct asked *asked, uint64_t address)
{
    if (asked->count < MOST_ADDRESSES)
        asked->addresses[asked->count++] = address;
}

static int ask_about(void *context, const struct elf_symbol *symbol)
{
    struct asked *asked = context;

    ALWAYS(*symbol->name);
    ask(asked, symbol->address);
    ask(asked, symbol->address - 1);
    ask(asked, symbol->address + symbol->size / 2);
    ask(asked, symbol->address + symbol->size);
    return asked->count == MOST_ADDRESSES;
}

static int look_at_note(void *context, const struct elf_note *note)
{
    size_t *notes = context;

    touched = (unsigned char)strlen(note->owner);
    for (size_t i = 0; i < note->size; i++)
        touched = note->descriptor[i];
    ++*notes;
    return 0;
}

static void try_notes(const struct elf *elf, size_t size)
{
    unsigned char id[ELF_LONGEST_BUILD_ID];
    size_t length, notes = 0;

    (void)elf_each_note(elf, ".note.stapsdt", look_at_note, &notes);
    (void)elf_each_note(elf, ".note.gnu.build-id", look_at_note, &notes);
    /* Each of twelve bytes and more; many segments may be one part of the file. */
    ALWAYS(notes <= (elf->note_count + 2) * 2 * (size / 12 + 1));
    int result = elf_build_id(elf, id, &length);
    ALWAYS(result < 0 ? !length || result != -2 : length && length <= sizeof(id));
}

static void try_places(const struct elf *elf, struct asked *asked)
{
    uint64_t there, back;

    for (size_t i = 0; i < elf->segment_count; i++) {
        const struct elf_segment *segment = &elf->segments[i];
        ask(asked, segment->address);
        if (!segment->file_size)
            continue;
        ALWAYS(elf_address_of(elf, segment->offset, &there));
        (void)elf_offset_of(elf, there, &back);
        (void)elf_code_at(elf, there);
    }
    for (size_t i = 0; i < elf->section_count; i++)
        if (elf->sections[i].flags & SHF_EXECINSTR)
            for (uint64_t at = 0; at < elf->sections[i].size && at < 256; at += 8)
                ask(asked, elf->sections[i].address + at);
    (void)elf_section(elf, ".symtab");
    (void)elf_section(elf, "");
    (void)elf_section_of_type(elf, SHT_SYMTAB);
}

static void try_names(const struct elf *elf, struct asked *asked)
{
    static struct elf_found found[MOST_ADDRESSES], none;

    (void)elf_each_function(elf, ask_about, asked);
    asked->count = fuzz_sort(asked->addresses, asked->count);
    int result = elf_find(elf, asked->addresses, asked->count, found);
    for (size_t i = 0; i < asked->count; i++) {
        ALWAYS(result || !found[i].found ||
               (found[i].name.length && found[i].start <= asked->addresses[i]));
        ALWAYS(result || !found[i].found || strlen(found[i].name.data) == found[i].name.length);
    }
    elf_found_free(found, asked->count);
    for (size_t i = 0; i < asked->count; i++)
        found[i] = none;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct asked asked = {.addresses = {0, UINT64_MAX}, .count = 2};
    struct elf elf;

    if (elf_open(&elf, fuzz_file(data, size)))
        return 0;
    try_notes(&elf, size);
    try_places(&elf, &asked);
    try_names(&elf, &asked);
    elf_close(&elf);
    return 0;
}
