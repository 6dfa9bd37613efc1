#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# again: with clang and LLVM
#
# Unwind tables as stackbox and readelf (binutils) read them: every row of every function in some
# files.
. "${0%/*}/../live/lib.sh"

need readelf

# of_machine FILE: readelf's name for its frame pointer, and whether its return address is in a
# register
of_machine()
{
    case $(readelf -hW "$1" | sed -n 's/^ *Machine: *//p') in
    *X86-64) echo rbp 0 ;;
    AArch64) echo x29 1 ;;
    RISC-V) echo s0 1 ;;
    esac
}

# by_readelf FILE: its rows in our tool's words, in order, without consecutive equal ones
by_readelf()
{
    readelf -W --debug-dump=frames-interp "$1" 2>/dev/null | awk -v names="$(of_machine "$1")" \
        -v is_go="$(go_text "$1" | wc -l)" '
        BEGIN { split(names, name); pointer = name[1]; link = name[2] }
        function done() { if (end != "") print end, 0, "unknown"; end = "" }
        function told() {
            gsub(/ [(][a-z0-9]+[)]/, "")
            if (is_signal) return "signal"
            back = ret ? $ret : "u"
            if (back == "s") back = "u"
            if (back == "u" && !link) return "root"
            if (back !~ /^[cu]/ && !(back ~ /^r[0-9]/ && $2 ~ /^r?sp[+]/)) return "unsupported"
            saved = frame ? $frame : "u"
            # Farther away than rules can express
            if (back ~ /^c-/ && substr(back, 3) + 0 > 32768) return "unsupported"
            if (saved ~ /^[vr]/) saved = "lost"
            return $2 " " (saved == "s" ? "u" : saved) " " back
        }
        # This is what Go generates for code that keeps frame pointers.
        /^Contents of / { ignored = is_go && /debug_frame/ }
        ignored { done(); inside = 0; next }
        / CIE / { done(); cie = $1; is_signal = signal[cie] = $0 ~ /"z[A-Z]*S/; inside = 0; next }
        / FDE / {
            done()
            split($0, part, "pc="); split(part[2], pc, /[.][.]/)
            of = $0; sub(/.* cie=/, "", of); sub(/ .*/, "", of)
            is_signal = signal[of]; end = substr(pc[2], 1, 16); start = pc[1]; inside = 1
            if (start == end) { end = ""; inside = 0 }
            else print start, 1, common[of] # where it has no row of its own
            next
        }
        $1 == "LOC" {
            frame = 0; ret = 0
            for (i = 2; i <= NF; i++) { if ($i == pointer) frame = i; if ($i == "ra") ret = i }
            next
        }
        length($1) != 16 || $1 !~ /^[0-9a-f]+$/ { next }
        inside && $1 "" >= end "" { next } # of nothing
        inside { print $1, 1, told(); next }
        { common[cie] = told() }
        END { done() }' | sort -s -k1,1 -k2,2n | awk '
        { address = $1; $1 = ""; $2 = ""; sub(/^ */, ""); rule[++count] = $0; at[count] = address }
        END {
            for (i = 1; i <= count; i++) {
                if (i < count && at[i] "" == at[i + 1] "") continue # the last row for an address counts
                if (rule[i] == before) continue
                print at[i], rule[i]
                before = rule[i]
            }
        }'
}

# go_text FILE: the start and end of its Go code, if it has these symbols
go_text()
{
    readelf -sW "$1" 2>/dev/null | awk '$NF == "runtime.text" || $NF == "runtime.etext" { at[$NF] = $2 }
        END { if (at["runtime.text"] "" != "") print at["runtime.text"], at["runtime.etext"] }'
}

# linked_plt FILE: rows of a PLT, which leaves the link register alone until its first entry saves
# it for the dynamic linker
linked_plt()
{
    case $(of_machine "$1") in
    x29*) tool=aarch64-linux-gnu-objdump ;;
    *)    tool=riscv64-linux-gnu-objdump ;;
    esac
    $tool -d --no-show-raw-insn -j .plt "$1" 2>/dev/null | awk '
        function row(address, is) { print substr("0000000000000000" address, 1 + length(address)), is }
        $1 !~ /^[0-9a-f]+:$/ { next }
        { sub(/:$/, "", $1) }
        !count++ { row($1, "sp+0 u u") }
        saved == 1 { row($1, "sp+16 u c-8"); saved = 2 }
        /stp.*x30, \[sp, #-16\]!/ { saved = 1 }
        gone && $2 != "nop" { row($1, "sp+0 u u"); exit }
        saved == 2 && $2 == "br" { gone = 1 }'
}

