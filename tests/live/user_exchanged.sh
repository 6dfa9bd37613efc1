#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: newest
# kernels: 5.10,6.12
# host: yes
# later: at every moment between two looks, it takes twenty seconds
#
# The owner of a traced program replaces its file at every moment between two accesses of stackbox.
# Probes are in the file that stackbox read, or it refuses to trace; it never blocks on the new one.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_uprobes || skip_all "this kernel has no user probes"

LIMIT=30
N=200
M=70

# exchange CLOSES OPTION...: traces target of $scratch/here, which becomes $scratch/there after CLOSES closes
exchange()
{
    local closes=$1
    shift
    start_workload swap exchange -n "$closes" "$scratch/here" "$scratch/there"
    wait_until 10 grep -q ready "$scratch/swap.out"
    start_stackbox stackcount -f "$@" "$scratch/here:target"
}

# way WAY CLOSES [CASE]: two shapes of a program, whose functions are at different places; each calls target as
# often as it says
way()
{
    cp "$WORKLOADS/chains" "$scratch/here"
    cp "$WORKLOADS/chains-shifted" "$scratch/there"
    start_workload read "$scratch/here" -w -k -n $N -m $N
    start_workload other "$scratch/there" -w -k -n $M -m $M
    if ! exchange "$2" --attach-by "$1"; then
        if lacks_way; then
            skip "$1, exchanged after $2 closes" "$(cat "$scratch/err")"
        elif grep -q 'was replaced after it was read: try again' "$scratch/err"; then
            pass "$1, exchanged after $2 closes${3:-}: it is refused"
            drop_workload read other swap
            return 0
        else
            fail "$1, exchanged after $2 closes" "$(cat "$scratch/err")"
        fi
        drop_workload read other swap
        return 1
    fi
    go read other
    finish_stackbox
    finish_workload read other
    exchanged=$(grep -c exchanged "$scratch/swap.out")
    # Exchanged before it was read, it is the other one.
    counted=$(folded_sum "$scratch/out")
    is "$1, exchanged after $2 closes${3:-}: one file's calls are counted" \
        "$([ "$counted" = $((2 * N)) ] || [ "$counted" = $((2 * M)) ] && echo yes || echo "$counted")" yes
    drop_workload swap
    [ "$exchanged" = 1 ]
}

# Until stackbox closes it fewer times.
for by in multi pmu tracefs; do
    closes=1
    while way $by $closes && [ $closes -lt 12 ]; do
        closes=$((closes + 1))
    done
    [ $closes -gt 1 ] || lacks_way || fail "$by: it was exchanged" "not once"
done

# Without /proc there is no name for an open descriptor: it is attached by path, if that is still the same file.
printf '#!/bin/sh\numount -l /proc\nexec "$@"\n' >"$scratch/no_proc"
under="unshare -m sh $scratch/no_proc"
for by in multi pmu tracefs; do
    closes=1
    while way $by $closes ', without /proc' && [ $closes -lt 12 ]; do
        closes=$((closes + 1))
    done
done
under=

# A FIFO, whose opening waits for a writer; or the file is not one any more.
fifo()
{
    rm -f "$scratch/here" "$scratch/there"
    cp "$WORKLOADS/chains" "$scratch/here"
    mkfifo "$scratch/there"
    start_workload swap exchange -n "$1" "$scratch/here" "$scratch/there"
    wait_until 10 grep -q ready "$scratch/swap.out"
    shift
    run_stackbox "$@"
    exchanged=$(grep -c exchanged "$scratch/swap.out")
    drop_workload swap
    [ "$exchanged" = 1 ]
}

# 124: it did not end.
for by in multi tracefs; do
    closes=1
    while fifo $closes stackcount -f -D 0.1 --attach-by $by --if 'arg1 == 1' "$scratch/here:target" &&
        [ $closes -lt 12 ]; do
        is "$by: a FIFO after $closes closes: it ends" "$([ $status -le 1 ] && echo yes || echo $status)" yes
        closes=$((closes + 1))
    done
done
