#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# What bash, zsh and fish complete: exactly the options in the man pages, as the shells themselves tell.
. "${0%/*}/../live/lib.sh"

completion_sh=$(cd "${0%/*}/../../scripts" && pwd)/completion.sh
applets=$("$STACKBOX" | cut -d ' ' -f 1)

# options_of APPLET: by its man page, which another printer makes from the tables
options_of()
{
    "$STACKBOX" "$1" --man | sed -n 's/\\-/-/g; s/^\\fB\(-[^\\]*\)\\fR.*/\1/p' | tr -d ' ' | tr ',' '\n' | LC_ALL=C sort
}

for shell in bash zsh fish; do
    sh "$completion_sh" $shell "$STACKBOX" >"$scratch/$shell" 2>"$scratch/err"
    is "$shell: made without a word" "$? $(cat "$scratch/err")" "0 "
done
sh "$completion_sh" csh "$STACKBOX" >"$scratch/out" 2>"$scratch/err"
is "another shell: refused" "$?" 2

# bash_completes WORD...: what the last word may become
bash_completes()
{
    bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _stackbox; printf "%s\n" "${COMPREPLY[@]}"' \
        completes "$scratch/bash" "$@" | LC_ALL=C sort
}

if command -v bash >/dev/null; then
    is "bash: applets" "$(bash_completes stackbox off | tr '\n' ' ')" "offcputime offwaketime "
    for applet in $applets; do
        is "bash: $applet: its options" "$(bash_completes stackbox "$applet" -)" "$(options_of "$applet")"
    done
    is "bash: by a link" "$(bash_completes profile --freq)" --frequency
    is "bash: by a link with a prefix" "$(bash_completes sb-profile --freq)" --frequency
    is "bash: a command comes after --" "$(bash_completes profile -- printen)" printenv
    is "bash: and then its own words" "$(bash_completes profile -- ls --freq)" ""
    is "bash: a process" "$(bash_completes profile -p $$ | grep -cx $$)" 1
else
    skip "bash" "there is no bash"
fi

if command -v zsh >/dev/null; then
    zsh -n "$scratch/zsh" >"$scratch/out" 2>&1
    is "zsh reads it" "$? $(cat "$scratch/out")" "0 "
else
    skip "zsh" "there is no zsh"
fi
for applet in $applets; do
    is "zsh: $applet: its options" "$(sed -n "/^    $applet)/,/;;/s/^ *'\*\(-[^[]*\)\[.*/\1/p" "$scratch/zsh" |
        LC_ALL=C sort)" "$(options_of "$applet")"
done

if command -v fish >/dev/null; then
    for applet in $applets; do
        is "fish: $applet: its long options" \
            "$(fish -c "source '$scratch/fish'; complete -C 'stackbox $applet --'" | cut -f 1 | LC_ALL=C sort)" \
            "$(options_of "$applet" | grep '^--')"
    done
else
    skip "fish" "there is no fish"
fi
