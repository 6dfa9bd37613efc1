#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# What `go tool pprof` reads in our profiles is what was counted: it has the functions, sums and order of
# --flat and the sums of -f of the same run; what it says about the file, the time and the tasks agrees with
# other sources.
. "${0%/*}/../live/lib.sh"

have_root || skip_all "tracing needs root"
command -v go >/dev/null || skip_all "go, whose pprof reads profiles, is not installed (golang-go)"

# go fetches no file, looks up no name, and writes nothing elsewhere.
pprof()
{
    timeout 120 env HOME="$scratch" PPROF_TMPDIR="$scratch" GOTOOLCHAIN=local GOPROXY=off TZ=UTC \
        go tool pprof -symbolize=none "$@" 2>"$scratch/pprof.err"
}
printf '\037\213' >"$scratch/none.pb.gz"
pprof -raw "$scratch/none.pb.gz" >/dev/null
grep -q 'none.pb.gz' "$scratch/pprof.err" || skip_all "go tool pprof does not run"

now_ms()
{
    echo $(($(date +%s%N) / 1000000))
}

# all_of FILE ARG...: every function in it, `SELF TOTAL NAME`, in pprof's order
all_of()
{
    file=$1
    shift
    pprof -top -nodecount=1000000 -nodefraction=0 -edgefraction=0 "$@" "$file" |
        awk 'body { self = $1; total = $4
                for (i = 0; i < 5; i++) sub(/^ *[^ ]+ +/, "")
                print self, total, $0 }
            $1 == "flat" && $2 == "flat%" { body = 1 }'
}

# as_flat FILE ARG...: the same in the form of --flat, which orders equal ones in its own way
as_flat()
{
    all_of "$@" | awk '{ self[NR] = $1; total[NR] = $2; sub(/^[^ ]+ [^ ]+ /, ""); name[NR] = $0
            sum += self[NR] }
        END { for (i = 1; i <= NR; i++)
            printf "%7.2f %7.2f  %s\n", 100 * self[i] / sum, 100 * total[i] / sum, name[i] }' | in_order
}

# in_order: sorts lines with equal numbers by what follows, and leaves everything else as it is
in_order()
{
    awk '{ if ($1 != last) group++; last = $1; print group "\t" $0 }' |
        LC_ALL=C sort -s -t "$(printf '\t')" -k 1,1n -k 2,2
}

# falls FILE: is each line's first number at most that of the line before?
falls()
{
    awk 'NR > 1 && $1 + 0 > last { print "line " NR; exit } { last = $1 + 0 }' "$1"
}

# sum_of FILE ARG...: the sum of all functions' own values
sum_of()
{
    all_of "$@" | awk '{ sum += $1 } END { printf "%.0f\n", sum }'
}

# said FILE KEY: what pprof prints after `KEY: `, such as File
said()
{
    pprof -raw "$1" | sed -n "s/^$2: //p" | head -n 1
}

# duration FILE: in ms; pprof rounds to two decimals
duration()
{
    pprof -top "$1" | sed -n 's/^Duration: \([^,]*\),.*/\1/p' | awk '/[0-9]ms$/ { printf "%.0f", $1 }
        /[0-9]s$/ { printf "%.0f", $1 * 1000 } /mins$/ { printf "%.0f", $1 * 60000 }'
}

# file_said FILE: the program and its build id
file_said()
{
    pprof -top "$1" | sed -n 's/^File: //p'
}
build_id_said()
{
    pprof -top "$1" | sed -n 's/^Build ID: //p'
}

# build_id FILE: according to readelf
build_id()
{
    readelf -n "$1" 2>/dev/null | sed -n 's/.*Build ID: //p'
}

# is_whole NAME FILE
is_whole()
{
    gzip -t "$2" 2>"$scratch/why"
    is "$1: gzip -t" "$? $(cat "$scratch/why")" "0 "
    pprof -raw "$2" >"$scratch/raw"
    is "$1: pprof has no complaints" "$? $(cat "$scratch/pprof.err")" "0 "
}

