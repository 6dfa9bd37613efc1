/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "elf/debug_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/sandbox.h"
#include "base/checksum.h"
#include "base/util.h"

#define LONGEST_LINK 255
/* A debug file without a build id must be read whole for its checksum. */
#define MOST_CHECKED_BYTES ((uint64_t)1 << 30)
/* The same for all wrong candidates of that name together. */
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

/* In words of eight bytes, low ones first, padded with zeros: the same on every machine. */
static uint64_t add_to_hash(uint64_t hash, const unsigned char *bytes, size_t size)
{
    for (size_t at = 0; at < size; at += 8) {
        uint64_t word = 0;
        for (size_t i = 0; i < 8 && at + i < size; i++)
            word |= (uint64_t)bytes[at + i] << (8 * i);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15;
        hash ^= hash >> 32;
    }
    return hash;
}

/* Adds a whole file to a checksum, or, if that is NULL, to a hash. */
static int add_file(const struct elf *elf, uint64_t size, struct crc32 *crc, uint64_t *hash)
{
    unsigned char *bytes = malloc(PIECE_BYTES);
    int result = bytes ? 0 : elf_note_trouble(elf, -ENOMEM);

    for (uint64_t at = 0; at < size && !result; at += PIECE_BYTES) {
        const size_t piece = size - at < PIECE_BYTES ? (size_t)(size - at) : PIECE_BYTES;
        result = elf_read(elf, at, bytes, piece);
        if (!result && crc)
            crc32_add(crc, bytes, piece);
        else if (!result)
            *hash = add_to_hash(*hash, bytes, piece);
    }
    free(bytes);
    return result;
}

/* Accepted without a build id or checksum only for a file that the user asked for (--symfs). */
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
    struct crc32 crc;

    if (traits->id_length && !elf_build_id(debug, id, &id_length))
        return id_length == traits->id_length && !memcmp(id, traits->id, id_length);
    if (proof == BY_LAYOUT)
        return same_layout(elf, debug);
    if (proof != BY_CHECKSUM || size > MOST_CHECKED_BYTES || size > traits->checkable)
        return false;
    traits->checkable -= size;
    crc32_begin(&crc);
    return !add_file(debug, size, &crc, NULL) && crc32_value(&crc) == traits->checksum;
}

/* ---- Where it may be ---- */

struct search {
    const struct elf *elf;
    const struct debug_search *where;
    struct traits traits;
    struct debug_file *debug;
};

/* Unpacks symbols only after is_proven(): those of another file are not needed. */
static bool has_symbols(const struct search *search, const char *root, const struct text *path)
{
    struct debug_file *debug = search->debug;
    struct elf_symbol_table table;

    debug->elf.unpacked = &debug->unpacked;
    if (elf_full_symbols(&debug->elf, &table))
        return true;
    if (debug->unpacked.refusal && search->where->refused && !search->where->refused->length)
        text_format(search->where->refused, "%s%s: %s",
                    root && root == search->where->symfs ? root : "", path->data,
                    debug->unpacked.refusal);
    elf_unpacked_free(&debug->unpacked);
    return false;
}

/* Is the file at that place the right one? If so, it is open. */
static bool try_file(struct search *search, const char *root, const struct text *path,
                     enum proof proof)
{
    struct elf *debug = &search->debug->elf;
    struct stat status = {0};

    int fd = path->failed ? -ENOMEM : sandbox_open(root, path->data);
    if (fd < 0) {
        elf_note_trouble(search->elf, fd);
        return false;
    }
    if (fstat(fd, &status))
        elf_note_trouble(search->elf, -errno);
    else if (!elf_open_watched(debug, fd, 0, search->elf->trouble)) {
        if (debug->machine == search->elf->machine && debug->is_64 == search->elf->is_64 &&
            debug->swapped == search->elf->swapped && elf_section_of_type(debug, SHT_SYMTAB) &&
            is_proven(search->elf, debug, (uint64_t)status.st_size, &search->traits, proof) &&
            has_symbols(search, root, path))
            return true;
        elf_close(debug);
    }
    close(fd);
    return false;
}

/* Files named by their build ids: AB/CDEF..., or, in debuginfod's cache, ABCDEF... */
struct id_place {
    enum { BELOW_SYMFS, HERE, IN_CACHE } root;
    const char *before, *after;
};
static const struct id_place debug_by_id = {HERE, "/usr/lib/debug/.build-id/", ".debug"},
    debug_in_cache = {IN_CACHE, "/", "/debuginfo"};

/* False: there is no cache, or the id is too short. */
static bool make_id_path(struct text *path, const struct id_place *place, const char *cache,
                         const unsigned char *id, size_t length)
{
    const size_t apart = place->root != IN_CACHE;

    if (length <= apart || (!apart && !cache))
        return false;
    text_clear(path);
    text_format(path, "%s%s", apart ? "" : cache, place->before);
    build_id_add(id, apart, path);
    text_add(path, apart ? "/" : "");
    build_id_add(id + apart, length - apart, path);
    text_add(path, place->after);
    return true;
}

static bool try_by_id(struct search *search, const char *root, const struct id_place *place,
                      struct text *path)
{
    return make_id_path(path, place, search->where->cache, search->traits.id,
                        search->traits.id_length) &&
           try_file(search, root, path, BY_ID);
}

static bool try_by_link(struct search *search, const char *root, const char *file,
                        struct text *path)
{
    static const char *const places[][2] = {{"", "/"}, {"", "/.debug/"}, {"/usr/lib/debug", "/"}};

    if (!search->traits.link[0])
        return false;
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        text_clear(path);
        text_add(path, places[i][0]);
        text_append(path, file, (size_t)(strrchr(file, '/') - file));
        text_add(path, places[i][1]);
        text_add(path, search->traits.link);
        if (try_file(search, root, path, BY_CHECKSUM))
            return true;
    }
    return false;
}

