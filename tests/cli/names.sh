#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# again: with LLVM
#
# Readable names of C++ and Rust: symbols of large programs compared with c++filt and llvm-cxxfilt, by the
# rules of scripts/names.sh; what no other tool does (--shorten, --names) on cases worked out by hand; and
# names made to take time or memory.

# shellcheck source=tests/live/lib.sh
. "${0%/*}/../live/lib.sh"

cd "${0%/*}/../.." || exit 1
export LC_ALL=C
rules=scripts/names
demangle=$(tool demangle)
[ -x "$demangle" ] || skip_all "$demangle is missing: run make tools"

# ---- compared with others

# counted WHAT: its number in the last comparison
counted()
{
    awk -v what="$1" '$1 == "count" && $2 == what { print $3 }' "$scratch/counts"
}

# judged NAME FILE: FILE has lines of a name, our result, and the two others'
judged()
{
    awk -v differences="$scratch/differences" -f $rules/style.awk -f $rules/kinds.awk \
        -f $rules/compare.awk "$2" >"$scratch/counts"
    is "$1: none is left mangled, or differs in an unknown way" \
        "$(grep -E '^(lost|unknown)	' "$scratch/differences" | head -n 3)" ""
    symbols=$(counted symbols)
    between "$1: equal to one of the others, of 100,000" \
        $((($(counted either) + $(counted spelled)) * 100000 / (symbols ? symbols : 1))) 99000 100000
}

# beside_others NAME: compares $scratch/names with others' results
beside_others()
{
    if "$demangle" <"$scratch/names" >"$scratch/ours" && c++filt -i <"$scratch/names" >"$scratch/gnu" &&
        llvm-cxxfilt <"$scratch/names" >"$scratch/llvm"; then
        paste "$scratch/names" "$scratch/ours" "$scratch/gnu" "$scratch/llvm" >"$scratch/all"
        judged "$1" "$scratch/all"
    else
        fail "$1" "one of the three failed"
    fi
}

mangled_of()
{
    { nm "$1" 2>/dev/null; nm -D "$1"; } |
        awk '{ sub(/@.*/, "", $NF); if ($NF ~ /^_[ZR]./) print $NF }' | sort -u
}

