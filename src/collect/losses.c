/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "collect/collector.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "flame/svg.h"

void losses_add(struct losses *losses, const struct loss *loss, const char *format, ...)
{
    char what[512];
    va_list values;

    if (!loss->count || losses->count == LOSSES_KINDS)
        return;
    va_start(values, format);
    vsnprintf(what, sizeof(what), format, values);
    va_end(values);
    losses->kinds[losses->count] = *loss;
    text_add(&losses->what[losses->count++], what);
}

void losses_add_recursion(struct losses *losses, const char *events, uint64_t count)
{
    const struct loss loss = {count, events, .at_most = true, .beside = true};

    losses_add(losses, &loss, "were missed: they hit while a BPF program was already running on "
               "that CPU; shorter stacks (--depth, -K, -U) make that rarer");
}

void losses_add_nested(struct losses *losses, uint64_t count, bool at_most)
{
    losses_add(losses, &(struct loss){.count = count, .at_most = at_most, .beside = true},
               "are missing: the kernel traces at most 64 nested returns in a thread");
}

void losses_free(struct losses *losses)
{
    for (size_t i = 0; i < losses->count; i++)
        text_free(&losses->what[i]);
    *losses = (struct losses){0};
}

static const char *what_of(const struct losses *losses, size_t kind)
{
    return losses->what[kind].failed ? "are missing" : losses->what[kind].data;
}

/* All that happened: the events counted, and those that are not among them. */
static uint64_t all_of(const struct losses *losses, uint64_t events)
{
    for (size_t i = 0; i < losses->count; i++)
        if (losses->kinds[i].beside && losses->kinds[i].count != LOSSES_UNCOUNTED)
            events += losses->kinds[i].count;
    return events + losses->unfit;
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

static void add_line(const struct losses *losses, size_t kind, struct text *lines)
{
    const struct loss *loss = &losses->kinds[kind];

    if (loss->count == LOSSES_UNCOUNTED)
        text_format(lines, "%s ", loss->events ? loss->events : "events");
    else
        text_format(lines, "%s%llu %s ", loss->at_most ? "up to " : "",
                    (unsigned long long)loss->count, loss->events ? loss->events : "events");
    text_add(lines, what_of(losses, kind));
}

void losses_add_lines(const struct losses *losses, struct text *lines)
{
    losses_add_shares(losses, 0, NULL, lines);
}

void losses_add_shares(const struct losses *losses, uint64_t events, const char *name,
                       struct text *lines)
{
    uint64_t all = all_of(losses, events);

    for (size_t i = 0; i < losses->count; i++) {
        add_line(losses, i, lines);
        if (name && losses->kinds[i].count != LOSSES_UNCOUNTED) {
            text_add(lines, " (");
            add_share(lines, losses->kinds[i].count, all);
            text_add(lines, " of ");
            svg_add_number(lines, all);
            text_format(lines, " %s)", name);
        }
        text_add(lines, "\n");
    }
}

void losses_add_summary(const struct losses *losses, uint64_t events, const char *name,
                        struct text *line)
{
    uint64_t all = all_of(losses, events), sum = 0;
    size_t greatest = 0;
    bool uncounted = false;

    for (size_t i = 0; i < losses->count; i++) {
        uint64_t count = losses->kinds[i].count;
        if (!is_news(&losses->kinds[i], all))
            continue;
        uncounted = uncounted || count == LOSSES_UNCOUNTED;
        sum += count == LOSSES_UNCOUNTED ? 0 : count;
        if (count > losses->kinds[greatest].count || !is_news(&losses->kinds[greatest], all))
            greatest = i;
    }
    if (!losses->count || (!uncounted && sum <= all / LOSSES_MATTERS))
        return;
    const struct loss *loss = &losses->kinds[greatest];
    if (loss->count == LOSSES_UNCOUNTED) {
        add_line(losses, greatest, line);
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
        text_format(line, ", %s", what_of(losses, greatest));
    }
    if (losses->count > 1)
        text_format(line, " (and %zu more kind%s of loss: see --debug)", losses->count - 1,
                    losses->count > 2 ? "s" : "");
    text_add(line, "\n");
}
