/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Tells by a kernel stack whether its leaf is the work of the thread itself or of an interrupt that
 * came while it ran: no BPF helper tells a program.
 */
#ifndef STACKBOX_SYMBOLIZE_INTERRUPTS_H
#define STACKBOX_SYMBOLIZE_INTERRUPTS_H

#include <stdbool.h>

#include "tally/tally.h"

struct interrupts {
    struct interrupts_range *ranges; /* the functions that tell, sorted */
    size_t count, room;
};

/* Reads /proc/kallsyms, open as `kallsyms`. 0 or a negative errno; interrupts_free after either. */
int interrupts_find(struct interrupts *interrupts, int kallsyms);
void interrupts_free(struct interrupts *interrupts);

/* `frames` leaf first. Also INTERRUPT_NONE if the kernel hides its addresses. */
enum interrupt interrupts_did(const struct interrupts *interrupts, const uint64_t *frames,
                              size_t count);
/* "[timer interrupt]" */
const char *interrupts_name(enum interrupt interrupt);

#endif
