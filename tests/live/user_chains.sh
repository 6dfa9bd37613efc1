#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,6.1,6.12,newest
# host: yes
#
# User stacks: an exact number of calls through each of two chains, every frame with its name, main in its
# place, whatever shape the program has. The workload counts its calls itself; it says itself, or nm does,
# where a function is.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"

N=5000 M=3000
[ -z "$GUEST" ] || N=500 M=300
DYNAMIC=$WORKLOADS/dynamic
# What is said of every run, and before 4.18 of who collects.
USUAL='/^Tracing /d'
! older_than 4.18 || USUAL="$USUAL; /^stackcount: stacks are collected by perf's rings, as this kernel's bpf(2) cannot\$/d"
[ -r /sys/kernel/btf/vmlinux ] || USUAL="$USUAL; /^stackcount: user stacks are unwound by frame pointers, not tables: this kernel has no BTF/d"

# trace PROGRAM PATTERN OPTION...: leaves the folded user stacks of one run in $scratch/stacks
trace()
{
    local program=$1 pattern=$2
    shift 2
    # An earlier run's files must not be taken for this one's.
    : >"$scratch/stacks"
    start_workload one "$program" -w -k -n $N -m $M || fail "$shape" "the workload did not start"
    trace_workload one stackcount -f -U -p "$(pid_of one)" "$@" "$pattern" || return
    is "$shape: the workload made all its calls" "$(count_of one a) $(count_of one b)" "$N $M"
    user_stacks "$scratch/out" >"$scratch/stacks"
}

# chains SHAPE PROGRAM PATTERN LEAF OPTION...: there are both chains to LEAF, and nothing else
chains()
{
    shape=$1 program=$2 pattern=$3 leaf=$4
    shift 4
    if ! [ -x "$WORKLOADS/$program" ]; then
        skip "$shape" "no compiler made it for this machine"
        return
    fi
    trace "$program" "$pattern" "$@" || return
    is "$shape" "$(cat "$scratch/stacks")" "main;chain_a1;chain_a2;$leaf $N
thread_b;chain_b1;chain_b2;$leaf $M"
    # Before main comes libc, some of it assembly, which may have no symbols; the program itself has them.
    sed 's/.*;\(main\|thread_b\);/\1;/' "$scratch/out" >"$scratch/from_main"
    lacks "$shape: every frame has a name" "$scratch/from_main" "[${program##*/}]"
}

