#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# later: it builds twice
#
# What distributions take (scripts/packages): each recipe says what Makefile and LICENSE say; run as its distribution
# runs it, without a network, it installs what `make install` installs; and Debian's package is `make deb`'s, byte
# for byte, though it is built elsewhere and by other tools.

# shellcheck source=tests/live/lib.sh
. "${0%/*}/../live/lib.sh"

cd "${0%/*}/../.." || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL BUILD PROGRAM
version=$(sed -n 's/^VERSION *:= *//p' Makefile)
archive=stackbox-$version.tar.gz

# Where the network can be taken away, it is.
if unshare -n true 2>/dev/null; then offline='unshare -n'; else offline=; fi

# ---- What they say

is "machines: those of make cross, and this one's" \
    "$(sed -n 's/^\([a-z0-9-]*\)	.*/\1/p' scripts/packages/machines.tsv | LC_ALL=C sort | tr '\n' ' ')" \
    "$({
        echo x86-64
        sed -n 's/^    \([a-z0-9]*\)) *compiler=.*/\1/p' scripts/cross.sh
    } | LC_ALL=C sort | tr '\n' ' ')"

tree=$scratch/tree
mkdir "$tree"
find . \( -path ./build -o -path ./stackbox -o -path ./.git \) -prune -o -type f -print | tar --files-from - -cf - |
    tar -xf - -C "$tree"
for time in first second; do
    make --no-print-directory -C "$tree" packages >"$scratch/out" 2>&1
    is "make packages, the $time time" "$? $(tail -n 1 "$scratch/out")" \
        "0 build/packages: alpine buildroot debian openwrt yocto"
    (cd "$tree/build" && find packages "$archive" -type f -exec cksum {} + | LC_ALL=C sort) >"$scratch/$time"
done
is "the same bytes both times" "$(cat "$scratch/second")" "$(cat "$scratch/first")"
recipes=$tree/build/packages
is "nothing is left to fill in" "$(grep -rhoE '@[A-Z0-9_]+@' "$recipes")" ""
is "each folder has a README of five lines" "$(wc -l "$recipes"/*/README.md | grep -vc ' 5 ')" 1

# sum PROGRAM FILE
sum()
{
    "$1" <"$2" | cut -d ' ' -f 1
}
sha256=$(sum sha256sum "$tree/build/$archive")

# value NAME FILE: what follows NAME there, without quotes
value()
{
    sed -n "s/^$1 *:\{0,1\}= *//p" "$2" | tr -d '"'
}

is "openwrt: version, sum, licence" \
    "$(for name in PKG_VERSION PKG_HASH PKG_LICENSE; do value $name "$recipes/openwrt/Makefile"; done)" \
    "$(printf '%s\n' "$version" "$sha256" "MIT GPL-2.0-only")"
is "buildroot: version, licence" \
    "$(for name in STACKBOX_VERSION STACKBOX_LICENSE; do value $name "$recipes/buildroot/stackbox.mk"; done)" \
    "$(printf '%s\n' "$version" "MIT or GPL-2.0")"
is "buildroot: sums" "$(grep -v '^#' "$recipes/buildroot/stackbox.hash")" \
    "$(printf '%s\n' "sha256  $sha256  $archive" "sha256  $(sum sha256sum LICENSE)  LICENSE")"
is "yocto: version, licence, its sum" \
    "$(cd "$recipes/yocto" && echo *.bb; for name in LICENSE LIC_FILES_CHKSUM; do value $name "$recipes"/yocto/*.bb; done)" \
    "$(printf '%s\n' "stackbox_$version.bb" "MIT OR GPL-2.0-only" "file://LICENSE;md5=$(sum md5sum LICENSE)")"
is "alpine: version, licence" \
    "$(for name in pkgver license; do value $name "$recipes/alpine/APKBUILD"; done)" \
    "$(printf '%s\n' "$version" "$(sed -n 's/^SPDX-License-Identifier: //p' LICENSE)")"
contains "alpine: sum" "$recipes/alpine/APKBUILD" "$(sum sha512sum "$tree/build/$archive")  $archive"
is "debian: version, licence" "$(sed -n '1s/.*(\(.*\)-1).*/\1/p' "$recipes/debian/changelog"
    sed -n '/^Files: /,/^License/s/^License: //p' "$recipes/debian/copyright")" \
    "$(printf '%s\n' "$version" "Expat or GPL-2")"
