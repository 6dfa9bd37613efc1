/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "elf/frame_entries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* ---- Sections ---- */

/* No linker makes more: libLLVM has 5 MB. */
#define MOST_SECTION_BYTES (256u << 20)

/* The section's bytes from `at` up to `end`. */
static struct cfi_bytes frame_bytes(const struct frame_section *section, size_t at, size_t end)
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
    if (!size)
        return 0;
    if (size > MOST_SECTION_BYTES)
        return -E2BIG;
    int result = elf_has(section->elf, offset, size);
    if (result)
        return result;
    section->bytes = malloc((size_t)size);
    result =
        section->bytes ? elf_read(section->elf, offset, section->bytes, (size_t)size) : -ENOMEM;
    if (!result) {
        section->size = (size_t)size;
        return 0;
    }
    free(section->bytes);
    section->bytes = NULL;
    return result;
}

/* Its size is 0 if the file lacks the section, or has its header but not its bytes. */
static int read_section(struct frame_section *section, const struct elf *elf, const char *name,
                        bool is_debug)
{
    const struct elf_section *found = elf_section(elf, name);

    *section = (struct frame_section){.elf = elf, .is_debug = is_debug};
    if (!found || found->type == SHT_NOBITS || found->flags & SHF_COMPRESSED)
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
    return 0;
}

/* PT_GNU_EH_FRAME has .eh_frame_hdr, which tells the address of .eh_frame, but not its end. */
static int read_by_segment(struct frame_sections *sections, const struct elf *elf)
{
    sections->table = sections->order = (struct frame_section){.elf = elf};
    int result = read_loaded(&sections->order, elf->frames.address, elf->frames.file_size);
    if (result || !sections->order.size)
        return result;
    struct cfi_bytes bytes = frame_bytes(&sections->order, 0, sections->order.size);
    cfi_skip(&bytes, 1); /* its version */
    const unsigned encoding = (unsigned)cfi_take(&bytes, 1);
    cfi_skip(&bytes, 2);
    const uint64_t address = cfi_take_pointer(&bytes, encoding, sections->order.address);
    return bytes.bad ? 0 : read_loaded(&sections->table, address, MOST_SECTION_BYTES);
}

/* ---- All of them ---- */

static int read_table(struct frame_sections *sections, const struct elf *elf)
{
    if (!elf_section(elf, ".eh_frame"))
        return read_by_segment(sections, elf);
    int result = read_section(&sections->table, elf, ".eh_frame", false);
    if (!result && sections->table.size &&
        read_section(&sections->order, elf, ".eh_frame_hdr", false) == -ENOMEM)
        result = -ENOMEM;
    return result;
}

int frame_sections_read(struct frame_sections *sections, const struct elf *elf)
{
    uint64_t address, size;

    *sections = (struct frame_sections){0};
    int result = read_table(sections, elf);
    /* Go's .debug_frame is not needed: its code keeps frame pointers, which are exact, too. */
    if (result || frame_go_text(elf, &address, &size))
        return result;
    result = read_section(&sections->debug, elf, ".debug_frame", true);
    if (HAS_EXIDX && elf->machine == EM_ARM && !result)
        result = read_section(&sections->index, elf, ".ARM.exidx", false);
    const bool any = sections->table.size || sections->debug.size || sections->index.size;
    return result || any ? result : -ENOENT;
}

void frame_sections_free(struct frame_sections *sections)
{
    free(sections->table.bytes);
    free(sections->order.bytes);
    free(sections->debug.bytes);
    free(sections->index.bytes);
    *sections = (struct frame_sections){0};
}

/* ---- Entries ---- */

/*
 * A table's entries follow one another, so its bytes are read once, and those of its CIEs once more
 * per function. A table with overlapping entries exceeds this and is not read further.
 */
#define MOST_READINGS 8
#define SOME_BYTES 65536

#define OMITTED 0xff /* DW_EH_PE_omit */