# nameless SHAPE PROGRAM PATTERN: no name is made up if none is known
nameless()
{
    shape=$1
    trace "$2" "$3" || return
    is "$shape: no names are made up" "$(grep -cE ';(main|target|chain_..|thread_b)[; ]' "$scratch/out")" 0
    is "$shape: all calls are counted" \
        "$(folded_sum "$scratch/out" ";${2##*/}\+0x[0-9a-f]* [0-9]*$")" $((N + M))
}

# address_of NAME FILE: its address according to nm
address_of()
{
    nm "$2" | sed -n "s/^0*\([0-9a-f]*\) [TtiW] $1\$/0x\1/p"
}

# distance FILE FUNCTION: between file offset and address of its segment
distance()
{
    local address offset start size rest
    address=$(address_of "$2" "$1")
    readelf -lW "$1" | sed -n 's/^  LOAD  *//p' | while read -r offset start rest size rest; do
        size=${rest%% *}
        if [ $((address)) -ge $((start)) ] && [ $((address)) -lt $((start + size)) ]; then
            echo $((start - offset))
        fi
    done
}

# really_shifted FILE: is the file what this test needs?
really_shifted()
{
    local near far
    near=$(distance "$1" main)
    far=$(distance "$1" target)
    if [ "$near" ] && [ "$far" ] && [ "$near" != "$far" ] && [ "$far" != 0 ]; then
        pass "$2: it has two segments at different distances"
    else
        fail "$2: it has two segments at different distances" "main at \"$near\", target at \"$far\""
    fi
}

if have_syscall_tracepoints; then
    EVENT=t:syscalls:sys_enter_getppid
    chains "a tracepoint, static" chains $EVENT target
    chains "a tracepoint, static PIE" chains-static-pie $EVENT target
    chains "a tracepoint, p_offset not p_vaddr" chains-shifted $EVENT target
    nameless "a tracepoint, stripped" chains-stripped $EVENT
else
    skip "tracepoints" "this kernel has no tracepoints of system calls"
fi

if ! have_uprobes; then
    skip "user probes" "this kernel has none"
    exit 0
fi
chains "static" chains "$WORKLOADS/chains:target" target
chains "static PIE" chains-static-pie "$WORKLOADS/chains-static-pie:target" target
chains "p_offset not p_vaddr" chains-shifted "$WORKLOADS/chains-shifted:target" target

# The code is the same as in the file that still has its symbols, which gives the addresses.
target=$("$WORKLOADS/chains" -A | sed -n 's/^at target //p')
nameless "stripped, by its address" chains-stripped "$WORKLOADS/chains-stripped:$target"
shape="stripped, as text"
start_workload one chains-stripped -w -k -n $N -m $M
trace_workload one stackcount -U -v -p "$(pid_of one)" "$WORKLOADS/chains-stripped:$target"
is "$shape: the frame is file and address" \
    "$(sed -n 's/^  [0-9a-f]* *\(chains.*\)/\1/p' "$scratch/out" | head -n 1)" \
    "chains-stripped+$target"
sed -n 's/^  \([0-9a-f]*\)  *chains-stripped+.*/0x\1/p' "$scratch/out" | sort -u >"$scratch/stripped"
sed -n 's/.* chains-stripped+//p' "$scratch/out" | sort -u >"$scratch/starts"
run_stackbox stackcount -D 1 "$WORKLOADS/chains-stripped:target"
is "stripped: a pattern by name is refused" "$status" 1
contains "stripped: the message names the function" "$scratch/err" "target"

# Stripped, with all functions in .gnu_debugdata: they have names, in patterns and in stacks.
chains "packed" chains-packed "$WORKLOADS/chains-packed:target" target
is "packed: there are no messages" "$(sed "$USUAL" "$scratch/err")" ""
run_stackbox stackcount --list "$WORKLOADS/chains-packed:chain_*"
is "packed: --list has the functions" "$status $(sed 's/.*://' "$scratch/out" | tr '\n' ' ')" \
    "0 chain_a1 chain_a2 chain_b1 chain_b2 "
run_stackbox stackcount -D 1 "$WORKLOADS/chains-packed:chain_a3"
contains "packed: similar names are suggested" "$scratch/err" "near: chain_a2, chain_a1"
# With a damaged .gnu_debugdata: plain addresses, and a message; nothing is made up.
nameless "packed, damaged" chains-damaged "$WORKLOADS/chains-damaged:$target"
is "packed, damaged: it is reported" \
    "$(sed "$USUAL" "$scratch/err")" "stackcount: functions of this file may have \
no names: $WORKLOADS/chains-damaged: its .gnu_debugdata is damaged"
run_stackbox stackcount -D 1 "$WORKLOADS/chains-damaged:target"
is "packed, damaged: a pattern by name is refused" \
    "$status $(cat "$scratch/err")" "1 stackcount: 0 functions matched by \
\"$WORKLOADS/chains-damaged:target\"; there may be more functions in $WORKLOADS/chains-damaged: its \
.gnu_debugdata is damaged"

# As text: a block for each chain, the larger count last or first, leaf first in each.
start_workload one chains -w -k -n $N -m $M
trace_workload one stackcount -U -v -p "$(pid_of one)" "$WORKLOADS/chains:target"
is "as text: addresses are the file's" \
    "$(awk '$2 == "target" { print "0x" $1 }' "$scratch/out" | sort -u)" "$target"
awk '$2 ~ /^(target|chain_..|main|thread_b)$/ { print "0x" $1 }' "$scratch/out" | sort -u |
    comm -23 - "$scratch/stripped" >"$scratch/missing"
is "stripped, as text: the same frames, including the caller of target" "$(cat "$scratch/missing")" ""
awk '/^  [^ ]/ { frames = frames $2 " " } /^    [0-9]+$/ { print frames $1; frames = "" }' \
    "$scratch/out" | sort >"$scratch/blocks"
is "as text: the first chain is right" "$(sed -n 's/^\(target chain_a2 chain_a1 main\) .* \([0-9]*\)$/\1 \2/p' \
    "$scratch/blocks")" "target chain_a2 chain_a1 main $N"
is "as text: the second chain is right" \
    "$(sed -n 's/^\(target chain_b2 chain_b1 thread_b\) .* \([0-9]*\)$/\1 \2/p' \
    "$scratch/blocks")" "target chain_b2 chain_b1 thread_b $M"

if [ "$GUEST" ] || ! [ -d "$DYNAMIC" ]; then
    exit 0
fi

# Frames without a name are at their functions' starts, which the file with symbols knows.
for function in main target chain_a1 chain_a2 chain_b1 chain_b2 thread_b; do
    address_of $function "$WORKLOADS/chains"
done | sort -u | comm -23 - "$scratch/starts" >"$scratch/missing"
is "stripped, as text: frames are at functions' starts" "$(cat "$scratch/missing")" ""

# -s prints the offset from the function's address according to nm; -v prints the address to
# compare.
start_workload one chains -w -k -n 10 -m 10
trace_workload one stackcount -U -v -s -p "$(pid_of one)" "$WORKLOADS/chains:target"
sed -n 's/^  \([0-9a-f]*\)  *\([a-z_0-9]*\)+\(0x[0-9a-f]*\)$/\1 \2 \3/p' "$scratch/out" |
    while read -r address name offset; do
        case $name in
        main | target | chain_* | thread_b)
            if [ $((0x$address)) = $(($(address_of "$name" "$WORKLOADS/chains") + offset)) ]; then
                echo right
            else
                echo "$address $name+$offset"
            fi ;;
        esac
    done | sort | uniq -c | sed 's/^ *//' >"$scratch/offsets"
