#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# again: with clang and lld
#
# Stacks without frame pointers: unwound by tables, and compared with what programs say about themselves;
# these are built in every way that the compilers here support (tests/workloads/shapes).

. "${0%/*}/../live/lib.sh"

judge=${BUILD:-}/workloads/unwind_judge
[ -x "$judge" ] || judge=$WORKLOADS/unwind_judge
[ "$(uname -m)" = x86_64 ] || skip_all "this test reads tables for x86-64 only"
[ -x "$judge" ] || skip_all "build/release/workloads/unwind_judge is not built"
command -v gcc >/dev/null || skip_all "gcc is not installed"

shapes=$WORKLOADS/../shapes
sh "${0%/*}/../workloads/shapes/build.sh" "$shapes" || skip_all "the test programs cannot be built"

# judge WAY RUNNER...: judges all its shapes, with RUNNER before the judge's command line
judge()
{
    way=$1
    shift
    # Most of them share libraries, and musl's have no tables.
    case $way in
    musl*) options=-mq ;;
    gcc | gcc-now | gcc-static | clang-lld) options=-- ;;
    *) options=-q ;;
    esac
    "$@" "$judge" $options "$shapes/$way/shapes" >"$scratch/out" 2>"$scratch/err"
    status=$?
    tail -n 1 "$scratch/out" >"$scratch/total"
    read -r word count stacks wrong steps wrong_steps <"$scratch/total"
    if [ "$word" != total ]; then
        fail "$way" "status $status: $(head -c 300 "$scratch/err")"
        return 1
    fi
    [ "$options" = -mq ] || grep "^step " "$scratch/out" >>"$scratch/places"
}

# exactly WAY NAME RUNNER...: every stack is right, and nearly every step
exactly()
{
    exactly_way=$1 exactly_name=$2
    shift 2
    judge "$exactly_way" "$@" || return
    is "$exactly_name: $stacks stacks of $count shapes are right" \
        "$wrong $(grep '^wrong ' "$scratch/out" | head -n 5 | tr '\n' '|')" "0 "
    # Compilers' tables are wrong for a few instructions, in epilogues and longjmp().
    case $exactly_way in
    musl*) ;;
    *) between "$exactly_name: few of $steps steps are wrong" "$wrong_steps" 0 14 ;;
    esac
    all_stacks=$((all_stacks + stacks)) all_steps=$((all_steps + steps))
    all_wrong_steps=$((all_wrong_steps + wrong_steps))
}

: >"$scratch/places"
all_stacks=0 all_steps=0 all_wrong_steps=0
ways=0
for program in "$shapes"/*/shapes; do
    way=${program%/shapes}
    way=${way##*/}
    # With sanitizers this is slow: only the usual ways.
    case $judge:$way in
    *asan*:gcc | *asan*:clang-lld | *asan*:gcc-static | *asan*:musl) ;;
    *asan*:*) continue ;;
    esac
    exactly "$way" "$way" env
    ways=$((ways + 1))
done
between "there are several ways to build them" $ways 1 100
if [ -s "$shapes/skipped" ]; then
    while IFS=: read -r way reason; do
        skip "$way" "$reason"
    done <"$shapes/skipped"
fi

# No privileges are needed for one's own process.
if have_root && [ -x "$WORKLOADS/deny" ]; then
    exactly gcc "gcc, as nobody" "$WORKLOADS/deny" --uid 65534 --
else
    skip "as nobody" "this needs root, and build/release/workloads/deny"
fi
echo "$all_stacks stacks, $all_steps steps, of which $all_wrong_steps were wrong:"
sed 's/^step //' "$scratch/places" | sort -rn | head -n 20
