/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Expressions in C++ names. Where c++filt fails, llvm-cxxfilt does not; the style is c++filt's. */
#include "unit/cxx_rows.h"

NAMES(literals,
    {"_Z1fILb1ELb0ELi5ELin5ELj5ELl5ELm5ELx5ELy5ELc65ELs3ELh3EEvv",
     "void f<true, false, 5, -5, 5u, 5l, 5ul, 5ll, 5ull, (char)65, (short)3, (unsigned "
     "char)3>()"},
    {"_Z1fILf40000000ELd4000000000000000EEvv",
     "void f<(float)[40000000], (double)[4000000000000000]>()"},
    {"_Z1fILDnEEvv", "void f<decltype(nullptr)>()"},
    {"_Z1fILDn0EEvv", "void f<(decltype(nullptr))0>()"},
    {"_Z1fIL1E3EEvv", "void f<(E)3>()"},
    {"_Z1fIL1En3EEvv", "void f<(E)-3>()"},
    {"_Z1fILA4_KcEEvv", "void f<\"<char const [4]>\">()"},
    {"_Z1fILPKc0EEvv", "void f<(char const*)0>()"},
    {"_Z1fILM1AFvvE0EEvv", "void f<(void (A::*)())0>()"})

NAMES(encodings,
    {"_Z1fIL_Z1gvEEvv", "void f<g()>()"},
    {"_Z1fIL_Z1xEEvv", "void f<x>()"},
    {"_Z1fIXadL_Z1gvEEEvv", "void f<&(g())>()"},
    {"_Z1fIXadL_ZN1A1gEvEEEvv", "void f<&A::g>()"},
    {"_Z1fIXadL_ZNK1A1gEvEEEvv", "void f<&(A::g() const)>()"},
    {"_Z1fIXadL_ZN1A1xEEEEvv", "void f<&A::x>()"})

NAMES(unary,
    {"_Z1fIiEDTngfp_ET_S1_", "decltype (-{parm#1}) f<int>(int, int)"},
    {"_Z1fIiEDTntcl1gfp_EET_S1_", "decltype (!(g({parm#1}))) f<int>(int, int)"},
    {"_Z1fIiEDTppfp_ET_", "decltype ({parm#1}++) f<int>(int)"},
    {"_Z1fIiEDTpp_fp_ET_", "decltype (++{parm#1}) f<int>(int)"},
    {"_Z1fIiEDTmm_fp_ET_", "decltype (--{parm#1}) f<int>(int)"},
    {"_Z1fIiEDTadfp_ET_", "decltype (&{parm#1}) f<int>(int)"},
    {"_Z1fIiEDTdefp_ET_", "decltype (*{parm#1}) f<int>(int)"},
    {"_Z1fIiEDTcofp_ET_", "decltype (~{parm#1}) f<int>(int)"},
    {"_Z1fIiEDTpsfp_ET_", "decltype (+{parm#1}) f<int>(int)"},
    {"_Z1fIiEDTawfp_ET_", "decltype (co_await {parm#1}) f<int>(int)"},
    {"_Z1fIXntLb1EEEvv", "void f<!(true)>()"},
    {"_Z1fIiEDTnxfp_ET_", "decltype (noexcept ({parm#1})) f<int>(int)"})

NAMES(binary,
    {"_Z1fIiEDTplfp_fp0_ET_S1_", "decltype ({parm#1}+{parm#2}) f<int>(int, int)"},
    {"_Z1fIiEDTgtfp_Li3EET_", "decltype (({parm#1}>(3))) f<int>(int)"},
    {"_Z1fIiEDTixfp_Li3EET_", "decltype ({parm#1}[3]) f<int>(int)"},
    {"_Z1fIiEDTcmfp_Li2EET_", "decltype ({parm#1},(2)) f<int>(int)"},
    {"_Z1fIiEDTaSfp_Li2EET_", "decltype ({parm#1}=(2)) f<int>(int)"},
    {"_Z1fIiEDTaafp_Li2EET_", "decltype ({parm#1}&&(2)) f<int>(int)"},
    {"_Z1fIXeqLi1ELi2EEEvv", "void f<(1)==(2)>()"},
    {"_Z1fIXgtLi1ELi2EEEvv", "void f<((1)>(2))>()"},
    {"_Z1fIXrsLi1ELi2EEEvv", "void f<(1)>>(2)>()"},
    {"_ZN1AlsIXgtLi1ELi2EEEEvv", "void A::operator<< <((1)>(2))>()"})

