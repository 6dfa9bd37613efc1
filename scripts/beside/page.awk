# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# awk -f page.awk EXAMPLES RESULTS...: the tables of src/docs/beside.md, one for each tool of each peer, and
# their totals. A row's verdict is that of the first RESULTS in which the peer produced a figure, or else
# stackbox did.

BEGIN {
    FS = "\t"
}

# Each example has a row, whether it was run or not.
FNR == NR {
    if (/^#/ || split($0, field, / => /) < 8)
        next
    key = field[1] FS field[2]
    key_at[++keys] = key
    row[key] = key FS (field[3] == "same" ? field[2] : field[3]) FS field[4] FS field[5] \
        "\t-\t-\t-\tnone\tnot run\t-\t-\t-\tnone\t-"
    next
}
FNR == 1 {
    files++
}
/^# / {
    version[files, substr($1, 3)] = $2
    next
}
{
    key = $1 FS $2
    if (!(key in row)) {
        print "page.awk: no example: " $2 >"/dev/stderr"
        exit failed = 1
    }
    if (!(key in from) || !came_to(row[key]) || came_to($0) > came_to(row[key])) {
        row[key] = $0
        from[key] = files
    }
}

function came_to(line,    field)
{
    split(line, field, FS)
    return field[9] != "none" ? 2 : field[14] != "none"
}

function thousands(text,    head)
{
    while (match(text, /^[0-9]+[0-9][0-9][0-9]($|,)/)) {
        head = RLENGTH - (substr(text, RLENGTH, 1) == "," ? 1 : 0) - 3
        text = substr(text, 1, head) "," substr(text, head + 1)
    }
    return text
}

function code(text)
{
    gsub(/\|/, "\\|", text)
    return text ~ /`/ ? "`` " text " ``" : "`" text "`"
}

function found(range, figure, whole, verdict,    truth)
{
    if (verdict == "none")
        return "-"
    split(range, truth, " ")
    return thousands(figure) " of " thousands(truth[1]) (verdict == "cut" ? ", whole: " thousands(whole) : "")
}

# Returns the verdict, and counts it.
function verdict(theirs, ours, figure, our_figure, why, our_why,    text, kind)
{
    if (theirs == "none" && ours == "none")
        text = why == "not run" ? why : "neither runs: " why
    else if (theirs == "none")
        text = "peer cannot run: " why (ours == "cut" ? "; stackbox's stacks lack callers" : \
            ours == "wrong" ? "; stackbox wrong" : "")
    else if (ours == "none")
        text = "stackbox cannot run: " our_why
    else if (theirs == "right" && ours == "right")
        text = figure == our_figure ? "same" : "both right"
    else if (ours == "right")
        text = theirs == "cut" ? "peer's stacks lack callers" : "peer wrong"
    else if (theirs == "right")
        text = ours == "cut" ? "stackbox's stacks lack callers" : "stackbox wrong"
    else
        text = theirs == "cut" && ours == "cut" ? "both lack callers" : \
            ours == "cut" ? "peer wrong, stackbox's stacks lack callers" : "both wrong"
    kind = text
    if (kind ~ /run: /)
        sub(/ runs?: .*/, " run", kind)
    sub(/neither runs.*/, "neither run", kind)
    verdicts[kind]++
    own[ours]++
    if (ours == "wrong" && our_why ~ /it says$/)
        text = text ": " our_why
    return text
}

# Rows name their machine by its number in the list above the tables.
function show(key,    field, tool)
{
    split(row[key], field, FS)
    tool = field[1]
    if (tool != "bpftrace")
        tool = field[1] "'s " substr(field[2], 1, index(field[2] " ", " ") - 1)
    if (tool != tool_before) {
        text = text sprintf("\n### %s\n\n| typed | stackbox | with | found | stackbox found | where | verdict |\n" \
            "| --- | --- | --- | --- | --- | --- | --- |\n", tool)
        tool_before = tool
    }
    gsub(/\|/, "\\|", field[5])
    text = text sprintf("| %s | %s | %s | %s | %s | %s | %s |\n", code(field[2]), \
        field[3] == field[2] ? "the same" : field[3] == "-" ? "-" : code(field[3]), \
        (field[9] == "none" && field[14] == "none" ? "-" : code(field[5])) \
            (field[4] == "-" ? "" : ", " code(field[4])), \
        found(field[6], field[7], field[8], field[9]), found(field[11], field[12], field[13], field[14]), \
        from[key], verdict(field[9], field[14], field[7], field[12], field[10], field[15]))
}

END {
    if (failed)
        exit 1
    for (k = 1; k <= keys; k++)
        show(key_at[k])
    for (f = 1; f <= files; f++) {
        printf "%d. Linux %s; %s; stackbox %s", f, version[f, "kernel"], version[f, "date"], version[f, "stackbox"]
        split("bcc bpftrace libbpf-tools", peer, " ")
        for (p = 1; p <= 3; p++)
            if ((f, peer[p]) in version)
                printf ",\n   %s %s", peer[p], version[f, peer[p]]
        print ""
    }
    print "\n| verdict | examples |\n| --- | --- |"
    split("same;both right;peer's stacks lack callers;peer wrong;peer cannot run;" \
        "stackbox's stacks lack callers;stackbox wrong;stackbox cannot run;both lack callers;" \
        "peer wrong, stackbox's stacks lack callers;" \
        "both wrong;neither run;not run", kinds, ";")
    for (k = 1; k in kinds; k++)
        if (verdicts[kinds[k]])
            printf "| %s | %d |\n", kinds[k], verdicts[kinds[k]]
    printf "| all | %d |\n\nstackbox alone: right in %d, callers missing in %d, wrong in %d; it does not run in %d.\n", \
        keys, own["right"], own["cut"], own["wrong"], own["none"]
    printf "%s", text
}
