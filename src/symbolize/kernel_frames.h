/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Tells by a kernel stack whether its leaf is the work of the thread itself or of an interrupt that
 * came while it ran: no BPF helper tells a program.
 */
#ifndef STACKBOX_SYMBOLIZE_KERNEL_FRAMES_H
#define STACKBOX_SYMBOLIZE_KERNEL_FRAMES_H

#include "symbolize/symbolize.h"
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

#endif
