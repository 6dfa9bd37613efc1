/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "elf/frame_rows.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/util.h"
#include "elf/code_rows.h"
#include "elf/frame_entries.h"

/* Shorter stretches that end at such an address are padding between functions. */
#define ALIGNMENT 16
#define MOST_SECTIONS 200 /* which are searched for code; linked files have fewer */
#define LONGEST_END 32 /* bytes of code: longer functions are not read */

static const struct unwind_rule unknown = {.cfa = UNWIND_UNKNOWN}, root = {.cfa = UNWIND_ROOT};

/* ---- Where functions are in the file ---- */

struct placing {
    const struct elf *elf;
    const struct elf_segment *segment; /* of the last function */
    uint64_t end;                      /* in the file, of all functions so far */
};

static bool holds(const struct elf_segment *segment, uint64_t address)
{
    return segment && address >= segment->address &&
           address - segment->address < segment->file_size;
}

/*
 * Places the entry in the file; *delta turns its addresses into offsets. -EBADMSG: it is not code;
 * -EEXIST: it begins before the end of an earlier function, which keeps its rows.
 */
static int place(struct placing *placing, const struct frame_entry *entry, uint64_t *delta)
{
    const struct elf_segment *segment = placing->segment;
    uint64_t end;

    if (!holds(segment, entry->start))
        segment = placing->segment = elf_code_at(placing->elf, entry->start);
    if (!holds(segment, entry->start) || entry->end - segment->address > segment->file_size ||
        __builtin_add_overflow(segment->offset, entry->end - segment->address, &end))
        return -EBADMSG;
    *delta = segment->offset - segment->address;
    if (entry->start + *delta < placing->end)
        return -EEXIST;
    placing->end = end;
    return 0;
}

/* .debug_frame repeats functions of .eh_frame, which does not make it damaged. */
static int refuse(const struct frame_entry *entry, int result)
{
    return result == -EEXIST && entry->is_debug ? 0 : -EBADMSG;
}

/* ---- Rows ---- */

struct making {
    struct frame_rows *frames;
    struct placing placing;
    const struct cfi_common *common;
    struct index rules;
    uint64_t end;   /* in the file, of the rows so far */
    uint64_t delta; /* turns an address into an offset */
    uint64_t last;  /* no row of the function is above this address */
    bool with_base; /* some rule needs the machine's `base` */
    struct frame_gap gaps[FRAME_GAPS_MOST];
    size_t gap_count;
    bool is_searched;          /* a search has found V8's code: no other is needed */
    struct unwind_rule recent; /* and its number */
    uint32_t recent_number;
};

static uint64_t hash_of(const struct unwind_rule *rule)
{
    uint64_t words[2];

    memcpy(words, rule, sizeof(words));
    return hash_word(hash_word(0, words[0]), words[1]);
}

static bool same_rule(const struct unwind_rule *a, const struct unwind_rule *b)
{
    uint64_t words[2], others[2];

    memcpy(words, a, sizeof(words));
    memcpy(others, b, sizeof(others));
    return words[0] == others[0] && words[1] == others[1];
}

static int number_of(struct making *making, const struct unwind_rule *rule, uint32_t *number)
{
    struct frame_rows *frames = making->frames;
    const uint64_t hash = hash_of(rule);
    size_t at = 0;

    *number = making->recent_number;
    if (frames->rule_count && same_rule(&making->recent, rule))
        return 0;
    making->recent = *rule;
    while (index_next(&making->rules, hash, &at, &making->recent_number))
        if (same_rule(&frames->rules[making->recent_number], rule)) {
            *number = making->recent_number;
            return 0;
        }
    if (frames->rule_count == UNWIND_MOST_RULES) {
        *number = making->recent_number = 0;
        return -E2BIG;
    }
    if (ARRAY_RESERVE(frames->rules, frames->rule_room, frames->rule_count + 1) ||
        index_add(&making->rules, hash, (uint32_t)frames->rule_count))
        return -ENOMEM;
    making->recent_number = *number = (uint32_t)frames->rule_count;
    frames->rules[frames->rule_count++] = *rule;
    return 0;
}

