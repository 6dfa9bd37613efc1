/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "symbols/cxx.h"

#include <errno.h>

int cxx_demangle(const char *name, size_t length, const struct demangle_wishes *wishes,
                 struct text *to)
{
    (void)name, (void)length, (void)wishes, (void)to;
    return -EINVAL;
}
