/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Names in expressions, whose scopes compilers mangle in three ways. */
#include "demangle/cxx_nodes.h"

/* <name> [<arguments>] */
static uint32_t simple_name(struct cxx *cxx)
{
    uint32_t name = cxx_tags(cxx, cxx_source_name(cxx));

    return name && cxx_peek(cxx) == 'I' ? cxx_template(cxx, name, false) : name;
}

/* <name>, on <operator>, dn <destructor> */
static uint32_t base_name_alone(struct cxx *cxx)
{
    uint32_t name;

    if (cxx_take_two(cxx, "dn")) {
        name = cxx_is_digit(cxx_peek(cxx)) ? simple_name(cxx) : cxx_type(cxx);
        return cxx_wrap(cxx, CXX_DESTRUCTOR, name);
    }
    if (cxx_is_digit(cxx_peek(cxx)))
        return cxx_tags(cxx, cxx_source_name(cxx));
    cxx_take_two(cxx, "on");
    return cxx_operator_name(cxx, NULL);
}

uint32_t cxx_base_name(struct cxx *cxx)
{
    uint32_t name = base_name_alone(cxx);

    return name && cxx_peek(cxx) == 'I' ? cxx_template(cxx, name, false) : name;
}

static uint32_t in_scope(struct cxx *cxx, uint32_t scope, uint32_t name)
{
    return scope && name ? cxx_make(cxx, CXX_QUALIFIED, scope, name, 0) : 0;
}

/* One or more scopes up to an E. */
static uint32_t scopes(struct cxx *cxx, uint32_t scope)
{
    do {
        uint32_t name = simple_name(cxx);
        scope = scope ? in_scope(cxx, scope, name) : name;
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

    cxx->at += 2;
    if (cxx->scopes == CXX_SCOPES_PLAIN && cxx_take(cxx, 'N')) {
        scope = cxx_is_digit(cxx_peek(cxx)) ? simple_name(cxx) : cxx_type(cxx);
        if (scope && !cxx_take(cxx, 'E'))
            scope = scopes(cxx, scope);
    } else if (cxx_is_digit(cxx_peek(cxx)) && cxx->scopes != CXX_SCOPES_TYPES) {
        scope = scopes(cxx, 0);
    } else {
        cxx->has_scope = true;
        scope = cxx_type(cxx);
        name = scope ? cxx_base_name(cxx) : 0;
        return in_scope(cxx, scope, name);
    }
    /*
     * The arguments belong to the whole name here: c++filt puts it in parentheses where it is
     * called.
     */
    name = scope ? base_name_alone(cxx) : 0;
    name = in_scope(cxx, scope, name);
    return name && cxx_peek(cxx) == 'I' ? cxx_template(cxx, name, false) : name;
}
