/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Rust names and what they should become: by default, shortened, and without suffixes. */
#ifndef STACKBOX_RUST_CHECK_H
#define STACKBOX_RUST_CHECK_H

#include "demangle/demangle.h"
#include "test.h"

static struct text rust_name;

/* The name is in memory of exactly its size, so that sanitizers see reads past its end. */
static inline int rust_check(const char *mangled, size_t length, struct demangle_options config)
{
    char *copy = malloc(length ? length : 1);

    if (!copy)
        return -ENOMEM;
    memcpy(copy, mangled, length);
    int result = demangle(copy, length, &config, &rust_name);
    free(copy);
    if (result && rust_name.length)
        WRONG("half a name");
    return result;
}

static inline void rust_check_name(int line, const char *mangled, const char *expected, int result)
{
    if (expected ? !result && !strcmp(rust_name.data, expected) : result == -EINVAL)
        return;
    printf("  line %d: %s is %s (%d), should be %s\n", line, mangled,
           result ? "none" : rust_name.data, result, expected ? expected : "none");
    test_failures_here++;
}

#define CHECK_WISHED(mangled, expected, ...)                                              \
    rust_check_name(__LINE__, mangled, expected,                                          \
                    rust_check(mangled, strlen(mangled), (struct demangle_options){__VA_ARGS__}))
#define CHECK_NAME(mangled, expected) CHECK_WISHED(mangled, expected, .shorten = false)
#define CHECK_NONE(mangled) CHECK_WISHED(mangled, NULL, .shorten = false)
#define CHECK_SHORT(mangled, expected) CHECK_WISHED(mangled, expected, .shorten = true)
#define CHECK_ALONE(mangled, expected) CHECK_WISHED(mangled, expected, .without_parameters = true)

#endif
