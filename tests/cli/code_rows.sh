#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# Rows made from code alone, judged by the unwind tables (.eh_frame) of whole files, instruction by
# instruction; tests/cli/frame_rows.sh checks how stackbox reads tables. And functions in assembly,
# whose comments state their rows.
. "${0%/*}/../live/lib.sh"

judge=$(tool code_rows)
[ -x "$judge" ] || skip_all "build/release/workloads/code_rows is not built"

# figure NAME: the share that the judge printed behind this word
figure()
{
    sed "s/.* $1 [0-9]* \([0-9.]*\) .*/\1/" "$scratch/total"
}

# At least 99 % of the code must have a row, and at most 0.02 % a wrong one: a stretch that a
# function jumps to for its rare cases, where the function itself was not found. (Where the table is
# wrong, in assembly whose author left out the pushes, the judge counts "flat" instead.)
seen=0
for file in /lib/x86_64-linux-gnu/libc.so.6 /lib/x86_64-linux-gnu/libm.so.6 /bin/bash /usr/bin/perl /usr/bin/git \
    /usr/lib/x86_64-linux-gnu/libcrypto.so.3 /usr/bin/python3.11 /usr/lib/gcc/x86_64-linux-gnu/12/cc1 $CODE_OF; do
    [ -r "$file" ] || continue
    seen=$((seen + 1))
    if ! timeout 100 "$judge" "$file" >"$scratch/total" 2>"$scratch/err"; then
        fail "${file##*/}" "$(head -c 300 "$scratch/err")"
        continue
    fi
    cat "$scratch/total"
    is "${file##*/}: $(figure same) % are the same" "$(awk "BEGIN { print ($(figure same) >= 99) }")" 1
    is "${file##*/}: $(figure wrong) % are wrong, and $(figure frame) % have a wrong frame pointer" \
        "$(awk "BEGIN { print ($(figure wrong) <= 0.02 && $(figure frame) <= 0.02) }")" 1
done
[ "$(uname -m)" != x86_64 ] || between "files" $seen 2 100