# address_of BYTES FILE: the address of such code
address_of()
{
    LC_ALL=C grep -obUaP -m 1 "$1" "$2" | LC_ALL=C sed 's/:.*//;q' | while read -r at; do
        readelf -lW "$2" | grep 'LOAD.* E ' | while read -r _ offset address _ size _; do
            [ "$at" -lt $((offset)) ] || [ "$at" -ge $((offset + size)) ] || echo $((at - offset + address))
        done
    done
}

# without_tables FILE: rows of code without tables: .init and .fini, by their instructions' effect
# on the stack pointer; Go's code; and the kernel's entry points
without_tables()
{
    if [ "$(of_machine "$1")" != "rbp 0" ]; then
        linked_plt "$1"
        return
    fi
    # (musl's do not move the stack pointer.)
    for section in .init .fini; do
        objdump -d --no-show-raw-insn -j $section "$1" 2>/dev/null | awk '
            function row(address, is) { rows = rows substr("0000000000000000" address, 1 + length(address)) " " is "\n" }
            $1 !~ /^[0-9a-f]+:$/ { next }
            { sub(/:$/, "", $1) }
            !depth { depth = 8; moved = 1 }
            moved { row($1, "rsp+" depth " u c-8"); moved = 0 }
            $3 == "$0x8,%rsp" { depth += $2 == "sub" ? 8 : -8; moved = 1; ever = 1 }
            $2 == "ret" { depth = 0 }
            END { if (ever) printf "%s", rows }'
    done
    # Only jumps (in a static program: IFUNCs): no rows. Otherwise the first entry pushes a word, and each of
    # the others a number, in the middle of its 16 bytes.
    objdump -d --no-show-raw-insn -j .plt "$1" 2>/dev/null | awk '
        function row(address, is) { print substr("0000000000000000" address, 1 + length(address)), is }
        $1 !~ /^[0-9a-f]+:$/ { next }
        { sub(/:$/, "", $1); count++ }
        count == 1 && $2 != "push" { row($1, "rsp+8 u c-8"); exit }
        count == 1 { row($1, "rsp+16 u c-8") }
        count == 2 { row($1, "rsp+24 u c-8") }
        count > 2 && $1 ~ /0$/ { row($1, "exp u c-8"); exit }'
    go_text "$1" | { read -r begin end && echo "$begin record" && echo "$end unknown"; }
    # Where musl's clone(2) calls a thread's function, and ends the thread
    address_of '\x89\xc7\x31\xc0\xb0\x3c\x0f\x05' "$1" | while read -r at; do
        printf '%016x root\n%016x unknown\n' $((at - 1)) $((at + 8))
    done
    entry=$(readelf -hW "$1" | sed -n 's/.*Entry point address: *0x//p')
    [ "$entry" = 0 ] || printf '%016x root\n' "0x$entry" | { read -r at is
        go_text "$1" | awk -v at="$at" '$1 "" <= at "" && at "" < $2 "" { exit 1 }' &&
            echo "$at $is" && printf '%016x unknown\n' $((0x$at + 64)); }
}

