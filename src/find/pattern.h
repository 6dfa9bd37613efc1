/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A parsed pattern: the kind of place, and its names. Parsing does not ask the kernel. */
#ifndef STACKBOX_FIND_PATTERN_H
#define STACKBOX_FIND_PATTERN_H

#include <regex.h>
#include <stdint.h>

#include "base/text.h"

/*
 * Matches names: literally, with `*` (the whole name), or by an extended regular expression
 * (anywhere).
 */
struct matcher {
    enum { MATCH_PLAIN, MATCH_GLOB, MATCH_REGEX } kind;
    char *text;
    regex_t regex; /* MATCH_REGEX */
};

/* 0, or -EINVAL with what is wrong with the expression in `error`. matcher_free after 0. */
int matcher_make(struct matcher *matcher, const char *text, bool is_regex, struct text *error);
bool matcher_matches(const struct matcher *matcher, const char *name);
void matcher_free(struct matcher *matcher);

enum pattern_kind {
    PATTERN_KERNEL_FUNCTION,
    PATTERN_TRACEPOINT,
    PATTERN_USER_FUNCTION,
    PATTERN_USDT,
};

struct pattern {
    enum pattern_kind kind;
    const char *typed;       /* the argument, the caller's */
    bool at_return;          /* r:: */
    uint64_t offset;         /* vfs_read+0x10 */
    struct matcher name;     /* of the function, the tracepoint or the USDT probe */
    struct matcher category; /* of a tracepoint; or a USDT probe's provider, * if not given */
    bool is_plain;           /* a:b, which may be a tracepoint, too */
    bool is_call;            /* typed as sys_NAME: `name` is the call's function on this machine */
    char *library;           /* of a user function or USDT probe: a short name or a path */
    bool is_address;         /* a user function as /path:0x1234 */
    uint64_t address;
};

/*
 * p::vfs_read  vfs_read+0x10  r::vfs_read  tcp_*  t:sched:sched_switch  t:sched:*  c:malloc
 * p:c:malloc  r:c:malloc  c:malloc+4  /path:func  /path:0x1234  u:lib:probe  u:lib:provider:probe;
 * kprobe:f  kretprobe:f  tracepoint:a:b  uprobe:lib:f  uretprobe:lib:f  usdt:lib:probe mean the
 * same; with `is_regex` names are extended regular expressions, except those of libraries and
 * files. 0, or -EINVAL with one line in `error`. pattern_free after 0.
 */
int pattern_parse(struct pattern *pattern, const char *typed, bool is_regex, struct text *error);
/*
 * Makes t:sched:sched_switch from `pattern`, which pattern_parse() took for a function of a library
 * "sched", and which stays unchanged. 0 or a negative errno: -ENOENT if it cannot be a tracepoint.
 */
int pattern_as_tracepoint(struct pattern *tracepoint, const struct pattern *pattern);
/* Is it sys_NAME, a system call, although the kernel's function has another name? */
bool pattern_is_call(const struct pattern *pattern);
void pattern_free(struct pattern *pattern);

/* `scratch` is the caller's, kept between calls. 1, 0 or -ENOMEM. */
int function_matches(const struct matcher *wanted, const char *symbol, struct text *scratch);

/*
 * Is `typed` a function's name in the source, whole or without its types, although its * makes it a
 * pattern: "f(char*)", "A<char*>::f", "A::operator*"? 1, 0 or -ENOMEM.
 */
int function_is_typed(const struct matcher *typed, const char *symbol, struct text *scratch);

#endif
