/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Mangled names and what they mean: both from the ABI's grammar, checked with c++filt -i. */
#ifndef STACKBOX_TESTS_CXX_ROWS_H
#define STACKBOX_TESTS_CXX_ROWS_H

#include "demangle/demangle.h"
#include "unit/test.h"

struct cxx_row {
    const char *name, *is;
};

static inline void check_row(const struct cxx_row *row, const struct demangle_options *config)
{
    struct text text = {0};

    CHECK_NUMBER(demangle(row->name, strlen(row->name), config, &text), 0);
    CHECK_STRING(text.data, row->is);
    text_free(&text);
}

static inline void check_rows(const struct cxx_row *rows, size_t count)
{
    static const struct demangle_options none;

    for (size_t i = 0; i < count; i++)
        check_row(&rows[i], &none);
}

/* A test of rows {mangled, meaning}. */
#define NAMES(test, ...)                                                                  \
    TEST(test)                                                                            \
    {                                                                                     \
        static const struct cxx_row rows[] = {__VA_ARGS__};                               \
        check_rows(rows, COUNT_OF(rows));                                                 \
    }

#endif
