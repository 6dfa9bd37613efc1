/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * At the first instruction of a function newer kernels look for the caller where it then is, in code
 * that begins as most does. Whether this one did is seen by the stacks: one that lacks the caller
 * tells of all that begin alike. Before one was seen, a caller in its place is either what the kernel
 * put there, or the function called itself.
 *
 * In the kernel that is so on machines with a link register, and on x86-64 where the kernel walks along frame
 * pointers, for whatever the function begins with; where its stacks come from tables of their own the caller
 * may be there. And at a tracepoint many kernels walk from a frame that they have told already: it is there
 * twice.
 */
#ifndef STACKBOX_MAPS_CALLERS_H
#define STACKBOX_MAPS_CALLERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct callers {
    bool left_out[2]; /* as seen; [1]: of functions that begin with endbr64 */
};

enum caller_seen {
    CALLER_IS_THERE, /* or there is none to be added */
    CALLER_IS_MISSING,
    CALLER_IN_DOUBT, /* callers_are_left_out() tells, once more was seen */
};

/* Of a user's stack: `caller` and `flags` as its key or its record has them. */
enum caller_seen callers_see(struct callers *callers, uint64_t caller, uint64_t flags,
                             const uint64_t *frames, size_t count);

bool callers_are_left_out(const struct callers *callers, uint64_t flags);

/* Of the kernel's: is `caller` to be put behind the first frame? */
bool callers_miss_kernel(uint64_t caller, uint64_t flags, const uint64_t *frames, size_t count);

/* Of a tracepoint's stack, be it the kernel's: how many of its frames are there once too often. */
size_t callers_count_twice(const uint64_t *frames, size_t count);

#endif
