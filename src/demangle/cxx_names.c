/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Encodings, compilers' special names, and names: nested, local and plain. */
#include <string.h>

#include "demangle/cxx.h"

static bool is_end_of_encoding(const struct cxx *cxx)
{
    return cxx->at >= cxx->end || *cxx->at == 'E' || *cxx->at == '.' || *cxx->at == '_';
}

/* After the name: a function's return type and parameters. */
static uint32_t function_behind(struct cxx *cxx, uint32_t name, const struct cxx_name_state *state)
{
    uint32_t type = 0, returned = 0;

    if (!is_end_of_encoding(cxx)) {
        if (state->ends_with_arguments && !state->no_return && !(returned = cxx_type(cxx)))
            return 0;
        uint32_t list = cxx_parameters(cxx);
        if (!list || !(type = cxx_make(cxx, CXX_FUNCTION, returned, list, 0)))
            return 0;
        if (cxx_take(cxx, 'Q')) {
            if (!cxx->arguments)
                cxx->arguments = cxx_standard_arguments(cxx, name);
            uint32_t required = cxx_expression(cxx);
            if (!required)
                return 0;
            cxx_at(cxx, type)->c = required;
        }
        if (state->quals & CXX_OBJECT)
            cxx_at(cxx, type)->flags = CXX_OBJECT;
    }
    return cxx_flags(cxx, cxx_make(cxx, CXX_ENCODING, name, type, cxx->arguments),
                     state->quals & ~CXX_OBJECT);
}

/* h<number>_ or v<number>_<number>_ */
static bool call_offset(struct cxx *cxx)
{
    uint32_t number;
    char kind = cxx_peek(cxx);

    if (kind != 'h' && kind != 'v')
        return false;
    cxx->at++;
    cxx_take(cxx, 'n');
    if (!cxx_number(cxx, &number) || !cxx_take(cxx, '_'))
        return false;
    if (kind == 'h')
        return true;
    cxx_take(cxx, 'n');
    return cxx_number(cxx, &number) && cxx_take(cxx, '_');
}

/* GR <name> [<sequence>] _; older compilers end it with a number, or nothing. */
static uint32_t reference_temporary(struct cxx *cxx, uint32_t *number)
{
    uint32_t name = cxx_name(cxx, NULL);

    *number = 0;
    if (name && cxx->at < cxx->end && *cxx->at != 'E' && *cxx->at != '.' &&
        !cxx_sequence(cxx, number))
        return 0;
    return name;
}

/* W [P] <name>, repeated: the module within `module`; 0: there is none. */
static uint32_t module_in(struct cxx *cxx, uint32_t module)
{
    while (cxx_take(cxx, 'W')) {
        bool is_partition = cxx_take(cxx, 'P');
        uint32_t name = cxx_source_name(cxx);
        if (!name || !(module = cxx_make(cxx, CXX_MODULE, module, name, 0)) ||
            !cxx_remember(cxx, module))
            return 0;
        cxx_at(cxx, module)->flags = is_partition;
    }
    return module;
}

static uint32_t special_of(struct cxx *cxx, char how, uint32_t *in, uint32_t *number)
{
    switch (how) {
    case 't': return cxx_type(cxx);
    case 'e': return cxx_encoding(cxx);
    case 'a': return cxx_argument(cxx);
    case 'm': return module_in(cxx, 0);
    case 'R': return reference_temporary(cxx, number);
    case 'C':
        *in = cxx_type(cxx);
        return *in && cxx_number(cxx, number) && cxx_take(cxx, '_') ? cxx_type(cxx) : 0;
    case 'c': return call_offset(cxx) && call_offset(cxx) ? cxx_encoding(cxx) : 0;
    case 'h':
        cxx->at--;
        return call_offset(cxx) ? cxx_encoding(cxx) : 0;
    default: return cxx_name(cxx, NULL);
    }
}

