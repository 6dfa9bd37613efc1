#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# again: with clang, lld, LLVM and nodejs
#
# Names of random addresses in all kinds of files on this machine: by our single pass over their symbols, and
# by sort and awk over the output of readelf, objdump and addr2line.

. "${0%/*}/../live/lib.sh"

export LC_ALL=C

tool=$(tool addresses)
need readelf objdump addr2line strip

# All numbers here are decimal: awk has no others.
functions='
function number(digits,    i, value) {
    sub(/^0x/, "", digits)
    for (i = 1; i <= length(digits); i++)
        value = value * 16 + index("0123456789abcdef", substr(digits, i, 1)) - 1
    return value
}
function underscores(name) { return match(name, /^_+/) ? RLENGTH : 0 }
'

# sections FILE: "INDEX START END NAME" of sections with code
# shellcheck disable=SC2016 # awk's own $
sections()
{
    readelf -SW "$1" 2>/dev/null | sed -n 's/^ *\[ *\([0-9]*\)\] /\1 /p' |
        awk "$functions"'$8 ~ /X/ && $3 == "PROGBITS" {
            printf "%d %d %d %s\n", $1, number($4), number($4) + number($6), $2
        }'
}

# symbols FILE TABLE: "START END S RANK SECTION-END NAME" of functions and labels, in the table's
# order
# shellcheck disable=SC2016
symbols()
{
    readelf -sW "$1" 2>/dev/null | sed 's/\[<[a-z]*>: [0-9a-f]*\]//' |
        awk -v table="$2" -v thumb="$(readelf -h "$1" | grep -c 'Machine: *ARM$')" "$functions"'
    FNR == NR { section_end[$1] = $3; next }
    /^Symbol table/ { here = index($0, "\047" table "\047"); next }
    here && ($4 == "FUNC" || $4 == "IFUNC" || $4 == "NOTYPE") && $7 in section_end {
        size = $3 ~ /^0x/ ? number($3) : $3
        rank = ($5 == "GLOBAL" || $5 == "UNIQUE" ? 2 : $5 == "WEAK" ? 1 : 0) + \
               ($4 != "NOTYPE" ? 4 : 0) + (size ? 8 : 0)
        start = number($2); end = section_end[$7]
        if (thumb && $4 != "NOTYPE" && start % 2) start--
        name = $0
        for (i = 0; i < 7; i++)
            sub(/^ *[^ ]+ +/, "", name)
        sub(/ *\([0-9]+\)$/, "", name)
        version = index(substr(name, 2), "@")
        if (version) name = substr(name, 1, version)
        if (name != "" && !($4 == "NOTYPE" && name ~ /^\.L/))
            printf "%d %d S %d %d %s\n", start, start + size, rank, end, name
    }' "$scratch/sections" -
}

# answers FULL: turns sorted symbols and questions "ADDRESS 0 T" into "ADDRESS START NAME"
# shellcheck disable=SC2016
answers()
{
    awk -v full="$1" "$functions"'
    # is symbol a better than b?
    function better(a, b,    strong) {
        if (!b) return 1
        if ((rank[a] > 0) != (rank[b] > 0)) return rank[a] > 0
        if (start[a] != start[b]) return start[a] > start[b]
        if (rank[a] != rank[b]) return rank[a] > rank[b]
        if (underscores(name[a]) != underscores(name[b]))
            return underscores(name[a]) < underscores(name[b])
        if (length(name[a]) != length(name[b])) return length(name[a]) < length(name[b])
        return name[a] "" < name[b] ""
    }
    $3 == "S" {
        id++; start[id] = $1; end[id] = $2 > $1 ? $2 : $1 + 1; rank[id] = $4; limit[id] = $5
        name[id] = $0
        for (i = 0; i < 5; i++)
            sub(/^[^ ]+ /, "", name[id])
        live[++lives] = id
        if (rank[id] > 0 && better(id, nearest)) nearest = id
        next
    }
    {
        best = kept = 0
        for (i = 1; i <= lives; i++)
            if (end[live[i]] > $1) {
                live[++kept] = live[i]
                if (better(live[i], best)) best = live[i]
            }
        lives = kept
        if (!(best && rank[best] > 0) && full && nearest && rank[nearest] < 8 &&
            $1 < limit[nearest]) best = nearest
        if (best) printf "%d %d %s\n", $1, start[best], name[best]
        else printf "%d - -\n", $1
    }'
}

