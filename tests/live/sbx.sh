#!/bin/sh
# guests: none
# kernels: 5.10,6.1,6.12,newest
# host: yes
#
# Recordings: for every applet that counts, report turns an .sbx file into the same text, folded and
# flat files that the run itself wrote, byte by byte. The traced program still exists, so report
# finds all names.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
choose_event
cd "$scratch" || exit 1

# same NAME OPTION...: report makes run.txt, run.folded and run.flat from run.sbx
same()
{
    name=$1
    shift
    for format in text folded flat; do
        file=run.$format
        [ $format = text ] && file=run.txt
        "$STACKBOX" report --format $format run.sbx >report.out 2>report.err
        is "$name: $format is the same" "$? $(cmp report.out "$file" 2>&1)" "0 "
    done
    # shellcheck disable=SC2012 # a name of ours
    is "$name: only the owner can read it" "$(ls -l run.sbx | cut -c 1-10)" "-rw-------"
}

# record APPLET ARG...: writes the recording and the same in other formats
record()
{
    rm -f run.*
    run_stackbox "$@" -o run.sbx -o run.txt -o run.folded -o run.flat -- "$WORKLOADS/chains" -n 20 -m 10
}

# shellcheck disable=SC2086 # words
{
    rm -f run.*
    run_stackbox stackcount -o run.sbx -o run.txt -o run.folded -o run.flat $EVENT -- "$WORKLOADS/chains" -n 20 -m 10
    is "stackcount: each call is counted" "$(folded_sum run.folded)" 30
    same stackcount
    "$STACKBOX" report -f run.sbx run.sbx >sum 2>&1
    is "two recordings are added up" "$(folded_sum sum)" 60
    "$STACKBOX" report --diff run.sbx run.sbx >diff 2>diff.err
    is "a recording does not differ from itself" \
        "$? $(tail -n 1 diff.err)" "0 report: before 30, now 30 samples"
    head -c 100 run.sbx >cut.sbx
    "$STACKBOX" report cut.sbx >out 2>err
    is "a truncated recording is refused" "$? $(cat err)" "1 report: \"cut.sbx\" is truncated or corrupt"
    run_stackbox stackcount -s -v -d --by thread --raw-names -o run.sbx -o run.txt -o run.folded -o run.flat $EVENT -- \
        "$WORKLOADS/chains" -n 5 -m 5
    same "stackcount -s -v -d --by thread --raw-names"
    # A run with only a recording has the same names.
    run_stackbox stackcount -o alone.sbx $EVENT -- "$WORKLOADS/chains" -n 20 -m 10
    "$STACKBOX" report -f alone.sbx >alone 2>&1
    is "only a recording: all calls are counted" "$(folded_sum alone)" 30
    # If a file cannot be read, its functions have no names, which is reported; and without names there is no
    # verdict. Which descriptor the file gets is not known here.
    cp alone alone.folded
    for fd in 0 1 2 3 4 5 6 7 8 9; do
        "$WORKLOADS/deny" --syscall "pread64/$fd:EIO" -- "$STACKBOX" flamegraph --diff alone.folded --fail-above 5 \
            alone.sbx >out 2>err
        echo "$? $(grep -c '^flamegraph: functions of this file.* have no names: .*/chains: ' err) $(
            grep -c '^flamegraph: no verdict: functions of "alone.sbx" have no names$' err)"
    done | sort | uniq -c | sed 's/^ *[0-9]* //' >verdicts
    is "unreadable files: there is a verdict, or the reason why not" \
        "$(grep -v '^1 0 0$' verdicts | tr '\n' '|')" "0 0 0|1 1 1|"
}
record profile -F 199
same profile
record offcputime
same offcputime
record wakeuptime
same wakeuptime
record offwaketime
same offwaketime
record offwaketime --unfinished -T
same "offwaketime --unfinished -T"

run_stackbox profile --format sbx -D 0.1 >/dev/null
mv out stdout.sbx 2>/dev/null || cp "$scratch/out" stdout.sbx
"$STACKBOX" report stdout.sbx >out2 2>err2
is "a recording can go to stdout" "$?" 0
