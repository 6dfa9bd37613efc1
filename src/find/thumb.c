/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "find/thumb.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "elf/elf_arm.h"

/* The addresses of the places, sorted, without duplicates. */
static size_t collect(const struct place *items, size_t count, uint64_t *addresses)
{
    for (size_t i = 0; i < count; i++)
        addresses[i] = items[i].address;
    return sort_numbers(addresses, count);
}

static void explain(const struct user_file *file, const struct pattern *pattern,
                    enum arm_code why, struct text *error)
{
    static const char danger[] = "the kernel can only probe ARM code, and would break the program; "
                                 "code compiled with -marm can be traced";

    if (why == ARM_CODE_DATA)
        text_format(error, "\"%s\" is data, not an instruction: a probe would overwrite it",
                    pattern->typed);
    else if (why == ARM_CODE_THUMB)
        text_format(error, "\"%s\" is Thumb code: %s", pattern->typed, danger);
    else
        text_format(error, "\"%s\" may be Thumb code, and %s has no symbol that tells: %s",
                    pattern->typed, file->library.path.data, danger);
}

static void add_left_out(const struct user_file *file, size_t removed, size_t count,
                         struct text *left_out)
{
    if (removed && !left_out->length)
        text_format(left_out, "left out %zu of %zu in %s, which are or may be Thumb code: the kernel can "
                    "only probe ARM code, and would break the program",
                    removed, count, file->library.path.data);
}

/* Marks the places that cannot be probed. Returns why, for one of them, the surest reason first. */
static enum arm_code mark(struct place *items, size_t count, const uint64_t *addresses,
                          size_t distinct, const enum arm_code *codes)
{
    enum arm_code why = ARM_CODE_UNKNOWN;

    for (size_t i = 0; i < count; i++) {
        const enum arm_code code = codes[first_not_below(addresses, distinct, items[i].address)];
        items[i].error = code == ARM_CODE_ARM ? 0 : -ENOTSUP;
        if (items[i].error && why != ARM_CODE_THUMB && code)
            why = code;
    }
    return why;
}

int thumb_remove(const struct user_file *file, const struct pattern *pattern,
                 struct places *places, size_t first, struct text *left_out, struct text *error)
{
    const size_t count = places->count - first;

    if (!file->elf.row->marks.thumb || !count)
        return 0;
    struct place *items = places->items + first;
    uint64_t *addresses = calloc(count, sizeof(*addresses));
    enum arm_code *codes = calloc(count, sizeof(*codes)), why = ARM_CODE_UNKNOWN;
    const size_t distinct = addresses ? collect(items, count, addresses) : 0;
    int result = addresses && codes ? elf_arm_codes(&file->elf, addresses, distinct, codes)
                                    : -ENOMEM;

    if (!result) {
        why = mark(items, count, addresses, distinct, codes);
        places_remove_failed(places, first);
        if (places->count > first)
            add_left_out(file, first + count - places->count, count, left_out);
    } else if (result != -ENOMEM) {
        text_format(error, "cannot read \"%s\": %s", file->library.path.data, strerror(-result));
    }
    if (!result && places->count == first) {
        explain(file, pattern, why, error);
        result = -ENOTSUP;
    }
    free(addresses);
    free(codes);
    return result;
}
