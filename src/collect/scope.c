/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/text.h"
#include "base/util.h"
#include "collect/scope.h"
#include "insns/layout.h"
#include "insns/programs.h"
#include "kernel/bpf.h"
#include "kernel/limits.h"
#include "kernel/refusal.h"
#include "kernel/task_fields.h"
#include "kernel/tracefs.h"
#include "sandbox/sandbox.h"

static int create_map(struct follow *follow)
{
    follow->size = kernel_pid_limit();
    return bpf_create_numbered(&follow->map, BPF_MAP_TYPE_ARRAY, "followed", follow->size, 1);
}

static int attach(struct tracepoint *tracepoint, const struct tracepoint_config *config,
                  struct program *program)
{
    struct text log = {0};
    int result = tracepoint_open(tracepoint, config, program, &log);

    text_free(&log);
    return result;
}

/* `tracefs` below 0: use the raw tracepoint. */
static int attach_birth(struct follow *follow, int tracefs, const struct follow_programs *programs)
{
    const struct tracepoint_config config = {tracefs, "task", "task_newtask", "follow_birth"};
    struct program program = {0};

    emit_follow_birth(&program, programs);
    return attach(&follow->birth, &config, &program);
}

static int follow_births_by_tracefs(struct follow *follow, struct follow_programs *programs,
                                    enum refused *what)
{
    struct tracefs_field pid;

    *what = REFUSED_TRACEFS;
    int tracefs = tracefs_open();
    if (tracefs < 0)
        return tracefs;
    int result = tracefs_find_field(tracefs, "task", "task_newtask", "pid", &pid);
    if (!result) {
        *what = REFUSED_PROBES;
        programs->pid = pid.offset;
        result = attach_birth(follow, tracefs, programs);
    }
    close(tracefs);
    return result;
}

/*
 * If we may not use tracefs or perf_event_open(2), the raw tracepoint takes fewer rights. In a
 * namespace, only that knows the number that a new task has there.
 */
static int follow_births(struct follow *follow, const struct event_filter *filter,
                         enum refused *what)
{
    struct follow_programs programs = {
        .filter = filter,
        .self = (uint32_t)syscall(SYS_gettid),
    };
    int result;

    if (filter->asked && filter->numbers && !task_fields_find(&programs.task)) {
        *what = REFUSED_PROBES;
        result = attach_birth(follow, -1, &programs);
        if (!result)
            return 0;
        tracepoint_close(&follow->birth);
        programs.task.known = false;
    }
    result = follow_births_by_tracefs(follow, &programs, what);
    if (!result || result == -ENOMEM)
        return result;
    tracepoint_close(&follow->birth);
    int raw = task_fields_find(&programs.task);
    if (!raw)
        raw = attach_birth(follow, -1, &programs);
    /* Of two refusals, report the way that needs fewer rights. */
    if (raw && raw != -EPERM && raw != -EACCES)
        return result;
    *what = REFUSED_PROBES;
    return raw;
}

static int attach_exec(struct follow *follow, const struct event_filter *filter,
                       void (*emit)(struct program *program, const struct event_filter *filter))
{
    const struct tracepoint_config config = {-1, NULL, "sched_process_exec", "follow_exec"};
    struct program program = {0};

    emit(&program, filter);
    return attach(&follow->exec, &config, &program);
}

static int put(int map, const uint32_t *numbers, size_t count, uint32_t bit)
{
    int result = 0;

    for (size_t i = 0; i < count && !result; i++) {
        uint32_t bits = 0;
        (void)bpf_lookup(map, &numbers[i], &bits);
        bits |= bit;
        result = bpf_update(map, &numbers[i], &bits, BPF_ANY);
    }
    return result;
}

/* Makes the map of what `filter` asks for. 0 or a negative errno. */
static int follow_ask(struct follow *follow, struct event_filter *filter)
{
    /* A thread that executes a program goes on with another number. */
    const size_t most = filter->pid_count + 2 * filter->tid_count;
    int result = bpf_create_numbered(&follow->asked, BPF_MAP_TYPE_HASH, "asked", sizeof(uint32_t),
                                     (uint32_t)most);

    if (!result)
        result = put(follow->asked, filter->pids, filter->pid_count, ASKED_PROCESS);
    if (!result)
        result = put(follow->asked, filter->tids, filter->tid_count, ASKED_THREAD);
    filter->asked = follow->asked;
    return result;
}