static int add_numbered(struct frame_rows *frames, uint64_t offset, uint32_t number)
{
    /* If several rules apply from one offset on, the last one counts. */
    if (frames->row_count && frames->rows[frames->row_count - 1].offset == offset)
        frames->row_count--;
    if (frames->row_count && frames->rows[frames->row_count - 1].rule == number)
        return 0;
    if (frames->row_count == FRAME_ROWS_MOST)
        return -E2BIG;
    if (ARRAY_RESERVE(frames->rows, frames->row_room, frames->row_count + 1))
        return -ENOMEM;
    frames->rows[frames->row_count++] = (struct frame_row){offset, number};
    return 0;
}

static int add_row(struct making *making, uint64_t offset, const struct unwind_rule *rule)
{
    uint32_t number;
    int result = number_of(making, rule, &number);

    return result ? result : add_numbered(making->frames, offset, number);
}

static int take_row(void *context, uint64_t address, const struct cfi_state *state)
{
    struct making *making = context;
    const struct unwind_rule rule =
        cfi_rule(making->placing.elf, making->common, state, making->with_base);
    const uint64_t offset = address + making->delta;

    /* Addresses rise within the function. (Offsets of addresses before it may wrap around.) */
    if (address > making->last || address < making->end - making->delta)
        return -EBADMSG;
    making->end = offset;
    return address < making->last ? add_row(making, offset, &rule) : 0;
}

/* Adds a gap's rows from `from` up to `to`; behind the gap nothing is known. */
static int add_gap(struct making *making, const struct frame_gap *gap, uint64_t from, uint64_t to)
{
    int result = 0;

    for (unsigned i = 0; i < gap->count && gap->rows[i].offset < to && !result; i++)
        result = add_row(making, i ? gap->rows[i].offset : from, &gap->rows[i].rule);
    if (!result && gap->offset + gap->size < to)
        result = add_row(making, gap->offset + gap->size, &unknown);
    return result;
}

static void search(struct making *making, uint64_t from, uint64_t to)
{
    const size_t count =
        frame_gaps_search(making->placing.elf, from, to, making->gaps, making->gap_count);

    making->is_searched = count > making->gap_count;
    making->gap_count = count;
}

/* Adds what is known of code without tables, up to the next function at `to`. */
static int pass(struct making *making, uint64_t to)
{
    uint64_t from = making->end;
    int result = from < to && making->frames->row_count ? add_row(making, from, &unknown) : 0;

    if (from < to && !making->is_searched)
        search(making, from, to);
    for (size_t i = 0; i < making->gap_count && !result; i++) {
        const struct frame_gap *gap = &making->gaps[i];
        const uint64_t end = gap->offset + gap->size;
        /* A range of code that keeps frame pointers goes on behind a C function within it. */
        const uint8_t way = gap->rows[0].rule.cfa;
        const bool is_whole = way == UNWIND_FAR_RECORD || way == UNWIND_FRAME_RECORD;
        if (gap->offset >= to || end <= from || (gap->offset < from && !is_whole))
            continue;
        result = add_gap(making, gap, gap->offset < from ? from : gap->offset, to);
        from = end;
    }
    return result;
}

/*
 * Does this code call functions of makecontext(), or do they return to its first byte? The walk
 * looks up the latter one byte earlier, where there is no table.
 */
