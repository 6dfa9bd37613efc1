/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * addresses FILE: reads addresses in the file, one hexadecimal number per line, and prints which
 * function is there:
 *
 *     1139 1129 main
 *     1030 1030 malloc@plt
 *     5000 -
 *
 * each with its function's start and name; sorted, each once.
 * addresses --all FILE: all its functions: address, size, type and binding as numbers, and name.
 * addresses --root DIR PATH, --symfs DIR PATH: looks for separate debug files below DIR, too; with
 * --root, PATH itself is below DIR.
 *
 * If packed symbols cannot be read, a message on stderr says so.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "elf/debug_files.h"
#include "elf/elf_symbols.h"
#include "tests/tools/read_addresses.h"

static int print_symbol(void *context, const struct elf_symbol *symbol)
{
    (void)context;
    printf("%llx %llx %u %u %s\n", (unsigned long long)symbol->address,
           (unsigned long long)symbol->size, symbol->type, symbol->binding, symbol->name);
    return 0;
}

static int print_found(const struct elf *elf, const struct debug_search *where)
{
    uint64_t *addresses = NULL;
    const size_t count = read_addresses(&addresses);
    struct elf_found *found = calloc(count + 1, sizeof(*found));
    int result = found ? debug_files_find(elf, where, addresses, count, found) : -ENOMEM;

    for (size_t i = 0; i < count && !result; i++) {
        printf("%llx ", (unsigned long long)addresses[i]);
        if (found[i].found)
            printf("%llx %s\n", (unsigned long long)found[i].start, found[i].name.data);
        else
            printf("-\n");
    }
    if (found)
        elf_found_free(found, count);
    free(found);
    free(addresses);
    return result;
}

int main(int argc, char **argv)
{
    struct elf elf;
    struct elf_unpacked unpacked = {0};
    struct text refused = {0};
    struct debug_search where = {.refused = &refused};
    struct text path = {0};
    const char *how = argc > 2 ? argv[1] : "";

    if (argc == 4 && !strcmp(how, "--root")) {
        where.root = argv[2];
        text_add(&path, argv[2]);
    } else if (argc == 4 && !strcmp(how, "--symfs")) {
        where.symfs = argv[2];
    }
    where.path = argv[argc - 1];
    text_add(&path, where.path);
    int fd = argc < 2 || path.failed ? -1 : open(path.data, O_RDONLY | O_CLOEXEC);
    int result = fd < 0 ? -errno : elf_open(&elf, fd);
    if (!result) {
        elf.unpacked = &unpacked;
        if (!strcmp(how, "--all"))
            result = elf_each_function(&elf, print_symbol, NULL);
        else
            result = print_found(&elf, argc == 4 ? &where : NULL);
        elf_close(&elf);
    }
    if (unpacked.refusal)
        fprintf(stderr, "%s\n", unpacked.refusal);
    if (refused.length)
        fprintf(stderr, "%s\n", refused.data);
    elf_unpacked_free(&unpacked);
    text_free(&refused);
    text_free(&path);
    if (result) {
        fprintf(stderr, "addresses: %s\n", strerror(-result));
        return 1;
    }
    close(fd);
    return 0;
}
