/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What a report of blocked time needs besides counts: kept stacks, stacks parsed from text, and interrupts. */
#include "unit/files.h"
#include "unit/test.h"

#include "store/waits.h"
#include "symbolize/kernel_frames.h"

static const char symbols[] =
    "ffffffff81000000 T __schedule\n"
    "ffffffff81000100 t do_sys_poll\n"
    "ffffffff81000200 T common_interrupt\n"
    "ffffffff81000300 T asm_sysvec_apic_timer_interrupt\n"
    "ffffffff81000400 T asm_exc_page_fault\n"
    "ffffffff81000500 T exit_to_user_mode_loop\n"
    "ffffffff81000600 T try_to_wake_up\n"
    "ffffffff81000700 D not_a_function\n"
    "ffffffffc0000000 t do_sys_poll\t[other]\n"
    "ffffffffc0001000 t asm_sysvec_apic_timer_interrupt\t[other]\n"
    "ffffffffc0002000 t end\t[other]\n";

#define CORE(offset) (0xffffffff81000000 + (offset))

TEST(texts_become_addresses)
{
    AUTO(stack_texts_free) struct stack_texts texts = {0};
    size_t first, second;
    AUTO_FD kallsyms = file_of_text(symbols);

    CHECK_NUMBER(stack_texts_add(&texts, "[<0>] do_sys_poll+0x4d/0x6b0\n[<0>] no_such+0x1/0x2\n"
                                         "nonsense\n[<0>] \n[<0>] +0x1/0x2\n\n", &first), 0);
    CHECK_NUMBER(stack_texts_add(&texts, "[<0>] do_sys_poll+0x1/0x6b0 [other]\n"
                                         "[<ffffffff81000605>] try_to_wake_up+0x5/0x10", &second), 0);
    CHECK_NUMBER(first, 2);
    CHECK_NUMBER(second, 2);
    CHECK_NUMBER(stack_texts_find(&texts, kallsyms), 0);
    CHECK(texts.frames[0].address == CORE(0x14d));
    CHECK(texts.frames[1].address == 0);
    CHECK(texts.frames[2].address == 0xffffffffc0000001);
    CHECK(texts.frames[3].address == CORE(0x605));
    AUTO(tally_free) struct tally tally = {0};
    struct stack stacks[2];
    CHECK_NUMBER(stack_texts_put(&texts, 0, first, &tally, &stacks[0]), 0);
    CHECK_NUMBER(stack_texts_put(&texts, first, second, &tally, &stacks[1]), 0);
    CHECK_NUMBER(stacks[0].count, 1);
    CHECK(tally.addresses[stacks[0].first] == CORE(0x14d));
    CHECK_NUMBER(stacks[1].count, 2);
    CHECK(tally.addresses[stacks[1].first + 1] == CORE(0x605));
}

/* Equal frames share a number, frames beyond the limit have none; the number leads to the frame. */
TEST(texts_become_numbers)
{
    struct stack_texts texts = {.frames = calloc(3, sizeof(struct stack_frame)), .room = 3};
    struct symbol kernel = {.kernel = true, .address = 3}, *named = &kernel;
    const struct symbolize_options options = {.kallsyms = -1, .texts = &texts};
    struct symbolize_notes notes = {0};
    uint16_t numbers[4] = {0};

    CHECK_NUMBER(stack_texts_number(&texts, "[<0>] a+0x1/0x2\n[<0>] b+0x1/0x2\n[<0>] a+0x1/0x2\n", numbers, 4), 3);
    CHECK(numbers[0] == 1 && numbers[1] == 2 && numbers[2] == 1);
    CHECK_NUMBER(stack_texts_number(&texts, "[<0>] a+0x1/0x2 [m]\n[<0>] a+0x2/0x2\n[<0>] b+0x1/0x2", numbers, 4), 2);
    CHECK(numbers[0] == 3 && numbers[1] == 2);
    CHECK_NUMBER(stack_texts_number(&texts, "[<0>] a+0x1/0x2\n[<0>] b+0x1/0x2", numbers, 1), 1);
    CHECK_NUMBER(stack_texts_number(&texts, "", numbers, 4), 0);
    CHECK_NUMBER(texts.count, 3);
    CHECK_NUMBER(symbols_name(&named, 1, &options, &notes, NULL), 0);
    CHECK(!strcmp(kernel.function.data, "a") && !strcmp(kernel.file.data, "m"));
    CHECK_NUMBER(kernel.offset, 1);
    CHECK(!notes.kernel_hidden);
    symbol_free(&kernel);
    stack_texts_free(&texts);
}

