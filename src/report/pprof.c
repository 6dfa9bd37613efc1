/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A report in pprof's format: a gzipped protocol buffer message. Every address in a process is a
 * location of its own, with the function that the text has for it; the task is in labels.
 *
 * For a wait that somebody ended, labels are the waiting task's, and `waker`, `waker_pid` and
 * `waker_tid` the waker's. wakeuptime's stacks are only the wakers'. offwaketime's are both, as in
 * a flame graph: the waiting task at the root, then `--`, then the waker's, inverted. Numbers of
 * processes outside our pid namespace are host_pid and host_tid.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/pprof_parts.h"

#include "base/text.h"

/* ---- What was measured ---- */

static void put_type(struct pprof_writer *writer, unsigned field, const char *name,
                     const char *unit)
{
    protobuf_add_number(&writer->message, TYPE_NAME, pprof_string(writer, name));
    protobuf_add_number(&writer->message, TYPE_UNIT, pprof_string(writer, unit));
    pprof_put_message(writer, field);
}

static void put_types(struct pprof_writer *writer)
{
    const struct report_measure *measure = &writer->report->options->measure;

    put_type(writer, PROFILE_SAMPLE_TYPE, blocks_events_name(measure), "count");
    if (measure->value)
        put_type(writer, PROFILE_SAMPLE_TYPE, measure->value, measure->unit);
    if (measure->value && measure->per_event) {
        put_type(writer, PROFILE_PERIOD_TYPE, measure->value, measure->unit);
        protobuf_add_number(&writer->message, PROFILE_PERIOD, measure->per_event);
    }
    const char *last = measure->value ? measure->value : blocks_events_name(measure);
    protobuf_add_number(&writer->message, PROFILE_DEFAULT_TYPE, pprof_string(writer, last));
    pprof_put_fields(writer);
}

static void add_comment(struct pprof_writer *writer, const char *text, size_t length)
{
    uint32_t number = pprof_escaped(writer, text, length);

    if (number)
        protobuf_add_number(&writer->message, PROFILE_COMMENT, number);
}

static void put_about(struct pprof_writer *writer, const struct report_about *about)
{
    struct text machine = {0};

    protobuf_add_number(&writer->message, PROFILE_TIME, about->began);
    if (about->ended > about->began)
        protobuf_add_number(&writer->message, PROFILE_DURATION, about->ended - about->began);
    add_comment(writer, about->command_line, strlen(about->command_line));
    text_format(&machine, "on %s, Linux %s", about->host, about->kernel);
    if (machine.failed)
        writer->result = -ENOMEM;
    else
        add_comment(writer, machine.data, machine.length);
    text_free(&machine);
    const char *rest = about->losses, *line;
    for (size_t length; (line = next_line(&rest, &length));)
        add_comment(writer, line, length);
    pprof_put_fields(writer);
}

/* ---- Samples ---- */

/* A frame's location; 0: it is a label of the sample. */
static uint64_t location_of(const struct pprof_writer *writer, const struct block *block,
                            const struct line_frame *frame)
{
    switch (frame->part) {
    case LINE_FRAME:
        return pprof_label_id(frame->label);
    case LINE_MEETING:
        return pprof_extra_id(writer, EXTRA_MEETING);
    case LINE_WAKER:
        return block->waker.nobody ? pprof_extra_id(writer, EXTRA_NO_WAKER) : 0;
    default:
        return 0;
    }
}

static void use_location(struct pprof_writer *writer, uint64_t id)
{
    writer->used[id - 1] = true;
    protobuf_add_packed(&writer->part, id);
}

/* Leaf first. */
static void add_locations(struct pprof_writer *writer, const struct block *block)
{
    for (size_t i = writer->line.count; i-- > 0;) {
        uint64_t id = location_of(writer, block, &writer->line.frames[i]);
        if (id)
            use_location(writer, id);
    }
    if (!writer->part.length)
        use_location(writer, pprof_extra_id(writer, EXTRA_NOTHING));
    pprof_add_part(writer, SAMPLE_LOCATIONS);
}

