# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# awk -f style.awk -f kinds.awk -f compare.awk [-v differences=FILE] NAMES
#
# Each line has, separated by tabs: a mangled name, our result, c++filt's, and those of one or
# more llvm-cxxfilts. What is the same as one of them is right, to the letter or in the other's
# spelling (style.awk); what is not is of a kind (kinds.awk). Printed are lines of
#
#     count WHAT N      symbols, mangled (that no tool knows), gnu, llvm, either, spelled (as one of them, but
#                       for what style.awk turns), kinds, lost (left mangled by ours alone), unknown
#     kind KEY N
#
# and in the file `differences` all that are of a kind: KEY, name, ours and the oracles'.

BEGIN {
    FS = OFS = "\t"
}

# Whether llvm-cxxfilt says the same: 2 to the letter, 1 in its own spelling
function as_llvm(ours,    i, spelled, result)
{
    for (i = 4; i <= NF; i++) {
        if ($i == ours)
            return 2
        if ($i == $1)
            continue
        if (spelled == "")
            spelled = brackets_closed(ours)
        if (brackets_closed(turned($i)) == spelled)
            result = 1
    }
    return result + 0
}

# At least one of the oracles can demangle it.
function known(    i)
{
    for (i = 3; i <= NF; i++)
        if ($i != $1)
            return 1
    return 0
}

{
    count["symbols"]++
    gnu = $2 == $3
    if ($1 == $2 && !known()) {
        count["mangled"]++
        count["gnu"]++
        count["llvm"]++
        count["either"]++
        next
    }
    llvm = as_llvm($2)
    gnu = gnu ? 2 : with_ending($1, $3) == $2
    # If one oracle demangles a name, leaving it mangled like the other does not count as agreement.
    if ($1 == $2)
        gnu = llvm = 0
    count["gnu"] += gnu > 1
    count["llvm"] += llvm > 0
    count["either"] += gnu > 1 || llvm > 1
    if (gnu || llvm) {
        count["spelled"] += gnu < 2 && llvm < 2
        next
    }
    key = kind_of($1, $2, $3)
    if (key == "lost" || key == "unknown")
        count[key]++
    else {
        count["kinds"]++
        kinds[key]++
    }
    if (differences)
        print key, $0 >differences
}
END {
    if (differences)
        printf "" >differences
    words = split("symbols mangled gnu llvm either spelled kinds lost unknown", word, " ")
    for (i = 1; i <= words; i++)
        print "count", word[i], count[word[i]] + 0
    for (key in kinds)
        print "kind", key, kinds[key]
}
