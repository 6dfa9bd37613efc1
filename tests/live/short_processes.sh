#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,6.12,newest
# host: yes
#
# Five thousand short processes, forked or executed, four at a time, while stackbox traces
# everything: it counts all their calls, each with its names, or reports losses.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
choose_event

# An emulated CPU needs some 5 ms for a process, and for the names of an exited one.
PROCESSES=5000 CALLS=4
[ -z "$GUEST" ] || PROCESSES=400 CALLS=2
# No other processes have these names.
FORKED=f$$ ANEW=v$$

# start_bomb: starts four makers of processes, which wait for the word
start_bomb()
{
    for maker in 1 2; do
        start_workload "forks$maker" brief -w -f -c $((PROCESSES * 2 / 5)) -n $CALLS -l 0 -N $FORKED
        start_workload "execs$maker" brief -w -v -c $((PROCESSES / 10)) -n $CALLS -l 0 -N $ANEW
    done
}

# run_bomb: lets them go, and waits until all are done
run_bomb()
{
    for maker in forks1 forks2 execs1 execs2; do
        kill -s USR2 "$(pid_of $maker)"
    done
    for maker in forks1 forks2 execs1 execs2; do
        wait "$(pid_of $maker)" || fail "$maker" "$(tail -n 3 "$scratch/$maker.out")"
    done
}

made()
{
    echo $(($(calls_of "$1"1) + $(calls_of "$1"2)))
}

# counted_right NAME: all calls of both kinds are counted, except those reported missing
counted_right()
{
    is "$1: exit status" "$status" 0
    missing=$(($(said "events were not counted") + $(missed)))
    for kind in "forks $FORKED" "execs $ANEW"; do
        comm=${kind#* }
        counted=$(folded_sum "$scratch/out" "^$comm[ ;]")
        between "$1: calls of ${kind% *} are counted" "$counted" $(($(made "${kind% *}") - missing)) \
            "$(made "${kind% *}")"
    done
    is "$1: nothing is missing" "$missing" 0
}

# named_right NAME: no call lacks the functions that lead to it, unless the reason is reported
named_right()
{
    unnamed=$(grep -E "^($FORKED|$ANEW)[ ;]" "$scratch/out" |
        grep -v ';main;.*live;brief_outer;brief_inner[; ]' | folded_sum -)
    if [ "$unnamed" = 0 ]; then
        pass "$1: all have their names"
    elif grep -E 'were lost|were dropped from memory|without their stack|the kernel missed .* execs and exits' \
        "$scratch/err" >"$scratch/why"; then
        pass "$1: $unnamed calls have no names, and it is reported: $(head -n 1 "$scratch/why")"
    else
        fail "$1: all have their names" "$unnamed calls without, such as $(grep -E "^($FORKED|$ANEW)[ ;]" \
            "$scratch/out" | grep -v ';brief_inner[; ]' | head -n 2)"
    fi
}

# bomb NAME STACKCOUNT-ARGUMENT...
bomb()
{
    name=$1
    shift
    start_bomb
    start_tracing stackcount -f --debug "$@"
    run_bomb
    finish_stackbox
    counted_right "$name"
    named_right "$name"
}

# ---- with profile at the same time, whose counts cannot be checked here, but which ends well and
# names them

start_bomb
"$WORKLOADS/session" --limit "$LIMIT" "$STACKBOX" profile -f -F 997 </dev/null >"$scratch/profile" \
    2>"$scratch/profile.err" &
profile=$!
kill_at_end "$profile"
wait_until 20 grep -q '^Sampling' "$scratch/profile.err"
start_tracing stackcount -f --debug "$EVENT"
run_bomb
kill -s INT "$profile"
wait "$profile"
is "profile: exit status" $? 0
finish_stackbox
counted_right "with profile"
named_right "with profile"
samples=$(grep -cE "^($FORKED|$ANEW);" "$scratch/profile")
[ "$samples" -gt 0 ] && pass "profile: saw them in $samples stacks" ||
    fail "profile: saw them" "$(tail -n 3 "$scratch/profile.err")"

# ---- each process apart, and a function of their program

bomb "by process" -P -i 0.5 "$EVENT"
is "by process: all processes are there" \
    "$(grep -E "^($FORKED|$ANEW) \(" "$scratch/out" | sed 's/;.*//' | sort -u | grep -c .)" $PROCESSES
if have_uprobes; then
    # Each hit takes some 20 us, in a guest much more.
    bomb "a function of their program" "$WORKLOADS/brief:brief_inner"
else
    skip "a function of their program" "this kernel has no uprobes"
fi

# ---- as a command that is followed

for how in -f -v; do
    [ $how = -f ] && processes=$PROCESSES || processes=$((PROCESSES / 5))
    run_stackbox stackcount -f "$EVENT" -- "$WORKLOADS/brief" $how -c $processes -n $CALLS -l 0 \
        -N $FORKED
    is "followed, $how: exit status" "$status" 0
    is "followed, $how: calls are counted" "$(folded_sum "$scratch/out")" "$((processes * CALLS))"
    is "followed, $how: as many as it reports" "$(sed -n 's/^done CALLS=//p' "$scratch/err")" \
        "$((processes * CALLS))"
    lacks "followed, $how: no fork was missed" "$scratch/err" "were missed"
    named_right "followed, $how"
done
