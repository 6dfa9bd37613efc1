/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Compares an answer with the log. Each figure has two bounds: what the life certainly did while
 * stackbox traced, and what it may have done. They differ only for what was under way when tracing
 * began or ended, and for threads that were killed in the middle of a call.
 */
#ifndef STACKBOX_WORKLOADS_JUDGE_TRUTH_H
#define STACKBOX_WORKLOADS_JUDGE_TRUTH_H

#include "judge_answer.h"

struct bounds {
    double least, most;
};

enum membership { OUTSIDE, PERHAPS, INSIDE };

/* What the rows of a sum measure. */
enum measure { EVENTS, NAPS, WAITS, WOKEN, LIFETIMES };

struct judging {
    const struct draw *draw;
    const struct place *place;
    const struct run *run;
    const struct answer *answer;
    enum membership *inside; /* of each part */
    double steal;            /* ns that may be the host's, not sleep */
};

/* ---- what stackbox was asked to trace */

static const struct part *parts_of(const struct run *run)
{
    return run->whole.part;
}

static int is_target(const struct run *run, uint32_t process)
{
    return process == run->processes[0] || (run->targets > 1 && process == run->processes[1]);
}

/* --follow: the named process, and processes that a followed one made after the go-ahead. */
static int is_followed(const struct run *run, uint32_t process)
{
    for (unsigned generations = 0; generations < 100; generations++) {
        const struct part *first = NULL;
        if (process == run->processes[0])
            return 1;
        for (uint32_t i = 0; i < run->whole.parts && !first; i++) {
            if (parts_of(run)[i].process == process)
                first = &parts_of(run)[i];
        }
        if (!first || first->stood || first->parent == process)
            return 0;
        process = first->parent;
    }
    return 0;
}

/* Is this part of the target thread, by its tid? An exec can give a thread another tid. */
static enum membership thread_membership(const struct run *run, uint32_t index)
{
    const struct part *part = &parts_of(run)[index], *target = &parts_of(run)[run->target_part];
    uint32_t at = index;

    if (part->process != target->process)
        return OUTSIDE;
    if (part->tid == target->tid) {
        /* Another thread's exec may have given it this number. */
        for (at = index; parts_of(run)[at].follows; at = parts_of(run)[at].follows - 1) {
            if (parts_of(run)[at].tid != target->tid)
                return PERHAPS;
        }
        return at > run->target_part && !part->stood ? PERHAPS : INSIDE;
    }
    for (; parts_of(run)[at].follows; at = parts_of(run)[at].follows - 1) {
        if (parts_of(run)[at].tid == target->tid)
            return PERHAPS;
    }
    return parts_of(run)[at].tid == target->tid ? PERHAPS : OUTSIDE;
}

static enum membership membership(const struct draw *draw, const struct run *run, uint32_t index)
{
    const struct part *part = &parts_of(run)[index];

    switch (draw->whose) {
    case ONE_PID: return part->process == run->processes[0] ? INSIDE : OUTSIDE;
    case TWO_PIDS: return is_target(run, part->process) ? INSIDE : OUTSIDE;
    case FOLLOWED: return is_followed(run, part->process) ? INSIDE : OUTSIDE;
    case ONE_TID: return thread_membership(run, index);
    default: return INSIDE;
    }
}

/* stackbox ends with the last target: only what other processes did before is certain. */
static uint64_t certain_end(const struct draw *draw, const struct run *run)
{
    uint64_t end = 0;

    if (draw->whose == COMMAND || draw->whose == ALL_OF_THEM)
        return UINT64_MAX;
    for (uint32_t i = 0; i < run->whole.parts; i++) {
        const struct part *part = &parts_of(run)[i];
        if ((draw->whose == ONE_TID ? i == run->target_part || part->tid == run->tid : is_target(run, part->process)) &&
            part->last > end)
            end = part->last;
    }
    return end;
}

/* ---- bounds of one part */

