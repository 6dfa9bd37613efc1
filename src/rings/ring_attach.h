/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Makes events in rings from places: tracepoints by id, probes as text in tracefs or, without it,
 * through the PMUs.
 */
#ifndef STACKBOX_RINGS_RING_ATTACH_H
#define STACKBOX_RINGS_RING_ATTACH_H

#include "attach/attach.h"
#include "rings/ring_source.h"

/* attach_request.instead, for a struct ring_source. */
extern const struct attach_instead ring_attach;

#endif
