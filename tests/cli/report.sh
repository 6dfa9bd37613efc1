#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# report: this and all later versions read a recording that was made byte by byte from the page as
# the page says; they refuse anything but a whole recording; a file gives names only if it is the
# recorded one.

. "${0%/*}/../live/lib.sh"

here=$(cd "${0%/*}" && pwd)
file=$here/../recordings/version1.sbx
cd "$scratch" || exit 1

# run ARG...: leaves output in out and err, the exit status in $status
run()
{
    "$STACKBOX" "$@" >out 2>err
    status=$?
}

said()
{
    sed 's/^[a-z]*: //' err | tr '\n' '|'
}

# ---- What is in it

run report "$file"
is "the text is right" "$status $(cat out)" "0 $(cat "$here/../recordings/version1.out")"
is "losses are reported" \
    "$(said)" "2 events are not counted: for a test|1 file is not here, so their functions have\
 no names: look for them elsewhere with --symfs DIR; --missing lists their build ids|/opt/written was modified\
 after it was mapped: its functions have no names|"
run report -f "$file"
is "folded" "$(cat out)" "w;[stack storage full] 3
w;__vdso_time;jitted;[written];nfs_read 4
init;[unknown];[libgone.so];[libgone.so];cpu_startup;do_idle 5"
run report -v --format text "$file"
is "addresses are those recorded" \
    "$(sed -n 's/^ *\([0-9a-f]*\) *do_idle.*/\1/p; s/^ *\([0-9a-f]*\) *nfs_read.*/\1/p; s/^ *\([0-9a-f]*\) *jitted.*/\1/p' out | tr '\n' ' ')" \
    "bf000024 a0001000 c0008100 "
run report -s "$file"
is "offsets" "$(grep -c 'do_idle+0x10$\|nfs_read+0x4$\|jitted+0x8$' out)" 3
run report --debug "$file"
is "it names the machine that recorded it" \
    "$(head -n 2 err)" "report: recorded by stackbox 0.1 on board (armv7l, Linux 5.10.0) in 5.0 s:\
 profile -o version1.sbx 5
report: account: 14 seen = 12 counted + 0 filtered out + 2 lost when it was written"
run report --missing "$file"
is "--missing lists the build ids" "$status $(cat out) $(said)" "0 abcdef "
run report - <"$file"
is "it can be read from stdin" "$status $(cat out)" "0 $(cat "$here/../recordings/version1.out")"
run report --top 1 "$file"
is "--top prints the largest" \
    "$(grep -c '^$' out) $(head -n 1 err)" "2 report: --top left out 2 more stacks with 7 events"
run report --by name -f "$file"
is "--by name merges processes" "$status $(wc -l <out)" "0 3"
for format in svg pprof speedscope flat; do
    run report --format $format -o "out.$format" "$file"
    is "it can be printed as $format" "$status $(shape_of "out.$format")" "0 $format"
done

# root_is SVG: "top" or "bottom": where the first frame is among all
root_is()
{
    sed -n '/id="frames"/,/^<\/g>/s/^.* y="\([0-9]*\)" .*height="15.*/\1/p' "$1" | awk '
        NR == 1 { root = least = most = $1 }
        { if ($1 < least) least = $1; if ($1 > most) most = $1 }
        END { print least == most ? "flat" : root == least ? "top" : root == most ? "bottom" : "inside" }'
}
run report --format svg "$file"
mv out upright.svg
run report --format svg --inverted "$file"
is "--inverted puts the root at the top" "$(root_is upright.svg) $(root_is out)" "bottom top"
run report --diff --format svg --inverted "$file" "$file"
is "also in a comparison" "$(root_is out)" "top"

# On an arm64 guest: 20 calls down one chain and 10 down another, from a program that counts its own.
run report -f "$here/../recordings/arm64.sbx"
is "recorded on arm64: stacks and sums" "$status $(sed 's/^chains;.*;el0t_64_sync;.*;__arm64_sys_getppid /of the kernel /' out |
    tr '\n' '|')" "0 of the kernel 10|of the kernel 20|"

# ---- The recorded files, and others

if command -v ld >/dev/null && command -v as >/dev/null; then
    printf '.globl first,second\n.type first,@function\nfirst: .skip 0x20\n.size first,0x20\n.type second,@function\nsecond: .skip 0x20\n.size second,0x20\n' |
        as -o gone.o -
    mkdir -p root/usr/lib other/usr/lib ids/.build-id/ab cache/abcdef
    ld -shared -Ttext=0x11000 --build-id=0xabcdef -o root/usr/lib/libgone.so gone.o
    ld -shared -Ttext=0x11000 --build-id=0xabcdee -o other/usr/lib/libgone.so gone.o
    cp root/usr/lib/libgone.so ids/.build-id/ab/cdef.debug
    cp root/usr/lib/libgone.so cache/abcdef/debuginfo
    for where in root ids; do
        run report --symfs $where -s "$file"
        is "functions are named by the files below $where" \
            "$(grep 'first\|second' out | tr '\n' '|')" "    first+0x10|    second+0x1|"
        run report --missing --symfs $where "$file"
        is "then --missing lists nothing" "$status $(cat out)" "0 "
    done
    DEBUGINFOD_CACHE_PATH=$scratch/cache
    export DEBUGINFOD_CACHE_PATH
    run report -s "$file"
    is "functions are named by what debuginfod-find fetched" "$(grep -c 'first+0x10\|second+0x1$' out)" 2
    unset DEBUGINFOD_CACHE_PATH
    run report --symfs other "$file"
    is "a file with another identity names nothing" "$(cat out)" "$(cat "$here/../recordings/version1.out")"
    mkdir -p link/usr
    ln -s "$scratch/root/usr/lib" link/usr/lib
    run report --symfs link "$file"
    is "no link leads out of --symfs" "$(cat out)" "$(cat "$here/../recordings/version1.out")"
