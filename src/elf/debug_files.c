/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "elf/debug_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apart/apart.h"
#include "base/crc32.h"
#include "base/text.h"
#include "base/util.h"
#include "elf/elf_tables.h"
#include "elf/elf_unpacked.h"

#define LONGEST_LINK 255
/* A debug file without a build id must be read whole for its checksum. */
#define MOST_CHECKED_BYTES ((uint64_t)1 << 30)
/* And so may others, which have its name and are not it. */
#define MOST_CHECKED_IN_ALL (2 * MOST_CHECKED_BYTES)
#define PIECE_BYTES 65536

/* ---- What the file says about its debug file ---- */

struct traits {
    unsigned char id[ELF_LONGEST_BUILD_ID];
    size_t id_length;               /* 0: none */
    char link[LONGEST_LINK + 1];    /* "": none */
    uint32_t checksum;
    uint64_t checkable; /* how many bytes may be read for it, in all candidates together */
};

/* .gnu_debuglink: a file's name, zeros up to a multiple of four bytes, and its CRC. */
static void read_link(const struct elf *elf, struct traits *traits)
{
    const struct elf_section *section = elf_section(elf, ".gnu_debuglink");
    unsigned char bytes[LONGEST_LINK + 9] = {0};
    size_t size = sizeof(bytes) - 1;

    if (!section || section->type == SHT_NOBITS)
        return;
    if (section->size < size)
        size = (size_t)section->size;
    if (elf_read(elf, section->offset, bytes, size))
        return;
    const size_t length = strlen((char *)bytes), at = (length + 4) & ~(size_t)3;
    /* A name, not a path: it must not lead elsewhere. */
    if (!length || length > LONGEST_LINK || at + 4 > size || memchr(bytes, '/', length))
        return;
    memcpy(traits->link, bytes, length + 1);
    traits->checksum = elf_get32(elf, bytes + at);
}

static void read_traits(const struct elf *elf, struct traits *traits)
{
    *traits = (struct traits){.checkable = MOST_CHECKED_IN_ALL};
    if (elf_build_id(elf, traits->id, &traits->id_length))
        traits->id_length = 0;
    read_link(elf, traits);
}

/* ---- Is a file the right one? ---- */

static int checksum_of(const struct elf *elf, uint64_t size, uint32_t *checksum)
{
    struct crc32 crc;
    unsigned char *bytes = malloc(PIECE_BYTES);
    int result = bytes ? 0 : elf_note_trouble(elf, -ENOMEM);

    crc32_begin(&crc);
    for (uint64_t at = 0; at < size && !result;) {
        const size_t piece = size - at < PIECE_BYTES ? (size_t)(size - at) : PIECE_BYTES;
        result = elf_read(elf, at, bytes, piece);
        if (!result)
            crc32_add(&crc, bytes, piece);
        at += piece;
    }
    free(bytes);
    *checksum = crc32_value(&crc);
    return result;
}

/* If neither has a build id, only a file that the user asked for is accepted without a checksum. */
static bool same_layout(const struct elf *a, const struct elf *b)
{
    if (a->segment_count != b->segment_count)
        return false;
    for (size_t i = 0; i < a->segment_count; i++)
        if (a->segments[i].address != b->segments[i].address ||
            a->segments[i].memory_size != b->segments[i].memory_size)
            return false;
    return a->segment_count;
}

enum proof {
    BY_ID,       /* the same build id */
    BY_CHECKSUM, /* or else that of .gnu_debuglink */
    BY_LAYOUT,   /* or else the same segments */
};

static bool is_proven(const struct elf *elf, const struct elf *debug, uint64_t size,
                      struct traits *traits, enum proof proof)
{
    unsigned char id[ELF_LONGEST_BUILD_ID];
    size_t id_length;
    uint32_t checksum;

    if (traits->id_length && !elf_build_id(debug, id, &id_length))
        return id_length == traits->id_length && !memcmp(id, traits->id, id_length);
    if (proof == BY_LAYOUT)
        return same_layout(elf, debug);
    if (proof != BY_CHECKSUM || size > MOST_CHECKED_BYTES || size > traits->checkable)
        return false;
    traits->checkable -= size;
    return !checksum_of(debug, size, &checksum) && checksum == traits->checksum;
}

/* ---- Where it may be ---- */

struct hunt {
    const struct elf *elf;
    const struct debug_search *where;
    struct traits traits;
    struct debug_file *debug;
};

/* If its symbols are not for us, they need not be unpacked. */
static bool has_symbols(const struct hunt *hunt, const char *root, const struct text *path)
{
    struct debug_file *debug = hunt->debug;
    struct elf_symbol_table table;

    debug->elf.unpacked = &debug->unpacked;
    if (elf_full_symbols(&debug->elf, &table))
        return true;
    if (debug->unpacked.refusal && hunt->where->refused && !hunt->where->refused->length)
        text_format(hunt->where->refused, "%s%s: %s",
                    root && root == hunt->where->symfs ? root : "", path->data,
                    debug->unpacked.refusal);
    elf_unpacked_free(&debug->unpacked);
    return false;
}

/* Is the file at that place the right one? If so, it is open. */
static bool try_file(struct hunt *hunt, const char *root, const struct text *path,
                     enum proof proof)
{
    struct elf *debug = &hunt->debug->elf;
    struct stat status = {0};