# in_hex and in_decimal: convert to and from our tool's hexadecimal addresses
in_hex() { awk '{ printf "%x\n", $1 }'; }
# shellcheck disable=SC2016
in_decimal()
{
    awk "$functions"'{
        start = $2 == "-" ? "-" : number($2); address = number($1); name = $0
        sub(/^[^ ]+ [^ ]+ ?/, "", name)
        print address, start, name == "" ? "-" : name
    }' | sort -n
}

# draw COUNT: random addresses in code, and the edges of symbols, without PLT entries
# shellcheck disable=SC2016
draw()
{
    awk -v count="$1" -v seed="$(date +%s)$$" '
    BEGIN { srand(seed % 2147483647) }
    FILENAME ~ /sections$/ {
        if ($4 !~ /^\.i?plt/) { from[++n] = $2; size[n] = $3 - $2; sum += size[n] }
        next
    }
    { edge[++edges] = $1 - 1; edge[++edges] = $1; edge[++edges] = $2; edge[++edges] = $2 - 1 }
    END {
        for (i = 0; i < count * 0.7; i++) {
            at = int(rand() * sum)
            for (k = 1; at >= size[k]; k++) at -= size[k]
            print from[k] + at
        }
        for (i = 0; i < count * 0.3 && edges; i++) {
            at = edge[1 + int(rand() * edges)]
            for (k = 1; k <= n; k++)
                if (at >= from[k] && at < from[k] + size[k]) { print at; break }
        }
    }' "$scratch/sections" "$scratch/all" | sort -n -u
}

# Tools differ in how they print bytes beyond ASCII.
plain() { grep -v -e "[\\\\]" -e '[^ -~]' -e '<0x'; }

# check_names KIND FILE COUNT LEAST: compares that many addresses
check_names()
{
    sections "$2" >"$scratch/sections"
    symbols "$2" .symtab >"$scratch/full"
    symbols "$2" .dynsym >"$scratch/dynamic"
    cat "$scratch/full" "$scratch/dynamic" >"$scratch/all"
    draw "$3" >"$scratch/questions"
    sed 's/$/ 0 T/' "$scratch/questions" | sort -s -n -k 1,1 "$scratch/full" - |
        answers 1 >"$scratch/by_full"
    awk '$2 == "-" { print $1, 0, "T" }' "$scratch/by_full" |
        sort -s -n -k 1,1 "$scratch/dynamic" - | answers 0 >"$scratch/by_dynamic"
    awk '$2 != "-"' "$scratch/by_full" | cat - "$scratch/by_dynamic" | sort -n >"$scratch/theirs"
    in_hex <"$scratch/questions" | "$tool" "$2" | in_decimal >"$scratch/ours"
    is "$1: every address is answered" "$(wc -l <"$scratch/ours")" "$(wc -l <"$scratch/questions")"
    between "$1: addresses" "$(wc -l <"$scratch/questions")" "$4" "$3"
    paste -d '|' "$scratch/theirs" "$scratch/ours" | plain >"$scratch/both"
    is "$1: $(grep -cv -e ' -$' "$scratch/both") names of $(wc -l <"$scratch/both") agree" \
        "$(awk -F '|' '$1 != $2' "$scratch/both" | head -n 5)" ""
}

# check_addr2line KIND FILE: if addr2line has a name, it is one of those at our start, or of a
# function that ours is a part of. By symbols alone, not by what it knows of inlined functions;
# labels within a function, which it prefers to the function, are left out.
# shellcheck disable=SC2016
check_addr2line()
{
    strip -g -o "$scratch/copy" "$2" 2>/dev/null || return
    awk '$2 != "-" { print $1 }' "$scratch/theirs" | in_hex >"$scratch/named"
    addr2line -f -e "$scratch/copy" <"$scratch/named" | sed -n 'p;n' >"$scratch/functions"
    paste -d '|' "$scratch/named" "$scratch/functions" | sort -t '|' -k 1,1 >"$scratch/asked"
    "$tool" "$2" <"$scratch/named" | sed 's/ /|/; s/ /|/' | sort -t '|' -k 1,1 |
        join -t '|' "$scratch/asked" - | plain >"$scratch/joined"
    awk -F '|' "$functions"'
    FNR == NR {
        split($0, field, " "); name = $0
        for (i = 0; i < 5; i++)
            sub(/^[^ ]+ /, "", name)
        if (field[4] + 0 == 0) label[name] = 1
        starts[name] = starts[name] field[1] " " field[2] " "
        next
    }
    # addr2line treats labels, which have no size, in its own way.
    $2 == "??" || $2 in label || $4 in label { next }
    { sub(/@.*/, "", $2); same++ }
    $2 != $4 {
        ours = number($3); ok = 0
        for (n = split(starts[$2], field, " "); n > 1; n -= 2)
            if (ours == field[n - 1] + 0 || (ours > field[n - 1] + 0 && ours < field[n] + 0)) ok = 1
        if (!ok) print
    }
    END { if (same < 100) print "only " same + 0 " that addr2line has" }
    ' "$scratch/full" "$scratch/joined" >"$scratch/differ"
    is "$1: addr2line finds the same functions" "$(head -n 5 "$scratch/differ")" ""
    rm -f "$scratch/copy"
}