NAMES(ternary,
    {"_Z1fIiEDTquntfp_fp_Li3EET_S1_", "decltype ((!{parm#1})?{parm#1} : (3)) f<int>(int, int)"},
    {"_Z1fIXquLb1ELi2ELi3EEEvv", "void f<(true)?(2) : (3)>()"})

/* Members. */
NAMES(accesses,
    {"_Z1fIiEDTdtfp_1xET_", "decltype ({parm#1}.x) f<int>(int)"},
    {"_Z1fIiEDTptfp_1xET_", "decltype ({parm#1}->x) f<int>(int)"},
    {"_Z1fIiEDTdsfp_1xET_", "decltype ({parm#1}.*x) f<int>(int)"},
    {"_Z1fIiEDTcldtfp_1xLi1ELi2EEET_", "decltype (({parm#1}.x)(1, 2)) f<int>(int)"},
    {"_Z1fIiEDTcldtdefpT1xfp_EET_", "decltype (((*this).x)({parm#1})) f<int>(int)"},
    {"_Z1fIiEDTcldtfp_1gIT_EEES1_",
     "decltype (({parm#1}.(g<int>))()) f<int>(decltype (({parm#1}.(g<int>))()))"},
    {"_Z1fIiEDTdtfp_onplET_", "decltype ({parm#1}.(operator+)) f<int>(int)"},
    {"_Z1fIiEDTdtfp_dn1AET_", "decltype ({parm#1}.(~A)) f<int>(int)"})

NAMES(calls,
    {"_Z1fIiEDTcl1gfp_EET_", "decltype (g({parm#1})) f<int>(int)"},
    {"_Z1fIiEDTcl1gIT_EEES1_", "decltype ((g<int>)()) f<int>(decltype ((g<int>)()))"},
    {"_Z1fIiEDTclL_Z1gvEfp_EET_", "decltype (g({parm#1})) f<int>(int)"},
    {"_Z1fIiEDTclL_ZN1A1gEiEfp_EET_", "decltype (A::g({parm#1})) f<int>(int)"},
    {"_Z1fIiEDTclonplfp_fp_EET_", "decltype ((operator+)({parm#1}, {parm#1})) f<int>(int)"},
    {"_Z1fIXcl1gEEEvv", "void f<g()>()"},
    {"_Z1fIJicEEDTcl1gspfp_EEDpT_", "decltype (g({parm#1}...)) f<int, char>(int, char)"})

NAMES(casts,
    {"_Z1fIiEDTcvT_fp_ES1_", "decltype ((int){parm#1}) f<int>(decltype ((int){parm#1}))"},
    {"_Z1fIiEDTcvT__fp_Li2EEES1_",
     "decltype ((int)({parm#1}, 2)) f<int>(decltype ((int)({parm#1}, 2)))"},
    {"_Z1fIiEDTscT_fp_ES1_",
     "decltype (static_cast<int>({parm#1})) f<int>(decltype (static_cast<int>({parm#1})))"},
    {"_Z1fIiEDTdcPT_fp_ES1_", "decltype (dynamic_cast<int*>({parm#1})) f<int>(int*)"},
    {"_Z1fIiEDTccT_fp_ES1_",
     "decltype (const_cast<int>({parm#1})) f<int>(decltype (const_cast<int>({parm#1})))"},
    {"_Z1fIiEDTrcPT_fp_ET_", "decltype (reinterpret_cast<int*>({parm#1})) f<int>(int)"},
    {"_Z1fIXcvbLi2EEEvv", "void f<(bool)(2)>()"})

NAMES(of_types,
    {"_Z1fIiEDTstT_ET_", "decltype (sizeof (int)) f<int>(int)"},
    {"_Z1fIiEDTszfp_ET_", "decltype (sizeof {parm#1}) f<int>(int)"},
    {"_Z1fIiEDTatT_ET_", "decltype (alignof (int)) f<int>(int)"},
    {"_Z1fIiEDTtiT_ET_", "decltype (typeid (int)) f<int>(int)"},
    {"_Z1fIiEDTtefp_ET_", "decltype (typeid ({parm#1})) f<int>(int)"})

