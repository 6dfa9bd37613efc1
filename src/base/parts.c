/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "base/parts.h"

#include <errno.h>

int part_refuse(const char *part, struct text *error)
{
    text_format(error, "this binary was built without %s: build it with PARTS=%s", part, part);
    return -EINVAL;
}
