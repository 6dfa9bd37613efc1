/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* unpack xz|zlib MOST: stdin, unpacked to stdout, when it comes to no more than so many bytes. */
#include "unpack/unpack.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

int main(int count, char **arguments)
{
    struct text packed = {0}, unpacked = {0};
    uint64_t most;

    if (count != 3 || parse_number(arguments[2], 0, SIZE_MAX, &most))
        return 2;
    int result = read_file(AT_FDCWD, "/dev/stdin", SIZE_MAX / 2, &packed);
    if (result)
        return 2;
    int (*unpack)(const unsigned char *, size_t, size_t, struct text *) =
        strcmp(arguments[1], "xz") ? unpack_zlib : unpack_xz;
    result = unpack((const unsigned char *)packed.data, packed.length, (size_t)most, &unpacked);
    if (result)
        fprintf(stderr, "unpack: %s\n", strerror(-result));
    else
        fwrite(unpacked.data, 1, unpacked.length, stdout);
    text_free(&packed);
    text_free(&unpacked);
    return result || fflush(stdout) ? 1 : 0;
}
