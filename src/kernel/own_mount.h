/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A file system of the kernel's own that is mounted nowhere, for us alone. */
#ifndef STACKBOX_KERNEL_OWN_MOUNT_H
#define STACKBOX_KERNEL_OWN_MOUNT_H

/*
 * Its root, open as a directory: the mount hangs in no tree, and is gone when the last descriptor of
 * it is closed. A negative errno where that cannot be, -ENOSYS on kernels before 5.2.
 */
int own_mount(const char *type);

#endif
