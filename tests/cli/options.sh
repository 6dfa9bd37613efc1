#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# The binary's command line: exit statuses and messages, before it asks the kernel anything.

. "${0%/*}/../live/lib.sh"

# run ARG...: leaves output in $scratch/out and $scratch/err, the exit status in $status
run()
{
    "$STACKBOX" "$@" </dev/null >"$scratch/out" 2>"$scratch/err"
    status=$?
}

# refuses LINE ARG...: these arguments are wrong usage, reported in exactly this line
refuses()
{
    line=$1
    shift
    run "$@"
    name=$(printf '%s' "$*" | LC_ALL=C tr -c ' -~' '?' | cut -c 1-72)
    is "$name" "$status $(cat "$scratch/out" "$scratch/err")" "2 $line"
}

# wrong LINE ARG...: the same for stackcount, without the beginning and end of its lines
wrong()
{
    line=$1
    shift
    refuses "stackcount: $line (see stackcount -h)" stackcount "$@"
}

# ---- stackbox itself

run
is "without arguments: exit status" $status 0
is "without arguments: a line for each applet" "$(cut -d ' ' -f 1 "$scratch/out" | tr '\n' ' ')" \
    "stackcount profile offcputime wakeuptime offwaketime walltime stacksnoop report flamegraph check "
