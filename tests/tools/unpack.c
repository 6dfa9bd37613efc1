/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * unpack xz|zlib MOST: unpacks stdin to stdout, if that is at most this many bytes. Exits with 1 if
 * it is damaged, 3 if it is of an unsupported kind, 4 if it is too large.
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