uint32_t follow_other(const struct follow *follow, const struct event_filter *filter)
{
    for (size_t i = 0; i < filter->pid_count; i++) {
        uint32_t bits = 0;
        if (!bpf_lookup(follow->asked, &filter->pids[i], &bits) && bits & ASKED_OTHER)
            return filter->pids[i];
    }
    return 0;
}

int follow_open(struct follow *follow, struct event_filter *filter, enum refused *what)
{
    *what = REFUSED_MAPS;
    int result = create_map(follow);
    if (result)
        return result;
    filter->followed = follow->map;
    filter->followed_size = follow->size;
    result = follow_births(follow, filter, what);
    return result || filter->pid_count ? result : attach_exec(follow, filter, emit_follow_exec);
}

void follow_close(struct follow *follow)
{
    tracepoint_close(&follow->birth);
    tracepoint_close(&follow->exec);
    close_fd(follow->map);
    close_fd(follow->asked);
    *follow = (struct follow)FOLLOW_NONE;
}

/* Has kernel.pid_max been raised since? Pids beyond the old limit are not followed. */
static bool follow_is_outgrown(const struct follow *follow)
{
    return follow->map >= 0 && kernel_pid_limit() > follow->size;
}

/* Programs may read at any moment: they see the pid whole, or not yet. */
static void put_own(const struct self_filter *own, size_t place, uint32_t pid)
{
    const uint32_t zero = 0;

    __atomic_store_n(&own->pids[place], pid, __ATOMIC_RELAXED);
    if (own->is_copied)
        (void)bpf_update(own->map, &zero, own->pids, BPF_ANY);
}

/* A map's memory, or, if it is below 0, just memory shared by the tracer's processes. */
static int map_pids(struct self_filter *own, int map)
{
    void *at = mmap(NULL, page_bytes(), PROT_READ | PROT_WRITE,
                    MAP_SHARED | (map < 0 ? MAP_ANONYMOUS : 0), map, 0);

    if (at == MAP_FAILED)
        return -errno;
    own->pids = at;
    for (size_t i = 0; i < OWN_PROCESSES; i++)
        put_own(own, i, OWN_NONE);
    put_own(own, OWN_TRACER, (uint32_t)getpid());
    return 0;
}

/* Adds this process. 0 or a negative errno, and nothing to close. */
static int self_filter_open(struct self_filter *own)
{
    struct bpf_map_shape shape = {
        .type = BPF_MAP_TYPE_ARRAY,
        .name = "own",
        .key_size = sizeof(uint32_t),
        .value_size = OWN_PROCESSES * sizeof(uint32_t),
        .entries = 1,
        .flags = BPF_F_MMAPABLE, /* 5.5 */
    };

    *own = (struct self_filter){.map = bpf_create_map(&shape)};
    if (own->map == -EINVAL) {
        shape.flags = 0;
        *own = (struct self_filter){.map = bpf_create_map(&shape), .is_copied = true};
    }
    int result = own->map < 0 ? own->map : map_pids(own, own->is_copied ? -1 : own->map);
    if (result) {
        close_fd(own->map);
        *own = (struct self_filter){.map = 0};
    }
    return result;
}

/* The same in memory only, without a map: for lookups from here. */
static int self_filter_open_in_memory(struct self_filter *own)
{
    *own = (struct self_filter){.map = 0};
    return map_pids(own, -1);
}

static void self_filter_close(struct self_filter *own)
{
    if (own->pids)
        munmap(own->pids, page_bytes());
    if (own->map)
        close(own->map);
    *own = (struct self_filter){.map = 0};
}

/* A sandbox_watcher; its context is a struct self_filter. */
static void self_filter_watch(void *context, bool begins, unsigned role)
{
    struct self_filter *own = context;

    if (!own->pids)
        return;
    if (!begins) {
        put_own(own, OWN_OPENER + role, OWN_NONE);
        if (role == SANDBOX_BROKER)
            put_own(own, OWN_READER, OWN_NONE);
    } else {
        put_own(own, OWN_OPENER + role, (uint32_t)getpid());
        /*
         * What the process reads could subvert it, so it must not write others' pids. The broker
         * keeps the map, as it forks the reader.
         */
        if (role != SANDBOX_BROKER)
            self_filter_close(own);
    }
}