# The rules can fail: one name is right, one wrong, one lost, and one right in LLVM's spelling.
tr ' ' '\t' >"$scratch/all" <<'END'
_Z1fv f() f() f()
_Z1gv h() g() g()
_Z1hv _Z1hv h() h()
_ZZ1ivENKUlvE0_clEv i()::{lambda()#2}::operator()()_const _ZZ1ivENKUlvE0_clEv i()::'lambda0'()::operator()()_const
_Z1j _Z1j _Z1j _Z1j
END
awk -v differences="$scratch/differences" -f $rules/style.awk -f $rules/kinds.awk -f $rules/compare.awk \
    "$scratch/all" >"$scratch/counts"
is "wrong results are recognized" "$(awk '{ printf "%s %s ", $2, $3 }' "$scratch/counts")" \
    "symbols 5 mangled 1 gnu 2 llvm 3 either 2 spelled 1 kinds 0 lost 1 unknown 1 "
unexplained=$(sed -n 's/^.*return "\([a-z0-9-]*\)".*/\1/p' $rules/kinds.awk | while read -r key; do
    grep -q "^$key	" $rules/kinds.tsv || echo "$key"
done | grep -vx -e lost -e unknown)
is "each kind of difference is explained" "$unexplained" ""

if command -v c++filt >/dev/null && command -v llvm-cxxfilt >/dev/null && command -v nm >/dev/null; then
    cp tests/names/sample.txt "$scratch/names"
    between "the sample has enough names" "$(sort -u "$scratch/names" | grep -c .)" 3000 5000
    beside_others "the sample"
    library=$(find /usr/lib /lib -name libstdc++.so.6 2>/dev/null | head -n 1)
    if [ "$library" ] && mangled_of "$library" >"$scratch/names" && [ -s "$scratch/names" ]; then
        beside_others "libstdc++"
    else
        skip "libstdc++" "it is not installed"
    fi
    compiler=$(find /usr/lib/gcc /usr/libexec/gcc -name cc1plus 2>/dev/null | head -n 1)
    if [ "$compiler" ] && mangled_of "$compiler" >"$scratch/names" && [ -s "$scratch/names" ]; then
        beside_others "cc1plus"
    else
        skip "cc1plus" "it is not installed, or has no symbols"
    fi
else
    skip "compared with others" "c++filt, llvm-cxxfilt or nm is not installed"
fi

# ---- what no other tool can do

# Lines of a name and the results of --shorten, of --names, and of both, separated by |
cases()
{
    cat <<'END'
_Z1fv|f()|f|f
_Z4mainiPPc|main(int, char**)|main|main
f|f|f|f
_ZNSt6vectorIiSaIiEE9push_backERKi|std::vector<...>::push_back(int const&)|std::vector<int, std::allocator<int> >::push_back|std::vector<...>::push_back
_Z1fIiEvT_|void f<...>(int)|f<int>|f<...>
_Z1fIJEEvDpT_|void f<>()|f<>|f<>
_ZNK1A1gEi|A::g(int) const|A::g|A::g
_ZN1AIiEC1IcEERKS_IT_E|A<...>::A<...>(A<...> const&)|A<int>::A<char>|A<...>::A<...>
_ZN1AD0Ev|A::~A()|A::~A|A::~A
_Z1fSt3mapIiSsSt4lessIiESaISt4pairIKiSsEEE|f(std::map<...>)|f|f
_ZlsRSo1A|operator<<(std::ostream&, A)|operator<<|operator<<
_ZltI1AEbT_S1_|bool operator< <...>(A, A)|operator< <A>|operator< <...>
_ZN1AcvT_I1BEEv|A::operator B<...>()|A::operator B<B>|A::operator B<...>
_ZN1AclEi|A::operator()(int)|A::operator()|A::operator()
_ZZ1fiENKUliE_clEi|f(int)::{lambda(int)#1}::operator()(int) const|f(int)::{lambda(int)#1}::operator()|f(int)::{lambda(int)#1}::operator()
_ZZ1fIiEvT_E1x|f<...>(int)::x|f<int>(int)::x|f<...>(int)::x
_ZTV1AIiE|vtable for A<...>|vtable for A<int>|vtable for A<...>
_ZN12_GLOBAL__N_11fEv|(anonymous namespace)::f()|(anonymous namespace)::f|(anonymous namespace)::f
_ZNSaIcEC1Ev|std::allocator<...>::allocator()|std::allocator<char>::allocator|std::allocator<...>::allocator
_ZN3foo3bar17h4b1d2e07c9a83f56E|foo::bar|foo::bar|foo::bar
_ZN4core3ptr29drop_in_place$LT$foo..Bar$GT$17h4b1d2e07c9a83f56E|core::ptr::drop_in_place<...>|core::ptr::drop_in_place<foo::Bar>|core::ptr::drop_in_place<...>
_RNvC3foo3bar|foo::bar|foo::bar|foo::bar
_RINvC3foo3barmE|foo::bar::<...>|foo::bar::<u32>|foo::bar::<...>
_RNvMC3fooINtB2_3VecmE3len|<foo::Vec<...>>::len|<foo::Vec<u32>>::len|<foo::Vec<...>>::len
_RNvXC3fooNtB2_1ANtB2_1B1c|<foo::A as foo::B>::c|<foo::A as foo::B>::c|<foo::A as foo::B>::c
END
}

cases >"$scratch/cases"
cut -d '|' -f 1 "$scratch/cases" >"$scratch/names"
"$demangle" --shorten <"$scratch/names" >"$scratch/shortened"
"$demangle" --names <"$scratch/names" >"$scratch/alone"
"$demangle" --shorten --names <"$scratch/names" >"$scratch/both"
paste -d '|' "$scratch/names" "$scratch/shortened" "$scratch/alone" "$scratch/both" >"$scratch/got"
row=0
while read -r line; do
    row=$((row + 1))
    is "${line%%|*}, shortened, its name alone, both" "$(sed -n ${row}p "$scratch/got")" "$line"
done <"$scratch/cases"

# ---- hostile names

# hostile NAME AWK [LINES]: AWK prints names of some 100, 300, 3,000 and 65,000 bytes, thirty of each.
# Demangling them takes less than 20 s of CPU time on any machine, and 50 ms on a common one; 4 MB of memory
# besides the program itself are enough, so more memory does not change the answers; and each answer is a
# whole name, or the input.
hostile()
{
    for size in 100 300 3000 65000; do
        awk -v size=$size "$awk_functions BEGIN { $2 }"
    done >"$scratch/names"
    "$demangle" <"$scratch/names" >"$scratch/free"
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
        cat "$scratch/names"
    done >"$scratch/thirty"
    (
        ulimit -t $limit
        [ "$memory" ] && ulimit -v "$memory"
        exec "$demangle" <"$scratch/thirty"
    ) >"$scratch/bounded" 2>"$scratch/err"
    is "$1: time and memory are bounded" \
        "$? $(wc -l <"$scratch/bounded") $(sort -u "$scratch/bounded" | cksum)" \
        "0 $((120 * ${3:-1})) $(sort -u "$scratch/free" | cksum)"
    is "$1: names are whole, or unchanged" "$(paste -d '\n' "$scratch/names" "$scratch/free" | awk '
        NR % 2 { name = $0; next }
        /^_[ZR]/ && $0 != name { print substr($0, 1, 200) }')" ""
}

awk_functions='
function times(text, n,    all) {
    for (n = int(n); n-- > 0; )
        all = all text
    return all
}
function filled(text, less) {
    return times(text, int((size - less) / length(text)))
}
function base62(n,    digits, letters) {
    letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    if (!n)
        return "_"
    for (n--; ; n = int(n / 62)) {
        digits = substr(letters, n % 62 + 1, 1) digits
        if (n < 62)
            return digits "_"
    }
}
function base36(n,    digits, letters) {
    letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    if (!n)
        return "_"
    for (n--; ; n = int(n / 36)) {
        digits = substr(letters, n % 36 + 1, 1) digits
        if (n < 36)
            return digits "_"
    }
}
'
# With sanitizers, memory is not limited.
limit=20 memory=5120
case $demangle in
*/asan/*) limit=200 memory='' ;;
esac

# Each of 1,400 substitutions is the right one: f(a1000, a1001, ... a2399, aN) for S_, S0_, ... S12U_
awk "$awk_functions"' BEGIN {
    for (n = 0; n < 1400; n++)
        parameters = parameters "5a" 1000 + n
    for (n = 0; n < 1400; n++)
        print "_Z1f" parameters "S" base36(n)
}' | "$demangle" | sed 's/^f(a1000, .*, a2399, a\([0-9]*\))$/\1/' >"$scratch/substituted"
is "each substitution is the right one" \
    "$(awk '$0 != 999 + NR { print NR - 1 ": " substr($0, 1, 40) }' "$scratch/substituted" | head -n 3)" ""
is "no substitution is missing" "$(grep -c . "$scratch/substituted")" 1400

# Nesting
for code in P K Z N NK DT X St ST I F A_ M1A Ul TV TI GV Dp J U3foo; do
    hostile "_Z1f and $code" "print \"_Z1f\" filled(\"$code\", 5) \"i\""
done
for code in Z N TV GV Tc Th GR cv B1a; do
    hostile "_Z and $code" "print \"_Z\" filled(\"$code\", 5) \"1fv\""
done
for code in ng pl qu dl cvi sz sr1a cl tl il dtfp_; do
    hostile "an expression of $code" \
        "print \"_Z1fIX\" times(\"$code\", size / 2 / length(\"$code\")) times(\"Li0E\", size / 9) \"EEvv\""
done
for code in N Nv I X M Y R Q S A T F G_ D C B_ P O K; do
    hostile "_R and $code" "print \"_R\" filled(\"$code\", 8) \"C1a1b\""
done
hostile "references of Rust" 'print "_RINvC1a1b" filled("R", 12) "uE"'

# Back references
hostile "substitutions that double" '
    out = "_Z1f1PIiiE"
    for (n = 1; length(out) < size - 20; n++)
        out = out "S_IS" base36(n) "S" base36(n) "E"
    print out'
hostile "arguments that double" '
    out = "_Z1fI1PIiiE"
    for (n = 0; length(out) < size - 20; n++)
        out = out "S_IT" base36(n) "T" base36(n) "E"
    print out "EvT_"'
hostile "an argument of itself" 'print "_Z1fI" filled("T_", 9) "EvT_"'
hostile "a pack expanded again and again" \
    'print "_Z1fIJ" times("i", size / 2) "EEvDpT_" times("DpPT_", size / 12)'
hostile "packs in packs" 'print "_Z1fI" times("J", size / 2 - 9) "i" times("E", size / 2 - 9) "EvDpT_"'
hostile "tuples that double" '
    out = "_RINvC1a1bTuuE"
    for (at = 8; length(out) < size - 20; at = next_at) {
        next_at = length(out) - 2
        out = out "TB" base62(at) "B" base62(at) "E"
    }
    print out "E"'
hostile "a name within itself" 'print "_RB_"; print "_RINvC1a1bB_E"; print "_RNvB_1a"' 3
hostile "one name again and again" '
    print "_RINvC1a" int(size / 2) "_" times("b", size / 2) times("B4_", size / 7) "E"'

# Numbers and lengths
hostile "a length too large for any number" 'print "_Z" filled("9", 5) "fv"'
hostile "a length beyond the end" 'print "_Z" size "f"; print "_Z4294967297fv"' 2
hostile "a dimension too large for any number" 'print "_Z1fA" filled("9", 8) "_i"'
hostile "lambdas" 'print "_ZNK" filled("UliE_", 9) "clEv"'
hostile "endless lifetimes" 'print "_RINvC1a1bFGzzzzzzzzzz_EuE"'
hostile "many lifetimes, again and again" 'print "_RINvC1a1b" filled("FGzz_Eu", 11) "E"'
hostile "a long constant" 'print "_RINvC1a1bKo" filled("f", 14) "_E"'

# Letters of other alphabets, and escapes
hostile "punycode" '
    n = size - 20
    print "_RNvC1au" n "_" times("a", n / 2) times("9", n / 2 + n % 2)
    print "_RNvC1au" n "_" times("a", n / 2) "_" times("b", n / 2 - 1 + n % 2)' 2
hostile "components" 'print "_ZN" filled("1a", 25) "17h0123456789abcdefE"'
hostile "escapes" '
    n = int((size - 40) / 4)
    print "_ZN" n * 4 times("$LT$", n) "17h0123456789abcdefE"'
hostile "escapes of nothing" '
    n = int((size - 40) / 8)
    print "_ZN" n * 8 times("$u1f600$", n) "17h0123456789abcdefE"
    print "_ZN" n * 8 times("$uffffff", n) "17h0123456789abcdefE"' 2
