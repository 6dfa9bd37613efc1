# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# Converts what any of the tools printed into folded stacks: root first, then a blank and the count. Names
# have no offsets, addresses or modules; the process is before the stack, or somewhere in it.
#
# It reads blocks of lines that end in a number (bcc, libbpf-tools, stackbox), maps (`@[` to `]: 5`,
# bpftrace), lines that are folded already, and, with snoop=1, single events: a line each, followed by the
# stack.

function frame(text)
{
    gsub(/^[ \t]+|[ \t]+$/, "", text)
    sub(/^b'/, "", text)
    sub(/'$/, "", text)
    sub(/^#[0-9]+ +/, "", text)
    sub(/^(0x)?[0-9a-f]+[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f] +/, "", text)
    sub(/ \(.*\)$| \[.*\]$/, "", text)
    sub(/^(-|-:|waker:|target:) +/, "", text)
    sub(/\+(0x)?[0-9a-f]+$/, "", text)
    return text
}

function flush(count,    at, line)
{
    for (at = frames; at > 0; at--)
        line = line ";" name[at]
    if (frames || who)
        print substr(who line, 2) " " count
    frames = 0
    who = ""
}

snoop && /^[0-9].*[^ ]/   { flush(1); who = ";" $0; gsub(/ +/, ";", who); next }
/^[^ \t].*;.* [0-9]+$/    { count = $NF; sub(/ [0-9]+$/, ""); print $0 " " count; next }
/^@.*\[$/                 { map = 1; frames = 0; next }
map && /^[^ ]*\]: [0-9]+$/ || map && /^, .*\]: [0-9]+$/ {
    count = $NF
    flush(count)
    map = 0
    next
}
!map && !snoop && /^[ \t]+[0-9]+$/ { flush($1); next }
/^[ \t]*$/ { if (snoop) flush(1); else if (!map && !frames) who = ""; next }
/^[ \t]+(waker|target|-): / || /^[ \t]+- +/ { who = who ";" frame($0); next }
/^[ \t]/                  { name[++frames] = frame($0) }
END                       { if (snoop) flush(1) }
