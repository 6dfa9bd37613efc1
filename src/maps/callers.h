/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * At a function's first instruction, newer kernels look for the caller where it then is, if the
 * code begins as most does. Stacks show whether this kernel does: one that lacks the caller settles
 * it for all code that begins alike. Until one was seen, a caller in its place was either put there
 * by the kernel, or the function called itself.
 *
 * For kernel functions, callers are missing on machines with a link register, and on x86-64 if the
 * kernel walks frame pointers, whatever the function begins with; if it unwinds by tables the
 * caller may be there. And at tracepoints many kernels walk from a frame that they have already
 * recorded: it is there twice.
 */
#ifndef STACKBOX_MAPS_CALLERS_H
#define STACKBOX_MAPS_CALLERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct callers {
    bool left_out[2]; /* as seen; [1]: for functions that begin with endbr64 */
};

enum caller_seen {
    CALLER_IS_THERE, /* or there is none to add */
    CALLER_IS_MISSING,
    CALLER_IN_DOUBT, /* callers_are_left_out() decides, after more stacks */
};

/* For a user stack: `caller` and `flags` as in its key or record. */
enum caller_seen callers_see(struct callers *callers, uint64_t caller, uint64_t flags,
                             const uint64_t *frames, size_t count);

bool callers_are_left_out(const struct callers *callers, uint64_t flags);

/* For a kernel stack: is `caller` to be inserted after the first frame? */
bool callers_miss_kernel(uint64_t caller, uint64_t flags, const uint64_t *frames, size_t count);

/* For a tracepoint's stack, if it is the kernel's: how many of its frames are duplicates. */
size_t callers_count_twice(const uint64_t *frames, size_t count);

#endif
