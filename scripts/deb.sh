#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# deb.sh VERSION DATE BINARY    build/stackbox_VERSION-1_ARCH.deb, a Debian package of that binary
#
# Like dpkg-buildpackage with the source package (scripts/packages/debian), whose texts it takes,
# but without debhelper, and of any binary. Links begin with stackbox-, as no package may claim
# names such as check and report. The contents depend only on the binary and the sources, and files
# have the date DATE, so the same sources give the same package.

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
source=build/packages/debian
root=build/deb/root
doc=$root/usr/share/doc/stackbox
said=$(sh scripts/packages.sh "$version" "$date" 2>&1) || { echo "$said" >&2; exit 1; }
rm -rf build/deb
mkdir -p "$root/DEBIAN" "$doc" "$root/usr/share/lintian/overrides"

sh scripts/install.sh --links stackbox- "$root/usr" "$binary" >/dev/null
sh $source/arrange $root
gzip -9n "$root"/usr/share/man/man1/*.1
cp $source/copyright "$doc/copyright"
gzip -9n <$source/changelog >"$doc/changelog.Debian.gz"
gzip -9n <src/docs/changes.md >"$doc/changelog.gz"
cp $source/stackbox.lintian-overrides "$root/usr/share/lintian/overrides/stackbox"

# As dpkg-gencontrol counts: files by their sizes, everything else 1 KB
size=$(find "$root" -type f -printf '%s\n' -o -printf '1\n' |
    awk '{ kilobytes += int(($1 + 1023) / 1024) } END { print kilobytes }')
(cd "$root" && find usr -type f | LC_ALL=C sort | xargs md5sum) >"$root/DEBIAN/md5sums"
{
    echo "Package: stackbox"
    echo "Version: $version-1"
    echo "Architecture: $architecture"
    sed -n '/^Maintainer:/p' $source/control
    echo "Installed-Size: $size"
    sed -n '/^Section:/p; /^Priority:/p; /^Description:/,$p' $source/control
} >"$root/DEBIAN/control"
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
package=build/stackbox_${version}-1_$architecture.deb
dpkg-deb --root-owner-group -Zxz --build "$root" "$package" >/dev/null
echo "$package: $(wc -c <"$package") bytes"
