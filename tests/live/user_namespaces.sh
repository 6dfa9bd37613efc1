#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10
# host: yes
#
# A process with its own root, mount and pid namespace, traced from outside and from inside. Outside there is
# another program at the same path, with other functions at the same addresses: a name looked up in the wrong
# root is a wrong name.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_syscall_tracepoints || skip_all "this kernel has no tracepoints of system calls"
"$WORKLOADS/deny" --pid-namespace -- true 2>"$scratch/why" ||
    skip_all "no namespaces: $(cat "$scratch/why")"

# No other process has this name.
NAME=inside$$
N=200
EVENT=t:syscalls:sys_enter_getppid
RIGHT="main;north_outer;north_inner $N"
root=$scratch/root
bin=$scratch/bin
mkdir "$root" "$bin"
cp "$WORKLOADS/south" "$bin/it"

# The new root is a file system that cannot be seen from outside.
cat >"$scratch/inside.sh" <<'END'
mount -t tmpfs none "$root" || exit
mkdir -p "$root/proc" "$root/sys" "$root/tmp" "$root/lib64" "$root$bin"
chmod 1777 "$root/tmp"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
cp "$WORKLOADS/north" "$root$bin/it"
cp "$WORKLOADS/jit" "$WORKLOADS/session" "$root$bin/"
cp "$STACKBOX" "$root$bin/stackbox"
for library in $libraries; do
    mkdir -p "$root${library%/*}"
    cp "$library" "$root$library"
done
[ "$libraries" ] && cp "$WORKLOADS/dynamic/chains-pie" "$root$bin/chains"
# Pids inside should differ from those outside, and from 1.
chroot "$root" "$@" >"$scratch/inside.out" 2>&1 &
inside=$!
echo $inside >"$scratch/inside.pid"
if [ "$traced" ]; then
    tries=100
    until grep -q '^ready' "$scratch/inside.out" || [ $((tries -= 1)) = 0 ]; do
        sleep 0.1
    done
    # shellcheck disable=SC2086 # words
    chroot "$root" "$bin/session" --limit 60 "$bin/stackbox" stackcount -f -U -p $inside $traced \
        </dev/null >"$scratch/out" 2>"$scratch/err" &
    stackbox=$!
    tries=100
    until grep -q '^Tracing' "$scratch/out" "$scratch/err" || ! [ -d /proc/$stackbox ] ||
        [ $((tries -= 1)) = 0 ]; do
        sleep 0.1
    done
    kill -s USR2 $inside
    tries=100
    until grep -q '^done' "$scratch/inside.out" || [ $((tries -= 1)) = 0 ]; do
        sleep 0.1
    done
    kill -s INT $stackbox
    wait $stackbox
    kill -s USR2 $inside
fi
wait
END
export root bin scratch WORKLOADS STACKBOX
libraries=
if ! [ "$GUEST" ] && [ -x "$WORKLOADS/dynamic/chains-pie" ]; then
    libraries=$(ldd "$WORKLOADS/dynamic/chains-pie" | grep -o '/[^ ]*')
fi
export libraries

# outer_pid: the outer pid of the process with our name that was started last
outer_pid()
{
    grep -lx "$NAME" /proc/[0-9]*/comm 2>/dev/null | sed 's|/proc/\([0-9]*\)/.*|\1|' | sort -n |
        tail -n 1
}

# start_inside COMMAND...: starts a workload in the new root; its outer pid is in $outer
start_inside()
{
    : >"$scratch/inside.out"
    "$WORKLOADS/deny" --pid-namespace -- sh "$scratch/inside.sh" "$@" >"$scratch/log" 2>&1 &
    namespace=$!
    kill_at_end "$namespace"
    wait_until 20 grep -q '^ready' "$scratch/inside.out" ||
        fail "$1" "never ready: $(cat "$scratch/inside.out" "$scratch/log")"
    outer=$(outer_pid)
}

finish_inside()
{
    kill -s KILL "$outer"
    wait $namespace
}

# outside NAME EXPECTED PATTERN -- COMMAND...: traced from outside; PID in EXPECTED is the outer pid
outside()
{
    name=$1 expected=$2 pattern=$3
    shift 4
    traced='' start_inside "$@"
    start_tracing stackcount -f -U -p "$outer" "$pattern"
    kill -s USR2 "$outer"
    wait_until "$LIMIT" grep -q '^done' "$scratch/inside.out"
    finish_stackbox
    is "$name" "$(user_stacks "$scratch/out")" "$expected"
    finish_inside
}

# inside NAME EXPECTED PATTERN -- COMMAND...: traced from inside
inside()
{
    name=$1 expected=$2 pattern=$3
    shift 4
    : >"$scratch/out"
    : >"$scratch/err"
    : >"$scratch/inside.out"
    traced=$pattern "$WORKLOADS/deny" --pid-namespace -- sh "$scratch/inside.sh" "$@" \
        >"$scratch/log" 2>&1
    is "$name" "$(user_stacks "$scratch/out")" "$expected"
    [ "$(user_stacks "$scratch/out")" = "$expected" ] || sed 's/^/    /' "$scratch/err" \
        "$scratch/log"
}

