/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Each place has an event of its own: kernels before 5.4 put one probe in the other's place where two have a
 * name, and say nothing. In text a probe can have the caller as an argument, which the kernel's own walk from a
 * function's first instruction leaves out.
 */
#include "rings/ring_attach.h"

#include <errno.h>

#include "attach/attach_text.h"
#include "base/util.h"
#include "insns/layout.h"
#include "kernel/perf.h"
#include "machine/machine.h"

struct work {
    const struct ring_attaching *attaching;
    struct attachment *attachment;
    const struct attach_request *request;
    const struct place *all; /* whose numbers are their indices */
};

static bool at_kernel_start(const struct place *place)
{
    return place->kind == PLACE_KERNEL_FUNCTION && !place->at_return && !place->offset;
}

static const char *caller_of(const struct work *work, const struct place *place)
{
    const bool wanted = at_kernel_start(place) || work->attaching->callers[attach_program_of(place)];

    return wanted ? machine_of_kernel()->caller_text : NULL;
}

static int add(const struct work *work, const struct rings_event *event, const struct place *place,
               const struct tracefs_field *caller)
{
    struct ring_place about = {
        .place = (uint32_t)(place - work->all),
        .flags = work->attaching->flags[attach_program_of(place)],
        .caller = caller->offset,
        .caller_bytes = caller->size,
        .at_entry = work->attaching->callers[attach_program_of(place)],
    };

    if (at_kernel_start(place) && caller->size)
        about.flags |= KEY_KERNEL_START;
    return ring_source_add(work->attaching->source, event, &about);
}

static int define(struct work *work, struct place *place, const char *caller, uint32_t *id)
{
    struct place *one = place;

    place->error = 0;
    int result = attach_text_define(work->request->tracefs, &work->attachment->maker, &one, 1, caller, id);
    return place->error ? place->error : result;
}

static int attach_by_text(struct work *work, struct place *place)
{
    const char *caller = caller_of(work, place);
    struct tracefs_field field = {.size = 0};
    uint32_t id;

    work->attachment->tracefs = work->request->tracefs;
    int result = define(work, place, caller, &id);
    if (result == -EINVAL && caller)
        result = define(work, place, caller = NULL, &id);
    if (!result && caller)
        result = attach_text_find_caller(work->request->tracefs, &work->attachment->maker, &field);
    const struct rings_event event = {.type = PERF_TYPE_TRACEPOINT, .config = id};
    return result ? result : add(work, &event, place, &field);
}

static int attach_by_pmu(const struct work *work, const struct place *place)
{
    static const struct tracefs_field none = {.size = 0};
    const bool user = place->kind == PLACE_USER;
    struct perf_probe_type type;
    int result = perf_probe_type(user ? "uprobe" : "kprobe", &type);

    if (result)
        return result == -ENOENT ? -EOPNOTSUPP : result;
    const bool by_address = !user && place->address;
    const struct rings_event event = {
        .type = type.type,
        .config = (place->at_return ? type.return_bit : 0) | (user ? place->semaphore << 32 : 0),
        .config1 = user ? (uint64_t)(uintptr_t)place->file : by_address ? 0 : (uint64_t)(uintptr_t)place->name,
        .config2 = user ? place->file_offset : (by_address ? place->address : 0) + place->offset,
    };
    return add(work, &event, place, &none);
}

static int attach_probe(struct work *work, struct place *place)
{
    enum attach_way *way = place->kind == PLACE_USER ? &work->attachment->user_way : &work->attachment->kernel_way;

    if (work->request->way == ATTACH_MULTI)
        return -EOPNOTSUPP;
    *way = work->request->way == ATTACH_PMU || work->request->tracefs < 0 ? ATTACH_PMU : ATTACH_TRACEFS;
    return *way == ATTACH_PMU ? attach_by_pmu(work, place) : attach_by_text(work, place);
}

static int attach_place(struct work *work, struct place *place)
{
    static const struct tracefs_field none = {.size = 0};

    if (place->kind != PLACE_TRACEPOINT)
        return attach_probe(work, place);
    return add(work, &(struct rings_event){.type = PERF_TYPE_TRACEPOINT, .config = place->id}, place, &none);
}

int ring_attach(void *context, struct attachment *attachment, const struct attach_request *request,
                struct places *places)
{
    struct work work = {.attaching = context, .attachment = attachment, .request = request,
                        .all = places->items};
    const uint64_t start = now_ns();
    int result = 0, first_error = 0;

    *attachment = (struct attachment){.tracefs = -1};
    for (size_t i = 0; i < ATTACH_PROGRAMS * ATTACH_KINDS; i++)
        attachment->programs[i / ATTACH_KINDS][i % ATTACH_KINDS] = -1;
    attach_allow_descriptors(places->count * work.attaching->source->rings.reading.count);
    if (request->tracefs >= 0)
        attach_text_sweep(request->tracefs);
    for (size_t i = 0; i < places->count; i++) {
        struct place *place = &places->items[i];
        if (request->stop && *request->stop)
            return -EINTR;
        result = attach_place(&work, place);
        if (result && !attach_concerns_one_place(result))
            return result;
        place->error = result;
        attachment->attached += !result;
        attachment->failed += result != 0;
        first_error = first_error ? first_error : result;
        if (request->progress)
            request->progress(i + 1, places->count);
    }
    attachment->attach_ns = now_ns() - start;
    return attachment->attached ? 0 : first_error ? first_error : -ENOENT;
}
