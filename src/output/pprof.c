/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A report as pprof takes it: a gzipped message of protocol buffers. Every address of a process is a
 * location of its own, with the function that the text has for it; whose an event was are labels.
 *
 * Of a wait that somebody ended, labels are the one's who waited, and `waker`, `waker_pid` and
 * `waker_tid` the other's. wakeuptime's stacks are the wakers' alone. offwaketime's are both, as a
 * flame graph has them: the one who waited at the root, then `--`, then the waker's upside down.
 * Numbers of processes outside of our pid namespace are called host_pid and host_tid.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "output/gzip.h"
#include "output/lines.h"
#include "output/numbering.h"
#include "output/protobuf.h"

/* The fields' numbers, by the messages that they are in. */
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

/* Locations that have no label: their ids come behind those that do. */
enum extra_location {
    EXTRA_MEETING,
    EXTRA_NO_WAKER,
    EXTRA_NOTHING, /* a sample without any would be shown nowhere */
    EXTRA_LOCATIONS,
};
static const char *const extra_names[] = {"--", "[no waker]", "[no stack]"};

struct writer {
    const struct report *report;
    struct gzip gzip;
    struct numbering strings;
    struct numbering functions; /* by the numbers of their name and their file */
    bool *used;                 /* of all locations: a sample has it */
    struct text message, head, part, raw; /* used again and again */
    struct line line;
    int result; /* 0 or -ENOMEM: what follows is not written any more */
};

/* ---- Parts ---- */

/* A text's place in the table of strings. */
static uint32_t string_of(struct writer *writer, const char *text)
{
    uint32_t number = 0;

    if (numbering_find(&writer->strings, text, strlen(text), &number, NULL))
        writer->result = -ENOMEM;
    return number;
}

/* The same of raw bytes: what reads it wants UTF-8, and a terminal no control bytes. */
static uint32_t escaped_string(struct writer *writer, const char *bytes, size_t length)
{
    text_clear(&writer->raw);
    escape_bytes(&writer->raw, bytes, length);
    return string_of(writer, length && writer->raw.data ? writer->raw.data : "");
}

static void add_part(struct writer *writer, unsigned field)
{
    protobuf_add_bytes(&writer->message, field, writer->part.data, writer->part.length);
    text_clear(&writer->part);
}

/* Writes fields of the profile itself. */
static void put_fields(struct writer *writer)
{
    if (writer->message.failed || writer->part.failed || writer->raw.failed ||
        writer->head.failed)
        writer->result = -ENOMEM;
    if (!writer->result)
        gzip_add(&writer->gzip, writer->message.data, writer->message.length);
    text_clear(&writer->message);
}

/* Writes a message as a field of the profile. */
static void put_message(struct writer *writer, unsigned field)
{
    text_clear(&writer->head);
    protobuf_add_head(&writer->head, field, writer->message.length);
    if (!writer->head.failed)
        gzip_add(&writer->gzip, writer->head.data, writer->head.length);
    put_fields(writer);
}

static void put_type(struct writer *writer, unsigned field, const char *name, const char *unit)
{
    protobuf_add_number(&writer->message, TYPE_NAME, string_of(writer, name));
    protobuf_add_number(&writer->message, TYPE_UNIT, string_of(writer, unit));
    put_message(writer, field);
}

/* ---- What was measured ---- */

static const char *events_name(const struct report_measure *measure)
{
    return measure->events ? measure->events : "events";
}

static void put_types(struct writer *writer)
{
    const struct report_measure *measure = &writer->report->options->measure;

    put_type(writer, PROFILE_SAMPLE_TYPE, events_name(measure), "count");
    if (measure->value)
        put_type(writer, PROFILE_SAMPLE_TYPE, measure->value, measure->unit);
    if (measure->value && measure->per_event) {
        put_type(writer, PROFILE_PERIOD_TYPE, measure->value, measure->unit);
        protobuf_add_number(&writer->message, PROFILE_PERIOD, measure->per_event);
    }
    protobuf_add_number(&writer->message, PROFILE_DEFAULT_TYPE,
                        string_of(writer, measure->value ? measure->value : events_name(measure)));
    put_fields(writer);
}

static void add_comment(struct writer *writer, const char *text, size_t length)
{
    uint32_t number = escaped_string(writer, text, length);

    if (number)
        protobuf_add_number(&writer->message, PROFILE_COMMENT, number);
}

static void put_about(struct writer *writer, const struct report_about *about)
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
    for (const char *line = about->losses; *line;) {
        size_t length = strcspn(line, "\n");
        add_comment(writer, line, length);
        line += length + (line[length] == '\n');
    }
    put_fields(writer);
}

/* ---- Samples ---- */

static uint64_t id_of_label(uint32_t label)
{
    return (uint64_t)label + 1;
}

static uint64_t id_of_extra(const struct writer *writer, enum extra_location extra)
{
    return writer->report->blocks->label_count + extra + 1;
}

/* The location of a frame; 0: it is a label of the sample. */
static uint64_t location_of(const struct writer *writer, const struct block *block,
                            const struct line_frame *frame)
{
    switch (frame->part) {
    case LINE_FRAME:
        return id_of_label(frame->label);
    case LINE_MEETING:
        return id_of_extra(writer, EXTRA_MEETING);
    case LINE_WAKER:
        return block->waker.nobody ? id_of_extra(writer, EXTRA_NO_WAKER) : 0;
    default:
        return 0;
    }
}

static void use_location(struct writer *writer, uint64_t id)
{
    writer->used[id - 1] = true;
    protobuf_add_packed(&writer->part, id);
}