else
    skip "files with the right identity" "there is no assembler and linker"
fi

run report --symfs nowhere "$file"
is "a directory that is not there is reported" "$status $(cat out; said)" \
    '1 --symfs: cannot search "nowhere": No such file or directory|'

# A file that cannot be opened is not the same as one that is missing; and without names there is no verdict.
mkdir -p loop/usr/lib
ln -s libgone.so loop/usr/lib/libgone.so
lost='functions of this file have no names: /usr/lib/libgone.so: .*ymbolic link.*' # as the C library has it
run report --symfs loop "$file"
is "a file that cannot be opened is reported" \
    "$status $(grep -c "^report: $lost$" err) $(grep -c 'is not here' err)" "0 1 0"
run flamegraph --symfs loop --diff --fail-above 5% "$file" "$file"
is "and without it there is no verdict" \
    "$status $(cat out) $(grep -c "^flamegraph: $lost$" err) $(tail -n 1 err)" \
    "1  1 flamegraph: no verdict: functions of \"$file\" have no names"

# ---- Several

run report -f "$file" "$file"
is "two recordings are added up" "$status $(sed 's/.* //' out | tr '\n' ' ')" "0 6 8 10 "
cp "$file" own.sbx
# shellcheck disable=SC2046,SC3045 # words; any shell has ulimit -S
(ulimit -S -n 40; "$STACKBOX" report -f $(yes own.sbx | head -n 60)) >out 2>err
is "so are more than may be open at a time" "$? $(sed 's/.* //' out | tr '\n' ' ')" "0 180 240 300 "
run report --diff "$file" "$file"
is "a recording does not differ from itself" "$status $(tail -n 1 err)" "0 report: before 12, now 12 samples"
run flamegraph --format folded "$file"
is "flamegraph reads recordings" "$status $(sed 's/.* //' out | sort -n | tr '\n' ' ')" "0 3 4 5 "
mv out wanted
# shellcheck disable=SC2002 # it is about pipes
cat "$file" | "$STACKBOX" flamegraph --format folded >out 2>err
is "from a pipe, too" "$? $(cmp out wanted 2>&1)" "0 "
# shellcheck disable=SC2002
cat "$file" | "$STACKBOX" report --diff - "$file" >out 2>err
is "and to compare them" "$? $(tail -n 1 err)" "0 report: before 12, now 12 samples"
"$STACKBOX" report -f "$here/../recordings/arm64.sbx" 2>err |
    "$STACKBOX" flamegraph --diff "$here/../recordings/arm64.sbx" --format text >out 2>err
is "folded stacks on stdin are compared with a recording" "$(cat out)" "before 30, now 30"

# ---- Other files, and damaged ones

size=$(wc -c <"$file")
wrong=''
cut=0
while [ "$cut" -lt "$size" ]; do
    head -c "$cut" "$file" >cut.sbx
    run report cut.sbx
    case $status$(cat err) in
    "1report: \"cut.sbx\" is truncated or corrupt" | "1report: \"cut.sbx\" is not a recording:"*) ;;
    *) wrong="$wrong $cut" ;;
    esac
    cut=$((cut + 7))
done
is "truncation anywhere is noticed" "$wrong" ""
{ head -c 100 "$file"; printf x; tail -c +102 "$file"; } >bad.sbx
run report bad.sbx
is "a changed byte is noticed" "$status $(said)" "1 \"bad.sbx\" is truncated or corrupt|"
{ printf 'SBX\032\002'; tail -c +6 "$file"; } >later.sbx
run report later.sbx
is "a later version is refused" \
    "$status $(said)" "1 \"later.sbx\" was recorded by a later version of stackbox: use that one|"
echo 'a;b 1' >folded.sbx
run report folded.sbx
is "other files are refused" \
    "$status $(said)" "1 \"folded.sbx\" is not a recording: make one with -o FILE.sbx of an applet that counts|"
run report "$file" folded.sbx
is "so is one of two" \
    "$status $(said)" "1 \"folded.sbx\" is not a recording: make one with -o FILE.sbx of an applet that counts|"
run report gone.sbx
is "a missing file is reported" "$status $(said)" "1 cannot read \"gone.sbx\": No such file or directory|"
run report --by thread "$file"
is "threads that were not recorded cannot be told apart" \
    "$status $(said)" "1 \"$file\" has no threads: record it with --by\
 thread|"

for words in "report own.sbx" "flamegraph wanted" check; do
    # shellcheck disable=SC2086 # words
    (ulimit -f 0; "$STACKBOX" $words 2>&1 >out; echo $?) | tail -n 2 >err
    is "$words: the limit of a file is reported" "$(cat err)" "${words%% *}: cannot write: File too large
1"
done

# ---- Usage

# refused WORDS SAID: report WORDS is wrong usage, reported as SAID
refused()
{
    # shellcheck disable=SC2086 # words
    run report $1
    is "report $1" "$status $(said)" "2 $2 (see report -h)|"
}
refused "" "which recording? make one with -o FILE.sbx of an applet that counts"
refused "--diff a" "--diff: needs two recordings, the older first"
refused "--normalize a" "--normalize: needs --diff, whose older recording it scales"
refused "--format sbx a" "report does not write recordings: use another format"
refused "--diff --top 3 a b" "--diff and --top cannot be combined"
refused "--missing -o ids.txt a" "--missing prints to stdout: leave out -o"
refused "- -" "-: stdin can only be read once"
refused "--diff --format pprof a b" "--diff: a comparison is text, svg or folded"
