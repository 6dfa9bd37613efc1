/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Demangles symbol names of C++ (Itanium ABI) and Rust (both manglings). Pure: a name in, a text
 * out; time, depth and memory are bounded for any name.
 */
#ifndef STACKBOX_DEMANGLE_DEMANGLE_H
#define STACKBOX_DEMANGLE_DEMANGLE_H

#include "base/text.h"

struct demangle_options {
    bool shorten;            /* template and generic arguments become <...> */
    bool without_parameters; /* only the name of a function, as users type it */
};

/*
 * Replaces `to` with the readable name: "f(int)", "ns::T<int>::~T()", "f(int) [clone .cold]",
 * "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop". 0; -EINVAL with `to` empty for a name that
 * is not mangled, or in an unknown way (nothing is guessed); -ENOMEM.
 */
int demangle(const char *name, size_t length, const struct demangle_options *options,
             struct text *to);

/*
 * The same for a name as in a symbol table, to which @plt or the like may have been added:
 * everything from an @ on stays as it is.
 */
int demangle_symbol(const char *name, const struct demangle_options *options, struct text *to);

#endif
