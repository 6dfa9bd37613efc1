#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# cross.sh [--sample] [ARCH...]    ARCH: aarch64, armv7, riscv64, loongarch64, s390x, ppc64el, i386,
# cross.sh --programs ARCH         mipsel, mips (big endian), mips64el; all of them where none is named
#
# Builds for other machines with Debian's cross compilers, into build/cross/ARCH (the binary is
# build/cross/ARCH/stackbox: static, it needs nothing there), and tests the result in qemu's emulation of
# programs: the unit tests, golden ones included; and the binary's output for words and files, which must be the
# same to the byte as from the binary for this machine ($STACKBOX). For armv7 and 32-bit MIPS it also builds
# programs with two kinds of code, of which only one may be traced.
#
# --sample leaves out the slowest unit tests. --programs builds what a guest of that machine needs, the binary
# and build/cross/ARCH/workloads, and tests nothing: fast if all of it exists, and two may run at the same time.
#
# Prints PASS, FAIL and SKIP line by line; --programs a sentence on failure. Exit: 0 nothing failed; 1 something
# did; 77 nothing was built.

set -u
umask 022
cd "$(dirname "$0")/.." || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL

# Tests with random numbers make this many times fewer rounds here.
export FEWER_ROUNDS="${FEWER_ROUNDS:-10}"

all="aarch64 armv7 riscv64 loongarch64 s390x ppc64el i386 mipsel mips mips64el"
native=${STACKBOX:-$PWD/stackbox}
built=no failed=no

# arch NAME: sets $compiler and $emulator
arch()
{
    case $1 in
    aarch64) compiler=aarch64-linux-gnu-gcc emulator=qemu-aarch64 ;;
    armv7)   compiler=arm-linux-gnueabihf-gcc emulator=qemu-arm ;;
    riscv64) compiler=riscv64-linux-gnu-gcc emulator=qemu-riscv64 ;;
    loongarch64) compiler=loongarch64-linux-gnu-gcc emulator=qemu-loongarch64 ;;
    s390x)   compiler=s390x-linux-gnu-gcc emulator=qemu-s390x ;;
    ppc64el) compiler=powerpc64le-linux-gnu-gcc emulator=qemu-ppc64le ;;
    i386)    compiler=i686-linux-gnu-gcc emulator=qemu-i386 ;;
    mipsel)  compiler=mipsel-linux-gnu-gcc emulator=qemu-mipsel ;;
    mips)    compiler=mips-linux-gnu-gcc emulator=qemu-mips ;;
    mips64el) compiler=mips64el-linux-gnuabi64-gcc emulator=qemu-mips64el ;;
    *)       echo "cross.sh: $1: not one of $all" >&2; exit 2 ;;
    esac
    build=build/cross/$1
    command -v $emulator >/dev/null || emulator=$emulator-static
}

pass()
{
    echo "PASS $arch: $1"
}

fail()
{
    echo "FAIL $arch: $1: $2"
    failed=yes
}

skip()
{
    echo "SKIP $arch: $1"
}

# make_for TARGET...: false if that fails, or a compiler prints anything, which is shown
make_for()
{
    mkdir -p "$build" || exit 1
    flock "$build/lock" make --no-print-directory -j"$(nproc)" CC=$compiler BUILD="$build" \
        PROGRAM="$build/stackbox" "$@" >"$build/$1.log" 2>&1
    status=$?
    ! grep -vE '^[^ ]+: [0-9]+ bytes \(|^make.*: Nothing to be done' "$build/$1.log" && [ $status = 0 ]
}

build()
{
    began=$(date +%s)
    if ! make_for all units; then
        fail build "see above"
        return 1
    fi
    pass "build: $(wc -c <"$build/stackbox") bytes ($(($(date +%s) - began)) s)"
}

programs()
{
    if ! command -v $compiler >/dev/null; then
        echo "$compiler is not installed"
        exit 77
    fi
    make_for guest-programs all && exit
    echo "the programs of $1 could not be built"
    exit 1
}

# Leaves out llvm.c, as llvm reads bytecode alike everywhere, and sandbox.c, as qemu-user denies
# nothing to a process: it has no seccomp and no openat2.
units()
{
    for source in tests/unit/*.c; do
        unit=${source##*/}
        case $unit in
        llvm.c | sandbox.c) continue ;;
        endless_run.c | elf_symbols.c | svg.c | svg_colors.c | jitmap.c) [ $sample = no ] || continue ;;
        esac
        echo "${unit%.c}"
    done
}

