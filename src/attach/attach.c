/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/attach.h"
#include "attach/attach_work.h"
#include "base/util.h"
#include "insns/layout.h"
#include "kernel/bpf.h"
#include "kernel/bpf_abi.h"
#include "kernel/limits.h"
#include "kernel/perf.h"
#include "processes/proc_maps.h"
#include "sandbox/sandbox.h"

static void *close_next(void *context)
{
    struct attachment *attachment = context;
    size_t next;

    while ((next = __atomic_fetch_add(&attachment->closed, 1, __ATOMIC_RELAXED)) <
           attachment->count)
        close(attachment->fds[next]);
    return NULL;
}

/*
 * Closes events and links from `first` on. The kernel waits at each probe that it removes, so
 * several threads close them, and wait at the same time.
 */
static void begin_closing(struct attachment *attachment, size_t first)
{
    attachment->closed = first;
    while (attachment->closers < ATTACH_CLOSERS &&
           attachment->closers < attachment->count - first &&
           !thread_begin(&attachment->threads[attachment->closers], close_next, attachment))
        attachment->closers++;
}

/* This thread closes, too, as the kernel may refuse others. */
static void close_from(struct attachment *attachment, size_t first)
{
    if (!attachment->closers)
        begin_closing(attachment, first);
    close_next(attachment);
    while (attachment->closers)
        pthread_join(attachment->threads[--attachment->closers], NULL);
    attachment->count = first;
}

/* One by one takes some 10 to 100 ms per function: more than this need --force. */
#define MOST_SINGLE_PROBES 400
#define SAMPLED_PROBES 8
#define SPARE_DESCRIPTORS 64

const char *attach_way_name(enum attach_way way, bool user)
{
    static const char *const names[][2] = {
        [ATTACH_BEST] = {"nothing", "nothing"},
        [ATTACH_MULTI] = {"kprobe.multi links", "uprobe.multi links"},
        [ATTACH_PMU] = {"kprobe PMU events", "uprobe PMU events"},
        [ATTACH_TRACEFS] = {"tracefs kprobe_events", "tracefs uprobe_events"},
    };

    return names[way][user];
}

struct search {
    struct stat file;
    uint64_t offset, address; /* in the file, and in memory: 0 so far */
};

/*
 * The last mapping counts: the page where code ends and data begins is mapped twice, first as code.
 */
static int look_at(void *context, const struct maps_entry *entry)
{
    struct search *search = context;

    if (entry->inode == search->file.st_ino && entry->device == search->file.st_dev &&
        search->offset >= entry->offset &&
            search->offset - entry->offset < entry->end - entry->start)
        search->address = entry->start + (search->offset - entry->offset);
    return 0;
}

/* Not atomically, but others change the counter in the same way. */
static int add(int memory, uint64_t address, int difference)
{
    uint16_t listeners;

    if (pread(memory, &listeners, sizeof(listeners), (off_t)address) != sizeof(listeners))
        return -EIO;
    listeners = (uint16_t)(listeners + difference);
    return pwrite(memory, &listeners, sizeof(listeners), (off_t)address) == sizeof(listeners) ? 0
        : -EIO;
}

static int open_memory(uint32_t pid)
{
    char path[32];

    snprintf(path, sizeof(path), "/proc/%u/mem", pid);
    int memory = open(path, O_RDWR | O_CLOEXEC);
    return memory < 0 ? -errno : memory;
}

int semaphores_raise(struct semaphores *semaphores, const struct place *place, uint32_t pid)
{
    struct search search = {.offset = place->semaphore};
    uint32_t shown_by;

    if (stat(place->file, &search.file))
        return -errno;
    int result = maps_each_of(pid, &shown_by, look_at, &search);
    int memory = result ? result : semaphores->count ? semaphores->memory : open_memory(shown_by);
    if (memory < 0)
        result = memory;
    if (!result && !search.address)
        result = -ENOENT;
    if (!result)
        result = ARRAY_RESERVE(semaphores->addresses, semaphores->room, semaphores->count + 1);
    if (!result)
        result = add(memory, search.address, 1);
    if (!result) {
        semaphores->memory = memory;
        semaphores->addresses[semaphores->count++] = search.address;
    } else if (memory >= 0 && !semaphores->count) {
        close(memory);
    }
    return result;
}

/*
 * Lowers each as often as it was raised. A process that has ended, or runs another program, no
 * longer has any of them.
 */
static void semaphores_lower(struct semaphores *semaphores)
{
    for (size_t i = 0; i < semaphores->count; i++)
        (void)add(semaphores->memory, semaphores->addresses[i], -1);
    if (semaphores->count)
        close(semaphores->memory);
    free(semaphores->addresses);
    *semaphores = (struct semaphores){0};
}

