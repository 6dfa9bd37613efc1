/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A report as a flame graph. */
#include <errno.h>
#include <string.h>

#include "base/escape.h"
#include "base/text.h"
#include "picture/svg.h"
#include "picture/svg_text.h"
#include "report/report_flame.h"

/* profile: CPU time */
static void add_title(struct text *text, const struct report_options *options)
{
    const struct report_measure *measure = &options->measure;

    text_format(text, "%s: ", options->about->applet);
    if (blocks_are_times(options))
        text_add(text, strcmp(measure->value, "wall") ? "blocked time" : "wall-clock time");
    else if (blocks_are_sums(options))
        text_format(text, "sum of %s", measure->value);
    else if (measure->value)
        text_add(text, strcmp(measure->value, "cpu") ? measure->value : "CPU time");
    else
        text_add(text, blocks_value_name(options));
    if (options->layout == LAYOUT_WAKEUPTIME)
        text_add(text, " by who ended it");
    else if (options->layout == LAYOUT_OFFWAKETIME)
        text_add(text, " and who ended it");
}

static void add_when(struct text *text, uint64_t began)
{
    time_t seconds = (time_t)(began / 1000000000);
    struct tm when;

    if (localtime_r(&seconds, &when))
        text_format(text, ", %d-%02d-%02d %02d:%02d:%02d", 1900 + when.tm_year, 1 + when.tm_mon, when.tm_mday,
                    when.tm_hour, when.tm_min, when.tm_sec);
}

/* What it shows, where and when it was recorded, and what was lost: one line each. */
static void add_subtitle(struct text *text, const struct report_options *options)
{
    const struct report_about *about = options->about;

    escape_bytes(text, about->command_line, strlen(about->command_line));
    text_add(text, "\non ");
    escape_bytes(text, about->host, strlen(about->host));
    add_when(text, about->began);
    text_format(text, ", %.1f s, ", (double)(about->ended - about->began) / 1e9);
    svg_add_number(text, about->events);
    text_format(text, " %s", blocks_events_name(&options->measure));
    const char *rest = about->losses, *line;
    for (size_t length; (line = next_line(&rest, &length));) {
        text_add(text, "\n");
        escape_bytes(text, line, length);
    }
}

int report_svg_write(FILE *out, const struct report *report)
{
    const struct report_options *options = report->options;
    struct text title = {0}, subtitle = {0};
    struct flame flame;
    int result = report_flame_make(&flame, report);

    if (!result && options->about) {
        add_title(&title, options);
        add_subtitle(&subtitle, options);
    }
    if (title.failed || subtitle.failed)
        result = -ENOMEM;
    if (!result)
        result = svg_write(out, &flame, &(struct svg_options){
            .title = title.data,
            .subtitle = subtitle.data,
            .count_name = blocks_value_name(options),
            .inverted = options->inverted,
        });
    text_free(&title);
    text_free(&subtitle);
    flame_free(&flame);
    return result;
}
