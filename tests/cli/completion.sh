#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# again: with fish
#
# What bash, zsh and fish complete: exactly the options in the man pages, as the shells themselves tell.
. "${0%/*}/../live/lib.sh"

completion_sh=$(cd "${0%/*}/../../scripts" && pwd)/completion.sh
applets=$("$STACKBOX" | cut -d ' ' -f 1)

# options_of APPLET: from its man page, which other code prints from the same tables
options_of()
{
    "$STACKBOX" "$1" --man | sed -n 's/\\-/-/g; s/^\\fB\(-[^\\]*\)\\fR.*/\1/p' | tr -d ' ' | tr ',' '\n' | LC_ALL=C sort
}

for shell in bash zsh fish; do
    sh "$completion_sh" $shell "$STACKBOX" >"$scratch/$shell" 2>"$scratch/err"
    is "$shell: made without messages" "$? $(cat "$scratch/err")" "0 "
done
sh "$completion_sh" csh "$STACKBOX" >"$scratch/out" 2>"$scratch/err"
is "an unknown shell is refused" "$?" 2

# bash_completes WORD...: how bash completes the last word
bash_completes()
{
    bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _stackbox; printf "%s\n" "${COMPREPLY[@]}"' \
        completes "$scratch/bash" "$@" | LC_ALL=C sort
}

if command -v bash >/dev/null; then
    is "bash: applets are completed" "$(bash_completes stackbox off | tr '\n' ' ')" "offcputime offwaketime "
    for applet in $applets; do
        is "bash: $applet: all its options are completed" \
            "$(bash_completes stackbox "$applet" -)" "$(options_of "$applet")"
    done
    is "bash: a link is completed like its applet" "$(bash_completes profile --freq)" --frequency
    is "bash: so is a link with a prefix" "$(bash_completes sb-profile --freq)" --frequency
    is "bash: a command is completed after --" "$(bash_completes profile -- printen)" printenv
    is "bash: then the command's own arguments" "$(bash_completes profile -- ls --freq)" ""
    is "bash: -p is completed with processes" "$(bash_completes profile -p $$ | grep -cx $$)" 1
else
    skip "bash" "there is no bash"
fi

if command -v zsh >/dev/null; then
    zsh -n "$scratch/zsh" >"$scratch/out" 2>&1
    is "zsh can read it" "$? $(cat "$scratch/out")" "0 "
else
    skip "zsh" "there is no zsh"
fi
for applet in $applets; do
    is "zsh: $applet: all its options are completed" \
        "$(sed -n "/^    $applet)/,/;;/s/^ *'\*\(-[^[]*\)\[.*/\1/p" "$scratch/zsh" |
        LC_ALL=C sort)" "$(options_of "$applet")"
done

if command -v fish >/dev/null; then
    for applet in $applets; do
        is "fish: $applet: all its long options are completed" \
            "$(fish -c "source '$scratch/fish'; complete -C 'stackbox $applet --'" | cut -f 1 | LC_ALL=C sort)" \
            "$(options_of "$applet" | grep '^--')"
    done
else
    skip "fish" "there is no fish"
fi
