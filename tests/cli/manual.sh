#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# Help and man pages: their form, and that they list the same options, all of which exist.

. "${0%/*}/../live/lib.sh"

help=$scratch/help
page=$scratch/page

# The long options that help lists, and those that a man page lists, one per line
listed_by_help()
{
    sed -n 's/^  \(-., \)*--\([a-z-]*\).*/\2/p' "$help"
}
listed_by_page()
{
    sed -n '/^\.SH OPTIONS/,/^\.SH \(SIGNALS\|EXIT\)/s/^\\fB\(.*\)/\1/p' "$page" |
        sed 's/\\fR.*//; s/\\-/-/g; s/^.*--//'
}

# form WHAT: checks the form of $help and $page
form()
{
    is "$1: help within 80 columns" "$(awk 'length($0) > 80' "$help")" ""
    is "$1: no blanks at line ends" "$(grep ' $' "$help")" ""
    is "$1: nothing but ASCII" "$(LC_ALL=C grep '[^ -~]' "$help" "$page")" ""
    if command -v mandoc >/dev/null; then
        mandoc -T lint -W warning <"$page" >"$scratch/lint" 2>&1
        is "$1: mandoc has no complaints" "$(cat "$scratch/lint")" ""
    else
        skip "$1: mandoc has no complaints" "mandoc is not installed"
    fi
    is "$1: help and man page list the same" "$(listed_by_page | tr '\n' ' ')" \
        "$(listed_by_help | tr '\n' ' ')"
}

# read_applet NAME: reads its help and man page, and checks their form
read_applet()
{
    applet=$1
    "$STACKBOX" "$applet" --help >"$help"
    "$STACKBOX" "$applet" --man >"$page"
    form "$applet"
    sees_others "$applet"
}

# What is listed is accepted, in the form listed. A following --help ends the run at once.
listed_is_taken()
{
    sed -n 's/^  \(-., \)*\(--[a-z-]*\)\( [A-Z][^ ]*\)\{0,1\}\( .*\)\{0,1\}$/\2\3/p' "$help" |
        grep -v '^--help\|^--man' >"$scratch/options"
    while read -r option argument; do
        if [ "$option" = --flat ] || [ "$option" = --tree ] || [ "$option" = --live ] || [ "$option" = --nice ] ||
            [ "$applet$option" = flamegraph--diff ]; then
            # The argument is optional.
            "$STACKBOX" "$applet" "$option" 1 --help >"$scratch/out" 2>&1
            with_value=$?
            "$STACKBOX" "$applet" "$option" --help >"$scratch/out" 2>&1
            is "$applet: $option takes $argument" "$with_value $?" "0 0"
        elif [ "$option" = --output ] || [ "$option" = --format ] || [ "$option" = --by ] ||
            [ "$option" = --unwind ] || [ "$option" = --collect ]; then
            word=text
            [ "$option" != --by ] || word=thread
            [ "$option" != --unwind ] || word=tables
            [ "$option" != --collect ] || word=rings
            "$STACKBOX" "$applet" "$option" $word --help >"$scratch/out" 2>&1
            with_value=$?
            "$STACKBOX" "$applet" "$option=$word" --help >"$scratch/out" 2>&1
            is "$applet: $option takes $argument" "$with_value $?" "0 0"
        elif [ "$argument" ]; then
            "$STACKBOX" "$applet" "$option" 1 --help >"$scratch/out" 2>&1
            with_value=$?
            "$STACKBOX" "$applet" "$option=1" --help >"$scratch/out" 2>&1
            is "$applet: $option takes $argument" "$with_value $?" "0 0"
        else
            "$STACKBOX" "$applet" "$option" --help >"$scratch/out" 2>&1
            with_value=$?
            "$STACKBOX" "$applet" "$option=1" --help >"$scratch/out" 2>&1
            is "$applet: $option takes nothing" "$with_value $?" "0 2"
        fi
    done <"$scratch/options"
    is "$applet: all listed options were tried" "$(grep -c . "$scratch/options")" \
        "$(($(listed_by_help | wc -l) - 2))"
}

