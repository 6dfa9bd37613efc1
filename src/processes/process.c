/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The tracker's sources: what /proc shows, and what the kernel reports. */
#include "processes/process_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading.h"
#include "base/util.h"
#include "machine/machine.h"
#include "processes/proc_maps.h"

/* How long a record may be on its way from another CPU. */
#define ON_ITS_WAY_NS 1000000

/* How long we rely on a file that was found unchanged. */
#define LOOK_AGAIN_NS 4000000

/* How many processes are looked at between two reads of reports. */
#define READ_EVERY 64

/* ---- Looking at what is mapped now ---- */

struct look {
    struct processes *processes;
    struct image *image;
    uint32_t shown_by;
    const uint64_t *addresses; /* sorted; NULL: all executable mappings */
    size_t count;
};

static bool is_wanted(const struct look *look, const struct maps_entry *entry)
{
    if (!look->addresses)
        return true;
    size_t first = first_not_below(look->addresses, look->count, entry->start);
    return first < look->count && look->addresses[first] < entry->end;
}

/* The path of a file that is open already is not needed. */
static bool is_known(void *context, const struct maps_entry *entry)
{
    const struct look *look = context;

    return mapped_files_knows(look->processes->files, entry->device, entry->inode);
}

static int take_mapping(void *context, const struct maps_entry *entry)
{
    struct look *look = context;
    const struct mapped_sight sight = {
        .start = entry->start, .end = entry->end, .device = entry->device, .inode = entry->inode,
        .path = entry->path, .pid = look->shown_by,
    };
    struct mapping mapping = {.start = entry->start, .end = entry->end};

    if (!is_wanted(look, entry))
        return 0;
    mapping.offset = entry->inode ? entry->offset : 0;
    mapping.file = mapped_files_see(look->processes->files, &sight);
    if (!mapping.file)
        return -ENOMEM;
    int result = image_add(&look->image, look->processes->files, &mapping);
    return result == -ENOSPC ? 0 : result;
}

/*
 * Reads what a process has mapped now: everything executable, or whatever holds one of the sorted
 * addresses. 0, with an image whose reference is the caller's; -ENOENT if the process is gone or
 * shows no executable memory; or another negative errno.
 */
static int look_up(struct processes *processes, uint32_t pid, const uint64_t *addresses,
                          size_t count, struct image **image)
{
    struct look look = {.processes = processes, .addresses = addresses, .count = count};

    look.image = image_make();
    if (!look.image)
        return -ENOMEM;
    int result = addresses ? maps_each_of(pid, &look.shown_by, take_mapping, &look)
                           : maps_each_executable(pid, &look.shown_by, take_mapping, is_known,
                                                  &look);
    if (!result && !look.image->count && !addresses)
        result = -ENOENT;
    /* Processes that ended meanwhile, and those we may not look at, do not count. */
    processes->unread += result && result != -ENOENT && result != -ESRCH && result != -EACCES &&
                         result != -EPERM;
    if (result) {
        image_drop(look.image, processes->files);
        look.image = NULL;
    }
    *image = look.image;
    return result;
}

/* ---- What the kernel reports ---- */

static bool is_wanted_pid(const struct processes *processes, uint32_t pid)
{
    return !processes->pid_count || has_number(processes->pids, processes->pid_count, pid);
}

static void keep_result(struct processes *processes, int result)
{
    if (result == -ENOMEM)
        processes->result = result;
}

/*
 * Begins a life whose beginning was not reported, as /proc shows it now; if that fails, with the
 * image `known`, or an empty one.
 */
static struct life *begin_unknown(struct processes *processes, uint32_t pid, uint64_t time,
                                  struct image *known)
{
    uint64_t from = now_ns();
    struct image *image;
    int looked = look_up(processes, pid, NULL, 0, &image);
    bool seen = !looked;

