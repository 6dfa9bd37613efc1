/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What became of events that were not printed. Part of snooping. */
#include "snooping/snooping.h"

#include "base/say.h"
#include "base/text.h"

/* What became of the events seen: printed if asked for, or if it does not add up. */
static void say_account(const struct snooping *snooping, uint64_t missed)
{
    struct collector_account account;

    snooping->collector->calls->account(snooping->collector, &account);
    if (snooping->options->debug)
        say("account: %llu seen = %llu recorded + %llu filtered out + %llu lost; %llu printed; %llu "
            "missed by the kernel", (unsigned long long)account.seen,
            (unsigned long long)account.counted, (unsigned long long)account.filtered,
            (unsigned long long)account.lost, (unsigned long long)snooping->printed,
            (unsigned long long)missed);
    if (snooping->has_all && account.unknown)
        say("the account does not add up: of %llu events seen, %lld are neither recorded nor "
            "known to be lost; please report this", (unsigned long long)account.seen,
            (long long)account.unknown);
}

void snooping_say_losses(const struct snooping *snooping, uint64_t missed)
{
    const struct loss kept = {.count = missed, .at_most = true, .beside = true};
    const struct loss late = {.count = snooping->timeline.late};
    struct missing missing = {0};
    struct text lines = {0};

    snooping->collector->calls->add_losses(snooping->collector, &missing);
    missing_add(&missing, &kept, "were missed: they hit while a BPF program was already running "
                                 "on that CPU");
    missing_add(&missing, &late, "are out of order: this machine's clock went back");
    missing_add_lines(&missing, &lines);
    unwinding_add_lines(&snooping->session.unwinding, snooping->options->debug, &lines);
    say_lines(&lines);
    text_free(&lines);
    missing_free(&missing);
    say_account(snooping, missed);
    session_say_names_lost(&snooping->session);
}
