#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# deb.sh VERSION DATE BINARY    build/stackbox_VERSION_ARCH.deb, a Debian package of that binary
#
# Its links begin with stackbox-, as nobody may claim names such as check and report. The contents depend only
# on the binary and the sources, and its files have the date DATE, so the same sources give the same package.

set -eu
cd "$(dirname "$0")/.."
if [ $# != 3 ]; then
    echo "usage: deb.sh VERSION DATE BINARY" >&2
    exit 2
fi
command -v dpkg-deb >/dev/null || { echo "deb: dpkg-deb is missing: this needs Debian or a derivative of it" >&2; exit 1; }
version=$1 date=$2 binary=$3
umask 022
SOURCE_DATE_EPOCH=$(date -u -d "$date" +%s)
export SOURCE_DATE_EPOCH
architecture=$(dpkg --print-architecture)
work=build/deb
root=$work/root
doc=$root/usr/share/doc/stackbox
rm -rf "$work"
mkdir -p "$root/DEBIAN" "$doc" "$root/usr/share/lintian/overrides"

sh scripts/install.sh --links stackbox- "$root/usr" "$binary" >/dev/null
gzip -9n "$root"/usr/share/man/man1/*.1
mkdir -p "$root/usr/share/zsh/vendor-completions"
mv "$root/usr/share/zsh/site-functions/_stackbox" "$root/usr/share/zsh/vendor-completions/"
rmdir "$root/usr/share/zsh/site-functions"

cat >"$doc/copyright" <<'END'
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: stackbox

Files: *
Copyright: 2026 the stackbox authors
License: Expat or GPL-2

License: Expat
END
sed -n '/^Permission is hereby granted/,/^SOFTWARE\./s/^$/./; /^Permission is hereby granted/,/^SOFTWARE\./s/^/ /p' \
    LICENSE | sed 's/^ \.$/ ./' >>"$doc/copyright"
cat >>"$doc/copyright" <<'END'

License: GPL-2
 This program is free software; you can redistribute it and/or modify it under the terms of the GNU General
 Public License, version 2, as published by the Free Software Foundation.
 .
 On Debian systems its text is in /usr/share/common-licenses/GPL-2.
END
{
    echo "stackbox ($version) unstable; urgency=low"
    echo
    echo "  * See /usr/share/doc/stackbox/changes.md.gz."
    echo
    echo " -- the stackbox authors <stackbox@packages.invalid>  $(date -u -R -d "$date")"
} | gzip -9n >"$doc/changelog.gz"
gzip -9n <src/docs/changes.md >"$doc/changes.md.gz"

# It is static on purpose: it runs where there are no libraries.
echo 'stackbox: statically-linked-binary [usr/bin/stackbox]' >"$root/usr/share/lintian/overrides/stackbox"

(cd "$root" && find usr -type f | LC_ALL=C sort | xargs md5sum) >"$root/DEBIAN/md5sums"
cat >"$root/DEBIAN/control" <<END
Package: stackbox
Version: $version
Architecture: $architecture
Maintainer: the stackbox authors <stackbox@packages.invalid>
Installed-Size: $(du -k -s --apparent-size "$root/usr" | cut -f 1)
Section: devel
Priority: optional
Description: stack-tracing applets in one static binary
 Counts the stacks that lead to functions and tracepoints, samples CPUs,
 and tells what threads wait for and who ends the wait. It needs neither
 a compiler nor kernel headers, BTF or an interpreter where it runs.
 .
 The applets are called as "stackbox APPLET", or by links such as
 stackbox-profile.
END
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
package=build/stackbox_${version}_$architecture.deb
dpkg-deb --root-owner-group -Zxz --build "$root" "$package" >/dev/null
echo "$package: $(wc -c <"$package") bytes"