static uint32_t special(struct cxx *cxx)
{
    char code[] = {cxx_peek(cxx), cxx_peek_next(cxx)};
    uint32_t in = 0, number = 0;

    cxx->at += 2;
    if (cxx->at > cxx->end)
        return 0;
    if (code[0] == 'G' && code[1] == 'T') {
        char clone = cxx_peek(cxx);
        if (clone != 't' && clone != 'n')
            return 0;
        cxx->at++;
        code[1] = clone == 'n' ? 'n' : 'T';
    }
    const int row = cxx_row(cxx_specials, code);
    if (row < 0)
        return 0;
    uint32_t of = special_of(cxx, cxx_specials[row + CXX_ROW_LETTER], &in, &number);
    return cxx_small(cxx, of ? cxx_make(cxx, CXX_SPECIAL, of, in, number) : 0, (unsigned)row);
}

uint32_t cxx_encoding(struct cxx *cxx)
{
    struct cxx_name_state state = {0};
    uint32_t encoding = 0;

    if (!cxx_enter(cxx))
        return 0;
    if (cxx_peek(cxx) == 'T' || cxx_peek(cxx) == 'G') {
        encoding = special(cxx);
    } else {
        uint32_t outer = cxx->arguments;
        cxx->arguments = 0;
        uint32_t name = cxx_name(cxx, &state);
        if (name && !cxx->was_seen)
            encoding = function_behind(cxx, name, &state);
        cxx->arguments = outer;
    }
    cxx_leave(cxx);
    return encoding;
}

/* _<digit>, __<number>_: which one of several equal names; not shown. */
static bool discriminator(struct cxx *cxx)
{
    uint32_t number;

    if (cxx_peek(cxx) != '_')
        return true;
    if (cxx_peek_next(cxx) == '_') {
        cxx->at += 2;
        return cxx_number(cxx, &number) && cxx_take(cxx, '_');
    }
    if (!cxx_is_digit(cxx_peek_next(cxx)))
        return true;
    cxx->at += 2;
    return true;
}

static uint32_t local_name(struct cxx *cxx, struct cxx_name_state *state)
{
    uint32_t which = 0, entity, encoding = cxx_encoding(cxx);
    bool is_default = false;

    if (!encoding || !cxx_take(cxx, 'E'))
        return 0;
    if (cxx_take(cxx, 's')) {
        entity = cxx_make(cxx, CXX_STRING, 0, 0, 0);
    } else {
        is_default = cxx_take(cxx, 'd');
        if (is_default && !cxx_counted(cxx, &which))
            return 0;
        entity = cxx_name(cxx, state);
        if (is_default && entity)
            entity = cxx_make(cxx, CXX_DEFAULT, 0, entity, which + 1);
    }
    if (!entity || !discriminator(cxx))
        return 0;
    return cxx_make(cxx, CXX_LOCAL, encoding, entity, 0);
}

/* Is a substitution in a name a module, of the name after it, or the name itself? */
static bool is_module(const struct cxx *cxx, uint32_t number)
{
    return number && cxx_at(cxx, number)->kind == CXX_MODULE;
}

/* One component of a nested name: 0 if it is not one. */
static uint32_t component(struct cxx *cxx, struct cxx_name_state *state, uint32_t before,
                          bool *is_new)
{
    char first = cxx_peek(cxx);

    *is_new = true;
    if (state)
        state->ends_with_arguments = false;
    if (cxx_is_digit(first))
        return cxx_unqualified(cxx, state, before, 0);
    if (first == 'T')
        return before ? 0 : cxx_parameter(cxx);
    if (first == 'I') {
        if (state)
            state->ends_with_arguments = true;
        return before ? cxx_template(cxx, before, state != NULL) : 0;
    }
    if (first == 'D' && (cxx_peek_next(cxx) == 't' || cxx_peek_next(cxx) == 'T'))
        return before ? 0 : cxx_decltype(cxx);
    if (first == 'S') {
        uint32_t seen = cxx_substitution(cxx, true);
        if (is_module(cxx, seen))
            return cxx_unqualified(cxx, state, before, seen);
        *is_new = false;
        return before ? 0 : seen;
    }
    return cxx_unqualified(cxx, state, before, 0);
}

