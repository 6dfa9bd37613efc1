#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# demo.sh       builds stackbox, then traces this machine for a few seconds with what its kernel
#               allows, shows the results, and leaves a flame graph of them

set -u
cd "$(dirname "$0")/.." || exit 1
sh scripts/setup.sh build || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL
make stackbox || exit 1

if [ "$(id -u)" != 0 ]; then
    echo "demo: built ./stackbox; tracing this machine needs root: sudo make demo"
    exit 1
fi

# Makes something happen on an idle machine: reads files, for five seconds at most.
busy()
{
    for _ in $(seq 50); do
        cat /proc/version /proc/stat >/dev/null
        sleep 0.1
    done
}
busy &
work=$!
trap 'kill "$work" 2>/dev/null' EXIT

echo "\$ ./stackbox check"
./stackbox check | grep -vE '^[^:]+: yes$'
echo "demo: everything else is a plain yes"
echo

show()
{
    echo "\$ ./stackbox $*"
    ./stackbox "$@"
    echo
}

# A kernel function if there are kprobes, otherwise a tracepoint.
if [ -d /sys/bus/event_source/devices/kprobe ]; then
    show stackcount -D 1 --top 3 vfs_read
else
    show stackcount -K -D 1 --top 3 t:sched:sched_process_exec
fi
show profile -F 997 --top 3 1
show offwaketime --top 3 1

# The same as a flame graph.
show offwaketime -o build/demo.svg 1
[ -s build/demo.svg ] || exit 1
echo "demo: the last one is a flame graph, build/demo.svg"
echo "demo: open it in any browser, here (file://$PWD/build/demo.svg) or elsewhere: it is one file"
echo "demo: click to zoom, Ctrl-F to search"
