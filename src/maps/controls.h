/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What collecting programs share, whatever they collect into: the word that says whether to collect
 * and where to, their account, and the slots in which they prepare what they write.
 */
#ifndef STACKBOX_MAPS_CONTROLS_H
#define STACKBOX_MAPS_CONTROLS_H

#include <stddef.h>
#include <stdint.h>

#include "insns/layout.h"
#include "maps/grace.h"

struct controls {
    int control, account, slots; /* maps; below 0: none */
    struct grace grace;
};
#define CONTROLS_NONE {-1, -1, -1, GRACE_NONE}

/* Starts paused. 0 or a negative errno; controls_close after either. */
int controls_open(struct controls *controls);
/* The slots, of `bytes` each. */
int controls_open_slots(struct controls *controls, size_t bytes);
void controls_close(struct controls *controls);

/* Sets the word: programs that are running may still use the old one. 0 or a negative errno. */
int controls_set(const struct controls *controls, enum control_mode mode);
/* The same, but waits until those have ended. */
int controls_set_and_wait(const struct controls *controls, enum control_mode mode);

/* What the programs did under that word. 0 or a negative errno. */
int controls_account(const struct controls *controls, enum control_mode mode, struct account *account);

#endif