    keep_result(processes, looked);
    if (!seen && known)
        image_hold(known);
    if (!seen)
        image = known ? known : image_make();
    /* After a previous life of the pid; without one, it may have begun before we looked. */
    if (!history_newest(&processes->history, pid))
        time = known ? time : 0;
    enum program_origin origin = seen || !known ? PROGRAM_SEEN : PROGRAM_INHERITED;
    struct life *life =
        image ? history_begin(&processes->history, pid, time, origin, image) : NULL;
    if (!life) {
        processes->result = -ENOMEM;
    } else if (seen) {
        (void)processes_read_name(pid, pid, life->programs->name);
        life->seen = from;
        life->seen_until = now_ns();
        if (image_has_anonymous(image))
            look_at_owner(processes, life);
    }
    return life;
}

static struct life *life_of(struct processes *processes, const struct task_event *event)
{
    struct life *life = history_living(&processes->history, event->pid);

    return life ? life : begin_unknown(processes, event->pid, event->time, NULL);
}

/*
 * A new process has the name of the thread that forked it. No report names threads other than the
 * first, so /proc is read; a thread that is gone most likely had its process's name.
 */
static void inherit_name(struct program *program, const struct life *parent,
                         const struct task_event *event)
{
    const bool by_first = event->forker == event->parent;

    program->name_guessed = !by_first || parent->programs->name_guessed;
    if (by_first || !processes_read_name(event->parent, event->forker, program->name))
        memcpy(program->name, parent->programs->name, sizeof(program->name));
}

static void take_fork(struct processes *processes, const struct task_event *event)
{
    struct life *life = history_living(&processes->history, event->pid), *parent;

    if (event->pid == event->parent) {
        if (life && life->threads)
            life->threads++;
        return;
    }
    if (life && event->time <= life->seen_until) { /* the first look saw this process already */
        life->forked = event->time;
        life->parent = event->parent;
        return;
    }
    parent = history_living(&processes->history, event->parent);
    struct image *image = parent ? parent->programs->image : NULL;
    if (parent && event->time >= parent->seen) {
        image_hold(image);
        life = history_begin(&processes->history, event->pid, event->time, PROGRAM_INHERITED,
                             image);
        if (life)
            inherit_name(life->programs, parent, event);
    } else {
        /* The look at /proc may have seen the parent after an exec that followed this fork. */
        life = begin_unknown(processes, event->pid, event->time, image);
    }
    if (!life) {
        processes->result = -ENOMEM;
        return;
    }
    life->parent = event->parent;
    if (!life->seen)
        life->threads = 1;
}

static void take_exec(struct processes *processes, const struct task_event *event)
{
    struct life *life = life_of(processes, event);

    if (!life || event->time < life->seen)
        return;
    struct image *image = image_make();
    if (image)
        keep_result(processes, history_exec(&processes->history, life, event->time, image));
    else
        processes->result = -ENOMEM;
    life->threads = 1; /* exec ended all others */
    life->first_thread_ended = 0;
}

static void take_name(struct processes *processes, const struct task_event *event)
{
    struct life *life = history_living(&processes->history, event->pid);

    if (!life || !event->path || event->time < life->seen)
        return;
    snprintf(life->programs->name, sizeof(life->programs->name), "%s", event->path);
    life->programs->name_guessed = false;
}

static struct mapped_file *see_file(struct processes *processes, const struct task_event *event)
{
    const struct life *life = history_living(&processes->history, event->pid);
    const struct mapped_sight sight = {
        .start = event->start, .end = event->end, .device = event->device,
        .inode = event->inode, .generation = event->generation, .path = event->path,
        .pid = event->pid, .parent = life ? life->parent : 0, .time = event->time,
    };

    return mapped_files_see(processes->files, &sight);
}

/*
 * After an exec that changes the user, or of a file that its user may not read, the kernel reports
 * an exit, though the task goes on: what its program maps comes next. If nothing comes, the exec
 * has failed, and end_who_is_gone() ends the life.
 */
static bool has_only_begun(const struct life *life)
{
    return life->programs->origin == PROGRAM_EXECUTED && !life->programs->image->count;
}

