/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* From a short name of a library or program to its file. */
#ifndef STACKBOX_FIND_LIBRARY_H
#define STACKBOX_FIND_LIBRARY_H

#include <stdint.h>

#include "base/text.h"
#include "processes/proc_maps.h"

struct library_where {
    const char *root; /* search its files: "" for ours, or from root_of_process() */
    uint32_t pid;     /* this process's libraries come first; 0: no process's */
    const struct library_seen *seen; /* what it has mapped, from library_see(); NULL for 0 */
};

struct library {
    int fd;           /* open for reading */
    struct text file; /* a path that opens from here */
    struct text path; /* as seen in the root */
    struct text asked; /* the path by which it was opened */
    bool is_ours;      /* `asked` is a path in our root, although the search is in another */
    size_t mapping;    /* the item of `seen`, from 1 on, through which it was opened; 0: by path */
};

/*
 * `c`, `ssl`, `libc.so.6`, `bash`, `/path/to/it`, `./it`. A name with a slash is a path: in the
 * root, or else from here. Other names are searched in this order: what the process has mapped, a
 * library where the dynamic linker finds it (the highest version of several, 64-bit before 32-bit),
 * a program in PATH, a file in the current directory. A file found by path or in PATH may be
 * anything; the others are ELF files of this machine. 0, or a negative errno with one line in
 * `error`. library_close after 0.
 */
int library_find(const struct library_where *where, const char *typed, struct library *library,
                 struct text *error);
void library_close(struct library *library);

/* The length of a path in maps without " (deleted)". */
size_t length_without_deleted(const char *path);
/* May `typed`, a name or a path, mean the file with such a path, by its name? */
bool library_mapped_is(const char *path, const char *typed);

/*
 * How likely `typed` means the file `name`; 0: it does not. The likeliest is the whole name, then
 * lib*.so.VERSION, lib*.so, lib*-VERSION.so, and musl's linker, which is its C library, too.
 */
unsigned library_name_rank(const char *typed, const char *name);

struct library_candidate {
    const char *path;
    unsigned rank;
    int level; /* the processor level that it needs */
    size_t mapping; /* its number in library_seen, from 1 on */
};

/* {.typed = name} is empty. */
struct library_candidates {
    const char *typed;
    struct library_candidate *items;
    size_t count, room;
};

/*
 * Adds `candidate`, found as `name`, if candidates->typed can mean that name: with its rank, and a
 * copy of its path. 0 or -ENOMEM.
 */
int library_offer(struct library_candidates *candidates, const char *name,
                  const struct library_candidate *candidate);

/* Likeliest first: by rank, then the highest version, then the highest level. */
void library_sort(struct library_candidates *candidates);

/* Empties the list. */
void library_forget(struct library_candidates *candidates);

struct library_mapped {
    struct maps_entry entry; /* with a path of its own */
    int fd;                  /* the mapped file, or a negative errno */
};

/* The files that a process had mapped at the call of library_see(): {0} is none. */
struct library_seen {
    struct library_mapped *items;
    size_t count, room;
    uint32_t shown_by; /* the process, or a thread that shows its memory */
};

/*
 * Lists what a process has mapped: nothing if it is gone or we lack the permission. Opens files
 * that one of the `count` names may mean through their mappings, which takes more rights than
 * opening a path, but works without one. 0 or -ENOMEM; library_seen_free after either.
 */
int library_see(uint32_t pid, const char *const *typed, size_t count, struct library_seen *seen);
void library_seen_free(struct library_seen *seen);

/*
 * Appends the path of the program, and those of all libraries that it needs, directly or not, each
 * followed by a NUL. 0 or a negative errno.
 */
int needed_find(const char *program, struct text *paths);

/* Where libraries are: /etc/ld.so.cache, which the dynamic linker reads, and paths below a root. */

/* `special`: for certain processors only. */
struct link_cache_entry {
    const char *name, *path;
    bool special;
};
/* 0 goes on; anything else ends the walk and is returned. */
typedef int link_cache_callback(void *context, const struct link_cache_entry *entry);

/*
 * Calls `each` for the entries in `bytes`, the file's contents: the old format, the new one, or the
 * old one followed by the new one (then only the new one), in either byte order. Entries that point
 * outside are skipped. 0, -ENOEXEC for any other file, or what `each` returned.
 */
int link_cache_each(const char *bytes, size_t length, link_cache_callback *each, void *context);

enum root_way {
    ROOT_FILE = 1,  /* a regular file, as policy_open() does */
    ROOT_DIRECTORY,
};

/*
 * Opens `path` for reading, through the opener if we are the sandbox. `resolved` becomes the path
 * in `root`, without links, "." and "..", and without the root itself. A relative path starts at
 * the root, or, if that is ours, at our current directory. A descriptor or a negative errno.
 */
int root_take(enum root_way way, const char *root, const char *path, struct text *resolved);

/* The same in this process: a sandbox_opener. */
int root_take_here(unsigned way, const char *root, const char *path, struct text *resolved);

/*
 * The prefix for a process's root: "" if it has our root, or if we may not read which it has;
 * otherwise /proc/PID/root. 0 or -ENOMEM.
 */
int root_of_process(uint32_t pid, struct text *root);

#endif
