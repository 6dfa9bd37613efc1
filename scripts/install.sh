#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# install.sh [--links WHICH] [--applets NAMES] DIR BINARY
#                           the binary and a link for each applet into DIR/bin, their man pages into
#                           DIR/share/man/man1, completions for bash, zsh and fish below DIR/share
#                           WHICH: yes, no, or what the links' names begin with, such as stackbox-
#                           NAMES: BINARY is for another machine: links with these names, pages and completions none
# install.sh --remove DIR   takes away what that made, and nothing else
#
# Without NAMES, BINARY is run: it lists its applets and prints their man pages. Another file with a
# link's name in DIR/bin stays, and is an error.

set -eu
# What is installed is for everybody, whatever the installer's umask.
umask 022
links=yes applets=
while [ $# -gt 2 ]; do
    case $1 in
    --links)   links=$2 ;;
    --applets) applets=$2 ;;
    *)         break ;;
    esac
    shift 2
done
if [ $# != 2 ] || [ ! "$1" ] || [ ! "$2" ]; then
    echo "usage: install.sh [--links yes|no|PREFIX-] [--applets NAMES] DIR BINARY, install.sh --remove DIR" >&2
    exit 2
fi
case $links in
yes | no) ;;
-* | *[!A-Za-z0-9._-]*) echo "install.sh: --links: \"$links\" cannot begin a name" >&2; exit 2 ;;
*-) ;;
*) echo "install.sh: --links takes yes, no, or a prefix that ends in -, not \"$links\"" >&2; exit 2 ;;
esac
[ "$1" = --remove ] && dir=$2 || dir=$1
# A relative directory could begin with -.
case $dir in
/*) ;;
*) dir=./$dir ;;
esac
bin=$dir/bin
man=$dir/share/man/man1
program=$bin/stackbox
bash=$dir/share/bash-completion/completions
zsh=$dir/share/zsh/site-functions
fish=$dir/share/fish/vendor_completions.d

# page NAME COMMAND...: leaves no half-written page if the command fails
page()
{
    page=$man/$1.1
    shift
    if ! "$@" --man >"$page" || ! chmod 644 "$page"; then
        rm -f "$page"
        return 1
    fi
}

# link NAME: a file of that name that is not ours is left alone
link()
{
    if [ -h "$bin/$1" ] && [ "$(readlink "$bin/$1")" = stackbox ]; then
        return
    fi
    if [ -e "$bin/$1" ] || [ -h "$bin/$1" ]; then
        echo "install.sh: $bin/$1 is there already, is not stackbox, and stays as it is" >&2
        return 1
    fi
    ln -s stackbox "$bin/$1"
}

# completion SHELL DIRECTORY FILE: bash looks for a file with the command's name
completion()
{
    mkdir -p "$2"
    sh "$(dirname "$0")/completion.sh" "$1" "$program" "$prefix" >"$2/$3"
    chmod 644 "$2/$3"
}

# The links tell which applets there were, even in an older binary.
if [ "$1" = --remove ]; then
    for link in "$bin"/*; do
        if [ -h "$link" ] && [ "$(readlink "$link")" = stackbox ]; then
            rm -f "$link" "$man/${link##*/}.1" "$bash/${link##*/}"
        fi
    done
    rm -f "$program" "$man/stackbox.1" "$bash/stackbox" "$zsh/_stackbox" "$fish/stackbox.fish"
    exit
fi

mkdir -p "$bin"
install -m 755 "$2" "$program"
pages=no
if [ ! "$applets" ]; then
    pages=yes
    applets=$("$program") || {
        echo "install.sh: $2 cannot be run on this machine: make install PAGES=no leaves out what it would print" >&2
        exit 1
    }
    applets=$(echo "$applets" | cut -d ' ' -f 1)
fi
case $links in
yes) prefix= ;;
no)  prefix=- ;;
*)   prefix=$links ;;
esac
for applet in $applets; do
    [ "$links" = no ] || link "$prefix$applet"
done
[ $pages = yes ] || exit 0
mkdir -p "$man"
page stackbox "$program"
for applet in $applets; do
    [ "$links" = no ] && page "stackbox-$applet" "$program" "$applet" || page "$prefix$applet" "$program" "$applet"
done
completion bash "$bash" stackbox
for applet in $applets; do
    [ "$links" = no ] || ln -sf stackbox "$bash/$prefix$applet"
done
completion zsh "$zsh" _stackbox
completion fish "$fish" stackbox.fish
