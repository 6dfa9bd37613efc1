/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Places -> events in rings: tracepoints by their ids, probes as text in tracefs or, without it, by the PMUs. */
#ifndef STACKBOX_RINGS_RING_ATTACH_H
#define STACKBOX_RINGS_RING_ATTACH_H

#include "attach/attach.h"
#include "rings/ring_source.h"

/* attach_request.instead, of a struct ring_source. */
extern const struct attach_instead ring_attach;

#endif
