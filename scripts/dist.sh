#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# dist.sh VERSION DATE      build/stackbox-VERSION.tar.gz, a source archive whose files are of DATE
#
# It contains what git has or would add, or, if git cannot tell (in an unpacked archive, or not installed),
# everything that the build does not make. The bytes depend only on the files: not on their owners, on when
# they were made, on the directory's order, or on the machine's language.

set -eu
cd "$(dirname "$0")/.."
if [ $# != 2 ]; then
    echo "usage: dist.sh VERSION DATE" >&2
    exit 2
fi
name=stackbox-$1
date=$2
umask 022
# The environment may hold default options for tar and gzip.
unset TAR_OPTIONS GZIP

git_tells()
{
    [ -e .git ] && git ls-files >build/dist.git 2>&1
}

files()
{
    if git_tells; then
        git ls-files --cached --others --exclude-standard --deduplicate | while IFS= read -r file; do
            [ ! -f "$file" ] || echo "$file"
        done
    else
        find . \( -path ./build -o -path ./stackbox -o -path ./.git \) -prune -o -type f -print |
            sed 's,^\./,,'
    fi
}

mkdir -p build
archive=build/$name.tar
trap 'rm -f "$archive" "$archive.files" build/dist.git' EXIT
if git_tells && [ "$(git status --porcelain)" ]; then
    echo "dist: uncommitted files are in it, too" >&2
fi
files >"$archive.files"
[ -s "$archive.files" ] || exit 1
LC_ALL=C sort -o "$archive.files" "$archive.files"
tar --format=ustar --owner=0 --group=0 --numeric-owner --mode=u+rw,go+r,go-w,a+X,a-s \
    --mtime="$date 00:00:00 UTC" --transform "s,^,$name/," --no-recursion \
    --verbatim-files-from --files-from "$archive.files" -cf "$archive"
gzip -9n <"$archive" >"$archive.gz.new"
mv "$archive.gz.new" "$archive.gz"
echo "$archive.gz: $(wc -c <"$archive.gz") bytes"
