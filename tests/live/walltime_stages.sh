#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 6.12
# kernels: 5.10,6.1,newest
# own clock
# host: yes
# quiet
#
# Each moment of a thread is in one report, under the name that it had: processes that know how long their threads
# lived and ran under each of their names, of which some end by an exec, of first threads and of others.
# (Quiet, as some hosts hide switches where CPUs are busy.)
. "${0%/*}/lib.sh"
. "${0%/*}/lib_waits.sh"

have_root || skip_all "tracing needs root"

ln -s "$WORKLOADS/stages" "$scratch/${PREFIX}after"

# Some hosts hide switches: walltime then reports running time as waiting for a CPU.
deaf=$(deaf_cpu)

# stages_right NAME: what $scratch/folded has for each name, within what `stages` measured, to 1 % or 1 ms
stages_right()
{
    awk -v prefix="$PREFIX" '
        FILENAME ~ /stages$/ && $1 == "stage" {
            lived[$3] += $4; ran[$3] += $5; is_in[$3, $2] = groups[$2] = 1
            more[$2] -= $4; more_run[$2] -= $5
        }
        FILENAME ~ /stages$/ && $1 == "whole" { more[$2] += $3; more_run[$2] += $4 }
        FILENAME ~ /folded$/ {
            split($0, frame, ";")
            name = substr(frame[1], length(prefix) + 1)
            if (name in lived) {
                told[name] += $NF
                if (frame[2] ~ /running/)
                    told_run[name] += $NF
            }
        }
        function margin(time) { return time > 100000 ? time / 100 : 1000 }
        END {
            for (name in lived) {
                slack = margin(lived[name])
                slack_run = margin(ran[name])
                for (group in groups)
                    if ((name, group) in is_in) {
                        slack += more[group]
                        slack_run += more_run[group]
                    }
                printf "%s lived %.0f %.0f %.0f\n", name, told[name], lived[name] - margin(lived[name]), lived[name] + slack
                # Of others, most is switches: the event comes in the middle of what the kernel charges.
                if (name == "before" || name == "after")
                    printf "%s ran %.0f %.0f %.0f\n", name, told_run[name], ran[name] - margin(ran[name]),
                        ran[name] + slack_run
            }
        }' "$scratch/stages" "$scratch/folded" >"$scratch/compared"
    is "$1: there are all names" "$(cut -d ' ' -f 1 "$scratch/compared" | sort -u | tr '\n' ' ')" \
        "after before crowd gone napper old "
    while read -r name what told least most; do
        if [ "$deaf" ] && [ "$what" = ran ]; then
            skip "$1: $name ran" "perf(1) sees no switch from the idle task of CPU $deaf either"
            continue
        fi
        between "$1: $name $what" "$told" "$least" "$most"
    done <"$scratch/compared"
}

# trace_stages NAME ARG...
trace_stages()
{
    name=$1
    shift
    rm -f "$scratch"/report.*
    run_stackbox walltime -f "$@" -o "$scratch/report.%n.folded" -- "$WORKLOADS/stages" -N "$PREFIX" \
        -L "$scratch/${PREFIX}after"
    mv "$scratch/out" "$scratch/stages"
    cat "$scratch"/report.* >"$scratch/folded"
    is "$name: exit status" "$status" 0
    stages_right "$name"
}

trace_stages "one report"
trace_stages "hardly any samples" -F 1
trace_stages "many reports" -i 0.1
trace_stages "reports shorter than waits" -i 0.02
