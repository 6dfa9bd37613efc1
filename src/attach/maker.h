/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Who made what is left in the kernel when its maker is killed. Such things are visible in every
 * pid namespace, but a pid is only valid in its own: so a maker has a unique name, and holds a lock
 * on a file of that name as long as it lives. A maker whose lock can be taken is dead; without such
 * a file nothing is known.
 */
#ifndef STACKBOX_ATTACH_MAKER_H
#define STACKBOX_ATTACH_MAKER_H

#define MAKER_NAME_ROOM 32

/* A process may have many, also in threads; zeroed, it has no name yet. */
struct maker {
    char name[MAKER_NAME_ROOM]; /* the process's pid, and 16 unique digits */
    int lock;                   /* its file; below 0: there is none */
    unsigned events;            /* how many it has named, each differently */
};

/* Has a name, and is alive, from the first call on. */
const char *maker_name(struct maker *maker);

/*
 * Calls `dead` with the name of every maker that no longer lives, and forgets those for which that
 * returns 0.
 */
typedef int maker_dead(void *context, const char *name);
void makers_each_dead(maker_dead *dead, void *context);

/* When nothing it made is left. */
void maker_end(struct maker *maker);

#endif
