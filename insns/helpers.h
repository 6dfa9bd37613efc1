/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The names of the BPF helpers that programs call. */
#ifndef STACKBOX_INSNS_HELPERS_H
#define STACKBOX_INSNS_HELPERS_H

#include <stdint.h>

/* The name of BPF_FUNC_... number `id`, or NULL: nothing in insns/ calls it. */
const char *helper_name(uint32_t id);

#endif