# letters WHICH: letters that take a number. Each is the same as the long option next to it: both have the
# same limits.
letters()
{
    large=99999999999999999999
    sed -n '/ --event /d; / --output /d; s/^  \(-.*\), --\([a-z-]*\) [A-Z].*/\1 \2/p' "$help" | tr -d , |
        awk '{ for (i = 1; i < NF; i++) print $i, $NF }' >"$scratch/letters"
    while read -r letter name; do
        said=$("$STACKBOX" "$applet" "--$name" $large f 2>&1)
        is "$applet: $letter is the same as --$name" "$("$STACKBOX" "$applet" "$letter" $large f 2>&1)" \
            "$applet: $letter${said#*--"$name"}"
    done <"$scratch/letters"
    is "$applet: all letters that take a number were tried" \
        "$(cut -d ' ' -f 1 "$scratch/letters" | tr '\n' ' ')" "$1"
}

# A wrong example would be refused before its --help, which would be its command's behind `--`.
examples()
{
    sed -n "/^Examples:/,\$s/^  \($applet .*\)/\1/p" "$help" | sed 's/ > .*//; s/ -- .*//' >"$scratch/examples"
    while read -r example; do
        eval "set -- $example"
        shift
        "$STACKBOX" "$applet" "$@" --help >"$scratch/out" 2>&1
        is "example is accepted: $example" "$?" 0
    done <"$scratch/examples"
    between "$applet: there are examples" "$(grep -c . "$scratch/examples")" 3 20
}

# Each man page refers to all others, but not to itself.
sees_others()
{
    is "$1: it names all other man pages" \
        "$(sed -n '/^\.SH SEE ALSO/,$s/^\.BR \([a-z0-9]*\) (1),$/\1/p' "$page" | sort | tr '\n' ' ')" \
        "$({ echo stackbox; echo perf; echo addr2line; "$STACKBOX" | cut -d ' ' -f 1; } |
            grep -vx "$1" | sort | tr '\n' ' ')"
}

"$STACKBOX" --help >"$help"
"$STACKBOX" --man >"$page"
form stackbox
sees_others stackbox
is "stackbox: its sections" "$(sed -n 's/^\.SH //p' "$page" | tr '\n' '|')" \
    "NAME|SYNOPSIS|DESCRIPTION|INVOCATION|APPLETS|OPTIONS|EXIT STATUS|NOTES|EXAMPLES|SEE ALSO|"
is "stackbox: its options" "$(listed_by_help | sort | tr '\n' ' ')" "help install man version "

read_applet stackcount
is "stackcount: its options" "$(listed_by_help | sort | tr '\n' ' ')" "annotations attach-by best-effort \
by by-name cgroup collect comm cpu debug delimited depth dump-program duration flat folded follow force format help if include-self \
interval inverted keep kernel-stacks-only list live man nice \
offset output perpid pid raw-names regex shorten stack-storage-size sum symfs tid timestamp top tree uid unit unwind user-stacks-only verbose "
letters=$(sed -n 's/^  \(\(-., \)*\)--.*/\1/p' "$help" | tr -cd 'A-Za-z')
is "stackcount: its letters" "$(echo "$letters" | fold -w 1 | LC_ALL=C sort | tr -d '\n')" \
    CDKLPTUacdfioprstuv
is "stackcount: its sections" "$(sed -n 's/^\.SH //p' "$page" | tr '\n' '|')" \
    "NAME|SYNOPSIS|DESCRIPTION|PATTERNS|VALUES|OPTIONS|OUTPUT|SIGNALS|EXIT STATUS|COMMANDS|FILES|NOTES|EXAMPLES|SEE ALSO|"

listed_is_taken
contains "bcc's -c is listed next to -C" "$help" "  -C, -c, --cpu CPU "
contains "-L is listed next to -t" "$help" "  -t, -L, --tid TID[,TID] "
contains "-u is listed next to --uid" "$help" "  -u, --uid USER[,USER]"
letters "-p -t -L -u -C -c -D -i "
# Accepted for those who know it from elsewhere, but not listed.
"$STACKBOX" stackcount --hash-storage-size 10240 --help >"$scratch/out" 2>&1
is "--hash-storage-size is accepted" "$? $(cksum <"$scratch/out")" "0 $(cksum <"$help")"
examples

