/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "report/records.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "flame/svg.h"
#include "report/blocks.h"

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

static void records_json_add_frame(struct text *line, const struct symbol *symbol,
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

static void add_json_stack(struct text *out, const char *key, const struct record_frame *frames,
                           size_t count)
{
    text_format(out, ",\"%s\":[", key);
    for (size_t i = 0; i < count; i++) {
        text_add(out, i ? "," : "");
        text_append(out, frames[i].line->data, frames[i].line->length);
    }
    text_add(out, "]");
}

/* The values of --print: numbers, by name. */
static void add_json_values(struct text *out, const struct record *record)
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

static void records_json_add(struct text *out, const struct record *record,
                             const struct record_options *options)
{
    text_format(out, "{\"time\":%llu.%09llu,", (unsigned long long)(record->time / NS),
                (unsigned long long)(record->time % NS));
    add_member(out, "comm", record->comm, strlen(record->comm));
    text_format(out, ",\"pid\":%u,\"tid\":%u,\"host_pids\":%s,\"cpu\":%u,", record->pid,
                record->tid,
                record->foreign ? "true" : "false", record->cpu);
    add_member(out, "event", record->event, strlen(record->event));
    if (record->value_count)
        add_json_values(out, record);
    if (options->kernel)
        add_json_stack(out, "kernel", record->frames, record->kernel_count);
    if (options->user)
        add_json_stack(out, "user", record->frames + record->kernel_count, record->user_count);
    text_add(out, "}\n");
}

void records_add_header(struct text *out, const struct record_options *options)
{
    if (options->format == RECORD_TEXT)
        text_format(out, "%-18s %-15s %-7s %-7s %-3s %s\n", "TIME(s)", "COMM", "PID", "TID", "CPU",
                    "EVENT");
}

/* ---- Frames ---- */

/* For readers a blank ends a word, and a bracket ends the module. */
static void replace_all(char *text, const char *bytes, char by)
{
    for (; *text; text++)
        if (strchr(bytes, *text))
            *text = by;
}

static void add_module(struct text *line, const struct symbol *symbol)
{
    struct text raw = {0}, module = {0};

    if (symbol->kernel && symbol->file.length)
        text_format(&raw, "[%s]", symbol->file.data);
    else if (symbol->kernel)
        text_add(&raw, "[kernel.kallsyms]");
    else
        text_add(&raw, symbol->file.length ? symbol->file.data : "[unknown]");
    escape_text(&module, &raw);
    if (!module.failed) {
        replace_all(module.data, " ()", '_');
        text_add(line, module.data);
    }
    line->failed = line->failed || module.failed;
    text_free(&module);
}

static void add_perf_frame(struct text *line, const struct symbol *symbol,
                           const struct record_options *options)
{
    text_format(line, " %16llx ", (unsigned long long)symbol->address);
    if (symbol->function.length)
        escape_bytes(line, symbol->function.data, symbol->function.length);
    else
        text_add(line, "[unknown]");
    if (symbol->function.length && options->offset)
        text_format(line, "+0x%llx", (unsigned long long)symbol->offset);
    text_add(line, " (");
    add_module(line, symbol);
    text_add(line, ")\n");
}

void records_add_frame(struct text *line, const struct symbol *symbol,
                       const struct record_options *options)
{
    const struct report_options name = {
        .offset = options->offset,
        .verbose = options->verbose,
        .annotations = options->annotations,
    };

    if (options->format == RECORD_PERF) {
        add_perf_frame(line, symbol, options);
        return;
    }
    if (options->format == RECORD_JSON) {
        records_json_add_frame(line, symbol, options);
        return;
    }
    text_add(line, "\t");
    if (options->verbose)
        text_format(line, "%-16llx ", (unsigned long long)symbol->address);
    labels_add_name(line, symbol, &name);
    text_add(line, "\n");
}

static void add_frames(struct text *out, const struct record_frame *frames, size_t count,
                       const struct record_options *options)
{
    bool collapses = options->format == RECORD_TEXT && !options->verbose;

    for (size_t i = 0, height; i < count; i += height) {
        for (height = 1; frames[i].is_unknown && i + height < count; height++)
            if (!frames[i + height].is_unknown)
                break;
        if (height > 1 && collapses) {
            text_add(out, "\t");
            labels_add_tower(out, height);
            text_add(out, "\n");
        } else {
            height = 1;
            text_append(out, frames[i].line->data, frames[i].line->length);
        }
    }
}

static void add_stacks(struct text *out, const struct record *record,
                       const struct record_options *options)
{
    bool delimited = options->delimited && options->format == RECORD_TEXT && options->kernel &&
                     options->user;
    const char *none = !options->kernel ? "\t[no user stack]\n"
                       : !options->user ? "\t[no kernel stack]\n"
                                        : "\t[no stack]\n";

    add_frames(out, record->frames, record->kernel_count, options);
    if (delimited)
        text_add(out, "\t--\n");
    add_frames(out, record->frames + record->kernel_count, record->user_count, options);
    if (!record->kernel_count && !record->user_count && options->format == RECORD_TEXT)
        text_add(out, none);
}

/* ---- What precedes them ---- */

/* Padded to a column, counting characters as a terminal shows them. */
static void add_column(struct text *out, const char *shown, int width)
{
    int columns = 0;

    for (const char *at = shown; *at; at++)
        columns += (*at & 0xc0) != 0x80; /* not a character's second or later byte */
    text_format(out, "%s%*s ", shown, columns < width ? width - columns : 0, "");
}

static void add_name(struct text *out, const char *raw, int width)
{
    struct text shown = {0};

    escape_bytes(&shown, *raw ? raw : "[unknown]", strlen(*raw ? raw : "[unknown]"));
    if (!shown.failed)
        add_column(out, shown.data, width);
    out->failed = out->failed || shown.failed;
    text_free(&shown);
}

static void add_number(struct text *out, uint32_t number, bool foreign)
{
    char shown[32];

    snprintf(shown, sizeof(shown), foreign ? "[host %u]" : "%u", number);
    add_column(out, shown, 7);
}

static void add_time(struct text *out, uint64_t time, const struct record_options *options)
{
    unsigned long long seconds = time / NS, fraction = time % NS;
    time_t whole = (time_t)seconds;
    char shown[48];
    struct tm when;

    if (options->wall_clock && localtime_r(&whole, &when))
        snprintf(shown, sizeof(shown), "%02d:%02d:%02d.%09llu", when.tm_hour, when.tm_min,
                 when.tm_sec, fraction);
    else
        snprintf(shown, sizeof(shown), "%llu.%09llu", seconds, fraction);
    add_column(out, shown, 18);
}

/*
 * " arg1=4096 ret=-11 ptr=0xffff888003a51c00": a number as large as kernel addresses is printed as
 * one.
 */
static void add_values(struct text *out, const struct record *record)
{
    for (size_t i = 0; i < record->value_count; i++) {
        const struct record_value *value = &record->values[i];
        const bool is_address = value->is_address || (!value->is_signed &&
                                                      value->number > INT64_MAX);
        text_format(out, is_address ? " %s=0x%llx" : value->is_signed ? " %s=%lld" : " %s=%llu",
                    value->name,
                    (unsigned long long)value->number);
    }
    text_add(out, "\n");
}

static void add_text_head(struct text *out, const struct record *record,
                          const struct record_options *options)
{
    char cpu[16];

    add_time(out, record->time, options);
    add_name(out, record->comm, 15);
    add_number(out, record->pid, record->foreign);
    add_number(out, record->tid, record->foreign);
    snprintf(cpu, sizeof(cpu), "%u", record->cpu);
    add_column(out, cpu, 3);
    escape_bytes(out, record->event, strlen(record->event));
    add_values(out, record);
}

/* Readers need a name of two characters or more, without blanks, and one event name per file. */
static void add_perf_head(struct text *out, const struct record *record)
{
    struct text comm = {0};
    const char *raw = *record->comm ? record->comm : "[unknown]";

    escape_bytes(&comm, raw, strlen(raw));
    if (!comm.failed) {
        replace_all(comm.data, " ", '_');
        text_format(out, "%s%s %u/%u [%03u] %llu.%09llu: stackbox:", comm.data,
                    comm.length < 2 ? "_" : "", record->pid, record->tid, record->cpu,
                    (unsigned long long)(record->time / NS),
                    (unsigned long long)(record->time % NS));
        add_values(out, record);
    }
    out->failed = out->failed || comm.failed;
    text_free(&comm);
}

void records_add(struct text *out, const struct record *record,
                 const struct record_options *options)
{
    if (options->format == RECORD_JSON) {
        records_json_add(out, record, options);
        return;
    }
    if (options->format == RECORD_PERF)
        add_perf_head(out, record);
    else
        add_text_head(out, record, options);
    add_stacks(out, record, options);
    text_add(out, "\n");
}
