/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "probes/attach.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kernel/bpf.h"
#include "kernel/bpf_abi.h"
#include "kernel/perf.h"
#include "probes/attach_text.h"
#include "probes/detach.h"
#include "probes/kernel_functions.h"

/* One by one takes some 10 to 100 ms for each function: more than this many want --force. */
#define MOST_SINGLE_PROBES 400
#define SAMPLED_PROBES 8
#define SPARE_DESCRIPTORS 64

enum program_kind {
    PROGRAM_MULTI,
    PROGRAM_KPROBE,
    PROGRAM_TRACEPOINT,
};

struct work {
    struct attachment *attachment;
    const struct attach_request *request;
    struct place **functions; /* all of them, or those that still want attaching */
    size_t count;
};

const char *attach_way_name(enum attach_way way)
{
    static const char *const names[] = {"nothing", "kprobe.multi links", "kprobe PMU events",
                                        "tracefs kprobe_events"};

    return names[way];
}

static int program_for(struct work *work, enum program_kind kind)
{
    struct bpf_load load = {
        .type = kind == PROGRAM_TRACEPOINT ? BPF_PROG_TYPE_TRACEPOINT : BPF_PROG_TYPE_KPROBE,
        .attach_type = kind == PROGRAM_MULTI ? BPF_ABI_TRACE_KPROBE_MULTI : 0,
        .name = work->request->program_name,
        .insns = work->request->insns,
        .count = work->request->insn_count,
    };
    int *program = &work->attachment->programs[kind];

    if (*program < 0)
        *program = bpf_load_program(&load, &work->attachment->log);
    return *program;
}

/* Takes over an event or a link. */
static int keep(struct attachment *attachment, int fd)
{
    if (array_reserve(&attachment->fds, &attachment->room, attachment->count + 1, sizeof(int))) {
        close(fd);
        return -ENOMEM;
    }
    attachment->fds[attachment->count++] = fd;
    return 0;
}

/* Is it this one place that is refused, and may the next do? */
static bool concerns_one_place(int error)
{
    switch (error) {
    case -ESRCH:         /* no such function, or ftrace does not know it */
    case -ENOENT:        /* likewise */
    case -EINVAL:        /* blacklisted, or an address of no function */
    case -EADDRNOTAVAIL: /* several functions have the name */
    case -EILSEQ:        /* between two instructions */
    case -EOPNOTSUPP:
    case -EBUSY:
    case -ERANGE:
        return true;
    }
    return false;
}

static int link_all(struct work *work, int program, struct place **part, uint32_t count)
{
    uint64_t *addresses = calloc(count, sizeof(*addresses));
    const char **names = calloc(count, sizeof(*names));
    bool hidden = false;
    int fd = -ENOMEM;

    for (uint32_t i = 0; addresses && names && i < count; i++) {
        addresses[i] = part[i]->address;
        names[i] = part[i]->name;
        hidden = hidden || !part[i]->address;
    }
    if (addresses && names)
        fd = bpf_link_kprobe_multi(program, part[0]->at_return, count, hidden ? NULL : addresses,
                                   names);
    free(addresses);
    free(names);
    if (fd < 0)
        return fd;
    work->attachment->attached += count;
    return keep(work->attachment, fd);
}

/* One link to all; where that is refused, to each half, and so on down to the culprits. */
static int link_by_halves(struct work *work, int program, struct place **part, uint32_t count)
{
    int result = count ? link_all(work, program, part, count) : 0;

    if (!result || !concerns_one_place(result))
        return result;
    if (count == 1) {
        part[0]->error = result;
        return 0;
    }
    result = link_by_halves(work, program, part, count / 2);
    return result ? result : link_by_halves(work, program, part + count / 2, count - count / 2);
}

/*
 * One link to all. One function that cannot be traced fails it: then the list is cleaned by what
 * ftrace says, which takes a while to read, and what still fails is found by halves.
 */
static int link_part(struct work *work, int program, struct place **part, uint32_t count)
{
    uint32_t left = 0;
    int result = count ? link_all(work, program, part, count) : 0;

    if (!result || !concerns_one_place(result))
        return result;
    if (count > 1 && work->request->tracefs >= 0)
        (void)kernel_functions_sift(work->request->tracefs, part, count);
    for (uint32_t i = 0; i < count; i++)
        if (!part[i]->error)
            part[left++] = part[i];
    return link_by_halves(work, program, part, left);
}

