# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# Converts llvm-cxxfilt's spelling of a name to c++filt's: the two spell differently even what both know. It
# converts spellings one by one, and never throws away what tells two names apart; blanks between closing angle brackets are taken out of both before they are compared.

# The position of the bracket that closes the one at `from`, or 0.
function closing(text, from,    at, depth, c)
{
    for (at = from; at <= length(text); at++) {
        c = substr(text, at, 1)
        if (c == "(")
            depth++
        else if (c == ")" && !--depth)
            return at
    }
    return 0
}

# 'lambda'(int) is {lambda(int)#1}, 'lambda0' the second. Starts with the last one: its brackets may contain
# others.
function lambdas_turned(text,    at, rest, number, open, end, after)
{
    while (match(text, /.*'lambda[0-9]*'\(/)) {
        open = RLENGTH
        rest = substr(text, 1, open - 1)
        sub(/.*'lambda/, "", rest)
        number = rest == "'" ? 1 : rest + 2
        at = open - length(rest) - 7
        end = closing(text, open)
        if (!end)
            return text
        after = substr(text, end + 1)
        text = substr(text, 1, at - 1) "{lambda" substr(text, open, end - open + 1) "#" number "}" after
    }
    return text
}

function unnamed_turned(text,    number)
{
    while (match(text, /'unnamed[0-9]*'/)) {
        number = substr(text, RSTART + 8, RLENGTH - 9)
        text = substr(text, 1, RSTART - 1) "{unnamed type#" (number == "" ? 1 : number + 2) "}" \
            substr(text, RSTART + RLENGTH)
    }
    return text
}

# .isra.0.cold is [clone .isra.0] [clone .cold]
function clones_of(clones,    turned)
{
    while (match(clones, /^\.[A-Za-z_]*(\.?[0-9][0-9A-Fa-f]*)*/) && RLENGTH > 1) {
        turned = turned " [clone " substr(clones, 1, RLENGTH) "]"
        clones = substr(clones, RLENGTH + 1)
    }
    return turned (clones != "" ? " [clone " clones "]" : "")
}

# (.isra.0.cold) is the same
function clones_turned(text)
{
    if (!match(text, / \(\.[^()]*\)$/))
        return text
    return substr(text, 1, RSTART - 1) clones_of(substr(text, RSTART + 2, RLENGTH - 3))
}

# c++filt drops the suffix of a Rust name (.llvm.123, .cold), which tells two functions apart.
function with_ending(name, gnu,    at)
{
    if (name == gnu)
        return gnu
    if (name ~ /^_R/)
        at = index(name, ".")
    else if (match(name, /17h[0-9a-f]+E\.[^E]*$/))
        at = RSTART + 20
    return at ? gnu " (" substr(name, at) ")" : gnu
}

# decltype(fp0) is decltype ({parm#2})
function parameters_turned(text,    done, number)
{
    gsub(/decltype\(/, "decltype (", text)
    gsub(/decltype \(nullptr\)/, "decltype(nullptr)", text)
    gsub(/decltype \(auto\)/, "decltype(auto)", text)
    while (match(text, /[^A-Za-z0-9_]fp[0-9]*[^A-Za-z0-9_]/)) {
        number = substr(text, RSTART + 3, RLENGTH - 4)
        done = done substr(text, 1, RSTART) "{parm#" (number == "" ? 1 : number + 2) "}"
        text = substr(text, RSTART + RLENGTH - 1)
    }
    return done text
}

function turned(text)
{
    if (text ~ /decltype\(/)
        text = parameters_turned(text)
    if (text ~ /'lambda/)
        text = lambdas_turned(text)
    if (text ~ /'unnamed/)
        text = unnamed_turned(text)
    sub(/^thread-local wrapper routine for /, "TLS wrapper function for ", text)
    sub(/^thread-local initialization routine for /, "TLS init function for ", text)
    gsub(/std::nullptr_t/, "decltype(nullptr)", text)
    sub(/^reference temporary for /, "reference temporary #0 for ", text)
    return clones_turned(text)
}

function brackets_closed(text)
{
    if (text ~ /> >/)
        while (gsub(/> >/, ">>", text))
            ;
    return text
}
