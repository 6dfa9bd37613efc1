# SPDX-License-Identifier: MIT OR GPL-2.0-only
# shellcheck shell=sh disable=SC2034,SC2154 # variables that are of bench.sh and all its parts
#
# Whole runs, from start to end: empty ones, with many processes, with many probes; and their memory.

many=$workloads/many
never=t:sched:sched_process_hang

# took KEY WHO COMMAND...: records its wall time, and sets $cpu
took()
{
    key=$1 who=$2
    shift 2
    cost "$@"
    figure "$key" "$who" "$wall"
}

# started WHO COMMAND...
started()
{
    took start.wall "$@"
    figure start.cpu "$1" "$cpu"
}

started_for_a_second()
{
    who=$1
    shift
    cost "$@"
    figure start.cpu "$who" "$cpu"
    figure start.wall "$who" "$(echo "${wall:-0}" | awk '$1 > 1000 { print $1 - 1000 }')"
}

part_start()
{
    started stackbox ./stackbox stackcount -f -D 0.001 $never
    [ "$bpftrace" ] && started bpftrace "$bpftrace" \
        -e "$(echo $never | sed s/^t/tracepoint/) { @ = count(); } interval:ms:1 { exit(); }"
    [ "$perf" ] && started perf "$perf" record -q -e cpu-clock -o "$out/perf.start" true
    early_round || return 0
    # These tools count in whole seconds.
    [ "$libbpf_tools" ] && started_for_a_second libbpf-tools "$(libbpf_tool offcputime)" 1
    [ "$bcc" ] && started_for_a_second bcc "$(bcc_tool stackcount)" -D 1 $never
}

drop_crowd()
{
    # shellcheck disable=SC2086 # words
    kill $crowd
    # shellcheck disable=SC2086
    wait $crowd
    crowd=
} 2>/dev/null

# 500 more processes, whose mappings are read before the first event.
part_crowd()
{
    crowd=
    for _ in $(seq 500); do
        sleep 600 &
        crowd="$crowd $!"
    done
    cost ./stackbox stackcount -f -D 0.001 $never
    drop_crowd
    figure crowd.cpu stackbox "$cpu"
}

# attached NUMBER PATTERN: user functions
attached()
{
    took "attach.$1" stackbox ./stackbox stackcount -f -K -D 0.001 "$many:$2"
}

part_attach()
{
    attached 1 many_000
    attached 10 'many_00*'
    # Without uprobe.multi a thousand probes would take minutes.
    if ./stackbox stackcount -K -D 0.001 --attach-by multi "$many:many_000" >/dev/null 2>&1; then
        attached 100 'many_0*'
        attached 1000 'many_*'
    fi
    # Attached one by one, each takes a tenth of a second to detach.
    early_round || return
    took attach.pmu.1 stackbox ./stackbox stackcount -f -K --attach-by pmu -D 0.001 "$many:many_000"
    took attach.pmu.10 stackbox ./stackbox stackcount -f -K --attach-by pmu -D 0.001 "$many:many_00*"
    [ "$bpftrace" ] || return
    for pattern in many_000 'many_00*'; do
        case $pattern in
        many_000) key=attach.pmu.1 ;;
        *)        key=attach.pmu.10 ;;
        esac
        took $key bpftrace "$bpftrace" \
            -e "uprobe:$many:$pattern { @[kstack] = count(); } interval:ms:1 { exit(); }"
    done
}

# Kernel functions, if the kernel has kprobes.
part_kernel_functions()
{
    [ -d /sys/bus/event_source/devices/kprobe ] || return
    took attach.kernel.1 stackbox ./stackbox stackcount -f -K -D 0.001 tcp_sendmsg
    took attach.kernel.many stackbox ./stackbox stackcount -f -K -D 0.001 --attach-by multi 'tcp_*'
}

# remember WHO COMMAND...: records its peak memory, and its tables in the kernel one second into a
# run of two
remember()
{
    who=$1
    shift
    rm -f "$out/cost.$who"
    "$tools/cost" "$out/cost.$who" "$@" >"$out/memory.$who" 2>&1 &
    echo "$! $who" >>"$out/memory"
}

# The kernel memory of all maps that this process's child has open, each once.
tables_kb()
{
    child=$(cat "/proc/$1/task/$1/children" 2>/dev/null) && [ "$child" ] || return
    # shellcheck disable=SC2086 # blanks around it
    cat /proc/${child%% *}/fdinfo/* 2>/dev/null | awk '
        $1 == "map_type:" { map = 1 }
        $1 == "memlock:" { bytes = $2 }
        $1 == "map_id:" && map && !seen[$2]++ { sum += bytes; map = 0 }
        END { if (sum) printf "%.0f\n", sum / 1024 }'
}

# All at once: memory does not depend on speed.
part_memory()
{
    early_round || return
    : >"$out/memory"
    remember stackbox ./stackbox profile -f 2
    [ "$bcc" ] && remember bcc "$(bcc_tool profile)" -f 2
    [ "$bpftrace" ] && remember bpftrace "$bpftrace" \
        -e 'profile:hz:49 { @[kstack, ustack, comm, pid] = count(); } interval:s:2 { exit(); }'
    [ "$perf" ] && remember perf "$perf" record -q -a -g -F 49 -e cpu-clock -o "$out/perf.memory" sleep 2
    sleep 1.5
    while read -r process who; do
        figure memory.tables "$who" "$(tables_kb "$process")"
    done <"$out/memory"
    while read -r process who; do
        wait "$process"
        [ -s "$out/cost.$who" ] && figure memory "$who" "$(cut -d ' ' -f 3 "$out/cost.$who")"
    done <"$out/memory"
}

# with_libraries FILE...: KB of these files and of all libraries that the dynamic linker loads for
# them
with_libraries()
{
    for file in "$@"; do
        readlink -f "$file"
        ldd "$file" 2>/dev/null | awk '$3 ~ /^\// { print $3 } $1 ~ /^\// { print $1 }' |
            xargs -r readlink -f
    done | sort -u | while read -r file; do
        wc -c <"$file"
    done | awk '{ sum += $1 } END { printf "%.0f\n", sum / 1024 }'
}

part_size()
{
    early_round 1 || return
    figure size stackbox "$(with_libraries ./stackbox)"
    # bcc itself, without Python's modules and the kernel headers.
    library=$(find /usr/lib /usr/lib64 /usr/local/lib -name 'libbcc.so.*' 2>/dev/null | head -n 1)
    [ "$bcc" ] && [ "$library" ] && figure size bcc "$(with_libraries /usr/bin/python3 "$library")"
    [ "$ply" ] && ldd "$ply" >/dev/null 2>&1 && figure size ply "$(with_libraries "$ply")"
    [ "$bpftrace" ] && figure size bpftrace "$(with_libraries "$bpftrace")"
    [ "$libbpf_tools" ] && figure size libbpf-tools "$(with_libraries "$(libbpf_tool offcputime)")"
    [ "$perf" ] && figure size perf "$(with_libraries "$perf")"
}
