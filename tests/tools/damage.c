/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * damage FILE SECTION: reads addresses as addresses does, and asks for their names in copies of FILE,
 * each of which has one byte of that section changed, in three ways. It prints how many copies give
 * the same names as the undamaged file, how many only the names without packed symbols, and how many
 * anything else, which is shown on stderr:
 *
 *     as whole 2
 *     as without 1734
 *     else 0
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text.h"
#include "elf/debug_files.h"
#include "elf/elf_symbols.h"
#include "tests/tools/read_addresses.h"

static uint64_t *addresses;
static size_t address_count;

/* The names of all addresses, a line each; if `packed` is false, as without packed symbols. */
static void answer(int fd, bool packed, struct text *names)
{
    struct elf_found *found = calloc(address_count + 1, sizeof(*found));
    struct elf_unpacked unpacked = {0};
    struct elf elf;

    text_clear(names);
    int result = elf_open(&elf, fd);
    if (!result) {
        elf.unpacked = packed ? &unpacked : NULL;
        result = debug_files_find(&elf, NULL, addresses, address_count, found);
    }
    if (result)
        text_add(names, strerror(-result));
    for (size_t i = 0; i < address_count && !result; i++)
        text_format(names, "%llx %s\n", (unsigned long long)found[i].start,
                    found[i].found ? found[i].name.data : "-");
    elf_found_free(found, address_count);
    free(found);
    elf_close(&elf);
    elf_unpacked_free(&unpacked);
}

struct counts {
    unsigned whole, without, others;
};

static void judge(int fd, const struct text *whole, const struct text *without,
                  struct counts *counts)
{
    static struct text names;

    answer(fd, true, &names);
    if (!strcmp(names.data, without->data)) {
        counts->without++;
    } else if (!strcmp(names.data, whole->data)) {
        counts->whole++;
    } else {
        counts->others++;
        fprintf(stderr, "%s\n", names.data);
    }
}

/* A copy, since the original must not change. */
static int copy_file(const char *path, off_t *size)
{
    static char piece[65536];
    int from = open(path, O_RDONLY | O_CLOEXEC), to = memfd_create("copy", MFD_CLOEXEC);
    ssize_t got = from < 0 || to < 0 ? -1 : 1;

    for (*size = 0; got > 0; *size += got)
        if ((got = read(from, piece, sizeof(piece))) > 0 && write(to, piece, (size_t)got) != got)
            got = -1;
    if (got < 0) {
        perror(path);
        exit(1);
    }
    close(from);
    return to;
}

int main(int argc, char **argv)
{
    static const unsigned char changes[] = {0x01, 0x80, 0xff};
    struct text whole = {0}, without = {0};
    struct counts counts = {0};
    struct elf elf;
    off_t size;

    address_count = read_addresses(&addresses);
    int fd = argc == 3 ? copy_file(argv[1], &size) : -1;
    if (fd < 0 || elf_open(&elf, fd))
        return 2;
    const struct elf_section *section = elf_section(&elf, argv[2]);
    if (!section)
        return 2;
    const off_t start = (off_t)section->offset, end = start + (off_t)section->size;
    elf_close(&elf);
    answer(fd, true, &whole);
    answer(fd, false, &without);
    for (off_t at = start; at < end; at++) {
        unsigned char byte, changed;
        if (pread(fd, &byte, 1, at) != 1)
            return 2;
        for (size_t i = 0; i < sizeof(changes); i++) {
            changed = byte ^ changes[i];
            if (pwrite(fd, &changed, 1, at) != 1)
                return 2;
            judge(fd, &whole, &without, &counts);
        }
        if (pwrite(fd, &byte, 1, at) != 1)
            return 2;
    }
    printf("as whole %u\nas without %u\nelse %u\n", counts.whole, counts.without, counts.others);
    /* Fails if the names do not depend on the packed symbols: then the run proves nothing. */
    const int status = !strcmp(whole.data, without.data);
    text_free(&whole);
    text_free(&without);
    free(addresses);
    return status;
}