    int fd = path->failed ? -ENOMEM : apart_open(root, path->data);
    if (fd < 0) {
        elf_note_trouble(hunt->elf, fd);
        return false;
    }
    if (fstat(fd, &status))
        elf_note_trouble(hunt->elf, -errno);
    else if (!elf_open_watched(debug, fd, 0, hunt->elf->trouble)) {
        if (debug->machine == hunt->elf->machine && debug->is_64 == hunt->elf->is_64 &&
            debug->swapped == hunt->elf->swapped && elf_section_of_type(debug, SHT_SYMTAB) &&
            is_proven(hunt->elf, debug, (uint64_t)status.st_size, &hunt->traits, proof) &&
            has_symbols(hunt, root, path))
            return true;
        elf_close(debug);
    }
    close(fd);
    return false;
}

static void add_id(const struct traits *traits, size_t first, struct text *path)
{
    for (size_t i = first; i < traits->id_length; i++)
        text_format(path, "%02x", traits->id[i]);
}

static bool try_by_id(struct hunt *hunt, const char *root, struct text *path)
{
    const struct traits *traits = &hunt->traits;

    if (traits->id_length < 2)
        return false;
    text_clear(path);
    text_format(path, "/usr/lib/debug/.build-id/%02x/", traits->id[0]);
    add_id(traits, 1, path);
    text_add(path, ".debug");
    return try_file(hunt, root, path, BY_ID);
}

static bool try_cache(struct hunt *hunt, struct text *path)
{
    if (!hunt->where->cache || !hunt->traits.id_length)
        return false;
    text_clear(path);
    text_format(path, "%s/", hunt->where->cache);
    add_id(&hunt->traits, 0, path);
    text_add(path, "/debuginfo");
    return try_file(hunt, NULL, path, BY_ID);
}

static bool try_by_link(struct hunt *hunt, const char *root, const char *file,
                        struct text *path)
{
    static const char *const places[][2] = {{"", "/"}, {"", "/.debug/"}, {"/usr/lib/debug", "/"}};

    if (!hunt->traits.link[0])
        return false;
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        text_clear(path);
        text_add(path, places[i][0]);
        text_append(path, file, (size_t)(strrchr(file, '/') - file));
        text_add(path, places[i][1]);
        text_add(path, hunt->traits.link);
        if (try_file(hunt, root, path, BY_CHECKSUM))
            return true;
    }
    return false;
}

static bool try_below(struct hunt *hunt, const char *root, const char *file, bool is_symfs,
                      struct text *path)
{
    if (try_by_id(hunt, root, path))
        return true;
    if (!file || file[0] != '/')
        return false;
    if (is_symfs) {
        /* The file itself, before it was stripped. */
        text_clear(path);
        text_add(path, file);
        if (try_file(hunt, root, path, BY_LAYOUT))
            return true;
    }
    return try_by_link(hunt, root, file, path);
}

/* ---- Its addresses ---- */

static const struct elf_segment *first_code(const struct elf *elf)
{
    for (size_t i = 0; i < elf->segment_count; i++)
        if (elf->segments[i].flags & PF_X)
            return &elf->segments[i];
    return NULL;
}

static uint64_t shift_between(const struct elf *elf, const struct elf *debug)
{
    const struct elf_section *ours = elf_section(elf, ".text"), *theirs;
    const struct elf_segment *our_code = first_code(elf), *their_code = first_code(debug);

    if (ours && (theirs = elf_section(debug, ".text")))
        return ours->address - theirs->address;
    return our_code && their_code ? our_code->address - their_code->address : 0;
}

int debug_files_open(const struct elf *elf, const struct debug_search *where,
                     struct debug_file *debug)
{
    struct hunt hunt = {.elf = elf, .where = where, .debug = debug};
    struct text path = {0};

    *debug = (struct debug_file){.elf.fd = -1};
    read_traits(elf, &hunt.traits);
    bool found = (where->symfs && try_below(&hunt, where->symfs, where->path, true, &path)) ||
                 (where->root && try_below(&hunt, where->root, where->path, false, &path)) ||
                 try_below(&hunt, NULL, where->symfs && where->stays_below ? NULL : where->path, false, &path) ||
                 try_cache(&hunt, &path);
    text_free(&path);
    if (!found)
        return -ENOENT;
    debug->shift = shift_between(elf, &debug->elf);
    return 0;
}

void debug_files_close(struct debug_file *debug)
{
    elf_close(&debug->elf);
    elf_unpacked_free(&debug->unpacked);
    close(debug->elf.fd);
    debug->elf.fd = -1;
}

static int find_shifted(const struct debug_file *debug, const uint64_t *addresses, size_t count,
                        struct elf_found *found)
{
    const uint64_t shift = debug->shift;
    uint64_t *shifted = calloc(count + 1, sizeof(*shifted));

    if (!shifted)
        return -ENOMEM;
    bool sorted = true;
    for (size_t i = 0; i < count; i++) {
        shifted[i] = addresses[i] - shift;
        sorted = sorted && (!i || shifted[i - 1] < shifted[i]);
    }
    int result = sorted ? elf_find_symbols(&debug->elf, shifted, count, found) : 0;
    for (size_t i = 0; i < count; i++)
        found[i].start += found[i].found ? shift : 0;
    free(shifted);
    return result;
}

int debug_files_find(const struct elf *elf, const struct debug_search *where,
                     const uint64_t *addresses, size_t count, struct elf_found *found)
{
    struct elf_symbol_table table;
    struct debug_file debug;

    if (!where || elf_full_symbols(elf, &table) || debug_files_open(elf, where, &debug))
        return elf_find(elf, addresses, count, found);
    int result = find_shifted(&debug, addresses, count, found);
    debug_files_close(&debug);
    return result == -ENOMEM ? result : elf_find_rest(elf, addresses, count, found);
}
