/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "session/asking.h"

#include <stdlib.h>

#include "base/say.h"

const struct manual_row asking_values[] = {
    {"arg1 ... arg6", "a function's arguments in registers, unsigned"},
    {"ret", "its return value, at r::, a long"},
    {"arg1:i32", "its lower bits as an int: i8 to i64, or u8 to u64 (unsigned)"},
    {"NAME", "a tracepoint's field"},
    {"comm", "the thread's name, in conditions"},
    {NULL, "Conditions compare with ==, !=, <, <=, > and >=: to a number such as 4096, 0x1000, 4K "
     "or -11, or to a \"text\"; &&, ||, ! and parentheses combine them."},
    {0},
};

int asking_parse(struct asking *asking, const char *condition, const char *option, const char *values,
                 size_t most, struct text *error)
{
    struct asked_values *asked = &asking->asked;
    struct text why = {0};
    int result = 0;

    if (condition)
        result = condition_words_parse(&asked->condition, condition, &why);
    if (result)
        option = "--if";
    else if (values)
        result = value_words_parse(asked->values, most, &asked->count, values, &why);
    if (result)
        text_format(error, "%s: %s", option, text_or_error(&why, result));
    text_free(&why);
    return result;
}

/* A program's first place decides where it finds the value: it must be the same at all others. */
static int find_at(struct asking *asking, const struct values_where *where, const struct place *place,
                   const struct place **firsts, struct text *error)
{
    enum attach_program which = attach_program_of(place);
    struct event_values found;
    int result = event_values_find(&found, &asking->asked, where, place, error);

    if (result)
        return result;
    if (!firsts[which]) {
        firsts[which] = place;
        asking->found[which] = found;
    } else if (!event_values_equal(&asking->found[which], &found)) {
        text_format(error, "\"%s\" and \"%s\" have it in different places: trace them separately",
                    firsts[which]->name, place->name);
        return -1;
    }
    return 0;
}

bool asking_any(const struct asking *asking)
{
    return asking->asked.condition.count || asking->asked.count;
}

int asking_find(struct asking *asking, const struct find *find, bool by_rings)
{
    const struct values_where where = {find->tracefs, find->kernel};
    const struct place *firsts[ATTACH_PROGRAMS] = {NULL};
    struct text error = {0};
    int result = 0;

    if (!asking_any(asking))
        return 0;
    if (by_rings) {
        say("--if, --sum and --print: values are read by BPF programs, not from rings");
        return EXIT_FAILURE;
    }
    for (size_t i = 0; i < find->places.count && !result; i++)
        result = find_at(asking, &where, &find->places.items[i], firsts, &error);
    if (result)
        say("%s", text_or_error(&error, result));
    text_free(&error);
    return result ? EXIT_FAILURE : 0;
}
