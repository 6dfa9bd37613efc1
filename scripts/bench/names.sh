# SPDX-License-Identifier: MIT OR GPL-2.0-only
# shellcheck shell=sh disable=SC2034,SC2154 # variables that are of bench.sh and all its parts
#
# Names of 1,000 addresses; each tool is a process of its own, from start to end.

million=$out/million

# A program of 100 MB with a million functions. perf symbolizes what it sampled itself.
prepare_names()
{
    "$tools/symbols" make "$million" && chmod +x "$million" &&
        "$tools/symbols" draw "$million" 1000 >"$out/addresses" || return
    [ "$perf" ] || return 0
    "$perf" record -q -F 1000 -e cpu-clock:u -o "$out/perf.data" "$million" >/dev/null 2>&1
    [ "$("$perf" script -i "$out/perf.data" -F ip 2>/dev/null | grep -c .)" -ge 1000 ] ||
        rm -f "$out/perf.data"
}

# named WHO COMMAND...
named()
{
    who=$1
    shift
    cost "$@" <"$out/addresses"
    figure names.user "$who" "$wall"
    figure names.memory "$who" "$peak"
}

part_names()
{
    named stackbox "$tools/symbols" find "$million"
    # Naming kernel addresses takes at least reading this file.
    cost cat /proc/kallsyms
    figure names.kernel floor "$wall"
    cost "$tools/symbols" kernel 1000
    figure names.kernel stackbox "$wall"
    early_round || return
    [ -s "$out/perf.data" ] && named perf "$perf" script -i "$out/perf.data" -F ip,sym
    early_round 1 || return
    command -v addr2line >/dev/null && named addr2line addr2line -f -e "$million"
}
