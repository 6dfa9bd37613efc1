#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# run.sh [--quick]      all tests; --quick: no other compilers, no live tracing, no guests
#
# Every part writes build/test/PART.log. A part says PASS, FAIL or SKIP line by line; what failed
# prints its log, what was skipped its reason. The last line is `N passed, N failed, N skipped`.
#
# After the builds, lanes run at the same time: guests, each of which takes one CPU, in two of them,
# and in the third what runs on this machine. Lanes are this script, once more.

set -u
umask 022
exec </dev/null
cd "$(dirname "$0")/.." || exit 1
# This runs below `make test`, whose flags are not meant for the builds here.
unset MAKEFLAGS MFLAGS MAKELEVEL

logs=build/test
account=$logs/account # of each part a line: NAME PASSED FAILED SKIPPED SECONDS
release=$PWD/build/release
asan=$PWD/build/asan
export WORKLOADS="$release/workloads"

# report NAME STATUS SECONDS: counts and shows what the part that wrote its log has come to
report()
{
    log=$logs/$1.log
    # guest.sh and a test that skips itself exit with 77 and have said why.
    if [ "$2" != 0 ] && [ "$2" != 77 ] && ! grep -q '^FAIL ' "$log"; then
        echo "FAIL $1: exit status $2" >>"$log"
    fi
    grep -q '^\(PASS\|FAIL\|SKIP\) ' "$log" || echo "FAIL $1: printed no result" >>"$log"
    set -- "$1" "$3" "$(grep -c '^PASS ' "$log")" "$(grep -c '^FAIL ' "$log")" \
        "$(grep -c '^SKIP ' "$log")"
    echo "$1 $3 $4 $5 $2" >>$account
    # Lanes do not speak at once.
    {
        flock 9
        echo "$1: $3 passed, $4 failed, $5 skipped, $2 s"
        grep '^SKIP ' "$log" | sed 's/^/    /'
        if [ "$4" != 0 ]; then
            echo "    ---- $log"
            tail -n 300 "$log" | sed 's/^/    /'
            echo "    ----"
        fi
    } 9>$logs/lock
}

# part NAME COMMAND...
part()
{
    name=$1 begin=$(date +%s)
    shift
    timeout --foreground -k 5 900 "$@" >"$logs/$name.log" 2>&1
    report "$name" $? $(($(date +%s) - begin))
}

# long_part NAME COMMAND...: it shows its results as they come
long_part()
{
    name=$1 begin=$(date +%s)
    shift
    echo "$name ..."
    { "$@" 2>&1; echo $? >"$logs/$name.status"; } | tee "$logs/$name.log" |
        sed -un "s/^\\(PASS\\|FAIL\\) /    $name: &/p"
    read -r status <"$logs/$name.status"
    report "$name" "$status" $(($(date +%s) - begin))
}

# skip_part NAME REASON
skip_part()
{
    echo "SKIP $1: $2" >"$logs/$1.log"
    report "$1" 0 0
}

# build NAME MAKE-ARGUMENT...: whatever a compiler has to say is a failure
build()
{
    name=$1
    shift
    begin=$(date +%s)
    {
        make --no-print-directory -j"$(nproc)" "$@" >"$logs/$name.out" 2>&1
        status=$?
        grep -vE '^[^ ]+: [0-9]+ bytes \(|^make.*: Nothing to be done' "$logs/$name.out" && status=1
        if [ $status = 0 ]; then
            echo "PASS $name: $(($(date +%s) - begin)) s"
        else
            echo "FAIL $name: see above"
        fi
    } >"$logs/$name.log"
    report "$name" 0 $(($(date +%s) - begin))
    [ $status = 0 ]
}

# header FILE KEY DEFAULT: what a live test says about itself in its first lines
header()
{
    value=$(sed -n "1,20s/^# $2: *//p" "$1" | head -n 1)
    echo "${value:-$3}"
}

# says TEST WORD: it has this word in its first lines
says()
{
    sed 20q "$1" | grep -q "^# $2\$"
}

