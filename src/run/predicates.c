/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What is asked of events besides their stacks: --if, --sum and --print. */
#include <stdlib.h>

#include "base/say.h"
#include "base/text.h"
#include "find/event_values.h"
#include "find/find.h"
#include "options/applet.h"
#include "run/attaching.h"

const struct manual_row predicates_values[] = {
    {"arg1 ... arg6", "a function's arguments in registers, unsigned"},
    {"ret", "its return value, at r::, a long"},
    {"arg1:i32", "its lower bits as an int: i8 to i64, or u8 to u64 (unsigned)"},
    {"NAME", "a tracepoint's field"},
    {"comm", "the thread's name, in conditions"},
    {NULL, "Conditions compare with ==, !=, <, <=, > and >=: to a number such as 4096, 0x1000, 4K "
     "or -11, or to a \"text\"; &&, ||, ! and parentheses combine them."},
    {0},
};

int predicates_parse(struct predicates *predicates, const struct probe_options *options,
                     const char *option, size_t most, struct text *error)
{
    struct asked_values *asked = &predicates->asked;
    struct text why = {0};
    int result = 0;

    if (options->condition)
        result = condition_words_parse(&asked->condition, options->condition, &why);
    if (result)
        option = "--if";
    else if (options->values)
        result = value_words_parse(asked->values, most, &asked->count, options->values, &why);
    if (result)
        text_format(error, "%s: %s", option, text_or_error(&why, result));
    text_free(&why);
    return result;
}

/* A program finds a value where its first place has it: all its other places must agree. */
static int find_at(struct predicates *predicates, const struct values_where *where,
                   const struct place *place, const struct place **firsts, struct text *error)
{
    enum attach_program which = attach_program_of(place);
    struct event_values found;
    int result = event_values_find(&found, &predicates->asked, where, place, error);

    if (result)
        return result;
    if (!firsts[which]) {
        firsts[which] = place;
        predicates->found[which] = found;
    } else if (!event_values_equal(&predicates->found[which], &found)) {
        text_format(error, "\"%s\" and \"%s\" have it in different places: trace them separately",
                    firsts[which]->name, place->name);
        return -1;
    }
    return 0;
}

bool predicates_any(const struct predicates *predicates)
{
    return predicates->asked.condition.count || predicates->asked.count;
}

int predicates_find(struct predicates *predicates, const struct find *find, bool by_rings)
{
    const struct values_where where = {find->tracefs, find->kernel, find->by_calls};
    const struct place *firsts[ATTACH_PROGRAMS] = {NULL};
    struct text error = {0};
    int result = 0;

    if (!predicates_any(predicates))
        return 0;
    if (by_rings)
        return fail_saying("--if, --sum and --print: values are read by BPF programs, not from "
                           "rings");
    for (size_t i = 0; i < find->places.count && !result; i++)
        result = find_at(predicates, &where, &find->places.items[i], firsts, &error);
    if (result)
        say("%s", text_or_error(&error, result));
    text_free(&error);
    return result ? EXIT_FAILURE : 0;
}
