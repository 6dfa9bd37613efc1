/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* tracefs: its events and their fields, text probes, and programs on tracepoints. */
#ifndef STACKBOX_KERNEL_TRACEFS_H
#define STACKBOX_KERNEL_TRACEFS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "insns/program.h"

/*
 * Mounts one of the kernel's own file systems and opens its root: the mount is detached, and goes
 * away with its last descriptor. A negative errno on failure, -ENOSYS before 5.2.
 */
int own_mount(const char *type);

/*
 * An open directory of tracefs; the caller closes it. Tries the usual mount points first; if it is
 * mounted nowhere, mounts it detached (5.2), or in a mount namespace of a child that exists for a
 * moment. Neither changes what other processes see.
 */
int tracefs_open(void);
/* The same, but only if it is mounted already. */
int tracefs_open_mounted(void);

/* The id of a tracepoint, from events/CATEGORY/NAME/id. 0, or -ENOENT if there is none. */
int tracefs_event_id(int tracefs, const char *category, const char *name, uint32_t *id);

/*
 * Where a field of a tracepoint is in its programs' context, by its `format` file, as kernels
 * differ. 0; -ENOENT: no such tracepoint, or it has no such field; -EINVAL: the file is malformed.
 */
struct tracefs_field {
    uint16_t offset, size; /* bytes */
    bool is_signed;
    bool is_address;       /* a pointer */
    bool is_array;
    bool is_text;          /* an array of characters */
    bool is_elsewhere;     /* holds offset and length of a text: __data_loc */
};
int tracefs_find_field(int tracefs, const char *category, const char *name, const char *field,
                       struct tracefs_field *found);
/* The same from the contents of a `format` file. */
int tracefs_parse_field(const char *format, const char *field, struct tracefs_field *found);
/* Appends the contents; and the names of the event's own fields in them, each after a blank. */
int tracefs_read_format(int tracefs, const char *category, const char *name, struct text *format);
void tracefs_add_fields(const char *format, struct text *names);

/*
 * Calls `each` with every tracepoint whose category `wanted` accepts (NULL: all). A negative result
 * of `each` ends this and is returned.
 */
typedef bool tracefs_wanted(void *context, const char *category);
typedef int tracefs_each(void *context, const char *category, const char *name);
int tracefs_each_event(int tracefs, tracefs_wanted *wanted, tracefs_each *each, void *context);

/* A program on one tracepoint known by name, for applets that watch the scheduler. */
struct tracepoint {
    int program, event; /* below 0: none */
};
#define TRACEPOINT_NONE {-1, -1}

struct tracepoint_config {
    /*
     * An open directory. Below 0: the raw tracepoint (4.17), whose program gets the arguments of
     * the kernel's call, and misses no hit during calls of bpf(2).
     */
    int tracefs;
    const char *category, *name;
    const char *program_name; /* shown by bpftool; up to 15 bytes */
};

/*
 * Links `program`, loads it, frees it, and runs it at every hit, after programs attached to the
 * same tracepoint earlier. 0, or a negative errno with the verifier's or linker's message, if any,
 * appended to `log`. tracepoint_close after either.
 */
int tracepoint_open(struct tracepoint *tracepoint, const struct tracepoint_config *config,
                    struct program *program, struct text *log);
void tracepoint_close(struct tracepoint *tracepoint);

/* Hits that the kernel did not pass to the program (5.12). */
uint64_t tracepoint_missed(const struct tracepoint *tracepoint);

#endif
