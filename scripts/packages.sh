#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# packages.sh VERSION DATE      build/packages/NAME/, a folder that this distribution takes as it is
#
# From scripts/packages/NAME and the archive of dist.sh: the recipes get its version, date and sums,
# and their names for the machines that stackbox is built for. The sources cannot contain their own
# sum. The bytes depend only on the files.

set -eu
cd "$(dirname "$0")/.."
if [ $# != 2 ]; then
    echo "usage: packages.sh VERSION DATE" >&2
    exit 2
fi
version=$1 date=$2
umask 022
archive=build/stackbox-$version.tar.gz
to=build/packages

# machines NAME BEFORE BETWEEN: what that distribution calls them, each with text before it, for sed
machines()
{
    awk -F '\t' -v name="$1" -v before="$2" -v between="$3" '
        /^# build/ { for (i = 1; i <= NF; i++) if ($i == name) column = i }
        !/^#/ && $column != "-" { line = line (line == "" ? "" : between) before $column }
        END { gsub(/&/, "\\\\&", line); print line }' scripts/packages/machines.tsv
}

sum()
{
    "$1" <"$2" | cut -d ' ' -f 1
}

# fill NAME MACHINES: into every file of build/packages/NAME
fill()
{
    cp -R "scripts/packages/$1" "$to/$1"
    find "$to/$1" -type f -exec sed -i -e "s/@VERSION@/$version/g" -e "s/@DATE@/$(date -u -R -d "$date")/" \
        -e "s/@SHA256@/$(sum sha256sum "$archive")/" -e "s/@SHA512@/$(sum sha512sum "$archive")/" \
        -e "s/@LICENSE_SHA256@/$(sum sha256sum LICENSE)/" -e "s/@LICENSE_MD5@/$(sum md5sum LICENSE)/" \
        -e "s/@MACHINES@/$2/" {} +
}

sh scripts/dist.sh "$version" "$date"
rm -rf "$to"
mkdir -p "$to"
fill openwrt "$(machines openwrt '' '||')"
fill buildroot "$(machines buildroot '	default y if ' '\\n')"
fill yocto "$(machines yocto '' '|')"
fill alpine "$(machines alpine '' ' ')"
fill debian "$(machines debian '' ' ')"
mv "$to/yocto/stackbox.bb" "$to/yocto/stackbox_$version.bb"
echo "$to: $(cd "$to" && echo *)"
