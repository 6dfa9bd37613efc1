/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Types in C++ names. Where c++filt fails, llvm-cxxfilt does not; the style is c++filt's. */
#include "unit/cxx_rows.h"

NAMES(builtins,
    {"_Z1fabcdefghijlm",
     "f(signed char, bool, char, double, long double, float, __float128, unsigned char, "
     "int, unsigned int, long, unsigned long)"},
    {"_Z1fnostwxy",
     "f(__int128, unsigned __int128, short, unsigned short, wchar_t, long long, unsigned "
     "long long)"},
    {"_Z1fDuDsDiDnDaDcDdDeDfDh",
     "f(char8_t, char16_t, char32_t, decltype(nullptr), auto, decltype(auto), decimal64, "
     "decimal128, decimal32, half)"},
    {"_Z1fDF16_", "f(_Float16)"},
    {"_Z1fDF16b", "f(std::bfloat16_t)"},
    {"_Z1fDB7_", "f(_BitInt(7))"},
    {"_Z1fDU7_", "f(unsigned _BitInt(7))"},
    {"_Z1fu3bar", "f(bar)"},
    {"_Z1fu3barIiE", "f(bar<int>)"},
    {"_Z1fCfGdCe", "f(float _Complex, double _Imaginary, long double _Complex)"})

NAMES(pointers,
    {"_Z1fPi", "f(int*)"},
    {"_Z1fRi", "f(int&)"},
    {"_Z1fOi", "f(int&&)"},
    {"_Z1fPKc", "f(char const*)"},
    {"_Z1fPVKi", "f(int const volatile*)"},
    {"_Z1fVKrPi", "f(int* restrict const volatile)"},
    {"_Z1fPrKi", "f(int const restrict*)"},
    {"_Z1fPKPKc", "f(char const* const*)"},
    {"_Z1fPPPi", "f(int***)"})

NAMES(arrays,
    {"_Z1fA3_i", "f(int [3])"},
    {"_Z1fPA3_A4_i", "f(int (*) [3][4])"},
    {"_Z1fPKA3_i", "f(int const (*) [3])"},
    {"_Z1fRA_KPFvvE", "f(void (* const (&) [])())"},
    {"_Z1fIiEvRA3_KT_", "void f<int>(int const (&) [3])"},
    {"_Z1fILi1EEvRAT__i", "void f<1>(int (&) [1])"},
    {"_Z1fI1AEvRAszT__i", "void f<A>(int (&) [sizeof (A)])"},
    {"_Z1fDv4_f", "f(float __vector(4))"})

NAMES(function_types,
    {"_Z1fPFvvE", "f(void (*)())"},
    {"_Z1fPFviE", "f(void (*)(int))"},
    {"_Z1fPFPFvcEiE", "f(void (*(*)(int))(char))"},
    {"_Z1fPFPA3_ivE", "f(int (*(*)()) [3])"},
    {"_Z1fPKPFvvE", "f(void (* const*)())"},
    {"_Z1fKFvvE", "f(void () const)"},
    {"_Z1fIKFvvEEvv", "void f<void () const>()"},
    {"_Z1fIFvvREEvv", "void f<void () &>()"},
    {"_Z1fIKFvvOEEvv", "void f<void () const &&>()"},
    {"_Z1fIFviEEvRT_", "void f<void (int)>(void (&)(int))"},
    {"_Z1fIFviEEvPT_", "void f<void (int)>(void (*)(int))"},
    {"_Z1fIPFviEEvRT_", "void f<void (*)(int)>(void (*&)(int))"},
    {"_Z1fPFvvEPFvvES0_", "f(void (*)(), void (*)(), void (*)())"},
    {"_ZN1AIFvvEE1fEv", "A<void ()>::f()"},
    {"_Z1fPDoFvvE", "f(void (*)() noexcept)"},
    {"_Z1fIDoFvvEEvv", "void f<void () noexcept>()"},
    {"_Z1fPDwicEFvvE", "f(void (*)() throw(int, char))"},
    {"_Z1fPDxFvvE", "f(void (*)() transaction_safe)"})

NAMES(members,
    {"_Z1fM1Ai", "f(int A::*)"},
    {"_Z1fM1AA3_i", "f(int (A::*) [3])"},
    {"_Z1fM1AFviE", "f(void (A::*)(int))"},
    {"_Z1fM1AKFviE", "f(void (A::*)(int) const)"},
    {"_Z1fM1AKFviRE", "f(void (A::*)(int) const &)"},
    {"_Z1fRM1AFivE", "f(int (A::*&)())"},
    {"_Z1fM1AKFPFivEvE", "f(int (* (A::*)() const)())"},
    {"_Z1fIMiFvvEEvRKT_", "void f<void (int::*)()>(void (int::* const&)())"})

