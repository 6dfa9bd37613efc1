#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# build.sh DIRECTORY: the shapes in each way that the compilers here have, each a program DIRECTORY/WAY/shapes.
# What cannot be built is a line "SKIP way: reason" in DIRECTORY/skipped. Nothing is done twice.
set -u

here=${0%/*}
to=$1
mkdir -p "$to" || exit 1
exec 9>"$to/lock"
flock 9
if [ -e "$to/done" ] && [ -z "$(find "$here" -newer "$to/done")" ]; then
    exit 0
fi
rm -f "$to/done" "$to"/skipped

common='-std=gnu11 -D_GNU_SOURCE -fasynchronous-unwind-tables -g0 -w'
ifunc='-DWITH_IFUNC -DWITH_LIBRARIES'

# WAY | COMPILER | C++ compiler, or - | flags for both | linker flags
ways()
{
    cat <<END
gcc|gcc|g++|-O2 -fPIE -DWITH_NESTED $ifunc|-pie
gcc-O0|gcc|g++|-O0 -fPIE -DWITH_NESTED $ifunc|-pie
gcc-O1|gcc|-|-O1 -foptimize-sibling-calls -fPIE|-pie
gcc-O3|gcc|-|-O3 -fPIE|-pie
gcc-Os|gcc|-|-Os -fPIE $ifunc|-pie
gcc-frames|gcc|-|-O2 -fno-omit-frame-pointer -fPIE $ifunc|-pie
gcc-lazy|gcc|-|-O2 -fPIE $ifunc|-pie -Wl,-z,lazy
gcc-now|gcc|-|-O2 -fPIE -fno-plt $ifunc|-pie -Wl,-z,now
gcc-no-pie|gcc|-|-O2 -fno-pie -fcf-protection=none|-no-pie
gcc-static|gcc|g++|-O2 -fno-pie -DWITH_IFUNC|-static
gcc-static-pie|gcc|-|-O2 -fPIE -DWITH_IFUNC|-static-pie
gcc-lto|gcc|-|-O2 -flto=1 -flto-partition=none -fPIE $ifunc|-pie
gcc-cet|gcc|-|-O2 -fcf-protection=full -fPIE $ifunc|-pie -Wl,-z,lazy -Wl,-z,ibtplt
gcc-guarded|gcc|-|-O2 -fstack-protector-all -fstack-clash-protection -fPIE|-pie
gcc-pushes|gcc|-|-Os -mno-accumulate-outgoing-args -mpush-args -fPIE|-pie
gcc-gold|gcc|-|-O2 -fPIE $ifunc|-pie -fuse-ld=gold -Wl,-z,lazy
gcc-lld|gcc|-|-O2 -fPIE $ifunc|-pie -fuse-ld=lld -Wl,-z,lazy
gcc-large|gcc|-|-O2 -fno-pie -mcmodel=large|-no-pie
clang|clang|clang++|-O2 -fPIE $ifunc|-pie
clang-O0|clang|-|-O0 -fPIE $ifunc|-pie
clang-Os|clang|-|-Os -fPIE -fomit-frame-pointer|-pie
clang-lld|clang|-|-O3 -fPIE $ifunc|-pie -fuse-ld=lld -Wl,-z,lazy
clang-static|clang|-|-O2 -fno-pie|-static
clang-lto|clang|-|-O2 -flto -fPIE $ifunc|-pie -fuse-ld=lld
clang-cet|clang|-|-O2 -fcf-protection=full -fPIE|-pie -fuse-ld=lld -Wl,-z,lazy
musl|musl-gcc|-|-O2 -fno-pie|-static
musl-Os|musl-gcc|-|-Os -fPIE|-pie
musl-O3-code|musl-gcc|-|-O3 -fno-pie -fno-asynchronous-unwind-tables|-static
musl-code|musl-gcc|-|-O2 -fPIE -fno-asynchronous-unwind-tables|-pie
END
}

# build WAY COMPILER C++ FLAGS LINKED: builds all programs that way
build()
{
    mkdir -p "$to/$1"
    shared_compiler=$2 linker=$2 objects=
    for source in "$here"/*.c; do
        object=$to/$1/$(basename "$source" .c).o
        case $source in
        */library.c) continue ;;
        */main.c) [ "$3" = - ] || set -- "$1" "$2" "$3" "$4 -DWITH_CXX" "$5" ;;
        esac
        # shellcheck disable=SC2086 # lists of words
        $2 $common $4 -c -o "$object" "$source" || return
        objects="$objects $object"
    done
    if [ "$3" != - ]; then
        linker=$3
        # shellcheck disable=SC2086
        $3 -fasynchronous-unwind-tables -w $4 -c -o "$to/$1/cxx.o" "$here/cxx.cc" || return
        objects="$objects $to/$1/cxx.o"
    fi
    # shellcheck disable=SC2086
    $linker $4 $5 -pthread -o "$to/$1/shapes" $objects || return
    case $4 in
    *WITH_LIBRARIES*)
        # shellcheck disable=SC2086
        $shared_compiler $common -O2 -fomit-frame-pointer -fPIC -shared -DROOM=100 -o "$to/$1/libeast.so" \
            "$here/library.c" &&
            $shared_compiler $common -O2 -fno-omit-frame-pointer -fPIC -shared -DROOM=3000 \
                -o "$to/$1/libwest.so" "$here/library.c" ;;
    esac
}

# one LINE: builds one line of ways()
one()
{
    IFS='|'
    # shellcheck disable=SC2086
    set -- $1
    unset IFS
    rm -rf "${to:?}/$1"
    if ! command -v "$2" >/dev/null; then
        echo "$1: $2 is not installed" >>"$to/skipped"
    elif ! (build "$@") >"$to/$1.log" 2>&1; then
        echo "$1: $(grep -m 1 . "$to/$1.log")" >>"$to/skipped"
        rm -rf "${to:?}/$1"
    fi
    rm -f "$to/$1"/*.o
}

# Two at a time
ways | {
    while read -r line && { read -r other || :; }; do
        one "$line" &
        [ -z "$other" ] || one "$other"
        wait
    done
}
touch "$to/done"
