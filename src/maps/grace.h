/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Waiting for all running programs to end, on all CPUs. */
#ifndef STACKBOX_MAPS_GRACE_H
#define STACKBOX_MAPS_GRACE_H

struct grace {
    int outer, inner; /* a map of maps: its update waits for running programs */
};
#define GRACE_NONE {-1, -1}

/* 0 or a negative errno; grace_close after either. */
int grace_open(struct grace *grace);
void grace_close(struct grace *grace);

/* Returns when every program that was running at the call has ended. 0 or a negative errno. */
int grace_wait(const struct grace *grace);

#endif
