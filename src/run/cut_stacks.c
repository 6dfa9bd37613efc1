/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "run/counting.h"

#define MATTERS 100 /* less than one in this many is not worth a line */

static void add(struct cut_stacks *stacks, enum unwind_end end, bool of_waker, const char *file,
                uint64_t events)
{
    const size_t room = sizeof(stacks->causes[0].file);
    size_t at = 0;

    while (at < stacks->count &&
           (stacks->causes[at].end != end || stacks->causes[at].of_waker != of_waker ||
            strncmp(stacks->causes[at].file, file, room - 1)))
        at++;
    if (at == CUT_CAUSES)
        return;
    if (at == stacks->count) {
        stacks->causes[at] = (struct cut_cause){.end = end, .of_waker = of_waker};
        snprintf(stacks->causes[at].file, room, "%s", file);
        stacks->count++;
    }
    stacks->causes[at].events += events;
}

/* A stack whose frames' symbols begin at `frames`. */
static void see_stack(struct cut_stacks *stacks, const struct symbols *symbols,
                      const struct stack *stack, const uint32_t *frames, bool of_waker,
                      uint64_t events)
{
    if (!stack->count)
        return;
    const struct symbol *last = &symbols->items[frames[stack->count - 1]];
    stacks->of[of_waker].stacks += events;
    if (!UNWIND_IS_END_FRAME(last->address) || last->address == UNWIND_END_FRAME(UNWIND_END_EXEC))
        return;
    const struct text *file = stack->count > 1 ? &symbols->items[frames[stack->count - 2]].file
        : NULL;
    stacks->of[of_waker].cut += events;
    add(stacks, (enum unwind_end)(last->address & 0xff), of_waker,
        file ? text_string(file) : "", events);
}

void cut_stacks_see(struct cut_stacks *stacks, const struct tally *tally,
                    const struct symbols *symbols)
{
    for (size_t i = 0; i < tally->count; i++) {
        const struct tally_entry *entry = &tally->entries[i];
        const struct tally_task *task = &entry->task, *waker = &entry->waker;
        const uint32_t *frames = symbols->frames + symbols->first[i] + task->kernel.count;
        see_stack(stacks, symbols, &task->user, frames, false, entry->events);
        frames += task->user.count + waker->kernel.count;
        see_stack(stacks, symbols, &waker->user, frames, true, entry->events);
    }
}

/* What is said of an end: with the file's name between both parts, if there are two. */
static const struct {
    const char *before, *after;
} told[UNWIND_ENDS] = {
    [UNWIND_END_DEPTH] = {"they are deeper than the kernel allows (sysctl "
                          "kernel.perf_event_max_stack)"},
    [UNWIND_END_STEPS] = {"they are deeper than a BPF program can walk on this kernel (96 frames; "
                          "127 with -U)"},
    [UNWIND_END_BEYOND] = {"they are deeper than a sample's copy of the stack; BPF programs "
                           "(--collect bpf) see all of it"},
    [UNWIND_END_NO_TABLE] = {"no unwind tables for some code of ",
                             "; if it keeps frame pointers, use --unwind fp"},
    [UNWIND_END_NO_ROOM] = {"no memory or time for unwind tables of ", ""},
    [UNWIND_END_UNSUPPORTED] = {"unwind tables of ", " that are not understood"},
    [UNWIND_END_DEFERRED] = {"", " ran for the first time, and these stacks could not be kept whole"},
    [UNWIND_END_UNMAPPED] = {"a return address in ", " is not code"},
    [UNWIND_END_UNKNOWN] = {"what a return address in ", " leads to is not known"},
    [UNWIND_END_UNREADABLE] = {"the stack could not be read"},
    [UNWIND_END_UNREAD] = {"the file of ", " could not be read"},
};

static void add_cause(const struct cut_cause *cause, struct text *line)
{
    const char *file = *cause->file ? cause->file : "a file";
    const char *before = "in ", *after = " they lead nowhere";

    if (cause->end == UNWIND_END_UNKNOWN && access("/proc/self/maps", F_OK)) {
        before = "/proc is not mounted, which tells what programs have mapped: mount -t proc "
                 "proc /proc";
        after = NULL;
    } else if (cause->end < UNWIND_ENDS && told[cause->end].before) {
        before = told[cause->end].before;
        after = told[cause->end].after;
    } else if (*file == '[') {
        before = "JIT-compiled code (";
        after = ") keeps no frame pointers";
    }
    text_format(line, "%s%s%s", before, after ? file : "", after ? after : "");
}

static void add_line(const struct cut_cause *cause, uint64_t cut, uint64_t stacks,
                     struct text *lines)
{
    text_format(lines, "%.3g %% of %suser stacks end early, with [truncated]: ",
                100.0 * (double)cut / (double)stacks, cause->of_waker ? "wakers' " : "");
    add_cause(cause, lines);
    text_add(lines, "\n");
}

/* NULL: there is none. */
static const struct cut_cause *greatest_of(const struct cut_stacks *stacks, bool of_waker)
{
    const struct cut_cause *greatest = NULL;

    for (size_t i = 0; i < stacks->count; i++) {
        const struct cut_cause *cause = &stacks->causes[i];
        if (cause->of_waker == of_waker && (!greatest || cause->events > greatest->events))
            greatest = cause;
    }
    return greatest;
}

void cut_stacks_add_lines(const struct cut_stacks *stacks, bool all, struct text *lines)
{
    for (size_t i = 0; i < stacks->count && all; i++) {
        const struct cut_cause *cause = &stacks->causes[i];
        add_line(cause, cause->events, stacks->of[cause->of_waker].stacks, lines);
    }
    for (int of_waker = 0; of_waker < 2 && !all; of_waker++) {
        const struct cut_cause *greatest = greatest_of(stacks, of_waker);
        if (greatest && stacks->of[of_waker].cut > stacks->of[of_waker].stacks / MATTERS)
            add_line(greatest, stacks->of[of_waker].cut, stacks->of[of_waker].stacks, lines);
    }
}
