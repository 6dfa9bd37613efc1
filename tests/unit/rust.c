/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Rust's v0 names, production by production of the grammar: the expected texts were written by
 * hand. The names of crate `a` are what rustc made from a source with such things.
 */
#include "demangle/demangle.h"

#include "rust_check.h"

TEST(crates_and_nested_paths)
{
    CHECK_NAME("_RC1a", "a");
    CHECK_NAME("_RCs5a42DAGlD6v_1a", "a");
    CHECK_NAME("_RNvC1a1f", "a::f");
    CHECK_NAME("_RNvNtNtC1a1b1c1f", "a::b::c::f");
    CHECK_NAME("_RNvCs_1as0_1f", "a::f");
    /* Lower-case namespaces (the compiler's own) are not printed, nor are missing names. */
    CHECK_NAME("_RNqNcC1a01f", "a::f");
    CHECK_NAME("_RNvNyC1a1b0", "a::b");
    /* Upper-case namespaces are. */
    CHECK_NAME("_RNCNvCs5a42DAGlD6v_1a3run0B3_", "a::run::{closure#0}");
    CHECK_NAME("_RNCNvC1a3runs_0", "a::run::{closure#1}");
    CHECK_NAME("_RNCNvC1a3runs8_0", "a::run::{closure#10}");
    CHECK_NAME("_RNCNCNvCs5a42DAGlD6v_1a3run00B5_", "a::run::{closure#0}::{closure#0}");
    CHECK_NAME("_RNCNvC1a3runs_4name", "a::run::{closure:name#1}");
    CHECK_NAME("_RNSNvCs5a42DAGlD6v_1a6panics5reifyB3_", "a::panics::{shim:reify#0}");
    CHECK_NAME("_RNSNvC1a1f6vtable", "a::f::{shim:vtable#0}");
    CHECK_NAME("_RNvNCNKNvCs5a42DAGlD6v_1a2TL0s_023___RUST_STD_INTERNAL_VAL",
               "a::TL::{K#0}::{closure#1}::__RUST_STD_INTERNAL_VAL");
    CHECK_NAME("_RNZC1a1f", "a::{Z:f#0}");
}

TEST(impls)
{
    CHECK_NAME("_RNvMC1aNtB2_1S1f", "<a::S>::f");
    CHECK_NAME("_RNvMs_C1aNtB4_1S1f", "<a::S>::f");
    CHECK_NAME("_RNvMs0_NtC1a1bh1f", "<u8>::f");
    CHECK_NAME("_RNvXC1aNtB2_1SNtB2_1T1f", "<a::S as a::T>::f");
    CHECK_NAME("_RNvXs1_NtC1a1bhNtB7_1T1f", "<u8 as a::T>::f");
    CHECK_NAME("_RNvYhNtC1a1T1f", "<u8 as a::T>::f");
    CHECK_NAME("_RNvYINtNtCsbEht8wFNRx7_5alloc3vec3VechEINtCs5a42DAGlD6v_1a2TrhE1dBE_",
               "<alloc::vec::Vec<u8> as a::Tr<u8>>::d");
    /* A generic impl has its arguments in its path, which is not printed. */
    CHECK_NAME("_RNvXINICs_1as_0hEShNtB5_1T1f", "<[u8] as a::T>::f");
    CHECK_NAME("_RNvNvXC1aINtC1b1VpEINtB4_2TrpE1m5inner", "<b::V<_> as a::Tr<_>>::m::inner");
    CHECK_NAME("_RMC0h", "<u8>");
}

TEST(generic_arguments)
{
    CHECK_NAME("_RINvC1a1fhE", "a::f::<u8>");
    CHECK_NAME("_RINvC1a1fhlE", "a::f::<u8, i32>");
    CHECK_NAME("_RINvC1a1fE", "a::f::<>");
    CHECK_NAME("_RINvC1a1fL_hE", "a::f::<'_, u8>");
    CHECK_NAME("_RINvC1a1fKj5_hE", "a::f::<5, u8>");
    /* For a type they follow its name. */
    CHECK_NAME("_RINvC1a1fINtB2_1SINtB2_1ShEEE", "a::f::<a::S<a::S<u8>>>");
    CHECK_NAME("_RNvMs_C1aINtB4_1GKj3_hE3foo", "<a::G<3, u8>>::foo");
    CHECK_NAME("_RNCINvC1a1fhE0", "a::f::<u8>::{closure#0}");
    CHECK_NAME("_RINvC1a1fNCINvB2_1ghE0E", "a::f::<a::g<u8>::{closure#0}>");
}

