/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What cxx_expressions.c and cxx_rare.c call in each other. */
#ifndef STACKBOX_DEMANGLE_CXX_EXPRESSIONS_H
#define STACKBOX_DEMANGLE_CXX_EXPRESSIONS_H

#include "demangle/cxx_nodes.h"

/* A list of expressions, up to an E or '_'. */
uint32_t cxx_expressions(struct cxx *cxx, char ending);
uint32_t cxx_with_operator(struct cxx *cxx, enum cxx_kind kind, int row, uint32_t a, uint32_t b);

uint32_t cxx_fold(struct cxx *cxx);
/* After the operator, which is that row. */
uint32_t cxx_new(struct cxx *cxx, int row);
/* After di, dx or dX. */
uint32_t cxx_designated(struct cxx *cxx, char kind);
uint32_t cxx_subobject(struct cxx *cxx);
uint32_t cxx_requires(struct cxx *cxx);
uint32_t cxx_captured_count(struct cxx *cxx);
uint32_t cxx_vendor_call(struct cxx *cxx);

#endif
