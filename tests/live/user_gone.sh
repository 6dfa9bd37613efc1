#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,newest
# host: yes
# quiet
#
# Programs and libraries that are gone before the report: removed, replaced, overwritten, unloaded.
# Names are those of the code that ran, never of its replacement: north and south have different
# functions at the same addresses.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_syscall_tracepoints || skip_all "this kernel has no tracepoints of system calls"

# No other process has this name.
NAME=gone$$
N=200
EVENT=t:syscalls:sys_enter_getppid
RIGHT="main;north_outer;north_inner $N"
mkdir "$scratch/bin"
it=$scratch/bin/it

fresh()
{
    rm -f "$it" "$scratch/bin/next"
    cp "$WORKLOADS/north" "$it"
    cp "$WORKLOADS/south" "$scratch/bin/next"
}

replace()
{
    mv "$scratch/bin/next" "$it"
}

# verdict NAME [STACKS]: the workload's stacks are right
verdict()
{
    grep "^$NAME;" "$scratch/out" >"$scratch/mine"
    is "$1" "$(user_stacks "$scratch/mine")" "${2:-$RIGHT}"
}

# Files are opened when stackbox hears of processes, which on a loaded machine can be after they
# ended.
be_heard()
{
    sleep 0.3
}

# trace ARG...
trace()
{
    start_tracing stackcount -f -U "$@"
}

# Before the report it ends, and another program takes its path.
for event in $EVENT "$it:north_inner"; do
    case $event in
    t:*) how="a tracepoint" ;;
    *)   how="a user probe"
         have_uprobes || continue ;;
    esac
    fresh
    start_workload one "$it" -w -n $N -N $NAME
    trace "$event"
    go one
    finish_workload one
    replace
    finish_stackbox
    verdict "ended and replaced, $how"

    fresh
    trace "$event"
    start_workload one "$it" -n $N -N $NAME
    wait_workload one
    be_heard
    rm "$it"
    finish_stackbox
    verdict "started, ended and removed while tracing, $how"

    fresh
    start_workload one "$it" -w -k -n $N -N $NAME
    trace -p "$(pid_of one)" "$event"
    replace
    go one
    finish_stackbox
    finish_workload one
    verdict "replaced while it runs, $how"
done

fresh
start_workload one "$it" -w -k -n $N -N $NAME
replace
trace $EVENT
go one
finish_stackbox
finish_workload one
verdict "replaced before tracing began"

fresh
start_workload one "$it" -w -n $N -N $NAME
rm "$it"
trace $EVENT
go one
finish_workload one
finish_stackbox
verdict "removed before tracing began, and ended"

# The same file with other contents: names may be missing then, but must not be the new ones.
fresh
start_workload one "$it" -w -n $N -N $NAME
trace $EVENT
go one
finish_workload one
cat "$WORKLOADS/south" >"$it"
"$WORKLOADS/calls" -n 1 >"$scratch/another" # the report reads its file, too
finish_stackbox
is "overwritten: all calls are counted" "$(folded_sum "$scratch/out" "^$NAME;")" $N
lacks "overwritten: no names from the new contents" "$scratch/out" south_
contains "overwritten: it is reported" "$scratch/err" "$it was modified after it was mapped"

# One path, three programs, one after the other.
fresh
trace $EVENT
start_workload one "$it" -n $N -N $NAME
wait_workload one
be_heard
replace
start_workload two "$it" -n $((2 * N)) -N $NAME
wait_workload two
be_heard
fresh
start_workload three "$it" -n $((4 * N)) -N $NAME
wait_workload three
be_heard
rm "$it"
finish_stackbox
verdict "one path, three programs" "main;north_outer;north_inner $((5 * N))
main;south_outer;south_inner $((2 * N))"

# Many processes, each with a file of its own, which is deleted once the process has ended and the
# file was opened: when stackbox hears of a process depends on load.
COPIES=100 LIFE=5000
[ -z "$GUEST" ] || COPIES=50
trace $EVENT
start_workload one brief -c $COPIES -l $LIFE -n 10 -N $NAME -x "$stackbox" -d "$scratch/bin" -o "$WORKLOADS/south"
wait_workload one
finish_stackbox
is "$COPIES copies: they made all their calls" "$(calls_of one)" $((COPIES * 10))
verdict "$COPIES copies, each removed and its path taken" \
    "main;live;brief_outer;brief_inner $((COPIES * 10))"

if [ "$GUEST" ] || ! [ -x "$WORKLOADS/dynamic/loads" ]; then
    exit 0
fi

# Libraries that are loaded after tracing began.
libraries()
{
    cp "$WORKLOADS/dynamic/libnorth.so" "$WORKLOADS/dynamic/libsouth.so" "$scratch/bin/"
}
BOTH="main;call_inside;north_lib_outer;north_lib_inner $N
main;call_inside;south_lib_outer;south_lib_inner $N"

for stay in -k -c; do
    libraries
    start_workload one dynamic/loads -w $stay -n $N -N $NAME "$scratch/bin/libnorth.so"
    trace $EVENT
    go one
    [ $stay = -k ] || finish_workload one
    mv "$scratch/bin/libsouth.so" "$scratch/bin/libnorth.so"
    finish_stackbox
    finish_workload one
    verdict "a library loaded meanwhile and replaced ($stay)" \
        "main;call_inside;north_lib_outer;north_lib_inner $N"
done
libraries
start_workload one dynamic/loads -w -k -n $N -N $NAME "$scratch/bin/libnorth.so" \
    "$scratch/bin/libsouth.so"
trace -p "$(pid_of one)" $EVENT
go one
rm "$scratch/bin/libnorth.so" "$scratch/bin/libsouth.so"
finish_stackbox
finish_workload one
verdict "two libraries loaded meanwhile and removed" "$BOTH"

if have_uprobes; then
    libraries
    start_workload one dynamic/loads -w -k -n $N -N $NAME "$scratch/bin/libnorth.so" \
        "$scratch/bin/libsouth.so"
    trace -p "$(pid_of one)" "$scratch/bin/libnorth.so:north_lib_inner" \
        "$scratch/bin/libsouth.so:south_*_inner"
    go one
    finish_stackbox
    finish_workload one
    verdict "probes of libraries that are loaded later" "$BOTH"
fi

# Without a free descriptor its file cannot be opened: that is reported.
if have_uprobes; then
    (sleep 0.5 && "$WORKLOADS/many" -n 3 >/dev/null) &
    (
        ulimit -n 100
        run_stackbox stackcount -f -U -D 2 "$WORKLOADS/many:many_000"
    )
    wait $!
    is "no descriptor left: all calls are counted" "$(folded_sum "$scratch/out" ';\[many\] ')" 3
    contains "no descriptor left: it is reported" "$scratch/err" \
        "files were not opened, for lack of file descriptors"
fi
