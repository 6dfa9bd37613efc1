/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "unpack/unpack.h"

#include <errno.h>

int unpack_xz(const unsigned char *packed, size_t size, size_t most, struct text *to)
{
    (void)packed, (void)size, (void)most, (void)to;
    return -EOPNOTSUPP;
}
