#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,6.1,6.12,newest
# host: yes
#
# At a probe on a function's first instruction, the caller is in the stack exactly once, however the function
# begins and whatever the kernel does there; elsewhere nothing is added.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_uprobes || skip_all "this kernel has no user probes"
"$WORKLOADS/caller" -n 0 >"$scratch/probe"
grep -q '^skip' "$scratch/probe" && skip_all "$(cat "$scratch/probe")"

N=100
DEPTH=5
CALLER=$WORKLOADS/caller

# trace PATTERN...: leaves the stacks of one run in $scratch/stacks
trace()
{
    : >"$scratch/stacks"
    start_workload one caller -w -k -n $N -r $DEPTH
    trace_workload one stackcount -f -U -p "$(pid_of one)" "$@"
    # Whether the compiler kept that function does not matter.
    sed 's/;call_each;/;/' "$scratch/out" >"$scratch/plain"
    user_stacks "$scratch/plain" >"$scratch/stacks"
}

# each FORMAT: "main;call_X;begins_X N" for each X
each()
{
    for way in endbr nop push save sub; do
        echo "main;call_$way$(echo "$1" | sed "s/X/$way/") $N"
    done | sort
}

trace "$CALLER:begins_*"
is "all kinds of function starts, at once" "$(cat "$scratch/stacks")" "$(each ';begins_X')"
for way in push endbr sub nop save; do
    trace "$CALLER:begins_$way"
    is "begins_$way" "$(cat "$scratch/stacks")" "main;call_$way;begins_$way $N"
done

# Past the first instruction the stack is what frame pointers give, as asked for: nothing else shows callers.
trace --unwind fp "$CALLER:begins_push+4"
is "after the frame is set up" "$(cat "$scratch/stacks")" "main;call_push;begins_push $N"
trace --unwind fp "$CALLER:begins_sub+4"
is "in a function without a frame" "$(cat "$scratch/stacks")" "main;begins_sub $N"

trace "r:$CALLER:begins_*"
is "returns" "$(cat "$scratch/stacks")" "$(each '')"

# Direct recursion: as many frames as there are calls.
recursion()
{
    local frames=$1 i=0
    while [ $i -lt $DEPTH ]; do
        echo "main;call_deep$frames $N"
        frames="$frames;recurses"
        i=$((i + 1))
    done
}
trace "$CALLER:recurses"
is "recursion" "$(cat "$scratch/stacks")" "$(recursion ';recurses' | sort)"
trace "$CALLER:recurses+4"
is "recursion, after the frame is set up" "$(cat "$scratch/stacks")" \
    "$(recursion ';recurses' | sort)"

# The trampoline that return probes come back to is not a caller. By frame pointers kernels before
# 6.11 show it.
ways='tables fp'
have_tables || ways=fp
for way in $ways; do
    trace --unwind $way "r:$CALLER:recurses"
    is "recursion, returns, $way: all are counted" \
        "$(awk '{ sum += $NF } END { print sum }' "$scratch/stacks")" \
        $((N * DEPTH))
    case $way,$GUEST in
    *,4.[0-9] | *,4.1[0-7]) skip "recursion, returns, $way" "in rings the stack has the kernel's trampoline" ;;
    fp,4.* | fp,5.* | fp,6.1) skip "recursion, returns, $way" "this kernel hides callers whose returns are probed" ;;
    *) is "recursion, returns, $way" "$(cat "$scratch/stacks")" "$(recursion '' | sort)" ;;
    esac
done

# As text: the caller has the address to return to, and -v shows it once.
start_workload one caller -w -k -n $N
trace_workload one stackcount -U -v -p "$(pid_of one)" "$CALLER:begins_sub"
is "as text, the caller is there" \
    "$(awk '/^  [0-9a-f]+ /{ print $2 }' "$scratch/out" | head -n 2 | tr '\n' ' ')" \
    "begins_sub call_sub "
is "as text, each address is there once" \
    "$(awk '/^  [0-9a-f]+ /{ print $1 }' "$scratch/out" | sort | uniq -d)" ""
