#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# flamegraph: it reads folded stacks of any tool; the text and folded stacks that it makes of them
# must agree with awk's from the same lines; and its messages when it cannot read or write.

. "${0%/*}/../live/lib.sh"

LC_ALL=C
export LC_ALL
here=$(cd "${0%/*}" && pwd)
cd "$scratch" || exit 1

# run ARG...: leaves output in out and err, the exit status in $status
run()
{
    "$STACKBOX" flamegraph "$@" <in >out 2>err
    status=$?
}

# folds NAME INPUT OUTPUT [ERR [STATUS]]: INPUT read and printed as folded stacks is OUTPUT
folds()
{
    printf '%b' "$2" >in
    run --format folded
    is "$1" "$status $(cat out)" "${5:-0} $(printf '%b' "$3")"
    is "$1: stderr" "$(sed 's/^flamegraph: //' err | tr '\n' '|')" "${4:-}"
}

# ---- lines

folds "counts of one stack are added up, the largest last" 'b;c 5\na;b 3\nb;c 1\na;b 1\n' 'a;b 4\nb;c 6'
folds "equal counts are sorted by frames, not by bytes" 'a.b;c 1\na;c 1\na 1\n' 'a 1\na;c 1\na.b;c 1'
folds "no newline at the end, CRLF, tabs and blanks are accepted" 'a;b 1\r\na\t2 \nc   3' 'a;b 1\na 2\nc 3'
folds "comments and empty lines are skipped" '# date: Mon 5\n#\n\n\r\na 1\n#x;y 2\n' 'a 1\n#x;y 2'
folds "names may contain blanks" 'a b;operator new(unsigned long) 4\n' 'a b;operator new(unsigned long) 4'
folds "frames may have no name" ';a 1\na;;b 2\na; 3\n' '[unknown];a 1\na;[unknown];b 2\na;[unknown] 3'
folds "fractions add up to a whole number" 'a 0.4\na 0.4\na 0.4\nb 2.8\n' 'a 1\nb 3'
folds "fractions may have six digits" 'a 0.0000019\na 0.999999\n' 'a 1'
folds "fractions may have no digits" 'a 1.\nb 2.0\n' 'a 1\nb 2'
folds "lines that are not stacks are counted" 'a -1\na 1e3\na\n 7\n8\na .5\na;b 1\na 1.2.3\na 0x10\n' 'a;b 1' \
    '8 lines left out, without a stack and a count; the first is line 1 of stdin|'
folds "one such line is reported in the singular" \
    'a 1\nb\n' 'a 1' '1 line left out, without a stack and a count; the first is line 2 of stdin|'
folds "bytes that are not text are escaped" '\0001\0377a;\0303\0251;b\0302\0200\0177;\0033[31m 1\n' \
    '\\x01\\xffa;\0303\0251;b\\xc2\\x80\\x7f;\\x1b[31m 1'
folds "a NUL" 'a\0000b;c 2\n' 'a\\x00b;c 2'
folds "an escaped name and one spelled like it are the same" '\0001 1\n\\x01 2\n' '\\x01 3'
folds "a last name may end in a number" 'a 1\nb 12 3\n' 'a 1\nb_12 3' \
    '1 line with a second number, taken for a part of the name; the first is line 2 of stdin|'
folds "and another stack may have that name" 'a 1\nb 12 3\nb_12 4\n' 'a 1\nb_12 7' \
    '1 line with a second number, taken for a part of the name; the first is line 2 of stdin|'
folds "suffixes for kinds of frames stay" 'a;b_[k] 1\na;b 2\na;b_[j];-;c_[i];--;d_[w] 3\n' \
    'a;b_[k] 1\na;b 2\na;b_[j];-;c_[i];--;d_[w] 3'
folds "lines may have two counts" 'a;b 1 2\na;c 0 3\na;b 5 0\nd 4 0\n' 'd 4 0\na;b 6 2\na;c 0 3' \
    'before 10, now 5 samples|'
folds "a single count among lines with two is unchanged" 'a 1 2\nb 3\n' 'a 1 2\nb 3 3' \
    '1 line with one count among others with two: taken as unchanged; the first is line 2 of stdin|before 4, now 5 samples|'
