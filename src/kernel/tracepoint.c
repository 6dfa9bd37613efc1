/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kernel/tracepoint.h"

#include <unistd.h>

#include "base/text.h"
#include "kernel/bpf.h"
#include "kernel/misses.h"
#include "kernel/perf.h"
#include "kernel/tracefs.h"

static int load(uint32_t type, const char *name, struct program *program, struct text *log)
{
    struct linked linked;
    int result = program_link(program, PROGRAM_LIMIT_OLD, &linked, log);
    const struct bpf_load wanted = {
        .type = type,
        .name = name,
        .insns = linked.insns,
        .count = linked.count,
        .functions = linked.functions,
        .function_count = linked.function_count,
    };

    return result ? result : bpf_load_program(&wanted, log);
}

int tracepoint_open(struct tracepoint *tracepoint, const struct tracepoint_wishes *wishes,
                    struct program *program, struct text *log)
{
    uint32_t id;

    *tracepoint = (struct tracepoint)TRACEPOINT_NONE;
    int result = tracefs_event_id(wishes->tracefs, wishes->category, wishes->name, &id);
    if (result)
        return result;
    tracepoint->program = load(BPF_PROG_TYPE_TRACEPOINT, wishes->program_name, program, log);
    if (tracepoint->program < 0)
        return tracepoint->program;
    tracepoint->event = perf_open_tracepoint(id);
    return tracepoint->event < 0 ? tracepoint->event
                                 : perf_attach(tracepoint->event, tracepoint->program);
}

int tracepoint_open_raw(struct tracepoint *tracepoint, const char *name, const char *program_name,
                        struct program *program, struct text *log)
{
    *tracepoint = (struct tracepoint)TRACEPOINT_NONE;
    tracepoint->program = load(BPF_PROG_TYPE_RAW_TRACEPOINT, program_name, program, log);
    if (tracepoint->program < 0)
        return tracepoint->program;
    tracepoint->event = bpf_open_raw_tracepoint(tracepoint->program, name);
    return tracepoint->event < 0 ? tracepoint->event : 0;
}

void tracepoint_close(struct tracepoint *tracepoint)
{
    if (tracepoint->event >= 0)
        close(tracepoint->event);
    if (tracepoint->program >= 0)
        close(tracepoint->program);
    *tracepoint = (struct tracepoint)TRACEPOINT_NONE;
}

uint64_t tracepoint_missed(const struct tracepoint *tracepoint)
{
    return misses_of_program(tracepoint->program);
}
