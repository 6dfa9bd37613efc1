#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# What patterns of programs and libraries mean here, compared with ldconfig, readelf and nm.

. "${0%/*}/../live/lib.sh"

places=$WORKLOADS/places
PATH=$PATH:/usr/sbin:/sbin
[ -x "$places" ] || skip_all "build/release/workloads/places is not built"
need readelf

# ---- libraries

# This machine's first kind in the cache: NAME PATH
known_libraries()
{
    ldconfig -p | sed -n "s/^	\([^ ]*\) ([^)]*${kind}[^)]*) => \(.*\)/\1 \2/p"
}

# What the cache leads to, by readlink: for each name, the first that is an ELF file
expected_libraries()
{
    known_libraries | awk '!seen[$1]++' >"$scratch/known"
    cut -d ' ' -f 2 "$scratch/known" | xargs readlink -f >"$scratch/real"
    # shellcheck disable=SC2046 # names of libraries hold no blanks
    grep -la "$(printf '^\177ELF')" $(cat "$scratch/real") | sort -u >"$scratch/elf"
    cut -d ' ' -f 1 "$scratch/known" | paste -d ' ' - "$scratch/real" |
        awk 'FNR == NR { elf[$1] = 1; next } elf[$2]' "$scratch/elf" -
}

case $(uname -m) in
x86_64)  kind=x86-64 ;;
aarch64) kind=AArch64 ;;
*)       kind= ;;
esac
if [ -n "$kind" ] && command -v ldconfig >/dev/null && [ -n "$(known_libraries)" ]; then
    expected_libraries >"$scratch/expected"
    # shellcheck disable=SC2046 # names of libraries hold no blanks
    "$places" -l $(cut -d ' ' -f 1 "$scratch/expected") >"$scratch/found" 2>"$scratch/err"
    is "whole names: $(wc -l <"$scratch/expected") libraries of ldconfig -p" \
        "$(diff "$scratch/expected" "$scratch/found" | head -n 5)" ""
    # Short names, if there is one version: libfoo.so.1 is foo.
    sed -n 's/^lib\([^ ]*\)\.so\.[^ ]* /\1 /p' "$scratch/expected" | sort >"$scratch/all"
    cut -d ' ' -f 1 "$scratch/all" | uniq -u >"$scratch/names"
    join "$scratch/names" "$scratch/all" >"$scratch/expected"
    # shellcheck disable=SC2046
    "$places" -l $(cut -d ' ' -f 1 "$scratch/expected") >"$scratch/found" 2>"$scratch/err"
    is "short names: $(wc -l <"$scratch/expected") libraries of ldconfig -p" \
        "$(diff "$scratch/expected" "$scratch/found" | head -n 5)" ""
else
    skip "libraries of ldconfig -p" "ldconfig is missing, or its cache is empty"
fi

# ---- functions

# expected_functions FILE: the addresses of functions defined in .symtab, or else in .dynsym, without
# duplicates
expected_functions()
{
    table=.dynsym
    readelf -SW "$1" 2>/dev/null | grep -q ' \.symtab ' && table=.symtab
    readelf -sW "$1" 2>/dev/null | awk -v table="'$table'" '
        /^Symbol table/ { wanted = $3 == table }
        wanted && $4 == "FUNC" && $7 != "UND" && $7 != "ABS" && $8 != "" {
            sub("^0+", "", $2)
            print $2
        }' | sort -u
}

# check_functions FILE
check_functions()
{
    expected_functions "$1" >"$scratch/expected"
    "$places" "$1:*" 2>"$scratch/err" |
        sed -n 's/^.* address 0x\([^ ]*\) offset .*/\1/p' | sort -u >"$scratch/found"
    is "functions of $1: $(wc -l <"$scratch/expected")" \
        "$(diff "$scratch/expected" "$scratch/found" | head -n 5)" ""
}

libc=$(readelf -d /bin/sh | sed -n 's/.*NEEDED.*\[\(libc\.[^]]*\)\]/\1/p')
for file in "$STACKBOX" "$places" "$WORKLOADS/calls" /bin/sh /usr/bin/git \
    $("$places" -l "${libc:-c}" z stdc++ crypto python3.11 LLVM 2>/dev/null | cut -d ' ' -f 2); do
    [ -n "$(expected_functions "$file")" ] && check_functions "$file"