# in_file PROFILE FUNCTION FILE: checks by readelf's symbols and segments that all addresses of a
# function, as offsets in the file, are in it; prints `N right`
in_file()
{
    file_start=$(readelf -sW "$3" | awk -v name="$2" '$8 == name { print "0x" $2; exit }')
    file_size=$(readelf -sW "$3" | awk -v name="$2" '$8 == name { print $3; exit }')
    file_start=$((file_start))
    readelf -lW "$3" | awk '$1 == "LOAD" { print $2, $3, $5 }' >"$scratch/segments"
    while read -r offset address size; do
        [ $file_start -ge $((address)) ] && [ $file_start -lt $((address + size)) ] &&
            break
    done <"$scratch/segments"
    file_start=$((file_start - address + offset))
    pprof -raw "$1" >"$scratch/raw"
    right=0 wrong=
    sed -n '/^Locations/,/^Mappings/s/^ *[0-9]*: \(0x[0-9a-f]*\) M=\([0-9]*\) '"$2"' .*/\1 \2/p' \
        "$scratch/raw" >"$scratch/places"
    while read -r address mapping; do
        place=$(sed -n "/^Mappings/,\$s/^$mapping: //p" "$scratch/raw" | cut -d ' ' -f 1)
        start=${place%%/*} offset=${place##*/} limit=${place#*/}
        limit=${limit%%/*}
        at=$((address - start + offset))
        if [ $((address)) -ge $((start)) ] && [ $((address)) -lt $((limit)) ] &&
            [ $at -ge $file_start ] && [ $at -lt $((file_start + file_size)) ]; then
            right=$((right + 1))
        else
            wrong="$wrong $address of $place"
        fi
    done <"$scratch/places"
    [ $right = 0 ] || right=some
    echo "$right right$wrong"
}

# by_instruction FILE FUNCTION ARG...: the sum of what pprof finds at the function's instructions,
# which it looks up by the profile's addresses
by_instruction()
{
    file=$1 function=$2
    shift 2
    pprof -disasm="$function" "$@" "$file" |
        awk -v name="$function" '$1 == "ROUTINE" { mine = $NF == name }
            mine && $3 ~ /^[0-9a-f]+:$/ { sum += $1 } END { print sum + 0 }'
}

# ---- profile: one process, and all of them

A=a$$ B=b$$
start_workload a burn -w -k -s 2000 -F 997 -N $A
start_workload b burn -w -k -s 500 -F 997 -N $B
before=$(now_ms)
start_stackbox profile -F 997 -p "$(pid_of a),$(pid_of b)" -o "$scratch/all.pb.gz" \
    -o "$scratch/all.flat" -o "$scratch/all.folded" ||
    fail "profile" "did not start: $(cat "$scratch/err")"
kill -s USR2 "$(pid_of b)"
go a
wait_until "$LIMIT" grep -q '^done' "$scratch/b.out"
ends=$(now_ms)
finish_stackbox
after=$(now_ms)
finish_workload a
finish_workload b
P=$scratch/all.pb.gz
is_whole "profile" "$P"
sum=$(folded_sum "$scratch/all.folded")
between "profile: there is something to compare" "$sum" 100 4000
is "profile: samples" "$(sum_of "$P" -sample_index=samples)" "$sum"
sed 1d "$scratch/all.flat" >"$scratch/body.flat"
in_order <"$scratch/body.flat" >"$scratch/flat"
as_flat "$P" -sample_index=samples >"$scratch/top"
is "profile: functions, shares and order are those of --flat" \
    "$(diff "$scratch/flat" "$scratch/top" | head -n 6)" ""
is "profile: functions are sorted by value" "$(falls "$scratch/body.flat")" ""
is "profile: period" "$(said "$P" Period)" 1003009
is "profile: each sample is a period of time" "$(awk '/^Locations/ { exit }
    $1 ~ /^[0-9]+$/ && $2 ~ /^[0-9]+:$/ && $2 + 0 != $1 * 1003009' "$scratch/raw")" ""
is "profile: with several processes, the file is the kernel's" "$(file_said "$P")" "[kernel.kallsyms]"
kernel_id=$(od -An -v -tx1 /sys/kernel/notes | tr -d ' \n' |
    sed -n 's/^.*0400000014000000030000''00474e5500\(.\{40\}\).*/\1/p')
if [ "$kernel_id" ]; then
    is "profile: the kernel's build id" "$(build_id_said "$P")" "$kernel_id"
else
    skip "profile: the kernel's build id" "this kernel has no build id of 20 bytes"
fi
for comm in $A $B; do
    is "profile: -tagfocus=comm=$comm" \
        "$(sum_of "$P" -sample_index=samples -tagfocus=comm="$comm")" \
        "$(folded_sum "$scratch/all.folded" "^$comm;")"
done
pprof -tags -sample_index=samples "$P" >"$scratch/tags"
is "profile: -tags has the pids" "$(sed -n '/ pid:/,/^$/s/.*): *//p' "$scratch/tags" | sort -n | xargs)" \
    "$(printf '%s\n' "$(pid_of a)" "$(pid_of b)" | sort -n | xargs)"
is "profile: the address of spin matches the file" \
    "$(in_file "$P" spin "$WORKLOADS/burn")" "some right"
is "profile: pprof finds the instructions of spin" \
    "$(by_instruction "$P" spin -sample_index=samples)" \
    "$(all_of "$P" -sample_index=samples | awk '$3 == "spin" { print $1 }')"
began=$(said "$P" Time | sed 's/ +0000.*//')
began=$(($(date -u -d "$began" +%s%N) / 1000000))
between "profile: it began after we started it" "$began" "$before" "$ends"
between "profile: duration" "$(duration "$P")" \
    $((ends - began - 10)) $((after - began + 10))

# ---- Only one process: its program, and differences

start_workload a burn -w -k -s 1500 -F 997 -N $A
start_stackbox profile -F 997 --by-name -p "$(pid_of a)" -o "$scratch/one.pb.gz" \
    -o "$scratch/one.folded" || fail "profile -p" "did not start: $(cat "$scratch/err")"
go a
finish_stackbox
finish_workload a
ONE=$scratch/one.pb.gz
is_whole "profile -p" "$ONE"
is "profile -p: the file" "$(file_said "$ONE")" burn
pprof -tags "$ONE" >"$scratch/tags"
lacks "profile --by-name: no pids" "$scratch/tags" " pid:"
contains "profile --by-name: there are names" "$scratch/tags" ": $A"
# $ONE lacks the samples of $B, so the difference is their number, function by function.
all_of "$ONE" -sample_index=samples | sed 's/^[^ ]* //' >"$scratch/new"
all_of "$P" -sample_index=samples | sed 's/^[^ ]* //' >"$scratch/old"
all_of "$ONE" -sample_index=samples -diff_base "$P" | sed 's/^[^ ]* //' >"$scratch/difference"
is "-diff_base reads it" "$(cat "$scratch/pprof.err")" ""
# total FILE FUNCTION: its total
total()
{
    awk -v name="$2" '$2 == name { total = $1 } END { print total + 0 }' "$scratch/$1"
}
for name in greater lesser spin; do
    is "-diff_base: $name" "$(total difference $name)" $(($(total new $name) - $(total old $name)))
done

# ---- stackcount: how often something was called, and from where, in programs of several kinds

chains()
{
    program=$WORKLOADS/$1
    shape=${1##*/}
    start_workload one "$1" -w -k -n 500 -m 300 || return
    start_stackbox stackcount -P -p "$(pid_of one)" -o "$scratch/calls.pb.gz" "$program:target" ||
        fail "$shape" "did not start: $(cat "$scratch/err")"
    go one
    finish_stackbox
    finish_workload one
    is_whole "$shape" "$scratch/calls.pb.gz"
    all_of "$scratch/calls.pb.gz" >"$scratch/calls"
    is "$shape: calls through both chains" \
        "$(awk '$3 ~ /^(target|chain_a2|chain_b2)$/ { print $3, $1, $2 }' "$scratch/calls" |
            sort | xargs)" "chain_a2 0 500 chain_b2 0 300 target 800 800"
    is "$shape: file" "$(file_said "$scratch/calls.pb.gz")" "$shape"
    is "$shape: build id" "$(build_id_said "$scratch/calls.pb.gz")" "$(build_id "$program")"
    # If there are several code segments, go's pprof looks at the first.
    [ "$shape" = chains-shifted ] || is "$shape: pprof finds the instructions" \
        "$(by_instruction "$scratch/calls.pb.gz" target)" 800
    for name in target chain_a1; do
        is "$shape: the addresses of $name match the file" \
            "$(in_file "$scratch/calls.pb.gz" $name "$program")" "some right"
    done
}

if have_uprobes; then
    chains chains
    chains chains-static-pie
    chains chains-shifted
    for shape in pie no-pie shifted; do
        [ -x "$WORKLOADS/dynamic/chains-$shape" ] && chains dynamic/chains-$shape
    done
else
    skip "stackcount of programs" "no uprobes"
fi

if have_syscall_tracepoints; then
    run_stackbox stackcount -P -o "$scratch/command.pb.gz" t:syscalls:sys_enter_getppid -- \
        "$WORKLOADS/calls" -n 1234
    is_whole "a command" "$scratch/command.pb.gz"
    is "a command: file" "$(file_said "$scratch/command.pb.gz")" calls
    is "a command: calls" "$(sum_of "$scratch/command.pb.gz")" 1234
    pprof -tags "$scratch/command.pb.gz" >"$scratch/tags"
    contains "a command: comm" "$scratch/tags" ": calls"
    # Losses are reported in the same words as on stderr, where each also has its share.
    start_workload one hammer -w -k -g -v -d 15 -t 2 -n 3000 -r 2
    start_stackbox stackcount -U --debug --depth 24 --stack-storage-size 16 -p "$(pid_of one)" \
        -o "$scratch/lost.pb.gz" t:syscalls:sys_enter_getppid || fail "losses" "$(cat "$scratch/err")"
    go one
    finish_stackbox
    finish_workload one
    grep -oE '[0-9]+ events are .*' "$scratch/err" | sed 's/ ([0-9.e+]* % of [0-9,]* events)$//' >"$scratch/losses"
    is_whole "losses" "$scratch/lost.pb.gz"
    sed -n 's/^Comment: //p' "$scratch/raw" >"$scratch/comments"
    is "losses: some events are lost" "$([ -s "$scratch/losses" ] && echo yes)" yes
    is "losses: the file's comments report them" "$(grep -vFx -f "$scratch/comments" "$scratch/losses")" ""
    is "losses: all calls are counted all the same" "$(sum_of "$scratch/lost.pb.gz")" "$(calls_of one)"
else
    skip "stackcount of a command, losses" "this kernel has no tracepoints of system calls"
fi

# ---- Blocked time, as two kinds of values

start_workload sleeps sleeps -w -k -N "$A" -n 10 -o nap,read
if start_stackbox offcputime --debug --by thread -p "$(pid_of sleeps)" -o "$scratch/waits.pb.gz" -o "$scratch/waits.folded"
then
    go sleeps
    finish_stackbox
    finish_workload sleeps
    W=$scratch/waits.pb.gz
    is_whole "offcputime" "$W"
    contains "offcputime: it has both kinds of values" "$scratch/raw" "waits/count blocked/microseconds[dflt]"
    # In both files each stack is cut to whole microseconds; in the text, equal stacks are merged
    # first.
    all=$(folded_sum "$scratch/waits.folded")
    between "offcputime: times are the same" "$(sum_of "$W" -unit=us | sed 's/us$//')" \
        $((all - $(grep -c '^ .*: [0-9]' "$scratch/raw"))) "$all"
    missed=$(awk '/waits are not counted/ { for (i = 1; $i != "waits"; i++) missed = $i }
        END { print missed + 0 }' "$scratch/err")
    for way in nap read; do
        waits=$(awk -v name="$A$way" '$1 == "thread" && $2 == name { print $5 }' "$scratch/sleeps.out")
        # A thread may also have to wait for a page.
        between "offcputime: waits of $way" "$(sum_of "$W" -sample_index=waits \
            -tagfocus=comm="$A$way" -focus=${way}_inner)" $((waits - missed)) $((waits + 3))
    done
    pprof -tags "$W" >"$scratch/tags"
    contains "offcputime: threads are labelled" "$scratch/tags" " tid:"
else
    fail "offcputime" "did not start: $(cat "$scratch/err")"
    drop_workload sleeps
fi

# The waiting thread is at the root, what ends the wait is on top, and both are labelled.
start_workload wakes wakes -w -k -n 20 -u 2000 -N "$A" pipe
if start_stackbox offwaketime --by thread -p "$(pid_of wakes)" -o "$scratch/both.pb.gz"; then
    go wakes
    finish_stackbox
    finish_workload wakes
    is_whole "offwaketime" "$scratch/both.pb.gz"
    pprof -traces -sample_index=waits "$scratch/both.pb.gz" >"$scratch/traces"
    is "offwaketime: waker, --, and waiting thread" "$(awk '/^-----/ { chain = "" }
        $NF == "pipe_wakes" { chain = "wakes" } $NF == "--" && chain { chain = chain " --" }
        $NF == "pipe_waits" && chain == "wakes --" { print "found"; exit }' "$scratch/traces")" found
    contains "offwaketime: the waker is labelled" "$scratch/traces" "waker_tid:"
else
    fail "offwaketime" "did not start: $(cat "$scratch/err")"
    drop_workload wakes
fi

# ---- Nothing counted; and reports at intervals

start_workload one calls -w -k
run_stackbox profile -p "$(pid_of one)" -o "$scratch/empty.pb.gz" 0.3
is "no events: exit status" $status 0
is_whole "nothing" "$scratch/empty.pb.gz"
is "no events: no samples" "$(sum_of "$scratch/empty.pb.gz")" 0
start_stackbox profile -p "$(pid_of one)" -o "$scratch/turn.%n.pb.gz" ||
    fail "reports in turn" "did not start: $(cat "$scratch/err")"
for turn in 1 2; do
    kill -s USR1 "$stackbox"
    wait_until 20 [ -e "$scratch/turn.0000$turn.pb.gz" ]
done
finish_stackbox
drop_workload one
previous=
for turn in 1 2 3; do
    file=$scratch/turn.0000$turn.pb.gz
    is_whole "report $turn" "$file"
    began=$(($(date -u -d "$(said "$file" Time | sed 's/ +0000.*//')" +%s%N) / 1000000))
    [ -z "$previous" ] || between "report $turn begins when the previous one ended" \
        $began $((previous - 10)) $((previous + 10))
    previous=$((began + $(duration "$file")))
done
