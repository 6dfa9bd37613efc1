/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "demangle/cxx_nodes.h"

#include <stdlib.h>
#include <string.h>

#define BUILTIN(letter, literal, text) {letter, literal, sizeof(text) - 1, text}
#define NONE {0}

/* One per letter of the alphabet, then those of D and a letter. */
const struct cxx_builtin cxx_builtins[] = {
    BUILTIN('a', '-', "signed char"),
    BUILTIN('b', 'b', "bool"),
    BUILTIN('c', '-', "char"),
    BUILTIN('d', 'f', "double"),
    BUILTIN('e', 'f', "long double"),
    BUILTIN('f', 'f', "float"),
    BUILTIN('g', 'f', "__float128"),
    BUILTIN('h', '-', "unsigned char"),
    BUILTIN('i', 'i', "int"),
    BUILTIN('j', 'j', "unsigned int"),
    NONE,
    BUILTIN('l', 'l', "long"),
    BUILTIN('m', 'm', "unsigned long"),
    BUILTIN('n', '-', "__int128"),
    BUILTIN('o', '-', "unsigned __int128"),
    NONE,
    NONE,
    NONE,
    BUILTIN('s', '-', "short"),
    BUILTIN('t', '-', "unsigned short"),
    NONE,
    BUILTIN('v', '-', "void"),
    BUILTIN('w', '-', "wchar_t"),
    BUILTIN('x', 'x', "long long"),
    BUILTIN('y', 'y', "unsigned long long"),
    BUILTIN('z', '-', "..."),
    BUILTIN('a', '-', "auto"),
    BUILTIN('c', '-', "decltype(auto)"),
    BUILTIN('d', '-', "decimal64"),
    BUILTIN('e', '-', "decimal128"),
    BUILTIN('f', '-', "decimal32"),
    BUILTIN('h', 'f', "half"),
    BUILTIN('i', '-', "char32_t"),
    BUILTIN('n', '-', "decltype(nullptr)"),
    BUILTIN('s', '-', "char16_t"),
    BUILTIN('u', '-', "char8_t"),
    NONE,
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
    [CXX_CHAR_TRAITS] = {0, "std::char_traits", "std::char_traits", "char_traits"},
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

/* Code, then what precedes the name. */
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

int cxx_builtin(char letter)
{
    return letter >= 'a' && letter <= 'z' && cxx_builtins[letter - 'a'].text ? letter - 'a' : -1;
}

int cxx_builtin_d(char letter)
{
    for (int row = 26; cxx_builtins[row].text; row++)
        if (cxx_builtins[row].letter == letter)
            return row;
    return -1;
}

static int compare_code(const void *code, const void *row)
{
    return strncmp(code, ((const struct cxx_operator *)row)->code, 2);
}

int cxx_operator(const char *code)
{
    const struct cxx_operator *found =
        bsearch(code, cxx_operators, sizeof(cxx_operators) / sizeof(*cxx_operators), sizeof(*cxx_operators), compare_code);

    return found ? (int)(found - cxx_operators) : -1;
}
