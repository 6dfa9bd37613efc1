/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "insns/layout.h"
#include "rings/ring_collectors.h"

/*
 * The kernel records a switch as an event of the thread that leaves the CPU, whose cgroup may be
 * another. So a cgroup takes two switch events: its own tells who leaves, that of all who comes.
 */
enum event_kind { KIND_SWITCH, KIND_LEAVE, KIND_WAKING };

/* A thread at one moment, with its own copy of the frames. */
struct kept {
    struct counted_task task;
    uint64_t *frames;
    size_t room;
    bool is_there;
};

struct ring_wait {
    uint64_t since; /* 0: it is not waiting */
    uint32_t tid;   /* as in samples; 0: it was not seen to leave */
    bool woken;     /* since it began to wait */
    struct kept target, waker;
};

static const struct capture *capture_of(const struct ring_waits *of)
{
    return &of->counter.source.options.capture;
}

/* ---- What is kept about threads ---- */

static struct ring_wait *find(const struct ring_waits *of, uint32_t tid)
{
    return tid < of->count ? of->by_tid[tid] : NULL;
}

static struct ring_wait *make(struct ring_waits *of, uint32_t tid)
{
    if (tid < of->count && !of->by_tid[tid])
        of->by_tid[tid] = calloc(1, sizeof(struct ring_wait));
    return find(of, tid);
}

static void forget(struct ring_waits *of, uint32_t tid)
{
    struct ring_wait *wait = find(of, tid);

    if (!wait)
        return;
    free(wait->target.frames);
    free(wait->waker.frames);
    free(wait);
    of->by_tid[tid] = NULL;
}

static void copy(uint64_t *to, struct ring_stack *stack)
{
    if (stack->count)
        memcpy(to, stack->frames, stack->count * sizeof(*to));
    stack->frames = to;
}

static int keep(struct kept *kept, const struct counted_task *task)
{
    const size_t kernel = task->kernel.count;

    if (ARRAY_RESERVE(kept->frames, kept->room, kernel + task->user.count + 1))
        return -ENOMEM;
    kept->task = *task;
    copy(kept->frames, &kept->task.kernel);
    copy(kept->frames + kernel, &kept->task.user);
    kept->is_there = true;
    return 0;
}

/* ---- Counting ---- */

static bool is_long_enough(const struct ring_waits *of, uint64_t time)
{
    return time >= of->waits->least && time <= of->waits->most;
}

static void drop(struct ring_waits *of, struct ring_wait *wait)
{
    wait->since = 0;
    of->open--;
    of->ends_unseen++;
}

/* Records lost since the wait began may include its end and the beginning of another. */
static bool may_be_two(const struct ring_waits *of, const struct ring_wait *wait)
{
    return wait->since < of->counter.source.rings.reading.whole_since;
}

static int end_wait(struct ring_waits *of, struct ring_wait *wait, uint64_t time, bool counts)
{
    const struct ring_key key = {wait->target.task,
                                 wait->waker.is_there ? &wait->waker.task : NULL, MARK_NONE};
    const uint64_t waited = time > wait->since ? time - wait->since : 0;

    if (may_be_two(of, wait)) {
        drop(of, wait);
        return 0;
    }
    wait->since = 0;
    of->open--;
    if (!counts || !is_long_enough(of, waited)) {
        of->counter.source.filtered++;
        of->unfit += counts;
        return 0;
    }
    of->counter.source.counted++;
    return ring_count(&of->counter.table, &key, waited);
}

static uint64_t field(const struct ring_sample *sample, const struct tracefs_field *of)
{
    uint64_t wide = 0;
    uint32_t narrow = 0;

    if ((size_t)of->offset + of->size > sample->raw_size)
        return 0;
    if (of->size == sizeof(wide))
        memcpy(&wide, sample->raw + of->offset, sizeof(wide));
    else if (of->size == sizeof(narrow))
        memcpy(&narrow, sample->raw + of->offset, sizeof(narrow));
    return wide | narrow;
}

static bool is_asked_for(struct ring_waits *of, const struct ring_sample *sample)
{
    const enum offwake_threads threads = capture_of(of)->threads;

    return ring_source_wants(&of->counter.source, sample) &&
           (threads == THREADS_ALL || (threads == THREADS_USER) == (sample->user_count != 0));
}

