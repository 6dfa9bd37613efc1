/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What differs from machine to machine in finding and choosing files. */
#ifndef STACKBOX_MACHINE_MACHINE_H
#define STACKBOX_MACHINE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

/* The name of Debian's directories for the libraries of this machine. */
#if defined(__x86_64__)
#define MACHINE_MULTIARCH "x86_64-linux-gnu"
#elif defined(__i386__)
#define MACHINE_MULTIARCH "i386-linux-gnu"
#elif defined(__aarch64__)
#define MACHINE_MULTIARCH "aarch64-linux-gnu"
#elif defined(__arm__)
#define MACHINE_MULTIARCH "arm-linux-gnueabihf"
#elif defined(__riscv)
#define MACHINE_MULTIARCH "riscv64-linux-gnu"
#else
#define MACHINE_MULTIARCH "."
#endif

/* Can programs of that e_machine run here? */
bool machine_is_ours(uint16_t machine);

/* ELFCLASS32 or ELFCLASS64 of an open ELF file for this machine; 0: it is none. */
int machine_class_of(int fd);

/*
 * For a library in a directory like glibc-hwcaps/x86-64-v3: how much it asks of the processor, 1 and
 * more, of several of which the dynamic linker takes the greatest; 0: this one does not have it, or
 * it is not known whether.
 */
int machine_level_of(const char *path);

#endif
