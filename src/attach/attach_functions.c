/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Functions of the kernel: by links, by events, by text. */
#include <errno.h>
#include <stdlib.h>

#include "attach/attach_text.h"
#include "attach/attach_work.h"
#include "find/kernel_functions.h"
#include "kernel/bpf.h"
#include "kernel/perf.h"

static int link_all(struct work *work, int program, struct place **part, uint32_t count)
{
    uint64_t *addresses = calloc(count, sizeof(*addresses));
    const char **names = calloc(count, sizeof(*names));
    uint64_t *cookies;
    bool hidden = false;
    int fd = attach_cookies(work, part, count, &cookies) || !addresses || !names ? -ENOMEM : 0;

    for (uint32_t i = 0; !fd && i < count; i++) {
        addresses[i] = part[i]->address;
        names[i] = part[i]->name;
        hidden = hidden || !part[i]->address;
    }
    const struct bpf_kprobes probes = {
        .at_return = part[0]->at_return,
        .count = count,
        .addresses = hidden ? NULL : addresses,
        .names = names,
        .cookies = cookies,
    };
    if (!fd)
        fd = bpf_link_kprobe_multi(program, &probes);
    free(addresses);
    free(names);
    free(cookies);
    if (fd < 0)
        return fd;
    work->attachment->attached += count;
    return attach_keep(work, fd);
}

/*
 * One link to all. One function that cannot be traced fails it: then the list is cleaned by what
 * ftrace says, which takes a while to read, and what still fails is found by halves.
 */
static int link_part(struct work *work, int program, struct place **part, uint32_t count)
{
    uint32_t left = 0;
    int result = count ? link_all(work, program, part, count) : 0;

    if (!result || !attach_concerns_one_place(result))
        return result;
    if (count > 1 && work->request->tracefs >= 0)
        (void)kernel_functions_sift(work->request->tracefs, part, count);
    for (uint32_t i = 0; i < count; i++)
        if (!part[i]->error)
            part[left++] = part[i];
    return attach_by_halves(work, link_all, program, part, left);
}

static uint32_t select_functions(const struct work *work, bool at_return, bool with_offset,
                                 struct place **part)
{
    uint32_t count = 0;

    for (size_t i = 0; i < work->count; i++)
        if (work->places[i]->at_return == at_return && (with_offset || !work->places[i]->offset))
            part[count++] = work->places[i];
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
    int program = attach_load(work, ATTACH_KERNEL, PROGRAM_MULTI), result = part ? 0 : -ENOMEM;

    /* Without the right to load it there is none to load it for another way, either. */
    if (!result && (program == -EPERM || program == -EACCES))
        result = program;
    if (!result && (program < 0 || !bpf_has_kprobe_multi(program)))
        result = -EOPNOTSUPP;
    if (!result)
        result = attach_check_count(work);
    if (!result)
        result = link_part(work, program, part, select_functions(work, false, false, part));
    if (!result)
        result = link_part(work, program, part, select_functions(work, true, false, part));
    if (!result) {
        work->attachment->kernel_way = ATTACH_MULTI;
        for (size_t i = 0; i < work->count; i++)
            if (work->places[i]->offset || (work->places[i]->error && work->places[i]->named))
                work->places[left++] = work->places[i];
        work->count = left;
    }
    free(part);
    return result;
}

static int open_event(struct work *work, const void *context, const struct place *place)
{
    int event = perf_open_kprobe(context, place->at_return, place->name, place->offset,
                                 place->address ? place->address + place->offset : 0);

    return attach_event_by_link(work, event, place, PROGRAM_PROBE);
}

static int attach_by_events(struct work *work)
{
    struct perf_probe_type type;
    int result = perf_probe_type("kprobe", &type);

    if (result)
        return -EOPNOTSUPP;
    /* Known before the first probe: a program that does not load is not one place's fault. */
    int program = attach_load(work, ATTACH_KERNEL, PROGRAM_PROBE);
    if (program < 0)
        return program;
    result = attach_one_by_one(work, open_event, &type);
    if (!result && work->attachment->kernel_way == ATTACH_BEST)
        work->attachment->kernel_way = ATTACH_PMU;
    return result;
}

static int attach_by_text(struct work *work)
{
    if (work->request->tracefs < 0)
        return -EOPNOTSUPP;
    struct place **part = calloc(work->count, sizeof(struct place *));
    int result = part ? attach_check_count(work) : -ENOMEM;
    if (result) {
        free(part);
        return result;
    }
    work->attachment->tracefs = work->request->tracefs;
    work->attachment->kernel_way = ATTACH_TRACEFS;
    attach_text_sweep(work->request->tracefs);
    result = attach_as_text(work, part, select_functions(work, false, true, part));
    if (!result)
        result = attach_as_text(work, part, select_functions(work, true, true, part));
    work->count = 0;
    free(part);
    return result;
}

/* The best way first; what a way cannot take is left to the next. */
int attach_functions(struct work *work)
{
    enum attach_way way = work->request->way;
    int result = -EOPNOTSUPP;

    attach_leave_out(work);
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