static int leave(struct ring_waits *of, const struct ring_record *record, uint32_t tid)
{
    const struct ring_sample *sample = &record->sample;
    const uint64_t state = field(sample, &of->prev_state);
    const struct capture *capture = capture_of(of);
    struct ring_wait *wait = find(of, tid);
    struct counted_task task;

    if (wait && wait->since) /* a switch to it was missed */
        drop(of, wait);
    if (state & STATE_ENDING) {
        forget(of, tid);
        return 0;
    }
    if (!(state & capture->states) && !(capture->runnable && !(state & STATE_ANY)))
        return 0;
    of->seen++;
    if (!is_asked_for(of, sample)) {
        of->counter.source.filtered++;
        return 0;
    }
    ring_source_task(&of->counter.source, record, 0, &task);
    if (capture->view == VIEW_WAKEUP || !of->kernel)
        task.kernel.count = 0;
    if (capture->view == VIEW_WAKEUP || !of->user)
        task.user.count = 0;
    wait = make(of, tid);
    if (!wait || keep(&wait->target, &task))
        return -ENOMEM;
    wait->tid = sample->tid;
    wait->woken = false;
    wait->since = record->time;
    of->open++;
    return 0;
}

/* For wakeuptime, a wait still open here was woken before it began, or its wakeup was not seen. */
static int come(struct ring_waits *of, uint32_t tid, uint64_t time)
{
    struct ring_wait *wait = find(of, tid);
    int result = 0;

    if (!wait)
        return 0;
    if (wait->since)
        result = end_wait(of, wait, time,
                          capture_of(of)->view != VIEW_WAKEUP || !wait->waker.is_there);
    wait->waker.is_there = false;
    return result;
}

static int wake(struct ring_waits *of, const struct ring_record *record)
{
    const uint32_t tid = (uint32_t)field(&record->sample, &of->pid);
    struct ring_wait *wait = tid ? make(of, tid) : NULL;
    struct counted_task task;

    if (!wait)
        return tid && tid < of->count ? -ENOMEM : 0;
    ring_source_task(&of->counter.source, record, 0, &task);
    if (!of->user)
        task.user.count = 0;
    if (keep(&wait->waker, &task))
        return -ENOMEM;
    wait->woken = wait->since != 0;
    if (capture_of(of)->view != VIEW_WAKEUP || !wait->since)
        return 0;
    int result = end_wait(of, wait, record->time, true);
    wait->waker.is_there = false;
    return result;
}

static int take(void *context, const struct ring_record *record)
{
    struct ring_waits *of = context;
    const struct ring_sample *sample = &record->sample;

    if (record->kind != RECORD_SAMPLE)
        return 0;
    const uint32_t number = rings_number(&of->counter.source.rings, sample->event);
    const enum event_kind kind = number < of->counter.source.place_count
        ? of->counter.source.places[number].place : KIND_SWITCH;
    if (kind == KIND_WAKING)
        return wake(of, record);
    const uint32_t previous = (uint32_t)field(sample, &of->prev_pid),
        next = (uint32_t)field(sample, &of->next_pid);
    const bool leaves = kind == KIND_LEAVE || !of->counter.source.options.scope->filter.cgroup;
    int result = previous && leaves ? leave(of, record, previous) : 0;
    return result || !next || kind == KIND_LEAVE ? result : come(of, next, record->time);
}

/* ---- The collector ---- */

static int open_waits(struct collector *collector, struct text *why)
{
    struct ring_waits *of = (struct ring_waits *)collector;
    struct ring_source *source = &of->counter.source;

    of->counter.table.most = ring_table_most(source->options.stacks);
    int result = ring_source_open(source, take, of, why);
    if (result)
        return result;
    of->by_tid = calloc(source->tasks.count, sizeof(*of->by_tid));
    of->count = of->by_tid ? source->tasks.count : 0;
    return of->by_tid ? 0 : -ENOMEM;
}

static int add(struct ring_waits *of, int tracefs, const char *event, enum event_kind kind)
{
    const struct ring_place place = {.place = kind, .flags = KEY_TRACEPOINT};
    uint32_t id;
    int result = tracefs_event_id(tracefs, "sched", event, &id);
    const struct rings_event asked = {PERF_TYPE_TRACEPOINT, .config = id,
                                      .outside = kind != KIND_LEAVE};

    return result ? result : ring_source_add(&of->counter.source, &asked, &place);
}

