#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 6.1
# kernels: 5.10,6.12,newest
# host: yes
#
# stacksnoop: each event once, with its own stack and name, in order. The workload takes turns, one after
# another, on any CPU; the stack of each tells its number. Events that do not fit into a buffer are reported,
# to the last one.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"

N=600
[ -z "$GUEST" ] || N=200
THREADS=4
TURNS=$WORKLOADS/turns

# numbers: of each record on stdin, its time, tid, event and the number in its stack, or `none`
numbers()
{
    awk '
        /^[^\t]/ { time = $1; tid = $4; event = $NF; frames = 0; next }
        /^\t/ { frame[++frames] = substr($0, 2); next }
        {
            digits = value = 0
            for (i = frames; i > 0; i--)
                if (frame[i] == "zero" || frame[i] == "one") {
                    value = value * 2 + (frame[i] == "one")
                    digits++
                }
            print time, tid, event, digits == 10 ? value : "none"
        }
    '
}

# steps_back FILE: how often a number in the first column is less than the one before
steps_back()
{
    awk 'NR > 1 && $1 + 0 < last + 0 { back++ } { last = $1 } END { print back + 0 }' "$1"
}

records()
{
    tail -n +2 "$scratch/out" | grep -c '^[^	]*[^	 ]'
}

# in_turn NAME EVENT PATTERN OPTION...: every turn is there, in order, with its stack and its name
in_turn()
{
    name=$1 event=$2 pattern=$3
    shift 3
    start_workload one turns -w -k -t $THREADS -n $N
    trace_workload one stacksnoop -p "$(pid_of one)" "$@" "$pattern" || return
    is "$name: exit status" $status 0
    is "$name: the workload took all its turns" "$(calls_of one)" $N
    tail -n +2 "$scratch/out" | numbers >"$scratch/numbers"
    is "$name: nothing is lost" "$(said "events were lost")" 0
    is "$name: times never go back" "$(steps_back "$scratch/numbers")" 0
    is "$name: only this event" "$(cut -d ' ' -f 3 "$scratch/numbers" | sort -u)" "$event"
    is "$name: all threads" "$(cut -d ' ' -f 2 "$scratch/numbers" | sort -u | wc -l)" $THREADS
    seq 0 $((N - 1)) >"$scratch/truth"
    cut -d ' ' -f 4 "$scratch/numbers" >"$scratch/seen"
    in_turn_as_seen
}

# On the newest kernels, programs on system call tracepoints miss events, which is reported; and a
# kernel that cannot walk a stack while everything may be preempted leaves out its number.
in_turn_as_seen()
{
    missed=$(missed) count=$(wc -l <"$scratch/seen")
    if [ "$missed" != 0 ]; then
        between "$name: printed + missed = turns" $((count + missed)) $N $((2 * N))
        is "$name: the others are in order" "$(sort -n "$scratch/seen" | cksum)" \
            "$(cksum <"$scratch/seen")"
    elif grep -q 'without their stack' "$scratch/err"; then
        is "$name: each turn has a record" "$count" $N
        case " $(cat /proc/cmdline) " in
        *" preempt=full "*) skip "$name: the order" \
            "$(grep -m 1 'without their stack' "$scratch/err")" ;;
        *) fail "$name: the order" "$(grep -m 1 'without their stack' "$scratch/err")" ;;
        esac
    elif cmp -s "$scratch/truth" "$scratch/seen"; then
        pass "$name: each turn in its order"
    else
        fail "$name: each turn in its order" \
            "$count records, $(diff "$scratch/truth" "$scratch/seen" | head -n 6 | tr '\n' '|')"
    fi
}

# names NAME WAY: of two functions the event is the one that the stack begins with, as often as it was
# called
names()
{
    start_workload one turns -w -k -t $THREADS -n 40
    if start_stackbox stacksnoop -U -p "$(pid_of one)" --attach-by "$2" "$TURNS:zero" "$TURNS:one"; then
        go one
        finish_stackbox
        tail -n +2 "$scratch/out" | awk '/^[^\t]/ { event = $NF; getline; sub(/\t/, "")
            count[event == $0 ? event : event " at " $0]++ }
            END { for (name in count) print name, count[name] }' | sort >"$scratch/counts"
        is "$1" "$(tr '\n' ' ' <"$scratch/counts")" \
            "one $(count_of one one) zero $(count_of one zero) "
    elif lacks_way; then
        skip "$1" "$(head -n 1 "$scratch/err")"
    else
        fail "$1" "did not start: $(cat "$scratch/err")"
    fi
    drop_workload one
}

