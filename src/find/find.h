/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * From the user's patterns to all places that they mean, or a sentence that says why none matches.
 */
#ifndef STACKBOX_FIND_FIND_H
#define STACKBOX_FIND_FIND_H

#include "base/text.h"
#include "find/pattern.h"
#include "find/place.h"
#include "insns/machine.h"

struct found_file;
struct kernel_names;

/* {.tracefs = -1, .kallsyms = -1} is empty; find_close accepts it. */
struct find {
    struct pattern *patterns;
    size_t count;
    size_t *matched; /* for each pattern: how many places, duplicates included */
    uint32_t pid;    /* set by the caller: patterns mean this process's files; 0: ours */
    int kallsyms;    /* the caller's; open, or below 0 */
    const struct kernel_names *names; /* the caller's, to ask for functions by name; or NULL */
    const struct machine *kernel; /* filled in by find_places */
    int tracefs;     /* open, or the negative errno of opening it */
    bool by_calls;   /* the caller's: look up system calls by number, without tracefs */
    struct found_file *files; /* what the patterns mean, open (user_file.h) */
    size_t file_count;
    struct places places;
    struct text unread; /* "FILE: why": not all its functions could be searched; or empty */
    struct text left_out; /* how many functions cannot be probed, and why; or empty */
};

/* Parses the words. 0, or -EINVAL or -ENOMEM with one line in `error`. */
int find_parse(struct find *find, char *const *words, size_t count, bool is_regex,
               struct text *error);

/*
 * Turns patterns such as sched:sched_switch into tracepoints, if such a tracepoint exists. Sets
 * `tracefs` if that was needed. 0 or -ENOMEM.
 */
int find_translate(struct find *find);

/*
 * Asks the kernel for the places, and fills in `tracefs` and `places`, without duplicates. 0, or a
 * negative errno with one line in `error`: a pattern that matches nothing is -ENOENT.
 */
int find_places(struct find *find, struct text *error);

/* Opens `tracefs`, unless it is open. Returns it. */
int find_tracefs(struct find *find);

bool find_any_of_kind(const struct find *find, enum pattern_kind kind);
/* Are all patterns for what programs do: their own functions, or system calls? */
bool find_only_programs(const struct find *find);

/*
 * Can programs at places that the patterns may mean nest: may one of them run on a CPU before
 * another has ended there (insns/fragments.h)?
 */
bool find_programs_meet(const struct find *find);

void find_close(struct find *find);

/*
 * Appends a line per place, sorted, without duplicates (sites of a USDT probe, functions of the
 * same name); if `readable` is NULL, with names from the symbol tables. 0 or -ENOMEM.
 */
int list_places(const struct places *places, const struct demangle_options *readable,
                struct text *lines);

/* From patterns to functions of the running kernel. */

/*
 * Adds each function that one of `count` patterns matches, in one pass over `kallsyms`, an open
 * /proc/kallsyms; other kinds of patterns are skipped. matched[i] is how many pattern i matched: a
 * static function's name may be there several times. Adds untraceable functions, too: only an
 * attempt to trace them tells. 0 or a negative errno.
 */
int kernel_functions_find(int kallsyms, const struct pattern *patterns, size_t count,
                          struct places *places, size_t *matched);
/*
 * The same for exact names, without that pass, which takes seconds on a slow board. -EAGAIN: only
 * the pass finds them.
 */
int kernel_functions_ask(const struct kernel_names *names, const struct pattern *patterns,
                         size_t count, struct places *places, size_t *matched);

/*
 * Sets the error of functions that ftrace does not list as traceable. Reading the list takes time:
 * call this only after attaching to all has failed. 0, or a negative errno if there is no list.
 */
int kernel_functions_sift(int tracefs, struct place *const *functions, size_t count);

/*
 * Is each offset within its function? 0, -ERANGE with one line in `error`, or another negative
 * errno.
 */
int kernel_functions_check_offsets(int kallsyms, const struct places *places, struct text *error);

/* Appends "; near: a, b" for a name that no function has. */
int kernel_functions_near(int kallsyms, const char *name, struct text *near);

/*
 * After a run without events: the same function in other files, from which the process may call it.
 * A process may have its own allocator, and a container its own libraries.
 */

/*
 * Searches what find->pid has mapped for other files with the named functions; or, if that is 0,
 * the roots of processes that do not see our files for the named libraries. Appends at most five
 * lines, one per function, that say what to trace. 0 or a negative errno.
 */
int alternatives_find(const struct find *find, struct text *lines);

/*
 * Kernels since 6.13 may preempt the programs of system calls' tracepoints, which then miss hits:
 * the first such place, with the function to trace instead in `pattern`. NULL: this kernel does not
 * preempt them, or there is no such place or function, or the kernel cannot be asked.
 */
const struct place *exact_alternative(const struct find *find, struct text *pattern);

#endif
