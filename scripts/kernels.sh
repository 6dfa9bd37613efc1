#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# kernels.sh [--peers] KERNEL...    KERNEL: [MACHINE-]RELEASE
#
#     RELEASE   5.10, 6.1, 6.12, newest
#     MACHINE   arm64, arm64-16k (pages of 16 KB), armhf, riscv64, loong64 (newest alone), s390x, ppc64el, mipsel,
#               mips64el (Malta's; their newest is 6.1); x86-64 where none is named; rt: x86-64 with PREEMPT_RT
#
# Puts Debian's own kernel (the cloud flavour, if there is one) into build/kernels/KERNEL/:
#     vmlinuz, version (the package it came from), modules/*.ko (a few small ones, not compressed),
#     busybox (the same Debian's static one, in which the tests run)
# Other machines' modules are left out if they are a package of their own: 20 to 120 MB.
#
#   --peers   also peers.cpio: a root directory with bcc, bpftrace, libbpf-tools of the same Debian, what they need to
#             run, that kernel's headers and its modules of loop devices and ext4. 1 GB; guest.sh --under has it.
#
# It comes from the mirror that this machine's apt already uses, through a private apt state below build/: the
# machine's apt sees no new suite, and no root is needed. apt checks signatures and sums. What is there already
# is not fetched again.
#
# Exit: 0 all there; 77 not available, with the reason on stderr.

set -u
umask 022
cd "$(dirname "$0")/.." || exit 1

kernels=$PWD/build/kernels
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -r $keyring ] || keyring=${keyring%.gpg}.pgp
modules='dummy veth nlmon'

cannot()
{
    echo "kernel $kernel: $*" >&2
    exit 77
}

# The suites that have a kernel, Debian's name for the machine, and the suffixes of its image packages, best
# first.
describe()
{
    case $kernel in
    arm64-16k-*) architecture=arm64 flavours=arm64-16k ;;
    arm64-*)     architecture=arm64 flavours='cloud-arm64 arm64' ;;
    armhf-*)     architecture=armhf flavours=armmp ;;
    riscv64-*)   architecture=riscv64 flavours=riscv64 ;;
    loong64-*)   architecture=loong64 flavours=loong64 ;;
    s390x-*)     architecture=s390x flavours=s390x ;;
    ppc64el-*)   architecture=ppc64el flavours=powerpc64le ;;
    mipsel-*)    architecture=mipsel flavours=4kc-malta ;;
    mips64el-*)  architecture=mips64el flavours=5kc-malta ;;
    rt-*)        architecture=amd64 flavours=rt-amd64 ;;
    *-*)         echo "kernels.sh: $kernel: no such machine" >&2; exit 2 ;;
    *)           architecture=amd64 flavours=cloud-amd64 ;;
    esac
    release=${kernel##*-}
    case $kernel in
    mips*-newest) release=6.1 ;; # Debian's last release for it
    esac
    case $release in
    5.10)   suites='bullseye bullseye-security' release='5\.10\.' ;;
    6.1)    suites='bookworm bookworm-security' release='6\.1\.' ;;
    6.12)   suites='trixie trixie-security' release='6\.12\.' ;;
    newest) suites='sid' release='[0-9]' ;;
    *)      echo "kernels.sh: $kernel: not of 5.10, 6.1, 6.12, newest" >&2; exit 2 ;;
    esac
}

# apt with private state in $work, regardless of the machine's configuration and installed packages.
private_apt()
{
    command=$1
    shift
    "$command" -o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache" \
        -o Dir::State::status=/dev/null \
        -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null \
        -o APT::Architecture="$architecture" -o APT::Architectures::="$architecture" \
        -o APT::Sandbox::User=root \
        -o Acquire::Languages=none -o Acquire::Retries=2 -o Acquire::http::Timeout=30 "$@"
}

