/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* An open descriptor, or why there is none, from one process to another over a local socket. */
#ifndef STACKBOX_BASE_PASS_FD_H
#define STACKBOX_BASE_PASS_FD_H

/* `fd` may be a negative errno, which is then what the other end gets. 0 or a negative errno. */
int pass_fd(int socket, int fd);

/*
 * The descriptor, close-on-exec, or the negative errno that stands for it; -EPIPE: the other end is
 * gone, or sends something else.
 */
int take_fd(int socket);

#endif