static bool try_below(struct search *search, const char *root, const char *file, bool is_symfs,
                      struct text *path)
{
    if (try_by_id(search, root, &debug_by_id, path))
        return true;
    if (!file || file[0] != '/')
        return false;
    if (is_symfs) {
        /* The file itself, before it was stripped. */
        text_clear(path);
        text_add(path, file);
        if (try_file(search, root, path, BY_LAYOUT))
            return true;
    }
    return try_by_link(search, root, file, path);
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
    struct search search = {.elf = elf, .where = where, .debug = debug};
    struct text path = {0};

    *debug = (struct debug_file){.elf.fd = -1};
    read_traits(elf, &search.traits);
    bool found = (where->symfs && try_below(&search, where->symfs, where->path, true, &path)) ||
                 (where->root && try_below(&search, where->root, where->path, false, &path)) ||
                 try_below(&search, NULL, where->symfs && where->stays_below ? NULL : where->path,
                           false, &path) ||
                 try_by_id(&search, NULL, &debug_in_cache, &path);
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

/* ---- Files of another machine ---- */

/* A file without a build id is read whole: no program is larger than this. */
#define MOST_HASHED_BYTES ((uint64_t)1 << 30)

static int hash_file(const struct elf *elf, struct file_identity *identity)
{
    struct stat about;

    if (fstat(elf->fd, &about))
        return -errno;
    const uint64_t size = (uint64_t)about.st_size;
    if (size > MOST_HASHED_BYTES)
        return -EFBIG;
    identity->size = size;
    identity->hash = size;
    return add_file(elf, size, NULL, &identity->hash);
}

int identity_read(const struct elf *elf, struct file_identity *identity)
{
    *identity = (struct file_identity){0};
    if (!elf_build_id(elf, identity->id, &identity->id_length)) {
        identity->kind = IDENTITY_BUILD_ID;
        return 0;
    }
    int result = hash_file(elf, identity);
    if (!result)
        identity->kind = IDENTITY_HASH;
    return result;
}

void build_id_add(const unsigned char *id, size_t length, struct text *text)
{
    for (size_t i = 0; i < length; i++)
        text_format(text, "%02x", id[i]);
}

/* The first one counts. */
static void note(int *trouble, int error)
{
    if (!*trouble)
        *trouble = error;
}

/* A file with another build id is not read whole. */
static bool is_it(const struct elf *elf, const struct file_identity *wanted)
{
    struct file_identity found;
    struct stat about;

    if (wanted->kind == IDENTITY_BUILD_ID)
        return !elf_build_id(elf, found.id, &found.id_length) &&
               found.id_length == wanted->id_length &&
               !memcmp(found.id, wanted->id, found.id_length);
    int result = fstat(elf->fd, &about) ? -errno : 0;
    if (!result && (uint64_t)about.st_size != wanted->size)
        return false;
    if (!result)
        result = identity_read(elf, &found);
    if (result)
        note(elf->trouble, result);
    return !result && found.kind == IDENTITY_HASH && found.hash == wanted->hash;
}

/* Programs by build id, as distributions link them; debug files; what debuginfod-find fetched. */
static const struct id_place places[] = {
    {BELOW_SYMFS, "/usr/lib/.build-id/", ""},
    {BELOW_SYMFS, "/.build-id/", ""},
    {HERE, "/usr/lib/.build-id/", ""},
    {IN_CACHE, "/", "/executable"},
    {BELOW_SYMFS, "/usr/lib/debug/.build-id/", ".debug"},
    {BELOW_SYMFS, "/.build-id/", ".debug"},
    {HERE, "/usr/lib/debug/.build-id/", ".debug"},
    {IN_CACHE, "/", "/debuginfo"},
};

static int try_path(const struct file_identity *wanted, const char *root, const char *path,
                    struct elf *elf, int *trouble)
{
    int fd = sandbox_open(root, path);

    if (fd < 0) {
        if (fd != -ENOENT && fd != -ENOTDIR)
            note(trouble, fd);
        return -ENOENT;
    }
    if (!elf_open_watched(elf, fd, 0, trouble)) {
        if (is_it(elf, wanted))
            return fd;
        elf_close(elf);
    }
    close(fd);
    return -ENOENT;
}

static int try_place(const struct file_identity *wanted, const struct debug_search *where,
                     const struct id_place *place, struct elf *elf, int *trouble)
{
    const bool is_below = place->root == BELOW_SYMFS;
    struct text path = {0};
    int fd = -ENOENT;

    if ((!is_below || where->symfs) &&
        make_id_path(&path, place, where->cache, wanted->id, wanted->id_length) && !path.failed)
        fd = try_path(wanted, is_below ? where->symfs : NULL, path.data, elf, trouble);
    text_free(&path);
    return fd;
}

/* Paths that processes show have no "..", so others are not followed. */
static bool is_plain(const char *path)
{
    const size_t length = strlen(path);

    return *path == '/' && !strstr(path, "/../") &&
           (length < 3 || strcmp(path + length - 3, "/..") != 0);
}

int identity_open(const struct file_identity *identity, const struct debug_search *where,
                  struct elf *elf, int *trouble)
{
    int fd = -ENOENT;

    if (identity->kind == IDENTITY_UNKNOWN)
        return fd;
    if (where->path && is_plain(where->path))
        fd = try_path(identity, where->symfs, where->path, elf, trouble);
    for (size_t i = 0; i < COUNT_OF(places) && fd < 0 && identity->kind == IDENTITY_BUILD_ID; i++)
        fd = try_place(identity, where, &places[i], elf, trouble);
    return fd;
}
