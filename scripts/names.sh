#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# names.sh [--only LABEL,...] [--again]   demangles every C++ and Rust name of large programs and
#                                         libraries of Debian, and compares with c++filt and llvm-cxxfilt
# names.sh --sample                       makes tests/names/sample.txt of the names of the last run
#
#   --only LABEL,...   only these of scripts/names/corpora.tsv
#   --again            reads the symbols again; otherwise an earlier run's are used
#
# The files are this machine's, if it has them; otherwise their package is fetched by apt-get download and
# unpacked below build/names; nothing is installed. All mangled symbols of each file are used, from .symtab and
# .dynsym and from all members of archives; a name that occurs in several counts in the first. The three results
# go to build/names/LABEL.tsv, differences to LABEL.differences.
#
# A result is right if it equals that of c++filt or llvm-cxxfilt, literally or after converting its spellings to
# those of c++filt (scripts/names/style.awk). A difference is of a kind that has a rule in
# scripts/names/kinds.awk and an explanation in scripts/names/kinds.tsv, or it is printed, and a failure.
#
# Exit: 0 at least 99 % are right in each set with more than 1,000 names of its own, and literally right in all
# of them together, and the rest is of known kinds; 1 otherwise, or with fewer than twelve such sets; 2 wrong
# usage.

set -u
umask 022
exec </dev/null
cd "$(dirname "$0")/.." || exit 1
export LC_ALL=C
work=$PWD/build/names
rules=scripts/names
ours=build/release/workloads/demangle
only='' again='' sample=''

usage()
{
    sed -n 's/^# \(names\.sh\)/usage: \1/p' scripts/names.sh >&2
    exit 2
}

while [ $# -gt 0 ]; do
    case $1 in
    --only)   [ $# -gt 1 ] || usage; only=,$2,; shift ;;
    --again)  again=yes ;;
    --sample) sample=yes ;;
    *)        usage ;;
    esac
    shift
done

# unpacked PACKAGE: sets $root to where its files are: / if it is installed
unpacked()
{
    root=
    if dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q ' installed$'; then
        return 0
    fi
    root=$work/packages/$1
    [ -d "$root" ] && return
    rm -rf "$work/fetched"
    mkdir -p "$work/fetched" "$work/packages" || return
    (cd "$work/fetched" && timeout 600 apt-get -q -o APT::Sandbox::User=root download "$1") \
        >"$work/fetch.log" 2>&1 && dpkg-deb -x "$work/fetched"/*.deb "$root" ||
        { echo "names.sh: $1: $(tail -n 1 "$work/fetch.log")" >&2; rm -rf "$root"; return 1; }
    rm -rf "$work/fetched"
}

# The Rust toolchain of this machine
toolchain()
{
    root=$(rustc --print sysroot 2>/dev/null) && [ -d "$root/lib" ]
}

# symbols_of FILE...: their mangled names, without versions
symbols_of()
{
    for file; do
        [ -f "$file" ] || continue
        nm "$file" 2>/dev/null
        nm -D "$file" 2>/dev/null
    done | awk '{ sub(/@.*/, "", $NF); if ($NF ~ /^_[ZR]./) print $NF }'
}

# collect LABEL: writes all mangled names in its files to symbols/LABEL
collect()
{
    [ ! -f "$work/symbols/$1" ] || [ "$again" ] || return 0
    awk -F '\t' -v label="$1" '$1 == label { print $2, $3 }' $rules/corpora.tsv |
        while read -r package files; do
            case $package in
            toolchain) toolchain || continue ;;
            path)      files=$(command -v "$files") && root= || continue ;;
            *)         unpacked "$package" || { echo "$1" >>"$work/missing"; continue; } ;;
            esac
            # shellcheck disable=SC2086 # a pattern
            symbols_of "$root"/${files#/}
            rm -rf "$work/packages"
        done | sort -u >"$work/symbols/.new" && mv "$work/symbols/.new" "$work/symbols/$1"
}

# A newer llvm-cxxfilt knows what newer compilers write; it is optional.
find_newer()
{
    newer=
    tools=$work/llvm-19
    if [ ! -x "$tools/llvm-cxxfilt" ]; then
        mkdir -p "$tools" && unpacked llvm-19 || return
        cp "$root/usr/lib/llvm-19/bin/llvm-cxxfilt" "$tools"
        unpacked libllvm19 && cp -L "$root"/usr/lib/*/libLLVM.so.19.1 "$tools" || return
        rm -rf "$work/packages"
    fi
    [ "$(echo _Z1fv | LD_LIBRARY_PATH=$tools "$tools/llvm-cxxfilt")" = 'f()' ] && newer=yes
}

# compare LABEL: compares those of its names that no earlier label had
compare()
{
    result=$work/$1
    sort -m -u "$work/seen" "$work/symbols/$1" >"$work/.seen"
    comm -13 "$work/seen" "$work/symbols/$1" >"$result.names"
    mv "$work/.seen" "$work/seen"
    $ours <"$result.names" >"$work/ours" || return
    c++filt -i <"$result.names" >"$work/gnu" || return
    llvm-cxxfilt <"$result.names" >"$work/llvm" || return
    if [ "$newer" ]; then
        LD_LIBRARY_PATH=$tools "$tools/llvm-cxxfilt" <"$result.names" >"$work/newer" || return
        paste "$result.names" "$work/ours" "$work/gnu" "$work/llvm" "$work/newer"
    else
        paste "$result.names" "$work/ours" "$work/gnu" "$work/llvm"
    fi >"$result.tsv"
    awk -v differences="$result.differences" -f $rules/style.awk -f $rules/kinds.awk \
        -f $rules/compare.awk "$result.tsv" >"$result.counts"
}

[ "$sample" ] && exec sh $rules/sample.sh

for tool in c++filt llvm-cxxfilt nm apt-get dpkg-deb; do
    command -v $tool >/dev/null || { echo "names.sh: needs $tool" >&2; exit 1; }
done
make -s tools || exit 1
mkdir -p "$work/symbols" && : >"$work/seen" && : >"$work/missing" || exit 1
find_newer
[ "$newer" ] || echo "names.sh: running without llvm-cxxfilt 19" >&2
labels=$(awk -F '\t' '!/^#/ && !seen[$1]++ { print $1 }' $rules/corpora.tsv)
counts=''
for label in $labels; do
    case $only in
    '' | *,"$label",*) ;;
    *) continue ;;
    esac
    printf '\r%-30s' "$label" >&2
    collect "$label" && compare "$label" || exit 1
    counts="$counts $work/$label.counts"
done
printf '\r%-30s\r' '' >&2
# Packages that could not be fetched are tried again next time.
while read -r label; do
    rm -f "$work/symbols/$label"
done <"$work/missing"
rm -f "$work/seen" "$work/missing" "$work/ours" "$work/gnu" "$work/llvm" "$work/newer"
[ "$counts" ] || usage
# shellcheck disable=SC2086 # a list of words
awk -v least="${only:+1}" -f $rules/table.awk $rules/kinds.tsv $counts
