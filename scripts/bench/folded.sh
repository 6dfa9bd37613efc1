# SPDX-License-Identifier: MIT OR GPL-2.0-only
# shellcheck shell=sh disable=SC2034,SC2154 # variables that are of bench.sh and all its parts
#
# A flame graph of a million folded lines, 120 MB, without duplicate stacks: sorted, as tools write them, and
# in any order.

prepare_folded()
{
    "$tools/folded" sorted 1000000 2>/dev/null >"$out/sorted.folded" &&
        "$tools/folded" shuffled 1000000 2>/dev/null >"$out/shuffled.folded"
}

# drawn KEY WHO COMMAND...
drawn()
{
    key=$1 who=$2
    shift 2
    cost "$@"
    figure "$key" "$who" "$wall"
    [ "$key" = folded.shuffled ] || figure folded.memory "$who" "$peak"
}

part_folded()
{
    drawn folded.sorted stackbox ./stackbox flamegraph "$out/sorted.folded"
    drawn folded.shuffled stackbox ./stackbox flamegraph "$out/shuffled.folded"
    early_round 1 || return
    command -v inferno-flamegraph >/dev/null &&
        drawn folded.sorted inferno inferno-flamegraph "$out/sorted.folded"
    command -v flamegraph.pl >/dev/null &&
        drawn folded.sorted flamegraph.pl flamegraph.pl "$out/sorted.folded"
}
