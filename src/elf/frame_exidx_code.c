/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * .ARM.exidx is only right at calls of functions, which may throw an exception. A system call is not one. So
 * the function's own instructions are followed, in a straight line from its first one to the system call, and
 * must have pushed exactly what .ARM.exidx says.
 */
#include <string.h>

#include "elf/frame_exidx_parts.h"

#define ALIGNED 16 /* functions in assembly are, in glibc */

struct following {
    bool is_known;  /* `pushed` and `places` are right */
    bool has_ended; /* the last instruction never continues with the next one */
    unsigned pushed;     /* bytes, since the function began */
    unsigned places[16]; /* for each register, `pushed` just after it was saved; 0: it was not saved */
};

static void begin(struct following *following)
{
    *following = (struct following){.is_known = true};
}

static void push(struct following *following, unsigned mask)
{
    following->pushed += 4 * (unsigned)__builtin_popcount(mask);
    for (unsigned reg = 0, below = 0; reg < 16; reg++)
        if (mask >> reg & 1) {
            if (!following->places[reg])
                following->places[reg] = following->pushed - 4 * below;
            below++;
        }
}

/* An ARM instruction. Each may have a condition; the function ends only at one without. */
static void follow_arm(struct following *following, uint32_t word)
{
    const unsigned from = word >> 16 & 15, to = word >> 12 & 15, kind = word >> 26 & 3;
    const bool is_offset = kind == 1 && (word & 0x01200000) == 0x01000000; /* [sp, #n], as it is */
    const bool is_sum = kind == 0 && (word & 0x90) != 0x90;
    const bool is_branch = (word & 0x0e000000) == 0x0a000000;
    const bool leaves = (is_branch && !(word & 0x01000000)) || (word & 0x0ffffff0) == 0x012fff10 ||
                        (word & 0x0e108000) == 0x08108000; /* b, bx, pop of pc */

    following->has_ended = leaves && word >> 28 == 14;
    if (word >> 16 == 0xe92d)
        push(following, word & 0xffff);
    else if ((word & 0xffff0fff) == 0xe52d0004) /* str to [sp, #-4]! */
        push(following, 1u << to);
    else if ((word & 0xffffff00) == 0xe24dd000) /* sub sp */
        following->pushed += word & 0xff;
    else if (!is_branch && (to == SP || (from == SP && !is_offset && !is_sum)))
        following->is_known = false;
}

/* Thumb: may change the stack pointer in another way, or is never put there by a compiler. */
static bool is_strange(unsigned first)
{
    const unsigned to = (first >> 4 & 8) | (first & 7), kind = first >> 8;

    if (kind == 0x44 || kind == 0x46)
        return to >= SP;
    return kind == 0xb0 || kind == 0xb6 || kind == 0xb7 || kind == 0xbc || kind == 0xbd || kind == 0xbe ||
           (kind == 0xbf && first != 0xbf00) || kind == 0xde;
}

static void follow_narrow(struct following *following, unsigned first)
{
    /* bx, pop of pc, b */
    following->has_ended = (first & 0xff87) == 0x4700 || first >> 8 == 0xbd || first >> 11 == 0x1c;
    if ((first & 0xfe00) == 0xb400)
        push(following, (first & 0xff) | (first & 0x100) << 6);
    else if ((first & 0xff80) == 0xb080) /* sub sp */
        following->pushed += (first & 0x7f) * 4;
    else if (is_strange(first))
        following->is_known = false;
}

static void follow_wide(struct following *following, unsigned first, unsigned second)
{
    const bool is_branch = first >> 11 == 0x1e && second >> 15;

    following->has_ended = is_branch && (second & 0xd000) == 0x9000;
    if (first == 0xe92d)
        push(following, second);
    else if (first == 0xf84d && (second & 0xfff) == 0xd04) /* str to [sp, #-4]! */
        push(following, 1u << (second >> 12));
    else if (!is_branch && ((first & 15) == SP || (second >> 8 & 15) == SP || second >> 12 == SP))
        following->is_known = false;
}

