/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Encodings, compilers' special names, and names: nested, local and plain. */
#include "demangle/cxx_nodes.h"

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
    uint32_t encoding = cxx_make(cxx, CXX_ENCODING, name, type, cxx->arguments);
    if (encoding)
        cxx_at(cxx, encoding)->flags = state->quals & (uint8_t)~CXX_OBJECT;
    return encoding;
}

uint32_t cxx_encoding(struct cxx *cxx)
{
    struct cxx_name_state state = {0};
    uint32_t encoding = 0;

    if (!cxx_enter(cxx))
        return 0;
    if (cxx_peek(cxx) == 'T' || cxx_peek(cxx) == 'G') {
        encoding = cxx_special(cxx);
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

/* In base 36, in capital letters, up to a '_'. */
static bool sequence(struct cxx *cxx, uint32_t *number)
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

/* GR <name> [<sequence>] _; older compilers end it with a number, or nothing. */
static uint32_t reference_temporary(struct cxx *cxx, uint32_t *number)
{
    uint32_t name = cxx_name(cxx, NULL);

    *number = 0;
    if (name && cxx->at < cxx->end && *cxx->at != 'E' && *cxx->at != '.' &&
        !sequence(cxx, number))
        return 0;
    return name;
}

static uint32_t module_of(struct cxx *cxx)
{
    uint32_t module = 0;

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

static uint32_t special_of(struct cxx *cxx, char kind, char which, uint32_t *in, uint32_t *number)
{
    if (kind == 'G')
        switch (which) {
        case 'R':
            return reference_temporary(cxx, number);
        case 'A':
        case 'T':
        case 'n':
            return cxx_encoding(cxx);
        case 'I':
            return module_of(cxx);
        default:
            return cxx_name(cxx, NULL);
        }
    switch (which) {
    case 'V':
    case 'T':
    case 'I':
    case 'S':
    case 'F':
        return cxx_type(cxx);
    case 'A':
        return cxx_argument(cxx);
    case 'C':
        *in = cxx_type(cxx);
        return *in && cxx_number(cxx, number) && cxx_take(cxx, '_') ? cxx_type(cxx) : 0;
    case 'c':
        return call_offset(cxx) && call_offset(cxx) ? cxx_encoding(cxx) : 0;
    case 'h':
    case 'v':
        cxx->at--;
        return call_offset(cxx) ? cxx_encoding(cxx) : 0;
    default: /* H, W */
        return cxx_name(cxx, NULL);
    }
}

uint32_t cxx_special(struct cxx *cxx)
{
    char kind = cxx_peek(cxx), which = cxx_peek_next(cxx);
    uint16_t row = 0;
    uint32_t in = 0, number = 0;

    cxx->at += 2;
    if (cxx->at > cxx->end)
        return 0;
    if (kind == 'G' && which == 'T') {
        char clone = cxx_peek(cxx);
        if (clone != 't' && clone != 'n')
            return 0;
        cxx->at++;
        which = clone == 'n' ? 'n' : 'T';
    }
    while (cxx_specials[row] && (cxx_specials[row][0] != kind || cxx_specials[row][1] != which))
        row++;
    if (!cxx_specials[row])
        return 0;
    uint32_t of = special_of(cxx, kind, which, &in, &number);
    uint32_t special = of ? cxx_make(cxx, CXX_SPECIAL, of, in, number) : 0;
    if (special)
        cxx_at(cxx, special)->small = row;
    return special;
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
