#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# completion.sh bash|zsh|fish BINARY [PREFIX]     what that shell completes after BINARY's applets
#
# Made from what the binary's help lists, which comes from its option tables. PREFIX is the prefix of the
# applets' links; -: there are none.

set -eu
shell=$1 program=$2 prefix=${3:-}
applets=$("$program" | cut -d ' ' -f 1)

# options APPLET: a line for each option, `LETTERS|NAME|ARGUMENT|what it does`, with letters as -p
# -L
options()
{
    "$program" "$1" --help | awk '
        function flush() {
            if (name != "") {
                sub(/ *[:;(].*/, "", text)
                gsub(/[][\\"`$|]/, "", text)
                gsub(sprintf("%c", 39), "", text)
                print letters "|" name "|" argument "|" text
            }
            name = ""
        }
        /^  (-[A-Za-z], )*--?[a-z]/ {
            flush()
            line = $0
            letters = ""
            while (match(line, /^ *-[A-Za-z0-9],? /)) {
                letter = substr(line, RSTART, RLENGTH)
                gsub(/[ ,]/, "", letter)
                letters = letters (letters == "" ? "" : " ") letter
                line = substr(line, RSTART + RLENGTH)
            }
            sub(/^ */, "", line)
            if (line !~ /^--/) next
            text = line
            sub(/  +.*/, "", line)
            if (!sub(/^.*  +/, "", text) || text == line) text = ""
            split(line, part, " ")
            name = part[1]
            argument = part[2]
            next
        }
        name != "" && /^      / { sub(/^ +/, ""); text = text (text == "" ? "" : " ") $0; next }
        { flush() }
        END { flush() }'
}

summary()
{
    "$program" | sed -n "s/^$1  *//p"
}

# words APPLET: all spellings of its options
words()
{
    options "$1" | cut -d '|' -f 1-2 | tr '|\n' '  '
}

# links: the commands to complete, besides stackbox
links()
{
    [ "$prefix" = - ] || printf "$prefix%s " $applets
}

case $shell in
bash)
    cat <<'END'
# What bash completes after stackbox. Made by scripts/completion.sh.
_stackbox()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} applet=${COMP_WORDS[0]##*/} options at
    COMPREPLY=()
    applet=${applet##*-}
    if [ "$applet" = stackbox ]; then
        if [ "$COMP_CWORD" = 1 ]; then
END
    printf '            mapfile -t COMPREPLY < <(compgen -W "%s help" -- "$word")\n' "$(echo $applets)"
    cat <<'END'
            return
        fi
        applet=${COMP_WORDS[1]}
    fi
    for ((at = 1; at < COMP_CWORD; at++)); do
        if [ "${COMP_WORDS[at]}" = -- ]; then
            [ $((at + 1)) = "$COMP_CWORD" ] && mapfile -t COMPREPLY < <(compgen -c -- "$word" | sort -u)
            return
        fi
    done
    case $applet in
END
    for applet in $applets; do
        printf '    %s) options="%s" ;;\n' "$applet" "$(words "$applet")"
    done
    printf '    help) options="%s" ;;\n' "$(echo $applets)"
    cat <<'END'
    *) return ;;
    esac
    case $before in
    -p | --pid) mapfile -t COMPREPLY < <(cd /proc && compgen -W "$(echo [0-9]*)" -- "$word"); return ;;
    -o | --output | --symfs | --cgroup) return ;;
    esac
    case $word in
    -*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word") ;;
    *)  [ "$applet" != help ] || mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word") ;;
    esac
}
END
    echo "complete -o default -F _stackbox stackbox $(links)"
    ;;
zsh)
    echo "#compdef stackbox $(links)"
    cat <<'END'
# What zsh completes after stackbox. Made by scripts/completion.sh.
_stackbox_applet()
{
    case $1 in
END
    for applet in $applets; do
        echo "    $applet)"
        echo "        _arguments -s -S \\"
        options "$applet" | while IFS='|' read -r letters name argument text; do
            more=
            case $argument in
            '')   ;;
            '['*) more="::$(echo "$argument" | tr -d '[]'):" ;;
            FILE | DIR | PATH) more=":$argument:_files" ;;
            PID*) more=":$argument:_pids" ;;
            *)    more=":$argument:" ;;
            esac
            for word in $letters $name; do
                printf "            '*%s[%s]%s' \\\\\n" "$word" "$text" "$more"
            done
        done
        echo "            '*:: :_stackbox_rest' ;;"
    done
    cat <<'END'
    esac
}

# After -- comes a command; before it, files, patterns or times.
_stackbox_rest()
{
    if (( ${words[(I)--]} )); then
        shift $(( ${words[(i)--]} )) words
        (( CURRENT -= ${words[(i)--]} ))
        _normal
    else
        _files
    fi
}

_stackbox()
{
    local applet=${${words[1]:t}##*-}
    if [[ $applet == stackbox ]]; then
        if (( CURRENT == 2 )); then
            local -a applets
            applets=(
END
    for applet in $applets; do
        echo "                '$applet:$(summary "$applet" | tr -d "':")'"
    done
    cat <<'END'
            )
            _describe applet applets
            return
        fi
        shift words
        (( CURRENT-- ))
        applet=${words[1]}
    fi
    _stackbox_applet $applet
}

_stackbox "$@"
END
    ;;
fish)
    echo '# What fish completes after stackbox. Made by scripts/completion.sh.'
    for applet in $applets; do
        text=$(summary "$applet" | tr -d "'")
        echo "complete -c stackbox -n __fish_use_subcommand -f -a $applet -d '$text'"
        options "$applet" | while IFS='|' read -r letters name argument text; do
            short=$(for letter in $letters; do printf ' -s %s' "${letter#-}"; done)
            takes=
            case $argument in
            '' | '['*) ;;
            FILE | DIR | PATH) takes=' -r' ;;
            *) takes=' -x' ;;
            esac
            echo "complete -c stackbox -n '__fish_seen_subcommand_from $applet'$short -l ${name#--}$takes -d '$text'"
            [ "$prefix" = - ] || echo "complete -c $prefix$applet$short -l ${name#--}$takes -d '$text'"
        done
    done
    ;;
*)
    echo "usage: completion.sh bash|zsh|fish BINARY [PREFIX]" >&2
    exit 2
    ;;
esac