/*
 * How many processes that execute a program while tracing runs are remembered while they live; and
 * how many after they ended.
 */
#define MOST_LIVES 16384
#define LEAST_LIVES 1024
#define LIFE_BYTES 80  /* roughly what one takes */
#define MOST_SHARE 64  /* of the free memory, for each */
#define MOST_HELD 2    /* the kernel may begin to forget when its map is half full */

static uint32_t lives_to_keep(void)
{
    uint64_t most = kernel_free_memory() / MOST_SHARE;
    uint32_t lives = MOST_LIVES;

    while (lives > LEAST_LIVES && lives * LIFE_BYTES > most)
        lives /= 2;
    return lives;
}

/* An empty struct, which lifetimes_close accepts. */
static void lifetimes_init(struct lifetimes *lifetimes)
{
    *lifetimes = (struct lifetimes){LIFE_MAPS_NONE, 0, TRACEPOINT_NONE, TRACEPOINT_NONE};
}

static int open_maps(struct lifetimes *lifetimes)
{
    struct life_maps *maps = &lifetimes->maps;
    uint32_t most = lives_to_keep();
    int result = bpf_create_numbered(&maps->living, BPF_MAP_TYPE_HASH, "living", sizeof(uint64_t),
                                     most);

    if (!result)
        result = bpf_create_numbered(&maps->ended, BPF_MAP_TYPE_LRU_HASH, "ended", sizeof(uint64_t),
                                     most);
    lifetimes->most_ended = most;
    return result ? result : bpf_create_numbered(&maps->account, BPF_MAP_TYPE_ARRAY, "life_account",
                                                 sizeof(struct life_account), 1);
}

static int keep_begins(struct lifetimes *lifetimes, const struct event_filter *filter)
{
    const struct tracepoint_config config = {-1, NULL, "sched_process_exec", "life_begins"};
    struct program program = {0};

    emit_life_begins(&program, &lifetimes->maps, filter);
    return attach(&lifetimes->begins, &config, &program);
}

static int keep_ends(struct lifetimes *lifetimes, enum life_telling telling,
                     const struct event_filter *filter)
{
    const struct tracepoint_config config = {-1, NULL, "sched_process_exit", "life_ends"};
    struct program program = {0};
    struct task_fields fields = {0};

    if (telling == LIFE_READ) {
        (void)task_fields_find(&fields);
        if (!fields.has_live)
            return -EINVAL;
    }
    emit_life_ends(&program, &lifetimes->maps, telling, &fields, filter);
    return attach(&lifetimes->ends, &config, &program);
}

static int open_ends(struct lifetimes *lifetimes, const struct event_filter *filter)
{
    int result = -EINVAL;

    for (enum life_telling telling = LIFE_TOLD; telling <= LIFE_GUESSED &&
         result == -EINVAL; telling++) {
        tracepoint_close(&lifetimes->ends); /* of the last attempt: the kernel has no such field */
        result = keep_ends(lifetimes, telling, filter);
    }
    return result;
}

int lifetimes_open(struct lifetimes *lifetimes, const struct event_filter *filter)
{
    lifetimes_init(lifetimes);
    int result = open_maps(lifetimes);

    if (!result)
        result = keep_begins(lifetimes, filter);
    if (!result)
        result = open_ends(lifetimes, filter);
    if (result)
        lifetimes_close(lifetimes);
    return result;
}

void lifetimes_close(struct lifetimes *lifetimes)
{
    tracepoint_close(&lifetimes->begins);
    tracepoint_close(&lifetimes->ends);
    close_fd(lifetimes->maps.living);
    close_fd(lifetimes->maps.ended);
    close_fd(lifetimes->maps.account);
    lifetimes_init(lifetimes);
}

/*
 * Execs for which there was no room among live programs: they are kept with those that ended, and
 * forgotten like them. *forgets: may any of either have been forgotten by now?
 */
static uint64_t lifetimes_crowded_out(const struct lifetimes *lifetimes, bool *forgets)
{
    struct life_account account = {0};
    uint32_t zero = 0;

    if (lifetimes->maps.account >= 0)
        (void)bpf_lookup(lifetimes->maps.account, &zero, &account);
    *forgets = account.ends + account.living_full > lifetimes->most_ended / MOST_HELD;
    return account.living_full;
}

