#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# again: with clang and lld
#
# Stacks without frame pointers: unwound by tables, and compared with the programs' own records; the
# programs (tests/workloads/shapes) are built in every way that the compilers here support.

. "${0%/*}/../live/lib.sh"

judge=$(tool unwind_judge)
[ "$(uname -m)" = x86_64 ] || skip_all "this test reads tables for x86-64 only"
[ -x "$judge" ] || skip_all "build/release/workloads/unwind_judge is not built"
need gcc

shapes=$WORKLOADS/../shapes
sh "${0%/*}/../workloads/shapes/build.sh" "$shapes" || skip_all "the test programs cannot be built"

# judge WAY RUNNER...: judges all its shapes, with RUNNER before the judge's command line
judge()
{
    way=$1
    shift
    # Most of them share libraries.
    case $way in
    gcc | musl* | gcc-now | gcc-static | clang-lld) options=-- ;;
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
}

# tables FILE ADDRESS...: what objdump reads in its table at each address, a line `ADDRESS REASON`:
#     no-table        no function covers it: libc's code runs through the padding between two of its functions
#     in-register     the caller is another one: longjmp() has left, and its table says where it will be
#     saved-at BEGIN  the frame pointer is saved at a place that is told by the frame pointer itself
#     whole           everything else
tables()
{
    rows=$scratch/rows$(echo "$1" | tr / _)
    [ -f "$rows" ] || objdump --dwarf=frames-interp "$1" >"$rows" 2>/dev/null
    grep -q ' FDE ' "$rows" || return
    awk -v addresses="$*" '
        function padded(text) { return substr("0000000000000000", length(text) + 1) text }
        BEGIN { count = split(addresses, at, " "); for (i = 2; i <= count; i++) reason[padded(at[i])] = "no-table" }
        / FDE .* pc=/ {
            split($NF, range, /=|\.\./)
            inside = 0
            for (i = 2; i <= count; i++)
                if (padded(at[i]) >= range[2] && padded(at[i]) < range[3]) {
                    inside = 1
                    reason[padded(at[i])] = "whole"
                }
            next
        }
        !inside || /^$/ { inside = 0; next }
        $1 == "LOC" { columns = split($0, column, " "); next }
        {
            gsub(/ \([a-z0-9]+\)/, "")
            for (i = 1; i <= columns; i++) value[column[i]] = $i
            for (i = 2; i <= count; i++) {
                address = padded(at[i])
                if (address < range[2] || address >= range[3] || address < $1)
                    continue
                if (value["ra"] ~ /^r[0-9]+$/)
                    reason[address] = "in-register"
                else
                    reason[address] = value["rbp"] == "exp" ? "saved-at " range[2] : "whole"
            }
        }
        END { for (i = 2; i <= count; i++) print at[i], reason[padded(at[i])] }' "$rows"
}

# is_popped FILE BEGIN ADDRESS: before this address, in the same stretch of code, was the frame pointer popped?
is_popped()
{
    objdump -d --no-show-raw-insn --start-address="0x$2" --stop-address="0x$3" "$1" |
        awk '/\t(pop +%rbp|leave)/ { popped = 1; next } /\t(call|jmp|ret)/ { popped = 0 } END { exit !popped }'
}

# excused: the wrong steps in $scratch/out, each with its reason if no walk can be right there, or `ours`. A table
# that has the frame pointer as saved after its pop is the compiler's mistake (gcc, in functions
# that align their stacks).
excused()
{
    grep "^step" "$scratch/out" >"$scratch/steps"
    cut -f 4 "$scratch/steps" | sort -u | while read -r file; do
        # shellcheck disable=SC2046 # addresses
        tables "$file" $(awk -F '\t' -v file="$file" '$4 == file { print $3 }' "$scratch/steps") |
            while read -r address reason begin; do
                place=$(awk -F '\t' -v file="$file" -v address="$address" \
                    '$4 == file && $3 == address { print $5 }' "$scratch/steps" | head -n 1)
                case $reason,$place in
                no-table,*": no table" | in-register,*) ;;
                saved-at,*) reason=popped; is_popped "$file" "$begin" "$address" || reason=ours ;;
                *) reason=ours ;;
                esac
                echo "$reason $place"
            done
    done
}

# exactly WAY NAME RUNNER...: every stack and every step is right, except where no table can be so
exactly()
{
    exactly_way=$1 exactly_name=$2
    shift 2
    judge "$exactly_way" "$@" || return
    # Code alone does not tell how a function that aligns its stack, and changes its size, finds its way back.
    grep '^wrong ' "$scratch/out" | case $exactly_way in
    *-code) grep -v '^wrong \(aligned_alloca\|many_arguments\): it is too short.* no table$' ;;
    *)      cat ;;
    esac >"$scratch/wrong"
    is "$exactly_name: $stacks stacks of $count shapes are right" \
        "$(wc -l <"$scratch/wrong") $(head -n 5 "$scratch/wrong" | tr '\n' '|')" "0 "
    case $exactly_way in
    musl*)
        # The last three steps of a function that aligns its stack have a table that is wrong: see below. Where
        # none of them has a table, one of fifty shapes, which is stepped through for long, is such a function.
        grep '^step' "$scratch/out" | grep -v ' aligns+' >"$scratch/steps"
        is "$exactly_name: no step has an invented frame" "$(grep -v ': no table$' "$scratch/steps" | head -n 3)" ""
        [ "${exactly_way%-code}" = "$exactly_way" ] && share=100 || share=50
        between "$exactly_name: of $steps steps, so few are cut short" "$(wc -l <"$scratch/steps")" 0 $((steps / share)) ;;
    *)  excused >"$scratch/reasons"
        is "$exactly_name: all of $steps steps are right, but for $wrong_steps that tables cannot tell" \
            "$(wc -l <"$scratch/reasons") $(grep '^ours ' "$scratch/reasons" | head -n 5 | tr '\n' '|')" \
            "$(wc -l <"$scratch/steps") "
        cat "$scratch/reasons" >>"$scratch/places" ;;
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
    cp -r "$shapes/gcc-now" "$scratch" && chmod 755 "$scratch" && shapes=$scratch # which nobody can read
    exactly gcc-now "gcc-now, as nobody" "$WORKLOADS/deny" --uid 65534 --
else
    skip "as nobody" "this needs root, and build/release/workloads/deny"
fi
echo "$all_stacks stacks, $all_steps steps, of which $all_wrong_steps were wrong:"
cut -d ' ' -f 1 "$scratch/places" | sort | uniq -c
