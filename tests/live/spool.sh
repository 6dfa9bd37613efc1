#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# host: yes
#
# An endless run: the disk holds the newest reports, whatever the clock and the disk do.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"

EVENT=t:sched:sched_switch
spool=$scratch/spool
mkdir -m 755 "$spool"

files()
{
    ls "$spool" | wc -l
}

# Three of some ten are kept, and files that are not reports.
mkdir "$spool/20200101-000000.000.folded.d"
echo mine >"$spool/notes"
run_stackbox stackcount -i 0.2 -D 2 -o "$spool/%t.folded" --keep 3 "$EVENT"
is "the newest three are kept, and others' files" \
    "$(ls "$spool" | grep -c 'folded$') $(cat "$spool/notes")" "3 mine"
newest=$(ls "$spool" | grep 'folded$' | tail -n 1)
rm -f "$spool"/*.folded

# Another user's link that matches the template, and a directory of ours that others may write to.
ln -s "$scratch/out" "$spool/$newest"
run_stackbox stackcount -D 0.1 -o "$spool/%t.folded" --keep 1 "$EVENT"
[ -h "$spool/$newest" ] && [ -e "$scratch/out" ] && pass "a link stays" || fail "a link stays" "it is gone"
rm -f "$spool"/*.folded
chmod 1777 "$spool"
run_stackbox stackcount -D 0.1 -o "$spool/%t.folded" --keep 1 "$EVENT"
is "a directory that others may write to is refused" \
    "$status $(files) $(grep -c 'other users may write' "$scratch/err")" "1 2 1"
chmod 755 "$spool"

# A disk that is full for some reports: they are lost, which is reported, and the next file says how
# many.
mkdir "$scratch/small"
if mount -t tmpfs -o size=16m,mode=755 tmpfs "$scratch/small"; then
    dd if=/dev/zero of="$scratch/small/filling" bs=65536 2>/dev/null
    start_stackbox stackcount -i 0.5 -o "$scratch/small/%t.pb.gz" --keep 100 "$EVENT"
    until grep -q 'No space left' "$scratch/err"; do sleep 0.1; done
    rm "$scratch/small/filling"
    until ls "$scratch"/small/*.pb.gz >/dev/null 2>&1; do sleep 0.1; done
    sleep 1
    finish_stackbox
    lost=$(grep -c 'cannot write .*No space left on device$' "$scratch/err")
    told=$(for file in "$scratch"/small/*.pb.gz; do
        zcat "$file" | grep -ao '[0-9]* earlier reports could not be written'
    done)
    is "a full disk: the next report says how many are missing" \
        "$told" "$lost earlier reports could not be written"
    is "a full disk: the later ones do not" "$(echo "$told" | wc -l)" 1
    umount "$scratch/small"
else
    skip "a full disk" "tmpfs cannot be mounted"
fi
