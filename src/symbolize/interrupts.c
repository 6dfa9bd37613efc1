/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Seen from the leaf, the first function that tells decides. One by which the kernel takes a device's,
 * a timer's or another CPU's interrupt: what is above it was done by that, softirqs included that
 * follow an interrupt. One by which the thread gets to its own work again on the way out of an
 * interrupt - it is preempted, it takes signals: what is above it is the thread's own. Page faults and
 * other exceptions are the thread's own, as are softirqs in a system call of its.
 *
 * Of which kind an interrupt was tells the first function, up to there, that is of one kind alone.
 */
#include "symbolize/interrupts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "kernel/kallsyms.h"

struct interrupts_range {
    uint64_t start, end;
    bool entry, own; /* an interrupt is above it; the thread's own work */
    enum interrupt kind;
};

/* A name ending in * is the beginning of one, here and below. */
static const char *const entries[] = {
    /* x86, since 5.8; before; with FRED; Xen */
    "asm_common_interrupt", "asm_sysvec_*", "common_interrupt", "sysvec_*", "__sysvec_*",
    "asm_spurious_interrupt", "apic_timer_interrupt", "smp_apic_timer_interrupt", "do_IRQ",
    "ret_from_intr", "reschedule_interrupt", "call_function_interrupt",
    "call_function_single_interrupt", "irq_work_interrupt", "fred_extint",
    "asm_exc_xen_hypervisor_callback", "xen_evtchn_do_upcall",
    /* arm64, since 5.12; before; arm; riscv */
    "el1h_64_irq", "el0t_64_irq", "el0t_32_irq", "el1_interrupt", "el0_interrupt", "el1_irq",
    "el0_irq", "gic_handle_irq", "__irq_svc", "__irq_usr", "handle_riscv_irq", "riscv_intc_irq",
    "generic_handle_arch_irq",
    /* everywhere */
    "irq_exit", "irq_exit_rcu", "__irq_exit_rcu", "handle_irq_desc", "generic_handle_domain_irq",
};
static const char *const own_work[] = {
    "__schedule", "irqentry_exit", "irqentry_exit_to_user_mode", "irqentry_exit_cond_resched",
    "raw_irqentry_exit_cond_resched", "exit_to_user_mode_loop", "exit_to_user_mode_prepare",
    "prepare_exit_to_usermode", "exit_to_usermode_loop", "do_notify_resume", "do_work_pending",
    "arch_do_signal_or_restart", "ret_from_exception",
};

static const struct {
    const char *name;
    enum interrupt kind;
} kinds[] = {
    {"hrtimer_wakeup", INTERRUPT_TIMER}, {"process_timeout", INTERRUPT_TIMER},
    {"__hrtimer_run_queues", INTERRUPT_TIMER}, {"hrtimer_interrupt", INTERRUPT_TIMER},
    {"hrtimer_run_softirq", INTERRUPT_TIMER}, {"run_timer_softirq", INTERRUPT_TIMER},
    {"__run_timers*", INTERRUPT_TIMER}, {"run_timer_base", INTERRUPT_TIMER},
    {"call_timer_fn", INTERRUPT_TIMER}, {"it_real_fn", INTERRUPT_TIMER},
    {"posix_timer_fn", INTERRUPT_TIMER}, {"timerfd_tmrproc", INTERRUPT_TIMER},
    {"tick_*", INTERRUPT_TIMER}, {"asm_sysvec_apic_timer_interrupt", INTERRUPT_TIMER},
    {"sysvec_apic_timer_interrupt", INTERRUPT_TIMER}, {"apic_timer_interrupt", INTERRUPT_TIMER},
    {"smp_apic_timer_interrupt", INTERRUPT_TIMER}, {"arch_timer_handler_*", INTERRUPT_TIMER},
    {"net_rx_action", INTERRUPT_NETWORK}, {"net_tx_action", INTERRUPT_NETWORK},
    {"__napi_poll*", INTERRUPT_NETWORK}, {"napi_*", INTERRUPT_NETWORK},
    {"process_backlog", INTERRUPT_NETWORK}, {"__netif_receive_skb*", INTERRUPT_NETWORK},
    {"blk_done_softirq", INTERRUPT_DISK}, {"blk_complete_reqs", INTERRUPT_DISK},
    {"blk_mq_complete_request*", INTERRUPT_DISK}, {"blk_mq_end_request*", INTERRUPT_DISK},
    {"blk_update_request", INTERRUPT_DISK}, {"bio_endio", INTERRUPT_DISK},
    {"rcu_core", INTERRUPT_RCU}, {"rcu_core_si", INTERRUPT_RCU}, {"rcu_do_batch", INTERRUPT_RCU},
    {"sched_ttwu_pending", INTERRUPT_CPU}, {"flush_smp_call_function_queue", INTERRUPT_CPU},
    {"__flush_smp_call_function_queue", INTERRUPT_CPU}, {"scheduler_ipi", INTERRUPT_CPU},
    {"generic_smp_call_function_*", INTERRUPT_CPU}, {"sysvec_call_function*", INTERRUPT_CPU},
    {"sysvec_reschedule_ipi", INTERRUPT_CPU},
};

static const char *const names[INTERRUPTS] = {
    [INTERRUPT_OTHER] = "[interrupt]",
    [INTERRUPT_TIMER] = "[timer interrupt]",
    [INTERRUPT_NETWORK] = "[network interrupt]",
    [INTERRUPT_DISK] = "[disk interrupt]",
    [INTERRUPT_RCU] = "[RCU interrupt]",
    [INTERRUPT_CPU] = "[interrupt by another CPU]",
};

static bool matches(const char *pattern, const char *name)
{
    size_t length = strlen(pattern);

    return pattern[length - 1] == '*' ? !strncmp(pattern, name, length - 1) : !strcmp(pattern, name);
}

static enum interrupt kind_of(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (matches(kinds[i].name, name))
            return kinds[i].kind;
    return INTERRUPT_NONE;
}

static bool is_one_of(const char *const *patterns, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (matches(patterns[i], name))
            return true;
    return false;
}

struct finding {
    struct interrupts *interrupts;
    size_t open; /* ranges from here on have no end yet */
};

/* The file is in the order of addresses: a function ends where the next symbol is. */
static int take_symbol(void *context, const struct kallsyms_symbol *symbol)
{
    struct finding *finding = context;
    struct interrupts *interrupts = finding->interrupts;

    if (symbol->module)
        return 1; /* the kernel itself is over */
    while (finding->open < interrupts->count &&
           symbol->address > interrupts->ranges[finding->open].start)
        interrupts->ranges[finding->open++].end = symbol->address;
    if (!symbol->address || !strchr("tTwW", symbol->type))
        return 0;
    const struct interrupts_range range = {
        .start = symbol->address,
        .end = symbol->address,
        .entry = is_one_of(entries, COUNT_OF(entries), symbol->name),
        .own = is_one_of(own_work, COUNT_OF(own_work), symbol->name),
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