static const struct part *in_snapshot(const struct snapshot *snapshot, uint32_t index)
{
    static const struct part none;

    return index < snapshot->parts ? &snapshot->part[index] : &none;
}

static double positive(double number)
{
    return number > 0 ? number : 0;
}

static unsigned counted_as(const struct draw *draw)
{
    return draw->event <= ALPHA_RETURN ? OF_ALPHA : draw->event <= DEEP_RETURN ? OF_DEEP : OF_GETPPID;
}

static struct bounds stretch_bounds(const struct run *run, uint32_t index, size_t offset)
{
#define STRETCHES(snapshot) ((const struct stretches *)(const void *)((const char *)in_snapshot(snapshot, index) + offset))
    const struct stretches *before = STRETCHES(&run->before), *begin = STRETCHES(&run->at_begin);
    const struct stretches *end = STRETCHES(&run->at_end), *after = STRETCHES(&run->after);
    const struct part *whole = &parts_of(run)[index];
    struct bounds bounds = {begin->since ? 0 : positive((double)end->least - (double)begin->most),
                            (double)(after->most - before->most)};

    if (begin->number == before->number && end->number >= begin->number && !begin->since)
        bounds.least = positive((double)(end->least - begin->least));
    if (after->since) /* the stretch goes on, or ended with the thread */
        bounds.most += (double)((whole->gone_before && whole->gone_before < run->ended ? whole->gone_before : run->ended) -
                                after->since);
    return bounds;
#undef STRETCHES
}

/* How long the thread was this part while stackbox traced. */
static struct bounds life_bounds(const struct run *run, uint32_t index)
{
    const struct part *part = &parts_of(run)[index];
    double born_after = (double)part->born_after, gone_before = (double)part->gone_before;

    if (!part->born_after)
        born_after = part->follows ? (double)parts_of(run)[part->follows - 1].last : (double)run->began;
    if (!part->gone_before)
        gone_before = (double)run->ended;
    double least_begin = (double)(part->first > run->traced ? part->first : run->traced);
    double least_end = (double)(part->last < run->told ? part->last : run->told);
    double most_begin = born_after > (double)run->began ? born_after : (double)run->began;
    double most_end = gone_before < (double)run->ended ? gone_before : (double)run->ended;
    return (struct bounds){positive(least_end - least_begin), positive(most_end - most_begin)};
}

/* The kernel tracks at most this many pending uretprobe returns per thread. */
#define MOST_NESTED 64

static int is_of_step(const struct draw *draw, const struct part *part, enum step_kind kind)
{
    struct step steps[MOST_STEPS];

    return part->step < draw_plan(draw->seed, steps) && steps[part->step].kind == kind;
}

/*
 * stackbox looks for new CPUs at this interval. Until it listens on a CPU that came online, it
 * misses the execs and renames there, each of which begins a part.
 */
#define LOOKS_AT_CPUS_NS 500000000

enum unheard { PROGRAMS, NAMES };

static int began_unheard(const struct run *run, const struct part *part, enum unheard what)
{
    const uint64_t until = life->cpus_came_until + LOOKS_AT_CPUS_NS + life->longest_gap;

    if (what == PROGRAMS)
        part = &parts_of(run)[part->image];
    return life->cpus_came_since && part->first >= life->cpus_came_since &&
           (part->born_after ? part->born_after : parts_of(run)[part->follows ? part->follows - 1 : 0].last) <= until;
}

/* Did stackbox miss an exec (or rename) of the process or an ancestor, at any time? */
static int is_unheard(const struct run *run, const struct part *part, enum unheard what)
{
    for (uint32_t process = part->process;;) {
        const struct part *first = NULL;
        for (uint32_t i = 0; i < run->whole.parts; i++) {
            const struct part *at = &parts_of(run)[i];
            if (at->process == process && began_unheard(run, at, what))
                return 1;
            if (at->process == process && !first)
                first = at;
        }
        if (!first || first->parent == process)
            return 0;
        process = first->parent;
    }
}

