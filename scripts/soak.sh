#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# soak.sh [MINUTES]
#
# Does an endless run stay stable? For MINUTES (120; at least 20) `profile -i 60 -F 99 --keep 20` of all CPUs
# runs together with short processes, libraries that are loaded and unloaded, containers (mount and pid
# namespaces) and a JIT. They are paced: together they take about a tenth of one CPU.
#
# Each minute, halfway between two reports, it writes to build/soak/figures.tsv what stackbox has and uses: its
# own memory, resident pages of files and maps, descriptors, memory of maps and programs in the kernel (those it
# has open), CPU time of its own and of its programs in the kernel. Afterwards they are plotted, in
# build/soak/soak.svg, and judged: none may grow. See soak.awk.

set -u
umask 022
exec </dev/null
cd "$(dirname "$0")/.." || exit 1
minutes=${1:-120}
case $minutes in
*[!0-9]* | '' | ?) sed -n 's/^# \(soak.sh \)/usage: \1/p' scripts/soak.sh >&2; exit 2 ;;
esac
[ "$minutes" -ge 20 ] || { echo "soak.sh: it takes at least 20 minutes" >&2; exit 2; }
[ "$(id -u)" = 0 ] || { echo "soak.sh: tracing needs root" >&2; exit 1; }
make -s stackbox workloads || exit 1

results=build/soak
out=$results/work
rm -rf "$results"
mkdir -p $out/spool $out/bin $out/container || exit 1
# Copies, so that a build does not change what runs.
cp stackbox build/release/workloads/jit build/release/workloads/burn build/release/workloads/dynamic/loads \
    build/release/workloads/dynamic/libnorth.so $out/bin || exit 1
work=$(cd $out && pwd)

# ---- The load. Each is a shell of its own, and reports how many rounds it made.

processes()
{
    while :; do
        for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
            "$work/bin/burn" -s 1 >/dev/null
        done
        echo >>"$work/processes"
        sleep 1
    done
}

# On file systems that reuse inodes, later files get the inodes of these.
libraries()
{
    while :; do
        for library in 1 2 3 4 5 6 7 8; do
            cp "$work/bin/libnorth.so" "$work/library$library.so"
        done
        "$work/bin/loads" -c -n 20000 "$work"/library*.so >/dev/null
        rm "$work"/library*.so
        echo >>"$work/libraries"
        sleep 2
    done
}

containers()
{
    while :; do
        unshare --mount --pid --fork --mount-proc sh -c 'mount -t tmpfs container "$1" && cp "$0" "$1/contained" &&
            exec "$1/contained" -s 10' "$work/bin/burn" "$work/container" >/dev/null
        echo >>"$work/containers"
        sleep 1
    done
}

jits()
{
    while :; do
        "$work/bin/jit" -r 900 -n 500 >/dev/null &
        jit=$!
        wait $jit
        rm -f /tmp/perf-$jit.map
        echo >>"$work/jits"
        sleep 3
    done
}

# ---- What is measured

