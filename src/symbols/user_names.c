/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "symbols/user_names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "symbols/debug_files.h"
#include "symbols/elf.h"
#include "symbols/elf_symbols.h"
#include "symbols/jitmap.h"
#include "symbols/process.h"

/* A symbol and where in its process it is. */
struct located {
    struct symbol *symbol;
    struct process_place place;
};

struct naming {
    const struct symbolize_wishes *wishes;
    struct symbolize_notes *notes;
    struct symbol_mappings *mappings; /* NULL: nobody wants them */
    struct located *located;
    uint64_t *addresses;          /* that are looked up at a time: room for one of each symbol */
    struct process_place *places; /* likewise */
};

/* ---- Where they are ---- */

static bool same_life(const struct symbol *a, const struct symbol *b)
{
    return a->pid == b->pid && a->born == b->born;
}

/* Adds an address that is not below the last one, each once. */
static void add_distinct(const struct naming *naming, size_t *count, uint64_t address)
{
    if (!*count || naming->addresses[*count - 1] != address)
        naming->addresses[(*count)++] = address;
}

static void set_file(struct symbol *symbol, const struct process_place *place)
{
    text_clear(&symbol->file);
    text_add(&symbol->file, place->label);
    symbol->offset = place->address + (symbol->address - symbol_lookup_address(symbol));
}

/* Finds the places of the symbols of one life of one process. */
static int locate_life(const struct naming *naming, struct located *located, size_t count)
{
    const struct symbol *first = located[0].symbol;
    size_t at = 0, distinct = 0;

    for (size_t i = 0; i < count; i++)
        add_distinct(naming, &distinct, symbol_lookup_address(located[i].symbol));
    int result = processes_find(naming->wishes->processes, first->pid, first->born,
                                naming->addresses, distinct, naming->places);

    if (result == -ENOMEM)
        return result;
    if (result) { /* nobody knows that process: no names */
        naming->notes->unknown_frames = true;
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        at += naming->addresses[at] != symbol_lookup_address(located[i].symbol);
        located[i].place = naming->places[at];
        if (located[i].place.kind != MAPPED_NOTHING)
            set_file(located[i].symbol, &located[i].place);
        else
            naming->notes->unknown_frames = true;
        if (located[i].symbol->file.failed)
            return -ENOMEM;
    }
    return 0;
}

/* ---- Names of code that was made at run time ---- */

static bool may_be_jitted(const struct located *located)
{
    return located->place.kind == MAPPED_ANONYMOUS || located->place.kind == MAPPED_NOTHING;
}

static int give_jit_names(const struct naming *naming, int map, struct located *const *jitted,
                          size_t count)
{
    struct jitmap_found *found = calloc(count, sizeof(*found));
    size_t distinct = 0, at = 0;

    if (!found)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        add_distinct(naming, &distinct, symbol_lookup_address(jitted[i]->symbol));
    int result = jitmap_find(map, naming->addresses, distinct, found);
    for (size_t i = 0; i < count && result != -ENOMEM; i++) {
        struct symbol *symbol = jitted[i]->symbol;
        at += naming->addresses[at] != symbol_lookup_address(symbol);
        if (!found[at].found)
            continue;
        if (symbol_set_function(symbol, found[at].name.data, naming->wishes))
            result = -ENOMEM;
        symbol->offset = symbol->address - found[at].start;
        symbol->jitted = true;
    }
    jitmap_free(found, distinct);
    free(found);
    return result == -ENOMEM ? result : 0;
}

static int name_jitted(const struct naming *naming, struct located *located, size_t count)
{
    struct located **jitted = calloc(count, sizeof(*jitted));
    const struct symbol *first = located[0].symbol;
    struct jitmap_refusal refusal;
    size_t jitted_count = 0;
    int result = 0;

    if (!jitted)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        if (may_be_jitted(&located[i]))
            jitted[jitted_count++] = &located[i];
    if (jitted_count) {
        int map = processes_open_jitmap(naming->wishes->processes, first->pid, first->born,
                                        &refusal);
        if (map == -EACCES && !naming->notes->refused_map.length)
            text_format(&naming->notes->refused_map, "%s: %s", refusal.path, refusal.reason);
        if (map >= 0) {
            result = give_jit_names(naming, map, jitted, jitted_count);
            close(map);
        }
    }
    free(jitted);
    return result;
}

/* ---- Names of what is in files ---- */

static int compare_files(const struct located *a, const struct located *b)
{
    if (a->place.kind != b->place.kind)
        return a->place.kind < b->place.kind ? -1 : 1;
    /* The vDSO is one, whoever has it. */
    if (a->place.kind == MAPPED_FILE && a->place.file != b->place.file)
        return a->place.file < b->place.file ? -1 : 1;
    return 0;
}

static int compare_for_files(const void *left, const void *right)
{
    const struct located *a = left, *b = right;
    int order = compare_files(a, b);

    if (order)
        return order;
    return a->place.address < b->place.address ? -1 : a->place.address > b->place.address;
}

/* The first note is kept; *more: it was not the only one. */
static void add_note(struct text *first, bool *more, const char *note)
{
    if (!first->length)
        text_add(first, note);
    else if (strcmp(first->data, note))
        *more = true;
}

static void note_packed(struct symbolize_notes *notes, const char *note)
{
    if (note)
        add_note(&notes->packed_file, &notes->more_packed, note);
}

