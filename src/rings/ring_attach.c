/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Each place has its own event: before 5.4, defining a probe with the name of another silently
 * replaces it. A text probe can fetch the caller as an argument, which the kernel's own walk leaves
 * out at a function's first instruction.
 */
#include "rings/ring_attach.h"

#include <errno.h>
#include <unistd.h>

#include "attach/attach_text.h"
#include "insns/layout.h"
#include "kernel/perf.h"
#include "machine/machine.h"

struct work {
    struct ring_source *source;
    struct attachment *attachment;
    const struct attach_request *request;
    const struct place *place;
    size_t number;
};

static const struct tracefs_field nowhere = {.size = 0};

static bool at_kernel_start(const struct place *place)
{
    return place->kind == PLACE_KERNEL_FUNCTION && !place->at_return && !place->offset;
}

static const char *caller_of(const struct place *place)
{
    const struct machine *kernel = machine_of_kernel();
    const bool wanted = at_kernel_start(place) ||
                        (attach_variants[attach_program_of(place)].caller && !kernel->link_first);

    return wanted ? kernel->caller_text : NULL;
}

static int add(const struct work *work, const struct rings_event *event, const struct tracefs_field *caller)
{
    struct ring_place about = {
        .place = (uint32_t)work->number,
        .flags = attach_variants[attach_program_of(work->place)].flags,
        .caller = caller->offset,
        .caller_bytes = caller->size,
        .thumb = machine_of_kernel()->marks.thumb != 0,
        .at_entry = attach_variants[attach_program_of(work->place)].caller,
    };

    if (at_kernel_start(work->place) && caller->size)
        about.flags |= KEY_KERNEL_START;
    return ring_source_add(work->source, event, &about);
}

static int define(const struct work *work, const char *caller, uint32_t *id)
{
    struct place place = *work->place, *one = &place;

    place.error = 0;
    int result = attach_text_define(work->request->tracefs, &work->attachment->maker, &one, 1, caller, id);
    return place.error ? place.error : result;
}

static int attach_by_text(const struct work *work)
{
    const char *caller = caller_of(work->place);
    struct tracefs_field field = nowhere;
    uint32_t id;

    work->attachment->tracefs = work->request->tracefs;
    int result = define(work, caller, &id);
    if (result == -EINVAL && caller)
        result = define(work, caller = NULL, &id);
    if (!result && caller)
        result = attach_text_find_caller(work->request->tracefs, &work->attachment->maker, &field);
    const struct rings_event event = {.type = PERF_TYPE_TRACEPOINT, .config = id};
    return result ? result : add(work, &event, &field);
}

static int attach_at(const struct work *work, const struct perf_probe_type *type, uint64_t offset)
{
    const struct place *place = work->place;
    const bool user = place->kind == PLACE_USER, by_address = !user && place->address;
    const struct rings_event event = {
        .type = type->type,
        .config = (place->at_return ? type->return_bit : 0) | (user ? place->semaphore << 32 : 0),
        .config1 = user ? (uint64_t)(uintptr_t)place->file : by_address ? 0 : (uint64_t)(uintptr_t)place->name,
        .config2 = user ? place->file_offset : (by_address ? place->address : 0) + offset,
    };

    return user && place->semaphore > UINT32_MAX ? -EOVERFLOW : add(work, &event, &nowhere);
}

static const char *pmu_of(enum place_kind kind)
{
    return kind == PLACE_USER ? "uprobe" : "kprobe";
}

static int attach_by_pmu(const struct work *work)
{
    const uint64_t later = place_later(work->place);
    struct perf_probe_type type;
    int result = perf_probe_type(pmu_of(work->place->kind), &type);

    if (!result)
        result = attach_at(work, &type, place_first(work->place));
    return result == -EINVAL && later ? attach_at(work, &type, later) : result;
}

static bool is_by_pmu(const struct attach_request *request)
{
    return request->way == ATTACH_PMU || request->tracefs < 0;
}

static int attach_place(void *context, struct attachment *attachment, const struct attach_request *request,
                        const struct place *place, size_t number)
{
    const struct work work = {context, attachment, request, place, number};
    const bool user = place->kind == PLACE_USER;

    if (place->kind == PLACE_TRACEPOINT)
        return add(&work, &(struct rings_event){.type = PERF_TYPE_TRACEPOINT, .config = place->id}, &nowhere);
    *(user ? &attachment->user_way : &attachment->kernel_way) = is_by_pmu(request) ? ATTACH_PMU : ATTACH_TRACEFS;
    return is_by_pmu(request) ? attach_by_pmu(&work) : attach_by_text(&work);
}

static int prepare(void *context, const struct attach_request *request, enum place_kind kind, size_t count)
{
    const struct ring_source *source = context;
    struct perf_probe_type type;

    attach_allow_descriptors(rings_descriptors(&source->rings, count));
    if (kind == PLACE_TRACEPOINT)
        return 0;
    if (is_by_pmu(request))
        return perf_probe_type(pmu_of(kind), &type) ? -EOPNOTSUPP : 0;
    attach_text_sweep(request->tracefs);
    return faccessat(request->tracefs, kind == PLACE_USER ? "uprobe_events" : "kprobe_events", W_OK, 0)
               ? errno == ENOENT ? -EOPNOTSUPP : -errno : 0;
}

static void detach(void *context)
{
    ring_source_detach(context);
}

const struct attach_instead ring_attach = {prepare, attach_place, detach};
