/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "elf/elf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/reading.h"
#include "base/util.h"
#include "machine/machine.h"
#include "sandbox/sandbox.h"

/*
 * Linkers never make this many segments, each of which may be searched for each symbol; and more
 * sections only in object files.
 */
#define MOST_SEGMENTS 512
#define MOST_SECTIONS 131072
/* What a read costs the budget besides its bytes. */
#define READ_COST 512

int elf_note_trouble(const struct elf *elf, int error)
{
    bool is_ours = error == -EIO || error == -ENOMEM || error == -ETIME || error == -EMFILE ||
                   error == -ENFILE;

    if (elf->trouble && is_ours && !*elf->trouble)
        *elf->trouble = error;
    return error;
}

static int read_unpacked(const struct elf_unpacked *unpacked, uint64_t at, void *to, size_t size)
{
    const struct text *part = &unpacked->parts[at >= ELF_UNPACKED_MORE];
    const uint64_t from = at - (at >= ELF_UNPACKED_MORE ? ELF_UNPACKED_MORE : ELF_UNPACKED);

    if (from > part->length || size > part->length - from)
        return -ENOEXEC;
    if (size)
        memcpy(to, part->data + from, size);
    return 0;
}

void elf_renew_budget(const struct elf *elf)
{
    struct stat about;

    if (elf->budget && !fstat(elf->fd, &about))
        *elf->budget = reading_budget(elf->fd, &about);
}

int elf_spend(const struct elf *elf, uint64_t bytes)
{
    if (!elf->budget)
        return 0;
    const bool may = bytes <= *elf->budget;
    *elf->budget = may ? *elf->budget - bytes : 0;
    return may ? 0 : elf_note_trouble(elf, -ETIME);
}

int elf_read(const struct elf *elf, uint64_t offset, void *to, size_t size)
{
    uint64_t at;
    char *bytes = to;

    if (__builtin_add_overflow(elf->base, offset, &at))
        return -ENOEXEC;
    if (at >= ELF_UNPACKED && elf->unpacked)
        return read_unpacked(elf->unpacked, at, to, size);
    if (at > INT64_MAX || size > INT64_MAX - at)
        return -ENOEXEC;
    if (elf_spend(elf, READ_COST + (uint64_t)size))
        return -ETIME;
    while (size) {
        const ssize_t got = UNINTERRUPTED(pread(elf->fd, bytes, size, (off_t)at));
        if (got <= 0)
            return elf_note_trouble(elf, got ? -errno : -ENOEXEC);
        bytes += got;
        at += (uint64_t)got;
        size -= (size_t)got;
    }
    return 0;
}

int elf_has(const struct elf *elf, uint64_t offset, uint64_t size)
{
    unsigned char last;

    return size ? elf_read(elf, offset + (size - 1), &last, 1) : 0;
}

uint64_t elf_get(const struct elf *elf, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    bool big = elf->swapped == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    uint64_t value = 0;

    for (size_t i = 0; i < size; i++)
        value = value << 8 | at[big ? i : size - 1 - i];
    return value;
}

uint64_t elf_field(const struct elf *elf, const void *bytes, uint32_t places)
{
    uint32_t place = elf->is_64 ? places & 0xffff : places >> 16;

    return elf_get(elf, (const unsigned char *)bytes + (place >> 4), place & 15);
}

/* ---- The headers ---- */

static int read_ident(struct elf *elf)
{
    unsigned char ident[EI_NIDENT];
    int result = elf_read(elf, 0, ident, sizeof(ident));

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
    uint64_t offset, entry_size, count;
};

struct tables {
    struct table segments, sections;
    uint64_t section_names;
};

static int read_header(struct elf *elf, struct tables *tables)
{
    unsigned char header[sizeof(Elf64_Ehdr)];
    int result = elf_read(elf, 0, header, ELF_SIZE(elf, Ehdr));

    if (result)
        return result;
    elf->type = (uint16_t)ELF_FIELD(elf, header, Ehdr, e_type);
    elf->machine = (uint16_t)ELF_FIELD(elf, header, Ehdr, e_machine);
    elf->entry = ELF_FIELD(elf, header, Ehdr, e_entry);
    elf->row = machine_of(elf->machine);
    elf->has_thumb =
        elf->row->marks.thumb || ELF_FIELD(elf, header, Ehdr, e_flags) & elf->row->compressed;
    tables->segments = (struct table){ELF_FIELD(elf, header, Ehdr, e_phoff),
                                      ELF_FIELD(elf, header, Ehdr, e_phentsize),
                                      ELF_FIELD(elf, header, Ehdr, e_phnum)};
    tables->sections = (struct table){ELF_FIELD(elf, header, Ehdr, e_shoff),
                                      ELF_FIELD(elf, header, Ehdr, e_shentsize),
                                      ELF_FIELD(elf, header, Ehdr, e_shnum)};
    tables->section_names = ELF_FIELD(elf, header, Ehdr, e_shstrndx);
    return 0;
}

