/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Who made what stays in the kernel when its maker is killed. Such things are seen from every pid namespace,
 * and a pid means something in its own alone: a maker has a name that nobody else has, and holds a lock
 * on a file of that name for as long as it lives. Only whose lock can be had is dead; of whom there is no
 * such file nothing is known.
 */
#ifndef STACKBOX_ATTACH_MAKER_H
#define STACKBOX_ATTACH_MAKER_H

#define MAKER_NAME_ROOM 32

/* A process may have many, also in threads; zeroed, it has no name yet. */
struct maker {
    char name[MAKER_NAME_ROOM]; /* the process's pid, and 16 digits that nobody else has */
    int lock;                   /* its file; below 0: there is none */
    unsigned events;            /* how many it has given names to: no two have one */
};

/* It has a name, and lives, from the first call on. */
const char *maker_name(struct maker *maker);

/*
 * Calls `dead` with the name of every maker that is no more, and forgets those for which that gives 0.
 */
typedef int maker_dead(void *context, const char *name);
void makers_each_dead(maker_dead *dead, void *context);

/* When nothing that it made is left. */
void maker_end(struct maker *maker);

#endif