is "one maintainer" "$(grep -rhoE '[Mm]aintainer.*<.*>|^ -- .*>' "$recipes" --include=control --include=changelog \
    --include=APKBUILD --include=Makefile | sed 's/.*[:=-] *//; s/.*-- //' | sort -u)" \
    "the stackbox authors <stackbox@packages.invalid>"
is "their kernel options are on the page of these" \
    "$(grep -howE '(CONFIG|KERNEL)_[A-Z0-9_]+' "$recipes/openwrt/Config.in" "$recipes/buildroot/stackbox.mk" |
        sed 's/^KERNEL_/CONFIG_/' | sort -u |
        while read -r option; do grep -qw "$option" src/docs/kconfig.md || echo "$option"; done)" ""

# ---- What they do

# A build system exports its compiler and flags. All recipes build in one copy of the sources.
CC=$(command -v musl-gcc || command -v cc) CFLAGS='-Os -pipe' LDFLAGS='-Wl,-z,now -Wl,-z,relro'
export CC CFLAGS LDFLAGS AR=ar STRIP=strip
there=$scratch/there
mkdir "$there" "$scratch/stub"
tar -xzf "$tree/build/$archive" -C "$there" --strip-components 1

# run NAME COMMAND...: a recipe's build, then its installation into $scratch/NAME
run()
{
    name=$1
    shift
    if (cd "$there" && $offline "$@") >"$scratch/out" 2>&1; then
        pass "$name: it builds and installs"
    else
        fail "$name: it builds and installs" "$(tail -n 5 "$scratch/out")"
    fi
}

# without_pages: what an installation in a cross-build consists of
names=$("$STACKBOX" | cut -d ' ' -f 1)
without_pages()
{
    {
        echo ./usr/bin/stackbox
        for name in $names; do echo "./usr/bin/stackbox-$name"; done
    } | LC_ALL=C sort
}
files_of()
{
    (cd "$1" && find . ! -type d | LC_ALL=C sort)
}

