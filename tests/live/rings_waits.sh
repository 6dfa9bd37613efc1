#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 5.10
# kernels: newest
# host: no
#
# Waits from rings, for one cgroup: a switch to a thread is recorded in the name of the one that leaves, which
# may be in another cgroup.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
case $(uname -r) in
4.[0-9].* | 4.10.*) skip_all "perf supports cgroup v2 from Linux 4.11 on" ;;
esac
mkdir "$scratch/cgroups"
mount -t cgroup2 none "$scratch/cgroups" 2>"$scratch/why" || skip_all "no cgroup v2: $(cat "$scratch/why")"
# If the root cgroup does not delegate perf_event, perf does not recognize a cgroup below it.
cgroup=$scratch/cgroups/bare$$
if mkdir "$cgroup" && ! grep -q . "$scratch/cgroups/cgroup.subtree_control"; then
    run_stackbox offcputime --collect rings --cgroup "$cgroup" 0.1
    [ "$status" = 0 ] || contains "a cgroup that perf does not recognize is refused" "$scratch/err" \
        "perf does not see this cgroup: enable a controller in its parent"
fi
rmdir "$cgroup"
echo +pids >"$scratch/cgroups/cgroup.subtree_control"
mine=$scratch/cgroups/test$$
mkdir "$mine" "$mine/below" || skip_all "no cgroup can be made"

# waits_in CGROUP NAME: starts a workload in that cgroup, which waits until `go`
waits_in()
{
    echo $$ >"$1/cgroup.procs"
    start_workload "$2" calls -w -n 1 -N "$2"
    echo $$ >"$scratch/cgroups/cgroup.procs"
    # On a loaded CPU a thread has yet to reach its wait when its process says that it is ready.
    wait_until 20 all_sleep "$2" || fail "$2" "its threads do not wait: $(states_of "$2")"
}
states_of()
{
    sed 's/.*) //; s/ .*//' /proc/"$(pid_of "$1")"/task/*/stat | tr -d '\n'
}
all_sleep()
{
    [ "$(states_of "$1")" = SS ]
}

for applet in offcputime wakeuptime offwaketime; do
    start_tracing $applet --collect rings -f --cgroup "$mine"
    begun=$(cut -d ' ' -f 1 /proc/uptime)
    waits_in "$mine" inside
    waits_in "$mine/below" below
    waits_in "$scratch/cgroups" outside
    sleep 2
    for name in inside below outside; do
        go $name
        finish_workload $name
    done
    most=$(echo "$begun $(cut -d ' ' -f 1 /proc/uptime)" | awk '{ print int(($2 - $1) * 1000000) }')
    finish_stackbox
    is "$applet: exit status" $status 0
    for name in inside below; do
        between "$applet: threads that wait $name are counted" \
            "$(folded_sum "$scratch/out" "(^|;)$name[; ]")" \
            4000000 $((2 * most))
    done
    is "$applet: no threads outside" "$(grep -c outside "$scratch/out")" 0
    is "$applet: all waits end" "$(grep -c 'not seen running' "$scratch/err")" 0
done
rmdir "$mine/below" "$mine"
