/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The first function from the leaf that tells decides. If the kernel takes a device's, a timer's or
 * another CPU's interrupt through it, the frames above it are the interrupt's work, including
 * softirqs that follow it. If the thread resumes its own work through it on the way out of an
 * interrupt - it is preempted, it takes signals - the frames above it are the thread's own. Page
 * faults and other exceptions are the thread's own work, as are softirqs in its system calls.
 *
 * The first function up to there that belongs to just one kind of interrupt tells the kind.
 */
#include "symbolize/kernel_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "kernel/kallsyms.h"
#include "machine/machine.h"

/* ---- Interrupts ---- */

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

/* What a function tells about the stack that it is in. */
struct telling {
    bool entry, own; /* an interrupt is above it; the thread's own work */
    enum interrupt kind;
};

static struct telling telling_of(const struct symbol *symbol)
{
    const char *name = text_string(&symbol->function);

    if (!symbol->kernel || symbol->file.length) /* or a module's */
        return (struct telling){0};
    return (struct telling){
        .entry = name_list_has(entries, name) || machines_have(MACHINE_INTERRUPTS, name),
        .own = name_list_has(own_work, name) || machines_have(MACHINE_OWN_WORK, name),
        .kind = kind_of(name),
    };
}

/* By the symbols of a stack's frames, leaf first. */
static enum interrupt judge(const struct telling *tellings, const uint32_t *frames, uint32_t count)
{
    enum interrupt kind = INTERRUPT_NONE;

    for (uint32_t i = 0; i < count; i++) {
        const struct telling *telling = &tellings[frames[i]];
        if (!kind)
            kind = telling->kind;
        if (telling->own)
            return INTERRUPT_NONE;
        if (telling->entry)
            return kind ? kind : INTERRUPT_OTHER;
    }
    return INTERRUPT_NONE;
}

int interrupts_find(const struct tally *tally, const struct symbolize_options *options,
                    enum interrupt *interrupts)
{
    struct symbolize_notes notes = {0};
    struct symbols symbols;
    struct telling *tellings = NULL;
    int result = symbols_make(&symbols, tally, options, &notes);

    if (!result && !(tellings = calloc(symbols.count + 1, sizeof(*tellings))))
        result = -ENOMEM;
    for (size_t i = 0; i < symbols.count && !result; i++)
        tellings[i] = telling_of(&symbols.items[i]);
    for (size_t i = 0; i < tally->count && !result; i++) {
        const struct tally_entry *entry = &tally->entries[i];
        const size_t first =
            symbols.first[i] + entry->task.kernel.count + entry->task.user.count;
        interrupts[i] = judge(tellings, symbols.frames + first, entry->waker.kernel.count);
    }
    free(tellings);
    symbols_free(&symbols);
    return result;
}

const char *interrupts_name(enum interrupt interrupt)
{
    return names[interrupt];
}

/* ---- Waiting frames ---- */

static const char *const bounds[2][2] = {
    {"__sched_text_start", "__sched_text_end"},
    {"__lock_text_start", "__lock_text_end"},
};

/*
 * Wakeups and kernel entry and exit are in no section; those of only some machines are in the rows.
 */
static const char leading[] =
    "try_to_wake_up\0" "ttwu_*\0" "wake_up_*\0" "__wake_up*\0" "default_wake_function\0"
    "complete\0" "complete_all\0" "complete_with_flags\0" "autoremove_wake_function\0"
    "woken_wake_function\0" "pollwake\0" "ep_poll_callback\0" "ep_autoremove_wake_function\0"
    "swake_up_*\0" "rcuwait_wake_up\0" "signal_wake_up_state\0" "hrtimer_wakeup\0"
    "process_timeout\0" "wake_page_function\0" "wake_bit_function\0" "var_wake_function\0"
    "exit_to_user_mode*\0" "irqentry_exit*\0" "syscall_exit_to_user_mode*\0" "ret_from_fork*\0";
/* Functions of those sections that appear in stacks, in case the sections are unknown. */
static const char scheduler[] =
    "__schedule\0" "schedule\0" "schedule_*\0" "preempt_schedule*\0" "io_schedule*\0"
    "do_nanosleep\0" "usleep_range*\0" "wait_for_completion*\0" "__wait_for_common*\0"
    "__mutex_lock*\0" "mutex_lock*\0" "__down*\0" "down_read*\0" "down_write*\0" "rwsem_down_*\0"
    "__rt_mutex_*\0" "rt_mutex_*\0" "bit_wait*\0" "__wait_on_bit*\0" "out_of_line_wait_on_bit*\0"
    "__cond_resched*\0" "yield*\0";