static uint32_t select_functions(const struct work *work, bool at_return, bool with_offset,
                                 struct place **part)
{
    uint32_t count = 0;

    for (size_t i = 0; i < work->count; i++)
        if (work->functions[i]->at_return == at_return &&
            (with_offset || !work->functions[i]->offset))
            part[count++] = work->functions[i];
    return count;
}

/*
 * Links all entries, then all returns. What a link cannot take, but an event may, is left in the
 * list: an offset, and a function that was named but is none of ftrace's.
 */
static int attach_by_links(struct work *work)
{
    struct place **part = calloc(work->count, sizeof(struct place *));
    size_t left = 0;
    int program = program_for(work, PROGRAM_MULTI), result = part ? 0 : -ENOMEM;

    /* Without the right to load it there is none to load it for another way, either. */
    if (!result && (program == -EPERM || program == -EACCES))
        result = program;
    if (!result && (program < 0 || !bpf_has_kprobe_multi(program)))
        result = -EOPNOTSUPP;
    if (!result)
        result = link_part(work, program, part, select_functions(work, false, false, part));
    if (!result)
        result = link_part(work, program, part, select_functions(work, true, false, part));
    if (!result) {
        work->attachment->function_way = ATTACH_MULTI;
        for (size_t i = 0; i < work->count; i++)
            if (work->functions[i]->offset ||
                (work->functions[i]->error && work->functions[i]->named))
                work->functions[left++] = work->functions[i];
        work->count = left;
    }
    free(part);
    return result;
}

static int attach_event(struct work *work, int event, enum program_kind kind)
{
    if (event < 0)
        return event;
    int program = program_for(work, kind);
    int result = program < 0 ? program : perf_attach(event, program);
    if (result) {
        close(event);
        return result;
    }
    return keep(work->attachment, event);
}

static int attach_by_event(struct work *work, const struct perf_probe_type *type,
                           const struct place *place)
{
    int event = perf_open_kprobe(type, place->at_return, place->name, place->offset,
                                 place->address ? place->address + place->offset : 0);

    return attach_event(work, event, PROGRAM_KPROBE);
}

/* How long the first probes took tells how long all will: closing costs as much again. */
static int refuse_too_many(struct work *work, uint64_t sample_took)
{
    work->attachment->too_many = work->count;
    work->attachment->seconds =
        (double)sample_took * 2 / SAMPLED_PROBES * (double)work->count / 1e9;
    return -E2BIG;
}

static void allow_descriptors(size_t wanted)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= wanted + SPARE_DESCRIPTORS)
        return;
    limit.rlim_cur = wanted + SPARE_DESCRIPTORS;
    if (limit.rlim_max < limit.rlim_cur)
        limit.rlim_max = limit.rlim_cur;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static int attach_by_events(struct work *work)
{
    struct perf_probe_type type;
    int result = perf_probe_type("kprobe", &type);

    if (result)
        return -EOPNOTSUPP;
    /* Known before the first probe: a program that does not load is not one place's fault. */
    int program = program_for(work, PROGRAM_KPROBE);
    if (program < 0)
        return program;
    allow_descriptors(work->count);
    bool asks = work->count > MOST_SINGLE_PROBES && !work->request->force;
    size_t before = work->attachment->attached;
    uint64_t start = now_ns();
    for (size_t i = 0; i < work->count; i++) {
        struct place *place = work->functions[i];
        if (work->request->stop && *work->request->stop)
            return -EINTR;
        result = attach_by_event(work, &type, place);
        if (result && !concerns_one_place(result))
            return result;
        place->error = result; /* an error that a link had is no more */
        work->attachment->attached += !result;
        if (asks && work->attachment->attached == before + SAMPLED_PROBES)
            return refuse_too_many(work, now_ns() - start);
        if (work->request->progress)
            work->request->progress(i + 1, work->count);
    }
    if (work->attachment->function_way == ATTACH_BEST)
        work->attachment->function_way = ATTACH_PMU;
    work->count = 0;
    return 0;
}