is "without arguments: nothing on stderr" "$(cat "$scratch/err")" ""
run --version
is "--version" "$status $(cat "$scratch/out")" \
    "0 stackbox $(sed -n 's/^VERSION *:= *//p' "${0%/*}/../../Makefile")"
for words in -h --help help; do
    run $words
    is "$words: exit status" $status 0
    contains "$words: lists applets" "$scratch/out" "  stackcount "
done

# -h: about a screenful of what --help has in full. Examples come first.
for applet in $("$STACKBOX" | cut -d ' ' -f 1); do
    run "$applet" --help
    cp "$scratch/out" "$scratch/help"
    run "$applet" -h
    is "$applet -h: exit status" $status 0
    is "$applet -h: it begins like --help" "$(sed '/^$/q' "$scratch/out")" "$(sed '/^$/q' "$scratch/help")"
    between "$applet -h: it fits a screen" "$(wc -l <"$scratch/out")" 12 42
    is "$applet -h: within 80 columns" "$(awk 'length($0) > 80' "$scratch/out")" ""
    is "$applet -h: its sections" "$(sed -n 's/^\([EO].*\):$/\1/p' "$scratch/out" | tr '\n' '|')" \
        "Examples|Options ($applet --help lists all)|"
    sed -n 's/^  \(\(-., \)*--[a-z-]*\( [][A-Z,]*\)\{0,1\}\).*/\1/p' "$scratch/out" >"$scratch/listed"
    between "$applet -h: it lists options" "$(wc -l <"$scratch/listed")" 1 20
    while read -r option; do
        grep -qF -e "  $option" "$scratch/help" || fail "$applet -h: $option" "--help does not list it"
    done <"$scratch/listed"
done

run stackcount --help
cp "$scratch/out" "$scratch/help"
is "stackcount --help: exit status" $status 0
contains "stackcount --help: it has the usage line" "$scratch/out" "Usage: stackcount [options] PATTERN..."
run stackcount -h
cp "$scratch/out" "$scratch/brief"
is "stackcount vfs_read -KUh: the same as -h" \
    "$("$STACKBOX" stackcount vfs_read -KUh)" "$(cat "$scratch/brief")"
for words in "help stackcount" "stackcount vfs_read --help"; do
    # shellcheck disable=SC2086 # several words
    run $words
    is "$words: the same" "$status $(cksum <"$scratch/out")" "0 $(cksum <"$scratch/help")"
done
ln -s "$STACKBOX" "$scratch/stackcount"
"$scratch/stackcount" --help >"$scratch/out"
is "a link named after the applet runs it" "$? $(cksum <"$scratch/out")" "0 $(cksum <"$scratch/help")"
ln -s "$STACKBOX" "$scratch/another"
is "a link with another name takes an applet" "$("$scratch/another" --version)" "$("$STACKBOX" --version)"

refuses 'stackbox: there is no applet "stackcuont"; near: stackcount (stackbox alone lists them)' \
    stackcuont vfs_read
refuses 'stackbox: there is no applet "ls" (stackbox alone lists them)' ls
refuses 'stackbox: there is no applet "a\x1b[31m" (stackbox alone lists them)' \
    "$(printf 'a\033[31m')"
refuses 'stackbox: there is no applet "ls" (stackbox alone lists them)' help ls
refuses 'stackbox: --verison: unknown option; near: --version (see stackbox -h)' --verison
refuses 'stackbox: --version: takes no value (see stackbox -h)' --version=2
refuses 'stackbox: unexpected argument "vfs_read": an applet comes first (see stackbox -h)' \
    --version vfs_read
refuses 'stackbox: -D: unknown option (see stackbox -h)' -D 5 stackcount vfs_read
refuses 'stackbox: --install: takes DIR (see stackbox -h)' --install
refuses 'stackbox: there is no applet "" (stackbox alone lists them)' ''
for word in - --; do
    refuses "stackbox: unexpected argument \"$word\": an applet comes first (see stackbox -h)" \
        "$word"
done
if command -v bash >/dev/null; then
    for name in '' / stackcount/ stackcoun; do
        is "called \"$name\"" "$(bash -c 'exec -a "$0" "$@"' "$name" "$STACKBOX" --version)" \
            "$("$STACKBOX" --version)"
    done
    is "called by an applet's name, it is that applet" \
        "$(bash -c 'exec -a stackcount "$@"' "" "$STACKBOX" --help | cksum)" \
        "$(cksum <"$scratch/help")"
else
    skip "calling it by other names" "bash is not installed"
fi

# ---- an applet's options

wrong 'needs a PATTERN, such as vfs_read or t:sched:sched_switch'
wrong 'needs a PATTERN, such as vfs_read or t:sched:sched_switch' -K
wrong '-U and -K cannot be combined: without either, both stacks are shown' -KU vfs_read
wrong '--by-name: --by process (-P), --by thread and --by name (--by-name) cannot be combined' -P --by-name vfs_read
wrong '--by: "pid" is not one of process, thread, name' --by pid vfs_read
wrong 'needs a PATTERN, such as vfs_read or t:sched:sched_switch' -- ls -l
wrong '--: needs a command after it, such as -- make -j4' vfs_read --
wrong '-p: cannot be combined with -- COMMAND, which traces the command and its children' -p 1 vfs_read -- ls
wrong '-t: cannot be combined with -- COMMAND, which traces the command and its children' -t 1 vfs_read -- ls
wrong '--best-effort: needs -- COMMAND' --best-effort vfs_read
wrong '--best-effort: needs -- COMMAND' vfs_read --best
wrong '--list: traces nothing, so it takes no command' --list vfs_read -- ls
wrong '-D: invalid duration "x": it takes seconds, such as 5 or 0.5, or a unit: 100ms, 2m' --best-effort -D x vfs_read -- ls
wrong '-p: there is no process named "12x"' -p 12x vfs_read
wrong '-p: there is no process named "nobody-is-this"' -p 1,nobody-is-this vfs_read
wrong '--comm: takes names of threads, as in /proc/PID/comm' --comm a,, vfs_read
wrong '--uid: there is no user "nobody-is-this" in /etc/passwd: give the UID, as id -u prints it' --uid nobody-is-this vfs_read
wrong '-u: "4294967295" is neither a user nor a UID' -u 4294967295 vfs_read
wrong '--user: "" is neither a user nor a UID' --user= vfs_read
wrong '-p: "0" is out of range: it takes 1 to 4194304' -p 1,0 vfs_read
wrong '--pid: "" is not a whole number' --pid= vfs_read
wrong '-p: "" is not a whole number' -p '' vfs_read
wrong '-p: "" is not a whole number' -p 1,,2 vfs_read
wrong '-p: there is no process named "-K"' -p -K vfs_read
wrong '-L: "-1" is not a whole number' -L -1 vfs_read
wrong '-C: "65536" is out of range: it takes 0 to 65535' -C 65536 vfs_read
wrong '-c: "x" is not a whole number' -c x vfs_read
for text in -1 1d 0x5 '' -- -K; do
    wrong "-i: invalid duration \"$text\": it takes seconds, such as 5 or 0.5, or a unit: 100ms, 2m" -i "$text" vfs_read
    wrong "-D: invalid duration \"$text\": it takes seconds, such as 5 or 0.5, or a unit: 100ms, 2m" vfs_read -D "$text"
done
for text in 0 0.0 0.0000000001 9223372036 99999999999999999999; do
    range="\"$text\" is out of range: it takes more than 0 seconds, at most 9223372035"
    wrong "--interval: $range" "--interval=$text" vfs_read
    wrong "-D: $range" "-D$text" vfs_read
done
wrong '--depth: "0" is out of range: it takes 1 to 65535' --depth 0 vfs_read
wrong '--top: "0" is out of range: it takes 1 or more' --top=0 vfs_read
wrong '--stack-storage-size: "16777217" is out of range: it takes 1 to 16777216' \
    --stack-storage-size 16777217 vfs_read
wrong '--folded: takes no value' --folded=yes vfs_read
wrong '--attach-by: takes WAY' vfs_read --attach-by
wrong '--d: is ambiguous: --depth, --duration, --delimited, --debug, --dump-program' \
    --d 5 vfs_read
wrong '--cgroupmap: unknown option; --cgroup PATH names a cgroup, without a map' \
    --cgroupmap /sys/fs/bpf/map vfs_read
wrong '--mntnsmap: unknown option; -p and --cgroup say whom to trace, without a map' \
    --mntnsmap=/sys/fs/bpf/map vfs_read
wrong '-folded: unknown option; near: --folded' -folded vfs_read
wrong '--depth: takes N' --dept
wrong '--: unknown option' --=5 vfs_read
wrong '-=: unknown option' -K=1 vfs_read

# ---- stacksnoop: options of reports are refused

wrong_of_snoop()
{
    line=$1
    shift
    refuses "stacksnoop: $line (see stacksnoop -h)" stacksnoop "$@"
}
wrong_of_snoop 'needs a PATTERN, such as vfs_read or t:sched:sched_switch'
wrong_of_snoop '-f: stacksnoop does not count; flame graph tools read --format perf' \
    -f vfs_read
wrong_of_snoop '--inverted: stacksnoop prints events and makes no reports' --inverted vfs_read
wrong_of_snoop '-i: stacksnoop prints events and makes no reports' -i 1 vfs_read
wrong_of_snoop '--interval: stacksnoop prints events and makes no reports' --interval=1 vfs_read
wrong_of_snoop '--keep: stacksnoop prints events and makes no reports' --keep 5 vfs_read
wrong_of_snoop '--top: stacksnoop does not count; --max stops after N events' \
    --top 5 vfs_read
wrong_of_snoop '--stack-storage-size: stacksnoop keeps no stacks; use --buffer-size' \
    --stack-storage-size 64 vfs_read
wrong_of_snoop '--max: "0" is out of range: it takes 1 or more' --max 0 vfs_read
wrong_of_snoop '--buffer-size: "0" is out of range: it takes 1 to 1048576' --buffer-size 0 vfs_read
wrong_of_snoop '-U and -K cannot be combined: without either, both stacks are shown' -KU vfs_read
refuses 'profile: --follow: needs -p, and no -t (see profile -h)' profile --follow
refuses 'stackcount: --follow: needs -p, and no -t (see stackcount -h)' stackcount --follow -t 1 -p 1 vfs_read
refuses 'stackcount: --follow: needs -p, and no -t (see stackcount -h)' stackcount --follow vfs_read -- true
refuses 'stacksnoop: --format: "sgv" is not one of text, perf, json' stacksnoop --format sgv vfs_read
refuses 'stacksnoop: --buffer: "big" is not one of ring, perf' stacksnoop --buffer big vfs_read
refuses 'stacksnoop: "5" is not a pattern; did you mean -D 5?' stacksnoop vfs_read 5

# ---- check: usage errors, before it tries anything

refuses 'check: there is no applet "proflie"; near: profile (see check -h)' check stackcount proflie
refuses 'check: there is no applet "ls" (see check -h)' check ls
refuses 'check: there is no applet "a\x1b[31m" (see check -h)' check "$(printf 'a\033[31m')"
refuses 'check: --format: "yaml" is not one of text, json (see check -h)' check --format yaml
refuses 'check: --: no command is run (see check -h)' check profile -- ls
refuses 'check: -D: unknown option (see check -h)' check -D 5

# Complete messages do not refer to the help.
refuses 'stackcount: --attach-by: "magic" is not one of multi, pmu, tracefs' \
    stackcount --attach-by magic vfs_read
refuses 'stackcount: --if: at "= 5": expected a comparison, such as == or <' stackcount --if 'arg1 = 5' vfs_read
refuses 'stackcount: --if: at its end: expected a name' stackcount --if 'arg1 == 5 &&' vfs_read
refuses 'stackcount: --sum: at "arg2": too many values' stackcount --sum arg1,arg2 vfs_read
refuses 'stackcount: --sum: at "4": expected a name' stackcount --sum 4 vfs_read
refuses 'stackcount: --unit: takes a lowercase word, and needs --sum (see stackcount -h)' \
    stackcount --unit bytes vfs_read
refuses 'stackcount: --unit: takes a lowercase word, and needs --sum (see stackcount -h)' \
    stackcount --unit 'B/s' --sum arg1 vfs_read
refuses 'stacksnoop: --print: at "i7": expected a type, i8 to i64 or u8 to u64' stacksnoop --print arg1:i7 vfs_read
refuses 'stacksnoop: --print: at "i": too many values' stacksnoop --print a,b,c,d,e,f,g,h,i vfs_read
refuses 'stacksnoop: --if: at its end: expected a name' stacksnoop --if 'comm == "a" && !(' vfs_read
refuses 'stackcount: "5" is not a pattern; did you mean -D 5?' stackcount vfs_read 5
refuses 'stackcount: "5" is not a pattern; did you mean -D 5?' stackcount 5 -- ls
refuses 'stackcount: "sleep" is not a pattern; did you mean -- sleep 1?' stackcount c:malloc sleep 1
refuses 'stackcount: "sleep" is not a pattern; did you mean -- sleep 1?' stackcount vfs_read 'tcp_*' sleep 1
refuses 'stackcount: "env" is not a pattern; did you mean -- env a b 1 ...?' stackcount c:malloc env a b 1 2
refuses 'stackcount: "0.5" is not a pattern; did you mean -D 0.5?' stackcount 0.5 vfs_read
# no_process: the message, without its addition in a PID namespace
no_process()
{
    sed 's/ in this PID namespace: give the PIDs seen from here$//' "$scratch/err"
}
# parse_seconds() would take it as a number; elsewhere it is part of a regular expression.
run stackcount -r -p 4194304 .
is "-r .: it is a regular expression" "$status $(no_process)" "1 stackcount: there is no process 4194304"
run stackcount -r '('
is "-r '(': exit status" $status 2
contains "-r '(': it says why" "$scratch/err" '"(" is not an extended regular expression: '

# ---- profile

# sampled LINE ARG...: like wrong, for profile
sampled()
{
    line=$1
    shift
    refuses "profile: $line (see profile -h)" profile "$@"
}

sampled 'the duration is given twice: as "5" and by -D' -D 3 5
sampled 'unexpected argument "6": only a duration is accepted' 5 6
sampled 'invalid duration "5d": it is in seconds, such as 5 or 0.5, or has a unit: 100ms, 2m' 5d
sampled '--flat 4: is 4 the duration? then write 4 --flat, otherwise --flat=4' --flat 4
sampled '--tree 5: is 5 the duration? then write 5 --tree, otherwise --tree=5' -U --tree 5
sampled '--live 1: is 1 the duration? then write 1 --live, otherwise --live=1' --live 1
sampled '"0" is out of range: a duration is more than 0 seconds, at most 9223372035' 0
sampled 'invalid duration "sleep"; did you mean -- sleep 1?' sleep 1
sampled 'invalid duration "sleep"; did you mean -- sleep 1?' -F 99 sleep 1 -K
sampled 'invalid duration "sleep": it is in seconds, such as 5 or 0.5, or has a unit: 100ms, 2m' sleep -- sleep 1
sampled 'invalid duration "-": it is in seconds, such as 5 or 0.5, or has a unit: 100ms, 2m' -
sampled '-F and -c cannot be combined: samples are taken by time or by events' -F 99 -c 1000000
sampled '-F: "0" is out of range: it takes 1 to 1000000000' -F 0 5
sampled '--frequency: "9x" is not a whole number' --frequency 9x
sampled '-c: "0" is out of range: it takes 1 to 4611686018427387904' -c 0
sampled '-e: "cycle" is not one of cpu-clock, task-clock, cycles, instructions, cache-misses, branch-misses, page-faults, context-switches' \
    -e cycle 5
sampled '-U and -K cannot be combined: without either, both stacks are shown' -UK 5
sampled '-P: unknown option' -P
most=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
refuses "profile: -F: \"1000000000\" is more than this kernel allows: it takes 1 to $most (sysctl \
kernel.perf_event_max_sample_rate)" profile -F 1000000000
refuses "profile: -c: 9 ns of task-clock are less than this kernel allows: it takes \
$((1000000000 / most)) or more (sysctl kernel.perf_event_max_sample_rate)" \
    profile -e task-clock -c 9

# ---- what users of other tools type

refuses 'stackbox: there is no applet "record"; -o FILE.sbx of the applets that count records: profile -o run.sbx 10 '\
'(stackbox alone lists them)' record -F 99
refuses 'stackbox: there is no applet "top"; profile --live shows what runs now (stackbox alone lists them)' top
sampled '--call-graph: unknown option; stacks are always taken; --unwind fp or tables says how user stacks are unwound' \
    --call-graph dwarf
sampled '--sort: unknown option; --by process, thread or name says what is told apart, --flat lists functions' --sort=comm
wrong '-l: unknown option; --list lists what PATTERN matches' -l 'c:*'
refuses 'wakeuptime: --pairs: unknown option; offwaketime --pairs shows who waits for whom (see wakeuptime -h)' \
    wakeuptime --pairs 1
refuses 'stacksnoop: -n: unknown option; stacksnoop --max N stops after N events; --top N prints only the greatest '\
'(see stacksnoop -h)' stacksnoop -n 5 c:malloc
if [ -r /proc/kallsyms ] && [ ! "$GUEST" ]; then
    run stackcount malloc
    if grep -q ' missing: run it as root' "$scratch/err"; then
        skip "a function of libc is not the kernel's" "that takes root's rights"
    else
        is "a function of libc is not the kernel's" "$status $(cat "$scratch/err")" \
            '1 stackcount: 0 functions matched by "malloc"; libc has it: c:malloc'
    fi
fi

# ---- bytes and sizes

# one_line WHAT STATUS: checks for exit status 2, and one line on stderr that is safe for a terminal
one_line()
{
    is "$1: exit status" "$2" 2
    is "$1: one line on stderr" "$(wc -l <"$scratch/err")" 1
    is "$1: it is escaped" "$(LC_ALL=C tr -d ' -~\n' <"$scratch/err" | wc -c)" 0
}

controls=$(printf '\001\002\003\004\005\006\007\010\011\012\013\014\015\016\017\020\021\022\023'
           printf '\024\025\026\027\030\031\032\033\034\035\036\037\177x')
shown='\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13'
shown=$shown'\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x7fx'
refuses "stackcount: \"$shown::f\": a user function is LIBRARY:FUNCTION or p:LIBRARY:FUNCTION, such\
 as c:malloc or p:/usr/bin/bash:readline" \
    stackcount "$controls::f"
wrong "-p: there is no process named \"$shown\"" -p "$controls" vfs_read
wrong "--$shown: unknown option" "--$controls" vfs_read
refuses "stackbox: there is no applet \"$shown\" (stackbox alone lists them)" "$controls"

# Single bytes: controls, what roff, printf or a shell may treat specially, and invalid UTF-8.
bad=
for octal in 001 011 012 033 037 040 042 045 047 052 134 177 200 205 233 240 300 301 355 364 376 377
do
    # shellcheck disable=SC2059 # an escape in octal
    byte=$(printf "\\${octal}x")
    for words in "stackcount t:$byte" "stackcount -D$byte f" "stackcount --$byte f" "box$byte"; do
        IFS=' ' # a blank also splits words: wrong usage as well
        # shellcheck disable=SC2086
        run $words
        [ "$status $(wc -l <"$scratch/err") $(LC_ALL=C tr -d ' -~\n' <"$scratch/err" | wc -c)" = \
            "2 1 0" ] || bad="$bad $octal"
        unset IFS
    done
done
is "unsafe bytes are escaped" "$bad" ""

# The longest argument that the kernel passes on is 128 KB.
head -c 130000 /dev/zero | tr '\0' a >"$scratch/large"
large=$(cat "$scratch/large")
for words in "$large:" "-D$large f" "--$large f" "--pid=$large f" "--attach-by $large f"; do
    # shellcheck disable=SC2086
    run stackcount $words
    one_line "a word of 130000 letters" $status
done
many=$(awk 'BEGIN { for (i = 0; i < 10000; i++) printf "-K " }')
# shellcheck disable=SC2086
wrong 'needs a PATTERN, such as vfs_read or t:sched:sched_switch' $many
many=$(awk 'BEGIN { for (i = 0; i < 10000; i++) printf "-p 1 " }')
# shellcheck disable=SC2086
wrong '-p: takes at most 256 numbers' $many
many=$(awk 'BEGIN { for (i = 0; i < 10000; i++) printf "vfs_%d ", i }')
# shellcheck disable=SC2086
run stackcount -p 4194304 $many
is "10000 patterns are accepted" "$status $(no_process)" "1 stackcount: there is no process 4194304"

# ---- where output goes

for words in --help --man --version "stackcount -h" "stackcount --man" ""; do
    # shellcheck disable=SC2086
    "$STACKBOX" $words >/dev/full 2>"$scratch/err"
    is "a full disk is reported: $words" "$? $(sed 's/^[a-z]*: //' "$scratch/err")" \
        "1 cannot write: No space left on device"
    # shellcheck disable=SC2086
    "$STACKBOX" $words 2>"$scratch/err" >&-
    is "a closed stdout is reported: $words" \
        "$? $(sed 's/^[a-z]*: //' "$scratch/err")" "1 cannot write: stdout is closed"
done
{ "$STACKBOX" stackcount --man 2>"$scratch/err"; } | true
is "a reader that leaves ends it" "$(cat "$scratch/err")" ""
"$STACKBOX" stackcount -x 2>&- >"$scratch/out" <&-
is "a closed stderr does no harm" "$? $(cat "$scratch/out")" "2 "

# Closed descriptors 0 to 2 never become a map or a probe, into which a message would be written.
if have_root; then
    "$STACKBOX" stackcount -D 3 -o "$scratch/held.folded" t:sched:sched_switch <&- >&- 2>&- &
    tracer=$!
    wait_until 2 [ -e "/proc/$tracer/fd/5" ]
    for fd in 0 1 2; do
        if ended "$tracer"; then
            skip "descriptor $fd was closed" "tracing does not work here"
        else
            is "descriptor $fd was closed" "$(readlink "/proc/$tracer/fd/$fd")" /
        fi
    done
    kill "$tracer" 2>/dev/null
    wait "$tracer"
fi
true