static int is_said_unheard(const struct judging *judging, const struct part *part, enum unheard what)
{
    return strstr(judging->answer->text, "CPUs came online during the run") && is_unheard(judging->run, part, what);
}

/* The message does not name the process. With little memory these rings are small. */
static int has_lost_records(const struct judging *judging)
{
    return strstr(judging->answer->text, "mmap/exec records were lost") != NULL;
}

/* stackbox may be unable to name this process's functions, and has said so. */
static int may_lack_names(const struct judging *judging, const struct part *part)
{
    return is_said_unheard(judging, part, PROGRAMS) || has_lost_records(judging) ||
           (part->program == PROGRAM_COPY && is_of_step(judging->draw, part, DELETED) &&
            strstr(judging->answer->text, "it was gone before it could be opened"));
}

static int wakers_may_lack_names(const struct judging *judging, const struct part *part)
{
    for (uint32_t i = 0; i < judging->run->whole.parts; i++) {
        const struct part *waker = &parts_of(judging->run)[i];
        if (waker->process == part->waker && may_lack_names(judging, waker))
            return 1;
    }
    return 0;
}

/* This row sums what found no room in a table, whichever task it belongs to. */
static int is_crowded_out(const struct row *row)
{
    return !row->pid && !strcmp(row->name, "[table full]");
}

static double crowded_out(const struct answer *answer)
{
    double sum = 0;

    for (size_t i = 0; i < answer->count; i++) {
        if (is_crowded_out(&answer->rows[i]))
            sum += (double)answer->rows[i].count;
    }
    return sum;
}

/* The duration of a wait with a lost record is unknown. */
static int has_lost_waits(const struct judging *judging)
{
    /* On a kernel that hides switches from perf(1), too, the kernel lost them. */
    if (judging->place->deaf && strstr(judging->answer->text, "were not seen running again"))
        return 1;
    return judging->answer->lost || strstr(judging->answer->text, "were lost: they came faster");
}

/*
 * A life derives its sleep times from the kernel's run-queue clock, which __schedule() reads a few
 * instructions before the tracepoint where stackbox reads its own clock. Between the two, an
 * emulated CPU can stall for longer than any nap: while the emulator's thread runs another CPU (up
 * to 0.1 s in QEMU) or waits for a CPU of the host. Unlike a virtual machine's, such a stall is not
 * counted as steal time, so only the upper bound of a sleep is certain. A guest whose clock counts
 * instructions (scripts/guest.sh --own-clock) does not stall.
 */
static int may_have_stalled(const struct judging *judging)
{
    return judging->place->stalls;
}

static struct bounds part_bounds(const struct judging *judging, uint32_t index, enum measure measure)
{
    const struct draw *draw = judging->draw;
    const struct run *run = judging->run;
    struct bounds bounds = {0, 0};

    if (measure == EVENTS) {
        unsigned kind = counted_as(draw);
        const struct part *part = &parts_of(run)[index];
        if (probes_programs(draw) && part->program != PROGRAM_LIFE)
            return bounds;
        bounds.least = positive((double)in_snapshot(&run->at_end, index)->done[kind] -
                                (double)in_snapshot(&run->at_begin, index)->begun[kind]);
        if (draw->event == DEEP_RETURN && is_of_step(draw, part, DEEP))
            bounds.least *= (double)MOST_NESTED / MOST_DEEP;
        bounds.most = (double)(in_snapshot(&run->after, index)->begun[kind] - in_snapshot(&run->before, index)->done[kind]);
    } else if (measure == NAPS) {
        bounds = stretch_bounds(run, index, offsetof(struct part, naps));
    } else if (measure == WAITS || measure == WOKEN) {
        bounds = stretch_bounds(run, index, draw->applet == WAKEUPTIME ? offsetof(struct part, woken) :
                                                                         offsetof(struct part, waits));
    } else {
        bounds = life_bounds(run, index);
    }
    if (measure == EVENTS || measure == LIFETIMES)
        return bounds;
    /* A row is recognized by its functions' names. */
    if (may_lack_names(judging, &parts_of(run)[index]) || has_lost_waits(judging) || may_have_stalled(judging))
        bounds.least = 0;
    if (measure == WOKEN && wakers_may_lack_names(judging, &parts_of(run)[index]))
        bounds.least = 0;
    return bounds;
}

