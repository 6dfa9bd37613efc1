/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Frame pointers of user programs that old kernels do not save on the way into a system call. */
#ifndef STACKBOX_RINGS_RING_FRAMES_H
#define STACKBOX_RINGS_RING_FRAMES_H

/*
 * While anybody has an event of raw_syscalls:sys_exit open such kernels go another way, which saves all
 * registers. A descriptor of one, to be kept open; 0: this kernel needs none, or cannot have it.
 */
int rings_have_frames_saved(void);

#endif
