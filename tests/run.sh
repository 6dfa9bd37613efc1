#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# run.sh test|guests|kernels|machine|arch
#
# test: what takes ten minutes on two CPUs. guests: all other tests that a change must pass. kernels: each live
# test on each kernel that it is for. machine: this machine's live tests, in guests that resemble other machines.
# arch: live tests on kernels of other architectures, and all builds for these.
#
# Every part writes build/test/PART.log (build/test-guests and so on), with PASS, FAIL or SKIP line
# by line; a failed part prints its log, a skipped one its reason. A terminal's last line shows the
# running parts and the time left. At the end there is `N passed, N failed, N skipped`.
#
# After the builds, and what needs this machine to itself, several lanes run at the same time (lanes.sh). No
# part can hold up the rest: each has a time limit (limits.sh).

set -u
umask 022
exec </dev/null
cd "$(dirname "$0")/.." || exit 1
# `make test` runs this: its flags are not meant for the builds here.
unset MAKEFLAGS MFLAGS MAKELEVEL

# The seconds that it takes on two CPUs, if nothing is known from an earlier run
case ${1:-} in
test)    usual=600 ;;
guests)  usual=1800 ;;
kernels) usual=5400; export ALL_KERNELS=yes ;;
machine) usual=18000; export ALL_KERNELS=yes ;;
arch)    usual=2700 ;;
*) echo "usage: run.sh test|guests|kernels|machine|arch" >&2; exit 2 ;;
esac
kind=$1
shift
logs=build/test-$kind
[ $kind != test ] || logs=build/test
account=$logs/account # a line for each part: NAME PASSED FAILED SKIPPED SECONDS
last=build/last-$kind # the seconds of the last whole run, and its account
release=$PWD/build/release
asan=$PWD/build/asan
export WORKLOADS="$release/workloads"
# Tests that do more in the longer runs look at this.
[ $kind = test ] || export LATER=yes
# It takes as long as all others.
slow_unit=endless_run
. tests/progress.sh
. tests/limits.sh
. tests/lanes.sh
scratch=$logs # for lib_machine.sh
. tests/live/lib_machine.sh
limit_running=$logs/running.$$
now=$logs/now.$$ # what runs in this process

# report NAME STATUS SECONDS: counts and shows the results of a part from its log
report()
{
    log=$logs/$1.log
    # guest.sh, and tests that skip themselves, exit with 77 and have said why.
    case $2 in
    0 | 77) ;;
    124 | 137) echo "FAIL $1: timed out after $3 s" >>"$log" ;;
    *) grep -q '^FAIL ' "$log" || echo "FAIL $1: exit status $2" >>"$log" ;;
    esac
    grep -q '^\(PASS\|FAIL\|SKIP\) ' "$log" || echo "FAIL $1: printed no result" >>"$log"
    set -- "$1" "$3" "$(grep -c '^PASS ' "$log")" "$(grep -c '^FAIL ' "$log")" \
        "$(grep -c '^SKIP ' "$log")"
    echo "$1 $3 $4 $5 $2" >>$account
    # Lanes must not print at the same time.
    {
        flock 9
        clear_progress
        echo "$1: $3 passed, $4 failed, $5 skipped, $2 s"
        grep '^SKIP ' "$log" | sed 's/^/    /'
        if [ "$4" != 0 ]; then
            echo "    ---- $log"
            tail -n 300 "$log" | sed 's/^/    /'
            echo "    ----"
        fi
    } 9>$logs/lock
}

# part SECONDS NAME COMMAND...: runs it with this time limit
part()
{
    part_limit=$1 name=$2 begin=$(date +%s)
    shift 2
    echo "$name" >$now
    (limited "$part_limit" "$@") >"$logs/$name.log" 2>&1
    report "$name" $? $(($(date +%s) - begin))
    rm -f $now
}

# skip_part NAME REASON
skip_part()
{
    echo "SKIP $1: $2" >"$logs/$1.log"
    report "$1" 0 0
}

# build NAME MAKE-ARGUMENT...: any compiler message is a failure
build()
{
    name=$1
    shift
    begin=$(date +%s)
    echo "$name" >$now
    {
        (limited 900 make --no-print-directory -j"$(nproc)" "$@") >"$logs/$name.out" 2>&1
        status=$?
        grep -vE '^[^ ]+: [0-9]+ bytes \(|^make.*: Nothing to be done' "$logs/$name.out" && status=1
        if [ $status = 0 ]; then
            echo "PASS $name: $(($(date +%s) - begin)) s"
        else
            echo "FAIL $name: see above"
        fi
    } >"$logs/$name.log"
    report "$name" 0 $(($(date +%s) - begin))
    rm -f $now
    [ $status = 0 ]
}

# What only tests need comes while the binary is built.
run_builds()
{
    set_up_tests &
    setting_up=$!
    case $kind in
    test | guests) build build all units ;;
    *) build build all ;;
    esac
    built=$?
    wait $setting_up
    [ $built = 0 ] && build build-workloads workloads || return 1
    [ $kind != guests ] || build build-sanitized SANITIZE=1 CC=gcc BUILD=build/asan PROGRAM=build/asan/stackbox \
        all units tools faulty
}

setup()
{
    echo "setup $1" >"$logs/now.setup"
    sh scripts/setup.sh "$1"
    setup_status=$?
    rm -f "$logs/now.setup"
    return $setup_status
}
set_up_tests()
{
    setup test
    [ $kind = test ] || setup guests
    case $kind in
    guests | arch) setup cross ;;
    esac
    [ $kind != arch ] || setup arch
    # guest.sh says why if it cannot make the guest.
    [ $kind != test ] || sh scripts/kernels.sh 6.12 >"$logs/kernel.out" 2>&1
}