/* Of the waker whose kernel stack this is, leaf first */
static enum interrupt interrupt_of(int kallsyms, const uint64_t *frames, size_t count)
{
    AUTO(kallsyms_known_free) struct kallsyms_known known = {0};
    const struct symbolize_options options = {.kallsyms = kallsyms, .known = &known};
    AUTO(tally_free) struct tally tally = {0};
    enum interrupt interrupts[2] = {INTERRUPTS, INTERRUPTS};

    /* Of the first entry, that stack is its own task's. */
    CHECK_NUMBER(tally_add_stack(&tally, &tally_add(&tally)->task.kernel, frames, count), 0);
    CHECK_NUMBER(tally_add_stack(&tally, &tally_add(&tally)->waker.kernel, frames, count), 0);
    CHECK_NUMBER(interrupts_find(&tally, &options, interrupts), 0);
    CHECK_NUMBER(interrupts[0], INTERRUPT_NONE);
    return interrupts[1];
}

static bool did(int kallsyms, uint64_t first, uint64_t second, uint64_t third)
{
    const uint64_t frames[] = {CORE(first), CORE(second), CORE(third)};

    return interrupt_of(kallsyms, frames, COUNT_OF(frames)) != INTERRUPT_NONE;
}

TEST(interrupts_are_told_from_threads)
{
    AUTO_FD kallsyms = file_of_text(symbols);

    CHECK(did(kallsyms, 0x605, 0x305, 0x105));
    CHECK(did(kallsyms, 0x605, 0x2ff, 0x105));
    CHECK(!did(kallsyms, 0x605, 0x105, 0x105));
    /* A page fault is the thread's own. */
    CHECK(!did(kallsyms, 0x605, 0x405, 0x105));
    /* Preempted by an interrupt, or on return from one: the frames below are the thread's own. */
    CHECK(!did(kallsyms, 0x605, 0x005, 0x305));
    CHECK(!did(kallsyms, 0x605, 0x505, 0x305));
    /* An interrupt during a context switch. */
    CHECK(did(kallsyms, 0x605, 0x305, 0x005));
    /* Only functions of the kernel itself. */
    CHECK_NUMBER(interrupt_of(kallsyms, (uint64_t[]){0xffffffffc0001005}, 1), INTERRUPT_NONE);
    CHECK_NUMBER(interrupt_of(kallsyms, NULL, 0), INTERRUPT_NONE);
}

/* The frame nearest to the leaf gives the kind: a softirq runs as another interrupt ends. */
TEST(kinds_of_interrupts)
{
    static const char text[] =
        "ffffffff81000000 T __schedule\n"
        "ffffffff81000100 T hrtimer_wakeup\n"
        "ffffffff81000200 T net_rx_action\n"
        "ffffffff81000300 T asm_sysvec_apic_timer_interrupt\n"
        "ffffffff81000400 T asm_common_interrupt\n"
        "ffffffff81000500 T blk_mq_complete_request\n"
        "ffffffff81000600 T asm_sysvec_call_function_single\n"
        "ffffffff81000700 T sysvec_call_function_single\n"
        "ffffffff81000800 T rcu_core\n"
        "ffffffff81000900 T __do_sys_sendto\n";
    static const struct {
        uint64_t leaf, middle, root;
        enum interrupt kind;
    } cases[] = {
        {0x105, 0x305, 0x905, INTERRUPT_TIMER},
        {0x905, 0x305, 0x905, INTERRUPT_TIMER},
        {0x205, 0x305, 0x905, INTERRUPT_NETWORK},
        {0x205, 0x405, 0x905, INTERRUPT_NETWORK},
        {0x505, 0x405, 0x905, INTERRUPT_DISK},
        {0x805, 0x305, 0x905, INTERRUPT_RCU},
        {0x705, 0x605, 0x905, INTERRUPT_CPU},
        {0x905, 0x405, 0x105, INTERRUPT_OTHER},
        /* In the thread's own system call it is the thread's work. */
        {0x205, 0x905, 0x905, INTERRUPT_NONE},
        {0x205, 0x005, 0x305, INTERRUPT_NONE},
    };
    AUTO_FD kallsyms = file_of_text(text);

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const uint64_t frames[] = {CORE(cases[i].leaf), CORE(cases[i].middle), CORE(cases[i].root)};
        CHECK_NUMBER(interrupt_of(kallsyms, frames, COUNT_OF(frames)), cases[i].kind);
    }
    CHECK_STRING(interrupts_name(INTERRUPT_NETWORK), "[network interrupt]");
    for (enum interrupt kind = INTERRUPT_OTHER; kind < INTERRUPTS; kind++)
        CHECK(interrupts_name(kind) && interrupts_name(kind)[0] == '[');
}

