#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# unwind.sh [SAMPLES]: stops real programs, each at that many random moments (300), and unwinds them by tables
# through ptrace(2): how many stacks reach the root, how deep they are, and where the others end. It needs no
# rights. Run after `make tools`.
set -u

cd "$(dirname "$0")/.." || exit 1
samples=${1:-300}
sampler=build/release/workloads/unwind_sample
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

head -c 30000000 /dev/urandom | base64 >"$scratch/text"
awk 'BEGIN {
    for (i = 0; i < 8000; i++)
        printf "int f%d(int a, int *b) { int s = 0; for (int i = 0; i < a; i++) { s += b[i] * %d; " \
            "if (s %% 7 == 3) s ^= a + b[i / 2]; } return s + (a > 5 ? f%d(a - 1, b) : 0); }\n", i, i, i ? i - 1 : 0
}' >"$scratch/many.c"

# real NAME COMMAND...
real()
{
    name=$1
    shift
    command -v "$1" >/dev/null || { echo "$name: not installed"; return; }
    timeout 100 "$sampler" -n "$samples" "$@" >"$scratch/out" 2>/dev/null </dev/null
    sed -n 's/^total //p' "$scratch/out" | tail -n 1 | awk -v name="$name" '$1 {
        printf "%s: %d stacks, %.2f %% whole, %.1f frames\n", name, $1, 100 * $2 / $1, $3 / $1 }'
    grep -a '^place ' "$scratch/out" | sort -k 2 -rn | head -n 4 | sed 's/^place/   /'
}

real python3 python3 -c 'import json, re
d = [{"a": i, "b": str(i) * 5} for i in range(1000)]
while 1: json.loads(json.dumps(d, indent=1)); re.findall(r"(a|b)+\d*", "abab12" * 1000)'
real perl perl -e 'while (1) { my %h; $h{$_ % 100} .= join(",", sort { $b <=> $a } 1..50) for 1..500; }'
real openssl openssl speed -seconds 100 sha256 aes-256-cbc rsa2048
real cc1 "$(gcc -print-prog-name=cc1)" -O2 -quiet "$scratch/many.c" -o /dev/null
real clang clang -O2 -c "$scratch/many.c" -o /dev/null
real sqlite3 sqlite3 :memory: "with recursive c(x) as (select 1 union all select x + 1 from c where x < 100000000)
    select count(*), sum(length(hex(x))) from c group by x % 7 order by 2"
real sort sort -o /dev/null "$scratch/text"
real xz xz -c "$scratch/text"
real gzip gzip -c "$scratch/text"
real git git log -p --stat
real find find / -name xyzzy
# shellcheck disable=SC2016
real bash bash -c 'while :; do x=$(echo $RANDOM | sed s/1/2/); done'
real node node -e 'function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2) }
    while (1) { f(20); JSON.parse(JSON.stringify([...Array(1000).keys()])) }'
real ruby ruby -e 'loop { (1..1000).map { |x| x.to_s }.sort_by { |x| x.reverse } }'
real php php -r 'while (1) { $a = range(1, 1000); usort($a, fn($x, $y) => $y - $x); }'
real go go vet ./...