# Takes the mirrors from the machine's apt, which parses every format of sources.
find_mirrors()
{
    command -v apt-get >/dev/null || cannot "apt-get is missing: it cannot be fetched"
    [ -r $keyring ] || cannot "$keyring is not there to check the download with"
    mirror= security=
    for target in $(apt-get --no-release-info indextargets \
                    --format '$(REPO_URI)|$(RELEASE)|$(COMPONENT)' 'Created-By: Packages'); do
        case $target in
        *-security/*"|main" | *-security"|main") security=${security:-${target%%"|"*}} ;;
        *debian*"|main" | mirror*"|main")        mirror=${mirror:-${target%%"|"*}} ;;
        esac
    done
    [ "$mirror" ] || cannot "this machine's apt sources name no Debian mirror"
}

write_sources()
{
    for suite in $suites; do
        case $suite in
        *-security) from=$security ;;
        *)          from=$mirror ;;
        esac
        [ "$from" ] && echo "deb [arch=$architecture signed-by=$keyring] $from $suite main"
    done >"$work/sources.list"
}

# Two guests may need a kernel at the same time: one fetches it while the other waits for the lock.
take_turn()
{
    mkdir -p "$kernels" && exec 9>"$kernels/.$kernel.lock" && flock 9 || exit 1
}

prepare_apt()
{
    find_mirrors
    work=$kernels/.$kernel.$$
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' HUP INT TERM
    mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
    write_sources
}

# Image packages of this kernel, newest first. Recent kernels are split into linux-binary-* (the
# image) and linux-modules-*; their linux-image-* is empty.
list_versions()
{
    for flavour in $flavours; do
        private_apt apt-cache pkgnames linux- |
            sed -nE "s/^linux-(image|binary)-($release.*[0-9]-$flavour)\$/\2/p" | sort -ruV
    done
}

# The newest that exists: a suite may name one that the mirror does not have.
fetch_busybox()
{
    mkdir -p "$work/busybox"
    for busybox in $(private_apt apt-cache madison busybox-static | cut -d '|' -f 2); do
        (cd "$work/busybox" && private_apt apt-get -qq download "busybox-static=$busybox") && return
    done
    return 1
}

# Fetches one version and unpacks it below $work/root.
fetch()
{
    rm -rf "$work/root" "$work/debs"
    mkdir -p "$work/root" "$work/debs"
    packages=linux-image-$1
    if private_apt apt-cache show "linux-binary-$1" >/dev/null 2>&1; then
        packages="linux-binary-$1"
        [ "$architecture" != amd64 ] || packages="$packages linux-modules-$1"
    fi
    # shellcheck disable=SC2086 # one or two names
    (cd "$work/debs" && private_apt apt-get -qq download $packages) || return 1
    for package in "$work"/debs/*.deb "$work"/busybox/*.deb; do
        dpkg-deb -x "$package" "$work/root" || return 1
    done
}

# copy_image FROM TO: unpacks the kernel of an EFI zboot image if zstd packed it, as QEMU has no
# zstd: "MZ" at byte 0, "zimg" at 4, the kernel's offset and size at 8, the compression at 24.
copy_image()
{
    if [ "$(od -An -c -N 28 "$1" | tr -d ' \n' | sed -n '/^MZ\\0\\0zimg.*zstd$/p')" ]; then
        # shellcheck disable=SC2046 # two numbers
        set -- "$1" "$2" $(od -An -tu4 -j 8 -N 8 "$1")
        tail -c "+$(($3 + 1))" "$1" | head -c "$4" | zstd -qdc >"$2"
    else
        cp "$1" "$2"
    fi
}

# Copies from the unpacked package to the directory that guests use. An uncompressed image is named
# vmlinux.
keep()
{
    image=$(find "$work/root" -name 'vmlinu[xz]*' -type f | head -n 1)
    busybox=$(find "$work/root" -name busybox -path '*bin/*' -type f | head -n 1)
    [ "$image" ] && [ "$busybox" ] || return 1
    mkdir -p "$work/done/modules" && copy_image "$image" "$work/done/vmlinuz" &&
        cp "$busybox" "$work/done/busybox" || return 1
    for module in $modules; do
        file=$(find "$work/root" -name "$module.ko*" -type f | head -n 1)
        case $file in
        *.ko)     cp "$file" "$work/done/modules/$module.ko" ;;
        *.ko.xz)  xz -dc "$file" >"$work/done/modules/$module.ko" ;;
        *.ko.zst) command -v zstd >/dev/null || continue
                  zstd -qdc "$file" >"$work/done/modules/$module.ko" ;;
        *)        continue ;;
        esac || return 1
    done
    echo "$1" >"$work/done/version"
}

# ---- the peers' tools

# What scripts/beside.sh and bench.sh run, and what they and their workloads need
peers='bpfcc-tools bpftrace libbpf-tools linux-perf binutils llvm e2fsprogs mount util-linux kmod dpkg dash bash mawk
    coreutils findutils grep sed procps libc-bin'

# The tools with all their dependencies; of headers and modules only the packages themselves
download_peers()
{
    headers=$(private_apt apt-cache depends "linux-headers-$version" |
        sed -n 's/.*Depends: \(linux-headers-.*-common\)/\1/p')
    modules_package=linux-modules-$version
    private_apt apt-cache show "$modules_package" >/dev/null 2>&1 || modules_package=linux-image-$version
    mkdir -p "$work/debs" "$work/modules"
    # shellcheck disable=SC2086 # names
    private_apt apt-get -qq -y -d --no-install-recommends -o Debug::NoLocking=1 install $peers &&
        mv "$work/cache/archives"/*.deb "$work/debs/" &&
        (cd "$work/debs" && private_apt apt-get -qq download "linux-headers-$version" $headers) &&
        (cd "$work/modules" && private_apt apt-get -qq download "$modules_package")
}

# unpack PACKAGE DIRECTORY: as on a system whose /bin and /lib are links
unpack()
{
    dpkg-deb --fsys-tarfile "$1" | tar -x --keep-directory-symlink -C "$2"
}

# A root directory made of unpacked packages: none of their scripts runs. dpkg's database lists them, so
# their versions can be queried.
make_peers_root()
{
    for directory in bin sbin lib lib64; do
        mkdir -p "$1/usr/$directory" && ln -s "usr/$directory" "$1/$directory" || return 1
    done
    mkdir -p "$1/var/lib/dpkg" "$work/unpacked" || return 1
    for package in "$work"/debs/*.deb; do
        unpack "$package" "$1" || return 1
        dpkg-deb -f "$package" | sed '/^Package:/a Status: install ok installed' && echo
    done >"$1/var/lib/dpkg/status"
    unpack "$work"/modules/*.deb "$work/unpacked" || return 1
    (cd "$work/unpacked" && { [ -d lib ] || cd usr; } &&
        find lib/modules -name 'modules.*' -o -path '*/drivers/block/loop.ko*' -o -path '*/fs/ext4/*' \
            -o -path '*/fs/jbd2/*' -o -name 'mbcache.ko*' -o -path '*/lib/*crc*.ko*' -o -path '*/crypto/*crc*.ko*' |
        cpio -pdm --quiet "$1/usr") || return 1
    PATH=$PATH:/usr/sbin:/sbin depmod -b "$1" "$version" 2>/dev/null
    ln -s mawk "$1/usr/bin/awk"
    rm -rf "$1/usr/share/man" "$1/usr/share/locale" "$1/usr/share/perl" "$1/usr/lib/x86_64-linux-gnu/gconv"
}

get_peers()
{
    take_turn
    [ ! -s "$kernels/$kernel/peers.cpio" ] || return 0
    prepare_apt
    version=$(cat "$kernels/$kernel/version")
    echo "kernel $kernel: fetching bcc, bpftrace, libbpf-tools of its Debian ..." >&2
    {
        private_apt apt-get -qq update
        download_peers && make_peers_root "$work/peers"
    } >"$work/peers.log" 2>&1 || {
        grep '^[EW]:' "$work/peers.log" | head -n 3 >&2
        cannot "the tools for $version could not be fetched from this machine's Debian mirror"
    }
    (cd "$work/peers" && find . | cpio -o -H newc --quiet -R 0:0) >"$work/peers.cpio" &&
        mv "$work/peers.cpio" "$kernels/$kernel/" || exit 1
    rm -rf "$work"
}

get_kernel()
{
    describe
    # The version is written last, and the directory renamed as a whole: so whatever is there is
    # complete.
    [ -s "$kernels/$kernel/version" ] && return
    take_turn
    [ -s "$kernels/$kernel/version" ] && return
    prepare_apt
    echo "kernel $kernel: fetching it from the Debian mirror of this machine ..." >&2
    # A mirror may lack a suite: the others are enough.
    private_apt apt-get -qq update >"$work/update.log" 2>&1
    fetch_busybox >"$work/busybox.log" 2>&1
    for version in $(list_versions | head -n 8); do
        if fetch "$version" >"$work/fetch.log" 2>&1 && keep "$version"; then
            rm -rf "${kernels:?}/$kernel"
            mv "$work/done" "$kernels/$kernel" || exit 1
            echo "kernel $kernel: $version" >&2
            rm -rf "$work"
            return
        fi
        echo "kernel $kernel: $version is not to be had, trying the next" >&2
    done
    cat "$work/update.log" "$work/busybox.log" "$work/fetch.log" 2>/dev/null | grep '^[EW]:' | head -n 3 >&2
    cannot "no version of it could be fetched from this machine's Debian mirror"
}

with_peers=no
[ "${1:-}" != --peers ] || { with_peers=yes; shift; }
[ $# -gt 0 ] || { echo "usage: kernels.sh [--peers] KERNEL..." >&2; exit 2; }
for kernel; do
    get_kernel
    [ $with_peers = no ] || get_peers
done
