# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# awk -F '\t' -v each=N -v chance=N -f sample.awk
#
# Of lines `length, name, whether the oracles leave it mangled, label`, the shortest first, it prints each
# name that has a pair of codes which fewer than `each` before it have, and `chance` more of each label.

# The shape of a name without its identifiers: "_ZN#E", "I", "S_", and what is between them. Without a
# grammar this is a guess: a wrong one only changes which names are chosen.
function codes_cxx(name,    at, rest, c, out, numbered)
{
    numbered = "S[0-9A-Z]*_|T[0-9]*_|A[0-9]+_|Ut[0-9]*_|E[0-9]+_|fp[0-9]*_|fL[0-9]+p[0-9]*_|" \
        "L[a-z]n?[0-9]+E|L[a-z][0-9a-f]*E|__?[0-9]+_?|[hv]n?[0-9]+_"
    for (at = 3; at <= length(name); at++) {
        rest = substr(name, at)
        c = substr(rest, 1, 1)
        if (c == "." || c == "@")
            return out clone(rest)
        if (match(rest, "^(" numbered ")")) {
            c = substr(rest, 1, RLENGTH)
            gsub(/[0-9]+/, "0", c)
            if (c ~ /^S[0-9A-Z]+_/)
                c = "S0_"
            at += RLENGTH - 1
        } else if (c ~ /[0-9]/) {
            match(rest, /^[0-9]+/)
            at += RLENGTH + substr(rest, 1, RLENGTH) - 1
            c = "#"
        }
        out = out c
    }
    return out
}

function codes_v0(name,    at, rest, c, out)
{
    for (at = 3; at <= length(name); at++) {
        rest = substr(name, at)
        c = substr(rest, 1, 1)
        if (c == ".")
            return out clone(rest)
        if (c ~ /[BsLG]/ && match(rest, /^[BsLG][0-9A-Za-z]*_/)) {
            at += RLENGTH - 1
            c = c "_"
        } else if (c ~ /[0-9u]/ && match(rest, /^u?[0-9]+_?/)) {
            c = substr(rest, 1, RLENGTH)
            at += RLENGTH - 1
            gsub(/[u_]/, "", c)
            at += c
            c = rest ~ /^u/ ? "u#" : "#"
        }
        out = out c
    }
    return out
}

# In legacy Rust names, what is between dollar signs matters.
function codes_legacy(name,    out)
{
    while (match(name, /\$[a-zA-Z0-9]+\$|\.\.|_\$|\.llvm|E\./)) {
        out = out " " substr(name, RSTART, RLENGTH)
        name = substr(name, RSTART + RLENGTH)
    }
    return out
}

function clone(rest)
{
    gsub(/[0-9]+/, "0", rest)
    return substr(rest, 1, 24)
}

# Does it have a pair of codes that is still needed? A name counts once for each pair.
function wanted(text, kind,    at, pair, found)
{
    for (at = 1; at < length(text); at++) {
        pair = kind substr(text, at, 2)
        if (last[pair] == NR || pairs[pair] >= each)
            continue
        last[pair] = NR
        pairs[pair]++
        found = 1
    }
    return found
}

{
    if ($3 && ++newer > 25)
        next
    if ($2 ~ /^_R/)
        chosen = wanted(codes_v0($2), "R")
    else if ($2 ~ /17h[0-9a-f]+E/)
        chosen = wanted(codes_legacy($2), "L")
    else
        chosen = wanted(codes_cxx($2), "Z")
    if (chosen)
        print $2
    else
        rest[$4, ++left[$4]] = $2
}
END {
    for (label in left)
        for (i = 1; i <= chance; i++) {
            at = 1 + int(left[label] * i / (chance + 1))
            if (length(rest[label, at]) < 260)
                print rest[label, at]
        }
}
