/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * C++ names in the Itanium ABI's mangling, which all compilers on Linux use: _Z... Reading
 * (cxx_names.c, cxx_types.c, cxx_expressions.c) makes nodes, which refer to each other by number
 * (0 is no node); printing (cxx_print*.c) shows them in the style of c++filt.
 */
#ifndef STACKBOX_DEMANGLE_CXX_H
#define STACKBOX_DEMANGLE_CXX_H

#include <stdint.h>

#include "demangle/demangle.h"

/* See demangle(); `to` is empty. */
int cxx_demangle(const char *name, size_t length, const struct demangle_options *options,
                 struct text *to);

enum cxx_kind {
    CXX_NONE,
    CXX_LIST, /* a: first of lists, b: how many */

    CXX_NAME,          /* a: where in the mangled name, b: length */
    CXX_ANONYMOUS,     /* a namespace without a name */
    CXX_BUILTIN,       /* small: which of cxx_builtins */
    CXX_STANDARD,      /* small: which of cxx_standards; flags: in full */
    CXX_QUALIFIED,     /* a::b; small, c: see cxx_put_once() */
    CXX_LOCAL,         /* a: encoding, b: entity in it */
    CXX_DEFAULT,       /* small: which default argument, b: entity in it */
    CXX_STRING,        /* a string literal of a function */
    CXX_TEMPLATE,      /* a: name, b: arguments; small, c: see cxx_put_once() */
    CXX_ARGUMENTS,     /* a: list, b: what they require */
    CXX_PACK,          /* a: list: arguments of one parameter */
    CXX_TAGGED,        /* a: name, b: its tag */
    CXX_CONSTRUCTOR,   /* a: of what */
    CXX_DESTRUCTOR,    /* a: of what */
    CXX_OPERATOR,      /* small: which of cxx_operators */
    CXX_CONVERSION,    /* a: type */
    CXX_LITERAL_NAME,  /* operator"" a */
    CXX_VENDOR_NAME,   /* operator a */
    CXX_LAMBDA,        /* a: list of parameters, b: list of template parameters, c: which */
    CXX_UNNAMED,       /* c: which */
    CXX_BLOCK,         /* c: which */
    CXX_BINDING,       /* a: list of names */
    CXX_MODULE,        /* a: before it, b: name; flags: a partition */
    CXX_IN_MODULE,     /* a: name, b: module */
    CXX_FRIEND,        /* a: name */
    CXX_SPECIAL,       /* small: which of cxx_specials, a: of what, b: in what, c: number */
    CXX_ENCODING,      /* a: name, b: function type, c: list of what T_ are; flags: qualifiers */
    CXX_PARAMETER,     /* T_: small: which, a: its name in a lambda or 0 */
    CXX_PARAMETER_NAME, /* of a lambda: small: kind, c: which */
    CXX_DECLARATION,   /* of a template parameter: small: kind, a: name, b: type or list, c: what it
                        * requires */

    CXX_POINTER,       /* a: to; small: it is plain, see cxx_types.c */
    CXX_REFERENCE,     /* a: to; flags: &&; small: as above */
    CXX_QUALS,         /* a: type; flags: qualifiers; small: as above */
    CXX_VENDOR_QUAL,   /* a: type, b: name, c: arguments */
    CXX_SUFFIXED,      /* a: type, small: which of cxx_texts behind it */
    CXX_PREFIXED,      /* a: type, small: which of cxx_texts before it */
    CXX_FUNCTION,      /* a: what it returns, b: list, c: exceptions, of an encoding what it
                        * requires; flags: qualifiers */
    CXX_ARRAY,         /* a: of, b: how many */
    CXX_MEMBER,        /* a: type, b: class */
    CXX_VECTOR,        /* a: of, b: how many */
    CXX_DECLTYPE,      /* a: expression */
    CXX_EXPANSION,     /* a: pattern */
    CXX_BIT_INT,       /* a: how many; flags: unsigned */
    CXX_FLOAT,         /* a, b: its digits; flags: x, or bfloat */
    CXX_CONSTRAINED,   /* a: concept, small: which of cxx_texts behind it */
    CXX_NOEXCEPT,      /* a: expression or 0 */
    CXX_THROW,         /* a: list */

