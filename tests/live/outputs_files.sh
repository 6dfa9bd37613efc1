#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# host: yes
# later: many runs, hit at random moments
#
# Report files under adverse conditions: full disks, limits, signals at any moment, constant
# readers, outputs that are not files, and a machine without /proc. A file exists whole or not at
# all, an old file stays if it cannot be replaced, and no other file is ever left.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_syscall_tracepoints || skip_all "this kernel has no tracepoints of system calls"

EVENT=t:syscalls:sys_enter_getppid
QUIET=t:sched:sched_process_hang
CHAINS="$WORKLOADS/chains -n 20 -m 10"
mkdir "$scratch/f"
cd "$scratch/f" || exit 1

# names [DIRECTORY]: lists it, including hidden names
names()
{
    (cd "${1:-.}" && find . -mindepth 1 | sed 's/^..//' | sort | tr '\n' ' ')
}

# hidden [DIRECTORY]: only its hidden names
hidden()
{
    find "${1:-.}" -mindepth 1 -name '.*'
}

# complaints: what stderr has besides the header, and besides messages about the stacks of other
# processes
complaints()
{
    grep -v '^Tracing\|may miss events on this kernel\|of user stacks end early' "$scratch/err"
}

ends_a_line()
{
    [ "$(tail -c 1 "$1" | wc -l)" = 1 ]
}

# is_whole FILE: is the report whole? An empty one has no lines.
is_whole()
{
    case $1 in
    *.svg) [ "$(tail -n 1 "$1")" = "</svg>" ] ;;
    *.json) [ "$(tail -c 4 "$1" | tr '\n' '|')" = "|]}|" ] ;;
    *.folded) ! [ -s "$1" ] || { ! grep -qv '^[^;]*;.* [0-9][0-9]*$' "$1" && ends_a_line "$1"; } ;;
    esac
}

# ---- A full disk

mkdir "$scratch/small"
mount -t tmpfs -o size=64k tmpfs "$scratch/small" || skip_all "tmpfs cannot be mounted"
full=$scratch/small
echo old >"$full/r.folded"
chmod 640 "$full/r.folded"
dd if=/dev/zero of="$full/filling" bs=4096 2>/dev/null
# shellcheck disable=SC2086 # words
run_stackbox stackcount -o "$full/r.folded" -o ok.folded $EVENT -- $CHAINS
is "a full disk: the message, and the exit status" "$status $(complaints)" "125 stackcount: cannot write\
 \"$full/r.folded\": No space left on device; the existing file is an older one"
is "a full disk: the old file stays" "$(cat "$full/r.folded")" old
is "a full disk: nothing else is there" "$(names "$full")" "filling r.folded "
is "a full disk: the other file is written" "$(folded_sum ok.folded)" 30
run_stackbox stackcount -D 0.1 -o "$full/new.txt" $QUIET
is "a full disk: no new file is left" "$status $(complaints | head -n 1) $(names "$full")" \
    "1 stackcount: cannot write \"$full/new.txt\": No space left on device filling r.folded "

# The disk becomes full, and has room again, while reports are written.
start_workload one calls -w -k -n 100 -N full$$
start_stackbox stackcount -i 0.2 -o "$full/p-%n.txt" $EVENT
wait_until 20 grep -q 'cannot write' "$scratch/err"
rm "$full/filling"
go one
has_report() { grep -qs "full$$ " "$full"/p-*.txt; }
wait_until 20 has_report
finish_stackbox
finish_workload one
is "full for a while: later reports are written" \
    "$status $(cat "$full"/p-*.txt | awk "/^    full$$ / { getline; sum += \$1 } END { print sum }")" "1 100"
is "full for a while: the first one was not" "$([ -e "$full/p-00001.txt" ] && echo there)" ""
is "full for a while: each failure is reported once" \
    "$(complaints | sed 's/.*"\(.*\)".*/\1/' | sort | uniq -d)" ""
is "full for a while: no hidden names are left" "$(hidden "$full")" ""
chmod 640 "$full/r.folded"
# shellcheck disable=SC2086 # words
run_stackbox stackcount -o "$full/r.folded" $EVENT -- $CHAINS
is "with room, the file is replaced, and its mode kept" \
    "$status $(folded_sum "$full/r.folded") $(stat -c %a "$full/r.folded")" "0 30 640"
umount "$full"

