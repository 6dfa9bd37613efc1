# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# The machine as a live test finds it, and as the test changes it. lib.sh reads this before everything else.
#
#     without_tracefs || skip_all "tracefs is mounted"     tracefs and debugfs are mounted nowhere
#     with_tracefs || skip_all "tracefs cannot be mounted" it is where systemd mounts it
#     set_sysctl kernel/kptr_restrict 2                    until reset_sysctls, or the test's end
#
# A test has its own mount namespace, if possible, so its mounts do not affect the machine. It finds
# the two settings below as on a machine without restrictions; a test of other values sets them.
# Tests of other kinds, several of which run at the same time, change neither: run.sh, which reads
# this file, too, makes kernel names visible for all of them.

case $0 in
live/* | */live/*) live=yes ;;
*) live=no ;;
esac
# with_own_mounts COMMAND...: runs it in a mount namespace whose mounts stay private. A root that is
# no mount point, as in a plain chroot, cannot be made private: then / is bind-mounted at /proc/fs,
# which becomes the root, and unshare -m works as usual.
with_own_mounts()
{
    if unshare -m true 2>/dev/null; then
        exec unshare -m "$@"
    fi
    # shellcheck disable=SC2016 # for those shells
    exec unshare -m --propagation unchanged sh -c 'mount --make-private /proc && mount --rbind / /proc/fs &&
        exec chroot /proc/fs sh -c "mount --make-rprivate / && cd \"\$0\" && exec \"\$@\"" "$PWD" "$@"' sh "$@"
}

if [ $live = yes ] && [ "${LIVE_MOUNTS:-}" != own ] && [ "$(id -u)" = 0 ] &&
    (with_own_mounts true) 2>/dev/null; then
    LIVE_MOUNTS=own
    export LIVE_MOUNTS
    with_own_mounts sh "$0" "$@"
fi
own_mounts=${LIVE_MOUNTS:-no}
unset LIVE_MOUNTS

# mounts_of TYPE...: where these file systems are mounted
mounts_of()
{
    local type
    for type in "$@"; do
        awk -v type="$type" '$3 == type { print $2 }' /proc/mounts
    done | sort -r
}

# The kernel automounts tracefs below debugfs, so both must go.
without_tracefs()
{
    [ "$own_mounts" != own ] || mounts_of tracefs debugfs | while read -r mounted; do
        umount -l "$mounted"
    done
    [ -z "$(mounts_of tracefs debugfs)" ]
}

with_tracefs()
{
    [ -d /sys/kernel/tracing/events ] ||
        { [ "$own_mounts" = own ] && mount -t tracefs tracefs /sys/kernel/tracing; }
}

# The file in $scratch with the values before the test's changes, or before open_machine's
sysctls=sysctls

# set_sysctl NAME VALUE: false if the kernel does not accept it
set_sysctl()
{
    local before
    before=$(cat "/proc/sys/$1" 2>/dev/null) || return
    grep -q "^$1 " "$scratch/$sysctls" 2>/dev/null || echo "$1 $before" >>"$scratch/$sysctls"
    echo "$2" 2>/dev/null >"/proc/sys/$1"
}

reset_sysctls()
{
    local name value
    [ -s "$scratch/$sysctls" ] || return 0
    while read -r name value; do
        echo "$value" >"/proc/sys/$name"
    done <"$scratch/$sysctls"
    rm "$scratch/$sysctls"
}

# sysctl_at_most NAME VALUE
sysctl_at_most()
{
    [ "$(cat "/proc/sys/$1" 2>/dev/null || echo 0)" -le "$2" ] || set_sysctl "$1" "$2" ||
        skip_all "$(echo "$1" | tr / .) is more than $2, and cannot be set"
}

# perf_event_paranoid 3, on Debian's and some other kernels, denies perf_event_open(2);
# kptr_restrict 2 hides all of the kernel's names.
open_machine()
{
    [ $live = yes ] && [ "$(id -u)" = 0 ] || return 0
    sysctls=sysctls_of_machine
    sysctl_at_most kernel/perf_event_paranoid 2
    sysctl_at_most kernel/kptr_restrict 1
    sysctls=sysctls
}

close_machine()
{
    reset_sysctls
    sysctls=sysctls_of_machine
    reset_sysctls
}