folds "the largest number is read" 'a 18446744073709551615\n' 'a 18446744073709551615'
folds "sums beyond it are reported" \
    'a 18446744073709551615\nb 1\nc 18446744073709551616\n' 'a 18446744073709551615' \
    '2 lines left out, with counts that are too large to be added up; the first is line 2 of stdin|'
folds "nothing" '' '' 'no stacks with a count|' 1
folds "counts of 0 count as nothing" 'a 0\n' '' 'no stacks with a count|' 1

# ---- compared with awk

# random SEED LINES: stacks of a few names, so that many are equal, with recursion
random()
{
    awk -v seed="$1" -v lines="$2" 'BEGIN {
        srand(seed)
        count = split("main,read,a b,std::map<int; char>,f.isra.0,f.constprop.1,f,g.cold,g," \
            "h::h0123456789abcdef,h,vfs_read_[k],vfs_read,[unknown],x.part.3.cold,x,y.llvm.77", names, ",")
        names[4] = "std::map<int, char>"
        while (lines--) {
            depth = 1 + int(rand() * rand() * 12)
            line = ""
            for (; depth; depth--)
                line = line (line == "" ? "" : ";") names[1 + int(rand() * rand() * count)]
            print line, int(rand() * rand() * 1000)
        }
    }'
}

# An independent reader: STACK COUNT, added up
summed()
{
    awk '{ count = $NF; sub(/ [0-9]+$/, ""); if (count > 0) sums[$0] += count }
         END { for (stack in sums) printf "%s %.0f\n", stack, sums[stack] }' "$@" | sort
}

# changes OLD NEW NORMALIZE: NAME PERCENT of the functions whose self has changed by 0.05 % or more
changes()
{
    awk -v shares="$3" '
        function short(name,    before) {
            do {
                before = name
                sub(/\.(isra|constprop|part|llvm|cold)\.[0-9]+$/, "", name)
                sub(/\.cold$/, "", name)
                if (name ~ /::h[0-9a-f]+$/ && match(name, /::h[0-9a-f]+$/) && RLENGTH == 19)
                    name = substr(name, 1, RSTART - 1)
            } while (name != before)
            return name
        }
        {
            count = $NF
            sub(/ [0-9]+$/, "")
            depth = split($0, frames, ";")
            name = short(frames[depth])
            if (FILENAME == ARGV[1]) { old[name] += count; before += count }
            else { new[name] += count; now += count }
            names[name]
        }
        END {
            for (name in names) {
                change = shares ? 100 * new[name] / now - 100 * old[name] / before \
                                : 100 * (new[name] - old[name]) / now
                if (change >= 0.05 || change <= -0.05)
                    printf "%+.1f%% -> %s\n", change, name
            }
        }' "$1" "$2" | sort
}

for seed in 1 2 3; do
    random $seed $((seed * 5000)) >new
    random $((seed + 100)) 2000 >old
    : >in
    run --format folded new
    is "random $seed: the sum of each stack is awk's" "$(sort out | cksum)" "$(summed new | cksum)"
    is "random $seed: stacks are sorted by count" "$(awk '{ print $NF }' out | sort -nc 2>&1)" ""
    cp out first
    run --format folded first
    is "random $seed: read back, it is the same" "$(cksum <out)" "$(cksum <first)"
    run --format folded new old
    is "random $seed: files are added up" "$(sort out | cksum)" "$(summed new old | cksum)"
    run --format text new
    is "random $seed: functions are awk's" "$(sed 1d out | cksum)" "$(folded_flat new | cksum)"
    is "random $seed: functions have a heading" "$(head -n 1 out)" "  self%  total%  of $(awk '{ sum += $NF } END { print sum }' new) samples"
    run --format folded --reverse new
    is "random $seed: reversed stacks are awk's" "$(sort out | cksum)" \
        "$(awk '{ count = $NF; sub(/ [0-9]+$/, ""); depth = split($0, frames, ";"); line = ""
            for (; depth; depth--) line = line (line == "" ? "" : ";") frames[depth]
            print line, count }' new | summed | cksum)"
    for normalize in '' --normalize; do
        # shellcheck disable=SC2086 # a word or none
        run --format text $normalize --diff old new
        is "random $seed: changes are awk's $normalize" \
            "$(sed '1d; s/ ([^()]* = [^()]*)$//; / more changed by /d' out | sort)" \
            "$(changes old new $normalize)"
        is "random $seed: the largest change comes first $normalize" \
            "$(sed '1d; / more changed by /d; s/^[+-]\([0-9.]*\)%.*/\1/' out | sort -rnc 2>&1)" ""
    done
    sums="before $(awk '{ sum += $NF } END { print sum }' old), now $(awk '{ sum += $NF } END { print sum }' new)"
    is "random $seed: both totals are printed" \
        "$(head -n 1 out) $(cat err)" "$sums, as shares flamegraph: $sums samples"
    run --format folded --normalize --diff old new
    is "random $seed: --normalize scales to the new total" \
        "$(awk '{ old += $(NF - 1); new += $NF } END { print old, new }' out)" \
        "$(awk '{ sum += $NF } END { print sum, sum }' new)"
