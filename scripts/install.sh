#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# install.sh DIR BINARY     the binary and a link for each applet into DIR/bin, their man pages into
#                           DIR/share/man/man1
# install.sh --remove DIR   takes away what that made, and nothing else
#
# BINARY is run: it makes the links and prints the man pages. Something else that has the name of an
# applet in DIR/bin stays, and is an error.

set -eu
# What is installed is for all, whatever the installer's own files are.
umask 022
if [ $# != 2 ] || [ ! "$1" ] || [ ! "$2" ]; then
    echo "usage: install.sh DIR BINARY, install.sh --remove DIR" >&2
    exit 2
fi
[ "$1" = --remove ] && dir=$2 || dir=$1
# A relative directory could begin with -.
case $dir in
/*) ;;
*) dir=./$dir ;;
esac
bin=$dir/bin
man=$dir/share/man/man1
program=$bin/stackbox

# page NAME COMMAND...: a page that could not be printed is not left half written
page()
{
    page=$man/$1.1
    shift
    if ! "$@" --man >"$page" || ! chmod 644 "$page"; then
        rm -f "$page"
        return 1
    fi
}

# By the links one sees what the applets were, be they of an older binary.
if [ "$1" = --remove ]; then
    for link in "$bin"/*; do
        if [ -h "$link" ] && [ "$(readlink "$link")" = stackbox ]; then
            rm -f "$link" "$man/${link##*/}.1"
        fi
    done
    rm -f "$program" "$man/stackbox.1"
    exit
fi

mkdir -p "$bin" "$man"
install -m 755 "$2" "$program"
"$program" --install "$bin"
page stackbox "$program"
for applet in $("$program" | cut -d ' ' -f 1); do
    page "$applet" "$program" "$applet"
done