# check_plt KIND FILE OBJDUMP: compares with its names of the PLT entries
check_plt()
{
    "$3" -d -j .plt -j .plt.sec -j .plt.got -j .iplt "$2" 2>/dev/null |
        sed -n 's/^0*\([0-9a-f]*\) <\([^@+*]*\)@*[A-Za-z0-9_.]*@plt>:$/\1 \2@plt/p' |
        sort >"$scratch/theirs"
    [ -s "$scratch/theirs" ] || return
    cut -d ' ' -f 1 "$scratch/theirs" | "$tool" "$2" | cut -d ' ' -f 1,3- | sort >"$scratch/ours"
    is "$1: $(wc -l <"$scratch/theirs") names of jump table entries agree" \
        "$(diff "$scratch/theirs" "$scratch/ours" | head -n 5)" ""
}

# one KIND FILE...: the first of these files that exists
kinds=0
one()
{
    kind=$1
    shift
    for file; do
        file=$(readlink -f "$file") || continue
        [ "$(head -c 4 "$file" 2>/dev/null | tail -c 3)" = ELF ] || continue
        kinds=$((kinds + 1))
        check_names "$kind ($file)" "$file" 1000 500
        [ -s "$scratch/full" ] && check_addr2line "$kind" "$file"
        check_plt "$kind" "$file" objdump
        return
    done
    skip "$kind" "none is on this machine"
}

where() { command -v "$1" || echo /nowhere; }

one "C library" /lib/x86_64-linux-gnu/libc.so.6 /usr/lib/*/libc.so.6
one "python" /usr/bin/python3 "$(where python3)"
one "libpython" /usr/lib/*/libpython3*.so.1.0
one "git" "$(where git)"
one "shell" /bin/bash /bin/sh
one "C++ library" /usr/lib/*/libstdc++.so.6
one "large C++ library" /usr/lib/*/libLLVM*.so.1
one "compiler" "$(gcc -print-prog-name=cc1)"
one "sanitizer, with all symbols" /usr/lib/*/libasan.so.?
one "dynamic linker" /lib64/ld-linux-x86-64.so.2 /lib/ld-*.so.?
one "Rust" "$HOME/.cargo/bin/rustup" /usr/lib/*/libstd-*.so "$(where rg)"
one "Go" "$(where go)" "$(where docker)" "$(where esbuild)"
one "busybox" "$(where busybox)"
one "static, musl" "$WORKLOADS/calls"
one "node" "$(where node)" "$(where nodejs)"
one "perf" "$(where perf)"
# Most of these, as every Debian has them.
between "kinds of files" $kinds 5 20

# ---- a static program: its PLT leads to functions chosen at startup

# shellcheck disable=SC2016
check_chosen()
{
    objdump -d -j .plt "$1" | sed -n 's/^ *\([0-9a-f]*\):.* # \([0-9a-f]*\) .*/\2 \1/p' |
        sort >"$scratch/words"
    readelf -rW "$1" | awk '$3 ~ /IRELATIV/ { sub(/^0+/, "", $1); print $1, $4 }' | sort |
        join "$scratch/words" - | cut -d ' ' -f 2,3 | sort >"$scratch/choosers"
    nm "$1" | awk '$2 == "i" { sub(/^0+/, "", $1); print $1 " " $3 "@plt" }' >"$scratch/names"
    cut -d ' ' -f 1 "$scratch/choosers" | "$tool" "$1" | sort | join "$scratch/choosers" - |
        awk 'FNR == NR { is[$0] = 1; next }
        !(($2 " " $4) in is) || $1 != $3 { print }
        END { if (FNR < 10) print "only " FNR }' "$scratch/names" - >"$scratch/differ"
    is "static: $(wc -l <"$scratch/choosers") entries have their chosen functions" \
        "$(head -n 5 "$scratch/differ")" ""
}

