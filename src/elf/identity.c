/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "elf/identity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apart/apart.h"
#include "base/util.h"

/* A file without a build id is read whole: no program is larger than this. */
#define MOST_HASHED_BYTES ((uint64_t)1 << 30)
#define PIECE_BYTES 65536

/* ---- What it is ---- */

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

static int hash_file(const struct elf *elf, struct file_identity *identity)
{
    struct stat about;

    if (fstat(elf->fd, &about))
        return -errno;
    const uint64_t size = (uint64_t)about.st_size;
    if (size > MOST_HASHED_BYTES)
        return -EFBIG;
    unsigned char *bytes = malloc(PIECE_BYTES);
    int result = bytes ? 0 : -ENOMEM;
    identity->size = size;
    identity->hash = size;
    for (uint64_t at = 0; at < size && !result; at += PIECE_BYTES) {
        const size_t piece = size - at < PIECE_BYTES ? (size_t)(size - at) : PIECE_BYTES;
        result = elf_read(elf, at, bytes, piece);
        if (!result)
            identity->hash = add_to_hash(identity->hash, bytes, piece);
    }
    free(bytes);
    return result;
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

void identity_add_id(const struct file_identity *identity, struct text *text)
{
    for (size_t i = 0; i < identity->id_length; i++)
        text_format(text, "%02x", identity->id[i]);
}

/* The first is told. */
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
        return !elf_build_id(elf, found.id, &found.id_length) && found.id_length == wanted->id_length &&
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

/* ---- Where it may be ---- */

/*
 * Programs by build id, as distributions link them, debug files, and what debuginfod-find has
 * fetched.
 */
static const struct place {
    enum { BELOW_SYMFS, HERE, IN_CACHE } root;
    bool is_split; /* ab/cdef... */
    const char *before, *after;
} places[] = {
    {BELOW_SYMFS, true, "/usr/lib/.build-id/", ""},
    {BELOW_SYMFS, true, "/.build-id/", ""},
    {HERE, true, "/usr/lib/.build-id/", ""},
    {IN_CACHE, false, "/", "/executable"},
    {BELOW_SYMFS, true, "/usr/lib/debug/.build-id/", ".debug"},
    {BELOW_SYMFS, true, "/.build-id/", ".debug"},
    {HERE, true, "/usr/lib/debug/.build-id/", ".debug"},
    {IN_CACHE, false, "/", "/debuginfo"},
};

static int try_path(const struct file_identity *wanted, const char *root, const char *path, struct elf *elf,
                    int *trouble)
{
    int fd = apart_open(root, path);

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
                     const struct place *place, struct elf *elf, int *trouble)
{
    struct text path = {0}, id = {0};
    int fd = -ENOENT;

    if (place->root == BELOW_SYMFS ? !where->symfs : place->root == IN_CACHE && !where->cache)
        return fd;
    identity_add_id(wanted, &id);
    text_format(&path, "%s%s", place->root == IN_CACHE ? where->cache : "", place->before);
    if (id.failed || path.failed || id.length < 3) {
        fd = -ENOENT;
    } else {
        text_append(&path, id.data, place->is_split ? 2 : id.length);
        if (place->is_split)
            text_format(&path, "/%s", id.data + 2);
        text_add(&path, place->after);
        if (!path.failed)
            fd = try_path(wanted, place->root == BELOW_SYMFS ? where->symfs : NULL, path.data, elf, trouble);
    }
    text_free(&path);
    text_free(&id);
    return fd;
}

/* No process shows a path with "..". */
static bool is_plain(const char *path)
{
    const size_t length = strlen(path);

    return *path == '/' && !strstr(path, "/../") && (length < 3 || strcmp(path + length - 3, "/..") != 0);
}

int identity_open(const struct file_identity *identity, const struct debug_search *where, struct elf *elf,
                  int *trouble)
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
