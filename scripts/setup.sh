#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# setup.sh build|test|guests|cross|arch
#
# Makes sure that the Debian packages are installed that are needed to build (60 MB to fetch), or for `make test`
# besides (70 MB), or for `make test-guests` (350 MB: emulators of arm64 and riscv64, compilers, a browser), or to
# build for these two and armv7 (130 MB), or for all other machines, with what boots them (100 MB). If nothing is
# missing, it does nothing. On a Debian machine, as root, it installs what is missing, and says so; elsewhere it
# names it in one sentence. What tests need and Debian does not have, npm fetches into build/npm.
#
# Exit: 0 everything needed is there; 1 something is missing.

set -u
cd "$(dirname "$0")/.." || exit 1
PATH=$PATH:/usr/sbin:/sbin

# GROUP NEED PACKAGE PROBE: a program in PATH, or a file, which may be a pattern. `want`: optional.
packages()
{
    cat <<END
build need gcc              gcc
build need make             make
build need libc6-dev        /usr/include/stdio.h
build need linux-libc-dev   /usr/include/linux/bpf.h
build want musl-tools       musl-gcc
test  need xz-utils         xz
test  need qemu-system-x86  qemu-system-x86_64
test  need cpio             cpio
test  want g++              g++
test  want mandoc           mandoc
test  want elfutils         eu-elfcompress
test  want bpftool          bpftool
test  want tmux             tmux
test  want zsh              zsh
test  want systemtap-sdt-dev /usr/include/*/sys/sdt.h
guests want qemu-system-arm  qemu-system-aarch64
guests want qemu-system-misc qemu-system-riscv64
guests need clang            clang
guests want libclang-rt-dev  $(clang -print-resource-dir 2>/dev/null)/lib/linux
guests need llvm             llvm-objdump
guests want lld              ld.lld
guests want git              git
guests want fish             fish
guests want lintian          lintian
guests want debhelper        dh
guests want dpkg-dev         dpkg-buildpackage
guests want shellcheck       shellcheck
guests want jq               jq
guests want busybox-static   busybox
guests want ripgrep          rg
guests want chromium         chromium
guests want golang-go        go
guests want nodejs           node
guests want npm              npm
cross need gcc-aarch64-linux-gnu    aarch64-linux-gnu-gcc
cross need libc6-dev-arm64-cross    /usr/aarch64-linux-gnu/lib/libc.a
cross need gcc-arm-linux-gnueabihf  arm-linux-gnueabihf-gcc
cross need libc6-dev-armhf-cross    /usr/arm-linux-gnueabihf/lib/libc.a
cross need gcc-riscv64-linux-gnu    riscv64-linux-gnu-gcc
cross need libc6-dev-riscv64-cross  /usr/riscv64-linux-gnu/lib/libc.a
cross want qemu-user                /usr/bin/qemu-riscv64*
arch  need gcc-s390x-linux-gnu      s390x-linux-gnu-gcc
arch  need libc6-dev-s390x-cross    /usr/s390x-linux-gnu/lib/libc.a
arch  need gcc-powerpc64le-linux-gnu powerpc64le-linux-gnu-gcc
arch  need libc6-dev-ppc64el-cross  /usr/powerpc64le-linux-gnu/lib/libc.a
arch  need gcc-i686-linux-gnu       i686-linux-gnu-gcc
arch  need libc6-dev-i386-cross     /usr/i686-linux-gnu/lib/libc.a
arch  want gcc-loongarch64-linux-gnu loongarch64-linux-gnu-gcc
arch  want libc6-dev-loong64-cross  /usr/loongarch64-linux-gnu/lib/libc.a
arch  want zstd                     zstd
arch  want gcc-mipsel-linux-gnu     mipsel-linux-gnu-gcc
arch  want libc6-dev-mipsel-cross   /usr/mipsel-linux-gnu/lib/libc.a
arch  want gcc-mips-linux-gnu       mips-linux-gnu-gcc
arch  want libc6-dev-mips-cross     /usr/mips-linux-gnu/lib/libc.a
arch  want gcc-mips64el-linux-gnuabi64 mips64el-linux-gnuabi64-gcc
arch  want libc6-dev-mips64el-cross /usr/mips64el-linux-gnuabi64/lib/libc.a
arch  want qemu-system-ppc          qemu-system-ppc64
arch  want qemu-system-mips         qemu-system-mipsel
arch  want qemu-system-misc         qemu-system-loongarch64
END
}

# What tests need from npm: NAME@VERSION, exactly.
NODE_PACKAGES="speedscope@1.25.0"

# shellcheck disable=SC2086 # a path may be a pattern
is_there()
{
    case $1 in
    /*) set -- $1; [ -e "$1" ] ;;
    *)  command -v "$1" >/dev/null ;;
    esac
}

# missing NEEDS: the missing packages of this group with one of these NEEDS
missing()
{
    packages | while read -r of need package probe; do
        case "$group $1" in
        "$of "*"$need"*) is_there "$probe" || printf '%s ' "$package" ;;
        esac
    done
}

# Nothing may be removed: what is installed matters more than a test.
install()
{
    echo "\$ install $*" >>"$log"
    apt-get -y -q --no-install-recommends --no-remove -o DPkg::Lock::Timeout=120 \
        -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o Dpkg::Use-Pty=0 install "$@" \
        >>"$log" 2>&1 </dev/null
}

# An unrelated broken source makes update fail, although the lists that matter were fetched.
update()
{
    echo "\$ update" >>"$log"
    apt-get -q -o DPkg::Lock::Timeout=120 -o Acquire::Retries=1 -o Acquire::http::Timeout=20 \
        update >>"$log" 2>&1 </dev/null || echo "(update failed, at least in part)" >>"$log"
}

# shellcheck disable=SC2086 # a list of words
install_missing()
{
    install $1 && return
    update
    install $1 && return
    # A package that this Debian release lacks must not block the others.
    grep -qE 'Unable to locate|no installation candidate|need to be removed|remove is disabled' \
        "$log" || return
    for package in $1; do
        install "$package"
    done
}

debian_packages()
{
    wanted=$(missing "need want")
    [ "$wanted" ] || return 0
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "setup: installing with apt-get, for the $what: $wanted"
        mkdir -p build && log=$PWD/build/setup-$group.log && : >"$log" || return 1
        export DEBIAN_FRONTEND=noninteractive
        install_missing "$wanted"
        needed=$(missing need)
        [ "$needed" ] || return 0
        grep '^E: ' "$log" | tail -n 3
        echo "setup: Debian packages for the $what could not be installed: $needed"
        return 1
    fi
    needed=$(missing need)
    [ "$needed" ] || return 0
    echo "setup: Debian packages for the $what are missing; as root: apt-get install $needed"
    return 1
}

# Is NAME@VERSION below build/npm?
is_fetched()
{
    grep -qs "^  \"version\": \"${1##*@}\"" "build/npm/node_modules/${1%@*}/package.json"
}

# Tests that lack a package are skipped, and say so. npm runs no install scripts.
node_packages()
{
    fetched=yes
    for package in $NODE_PACKAGES; do
        is_fetched "$package" || fetched=no
    done
    [ $fetched = no ] && command -v npm >/dev/null || return 0
    echo "setup: fetching with npm, for the $what: $NODE_PACKAGES"
    # shellcheck disable=SC2086 # a list of words
    mkdir -p build/npm && timeout -k 5 120 npm install --prefix build/npm --ignore-scripts --no-save \
        --no-package-lock --no-audit --no-fund --prefer-offline --fetch-retries=1 \
        --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=2000 --fetch-timeout=20000 \
        $NODE_PACKAGES >build/setup-npm.log 2>&1 </dev/null ||
        echo "setup: npm could not fetch $NODE_PACKAGES: tests will be skipped (build/setup-npm.log)"
}

group=${1:-}
case $group in
build | test | guests | cross | arch) ;;
*) echo "usage: setup.sh build|test|guests|cross|arch" >&2; exit 2 ;;
esac

what=$group
case $group in
test)   what="tests" ;;
guests) what="tests of make test-guests" ;;
cross)  what="build for arm64, riscv64 and armv7" ;;
arch)   what="build for other machines" ;;
esac
debian_packages
status=$?
[ "$group" != guests ] || node_packages
exit $status
