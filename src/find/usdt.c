/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "find/usdt.h"

#include <errno.h>
#include <string.h>

#include "base/near.h"
#include "base/text.h"

#define NOTE_TYPE 3

/*
 * A note with owner "stapsdt" and type 3 in .note.stapsdt: three words (the instruction, where
 * .stapsdt.base was when the file was linked, the semaphore or 0), then the provider, the name and
 * the arguments. https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation
 */
struct site {
    uint64_t address, base, semaphore;
    const char *provider, *name;
};

struct pass {
    const struct user_file *file;
    const struct pattern *pattern;
    struct places *places;
    const struct elf_section *base; /* where .stapsdt.base is now; or NULL */
    size_t matched, seen, unusable;
    struct near *near; /* or NULL: matching goes on */
};

static const char *end_of(const char *string, const char *end)
{
    return memchr(string, '\0', (size_t)(end - string));
}

static bool read_site(const struct elf *elf, const struct elf_note *note, struct site *site)
{
    size_t word = elf_word_size(elf);
    const char *end = (const char *)note->descriptor + note->size;

    if (note->type != NOTE_TYPE || strcmp(note->owner, "stapsdt") || note->size < 3 * word)
        return false;
    site->address = elf_get_word(elf, note->descriptor);
    site->base = elf_get_word(elf, note->descriptor + word);
    site->semaphore = elf_get_word(elf, note->descriptor + 2 * word);
    site->provider = (const char *)note->descriptor + 3 * word;
    site->name = end_of(site->provider, end);
    if (!site->name || ++site->name == end || !end_of(site->name, end))
        return false;
    return *site->provider && *site->name;
}

/* A file that was moved after linking (prelink) has its notes as they were before. */
static void adjust(const struct pass *pass, struct site *site)
{
    uint64_t moved = pass->base && site->base ? pass->base->address - site->base : 0;
    uint64_t mask = pass->file->elf.is_64 ? UINT64_MAX : UINT32_MAX;

    site->address = (site->address + moved) & mask;
    if (site->semaphore)
        site->semaphore = (site->semaphore + moved) & mask;
}

static int add_site(struct pass *pass, const struct site *site)
{
    struct text name = {0};
    struct place place = {.is_usdt = true};
    int result = 0;

    place.named = pass->pattern->name.kind == MATCH_PLAIN;
    /*
     * Without the semaphore the program would not reach the probe, so a wrong one makes the site
     * useless.
     */
    if (site->semaphore &&
        (!elf_offset_of(&pass->file->elf, site->semaphore, &place.semaphore) || !place.semaphore))
        result = -EFAULT;
    text_format(&name, "%s:%s", site->provider, site->name);
    place.name = name.data;
    if (!result)
        result = name.failed ? -ENOMEM
                             : user_file_add(pass->file, &place, site->address, pass->places);
    text_free(&name);
    pass->matched += !result;
    pass->unusable += result == -EFAULT;
    return result == -EFAULT ? 0 : result;
}

static void offer_site(struct pass *pass, const struct site *site)
{
    struct text full = {0};

    text_format(&full, "%s:%s", site->provider, site->name);
    near_offer(pass->near, strchr(pass->near->wanted, ':') && !full.failed ? full.data
                                                                           : site->name);
    text_free(&full);
}

static int take_note(void *context, const struct elf_note *note)
{
    struct pass *pass = context;
    struct site site;

    if (!read_site(&pass->file->elf, note, &site))
        return 0;
    if (pass->near) {
        offer_site(pass, &site);
        return 0;
    }
    pass->seen++;
    if (!matcher_matches(&pass->pattern->category, site.provider) ||
        !matcher_matches(&pass->pattern->name, site.name))
        return 0;
    adjust(pass, &site);
    return add_site(pass, &site);
}

static int each_site(struct pass *pass)
{
    int result = elf_each_note(&pass->file->elf, ".note.stapsdt", take_note, pass);

    return result == -ENOEXEC ? 0 : result; /* what came before the damage counts */
}

static void explain_none(struct pass *pass, struct text *error)
{
    const struct pattern *pattern = pass->pattern;
    const char *path = pass->file->library.path.data;
    /* What follows the library, as typed. */
    struct near near = {.wanted = strchr(strchr(pattern->typed, ':') + 1, ':') + 1};

    text_format(error, "0 USDT probes matched by \"%s\"", pattern->typed);
    if (pass->unusable)
        text_format(error, " can be traced: they are outside of what %s loads", path);
    else if (!pass->seen)
        text_format(error, ": %s has none", path);
    else if (pattern->category.kind != MATCH_REGEX) {
        pass->near = &near;
        (void)each_site(pass);
    }
    near_add_to(&near, error);
    near_free(&near);
}

int usdt_find(const struct user_file *file, const struct pattern *pattern, struct places *places,
              size_t *matched, struct text *error)
{
    struct pass pass = {
        .file = file,
        .pattern = pattern,
        .places = places,
        .base = elf_section(&file->elf, ".stapsdt.base"),
    };
    size_t first = places->count;
    int result = each_site(&pass);

    *matched = pass.matched;
    if (result) {
        if (result != -ENOMEM)
            text_format(error, "cannot read the notes of \"%s\": %s", file->library.path.data,
                        strerror(-result));
        return result;
    }
    if (!pass.matched) {
        explain_none(&pass, error);
        return -ENOENT;
    }
    return user_file_find_starts(file, places, first, error);
}