static uint32_t nested_name(struct cxx *cxx, struct cxx_name_state *state)
{
    uint32_t so_far = 0;
    unsigned quals = cxx_take(cxx, 'H') ? CXX_OBJECT : cxx_quals(cxx);
    bool is_new = false;

    if (cxx_take(cxx, 'R'))
        quals |= CXX_LVALUE;
    else if (cxx_take(cxx, 'O'))
        quals |= CXX_RVALUE;
    if (state)
        state->quals = (uint8_t)quals;
    while (!cxx_take(cxx, 'E')) {
        if (so_far && cxx_take(cxx, 'M')) /* what is initialized; followed by a lambda */
            continue;
        so_far = component(cxx, state, so_far, &is_new);
        if (!so_far || (is_new && !cxx_remember(cxx, so_far)))
            return 0;
    }
    /* The caller remembers the whole. */
    if (!is_new)
        return 0;
    cxx->seen.count--;
    return so_far;
}

/* [St] [module] <unqualified-name>, or a substitution, which is not new. */
static uint32_t unscoped_name(struct cxx *cxx, struct cxx_name_state *state, bool *is_new)
{
    uint32_t scope = 0, module = 0;

    *is_new = true;
    if (cxx_peek(cxx) == 'S') {
        uint32_t seen = cxx_substitution(cxx, false);
        if (!seen)
            return 0;
        if (is_module(cxx, seen)) {
            module = seen;
        } else if (cxx_at(cxx, seen)->kind == CXX_STANDARD && !cxx_at(cxx, seen)->small) {
            scope = seen;
        } else {
            *is_new = false;
            return seen;
        }
    }
    if (scope && cxx_peek(cxx) == 'S') {
        module = cxx_substitution(cxx, false);
        if (!is_module(cxx, module))
            return 0;
    }
    return cxx_unqualified(cxx, state, scope, module);
}

uint32_t cxx_name(struct cxx *cxx, struct cxx_name_state *state)
{
    uint32_t name = 0;
    bool is_new = true;

    if (!cxx_enter(cxx))
        return 0;
    if (cxx_take(cxx, 'N')) {
        name = nested_name(cxx, state);
    } else if (cxx_take(cxx, 'Z')) {
        name = local_name(cxx, state);
    } else {
        name = unscoped_name(cxx, state, &is_new);
        if (name && cxx_peek(cxx) == 'I') {
            if (is_new && !cxx_remember(cxx, name))
                name = 0;
            if (state)
                state->ends_with_arguments = true;
            name = name ? cxx_template(cxx, name, state != NULL) : 0;
            is_new = true;
        }
    }
    cxx->was_seen = !is_new;
    cxx_leave(cxx);
    return name;
}

/* Single names: identifiers, operators, constructors, lambdas and unnamed things. */

uint32_t cxx_source_name(struct cxx *cxx)
{
    uint32_t length;

    if (!cxx_number(cxx, &length) || !length || length > (size_t)(cxx->end - cxx->at))
        return 0;
    const char *name = cxx->at;
    cxx->at += length;
    /* _GLOBAL__N_, with another byte for _ where names may not contain it. */
    if (length >= 10 && !memcmp(name, "_GLOBAL_", 8) && strchr("_.$", name[8]) && name[9] == 'N')
        return cxx_make(cxx, CXX_ANONYMOUS, 0, 0, 0);
    return cxx_make(cxx, CXX_NAME, (uint32_t)(name - cxx->name), length, 0);
}

uint32_t cxx_tags(struct cxx *cxx, uint32_t name)
{
    while (name && cxx_peek(cxx) == 'B') {
        cxx->at++;
        name = cxx_pair(cxx, CXX_TAGGED, name, cxx_source_name(cxx));
    }
    return name;
}

/* cv <type>; template arguments after it belong to the operator. */
static uint32_t conversion_operator(struct cxx *cxx, struct cxx_name_state *state)
{
    bool no_arguments = cxx->no_arguments;

    cxx->no_arguments = true;
    uint32_t type = cxx_type(cxx);
    cxx->no_arguments = no_arguments;
    if (state)
        state->no_return = true;
    return cxx_wrap(cxx, CXX_CONVERSION, type, 0);
}