static bool ends_contexts(const struct elf *elf, const struct frame_entry *entry, uint64_t offset)
{
    const struct machine_walk *walk = elf->row->walk;
    unsigned char bytes[sizeof(uint32_t) + sizeof(walk->context_end)];

    if (!walk || !walk->context_end || entry->row || entry->program.at >= entry->program.end ||
        *entry->program.at != walk->context_table || entry->end - entry->start < sizeof(bytes) ||
        entry->end - entry->start > LONGEST_END || elf_read(elf, offset, bytes, sizeof(bytes)))
        return false;
    const size_t mark = elf_get32(elf, bytes) == elf->row->mark ? sizeof(uint32_t) : 0;
    return !((elf_get64(elf, bytes + mark) ^ walk->context_end) & ~walk->context_spare);
}

static int make_rows(void *context, const struct frame_entry *entry)
{
    struct making *making = context;
    struct frame_rows *frames = making->frames;
    struct cfi_bytes program = entry->program;
    struct cfi_state state;
    int result = place(&making->placing, entry, &making->delta);

    if (result)
        return refuse(entry, result);
    const uint64_t start = entry->start + making->delta, before = making->end;
    result = pass(making, start);
    making->end = start;
    making->last = entry->end;
    making->common = entry->common;
    if (!result && ends_contexts(making->placing.elf, entry, start))
        result = add_row(making, before < start ? start - 1 : start, &root);
    else if (!result && entry->row)
        result = add_row(making, entry->row->address + making->delta, &entry->row->rule);
    else if (!result) {
        state = entry->common->state;
        result = cfi_run(entry->common, &program, &state, entry->start, take_row, making);
    }
    making->end = making->placing.end;
    frames->counts.by_table += !result;
    if (result != -EBADMSG)
        return result;
    while (frames->row_count && frames->rows[frames->row_count - 1].offset >= start)
        frames->row_count--;
    result = add_row(making, start, &unknown);
    return result ? result : -EBADMSG;
}

static int make_all(struct making *making, const struct frame_sections *sections)
{
    struct frame_rows *frames = making->frames;
    uint32_t none;
    int result = number_of(making, &unknown, &none);

    if (!result)
        result = frame_each(sections, make_rows, making, &frames->skipped);
    if (!result)
        result = pass(making, UINT64_MAX);
    if (result != -E2BIG)
        return result;
    /* Without room for more, nothing is known from here on: the last row must not apply there. */
    frames->skipped++;
    if (frames->row_count)
        frames->rows[frames->row_count - 1].rule = 0;
    return 0;
}

/* ---- Code without tables ---- */

struct code_gaps {
    struct code_gap *gaps;
    size_t count, room;
    const struct unwind_rule *rule; /* of the rows where the gap is */
};

/* May rows from the code replace this one? It is unknown, or holds at calls only. */
static bool is_open(const struct frame_rows *frames, const struct frame_row *row)
{
    return !row->rule || (HAS_EXIDX && frames->rules[row->rule].inner == UNWIND_AT_CALLS);
}

static int add_code_gap(struct code_gaps *gaps, const struct elf_segment *segment, uint64_t from,
                        uint64_t to)
{
    const uint64_t distance = segment->address - segment->offset;

    if (to <= from || (!gaps->rule->cfa && to - from < ALIGNMENT && !((to + distance) % ALIGNMENT)))
        return 0;
    if (ARRAY_RESERVE(gaps->gaps, gaps->room, gaps->count + 1))
        return -ENOMEM;
    gaps->gaps[gaps->count++] =
        (struct code_gap){from, to - from, from + distance, *gaps->rule};
    return 0;
}

/* The first section of code that ends after `from`; NULL: none. */
static const struct elf_section *next_code(const struct elf *elf, uint64_t from)
{
    const struct elf_section *found = NULL;

    for (size_t i = 0; i < elf->section_count; i++) {
        const struct elf_section *section = &elf->sections[i];
        if (section->flags & SHF_EXECINSTR && section->type != SHT_NOBITS &&
            section->offset + section->size > from && (!found || section->offset < found->offset))
            found = section;
    }
    return found;
}

