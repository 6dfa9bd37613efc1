#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: newest
# seldom: 5.10
# host: yes
#
# Files of strangers are read by a process that may do nothing else, and opened by one that may do nothing
# else. If it dies, frames have no names, and everything else is right.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
choose_event

# Nobody else's process has this name.
NAME=apart$$
N=200

# child_of PID: the one that it has
child_of()
{
    grep -l "^PPid:.$1$" /proc/[0-9]*/status 2>/dev/null | sed -n '1s|/proc/\([0-9]*\)/.*|\1|p'
}

# Whose map is long has its reader busy for a while: it is stopped in the middle.
stop_reader()
{
    opener=$(child_of "$stackbox")
    reader=${opener:+$(child_of "$opener")}
    [ "$reader" ] && kill -s STOP "$reader" 2>/dev/null && grep -q '^Uid:.65534' "/proc/$reader/status" &&
        grep -q '^NoNewPrivs:.1' "/proc/$opener/status"
}

# trace: until the reader of the report is stopped
trace()
{
    start_workload one jit -w -k -n $N -N $NAME
    start_stackbox stackcount -f -U -p "$(pid_of one)" $EVENT || fail "$1" "$(cat "$scratch/err")"
    go one
    truncate -s 1023M "/tmp/perf-$(pid_of one).map"
    kill -s INT "$stackbox"
    tries=2000
    until stop_reader; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] && ! ended "$stackbox" || return 1
    done
}

# of PID FIELD: what the kernel says of it
of()
{
    sed -n "s/^$2:[	 ]*//p" "/proc/$1/status" | tr '\t' ' '
}

if trace "rights"; then
    is "the reader holds no capability" "$(of "$reader" CapEff) $(of "$reader" CapPrm) $(of "$reader" CapInh)" \
        "0000000000000000 0000000000000000 0000000000000000"
    is "the reader is nobody" "$(of "$reader" Uid), $(of "$reader" Gid), $(of "$reader" Groups)" \
        "65534 65534 65534 65534, 65534 65534 65534 65534, "
    is "the reader gets no rights by any program" "$(of "$reader" NoNewPrivs)" 1
    # A sanitizer makes calls of its own.
    case $STACKBOX in
    */asan/*) ;;
    *) is "the reader has a filter" "$(of "$reader" Seccomp)" 2 ;;
    esac
    # CAP_DAC_READ_SEARCH is 2, CAP_KILL 5, CAP_SYS_PTRACE 19.
    is "the opener holds what opening takes, and ends the reader" "$(of "$opener" CapEff) $(of "$opener" CapPrm)" \
        "0000000000080024 0000000000080024"
    # What it has open are a socket and a pipe to answer by, and plain files for reading.
    for fd in "/proc/$reader/fd/"*; do
        case $(readlink "$fd") in
        socket:* | pipe:*) ;;
        *) [ -f "$fd" ] && grep -q '^flags:.*0$' "/proc/$reader/fdinfo/${fd##*/}" || readlink "$fd" ;;
        esac
    done >"$scratch/open"
    case $STACKBOX in
    */asan/*) ;;
    *) is "the reader has nothing open but what it reads" "$(cat "$scratch/open")" "" ;;
    esac
    kill -s KILL "$reader"
    wait_stackbox
    is "killed: the status" $status 0
    is "killed: the sum" "$(folded_sum "$scratch/out" "^$NAME;")" $N
    lacks "killed: no names" "$scratch/out" jit_target
    contains "killed: it is said" "$scratch/err" "user frames may have no names: the process that reads \
their files was killed by signal 9"
    is "killed: it is said once" "$(grep -c 'reads their files' "$scratch/err")" 1
else
    fail "the reader is seen" "$(cat "$scratch/err")"
fi
finish_workload one
rm -f "/tmp/perf-$(pid_of one).map"

# Whoever ends us ends both.
if trace "both end"; then
    kill -s KILL "$stackbox"
    wait_stackbox 2>/dev/null
    wait_until 20 ended "$opener" && wait_until 20 ended "$reader"
    is "they end with us" "$?" 0
else
    fail "the reader is seen again" "$(cat "$scratch/err")"
fi
finish_workload one
rm -f "/tmp/perf-$(pid_of one).map"

# ---- What we keep ourselves

# has MASK BIT: a capability of a line of /proc/PID/status
has()
{
    [ $((0x$1 >> $2 & 1)) = 1 ] && echo yes || echo no
}

start_workload one chains -w -k -n $N -N $NAME
start_stackbox stackcount -f -p "$(pid_of one)" $EVENT || fail "starts" "$(cat "$scratch/err")"
shed()
{
    [ "$(of "$stackbox" CapEff)" != "$(of $$ CapEff)" ]
}
wait_until 20 shed
all=$(of $$ CapEff) kept=$(of "$stackbox" CapEff)
is "nothing is effective that is not permitted" "$kept" "$(of "$stackbox" CapPrm)"
# CAP_NET_ADMIN, CAP_SYS_MODULE, CAP_SYS_RAWIO, CAP_SYS_CHROOT, CAP_SYS_TIME, CAP_MKNOD, CAP_SETFCAP, CAP_SYSLOG
for bit in 12 16 17 18 25 27 31 34; do
    echo "$(has "$all" $bit) $(has "$kept" $bit)"
done | sort -u >"$scratch/gone"
lacks "what is not needed any more is given up" "$scratch/gone" " yes"
contains "what had been held" "$scratch/gone" "yes no"
# CAP_DAC_READ_SEARCH, CAP_KILL, CAP_SYS_PTRACE
is "what opening takes is kept" "$(has "$kept" 2) $(has "$kept" 5) $(has "$kept" 19)" "yes yes yes"
go one
finish_stackbox
finish_workload one
is "the sum" "$(folded_sum "$scratch/out" "^$NAME;")" "$(calls_of one)"
is "user frames have names" "$(folded_sum "$scratch/out" ';chain_a1;chain_a2;target;')" "$(count_of one a)"
# The functions through which each system call comes, whatever the event.
is "the kernel's have theirs" "$(folded_sum "$scratch/out" ';target;.*do_syscall')" "$(calls_of one)"
lacks "none of the kernel's lacks one" "$scratch/err" "hides its addresses"

# The command has all that we had.
run_stackbox stackcount $EVENT -- sh -c "grep '^CapEff' /proc/self/status >'$scratch/command'"
contains "the command holds what we held" "$scratch/command" "$all"
