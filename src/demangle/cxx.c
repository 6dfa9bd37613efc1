/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "demangle/cxx.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"

/* No name of 64 KB has more; 16 bytes each. */
#define MOST_NODES 131072
/*
 * The deepest nesting of types, names and expressions: real ones reach some forty. A thread's stack
 * may be small.
 */
#define DEEPEST 128

static bool is_stored(const struct cxx *cxx, const void *items)
{
    return (uintptr_t)items - (uintptr_t)cxx->store < sizeof(*cxx->store);
}

static void drop(const struct cxx *cxx, void *items)
{
    if (!is_stored(cxx, items))
        free(items);
}

static void cxx_free(struct cxx *cxx)
{
    if (!cxx->store)
        return;
    drop(cxx, cxx->nodes);
    drop(cxx, cxx->lists.items);
    drop(cxx, cxx->open.items);
    drop(cxx, cxx->seen.items);
    cxx->store = NULL;
}

/* Begins a name, or begins again for another try; cxx_free ends it. */
static void cxx_start(struct cxx *cxx, struct cxx_store *store, const char *name, const char *end)
{
    cxx_free(cxx);
    *cxx = (struct cxx){
        .name = name, .at = name, .end = end, .store = store, .scopes = cxx->scopes,
        .nodes = store->nodes, .room = COUNT_OF(store->nodes),
        .lists = {.items = store->lists, .room = COUNT_OF(store->lists)},
        .open = {.items = store->open, .room = COUNT_OF(store->open)},
        .seen = {.items = store->seen, .room = COUNT_OF(store->seen)}};
    cxx_make(cxx, CXX_NONE, 0, 0, 0);
}

/* Doubles the room, moving out of the store if necessary; NULL: no memory. */
static void *grow(const struct cxx *cxx, void *items, size_t *room, size_t size)
{
    const bool stored = is_stored(cxx, items);
    void *more = realloc(stored ? NULL : items, 2 * *room * size);

    if (!more)
        return NULL;
    if (stored)
        memcpy(more, items, *room * size);
    *room *= 2;
    return more;
}

/* Makes room for the next node; returns the number of the last. */
static uint32_t grow_nodes(struct cxx *cxx)
{
    void *more = NULL;

    if (cxx->count >= MOST_NODES) {
        cxx->error = -EINVAL;
    } else if ((more = grow(cxx, cxx->nodes, &cxx->room, sizeof(*cxx->nodes)))) {
        cxx->nodes = more;
        return (uint32_t)cxx->count - 1;
    } else {
        cxx->error = -ENOMEM;
    }
    /* Drops the last node, to leave room for another try. */
    cxx->count--;
    return 0;
}

static bool grow_numbers(struct cxx *cxx, struct cxx_numbers *numbers)
{
    void *more = grow(cxx, numbers->items, &numbers->room, sizeof(*numbers->items));

    if (more)
        numbers->items = more;
    else
        cxx->error = -ENOMEM;
    return more != NULL;
}

bool cxx_push(struct cxx *cxx, struct cxx_numbers *numbers, uint32_t number)
{
    if (!number || (numbers->count == numbers->room && !grow_numbers(cxx, numbers)))
        return false;
    numbers->items[numbers->count++] = number;
    return true;
}

bool cxx_take_two(struct cxx *cxx, const char *two)
{
    if (cxx->end - cxx->at < 2 || cxx->at[0] != two[0] || cxx->at[1] != two[1])
        return false;
    cxx->at += 2;
    return true;
}

uint32_t cxx_make(struct cxx *cxx, enum cxx_kind kind, uint32_t a, uint32_t b, uint32_t c)
{
    struct cxx_node *node = &cxx->nodes[cxx->count];
    node->kind = (uint8_t)kind;
    node->flags = 0;
    node->small = 0;
    node->a = a;
    node->b = b;
    node->c = c;
    /* The check for room comes last, so that the common path needs no saved register. */
    return ++cxx->count < cxx->room ? (uint32_t)cxx->count - 1 : grow_nodes(cxx);
}

uint32_t cxx_wrap(struct cxx *cxx, enum cxx_kind kind, uint32_t a, unsigned small)
{
    return a ? cxx_small(cxx, cxx_make(cxx, kind, a, 0, 0), small) : 0;
}

uint32_t cxx_pair(struct cxx *cxx, enum cxx_kind kind, uint32_t a, uint32_t b)
{
    return a && b ? cxx_make(cxx, kind, a, b, 0) : 0;
}

uint32_t cxx_list(struct cxx *cxx, size_t first)
{
    size_t begin = cxx->lists.count, count = cxx->open.count - first;

    while (cxx->lists.room - begin < count)
        if (!grow_numbers(cxx, &cxx->lists))
            return 0;
    for (size_t i = 0; i < count; i++)
        cxx->lists.items[begin + i] = cxx->open.items[first + i];
    cxx->lists.count += count;
    cxx->open.count = first;
    return cxx_make(cxx, CXX_LIST, (uint32_t)begin, (uint32_t)count, 0);
}