static uint32_t cxx_operator_name(struct cxx *cxx, struct cxx_name_state *state)
{
    if (cxx->end - cxx->at < 2)
        return 0;
    if (cxx_take_two(cxx, "cv"))
        return conversion_operator(cxx, state);
    if (cxx_take_two(cxx, "li"))
        return cxx_wrap(cxx, CXX_LITERAL_NAME, cxx_source_name(cxx), 0);
    if (cxx->at[0] == 'v' && cxx_is_digit(cxx->at[1])) {
        cxx->at += 2;
        return cxx_wrap(cxx, CXX_VENDOR_NAME, cxx_source_name(cxx), 0);
    }
    /* Those that cannot be functions: casts, sizeof and the like. */
    static const char others[] = "nx\0sz\0az\0dt\0ds\0te\0tw\0";
    const int row = cxx_row(cxx_operators, cxx->at);
    if (row < 0 || strchr("ct", cxx_operators[row + CXX_ROW_LETTER]) ||
        cxx_row(others, cxx->at) >= 0)
        return 0;
    cxx->at += 2;
    return cxx_small(cxx, cxx_make(cxx, CXX_OPERATOR, 0, 0, 0), (unsigned)row);
}

/* C1, C2 ...; CI1 <type>: a base class's. D0, D1 ... */
static uint32_t constructor(struct cxx *cxx, struct cxx_name_state *state, uint32_t scope)
{
    bool is_constructor = *cxx->at == 'C';

    if (!scope)
        return 0;
    cxx->at++;
    if (state)
        state->no_return = true;
    bool is_inherited = is_constructor && cxx_take(cxx, 'I');
    if (!cxx_is_digit(cxx_peek(cxx)) || cxx_peek(cxx) > '5' ||
        (is_constructor && cxx_peek(cxx) == '0'))
        return 0;
    cxx->at++;
    if (is_inherited && !(scope = cxx_type(cxx)))
        return 0;
    return cxx_make(cxx, is_constructor ? CXX_CONSTRUCTOR : CXX_DESTRUCTOR, scope, 0, 0);
}

static uint32_t lambda(struct cxx *cxx)
{
    uint32_t which, head, list = 0;
    size_t first = cxx->open.count;
    struct cxx_heads outer = cxx->head;
    unsigned heads[3];

    memcpy(heads, cxx->heads, sizeof(heads));
    memset(cxx->heads, 0, sizeof(cxx->heads));
    cxx->in_lambda++;
    cxx->head = (struct cxx_heads){.first = (uint32_t)first};
    if (cxx_declarations(cxx, &cxx->head))
        list = cxx_parameters(cxx);
    head = list ? cxx_list(cxx, first) : 0;
    cxx->head = outer;
    cxx->in_lambda--;
    memcpy(cxx->heads, heads, sizeof(heads));
    if (!head || !cxx_take(cxx, 'E') || !cxx_counted(cxx, &which))
        return 0;
    return cxx_make(cxx, CXX_LAMBDA, list, head, which + 1);
}

static uint32_t unnamed(struct cxx *cxx)
{
    uint32_t which;

    if (cxx_take_two(cxx, "Ul"))
        return lambda(cxx);
    if (cxx_take_two(cxx, "Ut"))
        return cxx_counted(cxx, &which) ? cxx_make(cxx, CXX_UNNAMED, 0, 0, which + 1) : 0;
    if (cxx_take_two(cxx, "Ub"))
        return cxx_counted(cxx, &which) ? cxx_make(cxx, CXX_BLOCK, 0, 0, which + 1) : 0;
    return 0;
}

static uint32_t binding(struct cxx *cxx)
{
    cxx->at += 2;
    return cxx_peek(cxx) == 'E'
               ? 0 : cxx_wrap(cxx, CXX_BINDING, cxx_until(cxx, 'E', cxx_source_name), 0);
}

