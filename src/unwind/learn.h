/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What walks along tables must know of this kernel, learnt from itself: its types say where most things are,
 * and programs that are run once, in a call of ours, find the rest by what we know of ourselves.
 */
#ifndef STACKBOX_UNWIND_LEARN_H
#define STACKBOX_UNWIND_LEARN_H

#include "base/text.h"
#include "insns/unwind.h"

struct learned {
    const struct machine *machine; /* the kernel's */
    struct unwind_fields fields;
    int answer, program; /* of the one that tells keys */
};
#define LEARNED_NONE {.answer = -1, .program = -1}

/*
 * 0, or a negative errno with what the verifier says in `log`: -EOPNOTSUPP on other machines, -ENOENT where the
 * kernel has no types, -ENODATA where it keeps something elsewhere than is known. learned_close after either.
 */
int learned_open(struct learned *learned, struct text *log);
/* Appends why it could not be. */
void learned_explain(int error, struct text *why);
void learned_close(struct learned *learned);

/*
 * The key by which the kernel knows the file that we mapped at this address. 0 or a negative errno. `context` is
 * a struct learned.
 */
int learned_key(void *context, const void *mapped, struct unwind_key *key);

#endif
