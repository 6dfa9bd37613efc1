/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef STACKBOX_ATTACH_DETACH_H
#define STACKBOX_ATTACH_DETACH_H

#include <stddef.h>

/*
 * Closes events and links. The kernel waits at each probe that is removed, so many are closed by
 * several threads, which wait at the same time.
 */
void detach_all(const int *fds, size_t count);

#endif
