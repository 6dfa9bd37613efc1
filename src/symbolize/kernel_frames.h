/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Tells by a kernel stack whether its leaf is the work of the thread itself or of an interrupt that
 * came while it ran: no BPF helper tells a program.
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

/* What the kernel itself skips for /proc/PID/wchan: two sections of its text. */
struct waiting_text {
    uint64_t starts[2], ends[2]; /* 0: unknown */
};

/*
 * Reads /proc/kallsyms, open as `kallsyms`. 0 or a negative errno; without addresses names decide.
 */
int waiting_text_find(struct waiting_text *text, int kallsyms);
bool waiting_text_has(const struct waiting_text *text, const struct symbol *symbol);

/* Is it such a function? */
bool tracing_frames_has(const struct symbol *symbol);

/*
 * Removes such frames from the leaves of the tally's kernel stacks, and from the symbols made of
 * it. A stack of nothing else stays as it is.
 */
void tracing_frames_drop(struct tally *tally, struct symbols *symbols);

/*
 * Kernel stacks from /proc/TID/stack, which has names, turned back into the addresses that reports
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
 * The frames of a text, leaf first, each as the number of an equal one, from 1 on: what is new is
 * appended as long as there is room, for which none is made; what does not fit is left out. Returns
 * how many there are.
 */
size_t stack_texts_number(struct stack_texts *texts, const char *text, uint16_t *numbers,
                          size_t most);

/* Finds the addresses in /proc/kallsyms, open as `kallsyms`. 0 or a negative errno. */
int stack_texts_find(struct stack_texts *texts, int kallsyms);

/*
 * Makes `count` frames, from the first on, a stack of the tally. Frames whose function is in no
 * symbol table are left out: there is nothing to show. 0 or -ENOMEM.
 */
int stack_texts_put(const struct stack_texts *texts, size_t first, size_t count,
                    struct tally *tally, struct stack *stack);
void stack_texts_free(struct stack_texts *texts);

#endif
