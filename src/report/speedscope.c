/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A report in speedscope's format: frames without duplicates, and for each thing measured a profile
 * with a sample and a weight for each stack. Numbers are written in full. JavaScript readers round
 * those above 2^53 (104 days in nanoseconds) to 16 digits, which no picture shows; readers with
 * integers have them right.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/text.h"
#include "report/blocks.h"

/* A profile's weights. */
struct scale {
    const char *name, *unit; /* unit: one that speedscope knows */
    const char *what;        /* NULL: events */
};

struct writing {
    FILE *out;
    const struct report *report;
    struct line line;
    struct numbering frames;
    uint32_t *by_label; /* a label's frame + 1, if known already; else 0 */
    uint32_t written;   /* how many frames are in the file */
    struct text samples; /* of every profile */
};

/* ---- JSON ---- */

/* For text without control bytes. Escapes what would end a surrounding script. */
static void write_text(FILE *out, const char *text, size_t length)
{
    for (const char *end = text + length; text < end; text++)
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if (*text == '<' && text + 1 < end && (text[1] == '/' || text[1] == '!'))
            fputs("\\u003c", out);
        else
            fputc(*text, out);
}

static void write_member(FILE *out, const char *name, const char *text, size_t length)
{
    fprintf(out, "\"%s\":\"", name);
    write_text(out, text, length);
    fputc('"', out);
}

/* ---- Frames ---- */

/* A label's name is followed by its file. */
static void write_frame(struct writing *writing, const char *text)
{
    size_t name = strcspn(text, LABEL_FILE_MARK);

    fputs(writing->written ? ",\n{" : "\n{", writing->out);
    write_member(writing->out, "name", text, name);
    if (text[name]) {
        fputc(',', writing->out);
        write_member(writing->out, "file", text + name + 1, strlen(text + name + 1));
    }
    fputc('}', writing->out);
    writing->written++;
}

/* A frame's number in the file. 0 or -ENOMEM. */
static int find_frame(struct writing *writing, const struct line_frame *frame, uint32_t *number)
{
    bool labelled = frame->part == LINE_FRAME;

    if (labelled && writing->by_label[frame->label]) {
        *number = writing->by_label[frame->label] - 1;
        return 0;
    }
    int result = numbering_find(&writing->frames, frame->name, strlen(frame->name), number, NULL);
    if (!result && labelled)
        writing->by_label[frame->label] = *number + 1;
    return result;
}

/* Writes all frames, and makes the samples, which are made of their numbers. */
static int write_frames(struct writing *writing)
{
    const struct blocks *blocks = writing->report->blocks;
    struct text *samples = &writing->samples;
    uint32_t number;
    int result = 0;

    fputs("\"shared\":{\"frames\":[", writing->out);
    for (size_t i = 0; i < blocks->count && !result; i++) {
        text_add(samples, i ? ",\n[" : "\n[");
        result = line_make(&writing->line, writing->report, &blocks->items[i]);
        for (size_t at = 0; at < writing->line.count && !result; at++) {
            result = find_frame(writing, &writing->line.frames[at], &number);
            if (!result && number == writing->written)
                write_frame(writing, writing->line.frames[at].name);
            text_format(samples, at ? ",%u" : "%u", number);
        }
        text_add(samples, "]");
    }
    fputs("\n]},\n", writing->out);
    return samples->failed ? -ENOMEM : result;
}

/* ---- Profiles ---- */

static uint64_t weigh(const struct writing *writing, const struct scale *scale,
                      const struct block *block)
{
    const struct report_options *options = writing->report->options;
    uint64_t weight;

    if (!scale->what)
        return block->events;
    if (!options->measure.per_event)
        return blocks_shown_value(block->value, options);
    return __builtin_mul_overflow(block->events, options->measure.per_event, &weight) ? UINT64_MAX
                                                                                    : weight;
}

static void write_weights(struct writing *writing, const struct scale *scale)
{
    const struct blocks *blocks = writing->report->blocks;

    fputs("\"weights\":[", writing->out);
    for (size_t i = 0; i < blocks->count; i++)
        fprintf(writing->out, i ? ",%llu" : "%llu",
                (unsigned long long)weigh(writing, scale, &blocks->items[i]));
    fputs("]}", writing->out);
}