/* Leaf first. */
static void add_locations(struct writer *writer, const struct block *block)
{
    for (size_t i = writer->line.count; i-- > 0;) {
        uint64_t id = location_of(writer, block, &writer->line.frames[i]);
        if (id)
            use_location(writer, id);
    }
    if (!writer->part.length)
        use_location(writer, id_of_extra(writer, EXTRA_NOTHING));
    add_part(writer, SAMPLE_LOCATIONS);
}

static void add_values(struct writer *writer, const struct block *block)
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
    add_part(writer, SAMPLE_VALUES);
}

static void add_text_label(struct writer *writer, const char *key, const char *text)
{
    protobuf_add_number(&writer->part, LABEL_KEY, string_of(writer, key));
    protobuf_add_number(&writer->part, LABEL_TEXT, string_of(writer, text));
    add_part(writer, SAMPLE_LABEL);
}

static void add_number_label(struct writer *writer, const char *key, uint32_t number)
{
    if (!number)
        return;
    protobuf_add_number(&writer->part, LABEL_KEY, string_of(writer, key));
    protobuf_add_number(&writer->part, LABEL_NUMBER, number);
    add_part(writer, SAMPLE_LABEL);
}

/* What a task's labels are called, the host's numbers otherwise than ours. */
struct task_keys {
    const char *comm, *pids[2], *tids[2];
};
static const struct task_keys task_keys = {"comm", {"pid", "host_pid"}, {"tid", "host_tid"}};
static const struct task_keys waker_keys = {
    "waker", {"waker_pid", "waker_host_pid"}, {"waker_tid", "waker_host_tid"}};

static void add_task_labels(struct writer *writer, const struct block_party *party,
                            const struct task_keys *keys)
{
    if (party->nobody)
        return;
    add_text_label(writer, keys->comm, party->comm);
    if (writer->report->options->by_name)
        return;
    add_number_label(writer, keys->pids[party->foreign], party->pid);
    add_number_label(writer, keys->tids[party->foreign], party->tid);
}

static void put_sample(struct writer *writer, const struct block *block)
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
    put_message(writer, PROFILE_SAMPLE);
}

/* ---- Where they are ---- */

static uint32_t path_of(struct writer *writer, const struct symbol_mapping *mapping)
{
    return escaped_string(writer, mapping->path.data, mapping->path.length);
}

static void put_mapping(struct writer *writer, size_t number)
{
    const struct symbol_mapping *mapping = &writer->report->symbols->mappings.items[number];
    uint32_t build_id = escaped_string(writer, mapping->build_id.data, mapping->build_id.length);
    struct text *message = &writer->message;

    if (!mapping->limit)
        return;
    protobuf_add_number(message, MAPPING_ID, number + 1);
    protobuf_add_number(message, MAPPING_START, mapping->start);
    protobuf_add_number(message, MAPPING_LIMIT, mapping->limit);
    protobuf_add_number(message, MAPPING_OFFSET, mapping->offset);
    protobuf_add_number(message, MAPPING_FILE, path_of(writer, mapping));
    protobuf_add_number(message, MAPPING_BUILD_ID, build_id);
    /* Readers are not to look for names: they have them. */
    protobuf_add_number(message, MAPPING_HAS_FUNCTIONS, 1);
    put_message(writer, PROFILE_MAPPING);
}

/* What the profile is said to be of is its first mapping. */
static void put_mappings(struct writer *writer)
{
    const struct symbol_mappings *mappings = &writer->report->symbols->mappings;

    if (mappings->count)
        put_mapping(writer, mappings->main);
    for (size_t i = 0; i < mappings->count; i++)
        if (i != mappings->main)
            put_mapping(writer, i);
}

/* The id of a function, which is written when it is met first. */
static uint64_t function_of(struct writer *writer, const char *name, const struct symbol *symbol,
                            const struct symbol_mapping *mapping)
{
    uint32_t name_number = string_of(writer, name), system_name = 0, file = 0, number = 0;
    bool added = false;

    if (symbol && symbol->function.length)
        system_name = escaped_string(writer, symbol->function.data, symbol->function.length);
    if (mapping)
        file = path_of(writer, mapping);
    else if (symbol)
        file = escaped_string(writer, symbol->file.data, symbol->file.length);
    const uint32_t key[] = {name_number, file};
    if (numbering_find(&writer->functions, key, sizeof(key), &number, &added))
        writer->result = -ENOMEM;
    if (added) {
        protobuf_add_number(&writer->message, FUNCTION_ID, (uint64_t)number + 1);
        protobuf_add_number(&writer->message, FUNCTION_NAME, name_number);
        /* One that is equal to the name is rewritten by pprof, without what is in <> and (). */
        if (system_name != name_number)
            protobuf_add_number(&writer->message, FUNCTION_SYSTEM_NAME, system_name);
        protobuf_add_number(&writer->message, FUNCTION_FILE, file);
        put_message(writer, PROFILE_FUNCTION);
    }
    return (uint64_t)number + 1;
}

/* `symbol` of NULL: of what stands for what is not there. */
static void put_location(struct writer *writer, uint64_t id, const char *name,
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
    add_part(writer, LOCATION_LINE);
    put_message(writer, PROFILE_LOCATION);
}

static void put_locations(struct writer *writer)
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

static void put_strings(struct writer *writer)
{
    size_t length;

    for (uint32_t i = 0; i < writer->strings.count && !writer->result; i++) {
        const char *text = numbering_key(&writer->strings, i, &length);
        protobuf_add_bytes(&writer->message, PROFILE_STRING, text, length);
        put_fields(writer);
    }
}

/* ---- All ---- */

static void put_profile(struct writer *writer)
{
    const struct report *report = writer->report;

    string_of(writer, ""); /* the first of the table must be */
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
    struct writer *writer = calloc(1, sizeof(*writer));

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