/* Adds only the segment's sections of code, if the file has sections: data are no code. */
static int add_code_gaps(struct code_gaps *gaps, const struct elf *elf,
                         const struct elf_segment *segment, uint64_t from, uint64_t to)
{
    const struct elf_section *section;
    int result = 0;

    if (!elf->section_count || elf->section_count > MOST_SECTIONS || to - from < ALIGNMENT)
        return add_code_gap(gaps, segment, from, to);
    while (from < to && !result && (section = next_code(elf, from)) && section->offset < to) {
        const uint64_t end = section->offset + section->size;
        result = add_code_gap(gaps, segment, section->offset > from ? section->offset : from,
                              end < to ? end : to);
        from = end;
    }
    return result;
}

/* Finds the code within segments that no row tells about. */
static int find_code_gaps(struct code_gaps *gaps, const struct elf *elf,
                          const struct frame_rows *frames)
{
    uint64_t from = 0, end; /* `from` is at or behind row `at` - 1, which applies there */
    size_t at = 0;
    int result = 0;

    for (size_t i = 0; i < elf->segment_count && !result; i++) {
        const struct elf_segment *segment = &elf->segments[i];
        if (!(segment->flags & PF_X) || segment->offset < from ||
            __builtin_add_overflow(segment->offset, segment->file_size, &end))
            continue;
        for (from = segment->offset; from < end && !result; at++) {
            while (at && at < frames->row_count && !is_open(frames, &frames->rows[at - 1]) &&
                   frames->rows[at].offset < end)
                at++; /* most rows are not open */
            if (at && frames->rows[at - 1].offset > from)
                from = frames->rows[at - 1].offset;
            const uint64_t to = at < frames->row_count ? frames->rows[at].offset : end;
            gaps->rule = at ? &frames->rules[frames->rows[at - 1].rule] : &unknown;
            if (to > from && (!at || is_open(frames, &frames->rows[at - 1])))
                result = add_code_gaps(gaps, elf, segment, from, to < end ? to : end);
            from = to > from ? to : from;
            if (to >= end)
                break;
        }
    }
    return result;
}

/* Copies rows up to and including this offset. */
static int add_run(struct frame_rows *frames, const struct frame_row **from,
                   const struct frame_row *end, uint64_t last)
{
    const size_t count =
        first_key_above(&(*from)->offset, sizeof(**from), (size_t)(end - *from), last);

    if (!count)
        return 0;
    const int result = add_numbered(frames, (*from)->offset, (*from)->rule);
    memmove(frames->rows + frames->row_count, *from + 1, (count - 1) * sizeof(**from));
    frames->row_count += count - 1;
    *from += count;
    return result;
}

/* The number of a code rule among the file's rules; 0: unknown. */
static int number_of_code(struct making *making, struct code_rule *rule, uint32_t *number)
{
    int result = rule->number ? 0 : number_of(making, &rule->rule, &rule->number);

    *number = rule->number;
    return result == -E2BIG ? 0 : result;
}

/*
 * Puts rows from the code in the places of open ones. First moves all rows to the end of the array,
 * so that they can be read while the merged rows are written before them.
 */
static int insert_code(struct making *making, const struct code_rows *code)
{
    struct frame_rows *frames = making->frames;
    const size_t most = frames->row_count + code->count;
    uint32_t theirs = 0, number = 0; /* the rules of the present row, and of the code's */
    int result = 0;

    if (most > FRAME_ROWS_MOST)
        return -E2BIG;
    if (ARRAY_RESERVE(frames->rows, frames->row_room, most))
        return -ENOMEM;
    const struct frame_row *old = frames->rows + code->count, *const end = frames->rows + most;
    memmove(frames->rows + code->count, frames->rows, frames->row_count * sizeof(*frames->rows));
    frames->row_count = 0;
    for (size_t i = 0; i < code->count && !result; i++) {
        const struct frame_row *row = &code->rows[i];
        if (old < end && old->offset < row->offset) {
            result = add_run(frames, &old, end, row->offset - 1);
            theirs = old[-1].rule;
        }
        if (old < end && old->offset == row->offset)
            theirs = old++->rule;
        if (!result)
            result = number_of_code(making, &code->rules[row->rule], &number);
        if (!result && (frames->row_count || number || theirs))
            result = add_numbered(frames, row->offset, number ? number : theirs);
    }
    return result ? result : add_run(frames, &old, end, UINT64_MAX);
}

