/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which life, and which of its programs, an event belongs to: by its `born`, or by its time. */
#include "processes/history.h"

#include "insns/layout.h"

/* The newest that had begun by then; otherwise the first. */
static struct program *program_at(const struct life *life, uint64_t time)
{
    struct program *program = life->programs;

    while (program->older && program->since > time)
        program = program->older;
    return program;
}

static struct program *first_program(const struct life *life)
{
    return program_at(life, 0);
}

/* The owner of the pid at `time`, or the first one later. */
static struct life *life_from(const struct history *history, uint32_t pid, uint64_t time)
{
    struct life *found = NULL;

    for (struct life *life = history_newest(history, pid); life; life = life->next)
        if (life->pid == pid && !(life->ended && life->ended_at < time))
            found = life;
    return found;
}

/* The first owner of the pid after `time`. */
static struct life *life_after(const struct history *history, uint32_t pid, uint64_t time)
{
    struct life *found = NULL;

    for (struct life *life = history_newest(history, pid); life; life = life->next)
        if (life->pid == pid && life->forked > time)
            found = life;
    return found;
}

/* The program of an exec that was counted at `time`; it was reported before. */
static struct program *executed_at(struct life *life, uint64_t time)
{
    if (!life || life->forked > time)
        return NULL;
    struct program *program = program_at(life, time);
    bool is_it = program->origin == PROGRAM_EXECUTED ||
                 (program->origin == PROGRAM_SEEN && life->seen >= time);
    return is_it && program->since <= time ? program : NULL;
}

struct program *history_find(const struct history *history, uint32_t pid, uint64_t born,
                             uint64_t begin, struct life **of)
{
    if (born >> LIFE_ENDING_BIT) {
        born &= ~((uint64_t)1 << LIFE_ENDING_BIT);
        *of = life_from(history, pid, born);
        return *of ? program_at(*of, born) : NULL;
    }
    if (born && !(born & LIFE_ENDED)) {
        *of = life_from(history, pid, born);
        return executed_at(*of, born);
    }
    *of = born ? life_after(history, pid, born) : life_from(history, pid, begin);
    if (*of)
        return (*of)->forked > begin || born ? first_program(*of) : program_at(*of, begin);
    if (!born)
        return NULL;
    *of = life_from(history, pid, born);
    return *of ? program_at(*of, born) : NULL;
}

bool history_is_in_doubt(const struct history *history, uint32_t pid, uint64_t born,
                         uint64_t begin)
{
    return history->ends_forgotten && !born &&
           life_from(history, pid, begin) != history_newest(history, pid);
}

/* The previous owner of the pid; NULL: none is known. */
static const struct life *life_before(const struct history *history, const struct life *life)
{
    const struct life *found = NULL;

    for (const struct life *at = history_newest(history, life->pid); at; at = at->next)
        if (at->pid == life->pid && at->ended && at->ended_at < life->forked &&
            (!found || at->ended_at > found->ended_at))
            found = at;
    return found;
}

struct program *history_find_at(const struct history *history, uint32_t pid, uint64_t time, struct life **of)
{
    *of = life_from(history, pid, time);
    return *of && (*of)->forked <= time ? program_at(*of, time) : NULL;
}

/* The same for all of a program's time, so that its events are recognized as one program's. */
uint64_t history_born_at(const struct history *history, uint32_t pid, uint64_t time, uint64_t begin)
{
    const struct life *life = life_from(history, pid, time), *before;

    if (!life)
        return 0;
    const struct program *program = program_at(life, time);
    if (program->origin == PROGRAM_EXECUTED && program->since > begin)
        return (program->since + 1) & ~(uint64_t)1;
    before = life_before(history, life);
    return before && before->ended_at > begin ? before->ended_at | 1 : 0;
}
