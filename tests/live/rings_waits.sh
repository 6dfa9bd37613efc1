#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 5.10,newest
# host: no
#
# Waits by rings, of one cgroup: who comes to a CPU is told in the name of who leaves it, who may be of another.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
mkdir "$scratch/cgroups"
mount -t cgroup2 none "$scratch/cgroups" 2>"$scratch/why" || skip_all "no cgroup v2: $(cat "$scratch/why")"
# Below a root that hands nothing down a cgroup is none to perf.
cgroup=$scratch/cgroups/bare$$
if mkdir "$cgroup" && ! grep -q . "$scratch/cgroups/cgroup.subtree_control"; then
    run_stackbox offcputime --collect rings --cgroup "$cgroup" 0.1
    [ "$status" = 0 ] || contains "a cgroup that perf does not know" "$scratch/err" \
        "perf knows nothing of this cgroup: let one above it hand down a controller"
fi
rmdir "$cgroup"
echo +pids >"$scratch/cgroups/cgroup.subtree_control"
mine=$scratch/cgroups/test$$
mkdir "$mine" "$mine/below" || skip_all "no cgroup can be made"

# sleeper NAME CGROUP: naps four times, and others of that name beside it nap outside
sleeper()
{
    cp "$(command -v busybox)" "$scratch/$1"
    sh -c "echo \$\$ >$2/cgroup.procs; for i in 1 2 3 4; do '$scratch/$1' sleep 0.5; done"
}

for applet in offcputime wakeuptime offwaketime; do
    if start_stackbox $applet --collect rings -f --cgroup "$mine"; then
        begun=$(cut -d ' ' -f 1 /proc/uptime)
        sleeper inside "$mine" &
        sleeper below "$mine/below" &
        sleeper outside "$scratch/cgroups"
        # shellcheck disable=SC2046 # pids
        wait $(jobs -p | sed "/^$stackbox$/d")
        most=$(echo "$begun $(cut -d ' ' -f 1 /proc/uptime)" | awk '{ print int(($2 - $1) * 1000000) }')
        finish_stackbox
        is "$applet: exit status" $status 0
        for name in inside below; do
            between "$applet: four naps $name" "$(folded_sum "$scratch/out" "^\([^;]*;\)*$name[; ].*")" 2000000 "$most"
        done
        is "$applet: nobody outside" "$(grep -c '^outside;' "$scratch/out")" 0
        is "$applet: all waits end" "$(grep -c 'not seen to come' "$scratch/err")" 0
    else
        fail "$applet" "did not start: $(cat "$scratch/err")"
    fi
done
rmdir "$mine/below" "$mine"