# As package/pkg-generic.mk runs it
cat >"$scratch/stub/buildroot.mk" <<END
TARGET_DIR := $scratch/buildroot
TARGET_CONFIGURE_OPTS := CC="$CC" AR="$AR" STRIP="$STRIP" CFLAGS="$CFLAGS" LDFLAGS="$LDFLAGS"
qstrip = \$(strip \$(subst ",,\$(1)))
BR2_PACKAGE_STACKBOX_APPLETS := "all"
include $recipes/buildroot/stackbox.mk
$there/.stamp:
	\$(STACKBOX_BUILD_CMDS)
	\$(STACKBOX_INSTALL_TARGET_CMDS)
END
run buildroot make -f "$scratch/stub/buildroot.mk" -j2 "$there/.stamp"
is "buildroot: its files" "$(files_of "$scratch/buildroot")" "$(without_pages)"

# As include/package-defaults.mk runs it
: >"$scratch/stub/rules.mk"
: >"$scratch/stub/package.mk"
cat >"$scratch/stub/openwrt.mk" <<END
TOPDIR := $scratch/stub
INCLUDE_DIR := $scratch/stub
CONFIG_STACKBOX_APPLETS := "all"
PKG_INSTALL_DIR := $scratch/installed
CP := cp -fpR
MAKE_FLAGS = CC="$CC" AR="$AR" STRIP="$STRIP" CROSS=none- ARCH=none
include $recipes/openwrt/Makefile
all:
	\$(MAKE) -C $there \$(MAKE_FLAGS)
	\$(MAKE) -C $there \$(MAKE_FLAGS) DESTDIR=\$(PKG_INSTALL_DIR) install
	mkdir -p $scratch/openwrt
	\$(call Package/stackbox/install,$scratch/openwrt)
END
run openwrt make -f "$scratch/stub/openwrt.mk" all
is "openwrt: its files" "$(files_of "$scratch/openwrt")" "$(without_pages)"

# As classes-global/base.bbclass runs it
{
    # shellcheck disable=SC2016 # for that shell
    echo 'oe_runmake() { make $EXTRA_OEMAKE "$@"; }'
    echo "prefix=/usr D='$scratch/yocto'"
    sed -n '/^EXTRA_OEMAKE/{s/ = /=/;p;}; /^do_.*() {/,/^}/p' "$recipes"/yocto/*.bb
    echo 'do_compile && do_install'
} >"$scratch/stub/yocto.sh"
run yocto sh -e "$scratch/stub/yocto.sh"
is "yocto: its files" "$(files_of "$scratch/yocto")" "$(without_pages)"

# As abuild runs it; what is for all applets is here, too
echo ". '$recipes/alpine/APKBUILD'; pkgdir='$scratch/alpine'; build && check && package" >"$scratch/stub/alpine.sh"
run alpine sh -e "$scratch/stub/alpine.sh"
make -s -C "$there" install DESTDIR="$scratch/all" PREFIX=/usr LINKS=stackbox- >"$scratch/out" 2>&1
is "alpine: its files" "$(files_of "$scratch/alpine")" "$(files_of "$scratch/all")"
is "alpine: subpackages for what is not the binary" \
    "$(files_of "$scratch/all" | grep -v '^./usr/bin/' | sed 's,^./usr/share/,,; s,/.*,,' | sort -u | tr '\n' ' ')" \
    "bash-completion fish man zsh "
is "each recipe: the same binary" "$(cksum "$scratch"/*/usr/bin/stackbox | cut -d ' ' -f 1,2 | sort -u | wc -l)" 1
unset CC CFLAGS LDFLAGS AR STRIP

# ---- Linters

if command -v shellcheck >/dev/null; then
    shellcheck scripts/packages.sh scripts/deb.sh "$recipes/debian/arrange" >"$scratch/out" 2>&1
    is "shellcheck: scripts" "$? $(cat "$scratch/out")" "0 "
    shellcheck -s sh -e SC2034,SC2154 "$recipes/alpine/APKBUILD" >"$scratch/out" 2>&1
    is "shellcheck: APKBUILD" "$? $(cat "$scratch/out")" "0 "
else
    skip "shellcheck" "it is not installed"
fi

# ---- Debian

for tool in dpkg-buildpackage dh; do
    command -v $tool >/dev/null || skip_all "debian: $tool is not installed"
done
is "debian: dpkg knows the machines" "$(sed -n 's/^Architecture: //p' "$recipes/debian/control" | tr ' ' '\n' |
    grep -vxF "$(dpkg-architecture -L)")" ""
mkdir "$scratch/debian"
cp "$tree/build/$archive" "$scratch/debian/stackbox_$version.orig.tar.gz"
tar -xzf "$tree/build/$archive" -C "$scratch/debian"
cp -R "$recipes/debian" "$scratch/debian/stackbox-$version/debian"
# Build dependencies need not come from packages here.
(cd "$scratch/debian/stackbox-$version" && umask 022 && $offline dpkg-buildpackage -us -uc -d) >"$scratch/out" 2>&1
is "debian: dpkg-buildpackage" "$? $(grep -c '^dpkg-deb: building package' "$scratch/out")" "0 1"
package=stackbox_$version-1_$(dpkg --print-architecture).deb
(cd "$tree" && sh scripts/deb.sh "$version" "$(sed -n 's/^DATE *:= *//p' Makefile)" "$STACKBOX") >"$scratch/out" 2>&1
for deb in "$scratch/debian/$package" "$tree/build/$package"; do
    dpkg-deb -c "$deb" | sed 's/^.\(.*\)/\1/' >"$deb.files"
    dpkg-deb -I "$deb" control >"$deb.control"
done
is "debian: the files of make deb" "$(diff "$scratch/debian/$package.files" "$tree/build/$package.files")" ""
is "debian: the fields of make deb" "$(diff "$scratch/debian/$package.control" "$tree/build/$package.control")" ""
if cmp "$scratch/debian/$package" "$tree/build/$package" >"$scratch/out" 2>&1; then
    pass "debian: the bytes of make deb"
else
    fail "debian: the bytes of make deb" "$(cat "$scratch/out")"
fi
