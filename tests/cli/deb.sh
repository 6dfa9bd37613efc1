#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# again: with lintian
#
# The Debian package: the same bytes each time, what it installs works, and lintian has no complaints.
. "${0%/*}/../live/lib.sh"

deb_sh=$(cd "${0%/*}/../../scripts" && pwd)/deb.sh
need dpkg-deb
package=$(dirname "$deb_sh")/../build/stackbox_0.0test-1_$(dpkg --print-architecture).deb

for time in first second; do
    (umask 077 && cd "$scratch" && sh "$deb_sh" 0.0test 2026-01-02 "$STACKBOX") >"$scratch/out" 2>&1
    is "it is made, the $time time" "$? $(wc -l <"$scratch/out")" "0 1"
    mv "$package" "$scratch/$time.deb"
    sleep 1
done
cmp -s "$scratch/first.deb" "$scratch/second.deb" && pass "the same bytes both times" ||
    fail "the same bytes both times" "they differ"

dpkg-deb -x "$scratch/first.deb" "$scratch/root"
is "a link runs its applet" "$("$scratch/root/usr/bin/stackbox-stackcount" -h | sed q)" \
    "Usage: stackcount [options] PATTERN... [-- COMMAND [ARG]...]"
is "each link has a man page" "$(cd "$scratch/root/usr/bin" && ls | sed 's/$/.1.gz/' | LC_ALL=C sort)" \
    "$(ls "$scratch/root/usr/share/man/man1" | LC_ALL=C sort)"
is "all files belong to root" "$(dpkg-deb -c "$scratch/first.deb" | grep -vc ' root/root ')" 0
(cd "$scratch/root" && dpkg-deb -I "$scratch/first.deb" md5sums | md5sum -c --quiet) >"$scratch/out" 2>&1
is "checksums are right" "$? $(cat "$scratch/out")" "0 "

need lintian
lintian --allow-root "$scratch/first.deb" >"$scratch/out" 2>&1
is "lintian finds nothing" "$? $(cat "$scratch/out")" "0 "
