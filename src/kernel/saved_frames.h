/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef STACKBOX_KERNEL_SAVED_FRAMES_H
#define STACKBOX_KERNEL_SAVED_FRAMES_H

#include <stdbool.h>

/*
 * Does this kernel save a program's frame pointer, with all registers, on every entry to a system
 * call?
 */
bool kernel_saves_frames(void);

#endif
