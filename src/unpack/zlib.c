/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Two bytes of header, deflate, and a checksum. */
#include "unpack/unpack.h"

#include <errno.h>
#include <stdint.h>

#include "base/text.h"
#include "unpack/inflate.h"

#define DEFLATE 8
#define WIDEST_WINDOW 7 /* 32 KB */
#define HAS_DICTIONARY 0x20
#define ADLER_PRIME 65521
#define ADLER_UNCUT 5552 /* the sums of that many bytes fit into 32 bits */

static uint32_t adler32(const char *data, size_t length)
{
    const unsigned char *at = (const unsigned char *)data;
    uint32_t sum = 1, sums = 0;

    while (length) {
        size_t bytes = length < ADLER_UNCUT ? length : ADLER_UNCUT;
        for (length -= bytes; bytes--; at++) {
            sum += *at;
            sums += sum;
        }
        sum %= ADLER_PRIME;
        sums %= ADLER_PRIME;
    }
    return sums << 16 | sum;
}

/*
 * The promised window size is not enforced: everything unpacked is still there, and zlib does not
 * check it, either.
 */
static int read_head(struct source *source)
{
    struct source head;

    if (!source_take(source, 2, &head) || (head.at[0] << 8 | head.at[1]) % 31 ||
        (head.at[0] & 0xf) != DEFLATE || head.at[0] >> 4 > WIDEST_WINDOW)
        return -EBADMSG;
    return head.at[1] & HAS_DICTIONARY ? -EOPNOTSUPP : 0;
}

int unpack_zlib(const unsigned char *packed, size_t size, size_t most, struct text *to)
{
    struct source source = {packed, size}, tail;
    size_t start = to->length;
    struct sink sink;

    int result = sink_open(&sink, to, most);
    if (!result)
        result = read_head(&source);
    if (!result)
        result = inflate(&source, &sink);
    if (result)
        return result;
    to->data[to->length] = '\0';
    if (!source_take(&source, 4, &tail) || source.left ||
        __builtin_bswap32((uint32_t)low_first(tail.at, 4)) !=
            adler32(to->data + start, to->length - start))
        return -EBADMSG;
    return 0;
}
