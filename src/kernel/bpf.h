/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The only caller of bpf(2). Every function returns 0, a descriptor, which the caller closes, or a
 * negative errno.
 */
#ifndef STACKBOX_KERNEL_BPF_H
#define STACKBOX_KERNEL_BPF_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "insns/program.h"

#define KERNEL_ENOTSUPP 524 /* an errno internal to the kernel that bpf(2) and uprobes leak */

struct bpf_map_shape {
    uint32_t type; /* BPF_MAP_TYPE_* */
    const char *name; /* shown by bpftool; up to 15 bytes */
    uint32_t key_size, value_size, entries;
    uint32_t flags; /* BPF_F_*, or 0 */
    int inner; /* for a map of maps: a descriptor of a map like those it will hold; or 0 */
};

/*
 * Creates a map. If RLIMIT_MEMLOCK refuses it (before 5.11), raises the limit and tries again; if
 * the kernel knows no map names (before 4.15), tries again without one.
 */
int bpf_create_map(const struct bpf_map_shape *shape);
/* Creates a map with 32-bit keys; *map is below 0 on failure. 0 or a negative errno. */
int bpf_create_numbered(int *map, uint32_t type, const char *name, size_t value_size,
                        uint32_t entries);

/* Makes the map read-only for bpf(2) (5.2). 0 or a negative errno. */
int bpf_freeze(int map);

int bpf_lookup(int map, const void *key, void *value);
/* Sums the words of a per-CPU array's value over all CPUs. 0 or a negative errno. */
int bpf_sum_of_cpus(int map, uint32_t index, uint64_t *sums, size_t words);
int bpf_update(int map, const void *key, const void *value, uint64_t flags);
/* Updates `count` elements; the kernel waits for programs once only if it is a map of maps. */
int bpf_update_batch(int map, const void *keys, const void *values, uint32_t count);
int bpf_delete(int map, const void *key);
/* The key after `key` (NULL: the first). -ENOENT after the last. */
int bpf_next_key(int map, const void *key, void *next);

/*
 * Removes all entries from a hash map that no program is writing to, calling `take` with each; a
 * negative result of `take` ends this and is returned. In batches (5.6), or else one by one.
 */
typedef int bpf_take(void *context, const void *key, const void *value);
int bpf_drain(int map, uint32_t key_size, uint32_t value_size, bpf_take *take, void *context);
/*
 * Calls `take` with every entry of a hash map and leaves the entries there. Programs may write to
 * it meanwhile: no entry present throughout is missed, except without batches (before 5.6).
 */
int bpf_list(int map, uint32_t key_size, uint32_t value_size, bpf_take *take, void *context);

/* Can an empty hash map, with keys and values of at most 8 bytes, be drained by batches? */
bool bpf_has_batches(int map);

struct bpf_load {
    uint32_t type;        /* BPF_PROG_TYPE_* */
    uint32_t attach_type; /* 0, or what the program type needs */
    const char *name;
    struct linked code;
};

/*
 * Loads a program: first without a log, which is fast; after a failure with a log that grows until
 * the verifier's messages fit, which are appended to `log`. Older kernels get the program in the
 * form they need: with their version, with their helpers, without a name.
 */
int bpf_load_program(const struct bpf_load *load, struct text *log);
/* Links `program` for any kernel, then loads it. The program stays the caller's. */
int bpf_link_and_load(uint32_t type, const char *name, struct program *program, struct text *log);

/*
 * Runs a raw tracepoint program (5.10) or one of BPF_PROG_TYPE_SYSCALL (5.14) once, within
 * bpf(2), so that its current task is ours. `context` holds its arguments. 0 or a negative errno.
 */
int bpf_run_raw(int program, const uint64_t *context, size_t words);

/* A program that returns 0. */
extern const struct bpf_insn bpf_nothing[2];
/* Loads it. Its descriptor or a negative errno. */
int bpf_load_nothing(uint32_t type, uint32_t attach_type);
/* Can this program be loaded? 0 or a negative errno. */
int bpf_try(uint32_t type, const struct bpf_insn *insns, size_t count);

/* Does the verifier accept loops (5.3)? True also if the trial fails for another reason. */
bool bpf_has_loops(void);
/* Does the kernel load a program that calls get_stack (4.18)? 0 or a negative errno. */
int bpf_try_stacks(void);
/* The same for get_ns_current_pid_tgid (5.7), which gives the pids of a container. */
int bpf_try_namespaces(void);

struct bpf_program_info {
    uint32_t id;
    uint32_t jited_bytes, translated_bytes;
    uint64_t run_time_ns, run_count; /* if kernel.bpf_stats_enabled is set (5.1) */
    uint64_t recursion_misses;       /* 5.12 */
};
int bpf_program_info(int program, struct bpf_program_info *info);

/*
 * One link from a program to many kernel functions (5.18), by address, or by name if `addresses` is
 * NULL. A function that cannot be traced fails the whole link. bpf_has_kprobe_multi asks the kernel
 * without attaching anything; `program` must have been loaded for kprobe.multi.
 */
struct bpf_kprobes {
    bool at_return;
    uint32_t count;
    const uint64_t *addresses;
    const char *const *names;
    const uint64_t *cookies; /* for each, what get_attach_cookie gives the program; or NULL */
};
int bpf_link_kprobe_multi(int program, const struct bpf_kprobes *probes);
bool bpf_has_kprobe_multi(int program);

/*
 * One link from a program to many places of one file (6.6). A place that cannot be probed fails the
 * whole link. bpf_has_uprobe_multi as above.
 */
struct bpf_uprobes {
    const char *path;
    bool at_return;
    uint32_t count;
    const uint64_t *offsets;    /* in the file */
    const uint64_t *semaphores; /* offsets of USDT semaphores in the file, 0: none; or NULL */
    const uint64_t *cookies;    /* for each, what get_attach_cookie gives the program; or NULL */
    uint32_t pid;               /* in this process only; 0: in all */
};
int bpf_link_uprobe_multi(int program, const struct bpf_uprobes *probes);
bool bpf_has_uprobe_multi(int program);
/*
 * Before 6.10 the kernel takes a link's `pid` for a thread's. Only a later feature reveals the
 * fix: true from 6.13 on.
 */
bool bpf_has_uprobe_multi_of_processes(void);

/* Runs `program` at every hit of a perf event (5.15) until the returned descriptor is closed. */
int bpf_link_perf_event(int program, int event);

/*
 * Hits that the link's own probes missed, in addition to recursion_misses: known from 6.7 on. 0, or
 * a negative errno if `link` is no link.
 */
int bpf_link_missed(int link, uint64_t *missed);

/* Runs `program` at every hit of a raw tracepoint (4.17) until the descriptor is closed. */
int bpf_open_raw_tracepoint(int program, const char *name);

/*
 * While a process is preempted inside bpf(2) on a live map, the kernel runs no program on that CPU,
 * and events are lost. Between these two calls only real-time tasks preempt this thread. False:
 * CAP_SYS_NICE is missing. Calls nest; every operation on one element or batch makes them itself,
 * and a caller with many operations puts one pair around all.
 */
bool bpf_begin_unpreempted(void);
void bpf_end_unpreempted(void);

#endif
