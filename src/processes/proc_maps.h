/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What /proc/PID/maps says: the parts of a process's memory, by rising address. */
#ifndef STACKBOX_PROCESSES_PROC_MAPS_H
#define STACKBOX_PROCESSES_PROC_MAPS_H

#include <stdbool.h>
#include <stdint.h>

struct maps_entry {
    uint64_t start, end, offset; /* offset: of `start` in the file */
    uint64_t device, inode;      /* device as st_dev has it; an inode of 0: no file */
    bool executable;
    /* As the kernel writes it, newlines decoded: "/usr/bin/a (deleted)", "[heap]"; "" for none. */
    const char *path;
};

/* `entry` is good during the call alone. What is not 0 ends the reading and is handed on. */
typedef int maps_callback(void *context, const struct maps_entry *entry);

/*
 * Every line of an open maps file, which stays the caller's. Lines that are none are left out. 0, a
 * negative errno, or what the callback ended it with. A process without memory has no lines.
 */
int maps_each(int fd, maps_callback *each, void *context);

/*
 * The same for a process, by its number. Where its first thread has ended and others go on,
 * /proc/PID shows no memory: *shown_by is then a thread whose /proc/TID does, else `pid`; it is set
 * before the callback is called. -ENOENT: there is no such process.
 */
int maps_each_of(uint32_t pid, uint32_t *shown_by, maps_callback *each, void *context);
/* Need the path of this entry not be found out? It may have one or not. */
typedef bool maps_known(void *context, const struct maps_entry *entry);

/* The same of the executable parts alone, which costs a fourth where the kernel is asked (6.11). */
int maps_each_executable(uint32_t pid, uint32_t *shown_by, maps_callback *each, maps_known *known,
                         void *context);

/* Are there other threads than the first, which is there until the last one ends? */
bool maps_has_threads(uint32_t pid);

#endif
