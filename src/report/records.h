/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * An event with its stack, as text to read, as perf script prints it, or as a line of JSON.
 * Pure. Everything is appended to a text, whose `failed` says that memory ran out.
 */
#ifndef STACKBOX_REPORT_RECORDS_H
#define STACKBOX_REPORT_RECORDS_H

#include "base/text.h"
#include "symbolize/symbolize.h"

enum record_format {
    RECORD_TEXT,
    RECORD_PERF,
    RECORD_JSON,
};

struct record_options {
    enum record_format format;
    bool kernel, user; /* which stacks were asked for */
    bool delimited;    /* -d, if both were */
    bool wall_clock;   /* times are since the epoch */
    bool offset, verbose, annotations;
};

struct record_frame {
    const struct text *line;
    bool is_unknown; /* adjacent ones become one line if no addresses are shown */
};

struct record_value {
    const char *name;
    uint64_t number;
    bool is_signed, is_address;
};

struct record {
    uint64_t time; /* ns */
    const char *comm, *event; /* raw bytes */
    uint32_t pid, tid, cpu;
    bool foreign;  /* pid and tid are the host's numbers */
    /* Lines from records_add_frame, the kernel's first, each stack leaf first. */
    const struct record_frame *frames;
    size_t kernel_count, user_count;
    const struct record_value *values; /* of --print */
    size_t value_count;
};

/* The line above all records; other formats have none. */
void records_add_header(struct text *out, const struct record_options *options);
void records_add_frame(struct text *line, const struct symbol *symbol,
                       const struct record_options *options);
void records_add(struct text *out, const struct record *record,
                 const struct record_options *options);

#endif
