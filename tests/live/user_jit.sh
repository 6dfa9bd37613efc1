#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,newest
# host: yes
# again: with nodejs
#
# Code that a program generated at run time, named by the perf map that it wrote: a hand-made one, and node's.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_syscall_tracepoints || skip_all "this kernel has no tracepoints of system calls"
"$WORKLOADS/jit" -n 0 -s none >"$scratch/probe"
grep -q '^skip' "$scratch/probe" && skip_all "$(cat "$scratch/probe")"

# No other process has this name.
NAME=jit$$
N=200
EVENT=t:syscalls:sys_enter_getppid

# jit NAME JIT-OPTION...: leaves the stacks of a run in $scratch/mine
program=jit
jit()
{
    name=$1
    shift
    start_workload one "$program" -w -k -n $N -N $NAME "$@"
    trace_workload one stackcount -f -U -p "$(pid_of one)" $EVENT
    grep "^$NAME;" "$scratch/out" >"$scratch/mine"
}

# rounds COUNT PREFIX: what the stacks should be
rounds()
{
    local round=0
    while [ $round -lt "$1" ]; do
        echo "main;${2:-}jit_outer_$round;${2:-}jit_inner_$round;jit_target $N"
        round=$((round + 1))
    done
}

# nameless NAME: there are no names from the map, and no event is lost
nameless()
{
    is "$1: its names are not used" "$(grep -c 'jit_[oi]' "$scratch/mine")" 0
    is "$1: all calls are counted, with the program's own names" \
        "$(folded_sum "$scratch/mine" ';main;.*;jit_target [0-9]*$')" $N
}

for shape in plain 0x overlap replaced hostile; do
    jit "a map, $shape" -s $shape
    is "a map, $shape" "$(user_stacks "$scratch/mine")" "$(rounds 1)"
done
jit "a map that grows" -r 5
is "a map that grows" "$(user_stacks "$scratch/mine")" "$(rounds 5)"
jit "entries replaced while it runs" -r 5 -s reversed
is "entries replaced while it runs" "$(user_stacks "$scratch/mine")" "$(rounds 5 new_)"

jit "no map" -s none
nameless "no map"
lacks "no map, of an unknown runtime: nothing is advised" "$scratch/err" "[anon]"

jit "code without frame pointers" -s frameless
is "code without frame pointers: its stacks do not look whole" "$(user_stacks "$scratch/mine")" \
    "$NAME;[truncated];jit_inner_0 $N"

# The file of the program, or of a library, tells which runtime it is.
cp "$WORKLOADS/jit" "$scratch/node"
program=$scratch/node
jit "a known runtime" -s none
is "a known runtime: how it gives names is said once" \
    "$(grep -c '\[anon\] is JIT-compiled code: with node --perf-basic-prof it has names' "$scratch/err")" 1
jit "a known runtime with a map" -s plain
is "a known runtime with a map" "$(user_stacks "$scratch/mine")" "$(rounds 1)"
lacks "a known runtime with a map: nothing is advised" "$scratch/err" "[anon]"
program=jit
jit "another user's map" -u 65534
nameless "another user's map"
contains "another user's map: it is reported" "$scratch/err" "perf-$(pid_of one).map"
jit "a map that is a link" -s link
nameless "a map that is a link"
contains "a map that is a link: it is reported" "$scratch/err" "perf-$(pid_of one).map"
rm -f "/tmp/perf-$(pid_of one).map.elsewhere"

# A world-writable map is not trusted, even with the right owner.
start_workload one jit -w -k -n $N -N $NAME
start_tracing stackcount -f -U -p "$(pid_of one)" $EVENT
go one
chmod 666 "/tmp/perf-$(pid_of one).map"
finish_stackbox
finish_workload one
grep "^$NAME;" "$scratch/out" >"$scratch/mine"
nameless "a map that everybody may write to"
contains "a map that everybody may write to: it is reported" "$scratch/err" \
    "perf-$(pid_of one).map: it is writable by everybody"

# The process may be another user's, who then owns the map, too.
chmod 755 "$scratch"
cp "$WORKLOADS/jit" "$scratch/jit"
start_workload one deny --uid 65534 -- "$scratch/jit" -w -k -n $N -N $NAME
start_tracing stackcount -f -U -p "$(pid_of one)" $EVENT
go one
finish_stackbox
is "another user's map of that user's process is used" "$(user_stacks "$scratch/out")" "$(rounds 1)"
is "and it is another user's" "$(stat -c %u "/tmp/perf-$(pid_of one).map")" 65534
finish_workload one

# It grows from report to report: each report has the names that are there by then.
start_workload one jit -w -k -n $N -r 20 -N $NAME
trace_workload one stackcount -f -U -i 0.05 -p "$(pid_of one)" $EVENT
is "over intervals" "$(user_stacks "$scratch/out")" "$(rounds 20 | sort)"

# The process ended; its map stays.
start_tracing stackcount -f -U $EVENT
start_workload one jit -n $N -N $NAME
wait_workload one
finish_stackbox
grep "^$NAME;" "$scratch/out" >"$scratch/mine"
is "an ended process" "$(user_stacks "$scratch/mine")" "$(rounds 1)"
rm -f "/tmp/perf-$(pid_of one).map"

if have_uprobes; then
    start_workload one jit -w -k -n $N -N $NAME
    trace_workload one stackcount -f -U -p "$(pid_of one)" "$WORKLOADS/jit:jit_target"
    is "a user probe" "$(user_stacks "$scratch/out")" "$(rounds 1)"
fi

[ "$GUEST" ] && exit 0
if ! command -v node >/dev/null; then
    skip "node" "it is not installed"
    exit 0
fi
cat >"$scratch/known.js" <<'END'
function knownInner() { let sum = 0; for (let i = 0; i < 3; i++) sum += process.ppid; return sum; }
function knownOuter() { return knownInner() + 1; }
let words = 0;
process.on('SIGUSR2', () => {
    if (words++) process.exit(0);
    for (let i = 0; i < 2000; i++) knownOuter();
    console.log('done CALLS=6000');
});
setInterval(() => {}, 1000);
console.log('ready');
END
# An inlined function has no frame of its own. Since node 22 two compilers inline.
maglev=
! node --v8-options | grep -q -e '^ *--maglev-inlining ' || maglev=--no-maglev-inlining
# shellcheck disable=SC2086 # a word or none
start_workload one "$(command -v node)" --perf-basic-prof --interpreted-frames-native-stack \
    --no-turbo-inlining $maglev --logfile="$scratch/v8.log" "$scratch/known.js" -w
trace_workload one stackcount -f -U -p "$(pid_of one)" $EVENT
is "node: each call is below its callers" \
    "$(folded_sum "$scratch/out" ';[^;]*knownOuter [^;]*;[^;]*knownInner [^;]*;')" "$(calls_of one)"
is "node: and there are no others" "$(folded_sum "$scratch/out")" "$(calls_of one)"
rm -f "/tmp/perf-$(pid_of one).map"
