/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Tells by a kernel stack whether its leaf is the thread's own work or that of an interrupt, as no
 * BPF helper tells a program.
 */
#ifndef STACKBOX_SYMBOLIZE_KERNEL_FRAMES_H
#define STACKBOX_SYMBOLIZE_KERNEL_FRAMES_H

#include "symbolize/symbolize.h"
#include "tally/tally.h"

/*
 * For each entry of the tally, by its waker's kernel stack; also INTERRUPT_NONE if the kernel hides
 * its addresses. 0 or a negative errno.
 */
int interrupts_find(const struct tally *tally, const struct symbolize_options *options,
                    enum interrupt *interrupts);
/* "[timer interrupt]" */
const char *interrupts_name(enum interrupt interrupt);

/* The two sections of the kernel's text that it skips for /proc/PID/wchan. */
struct waiting_text {
    uint64_t starts[2], ends[2]; /* 0: unknown */
};

/*
 * Reads /proc/kallsyms, open as `kallsyms`; by names if it hides addresses. 0 or a negative errno.
 */
int waiting_text_find(struct waiting_text *text, int kallsyms);
bool waiting_text_has(const struct waiting_text *text, const struct symbol *symbol);

/* Is it a function of tracing itself, which stacks at tracepoints begin with? */
bool tracing_frames_has(const struct symbol *symbol);

/*
 * Removes such frames from the leaves of the tally's kernel stacks, and from the symbols made of
 * it. A stack with only such frames stays as it is.
 */
void tracing_frames_drop(struct tally *tally, struct symbols *symbols);

/*
 * Turns kernel stacks from /proc/TID/stack, which has names, back into the addresses that reports
 * need. A line is `[<0>] do_sys_poll+0x4d5/0x6b0`, followed by ` [module]` for a module's.
 */

struct stack_frame {
    char *name, *module; /* module: NULL for the kernel itself */
    uint64_t offset;
    uint64_t address; /* 0: not found */
};

struct stack_texts {
    struct stack_frame *frames; /* of all texts, each leaf first */
    size_t count, room;
};

/*
 * Appends the frames of a text; other lines are skipped. *count is how many. 0 or -ENOMEM. {0} is
 * empty.
 */
int stack_texts_add(struct stack_texts *texts, const char *text, size_t *count);

/*
 * Numbers the frames of a text, leaf first, from 1 on; equal frames have the same number. Appends
 * new frames to `texts` within its room, which does not grow; drops what does not fit. Returns how
 * many numbers there are.
 */
size_t stack_texts_number(struct stack_texts *texts, const char *text, uint16_t *numbers,
                          size_t most);

/* Finds the addresses in /proc/kallsyms, open as `kallsyms`. 0 or a negative errno. */
int stack_texts_find(struct stack_texts *texts, int kallsyms);

/*
 * Makes `count` frames, from `first` on, a stack of the tally, without frames whose function is in
 * no symbol table: they have no address. 0 or -ENOMEM.
 */
int stack_texts_put(const struct stack_texts *texts, size_t first, size_t count,
                    struct tally *tally, struct stack *stack);
void stack_texts_free(struct stack_texts *texts);

#endif
