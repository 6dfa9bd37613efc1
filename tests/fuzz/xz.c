/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * .xz files as they are, and again with correct checksums; an input with another first byte is
 * taken as the chunks of a file that is built around them.
 */
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "fuzz.h"
#include "tests/unit/xz_image.h"
#include "unpack/unpack.h"

#define MOST (1 << 20)

/* A copy of exactly their size: AddressSanitizer sees reads past the end. */
static int unpack(const uint8_t *data, size_t size, size_t most, struct text *to)
{
    uint8_t *copy = malloc(size ? size : 1);

    ALWAYS(copy);
    memcpy(copy, data, size);
    int result = unpack_xz(copy, size, most, to);
    free(copy);
    return result;
}

/* Returns the unpacked size, or -1. */
static ssize_t check(const uint8_t *data, size_t size)
{
    struct text text = {0}, again = {0};
    int result = unpack(data, size, MOST, &text);

    ALWAYS(!result || result == -EBADMSG || result == -EOPNOTSUPP || result == -EFBIG);
    ALWAYS(text.length <= MOST && text.room <= MOST + 1);
    if (!result) {
        ALWAYS(!text.data[text.length]);
        text_add(&again, "x");
        ALWAYS(!unpack(data, size, text.length, &again) && again.length == text.length + 1);
        ALWAYS(!memcmp(again.data + 1, text.data, text.length + 1));
        ALWAYS(!text.length || unpack(data, size, text.length - 1, &again) == -EFBIG);
    }
    ssize_t length = result ? -1 : (ssize_t)text.length;
    text_free(&again);
    text_free(&text);
    return length;
}

/* Without a check, which is unknown beforehand. Two blocks, so that one follows another. */
static void check_chunks(const uint8_t *data, size_t size)
{
    static struct xz_image image;
    uint64_t unpacked;
    size_t packed = xz_chunks(data, size, &unpacked);
    struct xz_block block = {.raw = data, .raw_size = packed ? packed : size,
                             .unpacked = unpacked, .said_packed = XZ_NO_SIZE,
                             .said_unpacked = size % 2 ? unpacked : XZ_NO_SIZE,
                             .dictionary = size % 3 ? 0 : 20};

    if (size > sizeof(image.bytes) / 4)
        return;
    image.size = 0;
    xz_begin(&image, 0);
    xz_add_block(&image, &block);
    xz_add_block(&image, &block);
    xz_end(&image);
    ssize_t length = check(image.bytes, image.size);
    ALWAYS(length < 0 || (packed && (uint64_t)length == 2 * unpacked));
}

/* Whatever the input is, up to 1 MB is unpacked, six times. */
const struct fuzz_line fuzz_lines[FUZZ_COSTS] = {
    [FUZZ_BYTES] = {8 << 20, 16, 0},
    [FUZZ_READS] = {1, 0, 0},
    [FUZZ_TIME] = {500000, 50, 0},
};

void fuzz_input(const uint8_t *data, size_t size)
{
    check(data, size);
    if (!size || *data != 0xfd) {
        check_chunks(data, size);
        return;
    }
    uint8_t *fixed = malloc(size);
    ALWAYS(fixed);
    memcpy(fixed, data, size);
    xz_fix(fixed, size);
    check(fixed, size);
    free(fixed);
}