TEST(basic_types)
{
    CHECK_NAME("_RINvC1a1fabcdefhijlmnopstuvxyzE",
               "a::f::<i8, bool, char, f64, str, f32, u8, isize, usize, i32, u32, i128, u128, _, "
               "i16, u16, (), ..., i64, u64, !>");
    CHECK_NAME("_RMC0C3f16", "<f16>");
    CHECK_NAME("_RMC0C4f128", "<f128>");
    CHECK_NONE("_RMC0g");
    CHECK_NONE("_RMC0k");
    CHECK_NONE("_RMC0q");
    CHECK_NONE("_RMC0r");
    CHECK_NONE("_RMC0w");
}

TEST(composed_types)
{
    CHECK_NAME("_RMC0Ahj4_", "<[u8; 4]>");
    CHECK_NAME("_RMC0AAhj4_j20_", "<[[u8; 4]; 32]>");
    CHECK_NAME("_RMC0Ahp", "<[u8; _]>");
    CHECK_NAME("_RMC0Sh", "<[u8]>");
    CHECK_NAME("_RMC0TE", "<()>");
    CHECK_NAME("_RMC0ThE", "<(u8,)>");
    CHECK_NAME("_RMC0ThlE", "<(u8, i32)>");
    CHECK_NAME("_RMC0TThETEE", "<((u8,), ())>");
    CHECK_NAME("_RMC0Rh", "<&u8>");
    CHECK_NAME("_RMC0RL_h", "<&u8>");
    CHECK_NAME("_RMC0QRh", "<&mut &u8>");
    CHECK_NAME("_RMC0Ph", "<*const u8>");
    CHECK_NAME("_RMC0OPh", "<*mut *const u8>");
    CHECK_NAME("_RMC0NtC1a1S", "<a::S>");
    CHECK_NAME("_RMC0NvYhNtC1a1T1O", "<<u8 as a::T>::O>");
}

TEST(functions)
{
    CHECK_NAME("_RMC0FEu", "<fn()>");
    CHECK_NAME("_RMC0FEz", "<fn() -> !>");
    CHECK_NAME("_RMC0FhlEb", "<fn(u8, i32) -> bool>");
    CHECK_NAME("_RMC0FETE", "<fn() -> ()>");
    CHECK_NAME("_RMC0FUEu", "<unsafe fn()>");
    CHECK_NAME("_RMC0FKCEu", "<extern \"C\" fn()>");
    CHECK_NAME("_RMC0FUKChvEh", "<unsafe extern \"C\" fn(u8, ...) -> u8>");
    CHECK_NAME("_RMC0FK8C_unwindEu", "<extern \"C-unwind\" fn()>");
    CHECK_NAME("_RMC0FK6systemhEu", "<extern \"system\" fn(u8)>");
    CHECK_NAME("_RMC0FFEuEFEu", "<fn(fn()) -> fn()>");
    CHECK_NONE("_RMC0FKu4gdelEu");
}

