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
    int control, account, slots, cuts; /* maps; below 0: none */
    uint64_t cut; /* with the map of cuts: when the time of the present report began, or collecting ended */
    struct grace grace;
};
#define CONTROLS_NONE {-1, -1, -1, -1, 0, GRACE_NONE}

/* Starts paused. 0 or a negative errno; controls_close after either. */
int controls_open(struct controls *controls);
/* The slots, of `bytes` each. */
int controls_open_slots(struct controls *controls, size_t bytes);
/* The map in which programs find the cut, by the word. */
int controls_open_cuts(struct controls *controls);
void controls_close(struct controls *controls);

/* Sets the word: programs that are running may still use the old one. 0 or a negative errno. */
int controls_set(struct controls *controls, enum control_mode mode);
/* The same, but waits until those have ended. */
int controls_set_and_wait(struct controls *controls, enum control_mode mode);

/* What the programs did under that word. 0 or a negative errno. */
int controls_account(const struct controls *controls, enum control_mode mode, struct account *account);

#endif