/* ---- Shared by all ways ---- */

int attach_cookies(const struct work *work, struct place *const *part, uint32_t count,
                   uint64_t **cookies)
{
    *cookies = work->request->numbered ? calloc(count, sizeof(**cookies)) : NULL;
    for (uint32_t i = 0; *cookies && i < count; i++)
        (*cookies)[i] = (uint64_t)(part[i] - work->all);
    return work->request->numbered && !*cookies ? -ENOMEM : 0;
}

int attach_keep(struct work *work, int fd)
{
    struct attachment *attachment = work->attachment;

    if (ARRAY_RESERVE(attachment->fds, attachment->room, attachment->count + 1)) {
        close(fd);
        return -ENOMEM;
    }
    attachment->fds[attachment->count++] = fd;
    return 0;
}

/*
 * Which program a place gets; and loading it, once for all places that share it, or once for each.
 */

enum attach_program attach_program_of(const struct place *place)
{
    static const enum attach_program by_start[] = {
        [START_NONE] = ATTACH_USER,
        [START_PUSH] = ATTACH_PUSH_START,
        [START_MARK] = ATTACH_MARK_START,
        [START_OTHER] = ATTACH_OTHER_START,
        [START_OF_RETURN] = ATTACH_NESTED,
    };

    if (place->kind != PLACE_USER)
        return place->kind == PLACE_TRACEPOINT ? ATTACH_TRACEPOINT
               : place->start == START_LINK    ? ATTACH_KERNEL_START : ATTACH_KERNEL;
    return place->at_return ? ATTACH_USER : by_start[place->start];
}

const struct attach_variant attach_variants[ATTACH_PROGRAMS] = {
    [ATTACH_KERNEL] = {"of the kernel's functions", false, 0},
    [ATTACH_KERNEL_START] = {"of starts of the kernel's functions", false, KEY_KERNEL_START},
    [ATTACH_TRACEPOINT] = {"of tracepoints", false, KEY_TRACEPOINT},
    [ATTACH_USER] = {"of user programs' events", false, KEY_USER_PROBE},
    [ATTACH_PUSH_START] = {"of functions that begin with a push", true, KEY_USER_PROBE},
    [ATTACH_MARK_START] = {"of functions that begin with endbr64", true, KEY_USER_PROBE | KEY_MARK},
    [ATTACH_OTHER_START] = {"of functions that begin otherwise", true,
                            KEY_USER_PROBE | KEY_NO_CALLER},
    [ATTACH_NESTED] = {"of functions whose returns are traced", false, 0},
};

static struct bpf_load how_to_load(const struct work *work, enum attach_program which,
                                   enum program_kind kind)
{
    return (struct bpf_load){
        .type = kind == PROGRAM_TRACEPOINT ? BPF_PROG_TYPE_TRACEPOINT : BPF_PROG_TYPE_KPROBE,
        .attach_type = kind != PROGRAM_MULTI           ? 0
                       : which <= ATTACH_KERNEL_START ? BPF_ABI_TRACE_KPROBE_MULTI
                                                      : BPF_ABI_TRACE_UPROBE_MULTI,
        .name = work->request->program_name,
        .code = work->request->programs[which],
    };
}

/* Keeps the verifier's log of the last load only: a refused way leaves nothing for the next. */
static int load_logged(struct work *work, const struct bpf_load *load)
{
    text_free(&work->attachment->log);
    return bpf_load_program(load, &work->attachment->log);
}

/*
 * Loads a program that has the place's number built in; a link's program ignores `number`, and
 * fetches the link's cookie at each hit.
 */
static int load_numbered(struct work *work, struct bpf_load load, enum attach_program which,
                         enum program_kind kind, size_t number)
{
    size_t at = work->request->number_at[which];
    struct bpf_insn *insns = calloc(load.code.count, sizeof(*insns));

    if (!insns)
        return -ENOMEM;
    memcpy(insns, load.code.insns, load.code.count * sizeof(*insns));
    insns[at] = kind == PROGRAM_MULTI ? INSN_CODE(CALL(BPF_FUNC_get_attach_cookie))
                                      : INSN_CODE(MOV_IMM(R0, (int32_t)number));
    load.code.insns = insns;
    int program = load_logged(work, &load);
    free(insns);
    return program;
}

int attach_load(struct work *work, enum attach_program which, enum program_kind kind)
{
    const struct bpf_load load = how_to_load(work, which, kind);
    int *program = &work->attachment->programs[which][kind];

    if (*program < 0)
        *program = work->request->numbered ? load_numbered(work, load, which, kind, 0)
                                           : load_logged(work, &load);
    return *program;
}

