/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * An entry has a function's address and one of these: EXIDX_CANTUNWIND; unwind instructions; or
 * the place of the instructions in .ARM.extab. An instruction takes one byte or more. Together they
 * move a virtual stack pointer (vsp) from the function's to its caller's, and pop saved registers
 * on the way:
 *
 *     00nnnnnn              vsp += (n + 1) * 4          01nnnnnn    vsp -= (n + 1) * 4
 *     1000mmmm mmmmmmmm     pop these of r4 to r15      1001nnnn    vsp = rn
 *     10100nnn              pop r4 to r4 + n            10101nnn    the same, and r14
 *     10110000              finish                      10110001 0000mmmm    pop these of r0 to r3
 *     10110010 uleb         vsp += 0x204 + n * 4
 *     10110011, 10111nnn, 11001000, 11001001, 11010nnn    pop floating-point registers
 *
 * The result is right only at calls of functions, which may throw an exception.
 */
#include "elf/frame_entries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

enum { R7 = 7, R11 = 11, SP = 13, LR = 14, PC = 15 };

/*
 * How far above a register the caller's stack pointer is, and at which distances above the same
 * register other registers were saved.
 */
struct recipe {
    unsigned reg;
    int64_t at;
    int64_t places[16];
    uint16_t saved; /* a bit for each register that has a place */
};

#define CANNOT 1            /* EXIDX_CANTUNWIND */
#define IS_HERE 0x80000000u /* instructions, not a place in .ARM.extab */
#define MOST_WORDS 64       /* in .ARM.extab, after the first; the format allows 255 */
#define MOST_CODE (64u << 10)

/* ---- Unwind instructions ---- */

static void save(struct recipe *recipe, unsigned first, unsigned mask)
{
    for (; mask; mask >>= 1, first++)
        if (mask & 1) {
            recipe->places[first] = recipe->at;
            recipe->saved |= (uint16_t)(1u << first);
            recipe->at += 4;
        }
}

/* False: no rule can express it, or no compiler uses it. */
static bool run_one(struct recipe *recipe, struct cfi_bytes *bytes)
{
    const unsigned code = (unsigned)cfi_take(bytes, 1), low = code & 7;

    if (code < 0x80)
        recipe->at += code & 0x40 ? -(int64_t)(4 * (code & 0x3f) + 4) : 4 * (int64_t)code + 4;
    else if (code < 0x90) {
        const unsigned mask = (code & 15) << 8 | (unsigned)cfi_take(bytes, 1);
        save(recipe, 4, mask);
        return mask;
    } else if (code < 0xa0) {
        recipe->reg = code & 15;
        recipe->at = 0;
        return !recipe->saved && recipe->reg != SP && recipe->reg != PC;
    } else if (code < 0xb0) {
        save(recipe, 4, (2u << low) - 1);
        save(recipe, LR, code >> 3 & 1);
    } else if (code == 0xb1) {
        const unsigned mask = (unsigned)cfi_take(bytes, 1);
        save(recipe, 0, mask & 15);
        return mask && mask < 16;
    } else if (code == 0xb2)
        recipe->at += 0x204 + 4 * (int64_t)(cfi_take_uleb(bytes) & 0xffffff);
    else if (code == 0xb3)
        recipe->at += 8 * (int64_t)(cfi_take(bytes, 1) & 15) + 12;
    else if (code >= 0xb8 && code < 0xc0)
        recipe->at += 8 * (int64_t)low + 12;
    else if (code == 0xc8 || code == 0xc9)
        recipe->at += 8 * (int64_t)(cfi_take(bytes, 1) & 15) + 8;
    else if (code >= 0xd0 && code < 0xd8)
        recipe->at += 8 * (int64_t)low + 8;
    else
        return false;
    return true;
}

#define FINISH 0xb0

static bool run_all(struct recipe *recipe, struct cfi_bytes *bytes)
{
    *recipe = (struct recipe){.reg = SP};
    while (bytes->at < bytes->end && *bytes->at != FINISH)
        if (!run_one(recipe, bytes) || bytes->bad)
            return false;
    return true;
}

static bool has(const struct recipe *recipe, unsigned reg)
{
    return recipe->saved >> reg & 1;
}

