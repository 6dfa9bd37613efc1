#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# host: yes
# again: with clang and lld
#
# Unwinding by tables in bytecode and in C agrees: where each of many shapes of stacks stops (a trap is a
# signal, whose tracepoint records its stack), a tool beside it walks the same stack by ptrace(2), which is
# checked against what the shapes say about themselves.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_tables || skip_all "$NO_TABLES"
grep -q ' perf_trace_signal_generate$' /proc/kallsyms || skip_all "this kernel has no signal tracepoints"
need gcc
shapes=$WORKLOADS/../shapes
sh "${0%/*}/../workloads/shapes/build.sh" "$shapes" || skip_all "the test programs cannot be built"

# On the first run their files may have no tables yet.
cat >"$scratch/twice" <<'END'
"$2/unwind_judge" -q "$1" >/dev/null
sleep 1
exec "$2/unwind_judge" -aq "$1" >"$3"
END

for way in gcc gcc-static gcc-lld clang; do
    if [ ! -x "$shapes/$way/shapes" ]; then
        skip "$way" "it is not built"
        continue
    fi
    timeout "$LIMIT" "$STACKBOX" stacksnoop -U -v --unwind tables t:signal:signal_generate -- \
        sh "$scratch/twice" "$shapes/$way/shapes" "$WORKLOADS" "$scratch/judged" >"$scratch/events" 2>"$scratch/err"
    is "$way: all stacks are right" \
        "$(sed -n 's/^total [0-9]* [0-9]* //p' "$scratch/judged" | cut -d ' ' -f 1)" 0
    # Each trap is two signals, so more is found than was marked. The deepest stacks all end differently.
    awk '
        function cut(text, parts, count, i) {
            count = split(text, parts, " ")
            for (text = ""; count && i++ < (count > 100 ? 100 : count); ) text = text parts[i] " "
            return text
        }
        NR == FNR { if ($1 == "at") { pid = $2 + 0; sub(/^at [0-9]*: /, ""); mark[pid, ++marks[pid]] = cut($0) } next }
        /^[0-9]+[.][0-9]+ / { pid = $4; events[pid]++; next }
        $1 ~ /^[0-9a-f]+$/ && $1 !~ /^ffffffffffff/ { event[pid, events[pid]] = event[pid, events[pid]] $1 " " }
        END {
            for (pid in marks)
                for (i = at = 1; i <= marks[pid]; i++) {
                    for (j = at; j <= events[pid]; j++)
                        if (event[pid, j] == mark[pid, i] || (split(mark[pid, i], parts, " ") >= 100 &&
                            index(event[pid, j], mark[pid, i]) == 1)) break
                    all++
                    if (j <= events[pid]) at = j + 1
                    else { wrong++; if (wrong < 4) print mark[pid, i] }
                }
            print all + 0, wrong + 0
        }' "$scratch/judged" "$scratch/events" >"$scratch/compared"
    is "$way: the BPF program walks the same" \
        "$(tail -n 1 "$scratch/compared" | cut -d ' ' -f 2), $(sed '$d' "$scratch/compared" |
        cut -c 1-200 | tr '\n' '|')" "0, "
    between "$way: there are enough stacks" "$(tail -n 1 "$scratch/compared" | cut -d ' ' -f 1)" 200 1000
done
