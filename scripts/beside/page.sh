# SPDX-License-Identifier: MIT OR GPL-2.0-only
# shellcheck shell=sh disable=SC2034 # variables that with_table.sh reads
#
# Makes the tables of src/docs/beside.md from the results that are kept.

page=src/docs/beside.md
begin='<!-- beside: made by scripts/beside.sh --page -->'
end='<!-- beside: end -->'
kept=tests/bench/beside.tsv kept_guest=tests/bench/beside-guest.tsv
. scripts/bench/with_table.sh

# made_page: the page that the kept results make
made_page()
{
    set -- $kept
    [ ! -e $kept_guest ] || set -- $kept_guest $kept
    awk -f scripts/beside/page.awk scripts/beside/examples "$@" >build/beside.table && with_table build/beside.table $page
    made=$?
    rm -f build/beside.table
    return $made
}

# make_page RESULTS [GUEST-RESULTS]
make_page()
{
    [ $# = 1 ] || [ $# = 2 ] || usage
    [ "$1" = $kept ] || cp "$1" $kept || return
    [ $# = 1 ] || [ "$2" = $kept_guest ] || cp "$2" $kept_guest || return
    mkdir -p build && made_page >build/beside.md && cat build/beside.md >$page
}

check_page()
{
    mkdir -p build && made_page >build/beside.md || return
    cmp -s build/beside.md $page && return
    echo "beside.sh: $page is not what $kept and $kept_guest make: beside.sh --page $kept" >&2
    return 1
}
