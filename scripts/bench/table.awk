# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# awk [-v ratios=1] -f table.awk results.tsv
#
# The results as a table for people: a line of words for each figure, and below it one for each tool. With
# ratios=1 there are no values, which are meaningless on an emulated machine.

BEGIN {
    FS = "\t"
}

function number(value)
{
    return value >= 100 ? sprintf("%.0f", value) : value >= 10 ? sprintf("%.1f", value) : \
        sprintf("%.2f", value)
}

/^# / {
    print substr($0, 3)
    next
}
$1 == "key" {
    printf "\n%-16s %14s %9s  %-18s %s\n", "", ratios ? "" : "median", "ratio",
        "least to greatest", "rounds"
    next
}
{
    if ($1 != last)
        printf "%s%s\n", $10, $9 ~ /^@/ ? " (beside: " substr($9, 2) ")" : ""
    last = $1
    printf "    %-12s %14s", $2, ratios ? "" : number($4) " " $3
    if ($5 != "-")
        printf " %9s  %-18s %s", number($5), number($6) " to " number($7), $8
    else
        printf " %9s  %-18s %s", "", "", $8
    print ""
}
