/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * C++ names by the grammar of the Itanium ABI: each row is a production or a case of it. Where
 * c++filt -i fails or is wrong, the row follows llvm-cxxfilt, in c++filt's style.
 */

#include "unit/cxx_rows.h"

/* Plain names, in namespaces and classes. */
NAMES(sources,
    {"_Z1fv", "f()"},
    {"_Z1x", "x"},
    {"_Z41__static_initialization_and_destruction_0ii",
     "__static_initialization_and_destruction_0(int, int)"},
    {"_ZL1fv", "f()"},
    {"_ZN1AL1xE", "A::x"},
    {"_ZN1A1xE", "A::x"},
    {"_ZN1A1B1CE", "A::B::C"},
    {"_ZN12_GLOBAL__N_11fEv", "(anonymous namespace)::f()"},
    {"_ZN1A12_GLOBAL__N_11fEv", "A::(anonymous namespace)::f()"},
    {"_ZSt4cout", "std::cout"},
    {"_ZSt1fv", "std::f()"},
    {"_ZNSt1AE", "std::A"},
    {"_ZNKSt3__14pairIicEeqERKS1_",
     "std::__1::pair<int, char>::operator==(std::__1::pair<int, char> const&) const"})

/* What follows a function's name. */
NAMES(functions,
    {"_Z1fz", "f(...)"},
    {"_Z1fiz", "f(int, ...)"},
    {"_ZNK1A1fEv", "A::f() const"},
    {"_ZNVK1A1fEv", "A::f() const volatile"},
    {"_ZNKR1A1fEv", "A::f() const &"},
    {"_ZNO1A1fEv", "A::f() &&"},
    {"_Z1fIiEvT_", "void f<int>(int)"},
    {"_Z1fIiEPFvT_ES0_", "void (*f<int>(int))(int)"},
    {"_ZN1A1fILi3EEEvv", "void A::f<3>()"},
    {"_ZNK1A1xE", "A::x const"},
    {"_ZN1AC1IdEET_", "A::A<double>(double)"},
    {"_ZN1A1BIiE1CIcEC1IdEET_", "A::B<int>::C<char>::C<double>(double)"})

/* Constructors and destructors have their class's name. */
NAMES(constructors,
    {"_ZN1AC1Ev", "A::A()"},
    {"_ZN1AC2Ev", "A::A()"},
    {"_ZN1AC3Ev", "A::A()"},
    {"_ZN1AD0Ev", "A::~A()"},
    {"_ZN1AD1Ev", "A::~A()"},
    {"_ZN1AIiEC2ERKS0_", "A<int>::A(A<int> const&)"},
    {"_ZN1AIiED1Ev", "A<int>::~A()"},
    {"_ZN1AB3tagC1Ev", "A[abi:tag]::A()"},
    {"_ZNSsC1Ev",
     "std::basic_string<char, std::char_traits<char>, std::allocator<char> "
     ">::basic_string()"},
    {"_ZNSiC1Ev", "std::basic_istream<char, std::char_traits<char> >::basic_istream()"},
    {"_ZNSaIcEC1Ev", "std::allocator<char>::allocator()"},
    {"_ZNSbIwEC1Ev", "std::basic_string<wchar_t>::basic_string()"},
    {"_ZNSt6vectorIiSaIiEEC1ERKS1_",
     "std::vector<int, std::allocator<int> >::vector(std::vector<int, std::allocator<int> > "
     "const&)"},
    {"_ZN1BCI21AEi", "B::A(int)"},
    {"_ZN1BCI1S_Ei", "B::B(int)"},
    {"_ZN1AUlvE_C1EOS0_", "A::{lambda()#1}::{lambda()#1}(A::{lambda()#1}&&)"},
    {"_ZN1AUlvE_D1Ev", "A::{lambda()#1}::~{lambda()#1}()"},
    {"_ZN1AUt_C1Ev", "A::{unnamed type#1}::{unnamed type#1}()"})