done

# ---- the verdict

# growths OLD NEW: WHICH NAME BEFORE NOW GROWTH LEAST, each name's own share and that with what it calls, by
# awk; LEAST after Newcombe, with 3 standard errors
growths()
{
    awk '
        {
            count = $NF
            sub(/ [0-9]+$/, "")
            depth = split($0, frames, ";")
            side = FILENAME == ARGV[1]
            split("", seen)
            for (i = 1; i <= depth; i++)
                if (!(frames[i] in seen)) {
                    seen[frames[i]]
                    total[side, frames[i]] += count
                    names[frames[i]]
                }
            self[side, frames[depth]] += count
            all[side] += count
        }
        # One end of the interval of a share: P for which (p - P)^2 is 9 P (1 - P) / n
        function end(p, n, sign,    a, b)
        {
            a = 1 + 9 / n
            b = 2 * p + 9 / n
            return (b + sign * sqrt(b * b - 4 * a * p * p)) / (2 * a)
        }
        function show(which, name, before, now,    l, u)
        {
            before /= all[1]
            now /= all[0]
            l = now - end(now, all[0], -1)
            u = end(before, all[1], 1) - before
            printf "%s %s %.2f %.2f %.2f %.2f\n", which, name, 100 * before, 100 * now, 100 * (now - before), \
                100 * (now - before - sqrt(l * l + u * u))
        }
        END {
            for (name in names) {
                show("self", name, self[1, name], self[0, name])
                show("total", name, total[1, name], total[0, name])
            }
        }' "$1" "$2"
}

: >in
random 11 3000 | sed 's/\.[a-z]*\.[0-9]*//g; s/\.cold//g; s/::h[0-9a-f]*//g' >old
{ cat old; awk 'BEGIN { for (i = 0; i < 300; i++) print "main;read;grown 1000" }'; } >new
growths old new | sed 's/a b/a_b/; s/std::map<int, char>/std::map/' >shares
certain=$(awk '$6 > 5 { if (!($2 in seen)) count++; seen[$2] } END { print count }' shares)
heading="$certain functions grew by more than 5% of all"
run --diff --fail-above 5% old new
is "verdict: as many functions grew as awk finds" "$status $(head -n 1 out)" "3 $heading"
sed -n 's/a b/a_b/; s/std::map<int, char>/std::map/
    s/^+\([0-9.]*\)% \([a-z]*\) -> \(.*\): \([0-9.]*\)% before, \([0-9.]*\)% now, +*\([0-9.-]*\)% at least$/\2 \3 \4 \5 \1 \6/p' \
    out >said
is "verdict: three are shown, with awk's shares" "$(grep -cxFf shares said)" 3
is "verdict: the three that grew most are shown" "$(awk '{ print $5 }' said | tr '\n' ' ')" \
    "$(awk '$5 > most[$2] { most[$2] = $5 } END { for (name in most) print most[name] }' shares | sort -rn |
        head -n 3 | tr '\n' ' ')"
most=$(sed -n '2s/^+\([0-9]*\).*/\1/p' out)
run --diff --fail-above $((most + 1)) old new
is "verdict: nothing grew above a high limit" \
    "$status $(head -n 1 out)" "0 no function grew by more than $((most + 1))% of all"