static struct unwind_rule followed(const struct following *following)
{
    struct recipe recipe = {.reg = SP, .at = following->pushed};

    for (unsigned reg = 0; reg < 16; reg++)
        if (following->places[reg]) {
            recipe.places[reg] = (int64_t)following->pushed - following->places[reg];
            recipe.saved |= (uint16_t)(1u << reg);
        }
    return exidx_rule(&recipe);
}

static bool is_same(const struct unwind_rule *a, const struct unwind_rule *b)
{
    return !memcmp(a, b, sizeof(*a));
}

/*
 * Linkers merge neighbouring entries if they are the same. Then another function begins at an aligned place, after
 * an instruction that never continues, and padding.
 */
static bool begins_another(const struct following *following, uint64_t address)
{
    return following->has_ended && address % ALIGNED == 0;
}

/* The instruction there as a number, the first half of a wide Thumb one in the high bits; 0 at the end. */
static uint32_t instruction(const struct exidx_code *code, size_t at, size_t *size)
{
    const unsigned char *bytes = code->bytes + at;
    const size_t left = code->size - at;
    const uint32_t first = left < 2 ? 0 : bytes[0] | (uint32_t)bytes[1] << 8;

    *size = code->is_arm || first >= 0xe800 ? 4 : 2;
    if (*size == 2 || left < 4)
        return *size == 2 ? first : 0;
    const uint32_t second = bytes[2] | (uint32_t)bytes[3] << 8;
    return code->is_arm ? second << 16 | first : first << 16 | second;
}

static void follow(struct following *following, const struct exidx_code *code, uint32_t word, size_t size)
{
    if (code->is_arm)
        follow_arm(following, word);
    else if (size == 4)
        follow_wide(following, word >> 16, word & 0xffff);
    else
        follow_narrow(following, word);
}

static bool fills_up(const struct exidx_code *code, uint32_t word)
{
    return !word || word == (code->is_arm ? 0xe320f000 : 0xbf00) || (code->is_arm && word == 0xe1a00000);
}

static bool calls_kernel(const struct exidx_code *code, uint32_t word)
{
    return code->is_arm ? word >> 24 == 0xef : word >> 8 == 0xdf;
}

int exidx_add_calls(struct exidx_rows *rows, const struct exidx_code *code, const struct unwind_rule *rule,
                     const struct unwind_rule *at_calls)
{
    struct following following;
    size_t size;
    int result = 0;

    begin(&following);
    for (size_t at = 0; at < code->size && !result; at += size) {
        const uint32_t word = instruction(code, at, &size);
        const uint64_t next = code->address + at + size;
        const bool is_between = following.has_ended && fills_up(code, word);
        if (begins_another(&following, code->address + at))
            begin(&following);
        if (is_between)
            continue;
        following.is_known = following.is_known && !following.has_ended;
        follow(&following, code, word, size);
        const struct unwind_rule now = followed(&following);
        if (!calls_kernel(code, word) || !following.is_known || next >= code->address + code->size ||
            !is_same(&now, rule))
            continue;
        result = exidx_add_row(rows, next, rule);
        if (!result)
            result = exidx_add_row(rows, next + 1, at_calls);
    }
    return result;
}

int exidx_add_thread_exit(struct exidx_rows *rows, const struct exidx_code *code)
{
    static const unsigned char thumb[] = {0x4f, 0xf0, 0x01, 0x07, 0x00, 0xdf}; /* mov.w r7, #1; svc 0 */
    static const unsigned char arm[] = {0x01, 0x70, 0xa0, 0xe3, 0x00, 0x00, 0x00, 0xef};
    static const struct unwind_rule root = {.cfa = UNWIND_ROOT};
    const unsigned char *found = memmem(code->bytes, code->size, thumb, sizeof(thumb));

    if (!found)
        found = memmem(code->bytes, code->size, arm, sizeof(arm));
    if (!found || found == code->bytes)
        return 0;
    return exidx_add_row(rows, code->address + (uint64_t)(found - code->bytes) - 1, &root);
}
