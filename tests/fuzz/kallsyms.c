/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* /proc/kallsyms: an address gets a symbol in the file, at or below it. */
#include "kernel/kallsyms.h"

#include <string.h>

#include "fuzz.h"

#define MOST_ADDRESSES 256

struct asked {
    uint64_t addresses[MOST_ADDRESSES];
    size_t count;
};

static int ask_about(void *context, const struct kallsyms_symbol *symbol)
{
    struct asked *asked = context;

    ALWAYS(*symbol->name);
    if (asked->count + 4 > MOST_ADDRESSES)
        return 1;
    asked->addresses[asked->count++] = symbol->address;
    asked->addresses[asked->count++] = symbol->address - 1;
    asked->addresses[asked->count++] = symbol->address + 1;
    return 0;
}

/* A read buffer, and the names found. */
const struct fuzz_line fuzz_lines[FUZZ_COSTS] = {
    [FUZZ_BYTES] = {256 << 10, 16, 0},
    [FUZZ_READS] = {16, 0, 0},
    [FUZZ_TIME] = {10000, 10, 0},
};

void fuzz_input(const uint8_t *data, size_t size)
{
    static const struct kallsyms_name preferred[] = {{"_text", 0}, {"startup_64", 0}};
    static struct kallsyms_found none, found[MOST_ADDRESSES];
    struct asked asked = {.addresses = {0x1000}, .count = 1};
    int fd = fuzz_file(data, size);

    ALWAYS(!kallsyms_each(fd, ask_about, &asked));
    asked.count = fuzz_sort(asked.addresses, asked.count);
    const struct kallsyms_search search = {asked.addresses, asked.count, preferred, 2};
    int result = kallsyms_find(fd, &search, found);
    for (size_t i = 0; i < asked.count; i++) {
        if (result || !found[i].found)
            continue;
        ALWAYS(found[i].start && found[i].start <= asked.addresses[i]);
        ALWAYS(found[i].name.length && strchr("tTwW", found[i].type));
        ALWAYS(memmem(data, size, found[i].name.data, found[i].name.length));
    }
    kallsyms_free(found, asked.count);
    for (size_t i = 0; i < asked.count; i++)
        found[i] = none;
}
