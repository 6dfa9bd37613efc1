/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What unwinding by tables must know about this kernel. Its BTF says where most things are; for
 * the rest, programs that run once, within a call of ours, look for values that we know ourselves.
 */
#ifndef STACKBOX_UNWIND_KERNEL_OFFSETS_H
#define STACKBOX_UNWIND_KERNEL_OFFSETS_H

#include "base/text.h"
#include "insns/unwind.h"

struct kernel_offsets {
    const struct machine *machine; /* the kernel's */
    struct unwind_fields fields;
    int answer, program; /* of the program that reports keys */
};
#define KERNEL_OFFSETS_NONE {.answer = -1, .program = -1}

/*
 * 0, or a negative errno with the verifier's message in `log`: -EOPNOTSUPP on other machines,
 * -ENOENT if the kernel has no types, -ENODATA if something is not where it is expected.
 * kernel_offsets_close after either.
 */
int kernel_offsets_open(struct kernel_offsets *offsets, struct text *log);
/* Appends why it failed. */
void kernel_offsets_explain(int error, struct text *why);
void kernel_offsets_close(struct kernel_offsets *offsets);

/*
 * The kernel's key for the file that we mapped at this address. 0 or a negative errno. `context` is
 * a struct kernel_offsets.
 */
int kernel_offsets_key(void *context, const void *mapped, struct unwind_key *key);

/*
 * Where the registers of our call of bpf(2) are in the words at the end of its kernel stack, in
 * bytes; 0: they are not there.
 */
#define KERNEL_STACK_END_BYTES 512
uint32_t kernel_offsets_find_call(const struct machine *machine, const uint64_t *words);

#endif
