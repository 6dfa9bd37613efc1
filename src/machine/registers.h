/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef STACKBOX_MACHINE_REGISTERS_H
#define STACKBOX_MACHINE_REGISTERS_H

#include "insns/caller.h"

/* As what this kernel hands the registers of a user's program to programs. */
enum registers kernel_registers(void);

#endif