/* All 16 registers in a row: the frame that the kernel makes for a signal. */
static bool is_signal(const struct recipe *recipe)
{
    return recipe->saved == 0xffff && recipe->reg == SP &&
           recipe->places[PC] - recipe->places[0] == 4 * PC;
}

/* UNWIND_UNKNOWN: no rule can express it. */
static struct unwind_rule rule_of(const struct recipe *recipe)
{
    const struct unwind_rule unknown = {.cfa = UNWIND_UNKNOWN};
    struct unwind_rule rule = {.offset = (int32_t)recipe->at};

    if (recipe->at < 0 || recipe->at > INT32_MAX)
        return unknown;
    if (is_signal(recipe))
        return (struct unwind_rule){.cfa = UNWIND_SIGNAL, .offset = (int32_t)recipe->places[0]};
    if ((recipe->reg != SP && recipe->reg != R7 && recipe->reg != R11) || has(recipe, SP) ||
        has(recipe, PC))
        return unknown;
    rule.cfa = recipe->reg == SP   ? UNWIND_BY_SP
               : recipe->reg == R7 ? UNWIND_BY_FRAME
                                   : UNWIND_BY_REGISTER;
    if (rule.cfa == UNWIND_BY_REGISTER)
        rule.reg = R11;
    const int64_t ret = recipe->places[LR] - recipe->at, frame = recipe->places[R7] - recipe->at;
    if (!has(recipe, LR))
        rule.return_kind = UNWIND_RETURN_IN_LINK;
    else if (unwind_fits(ret))
        rule.ret = (int16_t)ret;
    else
        return unknown;
    if (has(recipe, R7)) {
        rule.frame_kind = unwind_fits(frame) ? UNWIND_FRAME_AT_CFA : UNWIND_FRAME_LOST;
        rule.frame = (int16_t)frame;
    }
    const int64_t base = recipe->places[R11] - recipe->at;
    if (!has(recipe, R11))
        rule.base = UNWIND_BASE_SAME;
    else if (unwind_fits(base))
        rule.base = (int16_t)base;
    return rule;
}

/* ---- Where the instructions are ---- */

/* The target of a 31-bit offset that is stored at `address`. */
static uint64_t from_here(uint64_t address, uint32_t word)
{
    return (address + (uint64_t)((int64_t)((uint64_t)word << 33) >> 33)) & UINT32_MAX;
}

struct words {
    const struct elf *elf;
    unsigned char bytes[4 * (MOST_WORDS + 1)];
    size_t count; /* of the bytes */
};

/* Instructions are stored in words, the highest byte first. */
static void add_word(struct words *words, uint32_t word, unsigned bytes)
{
    while (bytes--)
        words->bytes[words->count++] = (unsigned char)(word >> 8 * bytes);
}

static bool read_word(const struct words *words, uint64_t address, uint32_t *word)
{
    unsigned char bytes[4];
    uint64_t offset;

    if (!elf_offset_of(words->elf, address, &offset) ||
        elf_read(words->elf, offset, bytes, sizeof(bytes)))
        return false;
    *word = elf_get32(words->elf, bytes);
    return true;
}

/*
 * A generic entry (C++) begins with its personality routine; the next word holds the number of
 * words that follow, and three instructions.
 */
static bool read_table(struct words *words, uint64_t address)
{
    uint32_t word;
    unsigned more = 0, in_first = 3;

    if (!read_word(words, address, &word))
        return false;
    const bool is_generic = !(word & IS_HERE);
    if (is_generic && !read_word(words, address += 4, &word))
        return false;
    if (is_generic)
        more = word >> 24;
    else if (word >> 24 & 15) {
        more = word >> 16 & 0xff;
        in_first = 2;
    }
    if (more > MOST_WORDS)
        return false;
    add_word(words, word, in_first);
    for (; more && read_word(words, address += 4, &word); more--)
        add_word(words, word, 4);
    return !more;
}

/* ---- Entries ---- */