/* ---- names */

static int is_leader(const struct part *part)
{
    return part->pid == part->tid;
}

/*
 * By process, a row has the name of the first thread at the end of the run or at its exec; an
 * interval's report is made earlier, at any time. Otherwise a row has the name at the event.
 */
static int has_last_name(const struct judging *judging)
{
    return judging->draw->by == BY_PROCESS && !judging->draw->interval;
}

/* Is this the name of part's process at the report? PERHAPS: it was renamed about then. */
static enum membership named_at_report(const struct judging *judging, const struct part *part, const char *name)
{
    const struct run *run = judging->run;
    const uint64_t end = certain_end(judging->draw, run), since = end < run->told ? end : run->told;
    int is_it = 0, is_another = 0;

    for (uint32_t i = 0; i < run->whole.parts; i++) {
        const struct part *namer = &parts_of(run)[i];
        if (namer->process != part->process || !is_leader(namer) || namer->image != part->image)
            continue;
        if (namer->first < since)
            is_it = is_another = 0;
        else if (namer->follows && parts_of(run)[namer->follows - 1].last >= run->ended)
            continue;
        *(strcmp(namer->name, name) ? &is_another : &is_it) = 1;
    }
    return !is_it ? OUTSIDE : is_another ? PERHAPS : INSIDE;
}

/* Did the process, or an ancestor that it may have inherited the name from, ever have this name? */
static int had_name(const struct run *run, uint32_t process, const char *name)
{
    for (;;) {
        const struct part *first = NULL;
        for (uint32_t i = 0; i < run->whole.parts; i++) {
            const struct part *at = &parts_of(run)[i];
            if (at->process == process && !strcmp(at->name, name))
                return 1;
            if (at->process == process && !first)
                first = at;
        }
        if (!first || first->parent == process)
            return 0;
        process = first->parent;
    }
}

/* Is this part reported as `name`? PERHAPS: it was renamed while the run ended. */
static enum membership is_reported_as(const struct judging *judging, uint32_t index, const char *name)
{
    const struct run *run = judging->run;
    const struct part *part = &parts_of(run)[index];

    if (judging->draw->by != BY_PROCESS)
        return strcmp(part->name, name) ? OUTSIDE : INSIDE;
    /* If stackbox missed a rename, a row has the old name, or the thread's own at the event. */
    if (is_said_unheard(judging, part, NAMES) || has_lost_records(judging))
        return had_name(run, part->process, name) ? PERHAPS : OUTSIDE;
    if (has_last_name(judging))
        return named_at_report(judging, part, name);
    for (uint32_t i = 0; i < run->whole.parts; i++) {
        const struct part *namer = &parts_of(run)[i];
        if (namer->process == part->process && is_leader(namer) && !strcmp(namer->name, name))
            return INSIDE;
    }
    return OUTSIDE;
}

/* ---- sums */

static int has_frame(const struct row *row, const char *frame)
{
    const char *at = strstr(row->stack, frame);

    return at && (!at[strlen(frame)] || at[strlen(frame)] == ';');
}

/* In offwaketime the sleeper's frames come before ";--;", the waker's behind it. */
static int sleeps_in(const struct judging *judging, const struct row *row, const char *frame)
{
    const char *waker = judging->draw->applet == OFFWAKETIME ? strstr(row->stack, ";--;") : NULL;
    const char *at = strstr(row->stack, frame);

    return has_frame(row, frame) && (!waker || at < waker) && !has_frame(row, ";[runnable]") && !has_frame(row, ";[running]");
}

