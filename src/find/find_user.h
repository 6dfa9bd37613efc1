/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Patterns for programs and libraries: all their files are read in the process apart. */
#ifndef STACKBOX_FIND_FIND_USER_H
#define STACKBOX_FIND_FIND_USER_H

#include "find/find.h"

/* As find_places(), for these patterns. */
int find_user_places(struct find *find, struct text *error);

#endif
