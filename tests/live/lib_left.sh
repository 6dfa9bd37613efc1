# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# Leftovers of our runs in the kernel: programs, maps and links of bpf(2), text probes, the kernel's
# own list of probes, mounts. `left_begins` notes what exists before; it is false if tracefs cannot
# be mounted. Files are below $scratch.

left_begins()
{
    mkdir "$scratch/left_tracefs" "$scratch/left_debugfs"
    mount -t tracefs tracefs "$scratch/left_tracefs" || return
    ! have_kprobes || mount -t debugfs debugfs "$scratch/left_debugfs"
    probes_before=$(kernel_probes | grep -c .)
    mounts_before=$(mounts)
    all_ids | sort -u >"$scratch/ids_before"
}

left_ends()
{
    umount "$scratch/left_tracefs"
    ! have_kprobes || umount "$scratch/left_debugfs"
}

# all_ids: all programs, maps and links in the kernel's own list and in bpftool's
all_ids()
{
    "$WORKLOADS/bpf_ids"
    command -v bpftool >/dev/null || return 0
    for what in prog map link; do
        bpftool $what show | sed -n "s/^\\([0-9][0-9]*\\): .*/$what \\1/p"
    done
}

# held_ids: objects that a process has open, which are not ours, since our runs have all ended; and
# maps in an array of maps, since the check finds a leftover array itself
held_ids()
{
    "$WORKLOADS/bpf_ids" --inner
    grep -shE '^(prog|map|link)_id:' /proc/[0-9]*/fdinfo/* | sed 's/_id:[[:blank:]]*/ /'
}

# new_ids: those that were not there before, and that no process holds
new_ids()
{
    all_ids | sort -u >"$scratch/ids"
    held_ids | sort -u >"$scratch/ids_held"
    (cd "$scratch" && sort ids_before ids_before ids_held ids_held ids | uniq -u)
}

# Other processes create and close objects meanwhile; a leftover of ours is in every reading.
no_id_stays()
{
    new_ids >"$scratch/ids_new"
    sort "$scratch/ids_left" "$scratch/ids_new" | uniq -d >"$scratch/ids_still"
    mv "$scratch/ids_still" "$scratch/ids_left"
    ! [ -s "$scratch/ids_left" ]
}

# text_probes: the makers of text probes that runs of ours left behind
text_probes()
{
    cat "$scratch/left_tracefs/kprobe_events" "$scratch/left_tracefs/uprobe_events" 2>/dev/null |
        sed -n 's,^.:stackbox_\([0-9]*\)_[0-9a-f]*/.*,\1,p' | while read -r maker; do
            [ -d "/proc/$maker" ] || echo "$maker"
        done
}

# text_probes cannot see a maker in another pid namespace: the test waits for its end.
no_text_probes()
{
    [ -z "$(text_probes)" ]
}

kernel_probes()
{
    cat "$scratch/left_debugfs/kprobes/list" "$scratch/left_tracefs/enabled_functions" 2>/dev/null
}

no_kernel_probes()
{
    [ "$(kernel_probes | grep -c .)" = "$probes_before" ]
}

mounts()
{
    grep -c tracefs /proc/mounts
}

# nothing_left WORDS: checks that nothing is left; WORDS say after what. Text probes of a killed run are
# removed by the next one; until then the kernel lists those on its own functions, as disabled.
nothing_left()
{
    new_ids >"$scratch/ids_left"
    wait_until 20 no_id_stays
    is "no program, map or link is left$1" "$(head -n 3 "$scratch/ids_left")" ""
    is "nothing is mounted that was not before" "$(mounts)" "$mounts_before"
    run_stackbox stackcount --attach-by tracefs -D 0.01 "$WORKLOADS/many:many_002"
    is "the next run with text probes works" "$status" 0
    wait_until 20 no_text_probes
    is "and leaves none, nor others' stale ones$1" "$(text_probes)" ""
    wait_until 20 no_kernel_probes
    is "no probe in the kernel is left$1" "$(kernel_probes | grep -c .)" "$probes_before"
}