TEST(binders)
{
    CHECK_NAME("_RMC0FG_RL0_hEu", "<for<'a> fn(&'a u8)>");
    CHECK_NAME("_RMC0FG0_RL1_hQL0_tERL1_h", "<for<'a, 'b> fn(&'a u8, &'b mut u16) -> &'a u8>");
    CHECK_NAME("_RMC0FG_FG_RL1_hRL0_hEuEu", "<for<'a> fn(for<'b> fn(&'a u8, &'b u8))>");
    CHECK_NAME("_RMC0FG_FG_RL0_hEuRL0_hEu", "<for<'a> fn(for<'b> fn(&'b u8), &'a u8)>");
    CHECK_NAME("_RMC0FG_INtC1a1SL0_EEu", "<for<'a> fn(a::S<'a>)>");
    /* 28 of them: letters end at 'z. */
    CHECK_NAME("_RMC0FGq_RL0_hRL1_hRL2_hEu",
               "<for<'a, 'b, 'c, 'd, 'e, 'f, 'g, 'h, 'i, 'j, 'k, 'l, 'm, 'n, 'o, 'p, 'q, 'r, 's, "
               "'t, 'u, 'v, 'w, 'x, 'y, 'z, '_26, '_27> fn(&'_27 u8, &'_26 u8, &'z u8)>");
    /* Bound lifetimes are only known inside. */
    CHECK_NONE("_RMC0RL0_h");
    CHECK_NONE("_RMC0TFG_EuRL0_hE");
    CHECK_NONE("_RMC0FG_RL1_hEu");
    CHECK_NONE("_RMC0FGzzzzzzzzzzzzzzzzzzzzzz_Eu");
}

TEST(trait_objects)
{
    CHECK_NAME("_RMC0DNtC1a1TEL_", "<dyn a::T>");
    CHECK_NAME("_RMC0DNtC1a1TNtB5_4SendEL_", "<dyn a::T + a::Send>");
    CHECK_NAME("_RMC0DINtC1a1ThEEL_", "<dyn a::T<u8>>");
    CHECK_NAME("_RMC0DNtC1a1Tp4ItemhEL_", "<dyn a::T<Item = u8>>");
    CHECK_NAME("_RMC0DINtC1a1ThEp1Ohp1Pup1QRhNtB6_4SendEL_",
               "<dyn a::T<u8, O = u8, P = (), Q = &u8> + a::Send>");
    CHECK_NAME("_RMC0DNtC1a1Tp1NKj3_EL_", "<dyn a::T<N = 3>>");
    CHECK_NAME("_RMC0DG_INtC1a2FnTRL0_hEEp6OutputRL0_hEL_",
               "<dyn for<'a> a::Fn<(&'a u8,), Output = &'a u8>>");
    /* Its own lifetime is outside the binder. */
    CHECK_NAME("_RMC0FG_DNtC1a1TEL0_Eu", "<for<'a> fn(dyn a::T + 'a)>");
    CHECK_NONE("_RMC0DG_NtC1a1TEL0_");
    /* The path may be a back reference, whose arguments are also left open. */
    CHECK_NAME("_RMC0TINtC1a1ThEDB3_p1OhEL_E", "<(a::T<u8>, dyn a::T<u8, O = u8>)>");
    CHECK_NAME("_RMC0TNtC1a1TDB3_p1OhEL_E", "<(a::T, dyn a::T<O = u8>)>");
    CHECK_NONE("_RMC0DNtC1a1TE");
    CHECK_NONE("_RMC0DNtC1a1T");
    CHECK_NONE("_RMC0DhEL_");
}

TEST(plain_constants)
{
    CHECK_NAME("_RIC1aKj0_E", "a::<0>");
    CHECK_NAME("_RIC1aKh7b_E", "a::<123>");
    CHECK_NAME("_RIC1aKj01_E", "a::<1>");
    CHECK_NAME("_RIC1aKj_E", "a::<0>");
    CHECK_NAME("_RIC1aKtf_Kmff_Kyfff_Kofffe_E", "a::<15, 255, 4095, 65534>");
    CHECK_NAME("_RIC1aKan5_Ksn0_Kl5_Kx5_Kin5_E", "a::<-5, -0, 5, 5, -5>");
    CHECK_NAME("_RIC1aKxn8000000000000000_E", "a::<-9223372036854775808>");
    CHECK_NAME("_RIC1aKyffffffffffffffff_E", "a::<18446744073709551615>");
    CHECK_NAME("_RIC1aKoffffffffffffffffffffffffffffffff_E",
               "a::<0xffffffffffffffffffffffffffffffff>");
    CHECK_NAME("_RIC1aKnn10000000000000000_E", "a::<-0x10000000000000000>");
    CHECK_NAME("_RIC1aKb0_Kb1_E", "a::<false, true>");
    CHECK_NAME("_RIC1aKc61_Kc20_E", "a::<'a', ' '>");
    CHECK_NAME("_RIC1aKca_Kcd_Kc9_Kc5c_Kc27_Kc22_E",
               "a::<'\\n', '\\r', '\\t', '\\\\', '\\'', '\"'>");
    CHECK_NAME("_RIC1aKc0_Kc7f_Kcfc_Kc94c1_Kc1f926_E",
               "a::<'\\u{0}', '\\u{7f}', '\\u{fc}', '\\u{94c1}', '\\u{1f926}'>");
    CHECK_NAME("_RIC1aKpE", "a::<_>");
    CHECK_NONE("_RIC1aKb2_E");
    CHECK_NONE("_RIC1aKcd800_E");
    CHECK_NONE("_RIC1aKc110000_E");
    CHECK_NONE("_RIC1aKhn1_E");
    CHECK_NONE("_RIC1aKhF_E");
    CHECK_NONE("_RIC1aKh1E");
    CHECK_NONE("_RIC1aKd0_E");
    CHECK_NONE("_RIC1aKo100000000000000000000000000000000_E");
}

