/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * btf STRUCT MEMBER: its offset and size in the kernel's types, in bytes. btf TYPEDEF: how many
 * parameters its functions have.
 */
#include <stdio.h>
#include <string.h>

#include "tests/unit/btf_member.h"

int main(int count, char **arguments)
{
    struct btf_member member;
    uint32_t parameters;
    struct btf btf;
    int result = count < 2 ? -1 : btf_open_kernel(&btf);

    if (result) {
        fprintf(stderr, "btf: %s\n", strerror(-result));
        return 1;
    }
    if (count > 2)
        result = btf_find_member(&btf, arguments[1], arguments[2], &member);
    else
        result = btf_count_parameters(&btf, arguments[1], &parameters);
    if (result)
        printf("%s\n", strerror(-result));
    else if (count > 2)
        printf("%u %u\n", member.offset, member.size);
    else
        printf("%u\n", parameters);
    btf_free(&btf);
    return result ? 1 : 0;
}
