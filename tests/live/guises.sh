#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 5.10,6.12
# host: yes
# later: guests have it, too
#
# --comm and --uid: threads that change their names and users, a program that runs for another user, and
# -p with a name. Waits are in guises_waits.sh. What a thread did counts by the name and the user that it had then: the workload counts by both.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
choose_event
[ "$(uname -m)" = aarch64 ] && ! have_kprobes && skip_all "this workload makes another call here"

# sum KIND GUISE: of the workload's own figures, by a regular expression of NAME/UID
sum()
{
    awk -v kind="$1" -v guise="^$2\$" '$1 == kind && $2 ~ guise { sum += $3 } END { print sum + 0 }' "$scratch/it.out"
}

# counts GUISE OPTION...: stackcount counts what the workload did in those guises, and nothing else
counts()
{
    guise=$1
    shift
    start_workload it guises -w -k -n 200
    trace_workload it stackcount -f -K "$@" "$EVENT"
    is "stackcount $*: each call in these guises, no other" "$status $(folded_sum "$scratch/out")" "0 $(sum count "$guise")"
    adds_up "stackcount $*: the account adds up"
}

for way in bpf rings; do
    counts 'red/.*' --collect $way --comm red
    counts '(red|blue)/.*' --collect $way --comm red,blue
    counts '(red|green)/.*' --collect $way --comm red --comm green
    counts 'guise/.*' --collect $way --comm guise
done
counts '.*/4242' --uid 4242
counts '.*/424[34]' --uid 4243,4244
counts '.*/4244' -u 4244
counts 'blue/4243' --comm blue --uid 4243
counts 'no/.*' --comm nobody-has-this-name

# Rings have no records of setuid(2): their reader asks /proc. Users that do not change are exact.
start_workload it calls -w -k -n 500
trace_workload it stackcount -f -K --collect rings --uid "$(id -u)" -p "$(pid_of it)" "$EVENT"
is "rings: --uid: all calls of this user" "$(folded_sum "$scratch/out")" 500
start_workload it calls -w -k -n 500
trace_workload it stackcount -f -K --collect rings --uid 4242 -p "$(pid_of it)" "$EVENT"
is "rings: --uid: no calls of another" "$(folded_sum "$scratch/out")" 0

# With a command, and with -p: all filters must hold.
run_stackbox stackcount -f -K --comm green "$EVENT" -- "$WORKLOADS/guises" -n 50
cp "$scratch/err" "$scratch/it.out"
is "--comm with -- COMMAND: its threads of that name" "$(folded_sum "$scratch/out")" "$(sum count 'green/.*')"
start_workload it guises -w -k -n 50
trace_workload it stackcount -f -K --comm green -p $$ "$EVENT"
is "--comm and -p: both must hold" "$(folded_sum "$scratch/out")" 0

# Samples: two programs with different names and users, of which one is traced.
ln -s "$WORKLOADS/burn" "$scratch/hot$$"
samples()
{
    start_workload hot deny --uid 4242 -- "$scratch/hot$$" -s 500 -w -k -N "hot$$"
    start_workload cold burn -s 500 -w -k -N "cold$$"
    trace_workload "hot cold" profile -f -F 997 "$@"
    is "profile $*: that program, and no other" "$(cut -d ';' -f 1 "$scratch/out" | sort -u)" "hot$$"
    least=$(($(count_of hot greater_least) + $(count_of hot lesser_least) - 10))
    # A stalled emulated CPU takes one sample for many ticks.
    [ -z "$GUEST" ] || least=1
    between "profile $*: its samples" "$(folded_sum "$scratch/out")" $least $(($(count_of hot wall_most) + 10))
}
samples --comm "hot$$"
samples --uid 4242
samples -p "hot$$"

# Event by event.
start_workload it guises -w -k -n 20
trace_workload it stacksnoop -K --comm red --uid 4243 "$EVENT"
is "stacksnoop --comm --uid: each such event" "$(grep -c '^[0-9.]* *red ' "$scratch/out") $(grep -c '^[0-9.]* *[a-z]' "$scratch/out")" \
    "$(sum count red/4243) $(sum count red/4243)"

# Names of processes.
start_workload one calls -w -k -n 30
start_workload two calls -w -k -n 40
ln -s "$WORKLOADS/calls" "$scratch/a-long-name-of-a-program"
start_workload long "$scratch/a-long-name-of-a-program" -w -k -n 50
trace_workload "one two long" stackcount -f -K -p a-long-name-of-a-program "$EVENT"
is "-p NAME: the process of that name" "$(folded_sum "$scratch/out") $(cat "$scratch/err" | grep -v '^Tracing')" "50 "
twin=twin$$ # no other process has this name
ln -s "$WORKLOADS/calls" "$scratch/$twin"
start_workload one "$scratch/$twin" -w -k -n 30
start_workload two "$scratch/$twin" -w -k -n 40
trace_workload "one two" stackcount -f -K -p $twin "$EVENT"
# In the order of their pids, which may have wrapped around
both=$({ pid_of one; pid_of two; } | sort -n | paste -s -d ,)
is "-p NAME: all processes of that name, and says which" \
    "$(folded_sum "$scratch/out") $(sed -n 's/^stackcount: -p [^:]*: 2 processes: //p' "$scratch/err" | tr -d ' ')" "70 $both"
start_workload one calls -w -k -n 30
run_stackbox stackcount -p callz "$EVENT"
is "-p NAME: none" "$status $(cat "$scratch/err")" \
    "2 stackcount: -p: there is no process named \"callz\"; near: calls (see stackcount -h)"
drop_workload one
