/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "symbolize/waiting_frames.h"

#include <string.h>

#include "base/util.h"
#include "kernel/kallsyms.h"

static const char *const bounds[2][2] = {
    {"__sched_text_start", "__sched_text_end"},
    {"__lock_text_start", "__lock_text_end"},
};

/* A name ending in * is the beginning of one. Wakes, and the ways in and out, are in no section. */
static const char *const leading[] = {
    "try_to_wake_up", "ttwu_*", "wake_up_*", "__wake_up*", "default_wake_function", "complete",
    "complete_all", "complete_with_flags", "autoremove_wake_function", "woken_wake_function",
    "pollwake", "ep_poll_callback", "ep_autoremove_wake_function", "swake_up_*", "rcuwait_wake_up",
    "signal_wake_up_state", "hrtimer_wakeup", "process_timeout", "wake_page_function",
    "wake_bit_function", "var_wake_function",
    /* In and out: x86, arm, riscv, everywhere */
    "entry_SYSCALL*", "entry_SYSENTER*", "entry_INT80*", "do_syscall_64", "x64_sys_call",
    "do_fast_syscall_32", "do_int80_*", "__do_fast_syscall_32", "asm_*", "el0t_*", "el0_*",
    "do_el0_svc*", "invoke_syscall*", "ret_fast_syscall", "do_trap_ecall_u", "handle_exception",
    "exit_to_user_mode*", "irqentry_exit*", "syscall_exit_to_user_mode*", "ret_from_fork*",
    "prepare_exit_to_usermode", "exit_to_usermode_loop",
};
/* Those of the sections that stacks show, where the sections are not known. */
static const char *const scheduler[] = {
    "__schedule", "schedule", "schedule_*", "preempt_schedule*", "io_schedule*", "do_nanosleep",
    "usleep_range*", "wait_for_completion*", "__wait_for_common*", "__mutex_lock*", "mutex_lock*",
    "__down*", "down_read*", "down_write*", "rwsem_down_*", "__rt_mutex_*", "rt_mutex_*", "bit_wait*",
    "__wait_on_bit*", "out_of_line_wait_on_bit*", "__cond_resched*", "yield*",
};

static bool is_one_of(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(names[i]);
        if (names[i][length - 1] == '*' ? !strncmp(names[i], name, length - 1)
                                        : !strcmp(names[i], name))
            return true;
    }
    return false;
}

static int take_symbol(void *context, const struct kallsyms_symbol *symbol)
{
    struct waiting_text *text = context;

    if (symbol->module)
        return 1; /* the kernel itself is over */
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

    if (!symbol->kernel)
        return false;
    for (size_t i = 0; i < 2; i++)
        if (symbol->address >= text->starts[i] && symbol->address < text->ends[i])
            return true;
    return is_one_of(leading, COUNT_OF(leading), name) ||
           (!text->ends[0] && is_one_of(scheduler, COUNT_OF(scheduler), name));
}
