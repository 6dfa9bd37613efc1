#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# again: with clang
#
# Stripped programs that carry the rest of their functions in .gnu_debugdata, made as distributions make them;
# and programs with compressed tables. nm tells beforehand what is where.

. "${0%/*}/../live/lib.sh"

export LC_ALL=C

tool=$(tool addresses) damage=$(tool damage)
need gcc objcopy strip nm xz

cat >"$scratch/program.c" <<'END'
int atoi(const char *);
static __attribute__((noinline)) int hidden(int n) { return n * atoi("3"); }
__attribute__((noinline)) int seen(int n) { return hidden(n) + 1; }
int alias(int) __attribute__((alias("seen")));
static int __attribute__((alias("hidden"), used)) hidden_alias(int);
static int chosen_one(int n) { return n; }
static __attribute__((used)) int (*choose(void))(int) { return chosen_one; }
int chosen(int) __attribute__((ifunc("choose")));
/* Functions of assembly that say no size, and a label that is no function. */
__asm__(".text\n.type unsized,@function\nunsized: nop\nnop\nnop\n.byte 0x90,0x90,0x90,0x90\n"
        ".globl sized\n.type sized,@function\nsized: ret\nnop\n.size sized,.-sized\n"
        ".globl unsized_too\n.type unsized_too,@function\nunsized_too: nop\nret\n"
        ".type after,@function\nafter: ret\n.size after,1\nlabel: nop\n");
/* Two that other files see, and static ones of these names. */
int twice(int n) { return n + seen(n); }
int often(int n) { return n ^ seen(n); }
int main(int argc, char **argv) { (void)argv; return seen(argc) + twice(argc) + chosen(argc); }
END
cat >"$scratch/other.c" <<'END'
static __attribute__((noinline, used)) int twice(int n) { return n * 5; }
static __attribute__((noinline, used)) int often(int n) { return n * 9; }
static __attribute__((noinline, used)) int once(int n) { return n * 7; }
END

# functions FILE: "ADDRESS NAME" of all functions, without versions
functions()
{
    nm --format=sysv --defined-only "$1" 2>/dev/null | awk -F '|' '$4 ~ /FUNC/ || $3 ~ / i / {
        name = $1; sub(/ *$/, "", name); sub(/@.*/, "", name)
        address = $2; sub(/^0+/, "", address)
        print address, name
    }' | sort -u
}

# mini FILE OUT [XZ-OPTION...]: strips it, as in Fedora's packages
mini()
{
    file=$1 out=$2
    shift 2
    nm -D "$file" --format=posix --defined-only 2>/dev/null | awk '{ print $1 }' |
        sort >"$scratch/dynamic"
    nm "$file" --format=sysv --defined-only | awk -F '|' '$4 ~ "FUNC" { print $1 }' |
        sed 's/ *$//' | sort >"$scratch/functions"
    comm -13 "$scratch/dynamic" "$scratch/functions" >"$scratch/keep"
    objcopy --only-keep-debug "$file" "$scratch/debug"
    objcopy -S --remove-section .gdb_index --remove-section .comment \
        --keep-symbols="$scratch/keep" "$scratch/debug" "$scratch/mini" 2>/dev/null
    xz -c "$@" "$scratch/mini" >"$scratch/mini.xz"
    strip -o "$out" "$file"
    objcopy --add-section .gnu_debugdata="$scratch/mini.xz" "$out"
}

# all_of FILE: "ADDRESS NAME" of all functions, by our tool; without removing duplicates, so that
# they would show
all_of() { "$tool" --all "$1" | awk '$3 == 2 || $3 == 10 { print $1, $5 }' | sort; }

