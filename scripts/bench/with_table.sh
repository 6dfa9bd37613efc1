# SPDX-License-Identifier: MIT OR GPL-2.0-only
# shellcheck shell=sh disable=SC2154 # variables that are of the scripts that read this one
#
# A page with a generated table, between the lines $begin and $end.

# with_table TABLE PAGE: the page with that table in it
with_table()
{
    [ "$(grep -cxF -e "$begin" "$2")$(grep -cxF -e "$end" "$2")" = 11 ] || {
        echo "$2 must have each of these lines once: $begin $end" >&2
        return 1
    }
    # ENVIRON, because -v interprets backslashes
    BEGIN_LINE=$begin END_LINE=$end awk '
        FNR == NR                     { table = table $0 "\n"; next }
        $0 == ENVIRON["BEGIN_LINE"]   { print; print ""; printf "%s", table; print ""; inside = 1 }
        $0 == ENVIRON["END_LINE"]     { inside = 0 }
        !inside && $0 != ENVIRON["BEGIN_LINE"]' "$1" "$2"
}
