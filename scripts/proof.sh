#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# proof.sh PART...      what takes hours, and is done before a release: no part of `make test`
#
#   fuzz [MINUTES]      every reader of strangers' bytes by libFuzzer, so many minutes in all (120)
#   corpus              what the fuzzers found new ways by goes into tests/fuzz/corpus, as little as leads there
#   calls               every system call of every applet fails once (tests/live/faults.sh)
#   calls-guest         those of runs that probe functions of the kernel, in a guest
#   kills [RUNS]        runs that are struck at random moments (1000)
#   kills-guest [RUNS]  the same in a guest (120)
#   words [LINES]       random command lines (20000), some of which trace
#   live                this machine's live tests, by the build with sanitizers
#   valgrind            a run of each kind under valgrind
#   all                 all of these but corpus
#
# Each says PASS, FAIL or SKIP line by line, and keeps what it printed in build/proof/PART.log. Needs root, but for
# fuzz and corpus. KERNEL=6.12 is the guest's; ONLY='report check' of the calls are those of these runs, and with
# SHARE=10 every tenth; SEED=1 are those random lines, and JOBS=2 so many at a time.
#
# Exit: 0, or 1 if something was found.

set -u
cd "$(dirname "$0")/.." || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL
kernel=${KERNEL:-6.12}
export WORKLOADS="$PWD/build/release/workloads"
asan=$PWD/build/asan
mkdir -p build/proof
failed=0

# build TARGET...: of the build with sanitizers; build_release: of the other
build()
{
    make -s -j"$(nproc)" SANITIZE=1 CC=gcc BUILD=build/asan PROGRAM=build/asan/stackbox "$@" || exit 1
}
build_release()
{
    make -s -j"$(nproc)" all workloads || exit 1
}

# kept NAME COMMAND...: its output is shown and kept; a line that begins with FAIL, or a failure, counts
kept()
{
    log=build/proof/$1.log
    shift
    { "$@" 2>&1; echo "exit $?"; } | tee "$log"
    if grep -q '^FAIL\|^bad ' "$log" || ! grep -qx 'exit 0\|exit 77' "$log"; then
        failed=1
    fi
}

sanitized()
{
    ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=exitcode=99 LSAN_OPTIONS=exitcode=99 "$@"
}

targets()
{
    find tests/fuzz -name '*.c' ! -name driver.c -exec basename {} .c \; | sort
}

# part_fuzz MINUTES: where most ways are left to find the longest. Two run at a time.
part_fuzz()
{
    long='recording elf frame_rows'
    # A share for each, and three more for each of those.
    share=$((${1:-120} * 60 / ($(targets | wc -l) + 9)))
    # shellcheck disable=SC2046,SC2086 # lists of words
    kept fuzz sh scripts/fuzz.sh $share $(targets)
    # shellcheck disable=SC2086 # lists of words
    kept fuzz-long sh scripts/fuzz.sh $((3 * share)) $long
}

# part_corpus: by ways through the code alone, and inputs that a reader takes little time for
part_corpus()
{
    for target in $(targets); do
        { [ -d "build/fuzz/corpus/$target" ] && [ -x "build/fuzz/fuzz/$target" ]; } || continue
        "build/fuzz/fuzz/$target" -set_cover_merge=1 -use_counters=0 -use_value_profile=0 -max_len=2048 \
            -verbosity=0 "tests/fuzz/corpus/$target" "build/fuzz/corpus/$target" >"build/proof/corpus-$target.log" 2>&1 ||
            { echo "FAIL corpus: $target: see build/proof/corpus-$target.log"; failed=1; }
        echo "$target: $(find "tests/fuzz/corpus/$target" -type f | wc -l) files"
    done
}

# Each call costs a run: a machine of few processes and a kernel of few names has a tenth of them.
part_calls()
{
    build faulty
    build_release
    FAULTS=calls FEW_NAMES=yes STACKBOX=$PWD/stackbox kept "calls${ONLY:+-$ONLY}" \
        unshare -pf --mount-proc sh tests/live/faults.sh
}

