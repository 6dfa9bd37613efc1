/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "processes/jitmap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/opening.h"
#include "base/reading.h"
#include "base/util.h"
#include "processes/process_parts.h"

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
struct search {
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
static size_t first_address(const struct search *search, uint64_t start)
{
    const uint64_t *low = search->addresses;
    size_t left = search->count;

    while (left > 1) {
        size_t half = left / 2;
        low += -(size_t)(low[half - 1] < start) & half;
        left -= half;
    }
    return (size_t)(low - search->addresses) + (*low < start);
}

static void note_entry(const struct search *search, const struct entry *entry, uint64_t offset)
{
    size_t left = first_address(search, entry->start), right = search->count;
    uint64_t end;

    if (left == search->count || search->addresses[left] - entry->start >= entry->size)
        return;
    /* An entry that would overflow ends at the last address. */
    if (!__builtin_add_overflow(entry->start, entry->size, &end))
        right = first_address(search, end);
    for (left += search->count, right += search->count; left < right; left /= 2, right /= 2) {
        if (left & 1)
            search->newest[left++] = offset + 1;
        if (right & 1)
            search->newest[--right] = offset + 1;
    }
}

/* pread of up to `size` bytes; fewer only at the end of the file. */
static ssize_t read_at(int fd, void *to, size_t size, uint64_t offset)
{
    size_t done = 0;

    while (done < size) {
        const ssize_t got = UNINTERRUPTED(
            pread(fd, (char *)to + done, size - done, (off_t)(offset + done)));
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
static int read_lines(const struct search *search, char *buffer, uint64_t from, uint64_t to)
{
    bool in_line = from > 0, is_entry = false;
    uint64_t begin = from; /* of the line in which the buffer begins, or which begins it */
    size_t held = 0;
    struct entry entry;

    while (from < to) {
        size_t room = BUFFER_BYTES - held, want = to - from < room ? (size_t)(to - from) : room;
        ssize_t got = read_at(search->fd, buffer + held, want, from);
        if (got <= 0)
            return (int)got;
        from += (size_t)got;
        char *at = buffer, *end = buffer + held + got, *newline;
        for (; (newline = memchr(at + held, '\n', (size_t)(end - at) - held)); at = newline + 1) {
            if (!in_line)
                is_entry = parse_entry(at, (size_t)(newline - at), &entry);
            if (is_entry)
                note_entry(search, &entry, begin);
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

/* Reads the line of a newest entry again, so that names of replaced entries are never kept. */
static int take_entry(const struct search *search, uint64_t offset, uint64_t address,
                      struct elf_found *found)
{
    char line[LONGEST_NUMBERS + LONGEST_NAME];
    struct entry entry;
    ssize_t got = read_at(search->fd, line, sizeof(line), offset);

    if (got < 0)
        return (int)got;
    char *end = memchr(line, '\n', (size_t)got);
    /* The file may have been replaced meanwhile. */
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

static int take_entries(const struct search *search, struct elf_found *found)
{
    uint64_t before = 0;
    int result = 0;

    for (size_t i = 0; i < search->count && !result; i++) {
        uint64_t newest = 0;
        for (size_t node = search->count + i; node; node /= 2)
            if (search->newest[node] > newest)
                newest = search->newest[node];
        if (newest && newest == before && found[i - 1].found) {
            found[i].start = found[i - 1].start;
            text_append(&found[i].name, found[i - 1].name.data, found[i - 1].name.length);
            found[i].found = !found[i].name.failed;
            result = found[i].found ? 0 : -ENOMEM;
        } else if (newest) {
            result = take_entry(search, newest - 1, search->addresses[i], &found[i]);
        }
        before = newest;
    }
    return result;
}

int jitmap_find(int fd, const uint64_t *addresses, size_t count, struct elf_found *found)
{
    struct search search = {.fd = fd, .addresses = addresses, .count = count};
    struct stat status;

    if (!count)
        return 0;
    if (fstat(fd, &status))
        return -errno;
    if (!S_ISREG(status.st_mode))
        return -EINVAL;
    const uint64_t size = (uint64_t)status.st_size, budget = reading_budget(fd, &status);
    const uint64_t most = budget < MOST_BYTES ? budget : MOST_BYTES;
    search.newest = calloc(count, 2 * sizeof(*search.newest));
    char *buffer = malloc(BUFFER_BYTES);
    int result = search.newest && buffer ? 0 : -ENOMEM;
    if (!result)
        result = read_lines(&search, buffer, size > most ? size - most : 0, size);
    free(buffer);
    if (!result)
        result = take_entries(&search, found);
    free(search.newest);
    return result;
}

/* ---- Opening it, for a process that may be gone and may see another /tmp ---- */

#define STATUS_LIMIT 65536

/*
 * The clock of files only advances at ticks of one CPU; on a virtual machine, which is paused at
 * times, by more than a tick. The clock of process starts does not pause.
 */
#define LATE_NS 1000000000

/* Two of the numbers in a line such as "Uid:\t0\t0\t0\t0", if there are as many, and the last. */
static bool read_line(const char *status, const char *name, uint32_t *first, uint32_t *second,
                      uint32_t *last)
{
    const char *at = strstr(status, name);
    char *end;

    for (unsigned i = 0; at; i++, at = end) {
        if (!i)
            at += strlen(name);
        if (*at != '\t')
            return i > 0;
        *last = (uint32_t)strtoul(at + 1, &end, 10);
        if (i == 0)
            *first = *last;
        if (i == 1)
            *second = *last;
    }
    return false;
}

/* When a process began, in ns of the clock of files. 0: unknown. */
static uint64_t read_start(uint32_t pid)
{
    struct text stat = {0};
    const char *ticks = line_word(read_stat_words(pid, &stat), STAT_START);
    uint64_t start = 0;

    if (ticks)
        start = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME) +
                strtoull(ticks, NULL, 10) * tick_ns();
    text_free(&stat);
    return start;
}

static bool read_owner(struct processes *processes, uint32_t pid, struct owner *owner)
{
    struct text status = {0};
    uint32_t unused;
    char path[32];

    *owner = (struct owner){.namespace_pid = pid};
    snprintf(path, sizeof(path), "/proc/%u/status", pid);
    bool known = !read_file(AT_FDCWD, path, STATUS_LIMIT, &status) && status.data &&
                 read_line(status.data, "\nUid:", &owner->users[0], &owner->users[1], &unused);
    if (known) {
        (void)read_line(status.data, "\nNSpid:", &unused, &unused, &owner->namespace_pid); /* 4.1 */
        owner->root = mapped_files_root(processes->files, pid);
        owner->start = read_start(pid);
    }
    text_free(&status);
    return known;
}

bool look_at_owner(struct processes *processes, struct life *life)
{
    struct owner seen;

    if (life->owner && life->owner->since >= life->programs->since)
        return false;
    if (!read_owner(processes, life->pid, &seen))
        return true;
    seen.since = now_ns();
    if (!life->owner)
        life->owner = calloc(1, sizeof(*life->owner));
    else
        mapped_root_drop(processes->files, life->owner->root);
    if (life->owner)
        *life->owner = seen;
    else
        mapped_root_drop(processes->files, seen.root);
    if (!life->owner)
        processes->result = -ENOMEM;
    return true;
}

/*
 * What is certain about a process that ended before we looked at it: only root's maps are safe.
 */
static struct owner unseen_owner(uint32_t pid, const struct life *life)
{
    struct timespec real;

    clock_gettime(CLOCK_REALTIME, &real);
    return (struct owner){
        .namespace_pid = pid,
        .start = mapped_file_time(&real) - now_ns() + life->forked,
    };
}

/* Tries one place for the map. A map written before the process began is another process's. */
static int try_place(const char *root, uint32_t number, const struct owner *owner,
                     struct jitmap_refusal *refusal)
{
    char path[sizeof(refusal->path) + 32];
    const char *reason = "it is not a regular file";
    struct stat about;

    if (!root)
        return -ENOENT;
    snprintf(path, sizeof(path), "%s/tmp/perf-%u.map", root, number);
    int fd = open_regular(path, O_NOFOLLOW, &about);
    if (fd >= 0) {
        bool is_old = mapped_file_time(&about.st_mtim) + LATE_NS < owner->start;
        bool is_anybodys = about.st_mode & S_IWOTH;
        if (!is_old && !is_anybodys && (!about.st_uid || about.st_uid == owner->users[0] ||
                        about.st_uid == owner->users[1]))
            return fd;
        close(fd);
        fd = is_old ? -ENOENT : -EACCES;
        reason = is_anybodys    ? "it is writable by everybody"
                 : owner->since ? "its owner is not the process's user"
                                : "it is not root's, and whose the process was could not be seen";
    }
    if (fd != -EACCES && fd != -ENODEV)
        return fd;
    snprintf(refusal->path, sizeof(refusal->path), "/tmp/perf-%u.map", number);
    refusal->reason = reason;
    return -EACCES;
}

/* ---- How to have one ---- */

static const struct runtime {
    const char *file, *advice;
} runtimes[] = {
    {"libjvm", "java -XX:+DumpPerfMapAtExit -XX:+PreserveFramePointer"},
    {"node", "node --perf-basic-prof"},
    {"libnode", "node --perf-basic-prof"},
    {"libcoreclr", "DOTNET_PerfMapEnabled=1"},
    {"luajit", "LuaJIT built with -DLUAJIT_USE_PERFTOOLS"},
    {"libluajit", "LuaJIT built with -DLUAJIT_USE_PERFTOOLS"},
    {"php", "php -d opcache.jit_debug=0x10"},
    {"beam", "erl +JPperf true"},
    {"ruby", "ruby --yjit-perf"},
    {"libruby", "ruby --yjit-perf"},
};

/* Advice by what the process has mapped, such as "libjvm.so" or "php8.2". */
static const char *advice_for(const struct image *image)
{
    for (size_t i = 0; i < image->count; i++)
        for (size_t at = 0; at < COUNT_OF(runtimes); at++) {
            const char *rest = starts_with(image->mappings[i].file->label, runtimes[at].file);
            if (rest && strcspn(rest, "-.0123456789") == 0)
                return runtimes[at].advice;
        }
    return NULL;
}

static int open_jitmap(struct processes *processes, uint32_t pid, uint64_t generation,
                       struct jitmap_refusal *refusal)
{
    struct life *life = NULL;
    struct owner now = {.root = NULL};
    const struct owner *owner = NULL;
    const struct program *program =
        history_find(&processes->history, pid, generation, processes->begin, &life);
    bool is_alive = !program || !life->ended;

    refusal->advice = program ? advice_for(program->image) : NULL;
    if (history_is_in_doubt(&processes->history, pid, generation, processes->begin))
        return -ENOENT;
    if (life)
        owner = life->owner;
    if (!owner && is_alive && read_owner(processes, pid, &now)) {
        now.since = now_ns();
        owner = &now;
    }
    if (!owner && program && life->forked && image_has_anonymous(program->image)) {
        now = unseen_owner(pid, life);
        owner = &now;
    }
    if (!owner)
        return -ENOENT;
    const char *root = mapped_root_path(owner->root);
    int result = try_place(root, owner->namespace_pid, owner, refusal);
    /* In our own /tmp the map is named by the pid that the process has in our namespace. */
    if (result < 0 && !(root && !*root && owner->namespace_pid == pid)) {
        int other = try_place("", pid, owner, refusal);
        if (other >= 0 || result != -EACCES)
            result = other;
    }
    mapped_root_drop(processes->files, now.root);
    return result == -EACCES || result >= 0 ? result : -ENOENT;
}

int processes_open_jitmap(struct processes *processes, uint32_t pid, uint64_t generation,
                          struct jitmap_refusal *refusal)
{
    processes_hold(processes);
    int result = open_jitmap(processes, pid, generation, refusal);
    processes_release(processes);
    return result;
}
