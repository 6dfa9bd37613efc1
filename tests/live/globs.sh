#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: newest
# kernels: 5.10
# host: no
#
# Which functions a pattern means, and that each of them is traced once: the first line's number is compared
# with the kernel's own lists.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_kprobes || skip_all "this kernel has no kprobes"

mkdir "$scratch/tracefs" && mount -t tracefs tracefs "$scratch/tracefs"

# traced ARG...: how many functions stackcount says it traces; otherwise its message
traced()
{
    run_stackbox stackcount -f -D 0.1 "$@"
    if [ $status = 0 ]; then
        sed -n 's/^Tracing \([0-9]*\) functions\{0,1\} .*/\1/p' "$scratch/err"
    else
        echo "status $status, $(cat "$scratch/err")"
    fi
}

# traceable REGEX: how many functions with such a name ftrace and kallsyms list. Both are long.
awk -v doubles="$scratch/doubles" '
    NR == FNR { listed[$1] = 1; if (NF == 1) times[$1]++; next }
    $2 ~ /^[tTwW]$/ && $3 in listed { print $1, $3 }
    $2 == "t" && $3 in times { there[$3]++ }
    END {
        for (name in there)
            if (there[name] == times[name] && there[name] > 2)
                print name >doubles
    }' "$scratch/tracefs/available_filter_functions" /proc/kallsyms >"$scratch/traceable"
traceable()
{
    awk -v wanted="$1" '$2 ~ wanted && !seen[$1]++ { count++ } END { print count + 0 }' \
        "$scratch/traceable"
}

# now: hundredths of a second since boot
clock()
{
    awk '{ printf "%d\n", $1 * 100 }' /proc/uptime
}

# by_link ARG...: does this kernel attach to many functions by one link?
by_link()
{
    run_stackbox stackcount -f -D 0.1 --attach-by multi "$@"
    [ $status = 0 ]
}

# Many functions: all at once if the kernel can, otherwise one by one.
if by_link vfs_read; then
    begin=$(clock)
    count=$(traced 'tcp_*')
    end=$(clock)
    echo "  note: tcp_*: $count functions, the run took $((end - begin - 10)) hundredths more than its duration"
    is "tcp_*: all functions that can be traced are" "$count" "$(traceable '^tcp_')"
    between "tcp_*: there are hundreds" "$count" 300 500
    run_stackbox stackcount -f -D 0.1 --attach-by multi --debug 'tcp_*'
    contains "tcp_*: by links" "$scratch/err" "by kprobe.multi links"
    contains "functions that cannot be traced are counted and reported" "$scratch/err" "skipped $(($(sed -n \
        's/.*skipped \([0-9]*\) of.*/\1/p' "$scratch/err"))) of"
    run_stackbox stackcount -f -D 0.1 --attach-by pmu '*'
    else
    begin=$(clock)
    count=$(traced 'vfs_*')
    end=$(clock)
    echo "  note: vfs_*: $count functions, the run took $((end - begin - 10)) hundredths more than its duration"
    # Functions that ftrace does not list can also have a probe.
    between "vfs_*: all functions that can be traced are" "$count" "$(traceable '^vfs_')" \
        "$(awk '$2 ~ /^[tT]$/ && $3 ~ /^vfs_/ && !seen[$1]++' /proc/kallsyms | wc -l)"
    run_stackbox stackcount -f -D 0.1 --debug 'vfs_r*'
    contains "vfs_*: one by one" "$scratch/err" "by kprobe PMU events"
    run_stackbox stackcount -f -D 0.1 '*'
fi
is "too many one by one: exit status" $status 1
contains "too many one by one: it says how many, and how long" "$scratch/err" \
    "functions one by one would take about"
contains "too many one by one: it says what to do" "$scratch/err" "narrow the pattern, or give --force"
is "too many one by one: in one line" "$(wc -l <"$scratch/err")" 1

# Regular expressions, and patterns that overlap.
is "a regular expression may be anchored" "$(traced -r '^tcp_(send|recv)msg$')" 2
is "a regular expression matches anywhere" "$(traced -r 'p_sendms[g]$')" \
    "$(traceable 'p_sendms[g]$')"
is "overlapping patterns count a function once" \
    "$(traced vfs_read 'vfs_rea*' 'vfs_r*d')" "$(traceable '^vfs_rea|^vfs_r.*d$')"
is "an entry and a return are two" "$(traced vfs_read r::vfs_read)" 2

# One function with several names.
is "names of one address are one function" \
    "$(traced ${CALL}getppid __do_sys_getppid __ia32_sys_getppid)" 1
for name in ${CALL}getppid __do_sys_getppid __ia32_sys_getppid; do
    start_workload one calls -w -k -n 50
    trace_workload one stackcount -K -p "$(pid_of one)" "$name"
    is "the name that was typed is shown: $name" "$(sed -n 3p "$scratch/out")" "  $name"
done

# One name of several functions: static ones in different files, each of which can be traced.
double=$(sort "$scratch/doubles" | head -n 1)
is "all functions of one name are traced: $double" "$(traced "$double")" "$(traceable "^$double\$")"

# An instruction in a function. The first one takes 4 or 5 bytes: endbr64, or a call to the tracer.
start_workload one calls -w -k -n 50
for offset in 4 0x5 9; do
    start_stackbox stackcount -f -p "$(pid_of one)" "${CALL}getppid+$offset" && break
done
go one
finish_stackbox
finish_workload one
is "an instruction can be traced, +$offset" "$(folded_sum "$scratch/out" ";${CALL}getppid ")" 50
is "an address between two instructions is refused" "$(traced ${CALL}getppid+1)" "status 1, stackcount: \
\"${CALL}getppid+0x1\" cannot be traced: no instruction begins there, or the kernel forbids probes there"
is "an address past the end of a function is refused" "$(traced ${CALL}getppid+0x10000)" \
    "status 1, stackcount: \"${CALL}getppid+0x10000\" is past the end of ${CALL}getppid"

# Functions that cannot be traced are reported; fatal only if nothing is left.
is "one that cannot be traced is refused" "$(traced exc_int3)" "status 1, stackcount: \"exc_int3\" cannot be \
traced: the kernel forbids probes in it, or freed it after boot"
traced exc_int3 noist_exc_debug >"$scratch/none"
contains "several that cannot be traced are refused" "$scratch/none" "none of the 2 functions can be traced"
run_stackbox stackcount -f -D 0.1 exc_int3 vfs_read
contains "one of two is skipped" "$scratch/err" \
    "skipped 1 of 2, which this kernel does not allow to be traced: exc_int3"
contains "and the other traced" "$scratch/err" "Tracing 1 function for \"exc_int3\", \"vfs_read\""

# A module's functions come and go with it.
if load_module dummy; then
    start_stackbox stackcount -K -v dummy_validate
    ip link add dummy7 type dummy
    finish_stackbox
    contains "a module's function is traced" "$scratch/out" " dummy_validate [dummy]"
    is "and is called once for a device" "$(grep -c '^    1$' "$scratch/out")" 1
    start_stackbox stackcount -f r::dummy_xmit r::dummy_get_stats64
    ip link show dummy7 >"$scratch/link"
    finish_stackbox
    between "returns of a module's functions are traced" "$(folded_sum "$scratch/out" '^ip;')" 1 10
    ip link del dummy7
    rmmod dummy
    is "a module that was traced can be unloaded" $? 0
    traced dummy_validate >"$scratch/none"
    contains "then its function is unknown" "$scratch/none" \
        '0 functions matched by "dummy_validate"'
else
    skip "a module's functions" "no dummy.ko"
fi
