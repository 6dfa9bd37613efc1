/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "insns/helpers.h"

#include <stddef.h>

#include "base/util.h"

/*
 * Those that programs in insns/ call, by the kernel's numbers: an older linux/bpf.h may lack the
 * newer ones.
 */
static const struct {
    uint32_t id;
    const char *name;
} helpers[] = {
    {1, "map_lookup_elem"},
    {2, "map_update_elem"},
    {3, "map_delete_elem"},
    {4, "probe_read"},
    {5, "ktime_get_ns"},
    {8, "get_smp_processor_id"},
    {14, "get_current_pid_tgid"},
    {15, "get_current_uid_gid"},
    {16, "get_current_comm"},
    {25, "perf_event_output"},
    {27, "get_stackid"},
    {35, "get_current_task"},
    {37, "current_task_under_cgroup"},
    {45, "probe_read_str"},
    {67, "get_stack"},
    {112, "probe_read_user"},
    {113, "probe_read_kernel"},
    {115, "probe_read_kernel_str"},
    {120, "get_ns_current_pid_tgid"},
    {131, "ringbuf_reserve"},
    {132, "ringbuf_submit"},
    {174, "get_attach_cookie"},
};

const char *helper_name(uint32_t id)
{
    for (size_t i = 0; i < COUNT_OF(helpers); i++)
        if (helpers[i].id == id)
            return helpers[i].name;
    return NULL;
}
