/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/text.h"
#include "report/blocks.h"
#include "report/gzip.h"

/* Field numbers, by message. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_TIME = 9,
    PROFILE_DURATION = 10,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD = 12,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_TYPE = 14,
};
enum { TYPE_NAME = 1, TYPE_UNIT = 2 };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_TEXT = 2, LABEL_NUMBER = 3 };
enum {
    MAPPING_ID = 1,
    MAPPING_START = 2,
    MAPPING_LIMIT = 3,
    MAPPING_OFFSET = 4,
    MAPPING_FILE = 5,
    MAPPING_BUILD_ID = 6,
    MAPPING_HAS_FUNCTIONS = 7,
};
enum { LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_ADDRESS = 3, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILE = 4 };

/* Locations without a label: their ids follow those with one. */
enum extra_location {
    EXTRA_MEETING,
    EXTRA_NO_WAKER,
    EXTRA_NOTHING, /* for a sample without frames, which readers would not show */
    EXTRA_LOCATIONS,
};

struct pprof_writer {
    const struct report *report;
    struct gzip gzip;
    struct numbering strings;
    struct numbering functions; /* by the numbers of their name and file */
    bool *used;                 /* for all locations: some sample has it */
    struct text message, head, part, raw; /* reused */
    struct line line;
    int result; /* 0 or -ENOMEM: nothing more is written */
};

static uint64_t pprof_extra_id(const struct pprof_writer *writer, enum extra_location extra)
{
    return writer->report->blocks->label_count + (uint64_t)extra + 1;
}

/* How a field's value is encoded. */
enum wire_type {
    WIRE_VARINT = 0,
    WIRE_BYTES = 2,
};

static void add_tag(struct text *message, unsigned field, enum wire_type type)
{
    text_add_varint(message, (uint64_t)field << 3 | type);
}

/* A number; 0 is the default and left out. */
static void protobuf_add_number(struct text *message, unsigned field, uint64_t value)
{
    if (!value)
        return;
    add_tag(message, field, WIRE_VARINT);
    text_add_varint(message, value);
}

/* The head of that many bytes, which are to follow. */
static void protobuf_add_head(struct text *message, unsigned field, size_t length)
{
    add_tag(message, field, WIRE_BYTES);
    text_add_varint(message, length);
}

/* Bytes, a text, a packed row or a message. */
static void protobuf_add_bytes(struct text *message, unsigned field, const char *bytes,
                               size_t length)
{
    protobuf_add_head(message, field, length);
    if (length)
        text_append(message, bytes, length);
}

/* A text's index in the string table. */
static uint32_t pprof_string(struct pprof_writer *writer, const char *text)
{
    uint32_t number = 0;

    if (numbering_find(&writer->strings, text, strlen(text), &number, NULL))
        writer->result = -ENOMEM;
    return number;
}

/* The same for raw bytes: readers want UTF-8, and terminals no control bytes. */
static uint32_t pprof_escaped(struct pprof_writer *writer, const char *bytes, size_t length)
{
    text_clear(&writer->raw);
    escape_bytes(&writer->raw, bytes, length);
    if (writer->raw.failed)
        writer->result = -ENOMEM;
    return pprof_string(writer, text_string(&writer->raw));
}

/* Makes `part` a field of `message`. */
static void pprof_add_part(struct pprof_writer *writer, unsigned field)
{
    /* Clearing also clears the failure. */
    if (writer->part.failed)
        writer->result = -ENOMEM;
    protobuf_add_bytes(&writer->message, field, writer->part.data, writer->part.length);
    text_clear(&writer->part);
}

/* Writes `message` as fields of the profile itself, or as a field that is a message. Empties it. */
static void pprof_put_fields(struct pprof_writer *writer)
{
    if (writer->message.failed || writer->part.failed || writer->raw.failed || writer->head.failed)
        writer->result = -ENOMEM;
    if (!writer->result)
        gzip_add(&writer->gzip, writer->message.data, writer->message.length);
    text_clear(&writer->message);
}

static void pprof_put_message(struct pprof_writer *writer, unsigned field)
{
    if (writer->message.failed)
        writer->result = -ENOMEM;
    text_clear(&writer->head);
    protobuf_add_head(&writer->head, field, writer->message.length);
    if (!writer->head.failed && !writer->result)
        gzip_add(&writer->gzip, writer->head.data, writer->head.length);
    pprof_put_fields(writer);
}

/* The places of a profile's frames: its mappings, locations and functions. */

static const char *const extra_names[] = {"--", "[no waker]", "[no stack]"};

static uint32_t path_of(struct pprof_writer *writer, const struct symbol_mapping *mapping)
{
    return pprof_escaped(writer, mapping->path.data, mapping->path.length);
}

static void put_mapping(struct pprof_writer *writer, size_t number)
{
    const struct symbol_mapping *mapping = &writer->report->symbols->mappings.items[number];
    uint32_t build_id = pprof_escaped(writer, mapping->build_id.data, mapping->build_id.length);
    struct text *message = &writer->message;

    if (!mapping->limit)
        return;
    protobuf_add_number(message, MAPPING_ID, number + 1);
    protobuf_add_number(message, MAPPING_START, mapping->start);
    protobuf_add_number(message, MAPPING_LIMIT, mapping->limit);
    protobuf_add_number(message, MAPPING_OFFSET, mapping->offset);
    protobuf_add_number(message, MAPPING_FILE, path_of(writer, mapping));
    protobuf_add_number(message, MAPPING_BUILD_ID, build_id);
    /* Tells readers that the profile has the names, so that they look up none. */
    protobuf_add_number(message, MAPPING_HAS_FUNCTIONS, 1);
    pprof_put_message(writer, PROFILE_MAPPING);
}

