/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The places of a profile's frames: its mappings, locations and functions. */
#include <errno.h>

#include "report/pprof_parts.h"

#include "base/text.h"

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
    /* Readers need not look for names: they are there. */
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

void pprof_put_places(struct pprof_writer *writer)
{
    put_mappings(writer);
    put_locations(writer);
}