    CXX_LITERAL,       /* a: type, b: where its digits are, c: how many; flags: negative */
    CXX_TEXT_LITERAL,  /* a: type */
    CXX_NUMBER,        /* a: where its digits are, b: how many */
    CXX_ARGUMENT,      /* {parm#c}; 0 is this */
    CXX_UNARY,         /* small: operator, a; flags: behind it */
    CXX_BINARY,        /* small: operator, a, b */
    CXX_TERNARY,       /* a ? b : c */
    CXX_CALL,          /* a: what, b: list */
    CXX_CAST,          /* (a)b */
    CXX_NAMED_CAST,    /* small: operator, a: type, b */
    CXX_OF_TYPE,       /* small: operator, a: type */
    CXX_BRACED,        /* a: type or 0, b: list */
    CXX_NEW,           /* small: operator, a: list of places, b: type, c: initializer */
    CXX_DESIGNATED,    /* .a=b */
    CXX_INDEXED,       /* [a]=b, [a ... c]=b */
    CXX_FOLD,          /* small: operator, a, b; flags: which is the pack */
    CXX_COUNT,         /* sizeof... a */
    CXX_PACK_INDEX,    /* a...[b] */
    CXX_GLOBAL,        /* ::a */
    CXX_REQUIRES,      /* a: list of parameters or 0, b: list of requirements */
    CXX_REQUIREMENT,   /* small: kind, a: what, b: of what type; flags: noexcept */
    CXX_SUBOBJECT,     /* a: type, b: expression */
    CXX_VENDOR_CALL,   /* a: name, b: list */
};

/* Flags of qualifiers: of types, functions and encodings. */
enum {
    CXX_CONST = 1,
    CXX_VOLATILE = 2,
    CXX_RESTRICT = 4,
    CXX_LVALUE = 8,
    CXX_RVALUE = 16,
    CXX_OBJECT = 32, /* the first parameter is the object, `this` before it */
    CXX_SAFE = 64,   /* transaction_safe */
};

struct cxx_node {
    uint8_t kind, flags;
    uint16_t small;
    uint32_t a, b, c;
};

/* Room for most names, on the caller's stack: no allocation needed. */
struct cxx_store {
    struct cxx_node nodes[112];
    uint32_t lists[64], open[32], seen[64];
};

/* Numbers of nodes, some of which become a list. */
struct cxx_numbers {
    uint32_t *items;
    size_t count, room;
};

/* Template parameters that a lambda, or a template in one, declares. */
struct cxx_heads {
    uint32_t first, count; /* among the open ones */
};

/* How compilers differ in the scope of a name after sr. */
enum cxx_scopes {
    CXX_SCOPES_TYPES, /* it is a type: sr <type> <name> */
    CXX_SCOPES_ENDED, /* a scope that begins with a name is names up to an E */
    CXX_SCOPES_PLAIN, /* and in srN, too: none of it is remembered */
};

struct cxx {
    const char *name, *at, *end;
    struct cxx_store *store;
    struct cxx_node *nodes;
    size_t count, room;
    struct cxx_numbers lists, open, seen; /* seen: what S_ may refer to */
    uint32_t arguments;     /* list: of the name being read; T_ in its type refers to these */
    unsigned depth;
    unsigned in_lambda;
    unsigned heads[3];      /* how many template parameters of each kind lambdas named so far */
    struct cxx_heads head;  /* the template parameters of the lambda being read */
    struct cxx_heads inner; /* those of a template among them */
    bool was_seen;          /* the last name was just S_ or the like */
    bool no_arguments;      /* an I after T_ belongs to the conversion, not to the type */
    enum cxx_scopes scopes;
    bool has_scope;         /* such a scope was met */
    int error;
};

/* What an encoding's name says about how to read the rest. */
struct cxx_name_state {
    bool ends_with_arguments, no_return;
    uint8_t quals;
};

struct cxx_builtin {
    char letter;
    char literal; /* how its literals are printed: 'i' bare, 'b' bool, 'f' float, '-' (type)1 ... */
    uint8_t length;
    const char *text;
};
struct cxx_standard {
    char code;
    const char *text, *full, *base;
};
/* Rows of these; the second has no code. */
enum { CXX_ALLOCATOR = 1, CXX_CHAR_TRAITS = 8 };
extern const struct cxx_builtin cxx_builtins[];
extern const struct cxx_standard cxx_standards[];
/*
 * Rows of a code of two letters, one letter, and a text. The letter of operators: 'u' unary, 'b'
 * binary, 'm' member, 'p' ++ and --, '-' special ...; of special names, whose text precedes the
 * name: how that is read, see cxx_names.c.
 */
