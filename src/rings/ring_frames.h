/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Frame pointers of user programs that old kernels do not save on entry to a system call. */
#ifndef STACKBOX_RINGS_RING_FRAMES_H
#define STACKBOX_RINGS_RING_FRAMES_H

/*
 * While an event on raw_syscalls:sys_exit is open, such kernels take another entry path, which
 * saves all registers. A descriptor of one, to be kept open; 0: this kernel does not need it, or it
 * cannot be opened.
 */
int rings_have_frames_saved(void);

#endif
