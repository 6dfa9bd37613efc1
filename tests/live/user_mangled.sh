#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10
# host: yes
#
# C++ and Rust functions by the names that their authors gave them: in stacks of every format, in patterns, in
# lists. The workload is a C program whose symbol table has such names; what they mean is written here, by the
# rules of mangling.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_uprobes || skip_all "this kernel has no user probes"

N=400 M=300
program=$WORKLOADS/chains-mangled
wait='Monitor::IWait(Thread*, long)'
once='core::ops::FnOnce::call_once'
push='std::vector<int, std::allocator<int> >::push_back(int const&) [clone .isra.0]'
bar='mycrate::foo::bar::<u32>'
lambda='A::f()::{lambda(char const*)#1}::operator()(char const*) const'

# trace PATTERN OPTION...: one run; its folded user stacks are in $scratch/stacks
trace()
{
    local pattern=$1
    shift
    start_workload one chains-mangled -w -k -n $N -m $M
    trace_workload one stackcount -f -U -p "$(pid_of one)" "$@" "$pattern"
    user_stacks "$scratch/out" >"$scratch/stacks"
}

readable="main;$once;$push;$wait $N
thread_b;$lambda;$bar;$wait $M"

trace "$program:_ZN7Monitor5IWaitEP6Threadl"
is "by the raw name: stacks have readable names" "$(cat "$scratch/stacks")" "$readable"
trace "$program:$wait"
is "by the whole name: its * is a pointer" "$(cat "$scratch/stacks")" "$readable"
trace "$program:Monitor::IWait"
is "without parameters: stacks are the same" "$(cat "$scratch/stacks")" "$readable"
trace "$program:Monitor::IWait" --raw-names
is "--raw-names" "$(cat "$scratch/stacks")" \
"main;_ZN4core3ops6FnOnce9call_once17h0123456789abcdefE;_ZNSt6vectorIiSaIiEE9push_backERKi.isra.0;\
_ZN7Monitor5IWaitEP6Threadl $N
thread_b;_ZZN1A1fEvENKUlPKcE_clES1_;_RINvNtCs1234_7mycrate3foo3barmE;_ZN7Monitor5IWaitEP6Threadl $M"
trace "$program:Monitor::IWait" --shorten
is "--shorten" "$(cat "$scratch/stacks")" \
"main;$once;std::vector<...>::push_back(int const&) [clone .isra.0];$wait $N
thread_b;$lambda;mycrate::foo::bar::<...>;$wait $M"

# listed NAME EXPECTED WORD...: --list prints EXPECTED, without the file
listed()
{
    name=$1 expected=$2
    shift 2
    run_stackbox stackcount --list "$@"
    is "$name" "$(sed "s|^r*:*$program:||" "$scratch/out")" "$expected"
}

listed "--list prints readable names" "$wait" "$program:_ZN7Monitor*"
line=$(cat "$scratch/out")
listed "a line of --list is a pattern" "$wait" "$line"
listed "--list does not shorten" "$push" --shorten "$program:*push_back"
listed "--list --raw-names" "_ZN7Monitor5IWaitEP6Threadl" --raw-names "$program:Monitor::*"
listed "* matches readable names" "$once
$push" "$program:*::call_once" "$program:std::vector<*>::push_back"
listed "a regular expression matches readable names" "$lambda
$bar" -r "$program:lambda\\(char|foo::bar"
listed "a return by the readable name" "$wait" "r:$program:Monitor::IWait"

run_stackbox stackcount --list "$program:Monitor::IWiat"
is "a typo: exit status" "$status" 1
contains "a typo: a similar name is suggested" "$scratch/err" "near: Monitor::IWait"
run_stackbox stackcount --list "$program:_ZN7Monitor5IWaitEP6Thread"
contains "a typo in a raw name: a similar name is suggested" "$scratch/err" "near: _ZN7Monitor5IWaitEP6Threadl"

# Single events.
start_workload one chains-mangled -w -k -n 1 -m 1
trace_workload one stacksnoop -U -p "$(pid_of one)" --max 1 "$program:Monitor::IWait"
contains "stacksnoop: the event has its readable name" "$scratch/out" " $wait"
contains "stacksnoop: so has its frame" "$scratch/out" "	$wait"
start_workload one chains-mangled -w -k -n 1 -m 1
trace_workload one stacksnoop -U -p "$(pid_of one)" --format perf --max 1 "$program:Monitor::IWait"
contains "stacksnoop --format perf: so has its frame" "$scratch/out" " $wait ("
