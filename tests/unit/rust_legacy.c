/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Rust's legacy names: nested C++ names with a hash at the end. */
#include "demangle/rust.h"

#include "rust_check.h"

#define HASH "17h0123456789abcdefE"

TEST(paths)
{
    CHECK_NAME("_ZN1a" HASH, "a");
    CHECK_NAME("_ZN4core3fmt5write17h4b1d2e07c9a83f56E", "core::fmt::write");
    CHECK_NAME("_ZN1a2_b3__c" HASH, "a::_b::__c");
    CHECK_NAME("_ZN10abcdefghij1k" HASH, "abcdefghij::k");
    /* A hash counts only at the end. */
    CHECK_NAME("_ZN17h0123456789abcdef1a" HASH, "h0123456789abcdef::a");
}

TEST(what_stands_for_other_characters)
{
    CHECK_NAME("_ZN4$SP$" HASH, "@");
    CHECK_NAME("_ZN9a$BP$$RF$" HASH,
               "a*&");
    CHECK_NAME("_ZN4core5slice57_$LT$impl$u20$a..T$u20$for$u20$$u5b$T$u3b$$u20$4$u5d$$GT$1f" HASH,
               "core::slice::<impl a::T for [T; 4]>::f");
    CHECK_NAME("_ZN8$LT$$GT$" HASH, "<>");
    CHECK_NAME("_ZN11$LP$$C$$RP$" HASH, "(,)");
    CHECK_NAME("_ZN15$u7e$$u20$$u27$" HASH, "~ '");
    CHECK_NAME("_ZN20$u5b$$u5d$$u7b$$u7d$" HASH, "[]{}");
    CHECK_NAME("_ZN20$u3b$$u2b$$u22$$u3d$" HASH, ";+\"=");
    CHECK_NAME("_ZN4a..b" HASH, "a::b");
    CHECK_NAME("_ZN3a.b" HASH, "a.b");
    CHECK_NAME("_ZN5a...b" HASH, "a::.b");
    /* The arrow of a type: its - was turned into a dot. */
    CHECK_NAME("_ZN26fn$LP$$RP$$u20$.$GT$$u20$i" HASH, "fn() -> i");
    CHECK_NAME("_ZN8g$uf6$de" HASH, "g\xc3\xb6" "de");
    CHECK_NAME("_ZN14$u94c1$_$u3b1$" HASH, "\xe9\x93\x81_\xce\xb1");
    CHECK_NAME("_ZN8$u1f926$" HASH, "\xf0\x9f\xa4\xa6");
}

TEST(underscores_before_them)
{
    CHECK_NAME("_ZN4ring28_$u7b$$u7b$closure$u7d$$u7d$" HASH, "ring::{{closure}}");
    CHECK_NAME("_ZN1a32_$u7b$$u7b$vtable.shim$u7d$$u7d$" HASH, "a::{{vtable.shim}}");
    CHECK_NAME("_ZN2_a" HASH, "_a");
    CHECK_NAME("_ZN6__$LT$" HASH, "__<");
    CHECK_NAME("_ZN38_$LT$core..option..Option$LT$T$GT$$GT$6unwrap" HASH,
               "<core::option::Option<T>>::unwrap");
    CHECK_NAME("_ZN72_$LT$Ring$u20$$u2b$$u20$$u27$static$u20$as$u20$draw..Ink$LT$Ring$GT$$GT$4fill"
               HASH,
               "<Ring + 'static as draw::Ink<Ring>>::fill");
}

/* An escape that means no character stays as it is, with the rest of its part. */
TEST(unknown_ones)
{
    CHECK_NAME("_ZN2b$1a" HASH, "b$::a");
    CHECK_NAME("_ZN11$LT$a$b$GT$" HASH, "<a$b$GT$");
    CHECK_NAME("_ZN6$XX$..1a" HASH, "$XX$..::a");
    CHECK_NAME("_ZN5$u1b$" HASH, "$u1b$");
    CHECK_NAME("_ZN5$u9b$" HASH, "$u9b$");
    CHECK_NAME("_ZN7$ud800$" HASH, "$ud800$");
    CHECK_NAME("_ZN7$u202e$" HASH, "$u202e$");
    CHECK_NAME("_ZN9$u110000$" HASH, "$u110000$");
    CHECK_NAME("_ZN11$u00000041$" HASH, "$u00000041$");
    CHECK_NAME("_ZN5$u7E$" HASH, "$u7E$");
    CHECK_NAME("_ZN3$u$" HASH, "$u$");
}