/* One entry of a table; `size` bytes of it are read. */
static int read_entry(const struct elf *elf, const struct table *table, uint64_t index, void *to,
                      size_t size)
{
    uint64_t offset;

    if (__builtin_mul_overflow(index, table->entry_size, &offset) ||
        __builtin_add_overflow(offset, table->offset, &offset))
        return -ENOEXEC;
    return elf_read(elf, offset, to, size);
}

static int read_section(const struct elf *elf, const struct table *table, uint64_t index,
                        struct elf_section *section)
{
    unsigned char header[sizeof(Elf64_Shdr)];
    int result = read_entry(elf, table, index, header, ELF_SIZE(elf, Shdr));

    if (result)
        return result;
    *section = (struct elf_section){
        .name = (uint32_t)ELF_FIELD(elf, header, Shdr, sh_name),
        .type = (uint32_t)ELF_FIELD(elf, header, Shdr, sh_type),
        .link = (uint32_t)ELF_FIELD(elf, header, Shdr, sh_link),
        .info = (uint32_t)ELF_FIELD(elf, header, Shdr, sh_info),
        .flags = ELF_FIELD(elf, header, Shdr, sh_flags),
        .address = ELF_FIELD(elf, header, Shdr, sh_addr),
        .offset = ELF_FIELD(elf, header, Shdr, sh_offset),
        .size = ELF_FIELD(elf, header, Shdr, sh_size),
        .entry_size = ELF_FIELD(elf, header, Shdr, sh_entsize),
    };
    return 0;
}

/* Counts that are too large for the file's header are in the first section's header. */
static void read_great_counts(const struct elf *elf, struct tables *tables)
{
    struct elf_section first;

    if (!tables->sections.offset || tables->sections.entry_size < ELF_SIZE(elf, Shdr)) {
        tables->sections.count = 0;
        return;
    }
    if ((tables->sections.count && tables->segments.count != PN_XNUM &&
         tables->section_names != SHN_XINDEX) ||
        read_section(elf, &tables->sections, 0, &first))
        return;
    if (!tables->sections.count)
        tables->sections.count = first.size;
    if (tables->segments.count == PN_XNUM)
        tables->segments.count = first.info;
    if (tables->section_names == SHN_XINDEX)
        tables->section_names = first.link;
}

/* If section headers are cut off, the file is read without them: segments say what is loaded. */
static int read_sections(struct elf *elf, const struct tables *tables)
{
    const size_t count = (size_t)tables->sections.count;
    struct elf_section last;

    if (!count || tables->sections.count > MOST_SECTIONS)
        return 0;
    /* Before allocating: does the file have all of them? */
    int result = read_section(elf, &tables->sections, count - 1, &last);
    if (!result && !(elf->sections = calloc(count, sizeof(*elf->sections))))
        return -ENOMEM;
    for (size_t i = 0; i < count && !result; i++)
        result = read_section(elf, &tables->sections, i, &elf->sections[i]);
    if (!result) {
        elf->section_count = count;
        elf->section_names = tables->section_names < count ? (size_t)tables->section_names : 0;
        return 0;
    }
    free(elf->sections);
    elf->sections = NULL;
    return result == -ENOEXEC ? 0 : result;
}

static int read_segment(struct elf *elf, const struct table *table, uint64_t index)
{
    unsigned char header[sizeof(Elf64_Phdr)];
    int result = read_entry(elf, table, index, header, ELF_SIZE(elf, Phdr));

    if (result)
        return result;
    const uint64_t type = ELF_FIELD(elf, header, Phdr, p_type);
    const struct elf_segment segment = {
        .offset = ELF_FIELD(elf, header, Phdr, p_offset),
        .file_size = ELF_FIELD(elf, header, Phdr, p_filesz),
        .address = ELF_FIELD(elf, header, Phdr, p_vaddr),
        .memory_size = ELF_FIELD(elf, header, Phdr, p_memsz),
        .flags = (uint32_t)ELF_FIELD(elf, header, Phdr, p_flags),
    };
    if (type == PT_LOAD)
        elf->segments[elf->segment_count++] = segment;
    else if (type == PT_NOTE)
        elf->notes[elf->note_count++] = segment;
    else if (type == PT_DYNAMIC)
        elf->dynamic = segment;
    else if (type == PT_GNU_EH_FRAME)
        elf->frames = segment;
    return 0;
}

