#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# install.sh DIR BINARY     the binary and a link for each applet into DIR/bin, their man pages into
#                           DIR/share/man/man1
#
# BINARY is run: it makes the links and prints the man pages. Something else that has the name of an
# applet in DIR/bin stays, and is an error.

set -eu
if [ $# != 2 ] || [ ! "$1" ]; then
    echo "usage: install.sh DIR BINARY" >&2
    exit 2
fi
bin=$1/bin
man=$1/share/man/man1
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

mkdir -p "$bin" "$man"
install -m 755 "$2" "$program"
"$program" --install "$bin"
page stackbox "$program"
for applet in $("$program" | cut -d ' ' -f 1); do
    page "$applet" "$program" "$applet"
done
