/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Sends an open descriptor, or the reason why there is none, to another process over a local
 * socket.
 */
#ifndef STACKBOX_BASE_PASS_FD_H
#define STACKBOX_BASE_PASS_FD_H

/* `fd` may be a negative errno, which the other end then gets. 0 or a negative errno. */
int pass_fd(int socket, int fd);

/*
 * The descriptor, close-on-exec, or the negative errno that was sent instead; -EPIPE: the other end
 * is gone or sent something else.
 */
int take_fd(int socket);

#endif
