#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,6.12
# host: yes
#
# What stacksnoop prints, when, and how it ends.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_syscall_tracepoints || skip_all "this kernel has no tracepoints of system calls"

EVENT=t:syscalls:sys_enter_getppid
PLACE=$EVENT
have_kprobes && PLACE=${CALL}getppid # which has a kernel stack on 5.10, too
NAME=${PLACE#t:}

# snoop CALLS OPTION...: makes that many calls; stacksnoop's output is in $scratch/out
snoop()
{
    calls=$1
    shift
    start_workload one calls -w -k -n "$calls" -N "two words"
    trace_workload one stacksnoop -p "$(pid_of one)" "$@" $PLACE
}

heads()
{
    tail -n +2 "$scratch/out" | grep '^[^	]'
}

# ---- the text

snoop 3
is "the first line is the heading" "$(head -n 1 "$scratch/out")" \
    "TIME(s)            COMM            PID     TID     CPU EVENT"
pid=$(pid_of one)
printf '%-18s %-15s %-7d %-7s %-3s %s\n' 0.000000000 "two words" "$pid" TID CPU "$NAME" >"$scratch/truth"
tid=$(heads | head -n 1 | cut -c 44-50)
cpu=$(heads | head -n 1 | cut -c 52-54)
is "columns are right" "$(heads | head -n 1)" \
    "$(sed "s/TID    /$tid/; s/CPU/$cpu/" "$scratch/truth")"
is "the thread is the second of the process" "$([ $((tid)) -gt 0 ] && [ $((tid)) != "$pid" ]; echo $?)" 0
is "each call has a record" "$(heads | wc -l)" 3
is "an empty line follows each" "$(grep -c '^$' "$scratch/out")" 3
is "the last line is empty" "$(tail -n 1 "$scratch/out")" ""
contains "there are user frames" "$scratch/out" "	make_calls"
is "the kernel's frames come first" \
    "$(awk -v way="$(echo "$WAY_IN" | tr ' ' '|')" \
        '$0 ~ way { kernel = NR } /make_calls/ { print kernel && kernel < NR; exit }' "$scratch/out")" 1
lacks "there is no delimiter by default" "$scratch/out" "	--"
contains "the header is on stderr" "$scratch/err" "Tracing 1 $(case $PLACE in t:*) echo event ;; *) echo function ;; esac) for \"$PLACE\"... Hit"

snoop 1 -d -s -a
contains "-d" "$scratch/out" "	--"
contains "-s" "$scratch/out" "	make_calls+0x"
contains "-a" "$scratch/out" "_[k]"
snoop 1 -v
is "-v: addresses have 16 columns" \
    "$(grep -c '^	[0-9a-f]\{1,16\} *  *make_calls$' "$scratch/out")" 1
snoop 1 -U
lacks "-U: no kernel frames" "$scratch/out" syscall_64
contains "-U" "$scratch/out" "	make_calls"
snoop 1 -K
lacks "-K: no user frames" "$scratch/out" make_calls
is "-K: there is a kernel stack" "$(sed -n '3,$p' "$scratch/out" | grep -c '^	[^[]')" \
    "$(sed -n '3,$p' "$scratch/out" | grep -c '^	')"
snoop 1 --depth 2 -U
is "--depth" "$(grep -c '^	' "$scratch/out")" 2

# ---- times

before=$(date +%H%M%S)
snoop 2 -T
after=$(date +%H%M%S)
time=$(heads | head -n 1 | cut -d ' ' -f 1)
case $time in
[0-2][0-9]:[0-5][0-9]:[0-6][0-9].?????????)
    now=$(echo "$time" | tr -d : | cut -c 1-6)
    if [ "$after" -lt "$before" ]; then
        skip "-T" "it is midnight"
    else
        between "-T" "$((1$now))" "$((1$before))" "$((1$after))"
    fi ;;
*) fail "-T" "the time is \"$time\"" ;;
esac

# ---- perf's format, as its readers expect it

