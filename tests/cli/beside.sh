#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# scripts/beside.sh without any peer: peers' output becomes folded stacks, the page is what the kept results
# make, and it has each of the script's examples.

# shellcheck source=tests/live/lib.sh
. "${0%/*}/../live/lib.sh"

cd "${0%/*}/../.." || exit 1
TAB=$(printf '\t')

# folded WHAT EXPECTED [AWK-OPTION...]: what $scratch/printed becomes
folded()
{
    what=$1 expected=$2
    shift 2
    is "$what" "$(awk "$@" -f scripts/beside/fold.awk "$scratch/printed")" "$expected"
}

cat >"$scratch/printed" <<'END'
Tracing 1 functions for "ip_output"... Hit Ctrl-C to end.

  ffffffff81a0 ip_output+0x0
  b'udp_send_skb+0x1f'
    --
  main
    sends [123]
    7

  ip_output
    2

Detaching...
END
folded "blocks that name a process are folded" "sends;main;--;udp_send_skb;ip_output 7
ip_output 2"
cat >"$scratch/printed" <<'END'
    #0  0xffffffff81 schedule+0x10
    nap_inner
    -                bz.nap (12)
        404884

    schedule
    -                idle (0)
        3
END
folded "blocks of times are folded" "bz.nap;nap_inner;schedule 404884
idle;schedule 3"
cat >"$scratch/printed" <<'END'
@[
    ip_output+5
    main+9
]: 4
@[
    ffffffff9a ip_output+1 ([kernel.kallsyms])
, bz]: 1
END
folded "bpftrace's maps are folded" "main;ip_output 4
ip_output 1"
printf 'bz;main;f 12\n' >"$scratch/printed"
folded "folded lines stay as they are" "bz;main;f 12"
printf '0.1        bz    30186   sched:x\n\tf\n\tmain\n\n0.2        bz    30186   sched:x\n\tmain\n' >"$scratch/printed"
folded "single events are folded" "0.1;bz;30186;sched:x;main;f 1
0.2;bz;30186;sched:x;main 1" -v snoop=1

# Rows of each kind
row()
{
    printf '%s' "$1"
    shift
    printf "$TAB%s" "$@"
    echo
}
{
    row '# kernel' 9.9 && row '# date' 2026-01-02 && row '# stackbox' 0.2 && row '# bcc' 0.1
    row bcc 'stackcount a' 'stackcount a' - w '5 5 5' 5 5 right - '5 5 5' 5 5 right -
    row bcc 'stackcount b' 'stackcount b' - w '1000 1000 1000' 1000 0 cut - '1000 1000 1000' 1000 1000 right -
    row bcc 'stackcount c' 'stackcount c' - w - - - none 'no kprobes' - - - none 'no kprobes'
} >"$scratch/one"
{
    row '# kernel' 8.8 && row '# date' 2026-01-02 && row '# stackbox' 0.2 && row '# bcc' 0.1
    row bcc 'stackcount c' 'stackcount c' - w '5 5 5' 4 4 wrong - '5 5 5' 5 5 right -
} >"$scratch/two"
for example in a b c d; do
    echo "bcc => stackcount $example => same => - => w => x => - => calls"
done >"$scratch/examples"
awk -f scripts/beside/page.awk "$scratch/examples" "$scratch/one" "$scratch/two" >"$scratch/table"
contains "equal results are 'same'" \
    "$scratch/table" "| \`stackcount a\` | the same | \`w\` | 5 of 5 | 5 of 5 | 1 | same |"
contains "stacks that lack callers are reported" "$scratch/table" \
    "| 1,000 of 1,000, whole: 0 | 1,000 of 1,000 | 1 | peer's stacks lack callers |"
contains "the result with a figure by the peer is used" "$scratch/table" "| 4 of 5 | 5 of 5 | 2 | peer wrong |"
contains "an example without a result is listed" "$scratch/table" "| - | - |  | not run |"
contains "all examples are counted" "$scratch/table" "| all | 4 |"

why=$(sh scripts/beside.sh --check 2>&1)
is "src/docs/beside.md is made from the results that are kept" "$? $why" "0 "
is "each example has all its fields" "$(grep -v '^#' scripts/beside/examples | awk -F ' => ' 'NF != 8')" ""
