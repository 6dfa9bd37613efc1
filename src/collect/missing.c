/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "collect/missing.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "picture/svg_text.h"

void missing_add(struct missing *missing, const struct loss *loss, const char *format, ...)
{
    char what[512];
    va_list values;

    if (!loss->count || missing->count == MISSING_KINDS)
        return;
    va_start(values, format);
    vsnprintf(what, sizeof(what), format, values);
    va_end(values);
    missing->kinds[missing->count] = *loss;
    text_add(&missing->what[missing->count++], what);
}

void missing_add_recursion(struct missing *missing, const char *events, uint64_t count)
{
    const struct loss loss = {count, events, .at_most = true, .beside = true};

    missing_add(missing, &loss, "were missed: they hit while a BPF program was already running on "
                "that CPU; shorter stacks (--depth, -K, -U) make that rarer");
}

void missing_add_nested(struct missing *missing, uint64_t count, bool at_most)
{
    missing_add(missing, &(struct loss){.count = count, .at_most = at_most, .beside = true},
                "are missing: the kernel traces at most 64 nested returns in a thread");
}

void missing_free(struct missing *missing)
{
    for (size_t i = 0; i < missing->count; i++)
        text_free(&missing->what[i]);
    *missing = (struct missing){0};
}

static const char *what_of(const struct missing *missing, size_t kind)
{
    return missing->what[kind].failed ? "are missing" : missing->what[kind].data;
}

/* Of what happened: everything that was counted, and what was not. */
static uint64_t all_of(const struct missing *missing, uint64_t events)
{
    for (size_t i = 0; i < missing->count; i++)
        if (missing->kinds[i].beside && missing->kinds[i].count != MISSING_UNCOUNTED)
            events += missing->kinds[i].count;
    return events + missing->unfit;
}

/* Some kinds are so common that few of them are no news. */
static bool is_news(const struct loss *loss, uint64_t all)
{
    return !loss->matters || loss->count > all / loss->matters;
}

/* "0.04 %", "12 %" */
static void add_share(struct text *text, uint64_t part, uint64_t all)
{
    double share = all ? 100 * (double)part / (double)all : 100;

    text_format(text, share < 10 ? "%.2g %%" : "%.0f %%", share);
}

static void add_line(const struct missing *missing, size_t kind, struct text *lines)
{
    const struct loss *loss = &missing->kinds[kind];

    if (loss->count == MISSING_UNCOUNTED)
        text_format(lines, "%s ", loss->events ? loss->events : "events");
    else
        text_format(lines, "%s%llu %s ", loss->at_most ? "up to " : "",
                    (unsigned long long)loss->count, loss->events ? loss->events : "events");
    text_add(lines, what_of(missing, kind));
}

void missing_add_lines(const struct missing *missing, struct text *lines)
{
    for (size_t i = 0; i < missing->count; i++) {
        add_line(missing, i, lines);
        text_add(lines, "\n");
    }
}

void missing_add_shares(const struct missing *missing, uint64_t events, const char *name,
                        struct text *lines)
{
    uint64_t all = all_of(missing, events);

    for (size_t i = 0; i < missing->count; i++) {
        add_line(missing, i, lines);
        if (missing->kinds[i].count != MISSING_UNCOUNTED) {
            text_add(lines, " (");
            add_share(lines, missing->kinds[i].count, all);
            text_add(lines, " of ");
            svg_add_number(lines, all);
            text_format(lines, " %s)", name);
        }
        text_add(lines, "\n");
    }
}

void missing_add_summary(const struct missing *missing, uint64_t events, const char *name,
                         struct text *line)
{
    uint64_t all = all_of(missing, events), sum = 0;
    size_t greatest = 0;
    bool uncounted = false;

    for (size_t i = 0; i < missing->count; i++) {
        uint64_t count = missing->kinds[i].count;
        if (!is_news(&missing->kinds[i], all))
            continue;
        uncounted = uncounted || count == MISSING_UNCOUNTED;
        sum += count == MISSING_UNCOUNTED ? 0 : count;
        if (count > missing->kinds[greatest].count || !is_news(&missing->kinds[greatest], all))
            greatest = i;
    }
    if (!missing->count || (!uncounted && sum <= all / MISSING_MATTERS))
        return;
    const struct loss *loss = &missing->kinds[greatest];
    if (loss->count == MISSING_UNCOUNTED) {
        add_line(missing, greatest, line);
    } else {
        text_add(line, loss->at_most ? "up to " : "");
        svg_add_number(line, loss->count);
        if (loss->events && strcmp(loss->events, name))
            text_format(line, " %s for ", loss->events);
        else
            text_add(line, " of ");
        svg_add_number(line, all);
        text_format(line, " %s, ", name);
        add_share(line, loss->count, all);
        text_format(line, ", %s", what_of(missing, greatest));
    }
    if (missing->count > 1)
        text_format(line, " (and %zu more kind%s of loss: see --debug)", missing->count - 1,
                    missing->count > 2 ? "s" : "");
    text_add(line, "\n");
}
