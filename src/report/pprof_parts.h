/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Shared by the two halves of the pprof format: field numbers, and how fields are written. */
#ifndef STACKBOX_REPORT_PPROF_PARTS_H
#define STACKBOX_REPORT_PPROF_PARTS_H

#include "report/gzip.h"
#include "report/lines.h"
#include "report/numbering.h"
#include "report/protobuf.h"

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
    EXTRA_NOTHING, /* for a sample without frames, which would not be shown */
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

/* A text's index in the string table. */
uint32_t pprof_string(struct pprof_writer *writer, const char *text);
/* The same for raw bytes: readers want UTF-8, and terminals no control bytes. */
uint32_t pprof_escaped(struct pprof_writer *writer, const char *bytes, size_t length);

/* Makes `part` a field of `message`. */
void pprof_add_part(struct pprof_writer *writer, unsigned field);
/* Writes `message` as fields of the profile itself, or as a field that is a message. Empties it. */
void pprof_put_fields(struct pprof_writer *writer);
void pprof_put_message(struct pprof_writer *writer, unsigned field);

static inline uint64_t pprof_label_id(uint32_t label)
{
    return (uint64_t)label + 1;
}

static inline uint64_t pprof_extra_id(const struct pprof_writer *writer, enum extra_location extra)
{
    return writer->report->blocks->label_count + (uint64_t)extra + 1;
}

/* Mappings, the locations that samples use, and their functions. */
void pprof_put_places(struct pprof_writer *writer);

#endif