bool frame_exidx_start(const struct frame_section *index, size_t at, uint64_t *start)
{
    if (at % FRAME_EXIDX_BYTES || index->size < FRAME_EXIDX_BYTES ||
        at > index->size - FRAME_EXIDX_BYTES)
        return false;
    const uint32_t word = elf_get32(index->elf, index->bytes + at);
    *start = from_here(index->address + at, word);
    return !(word & IS_HERE);
}

/* A function ends where the next one begins, or with its segment. */
static bool find_function(const struct frame_section *index, size_t at, struct frame_entry *entry,
                          uint64_t *offset)
{
    if (!frame_exidx_start(index, at, &entry->start))
        return false;
    const struct elf_segment *segment = elf_code_at(index->elf, entry->start);
    if (!segment || entry->start - segment->address >= segment->file_size)
        return false;
    const uint64_t end = segment->address + segment->file_size;
    *offset = entry->start - segment->address + segment->offset;
    if (!frame_exidx_start(index, at + FRAME_EXIDX_BYTES, &entry->end) || entry->end > end)
        entry->end = end;
    return entry->end > entry->start;
}

/* ---- Rows ---- */

/*
 * Finds the code that exits a thread after its first function has returned, and makes it a root.
 * Above 0 if it is in this entry; 0; or a negative errno.
 */
static int find_thread_exit(const struct frame_section *index, const struct frame_entry *entry,
                            uint64_t offset, struct frame_entry_row *row)
{
    static const unsigned char thumb[] = {0x4f, 0xf0, 0x01,
                                          0x07, 0x00, 0xdf}; /* mov.w r7, #1; svc 0 */
    static const unsigned char arm[] = {0x01, 0x70, 0xa0, 0xe3, 0x00, 0x00, 0x00, 0xef};
    const size_t size =
        entry->end - entry->start < MOST_CODE ? (size_t)(entry->end - entry->start) : MOST_CODE;
    unsigned char *bytes = malloc(size);
    int result = !bytes ? -ENOMEM : elf_read(index->elf, offset, bytes, size) ? -EBADMSG : 0;
    const unsigned char *found = result ? NULL : memmem(bytes, size, thumb, sizeof(thumb));

    if (!result && !found)
        found = memmem(bytes, size, arm, sizeof(arm));
    if (found && found != bytes) {
        *row = (struct frame_entry_row){entry->start + (uint64_t)(found - bytes) - 1,
                                        {.cfa = UNWIND_ROOT}};
        result = 1;
    }
    free(bytes);
    return result;
}

static bool find_rule(const struct frame_section *index, size_t at, struct unwind_rule *rule)
{
    const uint64_t address = index->address + at + 4;
    const uint32_t word = elf_get32(index->elf, index->bytes + at + 4);
    struct words words = {.elf = index->elf};
    struct recipe recipe;

    *rule = (struct unwind_rule){.cfa = UNWIND_UNKNOWN};
    if (word == CANNOT)
        return true;
    if (word & IS_HERE)
        add_word(&words, word, 3);
    else if (!read_table(&words, from_here(address, word)))
        return false;
    struct cfi_bytes bytes = {
        .elf = index->elf, .at = words.bytes, .end = words.bytes + words.count};
    if (run_all(&recipe, &bytes))
        *rule = rule_of(&recipe);
    return true;
}

int frame_exidx_see(const struct frame_section *index, size_t at, frame_callback *each,
                    void *context)
{
    struct frame_entry entry = {.is_debug = true};
    struct frame_entry_row row;
    uint64_t offset;

    if (!frame_exidx_start(index, at, &entry.start) || !find_rule(index, at, &row.rule))
        return -EBADMSG;
    /* Some linkers put EXIDX_CANTUNWIND after the end of all code. */
    if (!find_function(index, at, &entry, &offset))
        return row.rule.cfa == UNWIND_UNKNOWN ? 0 : -EBADMSG;
    row.address = entry.start;
    if (row.rule.cfa == UNWIND_UNKNOWN) {
        const int found = find_thread_exit(index, &entry, offset, &row);
        if (found <= 0)
            return found;
        entry.start = row.address;
        entry.end = entry.start + 2;
    } else if (row.rule.cfa != UNWIND_SIGNAL) {
        row.rule.inner = UNWIND_AT_CALLS;
    }
    entry.row = &row;
    return each(context, &entry);
}
