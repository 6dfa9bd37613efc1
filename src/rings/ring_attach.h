/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Places -> events in rings: tracepoints by their ids, probes as text in tracefs or, without it, by the PMUs. */
#ifndef STACKBOX_RINGS_RING_ATTACH_H
#define STACKBOX_RINGS_RING_ATTACH_H

#include "attach/attach.h"
#include "rings/ring_source.h"

struct ring_attaching {
    struct ring_source *source;
    /* What is known of events by where they come from: whether the caller is to be told, and flags of a key. */
    bool callers[ATTACH_PROGRAMS];
    uint32_t flags[ATTACH_PROGRAMS];
};

/* attach_request.instead, of a struct ring_attaching. The rings' events are closed before the attachment is. */
int ring_attach(void *context, struct attachment *attachment, const struct attach_request *request,
                struct places *places);

#endif
