#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# proof.sh PART...      tests that take hours, done before a release; not part of `make test-guests`
#
#   fuzz [MINUTES]      every parser of foreign bytes under libFuzzer, MINUTES in all (120)
#   corpus              adds the inputs that reached new code to tests/fuzz/corpus, minimized
#   calls               makes every system call of every applet fail once (tests/live/faults.sh)
#   calls-guest         the same in a guest, for runs that probe kernel functions
#   kills [RUNS]        kills runs at random moments (1000)
#   kills-guest [RUNS]  the same in a guest (120)
#   words [LINES]       tries random command lines (20000), some of which trace
#   judge [SEEDS]       lives of processes and runs of stackbox drawn from seeds (2000), the first of which is SEED;
#                       tests/workloads/judge.c tells how to repeat one that fails, and makes it smaller
#   live                this machine's live tests with the sanitizers' build
#   valgrind            one run of each kind under valgrind
#   all                 all of these but corpus
#
# Each prints lines PASS, FAIL or SKIP, and keeps its output in build/proof/PART.log. All but fuzz and corpus
# need root. KERNEL=6.12 chooses the guest's kernel; ONLY='report check' limits calls to these runs, SHARE=10 to
# every tenth call; SEED=1 chooses the random lines and the judge's seeds, and JOBS=2 runs two jobs at a time.
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

# build TARGET...: with sanitizers; build_release: the release build
build()
{
    make -s -j"$(nproc)" SANITIZE=1 CC=gcc BUILD=build/asan PROGRAM=build/asan/stackbox "$@" || exit 1
}
build_release()
{
    make -s -j"$(nproc)" all workloads || exit 1
}

# kept NAME COMMAND...: shows and keeps its output; it has failed if a line begins with FAIL, or by its
# exit status
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
    ls tests/fuzz/corpus
}

# part_fuzz MINUTES: the longest for targets with the most code left to reach. Two run at a time.
part_fuzz()
{
    long='recording elf frame_rows'
    # One share each, and three more for each of those.
    share=$((${1:-120} * 60 / ($(targets | wc -l) + 9)))
    # shellcheck disable=SC2046,SC2086 # lists of words
    kept fuzz sh scripts/fuzz.sh $share $(targets)
    # shellcheck disable=SC2086 # lists of words
    kept fuzz-long sh scripts/fuzz.sh $((3 * share)) $long
}

# part_corpus: judged by coverage only, and only inputs that are read quickly
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

# Each call costs a run: with few processes and a kernel with few symbols, runs make a tenth of the
# calls.
part_calls()
{
    build faulty
    build_release
    FAULTS=calls FEW_NAMES=yes STACKBOX=$PWD/stackbox kept "calls${ONLY:+-$ONLY}" \
        unshare -pf --mount-proc sh tests/live/faults.sh
}

# Guests lack the sanitizers' libraries, which the guest gets as files.
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
    RUNS=${1:-300} kept kills-ptrace sh tests/live/ptrace.sh
    unset STACKBOX
}

part_kills_guest()
{
    build_release
    kept kills-guest sh scripts/guest.sh --timeout 3600 --test-timeout 3500 --append "runs=${1:-120}" \
        --name "$kernel-kills" "$kernel" -- tests/live/killed.sh
}

# words_in SEED LINES [WORD]...: runs in a directory of its own
words_in()
{
    seed=$1 lines=$2
    shift 2
    mkdir -p "build/proof/words.$seed"
    (cd "build/proof/words.$seed" && sanitized "$WORKLOADS/words" -s "$seed" -n "$lines" "$@")
}

# words_at_once SEED LINES [WORD]...: several jobs, each with a seed of its own
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

# part_words LINES: one in seven traces for some milliseconds; the others are denied bpf(2) and perf
# events
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

# part_judge SEEDS: those of `make test` are the first
part_judge()
{
    build_release
    STACKBOX=$PWD/stackbox FROM=${SEED:-1} COUNT=${1:-2000} kept judge sh tests/live/judge.sh
}

# live_tests FILE...: one after the other. If a test denies what LeakSanitizer needs, it is run again without
# it.
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

# under_valgrind WORD...: valgrind does not see what the kernel writes (maps, rings, names of mappings), and
# would take it for uninitialized memory: so it only looks for out-of-bounds reads and writes, and for leaks.
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
    command -v valgrind >/dev/null || { echo "SKIP valgrind: valgrind is not installed"; return; }
    build_release
    # Not static: otherwise valgrind cannot replace malloc().
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
    fuzz | judge | kills | words) "part_$part" "$number" ;;
    corpus | calls | live | valgrind) "part_$part" ;;
    calls-guest) part_calls_guest ;;
    kills-guest) part_kills_guest "$number" ;;
    all) for one in fuzz calls calls_guest kills kills_guest words judge live valgrind; do "part_$one"; done ;;
    *) echo "proof.sh: there is no part \"$part\"" >&2; exit 2 ;;
    esac
done
exit $failed
