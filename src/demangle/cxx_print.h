/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Prints the nodes of a C++ name, in the style of c++filt. */
#ifndef STACKBOX_DEMANGLE_CXX_PRINT_H
#define STACKBOX_DEMANGLE_CXX_PRINT_H

#include <string.h>

#include "demangle/cxx_nodes.h"
#include "demangle/demangle.h"

/* Which argument of a pack. */
enum { CXX_PACK_WHOLE = -1, CXX_PACK_UNKNOWN = -2 };

struct cxx_print {
    const struct cxx *cxx;
    const struct demangle_wishes *wishes;
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
int cxx_print(const struct cxx *cxx, uint32_t number, const struct demangle_wishes *wishes,
              struct text *to);

void cxx_put(struct cxx_print *print, const char *bytes, size_t length);
void cxx_put_byte(struct cxx_print *print, char byte);
/* Repeats what was printed before. */
void cxx_put_again(struct cxx_print *print, size_t first, size_t length);
void cxx_put_string(struct cxx_print *print, const char *string);
void cxx_put_number(struct cxx_print *print, uint32_t number);
static inline char cxx_last(const struct cxx_print *print)
{
    return print->length ? print->out[print->length - 1] : '\0';
}

/* A whole node, or the part of a type before and after what it declares. */
void cxx_put_node(struct cxx_print *print, uint32_t number);
void cxx_put_left(struct cxx_print *print, uint32_t number);
void cxx_put_right(struct cxx_print *print, uint32_t number);
/* The items of a list, separated by ", "; empty ones leave nothing. */
void cxx_put_list(struct cxx_print *print, uint32_t list);
/* An expression within another: in parentheses unless it is simple. */
void cxx_put_within(struct cxx_print *print, uint32_t number);
void cxx_put_encoding(struct cxx_print *print, const struct cxx_node *encoding, bool is_inner);
void cxx_put_parameters(struct cxx_print *print, uint32_t list, bool has_object);
void cxx_put_quals(struct cxx_print *print, unsigned quals);
/* Counts a step; false: there were too many, or an error before. */
bool cxx_step(struct cxx_print *print);
/* The same for something nested; on leaving it, print->depth--. */
bool cxx_print_enter(struct cxx_print *print);
/* What a template parameter stands for here: itself if unknown. */
uint32_t cxx_resolve(struct cxx_print *print, uint32_t number);

/* Each prints the kinds that it knows; false: this is not one of them. */
bool cxx_put_name_left(struct cxx_print *print, const struct cxx_node *node);
bool cxx_put_type_left(struct cxx_print *print, const struct cxx_node *node);
void cxx_put_type_right(struct cxx_print *print, const struct cxx_node *node);
bool cxx_put_expression(struct cxx_print *print, const struct cxx_node *node);

#endif
