/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The types of our own programs, as far as the kernel asks for them: who calls functions of a program has
 * them verified each by itself only where they are said to be global, and BTF is where that is said.
 */
#ifndef STACKBOX_KERNEL_OWN_BTF_H
#define STACKBOX_KERNEL_OWN_BTF_H

/* Numbers of types in it. */
enum own_btf_type {
    OWN_BTF_INT = 1,
    OWN_BTF_PROTOTYPE, /* int (int) */
    OWN_BTF_PROGRAM,   /* a function, static */
    OWN_BTF_FUNCTION,  /* a function, global */
};

/* A descriptor, which may be closed once programs are loaded, or a negative errno. */
int own_btf_load(void);

#endif
