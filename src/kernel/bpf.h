/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The only caller of bpf(2). Descriptors are returned to the caller, who closes them; every
 * function returns 0, a descriptor or a negative errno.
 */
#ifndef STACKBOX_KERNEL_BPF_H
#define STACKBOX_KERNEL_BPF_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

#define KERNEL_ENOTSUPP 524 /* an errno of the kernel's own, which leaks out of bpf(2) and uprobes */

struct bpf_map_shape {
    uint32_t type; /* BPF_MAP_TYPE_* */
    const char *name; /* shown by bpftool; up to 15 bytes */
    uint32_t key_size, value_size, entries;
    uint32_t flags; /* BPF_F_*, else 0 */
    int inner; /* a descriptor of a map like those that a map of maps will hold, else 0 */
};

/*
 * Creates a map. Where the kernel still charges maps to RLIMIT_MEMLOCK (before 5.11) and that is
 * what refuses, the limit is raised and the map tried once more; and without its name (4.15).
 */
int bpf_create_map(const struct bpf_map_shape *shape);
/* *map = one whose keys are numbers of 32 bits, or below 0. 0 or a negative errno. */
int bpf_create_numbered(int *map, uint32_t type, const char *name, size_t value_size,
                        uint32_t entries);

int bpf_lookup(int map, const void *key, void *value);
/* The sums over all CPUs of the words of a value of a per-CPU array. 0 or a negative errno. */
int bpf_sum_of_cpus(int map, uint32_t index, uint64_t *sums, size_t words);
int bpf_update(int map, const void *key, const void *value, uint64_t flags);
int bpf_delete(int map, const void *key);
/* The key after `key` (NULL: the first). -ENOENT after the last. */
int bpf_next_key(int map, const void *key, void *next);

/*
 * Takes every entry out of a hash map that no program writes to at the moment: `take` is called
 * with each, and a negative value of its ends the drain and is returned. By batches (5.6), else one
 * by one.
 */
typedef int bpf_take(void *context, const void *key, const void *value);
int bpf_drain(int map, uint32_t key_size, uint32_t value_size, bpf_take *take, void *context);
/*
 * Calls `take` with every entry of a hash map, which stay in it. Programs may write to it meanwhile:
 * an entry that is there all the while is not missed, except where the kernel has no batches (5.6).
 */
int bpf_list(int map, uint32_t key_size, uint32_t value_size, bpf_take *take, void *context);

/* Can an empty hash map, of keys and values of 8 bytes at most, be drained by batches? */
bool bpf_has_batches(int map);

struct bpf_load {
    uint32_t type;        /* BPF_PROG_TYPE_* */
    uint32_t attach_type; /* 0, or what the program type asks for */
    const char *name;
    const struct bpf_insn *insns;
    size_t count;
    const uint32_t *functions; /* where the program and those that it calls begin; NULL: it is alone */
    size_t function_count;
};

/*
 * Loads a program: without a log first, which is fast, and only after a failure again with a log
 * that grows until it holds the verifier's words, which are appended to `log`. A kernel that does not know
 * all of it gets it as older ones want it: with their version, their names of helpers, without a name.
 */
int bpf_load_program(const struct bpf_load *load, struct text *log);

/*
 * Runs a program of raw tracepoints once (5.10), in the call itself: what it sees is us, in bpf(2). Its words
 * are `context`. 0 or a negative errno.
 */
int bpf_run_raw(int program, const uint64_t *context, size_t words);

/* Does the verifier follow a program that goes back (5.3)? True, too, where it was not to be asked. */
bool bpf_has_loops(void);
/* Does it take a program that reads a stack (get_stack, 4.18)? 0 or a negative errno. */
int bpf_try_stacks(void);

struct bpf_program_info {
    uint32_t id;
    uint32_t jited_bytes, translated_bytes;
    uint64_t run_time_ns, run_count; /* where kernel.bpf_stats_enabled is set (5.1) */
    uint64_t recursion_misses;       /* 5.12 */
};
int bpf_program_info(int program, struct bpf_program_info *info);

/*
 * One link from a program to many kernel functions (5.18), by address, or by name where `addresses`
 * is NULL. One that cannot be traced fails the whole list. bpf_has_kprobe_multi asks the kernel
 * without attaching anything; `program` must have been loaded for it.
 */
struct bpf_kprobes {
    bool at_return;
    uint32_t count;
    const uint64_t *addresses;
    const char *const *names;
    const uint64_t *cookies; /* what the program is told of each (get_attach_cookie), or NULL */
};
int bpf_link_kprobe_multi(int program, const struct bpf_kprobes *probes);
bool bpf_has_kprobe_multi(int program);

/*
 * One link from a program to many places of one file (6.6). One that cannot be probed fails the whole
 * list. bpf_has_uprobe_multi as above.
 */
struct bpf_uprobes {
    const char *path;
    bool at_return;
    uint32_t count;
    const uint64_t *offsets;    /* in the file */
    const uint64_t *semaphores; /* offsets in it of counters of who listens, 0: none; or NULL */
    const uint64_t *cookies;    /* what the program is told of each, or NULL */
    uint32_t pid;               /* in this process alone; 0: in all */
};
int bpf_link_uprobe_multi(int program, const struct bpf_uprobes *probes);
bool bpf_has_uprobe_multi(int program);
/*
 * Before 6.10 `pid` of such a link was taken for a thread. Nothing tells but what came later: true
 * from 6.13 on. `load` is of a program that returns 0.
 */
bool bpf_has_uprobe_multi_of_processes(const struct bpf_load *load);

/* Runs `program` at every hit of a perf event (5.15) until what is returned is closed. */
int bpf_link_perf_event(int program, int event);

/*
 * Hits that a link's probes themselves kept from the program, which are not among its
 * recursion_misses: the kernel says so from 6.7 on. 0, or a negative errno where it is no link.
 */
int bpf_link_missed(int link, uint64_t *missed);

/* Runs `program` at every hit of a raw tracepoint (4.17) until what is returned is closed. */
int bpf_open_raw_tracepoint(int program, const char *name);

/*
 * A process that loses its CPU inside bpf(2) on a live map keeps every program off that CPU until
 * it runs again, and their events are lost. Between these two calls nothing but a real-time task
 * takes the CPU from this thread. False: no right to do so (CAP_SYS_NICE). Calls nest; whatever is done
 * to one element or batch is between two of its own, and who does much puts all of it between two.
 */
bool bpf_begin_unpreempted(void);
void bpf_end_unpreempted(void);

#endif
