#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# stranger.sh SUITE [COMMAND...]      as a new user would: README's two commands, on a new Debian
#
# Makes a minimal Debian (SUITE: bookworm, trixie, sid) in build/stranger/SUITE/, from the mirror that this machine's
# apt uses, puts a fresh clone of the last commit into it, and types there, unchanged, the commands below "Two
# commands" in README.md (or the COMMANDs instead, each one argument), in a mount namespace of their own, with this
# machine's /proc, /sys and /dev, and with debugfs and tracefs mounted, as systemd does. Their output is in
# build/stranger/SUITE/N.log. Root and debootstrap are needed; no test runs it.
#
#     sh scripts/stranger.sh trixie                     make demo, and make test
#     sh scripts/stranger.sh sid 'make demo' 'make test-guests'

set -u
umask 022
cd "$(dirname "$0")/.." || exit 1
PATH=$PATH:/usr/sbin:/sbin

suite=${1:-}
case $suite in
bookworm | trixie | sid) shift ;;
*) echo "usage: stranger.sh bookworm|trixie|sid [COMMAND...]" >&2; exit 2 ;;
esac
place=$PWD/build/stranger/$suite
home=/root/stackbox # the clone, seen from inside

cannot()
{
    echo "stranger: $*" >&2
    exit 1
}

# The first Debian mirror of the machine's apt, which parses every format of sources.
find_mirror()
{
    for target in $(apt-get --no-release-info indextargets --format '$(REPO_URI)|$(COMPONENT)' \
        'Created-By: Packages'); do
        case $target in
        *security*) ;;
        *debian*"|main") echo "${target%%"|"*}"; return ;;
        esac
    done
}

# A minimal Debian, kept as an archive: each run starts from a fresh copy.
make_base()
{
    [ -s "$place/base.tar" ] && return
    mirror=$(find_mirror)
    [ "$mirror" ] || cannot "this machine's apt sources name no Debian mirror"
    echo "stranger: debootstrap --variant=minbase $suite, from the mirror of this machine"
    rm -rf "$place/root"
    debootstrap --variant=minbase "$suite" "$place/root" "$mirror" >"$place/debootstrap.log" 2>&1 ||
        cannot "debootstrap failed: $(tail -n 1 "$place/debootstrap.log")"
    tar -C "$place/root" -cf "$place/base.new" . && mv "$place/base.new" "$place/base.tar"
}

# What a container gets from its host: name resolution, the way to the mirror, and the kernel's file systems.
make_root()
{
    rm -rf "$place/root" && mkdir "$place/root" && tar -C "$place/root" -xf "$place/base.tar" || return
    cp -L /etc/resolv.conf "$place/root/etc/resolv.conf" 2>/dev/null
    cp -L /etc/hosts "$place/root/etc/hosts" 2>/dev/null
    apt-config dump | grep -E '^Acquire::(https?::.*Proxy|Check-)' >"$place/root/etc/apt/apt.conf.d/90machine"
    rm -rf "$place/root/var/lib/apt/lists/"* "$place/root/var/cache/apt/archives/"*.deb # as in container images
    git clone -q --no-hardlinks "file://$PWD" "$place/root$home"
}

# The commands in README's section, and those for machines without make
readme_commands()
{
    sed -n '/^## Two commands/,/^## [^T]/s/^    \(make [a-z]*\).*/\1/p' README.md
}
readme_make()
{
    sed -n '/^## Two commands/,/^## [^T]/s/.*`\(apt-get [^`]* make\)`.*/\1/p' README.md
}

# type_there COMMAND: in a shell in the new Debian, in the clone
type_there()
{
    # shellcheck disable=SC2016 # for that shell
    unshare --mount --propagation private sh -c '
        mounted()
        {
            grep -q " $2 $1 " /proc/mounts
        }
        mount --bind "$1" "$1" && cd "$1" && mount -t proc proc "$1/proc" &&
        mount --rbind /sys "$1/sys" && mount --rbind /dev "$1/dev" || exit
        mounted debugfs "$1/sys/kernel/debug" || mount -t debugfs debugfs "$1/sys/kernel/debug" || exit
        mounted tracefs "$1/sys/kernel/tracing" || mount -t tracefs tracefs "$1/sys/kernel/tracing" || exit
        exec chroot "$1" env -i HOME=/root TERM=dumb LC_ALL=C.UTF-8 \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            sh -c "cd $2 && $3"' - "$place/root" "$home" "$1" </dev/null
}

[ "$(id -u)" = 0 ] || cannot "chroot needs root"
command -v debootstrap >/dev/null || cannot "it needs Debian's debootstrap: apt-get install debootstrap"
mkdir -p "$place" || exit 1
make_base
make_root || cannot "the new Debian could not be unpacked"
[ $# != 0 ] || eval "set -- $(readme_commands | sed "s/.*/'&'/" | tr '\n' ' ')"
[ $# != 0 ] || cannot "README.md has no commands below \"Two commands\""

number=0 failed=0
[ -x "$place/root/usr/bin/make" ] || set -- "$(readme_make)" "$@"
for command in "$@"; do
    number=$((number + 1))
    begin=$(date +%s)
    echo "# $command"
    { type_there "$command"; echo $? >"$place/status"; } 2>&1 | tee "$place/$number.log"
    read -r status <"$place/status"
    echo "# exit status $status, $(($(date +%s) - begin)) s"
    [ "$status" = 0 ] || failed=$((failed + 1))
done
echo "# apt-get fetched $(du -sm "$place/root/var/cache/apt/archives" | cut -f 1) MB of packages"
rm -rf "$place/root" "$place/status"
[ $failed = 0 ]