static void take_map(struct processes *processes, const struct task_event *event)
{
    struct life *life = life_of(processes, event);
    struct mapping mapping = {.start = event->start, .end = event->end,
                              .offset = event->inode ? event->offset : 0};

    if (!life || event->time < life->seen)
        return;
    mapping.file = see_file(processes, event);
    if (!mapping.file) {
        processes->result = -ENOMEM;
        return;
    }
    bool anonymous = mapping.file->kind == MAPPED_ANONYMOUS;
    if (has_only_begun(life))
        life->first_thread_ended = 0;
    keep_result(processes, history_map(&processes->history, life, &mapping, event->time));
    if (anonymous)
        look_at_owner(processes, life);
}

static void take_exit(struct processes *processes, const struct task_event *event)
{
    struct life *life = history_living(&processes->history, event->pid);

    if (!life || event->time < life->seen)
        return;
    if (event->tid == event->pid)
        life->first_thread_ended = event->time;
    if (has_only_begun(life))
        return;
    /*
     * If its threads were not counted, this may not be the last exit: another thread may be about
     * to exec, and /proc shows a later state.
     */
    if (life->threads && !--life->threads)
        history_end(&processes->history, life, event->time);
}

void processes_take(void *context, const struct task_event *event)
{
    struct processes *processes = context;

    if (event->kind == TASK_LOST) {
        processes->lost_records += event->lost;
        processes->lost_at = event->time;
        return;
    }
    if (!is_wanted_pid(processes, event->pid))
        return;
    switch (event->kind) {
    case TASK_FORK:
        take_fork(processes, event);
        break;
    case TASK_EXEC:
        take_exec(processes, event);
        take_name(processes, event);
        break;
    case TASK_NAME:
        take_name(processes, event);
        break;
    case TASK_MAP:
        take_map(processes, event);
        break;
    default:
        take_exit(processes, event);
    }
}

void processes_tell(struct processes *processes, const struct task_event *event)
{
    processes_hold(processes);
    processes_take(processes, event);
    processes_release(processes);
}

/* Takes as new whatever differs from what is known. */
static void see_image(struct processes *processes, struct life *life, const struct image *image)
{
    const uint64_t now = now_ns();

    for (size_t i = 0; i < image->count; i++) {
        struct mapping mapping = image->mappings[i];
        const struct mapping *known = image_find(life->programs->image, mapping.start);
        if (known && known->start == mapping.start && known->end == mapping.end &&
            replaced_is_same(known, &mapping))
            continue;
        mapped_file_hold(mapping.file);
        keep_result(processes, history_map(&processes->history, life, &mapping, now));
    }
    if (image_has_anonymous(image))
        look_at_owner(processes, life);
}

void processes_see(struct processes *processes, uint32_t pid)
{
    struct image *image;

    processes_hold(processes);
    struct life *life = history_living(&processes->history, pid);
    if (!life) {
        (void)begin_unknown(processes, pid, now_ns(), NULL);
    } else if (!look_up(processes, pid, NULL, 0, &image)) {
        see_image(processes, life, image);
        image_drop(image, processes->files);
    }
    processes_release(processes);
}

/* Holds a file. 0 or -ENOMEM. */
static int lend(struct loans *loans, struct mapped_file *file, uint64_t time)
{
    if (ARRAY_RESERVE(loans->items, loans->room, loans->count + 1))
        return -ENOMEM;
    mapped_file_hold(file);
    loans->items[loans->count++] = (struct loan){file, time};
    return 0;
}

/* Gives back files that were lent up to `time`. */
static void take_back(struct processes *processes, struct loans *loans, uint64_t time)
{
    size_t kept = 0;

    for (size_t i = 0; i < loans->count; i++) {
        if (loans->items[i].time <= time)
            mapped_file_drop(processes->files, loans->items[i].file);
        else
            loans->items[kept++] = loans->items[i];
    }
    loans->count = kept;
}

/*
 * Opens a file as soon as it is reported, and holds it until the record is taken: its process may
 * be gone by then. True: the file, or a JIT's process, is new.
 */
