/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Names of user frames: by process, then file by file. Part of symbolize. */
#ifndef STACKBOX_SYMBOLIZE_USER_NAMES_H
#define STACKBOX_SYMBOLIZE_USER_NAMES_H

#include "symbolize/symbolize.h"

/*
 * Names what it can of `count` symbols of processes, sorted by process, life and lookup address,
 * and adds their mappings to `mappings` (NULL: to none). 0 or -ENOMEM: any other failure leaves
 * frames without names.
 */
int user_names_give(struct symbol *const *symbols, size_t count,
                    const struct symbolize_wishes *wishes, struct symbolize_notes *notes,
                    struct symbol_mappings *mappings);

#endif
