/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kernel/task_fields.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>

#include "kernel/btf.h"

/* What it passes before the words that we use: its own data. */
#define OWN_PARAMETERS 1

static int find_in(const struct btf *btf, const char *structure, const char *name, uint32_t bytes,
                   uint16_t *offset)
{
    struct btf_member member;
    int result = btf_find_member(btf, structure, name, &member);

    if (result)
        return result;
    if ((bytes && member.size != bytes) || member.offset > UINT16_MAX)
        return -EINVAL;
    *offset = (uint16_t)member.offset;
    return (int)member.size;
}

static int find(const struct btf *btf, const char *name, uint32_t bytes, uint16_t *offset)
{
    return find_in(btf, "task_struct", name, bytes, offset);
}

/* Its name and size changed in 5.14. */
static int find_state(const struct btf *btf, struct task_fields *fields)
{
    int size = find(btf, "__state", 0, &fields->state);

    if (size == -ENOENT)
        size = find(btf, "state", 0, &fields->state);
    if (size != 4 && size != 8)
        return size < 0 ? size : -EINVAL;
    fields->has_state = true;
    fields->wide_state = size == 8;
    return 0;
}

static int find_all(const struct btf *btf, struct task_fields *fields)
{
    uint32_t parameters;
    int result = find(btf, "pid", 4, &fields->pid);

    if (result > 0)
        result = btf_count_parameters(btf, "btf_trace_sched_switch", &parameters);
    if (result)
        return result;
    if (parameters == OWN_PARAMETERS + SWITCH_STATE)
        return find_state(btf, fields);
    return parameters == OWN_PARAMETERS + SWITCH_STATE + 1 ? 0 : -EINVAL;
}

static void find_live(const struct btf *btf, struct task_fields *fields)
{
    struct btf_member live;
    int bytes = find(btf, "signal", 0, &fields->signal);

    if ((bytes != 4 && bytes != 8) || btf_find_member(btf, "signal_struct", "live", &live) || live.size != 4 ||
        live.offset > UINT16_MAX)
        return;
    fields->pointer_bytes = (uint8_t)bytes;
    fields->live = (uint16_t)live.offset;
    fields->has_live = true;
}

static int read_fields(struct task_fields *fields)
{
    struct btf btf;
    int result = btf_open_kernel(&btf);

    *fields = (struct task_fields){0};
    if (result)
        return result;
    result = find_all(&btf, fields);
    fields->known = !result;
    find_live(&btf, fields);
    btf_free(&btf);
    return result;
}

static struct task_fields found;
static int found_result;

static void read_once(void)
{
    found_result = read_fields(&found);
}

/* They never change, and reading the kernel's types takes 4 MB or more. `check` asks in several threads. */
int task_fields_find(struct task_fields *fields)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, read_once);
    *fields = found;
    return found_result;
}

int nesting_fields_find(struct nesting_fields *fields)
{
    struct btf btf;
    int result = btf_open_kernel(&btf);

    if (result)
        return result;
    result = find(&btf, "utask", sizeof(uint64_t), &fields->utask);
    if (result > 0)
        result = find_in(&btf, "uprobe_task", "depth", sizeof(uint32_t), &fields->depth);
    btf_free(&btf);
    return result < 0 ? result : 0;
}