# check_file KIND FILE [XZ-OPTION...]
check_file()
{
    kind=$1 whole=$2
    shift 2
    mini "$whole" "$scratch/stripped" "$@"
    functions "$whole" >"$scratch/right"
    is "$kind: is stripped" "$(functions "$scratch/stripped")" ""
    # What nm does not list as a function is in neither table.
    nm -D --defined-only "$scratch/stripped" 2>/dev/null |
        awk '{ sub(/^0+/, "", $1); sub(/@.*/, "", $3); print $1, $3 }' >"$scratch/seen"
    awk 'FILENAME ~ /keep$/ { sub(/@.*/, ""); kept[$1]; next } FILENAME ~ /seen$/ { seen[$0]; next }
        $2 in kept || $0 in seen' "$scratch/keep" "$scratch/seen" "$scratch/right" |
        sort >"$scratch/expected"
    all_of "$scratch/stripped" >"$scratch/ours"
    is "$kind: $(wc -l <"$scratch/expected") functions, each once" \
        "$(diff "$scratch/expected" "$scratch/ours" | head -n 5)" ""
    # The name at each start is one of nm's.
    cut -d ' ' -f 1 "$scratch/expected" | "$tool" "$scratch/stripped" >"$scratch/starts"
    is "$kind: names of the starts" "$(awk 'FNR == NR { is[$0]; next }
        $1 != $2 || !(($1 " " $3) in is)' "$scratch/right" "$scratch/starts" | head -n 5)" ""
    # Everywhere else it is the same name as with all symbols, except for the missing ones.
    awk '{ print $1 }' "$scratch/right" | "$tool" "$whole" | awk '{ print $1 }' |
        while read -r start; do
            printf '%x\n%x\n' $((0x$start + 3)) $((0x$start - 1))
        done >"$scratch/questions"
    "$tool" "$whole" <"$scratch/questions" >"$scratch/theirs"
    "$tool" "$scratch/stripped" <"$scratch/questions" >"$scratch/ours"
    is "$kind: names of $(wc -l <"$scratch/theirs") other addresses" \
        "$(awk 'FNR == NR { is[$0]; next } $2 == "-" || ($2 " " $3) in is' \
            "$scratch/expected" "$scratch/theirs" | grep -vFx -f "$scratch/ours" | head -n 5)" ""
}

# build OUT OPTION...
build()
{
    out=$1
    shift
    gcc -O1 -o "$out" "$@" "$scratch/program.c" "$scratch/other.c"
}

build "$scratch/pie" -fPIE -pie
check_file "PIE" "$scratch/pie"
build "$scratch/exported" -fPIE -pie -rdynamic
check_file "with .dynsym" "$scratch/exported" --check=crc32
build "$scratch/fixed" -fno-pie -no-pie
check_file "at a fixed place" "$scratch/fixed" -9e
build "$scratch/static" -static
check_file "static" "$scratch/static" -0
echo 'V1 { global: seen; alias; twice; sized; local: *; };' >"$scratch/versions"
build "$scratch/library.so" -fPIC -shared -Wl,--version-script="$scratch/versions"
check_file "library with versions" "$scratch/library.so" --check=none
is "of an alias and its function, one is packed" \
    "$(all_of "$scratch/stripped" | grep -c -e ' alias$' -e ' hidden_alias$')" 2
if for part in program other; do
        clang --target=i686-linux-gnu -O1 -fPIC -c -o "$scratch/$part.o" "$scratch/$part.c"
    done && ld.lld -shared -o "$scratch/small" "$scratch/program.o" "$scratch/other.o" \
        --version-script="$scratch/versions"; then
    check_file "of 32 bits" "$scratch/small"
else
    skip "of 32 bits" "such a program cannot be built here"
fi 2>/dev/null
check_file "a workload" "$WORKLOADS/chains"
large=$(gcc -print-file-name=libasan.so)
if [ -f "$large" ] && readelf -SW "$large" | grep -q '\.symtab'; then
    check_file "a large library" "$(readlink -f "$large")"
else
    skip "a large library" "this machine has none with all its symbols"
fi

