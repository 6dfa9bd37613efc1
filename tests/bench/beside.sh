#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# What scripts/beside.sh --guest runs in a guest whose root has the peers. Each line of the results comes after
# `@row`; if one is not right, the tool's output follows it. In emulation, a compiler takes a minute.

# shellcheck source=tests/live/lib.sh
. "${0%/*}/../live/lib.sh"

export PATH=/usr/sbin:/usr/bin:/sbin:/bin
export BUILT=1 NOTE=emulated LIMIT=400 PATIENCE=700 PAUSE=0.5
mount -t debugfs debugfs /sys/kernel/debug
mount -t tracefs tracefs /sys/kernel/tracing
modprobe loop # since no udev has made /dev/loop-control
ln -s /proc/self/fd /dev/fd # bpftrace compiles into one
ln -s /workloads/* /build/release/workloads/
# Not sh, which is busybox: its own applets take precedence over all other programs.
KEEP=/tmp/kept dash /scripts/beside.sh --results /tmp/results --only "$(cat /build/beside/only)" |
    while IFS= read -r row; do
        printf '@row\t%s\n' "$row"
        case $row in
        *wrong* | *cut* | *none*) head -v -n 25 /tmp/kept.*/tracer.??? /tmp/kept.*/workload.out ;;
        esac
        rm -rf /tmp/kept.*
    done
between "rows" "$(grep -vc '^#' /tmp/results)" 1 1000
