/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* perf-PID.map: the reader finds what a linear search through the entries finds. */
#include "processes/jitmap.h"

#include <string.h>

#include "fuzz.h"

#define MOST_ENTRIES 256

struct plain_entry {
    uint64_t start, size;
    bool named;
};

static bool plain_hex(const char **at, uint64_t *number)
{
    char digits[17] = "";

    if (!strncmp(*at, "0x", 2) || !strncmp(*at, "0X", 2))
        *at += 2;
    size_t length = strspn(*at, "0123456789abcdefABCDEF");
    for (; length > 16 && **at == '0'; length--)
        ++*at;
    if (!length || length > 16)
        return false;
    memcpy(digits, *at, length);
    *at += length;
    *number = strtoull(digits, NULL, 16);
    return true;
}

static const char *plain_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

static bool plain_line(const char *line, struct plain_entry *entry)
{
    const char *at = plain_blanks(line);

    if (!plain_hex(&at, &entry->start) || (*at != ' ' && *at != '\t'))
        return false;
    at = plain_blanks(at);
    if (!plain_hex(&at, &entry->size) || !strchr(" \t\r", *at))
        return false;
    at = plain_blanks(at);
    entry->named = *at && strcmp(at, "\r");
    return true;
}

/* Parses text without NULs and long lines, for which the linear search is right. */
static size_t plain_entries(char *text, struct plain_entry *entries)
{
    size_t count = 0;

    for (char *newline; (newline = strchr(text, '\n')) && count < MOST_ENTRIES;
         text = newline + 1) {
        *newline = '\0';
        count += plain_line(text, &entries[count]);
    }
    return count;
}

static const struct plain_entry *plain_find(const struct plain_entry *entries, size_t count,
                                            uint64_t address)
{
    while (count--)
        if (address >= entries[count].start &&
            address - entries[count].start < entries[count].size)
            return entries[count].named ? &entries[count] : NULL;
    return NULL;
}

static bool has_long_line(const uint8_t *data, size_t size)
{
    size_t length = 0;

    for (size_t i = 0; i < size; i++)
        if ((length = data[i] == '\n' ? 0 : length + 1) > 100)
            return true;
    return false;
}

/* Chooses the ends of all entries, where off-by-one errors show, and addresses everywhere else. */
static size_t choose_addresses(const struct plain_entry *entries, size_t count,
                               uint64_t *addresses)
{
    size_t chosen = 0;
    uint64_t state = 1;

    for (size_t i = 0; i < count; i++) {
        addresses[chosen++] = entries[i].start;
        addresses[chosen++] = entries[i].start - 1;
        addresses[chosen++] = entries[i].start + entries[i].size;
        addresses[chosen++] = entries[i].start + entries[i].size - 1;
    }
    while (chosen < 4 * count + 8) {
        addresses[chosen] = fuzz_random(&state) >> (8 * chosen % 64);
        chosen++;
    }
    return fuzz_sort(addresses, chosen);
}

/* A read buffer, and the names found; of a hole the reader takes 64 MB. */
const struct fuzz_line fuzz_lines[FUZZ_COSTS] = {
    [FUZZ_BYTES] = {256 << 10, 64, 0},
    [FUZZ_READS] = {64, 1, 1024},
    [FUZZ_TIME] = {20000, 10, 500000},
};

void fuzz_input(const uint8_t *data, size_t size)
{
    static struct plain_entry entries[MOST_ENTRIES];
    static uint64_t addresses[4 * MOST_ENTRIES + 8];
    char *text = malloc(size + 1);

    ALWAYS(text);
    memcpy(text, data, size);
    text[size] = '\0';
    size_t entry_count = plain_entries(text, entries);
    uint64_t whole;
    bool is_known = !fuzz_hole(data, size) && entry_count < MOST_ENTRIES && !memchr(data, '\0', size) &&
                    !has_long_line(data, size);
    free(text);
    size_t count = choose_addresses(entries, entry_count, addresses);
    struct elf_found *found = calloc(count, sizeof(*found));
    ALWAYS(found && !jitmap_find(fuzz_sparse_file(data, size, &whole), addresses, count, found));
    for (size_t i = 0; i < count; i++) {
        if (is_known) {
            const struct plain_entry *entry = plain_find(entries, entry_count, addresses[i]);
            ALWAYS(found[i].found == (entry != NULL));
            ALWAYS(!entry || found[i].start == entry->start);
        }
        if (!found[i].found)
            continue;
        ALWAYS(addresses[i] >= found[i].start);
        ALWAYS(found[i].name.length > 0 && found[i].name.length <= 1024);
        ALWAYS(!memchr(found[i].name.data, '\n', found[i].name.length));
    }
    elf_found_free(found, count);
    free(found);
}