run --format folded --diff old new
cp out folded
run --fail-above 5% --diff old new -o verdict.svg
is "verdict: -o draws the flame graph, too" \
    "$status $(head -n 1 out) $(tail -n 1 verdict.svg)" "3 $heading </svg>"
run --diff=old --fail-above 5% new --format folded
is "verdict: it goes to stderr if stdout has another format" \
    "$status $(cksum <out) $(grep -c ' grew by ' err)" "3 $(cksum <folded) 1"
run --diff old new --fail-above 0% --normalize -o -
is "verdict: shares are compared, whatever the totals" "$status $(grep -c ' at least$' err)" "3 3"
run --diff --fail-above 0 old old
is "verdict: nothing has changed" "$status $(cat out)" "0 no function grew by more than 0% of all"
# 1 of 10 before and 5 of 10 now: Newcombe's bound for 3 standard errors by python3 is -18.23 points; for 100
# times as many it is 34.29.
printf 'a 9\nb 1\n' >old
printf 'a 5\nb 5\n' >new
run --diff --fail-above 5% old new
is "verdict: so few samples are uncertain" "$status $(cat out)" \
    "0 no function grew by more than 5% of all; 1 uncertain: too few samples
+40.00% self -> b: 10.00% before, 50.00% now, -18.23% at least, uncertain"
sed 's/$/00/' old >old2
sed 's/$/00/' new >new2
run --diff --fail-above 5% old2 new2
is "verdict: enough samples are certain" "$status $(sed 1d out)" \
    "3 +40.00% self -> b: 10.00% before, 50.00% now, +34.29% at least"
printf 'm;b.constprop.0 1\n' >old
printf 'm;b.isra.0 1\n' >new
run --diff --fail-above 5% old new
is "verdict: names are matched without compilers' suffixes" \
    "$status $(cat out)" "0 no function grew by more than 5% of all"
: >empty
run --diff --fail-above 5% empty new
is "verdict: an empty old file cannot be judged" \
    "$status $(tail -n 1 err)" "1 flamegraph: no stacks with a count before"
run --diff --fail-above 5% new empty
is "verdict: an empty new file cannot be judged" \
    "$status $(tail -n 1 err)" "1 flamegraph: no stacks with a count now"
if [ -w /dev/full ]; then
    "$STACKBOX" flamegraph --diff --fail-above 5% old new >/dev/full 2>err
    is "verdict: a full disk is reported" \
        "$? $(tail -n 1 err)" "1 flamegraph: cannot write: No space left on device"
fi
run --diff --fail-above 5% "$here/../recordings/version1.sbx" "$here/../recordings/version1.sbx"
is "verdict: recordings can be compared" "$status $(cat out)" "0 no function grew by more than 5% of all"
"$STACKBOX" report -f "$here/../recordings/version1.sbx" >folded 2>err
for sides in "folded $here/../recordings/version1.sbx" "$here/../recordings/version1.sbx folded"; do
    # shellcheck disable=SC2086 # words
    run --diff --fail-above 0 $sides
    is "verdict: a recording equals what report made of it" \
        "$status $(cat out)" "0 no function grew by more than 0% of all"
done
run --diff --fail-above 5% "$here/../recordings/version1.sbx" new
is "verdict: a recording and folded stacks can be compared" \
    "$status $(sed -n 1p out)" "0 no function grew by more than 5% of all; 2 uncertain: too few samples"

# ---- differences