static int is_counted(const struct judging *judging, const struct row *row, enum measure measure)
{
    switch (measure) {
    case NAPS: return sleeps_in(judging, row, ";life_nap");
    case WAITS: return sleeps_in(judging, row, ";life_wait");
    case WOKEN: return sleeps_in(judging, row, ";life_wait") && has_frame(row, ";life_wake");
    default: return 1;
    }
}

static const char *const measure_names[] = {"events", "naps", "waits", "waits with their wakers", "lifetimes"};

/* One key of the answer: a process, a thread or a name; NULL matches any name. */
struct key {
    int32_t pid, tid;
    const char *name;
};

/*
 * Is the name part of the key? A rename does not end what a thread is doing, so a lifetime can span
 * two names: lifetimes are keyed by name only by process, where the last name counts.
 */
static int names_matter(const struct judging *judging, enum measure measure)
{
    return judging->draw->by == BY_PROCESS ? has_last_name(judging) : measure != LIFETIMES;
}

static int is_told(const struct run *run, int32_t pid, int32_t tid)
{
    for (uint32_t i = 0; i < run->whole.parts; i++) {
        if (parts_of(run)[i].pid == pid && parts_of(run)[i].tid == tid)
            return 1;
    }
    return 0;
}

/* A thread that was killed before it logged its tid may have any tid that is not in the log. */
static int has_numbers(const struct judging *judging, const struct part *part, int32_t pid, int32_t tid)
{
    enum by by = judging->draw->by;

    if (by != BY_PROCESS && by != BY_THREAD)
        return 1;
    return part->pid == pid &&
           (by == BY_PROCESS || part->tid == tid || (!part->tid && !is_told(judging->run, pid, tid)));
}

/*
 * A thread that calls execve(2) gets the leader's tid before the process gets the program's name:
 * the kernel runs de_thread() before __set_task_comm().
 */
static int is_within_exec(const struct judging *judging, uint32_t index, const struct row *row)
{
    const struct part *part = &parts_of(judging->run)[index];

    if (judging->draw->by != BY_THREAD || row->pid != part->pid || row->tid != part->pid)
        return 0;
    for (uint32_t i = 0; i < judging->run->whole.parts; i++) {
        const struct part *next = &parts_of(judging->run)[i];
        if (next->follows == index + 1 && next->tid == row->tid && next->image != part->image)
            return 1;
    }
    return 0;
}

static int row_has_key(const struct judging *judging, const struct row *row, const struct key *key)
{
    enum by by = judging->draw->by;

    return (by != BY_PROCESS || row->pid == key->pid) &&
           (by != BY_THREAD || (row->pid == key->pid && row->tid == key->tid)) &&
           (!key->name || !strcmp(row->name, key->name));
}

static enum membership part_has_key(const struct judging *judging, uint32_t index, const struct key *key)
{
    const struct part *part = &parts_of(judging->run)[index];

    if (!has_numbers(judging, part, key->pid, key->tid))
        return OUTSIDE;
    return key->name ? is_reported_as(judging, index, key->name) : INSIDE;
}

/*
 * An exiting thread that is gone from /proc still has to leave its CPU, and can be preempted before
 * that for as long as other threads run there: the log does not bound this time.
 */
static int is_of_leaving(const struct judging *judging, const struct row *row)
{
    return has_frame(row, ";[runnable]") && (judging->draw->stacks == USER_STACKS || has_frame(row, ";do_exit"));
}