static bool see_event(void *context, const struct task_event *event)
{
    struct processes *processes = context;

    if (event->kind != TASK_MAP || !is_wanted_pid(processes, event->pid))
        return false;
    struct mapped_file *file = see_file(processes, event);
    if (!file)
        return false;
    struct life *life = history_living(&processes->history, event->pid);
    const bool is_new = file->kind == MAPPED_ANONYMOUS ? !life || look_at_owner(processes, life)
                                                       : mapped_file_is_last(file);
    keep_result(processes, lend(&processes->early, file, event->time));
    mapped_file_drop(processes->files, file);
    return is_new;
}

/* Not for each of thousands of short processes: file times are not as fine, either. */
static void look_again(struct processes *processes)
{
    uint64_t now = now_ns();

    if (now - processes->looked_again < LOOK_AGAIN_NS)
        return;
    processes->looked_again = now;
    mapped_files_look_again(processes->files);
}

/* Takes reports up to `until`. 0 or -ENOMEM. */
static int read_until(struct processes *processes, uint64_t until)
{
    if (!processes->events)
        return 0;
    processes_hold(processes);
    processes->result = 0;
    look_again(processes);
    task_events_read(processes->events, until, see_event, processes_take, processes);
    take_back(processes, &processes->early, until);
    int result = processes->result;
    processes_release(processes);
    return result;
}

int processes_read(struct processes *processes)
{
    processes->read = now_ns();
    return read_until(processes, now_ns() - ON_ITS_WAY_NS);
}

/* ---- The first look ---- */

/* Takes reports now and then meanwhile, as the rings do not have room for all of them. */
static int look_at(void *context, uint32_t pid)
{
    struct processes *processes = context;

    if (!history_living(&processes->history, pid))
        (void)begin_unknown(processes, pid, 0, NULL);
    return processes->result || ++processes->looked % READ_EVERY
        ? processes->result : processes_read(processes);
}

/* Looks at all processes, or at those asked for. 0 or a negative errno. */
static int look_at_all(struct processes *processes)
{
    processes->result = 0;
    for (size_t i = 0; i < processes->pid_count; i++)
        (void)begin_unknown(processes, processes->pids[i], 0, NULL);
    if (processes->pid_count)
        return processes->result;
    const int result = each_number("/proc", look_at, processes);
    return result == -ENOENT ? 0 : result;
}

/* ---- Finding ---- */

/* How long a thread may wait for the others to end before it execs. */
#define EXEC_TAKES_NS 1000000000

/* How long an event with a time may wait until events are sorted and looked up. */
#define EVENTS_WAIT_NS 10000000000

static bool is_running(const struct life *life, const struct program *program)
{
    return !life || (!life->ended && life->programs == program);
}

/* If records were lost since the program was known to be right, looks at what still runs again. */
static void make_sure(struct processes *processes, struct life *life, struct program *program)
{
    uint64_t from = now_ns(), known = program->since;
    struct image *image;

    if (life->seen > known)
        known = life->seen;
    if (!processes->lost_at || processes->lost_at < known || !is_running(life, program) ||
        look_up(processes, life->pid, NULL, 0, &image))
        return;
    history_see(&processes->history, life, image);
    life->seen = from;
    life->seen_until = now_ns();
}

/* What the addresses are looked up in. */
struct search {
    const struct image *image;
    const struct replaced_list *replaced; /* NULL: nothing is known about earlier mappings */
    uint32_t epoch;
};

/* Did a mapping before the `end`th have this name? */
static bool has_label(const struct processes *processes, const struct search *search,
                      uint64_t address, size_t end, const char *label)
{
    const struct mapping *mapping;
    size_t at = 0;

    while ((mapping = replaced_next(search->replaced, address, processes->window, &at)) && at < end)
        if (!strcmp(mapping->file->label, label))
            return true;
    return false;
}

