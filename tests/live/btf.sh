#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# host: yes
#
# Where the running kernel keeps the fields of its structs: the same as bpftool reads from the same
# types.
. "${0%/*}/lib.sh"

TYPES=/sys/kernel/btf/vmlinux
[ -r $TYPES ] || skip_all "this kernel has no $TYPES"
need bpftool
bpftool btf dump file $TYPES format raw >"$scratch/types" 2>"$scratch/err" ||
    skip_all "bpftool cannot read $TYPES: $(head -n 1 "$scratch/err")"

# placed STRUCT MEMBER: its offset in bytes according to bpftool
placed()
{
    awk -v head="STRUCT '$1' " -v member="'$2'" '
        /^\[/ { inside = index($0, head) }
        inside && $1 == member { sub(/.*bits_offset=/, ""); print $0 / 8; exit }' "$scratch/types"
}

for field in task_struct:pid task_struct:tgid task_struct:exit_state task_struct:start_time \
    task_struct:prio file:f_pos; do
    structure=${field%:*} member=${field#*:}
    is "$field" "$("$WORKLOADS/btf" "$structure" "$member" | cut -d ' ' -f 1)" \
        "$(placed "$structure" "$member")"
done
for name in sched_switch sched_waking task_newtask sched_process_exec; do
    proto=$(awk -v name="'btf_trace_$name'" '$3 == name { sub(/.*type_id=/, ""); print; exit }' \
        "$scratch/types")
    proto=$(awk -v id="[$proto]" '$1 == id { sub(/.*type_id=/, ""); print; exit }' "$scratch/types")
    is "parameters of $name are right" "$("$WORKLOADS/btf" btf_trace_$name)" \
        "$(awk -v id="[$proto]" '$1 == id { sub(/.*vlen=/, ""); print; exit }' "$scratch/types")"
done
is "an unknown struct is not found" "$("$WORKLOADS/btf" no_such_struct pid)" "No such file or directory"