/* All entries, or all returns, in one event. */
static int attach_text_part(struct work *work, bool at_return, struct place **part)
{
    uint32_t id, count = select_functions(work, at_return, true, part);

    if (!count)
        return 0;
    int result = attach_text_define(work->request->tracefs, at_return, part, count, &id);
    if (!result)
        result = attach_event(work, perf_open_tracepoint(id), PROGRAM_KPROBE);
    for (uint32_t i = 0; i < count && !result; i++)
        work->attachment->attached += !part[i]->error;
    /* Where none could be defined, every place has its error: that is all there is to say. */
    return part[0]->error && concerns_one_place(result) ? 0 : result;
}

static int attach_by_text(struct work *work)
{
    if (work->request->tracefs < 0)
        return -EOPNOTSUPP;
    struct place **part = calloc(work->count, sizeof(struct place *));
    if (!part)
        return -ENOMEM;
    work->attachment->tracefs = work->request->tracefs;
    work->attachment->function_way = ATTACH_TRACEFS;
    attach_text_sweep(work->request->tracefs);
    int result = attach_text_part(work, false, part);
    if (!result)
        result = attach_text_part(work, true, part);
    work->count = 0;
    free(part);
    return result;
}

/* The best way first; what a way cannot take is left to the next. */
static int attach_functions(struct work *work)
{
    enum attach_way way = work->request->way;
    int result = -EOPNOTSUPP;

    if (!work->count)
        return 0;
    if (way == ATTACH_BEST || way == ATTACH_MULTI)
        result = attach_by_links(work);
    if ((way == ATTACH_BEST && (!result || result == -EOPNOTSUPP) && work->count) ||
        way == ATTACH_PMU)
        result = attach_by_events(work);
    if ((way == ATTACH_BEST && result == -EOPNOTSUPP) || way == ATTACH_TRACEFS)
        result = attach_by_text(work);
    return result;
}

static int attach_tracepoints(struct work *work, struct places *places)
{
    for (size_t i = 0; i < places->count; i++) {
        struct place *place = &places->items[i];
        if (place->kind != PLACE_TRACEPOINT)
            continue;
        if (work->request->stop && *work->request->stop)
            return -EINTR;
        int program = program_for(work, PROGRAM_TRACEPOINT);
        if (program < 0)
            return program;
        int result = attach_event(work, perf_open_tracepoint(place->id), PROGRAM_TRACEPOINT);
        if (result && !concerns_one_place(result))
            return result;
        place->error = result;
        work->attachment->attached += !result;
    }
    return 0;
}

int attach_open(struct attachment *attachment, const struct attach_request *request,
                struct places *places)
{
    struct work work = {.attachment = attachment, .request = request};
    int result = 0, first_error = 0;

    *attachment = (struct attachment){.programs = {-1, -1, -1}, .tracefs = -1};
    work.functions = calloc(places->count ? places->count : 1, sizeof(struct place *));
    if (!work.functions)
        return -ENOMEM;
    for (size_t i = 0; i < places->count; i++)
        if (places->items[i].kind == PLACE_KERNEL_FUNCTION)
            work.functions[work.count++] = &places->items[i];
    allow_descriptors(places->count - work.count);
    result = attach_functions(&work);
    if (!result)
        result = attach_tracepoints(&work, places);
    free(work.functions);
    for (size_t i = 0; i < places->count; i++) {
        attachment->failed += places->items[i].error != 0;
        first_error = first_error ? first_error : places->items[i].error;
    }
    if (!result && !attachment->attached)
        result = first_error ? first_error : -ENOENT;
    return result;
}

void attach_close(struct attachment *attachment)
{
    detach_all(attachment->fds, attachment->count);
    free(attachment->fds);
    attachment->fds = NULL;
    attachment->count = 0;
    for (size_t i = 0; i < COUNT_OF(attachment->programs); i++)
        if (attachment->programs[i] >= 0)
            close(attachment->programs[i]);
    if (attachment->tracefs >= 0)
        attach_text_remove(attachment->tracefs);
    text_free(&attachment->log);
}