NAMES(news,
    {"_Z1fIiEDTnw_T_EET_", "decltype (new int) f<int>(int)"},
    {"_Z1fIiEDTnw_T_piLi3EEET_", "decltype (new int(3)) f<int>(int)"},
    {"_Z1fIiEDTnwLi1E_T_pifp_EES_", "decltype (new (1) int({parm#1})) f<int>(f)"},
    {"_Z1fIiEDTdlfp_ET_", "decltype (delete {parm#1}) f<int>(int)"},
    {"_Z1fIiEDTdafp_ET_", "decltype (delete[] {parm#1}) f<int>(int)"},
    {"_Z1fIiEDTtwfp_ET_", "decltype (throw {parm#1}) f<int>(int)"},
    {"_Z1fIiEDTtrET_", "decltype (throw) f<int>(int)"})

NAMES(braces,
    {"_Z1fIiEDTilfp_Li2EEET_", "decltype ({{parm#1}, 2}) f<int>(int)"},
    {"_Z1fIiEDTtlT_fp_Li2EEET_", "decltype (int{{parm#1}, 2}) f<int>(int)"},
    {"_Z1fIXtl1ALi1EEEEvv", "void f<A{1}>()"},
    {"_Z1fIXtlA3_iLi1EEEEvv", "void f<int [3]{1}>()"},
    {"_Z1fIXtl1Adi1xLi1EEEEvv", "void f<A{.x=(1)}>()"},
    {"_Z1fIXtl1AdxLi1ELi1EEEEvv", "void f<A{[1]=(1)}>()"},
    {"_Z1fIXtl1AdXLi1ELi2ELi1EEEEvv", "void f<A{[1 ... 2]=(1)}>()"})

NAMES(folds,
    {"_Z1fIJiiiEEDTfrplfp_EDpT_", "decltype (({parm#1}+...)) f<int, int, int>(int, int, int)"},
    {"_Z1fIJiiiEEDTflplfp_EDpT_", "decltype ((...+{parm#1})) f<int, int, int>(int, int, int)"},
    {"_Z1fIJiiiEEDTfRplfp_Li0EEDpT_",
     "decltype (({parm#1}+...+(0))) f<int, int, int>(int, int, int)"},
    {"_Z1fIJiiiEEDTfLplLi0Efp_EDpT_",
     "decltype (((0)+...+{parm#1})) f<int, int, int>(int, int, int)"})

NAMES(packs,
    {"_Z1fIJicEEDTsZT_EDpT_", "decltype (2) f<int, char>(int, char)"},
    {"_Z1fIJicEEDTsZfp_EDpT_", "decltype (sizeof...({parm#1})) f<int, char>(int, char)"})

/* Names in scopes that depend on arguments. */
NAMES(scopes,
    {"_Z1fIiEDTsrT_1xET_", "decltype (int::x) f<int>(int)"},
    {"_Z1fIiEDTsr1AIT_E1xET_", "decltype (A<int>::x) f<int>(int)"},
    {"_Z1fIiEDTsrN1AIT_E1BE1xET_", "decltype (A<int>::B::x) f<int>(int)"},
    {"_Z1fIiEDTgs1xET_", "decltype (::x) f<int>(int)"},
    {"_Z1fIiEDTgssr1A1BE1xET_", "decltype (::A::B::x) f<int>(int)"},
    {"_Z1fIXadsr1A1xEEvv", "void f<&A::x>()"},
    {"_Z1fIiEDTonplIiEET_", "decltype (operator+<int>) f<int>(int)"},
    {"_ZN1AIXsr1BE1xEE1fEv", "A<B::x>::f()"},
    {"_Z1fIiEvN9enable_ifIXsr7is_sameIT_iEE5valueEvE4typeE",
     "void f<int>(enable_if<is_same<int, int>::value, void>::type)"},
    {"_Z1fIiEvT_PDTclfL0p_EE", "void f<int>(int, decltype ({parm#1}())*)"})

TEST_MAIN
