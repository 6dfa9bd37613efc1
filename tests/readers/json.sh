#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# What jq reads in stacksnoop's JSON lines: each event of a workload, with its stack, whatever bytes are in
# its names; the same as in the text format; by BPF programs and by rings.
. "${0%/*}/../live/lib.sh"

have_root || skip_all "tracing needs root"
have_syscall_tracepoints || skip_all "this kernel has no tracepoints of system calls"
need jq

EVENT=t:syscalls:sys_enter_getppid
name=$(printf 'a"\\\001\377<\303\251')
shown='a"\\x01\xff<é'

# snoop CALLS OPTION...: leaves stacksnoop's output in $scratch/out
snoop()
{
    calls=$1
    shift
    start_workload one calls -w -k -n "$calls" -N "$name"
    start_stackbox stacksnoop -p "$(pid_of one)" "$@" $EVENT || fail "stacksnoop $*" "$(cat "$scratch/err")"
    go one
    finish_stackbox
    finish_workload one
}

# read_back FILTER: what jq makes of all lines
read_back()
{
    jq -r "$1" "$scratch/out" 2>&1
}

for collect in bpf rings; do
    snoop 300 --format json --collect $collect
    is "$collect: a line for each call" "$(wc -l <"$scratch/out") $(read_back .pid | grep -cx "$(pid_of one)")" "300 300"
    is "$collect: each line is an object by itself" \
        "$(while read -r line; do printf '%s' "$line" | jq -r type; done <"$scratch/out" | sort | uniq -c | tr -s ' ')" \
        " 300 object"
    is "$collect: it has the documented members" "$(read_back 'keys_unsorted | join(" ")' | sort -u)" \
        "time comm pid tid host_pids cpu event kernel user"
    is "$collect: members have the right types" "$(read_back 'map(type) | join(" ")' | sort -u)" \
        "number string number number boolean number string array array"
    is "$collect: frames have the documented members" \
        "$(read_back '(.kernel + .user)[] | keys_unsorted | join(" ")' | sort -u)" \
        "name file offset"
    is "$collect: an odd name is escaped" "$(read_back .comm | sort -u)" "$shown"
    is "$collect: the event is right" "$(read_back .event | sort -u)" "${EVENT#t:}"
    is "$collect: the caller's frames are there" \
        "$(read_back '[.user[].name] | index("make_calls") != null' | sort | uniq -c | tr -s ' ')" \
        " 300 true"
    is "$collect: and have their file" \
        "$(read_back '.user[] | select(.name == "make_calls") | .file' | sort -u)" calls
    is "$collect: times begin at 0 and do not go back" "$(read_back .time | awk 'NR == 1 { print $1 + 0 }
        $1 < last { print "back" } { last = $1 }')" 0
    is "$collect: CPUs are right" \
        "$(read_back .cpu | awk -v most="$(getconf _NPROCESSORS_CONF)" '$1 >= most')" ""
    is "$collect: the thread is right" "$(read_back .tid | sort -u | wc -l)" 1

    # The text format has the same names for the same calls, and "[unknown]" where there are none.
    read_back '[(.kernel + .user)[] | .name // "[unknown]"] | join(" ")' | sort -u >"$scratch/names"
    snoop 300 --collect $collect
    is "$collect: names are those in the text" "$(cat "$scratch/names")" \
        "$(awk '/^\t/ { line = line (line == "" ? "" : " ") substr($0, 2) } /^$/ { print line; line = "" }' \
            "$scratch/out" | sort -u)"
done

before=$(date +%s)
snoop 1 --format json -T -U -v
is "-T: times are since the epoch" "$(read_back .time | awk -v from="$before" -v to="$(date +%s)" \
    '{ print ($1 >= from && $1 < to + 1) }')" 1
is "-U: there is no kernel stack" "$(read_back 'has("kernel"), has("user")' | tr '\n' ' ')" "false true "
is "-v: addresses are strings" \
    "$(read_back '.user[] | select(.name == "make_calls") | .address' | grep -c '^0x[0-9a-f]*$')" 1
snoop 1 --format json -K
is "-K: there is no user stack" "$(read_back 'has("kernel"), has("user")' | tr '\n' ' ')" "true false "
snoop 20 --format json --max 7
is "--max: that many lines are printed" "$(read_back .pid | wc -l)" 7

# As they come: stacksnoop writes each whole line within moments, while tracing goes on.
start_workload one calls -w -k -n 1
start_stackbox stacksnoop -p "$(pid_of one)" --format json $EVENT || fail "as they come" "$(cat "$scratch/err")"
go one
if wait_until 20 grep -q make_calls "$scratch/out"; then
    is "as they come: read while it runs" "$(read_back .pid) $(ended "$stackbox" || echo runs)" "$(pid_of one) runs"
else
    fail "as they come" "nothing was printed: $(cat "$scratch/out" "$scratch/err")"
fi
finish_workload one
finish_stackbox
