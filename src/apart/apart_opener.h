/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The opener beside the process apart: what it does and how it is asked. Part of apart. */
#ifndef STACKBOX_APART_APART_OPENER_H
#define STACKBOX_APART_APART_OPENER_H

#include "apart/apart.h"

/* In the opener: answers requests from this socket until it closes. */
void opener_serve(const struct apart_job *job, int socket);

/* In the process apart: the socket that apart_open() and apart_ask() use from now on. */
void opener_is_at(int socket);

#endif
