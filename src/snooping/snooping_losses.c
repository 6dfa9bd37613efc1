/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What became of events that were not printed. Part of snooping. */
#include "snooping/snooping.h"

#include <string.h>

#include "base/say.h"
#include "options/applet.h"

/* What became of the events that the programs saw: said when it is asked for, or does not add up. */
static void say_account(const struct snooping *snooping, const struct account *account,
                        uint64_t missed)
{
    uint64_t lost = account->table_full + account->slots_taken;
    uint64_t known = snooping->taken + account->filtered + lost;

    if (snooping->options->debug)
        say("account: %llu seen = %llu recorded + %llu filtered out + %llu lost; %llu printed; %llu "
            "missed by the kernel", (unsigned long long)account->seen,
            (unsigned long long)snooping->taken, (unsigned long long)account->filtered,
            (unsigned long long)lost, (unsigned long long)snooping->printed,
            (unsigned long long)missed);
    if (snooping->has_all && account->seen != known)
        say("the account does not close: of %llu events that were seen %lld are neither recorded nor "
            "known to be lost; please report that", (unsigned long long)account->seen,
            (long long)(account->seen - known));
}

void snooping_say_losses(const struct snooping *snooping, uint64_t missed)
{
    struct account account = {0};
    int result = recorder_account(&snooping->recorder, &account);

    if (result)
        say("what was lost cannot be told: %s", strerror(-result));
    if (account.table_full)
        say("%llu events were lost: they came faster than they were printed, and the buffer of "
            "%llu KB was full; raise --buffer-size, or narrow the pattern or the filters",
            (unsigned long long)account.table_full,
            (unsigned long long)snooping->recorder.bytes / 1024);
    if (account.slots_taken)
        say("%llu events were lost: more than %d programs were interrupted on a CPU at once",
            (unsigned long long)account.slots_taken, SLOTS_PER_CPU);
    if (missed)
        say("up to %llu events were missed: they came while a program ran on the same CPU already",
            (unsigned long long)missed);
    if (snooping->walks_failed)
        say("%llu events are without their stack: the kernel could not walk it",
            (unsigned long long)snooping->walks_failed);
    if (snooping->timeline.late)
        say("%llu events are not in the order of their times: the clock of this machine went back",
            (unsigned long long)snooping->timeline.late);
    if (!result)
        say_account(snooping, &account, missed);
    session_say_names_lost(&snooping->session);
}
