#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# fuzz.sh SECONDS [TARGET...]   fuzzes the readers of foreign bytes, each for that long, two at a time
#
# TARGET: a folder of tests/fuzz/corpus; default: all of them. Each begins with a copy of it and whatever
# earlier runs here have added. Uses clang's libFuzzer, or else a simple driver that mutates the corpus. An input
# that is a finding, or costs more than it may (tests/fuzz/cost.c), is kept, and its name printed.
#
# Exit: 0 nothing was found; 1 something was, or nothing could be built.

set -u
cd "$(dirname "$0")/.." || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL

seconds=${1:-}
case $seconds in
'' | *[!0-9]*) echo "usage: fuzz.sh SECONDS [TARGET...]" >&2; exit 2 ;;
esac
shift
if [ $# = 0 ]; then
    for target in tests/fuzz/corpus/*; do
        set -- "$@" "${target##*/}"
    done
fi

# has_libfuzzer: if not, its output says why
has_libfuzzer()
{
    echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n); int
          LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d && n > 9; }' |
        clang -fsanitize=fuzzer,address,undefined -x c -o build/fuzz/probe - 2>&1
}

# fuzz TARGET: runs one, into its log
fuzz()
{
    corpus=build/fuzz/corpus/$1
    mkdir -p "$corpus"
    cp tests/fuzz/corpus/"$1"/* "$corpus" || return
    # No input of 16 KiB takes 20 s or 512 MB, or allocates more than a section of 256 MB at once.
    nice "$programs/$1" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=512 \
        -malloc_limit_mb=300 -max_len=16384 -print_final_stats=1 -verbosity=0 \
        -artifact_prefix="build/fuzz/found/$1-" "$corpus" >"build/fuzz/$1.log" 2>&1
    status=$?
    if [ $status = 0 ]; then
        runs=$(sed -n 's/^Done \([0-9]*\) runs.*/\1/p; s/^stat::number_of_executed_units: *//p' \
            "build/fuzz/$1.log" | head -n 1)
        echo "PASS fuzz-$1: ${runs:-0} inputs in $seconds s"
        return
    fi
    tail -n 60 "build/fuzz/$1.log"
    echo "FAIL fuzz-$1: exit status $status, the input is:"
    # shellcheck disable=SC2012 # names that libFuzzer gave
    ls -t build/fuzz/found/"$1"-* 2>&1 | head -n 3
}

# try_costs: tests cost.c: quadratic cost is a finding, linear cost is none
try_costs()
{
    for kind in m r t M R T; do
        { printf $kind; head -c 3999 /dev/zero; } >build/fuzz/dear
        "$programs/planted" build/fuzz/dear >build/fuzz/planted.log 2>&1
        echo "$kind $(sed -n 's/^[0-9]* \(.*\) for an input of 4000 bytes.*/\1/p' build/fuzz/planted.log)"
    done >build/fuzz/costs
    if [ "$(tr '\n' ',' <build/fuzz/costs)" = "m bytes of memory,r reads,t us of CPU time,M ,R ,T ," ]; then
        echo "PASS fuzz-costs: what costs the square of its size is found"
    else
        echo "FAIL fuzz-costs: $(tr '\n' ',' <build/fuzz/costs)"
        return 1
    fi
}

# fuzz_all TARGET...: one after another
fuzz_all()
{
    for target; do
        fuzz "$target" >"build/fuzz/$target.result"
    done
}

mkdir -p build/fuzz/found || exit 1
rm -f build/fuzz/*.result
if reason=$(has_libfuzzer); then
    programs=build/fuzz/fuzz flags='SANITIZE=1 FUZZER=1 CC=clang BUILD=build/fuzz'
else
    echo "SKIP fuzz-libfuzzer: $(echo "$reason" | head -n 1)"
    programs=build/asan/fuzz flags='SANITIZE=1 CC=gcc BUILD=build/asan PROGRAM=build/asan/stackbox'
fi
wanted=$programs/planted
for target; do
    wanted="$wanted $programs/$target"
done
# shellcheck disable=SC2086 # lists of words
make -s -j2 $flags $wanted || exit 1

odd='' even=''
for target; do
    if [ "${#odd}" -le "${#even}" ]; then odd="$odd $target"; else even="$even $target"; fi
done
# shellcheck disable=SC2086 # lists of words
{
    trap 'kill $first 2>/dev/null; exit 130' HUP INT TERM
    fuzz_all $odd &
    first=$!
    fuzz_all $even
    wait $first
}
failed=0
try_costs || failed=1
for target; do
    cat "build/fuzz/$target.result" || failed=1
    grep -q '^PASS' "build/fuzz/$target.result" || failed=1
done
exit $failed
