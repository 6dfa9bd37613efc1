# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# awk -f reduce.awk rows.tsv raw.tsv
#
# Turns the values of each round (round, key, who, value) into medians and ratios, a line for each key and
# who, in the order of rows.tsv:
#
#     key who unit median ratio least greatest rounds beside what
#
# A ratio is taken in each round, of two values that were measured one after the other: what is printed
# is the median of the ratios, and the least and the greatest of them. Without a ratio these are "-".

BEGIN {
    FS = OFS = "\t"
    whos = split("floor stackbox bcc bpftrace libbpf-tools perf ply addr2line c++filt llvm-cxxfilt inferno " \
        "flamegraph.pl", who_at, " ")
    print "key", "who", "unit", "median", "ratio", "least", "greatest", "rounds", "beside", "what"
}

# sorted[1..n]
function sort(n,    i, j, value)
{
    for (i = 2; i <= n; i++) {
        value = sorted[i]
        for (j = i - 1; j > 0 && sorted[j] > value; j--)
            sorted[j + 1] = sorted[j]
        sorted[j + 1] = value
    }
}

# Of two middle values, their mean.
function median(n)
{
    return n % 2 ? sorted[(n + 1) / 2] : (sorted[n / 2] + sorted[n / 2 + 1]) / 2
}

# What this key and tool is compared with in this round; "" if nothing.
function base(round, key, who)
{
    if (beside[key] == "-" || beside[key] == who)
        return ""
    if (beside[key] ~ /^@/)
        return raw[round, substr(beside[key], 2), "stackbox"]
    return raw[round, key, beside[key]]
}

function reduce(key, who,    round, n, value, middle, ratio, least, greatest, rounds_here)
{
    for (round = 1; round <= rounds; round++)
        if ((round, key, who) in raw)
            sorted[++rounds_here] = raw[round, key, who] + 0
    if (!rounds_here)
        return
    sort(rounds_here)
    middle = median(rounds_here)
    ratio = least = greatest = "-"
    for (round = 1; round <= rounds; round++) {
        value = base(round, key, who)
        if ((round, key, who) in raw && value + 0 > 0)
            sorted[++n] = raw[round, key, who] / value
    }
    if (n) {
        sort(n)
        ratio = sprintf("%.3f", median(n))
        least = sprintf("%.3f", sorted[1])
        greatest = sprintf("%.3f", sorted[n])
    }
    printf "%s\t%s\t%s\t%.6g\t%s\t%s\t%s\t%d\t%s\t%s\n", key, who, unit[key], middle, ratio, least,
        greatest, rounds_here, beside[key], what[key]
}

/^#/ { next }
FNR == NR {
    key_at[++keys] = $1
    unit[$1] = $2
    beside[$1] = $3
    what[$1] = $4
    next
}
!($2 in unit) {
    print "reduce.awk: no row is called " $2 >"/dev/stderr"
    failed = 1
    exit
}
{
    raw[$1, $2, $3] = $4
    if ($1 + 0 > rounds)
        rounds = $1 + 0
}
END {
    if (failed)
        exit 1
    for (k = 1; k <= keys; k++)
        for (w = 1; w <= whos; w++)
            reduce(key_at[k], who_at[w])
}
