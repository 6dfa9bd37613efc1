#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# A binary with one applet and no parts: it is small, it works, and what it lacks is refused in a sentence
# that says so, and is not in its help. The page's figures are up to date.
. "${0%/*}/../live/lib.sh"

cd "${0%/*}/../.." || exit 1
[ -f "$BUILD/flags" ] || skip_all "$BUILD has no build"
case $(cat "$BUILD/flags") in
*fsanitize*) skip_all "this is not a release build" ;;
esac

bytes=$(sh scripts/parts.sh --build profile none 2>"$scratch/warnings")
is "it builds without a warning" "$? $(cat "$scratch/warnings")" "0 "
small=$scratch/stackbox
cp build/parts/stackbox "$small"
case $(cat "$BUILD/flags") in
musl-gcc*) between "profile alone: its size in bytes" "$bytes" 100000 256000 ;;
*) between "profile alone: its size in bytes" "$bytes" 100000 1000000 ;;
esac
is "it has one applet" "$("$small" | cut -d ' ' -f 1)" profile
is "another" "$("$small" stackcount vfs_read 2>&1)" \
    "stackbox: there is no applet \"stackcount\" (stackbox alone lists them)"

if have_root; then
    "$small" profile -D 0.4 -f -- sh -c 'while :; do :; done & sleep 0.3; kill $!' >"$scratch/out" 2>"$scratch/err"
    is "it traces" "$? $(grep -c '^sh;.* [0-9]*$' "$scratch/out" | sed 's/[1-9][0-9]*/some/')" "0 some"
else
    skip "it traces" "that needs root"
fi
# Rings, which need no rights, are left out.
"$WORKLOADS/deny" --syscall bpf:EPERM -- "$small" profile -D 0.1 -- true >"$scratch/out" 2>"$scratch/err"
is "without rights it says so" "$? $(grep -c '^profile: .*run it as root\|^profile: .*seccomp filter' "$scratch/err")" "125 1"

# without PART WORD...: is refused, in one line that names the part
without()
{
    part=$1
    shift
    "$small" profile "$@" >"$scratch/out" 2>"$scratch/err"
    is "without $part: $*: refused" "$? $(wc -l <"$scratch/err") $(cat "$scratch/out")" "2 1 "
    contains "without $part: $*: the line names the part" "$scratch/err" \
        ": this binary was built without $part: build it with PARTS=$part (see profile -h)"
}
without pictures -o x.svg
without pictures --format svg
without exports -o x.pb.gz
without exports --format speedscope
without recordings -o x.sbx
without shares --tree
without shares --flat 5
without shares -o x.flat
without live --live
without names --shorten
without unwind --unwind tables
without rings --collect rings
without listings --dump-program
without manual --man
is "formats it lacks are not listed" "$("$small" profile --format yaml 2>&1)" \
    'profile: --format: unknown format "yaml"; there are text, folded (see profile -h)'

for form in -h --help; do
    "$small" profile $form >"$scratch/help"
    is "$form: it lists nothing it lacks" \
        "$(grep -E 'svg|pprof|speedscope|sbx|--(flat|tree|live|shorten|man|dump-program|collect)|: tables' "$scratch/help")" ""
    contains "$form: it lists everything else" "$scratch/help" "  -F, --frequency HZ  "
done

# Each part is in the table, and in the Makefile's list.
parts=$(sed -n 's/^#define HAS_\([A-Z]*\) 1.*/\1/p' src/base/parts.h | tr 'A-Z\n' 'a-z ')
is "the Makefile lists all parts" "$(sed -n 's/^ALL_PARTS := //p' Makefile) " "$parts"
is "the page lists all parts" \
    "$(sed -n '/^| part /,/^$/s/^| `\([a-z]*\)`.*/\1/p' src/docs/install.md | tr '\n' ' ')" "$parts"
is "an unknown part is refused" \
    "$(make PARTS=nothing 2>&1 | sed -n 's/.*\*\*\* \(PARTS: there is no nothing\);.*/\1/p')" \
    "PARTS: there is no nothing"

case $(cat "$BUILD/flags") in
musl-gcc*)
    for row in "| \`profile\` | $bytes" "| all, with all parts | $(wc -c <"$STACKBOX")"; do
        shown=$(grep -F "${row% *} " src/docs/install.md | sed 's/.*| \(.*\) |/\1/')
        between "the page: size of ${row% *}, in percent of today's" \
            "$(awk -v shown="$shown" -v bytes="${row##* }" 'BEGIN { printf "%d", 102400 * shown / bytes + 0.5 }')" 97 103
    done ;;
*) skip "the page's figures" "they are from a build with musl-gcc" ;;
esac

# The full binary stays within its limit, and `make size` accounts for all of it.
sh scripts/size.sh "$BUILD/link.map" "$STACKBOX" >"$scratch/size"
is "make size: its sum is the file's size" \
    "$(awk '$2 != "all" && $2 != "all," { sum += $1 } END { print sum }' "$scratch/size")" \
    "$(wc -c <"$STACKBOX")"
case $(cat "$BUILD/flags") in
musl-gcc*)
    between "the full binary's size in bytes" "$(wc -c <"$STACKBOX")" 400000 737280
    between "the full binary's size under xz -9" "$(xz -9 -c "$STACKBOX" | wc -c)" 200000 348160 ;;
esac
between "make size: the headers' share" "$(sed -n 's/ *\([0-9]*\)  headers/\1/p' "$scratch/size")" 500 4000
is "make size: all folders are listed" \
    "$(awk 'NF == 2 { print $2 }' "$scratch/size" | grep -vE '^(libc|gaps|headers|main.o|all)$' |
    LC_ALL=C sort | tr '\n' ' ')" \
    "$({ ls -d src/*/; echo insns; } | sed 's,^src/,,; s,/$,,' | grep -v '^docs$' | LC_ALL=C sort | tr '\n' ' ')"