extern const char cxx_operators[], cxx_specials[];
enum { CXX_ROW_LETTER = 2, CXX_ROW_TEXT = 3 };
/* Where the row with that code begins, or -1. */
int cxx_row(const char *rows, const char *code);
extern const char *const cxx_texts[];
enum { CXX_TEXT_COMPLEX, CXX_TEXT_IMAGINARY, CXX_TEXT_STRUCT, CXX_TEXT_UNION, CXX_TEXT_ENUM,
       CXX_TEXT_AUTO, CXX_TEXT_DECLTYPE_AUTO };
/* Its index, or -1. */
int cxx_builtin(char letter);
int cxx_builtin_d(char letter);

/* The number of a new node; 0, with cxx->error set, if there is no room. */
uint32_t cxx_make(struct cxx *cxx, enum cxx_kind kind, uint32_t a, uint32_t b, uint32_t c);
/* The same for a node with one part, or with two: returns 0 if a part is 0. */
uint32_t cxx_wrap(struct cxx *cxx, enum cxx_kind kind, uint32_t a, unsigned small);
uint32_t cxx_pair(struct cxx *cxx, enum cxx_kind kind, uint32_t a, uint32_t b);
static inline struct cxx_node *cxx_at(const struct cxx *cxx, uint32_t number)
{
    return &cxx->nodes[number];
}
/* Sets a node's `small` and returns its number; 0 stays 0. */
static inline uint32_t cxx_small(const struct cxx *cxx, uint32_t number, unsigned small)
{
    if (number)
        cxx->nodes[number].small = (uint16_t)small;
    return number;
}
/* The same for its flags. */
static inline uint32_t cxx_flags(const struct cxx *cxx, uint32_t number, unsigned flags)
{
    if (number)
        cxx->nodes[number].flags = (uint8_t)flags;
    return number;
}
/* false: it is 0, or there is no room. */
bool cxx_push(struct cxx *cxx, struct cxx_numbers *numbers, uint32_t number);
/* Makes a list of the open nodes from `first` on, and closes them. */
uint32_t cxx_list(struct cxx *cxx, size_t first);
/* A list of what `read` returns, up to the ending. */
typedef uint32_t cxx_reader(struct cxx *cxx);
uint32_t cxx_until(struct cxx *cxx, char ending, cxx_reader *read);
/* Takes an E and returns `number`; 0 if no E follows. */
uint32_t cxx_ended(struct cxx *cxx, uint32_t number);
/* Remembers a node for S_, and returns it; 0 stays 0. */
uint32_t cxx_remember(struct cxx *cxx, uint32_t number);
bool cxx_enter(struct cxx *cxx);
static inline void cxx_leave(struct cxx *cxx)
{
    cxx->depth--;
}

/* The next bytes of the name; '\0' past its end. */
static inline char cxx_peek(const struct cxx *cxx)
{
    return cxx->at < cxx->end ? *cxx->at : '\0';
}
static inline char cxx_peek_next(const struct cxx *cxx)
{
    return cxx->end - cxx->at > 1 ? cxx->at[1] : '\0';
}
/* If this comes next, takes it. */
static inline bool cxx_take(struct cxx *cxx, char byte)
{
    if (cxx->at >= cxx->end || *cxx->at != byte)
        return false;
    cxx->at++;
    return true;
}
bool cxx_take_two(struct cxx *cxx, const char *two);
static inline bool cxx_is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}
/* A decimal number; false: there is none, or it is far too large. */
bool cxx_number(struct cxx *cxx, uint32_t *number);
/* [<number>] _ : 0 without a number, otherwise the number + 1. */
bool cxx_counted(struct cxx *cxx, uint32_t *number);
/* The same in base 36, in capital letters. */
bool cxx_sequence(struct cxx *cxx, uint32_t *number);
/* A node of digits as they stand: CXX_NUMBER. */
uint32_t cxx_digits(struct cxx *cxx);

