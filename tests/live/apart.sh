#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,newest
# host: yes
#
# One process reads untrusted files, another opens them, and neither may do anything else. If the
# reader dies, the files that it was reading have no names, and everything else is right.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
choose_event

# No other process has this name.
NAME=apart$$
N=200

# child_of PID: its only child
child_of()
{
    grep -l "^PPid:.$1$" /proc/[0-9]*/status 2>/dev/null | sed -n '1s|/proc/\([0-9]*\)/.*|\1|p'
}

chmod 755 "$scratch"
cp "$WORKLOADS/jit" "$scratch/jit"

# A long perf map keeps the reader busy: the test stops it somewhere.
stop_reader()
{
    opener=$(child_of "$stackbox")
    reader=${opener:+$(child_of "$opener")}
    [ "$reader" ] && kill -s STOP "$reader" 2>/dev/null && ! grep -q '^Uid:.0' "/proc/$reader/status" &&
        grep -q '^NoNewPrivs:.1' "/proc/$opener/status"
}

# trace NAME [PREFIX...]: traces until the reader of the report is stopped
trace()
{
    name=$1
    shift
    start_workload one "$@" "$scratch/jit" -w -k -n $N -N $NAME
    start_tracing stackcount -f -U -p "$(pid_of one)" $EVENT
    go one
    yes "1 1 x" | head -c 100000000 | dd bs=64k oflag=append conv=notrunc,nocreat of="/tmp/perf-$(pid_of one).map" 2>"$scratch/dd"
    kill -s INT "$stackbox"
    tries=2000
    until stop_reader; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] && ! ended "$stackbox" || return 1
    done
}

# of PID FIELD: that field of /proc/PID/status
of()
{
    sed -n "s/^$2:[	 ]*//p" "/proc/$1/status" | tr '\t' ' '
}

