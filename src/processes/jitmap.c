/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "processes/jitmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/reading.h"
#include "base/text.h"

#define BUFFER_BYTES 65536
#define MOST_BYTES (UINT64_C(1) << 30)

/* The numbers of an entry and the blanks around them; a longer line is not an entry. */
#define LONGEST_NUMBERS 128
#define LONGEST_NAME 1024

struct entry {
    uint64_t start, size;
    const char *name; /* up to the end of what was parsed */
};

/*
 * Which entry is the newest for an address is kept in a tree over the addresses: the leaf of
 * addresses[i] is newest[count + i], the parent of each node n is n / 2. An entry that covers a
 * range of addresses is noted at the few nodes that make up the range, and an address has the
 * greatest number between its leaf and the root. So an entry costs the logarithm of the count, even
 * if each of millions covers every address. Entries are numbered by their position in the file.
 */
struct pass {
    int fd;
    const uint64_t *addresses;
    size_t count;
    uint64_t *newest; /* the offset of its line plus one; 0: none */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && is_blank(*at))
        at++;
    return at;
}

/* Hexadecimal digits, with or without 0x; NULL if there are none or more than 64 bits. */
static const char *parse_hex(const char *at, const char *end, uint64_t *number)
{
    uint64_t value = 0;

    if (end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x')
        at += 2;
    const char *first = at;
    for (; at < end; at++) {
        /*
         * Without branches: digits and letters are mixed, so they would be mispredicted each time.
         */
        unsigned c = (unsigned char)*at;
        if (!((c - '0' < 10) | ((c | 0x20) - 'a' < 6)))
            break;
        if (value >> 60)
            return NULL;
        value = value << 4 | ((c & 15) + (c >> 6) * 9);
    }
    *number = value;
    return at == first ? NULL : at;
}

/* START SIZE NAME; the name may be empty, and then the blank before it may be missing. */
static bool parse_entry(const char *line, size_t length, struct entry *entry)
{
    size_t room = length < LONGEST_NUMBERS ? length : LONGEST_NUMBERS;
    const char *end = line + room, *at = parse_hex(skip_blanks(line, end), end, &entry->start);

    if (!at || at == end || !is_blank(*at))
        return false;
    at = parse_hex(skip_blanks(at, end), end, &entry->size);
    if (!at || (at < end && !is_blank(*at) && *at != '\r'))
        return false;
    entry->name = skip_blanks(at, end);
    return room == length || entry->name < end;
}

/* The first address not below `start`; without branches, which would be mispredicted here, too. */
static size_t first_address(const struct pass *pass, uint64_t start)
{
    const uint64_t *low = pass->addresses;
    size_t left = pass->count;

    while (left > 1) {
        size_t half = left / 2;
        low += -(size_t)(low[half - 1] < start) & half;
        left -= half;
    }
    return (size_t)(low - pass->addresses) + (*low < start);
}

static void note_entry(const struct pass *pass, const struct entry *entry, uint64_t offset)
{
    size_t left = first_address(pass, entry->start), right = pass->count;
    uint64_t end;

    if (left == pass->count || pass->addresses[left] - entry->start >= entry->size)
        return;
    /* An entry that would overflow ends at the last address. */
    if (!__builtin_add_overflow(entry->start, entry->size, &end))
        right = first_address(pass, end);
    for (left += pass->count, right += pass->count; left < right; left /= 2, right /= 2) {
        if (left & 1)
            pass->newest[left++] = offset + 1;
        if (right & 1)
            pass->newest[--right] = offset + 1;
    }
}

/* pread of up to `size` bytes; fewer only at the end of the file. */
static ssize_t read_at(int fd, void *to, size_t size, uint64_t offset)
{
    size_t done = 0;

    while (done < size) {
        ssize_t got = pread(fd, (char *)to + done, size - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (!got)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

/*
 * Notes the entries of all whole lines between two offsets. If a line is longer than the buffer,
 * its beginning is enough, once its newline has come.
 */
static int read_lines(const struct pass *pass, char *buffer, uint64_t from, uint64_t to)
{
    bool in_line = from > 0, is_entry = false;
    uint64_t begin = from; /* of the line in which the buffer begins, or which begins it */
    size_t held = 0;
    struct entry entry;

    while (from < to) {
        size_t room = BUFFER_BYTES - held, want = to - from < room ? (size_t)(to - from) : room;
        ssize_t got = read_at(pass->fd, buffer + held, want, from);
        if (got <= 0)
            return (int)got;
        from += (size_t)got;
        char *at = buffer, *end = buffer + held + got, *newline;
        for (; (newline = memchr(at + held, '\n', (size_t)(end - at) - held)); at = newline + 1) {
            if (!in_line)
                is_entry = parse_entry(at, (size_t)(newline - at), &entry);
            if (is_entry)
                note_entry(pass, &entry, begin);
            begin = from - (uint64_t)(end - newline - 1);
            in_line = false;
            held = 0;
        }
        held = (size_t)(end - at);
        if (in_line) {
            held = 0;
        } else if (held == BUFFER_BYTES) {
            is_entry = parse_entry(at, held, &entry);
            in_line = true;
            held = 0;
        }
        memmove(buffer, at, held);
    }
    return 0;
}

/* Reads the line of a newest entry again: so no name had to be kept before it had won. */
static int take_entry(const struct pass *pass, uint64_t offset, uint64_t address,
                      struct jitmap_found *found)
{
    char line[LONGEST_NUMBERS + LONGEST_NAME];
    struct entry entry;
    ssize_t got = read_at(pass->fd, line, sizeof(line), offset);

    if (got < 0)
        return (int)got;
    char *end = memchr(line, '\n', (size_t)got);
    /* Meanwhile the file may have been replaced. */
    if (!end && (size_t)got < sizeof(line))
        return 0;
    if (!end)
        end = line + got;
    else if (end > line && end[-1] == '\r')
        end--;
    if (!parse_entry(line, (size_t)(end - line), &entry) || address < entry.start ||
        address - entry.start >= entry.size || entry.name == end)
        return 0;
    size_t length = (size_t)(end - entry.name);
    text_append(&found->name, entry.name, length < LONGEST_NAME ? length : LONGEST_NAME);
    found->start = entry.start;
    found->found = !found->name.failed;
    return found->found ? 0 : -ENOMEM;
}

static int take_entries(const struct pass *pass, struct jitmap_found *found)
{
    uint64_t before = 0;
    int result = 0;

    for (size_t i = 0; i < pass->count && !result; i++) {
        uint64_t newest = 0;
        for (size_t node = pass->count + i; node; node /= 2)
            if (pass->newest[node] > newest)
                newest = pass->newest[node];
        if (newest && newest == before && found[i - 1].found) {
            found[i].start = found[i - 1].start;
            text_append(&found[i].name, found[i - 1].name.data, found[i - 1].name.length);
            found[i].found = !found[i].name.failed;
            result = found[i].found ? 0 : -ENOMEM;
        } else if (newest) {
            result = take_entry(pass, newest - 1, pass->addresses[i], &found[i]);
        }
        before = newest;
    }
    return result;
}

int jitmap_find(int fd, const uint64_t *addresses, size_t count, struct jitmap_found *found)
{
    struct pass pass = {.fd = fd, .addresses = addresses, .count = count};
    struct stat status;

    if (!count)
        return 0;
    if (fstat(fd, &status))
        return -errno;
    if (!S_ISREG(status.st_mode))
        return -EINVAL;
    const uint64_t size = (uint64_t)status.st_size, budget = reading_budget(&status);
    const uint64_t most = budget < MOST_BYTES ? budget : MOST_BYTES;
    pass.newest = calloc(count, 2 * sizeof(*pass.newest));
    char *buffer = malloc(BUFFER_BYTES);
    int result = pass.newest && buffer ? 0 : -ENOMEM;
    if (!result)
        result = read_lines(&pass, buffer, size > most ? size - most : 0, size);
    free(buffer);
    if (!result)
        result = take_entries(&pass, found);
    free(pass.newest);
    return result;
}

void jitmap_free(struct jitmap_found *found, size_t count)
{
    for (size_t i = 0; i < count; i++)
        text_free(&found[i].name);
}