static void add_values(struct pprof_writer *writer, const struct block *block)
{
    const struct report_options *options = writer->report->options;
    const struct report_measure *measure = &options->measure;
    uint64_t value = blocks_shown_value(block->value, options);

    if (!measure->value) {
        protobuf_add_packed(&writer->part, value);
    } else if (measure->per_event) {
        protobuf_add_packed(&writer->part, value);
        protobuf_add_packed(&writer->part, value * measure->per_event);
    } else {
        protobuf_add_packed(&writer->part, block->events);
        protobuf_add_packed(&writer->part, value);
    }
    pprof_add_part(writer, SAMPLE_VALUES);
}

static void add_text_label(struct pprof_writer *writer, const char *key, const char *text)
{
    protobuf_add_number(&writer->part, LABEL_KEY, pprof_string(writer, key));
    protobuf_add_number(&writer->part, LABEL_TEXT, pprof_string(writer, text));
    pprof_add_part(writer, SAMPLE_LABEL);
}

static void add_number_label(struct pprof_writer *writer, const char *key, uint32_t number)
{
    if (!number)
        return;
    protobuf_add_number(&writer->part, LABEL_KEY, pprof_string(writer, key));
    protobuf_add_number(&writer->part, LABEL_NUMBER, number);
    pprof_add_part(writer, SAMPLE_LABEL);
}

/* The keys of a task's labels, with others for the host's numbers. */
struct task_keys {
    const char *comm, *pids[2], *tids[2];
};
static const struct task_keys task_keys = {"comm", {"pid", "host_pid"}, {"tid", "host_tid"}};
static const struct task_keys waker_keys = {
    "waker", {"waker_pid", "waker_host_pid"}, {"waker_tid", "waker_host_tid"}};

static void add_task_labels(struct pprof_writer *writer, const struct block_party *party,
                            const struct task_keys *keys)
{
    if (party->nobody)
        return;
    add_text_label(writer, keys->comm, party->comm);
    if (writer->report->options->by == WHO_NAME || party->interrupt)
        return;
    add_number_label(writer, keys->pids[party->foreign], party->pid);
    add_number_label(writer, keys->tids[party->foreign], party->tid);
}

static void put_sample(struct pprof_writer *writer, const struct block *block)
{
    const struct report_options *options = writer->report->options;

    if (line_make(&writer->line, writer->report, block)) {
        writer->result = -ENOMEM;
        return;
    }
    add_locations(writer, block);
    add_values(writer, block);
    if (blocks_show_tasks(options))
        add_task_labels(writer, &block->task, &task_keys);
    if (blocks_show_wakers(options))
        add_task_labels(writer, &block->waker, &waker_keys);
    pprof_put_message(writer, PROFILE_SAMPLE);
}

/* ---- All ---- */

static void put_strings(struct pprof_writer *writer)
{
    size_t length;

    for (uint32_t i = 0; i < writer->strings.count && !writer->result; i++) {
        const char *text = numbering_key(&writer->strings, i, &length);
        protobuf_add_bytes(&writer->message, PROFILE_STRING, text, length);
        pprof_put_fields(writer);
    }
}

static void put_profile(struct pprof_writer *writer)
{
    const struct report *report = writer->report;

    pprof_string(writer, ""); /* the table's first must be */
    put_types(writer);
    if (report->options->about)
        put_about(writer, report->options->about);
    for (size_t i = report->blocks->count; i-- > 0 && !writer->result;)
        put_sample(writer, &report->blocks->items[i]);
    pprof_put_places(writer);
    put_strings(writer);
}

int pprof_write(FILE *out, const struct report *report)
{
    struct pprof_writer *writer = calloc(1, sizeof(*writer));

    if (!writer)
        return -ENOMEM;
    writer->report = report;
    writer->used = calloc(report->blocks->label_count + EXTRA_LOCATIONS, sizeof(*writer->used));
    int result = writer->result = writer->used ? 0 : -ENOMEM;
    if (!result) {
        gzip_begin(&writer->gzip, out);
        put_profile(writer);
        gzip_end(&writer->gzip);
        result = writer->result;
    }
    numbering_free(&writer->strings);
    numbering_free(&writer->functions);
    line_free(&writer->line);
    text_free(&writer->message);
    text_free(&writer->head);
    text_free(&writer->part);
    text_free(&writer->raw);
    free(writer->used);
    free(writer);
    return result;
}