TEST(constants_of_other_types)
{
    CHECK_NAME("_RIC1aKRe68690a22275c_E", "a::<\"hi\\n\\\"'\\\\\">");
    CHECK_NAME("_RIC1aKRec3bc_KRee99381f09fa4a6_E", "a::<\"\\u{fc}\", \"\\u{94c1}\\u{1f926}\">");
    CHECK_NAME("_RIC1aKRe_E", "a::<\"\">");
    CHECK_NAME("_RIC1aKRe00_E", "a::<\"\\u{0}\">");
    CHECK_NAME("_RIC1aKe61_KQe61_KRRe61_E", "a::<{*\"a\"}, {&mut *\"a\"}, {&\"a\"}>");
    CHECK_NAME("_RIC1aKRj1_KQj1_E", "a::<{&1}, {&mut 1}>");
    CHECK_NAME("_RIC1aKAEKAh1_h2_EKRAh1_EE", "a::<{[]}, {[1, 2]}, {&[1]}>");
    CHECK_NAME("_RIC1aKTEKTh1_EKTh1_b1_EE", "a::<{()}, {(1,)}, {(1, true)}>");
    CHECK_NAME("_RIC1aKVNtB0_1UUE", "a::<{a::U}>");
    CHECK_NAME("_RIC1aKVNtB0_1ETan5_EE", "a::<{a::E(-5)}>");
    CHECK_NAME("_RIC1aKVNtB0_1SS1ah1_s_1bb1_EE", "a::<{a::S { a: 1, b: true }}>");
    CHECK_NAME("_RIC1aKVINtB0_1EhETTh1_EVNtB0_1UUEE", "a::<{a::E::<u8>((1,), a::U)}>");
    /* Inside a type nothing needs braces. */
    CHECK_NAME("_RMC0AhTj1_E", "<[u8; (1,)]>");
    /* An unknown one keeps its name. */
    CHECK_NAME("_RIC1aKNvB0_1NE", "a::<{a::N}>");
    CHECK_NAME("_RMC0AhNvC1a1N", "<[u8; a::N]>");
    CHECK_NONE("_RIC1aKRec3_E");
    CHECK_NONE("_RIC1aKRec328_E");
    CHECK_NONE("_RIC1aKReeda080_E");
    CHECK_NONE("_RIC1aKRec080_E");
    CHECK_NONE("_RIC1aKRe6_E");
    CHECK_NONE("_RIC1aKRe6A_E");
    CHECK_NONE("_RIC1aKVNtB0_1UE");
}

TEST(pattern_types)
{
    CHECK_NAME("_RMC0WmRm1_m5_", "<u32 is 1..=5>");
    CHECK_NAME("_RMC0WmORm1_m5_Rm7_m9_E", "<u32 is 1..=5 | 7..=9>");
    CHECK_NAME("_RMC0WPhu", "<*const u8 is !null>");
    CHECK_NONE("_RMC0Wmm1_");
    CHECK_NONE("_RMC0WmORm1_m5_");
}