/* Operators, of which some are words. */
NAMES(operators,
    {"_ZN1AnwEm", "A::operator new(unsigned long)"},
    {"_ZN1AnaEm", "A::operator new[](unsigned long)"},
    {"_ZN1AdlEPv", "A::operator delete(void*)"},
    {"_ZN1AdaEPv", "A::operator delete[](void*)"},
    {"_ZN1AawEv", "A::operator co_await()"},
    {"_ZN1AlsIiEEvT_", "void A::operator<< <int>(int)"},
    {"_ZN1AltIiEEvT_", "void A::operator< <int>(int)"},
    {"_ZN1AIicEltERKS0_", "A<int, char>::operator<(A<int, char> const&)"},
    {"_ZN1AptEv", "A::operator->()"},
    {"_ZN1ApmEi", "A::operator->*(int)"},
    {"_ZN1AclEv", "A::operator()()"},
    {"_ZN1AixEi", "A::operator[](int)"},
    {"_ZN1AcmEv", "A::operator,()"},
    {"_ZN1AssEv", "A::operator<=>()"},
    {"_ZN1AppEv", "A::operator++()"},
    {"_ZN1AmmEi", "A::operator--(int)"},
    {"_ZN1AaSERKS_", "A::operator=(A const&)"},
    {"_ZN1AaNEi", "A::operator&=(int)"},
    {"_ZN1AlSEi", "A::operator<<=(int)"},
    {"_ZN1ArSEi", "A::operator>>=(int)"},
    {"_ZN1AcoEv", "A::operator~()"},
    {"_ZN1AntEv", "A::operator!()"},
    {"_ZN1AngEv", "A::operator-()"},
    {"_ZN1ApsEv", "A::operator+()"},
    {"_ZN1AadEv", "A::operator&()"},
    {"_ZNK1AdeEv", "A::operator*() const"},
    {"_ZN1AeqEi", "A::operator==(int)"},
    {"_ZN1AneEi", "A::operator!=(int)"},
    {"_ZN1AleEi", "A::operator<=(int)"},
    {"_ZN1AgeEi", "A::operator>=(int)"},
    {"_ZN1AgtEi", "A::operator>(int)"},
    {"_ZN1AdvEi", "A::operator/(int)"},
    {"_ZN1ArmEi", "A::operator%(int)"},
    {"_ZN1AeoEi", "A::operator^(int)"},
    {"_ZN1AorEi", "A::operator|(int)"},
    {"_ZN1AooEi", "A::operator||(int)"},
    {"_ZN1AaaEi", "A::operator&&(int)"},
    {"_ZN1AoREi", "A::operator|=(int)"},
    {"_ZN1AeOEi", "A::operator^=(int)"},
    {"_ZN1ApLEi", "A::operator+=(int)"},
    {"_ZN1AmIEi", "A::operator-=(int)"},
    {"_ZN1AmLEi", "A::operator*=(int)"},
    {"_ZN1AdVEi", "A::operator/=(int)"},
    {"_ZN1ArMEi", "A::operator%=(int)"},
    {"_Zli2_xy", "operator\"\" _x(unsigned long long)"},
    {"_Zli2_xIiEvy", "void operator\"\" _x<int>(unsigned long long)"},
    {"_ZN1Av23fooEii", "A::operator foo(int, int)"},
    {"_ZNSolsEi", "std::ostream::operator<<(int)"})

/* Conversion operators, whose type may need arguments that come later. */
NAMES(conversions,
    {"_ZN1AcviEv", "A::operator int()"},
    {"_ZN1AcvT_IiEEv", "A::operator int<int>()"},
    {"_ZN1AcvPT_IiEEv", "A::operator int*<int>()"},
    {"_ZN1AIcEcvT_IiEEv", "A<char>::operator int<int>()"},
    {"_ZN1AcvPFviEEv", "A::operator void (*)(int)()"},
    {"_ZNK1AcvRKSsEv", "A::operator std::string const&() const"},
    {"_ZN1AcvSaIiEEv", "A::operator std::allocator<int>()"},
    {"_ZN1AcvS_IiEEv", "A::operator A<int>()"})

/* Names local to a function, and unnamed types. */
NAMES(locals,
    {"_ZZ1fvE1x", "f()::x"},
    {"_ZZ1fvE1x_0", "f()::x"},
    {"_ZZ1fvE1x__12_", "f()::x"},
    {"_ZZ1fvEs", "f()::string literal"},
    {"_ZZ1fvEs_0", "f()::string literal"},
    {"_ZZ1fIiEvT_E1x", "f<int>(int)::x"},
    {"_ZZN1AC1EvE1x", "A::A()::x"},
    {"_ZZ1fvEN1A1gEv", "f()::A::g()"},
    {"_ZZ1fIiEvvEN1A1gEv", "f<int>()::A::g()"},
    {"_ZZ1fIiEPFvT_ES0_E1x", "f<int>(int)::x"},
    {"_Z1fZ1gvE1A", "f(g()::A)"},
    {"_ZN1AUt_1xE", "A::{unnamed type#1}::x"},
    {"_ZN1AUt0_1fEv", "A::{unnamed type#2}::f()"},
    {"_ZZ1fiEd_UlvE_", "f(int)::{default arg#1}::{lambda()#1}"},
    {"_ZZ1fiEd0_NKUlvE_clEv", "f(int)::{default arg#2}::{lambda()#1}::operator()() const"})

