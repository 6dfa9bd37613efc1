/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * names: reads addresses, one hexadecimal number a line, and prints which of this kernel's functions is there:
 *
 *     ffffffff81000010 ffffffff81000000 startup_64
 *     ffffffffc0201004 ffffffffc0201000 dummy_init [dummy]
 *     ffffffffff000000 -
 *
 * each address with its function's start and name; sorted, each once.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/kallsyms.h"
#include "tests/tools/read_addresses.h"

int main(void)
{
    uint64_t *addresses = NULL;
    const size_t count = read_addresses(&addresses);
    const struct kallsyms_search search = {.addresses = addresses, .count = count};
    struct kallsyms_found *found = calloc(count + 1, sizeof(*found));
    int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
    int result = !found ? -ENOMEM : fd < 0 ? -errno : kallsyms_find(fd, &search, found);

    if (result) {
        fprintf(stderr, "names: %s\n", strerror(-result));
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        printf("%016llx ", (unsigned long long)addresses[i]);
        if (!found[i].found)
            printf("-\n");
        else
            printf(found[i].module.length ? "%016llx %s [%s]\n" : "%016llx %s\n",
                   (unsigned long long)found[i].start, found[i].name.data, found[i].module.data);
    }
    kallsyms_free(found, count);
    free(found);
    free(addresses);
    close(fd);
    return 0;
}