TEST(references_back)
{
    /* To a path, a type, a constant; the number counts from after _R. */
    CHECK_NAME("_RINvC1a1fNtB2_1SE", "a::f::<a::S>");
    CHECK_NAME("_RIC1aThEB3_E", "a::<(u8,), (u8,)>");
    CHECK_NAME("_RIC1aRThEB4_QB4_E", "a::<&(u8,), (u8,), &mut (u8,)>");
    CHECK_NAME("_RIC1aKj7_KB4_AhB4_E", "a::<7, 7, [u8; 7]>");
    CHECK_NAME("_RIC1aKTj7_EKB4_E", "a::<{(7,)}, {(7,)}>");
    /* The same path as a value and as a type. */
    CHECK_NAME("_RIINvC1a1fhEB0_E", "a::f::<u8>::<a::f<u8>>");
    /* To itself, to a later place, to something of another kind. */
    CHECK_NONE("_RIC1aB3_E");
    CHECK_NONE("_RIC1aTB3_EE");
    CHECK_NONE("_RIC1aB8_ThEE");
    CHECK_NONE("_RIC1aThEKB3_E");
    CHECK_NONE("_RIC1aBzzzzzzzzzzzzzzzzzz_E");
    CHECK_NONE("_RB_");
}

TEST(identifiers)
{
    CHECK_NAME("_RNvC1a1__", "a::_");
    CHECK_NAME("_RNvC1a2__b", "a::_b");
    CHECK_NAME("_RNvC1a2_12", "a::12");
    CHECK_NAME("_RNvC1a3_1bc", "a::1bc");
    CHECK_NAME("_RNvCs5a42DAGlD6v_1au8gdel_5qa", "a::g\xc3\xb6" "del");
    CHECK_NAME("_RNvNtCs5a42DAGlD6v_1au6n84amfu7___ylb7e",
               "a::\xe9\x93\x81\xe9\x94\x88::\xce\xb1_\xcf\x89");
    /* The bytes themselves */
    CHECK_NAME("_RNvC1a6g\xc3\xb6" "del", "a::g\xc3\xb6" "del");
    CHECK_NONE("_RNvC1a5g\xc3\xb6" "del");
    CHECK_NONE("_RNvC1a2\xc3x");
    CHECK_NONE("_RNvC1a2\xc0\x80");
    CHECK_NONE("_RNvC1a2\xc2\x9b");
    CHECK_NONE("_RNvC1a3\xe2\x80\xae");
    CHECK_NONE("_RNvC1a3b-c");
    CHECK_NONE("_RNvC1a3b c");
    CHECK_NONE("_RNvC1a3b\nc");
    CHECK_NONE("_RNvC1a4bc");
    CHECK_NUMBER(rust_check("_RNvC1a1\0", 9, (struct demangle_options){0}), -EINVAL);
    CHECK_NONE("_RNvC1a99999999999999999999b");
    CHECK_NONE("_RNvC1au0");
    CHECK_NONE("_RNvC1au4gde_");
}

/* The instantiating crate is not printed; compilers' suffixes are. */
TEST(instances_and_endings)
{
    CHECK_NAME("_RNvC1a1fC1b", "a::f");
    CHECK_NAME("_RNvC1a1fCs5a42DAGlD6v_1b", "a::f");
    CHECK_NAME("_RNvC1a1fB2_", "a::f");
    CHECK_NAME("_RNvC1a1f.llvm.123", "a::f (.llvm.123)");
    CHECK_NAME("_RNvC1a1f.llvm.7C04E21B", "a::f (.llvm.7C04E21B)");
    CHECK_NAME("_RNvC1a1fC1b.cold", "a::f (.cold)");
    CHECK_NAME("_RNvC1a1f.constprop.0.cold.1", "a::f (.constprop.0.cold.1)");
    CHECK_NAME("_RNvC1a1f.lto_priv.0", "a::f (.lto_priv.0)");
    CHECK_NAME("_RNvC1a1f.17", "a::f (.17)");
    CHECK_NAME("_RNvC1a1f$tlv$init", "a::f ($tlv$init)");
    CHECK_ALONE("_RNvC1a1f.llvm.123", "a::f");
    CHECK_ALONE("_RINvC1a1fhEC1b$tlv", "a::f::<u8>");
    CHECK_NONE("_RNvC1a1f.a b");
    CHECK_NONE("_RNvC1a1f.\xc3\xb6");
    CHECK_NONE("_RNvC1a1fC1bC1c");
    CHECK_NONE("_RNvC1a1fx");
    CHECK_NONE("_RNvC1a1fC");
}