if trace "rights"; then
    is "the reader holds no capability" "$(of "$reader" CapEff) $(of "$reader" CapPrm) $(of "$reader" CapInh)" \
        "0000000000000000 0000000000000000 0000000000000000"
    own=$(of "$reader" Uid | cut -d' ' -f1)
    is "the reader has a user and a group of its own" \
        "$(of "$reader" Uid), $(of "$reader" Gid), $(of "$reader" Groups), $(grep -ls "^Uid:.$own" /proc/[0-9]*/status)" \
        "$own $own $own $own, $own $own $own $own, , /proc/$reader/status"
    is "no other process of nobody can kill it" "$("$WORKLOADS/deny" --uid 65534 -- /bin/sh -c \
        "kill -s KILL $reader" 2>/dev/null || echo refused)" refused
    is "the reader can gain no privileges" "$(of "$reader" NoNewPrivs)" 1
    # Sanitizers make calls of their own.
    case $STACKBOX in
    */asan/*) ;;
    *) is "the reader has a seccomp filter" "$(of "$reader" Seccomp)" 2 ;;
    esac
    # CAP_DAC_READ_SEARCH is 2, CAP_KILL 5, CAP_SYS_PTRACE 19.
    is "the opener holds only the capabilities to open files, and to end the reader" \
        "$(of "$opener" CapEff) $(of "$opener" CapPrm)" \
        "0000000000080024 0000000000080024"
    # It has a socket and a pipe for answers open, and plain files for reading.
    for fd in "/proc/$reader/fd/"*; do
        case $(readlink "$fd") in
        socket:* | pipe:*) ;;
        *) [ -f "$fd" ] && grep -q '^flags:.*0$' "/proc/$reader/fdinfo/${fd##*/}" || readlink "$fd" ;;
        esac
    done >"$scratch/open"
    case $STACKBOX in
    */asan/*) ;;
    *) is "the reader has only the files that it reads open" "$(cat "$scratch/open")" "" ;;
    esac
    kill -s KILL "$reader"
    wait_stackbox
    is "reader killed: exit status" $status 0
    is "reader killed: all calls are counted" "$(folded_sum "$scratch/out" "^$NAME;")" $N
    contains "reader killed: another reads on" "$scratch/out" ';main;'
    contains "reader killed: it is reported" \
        "$scratch/err" "user frames may have no names: the process that reads \
their files was killed by signal 9"
    is "reader killed: it is reported once" "$(grep -c 'reads their files' "$scratch/err")" 1
else
    fail "the reader is seen" "$(cat "$scratch/err")"
fi
finish_workload one
rm -f "/tmp/perf-$(pid_of one).map"

# stackbox kills a silent reader, as on a file system that does not answer; another one reads on.
if trace "silent" deny --uid 65534 --; then
    stopped=$(date +%s)
    wait_stackbox
    between "a silent reader: the report comes soon" $(($(date +%s) - stopped)) 0 20
    is "a silent reader: exit status" $status 0
    is "a silent reader: all calls are counted" "$(folded_sum "$scratch/out" "^$NAME;")" $N
    contains "a silent reader: another reads on" "$scratch/out" ';main;'
else
    fail "a silent reader is seen" "$(cat "$scratch/err")"
fi
finish_workload one
rm -f "/tmp/perf-$(pid_of one).map"

# If stackbox is killed, both end.
if trace "both end"; then
    kill -s KILL "$stackbox"
    wait_stackbox 2>/dev/null
    wait_until 20 ended "$opener" && wait_until 20 ended "$reader"
    is "reader and opener end with stackbox" "$?" 0
else
    fail "the reader is seen again" "$(cat "$scratch/err")"
fi
finish_workload one
rm -f "/tmp/perf-$(pid_of one).map"

# ---- The tracer's own capabilities

# has MASK BIT: is that capability in a mask from /proc/PID/status?
has()
{
    [ $((0x$1 >> $2 & 1)) = 1 ] && echo yes || echo no
}

start_workload one chains -w -k -n $N -N $NAME
start_tracing stackcount -f -p "$(pid_of one)" $EVENT
shed()
{
    [ "$(of "$stackbox" CapEff)" != "$(of $$ CapEff)" ]
}
wait_until 20 shed
all=$(of $$ CapEff) kept=$(of "$stackbox" CapEff)
is "effective capabilities are the permitted ones" "$kept" "$(of "$stackbox" CapPrm)"
# CAP_NET_ADMIN, CAP_SYS_MODULE, CAP_SYS_RAWIO, CAP_SYS_CHROOT, CAP_SYS_TIME, CAP_MKNOD, CAP_SETFCAP, CAP_SYSLOG
for bit in 12 16 17 18 25 27 31 34; do
    echo "$(has "$all" $bit) $(has "$kept" $bit)"
done | sort -u >"$scratch/gone"
lacks "capabilities that are no longer needed are dropped" "$scratch/gone" " yes"
contains "some of them had been held" "$scratch/gone" "yes no"
# CAP_DAC_READ_SEARCH, CAP_KILL, CAP_SYS_PTRACE
is "those for opening files are kept" "$(has "$kept" 2) $(has "$kept" 5) $(has "$kept" 19)" "yes yes yes"
go one
finish_stackbox
finish_workload one
is "all calls are counted" "$(folded_sum "$scratch/out" "^$NAME;")" "$(calls_of one)"
is "user frames have names" "$(folded_sum "$scratch/out" ';chain_a1;chain_a2;target;')" "$(count_of one a)"
# Functions that every system call passes, for any event.
is "so do kernel frames" "$(folded_sum "$scratch/out" ';target;.*do_syscall')" "$(calls_of one)"
lacks "no kernel frame lacks one" "$scratch/err" "hides its addresses"

# The command has all the capabilities that stackbox was given.
run_stackbox stackcount $EVENT -- sh -c "grep '^CapEff' /proc/self/status >'$scratch/command'"
contains "the command holds what stackbox was given" "$scratch/command" "$all"