static void judge_key(const struct judging *judging, const struct key *key, enum measure measure)
{
    const struct answer *answer = judging->answer;
    const struct run *run = judging->run;
    uint64_t end = certain_end(judging->draw, run);
    struct bounds sum = {0, 0};
    double got = 0, unit = measure == EVENTS ? 1 : 1000, rounding = 0;

    for (uint32_t i = 0; i < run->whole.parts; i++) {
        const struct part *part = &parts_of(run)[i];
        const enum membership has_key = part_has_key(judging, i, key);
        struct bounds bounds;
        if (judging->inside[i] == OUTSIDE || has_key == OUTSIDE)
            continue;
        bounds = part_bounds(judging, i, measure);
        sum.most += bounds.most;
        /* An exiting thread that is gone from /proc may not have left its CPU yet. */
        if (measure == LIFETIMES && bounds.most > 0)
            sum.most += (double)life->longest_gap + 1000000;
        if (judging->inside[i] == INSIDE && has_key == INSIDE && (is_target(run, part->process) || part->last <= end))
            sum.least += bounds.least;
    }
    for (size_t i = 0; i < answer->count; i++) {
        const struct row *row = &answer->rows[i];
        if (!row_has_key(judging, row, key) || !is_counted(judging, row, measure))
            continue;
        got += (double)row->count * unit;
        rounding += measure == EVENTS ? 0 : 1000;
        if (measure == LIFETIMES && is_of_leaving(judging, row))
            sum.most += (double)row->count * unit;
    }
    sum.least = positive(sum.least - (measure == EVENTS ? (double)(answer->lost + answer->missed) :
                                                          judging->steal + rounding + crowded_out(answer) * unit));
    if (measure != EVENTS)
        sum.most += rounding; /* as in "%.0f" */
    if (got < sum.least || got > sum.most)
        fails("%s of %s (%d/%d): %.0f reported, but it was %.0f to %.0f%s", measure_names[measure], key->name ? key->name : "all", key->pid,
              key->tid, got / unit, sum.least / unit, sum.most / unit, got < sum.least ? ", too few" : ", too many");
}

/* Judges the key under all names together, and under this name where names matter. */
static void judge_named(const struct judging *judging, int32_t pid, int32_t tid, const char *name, enum measure measure)
{
    if (judging->draw->by == BY_PROCESS || !names_matter(judging, measure))
        judge_key(judging, &(struct key){pid, tid, NULL}, measure);
    if (names_matter(judging, measure))
        judge_key(judging, &(struct key){pid, tid, name}, measure);
}

/* Every key that the log or the answer has. */
static void judge_keys(const struct judging *judging, enum measure measure)
{
    const struct answer *answer = judging->answer;
    const struct run *run = judging->run;

    for (uint32_t i = 0; i < run->whole.parts; i++) {
        const struct part *part = &parts_of(run)[i];
        judge_named(judging, part->pid, part->tid, part->name, measure);
    }
    for (size_t i = 0; i < answer->count; i++) {
        const struct row *row = &answer->rows[i];
        if (!is_crowded_out(row) && (judging->draw->whose != ALL_OF_THEM || probes_programs(judging->draw)))
            judge_named(judging, row->pid, row->tid, row->name, measure);
    }
}

/* Bounds of all traced waits in life_wait that this process ends; pid 0: any process. */
static struct bounds waker_bounds(const struct judging *judging, int32_t pid)
{
    const struct run *run = judging->run;
    uint64_t end = certain_end(judging->draw, run);
    struct bounds sum = {0, 0};

    for (uint32_t i = 0; i < run->whole.parts; i++) {
        const struct part *part = &parts_of(run)[i];
        int is_his = 0;
        for (uint32_t at = 0; at < run->whole.parts && !is_his; at++)
            is_his = parts_of(run)[at].process == part->waker && (!pid || parts_of(run)[at].pid == pid);
        if (judging->inside[i] == OUTSIDE || !part->waits.number || !is_his)
            continue;
        struct bounds bounds = part_bounds(judging, i, WOKEN);
        sum.most += bounds.most;
        if (judging->inside[i] == INSIDE && (is_target(run, part->process) || part->last <= end))
            sum.least += bounds.least;
    }
    return sum;
}

