/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "symbols/cxx_nodes.h"

#include <string.h>

/* Sorted by code. */
const struct cxx_builtin cxx_builtins[] = {
    {"Da", '-', "auto"},
    {"Dc", '-', "decltype(auto)"},
    {"Dd", '-', "decimal64"},
    {"De", '-', "decimal128"},
    {"Df", '-', "decimal32"},
    {"Dh", 'f', "half"},
    {"Di", '-', "char32_t"},
    {"Dn", '-', "decltype(nullptr)"},
    {"Ds", '-', "char16_t"},
    {"Du", '-', "char8_t"},
    {"a", '-', "signed char"},
    {"b", 'b', "bool"},
    {"c", '-', "char"},
    {"d", 'f', "double"},
    {"e", 'f', "long double"},
    {"f", 'f', "float"},
    {"g", 'f', "__float128"},
    {"h", '-', "unsigned char"},
    {"i", 'i', "int"},
    {"j", 'j', "unsigned int"},
    {"l", 'l', "long"},
    {"m", 'm', "unsigned long"},
    {"n", '-', "__int128"},
    {"o", '-', "unsigned __int128"},
    {"s", '-', "short"},
    {"t", '-', "unsigned short"},
    {"v", '-', "void"},
    {"w", '-', "wchar_t"},
    {"x", 'x', "long long"},
    {"y", 'y', "unsigned long long"},
    {"z", '-', "..."},
};

const struct cxx_standard cxx_standards[] = {
    {'t', "std", "std", "std"},
    {'a', "std::allocator", "std::allocator", "allocator"},
    {'b', "std::basic_string", "std::basic_string", "basic_string"},
    {'s', "std::string",
     "std::basic_string<char, std::char_traits<char>, std::allocator<char> >", "basic_string"},
    {'i', "std::istream", "std::basic_istream<char, std::char_traits<char> >", "basic_istream"},
    {'o', "std::ostream", "std::basic_ostream<char, std::char_traits<char> >", "basic_ostream"},
    {'d', "std::iostream", "std::basic_iostream<char, std::char_traits<char> >",
     "basic_iostream"},
    {0, NULL, NULL, NULL},
};

/* Sorted by code. */
const struct cxx_operator cxx_operators[] = {
    {"aN", 'b', "&="},
    {"aS", 'b', "="},
    {"aa", 'b', "&&"},
    {"ad", 'u', "&"},
    {"an", 'b', "&"},
    {"at", 't', "alignof"},
    {"aw", 'u', "co_await"},
    {"az", 'u', "alignof"},
    {"cc", 'c', "const_cast"},
    {"cl", '-', "()"},
    {"cm", 'b', ","},
    {"co", 'u', "~"},
    {"dV", 'b', "/="},
    {"da", 'd', "delete[]"},
    {"dc", 'c', "dynamic_cast"},
    {"de", 'u', "*"},
    {"dl", 'd', "delete"},
    {"ds", 'b', ".*"},
    {"dt", 'm', "."},
    {"dv", 'b', "/"},
    {"eO", 'b', "^="},
    {"eo", 'b', "^"},
    {"eq", 'b', "=="},
    {"ge", 'b', ">="},
    {"gt", 'b', ">"},
    {"ix", '-', "[]"},
    {"lS", 'b', "<<="},
    {"le", 'b', "<="},
    {"ls", 'b', "<<"},
    {"lt", 'b', "<"},
    {"mI", 'b', "-="},
    {"mL", 'b', "*="},
    {"mi", 'b', "-"},
    {"ml", 'b', "*"},
    {"mm", 'p', "--"},
    {"na", 'n', "new[]"},
    {"ne", 'b', "!="},
    {"ng", 'u', "-"},
    {"nt", 'u', "!"},
    {"nw", 'n', "new"},
    {"nx", 'u', "noexcept"},
    {"oR", 'b', "|="},
    {"oo", 'b', "||"},
    {"or", 'b', "|"},
    {"pL", 'b', "+="},
    {"pl", 'b', "+"},
    {"pm", 'b', "->*"},
    {"pp", 'p', "++"},
    {"ps", 'u', "+"},
    {"pt", 'm', "->"},
    {"qu", '-', "?"},
    {"rM", 'b', "%="},
    {"rS", 'b', ">>="},
    {"rc", 'c', "reinterpret_cast"},
    {"rm", 'b', "%"},
    {"rs", 'b', ">>"},
    {"sc", 'c', "static_cast"},
    {"ss", 'b', "<=>"},
    {"st", 't', "sizeof"},
    {"sz", 'u', "sizeof"},
    {"te", 'u', "typeid"},
    {"ti", 't', "typeid"},
    {"tw", 'u', "throw"},
};

/* Code, then what stands before the name. */
const char *const cxx_specials[] = {
    "TVvtable for ",
    "TTVTT for ",
    "TItypeinfo for ",
    "TStypeinfo name for ",
    "TFtypeinfo fn for ",
    "TCconstruction vtable for ",
    "Thnon-virtual thunk to ",
    "Tvvirtual thunk to ",
    "Tccovariant return thunk to ",
    "THTLS init function for ",
    "TWTLS wrapper function for ",
    "TAtemplate parameter object for ",
    "GVguard variable for ",
    "GRreference temporary #",
    "GAhidden alias for ",
    "GTtransaction clone for ",
    "Gnnon-transaction clone for ",
    "GIinitializer for module ",
    NULL,
};

const char *const cxx_texts[] = {
    [CXX_TEXT_COMPLEX] = " _Complex", [CXX_TEXT_IMAGINARY] = " _Imaginary",
    [CXX_TEXT_STRUCT] = "struct ",    [CXX_TEXT_UNION] = "union ",
    [CXX_TEXT_ENUM] = "enum ",        [CXX_TEXT_AUTO] = " auto",
    [CXX_TEXT_DECLTYPE_AUTO] = " decltype(auto)",
};

int cxx_builtin(const char *code, size_t length)
{
    int low = 0, high = sizeof(cxx_builtins) / sizeof(*cxx_builtins);

    while (low < high) {
        int middle = (low + high) / 2;
        int order = cxx_builtins[middle].code[0] - code[0];
        if (!order)
            order = cxx_builtins[middle].code[1] - (length > 1 ? code[1] : '\0');
        if (!order)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

int cxx_operator(const char *code)
{
    int low = 0, high = sizeof(cxx_operators) / sizeof(*cxx_operators);

    while (low < high) {
        int middle = (low + high) / 2;
        int order = strncmp(cxx_operators[middle].code, code, 2);
        if (!order)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}
