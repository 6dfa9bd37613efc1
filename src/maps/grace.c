/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "maps/grace.h"

#include <linux/bpf.h>
#include <unistd.h>

#include "kernel/bpf.h"

int grace_open(struct grace *grace)
{
    const struct bpf_map_shape inner = {
        .type = BPF_MAP_TYPE_ARRAY,
        .name = "grace_inner",
        .key_size = sizeof(uint32_t),
        .value_size = sizeof(uint32_t),
        .entries = 1,
    };

    *grace = (struct grace)GRACE_NONE;
    grace->inner = bpf_create_map(&inner);
    const struct bpf_map_shape outer = {
        .type = BPF_MAP_TYPE_ARRAY_OF_MAPS,
        .name = "grace",
        .key_size = sizeof(uint32_t),
        .value_size = sizeof(uint32_t),
        .entries = 1,
        .inner = grace->inner,
    };
    if (grace->inner < 0)
        return grace->inner;
    grace->outer = bpf_create_map(&outer);
    return grace->outer < 0 ? grace->outer : 0;
}

void grace_close(struct grace *grace)
{
    if (grace->outer >= 0)
        close(grace->outer);
    if (grace->inner >= 0)
        close(grace->inner);
    *grace = (struct grace)GRACE_NONE;
}

/*
 * The kernel waits before an update of a map of maps returns, since programs may use the old inner map.
 * (membarrier(2) waits likewise, but does nothing at all on a machine of one CPU.)
 */
int grace_wait(const struct grace *grace)
{
    uint32_t zero = 0, inner = (uint32_t)grace->inner;

    int result = bpf_update(grace->outer, &zero, &inner, BPF_ANY);
    return result;
}
