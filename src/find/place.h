/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Where a program can be attached: what patterns become once the kernel has been asked. */
#ifndef STACKBOX_FIND_PLACE_H
#define STACKBOX_FIND_PLACE_H

#include <stdint.h>

#include "demangle/demangle.h"

enum place_kind {
    PLACE_KERNEL_FUNCTION,
    PLACE_TRACEPOINT,
    PLACE_USER, /* an instruction in a file: a function's, at an address, or a USDT probe's */
};

/* Where a place is in its function: does the kernel's stack walk need help there? */
enum place_start {
    START_NONE,  /* not at the first instruction of a known function */
    START_PUSH,  /* at it, and it is push %rbp, by which kernels since 6.13 recognize it */
    START_MARK,  /* at it, and it is endbr64, by which some of them do, too */
    START_OTHER, /* at it, and it is something else */
    START_LINK,  /* at a kernel function's, where the kernel's own walk misses the caller */
    START_OF_RETURN, /* at a user function's whose return is traced, beside that */
};

struct place {
    enum place_kind kind;
    bool at_return;
    bool named;         /* the user gave its name, not a wildcard */
    char *name;         /* of the function, "category:name", "libc.so.6:malloc",
                           "libc.so.6:provider:probe" or "prog:0x1234" */
    char *first_name;   /* if several names share the address: the one ftrace lists; or NULL */
    uint64_t address;   /* of the function; 0 where the kernel hides addresses. PLACE_USER: of the
                           probed instruction, as the ELF file numbers it */
    uint64_t offset;    /* from the function's start */
    uint32_t id;        /* of the tracepoint; by ptrace(2), a PLACE_CALL_ID() */
    int error;          /* 0, or the negative errno of attaching to it */
    enum place_start start;

    /* PLACE_USER only. Equal files and paths in one list are the same pointer. */
    const char *file;     /* opens from here: /proc/self/fd/N; without /proc, its path */
    uint64_t device, inode; /* of the file, if known */
    const char *path;     /* as the process sees it: /usr/lib/libc.so.6 */
    uint64_t file_offset; /* of the probed instruction */
    uint64_t semaphore;   /* file offset of the counter that arms a USDT probe; 0: none */
    bool is_usdt;
};

/* The id of a system call's place: the call's number, and whether it is at its end. */
#define PLACE_CALL_ID(number, ends) (2 * (number) + (ends))
#define PLACE_CALL_ENDS(id) ((id) & 1)

/* A growing list of places that owns their names and paths. {0} is empty. */
struct places {
    struct place *items;
    size_t count, room;
    char **paths; /* what file and path of places point to */
    size_t path_count, path_room;
};

/* Adds a copy, names and paths included. 0 or -ENOMEM. */
int places_add(struct places *places, const struct place *place);
/*
 * Removes duplicates: the same kind of probe at the same address (or name, if that is hidden).
 * Sorts: a file's places are together, entries before returns.
 */
void places_remove_doubles(struct places *places);
/* Removes those from `first` on that have an error. */
void places_remove_failed(struct places *places, size_t first);
/* Without the file's name: "malloc", "provider:probe", "0x1234". */
const char *place_own_name(const struct place *place);
/*
 * The offset at which to probe it: for a kernel function with two entries, the one that the
 * kernel's own calls take, which the kernel also chooses for a probe by name.
 */
uint64_t place_first(const struct place *place);
/*
 * The offset at which a kernel function can be probed if the kernel refuses its start: before its
 * first own instruction. 0: not on this machine.
 */
uint64_t place_later(const struct place *place);
/* place_own_name(), demangled: "A::f(int)"; if `readable` is NULL, unchanged. */
void place_add_own_name(const struct place *place, const struct demangle_options *readable,
                        struct text *to);
void places_free(struct places *places);

#endif