/* Loads a program for this place alone, with its number. */
static int attach_load_own(struct work *work, const struct place *place, enum program_kind kind)
{
    enum attach_program which = attach_program_of(place);
    struct attachment *attachment = work->attachment;

    if (ARRAY_RESERVE(attachment->own_programs, attachment->own_room, attachment->own_count + 1))
        return -ENOMEM;
    int program = load_numbered(work, how_to_load(work, which, kind), which, kind,
                                (size_t)(place - work->all));
    if (program >= 0)
        attachment->own_programs[attachment->own_count++] = program;
    return program;
}

bool attach_concerns_one_place(int error)
{
    switch (error) {
    case -ESRCH:         /* no such function, or ftrace does not know it */
    case -ENOENT:        /* likewise */
    case -EINVAL:        /* blacklisted, or not a function's address */
    case -EADDRNOTAVAIL: /* several functions have the name */
    case -EILSEQ:        /* between two instructions */
    case -EOPNOTSUPP:
    case -KERNEL_ENOTSUPP: /* an instruction that cannot be single-stepped */
    case -EBUSY:
    case -ERANGE:
        return true;
    }
    return false;
}

static int give_program(struct work *work, int event, const struct place *place,
                        enum program_kind kind, bool by_link)
{
    int program = work->request->numbered ? attach_load_own(work, place, kind)
                                          : attach_load(work, attach_program_of(place), kind);
    int link = program >= 0 && by_link ? bpf_link_perf_event(program, event) : -1;

    if (program < 0)
        return program;
    if (link < 0) /* kernels before 5.15 */
        return perf_attach(event, program);
    return attach_keep(work, link);
}

int attach_event(struct work *work, int event, const struct place *place, enum program_kind kind,
                 bool by_link)
{
    if (event < 0)
        return event;
    int result = give_program(work, event, place, kind, by_link);
    if (result) {
        close(event);
        return result;
    }
    return attach_keep(work, event);
}

int attach_by_halves(struct work *work, attach_link *link, int program, struct place **part,
                     uint32_t count)
{
    int result = count ? link(work, program, part, count) : 0;

    if (!result || !attach_concerns_one_place(result))
        return result;
    if (count == 1) {
        part[0]->error = result;
        return 0;
    }
    result = attach_by_halves(work, link, program, part, count / 2);
    return result ? result
                  : attach_by_halves(work, link, program, part + count / 2, count - count / 2);
}

/*
 * Detaches the first probes, which takes up to a hundred times as long as attaching them: the time
 * of both tells how long all will take.
 */
static int refuse_too_many(struct work *work, size_t kept_before, uint64_t start)
{
    struct attachment *attachment = work->attachment;

    close_from(attachment, kept_before);
    if (attachment->instead && attachment->instead->detach)
        attachment->instead->detach(attachment->context);
    attachment->too_many = work->count;
    attachment->seconds = (double)(now_ns() - start) / SAMPLED_PROBES * (double)work->count / 1e9;
    return -E2BIG;
}

void attach_allow_descriptors(size_t wanted)
{
    struct rlimit limit;

    if (prlimit(0, RLIMIT_NOFILE, NULL, &limit) || limit.rlim_cur >= wanted + SPARE_DESCRIPTORS)
        return;
    limit.rlim_cur = wanted + SPARE_DESCRIPTORS;
    if (limit.rlim_max < limit.rlim_cur)
        limit.rlim_max = limit.rlim_cur;
    prlimit(0, RLIMIT_NOFILE, &limit, NULL);
}

static int attach_one_by_one(struct work *work, attach_open_event *open, const void *context)
{
    bool asks = work->count > MOST_SINGLE_PROBES && !work->request->force;
    size_t before = work->attachment->attached, kept_before = work->attachment->count;
    uint64_t start = now_ns();

    attach_allow_descriptors(work->count * (work->request->numbered ? 3 : 2));
    for (size_t i = 0; i < work->count; i++) {
        struct place *place = work->places[i];
        if (work->request->stop && *work->request->stop)
            return -EINTR;
        int result = open(work, context, place);
        if (result && !attach_concerns_one_place(result))
            return result;
        place->error = result; /* a link's error no longer matters */
        work->attachment->attached += !result;
        if (asks && work->attachment->attached == before + SAMPLED_PROBES)
            return refuse_too_many(work, kept_before, start);
        if (work->request->progress)
            work->request->progress(i + 1, work->count);
    }
    work->count = 0;
    return 0;
}

