/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Seen from the leaf, the first function that tells decides. If it is one through which the kernel
 * takes a device's, a timer's or another CPU's interrupt, what is above it is the interrupt's
 * doing, including softirqs that follow it. If it is one through which the thread resumes its own
 * work on the way out of an interrupt - it is preempted, it takes signals - what is above it is the
 * thread's own. Page faults and other exceptions are the thread's own, as are softirqs in its
 * system calls.
 *
 * An interrupt's kind is told by the first function, up to there, that belongs to just one kind.
 */
#include "symbolize/interrupts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/name_list.h"
#include "base/util.h"
#include "kernel/kallsyms.h"
#include "machine/machine.h"

struct interrupts_range {
    uint64_t start, end;
    bool entry, own; /* an interrupt is above it; the thread's own work */
    enum interrupt kind;
};

/* Names in all machines' kernels; those of only some are in the rows. */
static const char entries[] =
    "irq_exit\0" "irq_exit_rcu\0" "__irq_exit_rcu\0" "handle_irq_desc\0"
    "generic_handle_domain_irq\0" "generic_handle_arch_irq\0";
static const char own_work[] =
    "__schedule\0" "irqentry_exit\0" "irqentry_exit_to_user_mode\0" "irqentry_exit_cond_resched\0"
    "raw_irqentry_exit_cond_resched\0" "exit_to_user_mode_loop\0" "exit_to_user_mode_prepare\0"
    "do_notify_resume\0" "arch_do_signal_or_restart\0";

static const char *const kinds[INTERRUPTS] = {
    [INTERRUPT_TIMER] =
        "hrtimer_wakeup\0" "process_timeout\0" "__hrtimer_run_queues\0" "hrtimer_interrupt\0"
        "hrtimer_run_softirq\0" "run_timer_softirq\0" "__run_timers*\0" "run_timer_base\0"
        "call_timer_fn\0" "it_real_fn\0" "posix_timer_fn\0" "timerfd_tmrproc\0" "tick_*\0",
    [INTERRUPT_NETWORK] =
        "net_rx_action\0" "net_tx_action\0" "__napi_poll*\0" "napi_*\0" "process_backlog\0"
        "__netif_receive_skb*\0",
    [INTERRUPT_DISK] =
        "blk_done_softirq\0" "blk_complete_reqs\0" "blk_mq_complete_request*\0"
        "blk_mq_end_request*\0" "blk_update_request\0" "bio_endio\0",
    [INTERRUPT_RCU] = "rcu_core\0" "rcu_core_si\0" "rcu_do_batch\0",
    [INTERRUPT_CPU] =
        "sched_ttwu_pending\0" "flush_smp_call_function_queue\0"
        "__flush_smp_call_function_queue\0" "scheduler_ipi\0" "generic_smp_call_function_*\0",
};

static const char *const names[INTERRUPTS] = {
    [INTERRUPT_OTHER] = "[interrupt]",
    [INTERRUPT_TIMER] = "[timer interrupt]",
    [INTERRUPT_NETWORK] = "[network interrupt]",
    [INTERRUPT_DISK] = "[disk interrupt]",
    [INTERRUPT_RCU] = "[RCU interrupt]",
    [INTERRUPT_CPU] = "[interrupt by another CPU]",
};

static enum interrupt kind_of(const char *name)
{
    for (enum interrupt kind = INTERRUPT_NONE; kind < INTERRUPTS; kind++)
        if (name_list_has(kinds[kind], name))
            return kind;
    if (machines_have(MACHINE_TIMER, name))
        return INTERRUPT_TIMER;
    return machines_have(MACHINE_OTHER_CPU, name) ? INTERRUPT_CPU : INTERRUPT_NONE;
}

struct finding {
    struct interrupts *interrupts;
    size_t open; /* ranges from here on have no end yet */
};

/* The file is sorted by address: a function ends where the next symbol is. */
static int take_symbol(void *context, const struct kallsyms_symbol *symbol)
{
    struct finding *finding = context;
    struct interrupts *interrupts = finding->interrupts;

    if (symbol->module)
        return 1; /* the kernel itself is done */
    while (finding->open < interrupts->count &&
           symbol->address > interrupts->ranges[finding->open].start)
        interrupts->ranges[finding->open++].end = symbol->address;
    if (!symbol->address || !strchr("tTwW", symbol->type))
        return 0;
    const struct interrupts_range range = {
        .start = symbol->address,
        .end = symbol->address,
        .entry = name_list_has(entries, symbol->name) ||
                 machines_have(MACHINE_INTERRUPTS, symbol->name),
        .own = name_list_has(own_work, symbol->name) ||
               machines_have(MACHINE_OWN_WORK, symbol->name),
        .kind = kind_of(symbol->name),
    };
    if (!range.entry && !range.own && !range.kind)
        return 0;
    if (array_reserve(&interrupts->ranges, &interrupts->room, interrupts->count + 1,
                      sizeof(*interrupts->ranges)))
        return -ENOMEM;
    interrupts->ranges[interrupts->count++] = range;
    return 0;
}

static int compare_ranges(const void *left, const void *right)
{
    const struct interrupts_range *a = left, *b = right;

    return a->start < b->start ? -1 : a->start > b->start;
}

int interrupts_find(struct interrupts *interrupts, int kallsyms)
{
    struct finding finding = {.interrupts = interrupts};

    *interrupts = (struct interrupts){0};
    int result = kallsyms_each(kallsyms, take_symbol, &finding);
    if (interrupts->count)
        qsort(interrupts->ranges, interrupts->count, sizeof(*interrupts->ranges), compare_ranges);
    return result;
}

void interrupts_free(struct interrupts *interrupts)
{
    free(interrupts->ranges);
    *interrupts = (struct interrupts){0};
}

/* The range that holds the address, or NULL. */
static const struct interrupts_range *find(const struct interrupts *interrupts, uint64_t address)
{
    const struct interrupts_range *ranges = interrupts->ranges;
    size_t behind = interrupts->count ? first_key_above(&ranges->start, sizeof(*ranges), interrupts->count,
                                                        address) : 0;

    return behind && address < ranges[behind - 1].end ? &ranges[behind - 1] : NULL;
}

enum interrupt interrupts_did(const struct interrupts *interrupts, const uint64_t *frames,
                              size_t count)
{
    enum interrupt kind = INTERRUPT_NONE;

    for (size_t i = 0; i < count; i++) {
        const struct interrupts_range *range = find(interrupts, frames[i]);
        if (range && !kind)
            kind = range->kind;
        if (range && range->own)
            return INTERRUPT_NONE;
        if (range && range->entry)
            return kind ? kind : INTERRUPT_OTHER;
    }
    return INTERRUPT_NONE;
}

const char *interrupts_name(enum interrupt interrupt)
{
    return names[interrupt];
}