/* The grammar. Each returns the number of what it read, or 0. */
uint32_t cxx_encoding(struct cxx *cxx);
uint32_t cxx_name(struct cxx *cxx, struct cxx_name_state *state);
uint32_t cxx_unqualified(struct cxx *cxx, struct cxx_name_state *state, uint32_t scope,
                         uint32_t module);
uint32_t cxx_source_name(struct cxx *cxx);
uint32_t cxx_tags(struct cxx *cxx, uint32_t name);
uint32_t cxx_type(struct cxx *cxx);
uint32_t cxx_decltype(struct cxx *cxx);
unsigned cxx_quals(struct cxx *cxx);
/* A list of types, up to one of "E.Q_" or the end; a single `v`: none. */
uint32_t cxx_parameters(struct cxx *cxx);
uint32_t cxx_substitution(struct cxx *cxx, bool in_prefix);
/* The list of what T_ are in a name that begins with std::string or its kin; 0: it does not. */
uint32_t cxx_standard_arguments(struct cxx *cxx, uint32_t name);
uint32_t cxx_parameter(struct cxx *cxx);
uint32_t cxx_declaration(struct cxx *cxx);
/* Reads all declarations that follow, leaves them open, and counts them in `heads`. */
bool cxx_declarations(struct cxx *cxx, struct cxx_heads *heads);
/* One argument of I...E. */
uint32_t cxx_argument(struct cxx *cxx);
/* I...E; of_encoding: from now on T_ refers to these. */
uint32_t cxx_template_arguments(struct cxx *cxx, bool of_encoding);
/* The name with the arguments after it. */
uint32_t cxx_template(struct cxx *cxx, uint32_t name, bool of_encoding);
/* The same if there are any; 0 stays 0. */
uint32_t cxx_maybe_template(struct cxx *cxx, uint32_t name);
uint32_t cxx_expression(struct cxx *cxx);
uint32_t cxx_literal(struct cxx *cxx);
/* Names in expressions: alone, and what follows sr. */
uint32_t cxx_base_name(struct cxx *cxx);
uint32_t cxx_scoped_name(struct cxx *cxx);

/* Which argument of a pack. */
enum { CXX_PACK_WHOLE = -1, CXX_PACK_UNKNOWN = -2 };

struct cxx_print {
    const struct cxx *cxx;
    const struct demangle_options *options;
    char *out;
    size_t length, room;
    size_t dropped; /* the length when an empty item at the end of a list was dropped */
    size_t steps;
    unsigned depth;
    unsigned in_lambda;
    unsigned changing;        /* printed again, this may come out differently */
    unsigned inner;           /* encodings within each other */
    uint32_t arguments;       /* list: what T_ refers to here; or 0 */
    int32_t pack, pack_count; /* which argument of this expansion's pack; how many there are */
    int error;
};

/* Prints the whole to `to`. 0 or a negative errno. */
int cxx_print(const struct cxx *cxx, uint32_t number, const struct demangle_options *options,
              struct text *to);

void cxx_put(struct cxx_print *print, const char *bytes, size_t length);
void cxx_put_byte(struct cxx_print *print, char byte);
/* Parts of a node with text around them: see `forms` in cxx_print.c. */
void cxx_put_form(struct cxx_print *print, const struct cxx_node *node, const char *form);
static inline char cxx_last(const struct cxx_print *print)
{
    return print->length ? print->out[print->length - 1] : '\0';
}

/* A whole node, or the part of a type before and after what it declares. */
void cxx_put_node(struct cxx_print *print, uint32_t number);
void cxx_put_left(struct cxx_print *print, uint32_t number);
void cxx_put_right(struct cxx_print *print, uint32_t number);
void cxx_put_encoding(struct cxx_print *print, const struct cxx_node *encoding, bool is_inner);
/* Counts a step; false: there were too many, or an error before. */
bool cxx_step(struct cxx_print *print);
/* What a template parameter stands for here: itself if unknown. */
uint32_t cxx_resolve(struct cxx_print *print, uint32_t number);

/* The kinds from CXX_POINTER to CXX_FLOAT. */
void cxx_put_type_left(struct cxx_print *print, const struct cxx_node *node);
void cxx_put_type_right(struct cxx_print *print, const struct cxx_node *node);

#endif
