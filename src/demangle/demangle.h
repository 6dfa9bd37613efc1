/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What a name of a symbol table was in its source: C++ (Itanium ABI) and Rust (both manglings). It
 * is pure: a name in, a text out, bounded in time, depth and memory whatever the name is.
 */
#ifndef STACKBOX_DEMANGLE_DEMANGLE_H
#define STACKBOX_DEMANGLE_DEMANGLE_H

#include "base/text.h"

struct demangle_wishes {
    bool shorten;            /* template and generic arguments are <...> */
    bool without_parameters; /* of a function its name alone: what is typed to find it */
};

/*
 * Puts the name as people write it in place of what was in `to`: "f(int)", "ns::T<int>::~T()",
 * "f(int) [clone .cold]", "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop". 0; -EINVAL with `to`
 * empty for what is not mangled, or in no way that is known (then nothing of it is guessed); -ENOMEM.
 */
int demangle(const char *name, size_t length, const struct demangle_wishes *wishes,
             struct text *to);

/*
 * The same of a name as a table has it, to which @plt or the like may have been added: what is behind
 * an @ stays as it is.
 */
int demangle_symbol(const char *name, const struct demangle_wishes *wishes, struct text *to);

#endif
