/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "run/counting.h"

#define MATTERS 100 /* less than one in this many is not worth a line */

static void add(struct cut_stacks *stacks, enum unwind_end end, bool of_waker, const char *file,
                uint64_t events)
{
    char label[sizeof(stacks->causes[0].file)];
    size_t at = 0;

    snprintf(label, sizeof(label), "%s", file);
    while (at < stacks->count &&
           (stacks->causes[at].end != end || stacks->causes[at].of_waker != of_waker ||
                                  strcmp(stacks->causes[at].file, label)))
        at++;
    if (at == CUT_CAUSES)
        return;
    if (at == stacks->count) {
        stacks->causes[at] = (struct cut_cause){.end = end, .of_waker = of_waker};
        memcpy(stacks->causes[at].file, label, sizeof(label));
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

static const uint32_t *see_task(struct cut_stacks *stacks, const struct symbols *symbols,
                                const struct tally_task *task, const uint32_t *frames,
                                    bool of_waker,
                                uint64_t events)
{
    see_stack(stacks, symbols, &task->user, frames + task->kernel.count, of_waker, events);
    return frames + task->kernel.count + task->user.count;
}

void cut_stacks_see(struct cut_stacks *stacks, const struct tally *tally,
                    const struct symbols *symbols)
{
    for (size_t i = 0; i < tally->count; i++) {
        const struct tally_entry *entry = &tally->entries[i];
        const uint32_t *frames = symbols->frames + symbols->first[i];
        frames = see_task(stacks, symbols, &entry->task, frames, false, entry->events);
        see_task(stacks, symbols, &entry->waker, frames, true, entry->events);
    }
}

static void add_cause(const struct cut_cause *cause, struct text *line)
{
    const char *file = *cause->file ? cause->file : "a file";

    switch (cause->end) {
    case UNWIND_END_DEPTH:
        text_add(line, "they are deeper than the kernel allows (sysctl "
                       "kernel.perf_event_max_stack)");
        break;
    case UNWIND_END_NO_TABLE:
        text_format(line, "no unwind tables for some code of %s; if it keeps frame pointers, use "
                          "--unwind fp", file);
        break;
    case UNWIND_END_UNSUPPORTED:
        text_format(line, "unwind tables of %s that are not understood", file);
        break;
    case UNWIND_END_UNMAPPED:
        text_format(line, "a return address in %s is not code", file);
        break;
    case UNWIND_END_UNREADABLE:
        text_add(line, "the stack could not be read");
        break;
    case UNWIND_END_DEFERRED:
        text_format(line, "%s ran for the first time, and these stacks could not be kept whole",
                    file);
        break;
    case UNWIND_END_UNKNOWN:
        if (access("/proc/self/maps", F_OK))
            text_add(line,
                     "/proc is not mounted, which tells what programs have mapped: mount -t proc "
                     "proc /proc");
        else
            text_format(line, "what a return address in %s leads to is not known", file);
        break;
    case UNWIND_END_STEPS:
        text_add(line,
                 "they are deeper than a BPF program can walk on this kernel (96 frames; 127 with "
                 "-U)");
        break;
    case UNWIND_END_BEYOND:
        text_add(line, "they are deeper than a sample's copy of the stack; BPF programs "
                       "(--collect bpf) see all of it");
        break;
    case UNWIND_END_UNREAD:
        text_format(line, "the file of %s could not be read", file);
        break;
    case UNWIND_END_NO_ROOM:
        text_format(line, "no memory or time for unwind tables of %s", file);
        break;
    default:
        if (*file == '[')
            text_format(line, "JIT-compiled code (%s) keeps no frame pointers", file);
        else
            text_format(line, "in %s they lead nowhere", file);
    }
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
