/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * unpack xz|zlib MOST: stdin, unpacked to stdout, when it comes to no more than so many bytes. Ends
 * with 1 when it is spoiled, 3 when it is of a kind that is not supported, 4 when it is too much.
 */
#include "unpack/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/reading.h"
#include "base/text.h"
#include "base/util.h"

int main(int count, char **arguments)
{
    struct text packed = {0}, unpacked = {0};
    uint64_t most;

    if (count != 3 || parse_number(arguments[2], 0, SIZE_MAX, &most) ||
        read_file(AT_FDCWD, "/dev/stdin", SIZE_MAX / 2, &packed))
        return 2;
    const unsigned char *bytes = (const unsigned char *)(packed.data ? packed.data : "");
    int result = strcmp(arguments[1], "xz")
                     ? unpack_zlib(bytes, packed.length, (size_t)most, &unpacked)
                     : unpack_xz(bytes, packed.length, (size_t)most, &unpacked);
    if (!result)
        fwrite(unpacked.data, 1, unpacked.length, stdout);
    else
        fprintf(stderr, "unpack: %s\n", strerror(-result));
    text_free(&packed);
    text_free(&unpacked);
    if (fflush(stdout))
        return 2;
    return result == -EBADMSG       ? 1
           : result == -EOPNOTSUPP ? 3
           : result == -EFBIG      ? 4
           : result                ? 2
                                   : 0;
}