static uint64_t add_up(const struct writing *writing, const struct scale *scale)
{
    const struct blocks *blocks = writing->report->blocks;
    uint64_t sum = 0;

    for (size_t i = 0; i < blocks->count; i++)
        if (__builtin_add_overflow(sum, weigh(writing, scale, &blocks->items[i]), &sum))
            return UINT64_MAX;
    return sum;
}

static int write_profile(struct writing *writing, const struct scale *scale)
{
    const struct report_about *about = writing->report->options->about;
    struct text name = {0};

    if (about)
        text_format(&name, "%s: ", about->applet);
    text_add(&name, scale->name);
    if (scale->what && strcmp(scale->unit, "none"))
        text_format(&name, " (%s)", scale->unit);
    if (name.failed) {
        text_free(&name);
        return -ENOMEM;
    }
    fputs("{\"type\":\"sampled\",", writing->out);
    write_member(writing->out, "name", name.data, name.length);
    text_free(&name);
    fprintf(writing->out, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%llu,\n", scale->unit,
            (unsigned long long)add_up(writing, scale));
    fprintf(writing->out, "\"samples\":[%s],\n", text_string(&writing->samples));
    write_weights(writing, scale);
    return 0;
}

static int write_profiles(struct writing *writing)
{
    const struct report_measure *measure = &writing->report->options->measure;
    const char *unit = measure->unit ? measure->unit : "";
    const struct scale events = {
        .name = blocks_events_name(measure),
        .unit = "none",
    };
    const struct scale values = {
        .name = measure->value,
        .what = measure->value,
        .unit = !strcmp(unit, "nanoseconds") || !strcmp(unit, "microseconds") ||
                        !strcmp(unit, "bytes") ? unit : "none",
    };

    fputs("\"profiles\":[\n", writing->out);
    int result = write_profile(writing, &events);
    if (!result && values.what) {
        fputs(",\n", writing->out);
        result = write_profile(writing, &values);
    }
    fputs("\n]}\n", writing->out);
    return result;
}

/* ---- The file ---- */

/* The file's subject: which run, where and how long, and what was lost. */
static void add_title(struct text *title, const struct report_about *about,
                      const struct report_measure *measure)
{
    escape_bytes(title, about->command_line, strlen(about->command_line));
    text_add(title, " on ");
    escape_bytes(title, about->host, strlen(about->host));
    text_format(title, ", %.1f s, %llu %s", (double)(about->ended - about->began) / 1e9,
                (unsigned long long)about->events, blocks_events_name(measure));
    const char *rest = about->losses, *line;
    for (size_t length; (line = next_line(&rest, &length));) {
        text_add(title, "; ");
        escape_bytes(title, line, length);
    }
}

/* The profile with the text's weights comes first. */
static int write_head(struct writing *writing)
{
    const struct report_options *options = writing->report->options;
    struct text title = {0};

    if (options->about)
        add_title(&title, options->about, &options->measure);
    else
        text_add(&title, "stackbox");
    if (title.failed) {
        text_free(&title);
        return -ENOMEM;
    }
    fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n", writing->out);
    write_member(writing->out, "name", title.data, title.length);
    fprintf(writing->out, ",\"exporter\":\"stackbox@%s\",\"activeProfileIndex\":%d,\n",
            STACKBOX_VERSION, options->measure.value != NULL);
    text_free(&title);
    return 0;
}

int speedscope_write(FILE *out, const struct report *report)
{
    struct writing writing = {
        .out = out,
        .report = report,
        .by_label = calloc(report->blocks->label_count + 1, sizeof(*writing.by_label)),
    };
    int result = writing.by_label ? write_head(&writing) : -ENOMEM;

    if (!result)
        result = write_frames(&writing);
    if (!result)
        result = write_profiles(&writing);
    line_free(&writing.line);
    numbering_free(&writing.frames);
    text_free(&writing.samples);
    free(writing.by_label);
    return result;
}
