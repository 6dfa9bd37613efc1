/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <string.h>

#include "find/expression_steps.h"

struct round {
    const struct expression *expression;
    uint16_t *now, *next, *waiting;
    bool *seen; /* which steps are in `next` */
    size_t now_count, next_count;
    unsigned char before, after; /* the bytes around the place: 0 at the ends */
};

static bool is_at(const struct round *round, enum edge edge)
{
    const bool before = round->before && is_word(round->before), after = round->after && is_word(round->after);

    switch (edge) {
    case EDGE_START: return !round->before;
    case EDGE_END: return !round->after;
    case EDGE_WORD_START: return !before && after;
    case EDGE_WORD_END: return before && !after;
    case EDGE_WORD: return before != after;
    case EDGE_NO_WORD: return before == after;
    }
    return false;
}

static void note(struct round *round, size_t *waiting, size_t step)
{
    if (round->seen[step])
        return;
    round->seen[step] = true;
    round->waiting[(*waiting)++] = (uint16_t)step;
}

/*
 * Adds the step to `next`, with everything it leads to without a byte. True: the end is among them.
 */
static bool take(struct round *round, size_t first)
{
    size_t waiting = 0;

    note(round, &waiting, first);
    while (waiting) {
        const size_t at = round->waiting[--waiting];
        const struct expression_step *step = &round->expression->steps[at];
        switch (step->kind) {
        case STEP_DONE:
            return true;
        case STEP_BYTE:
            round->next[round->next_count++] = (uint16_t)at;
            break;
        case STEP_EDGE:
            if (is_at(round, step->edge))
                note(round, &waiting, at + 1);
            break;
        case STEP_EITHER:
            note(round, &waiting, at + (size_t)step->or_to);
            /* fall through */
        case STEP_GO:
            note(round, &waiting, at + (size_t)step->to);
            break;
        }
    }
    return false;
}

/* Everything that the byte before this place leads to, and whatever begins here. */
static bool go_on(struct round *round)
{
    uint16_t *list = round->now;
    bool done = false;

    memset(round->seen, 0, round->expression->count * sizeof(*round->seen));
    round->next_count = 0;
    for (size_t i = 0; i < round->now_count && !done; i++)
        if (set_has(&round->expression->steps[round->now[i]], round->before))
            done = take(round, round->now[i] + 1u);
    done = done || take(round, 0);
    round->now = round->next;
    round->now_count = round->next_count;
    round->next = list;
    return done;
}

bool expression_matches(const struct expression *expression, const char *name)
{
    const size_t count = expression->count;
    struct round round = {
        .expression = expression,
        .now = expression->scratch,
        .next = expression->scratch + count,
        .waiting = expression->scratch + 2 * count,
        .seen = (bool *)(expression->scratch + 3 * count),
        .after = (unsigned char)*name,
    };

    while (!go_on(&round)) {
        if (!*name)
            return false;
        round.before = (unsigned char)*name++;
        round.after = (unsigned char)*name;
    }
    return true;
}