int attach_each(struct work *work, const char *name, attach_open_event *open, enum attach_way *way)
{
    struct perf_probe_type type;

    if (perf_probe_type(name, &type))
        return -EOPNOTSUPP;
    /* Loads the program before the first probe: if that fails, the place is not the cause. */
    int program = attach_load(work, attach_program_of(work->places[0]), PROGRAM_PROBE);
    if (program < 0)
        return program;
    int result = attach_one_by_one(work, open, &type);
    if (!result && *way == ATTACH_BEST)
        *way = ATTACH_PMU;
    return result;
}

static int attach_text_event(struct work *work, struct place **group, uint32_t count)
{
    struct attachment *attachment = work->attachment;
    uint32_t id;
    int result = attach_text_define(work->request->tracefs, &attachment->maker, group, count, NULL,
                                    &id);

    if (!result)
        result = attach_event(work, perf_open_tracepoint(id), *group, PROGRAM_PROBE, false);
    for (uint32_t i = 0; i < count && !result; i++)
        attachment->attached += !group[i]->error;
    /* If none could be defined, every place has its error: there is nothing more to say. */
    return group[0]->error && attach_concerns_one_place(result) ? 0 : result;
}

int attach_as_text(struct work *work, struct place **group, uint32_t count)
{
    struct attachment *attachment = work->attachment;
    const bool apart = work->request->numbered ||
                       !attach_text_adds(work->request->tracefs, &attachment->maker, *group);
    int result = 0;

    if (apart)
        attach_allow_descriptors(attachment->count + attachment->own_count + 2 * count);
    for (uint32_t i = 0; i < count && !result; i += apart ? 1 : count)
        result = attach_text_event(work, group + i, apart ? 1 : count);
    return result;
}

/* ---- Tracepoints, and all together ---- */

/*
 * A user who may open other events may not open this one: some, such as irq_work's, cannot be
 * sampled at all.
 */
static bool cannot_be_sampled(const struct work *work, const struct place *place, int error)
{
    return error == -EPERM && place->kind == PLACE_TRACEPOINT && work->attachment->attached;
}

static int open_tracepoint(struct work *work, const void *context, const struct place *place)
{
    int event = perf_open_tracepoint(place->id);

    (void)context;
    return cannot_be_sampled(work, place, event) ? -EOPNOTSUPP
        : attach_event(work, event, place, PROGRAM_TRACEPOINT, false);
}

static int open_instead(struct work *work, const void *context, const struct place *place)
{
    const struct attach_instead *instead = context;
    int result = instead->attach(work->request->context, work->attachment, work->request, place,
                                 (size_t)(place - work->all));

    return cannot_be_sampled(work, place, result) ? -EOPNOTSUPP : result;
}

int attach_instead_of_programs(struct work *work)
{
    const struct attach_instead *instead = work->request->instead;
    int result = attach_check_count(work);

    if (!result && work->count && instead->prepare)
        result = instead->prepare(work->request->context, work->request, work->places[0]->kind,
                                  work->count);
    return result ? result : attach_one_by_one(work, open_instead, instead);
}

static int attach_tracepoints(struct work *work)
{
    if (work->request->instead)
        return attach_instead_of_programs(work);
    int program = work->count ? attach_load(work, ATTACH_TRACEPOINT, PROGRAM_TRACEPOINT) : 0;

    return program < 0 ? program : attach_one_by_one(work, open_tracepoint, NULL);
}

static int attach_kind(struct work *work, enum place_kind kind, struct places *places)
{
    work->count = 0;
    for (size_t i = 0; i < places->count; i++)
        if (places->items[i].kind == kind)
            work->places[work->count++] = &places->items[i];
    switch (kind) {
    case PLACE_KERNEL_FUNCTION:
        return attach_functions(work);
    case PLACE_TRACEPOINT:
        return attach_tracepoints(work);
    case PLACE_USER:
        return attach_user_places(work);
    }
    return 0;
}

#define COUNTS_MISSES 0x050e00 /* Linux 5.14 */

/*
 * Text probes' counter of misses has perf's own, too, where no program runs; and before
 * COUNTS_MISSES each page fault of a program that reads user memory.
 */
static bool counts_others(const struct attach_request *request)
{
    return request->instead || (request->user_memory && own_version() < COUNTS_MISSES);
}

int attach_open(struct attachment *attachment, const struct attach_request *request,
                struct places *places)
{
    static const enum place_kind kinds[] = {PLACE_KERNEL_FUNCTION, PLACE_TRACEPOINT, PLACE_USER};
    struct work work = {.attachment = attachment, .request = request, .all = places->items};
    const uint64_t start = now_ns();
    int result = 0, first_error = 0;

