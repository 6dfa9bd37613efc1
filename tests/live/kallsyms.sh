#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# kernels: 5.10,newest
# host: yes
#
# Kernel names of more than a thousand random addresses, including modules', compared with lookups by sort and
# awk in a copy of /proc/kallsyms: addresses are compared as their 16 digits.
. "${0%/*}/lib.sh"

export LC_ALL=C

load_module dummy
load_module veth
load_module nlmon

# "address T number type name [module]" of all symbols with an address, sorted by address and line
awk '$1 !~ /^0*$/ && $2 != "a" && $2 != "A" { printf "%s T %07d %s %s %s\n", $1, NR, $2, $3, $4 }' \
    /proc/kallsyms | sort >"$scratch/table"
[ -s "$scratch/table" ] || skip_all "the kernel hides its addresses"
expr "$(head -c 17 "$scratch/table")" : '[0-9a-f]* $' >/dev/null ||
    skip_all "addresses here have fewer than 16 digits"

# Draws 1,500 symbols of the kernel and 600 of modules, and adds a random distance to each address.
draw='
function number(digits,    i, value) {
    for (i = 1; i <= length(digits); i++)
        value = value * 16 + index("0123456789abcdef", substr(digits, i, 1)) - 1
    return value
}
'
# shellcheck disable=SC2016 # awk's own $
awk -v seed="$(date +%s)" "$draw"'
function ask(line,    distance, low) {
    distance = int(rand() * 400)
    if (rand() < 0.1) distance = int(rand() * 2000000)
    if (rand() < 0.3) distance = 0
    if (rand() < 0.1) distance = -1
    low = number(substr(line, 11, 6)) + distance
    if (low >= 0 && low < 16777216)
        printf "%s%06x\n", substr(line, 1, 10), low
}
BEGIN { srand(seed) }
{ if ($6 == "") core[++cores] = $1; else if ($6 != "[bpf]") module[++modules] = $1 }
END {
    for (i = 0; i < 1500; i++) ask(core[1 + int(rand() * cores)])
    for (i = 0; i < 600 && modules; i++) ask(module[1 + int(rand() * modules)])
}' "$scratch/table" >"$scratch/questions"

# The nearest symbol at or below, by the best of its names: global over weak over local, then the
# fewest leading underscores, then not that of another ABI, then the first. No name if it is not a
# function, or 1 MB away. (Few have a second name: the others need no ranking.)
# shellcheck disable=SC2016
sort -u "$scratch/questions" | sed 's/$/ ~/' | sort - "$scratch/table" |
    awk "$draw"'
function distance(from, to,    high) {
    high = number(substr(to, 1, 8)) - number(substr(from, 1, 8))
    return high * 4294967296 + number(substr(to, 9)) - number(substr(from, 9))
}
function rank(type, name,    value) {
    value = type ~ /[wWvV]/ ? 100 : type ~ /[A-Z]/ ? 200 : 0
    if (name ~ /^__ia32_/) value--
    for (; substr(name, 1, 1) == "_"; name = substr(name, 2))
        value--
    return value
}
$2 == "T" {
    if ($1 != start) {
        start = $1; type = $4; first = $5; name = $5 ($6 == "" ? "" : " " $6); ranked = 0
        next
    }
    if (!ranked++)
        best = rank(type, first)
    value = rank($4, $5)
    if (value > best) {
        best = value; type = $4; name = $5 ($6 == "" ? "" : " " $6)
    }
    next
}
{
    if (type ~ /[tTwW]/ && distance(start, $1) < 1048576)
        print $1, start, name
    else
        print $1, "-"
}' >"$scratch/theirs"

"$WORKLOADS/names" <"$scratch/questions" >"$scratch/ours"
cut -d ' ' -f 1 "$scratch/theirs" >"$scratch/asked"
is "every address has an answer" \
    "$(cut -d ' ' -f 1 "$scratch/ours" | diff "$scratch/asked" - | head -n 5)" ""

# BPF programs come and go at any time: if one of them is an answer, the name is not compared.
paste -d '|' "$scratch/theirs" "$scratch/ours" | grep -vF '[bpf]' >"$scratch/both"
between "addresses" "$(grep -c . "$scratch/both")" 1000 3000
between "most addresses have a name" "$(grep -cv -e ' -$' "$scratch/both")" 700 3000
is "names agree" "$(awk -F '|' '$1 != $2' "$scratch/both" | head -n 5)" ""
if grep -q '\[dummy\]' "$scratch/table"; then
    between "there are addresses of modules" "$(grep -c '|.*\]$' "$scratch/both")" 150 1000
elif [ -n "$GUEST" ]; then
    fail "there are addresses of modules" "dummy.ko is not loaded"
else
    skip "there are addresses of modules" "none of ours is loaded on this machine"
fi