/* A CIE or an FDE. */
struct entry {
    size_t body, end; /* in the section: what follows its id, and its end */
    size_t common;    /* of an FDE: where its CIE is */
    bool is_common;
};

/* False: there is none, or none that is valid. */
static bool read_entry(const struct frame_section *section, size_t at, struct entry *entry)
{
    struct cfi_bytes bytes;
    bool is_wide;
    uint64_t length, id;

    if (at >= section->size)
        return false;
    bytes = frame_bytes(section, at, section->size);
    length = cfi_take(&bytes, 4);
    is_wide = length == 0xffffffff;
    if (is_wide)
        length = cfi_take(&bytes, 8);
    const size_t begin = (size_t)(bytes.at - section->bytes);
    if (bytes.bad || !length || length > section->size - begin)
        return false;
    bytes.end = bytes.at + length;
    const size_t id_size = section->is_debug && is_wide ? 8 : 4;
    id = cfi_take(&bytes, id_size);
    *entry = (struct entry){
        .body = begin + id_size,
        .end = begin + (size_t)length,
        .is_common = section->is_debug ? id == (is_wide ? UINT64_MAX : UINT32_MAX) : !id,
        .common = section->is_debug ? (size_t)id : begin - (size_t)id,
    };
    return !bytes.bad;
}

/* Reads a CIE's augmentation data, letter by letter. */
static void read_augmentation(struct cfi_bytes *bytes, const char *letters,
                              struct cfi_common *common)
{
    const uint64_t size = cfi_take_uleb(bytes);
    struct cfi_bytes data = *bytes;

    cfi_skip(bytes, size);
    data.address -= (uint64_t)(data.end - bytes->at);
    data.end = bytes->at;
    for (const char *letter = letters + 1; *letter && !data.bad; letter++) {
        if (*letter == 'R')
            common->encoding = (unsigned)cfi_take(&data, 1);
        else if (*letter == 'L')
            cfi_take(&data, 1);
        else if (*letter == 'S')
            common->is_signal = true;
        else if (*letter == 'P') {
            unsigned encoding = (unsigned)cfi_take(&data, 1);
            if (encoding != OMITTED)
                cfi_take_pointer(&data, encoding & 0x0f, 0);
        } else if (*letter != 'B')
            break; /* the rest cannot be parsed */
    }
    bytes->bad = bytes->bad || data.bad;
}

static int read_common(const struct frame_section *section, const struct entry *entry,
                       struct cfi_common *common)
{
    struct cfi_bytes bytes = frame_bytes(section, entry->body, entry->end);
    const unsigned version = (unsigned)cfi_take(&bytes, 1);
    const char *letters = (const char *)bytes.at;
    const size_t length = strnlen(letters, (size_t)(bytes.end - bytes.at));

    *common = (struct cfi_common){0};
    cfi_skip(&bytes, length + 1);
    if (bytes.bad || (version != 1 && version != 3 && version != 4) ||
        (*letters && *letters != 'z'))
        return -EBADMSG;
    if (version == 4 && (cfi_take(&bytes, 1) != elf_word_size(section->elf) || cfi_take(&bytes, 1)))
        return -EBADMSG;
    common->code_factor = cfi_take_uleb(&bytes);
    common->data_factor = cfi_take_sleb(&bytes);
    common->return_register = version == 1 ? cfi_take(&bytes, 1) : cfi_take_uleb(&bytes);
    common->has_augmentation = *letters;
    if (common->has_augmentation)
        read_augmentation(&bytes, letters, common);
    if (bytes.bad)
        return -EBADMSG;
    /* Nothing precedes a CIE's instructions: a restore among them changes nothing. */
    return cfi_run(common, &bytes, &common->state, 0, NULL, NULL);
}

/* ---- One after another ---- */

/* A cache of CIEs: many functions share a CIE, and some CIEs alternate. */
#define COMMONS 8

struct reading {
    const struct frame_section *section;
    bool is_index; /* .ARM.exidx */
    frame_callback *each;
    void *context;
    uint64_t skipped, budget; /* bytes that may still be read */
    struct {
        bool is_known;
        size_t at;
        struct cfi_common common;
    } commons[COMMONS];
};

