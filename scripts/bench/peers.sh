# SPDX-License-Identifier: MIT OR GPL-2.0-only
# shellcheck shell=sh disable=SC2034 # variables that are of the scripts that read this one
#
# The tools that are installed and do what stackbox does, and their versions: $bcc and $libbpf_tools (paths
# whose %s is the tool), $bpftrace, $perf and $ply, empty where one is not installed.

# Which peers are installed. Links that --install or our package put into PATH are not peers.
find_peers()
{
    bpftrace=$(command -v bpftrace)
    perf=$(command -v perf)
    ply=$(command -v ply)
    find_bcc
    libbpf_tools=
    for path in /usr/sbin/%s-libbpf /usr/sbin/%s /usr/share/bcc/libbpf-tools/%s; do
        # shellcheck disable=SC2059 # a path with one %s
        case $(readlink -e "$(printf "$path" offcputime)") in
        '' | */stackbox) ;;
        *) libbpf_tools=$path; break ;;
        esac
    done
}

# bcc compiles with kernel headers, and does not work without any. stackcount and profile are $bcc with
# %s.
find_bcc()
{
    bcc='' bcc_headers=/lib/modules/$(uname -r)/build
    [ -e "$bcc_headers" ] || [ -e /sys/kernel/kheaders.tar.xz ] || return
    if command -v stackcount-bpfcc >/dev/null; then
        bcc=$(command -v stackcount-bpfcc | sed 's/stackcount/%s/')
    elif [ -x /usr/share/bcc/tools/stackcount ]; then
        bcc=/usr/share/bcc/tools/%s
    fi
}

# If the headers are not this kernel's own, that is reported, too.
bcc_version()
{
    dpkg-query -W -f '${Version}' bpfcc-tools 2>/dev/null || printf 'of unknown version'
    bcc_foreign_headers | sed 's/^/ with headers of /' | tr -d '\n'
}

# bcc_foreign_headers: which kernel the headers are for, if not this one; otherwise nothing
bcc_foreign_headers()
{
    basename "$(readlink -f "$bcc_headers")" | sed -n 's/^linux-headers-//p' | grep -vxF -e "$(uname -r)"
}

# One line each: `# NAME VERSION`
peers_versions()
{
    [ "$bcc" ] && printf '# %s\t%s\n' bcc "$(bcc_version)"
    [ "$bpftrace" ] &&
        printf '# %s\t%s\n' bpftrace "$("$bpftrace" --version | sed 's/^bpftrace v*//')"
    [ "$libbpf_tools" ] && printf '# %s\t%s\n' libbpf-tools \
        "$(dpkg-query -W -f '${Version}' libbpf-tools 2>/dev/null | grep . || echo 'of unknown version')"
    [ "$perf" ] && printf '# %s\t%s\n' perf "$("$perf" --version | sed 's/^perf version //')"
    [ "$ply" ] && printf '# %s\t%s\n' ply \
        "$("$ply" --version 2>&1 | sed -n 's/^ply *\([0-9][^ ]*\).*/\1/p' | grep . || echo -)"
    return 0
}

# in_peers_root KERNEL COMMAND...: runs it in a root directory of its own, $peers_root, which has the peers of the
# Debian that has this KERNEL. Tracers there see everything that runs here.
peers_root=$PWD/build/peers
in_peers_root()
{
    sh scripts/kernels.sh --peers "$1" || return
    rm -rf "$peers_root"
    mkdir -p "$peers_root" && (cd "$peers_root" && cpio -idm --quiet) <"build/kernels/$1/peers.cpio" || return
    mkdir -p "$peers_root/proc" "$peers_root/sys" "$peers_root/dev" "$peers_root/tmp" "$peers_root$PWD"
    (cd "$peers_root/usr/lib/modules" && ln -s ./* "$(uname -r)")
    shift
    # shellcheck disable=SC2016 # the shell's within
    unshare -m sh -c 'root=$1 place=$2
        shift 2
        # A root that is no mount point has no mounts of its own.
        mount --bind "$root" "$root" || exit
        for directory in /proc /sys /dev "$place"; do
            mount --rbind "$directory" "$root$directory" || exit
        done
        exec chroot "$root" env -C "$place" PATH=/usr/sbin:/usr/bin BUILT=1 "$@"' \
        sh "$peers_root" "$PWD" "$@"
}