# live_tests WHERE with|without WORD: the tests that run on `host` or in a guest and say this of
# themselves, or do not; those that say `last` at the end
live_tests()
{
    for test in tests/live/*.sh; do
        case $test in tests/live/lib*.sh) continue ;; esac
        case $1 in
        host) [ "$(header "$test" host yes)" = yes ] || continue ;;
        *)    case ",$(header "$test" guests all)," in
              *",$1,"* | ,all,) ;;
              *) continue ;;
              esac ;;
        esac
        case $2 in
        with) says "$test" "$3" || continue ;;
        without) says "$test" "$3" && continue ;;
        esac
        if says "$test" last; then
            echo "2 $test"
        else
            echo "1 $test"
        fi
    done | sort -s -k 1,1 | cut -d ' ' -f 2
}

# guest KERNEL NAME TESTS OPTION...: one guest, if there is anything to run in it and no other lane
# has taken it
guest()
{
    kernel=$1 guest=$2 tests=$3
    shift 3
    [ "$tests" ] && mkdir "$logs/taken-$guest" 2>/dev/null || return
    # shellcheck disable=SC2086 # a list of words
    long_part "guest-$guest" sh scripts/guest.sh --name "$guest" --timeout 1500 \
        --log "$logs/serial-$guest.log" "$@" "$kernel" -- $tests
}

# alone KERNEL: a guest with nothing in it but the binary, and what it traces
alone()
{
    mkdir "$logs/taken-$1-alone" 2>/dev/null || return
    long_part "guest-$1-alone" sh scripts/guest.sh --alone --name "$1-alone" \
        --log "$logs/serial-$1-alone.log" "$1"
}

# The longest first: no lane is left with one of them at the end.
lane_guests()
{
    export STACKBOX="$PWD/stackbox"
    # The two that run most of the tests are spared what defends a real CPU and costs an emulated one a
    # fifth of its time; all others boot as Debian has them.
    for kernel in newest 5.10; do
        guest $kernel $kernel "$(live_tests $kernel without "own clock")" --append mitigations=off
    done
    for kernel in 6.12 6.1; do
        guest $kernel $kernel "$(live_tests $kernel without "own clock")"
    done
    for kernel in newest 5.10 6.12 6.1; do
        guest $kernel $kernel-own-clock "$(live_tests $kernel with "own clock")" --own-clock
    done
    # Counting is also tried where two threads never run at once, and where all may be preempted.
    guest newest newest-preempt "tests/live/exact.sh tests/live/user_preempt.sh tests/live/snoop.sh" \
        --append preempt=full
    guest 6.12 6.12-one-cpu "tests/live/exact.sh tests/live/user_preempt.sh tests/live/snoop.sh" \
        --cpus 1 --append nr_cpus=1
    guest 6.12 6.12-preempt tests/live/user_preempt.sh --append preempt=full
    # One that has to be locked down before it is up.
    guest 6.12 6.12-locked tests/live/lockdown.sh --append lockdown=confidentiality
    # The kernels themselves take some 40 MB. Of 64 only the oldest can boot, and its image and ours need
    # more to be loaded from.
    small="session deny eater spread burn sleeps wakes calls"
    guest newest newest-96-MB tests/live/small_memory.sh --memory 96 --programs "$small"
    guest 5.10 5.10-96-MB tests/live/small_memory.sh --memory 96 --programs "$small"
    guest 5.10 5.10-64-MB tests/live/small_memory.sh --memory 96 --append mem=64M --programs "$small"
    for kernel in newest 5.10 6.12 6.1; do
        alone $kernel
    done
    mkdir $logs/taken-first 2>/dev/null && part guest-first sh tests/guest/first.sh
    mkdir $logs/taken-harness 2>/dev/null && part guest-harness sh tests/guest/harness.sh
}

# What is left of the builds, and what runs on this machine.
lane_host()
{
    run_live without quiet
    run_readers
    run_other_builds
    run_cross
    run_fuzzers
}

run_builds()
{
    build build all workloads || return 1
    build build-units units
    build build-sanitized SANITIZE=1 CC=gcc BUILD=build/asan PROGRAM=build/asan/stackbox \
        all units tools faulty
}

run_other_builds()
{
    for compiler in gcc clang; do
        if command -v $compiler >/dev/null; then
            build build-$compiler CC=$compiler BUILD=build/$compiler \
                PROGRAM=build/$compiler/stackbox all workloads units &&
                part build-$compiler-again sh tests/reproducible.sh $compiler build/$compiler/stackbox
        else
            skip_part build-$compiler "$compiler is not installed"
        fi
    done
}

# What other machines get; where their compilers are not to be had, cross.sh says so.
run_cross()
{
    rm -rf build/cross
    part cross env STACKBOX="$PWD/stackbox" sh scripts/cross.sh
}

# The release build and the sanitized one are tried at the same time.
run_units()
{
    for source in tests/unit/*.c; do
        unit=$(basename "$source" .c)
        part "unit-$unit-sanitized" "$asan/unit/$unit" &
        part "unit-$unit" "$release/unit/$unit"
        wait $!
    done
}

# run_scripts DIRECTORY: each script there, with the release build and with the sanitized one
run_scripts()
{
    for script in tests/"$1"/*.sh; do
        [ -f "$script" ] && [ "${script##*/}" != lib.sh ] || continue
        name=$1-$(basename "$script" .sh)
        part "$name-sanitized" env STACKBOX="$asan/stackbox" BUILD="$asan" sh "$script" &
        part "$name" env STACKBOX="$PWD/stackbox" BUILD="$release" sh "$script"
        wait $!
    done
}