static int give_file_names(const struct naming *naming, const struct elf *elf,
                           const struct located *located, size_t count)
{
    const struct mapped_file *file = located[0].place.file;
    struct text refused = {0};
    const struct debug_search search = {
        .refused = &refused,
        .path = located[0].place.kind == MAPPED_FILE ? file->path : NULL,
        .root = file->root,
        .symfs = naming->wishes->symfs,
    };
    struct elf_found *found = calloc(count, sizeof(*found));
    size_t distinct = 0, at = 0;

    if (!found)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        add_distinct(naming, &distinct, located[i].place.address);
    int result = debug_files_find(elf, &search, naming->addresses, distinct, found);
    note_packed(naming->notes, refused.data);
    if (elf->unpacked && elf->unpacked->refusal) {
        text_clear(&refused);
        text_format(&refused, "%s: %s", file->path, elf->unpacked->refusal);
        note_packed(naming->notes, refused.data);
    }
    text_free(&refused);
    for (size_t i = 0; i < count && result != -ENOMEM; i++) {
        struct symbol *symbol = located[i].symbol;
        at += naming->addresses[at] != located[i].place.address;
        if (!found[at].found)
            continue;
        if (symbol_set_function(symbol, found[at].name.data, naming->wishes))
            result = -ENOMEM;
        symbol->offset -= found[at].start;
    }
    elf_found_free(found, distinct);
    free(found);
    return result == -ENOMEM ? result : 0;
}

static void note_unopened(struct symbolize_notes *notes, const struct mapped_file *file, int why)
{
    struct text note = {0};

    text_format(&note, "%s: %s", file->path,
                why == -ESTALE || why == -ENOENT ? "it was gone before it could be opened"
                                                 : strerror(-why));
    if (note.data)
        add_note(&notes->unopened_file, &notes->more_unopened, note.data);
    text_free(&note);
}

/* Opens the image that the places are in. */
static int open_image(const struct naming *naming, const struct process_place *place,
                      struct elf *elf, int *opened, int *trouble)
{
    *opened = -1;
    if (place->kind == MAPPED_VDSO) {
        *opened = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
        if (*opened < 0)
            return *trouble = -errno;
        return elf_open_watched(elf, *opened, getauxval(AT_SYSINFO_EHDR), trouble);
    }
    if (place->file->fd < 0) {
        note_unopened(naming->notes, place->file, place->file->fd);
        return place->file->fd;
    }
    if (place->file->unread)
        return *trouble = place->file->unread;
    if (mapped_file_changed(place->file)) {
        if (!naming->notes->changed_file.length)
            text_add(&naming->notes->changed_file, place->file->path);
        return -ESTALE;
    }
    int result = elf_open_watched(elf, place->file->fd, 0, trouble);
    elf->unpacked = &place->file->unpacked;
    return result;
}

/* Of one file, or of what is in none; `elf` of NULL: it could not be opened. */
static int give_mappings(const struct naming *naming, const struct elf *elf,
                         const struct located *located, size_t count)
{
    struct mapping_source source = {0};
    int result = 0;

    for (size_t i = 0; i < count && !result && naming->mappings; i++) {
        const struct process_place *place = &located[i].place;
        const char *path = place->kind == MAPPED_FILE ? place->file->path : place->label;
        if (place->kind == MAPPED_NOTHING)
            continue;
        if (!source.path || strcmp(source.path, path))
            mapping_source_init(&source, path, elf);
        result = mappings_take(naming->mappings, &source, located[i].symbol, place->address);
    }
    return result;
}

static int name_in_file(const struct naming *naming, const struct located *located, size_t count)
{
    struct elf elf = {0};
    int opened, result = 0, trouble = 0;

    if (located[0].place.kind != MAPPED_FILE && located[0].place.kind != MAPPED_VDSO)
        return give_mappings(naming, NULL, located, count);
    bool is_open = !open_image(naming, &located[0].place, &elf, &opened, &trouble);
    if (is_open)
        result = give_file_names(naming, &elf, located, count);
    if (elf.unpacked)
        processes_keep_unpacked(naming->wishes->processes, located[0].place.file);
    if (!result)
        result = give_mappings(naming, is_open ? &elf : NULL, located, count);
    elf_close(&elf);
    if (opened >= 0)
        close(opened);
    if (trouble && trouble != -ENOMEM)
        note_unopened(naming->notes, located[0].place.file, trouble);
    return trouble == -ENOMEM ? trouble : result;
}

/* ---- All ---- */

static int name_all(const struct naming *naming, size_t count)
{
    struct located *located = naming->located;
    size_t end;
    int result = 0;

    for (size_t start = 0; start < count && !result; start = end) {
        for (end = start + 1;
             end < count && same_life(located[start].symbol, located[end].symbol); end++)
            ;
        result = locate_life(naming, located + start, end - start);
        if (!result)
            result = name_jitted(naming, located + start, end - start);
    }
    if (!result)
        qsort(located, count, sizeof(*located), compare_for_files);
    for (size_t start = 0; start < count && !result; start = end) {
        for (end = start + 1; end < count && !compare_files(&located[start], &located[end]); end++)
            ;
        result = name_in_file(naming, located + start, end - start);
    }
    return result;
}

int user_names_give(struct symbol *const *symbols, size_t count,
                    const struct symbolize_wishes *wishes, struct symbolize_notes *notes,
                    struct symbol_mappings *mappings)
{
    struct naming naming = {
        .wishes = wishes,
        .notes = notes,
        .mappings = mappings,
        .located = calloc(count + 1, sizeof(*naming.located)),
        .addresses = calloc(count + 1, sizeof(*naming.addresses)),
        .places = calloc(count + 1, sizeof(*naming.places)),
    };
    int result = -ENOMEM;

    for (size_t i = 0; naming.located && i < count; i++)
        naming.located[i].symbol = symbols[i];
    if (naming.located && naming.addresses && naming.places)
        result = name_all(&naming, count);
    free(naming.located);
    free(naming.addresses);
    free(naming.places);
    return result;
}
