#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# size.sh LINK.MAP BINARY
#
# How many bytes of a binary's file each folder takes: code and data by the linker's map, largest first; then
# libc, the gaps between aligned objects, and the headers, with the rest of each segment's last page; and the whole,
# raw and under xz -9.

set -eu
map=$1 binary=$2
bytes=$(wc -c <"$binary")
awk -v bytes="$bytes" '
    function number(text,  at, value) {
        value = 0
        for (at = 3; at <= length(text); at++)
            value = value * 16 + index("0123456789abcdef", substr(text, at, 1)) - 1
        return value
    }
    function folder(file,  words, count) {
        if (file ~ /^(<fill>|crt|.*\/crt)/ || file ~ /\.(a|so)\(/ || file ~ /crt[^\/]*\.o$/)
            return file == "<fill>" ? "gaps" : "libc"
        count = split(file, words, "/")
        return words[count - 1] == "src" ? words[count] : words[count - 1]
    }
    # The next entry cuts the previous one: of merged strings the map only tells the beginning.
    function take(address, size, file) {
        address = number(address)
        if (file_before != "" && address >= begin) {
            size_before = address - begin < size_before ? address - begin : size_before
            sizes[folder(file_before)] += size_before
            sum += size_before
        }
        begin = address
        size_before = number(size)
        file_before = kept ? file : ""
    }
    /^Linker script and memory map/ { begun = 1; next }
    !begun { next }
    /^\.[a-z]/ {
        take($2 ~ /^0x/ ? $2 : "0x0", "0x0", "")
        kept = $1 !~ /^\.(bss|tbss|comment|debug|symtab|strtab|shstrtab|note)/
        pending = 0
        next
    }
    /before relaxing|=/ { next }
    /^ \*fill\*/ { take($2, $3, "<fill>"); next }
    /^ (\.|COMMON)/ { pending = NF == 1; if (!pending && $2 ~ /^0x/) take($2, $3, $4); next }
    /^ +0x/ { if (pending) take($1, $2, $3); pending = 0 }
    END {
        for (name in sizes)
            if (sizes[name])
                print sizes[name], name
        print bytes - sum, "headers"
    }' "$map" | sort -rn | awk '{ printf "%8d  %s\n", $1, $2 }'
printf '%8d  all\n%8d  all, under xz -9\n' "$bytes" "$(xz -9 -c "$binary" | wc -c)"
