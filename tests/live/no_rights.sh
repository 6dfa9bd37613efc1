#!/bin/sh
# guests: all
# host: yes
#
# What a user without any right can see of his own programs.
. "${0%/*}/lib.sh"

have_root || skip_all "only root can become somebody else"

set_sysctl kernel.perf_event_paranoid 2
cp "$STACKBOX" "$scratch/stackbox"
cp "$WORKLOADS/burn" "$scratch/burn"
chmod 755 "$scratch" "$scratch/stackbox" "$scratch/burn"

# as_nobody COMMAND...
as_nobody()
{
    "$WORKLOADS/deny" --cap all --uid 65534 -- "$@"
}

as_nobody "$scratch/stackbox" profile --collect rings -F 997 -f -- "$scratch/burn" -s 2000 > "$scratch/out" 2> "$scratch/err"
greater=$(folded_sum "$scratch/out" ';greater;')
all=$(folded_sum "$scratch/out" ';main')
between "a command of his own: seven tenths" $((greater * 1000 / (all + !all))) 670 730

as_nobody "$scratch/burn" -s 1000 -w > "$scratch/burn.out" &
while ! grep -q ready "$scratch/burn.out"; do sleep 0.1; done
pid=$(sed -n 's/^count tid //p' "$scratch/burn.out")
as_nobody "$scratch/stackbox" profile --collect rings -F 997 -f -p "$pid" > "$scratch/out" 2> "$scratch/err" &
tracer=$!
while ! grep -q Sampling "$scratch/err"; do sleep 0.1; done
kill -s USR2 "$pid"
wait $tracer
greater=$(folded_sum "$scratch/out" ';greater;')
all=$(folded_sum "$scratch/out" ';main')
between "a process of his own: seven tenths" $((greater * 1000 / (all + !all))) 670 730

as_nobody "$scratch/stackbox" profile --collect rings -e page-faults -c 1 -f -- "$scratch/burn" -s 10 > "$scratch/out" 2> "$scratch/err"
[ "$(folded_sum "$scratch/out")" -gt 0 ] && pass "page faults" || fail "page faults" "$(cat "$scratch/err")"
