/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "view/columns.h"

/* From U+1000 on characters may be wide; there is no list of them here. */
#define FIRST_WIDE 0xe1

size_t columns_fit(const char *text, size_t length, size_t columns)
{
    size_t at = 0;

    while (at < length) {
        size_t width = (unsigned char)text[at] < FIRST_WIDE ? 1 : 2, end = at + 1;
        if (width > columns)
            break;
        while (end < length && (text[end] & 0xc0) == 0x80)
            end++;
        columns -= width;
        at = end;
    }
    return at;
}