echo 'int main(void) { return 0; }' >"$scratch/static.c"
if gcc -static -no-pie -o "$scratch/static" "$scratch/static.c" 2>/dev/null &&
    readelf -rW "$scratch/static" | grep -q IRELATIV; then
    check_chosen "$scratch/static"
else
    skip "static" "the C library here is another"
fi

# ---- jump tables of machines whose entries begin with a pair of instructions, and MIPS's stubs

cat >"$scratch/library.c" <<'END'
int imported(int n) { return n; }
int other(void) { return 1; }
END
cat >"$scratch/calls.c" <<'END'
int imported(int), other(void), start(void);
int start(void) { return imported(1) ^ other(); }
END

# jumps COMPILER OPTION...: each instruction of both entries has its function's name, as objdump has it; a stub of MIPS
# is the value of the symbol
jumps()
{
    compiler=$1 name=$*
    shift
    if ! command -v "$compiler" >/dev/null; then
        skip "$name" "it is not installed"
        return
    fi
    "$compiler" -shared -fPIC -nostdlib -o "$scratch/library.so" "$scratch/library.c"
    "$compiler" "$@" -nostdlib -Wl,-e,start -o "$scratch/jumps" "$scratch/calls.c" "$scratch/library.so"
    {
        "${compiler%gcc}objdump" -d "$scratch/jumps" | sed -n 's/^\([0-9a-f]*\) <\(.*@plt\)>:$/\1 \2/p'
        "${compiler%gcc}readelf" -W --dyn-syms "$scratch/jumps" |
            awk '$4 == "FUNC" && $7 == "UND" && $2 !~ /^0*$/ { print $2, $8 "@plt" }'
    } | while read -r start function; do
        for skip in 0 4 8 12; do
            printf '%x %x %s\n' $((0x$start + skip)) $((0x$start)) "$function"
        done
    done | sort >"$scratch/theirs"
    cut -d ' ' -f 1 "$scratch/theirs" | "$tool" "$scratch/jumps" | sort >"$scratch/ours"
    is "$name: entries" "$(wc -l <"$scratch/theirs") $(diff "$scratch/theirs" "$scratch/ours")" "8 "
}

jumps riscv64-linux-gnu-gcc
jumps loongarch64-linux-gnu-gcc
for compiler in mipsel-linux-gnu-gcc mips-linux-gnu-gcc; do
    jumps $compiler
    jumps $compiler -mplt -mno-shared -fno-pic -no-pie
done
jumps mips64el-linux-gnuabi64-gcc

# ---- files of other machines: both classes, both byte orders

for program in clang ld.lld llvm-objdump; do
    if ! command -v $program >/dev/null; then
        skip "other machines" "$program is not installed"
        exit 0
    fi
done
cat >"$scratch/foreign.c" <<'END'
int imported(int);
int other(void);
__attribute__((noinline)) static int local(int n) { return imported(n) + n; }
int first(int n) { return local(n) * 3; }
__attribute__((weak)) int second(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += local(i) ^ other();
    return sum;
}
int alias(int) __attribute__((alias("first")));
int (*pointer)(void) = other;
END

# foreign TARGET ENTRIES [OPTION...]: the names, and those of that many PLT entries
foreign()
{
    target=$1 entries=$2
    shift 2
    if ! clang --target="$target" -O1 -fPIC -c -o "$scratch/foreign.o" "$scratch/foreign.c" ||
        ! ld.lld -shared "$@" -o "$scratch/foreign" "$scratch/foreign.o"; then
        skip "$target $*" "cannot be built here"
        return
    fi 2>/dev/null
    check_names "$target $*" "$scratch/foreign" 600 40
    [ "$entries" = 0 ] || {
        check_plt "$target $*" "$scratch/foreign" llvm-objdump
        is "$target $*: entries" "$(wc -l <"$scratch/theirs")" "$entries"
    }
}

foreign x86_64-linux-gnu 2
foreign x86_64-linux-gnu 2 -z ibtplt
foreign i686-linux-gnu 2
foreign aarch64-linux-gnu 2
foreign aarch64-linux-gnu 2 -z force-bti
foreign aarch64_be-linux-gnu 2
foreign armv7-linux-gnueabihf 0
foreign thumbv7-linux-gnueabihf 0
foreign thumbv7-linux-gnueabihf 0 --strip-all
foreign powerpc-linux-gnu 0
foreign powerpc-linux-gnu 0 --strip-all
foreign powerpc64le-linux-gnu 0
foreign mips-linux-gnu 0
foreign mips64-linux-gnuabi64 0
foreign riscv64-linux-gnu 0
foreign riscv32-linux-gnu 0 --strip-all