# The same with a size limit, which would send a signal. The command's signals stay as they were.
echo old >limited.svg
# shellcheck disable=SC2016,SC2086 # for that shell; words
sh -c 'ulimit -f 1; exec "$@"' sh "$STACKBOX" stackcount -o limited.svg -o ok.folded $EVENT -- \
    sh -c 'grep SigIgn /proc/self/status; '"$CHAINS"' >/dev/null' 2>&1 >ignored.out | cat >"$scratch/err"
contains "a size limit is reported" "$scratch/err" 'cannot write "limited.svg": File too large'
is "a size limit: the old file stays" "$(cat limited.svg)" old
is "a size limit: small enough files are written" "$(folded_sum ok.folded ';chain_a1;')" 20
is "a size limit: the command's signals are unchanged" \
    "$(cat ignored.out)" "$(sh -c 'grep SigIgn /proc/self/status')"
is "a size limit: nothing else is there" "$(names)" "ignored.out limited.svg ok.folded "
rm -f ./*

# ---- At any moment

# kill_writers SIGNALS NAMES: writes reports as fast as possible, and is killed at a random moment
chance=$(($(date +%s) % 32768))
kill_writers()
{
    for signal in $1; do
        start_stackbox stackcount -i 0.005 -o "$2%n.folded" -o "$2%n.svg" -o "$2%n.speedscope.json" $EVENT
        chance=$(((chance * 1103 + 12345) % 32768))
        sleep "0.$(printf '%03d' $((chance % 400)))"
        finish_stackbox "$signal" 2>/dev/null
    done
    for file in *; do
        is_whole "$file" || echo "$file"
    done >"$scratch/halves"
}
start_workload busy calls -n 100000000 -t 2 -N busy$$
for run in 1 2 3 4 5 6 7 8 9 10; do
    kill_writers KILL "$run-"
done
is "killed: files are whole" "$(cat "$scratch/halves")" ""
is "killed: nothing is left" "$(hidden)" ""
between "killed: there were files" "$(names | wc -w)" 5 1000000
kill_writers "INT KILL TERM KILL INT KILL HUP KILL TERM KILL INT KILL INT KILL TERM KILL HUP KILL INT KILL" same-
is "killed, replacing files: files are whole" "$(cat "$scratch/halves")" ""
# A file that replaces another has a hidden name for a moment: two kills at that moment are not
# chance.
between "killed, replacing files: hardly any hidden names are left" "$(hidden | grep -c .)" 0 1
drop_workload busy
rm -rf ./* ./.[!.]*

# ---- With a constant reader

(
    while ! [ -e "$scratch/enough" ]; do
        cat r.svg >"$scratch/copy" 2>/dev/null || { ! [ -e "$scratch/seen" ] || echo gone; continue; }
        : >"$scratch/seen"
        [ "$(tail -n 1 "$scratch/copy")" = "</svg>" ] || echo half
        echo looked
    done
) >"$scratch/looks" 2>&1 &
looking=$!
kill_at_end "$looking"
for round in 1 2 3 4 5 6 7 8 9 10 11 12; do
    # shellcheck disable=SC2086 # words
    run_stackbox stackcount -o r.svg $EVENT -- $CHAINS
done
: >"$scratch/enough"
wait $looking
between "files were read often enough" "$(grep -c looked "$scratch/looks")" 12 100000000
is "every file that was read was whole" "$(grep -v looked "$scratch/looks" | sort | uniq -c)" ""
is "after $round rounds there is one file" "$(names)" "r.svg "
rm -f ./*

# ---- Links, modes

mkdir d
echo old >d/real.folded
chmod 600 d/real.folded
ln -s d/real.folded link.folded
# shellcheck disable=SC2086 # words
run_stackbox stackcount -o link.folded $EVENT -- $CHAINS
is "a link's target is replaced, not the link" \
    "$status $(folded_sum d/real.folded) $(readlink link.folded) $(stat -c %a d/real.folded)" \
    "0 30 d/real.folded 600"
umask 077
run_stackbox stackcount -D 0.1 -o mine.txt $QUIET
umask 022
run_stackbox stackcount -D 0.1 -o all.txt $QUIET
is "the umask is respected" "$(stat -c %a mine.txt all.txt | tr '\n' ' ')" "600 644 "
rm -rf ./*

# ---- Outputs that are not regular files

mkfifo pipe
cat pipe >through &
reading=$!
kill_at_end "$reading"
# shellcheck disable=SC2086 # words
run_stackbox stackcount --format folded -o pipe $EVENT -- $CHAINS
wait $reading
is "a FIFO" "$status $(folded_sum through) $(complaints)" "0 30 "
run_stackbox stackcount --format folded -o /dev/null -D 0.1 $QUIET
is "/dev/null" "$status $([ -c /dev/null ] && echo device)" "0 device"
run_stackbox stackcount --format text -o /dev/full -D 0.1 $QUIET
is "/dev/full" "$status $(complaints | head -n 1)" \
    '1 stackcount: cannot write "/dev/full": No space left on device'
rm -f ./*

# ---- Reported before anything is traced

# refused NAME STATUS TEXT WORD...: is refused, without a header and without running a command
refused()
{
    refused=$1 expected=$2 text=$3
    shift 3
    run_stackbox "$@"
    is "$refused" "$status $(cat "$scratch/err" "$scratch/out")" "$expected stackcount: -o: cannot write $text"
}
mkdir directory readonly
mount -t tmpfs -o ro tmpfs readonly
refused "no such directory" 1 '"none/r.svg": No such file or directory' stackcount -o none/r.svg $QUIET
refused "no such directory, with a command" 125 '"none/r.svg": No such file or directory' \
    stackcount -o none/r.svg $QUIET -- echo ran
refused "a directory" 1 '"directory": Is a directory' stackcount --format svg -o directory $QUIET
refused "a read-only file system" 1 '"readonly/r-%n.svg": Read-only file system' \
    stackcount -i 1 -o 'readonly/r-%n.svg' $QUIET
umount readonly
mkdir shared
chmod 1777 shared
for place in /dev/full ../directory ../kept; do
    ln -sfn "$place" shared/r.svg
    chown -h 65534 shared/r.svg
    refused "another user's link to $place" 1 '"shared/r.svg": Permission denied' \
        stackcount -o shared/r.svg $QUIET
done
ln -s directory shared/way
chown -h 65534 shared/way
refused "another user's link in the path" 1 '"shared/way/r.svg": Permission denied' \
    stackcount -o shared/way/r.svg $QUIET
rm -rf ./*

# ---- Without /proc, and on file systems without unnamed files

# shellcheck disable=SC2016 # for that shell
unshare -m sh -c 'mount -t tmpfs tmpfs /proc && exec "$@"' sh "$STACKBOX" stackcount -K -D 0.2 \
    -o r.folded -o r.svg t:sched:sched_switch 2>"$scratch/err"
is "without /proc a report is written" "$? $(names)" "0 r.folded r.svg "
# shellcheck disable=SC2016 # for that shell
unshare -m sh -c 'mount -t tmpfs tmpfs /proc && exec "$@"' sh "$STACKBOX" stackcount -K -D 0.2 \
    -o r.folded -o r.svg t:sched:sched_switch 2>"$scratch/err"
is "without /proc it is replaced" "$? $(names)" "0 r.folded r.svg "
between "without /proc: all events are counted" "$(folded_sum r.folded)" 1 100000000
echo old >r.folded
# shellcheck disable=SC2016 # for that shell
unshare -m sh -c 'mount -t tmpfs tmpfs /proc && ulimit -f 0 && exec "$@"' sh "$STACKBOX" stackcount -K \
    -D 0.2 -o r.folded t:sched:sched_switch 2>&1 | cat >"$scratch/err"
contains "without /proc: a failure is reported" "$scratch/err" 'cannot write "r.folded": File too large'
is "without /proc: the old file stays, and nothing else is there" \
    "$(cat r.folded) $(names)" "old r.folded r.svg "
rm -f ./*

# ---- stdout does not matter

{
    "$STACKBOX" stackcount -D 0.7 -o r.folded t:sched:sched_switch 2>"$scratch/err"
    echo "$? $(complaints)" >status
} | :
is "a reader of stdout that leaves does not end the run" "$(cat status)" "0 "
between "and its report is written" "$(folded_sum r.folded)" 1 100000000
"$STACKBOX" stackcount -D 0.1 -o closed.folded t:sched:sched_switch >&- 2>"$scratch/err"
is "a closed stdout does not end the run" "$? $(complaints)" "0 "
between "and its report is written, too" "$(folded_sum closed.folded)" 1 100000000
