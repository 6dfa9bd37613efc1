/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Where a program can be attached: what patterns become once the kernel was asked. */
#ifndef STACKBOX_FIND_PLACE_H
#define STACKBOX_FIND_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "demangle/demangle.h"

enum place_kind {
    PLACE_KERNEL_FUNCTION,
    PLACE_TRACEPOINT,
    PLACE_USER, /* an instruction of a file: of a function, at an address, or a USDT probe's */
};

/* Where in its function a place is: whether the kernel's stack walk has to be helped there. */
enum place_start {
    START_NONE,  /* not at the first instruction of any function that is known */
    START_PUSH,  /* at it, and it is push %rbp, by which kernels since 6.13 know it */
    START_MARK,  /* at it, and it is endbr64, by which some of those do, too */
    START_OTHER, /* at it, and it is something else */
    START_LINK,  /* at that of a function of the kernel, whose own walk misses the caller there */
};

struct place {
    enum place_kind kind;
    bool at_return;
    bool named;         /* the user named it: it was not found by a wildcard */
    char *name;         /* of the function, "category:name", "libc.so.6:malloc",
                           "libc.so.6:provider:probe" or "prog:0x1234" */
    char *first_name;   /* of several names at one address, the one that ftrace lists; or NULL */
    uint64_t address;   /* of the function; 0 where the kernel hides addresses. PLACE_USER: of the
                           probed instruction, as the ELF file numbers it */
    uint64_t offset;    /* behind the function's start */
    uint32_t id;        /* of the tracepoint */
    int error;          /* 0, or why it could not be attached: a negative errno */
    enum place_start start;

    /* PLACE_USER alone. Equal files and paths of one list are one pointer. */
    const char *file;     /* opens from here: /proc/PID/root/usr/lib/libc.so.6 */
    const char *path;     /* as it is seen where the process is: /usr/lib/libc.so.6 */
    uint64_t file_offset; /* of the probed instruction */
    uint64_t semaphore;   /* file offset of the counter that arms a USDT probe; 0: none */
    bool is_usdt;
};

/* A growing list of places that owns their names and paths. {0} is empty. */
struct places {
    struct place *items;
    size_t count, room;
    char **paths; /* what file and path of places point to */
    size_t path_count, path_room;
};

/* Adds a copy; its names and paths are copied too. 0 or -ENOMEM. */
int places_add(struct places *places, const struct place *place);
/*
 * Leaves one of each: the same kind of probe at the same address (or name, where that is hidden).
 * Sorts: places of one file follow each other, entries before returns.
 */
void places_remove_doubles(struct places *places);
/* Takes out those from `first` on that have an error. */
void places_remove_failed(struct places *places, size_t first);
/* Without the name of the file: "malloc", "provider:probe", "0x1234". */
const char *place_own_name(const struct place *place);
/*
 * The offset at which a function of the kernel can be probed where its start is refused, and nothing has
 * happened yet; 0: this machine's kernels have none.
 */
uint64_t place_later(const struct place *place);
/* The same as its source has it: "A::f(int)"; with `readable` of NULL as it is. */
void place_add_own_name(const struct place *place, const struct demangle_wishes *readable,
                        struct text *to);
void places_free(struct places *places);

#endif
