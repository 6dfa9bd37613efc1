/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "symbolize/tracing_frames.h"

#include <string.h>

#include "base/name_list.h"

/*
 * Beginnings of names. With one program on a tracepoint, newer kernels have none of these; the
 * first appears as soon as somebody else has another one.
 */
static const char beginnings[] =
    "__traceiter_*\0" "perf_trace_*\0" "trace_event_raw_event_*\0" "__bpf_trace_*\0" "bpf_trace_run*\0"
    /* For raw tracepoints the program itself, too; without a JIT, its interpreter. */
    "bpf_prog_*\0" "___bpf_prog_run*\0" "__bpf_prog_run*\0" "bpf_dispatcher_*\0"
    "perf_syscall_enter*\0" "perf_syscall_exit*\0" "perf_call_bpf_enter*\0" "perf_call_bpf_exit*\0";

bool tracing_frames_has(const struct symbol *symbol)
{
    return symbol->function.length && name_list_has(beginnings, symbol->function.data);
}

/*
 * How many frames to remove from this stack, whose symbols are `frames`. A program has no name where
 * net.core.bpf_jit_kallsyms is 0: it goes with the function that called it.
 */
static uint32_t count_leading(const struct symbols *symbols, const uint32_t *frames, uint32_t count)
{
    uint32_t leading = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct symbol *symbol = &symbols->items[frames[i]];
        if (tracing_frames_has(symbol))
            leading = i + 1;
        else if (symbol->function.length)
            break;
    }
    return leading < count ? leading : 0;
}

/* Moves the frames of one stack from *from to *to, and advances both. */
static void move_stack(struct symbols *symbols, struct stack *stack, bool kernel, size_t *from,
                       size_t *to)
{
    uint32_t dropped = kernel ? count_leading(symbols, symbols->frames + *from, stack->count) : 0;
    uint32_t kept = stack->count - dropped;

    memmove(symbols->frames + *to, symbols->frames + *from + dropped,
            kept * sizeof(*symbols->frames));
    *from += stack->count;
    *to += kept;
    stack->first += dropped;
    stack->count = kept;
}

void tracing_frames_drop(struct tally *tally, struct symbols *symbols)
{
    size_t from = 0, to = 0;

    for (size_t i = 0; i < tally->count; i++) {
        struct tally_entry *entry = &tally->entries[i];
        symbols->first[i] = to;
        move_stack(symbols, &entry->task.kernel, true, &from, &to);
        move_stack(symbols, &entry->task.user, false, &from, &to);
        move_stack(symbols, &entry->waker.kernel, true, &from, &to);
        move_stack(symbols, &entry->waker.user, false, &from, &to);
    }
}