static struct reading reading_of(const struct frame_section *section, frame_callback *each,
                                 void *context)
{
    return (struct reading){
        .section = section,
        .each = each,
        .context = context,
        .budget = (uint64_t)section->size * MOST_READINGS + SOME_BYTES,
    };
}

static bool spend(struct reading *reading, uint64_t bytes)
{
    const bool may = bytes <= reading->budget;

    reading->budget = may ? reading->budget - bytes : 0;
    return may;
}

static const struct cfi_common *common_at(struct reading *reading, size_t at)
{
    const size_t slot = (at ^ at >> 6) / 4 % COMMONS;
    struct entry entry;

    if (reading->commons[slot].is_known && reading->commons[slot].at == at)
        return &reading->commons[slot].common;
    reading->commons[slot].is_known = false;
    if (!read_entry(reading->section, at, &entry) || !entry.is_common ||
        !spend(reading, entry.end - at) ||
        read_common(reading->section, &entry, &reading->commons[slot].common))
        return NULL;
    reading->commons[slot].is_known = true;
    reading->commons[slot].at = at;
    return &reading->commons[slot].common;
}

/* -EBADMSG: this function's entry is damaged. */
static int see_function(struct reading *reading, size_t at)
{
    const struct frame_section *section = reading->section;
    struct frame_entry function = {.is_debug = section->is_debug};
    struct entry entry;
    uint64_t size;

    if (!read_entry(section, at, &entry) || entry.is_common || !spend(reading, entry.end - at))
        return -EBADMSG;
    function.common = common_at(reading, entry.common);
    if (!function.common)
        return -EBADMSG;
    struct cfi_bytes *bytes = &function.program;
    *bytes = frame_bytes(section, entry.body, entry.end);
    function.start = cfi_take_pointer(bytes, function.common->encoding, 0);
    size = cfi_take_pointer(bytes, function.common->encoding & 0x0f, 0);
    if (function.common->has_augmentation)
        cfi_skip(bytes, cfi_take_uleb(bytes));
    if (bytes->bad || __builtin_add_overflow(function.start, size, &function.end))
        return -EBADMSG;
    /* Linkers leave debug information of dropped functions at address 0. */
    if (!size || (section->is_debug && !function.start))
        return 0;
    return reading->each(reading->context, &function);
}

static int see(struct reading *reading, size_t at)
{
    int result = HAS_EXIDX && reading->is_index
                     ? frame_exidx_see(reading->section, at, reading->each, reading->context)
                     : see_function(reading, at);

    reading->skipped += result == -EBADMSG;
    return result == -EBADMSG ? 0 : result;
}

/* ---- In the file's order ---- */

/*
 * .eh_frame_hdr has a table of all functions by address: pairs of 32-bit numbers, relative to the
 * section. Returns their number, and the first in *pairs, if the form is this and addresses rise.
 */
static size_t find_sorted(const struct frame_section *order, const unsigned char **pairs)
{
    static const unsigned char form[] = {0x03, 0x3b}; /* the count's encoding, and the table's */
    size_t count;

    /* The table follows the address of .eh_frame, which all linkers write in four bytes. */
    if (order->size < 12 || order->bytes[0] != 1 || (order->bytes[1] & 0x0f) != 0x0b ||
        memcmp(order->bytes + 2, form, sizeof(form)))
        return 0;
    count = elf_get32(order->elf, order->bytes + 8);
    *pairs = order->bytes + 12;
    if (count > (order->size - 12) / 8)
        return 0;
    for (size_t i = 1; i < count; i++)
        if ((int32_t)elf_get32(order->elf, *pairs + i * 8) <
            (int32_t)elf_get32(order->elf, *pairs + (i - 1) * 8))
            return 0;
    return count;
}

