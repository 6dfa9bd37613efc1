/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Programs on probes, events and raw tracepoints. */
#include "kernel/bpf.h"

#include <errno.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/bpf_abi.h"

int bpf_link_kprobe_multi(int program, const struct bpf_kprobes *probes)
{
    struct bpf_abi_link_kprobe_multi link = {
        .prog_fd = (uint32_t)program,
        .attach_type = BPF_ABI_TRACE_KPROBE_MULTI,
        .flags = probes->at_return ? BPF_ABI_KPROBE_MULTI_RETURN : 0,
        .count = probes->count,
        .symbols = probes->addresses ? 0 : pointer(probes->names),
        .addresses = pointer(probes->addresses),
        .cookies = pointer(probes->cookies),
    };

    return bpf_call(BPF_ABI_LINK_CREATE, &link, sizeof(link));
}

bool bpf_has_kprobe_multi(int program)
{
    /* An unreadable list: only a kernel that knows the link tries to read it (EFAULT). */
    struct bpf_abi_link_kprobe_multi link = {
        .prog_fd = (uint32_t)program,
        .attach_type = BPF_ABI_TRACE_KPROBE_MULTI,
        .count = 1,
        .addresses = 1,
    };

    return bpf_call(BPF_ABI_LINK_CREATE, &link, sizeof(link)) == -EFAULT;
}

static int link_uprobes(int program, uint32_t attach_type, const struct bpf_uprobes *probes)
{
    struct bpf_abi_link_uprobe_multi link = {
        .prog_fd = (uint32_t)program,
        .attach_type = attach_type,
        .path = pointer(probes->path),
        .offsets = pointer(probes->offsets),
        .semaphores = pointer(probes->semaphores),
        .cookies = pointer(probes->cookies),
        .count = probes->count,
        .flags = probes->at_return ? BPF_ABI_UPROBE_MULTI_RETURN : 0,
        .pid = probes->pid,
    };

    return bpf_call(BPF_ABI_LINK_CREATE, &link, sizeof(link));
}

int bpf_link_uprobe_multi(int program, const struct bpf_uprobes *probes)
{
    return link_uprobes(program, BPF_ABI_TRACE_UPROBE_MULTI, probes);
}

/* Only a kernel that knows the link finds out that the path is no regular file. */
static bool knows_link(int program, uint32_t attach_type)
{
    const uint64_t nowhere = 0;
    const struct bpf_uprobes none = {.path = "/", .count = 1, .offsets = &nowhere};

    return link_uprobes(program, attach_type, &none) == -EBADF;
}

bool bpf_has_uprobe_multi(int program)
{
    return knows_link(program, BPF_ABI_TRACE_UPROBE_MULTI);
}

bool bpf_has_uprobe_multi_of_processes(void)
{
    int program = bpf_load_nothing(BPF_PROG_TYPE_KPROBE, BPF_ABI_TRACE_UPROBE_SESSION);
    bool has = program >= 0 && knows_link(program, BPF_ABI_TRACE_UPROBE_SESSION);

    close_fd(program);
    return has;
}

int bpf_open_raw_tracepoint(int program, const char *name)
{
    struct bpf_abi_raw_tracepoint open = {
        .name = pointer(name),
        .prog_fd = (uint32_t)program,
    };

    return bpf_call(BPF_ABI_RAW_TRACEPOINT_OPEN, &open, sizeof(open));
}

int bpf_link_perf_event(int program, int event)
{
    struct bpf_abi_link_perf_event link = {
        .prog_fd = (uint32_t)program,
        .target_fd = (uint32_t)event,
        .attach_type = BPF_ABI_PERF_EVENT,
    };

    return bpf_call(BPF_ABI_LINK_CREATE, &link, sizeof(link));
}

int bpf_link_missed(int link, uint64_t *missed)
{
    struct bpf_abi_link_info answer = {0};
    int result = bpf_info(link, &answer, sizeof(answer));

    *missed = 0;
    if (result)
        return result;
    if (answer.type == BPF_ABI_LINK_KPROBE_MULTI)
        *missed = answer.kprobe_multi.missed;
    else if (answer.type == BPF_ABI_LINK_PERF_EVENT &&
             (answer.kprobe.type == BPF_ABI_PERF_EVENT_KPROBE ||
              answer.kprobe.type == BPF_ABI_PERF_EVENT_KRETPROBE))
        *missed = answer.kprobe.missed;
    return 0;
}
