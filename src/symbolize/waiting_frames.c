/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "symbolize/waiting_frames.h"

#include <string.h>

#include "base/name_list.h"
#include "kernel/kallsyms.h"
#include "machine/machine.h"

static const char *const bounds[2][2] = {
    {"__sched_text_start", "__sched_text_end"},
    {"__lock_text_start", "__lock_text_end"},
};

/*
 * Wakeups and the ways in and out are in no section; those of only some machines are in their rows.
 */
static const char leading[] =
    "try_to_wake_up\0" "ttwu_*\0" "wake_up_*\0" "__wake_up*\0" "default_wake_function\0" "complete\0"
    "complete_all\0" "complete_with_flags\0" "autoremove_wake_function\0" "woken_wake_function\0"
    "pollwake\0" "ep_poll_callback\0" "ep_autoremove_wake_function\0" "swake_up_*\0"
    "rcuwait_wake_up\0" "signal_wake_up_state\0" "hrtimer_wakeup\0" "process_timeout\0"
    "wake_page_function\0" "wake_bit_function\0" "var_wake_function\0" "exit_to_user_mode*\0"
    "irqentry_exit*\0" "syscall_exit_to_user_mode*\0" "ret_from_fork*\0";
/* Functions of those sections that appear in stacks, in case the sections are unknown. */
static const char scheduler[] =
    "__schedule\0" "schedule\0" "schedule_*\0" "preempt_schedule*\0" "io_schedule*\0" "do_nanosleep\0"
    "usleep_range*\0" "wait_for_completion*\0" "__wait_for_common*\0" "__mutex_lock*\0" "mutex_lock*\0"
    "__down*\0" "down_read*\0" "down_write*\0" "rwsem_down_*\0" "__rt_mutex_*\0" "rt_mutex_*\0"
    "bit_wait*\0" "__wait_on_bit*\0" "out_of_line_wait_on_bit*\0" "__cond_resched*\0" "yield*\0";

static int take_symbol(void *context, const struct kallsyms_symbol *symbol)
{
    struct waiting_text *text = context;

    if (symbol->module)
        return 1; /* the kernel itself is done */
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
    return kallsyms_each(kallsyms, take_symbol, text);
}

bool waiting_text_has(const struct waiting_text *text, const struct symbol *symbol)
{
    const char *name = symbol->function.length ? symbol->function.data : "";

    if (!symbol->kernel || symbol->waits)
        return symbol->waits;
    for (size_t i = 0; i < 2; i++)
        if (symbol->address >= text->starts[i] && symbol->address < text->ends[i])
            return true;
    return name_list_has(leading, name) || machines_have(MACHINE_WAYS, name) ||
           (!text->ends[0] && name_list_has(scheduler, name));
}
