/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Single names: identifiers, operators, constructors, lambdas and unnamed things. */
#include <string.h>

#include "demangle/cxx_nodes.h"

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
        uint32_t tag = cxx_source_name(cxx);
        name = tag ? cxx_make(cxx, CXX_TAGGED, name, tag, 0) : 0;
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
    return cxx_wrap(cxx, CXX_CONVERSION, type);
}

uint32_t cxx_operator_name(struct cxx *cxx, struct cxx_name_state *state)
{
    if (cxx->end - cxx->at < 2)
        return 0;
    if (cxx_take_two(cxx, "cv"))
        return conversion_operator(cxx, state);
    if (cxx_take_two(cxx, "li"))
        return cxx_wrap(cxx, CXX_LITERAL_NAME, cxx_source_name(cxx));
    if (cxx->at[0] == 'v' && cxx_is_digit(cxx->at[1])) {
        cxx->at += 2;
        return cxx_wrap(cxx, CXX_VENDOR_NAME, cxx_source_name(cxx));
    }
    int row = cxx_operator(cxx->at);
    /* Those that cannot be functions: casts, sizeof and the like. */
    if (row < 0 || strchr("ct", cxx_operators[row].shape) || !strncmp(cxx->at, "nx", 2) ||
        !strncmp(cxx->at, "sz", 2) || !strncmp(cxx->at, "az", 2) ||
        (cxx->at[0] == 't' && cxx_operators[row].shape == 'u') || !strncmp(cxx->at, "dt", 2) ||
        !strncmp(cxx->at, "ds", 2))
        return 0;
    cxx->at += 2;
    uint32_t name = cxx_make(cxx, CXX_OPERATOR, 0, 0, 0);
    if (name)
        cxx_at(cxx, name)->small = (uint16_t)row;
    return name;
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
    size_t first = cxx->open.count;

    cxx->at += 2;
    while (!cxx_take(cxx, 'E'))
        if (!cxx_push(cxx, &cxx->open, cxx_source_name(cxx)))
            return 0;
    return cxx->open.count == first ? 0 : cxx_wrap(cxx, CXX_BINDING, cxx_list(cxx, first));
}

uint32_t cxx_unqualified(struct cxx *cxx, struct cxx_name_state *state, uint32_t scope,
                         uint32_t module)
{
    uint32_t name;

    if (cxx_is_digit(cxx_peek(cxx)) && !module) {
        name = cxx_tags(cxx, cxx_source_name(cxx));
        return name && scope ? cxx_make(cxx, CXX_QUALIFIED, scope, name, 0) : name;
    }
    while (cxx_take(cxx, 'W')) {
        bool is_partition = cxx_take(cxx, 'P');
        uint32_t part = cxx_source_name(cxx);
        module = part ? cxx_make(cxx, CXX_MODULE, module, part, 0) : 0;
        if (!cxx_remember(cxx, module))
            return 0;
        cxx_at(cxx, module)->flags = is_partition;
    }
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
        name = cxx_wrap(cxx, CXX_FRIEND, name);
    return name && scope ? cxx_make(cxx, CXX_QUALIFIED, scope, name, 0) : name;
}
