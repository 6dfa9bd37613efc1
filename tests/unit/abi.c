/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * bpf_abi.h compared with the kernel's own header: every field at the place where the kernel reads
 * it. (The build machine's header may be older than the newest fields.)
 */
#include "unit/test.h"

#include <linux/bpf.h>
#include <sys/types.h>

#include "kernel/bpf_abi.h"

#define SAME(ours, our_field, theirs, their_field)                          \
    do {                                                                    \
        CHECK_NUMBER(offsetof(struct ours, our_field), offsetof(theirs, their_field)); \
        CHECK_NUMBER(sizeof(((struct ours *)0)->our_field), sizeof(((theirs *)0)->their_field)); \
    } while (0)
#define SAME_ATTR(ours, our_field, their_field) SAME(ours, our_field, union bpf_attr, their_field)

TEST(commands)
{
    CHECK_NUMBER(BPF_ABI_MAP_CREATE, BPF_MAP_CREATE);
    CHECK_NUMBER(BPF_ABI_MAP_LOOKUP_ELEM, BPF_MAP_LOOKUP_ELEM);
    CHECK_NUMBER(BPF_ABI_MAP_UPDATE_ELEM, BPF_MAP_UPDATE_ELEM);
    CHECK_NUMBER(BPF_ABI_MAP_DELETE_ELEM, BPF_MAP_DELETE_ELEM);
    CHECK_NUMBER(BPF_ABI_MAP_GET_NEXT_KEY, BPF_MAP_GET_NEXT_KEY);
    CHECK_NUMBER(BPF_ABI_PROG_LOAD, BPF_PROG_LOAD);
    CHECK_NUMBER(BPF_ABI_OBJ_GET_INFO_BY_FD, BPF_OBJ_GET_INFO_BY_FD);
    CHECK_NUMBER(BPF_ABI_RAW_TRACEPOINT_OPEN, BPF_RAW_TRACEPOINT_OPEN);
    CHECK_NUMBER(BPF_ABI_MAP_LOOKUP_AND_DELETE_BATCH, BPF_MAP_LOOKUP_AND_DELETE_BATCH);
    CHECK_NUMBER(BPF_ABI_LINK_CREATE, BPF_LINK_CREATE);
    CHECK_NUMBER(BPF_ABI_OBJ_NAME_BYTES, BPF_OBJ_NAME_LEN);
}

TEST(maps)
{
    SAME_ATTR(bpf_abi_map_create, map_type, map_type);
    SAME_ATTR(bpf_abi_map_create, key_size, key_size);
    SAME_ATTR(bpf_abi_map_create, value_size, value_size);
    SAME_ATTR(bpf_abi_map_create, max_entries, max_entries);
    SAME_ATTR(bpf_abi_map_create, map_flags, map_flags);
    SAME_ATTR(bpf_abi_map_create, inner_map_fd, inner_map_fd);
    SAME_ATTR(bpf_abi_map_create, map_name, map_name);
    SAME_ATTR(bpf_abi_map_elem, map_fd, map_fd);
    SAME_ATTR(bpf_abi_map_elem, key, key);
    SAME_ATTR(bpf_abi_map_elem, value, value);
    SAME_ATTR(bpf_abi_map_elem, flags, flags);
    SAME_ATTR(bpf_abi_map_batch, in_batch, batch.in_batch);
    SAME_ATTR(bpf_abi_map_batch, out_batch, batch.out_batch);
    SAME_ATTR(bpf_abi_map_batch, keys, batch.keys);
    SAME_ATTR(bpf_abi_map_batch, values, batch.values);
    SAME_ATTR(bpf_abi_map_batch, count, batch.count);
    SAME_ATTR(bpf_abi_map_batch, map_fd, batch.map_fd);
    SAME_ATTR(bpf_abi_map_batch, flags, batch.flags);
}

TEST(programs)
{
    SAME_ATTR(bpf_abi_prog_load, prog_type, prog_type);
    SAME_ATTR(bpf_abi_prog_load, insn_cnt, insn_cnt);
    SAME_ATTR(bpf_abi_prog_load, insns, insns);
    SAME_ATTR(bpf_abi_prog_load, license, license);
    SAME_ATTR(bpf_abi_prog_load, log_level, log_level);
    SAME_ATTR(bpf_abi_prog_load, log_size, log_size);
    SAME_ATTR(bpf_abi_prog_load, log_buf, log_buf);
    SAME_ATTR(bpf_abi_prog_load, prog_name, prog_name);
    SAME_ATTR(bpf_abi_prog_load, expected_attach_type, expected_attach_type);
    SAME_ATTR(bpf_abi_test_run, ctx_size_in, test.ctx_size_in);
    SAME_ATTR(bpf_abi_test_run, ctx_in, test.ctx_in);
    SAME_ATTR(bpf_abi_info_by_fd, bpf_fd, info.bpf_fd);
    SAME_ATTR(bpf_abi_info_by_fd, info_len, info.info_len);
    SAME_ATTR(bpf_abi_info_by_fd, info, info.info);
    SAME(bpf_abi_prog_info, id, struct bpf_prog_info, id);
    SAME(bpf_abi_prog_info, jited_prog_len, struct bpf_prog_info, jited_prog_len);
    SAME(bpf_abi_prog_info, xlated_prog_len, struct bpf_prog_info, xlated_prog_len);
    SAME(bpf_abi_prog_info, run_time_ns, struct bpf_prog_info, run_time_ns);
    SAME(bpf_abi_prog_info, run_cnt, struct bpf_prog_info, run_cnt);
    SAME_ATTR(bpf_abi_link_kprobe_multi, prog_fd, link_create.prog_fd);
    SAME_ATTR(bpf_abi_link_kprobe_multi, attach_type, link_create.attach_type);
    SAME_ATTR(bpf_abi_link_kprobe_multi, link_flags, link_create.flags);
}

/* These types come from the build's libc, and must be the same on every machine. */
TEST(sizes)
{
    CHECK_NUMBER(sizeof(off_t), 8);
    CHECK_NUMBER(sizeof(time_t), 8);
    CHECK_NUMBER(sizeof(ino_t), 8);
}

TEST_MAIN