static int see_sorted(struct reading *reading, const struct frame_section *order,
                      const unsigned char *pairs, size_t count)
{
    int result = 0;

    for (size_t i = 0; i < count && !result; i++) {
        const int64_t distance = (int32_t)elf_get32(order->elf, pairs + i * 8 + 4);
        const uint64_t at = order->address + (uint64_t)distance - reading->section->address;
        if (at < reading->section->size)
            result = see(reading, (size_t)at);
        else
            reading->skipped++;
    }
    return result;
}

/* ---- Without it: all are looked at, and sorted ---- */

enum table { TABLE_FRAMES, TABLE_DEBUG, TABLE_INDEX, TABLES };

struct found {
    uint64_t start;
    size_t at;
    enum table table;
};

static int compare_found(const void *left, const void *right)
{
    const struct found *a = left, *b = right;

    return order_of(a->start, b->start) ?: order_of(a->table, b->table) ?: order_of(a->at, b->at);
}

struct gathering {
    struct found *found;
    size_t count, room, at;
};

static int add(struct gathering *gathering, uint64_t start, enum table table)
{
    if (ARRAY_RESERVE(gathering->found, gathering->room, gathering->count + 1))
        return -ENOMEM;
    gathering->found[gathering->count++] = (struct found){start, gathering->at, table};
    return 0;
}

static int gather(void *context, const struct frame_entry *entry)
{
    return add(context, entry->start, entry->is_debug ? TABLE_DEBUG : TABLE_FRAMES);
}

static int gather_index(struct gathering *gathering, const struct frame_section *index)
{
    uint64_t start;
    int result = 0;

    for (size_t at = 0; at < index->size && !result; at += FRAME_EXIDX_BYTES) {
        gathering->at = at;
        if (frame_exidx_start(index, at, &start))
            result = add(gathering, start, TABLE_INDEX);
    }
    return result;
}

static int gather_all(struct gathering *gathering, struct reading *of)
{
    const struct frame_section *section = of->section;
    struct reading reading = reading_of(section, gather, gathering);
    struct entry entry;
    int result = 0;

    for (size_t at = 0; read_entry(section, at, &entry) && !result; at = entry.end) {
        gathering->at = at;
        if (!entry.is_common)
            result = see(&reading, at);
    }
    of->skipped += reading.skipped;
    return result;
}

static void sort(struct gathering *gathering)
{
    for (size_t i = 1; i < gathering->count; i++)
        if (compare_found(&gathering->found[i - 1], &gathering->found[i]) > 0) {
            qsort(gathering->found, gathering->count, sizeof(*gathering->found), compare_found);
            return;
        }
}

static int see_unsorted(struct reading readings[TABLES])
{
    struct gathering gathering = {0};
    int result = gather_all(&gathering, &readings[TABLE_FRAMES]);

    if (!result)
        result = gather_all(&gathering, &readings[TABLE_DEBUG]);
    if (HAS_EXIDX && !result)
        result = gather_index(&gathering, readings[TABLE_INDEX].section);
    sort(&gathering);
    for (size_t i = 0; i < gathering.count && !result; i++)
        result = see(&readings[gathering.found[i].table], gathering.found[i].at);
    free(gathering.found);
    return result;
}

int frame_each(const struct frame_sections *sections, frame_callback *each, void *context,
               uint64_t *skipped)
{
    struct reading readings[TABLES] = {
        [TABLE_FRAMES] = reading_of(&sections->table, each, context),
        [TABLE_DEBUG] = reading_of(&sections->debug, each, context),
        [TABLE_INDEX] = reading_of(&sections->index, each, context),
    };
    const unsigned char *pairs;
    readings[TABLE_INDEX].is_index = true;
    const bool is_alone = !sections->debug.size && !sections->index.size;
    const size_t count = is_alone ? find_sorted(&sections->order, &pairs) : 0;
    int result = count ? see_sorted(&readings[TABLE_FRAMES], &sections->order, pairs, count)
                       : see_unsorted(readings);

    for (unsigned i = 0; i < TABLES; i++)
        *skipped += readings[i].skipped;
    return result;
}
