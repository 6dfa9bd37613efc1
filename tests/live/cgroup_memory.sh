#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: newest,5.10
# kernels: 5.10
# host: yes
# later: it fills memory, up to the limit
#
# Within a cgroup's memory limit, its own or an ancestor's: by its own count the kernel kills
# nothing there; answers are right, or one sentence says what is missing. On 5.10 by cgroup v1, in
# other guests by v2, on this machine by the version that it has.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
choose_event

# ---- a hierarchy with memory in it

mkdir "$scratch/groups"
version=
if [ "$GUEST" != 5.10 ] && mount -t cgroup2 cgroup2 "$scratch/groups" 2>"$scratch/why"; then
    if grep -qw memory "$scratch/groups/cgroup.controllers"; then
        echo +memory >"$scratch/groups/cgroup.subtree_control" 2>"$scratch/why" && version=2
    fi
    [ "$version" ] || umount "$scratch/groups"
fi
if [ ! "$version" ] && mount -t cgroup -o memory memory "$scratch/groups" 2>"$scratch/why"; then
    version=1
fi
[ "$version" ] || skip_all "this kernel has no memory cgroups: $(cat "$scratch/why")"
outer=$scratch/groups/outer$$ inner=$scratch/groups/outer$$/inner
mkdir "$outer" || skip_all "no cgroup can be made here"
[ $version = 1 ] || echo +memory >"$outer/cgroup.subtree_control"
[ $version != 1 ] || [ ! -f "$outer/memory.use_hierarchy" ] ||
    echo 1 >"$outer/memory.use_hierarchy" 2>/dev/null || true
printf '#!/bin/sh\necho 0 >%s/cgroup.procs\nexec "$@"\n' "$inner" >"$scratch/inside"
chmod +x "$scratch/inside"

# limit GROUP MB
limit()
{
    if [ $version = 2 ]; then
        echo "$2M" >"$1/memory.max"
    else
        echo "$2M" >"$1/memory.limit_in_bytes"
    fi
}

# killed: how many processes the kernel has killed in the inner cgroup
killed()
{
    if [ $version = 2 ]; then
        sed -n 's/^oom_kill //p' "$inner/memory.events"
    else
        sed -n 's/^oom_kill //p' "$inner/memory.oom_control"
    fi
}

# within MB [GROUP]: a new inner cgroup, with this limit or within it
within()
{
    mkdir "$inner"
    limit "${2:-$inner}" "$1"
}

# without: it is empty again, and gone; a limit above it, too
without()
{
    wait_until 20 rmdir "$inner" 2>/dev/null || fail "the cgroup is empty" "$(cat "$inner/cgroup.procs")"
    [ $version = 2 ] && echo max >"$outer/memory.max" || echo -1 >"$outer/memory.limit_in_bytes"
}

# ---- what runs there

under=$scratch/inside

# traced NAME [OPTION...]: each applet there has the right answer
traced()
{
    name=$1
    shift
    start_workload one calls -w -k -n 2000
    trace_workload one stackcount -f -p "$(pid_of one)" "$@" "$EVENT"
    # Only perf's rings are too small here for all events at once.
    lost=$(sed -nE 's/.*: ([0-9,]+) (of [0-9,]+ )?events.* were lost: they came faster.*/\1/p' "$scratch/err" | tr -d ,)
    is "$name: stackcount: counted + lost = calls" "$(($(folded_sum "$scratch/out") + ${lost:-0})) $status" "2000 0"

    start_workload one burn -w -k -s 300 -N burner
    trace_workload one profile -f -F 199 "$@"
    [ "$(folded_sum "$scratch/out" '^burner;.*;greater')" -gt 0 ] &&
        pass "$name: profile finds the busy function" ||
        fail "$name: profile finds the busy function" "$(tail -n 3 "$scratch/err")"

    if [ $# = 0 ] || ! skip_deaf "$name: offcputime"; then # with an option it is by rings
        start_workload one sleeps -w -k -o nap -n 5
        trace_workload one offcputime -f "$@"
        is "$name: offcputime finds the sleeping thread" \
            "$(grep -c '^nap;.*;nap_outer;nap_inner;' "$scratch/out")" 1
    fi

    start_workload one calls -w -k -n 100
    trace_workload one stacksnoop "$@" -p "$(pid_of one)" "$EVENT"
    is "$name: stacksnoop: each call is printed" "$(grep -c '^[0-9].* calls .*getppid' "$scratch/out")" 100
    is "$name: nothing was killed" "$(killed)" 0
}

within 200
start_workload eater "$scratch/inside" "$WORKLOADS/eater" -w -m 166
traced "beside a program with 166 of 200 MB"
finish_workload eater
is "beside a program with 166 of 200 MB: it was left alone" "$? $(cat "$scratch/eater.out")" "0 ready"
without

for megabytes in 64 48 24; do
    within $megabytes
    traced "in $megabytes MB"
    without
done
within 32 "$outer"
traced "in 32 MB of the cgroup above" --collect rings
traced "in 32 MB of the cgroup above"
without

within 8
for applet in stackcount profile stacksnoop; do
    [ $applet = profile ] && run_stackbox profile -D 1 || run_stackbox $applet -D 1 "$EVENT"
    is "in 8 MB: $applet says what it needs" "$status $(grep -c . "$scratch/err") $(
        grep -c "^$applet: only [0-9.]* of 8.0 MB of memory are left by /.*/inner/memory\." "$scratch/err")" "1 1 1"
done
is "in 8 MB: nothing was killed" "$(killed)" 0
without

# The kernel charges the page cache, too, and reclaims it when memory is needed.
within 64
"$scratch/inside" sh -c 'dd if=/dev/zero of="$1" bs=1024k count=60; sync "$1"; cat "$1"' sh "$scratch/cached" >/dev/null 2>&1
if awk '/^(total_)?inactive_file/ { sum += $2 } END { exit sum < 30 * 1024 * 1024 }' "$inner/memory.stat"; then
    traced "in 64 MB full of file cache"
    lacks "in 64 MB full of file cache: there is room for tables" "$scratch/err" "too little free memory"
else
    skip "in 64 MB full of file cache" "files are kept in memory here"
fi
rm -f "$scratch/cached"
without
rmdir "$outer"
