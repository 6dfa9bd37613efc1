# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# awk [-v front=KEYS] -f readme.awk results.tsv
#
# Makes the table for src/docs/costs.md: the machine it was measured on, and a row for each figure. With
# front, the table for README.md: only the figures with these keys, without ratios.

BEGIN {
    FS = "\t"
    fronts = split(front, front_at, " ")
}

function number(value)
{
    return value >= 100 ? sprintf("%.0f", value) : value >= 10 ? sprintf("%.1f", value) : \
        sprintf("%.2f", value)
}

function thousands(text,    head)
{
    while (match(text, /^[0-9]+[0-9][0-9][0-9]($|,)/)) {
        head = RLENGTH - (substr(text, RLENGTH, 1) == "," ? 1 : 0) - 3
        text = substr(text, 1, head) "," substr(text, head + 1)
    }
    return text
}

function cell(key, who,    text)
{
    if (!((key, who) in value))
        return ""
    text = thousands(number(value[key, who]))
    if (ratio[key, who] == "-" || fronts)
        return text
    text = text " (" thousands(number(ratio[key, who]))
    if (who == "stackbox" && rounds[key, who] > 1)
        text = text "; " number(least[key, who]) " to " number(greatest[key, who])
    return text ")"
}

# Tools without a column of their own are named.
function others(key,    text, who_at, count, i)
{
    count = split("perf ply addr2line c++filt llvm-cxxfilt inferno flamegraph.pl", who_at, " ")
    for (i = 1; i <= count; i++)
        if ((key, who_at[i]) in value)
            text = text (text ? ", " : "") who_at[i] ": " cell(key, who_at[i])
    return text
}

/^# / {
    name = substr($1, 3)
    machine[name] = $2
    next
}
$1 == "key" || $1 ~ /^guest\./ {
    next
}
{
    if (!($1 in what))
        key_at[++keys] = $1
    what[$1] = $10 ", " $3
    value[$1, $2] = $4
    ratio[$1, $2] = $5
    least[$1, $2] = $6
    greatest[$1, $2] = $7
    rounds[$1, $2] = $8
}
END {
    peers = machine["bcc"] ? ", bcc " machine["bcc"] : ""
    peers = peers (machine["bpftrace"] ? ", bpftrace " machine["bpftrace"] : "")
    peers = peers (machine["libbpf-tools"] ? ", libbpf-tools " machine["libbpf-tools"] : "")
    peers = peers (machine["perf"] ? ", perf " machine["perf"] : "")
    peers = peers (machine["ply"] ? ", ply" : "") (machine["ply"] ~ /^[0-9]/ ? " " machine["ply"] : "")
    print "Linux " machine["kernel"] ", " machine["cpus"] peers "; " machine["date"] ", medians of " \
        machine["rounds"] " rounds."
    print ""
    print "| figure | minimum | stackbox | bcc | bpftrace | libbpf-tools | others |"
    print "| --- | --- | --- | --- | --- | --- | --- |"
    for (k = 1; k <= (fronts ? fronts : keys); k++) {
        key = fronts ? front_at[k] : key_at[k]
        if (!(key in what)) {
            print "readme.awk: no figure is called " key >"/dev/stderr"
            exit 1
        }
        print "| " what[key] " | " cell(key, "floor") " | " cell(key, "stackbox") " | " \
            cell(key, "bcc") " | " cell(key, "bpftrace") " | " cell(key, "libbpf-tools") \
            " | " others(key) " |"
    }
}