read_applet profile
is "profile: its options" "$(listed_by_help | sort | tr '\n' ' ')" "annotations best-effort by \
by-name cgroup collect comm count cpu debug delimited depth dump-program duration event flat folded follow format frequency help \
include-idle include-self interval inverted keep \
kernel-stacks-only live man nice offset output pid raw-names shorten stack-storage-size symfs tid timestamp top tree uid unwind user-stacks-only verbose "
listed_is_taken
contains "-A is listed next to -v" "$help" "  -v, -A, --verbose "
letters "-F -c -p -t -L -u -C -D -i "
examples

for name in offcputime wakeuptime offwaketime; do
    read_applet $name
    pairs=
    [ $name != offwaketime ] || pairs="pairs "
    is "$name: its options" "$(listed_by_help | sort | tr '\n' ' ')" "annotations best-effort by \
by-name cgroup collect comm cpu debug delimited depth dump-program duration flat folded follow format help include-self interval inverted keep \
kernel-stacks-only kernel-threads-only live man max-block-time min-block-time nice offset output ${pairs}pid \
raw-names shorten stack-storage-size state \
symfs tid timestamp top tree uid unfinished unwind user-stacks-only user-threads-only verbose "
    listed_is_taken
    examples
done

read_applet walltime
is "walltime: its options" "$(listed_by_help | sort | tr '\n' ' ')" "annotations best-effort by \
by-name cgroup collect comm cpu debug delimited depth dump-program duration flat folded follow format frequency help include-self \
interval inverted keep kernel-stacks-only live man min-block-time nice offset output pid raw-names shorten stack-storage-size \
symfs tid timestamp top tree uid unwind user-stacks-only verbose "
listed_is_taken
examples

# stacksnoop's own rows replace the common ones.
read_applet stacksnoop
is "stacksnoop: its options" "$(listed_by_help | sort | tr '\n' ' ')" "annotations attach-by \
best-effort buffer buffer-size by cgroup collect comm cpu debug delimited depth dump-program duration follow force format help if \
include-self \
kernel-stacks-only list man max nice offset pid print raw-names regex shorten symfs tid timestamp uid unwind user-stacks-only verbose "
listed_is_taken
letters "-p -t -L -u -C -D "
examples

read_applet report
is "report: its options" "$(listed_by_help | sort | tr '\n' ' ')" "annotations by by-name debug delimited diff flat \
folded format help inverted man missing normalize offset output raw-names shorten symfs top verbose "
is "report: its sections" "$(sed -n 's/^\.SH //p' "$page" | tr '\n' '|')" \
    "NAME|SYNOPSIS|DESCRIPTION|NAMES|OPTIONS|OUTPUT|EXIT STATUS|NOTES|EXAMPLES|SEE ALSO|"
listed_is_taken
examples

read_applet flamegraph
is "flamegraph: its options" "$(listed_by_help | sort | tr '\n' ' ')" "colors countname diff fail-above format help \
inverted man minwidth negate normalize notes output reverse subtitle symfs title width "
is "flamegraph: its sections" "$(sed -n 's/^\.SH //p' "$page" | tr '\n' '|')" \
    "NAME|SYNOPSIS|DESCRIPTION|INPUT|OUTPUT|OPTIONS|EXIT STATUS|NOTES|EXAMPLES|SEE ALSO|"
listed_is_taken
examples

read_applet check
is "check: its options" "$(listed_by_help | sort | tr '\n' ' ')" "format help man "
is "check: its sections" "$(sed -n 's/^\.SH //p' "$page" | tr '\n' '|')" \
    "NAME|SYNOPSIS|DESCRIPTION|OUTPUT|OPTIONS|EXIT STATUS|NOTES|EXAMPLES|SEE ALSO|"
listed_is_taken
examples
