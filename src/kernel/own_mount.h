/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* One of the kernel's own file systems, mounted nowhere, for us only. */
#ifndef STACKBOX_KERNEL_OWN_MOUNT_H
#define STACKBOX_KERNEL_OWN_MOUNT_H

/*
 * Its root, open as a directory: the mount is detached and goes away with the last descriptor. A
 * negative errno on failure, -ENOSYS before 5.2.
 */
int own_mount(const char *type);

#endif