# One per CPU at a time: each writes its own log. By an absolute path: qemu-user finds /proc/self/exe
# by the path that it was given, also in another directory.
run_units()
{
    began=$(date +%s)
    # shellcheck disable=SC2016 # for that shell
    units | xargs -P "$(nproc)" -I UNIT sh -c \
        'timeout 300 "$1" "$PWD/$2/unit/$3" >"$2/$3.log" 2>&1 </dev/null; echo $? >"$2/$3.status"' \
        unit "$emulator" "$build" UNIT
    for unit in $(units); do
        read -r status <"$build/$unit.status"
        sed -n "s/^\(PASS\|FAIL\|SKIP\) /\1 $arch: $unit: /p; /^  /p" "$build/$unit.log"
        grep -q '^FAIL ' "$build/$unit.log" && failed=yes
        if [ "$status" != 0 ]; then
            grep -q '^FAIL ' "$build/$unit.log" || fail "$unit" "exit status $status"
        fi
    done
    echo "$arch: the unit tests took $(($(date +%s) - began)) s"
}

# same NAME WORD...: both binaries print the same for these words
same()
{
    name=$1
    shift
    "$native" "$@" >"$build/native.out" 2>&1 </dev/null
    native_status=$?
    timeout 60 "$emulator" "$build/stackbox" "$@" >"$build/cross.out" 2>&1 </dev/null
    status=$?
    if [ $status != $native_status ]; then
        fail "$name" "exit status $status, should be $native_status: $(head -n 1 "$build/cross.out")"
    elif ! cmp "$build/native.out" "$build/cross.out"; then
        fail "$name" "not what the binary for this machine prints"
    else
        pass "$name"
    fi
}

compare()
{
    same "applets"
    same "--version" --version
    for applet in $("$native" | cut -d ' ' -f 1); do
        same "$applet --help" "$applet" --help
        same "$applet --man" "$applet" --man
        same "$applet: a word that it does not know" "$applet" --no-such-option
    done
    for file in tests/fuzz/corpus/folded/*; do
        for format in text folded svg flat pprof speedscope; do
            same "flamegraph --format $format of ${file##*/}" flamegraph --format $format "$file"
        done
    done
}

# listed WORD STATUS TEXT: what --list prints for a pattern in that program, below $root
listed()
{
    timeout 60 "$emulator" -L "$root" "$build/stackbox" stackcount --list "$build/kinds:$1" \
        >"$build/list.out" 2>&1 </dev/null
    status=$?
    if [ $status != "$2" ] || ! grep -qF -- "$3" "$build/list.out"; then
        fail "--list $1" "exit status $status: $(head -n 3 "$build/list.out")"
    else
        pass "--list $1"
    fi
}

# kinds PROBED OTHER TEXT: a program with two kinds of code, by functions' attributes; the other is never probed, and
# a text says so. 64-bit kernels of ARM cannot probe such programs at all, so this one must resemble a 32-bit one.
kinds()
{
    mkdir -p "$build/root/proc" && echo '80008000 T _text' >"$build/root/proc/kallsyms" || return
    cat >"$build/kinds.c" <<EOF
__attribute__(($1, noinline)) int in_probed(int n) { return n * 3; }
__attribute__(($2, noinline)) int in_other(int n) { return n * 5; }
int main(int argc, char **argv) { (void)argv; return in_probed(argc) - in_other(argc); }
EOF
    $compiler -O1 -o "$build/kinds" "$build/kinds.c" || return
    root=/
    [ "$arch" != armv7 ] || listed in_probed 1 "is a 32-bit program, which this kernel cannot probe"
    root=$build/root
    listed in_probed 0 :in_probed
    listed in_other 1 "is $3 code"
    listed 'in_*' 0 "left out 1 of 2"
    "${compiler%gcc}strip" "$build/kinds"
    address=$("${compiler%gcc}readelf" -h "$build/kinds" | sed -n 's/.*Entry point address: *//p')
    listed "$address" 1 "$3 code"
}

sample=no
case ${1:-} in
--sample) sample=yes; shift ;;
--programs) arch "${2:-}"; programs "$2" ;;
esac
# shellcheck disable=SC2086 # a list of words
[ $# -gt 0 ] || set -- $all
for arch; do
    arch "$arch"
    if ! command -v $compiler >/dev/null; then
        skip "$compiler is not installed"
        continue
    fi
    build || continue
    built=yes
    if ! command -v $emulator >/dev/null; then
        skip "built, but not run: ${emulator%-static} is not installed"
        continue
    fi
    run_units
    case $arch in
    armv7) kinds 'target("arm")' 'target("thumb")' Thumb ;;
    mips | mipsel)
        kinds nomips16 mips16 "microMIPS or MIPS16"
        kinds nomicromips micromips "microMIPS or MIPS16" ;;
    esac
    if [ -x "$native" ]; then
        compare
    else
        skip "there is no $native to compare with"
    fi
done
[ $failed = no ] || exit 1
[ $built = yes ] || exit 77