# Files made by our own compilers: by a linker for which no offset is an address, with code described only by
# debug information, and without section headers.
cat >"$scratch/odd.c" <<'END'
#include <stdlib.h>
#include <string.h>
typedef double four __attribute__((vector_size(32)));
int take(void *, ...);
__attribute__((noinline)) int room(int n) { char *some = __builtin_alloca(n); return take(some, n) + some[n / 2]; }
__attribute__((noinline)) double wide(int n)
{
    four values[8];
    memset(values, n, sizeof(values));
    char *some = __builtin_alloca(n);
    return take(values, some) + values[n & 7][1];
}
__attribute__((noinline)) int take(void *of, ...) { return of ? (int)(long)of : abort(), 0; }
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(int argc, char **argv)
{
    int values[] = {3, 1, 2};
    qsort(values, 3, sizeof(*values), compare);
    return room(argc) + (int)wide(argc) + !argv;
}
END
makes() { "$@" "$scratch/odd.c" 2>/dev/null || rm -f "$3"; }
makes gcc -o "$scratch/plain" -O2 -mavx
makes gcc -o "$scratch/linked-by-lld" -O2 -fuse-ld=lld
makes gcc -o "$scratch/in-debug-alone" -O2 -mavx -g -fno-asynchronous-unwind-tables
makes clang -o "$scratch/by-clang" -O2 -mavx
makes aarch64-linux-gnu-gcc -o "$scratch/of-arm64" -O2
makes riscv64-linux-gnu-gcc -o "$scratch/of-riscv64" -O2 -fasynchronous-unwind-tables