uint32_t cxx_until(struct cxx *cxx, char ending, cxx_reader *read)
{
    const size_t first = cxx->open.count;

    while (!cxx_take(cxx, ending))
        if (!cxx_push(cxx, &cxx->open, read(cxx)))
            return 0;
    return cxx_list(cxx, first);
}

uint32_t cxx_remember(struct cxx *cxx, uint32_t number)
{
    return cxx_push(cxx, &cxx->seen, number) ? number : 0;
}

uint32_t cxx_ended(struct cxx *cxx, uint32_t number)
{
    return cxx_take(cxx, 'E') ? number : 0;
}

bool cxx_enter(struct cxx *cxx)
{
    if (cxx->depth >= DEEPEST || cxx->error)
        return false;
    cxx->depth++;
    return true;
}

bool cxx_number(struct cxx *cxx, uint32_t *number)
{
    const char *at = cxx->at;
    uint32_t sum = 0;

    for (; at < cxx->end && cxx_is_digit(*at) && sum < 100000000; at++)
        sum = 10 * sum + (uint32_t)(*at - '0');
    *number = sum;
    if (at == cxx->at || sum >= 100000000)
        return false;
    cxx->at = at;
    return true;
}

bool cxx_counted(struct cxx *cxx, uint32_t *number)
{
    *number = 0;
    if (cxx_take(cxx, '_'))
        return true;
    if (!cxx_number(cxx, number))
        return false;
    ++*number;
    return cxx_take(cxx, '_');
}

bool cxx_sequence(struct cxx *cxx, uint32_t *number)
{
    *number = 0;
    if (cxx_take(cxx, '_'))
        return true;
    for (; cxx->at < cxx->end && *cxx->at != '_'; cxx->at++) {
        bool is_digit = cxx_is_digit(*cxx->at);
        if ((!is_digit && (*cxx->at < 'A' || *cxx->at > 'Z')) || *number > 10000000)
            return false;
        *number = *number * 36 + (uint32_t)(is_digit ? *cxx->at - '0' : *cxx->at - 'A' + 10);
    }
    ++*number;
    return cxx_take(cxx, '_');
}

uint32_t cxx_digits(struct cxx *cxx)
{
    const char *first = cxx->at;

    while (cxx_is_digit(cxx_peek(cxx)))
        cxx->at++;
    if (cxx->at == first)
        return 0;
    return cxx_make(cxx, CXX_NUMBER, (uint32_t)(first - cxx->name), (uint32_t)(cxx->at - first), 0);
}

#define BUILTIN(letter, literal, text) {letter, literal, sizeof(text) - 1, text}
#define NONE {0}