void scope_init(struct scope *scope)
{
    *scope = (struct scope){.follow = FOLLOW_NONE};
    lifetimes_init(&scope->lifetimes);
}

void scope_close(struct scope *scope)
{
    if (scope->filter.cgroup)
        close(scope->filter.cgroup);
    sandbox_watch(NULL, NULL);
    self_filter_close(&scope->own);
    follow_close(&scope->follow);
    lifetimes_close(&scope->lifetimes);
}

int scope_open_cgroup(const char *path, bool by_rings)
{
    struct statfs about;
    uint32_t zero = 0;
    int map, directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (directory < 0)
        return -errno;
    if (by_rings && !fstatfs(directory, &about) && about.f_type == CGROUP2_SUPER_MAGIC)
        return directory;
    if (by_rings) {
        close(directory);
        return -EBADF;
    }
    int result = bpf_create_numbered(&map, BPF_MAP_TYPE_CGROUP_ARRAY, "cgroup", sizeof(uint32_t),
                                     1);
    if (!result)
        result = bpf_update(map, &zero, &(uint32_t){(uint32_t)directory}, BPF_ANY);
    close(directory);
    if (result)
        close_fd(map);
    return result ? result : map;
}

void scope_leave_own_out(struct scope *scope, bool by_rings)
{
    if (by_rings ? self_filter_open_in_memory(&scope->own) : self_filter_open(&scope->own))
        return;
    scope->filter.own = scope->own.map;
    sandbox_watch(self_filter_watch, &scope->own);
}

int scope_ask(struct scope *scope, struct text *why)
{
    int result = follow_ask(&scope->follow, &scope->filter);

    if (result)
        refusal_explain(REFUSED_MAPS, result, 0, why);
    return result;
}

bool scope_thread_lives(const struct scope *scope)
{
    const int asked = scope->follow.asked;
    const uint32_t went_on = __atomic_load_n(&scope->went_on, __ATOMIC_RELAXED);
    uint32_t number, bits = 0;

    if (asked < 0)
        return went_on && task_exists(went_on);
    for (int more = bpf_next_key(asked, NULL, &number); !more; more = bpf_next_key(asked, &number,
                                                                                   &number))
        if (!bpf_lookup(asked, &number, &bits) && bits & ASKED_THREAD && task_exists(number))
            return true;
    return false;
}

int scope_watch_asked(struct scope *scope)
{
    enum refused what;

    (void)attach_exec(&scope->follow, &scope->filter, emit_follow_thread);
    return scope->filter.in_namespace && !scope->filter.numbers ? -EOPNOTSUPP
        : follow_births(&scope->follow, &scope->filter, &what);
}

int scope_follow(struct scope *scope, struct text *why)
{
    enum refused what;
    int result = follow_open(&scope->follow, &scope->filter, &what);

    if (result)
        refusal_explain(what, result, scope->follow.size, why);
    return result;
}

void scope_count_lifetimes(struct scope *scope)
{
    scope->lifetimes_refused = lifetimes_open(&scope->lifetimes, &scope->filter);
}

struct scope_losses scope_losses(const struct scope *scope)
{
    struct scope_losses losses = {
        .follow_missed = tracepoint_missed(&scope->follow.birth) +
                         tracepoint_missed(&scope->follow.exec),
        .outgrown = follow_is_outgrown(&scope->follow) ? scope->follow.size : 0,
        .lifetimes_missed = tracepoint_missed(&scope->lifetimes.begins) +
                            tracepoint_missed(&scope->lifetimes.ends),
    };

    losses.crowded_out = lifetimes_crowded_out(&scope->lifetimes, &losses.forgets);
    return losses;
}

void scope_come_first(const struct scope *scope, int tracefs, struct tracepoint *first)
{
    const struct tracepoint_config config = {tracefs, "sched", "sched_process_exec", "exec_first"};
    const struct event_filter *filter = &scope->filter;
    struct program program = {0};

    if (scope->lifetimes.begins.event >= 0) {
        emit_life_begins(&program, &scope->lifetimes.maps, filter);
        (void)attach(&first[0], &config, &program);
    }
    if (filter->followed && !filter->pid_count) {
        emit_follow_exec(&program, filter);
        (void)attach(&first[1], &config, &program);
    }
}