# run_compiler NAME: builds with another compiler, and again to check for the same bytes
run_compiler()
{
    if command -v "$1" >/dev/null; then
        build "build-$1" CC="$1" BUILD="build/$1" PROGRAM="build/$1/stackbox" all workloads units &&
            { [ "$1" != gcc ] || part 300 "build-$1-again" sh tests/reproducible.sh "$1" "build/$1/stackbox"; }
    else
        skip_part "build-$1" "$1 is not installed"
    fi
}

# run_cross NAME [--sample] ARCH...: builds for other machines; without their compilers, cross.sh says so
run_cross()
{
    name=$1
    shift
    part 1800 "$name" env STACKBOX="$PWD/stackbox" sh scripts/cross.sh "$@"
}

unit()
{
    part 150 "unit-$1" "$release/unit/$1"
}
run_units()
{
    for source in tests/unit/*.c; do
        unit=$(basename "$source" .c)
        [ "$unit" = $slow_unit ] || unit "$unit"
    done
}
run_units_sanitized()
{
    for source in tests/unit/*.c; do
        unit=$(basename "$source" .c)
        part 300 "unit-$unit-sanitized" "$asan/unit/$unit"
    done
}

# script FILE: a command line or golden file test with the release build; script_sanitized: with the
# sanitizers' build
script_name()
{
    script_name=${1#tests/}
    script_name=${script_name%%/*}-$(basename "$1" .sh)
}
script()
{
    script_name "$1"
    part 300 "$script_name" env STACKBOX="$PWD/stackbox" BUILD="$release" sh "$1"
}
script_sanitized()
{
    script_name "$1"
    part 300 "$script_name-sanitized" env STACKBOX="$asan/stackbox" BUILD="$asan" sh "$1"
}

# Other projects' programs read our output. They are large: only one at a time.
run_readers()
{
    for script in tests/readers/*.sh; do
        part 300 "readers-$(basename "$script" .sh)" env STACKBOX="$PWD/stackbox" BUILD="$release" sh "$script"
    done
}

# Six seconds each for input from anywhere: folded stacks, mangled names, packed symbols; two
# seconds for all others. Two run at a time.
run_fuzzers()
{
    long='folded cxx_names rust_names xz'
    targets=$(ls tests/fuzz/corpus)
    for target in $long; do
        targets=$(echo "$targets" | grep -vx "$target")
    done
    # shellcheck disable=SC2086 # a list of words
    part 600 fuzz-long sh scripts/fuzz.sh 6 $long
    # shellcheck disable=SC2086 # a list of words
    part 600 fuzz sh scripts/fuzz.sh 2 $targets
}

# run_live TEST...: skips all tests, saying why, if nothing can be traced here
run_live()
{
    for test in "$@"; do
        name=live-$(basename "$test" .sh)
        if [ -s $logs/no_tracing ]; then
            skip_part "$name" "$(cat $logs/no_tracing)"
        else
            part 1800 "$name" env STACKBOX="$PWD/stackbox" BUILD="$release" sh "$test"
        fi
    done
}

# One try with a time limit finds out, before many tests wait for their limits. (As an ordinary
# user, tests skip what needs root, and test the rest.)
look_at_kernel()
{
    (limited 60 ./stackbox check) >$logs/check.log 2>&1
    case $? in
    124 | 137) echo "this machine's kernel hangs: stackbox check did not end within a minute" ;;
    *) [ "$(id -u)" != 0 ] || grep -E '^(tracefs|tracepoints|perf sampling): no: ' $logs/check.log | head -n 1 ;;
    esac >$logs/no_tracing
}

# The kernel shows its names during the whole run: a live test sets that only for its own time, and
# tests that run beside it would see names or not, by chance. reset_sysctls ends it.
show_kernel_names()
{
    [ "$(id -u)" != 0 ] || [ "$(cat /proc/sys/kernel/kptr_restrict 2>/dev/null || echo 0)" -lt 2 ] ||
        set_sysctl kernel/kptr_restrict 1
}

# Repeats failures at the end, where a reader looks for them.
show_failures()
{
    for part in $(awk '$3 > 0 { print $1 }' $account); do
        grep '^FAIL ' "$logs/$part.log" | sed "s/^FAIL /FAIL $part: /"
    done
}

# Given more words, this is a lane.
if [ $# != 0 ]; then
    take_jobs "$@"
    exit
fi
rm -rf $logs
mkdir -p $logs || exit 1
trap end_lanes HUP INT TERM
begin_progress
setup build || { end_progress; echo "0 passed, 1 failed, 0 skipped"; exit 1; }
case $kind in
test)   rm -rf build/release stackbox ;;
guests) rm -rf build/gcc build/clang build/asan build/cross ;;
esac
if run_builds; then
    show_kernel_names
    case $kind in
    test | guests)
        look_at_kernel
        # shellcheck disable=SC2046 # names
        run_live $(live_tests host with quiet) ;;
    esac
    run_lanes
    reset_sysctls
    keep_seconds
fi
end_progress
show_failures
awk '{ passed += $2; failed += $3; skipped += $4 }
     END { print passed + 0 " passed, " failed + 0 " failed, " skipped + 0 " skipped"; exit failed > 0 }' \
    $account
