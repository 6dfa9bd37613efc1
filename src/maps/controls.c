/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "maps/controls.h"

#include <unistd.h>

#include "base/util.h"
#include "kernel/bpf.h"

int controls_open(struct controls *controls)
{
    int result = bpf_create_numbered(&controls->control, BPF_MAP_TYPE_ARRAY, "control",
                                     sizeof(uint32_t), 1);

    if (!result)
        result = bpf_create_numbered(&controls->account, BPF_MAP_TYPE_PERCPU_ARRAY, "account",
                                     sizeof(struct account), ACCOUNTS);
    return result ? result : grace_open(&controls->grace);
}

int controls_open_slots(struct controls *controls, size_t bytes)
{
    return bpf_create_numbered(&controls->slots, BPF_MAP_TYPE_PERCPU_ARRAY, "slots", bytes,
                               SLOTS_PER_CPU);
}

int controls_open_cuts(struct controls *controls)
{
    return bpf_create_numbered(&controls->cuts, BPF_MAP_TYPE_ARRAY, "cuts", sizeof(uint64_t), CONTROL_MODES);
}

static void close_map(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void controls_close(struct controls *controls)
{
    close_map(&controls->control);
    close_map(&controls->account);
    close_map(&controls->slots);
    close_map(&controls->cuts);
    grace_close(&controls->grace);
}

/*
 * No program sees the new word before its cut, nor a time before that cut. From the stand-in programs return to
 * the main bank within the same report.
 */
static int set_cut(struct controls *controls, uint32_t word)
{
    if (controls->cuts < 0)
        return 0;
    if (!controls->cut || word == CONTROL_STAND_IN || word == CONTROL_PAUSED)
        controls->cut = now_ns();
    return bpf_update(controls->cuts, &word, &controls->cut, BPF_ANY);
}

int controls_set(struct controls *controls, enum control_mode mode)
{
    uint32_t zero = 0, word = mode;
    int result = set_cut(controls, word);

    return result ? result : bpf_update(controls->control, &zero, &word, BPF_ANY);
}

int controls_set_and_wait(struct controls *controls, enum control_mode mode)
{
    int result = controls_set(controls, mode);

    return result ? result : grace_wait(&controls->grace);
}

int controls_account(const struct controls *controls, enum control_mode mode, struct account *account)
{
    int result = bpf_sum_of_cpus(controls->account, mode, (uint64_t *)account, ACCOUNT_WORDS);
    return result;
}
