# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# awk [-v least=N] -f table.awk kinds.tsv LABEL.counts...
#
# What compare.awk counted of each as a table, below it the kinds of differences. It fails where fewer than
# N (12) had more than 1,000 names, where less than 99 % are right in one that had, or to the letter in all
# together (either), and where there is what has no kind: that is printed.

BEGIN {
    FS = "\t"
    least = least ? least : 12
    format = "%-13s %8s %8s %8s %8s %8s %7s %6s %6s %6s %8s\n"
    printf format, "", "names", "mangled", "c++filt", "llvm", "either", "spelled", "kinds", "lost", \
        "unknown", "right"
}

function percent(right, of)
{
    return of ? sprintf("%.3f %%", int(right / of * 100000) / 1000) : "-"
}

function row(label,    right)
{
    right = n[label, "either"] + n[label, "spelled"]
    printf format, label, n[label, "symbols"], n[label, "mangled"], n[label, "gnu"], n[label, "llvm"], \
        n[label, "either"], n[label, "spelled"], n[label, "kinds"], n[label, "lost"], \
        n[label, "unknown"], percent(right, n[label, "symbols"])
    if (n[label, "symbols"] > 1000 && right / n[label, "symbols"] < 0.99)
        failed = failed " " label
    if (label == "all" && n[label, "either"] < 0.99 * n[label, "symbols"])
        failed = failed " all, to the letter"
}

FNR == 1 && FILENAME !~ /kinds\.tsv$/ {
    label = FILENAME
    sub(/.*\//, "", label)
    sub(/\.counts$/, "", label)
    label_at[++labels] = label
    file_at[labels] = FILENAME
}
FILENAME ~ /kinds\.tsv$/ {
    if (!/^#/) {
        key_at[++keys] = $1
        words[$1] = $2
    }
    next
}
$1 == "count" {
    n[label, $2] = $3
    n["all", $2] += $3
}
$1 == "kind" {
    kind[$2] += $3
    if (!($2 in words)) {
        print "table.awk: kinds.tsv does not explain " $2 >"/dev/stderr"
        failed = failed " " $2
    }
}
END {
    for (i = 1; i <= labels; i++) {
        row(label_at[i])
        corpora += n[label_at[i], "symbols"] > 1000
    }
    row("all")
    print ""
    for (i = 1; i <= keys; i++)
        if (kind[key_at[i]])
            printf "%7d  %-16s %s\n", kind[key_at[i]], key_at[i], words[key_at[i]]
    for (i = 1; i <= labels; i++) {
        file = file_at[i]
        sub(/counts$/, "differences", file)
        while ((getline line <file) > 0) {
            split(line, part, "\t")
            if (part[1] != "lost" && part[1] != "unknown")
                continue
            if (++shown <= 40)
                printf "\n%s: %s\n    ours    %s\n    c++filt %s\n    llvm    %s\n", part[1], \
                    part[2], part[3], part[4], part[6] != "" ? part[6] : part[5]
        }
        close(file)
    }
    if (shown)
        printf "\n%d have no kind; all of them: build/names/*.differences\n", shown
    if (corpora < least)
        printf "\nonly %d have more than 1,000 names\n", corpora
    if (failed)
        printf "\nless than 99 %% in%s\n", failed
    exit shown || failed || corpora < least
}
