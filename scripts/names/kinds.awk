# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# The kinds of differences from c++filt and llvm-cxxfilt, if our result equals neither.
# Each is a rule that turns one text into the other; what it does not cover is compared.

function replaced(text, what, by)
{
    gsub(what, by, text)
    return text
}

# c++filt prints a comma for an argument that is an empty pack.
function without_empty(text)
{
    while (gsub(/, , /, ", ", text))
        ;
    gsub(/<, /, "<", text)
    gsub(/\(, /, "(", text)
    return brackets_closed(replaced(text, ", >", ">"))
}

# What follows the last blank outside angle brackets: the name without its return type.
function without_type(text,    at, c, depth, begin)
{
    for (at = 1; at <= length(text); at++) {
        c = substr(text, at, 1)
        depth += (c == "<") - (c == ">")
        if (c == " " && !depth)
            begin = at
    }
    return substr(text, begin + 1)
}

# The text without anything in brackets (the parameters), and without return types.
function without_parameters(text)
{
    gsub(/unnamed type/, "unnamed", text)
    while (gsub(/\([^()]*\)/, "@", text))
        ;
    sub(/@[^@<>]*$/, "@", text)
    text = without_type(brackets_closed(text))
    gsub(/[^<>,]* /, "", text)
    return text
}

# Only parameters differ, and they are the same as one oracle's.
function parameters_differ(ours,    i, rest)
{
    rest = without_parameters(ours)
    for (i = 3; i <= NF; i++)
        if ($i != $1 && without_parameters(i == 3 ? $i : turned($i)) == rest)
            return 1
    return 0
}

# Only the requires-clause differs, and only where an oracle has left T, T0, ...
function clause_differs(ours,    i, text, begin, end)
{
    ours = brackets_closed(ours)
    for (i = 3; i <= NF; i++) {
        text = brackets_closed(turned($i))
        begin = index(text, " requires ")
        if (!begin || !match(substr(text, begin), /[^A-Za-z0-9_]T[0-9]*[^A-Za-z0-9_]/))
            continue
        end = substr(text, begin + RSTART + RLENGTH - 2)
        text = substr(text, 1, begin + RSTART - 1)
        if (substr(ours, 1, length(text)) == text && substr(ours, length(ours) - length(end) + 1) == end)
            return 1
    }
    return 0
}

function kind_of(name, ours, gnu,    last)
{
    last = "::~?[^:]*$"
    if (name == ours)
        return "lost"
    if (!known())
        return name ~ /T[knpty]|Q/ ? "newer" : "unknown"
    if (name ~ /\.\$GT\$/ && ours == replaced(gnu, "\\.>", "->"))
        return "rust-arrow"
    if (gnu != without_empty(gnu) && brackets_closed(ours) == without_empty(gnu))
        return "empty-pack"
    if (name ~ /(Ut|Ul.*E)[0-9]*_[CD][1-5]E/ && replaced(without_parameters(ours), last, "") == \
        replaced(without_parameters(gnu), last, ""))
        return "unnamed"
    if (name ~ /[IJ].*Z.*E.*S[0-9A-Z]*_/ && parameters_differ(ours))
        return "inner-template"
    if (name ~ /Tk|Q/ && (parameters_differ(ours) || clause_differs(ours)))
        return "constraint"
    return "unknown"
}
