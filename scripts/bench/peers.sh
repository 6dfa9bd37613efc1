# SPDX-License-Identifier: MIT OR GPL-2.0-only
# shellcheck shell=sh disable=SC2034 # variables that are of the scripts that read this one
#
# The tools that are installed here and do what stackbox does, and their versions: $bcc and $libbpf_tools (paths
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
