/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "report/records_json.h"

#include <string.h>

#include "base/text.h"
#include "picture/svg_text.h"

#define NS 1000000000

/* `"key":"text"`, or null if it is empty: unknown. */
static void add_member(struct text *out, const char *key, const char *raw, size_t length)
{
    text_format(out, "\"%s\":", key);
    if (length)
        svg_add_json_bytes(out, raw, length);
    else
        text_add(out, "null");
}

void records_json_add_frame(struct text *line, const struct symbol *symbol,
                            const struct record_options *options)
{
    struct text file = {0};

    if (symbol->kernel)
        text_format(&file, "[%s]", symbol->file.length ? symbol->file.data : "kernel");
    else
        text_append(&file, symbol->file.data, symbol->file.length);
    text_add(line, "{");
    add_member(line, "name", symbol->function.data, symbol->function.length);
    text_add(line, ",");
    add_member(line, "file", file.data, file.length);
    if (symbol->function.length || symbol->file.length)
        text_format(line, ",\"offset\":%llu", (unsigned long long)symbol->offset);
    else
        text_add(line, ",\"offset\":null");
    if (options->verbose)
        text_format(line, ",\"address\":\"0x%llx\"", (unsigned long long)symbol->address);
    text_add(line, "}");
    line->failed = line->failed || file.failed;
    text_free(&file);
}

static void add_stack(struct text *out, const char *key, const struct record_frame *frames, size_t count)
{
    text_format(out, ",\"%s\":[", key);
    for (size_t i = 0; i < count; i++) {
        text_add(out, i ? "," : "");
        text_append(out, frames[i].line->data, frames[i].line->length);
    }
    text_add(out, "]");
}

/* --print's: numbers, by name. */
static void add_values(struct text *out, const struct record *record)
{
    text_add(out, ",\"values\":{");
    for (size_t i = 0; i < record->value_count; i++) {
        const struct record_value *value = &record->values[i];
        text_add(out, i ? "," : "");
        text_format(out, value->is_signed ? "\"%s\":%lld" : "\"%s\":%llu", value->name,
                    (unsigned long long)value->number);
    }
    text_add(out, "}");
}

void records_json_add(struct text *out, const struct record *record,
                      const struct record_options *options)
{
    text_format(out, "{\"time\":%llu.%09llu,", (unsigned long long)(record->time / NS),
                (unsigned long long)(record->time % NS));
    add_member(out, "comm", record->comm, strlen(record->comm));
    text_format(out, ",\"pid\":%u,\"tid\":%u,\"host_pids\":%s,\"cpu\":%u,", record->pid, record->tid,
                record->foreign ? "true" : "false", record->cpu);
    add_member(out, "event", record->event, strlen(record->event));
    if (record->value_count)
        add_values(out, record);
    if (options->kernel)
        add_stack(out, "kernel", record->frames, record->kernel_count);
    if (options->user)
        add_stack(out, "user", record->frames + record->kernel_count, record->user_count);
    text_add(out, "}\n");
}