traced=
export traced
IT="$bin/it -w -k -n $N -N $NAME"
JIT="$bin/jit -w -k -n $N -N $NAME"
CALLED="main;jit_outer_0;jit_inner_0;jit_target $N"

# shellcheck disable=SC2086 # words
{
    start_inside $IT
    is "outside, the path is another program's" \
        "$(cmp "$bin/it" "/proc/$outer/root$bin/it" >/dev/null 2>&1;
        echo $?)" 1
    is "inside, the pid is a different one" \
        "$(test "$(cat "$scratch/inside.pid")" != "$outer"; echo $?)" 0
    kill -s USR2 "$outer"
    wait_until 20 grep -q '^done' "$scratch/inside.out"
    finish_inside

    outside "from outside" "$RIGHT" $EVENT -- $IT
    outside "from outside, a perf map of the inner pid in the inner /tmp" "$CALLED" $EVENT -- $JIT
    inside "from inside" "$RIGHT" $EVENT -- $IT
    inside "from inside, a perf map" "$CALLED" $EVENT -- $JIT

    # Before the report it has ended, and its file system is gone.
    start_tracing stackcount -f -U $EVENT
    start_inside $IT
    kill -s USR2 "$outer"
    wait_until 20 grep -q '^done' "$scratch/inside.out"
    finish_inside
    finish_stackbox
    grep "^$NAME;" "$scratch/out" >"$scratch/mine"
    is "from outside, gone before the report" "$(user_stacks "$scratch/mine")" "$RIGHT"

    if have_uprobes; then
        outside "a user probe by a path inside" "$RIGHT" "$bin/it:north_inner" -- $IT
        inside "a user probe from inside" "$RIGHT" "$bin/it:north_inner" -- $IT
    else
        skip "user probes" "this kernel has none"
    fi
    if have_uprobes && [ "$libraries" ]; then
        CHAINS="$bin/chains -w -k -l -n $N -m $N -N $NAME"
        BOTH="main;chain_a1;chain_a2;target;getpgid $N
thread_b;chain_b1;chain_b2;target;getpgid $N"
        # In Debian's libc this function is __getpgid and, weak, getpgid.
        outside "a function of the inner libc" "$(echo "$BOTH" | sed 's/getpgid/__getpgid/')" \
            c:getpgid -- $CHAINS
        inside "a function of the inner libc, from inside" \
            "$(echo "$BOTH" | sed 's/getpgid/__getpgid/')" c:getpgid -- $CHAINS
    fi
}

# Two containers on overlayfs, where stat(2) gives other numbers than mappings, have another program at the same path.
cat >"$scratch/layers.sh" <<'END'
for layer in north south; do
    mkdir -p "$scratch/$layer/bin" "$scratch/of_$layer"
    cp "$WORKLOADS/$layer" "$scratch/$layer/bin/it"
    cp "$WORKLOADS/calls" "$scratch/$layer/bin/"
    mount -t overlay -o "lowerdir=$scratch/$layer:$bin" none "$scratch/of_$layer" || exit
done
for layer in $living; do
    chroot "$scratch/of_$layer" /bin/calls -w -k &
    calls="$calls $!"
done
read -r word <"$scratch/word"
for run in 1 2 3 4 5; do
    chroot "$scratch/of_south" /bin/it -n $N -N $NAME
done
echo ended
read -r word <"$scratch/word"
kill -s KILL $calls
END
calls=
export living N NAME calls
mkfifo "$scratch/word"

# layered LIVING: while containers with these programs live, processes of south end before stackbox hears of them
layered()
{
    living=$1
    unshare -m sh "$scratch/layers.sh" >"$scratch/inside.out" 2>"$scratch/log" &
    namespace=$!
    kill_at_end "$namespace"
    wait_until 20 grep -q '^ready' "$scratch/inside.out" || return
    start_tracing stackcount -f -U $EVENT
    kill -s STOP "$stackbox"
    echo go >"$scratch/word"
    wait_until 20 grep -q '^ended' "$scratch/inside.out"
    kill -s CONT "$stackbox"
    finish_stackbox
    echo end >"$scratch/word"
    wait $namespace
    grep "^$NAME;" "$scratch/out" >"$scratch/mine"
    is "overlayfs, $living: all are counted" "$(folded_sum "$scratch/mine")" $((5 * N))
    lacks "overlayfs, $living: no names of another container's program" "$scratch/mine" north
}

if layered north; then
    contains "overlayfs: that names are missing is reported" "$scratch/err" '/bin/it: it was gone before'
    layered "north south"
    is "overlayfs, found in the root of another process" "$(user_stacks "$scratch/mine")" \
        "main;south_outer;south_inner $((5 * N))"
else
    skip "overlayfs" "it cannot be mounted here: $(cat "$scratch/log")"
fi
run_stackbox stackcount -p 4194304 $EVENT
is "an unused pid is refused" "$status" 1
