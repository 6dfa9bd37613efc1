/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Names mangled by the Itanium C++ ABI, as all compilers on Linux do: _Z... */
#ifndef STACKBOX_DEMANGLE_CXX_H
#define STACKBOX_DEMANGLE_CXX_H

#include "demangle/demangle.h"

/* See demangle(); `to` is empty. */
int cxx_demangle(const char *name, size_t length, const struct demangle_wishes *wishes,
                 struct text *to);

#endif
