/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Rust's names: legacy (_ZN...17h<hash>E) and v0 (_R...). */
#ifndef STACKBOX_DEMANGLE_RUST_H
#define STACKBOX_DEMANGLE_RUST_H

#include "demangle/demangle.h"

/* See demangle(); `to` is empty. */
int rust_demangle(const char *name, size_t length, const struct demangle_wishes *wishes,
                  struct text *to);

#endif
