/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Kernel functions: by links, by events, by text. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attach/attach_work.h"
#include "base/util.h"
#include "find/find.h"
#include "kernel/bpf.h"
#include "kernel/kallsyms.h"
#include "kernel/limits.h"
#include "kernel/perf.h"
#include "machine/machine.h"

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
 * Makes one link to all. One function that cannot be traced makes it fail: then ftrace's list,
 * which takes a while to read, tells which ones can, and halving finds those that still fail.
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

/* Places that can share a program, and a link or event. */
static const struct group {
    enum attach_program which;
    bool at_return;
} groups[] = {{ATTACH_KERNEL_START, false}, {ATTACH_KERNEL, false}, {ATTACH_KERNEL, true}};

static uint32_t select_group(const struct work *work, const struct group *group, bool with_offset,
                             struct place **part)
{
    uint32_t count = 0;

    for (size_t i = 0; i < work->count; i++) {
        struct place *place = work->places[i];
        if (attach_program_of(place) == group->which && place->at_return == group->at_return &&
            (with_offset || !place->offset))
            part[count++] = place;
    }
    return count;
}

static int link_group(struct work *work, const struct group *group, struct place **part)
{
    const uint32_t count = select_group(work, group, false, part);
    int program = count ? attach_load(work, group->which, PROGRAM_MULTI) : 0;

    return program < 0 ? program : link_part(work, program, part, count);
}

/*
 * Links all entries, then all returns. What links cannot do, but events may, stays in the list:
 * offsets, and named functions that ftrace does not list.
 */
static int attach_by_links(struct work *work)
{
    struct place **part = calloc(work->count, sizeof(struct place *));
    size_t left = 0;
    int program = attach_load(work, attach_program_of(work->places[0]), PROGRAM_MULTI);
    int result = part ? 0 : -ENOMEM;

    /* Without the right to load it, no other way can load it, either. */
    if (!result && (program == -EPERM || program == -EACCES))
        result = program;
    if (!result && (program < 0 || !bpf_has_kprobe_multi(program)))
        result = -EOPNOTSUPP;
    if (!result)
        result = attach_check_count(work);
    for (size_t i = 0; i < COUNT_OF(groups) && !result; i++)
        result = link_group(work, &groups[i], part);
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

static int open_at(const struct perf_probe_type *type, const struct place *place, uint64_t offset)
{
    return perf_open_kprobe(type, place->at_return, place->name, offset,
                            place->address ? place->address + offset : 0);
}

static int open_event(struct work *work, const void *context, const struct place *place)
{
    uint64_t offset = place_first(place);
    int event = open_at(context, place, offset);

    if (event == -EINVAL && (offset = place_later(place)))
        event = open_at(context, place, offset);
    return attach_event(work, event, place, PROGRAM_PROBE, true);
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
    for (size_t i = 0; i < COUNT_OF(groups) && !result; i++) {
        const uint32_t count = select_group(work, &groups[i], true, part);
        result = count ? attach_as_text(work, part, count) : 0;
    }
    work->count = 0;
    free(part);
    return result;
}

/* How many places at once make sense, and what is left out of very many. */

/*
 * Functions that a program, the probe before it and its stack walks call. The kernel takes and
 * drops a hit at each such call: tens of them for every hit that counts. With all of them probed, a
 * timer tick can take longer than the time to the next one, and nothing else runs. The words match
 * anywhere in a name; with a ^, at its beginning.
 */
static const char own_path[] =
    "bpf\0" "htab\0" "array_map\0" "stack_map\0" "_map_\0" "lookup_nulls\0" "pcpu_free\0" "jhash\0"
    "unwind\0" "orc_\0" "callchain\0" "get_perf\0" "^stack_\0" "stack_info\0" "in_task_stack\0"
    "in_irq_stack\0" "text_address\0" "module_address\0" "is_module\0" "search_ex\0" "kallsyms\0"
    "kprobe\0" "fprobe\0" "rethook\0" "ftrace\0" "fgraph\0" "trace_\0" "static_call\0" "preempt\0"
    "migrate\0" "irq_work\0" "rcu\0" "raw_spin\0" "resilient\0" "rqspin\0" "clock\0" "ktime\0"
    "memcpy\0" "memset\0";

static bool is_on_own_path(const char *name)
{
    for (const char *word = own_path; *word; word += strlen(word) + 1)
        if (*word == '^' ? starts_with(name, word + 1) : strstr(name, word))
            return true;
    return false;
}

static void drop_failed(struct work *work)
{
    size_t left = 0;

    for (size_t i = 0; i < work->count; i++)
        if (!work->places[i]->error)
            work->places[left++] = work->places[i];
    work->count = left;
}

static bool is_by_name(const struct place *place)
{
    return place->named || place->offset;
}

/* With this many functions, ftrace's list tells which can be traced, instead of trying each. */
static void sift(struct work *work)
{
    if (work->request->tracefs < 0)
        return;
    (void)kernel_functions_sift(work->request->tracefs, work->places, work->count);
    for (size_t i = 0; i < work->count; i++)
        if (is_by_name(work->places[i]))
            work->places[i]->error = 0;
    drop_failed(work);
}

/*
 * If there are more kernel functions than ATTACH_MOST_AT_ONCE: removes those that cannot be traced,
 * and, with `force`, those that tracing itself would hit. Both get their error.
 */
static void attach_leave_out(struct work *work)
{
    if (work->count <= ATTACH_MOST_AT_ONCE)
        return;
    sift(work);
    if (work->count <= ATTACH_MOST_AT_ONCE || !work->request->force)
        return;
    for (size_t i = 0; i < work->count; i++)
        if (!is_by_name(work->places[i]) && is_on_own_path(work->places[i]->name)) {
            work->places[i]->error = ATTACH_LEFT_OUT;
            work->attachment->left_out++;
        }
    drop_failed(work);
}

/*
 * Where ftrace is off, links are made but never called, and so are probes at functions' starts if
 * the kernel makes them by ftrace: refusing is better than a report without events.
 */
static bool is_never_hit(const struct work *work)
{
    for (size_t i = 0; i < work->count; i++)
        if (!work->places[i]->offset)
            return kallsyms_has("kprobe_ftrace_handler");
    return false;
}

/* The best way first; what it cannot attach is left to the next. */
int attach_functions(struct work *work)
{
    enum attach_way way = work->request->way;
    const bool is_off = kernel_ftrace_is_off();
    int result = -EOPNOTSUPP;

    attach_leave_out(work);
    if (!work->count)
        return 0;
    if (is_off && is_never_hit(work))
        return -ESHUTDOWN;
    if (work->request->instead)
        return attach_instead_of_programs(work);
    if (!is_off &&
        (way == ATTACH_MULTI || (way == ATTACH_BEST && !machine_of_kernel()->links_lack_stacks)))
        result = attach_by_links(work);
    if ((way == ATTACH_BEST && (!result || result == -EOPNOTSUPP) && work->count) ||
        way == ATTACH_PMU)
        result = attach_each(work, "kprobe", open_event, &work->attachment->kernel_way);
    if ((way == ATTACH_BEST && result == -EOPNOTSUPP) || way == ATTACH_TRACEFS)
        result = attach_by_text(work);
    return result;
}

int attach_check_count(struct work *work)
{
    const bool of_all = work->request->of_all && work->count && work->places[0]->kind == PLACE_USER;

    if (work->count <= (of_all ? ATTACH_MOST_OF_ALL : ATTACH_MOST_AT_ONCE) || work->request->force)
        return 0;
    work->attachment->too_many = work->count;
    return -E2BIG;
}