is "offsets: all eight are right" "$(cat "$scratch/offsets")" "8 right"

really_shifted "$WORKLOADS/chains-shifted" "static"
really_shifted "$DYNAMIC/chains-shifted" "PIE"
for program in pie no-pie shifted prelinked dynsym; do
    chains "dynamic, $program" dynamic/chains-$program "$DYNAMIC/chains-$program:target" target
done
for program in packed packed-all; do
    is "$program: it has no .symtab" "$(nm "$DYNAMIC/chains-$program" 2>/dev/null | wc -l)" 0
    chains "dynamic, $program" dynamic/chains-$program "$DYNAMIC/chains-$program:target" target
done
# Of a damaged one there are the exported functions, and a message that there may be more.
head -c 64 /dev/zero >"$scratch/zeros"
if objcopy --update-section .gnu_debugdata="$scratch/zeros" "$DYNAMIC/chains-packed" "$scratch/bad"
then
    run_stackbox stackcount --list "$scratch/bad:targe*"
    is "packed, damaged: --list has the exported functions" \
        "$status $(cat "$scratch/out" "$scratch/err")" "0 $scratch/bad:target
stackcount: there may be more functions: $scratch/bad: its .gnu_debugdata is damaged"
    run_stackbox stackcount --list "$scratch/bad:target"
    is "packed, damaged: an exported one is found" "$status $(cat "$scratch/out" "$scratch/err")" \
        "0 $scratch/bad:target"
else
    fail "packed, damaged: --list has the exported functions" "objcopy cannot damage it"
fi
is "dynsym: it has no .symtab" "$(nm "$DYNAMIC/chains-dynsym" 2>/dev/null | wc -l)" 0
chains "an IFUNC's choice" dynamic/chains-ifunc "$DYNAMIC/chains-ifunc:target_chosen" target_chosen

# Symbols in a separate file. The address of target is from the file before it was stripped.
for program in debuglink build-id wrong-debug; do
    is "$program: it has no .symtab" "$(nm "$DYNAMIC/chains-$program" 2>/dev/null | wc -l)" 0
done
target=$(address_of target "$DYNAMIC/chains-no-pie")
chains "symbols by .gnu_debuglink" dynamic/chains-debuglink "$DYNAMIC/chains-debuglink:$target" \
    target
nameless "symbols of another file by that name" dynamic/chains-wrong-debug \
    "$DYNAMIC/chains-wrong-debug:$target"
target=$(address_of target "$DYNAMIC/chains-build-id.full")
nameless "symbols that nothing refers to" dynamic/chains-build-id "$DYNAMIC/chains-build-id:$target"
chains "symbols by build id, --symfs" dynamic/chains-build-id "$DYNAMIC/chains-build-id:$target" \
    target --symfs "$DYNAMIC/symfs"

# The same with compressed symbols: by zlib, and by an unsupported method.
if command -v eu-elfcompress >/dev/null; then
    debug=usr/lib/debug/.build-id/5b/acb0c50123456789abcdef.debug
    mkdir -p "$scratch/symfs/${debug%/*}"
    eu-elfcompress -q --force -t zlib -n .symtab -n .strtab -o "$scratch/symfs/$debug" \
        "$DYNAMIC/symfs/$debug"
    chains "compressed symbols by build id" dynamic/chains-build-id \
        "$DYNAMIC/chains-build-id:$target" target --symfs "$scratch/symfs"
    offset=$(readelf -SW "$scratch/symfs/$debug" 2>/dev/null |
        sed -n 's/.* \.symtab *SYMTAB *[0-9a-f]* \([0-9a-f]*\) .*/\1/p')
    printf '\002' | dd of="$scratch/symfs/$debug" bs=1 conv=notrunc seek=$((0x$offset)) 2>/dev/null
    shape="symbols that are compressed with zstd"
    trace dynamic/chains-build-id "$DYNAMIC/chains-build-id:$target" --symfs "$scratch/symfs"
    is "$shape: it is reported" "$(sed "$USUAL" "$scratch/err")" "stackcount: functions of this file \
may have no names: $scratch/symfs/$debug: its symbols are compressed with zstd, which is not supported: \
unpack them with \"eu-elfcompress -t none -n .symtab -n .strtab\""
else
    skip "compressed symbols by build id" "elfutils is not installed"
fi