static void judge_waker(const struct judging *judging, int32_t pid)
{
    struct bounds sum = waker_bounds(judging, pid);
    double got = 0, rounding = 0;

    for (size_t i = 0; i < judging->answer->count; i++) {
        const struct row *row = &judging->answer->rows[i];
        if ((pid && row->pid != pid) || !has_frame(row, ";life_wake"))
            continue;
        got += (double)row->count * 1000;
        rounding += 1000;
    }
    sum.least -= judging->steal + rounding + 1000 + crowded_out(judging->answer) * 1000;
    if (got < sum.least || got > sum.most + rounding)
        fails("waits that %d ended: %.0f reported, but it was %.0f to %.0f, %s", pid, got / 1000, sum.least / 1000,
              sum.most / 1000, got < sum.least ? "too few" : "too many");
}

/* Rows by name have no pid: then all wakers are judged as one. */
static void judge_wakers(const struct judging *judging)
{
    const struct run *run = judging->run;
    int numbers = judging->draw->by == BY_PROCESS || judging->draw->by == BY_THREAD;

    for (uint32_t i = 0; i < run->whole.parts && numbers; i++)
        judge_waker(judging, parts_of(run)[i].pid);
    if (!numbers)
        judge_waker(judging, 0);
}

/* Every row must be of a process that stackbox was asked for, under a name that it had. */
static void judge_names(const struct judging *judging)
{
    const struct answer *answer = judging->answer;
    const struct run *run = judging->run;

    for (size_t i = 0; i < answer->count; i++) {
        const struct row *row = &answer->rows[i];
        int known = 0, named = 0;
        if (!row->count || is_crowded_out(row))
            continue;
        for (uint32_t at = 0; at < run->whole.parts && !named; at++) {
            const struct part *part = &parts_of(run)[at];
            if (judging->inside[at] == OUTSIDE)
                continue;
            if (!has_numbers(judging, part, row->pid, row->tid) && !is_within_exec(judging, at, row))
                continue;
            known = 1;
            named = is_reported_as(judging, at, row->name);
        }
        if (!known && judging->draw->whose != ALL_OF_THEM)
            fails("reported, and not asked for: %s (%d/%d)%.100s", row->name, row->pid, row->tid, row->stack);
        else if (known && !named)
            fails("none of its threads had this name: %s (%d/%d)%.100s", row->name, row->pid, row->tid, row->stack);
    }
}

/* ---- stacks */

/* May this row's functions be unnamed, with a message about it? */
static int is_excused(const struct judging *judging, const struct row *row)
{
    const struct run *run = judging->run;

    for (uint32_t i = 0; i < run->whole.parts; i++) {
        const struct part *part = &parts_of(run)[i];
        if ((!row->pid || row->pid == part->pid) && is_reported_as(judging, i, row->name) != OUTSIDE &&
            may_lack_names(judging, part))
            return 1;
    }
    return 0;
}

/* Only the end is compared: a signal's handler calls life_calls(), too, perhaps within a call. */
static int ends_with(const char *stack, const char *frames)
{
    const size_t length = strlen(stack), its = strlen(frames);

    return length >= its && !strcmp(stack + length - its, frames);
}

static void judge_stacks(const struct judging *judging)
{
    const struct draw *draw = judging->draw;
    const struct answer *answer = judging->answer;

    if (draw->applet != STACKCOUNT || draw->event > ALPHA || draw->stacks == KERNEL_STACKS || draw->unwinding == NO_UNWINDING)
        return;
    for (size_t i = 0; i < answer->count; i++) {
        const struct row *row = &answer->rows[i];
        if (!ends_with(row->stack, ";life_calls;life_alpha") && !is_excused(judging, row))
            fails("a stack that is not: %s (%d)%.300s %llu", row->name, row->pid, row->stack, (unsigned long long)row->count);
    }
}

/* ---- all */

