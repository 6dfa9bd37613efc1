/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A member of a struct, both by name. */
#pragma once

#include "kernel/btf.h"

static inline int btf_find_member(const struct btf *btf, const char *structure, const char *member,
                                  struct btf_member *found)
{
    struct btf_struct wanted = {.name = structure};

    btf_find_structs(btf, &wanted, 1);
    return btf_find_member_of(btf, wanted.id, member, found);
}