printf 'a;b.constprop.0 10\na;c 10\na;gone 5\n' >old
printf 'a;b.isra.0 13\na;c 10\na;new.cold 2\n' >new
: >in
run --format text --diff old new
is "changes are printed as documented" "$status $(cat out)" "0 before 25, now 25
-20.0% -> gone
+12.0% -> b
+8.0% -> new"
printf 'a;b 1\n' >same
run --format text --diff same same
is "a file compared with itself has not changed" "$status $(cat out)" "0 before 1, now 1"
printf 'a;b 10\na;c 10\n' >half
run --format text --normalize --diff same half
is "shares" "$(cat out)" "before 1, now 20, as shares
-50.0% -> b
+50.0% -> c"
printf 'a;b.constprop.0.isra.0 1\nf::h0123456789abcdef 1\ng::h0123456789abcde 1\n.cold 1\nh.cold.1_[k] 1\n' >old
printf 'a;b.part.7.llvm.1234.cold 1\nf::hfedcba9876543210 1\ng 1\n.cold 1\nh_[k] 1\n' >new
run --format folded --diff old new
is "suffixes are ignored when names are matched" "$(sort out)" ".cold 1 1
a;b 1 1
f 1 1
g 0 1
g::h0123456789abcde 1 0
h_[k] 1 1"
run --format text --diff old new
is "and what has changed then is right" "$(sed 1d out)" "+20.0% -> g
-20.0% -> g::h0123456789abcde"
mv out wanted
run --diff -o changes.txt old new
is "--diff: an option that follows is not OLD" "$status $(cat changes.txt)" "0 $(cat wanted)"
printf 'a 1 2\n' >pairs
run --format text --diff pairs new
is "the output of a comparison cannot be compared" "$status $(cat err)" \
    "1 flamegraph: --diff: \"pairs\" has two counts in each line: it is a comparison itself"
: >empty
run --format text --diff old empty
is "with an empty new file, everything has shrunk" "$status $(grep -c '^-20.0% -> ' out)" "1 5"

# The waker's stack is on top of the target's: the time belongs to the thread that waited.
printf 'cat;main;read;--;wake;irq;sh 5\n--;x;y 2\n' >in
run --format text
is "where two stacks meet, time is the waiter's" \
    "$(sed '1d; s/^ *\([0-9.]*\) .*  /\1 /' out | grep -v '^0.00')" "71.43 read
28.57 x"

# ---- files

printf 'a;b 3\n' >in
run --format folded
cp out wanted
run -o one.folded
is "-o: the extension chooses the format" "$status $(cat out err one.folded)" "0 $(cat wanted)"
run -o two.txt -o two.svg -o two.folded -
is "-o: several files are written" "$status $(cat out err two.folded)" "0 $(cat wanted)"
is "-o: text is written" "$(tail -n 1 two.txt)" "$(folded_flat wanted | tail -n 1)"
contains "-o: a flame graph is written" two.svg "<svg"
run
contains "a flame graph is the default" out "<svg"
run --format folded -o three.unknown
is "--format: a file with another extension gets that format" "$(cat three.unknown)" "$(cat wanted)"
run -o -
contains "-o -: a flame graph on stdout" out "<svg"
echo before >kept.folded
run -o kept.folded missing
is "a missing file is reported" "$status $(cat err kept.folded)" \
    "1 flamegraph: cannot read \"missing\": No such file or directory
before"
run "$scratch"
is "a directory is refused" "$status $(cat out err)" "1 flamegraph: cannot read \"$scratch\": Is a directory"
run wanted /proc/self/mem
is "a failing read is reported" "$status $(cat out err | sed 's/mem": .*/mem": why/')" \
    "1 flamegraph: cannot read \"/proc/self/mem\": why"
: >in
run
is "no input: exit status" "$status $(cat err)" "1 flamegraph: no stacks with a count"
contains "no input: a flame graph is drawn all the same" out "</svg>"
head -c 300000 "$STACKBOX" >in
run --format folded
between "a binary: most lines are skipped" "$(sed -n 's/^flamegraph: \([0-9]*\) lines left out.*/\1/p' err)" \
    $(($(wc -l <in) / 2)) $(($(wc -l <in) + 1))
is "a binary: the output is text" "$(tr -d ' -~\n' <out | wc -c)" \
    "$(grep -ao '[^ -~]' out | tr -d '\n' | wc -c)"
if [ -w /dev/full ]; then
    printf 'a 1\n' >in
    "$STACKBOX" flamegraph <in >/dev/full 2>err
    is "a full disk is reported" "$? $(cat err)" "1 flamegraph: cannot write: No space left on device"
    run -o /dev/full --format svg
    is "a full disk: -o is reported" "$status $(cut -d ';' -f 1 err)" \
        "1 flamegraph: cannot write \"/dev/full\": No space left on device"
else
    skip "a full disk is reported" "there is no /dev/full"
fi
random 7 200000 >in
"$STACKBOX" flamegraph --format folded in 2>err | head -n 1 >out
is "a reader that leaves ends it" "$(grep -c . out) $(cat err)" "1 "

# ---- sizes

