#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# What .ARM.exidx of 32-bit ARM's files comes to: by our reader, and by awk on what readelf says of it; and of the places
# where it holds though no function is called, by what objdump finds there.

. "${0%/*}/../live/lib.sh"

export LC_ALL=C

tool=${BUILD:-}/workloads/exidx
[ -x "$tool" ] || tool=$WORKLOADS/exidx
command -v readelf >/dev/null || skip_all "readelf is not installed"

# theirs FILE: as the tool prints it
# shellcheck disable=SC2016 # awk's own $
theirs()
{
    readelf -u "$1" 2>/dev/null | awk '
    function is_saved(n) { return n in saved }
    function place(name, n) { return name (is_saved(n) ? sprintf("%+d", saved[n] - at) : "-") }
    function say() {
        if (start == "")
            return
        if (whole == 16 && reg == "sp")
            print start, "signal", saved[0]
        else if (unsaid)
            print start, "unsaid"
        else if (cannot || (reg != "sp" && reg != "r7") || is_saved(13) || is_saved(15) || at < 0 ||
                 (is_saved(14) && saved[14] - at < -32768)) # rules have 16 bits for that
            print start, "unknown"
        else
            print start, reg sprintf("%+d", at), place("r14", 14), place("r7", 7)
        start = ""
    }
    /^0x/ {
        say()
        start = substr($1, 3)
        sub(/:$/, "", start)
        cannot = /cantunwind/
        unsaid = 0
        at = whole = 0
        reg = "sp"
        split("", saved)
    }
    / vsp = vsp \+ / { at += $NF }
    / vsp = vsp - / { at -= $NF }
    / vsp = r[0-9]+$/ {
        cannot += whole > 0
        reg = $NF
        at = 0
    }
    / pop \{r/ {
        line = $0
        sub(/.*\{/, "", line)
        sub(/\}.*/, "", line)
        count = split(line, names, ", ")
        for (i = 1; i <= count; i++) {
            saved[substr(names[i], 2) + 0] = at
            at += 4
            whole++
        }
    }
    / pop \{D[0-9]+\}/ { at += 8 }
    / pop \{D[0-9]+-D[0-9]+\}/ {
        split($0, names, /[D}-]+/)
        at += 8 * (names[3] - names[2] + 1)
    }
    / Personality routine: / { unsaid = 1 } # whose instructions it does not show
    END { say() }'
}

# check FILE LEAST: so many functions are known of, and more
check()
{
    name=${1##*/}
    "$tool" "$1" >"$scratch/ours"
    is "$name: is read" $? 0
    theirs "$1" >"$scratch/theirs"
    grep -v -e '^exact ' -e '^root ' "$scratch/ours" >"$scratch/all"
    awk 'NR == FNR { unsaid[$1] = $2 == "unsaid"; next } { print unsaid[$1] ? $1 " unsaid" : $0 }' \
        "$scratch/theirs" "$scratch/all" >"$scratch/rules"
    is "$name: other rules" "$(diff "$scratch/rules" "$scratch/theirs" | head -n 3)" ""
    between "$name: functions with rules" "$(grep -vc ' unknown$' "$scratch/all")" "$2" 100000
}

# at_calls FILE LEAST: so many places are calls of the kernel
at_calls()
{
    objdump=arm-linux-gnueabihf-objdump
    command -v $objdump >/dev/null || { skip "$name: calls of the kernel" "$objdump is not installed"; return; }
    $objdump -d "$1" | awk '/svc\t0/ { sub(/:$/, "", $1); print $1 }' >"$scratch/calls"
    sed -n 's/^exact //p' "$scratch/ours" >"$scratch/exact"
    between "$name: calls of the kernel" "$(wc -l <"$scratch/exact")" "$2" 100000
    is "$name: all are such" "$(awk '
    function number(digits,    i, value) {
        for (i = 1; i <= length(digits); i++)
            value = value * 16 + index("0123456789abcdef", substr(digits, i, 1)) - 1
        return value
    }
    NR == FNR { is_call[number($1) + 2] = 1; next }
    !is_call[number($1)]' "$scratch/calls" "$scratch/exact" | head -n 3)" ""
}

libraries=/usr/arm-linux-gnueabihf/lib
if [ -r $libraries/libc.so.6 ]; then
    check $libraries/libc.so.6 500
    at_calls $libraries/libc.so.6 100
    is "libc.so.6: where threads end" "$(grep -c '^root ' "$scratch/ours")" 1
    is "libc.so.6: where signals return" "$(grep -c ' signal ' "$scratch/rules")" 2
    check $libraries/libgcc_s.so.1 20
    [ ! -r $libraries/libstdc++.so.6 ] || check $libraries/libstdc++.so.6 2000
else
    skip "libc.so.6" "libc6-armhf-cross is not installed"
fi

# By hand: what these have and no library has.
cat >"$scratch/odd.s" <<'EOF'
.syntax unified
.thumb
.text
.macro function name
.type \name, %function
\name: .fnstart
.endm
function pads
.pad #516
.save {r4, r7, lr}
nop
.fnend
function far
.pad #0x12344
.save {lr}
nop
.fnend
function floats
.vsave {d8-d11}
.save {r4-r11, lr}
nop
.fnend
function framed
.save {r7, lr}
.setfp r7, sp, #0
.pad #40
nop
.fnend
function framed_far
.save {r4, r7, lr}
.pad #16
.setfp r7, sp, #8
nop
.fnend
function by_r11
.save {r11, lr}
.setfp r11, sp, #4
nop
.fnend
function leaf
nop
.fnend
function odd_registers
.save {r0-r3}
.save {r4, r6, r8, lr}
nop
.fnend
function nobody
.cantunwind
nop
.fnend
EOF
if clang --target=armv7-linux-gnueabihf -c -o "$scratch/odd.o" "$scratch/odd.s" 2>/dev/null &&
    ld.lld -shared -o "$scratch/odd" "$scratch/odd.o" 2>/dev/null; then
    check "$scratch/odd" 6
    is "odd: each of them" "$(cut -d ' ' -f 2- "$scratch/all" | tr '\n' ';')" "sp+528 r14-520 r7-524;unknown;\
sp+68 r14-36 r7-56;r7+8 r14-4 r7-8;r7+20 r14-4 r7-8;unknown;sp+0 r14- r7-;sp+32 r14-20 r7-;unknown;unknown;"
else
    skip "odd" "clang or ld.lld is not installed"
fi