# The sanitizers' libraries are no part of a guest.
part_calls_guest()
{
    build faulty
    build_release
    mkdir -p build/proof/lib
    ldd build/asan/faulty/stackbox | sed -n 's/.* \(\/[^ ]*\) (0x.*/\1/p; s/^[[:blank:]]*\(\/[^ ]*\) (0x.*/\1/p' |
        while read -r library; do cp -L "$library" build/proof/lib/; done
    files='--file build/asan/faulty/stackbox'
    for library in build/proof/lib/*; do
        files="$files --file $library"
    done
    # shellcheck disable=SC2086 # lists of words
    kept calls-guest sh scripts/guest.sh --memory 2048 --timeout 14400 --test-timeout 14000 \
        --append "faults=calls share=${SHARE:-1} only=${ONLY:-}" --name "$kernel-calls" $files "$kernel" -- tests/live/faults.sh
}

part_kills()
{
    build_release
    export STACKBOX="$PWD/stackbox"
    RUNS=${1:-1000} kept kills sh tests/live/killed.sh
    unset STACKBOX
}

part_kills_guest()
{
    build_release
    kept kills-guest sh scripts/guest.sh --timeout 3600 --test-timeout 3500 --append "runs=${1:-120}" \
        --name "$kernel-kills" "$kernel" -- tests/live/killed.sh
}

# words_in SEED LINES [WORD]...: in a directory of its own
words_in()
{
    seed=$1 lines=$2
    shift 2
    mkdir -p "build/proof/words.$seed"
    (cd "build/proof/words.$seed" && sanitized "$WORKLOADS/words" -s "$seed" -n "$lines" "$@")
}

# words_at_once SEED LINES [WORD]...: by several, each with a seed of its own
words_at_once()
{
    first=$1 all=$2 jobs=${JOBS:-$(nproc)} running= worst=0
    shift 2
    for job in $(seq "$jobs"); do
        words_in $((first + job)) $((all / jobs)) "$@" &
        running="$running $!"
    done
    for job in $running; do
        wait "$job" || worst=1
    done
    return $worst
}

# part_words LINES: one in seven traces for some milliseconds; of the others nothing comes to the kernel
part_words()
{
    build all
    build_release
    lines=${1:-20000} seed=${SEED:-$(date +%s)}
    echo "seed $seed"
    kept words words_at_once "$seed" $((lines * 6 / 7)) \
        "$WORKLOADS/deny" --syscall bpf:EPERM --syscall perf_event_open:EPERM -- "$asan/stackbox"
    kept words-tracing words_at_once $((seed + 100)) $((lines / 7)) -d 0.01 "$asan/stackbox"
}

# live_tests FILE...: one after the other. LeakSanitizer cannot look where a test denies what it needs: that one
# runs once more, without it.
live_tests()
{
    for test; do
        echo "$test"
        timeout 900 sh "$test" >build/proof/test 2>&1
        status=$?
        if grep -q 'LeakSanitizer has encountered a fatal error' build/proof/test; then
            ASAN_OPTIONS=exitcode=99:detect_leaks=0 timeout 900 sh "$test" >build/proof/test 2>&1
            status=$?
        fi
        cat build/proof/test
        [ "$status" = 0 ] || echo "FAIL $test: status $status"
    done
}

part_live()
{
    build all
    build_release
    # shellcheck disable=SC2046 # a list of words
    STACKBOX=$asan/stackbox BUILD=$asan sanitized kept live live_tests \
        $(grep -l '^# host: yes' tests/live/*.sh | grep -v '/faults\.sh$\|/soak\.sh$\|/thousands\.sh$')
}

# under_valgrind WORD...: of what the kernel writes (maps, rings, names of mappings) valgrind knows nothing, and would
# take it for memory that nobody has set: it looks for what is read or written beside its place, and for leaks.
under_valgrind()
{
    timeout 600 valgrind -q --undef-value-errors=no --leak-check=full --errors-for-leak-kinds=definite \
        --error-exitcode=99 --child-silent-after-fork=yes --log-file=build/proof/valgrind.errors \
        build/gcc/bare "$@" >build/proof/valgrind.out 2>&1
    status=$?
    [ "$status" = 0 ] && echo "PASS valgrind: $*" || echo "FAIL valgrind: $*: status $status"
    grep '^==' build/proof/valgrind.errors || :
}

valgrind_runs()
{
    chains="$WORKLOADS/chains:target -- $WORKLOADS/chains -n 20 -m 10"
    # shellcheck disable=SC2086 # words
    {
        under_valgrind stackcount -f -o build/proof/valgrind.sbx $chains
        under_valgrind stacksnoop $chains
    }
    under_valgrind profile -f -D 0.2
    under_valgrind offcputime -f -D 0.2
    under_valgrind walltime -f -- "$WORKLOADS/sleeps" -n 3 -u 3000 -o nap
    under_valgrind report -f -o build/proof/valgrind.svg build/proof/valgrind.sbx
    under_valgrind flamegraph build/proof/valgrind.sbx
    under_valgrind check
}

part_valgrind()
{
    command -v valgrind >/dev/null || { echo "SKIP valgrind: it is not installed"; return; }
    build_release
    # Not static: else malloc() is not valgrind's.
    make -s -j"$(nproc)" CC=gcc BUILD=build/gcc PROGRAM=build/gcc/bare \
        ALL_LDFLAGS='-Wl,--gc-sections -pthread -no-pie' || exit 1
    kept valgrind valgrind_runs
}

[ $# -gt 0 ] || { sed -n '3,/^set/s/^# \{0,1\}//p' "$0"; exit 2; }
while [ $# -gt 0 ]; do
    part=$1 number=
    shift
    case ${1:-} in
    *[!0-9]* | '') ;;
    *) number=$1; shift ;;
    esac
    case $part in
    fuzz | kills | words) "part_$part" "$number" ;;
    corpus | calls | live | valgrind) "part_$part" ;;
    calls-guest) part_calls_guest ;;
    kills-guest) part_kills_guest "$number" ;;
    all) for one in fuzz calls calls_guest kills kills_guest words live valgrind; do "part_$one"; done ;;
    *) echo "proof.sh: there is no part \"$part\"" >&2; exit 2 ;;
    esac
done
exit $failed