TEST(endings)
{
    CHECK_NAME("_ZN1a" HASH ".llvm.123", "a (.llvm.123)");
    CHECK_NAME("_ZN1a" HASH ".llvm.7C04E21B", "a (.llvm.7C04E21B)");
    CHECK_NAME("_ZN1a" HASH ".17", "a (.17)");
    CHECK_NAME("_ZN1a" HASH ".cold.llvm.1", "a (.cold.llvm.1)");
    CHECK_ALONE("_ZN1a1b" HASH ".llvm.123", "a::b");
}

TEST(shortened)
{
    CHECK_SHORT("_ZN1a" HASH, "a");
    CHECK_SHORT("_ZN14drop$LT$u8$GT$" HASH, "drop<...>");
    CHECK_SHORT("_ZN38_$LT$core..option..Option$LT$T$GT$$GT$6unwrap" HASH,
                "<core::option::Option<...>>::unwrap");
    CHECK_SHORT("_ZN28V$LT$V$LT$u8$GT$$C$u8$GT$..f" HASH, "V<...>::f");
    CHECK_SHORT("_ZN44_$LT$a..B$LT$T$GT$$u20$as$u20$C$LT$T$GT$$GT$1f" HASH,
                "<a::B<...> as C<...>>::f");
    CHECK_SHORT("_ZN45_$LT$impl$u20$a..T$u20$for$u20$B$LT$T$GT$$GT$1f" HASH,
                "<impl a::T for B<...>>::f");
    /* The arrow of a type closes nothing. */
    CHECK_SHORT("_ZN39drop$LT$fn$LP$$RP$$u20$.$GT$$u20$u8$GT$1f" HASH, "drop<...>::f");
    /* A lifetime binder is not an argument. */
    CHECK_SHORT("_ZN24for$LT$$u27$a$GT$$u20$fn" HASH, "for<'a> fn");
    CHECK_SHORT("_ZN13xfor$LT$a$GT$" HASH, "xfor<...>");
    /* If brackets do not match, the name is not shortened. */
    CHECK_SHORT("_ZN9drop$LT$a1b" HASH, "drop<a::b");
}

/* Without a hash, or with more than a suffix after it, it may be C++. */
TEST(what_is_none)
{
    static const char *const names[] = {
        "_Z", "_ZN", "_Z1fv", "_ZN1a1fE", "_ZN1a1fEv", "_ZN1a17h0123456789abcdefEv",
        "_ZN1a17h0123456789abcdeFE", "_ZN1a17g0123456789abcdefE", "_ZN1a16h0123456789abcdeE",
        "_ZN1a18h0123456789abcdef0E", "_ZN17h0123456789abcdefE", "_ZN1aI17h0123456789abcdefEE",
        "_ZN1a17h0123456789abcdef", "_ZN1a17h0123456789abcde", "_ZN1a" HASH " b", "_ZN1a1b",
        "_ZN0" HASH, "_ZN01a" HASH, "_ZN1\xc3" HASH, "_ZN2a-" HASH, "_ZN1\n" HASH,
        "_ZN99999999999999999999a" HASH, "_ZN4294967297a" HASH};

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        int before = test_failures_here;
        text_clear(&rust_name);
        CHECK_NUMBER(rust_demangle(names[i], strlen(names[i]), &(struct demangle_options){0},
                                   &rust_name), -EINVAL);
        if (test_failures_here > before)
            printf("  it is %s\n", names[i]);
    }
    /* A zero byte does not end a name. */
    CHECK_NUMBER(rust_check("_ZN1\0" HASH, 5 + 20, (struct demangle_options){0}), -EINVAL);
}

/* Wherever the suffix begins, and wherever a zero byte is. */
TEST(of_any_length)
{
    static const char part[] = "abcdefghijklmnopqrstuvwxyz";
    static const char *const marks[] = {".x", "$x", ""};

    for (int length = 1; length < (int)sizeof(part); length++) {
        for (size_t i = 0; i < COUNT_OF(marks); i++) {
            char name[80], expected[80];
            int size = snprintf(name, sizeof(name), "_ZN%d%.*s" HASH "%s", length, length, part, marks[i]);
            snprintf(expected, sizeof(expected), *marks[i] ? "%.*s (%s)" : "%.*s", length, part, marks[i]);
            CHECK_NAME(name, expected);
            for (int at = 3; at < size; at++) {
                char was = name[at];
                name[at] = '\0';
                CHECK_NUMBER(rust_check(name, (size_t)size, (struct demangle_options){0}), -EINVAL);
                name[at] = was;
            }
        }
    }
}

TEST_MAIN
