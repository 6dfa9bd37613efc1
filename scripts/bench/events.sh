# SPDX-License-Identifier: MIT OR GPL-2.0-only
# shellcheck shell=sh disable=SC2034,SC2154 # variables that are of bench.sh and all its parts
#
# What a BPF program takes each time it runs, by the kernel's own figures: events, stacks whose place is
# taken, samples.

events=100000
event=syscalls:sys_enter_getppid

# of_floor KEY OPTION... -- COMMAND...: the minimum that can be done; the program prints the figure
# itself
of_floor()
{
    key=$1
    shift
    figure "$key" floor "$("$tools/floor" "$@" 2>/dev/null | sed -n 's/^ns per event: //p')"
}

# of_tracer KEY WHO COMMAND...: the cost of COMMAND's events to the tracer started last, after $warm has
# shown it the stacks: what matters is not the first time each stack comes, but all the others
of_tracer()
{
    key=$1 who=$2
    shift 2
    $warm >/dev/null
    sleep 0.4
    before=$(runs_of "$tracer")
    "$@" >/dev/null && figure "$key" "$who" "$(ns_per_run "$before" "$(runs_of "$tracer")")"
    end_tracer
}

# counted KEY OPTION BPFTRACE-KEY: with kernel and user stacks, or one of them
counted()
{
    # shellcheck disable=SC2086 # no option is no word
    of_floor "$1" $2 syscalls sys_enter_getppid "$workloads/calls" -n $events
    # shellcheck disable=SC2086
    begin_stackbox stackcount $2 -f t:$event &&
        of_tracer "$1" stackbox "$workloads/calls" -n $events
    # shellcheck disable=SC2086
    [ "$bcc" ] && begin_bcc stackcount -P $2 t:$event &&
        of_tracer "$1" bcc "$workloads/calls" -n $events
    [ "$bpftrace" ] && begin_bpftrace "t:$event { @[$3] = count(); }" &&
        of_tracer "$1" bpftrace "$workloads/calls" -n $events
}

part_events()
{
    warm="$workloads/calls -n 1000"
    keep_figures 1
    counted event '' 'kstack, ustack, comm, pid'
    counted event.kernel -K kstack
    # ply has no user stacks.
    [ "$ply" ] && begin_ply "tracepoint:$(echo $event | tr : /) { @[stack] = count(); }" &&
        of_tracer event.kernel ply "$workloads/calls" -n $events
    counted event.user -U 'ustack, comm, pid'
    keep_figures 0
}

# least VALUE VALUE: the smaller number; the first may be missing
least()
{
    echo "$1 $2" | awk '{ print NF == 2 && $1 < $2 ? $1 : $NF }'
}

# Whole runs, including what they cost the command in the kernel. Other load on the machine changes a run by
# more than the two differ: so they take turns, and the minimum of each is kept.
part_rings()
{
    ours='' theirs=''
    for turn in 1 2 3 4 5; do
        cost ./stackbox stackcount --collect rings --unwind fp -f t:$event -- "$workloads/calls" -n 500000
        ours=$(least "$ours" "$cpu")
        [ "$perf" ] || continue
        cost "$perf" record -q -g -e $event -o "$out/perf.rings" -- "$workloads/calls" -n 500000
        theirs=$(least "$theirs" "$cpu")
        rm -f "$out/perf.rings"
    done
    figure rings.cpu stackbox "$ours"
    figure rings.cpu perf "$theirs"
}

# In a stack map with one slot, the first stack takes it: the kernel's of the first event. The user's
# stack differs each time. If something else came first, neither gets a slot.
part_collisions()
{
    warm="$workloads/calls -n 1000"
    keep_figures 1
    of_floor collision.one syscalls sys_enter_getppid "$workloads/calls" -n $events
    begin_stackbox stackcount --stack-storage-size 1 -f t:$event &&
        of_tracer collision.one stackbox "$workloads/calls" -n $events
    of_floor collision.both syscalls sys_enter_getppid "$workloads/calls" -n $events
    if begin_stackbox stackcount --stack-storage-size 1 -f t:sched:sched_process_exit t:$event; then
        "$workloads/calls" -n 0 >/dev/null
        of_tracer collision.both stackbox "$workloads/calls" -n $events
    fi
    keep_figures 0
}

# All CPUs are busy: no tool gains by leaving idle ones out.
part_samples()
{
    burn="$workloads/deep -t $(nproc) -s 700 -f 25"
    warm="$workloads/deep -t $(nproc) -s 100 -f 25"
    keep_figures 1
    # shellcheck disable=SC2086 # words
    of_floor sample -F 997 $burn
    # shellcheck disable=SC2086
    begin_stackbox profile -f -F 997 && of_tracer sample stackbox $burn
    # shellcheck disable=SC2086
    [ "$bcc" ] && begin_bcc profile -F 997 && of_tracer sample bcc $burn
    # shellcheck disable=SC2086
    [ "$bpftrace" ] && begin_bpftrace 'profile:hz:997 { @[kstack, ustack, comm, pid] = count(); }' &&
        of_tracer sample bpftrace $burn
    keep_figures 0
}