seen=0
for file in /bin/ls /bin/sh /bin/grep /usr/bin/perl /usr/bin/openssl /usr/bin/git /usr/bin/gcc \
    /lib/x86_64-linux-gnu/libc.so.6 /lib/x86_64-linux-gnu/libm.so.6 /lib64/ld-linux-x86-64.so.2 \
    "$WORKLOADS/bare" "$WORKLOADS/chains-static-pie" "$scratch/plain" "$scratch/linked-by-lld" \
    "$scratch/in-debug-alone" "$scratch/by-clang" "$scratch/of-arm64" "$scratch/of-riscv64" \
    /usr/aarch64-linux-gnu/lib/libc.so.6 /usr/riscv64-linux-gnu/lib/libc.so.6 /usr/local/bin/docker $ROWS_OF; do
    [ -r "$file" ] || continue
    seen=$((seen + 1))
    by_readelf "$file" >"$scratch/theirs"
    # glibc's __start_context, to whose first byte makecontext()'s functions return, or which calls them: no caller
    # is above them.
    before=1 begins='\x48\x89\xdc\x48\x8b\x3c\x24\x48\x85\xff' root=root
    # If a register may hold the caller's, readelf has the same word for none.
    case $(of_machine "$file") in
    x29*) begins='\x1f\x20\x03\xd5\xe0\x03\x13\xaa[\x00-\xff]{3}\xb5' root='sp+0 u u' ;;
    s0*) before=0 begins='\x82\x94\x4a\x85\x63\x04\x09\x00' root='sp+0 u u' ;;
    esac
    for at in $(address_of "$begins" "$file"); do
        sed -i "s/^$(printf %016x "$at") .*/$(printf %016x $((at - before))) $root/" "$scratch/theirs"
    done
    # Two consecutive expressions are two of our rows, but the same word.
    "$WORKLOADS/frame_rows" "$file" 2>"$scratch/err" | grep -v '^0000000000000000 ' | sed "s/ root$/ $root/" |
        uniq -f 1 >"$scratch/ours"
    # Tables express only the expressions that compilers and linkers generate.
    awk 'NR == FNR { if ($2 == "unsupported") not[$1] = 1; next }
        $2 == "exp" && $1 in not { $0 = $1 " unsupported" }
        1' "$scratch/ours" "$scratch/theirs" >"$scratch/tables"
    between "rows of ${file##*/}: expressions that tables cannot express" \
        "$(diff "$scratch/theirs" "$scratch/tables" | grep -c '^>')" 0 8
    without_tables "$file" >"$scratch/gaps"
    # Tables take precedence. Where code without them ends, both say unknown.
    { sed 's/ / 0 /' "$scratch/tables"; sed 's/ / 1 /' "$scratch/gaps"; } | sort -k1,1 -k2,2n | awk '
        { ours = $2; sub(/ [01] /, " ") }
        ours && within { next }
        !ours { within = $2 != "unknown" }
        line && $1 "" != at "" { print line } # the last row for an address counts
        { line = $0; at = $1 }
        END { print line }' | uniq -f 1 >"$scratch/said"
    # Elsewhere, ours are made from the code: see code_rows.sh.
    differs=$({ sed 's/ / 0 /' "$scratch/said"; sed 's/ / 1 /' "$scratch/ours"; } | sort -k1,1 -k2,2n | awk '
        # (Where code without tables ends has not been said.)
        function judge() {
            if (said != "" && said != "unknown" && said != ours && (told || ours != "unknown")) print at, said ", ours " ours
        }
        $1 "" != at "" { judge(); at = $1; told = 0 }
        { which = $2; $1 = $2 = ""; sub(/^ */, ""); if (which) ours = $0; else { said = $0; told = 1 } }
        END { judge() }' | head -n 4 | tr '\n' '|')
    is "rows of ${file##*/} are readelf's" "$differs" ""
    between "rows of ${file##*/}: their number" "$(wc -l <"$scratch/ours")" 10 10000000
    "$WORKLOADS/frame_rows" -t "$file" >/dev/null 2>"$scratch/err"
    is "a table is made for ${file##*/}" "$? $(cat "$scratch/err")" "0 "
done
between "files" $seen 5 1000

# V8's own functions: a stretch without tables, which a stripped library still describes
for exported in _ZN2v87Isolate20GetEmbeddedCodeRangeEPPKvPm another; do
    echo ".text; .globl $exported; .type $exported, @function; $exported: .cfi_startproc; ret; .cfi_endproc
        .size $exported, . - $exported; .balign 4096; .fill 1100000, 1, 0x90; after: .cfi_startproc; ret; .cfi_endproc" |
        tr ';' '\n' >"$scratch/blob.s"
    gcc -shared -nostdlib -s -o "$scratch/blob.so" "$scratch/blob.s" 2>/dev/null || continue
    is "code without tables, beside $exported" "$("$WORKLOADS/frame_rows" "$scratch/blob.so" | grep -c ' record$')" \
        "$([ $exported = another ] && echo 0 || echo 1)"
done

# Without section headers, tables are found by their segment; .init and .fini are unknown.
if [ -e "$scratch/plain" ]; then
    "$WORKLOADS/frame_rows" "$scratch/plain" | grep -v '^0000000000000000 ' >"$scratch/whole"
    cp "$scratch/plain" "$scratch/cut"
    head -c 8 /dev/zero | dd of="$scratch/cut" bs=1 seek=40 conv=notrunc 2>/dev/null
    head -c 4 /dev/zero | dd of="$scratch/cut" bs=1 seek=60 conv=notrunc 2>/dev/null
    is "a file without section headers: readelf sees no sections" \
        "$(readelf -SW "$scratch/cut" 2>&1 | grep -c '\[')" 0
    "$WORKLOADS/frame_rows" "$scratch/cut" | grep -v '^0000000000000000 ' >"$scratch/ours"
    is "a file without section headers: the rows are the same" \
        "$(diff "$scratch/whole" "$scratch/ours" | grep '^[<>]' | grep -v '^[<>] .* rsp+\(8\|16\|24\) u c-8$' |
            grep -v ' \(unknown\|exp u c-8\)$')" ""
    between "a file without section headers: their number" "$(wc -l <"$scratch/ours")" 20 1000
fi
