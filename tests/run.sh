#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# run.sh [--quick]      all tests; --quick: no other compilers, no live tracing, no guests
#
# Every part writes build/test/PART.log. A part says PASS, FAIL or SKIP line by line; what failed
# prints its log, what was skipped its reason. The last line is `N passed, N failed, N skipped`.

set -u
umask 022
exec </dev/null
cd "$(dirname "$0")/.." || exit 1
# This runs below `make test`, whose flags are not meant for the builds here.
unset MAKEFLAGS MFLAGS MAKELEVEL

quick=no
[ "${1:-}" = --quick ] && quick=yes
logs=build/test
release=$PWD/build/release
asan=$PWD/build/asan
export WORKLOADS="$release/workloads"
passed=0 failed=0 skipped=0

# report NAME STATUS: counts and shows what the part that just wrote its log has come to
report()
{
    log=$logs/$1.log
    # guest.sh and a test that skips itself exit with 77 and have said why.
    if [ "$2" != 0 ] && [ "$2" != 77 ] && ! grep -q '^FAIL ' "$log"; then
        echo "FAIL $1: exit status $2" >>"$log"
    fi
    grep -q '^\(PASS\|FAIL\|SKIP\) ' "$log" || echo "FAIL $1: printed no result" >>"$log"
    here_passed=$(grep -c '^PASS ' "$log")
    here_failed=$(grep -c '^FAIL ' "$log")
    here_skipped=$(grep -c '^SKIP ' "$log")
    passed=$((passed + here_passed))
    failed=$((failed + here_failed))
    skipped=$((skipped + here_skipped))
    echo "$1: $here_passed passed, $here_failed failed, $here_skipped skipped"
    grep '^SKIP ' "$log" | sed 's/^/    /'
    if [ "$here_failed" != 0 ]; then
        echo "    ---- $log"
        tail -n 300 "$log" | sed 's/^/    /'
        echo "    ----"
    fi
}

# part NAME COMMAND...
part()
{
    name=$1
    shift
    timeout --foreground -k 5 900 "$@" >"$logs/$name.log" 2>&1
    report "$name" $?
}

# begin_part NAME COMMAND...: in the background; it shows its results as they come
begin_part()
{
    name=$1
    shift
    begun="${begun:-} $name"
    echo "$name ..."
    { { "$@" 2>&1; echo $? >"$logs/$name.status"; } | tee "$logs/$name.log" |
        sed -un "s/^\\(PASS\\|FAIL\\) /    $name: &/p"; } &
}

# end_parts: waits for those, and counts the guests that ran
end_parts()
{
    wait
    for name in ${begun:-}; do
        read -r status <"$logs/$name.status"
        [ "$status" = 77 ] || guests_ran=$((guests_ran + 1))
        report "$name" "$status"
    done
    begun=
}

# skip_part NAME REASON
skip_part()
{
    echo "SKIP $1: $2" >"$logs/$1.log"
    report "$1" 0
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
    report "$name" 0
    [ $status = 0 ]
}

# header FILE KEY DEFAULT: what a live test says about itself in its first lines
header()
{
    value=$(sed -n "1,20s/^# $2: *//p" "$1" | head -n 1)
    echo "${value:-$3}"
}

# live_tests WHERE [alone|beside]: the tests that run on `host` or in a guest, those that say `last`
# at the end; of them those that need this machine for themselves, or the others
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
        case ${2:-} in
        alone) sed 20q "$test" | grep -q '^# alone$' || continue ;;
        beside) sed 20q "$test" | grep -q '^# alone$' && continue ;;
        esac
        if sed 20q "$test" | grep -q '^# last$'; then
            echo "2 $test"
        else
            echo "1 $test"
        fi
    done | sort -s -k 1,1 | cut -d ' ' -f 2
}

# guest KERNEL NAME TESTS OPTION...: begins one guest, if there is anything to run in it
guest()
{
    kernel=$1 guest=$2 tests=$3
    shift 3
    [ "$tests" ] || return
    # shellcheck disable=SC2086 # a list of words
    begin_part "guest-$guest" sh scripts/guest.sh --name "$guest" --log "$logs/serial-$guest.log" \
        --timeout 1500 "$@" "$kernel" -- $tests
}

