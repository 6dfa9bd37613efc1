/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* ELF files: headers, sections, notes, functions, names of addresses and of PLT entries. */
#include "elf/elf.h"

#include <string.h>

#include "base/text.h"
#include "elf/debug_files.h"
#include "elf/elf_symbols.h"
#include "fuzz.h"

#define MOST_ADDRESSES 512
#define MOST_FUNCTIONS 512

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

/* The functions of a file, for a linear search. */
struct listed {
    uint64_t address, end;
    char name[64]; /* its beginning */
    bool is_strong; /* not a label within a function */
};

static struct listed functions[MOST_FUNCTIONS];
static size_t function_count;

static int ask_about(void *context, const struct elf_symbol *symbol)
{
    struct asked *asked = context;
    struct listed *function = &functions[function_count];

    ALWAYS(*symbol->name);
    ask(asked, symbol->address);
    ask(asked, symbol->address - 1);
    ask(asked, symbol->address + symbol->size / 2);
    ask(asked, symbol->address + symbol->size);
    *function = (struct listed){
        .address = symbol->address,
        .is_strong = symbol->type != STT_NOTYPE || symbol->binding != STB_LOCAL || symbol->size,
    };
    if (__builtin_add_overflow(symbol->address, symbol->size + !symbol->size, &function->end))
        function->end = UINT64_MAX;
    snprintf(function->name, sizeof(function->name), "%s", symbol->name);
    return ++function_count == MOST_FUNCTIONS;
}

/* The result is a function in the list, and none that covers the address is nearer. */
static void check_found(uint64_t address, const struct elf_found *found)
{
    bool is_listed = false;

    for (size_t i = 0; i < function_count; i++) {
        const struct listed *function = &functions[i];
        is_listed = is_listed || (function->address == found->start &&
                                  !strncmp(function->name, found->name.data,
                                           sizeof(function->name) - 1));
        ALWAYS(!function->is_strong || function->address > address || function->end <= address ||
               function->address <= found->start);
    }
    ALWAYS(is_listed || found->name.length > 64); /* long names that share bytes are not listed */
}

static bool has_one_table(const struct elf *elf)
{
    return function_count < MOST_FUNCTIONS && elf_section_of_type(elf, SHT_SYMTAB) &&
           !elf_section_of_type(elf, SHT_DYNSYM) && !elf->dynamic.file_size;
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

static void try_notes(const struct elf *elf, uint64_t size)
{
    unsigned char id[ELF_LONGEST_BUILD_ID];
    size_t length, notes = 0;

    (void)elf_each_note(elf, ".note.stapsdt", look_at_note, &notes);
    (void)elf_each_note(elf, ".note.gnu.build-id", look_at_note, &notes);
    /* A note has at least twelve bytes; many segments may share one part of the file. */
    ALWAYS(notes <= (elf->note_count + 2) * 2 * (size / 12 + 1));
    int result = elf_build_id(elf, id, &length);
    ALWAYS(result < 0 ? !length || result != -2 : length && length <= sizeof(id));
}

static int count_needed(void *context, const char *name)
{
    ALWAYS(strlen(name) < (size_t)-1);
    return ++*(size_t *)context > 16384;
}

/* Which libraries it needs, and its build id. */
static void try_identity(const struct elf *elf, uint64_t size)
{
    struct file_identity identity;
    size_t needed = 0;

    ALWAYS(elf_each_needed(elf, count_needed, &needed) <= 0 && needed <= size);
    if (!identity_read(elf, &identity)) {
        ALWAYS(identity.kind != IDENTITY_BUILD_ID || (identity.id_length && identity.id_length <= sizeof(identity.id)));
        ALWAYS(identity.kind != IDENTITY_HASH || identity.size == size);
    }
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

/* The file's own names, and those of a debug file that does not exist. */
static void try_names(const struct elf *elf, struct asked *asked)
{
    static const struct debug_search where = {.path = "/nowhere/input"};
    static struct elf_found found[MOST_ADDRESSES], none;

    function_count = 0;
    (void)elf_each_function(elf, ask_about, asked);
    asked->count = fuzz_sort(asked->addresses, asked->count);
    int result = debug_files_find(elf, &where, asked->addresses, asked->count, found);
    for (size_t i = 0; i < asked->count; i++) {
        const struct text *name = &found[i].name;
        if (result || !found[i].found)
            continue;
        ALWAYS(found[i].start <= asked->addresses[i]);
        ALWAYS(name->length && strlen(name->data) == name->length);
        if (has_one_table(elf) && !memmem(name->data, name->length, "@plt", 4))
            check_found(asked->addresses[i], &found[i]);
    }
    elf_found_free(found, asked->count);
    for (size_t i = 0; i < asked->count; i++)
        found[i] = none;
}

/* Takes the input as its own unpacked .gnu_debugdata, past the checksums of the packed form. */
static void try_unpacked(struct elf *elf, const uint8_t *data, size_t size)
{
    struct elf_unpacked unpacked = {.kind = UNPACKED_IMAGE, .image_tried = true};
    struct asked asked = {.addresses = {0, UINT64_MAX}, .count = 2};

    text_append(&unpacked.parts[0], (const char *)data, size);
    ALWAYS(!unpacked.parts[0].failed);
    for (size_t i = 0; i < elf->section_count; i++)
        if (elf->sections[i].type == SHT_SYMTAB)
            elf->sections[i].type = SHT_NULL;
    elf->unpacked = &unpacked;
    try_names(elf, &asked);
    elf_unpacked_free(&unpacked);
}

/* Several times the tables, read piece by piece; of a hole what reading_budget() allows. */
const struct fuzz_line fuzz_lines[FUZZ_COSTS] = {
    [FUZZ_BYTES] = {256 << 10, 64, 80 << 20},
    [FUZZ_READS] = {1000, 4, 2 << 17},
    [FUZZ_TIME] = {20000, 20, 2000000},
};

void fuzz_input(const uint8_t *data, size_t size)
{
    struct asked asked = {.addresses = {0, UINT64_MAX}, .count = 2};
    struct elf_unpacked unpacked = {0};
    struct elf elf;
    uint64_t whole;

    if (elf_open(&elf, fuzz_sparse_file(data, size, &whole)))
        return;
    elf.unpacked = &unpacked;
    try_notes(&elf, whole);
    try_identity(&elf, whole);
    try_places(&elf, &asked);
    try_names(&elf, &asked);
    elf_unpacked_free(&unpacked);
    try_unpacked(&elf, data, size);
    elf_close(&elf);
}