    *attachment = (struct attachment){.tracefs = -1, .instead = request->instead,
                                      .context = request->context,
                                      .no_text_misses = counts_others(request)};
    for (size_t i = 0; i < ATTACH_PROGRAMS * ATTACH_KINDS; i++)
        attachment->programs[i / ATTACH_KINDS][i % ATTACH_KINDS] = -1;
    work.places = calloc(places->count ? places->count : 1, sizeof(struct place *));
    if (!work.places)
        return -ENOMEM;
    for (size_t i = 0; i < COUNT_OF(kinds) && !result; i++)
        result = attach_kind(&work, kinds[i], places);
    free(work.places);
    for (size_t i = 0; i < places->count; i++) {
        if (!places->items[i].error || places->items[i].error == ATTACH_LEFT_OUT)
            continue;
        attachment->failed++;
        first_error = first_error ? first_error : places->items[i].error;
    }
    attachment->attach_ns = now_ns() - start;
    if (!result && !attachment->attached)
        result = first_error ? first_error : -ENOENT;
    return result;
}

uint64_t attach_missed(const struct attachment *attachment)
{
    uint64_t missed = 0;

    if (attachment->ended)
        return attachment->missed;
    for (size_t i = 0; i < ATTACH_NESTED * ATTACH_KINDS; i++)
        missed += misses_of_program(attachment->programs[i / ATTACH_KINDS][i % ATTACH_KINDS]);
    for (size_t i = 0; i < attachment->own_count; i++)
        missed += misses_of_program(attachment->own_programs[i]);
    missed += misses_of_links(attachment->fds, attachment->count);
    if (attachment->tracefs >= 0 && !attachment->no_text_misses)
        missed += attach_text_missed(attachment->tracefs, &attachment->maker);
    return missed;
}

/*
 * A run that leaves closing to children ends without waiting for grace periods. But text probes can
 * only be removed when their events are closed; programs must not keep breakpoints and raised
 * semaphores; and in a container whose init does not reap orphans, each child would stay a zombie.
 */
static bool may_outlive_us(const struct attachment *attachment)
{
    return attachment->tracefs < 0 && attachment->user_way == ATTACH_BEST &&
        in_initial_pid_namespace();
}

void attach_end(struct attachment *attachment)
{
    if (attachment->instead)
        return;
    attachment->missed = attach_missed(attachment);
    attachment->ended = true;
    if (!may_outlive_us(attachment))
        begin_closing(attachment, 0);
}

/* A child's exit closes its share, after the parent has closed all. `share` fits one more. */
static void be_closer(int *share, size_t count, int closed)
{
    char none;

    share[count] = closed;
    close_all_but(share, count + 1);
    (void)!read(closed, &none, 1);
    _exit(0);
}

/*
 * Children are the last to have everything open, and their exit closes it, however they end. They
 * wait until the returned descriptor is closed; below 0: there are none.
 */
static int leave_to_children(struct attachment *attachment)
{
    const size_t count = attachment->count;
    const size_t children = count < ATTACH_CLOSERS ? count : ATTACH_CLOSERS;
    int ends[2];

    if (!children || pipe2(ends, O_CLOEXEC))
        return -1;
    if (!ARRAY_RESERVE(attachment->fds, attachment->room, count + 1))
        for (size_t i = 0; i < children; i++) {
            const size_t first = count * i / children, end = count * (i + 1) / children;
            if (!fork())
                be_closer(attachment->fds + first, end - first, ends[0]);
        }
    close(ends[0]);
    return ends[1];
}

int attach_close(struct attachment *attachment)
{
    int result = 0, closing = -1;

    semaphores_lower(&attachment->semaphores);
    if (attachment->instead && attachment->instead->detach)
        attachment->instead->detach(attachment->context);
    if (attachment->ended && may_outlive_us(attachment))
        closing = leave_to_children(attachment);
    close_from(attachment, 0);
    close_fd(closing);
    free(attachment->fds);
    attachment->fds = NULL;
    for (size_t i = 0; i < ATTACH_PROGRAMS * ATTACH_KINDS; i++)
        close_fd(attachment->programs[i / ATTACH_KINDS][i % ATTACH_KINDS]);
    for (size_t i = 0; i < attachment->own_count; i++)
        close(attachment->own_programs[i]);
    free(attachment->own_programs);
    attachment->own_programs = NULL;
    attachment->own_count = 0;
    if (attachment->tracefs >= 0)
        result = attach_text_remove(attachment->tracefs, &attachment->maker);
    text_free(&attachment->log);
    return result;
}
