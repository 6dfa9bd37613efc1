/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Reads /proc/PID/maps: the parts of a process's memory, by address. */
#ifndef STACKBOX_PROCESSES_PROC_MAPS_H
#define STACKBOX_PROCESSES_PROC_MAPS_H

#include <stdbool.h>
#include <stdint.h>

struct maps_entry {
    uint64_t start, end, offset; /* offset: of `start` in the file */
    uint64_t device, inode;      /* device as in st_dev; inode 0: no file */
    bool executable;
    /* As the kernel writes it, newlines decoded: "/usr/bin/a (deleted)", "[heap]"; "" for none. */
    const char *path;
};

/* `entry` is valid during the call only. A result other than 0 ends reading and is returned. */
typedef int maps_callback(void *context, const struct maps_entry *entry);

/*
 * Every line of an open maps file, which stays the caller's. Malformed lines are skipped. 0, a
 * negative errno, or what the callback returned. A process without memory has no lines.
 */
int maps_each(int fd, maps_callback *each, void *context);

/*
 * The same for a process, by pid. If its first thread has ended and others go on, /proc/PID shows
 * no memory: *shown_by is then a thread whose /proc/TID does, otherwise `pid`; it is set before the
 * first callback. -ENOENT: there is no such process.
 */
int maps_each_of(uint32_t pid, uint32_t *shown_by, maps_callback *each, void *context);
/* Returns true if this entry's path is not needed: the entry may then lack it. */
typedef bool maps_known(void *context, const struct maps_entry *entry);

/* The same for executable parts only: a quarter of the cost if the kernel selects them (6.11). */
int maps_each_executable(uint32_t pid, uint32_t *shown_by, maps_callback *each, maps_known *known,
                         void *context);

/* Are there threads besides the first, which exists until the last one ends? */
bool maps_has_threads(uint32_t pid);

#endif
