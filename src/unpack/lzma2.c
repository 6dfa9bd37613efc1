/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "unpack/lzma2.h"

#include <errno.h>

/* The first byte of a chunk. */
enum {
    END = 0,
    PLAIN_AND_START = 1, /* plain bytes; nothing before them is used */
    PLAIN = 2,
    PACKED = 0x80,       /* from here on, the low five bits are part of the size */
    RESET = 0xa0,
    PROPERTIES = 0xc0,   /* and reset */
    START = 0xe0,        /* and properties */
};

/* Which kinds of chunks must still come first. */
struct needs {
    bool start, properties;
};

static int decode_plain(struct source *source, struct sink *sink)
{
    struct source head;

    if (!source_take(source, 2, &head))
        return -EBADMSG;
    return sink_move(sink, source, (size_t)(head.at[0] << 8 | head.at[1]) + 1);
}

static int decode_packed(struct lzma *lzma, unsigned control, struct source *source,
                         struct sink *sink)
{
    struct source head, packed;

    if (!source_take(source, control >= PROPERTIES ? 5 : 4, &head))
        return -EBADMSG;
    size_t bytes = ((size_t)(control & 0x1f) << 16 | head.at[0] << 8 | head.at[1]) + 1;
    size_t size = (size_t)(head.at[2] << 8 | head.at[3]) + 1;
    if (control >= PROPERTIES && lzma_set_properties(lzma, head.at[4]))
        return -EBADMSG;
    if (control >= RESET)
        lzma_reset(lzma);
    if (!source_take(source, size, &packed))
        return -EBADMSG;
    if (bytes > sink->limit - sink->text->length)
        return -EFBIG;
    return lzma_decode(lzma, packed, sink, bytes);
}

/* False: the chunk needs something that was not there. */
static bool is_allowed(unsigned control, struct needs *needs)
{
    if (control == PLAIN_AND_START || control >= START)
        *needs = (struct needs){.properties = true};
    if (needs->start || (control > PLAIN && control < PACKED))
        return false;
    if (control >= PROPERTIES)
        needs->properties = false;
    return control < PACKED || !needs->properties;
}

int lzma2_decode(struct lzma *lzma, struct source *source, size_t dictionary, struct sink *sink)
{
    struct needs needs = {.start = true};
    struct source first;

    lzma->dictionary = dictionary;
    while (source_take(source, 1, &first)) {
        unsigned control = *first.at;
        if (control == END)
            return 0;
        if (!is_allowed(control, &needs))
            return -EBADMSG;
        if (control == PLAIN_AND_START || control >= START)
            lzma->start = sink->text->length;
        int result = control < PACKED ? decode_plain(source, sink)
                                      : decode_packed(lzma, control, source, sink);
        if (result)
            return result;
    }
    return -EBADMSG;
}