static int read_segments(struct elf *elf, const struct table *table)
{
    int result = 0;

    if (!table->count)
        return 0; /* an object file */
    if (table->entry_size < ELF_SIZE(elf, Phdr) || table->count > MOST_SEGMENTS)
        return -ENOEXEC;
    elf->segments = calloc((size_t)table->count, sizeof(*elf->segments));
    elf->notes = calloc((size_t)table->count, sizeof(*elf->notes));
    if (!elf->segments || !elf->notes)
        return -ENOMEM;
    for (uint64_t i = 0; i < table->count && !result; i++)
        result = read_segment(elf, table, i);
    return result;
}

/* An unpacked image is in memory, so it is not charged for file reads. */
static int set_budget(struct elf *elf)
{
    if (elf->fd < 0)
        return 0;
    elf->budget = calloc(1, sizeof(*elf->budget));
    if (!elf->budget)
        return -ENOMEM;
    elf_renew_budget(elf);
    return 0;
}

static int open_parts(struct elf *elf)
{
    struct tables tables;
    int result = set_budget(elf);
    if (!result)
        result = read_ident(elf);
    if (!result)
        result = read_header(elf, &tables);
    if (!result) {
        read_great_counts(elf, &tables);
        result = read_segments(elf, &tables.segments);
    }
    if (!result)
        result = read_sections(elf, &tables);
    if (result)
        elf_close(elf);
    return elf_note_trouble(elf, result);
}

int elf_open_watched(struct elf *elf, int fd, uint64_t base, int *trouble)
{
    *elf = (struct elf){.fd = sandbox_readable(fd), .base = base, .trouble = trouble};
    return open_parts(elf);
}

int elf_open_unpacked(struct elf *elf, struct elf_unpacked *unpacked, int *trouble)
{
    *elf = (struct elf){.fd = -1, .base = ELF_UNPACKED, .trouble = trouble, .unpacked = unpacked};
    return open_parts(elf);
}

int elf_open(struct elf *elf, int fd)
{
    return elf_open_watched(elf, fd, 0, NULL);
}

void elf_close(struct elf *elf)
{
    free(elf->segments);
    free(elf->notes);
    free(elf->sections);
    free(elf->budget);
    elf->budget = NULL;
    elf->segments = elf->notes = NULL;
    elf->sections = NULL;
    elf->segment_count = elf->note_count = elf->section_count = 0;
}

int elf_own_class(int fd)
{
    unsigned char head[20];

    if (pread(fd, head, sizeof(head), 0) != sizeof(head) || memcmp(head, ELFMAG, SELFMAG))
        return 0;
    bool is_big = head[EI_DATA] == ELFDATA2MSB;
    int machine = is_big ? head[18] << 8 | head[19] : head[19] << 8 | head[18];
    return machine_is_ours((uint16_t)machine) ? head[EI_CLASS] : 0;
}

/* ---- What is where ---- */

/* The best segment with that address or offset; NULL: none. */
static const struct elf_segment *segment_with(const struct elf *elf, uint64_t place,
                                              bool is_address)
{
    const struct elf_segment *best = NULL;

    for (size_t i = 0; i < elf->segment_count; i++) {
        const struct elf_segment *segment = &elf->segments[i];
        const uint64_t start = is_address ? segment->address : segment->offset;
        if (place >= start && place - start < segment->file_size &&
            (!best || (segment->flags & ~best->flags & PF_X)))
            best = segment;
    }
    return best;
}

bool elf_address_of(const struct elf *elf, uint64_t offset, uint64_t *address)
{
    const struct elf_segment *best = segment_with(elf, offset, false);

    if (best)
        *address = best->address + (offset - best->offset);
    return best;
}

bool elf_offset_of(const struct elf *elf, uint64_t address, uint64_t *offset)
{
    const struct elf_segment *best = segment_with(elf, address, true);

    if (best)
        *offset = best->offset + (address - best->address);
    return best;
}

const struct elf_segment *elf_code_at(const struct elf *elf, uint64_t address)
{
    for (size_t i = 0; i < elf->segment_count; i++) {
        const struct elf_segment *segment = &elf->segments[i];
        if (segment->flags & PF_X && address >= segment->address &&
            address - segment->address < segment->memory_size)
            return segment;
    }
    return NULL;
}

bool elf_code_offset(const struct elf *elf, uint64_t address, uint64_t size, uint64_t *offset)
{
    const struct elf_segment *segment = elf_code_at(elf, address);
    const uint64_t distance = segment ? address - segment->address : 0;

    if (!segment || distance >= segment->file_size || size > segment->file_size - distance ||
        segment->offset > UINT64_MAX - segment->file_size)
        return false;
    *offset = segment->offset + distance;
    return true;
}