static int add_code(struct making *making)
{
    const struct elf *elf = making->placing.elf;
    struct code_gaps gaps = {0};
    struct code_rows code = {0};
    int result = find_code_gaps(&gaps, elf, making->frames);

    if (!result && gaps.count)
        result = code_rows_find(&code, elf, gaps.gaps, gaps.count);
    if (!result && code.count)
        result = insert_code(making, &code);
    making->frames->counts.by_code = code.functions;
    making->frames->counts.by_none = code.unknown;
    code_rows_free(&code);
    free(gaps.gaps);
    return result == -ENOENT || result == -E2BIG ? 0 : result;
}

static int read_rows(struct frame_rows *frames, const struct elf *elf,
                     const struct frame_sections *sections, bool with_base)
{
    struct making making = {.frames = frames, .placing.elf = elf, .with_base = with_base};
    making.gap_count = frame_gaps(elf, making.gaps);
    int result = make_all(&making, sections);
    if (!result)
        result = add_code(&making);
    index_free(&making.rules);
    return result;
}

/* Few files need `base`, and its place in all others would only multiply their rules. */
static bool needs_base(const struct frame_rows *frames, uint8_t base)
{
    for (size_t i = 0; i < frames->rule_count; i++)
        if (frames->rules[i].cfa == UNWIND_BY_REGISTER && frames->rules[i].reg == base)
            return true;
    return false;
}

int frame_rows_read(struct frame_rows *frames, const struct elf *elf)
{
    struct frame_sections sections;

    *frames = (struct frame_rows){0};
    int result = frame_sections_read(&sections, elf);
    if (result == -ENOENT && elf->row->walk)
        result = 0; /* the code itself may tell */
    if (!result)
        result = read_rows(frames, elf, &sections, false);
    if (!result && elf->row->walk && elf->row->walk->base &&
        needs_base(frames, elf->row->walk->base)) {
        frame_rows_free(frames);
        result = read_rows(frames, elf, &sections, true);
    }
    frame_sections_free(&sections);
    frames->counts.rows = frames->row_count;
    return result ? result : frames->row_count ? 0 : -ENOENT;
}

void frame_rows_free(struct frame_rows *frames)
{
    free(frames->rows);
    free(frames->rules);
    *frames = (struct frame_rows){0};
}

/* ---- Bounds ---- */

struct bounds {
    struct placing placing;
    struct frame_function *functions;
    size_t count, room;
};

static int take_bounds(void *context, const struct frame_entry *entry)
{
    struct bounds *bounds = context;
    uint64_t delta;
    if (entry->row)
        return 0; /* one entry may cover several functions */
    int result = place(&bounds->placing, entry, &delta);
    if (result)
        return refuse(entry, result);
    if (ARRAY_RESERVE(bounds->functions, bounds->room, bounds->count + 1))
        return -ENOMEM;
    bounds->functions[bounds->count++] =
        (struct frame_function){entry->start + delta, entry->end - entry->start};
    return 0;
}

ssize_t frame_functions(const struct elf *elf, struct frame_function **functions)
{
    struct bounds bounds = {.placing.elf = elf};
    struct frame_sections sections;
    uint64_t skipped = 0;
    int result = frame_sections_read(&sections, elf);

    if (!result)
        result = frame_each(&sections, take_bounds, &bounds, &skipped);
    frame_sections_free(&sections);
    *functions = bounds.functions;
    if (!result)
        return (ssize_t)bounds.count;
    free(bounds.functions);
    *functions = NULL;
    return result;
}
