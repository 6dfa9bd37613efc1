/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A collector of single events, by BPF programs (insns/snoop.c) that write records to a buffer. */
#ifndef STACKBOX_COLLECT_BPF_EVENTS_H
#define STACKBOX_COLLECT_BPF_EVENTS_H

#include "collect/collector.h"
#include "store/recorder.h"

struct bpf_events_config {
    enum recorder_kind buffer;
    uint64_t bytes;    /* of all buffers together; 0: by free memory */
    uint64_t depth;    /* frames per stack; 0: the kernel's limit */
    bool kernel, user; /* which stacks events have */
    size_t values;     /* and how many words besides */
    bool condition;    /* not all are wanted */
};

struct bpf_events {
    struct collector collector;
    struct bpf_events_config config;
    struct recorder recorder; /* once open, programs are made with this */
    struct snoop_record *scratch; /* room for the largest record */
    uint64_t taken; /* records that came out of the buffer */
    uint64_t walks_failed;
    bool stopped, has_all;  /* no more records come; and all have been read */
};

/* An empty one, which may be closed. */
void bpf_events_init(struct bpf_events *events, const struct bpf_events_config *config);

#endif