TEST(what_is_none)
{
    CHECK_NONE("_R");
    CHECK_NONE("_R0");
    CHECK_NONE("_R1C1a");
    CHECK_NONE("_RTLfoo");
    CHECK_NONE("_Rfoo");
    CHECK_NONE("_RC");
    CHECK_NONE("_RC0");
    CHECK_NONE("_RC0.cold");
    CHECK_NONE("_RNv");
    CHECK_NONE("_RNvC1a");
    CHECK_NONE("_RN1C1a1b");
    CHECK_NONE("_RIC1a");
    CHECK_NONE("_RIC1ah");
    CHECK_NONE("_RMC0");
    CHECK_NONE("_RXC0h");
    CHECK_NONE("_RMC0Th");
    CHECK_NONE("_RMC0A");
    CHECK_NONE("_RMC0Ah");
    CHECK_NONE("_RMC0FE");
    CHECK_NONE("_RMC0FKC");
    CHECK_NONE("_RNCC1as0");
    CHECK_NONE("_RNCC1aszzzzzzzzzzzzzzzzzzzz_0");
}

/* A prefix of a name is another whole name, or no name. */
TEST(cut_names)
{
    static const char name[] = "_RINvMs2_NtC3std2ioINtB6_4SpanDG_INtB8_1TRL0_hEp1OTRhEEL_E3fooKj5_"
                               "FUKChEuRShKVNtB8_1SS1aTb1_EEEC1b";

    CHECK_NAME(name, "<std::io::Span<dyn for<'a> std::T<&'a u8, O = (&u8,)>>>::foo::<5, "
                     "unsafe extern \"C\" fn(u8), &[u8], {std::S { a: (true,) }}>");
    for (size_t length = 0; length < sizeof(name) - 4; length++)
        CHECK_NUMBER(rust_check(name, length, (struct demangle_options){0}), -EINVAL);
    CHECK_NUMBER(rust_check(name, sizeof(name) - 4, (struct demangle_options){0}), 0);
}

TEST(shortened)
{
    CHECK_SHORT("_RINvC1a1fhE", "a::f::<...>");
    CHECK_SHORT("_RINvC1a1fE", "a::f::<...>");
    CHECK_SHORT("_RINvC1a1fINtB2_1SINtB2_1ShEEE", "a::f::<...>");
    CHECK_SHORT("_RNvMs_C1aINtB4_1GKj3_hE3foo", "<a::G<...>>::foo");
    CHECK_SHORT("_RNvXC1aINtC1b1VhEINtB2_2TrlE1m", "<b::V<...> as a::Tr<...>>::m");
    CHECK_SHORT("_RNCINvC1a1fhE0", "a::f::<...>::{closure#0}");
    CHECK_SHORT("_RNvMC0DINtC1a1ThEp1OhEL_1m", "<dyn a::T<...>>::m");
    CHECK_SHORT("_RNvMC0DNtC1a1Tp1OhNtB7_4SendEL_1m", "<dyn a::T<...> + a::Send>::m");
    CHECK_SHORT("_RNvMC0FG_RL0_hEu1m", "<for<'a> fn(&'a u8)>::m");
    CHECK_SHORT("_RNvMC0TRhSINtC1a1SlEE1m", "<(&u8, [a::S<...>])>::m");
    CHECK_SHORT("_RINvC1a1fhE.cold", "a::f::<...> (.cold)");
    CHECK_SHORT("_RNvC1a1f", "a::f");
    /* The parser also checks what it does not print. */
    CHECK_NUMBER(rust_check("_RIC1agE", 8, (struct demangle_options){.shorten = true}), -EINVAL);
    CHECK_NUMBER(rust_check("_RIC1ahEx", 9, (struct demangle_options){.shorten = true}), -EINVAL);
}

TEST_MAIN