# Other people's programs read what ours writes. Large ones: not two at a time.
run_readers()
{
    for script in tests/readers/*.sh; do
        part "readers-$(basename "$script" .sh)" env STACKBOX="$PWD/stackbox" BUILD="$release" sh "$script"
    done
}

# Half a minute each for what comes from anybody: folded stacks, mangled names, packed symbols; half a
# minute for all others. Two run at a time.
run_fuzzers()
{
    long='folded cxx_names rust_names xz'
    targets=$(find tests/fuzz -name '*.c' ! -name driver.c -exec basename {} .c \; | sort)
    for target in $long; do
        targets=$(echo "$targets" | grep -vx "$target")
    done
    # shellcheck disable=SC2086 # a list of words
    part fuzz-long sh scripts/fuzz.sh 30 $long
    # shellcheck disable=SC2086 # a list of words
    part fuzz sh scripts/fuzz.sh $((60 / $(echo "$targets" | wc -l))) $targets
}

# run_live with|without WORD
run_live()
{
    for test in $(live_tests host "$1" "$2"); do
        part "live-$(basename "$test" .sh)" env STACKBOX="$PWD/stackbox" BUILD="$release" sh "$test"
    done
}

# lane FUNCTION: in the background, as a group of processes that ends at once
lane()
{
    setsid sh tests/run.sh --lane "lane_$1" &
    lanes="${lanes:-} $!"
}

end_lanes()
{
    trap '' HUP INT TERM
    for leader in ${lanes:-}; do
        kill -s TERM -- "-$leader" 2>/dev/null
    done
    wait
    exit 130
}

run_lanes()
{
    lane guests
    lane guests
    lane host
    wait
    if ! grep -q '^guest-.* [1-9][0-9]* [0-9]* [0-9]* [0-9]*$' $account && [ "${CI:-}" = true ]; then
        echo "FAIL guests: CI=true, and no guest ran" >$logs/guests.log
        report guests 0 0
    fi
}

# What failed, once more: it is looked for at the end.
show_failures()
{
    for part in $(awk '$3 > 0 { print $1 }' $account); do
        grep '^FAIL ' "$logs/$part.log" | sed "s/^FAIL /FAIL $part: /"
    done
}

if [ "${1:-}" = --lane ]; then
    "$2"
    exit
fi
quick=no
[ "${1:-}" = --quick ] && quick=yes
rm -rf $logs
mkdir -p $logs || exit 1
trap end_lanes HUP INT TERM
sh scripts/setup.sh build || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
sh scripts/setup.sh check
[ $quick = yes ] || { sh scripts/setup.sh test; sh scripts/setup.sh cross; }
[ $quick = yes ] || rm -rf build/release build/gcc build/clang build/asan stackbox
if run_builds; then
    run_units
    run_scripts golden
    run_scripts cli
    if [ $quick = no ]; then
        run_live with quiet
        run_lanes
    fi
fi
show_failures
awk '{ passed += $2; failed += $3; skipped += $4 }
     END { print passed + 0 " passed, " failed + 0 " failed, " skipped + 0 " skipped"; exit failed > 0 }' \
    $account