/* Names all mappings at this address in this window, oldest first. NULL: out of memory. */
static const char *label_unsure(struct processes *processes, const struct search *search,
                                const struct mapping *now, uint64_t address)
{
    const struct mapping *mapping;
    struct text label = {0};
    size_t at = 0;

    text_add(&label, "[");
    while ((mapping = replaced_next(search->replaced, address, processes->window, &at)))
        if (!has_label(processes, search, address, at, mapping->file->label))
            text_format(&label, "%s or ", mapping->file->label);
    text_format(&label, "%s%s]",
                has_label(processes, search, address, SIZE_MAX, now->file->label) ? "another " : "",
                now->file->label);
    if (label.failed ||
        ARRAY_RESERVE(processes->unsure, processes->unsure_room, processes->unsure_count + 1)) {
        text_free(&label);
        return NULL;
    }
    processes->unsure[processes->unsure_count++] = label;
    return label.data;
}

static bool is_unsure(const struct processes *processes, const struct search *search,
                      const struct mapping *now, uint64_t address)
{
    const struct mapping *mapping;
    size_t at = 0;

    while ((mapping = replaced_next(search->replaced, address, processes->window, &at)))
        if (!replaced_is_same(mapping, now))
            return true;
    return false;
}

static int fill_in(struct processes *processes, const struct search *search, uint64_t address,
                   struct process_place *place)
{
    const struct mapping *mapping = image_find(search->image, address), *before = NULL;

    if (search->replaced && search->epoch)
        before = replaced_find(search->replaced, search->epoch, address);
    mapping = before ? before : mapping;
    if (!mapping)
        return 0;
    if (search->replaced && !search->epoch && is_unsure(processes, search, mapping, address)) {
        *place = (struct process_place){
            .kind = MAPPED_OTHER, .label = label_unsure(processes, search, mapping, address),
            .address = address - mapping->start,
        };
        return place->label ? 0 : -ENOMEM;
    }
    *place = (struct process_place){
        .kind = mapping->file->kind, .file = mapping->file, .label = mapping->file->label,
        .address = address - mapping->start + mapping->offset,
    };
    return lend(&processes->lent, mapping->file, 0);
}

static int fill_in_all(struct processes *processes, const struct search *search,
                       const uint64_t *addresses, size_t count, struct process_place *places,
                       size_t *missing)
{
    int result = 0;

    *missing = 0;
    for (size_t i = 0; i < count && !result; i++) {
        if (places[i].kind == MAPPED_NOTHING)
            result = fill_in(processes, search, addresses[i], &places[i]);
        *missing += places[i].kind == MAPPED_NOTHING;
    }
    return result;
}

/* What kernels of this machine map into all programs at a fixed address. */
static void fill_in_fixed(const uint64_t *addresses, size_t count, struct process_place *places)
{
    const struct machine_fixed *fixed = machine_ours()->fixed;

    for (size_t i = count; fixed && i && addresses[i - 1] >= fixed->start; i--)
        if (places[i - 1].kind == MAPPED_NOTHING && addresses[i - 1] < fixed->end)
            places[i - 1] = (struct process_place){.kind = MAPPED_OTHER, .label = fixed->label,
                                                   .address = addresses[i - 1] - fixed->start};
}

void processes_hold(struct processes *processes)
{
    pthread_mutex_lock(&processes->lock);
}

void processes_release(struct processes *processes)
{
    pthread_mutex_unlock(&processes->lock);
}

int processes_settle(struct processes *processes)
{
    return read_until(processes, UINT64_MAX);
}

uint32_t processes_epoch(struct processes *processes, uint32_t pid, uint64_t generation,
                         uint64_t time)
{
    struct life *life;
    const struct program *program =
        history_find(&processes->history, pid, generation, processes->begin, &life);

    return program && (program->replaced.count || program->replaced.forgotten)
               ? replaced_epoch(&program->replaced, time)
               : 0;
}

void processes_ends_forgotten(struct processes *processes)
{
    processes->history.ends_forgotten = true;
}

void processes_watch(struct processes *processes, processes_mapped *mapped, void *context)
{
    history_watch(&processes->history, mapped, context);
}

struct mapped_files *processes_files(const struct processes *processes)
{
    return processes->files;
}

