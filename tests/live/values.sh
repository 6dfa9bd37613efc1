#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 5.10
# kernels: 6.1,6.12,newest
# host: yes
#
# Values of events (arguments, return values, fields of tracepoints) in sums, in conditions and
# printed: they agree with the workload's own sums.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"

SUMS=$WORKLOADS/sums

# truth NAME: the workload's own figure
truth()
{
    sed -n "s/^$1 //p" "$scratch/truth"
}

# traced APPLET OPTION...: traces a run of the workload
traced()
{
    local applet=$1
    shift
    rm -f "$scratch/truth"
    # shellcheck disable=SC2086 # words, or none
    run_stackbox "$applet" $collect "$@" -- "$SUMS" "$scratch/truth"
    [ $status = 0 ] || sed 's/^/  stderr: /' "$scratch/err"
}

# counts WHAT NAME OPTION...: the total is the workload's figure NAME
counts()
{
    local what=$1 name=$2
    shift 2
    traced stackcount -f "$@"
    is "$what" "$(folded_sum "$scratch/out")" "$(truth "$name")"
}

collect= # the option that says how to collect

# of_programs: the values of functions of programs, collected as $collect says
of_programs()
{
    by=${collect:+${collect#--collect }: }
    traced stackcount -f -U --sum arg4 "$SUMS:takes"
    is "${by}sums are by stack: even" "$(folded_sum "$scratch/out" ';even;')" "$(truth even_sum)"
    is "${by}sums are by stack: odd" "$(folded_sum "$scratch/out" ';odd;')" "$(truth odd_sum)"
    traced stackcount -U --sum arg4 --unit bytes -o "$scratch/sum.txt" -o "$scratch/sum.speedscope.json" \
        -o "$scratch/sum.sbx" -o "$scratch/sum.tree" "$SUMS:takes"
    both=$(($(truth even_sum) + $(truth odd_sum)))
    is "${by}sums are right as text" "$(awk '/ bytes$/ { sum += $1 } END { print sum }' "$scratch/sum.txt")" $both
    contains "${by}speedscope's file has the unit" \
        "$scratch/sum.speedscope.json" '"name":"stackcount: arg4 (bytes)","unit":"bytes"'
    contains "${by}speedscope's file has the sum" "$scratch/sum.speedscope.json" "\"endValue\":$both,"
    contains "${by}a tree has the sum" "$scratch/sum.tree" " of $both bytes"
    run_stackbox report "$scratch/sum.sbx"
    is "${by}a recording has the sum" "$(awk '/ bytes$/ { sum += $1 } END { print sum }' "$scratch/out")" $both
    counts "${by}a sum leaves out negative values" below_sum -U --sum arg1:i32 "$SUMS:takes"
    contains "${by}and reports how many there were" "$scratch/err" \
        "$(truth below) of 1,000 events, 44 %, are in no sum"
    counts "${by}a negative int" below -U --if 'arg1:i32 < 0' "$SUMS:takes"
    counts "${by}a byte" bytes_high -U --if 'arg2:u8 >= 0x80' "$SUMS:takes"
    counts "${by}a short" shorts_below -U --if 'arg3:i16 < -1000' "$SUMS:takes"
    counts "${by}and" both -U --if 'arg1:i32 == -3 && arg2:u8 != 0x11 && arg3:i16 >= 0' "$SUMS:takes"
    counts "${by}a condition with or, not" \
        either -U --if '(arg1:i32 == 4 || arg4 <= 50) && !(arg2:u8 < 16)' "$SUMS:takes"
    counts "${by}a sum with a condition" above_sum -U --sum arg4 --if 'arg1:i32 > 1' "$SUMS:takes"
    counts "${by}a condition on the thread's name" named -U --if 'comm == "cc1"' "$SUMS:huge"
    counts "${by}a return value, an int" returned -U --sum ret:i32 "r:$SUMS:takes"
    counts "${by}a return value, a negative int" returned_below -U --if 'ret:i32 < 0' "r:$SUMS:takes"
    counts "${by}a return value, a long" given -U --sum ret "r:$SUMS:gives"
    counts "${by}a return value, a negative long" given_below -U --if 'ret < 0' "r:$SUMS:gives"
    traced stacksnoop -U --print arg1:i32,arg2:u8,arg3:i16,arg4 "$SUMS:takes"
    is "${by}printed values are right" "$(awk -v below="$(truth below)" -v high="$(truth bytes_high)" \
        -v shorts="$(truth shorts_below)" -v sum="$(($(truth even_sum) + $(truth odd_sum)))" '
        / takes arg1=/ {
            split($0, part, /arg[1-4]=/)
            below -= part[2] < 0; high -= part[3] >= 128; shorts -= part[4] < -1000; sum -= part[5]
        }
        END { print below, high, shorts, sum }' "$scratch/out")" "0 0 0 0"
    traced stackcount -f -U --sum arg1 --if 'comm == "sums"' "$SUMS:huge"
    if [ "$(truth huge_wraps)" != 0 ]; then
        is "${by}a sum that overflows" "$(sed 's/.* //' "$scratch/out")" "$(truth huge_sum)"
        contains "${by}and the overflow is reported" "$scratch/err" \
            "they overflowed 2^64 $(truth huge_wraps) times"
    else
        is "${by}a sum beyond 32 bits" "$(folded_sum "$scratch/out")" "$(truth huge_sum)"
    fi
}

if have_uprobes; then
    of_programs
    traced stacksnoop -U --buffer perf --print arg4 --if 'arg1:i32 > 1' "$SUMS:takes"
    is "and through a perf buffer" "$(sed -n 's/.* takes arg4=//p' "$scratch/out" |
        awk '{ sum += $1 } END { printf "%.0f\n", sum }')" "$(truth above_sum)"
else
    skip "functions of programs" "this kernel has no user probes"
fi
if have_breakpoints; then
    collect="--collect ptrace"
    of_programs
    collect=
else
    skip "values by ptrace" "this machine's kernel has no hardware breakpoints for ptrace(2)"
fi

if have_syscall_tracepoints; then
    counts "a field of a system call" written -K --sum count --if 'fd == 77' t:syscalls:sys_enter_write
    counts "a negative descriptor" refused -K --if 'fd:i32 == -7' t:syscalls:sys_enter_write
    counts "a system call's result" refused -K --if 'ret == -9 && comm == "sums"' t:syscalls:sys_exit_write
    counts "sizes" large -K --if 'fd == 77 && count > 8K' t:syscalls:sys_enter_write
else
    skip "system calls" "this kernel has no tracepoints of them"
fi

counts "a field of 32 bits, negative" queued -K --if 'sig == 12 && code < 0 && comm == "sums"' \
    t:signal:signal_generate
counts "a condition with and, not" \
    signals -K --if 'sig == 12 && code == 0 && comm == "sums"' t:signal:signal_generate
counts "a condition on a text" renamed -K --if 'newcomm == "cc1"' t:task:task_rename
run_stackbox stackcount -K --if 'newcomm != "cc1"' --sum nothing t:task:task_rename
is "an unknown field is refused" $status 1
contains "and the fields are listed" "$scratch/err" \
    ' oldcomm newcomm '

if have_kprobes; then
    counts "an argument in the kernel" written -K --sum arg3 --if 'arg1 == 77' ksys_write
    counts "a return value in the kernel, negative" refused -K --if 'ret < 0 && comm == "sums"' r::ksys_write
    traced stacksnoop -K --print arg3 --if 'arg1 == 77' ksys_write
    is "printed values of the kernel are right" "$(sed -n 's/.* ksys_write arg3=//p' "$scratch/out" |
        awk '{ sum += $1 } END { printf "%.0f\n", sum }')" "$(truth written)"
    for way in pmu tracefs; do
        counts "an argument in the kernel, by $way" written -K --attach-by $way --sum arg3 --if 'arg1 == 77' \
            ksys_write
    done
else
    skip "functions of the kernel" "this kernel has no kprobes"
fi