/* Lambdas, whose T_ refers to their own parameters. */
NAMES(lambdas,
    {"_ZZ1fvENKUlvE_clEv", "f()::{lambda()#1}::operator()() const"},
    {"_ZZ1fvENKUlvE0_clEv", "f()::{lambda()#2}::operator()() const"},
    {"_ZZZ1fvENKUlvE_clEvENKUlvE0_clEv",
     "f()::{lambda()#1}::operator()() const::{lambda()#2}::operator()() const"},
    {"_ZZ1fIiEvT_ENKUlvE_clEv", "f<int>(int)::{lambda()#1}::operator()() const"},
    {"_ZN1A1xMUlvE_clEv", "A::x::{lambda()#1}::operator()()"},
    {"_ZZ1fvENKUlT_E_clIiEEDaS_", "auto f()::{lambda(auto:1)#1}::operator()<int>(int) const"},
    {"_ZZ1fvENKUlDpT_E_clIJicEEEDaS0_",
     "auto f()::{lambda((auto:1)...)#1}::operator()<int, char>(int, char) const"},
    {"_ZZN1A1fIiEEvT_ENKUlS1_E_clEi",
     "A::f<int>(int)::{lambda(auto:1)#1}::operator()(int) const"},
    {"_Z1gIZ1fvEUlvE_EvT_", "void g<f()::{lambda()#1}>(f()::{lambda()#1})"},
    {"_Z1fIZ1gIiEvT_EUlS1_E_EvS1_",
     "void f<g<int>(int)::{lambda(auto:1)#1}>(g<int>(int)::{lambda(auto:1)#1})"},
    {"_ZNSt8functionIFvvEEC1IZ1fvEUlvE_vEEOT_",
     "std::function<void ()>::function<f()::{lambda()#1}, void>(f()::{lambda()#1}&&)"},
    {"_ZN1AIZ1fIiEvvEUlvE_E1gEv", "A<f<int>()::{lambda()#1}>::g()"},
    {"_ZZ1fvENKUlTyT_E_clIiEEDaS_",
     "auto f()::{lambda<typename $T0>($T0)#1}::operator()<int>(int) const"})

/* ABI tags. */
NAMES(tags,
    {"_Z1xB5cxx11", "x[abi:cxx11]"},
    {"_ZN1A1fB5cxx11Ev", "A::f[abi:cxx11]()"},
    {"_ZN1A1fB5cxx11IiEEvv", "void A::f[abi:cxx11]<int>()"},
    {"_Z1fB1aB1bv", "f[abi:a][abi:b]()"},
    {"_Z1fNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
     "f(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >)"},
    {"_Z1fSsB5cxx11S_", "f(std::string[abi:cxx11], std::string[abi:cxx11])"})

/* Names that compilers generate. */
NAMES(specials,
    {"_ZTV1A", "vtable for A"},
    {"_ZTT1A", "VTT for A"},
    {"_ZTI1A", "typeinfo for A"},
    {"_ZTIPKc", "typeinfo for char const*"},
    {"_ZTS1A", "typeinfo name for A"},
    {"_ZTC1A8_1B", "construction vtable for B-in-A"},
    {"_ZTCN1A1BE8_NS_1CE", "construction vtable for A::C-in-A::B"},
    {"_ZThn8_N1A1fEv", "non-virtual thunk to A::f()"},
    {"_ZTv0_n24_N1A1fEv", "virtual thunk to A::f()"},
    {"_ZTv0_n12_NK1A1fEv", "virtual thunk to A::f() const"},
    {"_ZTch0_h8_N1A1fEv", "covariant return thunk to A::f()"},
    {"_ZTcv0_n12_v0_n12_NK1A1fEv", "covariant return thunk to A::f() const"},
    {"_ZGVZ1fvE1x", "guard variable for f()::x"},
    {"_ZGVN1A1xE", "guard variable for A::x"},
    {"_ZGR1x", "reference temporary #0 for x"},
    {"_ZGR1x_", "reference temporary #0 for x"},
    {"_ZGRN1A1xE0_", "reference temporary #1 for A::x"},
    {"_ZGRN1A1xE1A_", "reference temporary #47 for A::x"},
    {"_ZTH1x", "TLS init function for x"},
    {"_ZTW1x", "TLS wrapper function for x"},
    {"_ZGTt1fv", "transaction clone for f()"},
    {"_ZGTn1fv", "non-transaction clone for f()"},
    {"_ZTAXtl1ALi1EEE", "template parameter object for A{1}"})

