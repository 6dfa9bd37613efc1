# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# What tests/workloads/bare.c does: it knows its own stack, and each of its events must have exactly
# this one. Read after lib.sh.

# of PROGRAM WAY NUMBER ARG...: traces this command, `bare` or one of its shapes; $scratch/folded gets
# its lines, by the name `bare`
of()
{
    program=$1 way=$2 number=$3
    shift 3
    run_stackbox "$@" -f -- "$WORKLOADS/$program" "$way" "$number"
    sed -n "s/^$program\([;-]\)/bare\1/p" "$scratch/out" >"$scratch/folded"
}

# all NAME REGEX [NUMBER]: all lines match, and add up to NUMBER
all()
{
    is "$1: there is no other stack" "$(grep -vE "^bare;($2) [0-9]+\$" "$scratch/folded" | head -n 2)" ""
    [ $# = 2 ] || is "$1: all events have it" "$(folded_sum "$scratch/folded")" "$3"
}

# share_of REGEX: the percentage of those lines
share_of()
{
    awk -v those="$1" '$0 ~ those { n += $NF } { all += $NF } END { print all ? int(n * 100 / all) : 0 }' "$scratch/folded"
}