int ring_waits_attach(struct ring_waits *of, int tracefs, const char **event)
{
    *event = "sched_switch";
    int result = tracefs_find_field(tracefs, "sched", "sched_switch", "prev_pid", &of->prev_pid);
    if (!result)
        result = tracefs_find_field(tracefs, "sched", "sched_switch", "prev_state",
                                    &of->prev_state);
    if (!result)
        result = tracefs_find_field(tracefs, "sched", "sched_switch", "next_pid", &of->next_pid);
    if (!result)
        result = add(of, tracefs, *event, KIND_SWITCH);
    if (!result && of->counter.source.options.scope->filter.cgroup)
        result = add(of, tracefs, *event, KIND_LEAVE);
    if (result || capture_of(of)->view == VIEW_OFFCPU)
        return result;
    *event = "sched_waking";
    result = tracefs_find_field(tracefs, "sched", *event, "pid", &of->pid);
    return result ? result : add(of, tracefs, *event, KIND_WAKING);
}

static void account(struct collector *collector, struct collector_account *account)
{
    struct ring_waits *of = (struct ring_waits *)collector;

    pthread_mutex_lock(&of->counter.source.lock);
    ring_source_add_up(&of->counter.source, account);
    account->seen = of->seen;
    account->lost = of->ends_unseen;
    account->open = of->open;
    account->unknown =
        (int64_t)(of->seen - account->filtered - account->counted - of->ends_unseen - of->open);
    pthread_mutex_unlock(&of->counter.source.lock);
}

static void add_losses(const struct collector *collector, struct losses *losses)
{
    const struct ring_waits *of = (const struct ring_waits *)collector;

    ring_counter_add_losses(collector, losses);
    losses->unfit += of->unfit;
    losses_add(losses, &(struct loss){of->ends_unseen, "waits", .beside = true,
                                      .matters = LOSSES_ENDS_MATTER},
                "are not counted: their threads were not seen running again");
}

static void close_waits(struct collector *collector)
{
    struct ring_waits *of = (struct ring_waits *)collector;

    ring_source_close(&of->counter.source);
    for (size_t tid = 0; tid < of->count; tid++)
        forget(of, (uint32_t)tid);
    free(of->by_tid);
    of->by_tid = NULL;
    of->count = 0;
    tally_free(&of->counter.table);
    waits_close(of->waits);
}

/* For an unfinished wait. */
static int take_waiting(struct ring_waits *of, const struct ring_wait *wait, uint64_t now,
                        struct tally *tally)
{
    struct waits *waits = of->waits;
    const uint64_t time = now > wait->since ? now - wait->since : 0;
    const struct ring_key key = {wait->target.task,
                                 wait->woken && wait->waker.is_there ? &wait->waker.task : NULL,
                                 MARK_UNFINISHED};

    if (wait->tid && waits_note_seen(waits, wait->tid))
        return -ENOMEM;
    if (!wait->since || !is_long_enough(of, time))
        return 0;
    waits->waiting++;
    waits->waited += time;
    if (!waits->unfinished)
        return 0;
    struct tally_entry *entry = tally_add(tally);
    return entry ? ring_entry(tally, &key, time, entry) : -ENOMEM;
}

static int list_waiting(struct ring_waits *of, struct tally *tally)
{
    const uint64_t now = now_ns();
    int result = 0;

    for (size_t tid = 0; tid < of->count && !result; tid++)
        if (of->by_tid[tid])
            result = take_waiting(of, of->by_tid[tid], now, tally);
    of->waits->seen_count = sort_numbers(of->waits->seen, of->waits->seen_count);
    return result;
}

static int collect(struct collector *collector, bool again, struct tally *tally)
{
    struct ring_waits *of = (struct ring_waits *)collector;
    const int result = ring_counter_collect(&of->counter, again, tally);

    /* After the last report no sample comes that would change what waits. */
    return result || again ? result : list_waiting(of, tally);
}

static const struct collector_calls calls = {
    .open = open_waits,
    .start = ring_source_start,
    .account = account,
    .add_losses = add_losses,
    .describe = ring_source_describe,
    .close = close_waits,
};

static const struct counter_calls counter = {
    .look = ring_counter_look,
    .settle = ring_source_settle,
    .collect = collect,
};

void ring_waits_init(struct ring_waits *collector, const struct ring_options *options,
                     struct waits *waits)
{
    struct ring_options needed = *options;

    needed.raw = needed.of_all = true;
    needed.capture.kernel_stack = true; /* it tells wakeups by interrupts */
    needed.capture.user_stack |= needed.capture.threads != THREADS_ALL;
    needed.capture.per_thread = true;
    *collector = (struct ring_waits){
        .counter.source = {.collector = {.calls = &calls, .counter = &counter}, .options = needed},
        .kernel = options->capture.kernel_stack,
        .user = options->capture.user_stack,
        .waits = waits,
    };
}
