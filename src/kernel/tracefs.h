/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Finds tracefs, or mounts it where nobody but this process sees it, and reads from it. */
#ifndef STACKBOX_KERNEL_TRACEFS_H
#define STACKBOX_KERNEL_TRACEFS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/*
 * An open directory of tracefs; the caller closes it. The usual mount points are tried first; where
 * it is mounted nowhere, it is mounted detached (5.2), or in a mount namespace that a child holds
 * for a moment. Neither changes what any other process sees.
 */
int tracefs_open(void);
/* The same where it is mounted already, or nowhere. */
int tracefs_open_mounted(void);

/* The id of a tracepoint, from events/CATEGORY/NAME/id. 0, -ENOENT when there is none. */
int tracefs_event_id(int tracefs, const char *category, const char *name, uint32_t *id);

/*
 * Where a field of a tracepoint stands in what its programs get, from its `format` file: the same
 * field is elsewhere on another kernel. 0; -ENOENT: no such tracepoint, or it has no such field;
 * -EINVAL: the file says nothing that makes sense.
 */
struct tracefs_field {
    uint16_t offset, size; /* bytes */
    bool is_signed;
    bool is_address;       /* a pointer */
    bool is_array;
    bool is_text;          /* an array of characters */
    bool is_elsewhere;     /* it says where a text of any length is: __data_loc */
};
int tracefs_find_field(int tracefs, const char *category, const char *name, const char *field,
                       struct tracefs_field *found);
/* The same of the text of such a file. */
int tracefs_parse_field(const char *format, const char *field, struct tracefs_field *found);
/* The text itself; and the names of the fields in it that are its own, with a blank before each. */
int tracefs_read_format(int tracefs, const char *category, const char *name, struct text *format);
void tracefs_add_fields(const char *format, struct text *names);

/*
 * Calls `each` with every tracepoint whose category is accepted by `wanted` (NULL: all). A negative
 * value of `each` ends it and is returned.
 */
typedef bool tracefs_wanted(void *context, const char *category);
typedef int tracefs_each(void *context, const char *category, const char *name);
int tracefs_each_event(int tracefs, tracefs_wanted *wanted, tracefs_each *each, void *context);

#endif
