/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The arguments of bpf(2), written out: one struct per command, with only the fields used here, so
 * that the size passed never covers a field that the running kernel does not know. Fields and
 * commands newer than 4.9 carry the version that added them. The build machine's <linux/bpf.h> is
 * used only for older constants.
 */
#ifndef STACKBOX_KERNEL_BPF_ABI_H
#define STACKBOX_KERNEL_BPF_ABI_H

#include <stddef.h>
#include <stdint.h>

#define BPF_ABI_OBJ_NAME_BYTES 16 /* 15 and a NUL */

enum bpf_abi_command {
    BPF_ABI_MAP_CREATE = 0,
    BPF_ABI_MAP_LOOKUP_ELEM = 1,
    BPF_ABI_MAP_UPDATE_ELEM = 2,
    BPF_ABI_MAP_DELETE_ELEM = 3,
    BPF_ABI_MAP_GET_NEXT_KEY = 4,
    BPF_ABI_PROG_LOAD = 5,
    BPF_ABI_PROG_TEST_RUN = 10,               /* 4.12; of raw tracepoints 5.10 */
    BPF_ABI_OBJ_GET_INFO_BY_FD = 15,          /* 4.13 */
    BPF_ABI_RAW_TRACEPOINT_OPEN = 17,         /* 4.17 */
    BPF_ABI_BTF_LOAD = 18,                    /* 4.18 */
    BPF_ABI_MAP_FREEZE = 22,                  /* 5.2 */
    BPF_ABI_MAP_LOOKUP_BATCH = 24,            /* 5.6 */
    BPF_ABI_MAP_LOOKUP_AND_DELETE_BATCH = 25, /* 5.6 */
    BPF_ABI_MAP_UPDATE_BATCH = 26,            /* 5.6; of maps of maps 5.16 */
    BPF_ABI_LINK_CREATE = 28,                 /* 5.7 */
};

struct bpf_abi_map_create {
    uint32_t map_type;
    uint32_t key_size;
    uint32_t value_size;
    uint32_t max_entries;
    uint32_t map_flags;
    uint32_t inner_map_fd;                 /* 4.12 */
    uint32_t numa_node;                    /* 4.14, unused */
    char map_name[BPF_ABI_OBJ_NAME_BYTES]; /* 4.15 */
};
_Static_assert(sizeof(struct bpf_abi_map_create) == 44, "as the kernel lays it out");

struct bpf_abi_map_elem { /* lookup, update, delete, next key */
    uint32_t map_fd;
    uint32_t unused;
    uint64_t key;
    uint64_t value; /* next_key for BPF_ABI_MAP_GET_NEXT_KEY */
    uint64_t flags;
};
_Static_assert(sizeof(struct bpf_abi_map_elem) == 32, "as the kernel lays it out");

struct bpf_abi_map_batch { /* 5.6 */
    uint64_t in_batch;
    uint64_t out_batch;
    uint64_t keys;
    uint64_t values;
    uint32_t count;
    uint32_t map_fd;
    uint64_t elem_flags;
    uint64_t flags;
};
_Static_assert(sizeof(struct bpf_abi_map_batch) == 56, "as the kernel lays it out");

struct bpf_abi_prog_load {
    uint32_t prog_type;
    uint32_t insn_cnt;
    uint64_t insns;
    uint64_t license;
    uint32_t log_level;
    uint32_t log_size;
    uint64_t log_buf;
    uint32_t kern_version;                  /* must be exact for kprobe programs below 5.0 */
    uint32_t prog_flags;                    /* 4.11 */
    char prog_name[BPF_ABI_OBJ_NAME_BYTES]; /* 4.15 */
    uint32_t prog_ifindex;                  /* 4.15, unused */
    uint32_t expected_attach_type;          /* 4.17 */
    uint32_t prog_btf_fd;                   /* 5.0, from here on */
    uint32_t func_info_rec_size;
    uint64_t func_info;
    uint32_t func_info_cnt;
    uint32_t unused;
};
_Static_assert(sizeof(struct bpf_abi_prog_load) == 96, "as the kernel lays it out");
#define BPF_ABI_PROG_LOAD_PLAIN offsetof(struct bpf_abi_prog_load, prog_btf_fd)

struct bpf_abi_func_info { /* 5.0 */
    uint32_t insn_off;
    uint32_t type_id;
};

struct bpf_abi_btf_load { /* 4.18 */
    uint64_t btf;
    uint64_t log_buf;
    uint32_t size;
    uint32_t log_size;
    uint32_t log_level;
    uint32_t unused;
};
_Static_assert(sizeof(struct bpf_abi_btf_load) == 32, "as the kernel lays it out");

