/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "maps/callers.h"

#include "insns/layout.h"

enum caller_seen callers_see(struct callers *callers, uint64_t caller, uint64_t flags,
                             const uint64_t *frames, size_t count)
{
    if (!caller || !count)
        return CALLER_IS_THERE;
    if (flags & KEY_NO_CALLER)
        return CALLER_IS_MISSING;
    if (count > 1 && frames[1] == caller)
        return CALLER_IN_DOUBT;
    callers->left_out[(flags & KEY_MARK) != 0] = true;
    return CALLER_IS_MISSING;
}

bool callers_are_left_out(const struct callers *callers, uint64_t flags)
{
    return callers->left_out[(flags & KEY_MARK) != 0];
}

bool callers_miss_kernel(uint64_t caller, uint64_t flags, const uint64_t *frames, size_t count)
{
    return flags & KEY_KERNEL_START && caller && count && (count < 2 || frames[1] != caller);
}

size_t callers_count_twice(const uint64_t *frames, size_t count)
{
    return count > 1 && frames[0] == frames[1];
}
