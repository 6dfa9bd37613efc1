#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,newest
# host: yes
#
# A process that runs two programs in turn, with different functions at the same addresses, and very short
# processes: each stack gets the names of the program that it was taken from.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"

# No other process has this name.
NAME=exec$$
N=500 MANY=200
[ -z "$GUEST" ] || N=100 MANY=40
choose_event
# The walk counts no execs and exits, as kernels.md says; rings do.
! older_than 4.14 || EVENT=t:syscalls:sys_enter_getppid

# turns NAME OPTION...: four rounds of one process; PID stands for its pid in the options
turns()
{
    name=$1
    shift
    start_workload one north -w -k -n $N -r 4 -N $NAME "$WORKLOADS/south"
    # shellcheck disable=SC2046 # words
    trace_workload one stackcount -f -U $(printf '%s\n' "$@" | sed "s/^PID\$/$(pid_of one)/")
    is "$name: the workload made all its calls" \
        "$(count_of one north | tr '\n' ' ')$(count_of one south | tr '\n' ' ')" "$N $N $N $N "
    grep "^$NAME;" "$scratch/out" >"$scratch/mine"
    is "$name" "$(user_stacks "$scratch/mine")" "main;north_outer;north_inner $((2 * N))
main;south_outer;south_inner $((2 * N))"
}

# whole NAME WORKLOAD EXPECTED "OPTION..." WORKLOAD-OPTION...: the stacks of a workload and its
# children are right
whole()
{
    name=$1 workload=$2 expected=$3 options=$4
    shift 4
    start_workload one "$workload" -w -N $NAME "$@"
    # shellcheck disable=SC2086 # words
    start_tracing stackcount -f -U $options
    finish_workload one
    finish_stackbox
    if grep '^skip' "$scratch/one.out" >"$scratch/why"; then
        skip "$name" "$(cat "$scratch/why")"
        return
    fi
    grep "^$NAME;" "$scratch/out" >"$scratch/mine"
    is "$name" "$(user_stacks "$scratch/mine")" "$expected"
}

# brief NAME CALLS "OPTION..." WORKLOAD-OPTION...: processes that live for milliseconds
brief()
{
    name=$1 calls=$2 options=$3
    shift 3
    start_workload one brief -w -k -N $NAME "$@"
    # shellcheck disable=SC2086 # words
    trace_workload one stackcount -f -U $options
    is "$name: the workload made all its calls" "$(calls_of one)" "$calls"
    grep "^$NAME;" "$scratch/out" >"$scratch/mine"
    case " $* " in
    *" -f "*) is "$name" "$(user_stacks "$scratch/mine")" \
        "main;run_one;live;brief_outer;brief_inner $calls" ;;
    *)        is "$name" "$(user_stacks "$scratch/mine")" \
        "main;live;brief_outer;brief_inner $calls" ;;
    esac
}

if ! [ "$GUEST" ]; then
    # The test only makes sense while this is true.
    is "both programs have their functions at the same addresses" \
        "$(nm "$WORKLOADS/north" | sed -n 's/north_/X_/p')" \
            "$(nm "$WORKLOADS/south" | sed -n 's/south_/X_/p')"
fi

turns "exec, one process" -p PID $EVENT
turns "exec, all processes" $EVENT
turns "exec, over intervals" -i 0.1 $EVENT
brief "$MANY processes" $((MANY * 10)) "$EVENT" -c $MANY -n 10
brief "$MANY forks" $((MANY * 10)) "$EVENT" -f -l 1000 -c $MANY -n 10
# (All of the second program's events may come before there is a table: no more than can be kept
# meanwhile.)
whole "exec by another thread" north "main;north_outer;north_inner 600
main;south_outer;south_inner 600" "$EVENT" -t -n 60 -r 20 "$WORKLOADS/south"
whole "one pid, three processes" reuse "main;north_outer;north_inner $N
main;reuse_outer;reuse_inner $N
main;south_outer;south_inner $N" "$EVENT" -n $N "$WORKLOADS/north" "$WORKLOADS/south"
whole "the leader ends first" chains "thread_b;chain_b1;chain_b2;target $N" "$EVENT" -x -m $N
brief "$MANY processes by vfork" $((MANY * 10)) "$EVENT" -v -c $MANY -n 10
brief "$MANY processes over intervals" $((MANY * 10)) "-i 0.1 $EVENT" -c $MANY -n 10

if have_uprobes; then
    turns "exec, user probes" "$WORKLOADS/north:north_inner" "$WORKLOADS/south:south_inner"
    whole "the leader ends first, a user probe" chains "thread_b;chain_b1;chain_b2;target $N" \
        "$WORKLOADS/chains:target" -x -m $N
    brief "$MANY processes, a user probe" $((MANY * 5)) "$WORKLOADS/brief:brief_inner" -c $MANY \
        -n 5
    brief "$MANY forks, a user probe" $((MANY * 5)) "$WORKLOADS/brief:brief_inner" -f -l 1000 \
        -c $MANY -n 5
else
    skip "user probes" "this kernel has none"
fi

# The leader ended before tracing began: then /proc/PID/maps is empty, although the process has
# mappings.
start_workload one chains -w -k -x -m $N -N $NAME
start_tracing stackcount -f -U -p "$(pid_of one)" $EVENT
go one
finish_stackbox
is "a process without its leader" "$(user_stacks "$scratch/out")" \
    "thread_b;chain_b1;chain_b2;target $N"
drop_workload one
