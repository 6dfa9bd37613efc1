# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# What tests/workloads/hammer.c calls, through stacks that encode numbers. Read after lib.sh.

# numbers: for each stack in the report, the number that its frames encode in binary, and its count
numbers()
{
    awk '{
        number = digits = 0
        count = split($1, frames, ";")
        for (i = 1; i <= count; i++)
            if (frames[i] == "zero" || frames[i] == "one") {
                digits++
                number = number * 2 + (frames[i] == "one")
            }
        if (digits == 10 && $1 ~ /;hammered(;|$)/)
            print number, $2
    }' "$scratch/out" | sort -n
}

# all_of THREADS STACKS TIMES: the same, as the workload must have called
all_of()
{
    awk -v last=$(($1 * $2)) -v times=$3 'BEGIN { for (i = 0; i < last; i++) print i, times }'
}