static void judge_words(const struct judging *judging)
{
    static const char *const bad[] = {
        "please report", "Sanitizer", "runtime error", "Segmentation", "core dumped", "assert", "does not add up",
    };
    const char *err = judging->answer->text;

    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        const char *at = strstr(err, bad[i]);
        while (at && at > err && at[-1] != '\n')
            at--;
        if (at)
            fails("it says: %.*s", (int)strcspn(at, "\n"), at);
    }
}

/* stackbox refused: this kernel or this combination lacks something. That is no failure. */
static int is_refused(const struct run *run, const char *err)
{
    static const char *const reasons[] = {
        "this kernel has no", "--attach-by", "--collect rings", "not with", "needs Linux", "only for",
    };

    if (!run->status)
        return 0;
    for (size_t i = 0; i < COUNT_OF(reasons); i++) {
        if (strstr(err, reasons[i]))
            return 1;
    }
    return 0;
}

static void judge_times(const struct judging *judging)
{
    const struct draw *draw = judging->draw;
    int shows_frames = draw->stacks != KERNEL_STACKS && draw->unwinding != NO_UNWINDING;

    if (draw->applet == WALLTIME)
        judge_keys(judging, LIFETIMES);
    if (draw->applet == WAKEUPTIME && shows_frames)
        judge_wakers(judging);
    if (draw->applet == OFFWAKETIME && shows_frames)
        judge_keys(judging, WOKEN);
    if (draw->applet == OFFCPUTIME || draw->applet == OFFWAKETIME || draw->applet == WALLTIME) {
        if (shows_frames) {
            judge_keys(judging, NAPS);
            judge_keys(judging, WAITS);
        }
    }
}

/*
 * Both outputs of a run must have the same sum, except for rounded times. They can differ in lines:
 * stacks that differ only in functions become one if the file is gone when `report` reads it.
 */
static void compare_answers(const struct draw *draw, const struct answer *one, const struct answer *other)
{
    double sums[2] = {0, 0}, rounding = draw->applet >= OFFCPUTIME ? (double)one->count : 0;

    for (size_t i = 0; i < one->count; i++)
        sums[0] += (double)one->rows[i].count;
    for (size_t i = 0; i < other->count; i++)
        sums[1] += (double)other->rows[i].count;
    if (sums[0] > sums[1] + rounding || sums[1] > sums[0] + rounding)
        fails("the folded file has %.0f in %zu lines, the recording %.0f in %zu", sums[0], one->count, sums[1], other->count);
}

/* Returns 1 if stackbox refused the run. */
static int judge_run(const struct draw *draw, const struct place *place, const struct run *run)
{
    struct answer answer = {.count = 0}, second = {.count = 0};
    struct judging judging = {draw, place, run, &answer, NULL, 0};

    if (run->hangs)
        fails("stackbox does not end");
    read_answer(draw, place, &answer, &second);
    judging.inside = calloc(run->whole.parts + 1, sizeof(*judging.inside));
    for (uint32_t i = 0; i < run->whole.parts; i++)
        judging.inside[i] = membership(draw, run, i);
    if (life->steal_end > life->steal_begin || life->steal_begin)
        judging.steal = (double)(life->steal_end - life->steal_begin + 20000000);
    judge_words(&judging);
    if (is_refused(run, answer.text))
        return 1;
    if (life->trouble[0])
        fails("the life had trouble: %s", life->trouble);
    if (run->status)
        fails("stackbox ends with status %d: %.200s", run->status, answer.text);
    if (draw->output == TO_BOTH && draw->applet != STACKSNOOP)
        compare_answers(draw, &answer, &second);
    /* A waker, or a row of all processes, can be any process, even one that reuses a life's pid. */
    if (draw->applet != WAKEUPTIME && (draw->whose != ALL_OF_THEM || probes_programs(draw)))
        judge_names(&judging);
    if (draw->applet <= STACKSNOOP)
        judge_keys(&judging, EVENTS);
    else
        judge_times(&judging);
    judge_stacks(&judging);
    return 0;
}

#endif