# perf_records: what readers make of it: comm, pid/tid, cpu, time, the functions leaf first; or
# `bad`
perf_records()
{
    awk '
        function flush() { if (head != "") print head, stack; head = stack = "" }
        /^$/ { flush(); next }
        head == "" {
            if ($0 !~ /^[^ ][^ ]+ +[0-9]+\/[0-9]+ +\[[0-9][0-9][0-9]+\] +[0-9]+\.[0-9]+: +stackbox: *$/)
                print "bad head", $0
            head = $1 " " $2 " " $3
            next
        }
        /^ +[0-9a-f]+ .+ \([^ ()]+\)$/ {
            line = $0; sub(/^ +[0-9a-f]+ /, "", line); sub(/ \([^()]*\)$/, "", line)
            stack = stack line ";"
            next
        }
        { print "bad frame", $0 }
        END { if (head != "") print "bad end" }
    ' "$scratch/out"
}

snoop 3 --format perf
perf_records >"$scratch/records"
is "perf: readers understand every line" "$(grep '^bad' "$scratch/records")" ""
is "perf: each call has a record" \
    "$(grep -c "^two_words $(pid_of one)/[0-9]* \[[0-9]*\] .*;make_calls;" "$scratch/records")" 3
is "perf: there are no others" "$(wc -l <"$scratch/records")" 3
is "perf: an empty line follows each, the last one, too" "$(tail -n 1 "$scratch/out")" ""
contains "perf: user frames have a module" "$scratch/out" " make_calls (calls)"
contains "perf: so do kernel frames" "$scratch/out" " ([kernel.kallsyms])"
if command -v perl >/dev/null && command -v stackcollapse-perf.pl >/dev/null; then
    is "stackcollapse-perf.pl reads it" \
        "$(stackcollapse-perf.pl <"$scratch/out" | awk '{ sum += $NF } END { print sum }')" 3
fi
start_workload one calls -w -k -n 1 -N x
trace_workload one stacksnoop -p "$(pid_of one)" --format perf $PLACE
perf_records >"$scratch/records"
is "perf: a name of one letter is read" \
    "$(grep -c '^bad' "$scratch/records") $(cut -c 1-2 "$scratch/records")" "0 x_"

# ---- the end

start_workload one calls -w -k -n 50
start_tracing stacksnoop -p "$(pid_of one)" --max 7 $PLACE
go one
wait_stackbox
is "--max: it ends after that many records" "$status $(heads | wc -l)" "0 7"
finish_workload one

# The reader leaves after the first line: a quiet end.
start_workload one calls -w -k -n 50
: >"$scratch/err"
{ "$STACKBOX" stacksnoop -p "$(pid_of one)" $PLACE 2>"$scratch/err"; echo $? >"$scratch/status"; } |
    head -n 1 >"$scratch/out" &
wait_until 20 grep -q '^Tracing' "$scratch/err"
go one
wait_until 20 test -s "$scratch/status"
is "closed stdout: exit status, and no message" \
    "$(cat "$scratch/status") $(grep -vc '^Tracing\|no events\|may miss events on this kernel' "$scratch/err")" "0 0"
finish_workload one

start_stackbox stacksnoop -p "$$" -D 0.2 $PLACE
wait_stackbox
quiet_for 0.2 "$scratch/err" >"$scratch/told"
contains "no events: it is reported" "$scratch/told" "no events in 0.2 s"
is "no events: only the heading is printed" "$status $(wc -l <"$scratch/out")" "0 1"

# stacksnoop prints an event within moments, while tracing goes on.
start_workload one calls -w -k -n 1
start_tracing stacksnoop -p "$(pid_of one)" $PLACE
go one
if wait_until 20 grep -q make_calls "$scratch/out"; then
    is "as they come: printed while it runs" "$(ended "$stackbox" || echo runs)" runs
else
    fail "as they come" "nothing was printed: $(cat "$scratch/out" "$scratch/err")"
fi
finish_workload one
finish_stackbox

# ---- names of processes that have ended when their events are read

start_tracing stacksnoop -U $EVENT
for i in 1 2 3 4 5 6 7 8 9 10; do
    "$WORKLOADS/calls" -n 2 -N gone$$ >"$scratch/calls"
done
finish_stackbox
is "ended processes: all their events are there" "$(heads | grep -c " gone$$ ")" 20
is "ended processes: their frames have names" \
    "$(awk '/^[^\t]/ { wanted = / gone'$$' / } wanted && /^\tmake_calls$/ { n++ } END { print n }' "$scratch/out")" 20