TEST(hidden_addresses_tell_nothing)
{
    AUTO_FD kallsyms = file_of_text("0000000000000000 T asm_sysvec_apic_timer_interrupt\n"
                                "0000000000000000 T try_to_wake_up\n");

    CHECK_NUMBER(interrupt_of(kallsyms, (uint64_t[]){0, 5}, 2), INTERRUPT_NONE);
}

/* ---- Kept stacks ---- */

static void add(struct stack_table *table, uint64_t number)
{
    struct spilled_stack *stack = malloc(SPILLED_STACK_BYTES(2));

    stack->bytes = 16;
    stack->frames[0] = number;
    stack->frames[1] = number + 1;
    CHECK_NUMBER(stack_table_add(table, STACK_SPILLED | (int64_t)number, stack, 2), 0);
    free(stack);
}

/* Returns the state of a stack; checks the frames of a kept one. */
static enum stack_state find(struct stack_table *table, struct tally *tally, uint64_t number)
{
    struct stack stack;

    CHECK_NUMBER(stack_table_find(table, STACK_SPILLED | (int64_t)number, tally, &stack), 0);
    CHECK(stack.state != STACK_KEPT ||
          (stack.count == 2 && tally->addresses[stack.first] == number &&
           tally->addresses[stack.first + 1] == number + 1));
    return stack.state;
}

TEST(stacks_stay_while_they_are_used)
{
    AUTO(stack_table_free) struct stack_table table = {0};
    AUTO(tally_free) struct tally tally = {0};

    stack_table_begin(&table);
    for (uint64_t i = 1; i <= 1000; i++)
        add(&table, i);
    stack_table_drop(&table);
    /* Report 2: unused stacks stay, since a count may still arrive in this report or the next. */
    stack_table_begin(&table);
    CHECK_NUMBER(find(&table, &tally, 1000), STACK_KEPT);
    stack_table_keep(&table, STACK_SPILLED | 7);
    stack_table_drop(&table);
    stack_table_begin(&table);
    tally_clear(&tally);
    CHECK_NUMBER(find(&table, &tally, 1000), STACK_KEPT);
    stack_table_keep(&table, STACK_SPILLED | 7);
    stack_table_drop(&table);
    CHECK_NUMBER(table.count, 1);
    CHECK_NUMBER(find(&table, &tally, 7), STACK_KEPT);
    CHECK_NUMBER(find(&table, &tally, 1000), STACK_FULL);
}

TEST(words_that_are_no_stacks)
{
    AUTO(stack_table_drop) struct stack_table table = {0};
    struct tally tally = {0};
    struct stack stack;

    CHECK_NUMBER(stack_table_find(&table, NO_STACK, &tally, &stack), 0);
    CHECK_NUMBER(stack.state, STACK_NONE);
    CHECK_NUMBER(stack_table_find(&table, 0, &tally, &stack), 0);
    CHECK_NUMBER(stack.state, STACK_NONE);
    CHECK_NUMBER(stack_table_find(&table, -EFAULT, &tally, &stack), 0);
    CHECK_NUMBER(stack.state, STACK_NONE);
    CHECK_NUMBER(stack_table_find(&table, -ENOMEM, &tally, &stack), 0);
    CHECK_NUMBER(stack.state, STACK_FULL);
    stack_table_keep(&table, STACK_SPILLED | 1);
}

TEST_MAIN
