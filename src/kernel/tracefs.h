/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Finds tracefs, or mounts it where only this process sees it, and reads from it. */
#ifndef STACKBOX_KERNEL_TRACEFS_H
#define STACKBOX_KERNEL_TRACEFS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/*
 * An open directory of tracefs; the caller closes it. The usual mount points are tried first; if it
 * is mounted nowhere, it is mounted detached (5.2), or in a mount namespace that a child holds for
 * a moment. Neither changes what other processes see.
 */
int tracefs_open(void);
/* The same, but only if it is mounted already. */
int tracefs_open_mounted(void);

/* The id of a tracepoint, from events/CATEGORY/NAME/id. 0, or -ENOENT if there is none. */
int tracefs_event_id(int tracefs, const char *category, const char *name, uint32_t *id);

/*
 * Where a field of a tracepoint is in its programs' context, from its `format` file: it differs
 * between kernels. 0; -ENOENT: no such tracepoint, or it has no such field; -EINVAL: the file makes
 * no sense.
 */
struct tracefs_field {
    uint16_t offset, size; /* bytes */
    bool is_signed;
    bool is_address;       /* a pointer */
    bool is_array;
    bool is_text;          /* an array of characters */
    bool is_elsewhere;     /* it holds the place of a text of any length: __data_loc */
};
int tracefs_find_field(int tracefs, const char *category, const char *name, const char *field,
                       struct tracefs_field *found);
/* The same from the text of such a file. */
int tracefs_parse_field(const char *format, const char *field, struct tracefs_field *found);
/* The text itself; and the names of the event's own fields in it, each after a blank. */
int tracefs_read_format(int tracefs, const char *category, const char *name, struct text *format);
void tracefs_add_fields(const char *format, struct text *names);

/*
 * Calls `each` with every tracepoint whose category `wanted` accepts (NULL: all). A negative result
 * of `each` ends this and is returned.
 */
typedef bool tracefs_wanted(void *context, const char *category);
typedef int tracefs_each(void *context, const char *category, const char *name);
int tracefs_each_event(int tracefs, tracefs_wanted *wanted, tracefs_each *each, void *context);

#endif