# Other machines: their tables use the frame pointer more often; the stack pointer is as right. Code
# that only exceptions reach, by tables, has no row: 1.6 % of riscv64 libc's code with tables.
for file in aarch64:libc.so.6:1 aarch64:libm.so.6:1 riscv64:libc.so.6:2; do
    machine=${file%%:*} most=${file##*:} name=${file#*:}
    name=${name%:*}
    file=/usr/$machine-linux-gnu/lib/$name
    [ -r "$file" ] || { skip "$machine's $name" "it is not installed"; continue; }
    timeout 100 "$judge" "$file" >"$scratch/total" 2>"$scratch/err" || fail "$machine's $name" "$(head -c 300 "$scratch/err")"
    cat "$scratch/total"
    is "$machine's $name: $(figure unknown) % are unknown" "$(awk "BEGIN { print ($(figure unknown) <= $most) }")" 1
    is "$machine's $name: $(figure wrong) % are wrong, and $(figure frame) % have a wrong frame pointer" \
        "$(awk "BEGIN { print ($(figure wrong) <= 0.02 && $(figure frame) <= 0.02) }")" 1
done

# armv7: a stripped library, where no symbol tells ARM from Thumb code. (Where code frees a large
# frame in two steps, gcc's table has only the second.)
arm=arm-linux-gnueabihf tree=${0%/*}/../..
if command -v $arm-gcc >/dev/null; then
    mkdir "$scratch/armv7"
    for file in "$tree"/src/demangle/*.c "$tree"/src/base/*.c "$tree"/src/flame/f*.c; do
        kind=-mthumb
        [ "${file#*/demangle/}" = "$file" ] || kind=-marm
        $arm-gcc -D_GNU_SOURCE -I"$tree/src" -I"$tree" -O2 -g -fPIC $kind -c -o "$scratch/armv7/${file##*/}.o" "$file" ||
            fail "armv7" "$file is not compiled"
    done
    $arm-gcc -shared -nostdlib -o "$scratch/armv7.so" "$scratch"/armv7/*.o &&
        $arm-strip --strip-unneeded --keep-section=.debug_frame -o "$scratch/armv7.stripped" "$scratch/armv7.so"
    timeout 100 "$judge" "$scratch/armv7.stripped" "$scratch/armv7.so" >"$scratch/total" 2>"$scratch/err" ||
        fail "armv7" "$(head -c 300 "$scratch/err")"
    cat "$scratch/total"
    is "armv7: $(figure same) % are the same" "$(awk "BEGIN { print ($(figure same) >= 99) }")" 1
    is "armv7: $(figure wrong) % are wrong" "$(awk "BEGIN { print ($(figure wrong) <= 0.1) }")" 1
else
    skip "armv7" "$arm-gcc is not installed"
fi

# Without tables: the row at each line must be the one in the line's comment.
command -v gcc >/dev/null && [ "$(uname -m)" = x86_64 ] || exit 0
cat >"$scratch/code.s" <<'END'
.text
.globl saves, aligns, pops, loops, lost, picks, calls, returns, handler, ends
.type saves, @function
saves:  endbr64                         # rsp+8 u c-8
        push %rbp                       # rsp+8 u c-8
        push %rbx                       # rsp+16 c-16 c-8
        sub $0x1000, %rsp               # rsp+24 c-16 c-8
        mov %rdi, %rbp                  # rsp+4120 c-16 c-8
        call calls                      # rsp+4120 c-16 c-8
        add $0x1000, %rsp               # rsp+4120 c-16 c-8
        pop %rbx                        # rsp+24 c-16 c-8
        pop %rbp                        # rsp+16 c-16 c-8
        ret                             # rsp+8 u c-8
.type aligns, @function
aligns: push %rbp                       # rsp+8 u c-8
        mov %rsp, %rbp                  # rsp+16 c-16 c-8
        and $-64, %rsp                  # rbp+16 c-16 c-8
        sub %rdi, %rsp                  # rbp+16 c-16 c-8
        call calls                      # rbp+16 c-16 c-8
        leave                           # rbp+16 c-16 c-8
        ret                             # rsp+8 u c-8
.type pops, @function
pops:   pop %rdx                        # rsp+8 u c-8
        mov $58, %eax                   # rsp+0 u r1
        syscall                         # rsp+0 u r1
        push %rdx                       # rsp+0 u r1
        ret                             # rsp+8 u c-8
.type loops, @function
loops:  lea -0x20000(%rsp), %r11        # rsp+8 u c-8
1:      sub $0x1000, %rsp               # unknown
        orq $0, (%rsp)                  # unknown
        cmp %r11, %rsp                  # unknown
        jne 1b                          # unknown
        lea 0x20000(%rsp), %rsp         # rsp+131080 u c-8
        ret                             # rsp+8 u c-8
.type lost, @function
lost:   push %rbx                       # rsp+8 u c-8
        mov %rsp, %rbx                  # rsp+16 u c-8
        and $-16, %rsp                  # rsp+16 u c-8
        call calls                      # unknown
        mov %rbx, %rsp                  # unknown
        pop %rbx                        # rsp+16 u c-8
        ret                             # rsp+8 u c-8
.type picks, @function
picks:  sub $0x18, %rsp                 # rsp+8 u c-8
        cmp $2, %edi                    # rsp+32 u c-8
        ja 2f                           # rsp+32 u c-8
        je 4f                           # rsp+32 u c-8
        lea table(%rip), %rax           # rsp+32 u c-8
        movslq (%rax, %rdi, 4), %rdi    # rsp+32 u c-8
        add %rdi, %rax                  # rsp+32 u c-8
        jmp *%rax                       # rsp+32 u c-8
case:   call calls                      # rsp+32 u c-8
        jmp 2f                          # rsp+32 u c-8
2:      add $0x18, %rsp                 # rsp+32 u c-8
        ret                             # rsp+8 u c-8
.type calls, @function
calls:  test %edi, %edi                 # rsp+8 u c-8
        je 3f                           # rsp+8 u c-8
        push $1                         # rsp+8 u c-8
        push $2                         # rsp+16 u c-8
        call ends                       # rsp+24 u c-8
3:      ret                             # rsp+8 u c-8
.type returns, @function
returns: jmp *saves@GOTPCREL(%rip)      # rsp+8 u c-8
.type handler, @function
handler: mov $15, %rax                  # signal
        syscall                         # signal
.type ends, @function
ends:   sub $8, %rsp                    # rsp+8 u c-8
        call abort@PLT                  # rsp+16 u c-8
4:      mov $1, %edi                    # rsp+32 u c-8
        jmp 2b                          # rsp+32 u c-8
apart:  mov $2, %edi                    # rsp+32 u c-8
        jmp 2b                          # rsp+32 u c-8
.section .rodata
table:  .long case - table, case - table, apart - table
END
gcc -shared -nostdlib -o "$scratch/code.so" "$scratch/code.s" 2>"$scratch/err" || fail "assembler" "$(cat "$scratch/err")"
WORKLOADS=${judge%/*}
objdump -d --no-show-raw-insn -j .text "$scratch/code.so" | sed -n 's/^ *\([0-9a-f]*\):\t.*/\1/p' |
    grep . >"$scratch/places"
sed -n 's/.*# //p' "$scratch/code.s" | paste -d ' ' "$scratch/places" - >"$scratch/said"
"$WORKLOADS/frame_rows" "$scratch/code.so" | grep -v '^0000000000000000 ' >"$scratch/rows"
awk 'function padded(text) { return substr("0000000000000000", length(text) + 1) text }
    NR == FNR { at[++count] = $1; $1 = ""; rule[count] = substr($0, 2); next }
    {
        place = padded($1); ours = "none"; $1 = ""
        for (i = 1; i <= count && at[i] "" <= place ""; i++) ours = rule[i]
        if (ours != substr($0, 2)) print place ":" $0 ", ours " ours
    }' "$scratch/rows" "$scratch/said" >"$scratch/differs"
is "assembly of $(wc -l <"$scratch/said") instructions has the rows that its author knows" "$(head -n 5 "$scratch/differs" | tr '\n' '|')" ""
