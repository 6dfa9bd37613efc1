#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# again: with clang, lld and a cross compiler's libraries
#
# .ARM.exidx in files for 32-bit ARM: our reader's rules, compared with awk's from readelf's output.

. "${0%/*}/../live/lib.sh"

export LC_ALL=C

tool=$(tool exidx)
need readelf

# theirs FILE: what readelf says, in the form of our tool
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
        else if (cannot || (reg != "sp" && reg != "r7" && reg != "r11") || is_saved(13) || is_saved(15) || at < 0 ||
                 (is_saved(14) && saved[14] - at < -32768)) # rules have 16 bits for this
            print start, "unknown"
        else
            print start, reg sprintf("%+d", at), place("r14", 14), place("r7", 7), place("r11", 11)
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

# check FILE LEAST: compares all functions, of which there are at least LEAST
check()
{
    name=${1##*/}
    "$tool" "$1" >"$scratch/ours"
    is "$name: it can be read" $? 0
    theirs "$1" >"$scratch/theirs"
    grep -v '^root ' "$scratch/ours" >"$scratch/all"
    awk 'NR == FNR { unsaid[$1] = $2 == "unsaid"; next } { print unsaid[$1] ? $1 " unsaid" : $0 }' \
        "$scratch/theirs" "$scratch/all" >"$scratch/rules"
    is "$name: rules are the same as readelf's" "$(diff "$scratch/rules" "$scratch/theirs" | head -n 3)" ""
    between "$name: functions with rules" "$(grep -vc ' unknown$' "$scratch/all")" "$2" 100000
}

libraries=/usr/arm-linux-gnueabihf/lib
if [ -r $libraries/libc.so.6 ]; then
    check $libraries/libc.so.6 500
    is "libc.so.6: threads' stacks end at their start" "$(grep -c '^root ' "$scratch/ours")" 1
    is "libc.so.6: the signal return is known" "$(grep -c ' signal ' "$scratch/rules")" 2
    check $libraries/libgcc_s.so.1 20
    [ ! -r $libraries/libstdc++.so.6 ] || check $libraries/libstdc++.so.6 2000
else
    skip "libc.so.6" "libc6-armhf-cross is not installed"
fi

# Written by hand: forms that no library has.
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
    check "$scratch/odd" 7
    is "odd: each hand-written form is right" \
        "$(cut -d ' ' -f 2- "$scratch/all" | tr '\n' ';')" "sp+528 r14-520 r7-524 r11-;unknown;\
sp+68 r14-36 r7-56 r11-40;r7+8 r14-4 r7-8 r11-;r7+20 r14-4 r7-8 r11-;r11+4 r14-4 r7- r11-8;sp+0 r14- r7- r11-;\
sp+32 r14-20 r7- r11-;unknown;unknown;"
else
    skip "odd" "clang or ld.lld is not installed"
fi