bool elf_is_named(const struct elf *elf, const struct elf_section *section, const char *name,
                  size_t size)
{
    const struct elf_section *names = &elf->sections[elf->section_names];
    char bytes[64];

    return elf->section_names && size <= sizeof(bytes) && names->type != SHT_NOBITS &&
           section->name < names->size && size <= names->size - section->name &&
           names->offset <= UINT64_MAX - section->name &&
           !elf_read(elf, names->offset + section->name, bytes, size) && !memcmp(bytes, name, size);
}

/* Few files have longer name tables, so all names are read at once. */
static bool read_names(const struct elf *elf, char *bytes, size_t most)
{
    const struct elf_section *names = &elf->sections[elf->section_names];

    return elf->section_names && names->type != SHT_NOBITS && names->size <= most &&
           !elf_read(elf, names->offset, bytes, (size_t)names->size);
}

const struct elf_section *elf_section(const struct elf *elf, const char *name)
{
    char bytes[2048];
    const size_t size = strlen(name) + 1;
    const bool is_read = elf->section_count && read_names(elf, bytes, sizeof(bytes));
    const uint64_t end = is_read ? elf->sections[elf->section_names].size : 0;

    for (size_t i = 1; i < elf->section_count; i++) {
        const struct elf_section *section = &elf->sections[i];
        if (is_read ? section->name < end && size <= end - section->name &&
                          !memcmp(bytes + section->name, name, size)
                    : elf_is_named(elf, section, name, size))
            return section;
    }
    return NULL;
}

const struct elf_section *elf_section_of_type(const struct elf *elf, uint32_t type)
{
    for (size_t i = 1; i < elf->section_count; i++)
        if (elf->sections[i].type == type)
            return &elf->sections[i];
    return NULL;
}

/* ---- Notes ---- */

#define HEADER_BYTES 12
/* More than the notes of any file have; and the limits of a note's owner and descriptor. */
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

/* Delivers the note at `offset`; `left` bytes are left in the section. *used: its length. */
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
    /* A shorter rest is padding, which the last note may lack. */
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

/* ---- Needed libraries ---- */

#define MOST_ENTRIES 4096

int elf_dynamic_entry(const struct elf *elf, uint64_t number, uint64_t *tag, uint64_t *value)
{
    unsigned char bytes[sizeof(Elf64_Dyn)];
    const size_t size = ELF_SIZE(elf, Dyn);
    const struct elf_segment *dynamic = &elf->dynamic;

    *tag = DT_NULL;
    if (number >= MOST_ENTRIES || number >= dynamic->file_size / size)
        return 0;
    if (dynamic->offset > UINT64_MAX - number * size)
        return -ENOEXEC;
    int result = elf_read(elf, dynamic->offset + number * size, bytes, size);
    if (result)
        return result;
    *value = ELF_FIELD(elf, bytes, Dyn, d_un.d_val);
    *tag = ELF_FIELD(elf, bytes, Dyn, d_tag);
    return 0;
}

/* False: there are no more entries. An entry that cannot be read ends them. */
static bool next_entry(const struct elf *elf, uint64_t number, uint64_t *tag, uint64_t *value)
{
    (void)elf_dynamic_entry(elf, number, tag, value);
    return *tag != DT_NULL;
}

/* False: it leads out of the table, or is too long. */
static bool read_name(const struct elf *elf, uint64_t names, uint64_t names_size, uint64_t at,
                      char name[ELF_LONGEST_NEEDED + 1])
{
    if (at >= names_size)
        return false;
    uint64_t size = names_size - at;
    if (size > ELF_LONGEST_NEEDED + 1)
        size = ELF_LONGEST_NEEDED + 1;
    return !elf_read(elf, names + at, name, (size_t)size) && memchr(name, '\0', (size_t)size) &&
           *name;
}

int elf_each_needed(const struct elf *elf, elf_needed_callback *each, void *context)
{
    char name[ELF_LONGEST_NEEDED + 1];
    uint64_t tag, value, names = 0, names_size = 0;
    int result = 0;

    for (uint64_t i = 0; next_entry(elf, i, &tag, &value); i++) {
        if (tag == DT_STRTAB && !elf_offset_of(elf, value, &names))
            break;
        if (tag == DT_STRSZ)
            names_size = value;
    }
    for (uint64_t i = 0; !result && next_entry(elf, i, &tag, &value); i++)
        if (tag == DT_NEEDED && read_name(elf, names, names_size, value, name))
            result = each(context, name);
    return result;
}