uint32_t cxx_unqualified(struct cxx *cxx, struct cxx_name_state *state, uint32_t scope,
                         uint32_t module)
{
    uint32_t name;

    if (cxx_is_digit(cxx_peek(cxx)) && !module) {
        name = cxx_tags(cxx, cxx_source_name(cxx));
        return name && scope ? cxx_make(cxx, CXX_QUALIFIED, scope, name, 0) : name;
    }
    if (cxx_peek(cxx) == 'W' && !(module = module_in(cxx, module)))
        return 0;
    bool is_friend = scope && cxx_take(cxx, 'F');
    cxx_take(cxx, 'L');
    char first = cxx_peek(cxx);
    if (cxx_is_digit(first))
        name = cxx_source_name(cxx);
    else if (first == 'U')
        name = unnamed(cxx);
    else if (first == 'D' && cxx_peek_next(cxx) == 'C')
        name = binding(cxx);
    else if (first == 'C' || first == 'D')
        name = constructor(cxx, state, scope);
    else
        name = cxx_operator_name(cxx, state);
    if (name && module)
        name = cxx_make(cxx, CXX_IN_MODULE, name, module, 0);
    name = cxx_tags(cxx, name);
    if (is_friend)
        name = cxx_wrap(cxx, CXX_FRIEND, name, 0);
    return name && scope ? cxx_make(cxx, CXX_QUALIFIED, scope, name, 0) : name;
}

/* Names in expressions, whose scopes compilers mangle in three ways. */

/* <name> [<arguments>] */
static uint32_t simple_name(struct cxx *cxx)
{
    return cxx_maybe_template(cxx, cxx_tags(cxx, cxx_source_name(cxx)));
}

/* <name>, on <operator>, dn <destructor> */
static uint32_t base_name_alone(struct cxx *cxx)
{
    uint32_t name;

    if (cxx_take_two(cxx, "dn")) {
        name = cxx_is_digit(cxx_peek(cxx)) ? simple_name(cxx) : cxx_type(cxx);
        return cxx_wrap(cxx, CXX_DESTRUCTOR, name, 0);
    }
    if (cxx_is_digit(cxx_peek(cxx)))
        return cxx_tags(cxx, cxx_source_name(cxx));
    cxx_take_two(cxx, "on");
    return cxx_operator_name(cxx, NULL);
}

uint32_t cxx_base_name(struct cxx *cxx)
{
    return cxx_maybe_template(cxx, base_name_alone(cxx));
}

/* One or more scopes up to an E. */
static uint32_t scopes(struct cxx *cxx, uint32_t scope)
{
    do {
        uint32_t name = simple_name(cxx);
        scope = scope ? cxx_pair(cxx, CXX_QUALIFIED, scope, name) : name;
    } while (scope && !cxx_take(cxx, 'E'));
    return scope;
}

/*
 * sr <type> <name>, srN <type> <scope>... E <name>, sr <scope>... E <name>. If a scope's name is
 * the type, they cannot be told apart: cxx_demangle() tries one after another.
 */
uint32_t cxx_scoped_name(struct cxx *cxx)
{
    uint32_t scope, name;

    if (cxx->scopes == CXX_SCOPES_PLAIN && cxx_take(cxx, 'N')) {
        scope = cxx_is_digit(cxx_peek(cxx)) ? simple_name(cxx) : cxx_type(cxx);
        if (scope && !cxx_take(cxx, 'E'))
            scope = scopes(cxx, scope);
    } else if (cxx_is_digit(cxx_peek(cxx)) && cxx->scopes != CXX_SCOPES_TYPES) {
        scope = scopes(cxx, 0);
    } else {
        cxx->has_scope = true;
        scope = cxx_type(cxx);
        return cxx_pair(cxx, CXX_QUALIFIED, scope, scope ? cxx_base_name(cxx) : 0);
    }
    /*
     * The arguments belong to the whole name here: c++filt puts it in parentheses where it is
     * called.
     */
    name = cxx_pair(cxx, CXX_QUALIFIED, scope, scope ? base_name_alone(cxx) : 0);
    return cxx_maybe_template(cxx, name);
}
