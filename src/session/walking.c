/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "session/walking.h"

#include "kernel/tracefs.h"

/*
 * A command is followed by programs that the oldest kernels do not accept: rings do better there.
 */
bool walking_can(const struct find *find, const struct trace_options *options)
{
    for (size_t i = 0; i < find->count; i++)
        if (find->patterns[i].kind != PATTERN_KERNEL_FUNCTION)
            return false;
    return !options->command || options->collect == COLLECT_WALK;
}

/* Such a program finds the caller at a function's start, in a register or not. */
void walking_tell_starts(struct find *find)
{
    for (size_t i = 0; i < find->places.count; i++)
        if (!find->places.items[i].at_return && !find->places.items[i].offset)
            find->places.items[i].start = START_LINK;
    if (find->tracefs < 0)
        find->tracefs = tracefs_open();
}

void walking_build(const struct walk_counts *walk, const struct scope *scope, enum attach_program which,
                   struct program *program)
{
    struct unrolled_wishes wishes = walk->unrolled;

    wishes.filter = scope->filter;
    wishes.at_start = which == ATTACH_KERNEL_START;
    emit_unrolled(program, &wishes);
}
