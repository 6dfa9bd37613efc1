/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "elf/frame_gaps.h"

#include <stdlib.h>
#include <string.h>

#include "elf/frame_go.h"
#include "elf/frame_v8.h"
#include "elf/frame_vdso.h"

/* The dynamic linker's entry code is 61 bytes long and calls twice. */
#define ENTRY_BYTES 64
#define PLT_ENTRY 16
/* How much of a file is searched at least: all of musl's libc, twice. */
#define LEAST_SEARCHED 4096
#define MOST_SEARCHED (1u << 20)

static struct unwind_rule by_sp(int32_t offset)
{
    return (struct unwind_rule){
        .cfa = UNWIND_BY_SP,
        .offset = offset,
        .ret = -8,
        .base = UNWIND_BASE_SAME,
    };
}

void frame_add_row(struct frame_gap *gap, uint64_t distance, struct unwind_rule rule)
{
    gap->rows[gap->count].offset = gap->offset + distance;
    gap->rows[gap->count++].rule = rule;
}

bool frame_place_gap(const struct elf *elf, uint64_t address, uint64_t size, struct frame_gap *gap)
{
    const struct elf_segment *segment = elf_code_at(elf, address);
    uint64_t end;

    if (!segment || address < segment->address || address - segment->address >= segment->file_size ||
        size > segment->file_size - (address - segment->address) ||
        __builtin_add_overflow(segment->offset, segment->file_size, &end))
        return false;
    gap->offset = address - segment->address + segment->offset;
    gap->size = size;
    return true;
}

uint64_t frame_find_code(const struct elf *elf, uint64_t code, uint64_t offset, uint64_t size)
{
    unsigned char *bytes = malloc((size_t)size);
    uint64_t found = 0;

    if (bytes && !elf_read(elf, offset, bytes, (size_t)size))
        for (uint64_t at = 0; at + sizeof(code) <= size && !found; at++)
            if (bytes[at] == (code & 0xff) && elf_get64(elf, bytes + at) == code)
                found = offset + at;
    free(bytes);
    return found;
}

typedef bool find_text(const struct elf *elf, uint64_t *address, uint64_t *size);

/* Code that keeps frame pointers in this way. */
static bool framed_gap(const struct elf *elf, find_text *find, enum unwind_cfa way, struct frame_gap *gap)
{
    uint64_t address, size;

    if (!find(elf, &address, &size) || !frame_place_gap(elf, address, size, gap))
        return false;
    frame_add_row(gap, 0, (struct unwind_rule){.cfa = (uint8_t)way});
    return true;
}

/* Where the kernel enters a program there is no caller. */
static bool entry_gap(const struct elf *elf, struct frame_gap *gap)
{
    unsigned char header[sizeof(Elf64_Ehdr)];

    if (elf_read(elf, 0, header, ELF_SIZE(elf, Ehdr)))
        return false;
    const uint64_t entry = ELF_FIELD(elf, header, Ehdr, e_entry);
    if (!entry || !frame_place_gap(elf, entry, ENTRY_BYTES, gap))
        return false;
    frame_add_row(gap, 0, (struct unwind_rule){.cfa = UNWIND_ROOT});
    return true;
}

/* After how many bytes an entry has pushed its number; 0: it does not. */
static int16_t pushes_after(const unsigned char *entry)
{
    static const unsigned char marked[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x68}; /* endbr64; push */

    if (!memcmp(entry, marked, sizeof(marked)))
        return 9;
    return entry[0] == 0xff && entry[1] == 0x25 && entry[6] == 0x68 ? 11 : 0; /* jmp *; push */
}

/* The rule of a function that has saved nothing. */
const struct unwind_rule frame_linked = {.cfa = UNWIND_BY_SP, .return_kind = UNWIND_RETURN_IN_LINK,
                                         .base = UNWIND_BASE_SAME};

/* All its entries leave the link register alone; arm64's first saves it, for the dynamic linker. */
static bool linked_plt_gap(const struct elf *elf, const char *name, struct frame_gap *gap)
{
    static const unsigned char saves[] = {0xf0, 0x7b, 0xbf, 0xa9}; /* stp x16, x30, [sp, #-16]! */
    const struct elf_section *section = elf_section(elf, name);
    unsigned char bytes[2 * sizeof(saves)];

    if (!section || section->size < 2 * PLT_ENTRY || !frame_place_gap(elf, section->address, section->size, gap) ||
        elf_read(elf, gap->offset, bytes, sizeof(bytes)))
        return false;
    frame_add_row(gap, 0, frame_linked);
    if (elf->machine != EM_AARCH64)
        return true;
    /* A landing pad (bti) may be before it. */
    const bool saves_first = !memcmp(bytes, saves, sizeof(saves));
    if (!saves_first && memcmp(bytes + sizeof(saves), saves, sizeof(saves)))
        return true;
    frame_add_row(gap, saves_first ? sizeof(saves) : 2 * sizeof(saves), by_sp(16));
    frame_add_row(gap, 2 * PLT_ENTRY, frame_linked);
    return true;
}

/*
 * Either all entries jump to the address in a word. Or the first one pushes a word and jumps to the
 * dynamic linker, and the others push a number and jump to the first.
 */