/* References to references, and const of const. */
NAMES(collapsing,
    {"_Z1fIRiEvOT_", "void f<int&>(int&)"},
    {"_Z1fIOiEvRT_", "void f<int&&>(int&)"},
    {"_Z1fIOiEvOT_", "void f<int&&>(int&&)"},
    {"_Z1fIRKiEvOT_", "void f<int const&>(int const&)"},
    {"_Z1fIKiEvRKT_", "void f<int const>(int const&)"},
    {"_Z1fIA3_KcEvRKT_", "void f<char const [3]>(char const (&) [3])"},
    {"_ZSt4moveIRiEONSt16remove_referenceIT_E4typeEOS2_",
     "std::remove_reference<int&>::type&& std::move<int&>(int&)"})

NAMES(vendors,
    {"_Z1fU3barPi", "f(int* bar)"},
    {"_Z1fU8__vectorf", "f(float __vector)"},
    {"_Z1fPU3AS1i", "f(int AS1*)"},
    {"_Z1fPU3AS1Ki", "f(int const AS1*)"},
    {"_Z1fTs1ATu1BTe1C", "f(struct A, union B, enum C)"})

NAMES(standards,
    {"_Z1fSsSaIcESbIcESiSoSd",
     "f(std::string, std::allocator<char>, std::basic_string<char>, std::istream, "
     "std::ostream, std::iostream)"},
    {"_ZNSs4_Rep20_S_empty_rep_storageE", "std::string::_Rep::_S_empty_rep_storage"},
    {"_ZNSt4pairIKiSsED1Ev", "std::pair<int const, std::string>::~pair()"},
    {"_ZNSt7__cxx114listISsSaISsEED1Ev",
     "std::__cxx11::list<std::string, std::allocator<std::string> >::~list()"})

/* Substitutions: earlier parts, by number. */
NAMES(substitutions,
    {"_Z1fP1AS_S0_", "f(A*, A, A*)"},
    {"_Z1fN1A1BES_S0_", "f(A::B, A, A::B)"},
    {"_ZN1aIiE1fES0_", "a<int>::f(a<int>)"},
    {"_Z1fIiEN1AIT_E1BES1_", "A<int>::B f<int>(int)"},
    {"_Z1fPiPcPsPtPjPlPmPxPyPaPhPbPwPfPdPePvPnPoPgPzPPiPPcPPsPPtPPjPPlPPmPPxPPyPPaPPhPPbPPw"
     "PPfPPdSR_SS_S10_",
     "f(int*, char*, short*, unsigned short*, unsigned int*, long*, unsigned long*, long "
     "long*, unsigned long long*, signed char*, unsigned char*, bool*, wchar_t*, float*, "
     "double*, long double*, void*, __int128*, unsigned __int128*, __float128*, ...*, "
     "int**, char**, short**, unsigned short**, unsigned int**, long**, unsigned long**, "
     "long long**, unsigned long long**, signed char**, unsigned char**, bool**, wchar_t**, "
     "float**, double**, unsigned short**, unsigned int*, unsigned long long*)"})

NAMES(template_arguments,
    {"_Z1fIN1AIiEEEvv", "void f<A<int> >()"},
    {"_Z1fIJicEEvDpT_", "void f<int, char>(int, char)"},
    {"_Z1fIJEEvDpT_", "void f<>()"},
    {"_Z1fIiJEEvv", "void f<int>()"},
    {"_Z1fI1AIJicEE1BIJEEEvv", "void f<A<int, char>, B<> >()"},
    {"_Z1fIJEiEvv", "void f<int>()"},
    {"_Z1fIJiEJEcEvv", "void f<int, char>()"},
    {"_ZTI1AI1BIiEJEE", "typeinfo for A<B<int>>"},
    {"_ZNK1AIiE1fILS0_3EEEvv", "void A<int>::f<(A<int>)3>() const"})

NAMES(expansions,
    {"_Z1fIJiiiEEvDpPT_", "void f<int, int, int>(int*, int*, int*)"},
    {"_Z1fIJicEEvDpRT_PFvDpT_E", "void f<int, char>(int&, char&, void (*)(int, char))"},
    {"_Z1fIJicEEvSt5tupleIJDpT_EE", "void f<int, char>(std::tuple<int, char>)"},
    {"_Z1fIJEEvSt5tupleIJDpT_EEi", "void f<>(std::tuple<>, int)"},
    {"_Z1fIJEEviDpT_", "void f<>(int)"},
    {"_ZN1A1fIJicEEEvDp1BIT_E", "void A::f<int, char>(B<int>, B<char>)"},
    {"_Z1fIiJicEEvDp4pairIT_T0_E", "void f<int, int, char>(pair<int, int>, pair<int, char>)"},
    {"_ZN1AIJEE1fIiJEEEvDpT0_", "void A<>::f<int>()"},
    {"_Z1fDpRi", "f((int&)...)"})

NAMES(decltypes,
    {"_Z1fIiEDaT_", "auto f<int>(int)"},
    {"_Z1fIiEDcT_", "decltype(auto) f<int>(int)"},
    {"_Z1fIiEDtfp_ET_", "decltype ({parm#1}) f<int>(int)"},
    {"_Z1fIiEDTfp_ET_", "decltype ({parm#1}) f<int>(int)"},
    {"_ZNDT1xE1fEv", "decltype (x)::f()"})

TEST_MAIN
