#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# Stacks without frame pointers: unwound by tables, and compared with what programs say about themselves;
# these are built in every way that the compilers here support (tests/workloads/shapes).

. "${0%/*}/../live/lib.sh"

judge=${BUILD:-}/workloads/unwind_judge
[ -x "$judge" ] || judge=$WORKLOADS/unwind_judge
[ "$(uname -m)" = x86_64 ] || skip_all "tables are read for x86-64 alone"
[ -x "$judge" ] || skip_all "build/release/workloads/unwind_judge is not built"
command -v gcc >/dev/null || skip_all "gcc is not installed"

shapes=$WORKLOADS/../shapes
sh "${0%/*}/../workloads/shapes/build.sh" "$shapes" || skip_all "the shapes cannot be built"

# judge WAY RUNNER...: all its shapes, with a prefix before the judge
judge()
{
    way=$1
    shift
    # Libraries are the same for most of them, and musl's have no tables.
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

# exactly WAY NAME RUNNER...: every stack, and nearly every step
exactly()
{
    exactly_way=$1 exactly_name=$2
    shift 2
    judge "$exactly_way" "$@" || return
    is "$exactly_name: $stacks stacks of $count shapes are right" \
        "$wrong $(grep '^wrong ' "$scratch/out" | head -n 5 | tr '\n' '|')" "0 "
    # Compilers' own tables are wrong for a few instructions, in epilogues and longjmp().
    case $exactly_way in
    musl*) ;;
    *) between "$exactly_name: of $steps steps those that are wrong" "$wrong_steps" 0 14 ;;
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
    # With sanitizers it takes long: only the usual ones.
    case $judge:$way in
    *asan*:gcc | *asan*:clang-lld | *asan*:gcc-static | *asan*:musl) ;;
    *asan*:*) continue ;;
    esac
    exactly "$way" "$way" env
    ways=$((ways + 1))
done
between "ways to build them" $ways 1 100
if [ -s "$shapes/skipped" ]; then
    while IFS=: read -r way reason; do
        skip "$way" "$reason"
    done <"$shapes/skipped"
fi

# No rights are needed for one's own process.
if have_root && [ -x "$WORKLOADS/deny" ]; then
    exactly gcc "gcc, as nobody" "$WORKLOADS/deny" --uid 65534 --
else
    skip "as nobody" "that needs root, and build/release/workloads/deny"
fi
echo "$all_stacks stacks, $all_steps steps, of which $all_wrong_steps were wrong:"
sed 's/^step //' "$scratch/places" | sort -rn | head -n 20