static bool plt_gap(const struct elf *elf, const char *name, struct frame_gap *gap)
{
    const struct elf_section *section = elf_section(elf, name);
    unsigned char bytes[2 * PLT_ENTRY];

    if (!section || section->size < 8 || !frame_place_gap(elf, section->address, section->size, gap) ||
        elf_read(elf, gap->offset, bytes, 8))
        return false;
    if (bytes[0] != 0xff || bytes[1] != 0x35) {
        frame_add_row(gap, 0, by_sp(8));
        return true;
    }
    if (section->size < sizeof(bytes) || section->address % PLT_ENTRY ||
        elf_read(elf, gap->offset, bytes, sizeof(bytes)) || !pushes_after(bytes + PLT_ENTRY))
        return false;
    frame_add_row(gap, 0, by_sp(16));
    frame_add_row(gap, 6, by_sp(24));
    struct unwind_rule rule = by_sp(8);
    rule.cfa = UNWIND_BY_PLT;
    rule.inner = pushes_after(bytes + PLT_ENTRY);
    frame_add_row(gap, PLT_ENTRY, rule);
    return true;
}

/* A frame of 8 bytes, up to the last instruction: libc's, plus calls that others add there. */
static bool init_gap(const struct elf *elf, const char *name, struct frame_gap *gap)
{
    static const unsigned char head[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 0x08}; /* endbr64; sub */
    const struct elf_section *section = elf_section(elf, name);
    unsigned char bytes[sizeof(head)], last;

    if (!section || section->size < sizeof(head) + 1 ||
        !frame_place_gap(elf, section->address, section->size, gap) ||
        elf_read(elf, gap->offset, bytes, sizeof(bytes)) ||
        elf_read(elf, gap->offset + gap->size - 1, &last, 1) || last != 0xc3)
        return false;
    const size_t marked = memcmp(bytes, head, 4) ? 0 : 4;
    if (memcmp(bytes + marked, head + 4, 4))
        return false;
    frame_add_row(gap, 0, by_sp(8));
    frame_add_row(gap, marked + 4, by_sp(16));
    frame_add_row(gap, gap->size - 1, by_sp(8));
    return true;
}

/* By offset; with equal offsets, the longer one first. */
static int compare_gaps(const void *left, const void *right)
{
    const struct frame_gap *a = left, *b = right;

    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return a->size > b->size ? -1 : a->size < b->size;
}

static size_t known_gaps(const struct elf *elf, struct frame_gap gaps[FRAME_GAPS_MOST])
{
    static const char names[][10] = {".plt", ".plt.got", ".plt.sec", ".iplt"};
    size_t count = 0;

    count += framed_gap(elf, frame_go_text, UNWIND_FAR_RECORD, &gaps[count]);
    count += framed_gap(elf, frame_v8_text, UNWIND_FRAME_RECORD, &gaps[count]);
    count += entry_gap(elf, &gaps[count]);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        count += machine_has_link(elf->row) ? linked_plt_gap(elf, names[i], &gaps[count])
                                            : plt_gap(elf, names[i], &gaps[count]);
    count += init_gap(elf, ".init", &gaps[count]);
    count += init_gap(elf, ".fini", &gaps[count]);
    return count;
}

size_t frame_gaps(const struct elf *elf, struct frame_gap gaps[FRAME_GAPS_MOST])
{
    memset(gaps, 0, FRAME_GAPS_MOST * sizeof(*gaps));
    if (!elf->row->walk)
        return 0;
    const size_t count = frame_is_vdso(elf) ? frame_vdso_gaps(elf, gaps) : known_gaps(elf, gaps);
    qsort(gaps, count, sizeof(*gaps), compare_gaps);
    return count;
}

/* Sorted by insertion. */
static size_t insert(struct frame_gap gaps[FRAME_GAPS_MOST], size_t count, const struct frame_gap *place, enum unwind_cfa way)
{
    size_t at = count;

    for (; at && gaps[at - 1].offset > place->offset; at--)
        gaps[at] = gaps[at - 1];
    gaps[at] = *place;
    frame_add_row(&gaps[at], 0, (struct unwind_rule){.cfa = (uint8_t)way});
    return count + 1;
}

/* Where it ends a thread; `place`, where nothing does, may be V8's. */
static bool find_way(const struct elf *elf, struct frame_gap *place, enum unwind_cfa *way)
{
    const uint64_t size = place->size < MOST_SEARCHED ? place->size : MOST_SEARCHED;
    const uint64_t exit = elf->row->walk->thread_exit;
    const uint64_t found = exit ? frame_find_code(elf, exit, place->offset, size) : 0;

    *way = found > place->offset ? UNWIND_ROOT : UNWIND_FRAME_RECORD;
    if (found > place->offset)
        *place = (struct frame_gap){.offset = found - 1, .size = 1 + sizeof(uint64_t)}; /* a call is before it */
    return found > place->offset || frame_v8_is_gap(elf, place->size);
}

size_t frame_gaps_search(const struct elf *elf, uint64_t from, uint64_t to, struct frame_gap gaps[FRAME_GAPS_MOST],
                         size_t count)
{
    enum unwind_cfa way;

    if (!elf->row->walk || count == FRAME_GAPS_MOST)
        return count;
    for (size_t i = 0; i < elf->segment_count; i++) {
        const struct elf_segment *segment = &elf->segments[i];
        const uint64_t first = from > segment->offset ? from : segment->offset;
        const uint64_t end = to - segment->offset < segment->file_size ? to : segment->offset + segment->file_size;
        if (!(segment->flags & PF_X) || to <= first || end <= first || end - first < LEAST_SEARCHED)
            continue;
        struct frame_gap place = {.offset = first, .size = end - first};
        return find_way(elf, &place, &way) ? insert(gaps, count, &place, way) : count;
    }
    return count;
}