# A symbol without a size reaches up to the next function, in whichever table that is; a label does not count.
mini "$scratch/exported" "$scratch/stripped"
start=$(sed -n 's/ unsized$//p' "$scratch/expected")
functions "$scratch/exported" >"$scratch/right"
at() { sed -n "s/ $1\$//p" "$scratch/right"; }
is "without a size" "$(printf '%x\n%x\n%x\n' $((0x$(at unsized) + 6)) $((0x$(at unsized_too) + 1)) \
    $((0x$(at sized) + 1)) | "$tool" "$scratch/stripped" | cut -d ' ' -f 3 | tr '\n' ' ')" \
    "unsized sized unsized_too "

# The packed table is what other tools expect.
if command -v gdb >/dev/null; then
    is "gdb finds a packed one where we do" "$(gdb -batch -nx -ex 'info address hidden' \
        "$scratch/stripped" 2>/dev/null | grep -o '0x[0-9a-f]*')" "0x$(at hidden)"
else
    skip "gdb finds a packed one where we do" "gdb is not installed"
fi

# ---- damaged, truncated, or another file's

mini "$scratch/exported" "$scratch/stripped"
functions "$scratch/exported" | cut -d ' ' -f 1 >"$scratch/questions"
"$damage" "$scratch/stripped" .gnu_debugdata <"$scratch/questions" >"$scratch/out" 2>"$scratch/err"
is "$(awk '{ sum += $NF } END { print sum }' "$scratch/out") changes of a byte: the names" \
    "$(sed -n 's/^else //p' "$scratch/out") $(head -n 5 "$scratch/err")" "0 "
# A few bytes hold something that cannot be wrong, such as the size of the dictionary.
size=$(wc -c <"$scratch/mini.xz")
between "most changed bytes are noticed" \
    "$(sed -n 's/^as without //p' "$scratch/out")" $((size * 3 - 30)) $((size * 3))

# without FILE: are its names those with an empty table, for the same addresses?
strip -o "$scratch/bare" "$scratch/exported"
"$tool" "$scratch/bare" <"$scratch/questions" >"$scratch/bare.names"
refused()
{
    "$tool" "$2" <"$scratch/questions" >"$scratch/out" 2>"$scratch/err"
    is "$1" "$? $(cat "$scratch/err") $(diff "$scratch/bare.names" "$scratch/out" | head -n 3)" "0 $3 "
}
cut=0
wrong=
while [ $cut -lt "$size" ]; do
    strip -o "$scratch/short" "$scratch/exported"
    head -c $cut "$scratch/mini.xz" >"$scratch/short.xz"
    objcopy --add-section .gnu_debugdata="$scratch/short.xz" "$scratch/short"
    "$tool" "$scratch/short" <"$scratch/questions" 2>/dev/null | cmp -s - "$scratch/bare.names" ||
        wrong="$wrong $cut"
    cut=$((cut + 37))
done
is "truncated: names as without it" "$wrong" ""
refused "truncated: it is reported" "$scratch/short" "its .gnu_debugdata is damaged"

# packed CONTENTS PACKER OPTION...: a program with that as its .gnu_debugdata
packed()
{
    contents=$1
    shift
    strip -o "$scratch/odd" "$scratch/exported"
    "$@" <"$contents" >"$scratch/odd.packed"
    objcopy --add-section .gnu_debugdata="$scratch/odd.packed" "$scratch/odd"
}
packed "$scratch/program.c" xz
refused "contents that are not an ELF file are refused" "$scratch/odd" "its .gnu_debugdata is damaged"
packed "$scratch/mini" gzip
refused "gzip instead of xz is refused" "$scratch/odd" "its .gnu_debugdata is damaged"
packed "$scratch/fixed" xz
refused "another program's symbols are refused" "$scratch/odd" "its .gnu_debugdata is that of another file"
# 200 MB of zeros are some 30 KB.
head -c 200000000 /dev/zero >"$scratch/zeros"
packed "$scratch/zeros" xz -0
rm "$scratch/zeros"
refused "what unpacks to too much is refused" "$scratch/odd" "its .gnu_debugdata is too large"

# ---- together with a debug file, whose symbols come first