/* One per letter of the alphabet, then those of D and a letter. */
const struct cxx_builtin cxx_builtins[] = {
    BUILTIN('a', '-', "signed char"), BUILTIN('b', 'b', "bool"), BUILTIN('c', '-', "char"),
    BUILTIN('d', 'f', "double"), BUILTIN('e', 'f', "long double"), BUILTIN('f', 'f', "float"),
    BUILTIN('g', 'f', "__float128"), BUILTIN('h', '-', "unsigned char"), BUILTIN('i', 'i', "int"),
    BUILTIN('j', 'j', "unsigned int"), NONE, BUILTIN('l', 'l', "long"),
    BUILTIN('m', 'm', "unsigned long"), BUILTIN('n', '-', "__int128"),
    BUILTIN('o', '-', "unsigned __int128"), NONE, NONE, NONE, BUILTIN('s', '-', "short"),
    BUILTIN('t', '-', "unsigned short"), NONE, BUILTIN('v', '-', "void"),
    BUILTIN('w', '-', "wchar_t"), BUILTIN('x', 'x', "long long"),
    BUILTIN('y', 'y', "unsigned long long"), BUILTIN('z', '-', "..."), BUILTIN('a', '-', "auto"),
    BUILTIN('c', '-', "decltype(auto)"), BUILTIN('d', '-', "decimal64"),
    BUILTIN('e', '-', "decimal128"), BUILTIN('f', '-', "decimal32"), BUILTIN('h', 'f', "half"),
    BUILTIN('i', '-', "char32_t"), BUILTIN('n', '-', "decltype(nullptr)"),
    BUILTIN('s', '-', "char16_t"), BUILTIN('u', '-', "char8_t"), NONE,
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

const char cxx_operators[] =
    "aNb&=\0" "aSb=\0" "aab&&\0" "adu&\0" "anb&\0" "attalignof\0" "awuco_await\0" "azualignof\0"
    "cccconst_cast\0" "cl-()\0" "cmb,\0" "cou~\0" "dVb/=\0" "daddelete[]\0" "dccdynamic_cast\0"
    "deu*\0" "dlddelete\0" "dsb.*\0" "dtm.\0" "dvb/\0" "eOb^=\0" "eob^\0" "eqb==\0" "geb>=\0"
    "gtb>\0" "ix-[]\0" "lSb<<=\0" "leb<=\0" "lsb<<\0" "ltb<\0" "mIb-=\0" "mLb*=\0" "mib-\0"
    "mlb*\0" "mmp--\0" "nannew[]\0" "neb!=\0" "ngu-\0" "ntu!\0" "nwnnew\0" "nxunoexcept\0"
    "oRb|=\0" "oob||\0" "orb|\0" "pLb+=\0" "plb+\0" "pmb->*\0" "ppp++\0" "psu+\0" "ptm->\0"
    "qu-?\0" "rMb%=\0" "rSb>>=\0" "rccreinterpret_cast\0" "rmb%\0" "rsb>>\0" "sccstatic_cast\0"
    "ssb<=>\0" "sttsizeof\0" "szusizeof\0" "teutypeid\0" "tittypeid\0" "twuthrow\0";

const char cxx_specials[] =
    "TVtvtable for \0" "TTtVTT for \0" "TIttypeinfo for \0" "TSttypeinfo name for \0"
    "TFttypeinfo fn for \0" "TCCconstruction vtable for \0" "Thhnon-virtual thunk to \0"
    "Tvhvirtual thunk to \0" "Tcccovariant return thunk to \0" "THnTLS init function for \0"
    "TWnTLS wrapper function for \0" "TAatemplate parameter object for \0"
    "GVnguard variable for \0" "GRRreference temporary #\0" "GAehidden alias for \0"
    "GTetransaction clone for \0" "Gnenon-transaction clone for \0" "GIminitializer for module \0";

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

int cxx_row(const char *rows, const char *code)
{
    for (const char *row = rows; *row; row++) {
        if (row[0] == code[0] && row[1] == code[1])
            return (int)(row - rows);
        while (*row)
            row++;
    }
    return -1;
}

/* Compilers make no longer names. */
#define LONGEST (128 * 1024)

static bool is_clone_letter(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_' ||
           cxx_is_digit(byte);
}

/* .isra, .isra.0, .0, .__uniq.1.2: the length of the suffix added by one pass of a compiler. */
static size_t clone_length(const char *at, const char *end)
{
    const char *first = at;

    if (end - at < 2 || *at != '.' || !is_clone_letter(at[1]))
        return 0;
    for (at++; at < end && is_clone_letter(*at); at++)
        ;
    while (end - at > 1 && *at == '.' && cxx_is_digit(at[1]))
        for (at++; at < end && cxx_is_digit(*at); at++)
            ;
    return (size_t)(at - first);
}

static bool are_clones(const char *at, const char *end)
{
    while (at < end) {
        size_t length = clone_length(at, end);
        if (!length)
            return false;
        at += length;
    }
    return true;
}

static void add_clones(const char *at, const char *end, struct text *to)
{
    while (at < end) {
        size_t length = clone_length(at, end);
        text_add(to, " [clone ");
        text_append(to, at, length);
        text_add(to, "]");
        at += length;
    }
}

/* _block_invoke, _block_invoke_2, _block_invoke.2: the code of a block in a function. */
static bool take_block(struct cxx *cxx)
{
    static const char ending[] = "_block_invoke";
    size_t length = sizeof(ending) - 1;
    uint32_t number;

    if ((size_t)(cxx->end - cxx->at) < length || memcmp(cxx->at, ending, length))
        return false;
    cxx->at += length;
    return !cxx_take(cxx, '_') || cxx_number(cxx, &number);
}

/* The whole name, up to its clones; 0 with an error. */
static uint32_t read_name(struct cxx *cxx, bool is_block)
{
    cxx->at += is_block ? 4 : 2;
    uint32_t number = cxx_encoding(cxx);
    if (number && is_block && !take_block(cxx))
        number = 0;
    return number && are_clones(cxx->at, cxx->end) && !cxx->error ? number : 0;
}

static int show_name(const struct cxx *cxx, uint32_t number, bool is_block,
                     const struct demangle_options *options, struct text *to)
{
    bool is_bare = options->without_parameters && cxx_at(cxx, number)->kind == CXX_ENCODING &&
                   cxx_at(cxx, number)->b && !is_block;

    if (is_block)
        text_add(to, "invocation function for block in ");
    int result = cxx_print(cxx, number, options, to);
    if (!result && !is_bare)
        add_clones(cxx->at, cxx->end, to);
    return result;
}

int cxx_demangle(const char *name, size_t length, const struct demangle_options *options,
                 struct text *to)
{
    bool is_block = length > 4 && !memcmp(name, "___Z", 4);
    struct cxx_store store;
    struct cxx cxx = {0};
    uint32_t number;
    int result;

    if (length > LONGEST || length < 3 || (!is_block && (name[0] != '_' || name[1] != 'Z')))
        return -EINVAL;
    do {
        cxx_start(&cxx, &store, name, name + length);
        number = read_name(&cxx, is_block);
    } while (!number && !cxx.error && cxx.has_scope && cxx.scopes++ < CXX_SCOPES_PLAIN);
    result = cxx.error ? cxx.error : -EINVAL;
    if (number)
        result = show_name(&cxx, number, is_block, options, to);
    cxx_free(&cxx);
    if (result)
        text_clear(to);
    return result;
}
