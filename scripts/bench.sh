#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# bench.sh [--quick | --rounds N] [--only PART[,PART]] [--peers KERNEL]
#
#   --quick, --rounds N   3 rounds, N rounds; else 9
#   --only PART,...       of events rings collisions samples unwind waits start crowd attach kernel_functions
#                         full names mangled folded memory size share (which takes 13 minutes)
#   --peers KERNEL        not the installed peers, but those of the Debian that has this KERNEL (see
#                         scripts/kernels.sh), in a root directory of their own: newest has the newest of each
#
# What stackbox costs, compared with the minimum possible and with the installed tools: bcc, bpftrace,
# libbpf-tools, perf, ply. In each round all of them do the same work, one after another; so a machine whose
# speed drifts treats all tools alike, and ratios are of two values from the same round.
#
# The parts are in scripts/bench/*.sh, figures and their units in scripts/bench/rows.tsv. The values of each
# round go to build/bench/raw.tsv, medians and ratios to build/bench/results.tsv, and the table that is printed
# to build/bench/results.txt. `make bench-readme` puts them into src/docs/costs.md, and the comparisons with
# peers into README.md.
#
# bench.sh --guest KERNEL [--quick | --rounds N]
#
#   In an emulated guest, whose kernel has probes on its functions: tests/bench/guest.sh. Only ratios are
#   meaningful there. They go to build/bench/guest-KERNEL.tsv.

set -u
umask 022
exec </dev/null
cd "$(dirname "$0")/.." || exit 1
PATH=$PATH:/usr/sbin:/sbin
tools=build/release/bench
workloads=build/release/workloads
results=build/bench
out=$results/work
rounds=9
parts="events rings collisions samples unwind waits start crowd attach kernel_functions full names mangled folded memory size share"
guest= peers_of=

usage()
{
    sed -n 's/^# \(bench\.sh\)/usage: \1/p' scripts/bench.sh >&2
    exit 2
}

while [ $# -gt 0 ]; do
    case $1 in
    --quick)  rounds=3; shift; continue ;;
    --rounds) rounds=${2:-} ;;
    --only)   parts=$(echo "${2:-}" | tr , ' ') ;;
    --peers)  peers_of=${2:-} ;;
    --guest)  guest=${2:-} ;;
    *)        usage ;;
    esac
    shift 2 || usage
done
case $rounds in
'' | *[!0-9]* | 0) usage ;;
esac

. scripts/bench/lib.sh
. scripts/bench/peers.sh
. scripts/bench/events.sh
. scripts/bench/runs.sh
. scripts/bench/full.sh
. scripts/bench/names.sh
. scripts/bench/mangled.sh
. scripts/bench/folded.sh
. scripts/bench/waits.sh
. scripts/bench/unwind.sh
. scripts/bench/share.sh

# What the figures were measured on
machine()
{
    printf '# %s\t%s\n' date "$(date -u +%Y-%m-%d)" kernel "$(uname -r)" \
        cpus "$(nproc) CPUs ($(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1))" \
        rounds "$rounds" stackbox "$(./stackbox --version | sed 's/^stackbox //')"
    peers_versions
}

# show RESULTS AWK-OPTION...
show()
{
    file=$1
    shift
    awk "$@" -f scripts/bench/table.awk "$file" | tee "${file%.tsv}.txt"
}

run_guest()
{
    log=$results/guest-$guest.log
    echo "$rounds" >$out/rounds
    sh scripts/guest.sh --name "$guest" --log "$log" --timeout 900 --test-timeout 800 \
        --file $tools/floor --file $tools/cost --file $out/rounds "$guest" -- tests/bench/guest.sh ||
        exit 1
    tr ' ' '\t' <"$log" | sed -n 's/^@figure	//p' >"$results/guest-$guest.raw.tsv"
    {
        machine_of_guest
        awk -f scripts/bench/reduce.awk scripts/bench/rows.tsv "$results/guest-$guest.raw.tsv"
    } >"$results/guest-$guest.tsv" || exit 1
    show "$results/guest-$guest.tsv" -v ratios=1
}

machine_of_guest()
{
    printf '# %s\t%s\n' date "$(date -u +%Y-%m-%d)" rounds "$rounds" \
        kernel "$(sed -n 's/^@init \([^,]*\),.*/\1/p' "$log"), emulated"
}

# Mounts tracefs in a mount namespace of its own, for tools that do not mount it themselves: where
# distributions have it, and where ply looks for it.
in_own_mounts()
{
    [ -d /sys/kernel/tracing/events ] && return
    [ -z "${BENCH_UNSHARED:-}" ] || { echo "bench.sh: tracefs cannot be mounted" >&2; exit 1; }
    BENCH_UNSHARED=yes exec unshare -m sh -c 'mount -t tracefs none /sys/kernel/tracing
        mount -t debugfs none /sys/kernel/debug && mount -t tracefs none /sys/kernel/debug/tracing
        exec sh scripts/bench.sh "$@"' sh \
        --rounds "$rounds" --only "$(echo "$parts" | tr ' ' ,)"
}

# Kills the programs that still run, and restores bpf_stats_enabled.
clean_up()
{
    # shellcheck disable=SC2086 # words
    kill ${tracer:-} ${crowd:-} ${going:-} 2>/dev/null
    echo "$stats" >/proc/sys/kernel/bpf_stats_enabled
    rm -rf $out
}

[ "$(id -u)" = 0 ] || { echo "bench.sh: tracing needs root" >&2; exit 1; }
if [ -z "${BUILT:-}" ]; then
    sh scripts/setup.sh build || exit 1
    make -s stackbox workloads benches || exit 1
fi
rm -rf $out
mkdir -p $out || exit 1
if [ "$guest" ]; then
    run_guest
    exit
fi
for part in $parts; do
    command -v "part_$part" >/dev/null || usage
done
if [ "$peers_of" ]; then
    in_peers_root "$peers_of" sh scripts/bench.sh --rounds "$rounds" --only "$(echo "$parts" | tr ' ' ,)"
    exit
fi
in_own_mounts
find_peers
stats=$(cat /proc/sys/kernel/bpf_stats_enabled)
trap clean_up EXIT
trap 'exit 1' HUP INT TERM
keep_figures 0 || exit 1
: >$results/raw.tsv
case " $parts " in
*" names "*) prepare_names || exit 1 ;;
esac
case " $parts " in
*" mangled "*) prepare_mangled ;;
esac
case " $parts " in
*" folded "*) prepare_folded || exit 1 ;;
esac
begun=$(date +%s)
for round in $(seq "$rounds"); do
    for part in $parts; do
        printf '\rround %s of %s: %-20s' "$round" "$rounds" "$part" >&2
        "part_$part"
    done
done
printf '\r%s rounds in %s s%-30s\n' "$rounds" $(($(date +%s) - begun)) '' >&2
{
    machine
    awk -f scripts/bench/reduce.awk scripts/bench/rows.tsv $results/raw.tsv
} >$results/results.tsv || exit 1
show $results/results.tsv
