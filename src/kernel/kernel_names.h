/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Asks the kernel for the names of its functions, address by address (5.16): it has them sorted,
 * while /proc/kallsyms prints all of them as text, which takes seconds on a slow board.
 */
#ifndef STACKBOX_KERNEL_KERNEL_NAMES_H
#define STACKBOX_KERNEL_KERNEL_NAMES_H

#include <stdint.h>

#include "insns/layout.h"
#include "kernel/kallsyms.h"

/* {0} is closed. */
struct kernel_names {
    struct kernel_symbol *symbol; /* shared with the program; NULL: closed */
    int program;
    /* Bounds of the kernel's own text; of its init text, where CPUs' idle tasks began. */
    uint64_t text[2][2];
};

/*
 * Needs CAP_SYSLOG; asking afterwards does not. `names` stays closed if this kernel lacks the
 * helpers, or hides its addresses from us, here as in /proc/kallsyms, or we may not use bpf(2).
 * Does nothing if `names` is open.
 */
void kernel_names_open(struct kernel_names *names);
void kernel_names_close(struct kernel_names *names);

/*
 * The address of the first symbol of that name. 0: there is none, or the kernel does not tell;
 * `names` may be closed.
 */
uint64_t kernel_names_address(const struct kernel_names *names, const char *name);
/* Is it code of the kernel itself? */
bool kernel_names_is_text(const struct kernel_names *names, uint64_t address);

/*
 * As kallsyms_find, for one address. `names` is open. 0, -ENOMEM, or 1: only /proc/kallsyms has the
 * answer.
 */
int kernel_names_find(struct kernel_names *names, const struct kallsyms_search *search,
                      uint64_t address, struct kallsyms_found *found);

#endif