/* Structured bindings and modules. */
NAMES(bindings,
    {"_ZDC1a1bE", "[a, b]"},
    {"_ZN1ADC1a1bEE", "A::[a, b]"},
    {"_ZW3Foo3barv", "bar@Foo()"},
    {"_ZN1AW3Foo3barEv", "A::bar@Foo()"},
    {"_ZW3FooWP4Part3barv", "bar@Foo:Part()"},
    {"_ZW3FooW3Baz3barPS_1A", "bar@Foo.Baz(A@Foo*)"},
    {"_ZGIW3Foo", "initializer for module Foo"})

/* Suffixes from compiler passes. */
NAMES(clones,
    {"_Z1fv.isra.0", "f() [clone .isra.0]"},
    {"_Z1fv.isra.0.cold", "f() [clone .isra.0] [clone .cold]"},
    {"_Z1fv.cold", "f() [clone .cold]"},
    {"_Z1fv.constprop.0.isra.0", "f() [clone .constprop.0] [clone .isra.0]"},
    {"_Z1fv.llvm.123", "f() [clone .llvm.123]"},
    {"_Z1fv.__uniq.123.llvm.4", "f() [clone .__uniq.123] [clone .llvm.4]"},
    {"_Z1fv.part.0.isra.0", "f() [clone .part.0] [clone .isra.0]"},
    {"_Z1fv.lto_priv.0", "f() [clone .lto_priv.0]"},
    {"_Z1fv.0", "f() [clone .0]"},
    {"_Z1fv.123.456", "f() [clone .123.456]"},
    {"_Z1fv._omp_fn.0", "f() [clone ._omp_fn.0]"},
    {"_ZN1aD2Ev.localalias", "a::~a() [clone .localalias]"},
    {"_Z1fv.ABC", "f() [clone .ABC]"},
    {"_ZN1A1xE.0", "A::x [clone .0]"})

/* Blocks of clang. */
NAMES(blocks,
    {"___Z1fv_block_invoke", "invocation function for block in f()"},
    {"___Z1fv_block_invoke_2", "invocation function for block in f()"})

/* What newer compilers write. */
NAMES(news,
    {"_ZNH1A1fES_", "A::f(this A)"},
    {"_ZN1AIiEF1fEv", "A<int>::f[friend]()"},
    {"_Z1fIiEvvQ1CIT_E", "void f<int>() requires C<int>"},
    {"_Z1fIiQ1CIT_EEvv", "void f<int>()"},
    /* By what std::string and std::ostream stand for: GNU's fails, and LLVM's leaves T1. */
    {"_ZNSsC1EvQ1CIT1_E",
     "std::basic_string<char, std::char_traits<char>, std::allocator<char> "
     ">::basic_string() requires C<std::allocator<char> >"},
    {"_ZNSsB3tag1A1fEvQ1DIT_T0_E",
     "std::string[abi:tag]::A::f() requires D<char, std::char_traits<char> >"},
    {"_ZNSolsEiQ1DIT_T0_E",
     "std::ostream::operator<<(int) requires D<char, std::char_traits<char> >"},
    {"_Z1fITk1CiEvv", "void f<int>()"},
    {"_Z1fIiEvT_QrqXtlS0_ETNS0_4typeEQ1CIS0_EE",
     "void f<int>(int) requires requires { int{}; typename int::type; requires C<int>; }"},
    {"_Z1fDk1C", "f(C auto)"},
    {"_Z1fDK1C", "f(C decltype(auto))"},
    {"_Z1fITtTyE1AEvv", "void f<A>()"},
    {"_Z1fITyiEvv", "void f<int>()"},
    {"_Z1fITnlLl5EEvv", "void f<5l>()"})