uint64_t processes_generation_at(const struct processes *processes, uint32_t pid, uint64_t time)
{
    return history_generation_at(&processes->history, pid, time, processes->begin);
}

struct mapped_file *processes_code_at(struct processes *processes, uint32_t pid, uint64_t time,
                                      uint64_t *address)
{
    struct life *life;
    struct program *program = history_find_at(&processes->history, pid, time, &life);
    const struct mapping *mapping = NULL;

    if (!program)
        return NULL;
    make_sure(processes, life, program);
    if (program->replaced.count || program->replaced.forgotten)
        mapping =
            replaced_find(&program->replaced, replaced_epoch(&program->replaced, time), *address);
    if (!mapping)
        mapping = image_find(program->image, *address);
    if (!mapping)
        return NULL;
    *address += mapping->offset - mapping->start;
    return mapping->file;
}

static int find(struct processes *processes, uint32_t pid, uint64_t generation, uint32_t epoch,
                const uint64_t *addresses, size_t count, struct process_place *places)
{
    struct life *life = NULL;
    size_t missing = count;
    struct image *image;

    for (size_t i = 0; i < count; i++)
        places[i] = (struct process_place){.label = ""};
    int result = read_until(processes, UINT64_MAX);
    if (history_is_in_doubt(&processes->history, pid, generation, processes->begin)) {
        processes->doubtful++;
        fill_in_fixed(addresses, count, places);
        return result;
    }
    struct program *program =
        history_find(&processes->history, pid, generation, processes->begin, &life);
    if (program) {
        make_sure(processes, life, program);
        if (!result)
            result = fill_in_all(processes,
                                 &(struct search){program->image, &program->replaced, epoch},
                                 addresses, count, places, &missing);
    }
    if (result)
        return result;
    fill_in_fixed(addresses, count, places);
    if (!missing || (program && !is_running(life, program)))
        return 0;
    mapped_files_look_again(processes->files);
    /* What was not reported: all if not listening, what is not executable, what was moved. */
    result = look_up(processes, pid, addresses, count, &image);
    if (result)
        return result == -ENOMEM ? result : program ? 0 : result;
    result = fill_in_all(processes, &(struct search){.image = image}, addresses, count, places,
                         &missing);
    image_drop(image, processes->files);
    return result;
}

int processes_find(struct processes *processes, uint32_t pid, uint64_t generation, uint32_t epoch,
                   const uint64_t *addresses, size_t count, struct process_place *places)
{
    processes_hold(processes);
    int result = find(processes, pid, generation, epoch, addresses, count, places);
    processes_release(processes);
    return result;
}

/* Ends lives that may be over although no report has said so. */
static void end_who_is_gone(struct processes *processes)
{
    bool any_lost = processes->lost_records > processes->lost_before;
    struct history *history = &processes->history;

    for (size_t i = 0; i < history->bucket_count; i++)
        for (struct life *life = history->buckets[i], *next; life; life = next) {
            next = life->next;
            if (life->ended)
                continue;
            /*
             * Its first thread has ended, and there is no other. Not just now, when another thread
             * may be about to exec and take the first one's place.
             */
            const bool has_ended = life->first_thread_ended &&
                                   now_ns() - life->first_thread_ended > EXEC_TAKES_NS &&
                                   !maps_has_threads(life->pid);
            if (has_ended || (any_lost && !task_exists(life->pid))) {
                history_end(history, life, now_ns());
                next = history->buckets[i]; /* history_end() may have freed others */
            }
        }
    processes->lost_before = processes->lost_records;
}

static void forget_unsure(struct processes *processes)
{
    for (size_t i = 0; i < processes->unsure_count; i++)
        text_free(&processes->unsure[i]);
    processes->unsure_count = 0;
}

void processes_forget(struct processes *processes)
{
    processes_hold(processes);
    take_back(processes, &processes->lent, UINT64_MAX);
    end_who_is_gone(processes);
    processes->window = processes->read;
    history_forget(&processes->history, processes->reported,
                   processes->window > EVENTS_WAIT_NS ? processes->window - EVENTS_WAIT_NS : 0);
    forget_unsure(processes);
    processes->reported = now_ns();
    processes_release(processes);
}

