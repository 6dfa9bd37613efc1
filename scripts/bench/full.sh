# SPDX-License-Identifier: MIT OR GPL-2.0-only
# shellcheck shell=sh disable=SC2034,SC2154 # variables that are of bench.sh and all its parts
#
# The end of a run with a few stacks, and of one with much to report: 40,000 counts of 16,384 stacks. For that,
# three processes of one program go through them, so that many stacks belong to two or three processes. There
# is no peer: bpftrace takes more than a minute to symbolize and print as many.

# Starts the processes while something traces. They stay until it is done, so that there is something to
# symbolize.
go_through_stacks()
{
    going=
    for stacks in 16384 16384 7232; do
        "$workloads/spread" -n $stacks -r 1 -k >>"$out/spread" &
        going="$going $!"
    done
    tries=500
    until [ "$(grep -c '^done' "$out/spread")" = 3 ] || [ $tries = 0 ]; do
        sleep 0.02
        tries=$((tries - 1))
    done
}

drop_processes()
{
    # shellcheck disable=SC2086 # words
    kill -s KILL $going
    # shellcheck disable=SC2086
    wait $going
    going=
} 2>/dev/null

end_of_few()
{
    rm -f "$out/cost"
    begin "$tools/cost" "$out/cost" ./stackbox stackcount --debug -f t:syscalls:sys_enter_getppid
    as_soon_as said_ready || return
    "$workloads/calls" -n 1000 >/dev/null
    end_tracer_by INT
    read_cost
    figure end.few stackbox "$ending"
}

part_full()
{
    end_of_few
    rm -f "$out/cost"
    : >"$out/spread"
    begin "$tools/cost" "$out/cost" ./stackbox stackcount --debug -f --stack-storage-size 32768 \
        t:syscalls:sys_enter_getppid
    as_soon_as said_ready || return
    go_through_stacks
    end_tracer_by INT
    drop_processes
    read_cost
    # If a count is missing, another task was measured.
    if [ "$(awk '/^spread;/ { sum += $NF } END { print sum }' "$out/tracer.out")" = 40000 ]; then
        figure full.collect stackbox \
            "$(sed -n 's/.*; collected in \([0-9]*\) us.*/\1/p' "$out/tracer.err" | tail -n 1)"
        figure full.end stackbox "$ending"
        figure full.cpu stackbox "$cpu"
    fi
}