# kernel_names NAME WAY: the same for kernel functions
kernel_names()
{
    start_workload one calls -w -k -n 30 -c getppid
    start_workload two calls -w -k -n 50 -c getuid
    if start_stackbox stacksnoop -K -p "$(pid_of one),$(pid_of two)" --attach-by "$2" \
        ${CALL}getppid ${CALL}getuid; then
        go one two
        finish_stackbox
        is "$1" "$(tail -n +2 "$scratch/out" | awk '/^[^\t]/ { print $3, $NF }' | sort | uniq -c |
            awk '{ print $2, $3, $1 }' | sort -n)" "$(printf '%s\n' \
            "$(pid_of one) ${CALL}getppid 30" "$(pid_of two) ${CALL}getuid 50" | sort -n)"
    elif lacks_way; then
        skip "$1" "$(head -n 1 "$scratch/err")"
    else
        fail "$1" "did not start: $(cat "$scratch/err")"
    fi
    drop_workload one two
}

# sum NAME PATTERN OPTION...: with more events than fit, printed + lost = events
sum()
{
    name=$1 pattern=$2
    shift 2
    start_workload one calls -w -k -t 2 -n 20000
    trace_workload one stacksnoop -p "$(pid_of one)" "$@" "$pattern"
    lost=$(said "events were lost") printed=$(records)
    between "$name: some are lost" "$lost" 1 40000
    between "$name: printed + lost = events" $((lost + printed)) \
        $((40000 - $(missed))) 40000
    tail -n +2 "$scratch/out" | grep '^[^	]' >"$scratch/heads"
    is "$name: times never go back" "$(steps_back "$scratch/heads")" 0
}

kinds=
for kind in ring perf; do
    if "$STACKBOX" stacksnoop -D 0.1 --buffer $kind t:sched:sched_process_exec >"$scratch/out" 2>&1; then
        kinds="$kinds $kind"
    elif [ $kind = ring ] && older_than 4.18; then
        is "--buffer ring, where perf's rings collect" "$(cat "$scratch/out")" "stacksnoop: --buffer ring: \
needs BPF programs; without them, events wait in perf's ring buffers"
    elif [ $kind = ring ] && ! have_ring_buffers; then
        is "--buffer ring, which this kernel lacks, is refused" "$(cat "$scratch/out")" "stacksnoop: --buffer: \
this kernel has no ring buffers (Linux 5.8)"
    else
        fail "--buffer $kind" "$(cat "$scratch/out")"
    fi
done

for kind in $kinds; do
    if have_uprobes; then
        in_turn "$kind: a user function" turned "$TURNS:turned" --buffer $kind
    else
        skip "$kind: a user function" "this kernel has no user probes"
    fi
    if have_kprobes; then
        in_turn "$kind: a kernel function" ${CALL}getppid ${CALL}getppid --buffer $kind
    else
        skip "$kind: a kernel function" "this kernel has no kprobes"
    fi
    if have_syscall_tracepoints; then
        in_turn "$kind: a tracepoint" syscalls:sys_enter_getppid t:syscalls:sys_enter_getppid \
            --buffer $kind
        if older_than 4.18; then
            skip "$kind, small" "rings lose everybody's events alike, see live/rings_lost"
        else
            sum "$kind, small" t:syscalls:sys_enter_getppid --buffer $kind --buffer-size 16
        fi
    else
        skip "$kind: a tracepoint" "this kernel has no tracepoints of system calls"
    fi
done

for way in multi pmu tracefs; do
    if have_uprobes; then
        names "user functions by $way: the event is the one that was hit" $way
    fi
    if have_kprobes; then
        kernel_names "kernel functions by $way: the event is the one that was hit" $way
    fi
done
if have_uprobes; then
    in_turn "a return" r:turned "r:$TURNS:turned" -U
fi