/* A profile's subject is its first mapping. */
static void put_mappings(struct pprof_writer *writer)
{
    const struct symbol_mappings *mappings = &writer->report->symbols->mappings;

    if (mappings->count)
        put_mapping(writer, mappings->main);
    for (size_t i = 0; i < mappings->count; i++)
        if (i != mappings->main)
            put_mapping(writer, i);
}

/* The id of a function, which is written on first use. */
static uint64_t function_of(struct pprof_writer *writer, const char *name,
                            const struct symbol *symbol, const struct symbol_mapping *mapping)
{
    uint32_t name_number = pprof_string(writer, name), system_name = 0, file = 0, number = 0;
    bool added = false;

    if (symbol && symbol->function.length) {
        const struct text *raw = symbol->raw.length ? &symbol->raw : &symbol->function;
        system_name = pprof_escaped(writer, raw->data, raw->length);
    }
    if (mapping)
        file = path_of(writer, mapping);
    else if (symbol)
        file = pprof_escaped(writer, symbol->file.data, symbol->file.length);
    const uint32_t key[] = {name_number, file};
    if (numbering_find(&writer->functions, key, sizeof(key), &number, &added))
        writer->result = -ENOMEM;
    if (added) {
        protobuf_add_number(&writer->message, FUNCTION_ID, (uint64_t)number + 1);
        protobuf_add_number(&writer->message, FUNCTION_NAME, name_number);
        /* If it equals the name, pprof rewrites it without what is in <> and (). */
        if (system_name != name_number)
            protobuf_add_number(&writer->message, FUNCTION_SYSTEM_NAME, system_name);
        protobuf_add_number(&writer->message, FUNCTION_FILE, file);
        pprof_put_message(writer, PROFILE_FUNCTION);
    }
    return (uint64_t)number + 1;
}

/* `symbol` is NULL for frames that stand for something missing. */
static void put_location(struct pprof_writer *writer, uint64_t id, const char *name,
                         const struct symbol *symbol)
{
    const struct symbol_mappings *mappings = &writer->report->symbols->mappings;
    const struct symbol_mapping *mapping =
        symbol && symbol->mapping ? &mappings->items[symbol->mapping - 1] : NULL;
    uint64_t function = function_of(writer, name, symbol, mapping);

    protobuf_add_number(&writer->message, LOCATION_ID, id);
    if (mapping)
        protobuf_add_number(&writer->message, LOCATION_MAPPING, symbol->mapping);
    if (symbol)
        protobuf_add_number(&writer->message, LOCATION_ADDRESS,
                            mapping ? symbol->mapped_at : symbol_lookup_address(symbol));
    protobuf_add_number(&writer->part, LINE_FUNCTION, function);
    pprof_add_part(writer, LOCATION_LINE);
    pprof_put_message(writer, PROFILE_LOCATION);
}

static void put_locations(struct pprof_writer *writer)
{
    const struct report *report = writer->report;
    const struct blocks *blocks = report->blocks;

    for (size_t i = 0; i < blocks->label_count && !writer->result; i++)
        if (writer->used[i])
            put_location(writer, i + 1, blocks->labels[i],
                         i < report->symbols->count ? &report->symbols->items[i] : NULL);
    for (size_t i = 0; i < EXTRA_LOCATIONS && !writer->result; i++)
        if (writer->used[blocks->label_count + i])
            put_location(writer, blocks->label_count + i + 1, extra_names[i], NULL);
}

/*
 * A report in pprof's format: a gzipped protocol buffer message. Every address in a process is a
 * location of its own, with the function that the text has for it; the task is in labels.
 *
 * For a wait that a waker ended, labels are the waiting task's, and `waker`, `waker_pid` and
 * `waker_tid` the waker's. wakeuptime's stacks are only the wakers'. offwaketime's are both, as in
 * a flame graph: the waiting task at the root, then `--`, then the waker's, inverted. Numbers of
 * processes outside our pid namespace are host_pid and host_tid.
 */

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
    case LINE_FRAME: return (uint64_t)frame->label + 1;
    case LINE_MEETING: return pprof_extra_id(writer, EXTRA_MEETING);
    case LINE_WAKER: return block->waker.absent ? pprof_extra_id(writer, EXTRA_NO_WAKER) : 0;
    default: return 0;
    }
}

static void use_location(struct pprof_writer *writer, uint64_t id)
{
    writer->used[id - 1] = true;
    text_add_varint(&writer->part, id);
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
        text_add_varint(&writer->part, value);
    } else if (measure->per_event) {
        text_add_varint(&writer->part, value);
        text_add_varint(&writer->part, value * measure->per_event);
    } else {
        text_add_varint(&writer->part, block->events);
        text_add_varint(&writer->part, value);
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

static void add_task_labels(struct pprof_writer *writer, const struct block_task *task,
                            const struct task_keys *keys)
{
    if (task->absent)
        return;
    add_text_label(writer, keys->comm, task->comm);
    if (writer->report->options->by == GROUP_BY_NAME || task->interrupt)
        return;
    add_number_label(writer, keys->pids[task->foreign], task->pid);
    add_number_label(writer, keys->tids[task->foreign], task->tid);
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
    put_mappings(writer);
    put_locations(writer);
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
