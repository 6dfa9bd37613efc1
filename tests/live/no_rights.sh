#!/bin/sh
# guests: 6.12
# kernels: 5.10,6.1,newest
# own clock
# host: yes
#
# What an unprivileged user can trace of their own programs.
. "${0%/*}/lib.sh"

have_root || skip_all "only root can become somebody else"

set_sysctl kernel/perf_event_paranoid 2
cp "$STACKBOX" "$scratch/stackbox"
cp "$WORKLOADS/burn" "$scratch/burn"
chmod 755 "$scratch" "$scratch/stackbox" "$scratch/burn"

# as_nobody COMMAND...
as_nobody()
{
    "$WORKLOADS/deny" --cap all --uid 65534 -- "$@"
}

# seven_tenths NAME: seven tenths of the samples are in one function
seven_tenths()
{
    greater=$(folded_sum "$scratch/out" ';greater;')
    all=$(folded_sum "$scratch/out" ';main')
    if [ "$all" -gt 0 ]; then
        between "$1: seven tenths of the samples" $((greater * 1000 / all)) 670 730
    else
        fail "$1: seven tenths of the samples" \
            "of none: $(tr '\n' '|' <"$scratch/err") $(head -n 5 "$scratch/out" | tr '\n' '|')"
    fi
}

as_nobody "$scratch/stackbox" profile -F 997 -f -- "$scratch/burn" -s 4000 > "$scratch/out" 2> "$scratch/err"
seven_tenths "a command of the user's own"
# Before 4.6 any user may call bpf(2), but it lacks what stackbox needs first.
case $(uname -r) in
4.[45].*) why="this kernel's bpf(2) cannot" ;;
*) why="bpf(2) is refused" ;;
esac
is "it says that rings collect, and that kernel stacks are missing" \
    "$(grep -c "^profile: stacks are collected by perf's rings, as $why$" "$scratch/err") $(
        grep -c '^Sampling at 997 Hertz of all threads by user stack' "$scratch/err")" "1 1"

as_nobody "$scratch/burn" -s 4000 -w > "$scratch/burn.out" &
while ! grep -q ready "$scratch/burn.out"; do sleep 0.1; done
pid=$(sed -n 's/^count tid //p' "$scratch/burn.out")
as_nobody "$scratch/stackbox" profile -F 997 -f -p "$pid" > "$scratch/out" 2> "$scratch/err" &
tracer=$!
while ! grep -q Sampling "$scratch/err" && ! ended $tracer; do sleep 0.1; done
kill -s USR2 "$pid"
wait $tracer
seven_tenths "a process of the user's own"

as_nobody "$scratch/stackbox" profile -e page-faults -c 1 -f -- "$scratch/burn" -s 10 > "$scratch/out" 2> "$scratch/err"
[ "$(folded_sum "$scratch/out")" -gt 0 ] && pass "page faults" || fail "page faults" "$(cat "$scratch/err")"

# refused NAME TEXT ARG...: profile is refused with TEXT, in one line
refused()
{
    refused=$1 text=$2
    shift 2
    as_nobody "$WORKLOADS/session" --limit 60 "$scratch/stackbox" profile "$@" < /dev/null > "$scratch/out" 2> "$scratch/err"
    is "$refused: exit status and lines" "$? $(wc -l < "$scratch/err")" "1 1"
    contains "$refused" "$scratch/err" "$text"
}

refused "all processes" "give -p PID or -- COMMAND, or run it as root" 1
refused "another user's process" "give -p PID or -- COMMAND, or run it as root" -p $$ 1
refused "--collect bpf" "CAP_BPF and CAP_PERFMON are missing" --collect bpf -p $$ 1
set_sysctl kernel/perf_event_paranoid 3
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" = 3 ] &&
    ! as_nobody "$scratch/stackbox" profile --collect rings -- true > "$scratch/out" 2>&1; then
    refused "nothing at all" "sysctl kernel.perf_event_paranoid=2" 1
    refused "nothing but one's own" "another user's, which needs CAP_SYS_PTRACE: run it as that user, or as root" -p $$ 1
else
    skip "nothing at all" "this kernel's levels end at 2"
fi
reset_sysctls