awk 'BEGIN { for (i = 0; i < 100000; i++) printf "%sframe%d", i ? ";" : "", i % 1000; print " 7" }' >in
run --format folded
is "a stack of 100,000 frames is read" "$status $(cksum <out)" "0 $(cksum <in)"
run --format text
is "100,000 frames: functions are right" "$(wc -l <out) $(sed -n 2p out)" "1001  100.00  100.00  frame999"
{ head -c 70000000 /dev/zero | tr '\0' x; printf ' 5\na 1\n'; } >in
run --format folded
is "a line that is too long is reported" "$status $(cat out err)" "0 a 1
flamegraph: 1 line left out, without a stack and a count; the first is line 1 of stdin"
{ printf 'a;'; head -c 5000000 /dev/zero | tr '\0' x; printf ' 5\nb 1\n'; } >in
run --format folded
is "a long line is read" "$(tail -n 1 out | cksum)" "$(head -n 1 in | cksum)"
: >in
(sleep 0.2; printf 'a;b'; sleep 0.2; printf ' 1'; sleep 0.2; printf '2\nc 1') |
    "$STACKBOX" flamegraph --format folded >out
is "a slow pipe is read to its end" "$(cat out)" "c 1
a;b 12"

# ---- usage

# refuses LINE ARG...
refuses()
{
    line=$1
    shift
    run "$@"
    is "$*" "$status $(cat out err)" "2 flamegraph: $line (see flamegraph -h)"
}

refuses '--normalize: needs --diff OLD, which it scales' --normalize in
refuses '--diff: takes OLD' --diff
refuses '--diff: takes OLD' --fail-above 5 --diff
refuses '--fail-above: needs --diff OLD to compare with' --fail-above 5% in
refuses '--fail-above: cannot be combined with --reverse, which loses functions'"'"' own shares' --diff in --reverse --fail-above 5% in
for share in '' x -1 101 5%% 1e1 nan; do
    refuses "--fail-above: invalid share \"$share\": it takes 0% to 100%" --diff --fail-above "$share" in in
done
refuses '-: stdin can only be read once' - -
refuses '-: stdin can only be read once' --diff -
printf 'm;a_[k].isra.0 3\nm;a 4\n' >old
printf 'm;a 4\n' >in
run --format text --diff old
is "a suffix that hides another kind stays" "$status $(cat out)" "0 before 7, now 4
-75.0% -> a_[k].isra.0"
refuses '--minwidth: invalid width "x": it takes pixels, such as 0.5, or a share, such as 0.1%' --minwidth x
refuses '--minwidth: invalid width "1px": it takes pixels, such as 0.5, or a share, such as 0.1%' --minwidth=1px
refuses '--minwidth: "100000000000" is out of range: it takes at most 1000000 px' --minwidth 100000000000
refuses '--minwidth: invalid width "-1": it takes pixels, such as 0.5, or a share, such as 0.1%' --minwidth -1
refuses '--width: "99" is out of range: it takes 100 to 1000000' --width 99
refuses '--width: "1200px" is not a whole number' --width 1200px
refuses '--flamechart: not supported: stacks are merged and sorted by name, not by time' \
    --flamechart
refuses '--total: not supported: counts are drawn as they are' --total 5
refuses '--factor: not supported: counts are drawn as they are' --factor=2
refuses '--nameattr: not supported: frames have no attributes' --nameattr file
refuses '--: no command is run; for a file of that name give ./--' -- ls
refuses '--titel: unknown option; near: --title' --titel x
run --colors nothing
is "--colors: an unknown palette is refused" "$status $(sed 's/; there are .*//' err)" \
    '2 flamegraph: --colors: there is no "nothing"'
run --format jpeg
is "--format: an unknown format is refused" "$status $(sed 's/; there are .*//' err)" \
    '2 flamegraph: --format: unknown format "jpeg"'
printf 'a 1\n' >in
run --title T --subtitle S --width 800 --minwidth 0.1% --countname us --inverted --reverse --negate \
    --notes N --cp --hash --random --height 17 --fontsize 11 --fontwidth 0.5 --fonttype Arial --encoding UTF-8 \
    --nametype F: --bgcolors blue
is "flamegraph.pl's options are accepted" "$status $(cat err)" "0 "