static int take_waiting_symbol(void *context, const struct kallsyms_symbol *symbol)
{
    struct waiting_text *text = context;

    if (symbol->module)
        return 1; /* modules follow the kernel's own symbols */
    for (size_t i = 0; i < 2; i++) {
        if (!strcmp(symbol->name, bounds[i][0]))
            text->starts[i] = symbol->address;
        else if (!strcmp(symbol->name, bounds[i][1]))
            text->ends[i] = symbol->address;
    }
    return 0;
}

int waiting_text_find(struct waiting_text *text, int kallsyms)
{
    *text = (struct waiting_text){0};
    return kallsyms_each(kallsyms, take_waiting_symbol, text);
}

bool waiting_text_has(const struct waiting_text *text, const struct symbol *symbol)
{
    const char *name = text_string(&symbol->function);

    if (!symbol->kernel || symbol->waits)
        return symbol->waits;
    for (size_t i = 0; i < 2; i++)
        if (symbol->address >= text->starts[i] && symbol->address < text->ends[i])
            return true;
    return name_list_has(leading, name) || machines_have(MACHINE_WAYS, name) ||
           ((!text->ends[0] || symbol->address <= SYMBOL_TEXTS) && name_list_has(scheduler, name));
}

/* ---- Tracing frames ---- */

/*
 * Beginnings of names. With one program on a tracepoint, stacks of newer kernels have none of these
 * frames; once another task attaches another program, they have the first.
 */
static const char beginnings[] =
    "__traceiter_*\0" "perf_trace_*\0" "trace_event_raw_event_*\0" "__bpf_trace_*\0"
    "bpf_trace_run*\0"
    /* For raw tracepoints the program itself, too; without a JIT, its interpreter. */
    "bpf_prog_*\0" "___bpf_prog_run*\0" "__bpf_prog_run*\0" "bpf_dispatcher_*\0"
    "perf_syscall_enter*\0" "perf_syscall_exit*\0" "perf_call_bpf_enter*\0" "perf_call_bpf_exit*\0";

bool tracing_frames_has(const struct symbol *symbol)
{
    return symbol->function.length && name_list_has(beginnings, symbol->function.data);
}

/*
 * How many frames to remove from this stack, whose symbols are `frames`. If bpf_jit_kallsyms in
 * net.core is 0, a program has no name, or that of a module below it: removing the function that
 * called it removes it, too.
 */
static uint32_t count_leading(const struct symbols *symbols, const uint32_t *frames, uint32_t count)
{
    uint32_t drop = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct symbol *symbol = &symbols->items[frames[i]];
        if (tracing_frames_has(symbol))
            drop = i + 1;
        else if (symbol->function.length && (i || !symbol->file.length))
            break;
    }
    return drop < count ? drop : 0;
}

/* Moves the frames of one stack from *from to *to, and advances both. */
static void move_stack(struct symbols *symbols, struct stack *stack, bool kernel, size_t *from,
                       size_t *to)
{
    uint32_t dropped = kernel ? count_leading(symbols, symbols->frames + *from, stack->count) : 0;
    uint32_t kept = stack->count - dropped;

    memmove(symbols->frames + *to, symbols->frames + *from + dropped,
            kept * sizeof(*symbols->frames));
    *from += stack->count;
    *to += kept;
    stack->first += dropped;
    stack->count = kept;
}

void tracing_frames_drop(struct tally *tally, struct symbols *symbols)
{
    size_t from = 0, to = 0;

    for (size_t i = 0; i < tally->count; i++) {
        struct tally_entry *entry = &tally->entries[i];
        symbols->first[i] = to;
        move_stack(symbols, &entry->task.kernel, true, &from, &to);
        move_stack(symbols, &entry->task.user, false, &from, &to);
        move_stack(symbols, &entry->waker.kernel, true, &from, &to);
        move_stack(symbols, &entry->waker.user, false, &from, &to);
    }
    tally_count_anew(tally);
}