/* ---- Opening ---- */

static size_t bytes_to_keep(uint64_t free_memory)
{
    uint64_t bytes = free_memory / PROCESSES_KEPT_SHARE;

    if (bytes > PROCESSES_KEPT_MOST)
        return PROCESSES_KEPT_MOST;
    return bytes > PROCESSES_KEPT_BYTES ? (size_t)bytes : PROCESSES_KEPT_BYTES;
}

/* Listens, if that is wanted and allowed, then looks at /proc. 0 or a negative errno. */
static int begin_listening(struct processes *processes, const struct processes_options *options)
{
    int result = 0;

    processes->listening = options->silent ? -ECANCELED
        : options->told ? 0 : task_events_open(&processes->events, 0);
    processes->listens_to_all = !processes->listening && !options->told;
    if ((processes->listening == -EACCES || processes->listening == -EPERM) && options->task)
        processes->listening = task_events_open(&processes->events, options->task);
    if (processes->listening)
        return 0;
    if (!options->told || options->pid_count)
        result = look_at_all(processes);
    processes_begin(processes);
    return result ? result : processes_read(processes);
}

int processes_open(struct processes **made, const struct processes_options *options)
{
    struct processes *processes = *made = calloc(1, sizeof(*processes));
    const size_t pid_bytes = options->pid_count * sizeof(*processes->pids);
    pthread_mutexattr_t again;

    if (!processes)
        return -ENOMEM;
    pthread_mutexattr_init(&again);
    pthread_mutexattr_settype(&again, PTHREAD_MUTEX_RECURSIVE);
    /*
     * Priority inheritance, if the kernel has it: a real-time thread that waits for the lock lends
     * its priority to the owner. Not with `told`: a tracer is a process, and must not own the lock.
     */
    if (!options->told)
        (void)pthread_mutexattr_setprotocol(&again, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&processes->lock, &again);
    int result = mapped_files_open(&processes->files);
    if (!result)
        result = history_open(&processes->history, processes->files,
                              bytes_to_keep(options->free_memory));
    if (!result && pid_bytes && !(processes->pids = malloc(pid_bytes)))
        result = -ENOMEM;
    if (!result && pid_bytes)
        memcpy(processes->pids, options->pids, pid_bytes);
    processes->pid_count = options->pid_count;
    if (!result)
        result = begin_listening(processes, options);
    if (result) {
        processes_close(processes);
        *made = NULL;
    }
    return result;
}

void processes_close(struct processes *processes)
{
    if (!processes)
        return;
    task_events_close(processes->events);
    take_back(processes, &processes->lent, UINT64_MAX);
    take_back(processes, &processes->early, UINT64_MAX);
    forget_unsure(processes);
    free(processes->unsure);
    free(processes->lent.items);
    free(processes->early.items);
    if (processes->history.buckets)
        history_close(&processes->history);
    if (processes->files)
        mapped_files_close(processes->files);
    free(processes->pids);
    free(processes);
}

void processes_begin(struct processes *processes)
{
    processes->begin = processes->reported = processes->window = processes->read = now_ns();
}

int processes_listening(const struct processes *processes)
{
    return processes->listening;
}

void processes_look_at_cpus(struct processes *processes, bool at_once)
{
    processes_hold(processes);
    if (processes->events)
        (void)task_events_look(processes->events, at_once);
    processes_release(processes);
}

int processes_fd(const struct processes *processes)
{
    return processes->events ? task_events_fd(processes->events) : -1;
}

struct processes_lost processes_lost(const struct processes *processes)
{
    return (struct processes_lost){
        .records = processes->lost_records,
        .forgotten = processes->history.forgotten,
        .files = mapped_files_not_kept(processes->files),
        .unread = processes->unread,
        .doubtful = processes->doubtful,
        .cpus = processes->events ? task_events_joined(processes->events) : 0,
    };
}