/* Template arguments become <...>, but operators do not; empty ones stay empty. */
TEST(shortened)
{
    static const struct demangle_options config = {.shorten = true};
    static const struct cxx_row rows[] = {
        {"_Z1fIiEvT_", "void f<...>(int)"},
        {"_ZNSt6vectorIiSaIiEEC1ERKS1_", "std::vector<...>::vector(std::vector<...> const&)"},
        {"_ZN1AltIiEEvT_", "void A::operator< <...>(int)"},
        {"_ZN1AltERKS_", "A::operator<(A const&)"},
        {"_ZN1AptEv", "A::operator->()"},
        {"_Z1fIJEEvDpT_", "void f<>()"},
        {"_Z1fIN1AIiEEEvT_", "void f<...>(A<...>)"},
        {"_Z1fIXgtLi1ELi2EEEvv", "void f<...>()"},
        {"_ZZ1fIiEvT_ENKUlvE_clEv", "f<...>(int)::{lambda()#1}::operator()() const"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++)
        check_row(&rows[i], &config);
}

/* What users type to find a function. */
TEST(without_parameters)
{
    static const struct demangle_options config = {.without_parameters = true};
    static const struct cxx_row rows[] = {
        {"_Z1fIiEvT_", "f<int>"},
        {"_ZNK1A1fEv", "A::f"},
        {"_ZNK1A1fEv.isra.0.cold", "A::f"},
        {"_Z1fIiEPFvT_ES0_", "f<int>"},
        {"_ZZ1fiENKUlvE_clEv", "f(int)::{lambda()#1}::operator()"},
        {"_ZN1AclEv", "A::operator()"},
        {"_ZN1AcviEv", "A::operator int"},
        {"_ZN1AcvT_IiEEv", "A::operator int<int>"},
        {"_ZN1AC1Ev", "A::A"},
        {"_Z1x", "x"},
        {"_ZTV1A", "vtable for A"},
    };
    static const struct demangle_options both = {.shorten = true, .without_parameters = true};
    static const struct cxx_row row = {"_ZN1A1fI1BIiEEEvT_", "A::f<...>"};

    for (size_t i = 0; i < COUNT_OF(rows); i++)
        check_row(&rows[i], &config);
    check_row(&row, &both);
}

/* What is not a name is left as it is, and leaves nothing allocated. */
TEST(refused)
{
    static const struct demangle_options config;
    static const char *const names[] = {
        "_Z", "_ZZ", "_Z1", "_Z0v", "_Z1fq", "_Z1fS_S_", "_Z1fT_", "_Z1fIiEvT0_",
        "_ZN1A", "_ZN1AE1", "_ZNE", "_ZNStE", "_ZC1v", "_ZD1v", "_ZNC1Ev", "_Z1fPFvv",
        "_Z1fA3i", "_Z1fA3_", "_Z1fM1A", "_Z1fK", "_Z1fDT1xET", "_Z1fXLi1EE", "_Z1fILi1Evv",
        "_Z1fILi1_2EEvv", "_Z1fILi1aEEvv", "_ZTV", "_ZTC1A8_", "_ZThN1A1fEv", "_ZTv0_N1A1fEv",
        "_ZGR", "_ZZ1fv",
        "_ZZ1fvE", "_ZZ1fvEd_", "_Z1fv.", "_Z1fv..", "_Z1fv.a.", "_Z1fv-", "_Z1fv E", "_Zqqi",
        "_Z99999999999999999999f", "_Z4294967297f", "_Z1fS99999999999_", "_ZSt", "_ZSs", "_Z1fDv_i",
        "_ZW", "_ZDCE", "_ZN1AUlvE", "_ZN1AUlvEx_1fEv", "_Z1fIT_Evv", "___Z1fv", "___Z1fv_block",
        "_ZZ1fvENKUlTpiE_clEi", "_ZZ1fvENKUlTyTpiE_clEi", "_ZZ1fvENKUlTtTpEiE_clEi",
        "_Z1fILiEEvv", "_Z1fILbEEvv", "_Z1fILvEEvv", "_Z1fILDsEEvv",
    };
    AUTO_TEXT text = {0};

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        text_add(&text, "something");
        int result = demangle(names[i], strlen(names[i]), &config, &text);
        if (result != -EINVAL || text.length || text.data[0]) {
            printf("  %s is %d \"%s\"\n", names[i], result, text.data);
            WRONG("it is refused, and the text is empty");
        }
    }
    /* Bytes after a NUL do not belong to the name. */
    CHECK_NUMBER(demangle("_Z1fv\0i", 7, &config, &text), -EINVAL);
    CHECK_NUMBER(demangle("___Z1fv_block_invoke\0", 21, &config, &text), -EINVAL);
    CHECK_NUMBER(demangle("___Z1f1\0_block_invoke", 21, &config, &text), -EINVAL);
}

/* A truncated name is not a name, wherever it ends: nothing after its end is read. */
TEST(cut)
{
    static const struct demangle_options config;
    static const char name[] =
        "_ZN1A1fIXadL_ZN1B1gEiEEJicEEEDTcl1hfpspT0_EENSt6vectorIT1_SaIS2_EEE";
    AUTO_TEXT text = {0};

    for (size_t length = 0; length < sizeof(name); length++) {
        char *copy = malloc(length ? length : 1);
        if (!copy)
            return;
        memcpy(copy, name, length);
        int result = demangle(copy, length, &config, &text);
        CHECK(result == 0 || (result == -EINVAL && !text.length));
        free(copy);
    }
}

TEST_MAIN