mkdir -p "$scratch/root/bin" "$scratch/root/bin/.debug"
mini "$scratch/exported" "$scratch/root/bin/program"
objcopy --only-keep-debug --redefine-sym hidden=far "$scratch/exported" \
    "$scratch/root/bin/.debug/program.debug"
objcopy --add-gnu-debuglink="$scratch/root/bin/.debug/program.debug" "$scratch/root/bin/program"
hidden=$(at hidden)
is "with a debug file, its names are used" "$(echo "$hidden" | "$tool" --root "$scratch/root" /bin/program)" \
    "$hidden $hidden far"
rm "$scratch/root/bin/.debug/program.debug"
is "without one, the packed names" "$(echo "$hidden" | "$tool" --root "$scratch/root" /bin/program)" \
    "$hidden $hidden hidden"

# ---- compressed tables

advice='unpack them with "eu-elfcompress -t none -n .symtab -n .strtab"'
if ! command -v eu-elfcompress >/dev/null; then
    skip "compressed tables" "elfutils is not installed"
    exit 0
fi
for bits in exported small; do
    [ -f "$scratch/$bits" ] || continue
    functions "$scratch/$bits" >"$scratch/expected"
    for which in "-n .symtab" "-n .strtab" "-n .symtab -n .strtab"; do
        # shellcheck disable=SC2086 # words
        eu-elfcompress -q --force -t zlib $which -o "$scratch/compressed" "$scratch/$bits"
        is "compressed, $bits: ${which#-n } really is" \
            "$(readelf -SW "$scratch/compressed" 2>/dev/null | grep -c 'tab .* C ')" \
            "$(echo "$which" | grep -o -e -n | grep -c n)"
        all_of "$scratch/compressed" >"$scratch/ours"
        is "compressed, $bits: ${which#-n }" \
            "$(diff "$scratch/expected" "$scratch/ours" | head -n 5)" ""
    done
done
eu-elfcompress -q --force -t zlib -n .symtab -n .strtab -o "$scratch/compressed" "$scratch/exported"
"$damage" "$scratch/compressed" .symtab <"$scratch/questions" >"$scratch/out" 2>"$scratch/err"
is "$(awk '{ sum += $NF } END { print sum }' "$scratch/out") changes of a byte of .symtab" \
    "$(sed -n 's/^else //p' "$scratch/out") $(head -n 5 "$scratch/err")" "0 "

# A debug file's; and one whose first number says zstd.
objcopy --only-keep-debug "$scratch/exported" "$scratch/debug"
eu-elfcompress -q --force -t zlib -n .symtab -n .strtab -o "$scratch/root/bin/.debug/program.debug" \
    "$scratch/debug"
strip -o "$scratch/root/bin/program" "$scratch/exported"
objcopy --add-gnu-debuglink="$scratch/root/bin/.debug/program.debug" "$scratch/root/bin/program"
is "compressed: a debug file's names" "$(echo "$hidden" | "$tool" --root "$scratch/root" /bin/program)" \
    "$hidden $hidden hidden"
# shellcheck disable=SC2046 # the offset alone
printf '\002' | dd of="$scratch/root/bin/.debug/program.debug" bs=1 conv=notrunc status=none \
    seek=$((0x$(readelf -SW "$scratch/root/bin/.debug/program.debug" 2>/dev/null | sed -n \
        's/.* \.symtab *SYMTAB *[0-9a-f]* \([0-9a-f]*\) .*/\1/p')))
objcopy --remove-section .gnu_debuglink "$scratch/root/bin/program"
objcopy --add-gnu-debuglink="$scratch/root/bin/.debug/program.debug" "$scratch/root/bin/program"
is "compressed by zstd: no names" \
    "$(echo "$hidden" | "$tool" --root "$scratch/root" /bin/program 2>"$scratch/err")" "$hidden -"
is "compressed by zstd: it is reported" "$(cat "$scratch/err")" "/bin/.debug/program.debug: its symbols are \
compressed with zstd, which is not supported: $advice"
