/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A collector of counts, by BPF programs (insns/count.c) that write to a store. */
#ifndef STACKBOX_COLLECT_BPF_COUNTS_H
#define STACKBOX_COLLECT_BPF_COUNTS_H

#include "collect/collector.h"
#include "drain/drain.h"
#include "maps/store.h"

struct bpf_counts {
    struct collector collector;
    struct store_wishes wishes;
    struct store store; /* once open, programs are made with this */
    struct losses losses;
};

/* An empty one, which may be closed. */
void bpf_counts_init(struct bpf_counts *counts, const struct store_wishes *wishes);

/* Shared with other collectors on such a store, whose first member is a bpf_counts. */
int bpf_counts_open(struct collector *collector, struct text *why);
int bpf_counts_start(struct collector *collector);
void bpf_counts_account(struct collector *collector, struct collector_account *account);
void bpf_counts_add_losses(const struct collector *collector, struct missing *missing);
void bpf_counts_describe(const struct collector *collector, bool again, struct text *lines);
void bpf_counts_close(struct collector *collector);
enum collector_news bpf_counts_look(struct collector *collector);
int bpf_counts_settle(struct collector *collector);

#endif