struct bpf_abi_test_run { /* 4.12, and with a context 5.2 */
    uint32_t prog_fd;
    uint32_t unused[9];
    uint32_t ctx_size_in;
    uint32_t ctx_size_out;
    uint64_t ctx_in;
    uint64_t ctx_out;
    uint64_t unused_too; /* 5.10 */
};
_Static_assert(sizeof(struct bpf_abi_test_run) == 72, "as the kernel lays it out");

struct bpf_abi_info_by_fd { /* 4.13 */
    uint32_t bpf_fd;
    uint32_t info_len;
    uint64_t info;
};

struct bpf_abi_prog_info { /* as of 5.12; older kernels leave the rest unchanged */
    uint32_t type;
    uint32_t id;
    uint8_t tag[8];
    uint32_t jited_prog_len;
    uint32_t xlated_prog_len;
    uint64_t unused[21];
    uint64_t run_time_ns; /* 5.1 */
    uint64_t run_cnt;
    uint64_t recursion_misses; /* 5.12 */
};
_Static_assert(sizeof(struct bpf_abi_prog_info) == 216, "as the kernel lays it out");

#define BPF_ABI_TRACE_KPROBE_MULTI 42      /* 5.18, an attach type */
#define BPF_ABI_KPROBE_MULTI_RETURN 1      /* 5.18, a flag of the link */

struct bpf_abi_link_kprobe_multi { /* 5.18 */
    uint32_t prog_fd;
    uint32_t target_fd; /* unused */
    uint32_t attach_type;
    uint32_t link_flags;
    uint32_t flags;
    uint32_t count;
    uint64_t symbols;
    uint64_t addresses;
    uint64_t cookies;
};
_Static_assert(sizeof(struct bpf_abi_link_kprobe_multi) == 48, "as the kernel lays it out");

#define BPF_ABI_TRACE_UPROBE_MULTI 48      /* 6.6, an attach type */
#define BPF_ABI_UPROBE_MULTI_RETURN 1      /* 6.6, a flag of the link */
#define BPF_ABI_TRACE_UPROBE_SESSION 57    /* 6.13, an attach type of the same link */

struct bpf_abi_link_uprobe_multi { /* 6.6 */
    uint32_t prog_fd;
    uint32_t target_fd; /* unused */
    uint32_t attach_type;
    uint32_t link_flags;
    uint64_t path;
    uint64_t offsets;
    uint64_t semaphores;
    uint64_t cookies;
    uint32_t count;
    uint32_t flags;
    uint32_t pid; /* 0: all processes */
    uint32_t path_fd; /* unused */
};
_Static_assert(sizeof(struct bpf_abi_link_uprobe_multi) == 64, "as the kernel lays it out");

#define BPF_ABI_PERF_EVENT 41              /* 5.15, an attach type */

struct bpf_abi_link_perf_event { /* 5.15 */
    uint32_t prog_fd;
    uint32_t target_fd;
    uint32_t attach_type;
    uint32_t link_flags;
};
_Static_assert(sizeof(struct bpf_abi_link_perf_event) == 16, "as the kernel lays it out");

enum bpf_abi_link_type {
    BPF_ABI_LINK_PERF_EVENT = 7,   /* 5.15 */
    BPF_ABI_LINK_KPROBE_MULTI = 8, /* 5.18 */
};

enum bpf_abi_perf_event_type { /* 6.6 */
    BPF_ABI_PERF_EVENT_KPROBE = 3,
    BPF_ABI_PERF_EVENT_KRETPROBE = 4,
};

struct bpf_abi_link_info { /* as of 6.7; older kernels leave the rest unchanged */
    uint32_t type;
    uint32_t id;
    uint32_t prog_id;
    uint32_t unused;
    union {
        struct {
            uint64_t addresses; /* 6.6 */
            uint32_t count;
            uint32_t flags;
            uint64_t missed; /* 6.7 */
        } kprobe_multi;
        struct {
            uint32_t type; /* 6.6 */
            uint32_t unused;
            uint64_t name;
            uint32_t name_length;
            uint32_t offset;
            uint64_t address;
            uint64_t missed; /* 6.7 */
        } kprobe;
    };
};
_Static_assert(sizeof(struct bpf_abi_link_info) == 56, "as the kernel lays it out");

struct bpf_abi_raw_tracepoint { /* 4.17 */
    uint64_t name;
    uint32_t prog_fd;
    uint32_t unused;
};
_Static_assert(sizeof(struct bpf_abi_raw_tracepoint) == 16, "as the kernel lays it out");

/* bpf(2) itself. For bpf.c and bpf_links.c only. */

/* What the kernel returns, or a negative errno. */
int bpf_call(enum bpf_abi_command command, void *attributes, unsigned size);
/* Describes a program, map or link in an answer of its kind. 0 or a negative errno. */
int bpf_info(int fd, void *answer, uint32_t size);

static inline uint64_t pointer(const void *address)
{
    return (uint64_t)(uintptr_t)address;
}

#endif
