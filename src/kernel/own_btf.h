/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The types of our own programs, as far as the kernel needs them: the verifier checks a function by
 * itself, rather than at each call, only if it is global, and BTF is where that is declared.
 */
#ifndef STACKBOX_KERNEL_OWN_BTF_H
#define STACKBOX_KERNEL_OWN_BTF_H

/* The types' numbers. */
enum own_btf_type {
    OWN_BTF_INT = 1,
    OWN_BTF_PROTOTYPE, /* int (int) */
    OWN_BTF_PROGRAM,   /* a function, static */
    OWN_BTF_FUNCTION,  /* a function, global */
};

/* A descriptor, which may be closed once programs are loaded; or a negative errno. */
int own_btf_load(void);

#endif
