/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Kernel stacks from /proc/TID/stack, which has names, turned back into the addresses that reports
 * need. A line is `[<0>] do_sys_poll+0x4d5/0x6b0`, followed by ` [module]` for a module's.
 */
#ifndef STACKBOX_SYMBOLIZE_STACK_TEXT_H
#define STACKBOX_SYMBOLIZE_STACK_TEXT_H

#include "tally/tally.h"

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