# guest_alone KERNEL TESTS: one guest that judges times to one in a hundred. Where the emulator itself
# was kept from its CPU in the middle of a guest's switch, one wait is wrong by that time, and nothing in
# the guest can tell: what failed is said, and tried once more. What is wrong fails again.
guest_alone()
{
    guest "$1" "$1-alone" "$2"
    wait
    log=$logs/guest-$1-alone.log
    if [ -f "$log" ] && grep -q '^FAIL ' "$log"; then
        echo "guest-$1-alone: once more"
        mv "$log" "$logs/guest-$1-alone-first.log"
        begun=
        guest "$1" "$1-alone" "$2"
    fi
    end_parts
}

run_builds()
{
    [ $quick = yes ] || rm -rf build/release build/gcc build/clang build/asan stackbox
    build build all workloads || return 1
    build build-units units
    build build-sanitized SANITIZE=1 CC=gcc BUILD=build/asan PROGRAM=build/asan/stackbox \
        all units tools faulty
    [ $quick = yes ] && return 0
    for compiler in gcc clang; do
        if command -v $compiler >/dev/null; then
            build build-$compiler CC=$compiler BUILD=build/$compiler \
                PROGRAM=build/$compiler/stackbox all workloads units
        else
            skip_part build-$compiler "$compiler is not installed"
        fi
    done
    return 0
}

run_units()
{
    for source in tests/unit/*.c; do
        [ -f "$source" ] || continue
        unit=$(basename "$source" .c)
        part "unit-$unit" "$release/unit/$unit"
        part "unit-$unit-sanitized" "$asan/unit/$unit"
    done
}

# run_scripts DIRECTORY: each script there, with the release build and with the sanitized one
run_scripts()
{
    for script in tests/"$1"/*.sh; do
        [ -f "$script" ] && [ "${script##*/}" != lib.sh ] || continue
        name=$1-$(basename "$script" .sh)
        part "$name" env STACKBOX="$PWD/stackbox" BUILD="$release" sh "$script"
        part "$name-sanitized" env STACKBOX="$asan/stackbox" BUILD="$asan" sh "$script"
    done
}

# Half a minute in all: two run at a time.
run_fuzzers()
{
    targets=$(find tests/fuzz -name '*.c' ! -name driver.c | wc -l)
    part fuzz sh scripts/fuzz.sh $((60 / targets))
}

run_live()
{
    for test in $(live_tests host); do
        part "live-$(basename "$test" .sh)" env STACKBOX="$PWD/stackbox" BUILD="$release" sh "$test"
    done
}

run_guests()
{
    guests_ran=0
    part guest-harness sh tests/guest/harness.sh
    export STACKBOX="$PWD/stackbox"
    # An emulated guest takes one CPU of this machine, whatever it has itself.
    guest 5.10 5.10 "$(live_tests 5.10 beside)"
    guest newest newest "$(live_tests newest beside)"
    end_parts
    guest 6.1 6.1 "$(live_tests 6.1 beside)"
    guest 6.12 6.12 "$(live_tests 6.12 beside)"
    end_parts
    # What judges times to one in a hundred has the machine for itself.
    for kernel in 5.10 6.1 6.12 newest; do
        guest_alone $kernel "$(live_tests $kernel alone)"
    done
    # Counting is also tried where two threads never run at once, and where all may be preempted.
    guest 6.12 6.12-one-cpu "tests/live/exact.sh tests/live/user_preempt.sh tests/live/snoop.sh" \
        --cpus 1 --append nr_cpus=1
    guest newest newest-preempt "tests/live/exact.sh tests/live/user_preempt.sh tests/live/snoop.sh" \
        --append preempt=full
    end_parts
    guest 6.12 6.12-preempt tests/live/user_preempt.sh --append preempt=full
    end_parts
    # The kernels themselves take some 40 MB. Of 64 only the oldest can boot, and its image and ours need
    # more to be loaded from.
    for kernel in 5.10 6.1 6.12 newest; do
        guest $kernel $kernel-96-MB tests/live/small_memory.sh --memory 96
        case $kernel in 6.1 | newest) end_parts ;; esac
    done
    guest 5.10 5.10-64-MB tests/live/small_memory.sh --memory 96 --append mem=64M
    end_parts
    if [ $guests_ran = 0 ] && [ "${CI:-}" = true ]; then
        echo "FAIL guests: CI=true, and no guest ran" >$logs/guests.log
        report guests 0
    fi
}

rm -rf $logs
mkdir -p $logs || exit 1
trap 'exit 130' HUP INT TERM
sh scripts/setup.sh build || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
[ $quick = yes ] || sh scripts/setup.sh test
if run_builds; then
    run_units
    run_scripts golden
    run_scripts cli
    if [ $quick = no ]; then
        run_fuzzers
        run_live
        run_guests
    fi
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