# all_of PID: it and its live descendants
all_of()
{
    echo "$1"
    for child in $(cat "/proc/$1/task"/*/children 2>/dev/null); do
        all_of "$child"
    done
}

# measure: prints a line of figures. CPU time of BPF programs is added up per program, as others may be
# there at times.
measure()
{
    tasks=$(all_of $stackbox)
    own=0 mapped=0 files=0 ticks=0
    : >$out/fdinfo
    for task in $tasks; do
        # A reader process of stackbox may end meanwhile.
        own=$((own + $(awk '/^RssAnon:/ { sum = $2 } END { print sum + 0 }' "/proc/$task/status" 2>/dev/null) + 0))
        mapped=$((mapped + $(awk '/^Rss(File|Shmem):/ { sum += $2 } END { print sum + 0 }' "/proc/$task/status" \
            2>/dev/null) + 0))
        # shellcheck disable=SC2012 # numbers
        files=$((files + $(ls "/proc/$task/fd" 2>/dev/null | wc -l)))
        ticks=$((ticks + $(sed 's/.*) //' "/proc/$task/stat" 2>/dev/null |
            awk '{ sum = $12 + $13 + $14 + $15 } END { print sum + 0 }') + 0))
        cat "/proc/$task/fdinfo"/* >>$out/fdinfo 2>/dev/null
    done
    # The fdinfo of a link has a prog_id, too, but no memlock.
    awk '$1 == "pos:" { bytes = 0 }
        $1 == "memlock:" { bytes = $2 }
        $1 == "map_id:" && !map[$2]++ { sum += bytes }
        $1 == "prog_id:" { program = $2; if (bytes && !memory[$2]++) sum += bytes }
        $1 == "run_time_ns:" { time[program] = $2 }
        $1 == "run_cnt:" { runs[program] = $2 }
        END {
            printf "%.0f\n", sum / 1024
            for (program in time)
                print program, time[program], runs[program]
        }' $out/fdinfo >$out/kernel
    touch $out/kernel.before
    ran=$(awk 'NF < 2 { next }
        FNR == NR { time[$1] = $2; runs[$1] = $3; next }
        { times += $2 - time[$1]; all += $3 - runs[$1] }
        END { printf "%.0f\t%.0f\n", times / 1000, all }' $out/kernel.before $out/kernel)
    mv $out/kernel $out/kernel.before
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" $own $mapped $files "$(head -n 1 $out/kernel.before)" \
        $(((ticks - ticks_before) * 1000 / clock)) "$ran" >>$results/figures.tsv
    ticks_before=$ticks
    # Another benchmark may have turned the statistics off.
    echo 1 >/proc/sys/kernel/bpf_stats_enabled
}

clean_up()
{
    # shellcheck disable=SC2086 # words
    kill $storms ${stackbox:-} 2>/dev/null
    wait 2>/dev/null
    echo "$stats" >/proc/sys/kernel/bpf_stats_enabled
}

stats=$(cat /proc/sys/kernel/bpf_stats_enabled)
clock=$(getconf CLK_TCK)
storms='' ticks_before=0
trap clean_up EXIT
trap 'exit 1' HUP INT TERM
echo 1 >/proc/sys/kernel/bpf_stats_enabled
for storm in processes libraries containers jits; do
    $storm 2>>$out/storms.err &
    renice -n 10 -p $! >/dev/null
    storms="$storms $!"
done
$out/bin/stackbox profile -i 60 -F 99 -o "$out/spool/%t.pb.gz" --keep 20 2>$out/stackbox.err &
stackbox=$!
begun=$(date +%s)
printf '# minute\tmemory KB\tmapped KB\tdescriptors\tkernel KB\tCPU ms\tprograms us\truns of programs\n' >$results/figures.tsv
minute=0
while [ $minute -le "$minutes" ]; do
    now=$(date +%s)
    sleep $((begun + minute * 60 + 30 > now ? begun + minute * 60 + 30 - now : 0))
    kill -0 $stackbox 2>/dev/null || { echo "soak.sh: stackbox ended: see $out/stackbox.err" >&2; exit 1; }
    # The first one comes after half a minute.
    measure $minute
    minute=$((minute + 1))
done
kill -s TERM $stackbox
wait $stackbox || { echo "soak.sh: stackbox failed: see $out/stackbox.err" >&2; exit 1; }
for storm in processes libraries containers jits; do
    printf '%s: %s rounds\n' $storm "$(wc -l <$out/$storm)"
done
printf 'files: %s, %s KB\n' "$(find $out/spool -name '*.pb.gz' | wc -l)" "$(du -sk $out/spool | cut -f 1)"
awk -v page="$(getconf PAGESIZE)" -v clock="$clock" -v svg=$results/soak.svg -f scripts/soak.awk $results/figures.tsv
