#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 6.12
# host: yes
#
# Trees compared with the folded stacks of the same run, from which awk works out which lines there must
# be, and each frame's own and total share.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
cd "$scratch" || exit 1

# read_tree FILE: a line for each line of the tree: the path to it, its own share, and that with what it
# calls. Narrow branches are called narrow, with their number in front.
read_tree()
{
    awk 'NR == 1 { next }
        $0 == "" { split("", last); next }
        {
            self = substr($0, 1, 7) + 0
            total = substr($0, 9, 7) + 0
            name = substr($0, 18)
            hangs = 0
            for (depth = 0; name ~ /^(\|  |   |\|- |`- )/; depth++) {
                hangs = name ~ /^(\||`)- /
                name = substr(name, 4)
            }
            caller = last[hangs ? depth - 1 : depth]
            if (name ~ /^\([0-9]+ branch(es)? below [0-9.]+%\)$/) {
                split(substr(name, 2), words, " ")
                printf "%s;narrow %d %.2f\n", caller, words[1], total
                next
            }
            last[depth] = caller ";" name
            printf "%s %.2f %.2f\n", last[depth], self, total
        }' "$1" | LC_ALL=C sort
}

# make_tree FILE PERCENT: the same from folded stacks
make_tree()
{
    awk -v percent="$2" '{
            count = $NF
            sub(/ [0-9]+$/, "")
            frames = split($0, name, ";")
            whole += count
            way = ""
            for (at = 1; at <= frames; at++) {
                before[way ";" name[at]] = way
                way = way ";" name[at]
                total[way] += count
            }
            self[way] += count
        }
        END {
            for (way in total)
                shown[way] = total[way] && total[way] * 100 >= percent * whole
            for (way in total) {
                for (above = way; above != "" && shown[above];)
                    above = before[above]
                if (above == "")
                    printf "%s %.2f %.2f\n", way, 100 * self[way] / whole, 100 * total[way] / whole
                else if (above == way && is_seen(before[way])) {
                    number[before[way]]++
                    sum[before[way]] += total[way]
                }
            }
            for (way in number)
                printf "%s;narrow %d %.2f\n", way, number[way], 100 * sum[way] / whole
        }
        function is_seen(way) {
            for (; way != "" && shown[way];)
                way = before[way]
            return way == ""
        }' "$1" | LC_ALL=C sort
}

# same NAME PERCENT: r.tree is what r.folded should give
same()
{
    make_tree r.folded "$2" >expected
    read_tree r.tree >got
    if cmp -s expected got && [ -s got ]; then
        pass "$1 ($(wc -l <got) lines)"
    else
        fail "$1" "$(diff expected got | head -n 10 | tr '\n' '|')"
    fi
}

# No name here ends in a number, which folded lines may have otherwise.
run_stackbox profile -F 499 --tree -o r.tree -o r.folded -- "$WORKLOADS/burn" -s 300
is "samples: exit status" "$status" 0
same "samples" 1
is "samples: the total" \
    "$(sed -n 's/^  self%  total%  of \([0-9]*\) samples$/\1/p' r.tree)" "$(folded_sum r.folded)"

# Everything that the machine does makes the widest tree available here.
run_stackbox profile -F 997 --tree 0.1 -o r.tree -o r.folded -- sh -c \
    'for round in 1 2 3; do find /usr /proc -maxdepth 4 | sort | wc -l; cat /proc/*/maps | sort | uniq -c; done'
same "a tree with many branches" 0.1
run_stackbox profile -F 997 --tree=0 -o r.tree -o r.folded -- sh -c \
    'for round in 1 2 3; do find /usr /proc -maxdepth 4 | sort | wc -l; done'
same "a tree without a limit" 0
run_stackbox profile -F 997 -a -d --by thread -o r.tree -o r.folded -- sh -c 'find /usr /proc -maxdepth 4 | sort'
same "by thread, with delimited stacks" 1
if have_switches; then
    run_stackbox offcputime --tree 5 -o r.tree -o r.folded -- "$WORKLOADS/sleeps" -n 20 -u 3000 -o nap,read,woken
    same "waits" 5
    contains "waits are in microseconds" r.tree " us"
    run_stackbox offwaketime -o r.tree -o r.folded -- "$WORKLOADS/sleeps" -n 20 -u 3000 -o nap,read,woken
    same "waits, and who ended them" 1
fi
choose_event
run_stackbox stackcount --tree 30 -o r.tree -o r.folded "$EVENT" -- "$WORKLOADS/chains" -n 20 -m 10
same "events" 30
run_stackbox stackcount --tree -D 0.1 -o r.tree t:sched:sched_process_hang
is "no events" "$(cat r.tree)" "  self%  total%  of 0 events"

# Lines are whole in files, and on a terminal as wide as it is.
run_stackbox profile -F 997 --tree 100 -- "$WORKLOADS/burn" -s 100
is "it goes to stdout" "$status $(head -n 1 "$scratch/out" | cut -c 1-20)" "0   self%  total%  of "
if command -v script >/dev/null; then
    script -qec "stty cols 26; '$STACKBOX' profile -F 997 --tree -o - -o r.tree -- '$WORKLOADS/burn' -s 100" \
        /dev/null </dev/null 2>/dev/null | tr -d '\r' | sed -n '/^  self%/,$p' >shown
    sed 's/^\(.\{23\}\)....\{1,\}$/\1.../' r.tree >cut
    is "on a terminal lines are cut" "$(grep -c '\.\.\.$' shown) $(cksum <shown)" \
        "$(grep -c '\.\.\.$' cut) $(cksum <cut)"
else
    skip "on a terminal lines are cut" "script(1) is not installed"
fi