done

# Offsets in the file match the program headers exactly.
file=$("$places" -l "${libc:-c}" 2>/dev/null | cut -d ' ' -f 2)
"$places" "$file:malloc" | sed -n 's/.* address \(0x[^ ]*\) offset \(0x[^ ]*\) .*/\1 \2/p' \
    >"$scratch/malloc"
read -r address offset <"$scratch/malloc"
readelf -lW "$file" | awk '$1 == "LOAD" { print $2, $3, $5 }' | while read -r start memory size; do
    if [ $((address)) -ge $((memory)) ] && [ $((address)) -lt $((memory + size)) ]; then
        echo $((address - memory + start))
    fi
done >"$scratch/offset"
is "the offset of malloc is right" "$((offset))" "$(cat "$scratch/offset")"

# ---- USDT

# expected_probes FILE: "PROVIDER:NAME ADDRESS SEMAPHORE" of each site
expected_probes()
{
    readelf -n "$1" 2>/dev/null | awk '
        $1 == "Provider:" { provider = $2 }
        $1 == "Name:" { name = $2 }
        $1 == "Location:" {
            print provider ":" name, $2, $6
        }' | tr -d , | while read -r name address semaphore; do
        printf '%s 0x%x %d\n' "$name" "$((address))" "$((semaphore != 0))"
    done | sort -u
}

checked=0
for file in $("$places" -l stdc++ c 2>/dev/null | cut -d ' ' -f 2) /usr/bin/python3 /usr/bin/perl \
    /usr/bin/qemu-system-x86_64 /usr/bin/node; do
    expected_probes "$file" >"$scratch/expected"
    [ -s "$scratch/expected" ] || continue
    checked=$((checked + 1))
    "$places" "u:$file:*" >"$scratch/out" 2>"$scratch/err"
    sed -n 's/^[^ ]* \([^ ]*\) address \(0x[^ ]*\) offset [^ ]* semaphore 0x\([^ ]*\) .*/\1 \2 \3/p' \
        "$scratch/out" | sed 's/ [1-9a-f][0-9a-f]*$/ 1/' | sort -u >"$scratch/found"
    is "USDT probes of $file: $(wc -l <"$scratch/expected") sites" \
        "$(diff "$scratch/expected" "$scratch/found" | head -n 5)" ""
    is "USDT probes of $file: each as a pattern" "$(grep -c '^u:' "$scratch/out")" \
        "$(cut -d ' ' -f 1 "$scratch/expected" | sort -u | wc -l)"
done
[ $checked != 0 ] || skip "USDT probes" "no file with probes is installed"

# ---- what is printed can be used as a pattern

"$places" "$("$places" -l "${libc:-c}" | cut -d ' ' -f 2):*alloc*" >"$scratch/first"
sed -n '/ address /!p' "$scratch/first" >"$scratch/patterns"
# shellcheck disable=SC2046
"$places" $(cat "$scratch/patterns") >"$scratch/second" 2>"$scratch/err"
is "patterns mean what they were printed for: $(wc -l <"$scratch/patterns")" \
    "$(diff "$scratch/first" "$scratch/second" | head -n 5)" ""

# ---- scripts of pyenv and its like in PATH, for a program's name

mkdir -p "$scratch/.pyenv/shims"
# shellcheck disable=SC2016 # a script
printf '#!/usr/bin/env bash\nprogram="${0##*/}"\nexec pyenv exec "$program" "$@"\n' >"$scratch/.pyenv/shims/python3"
chmod 755 "$scratch/.pyenv/shims/python3"
for pattern in 'python3:*' python3:main u:python3:function__entry "$scratch/.pyenv/shims/python3:main"; do
    PATH=$scratch/.pyenv/shims:$PATH "$places" "$pattern" >"$scratch/out" 2>&1
    contains "$pattern with pyenv: what to do" "$scratch/out" \
        "is a script that starts another file: trace that by its path, which \"pyenv which python3\" prints"
done
