/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "tally/tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

struct tally_entry *tally_add(struct tally *tally)
{
    if (array_reserve(&tally->entries, &tally->room, tally->count + 1, sizeof(*tally->entries)))
        return NULL;
    struct tally_entry *entry = &tally->entries[tally->count++];
    *entry = (struct tally_entry){0};
    return entry;
}

int tally_add_stack(struct tally *tally, struct stack *stack, const uint64_t *addresses, size_t count)
{
    if (tally->address_count + count > UINT32_MAX ||
        array_reserve(&tally->addresses, &tally->address_room, tally->address_count + count,
                      sizeof(*tally->addresses)))
        return -ENOMEM;
    if (count)
        memcpy(tally->addresses + tally->address_count, addresses, count * sizeof(*addresses));
    *stack = (struct stack){
        .state = count ? STACK_KEPT : STACK_NONE,
        .first = (uint32_t)tally->address_count,
        .count = (uint32_t)count,
    };
    tally->address_count += count;
    return 0;
}

void tally_clear(struct tally *tally)
{
    tally->count = 0;
    tally->address_count = 0;
}

void tally_free(struct tally *tally)
{
    free(tally->entries);
    free(tally->addresses);
    *tally = (struct tally){0};
}
