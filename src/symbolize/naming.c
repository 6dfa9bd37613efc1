/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "symbolize/naming.h"

#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "sandbox/sandbox.h"
#include "base/util.h"
#include "elf/debug_files.h"
#include "elf/elf_symbols.h"
#include "elf/frame_rows.h"
#include "processes/jitmap.h"
#include "symbolize/mappings.h"

/* ---- Answers of the reader ---- */

enum { IS_JITTED = 1, HAS_MAPPING = 2, HAS_START = 4 }; /* of a symbol */
enum { IS_FIXED = 1, GROWS = 2 };               /* of a mapping */
enum { MORE_UNOPENED = 1, MORE_PACKED = 2 };    /* of the notes */

/* ---- Writing ---- */

static void put_symbol(struct text *answer, const struct symbol *symbol)
{
    answer_put_byte(answer, (symbol->jitted ? IS_JITTED : 0) | (symbol->has_start ? HAS_START : 0) |
                                (symbol->mapping ? HAS_MAPPING : 0));
    answer_put_number(answer, symbol->offset);
    answer_put_text(answer, &symbol->function);
    answer_put_text(answer, &symbol->raw);
    if (!symbol->mapping)
        return;
    answer_put_number(answer, symbol->mapping);
    answer_put_number(answer, symbol->mapped_at);
}

static void put_mapping(struct text *answer, const struct symbol_mapping *mapping)
{
    answer_put_byte(answer, (mapping->is_fixed ? IS_FIXED : 0) | (mapping->grows ? GROWS : 0));
    answer_put_text(answer, &mapping->path);
    answer_put_text(answer, &mapping->build_id);
    answer_put_number(answer, mapping->own_start);
    answer_put_number(answer, mapping->own_limit);
    answer_put_number(answer, mapping->offset);
}

void names_answer_write(const struct names_request *request, struct text *answer)
{
    const struct symbolize_notes *notes = request->notes;

    /* Mappings first: symbols refer to them. */
    answer_put_number(answer, request->mappings ? request->mappings->count - request->known : 0);
    for (size_t i = request->known; request->mappings && i < request->mappings->count; i++)
        put_mapping(answer, &request->mappings->items[i]);
    for (size_t i = 0; i < request->count; i++)
        put_symbol(answer, request->symbols[i]);
    answer_put_byte(answer, (notes->more_unopened ? MORE_UNOPENED : 0) |
                            (notes->more_packed ? MORE_PACKED : 0));
    answer_put_text(answer, &notes->changed_file);
    answer_put_text(answer, &notes->unopened_file);
    answer_put_text(answer, &notes->packed_file);
}

/* ---- Reading ---- */

struct range {
    uint64_t start, limit;
};

#define LONGEST ((size_t)1 << 20) /* of names; demangled ones may be long */

static bool makes_sense(const struct symbol_mapping *mapping)
{
    return mapping->own_start < mapping->own_limit &&
           (mapping->grows ? !mapping->is_fixed
                           : mapping->own_limit - mapping->own_start <= 2 * MAPPINGS_LARGEST);
}

static void take_mapping(struct answer *answer, struct symbol_mappings *mappings,
                         struct range *range)
{
    struct text path = {0}, build_id = {0};
    struct symbol_mapping read = {0};
    const unsigned flags = answer_take_flags(answer, IS_FIXED | GROWS);

    answer_take_text(answer, LONGEST, &path);
    answer_take_text(answer, 2 * ELF_LONGEST_BUILD_ID, &build_id);
    read.is_fixed = flags & IS_FIXED;
    read.grows = flags & GROWS;
    read.own_start = range->start = answer_take_number(answer);
    read.own_limit = range->limit = answer_take_number(answer);
    read.offset = answer_take_number(answer);
    answer->is_bad = answer->is_bad || !makes_sense(&read);
    if (answer->for_good && !answer->is_bad && !answer->failed)
        answer->failed =
            mappings_add(mappings, text_string(&path), text_string(&build_id), &read) != 0;
    text_free(&path);
    text_free(&build_id);
}

/* Its mapping is one of the `count` whose ranges the answer has, behind the known ones. */
static void take_symbol(struct answer *answer, struct symbol *symbol, const struct range *ranges,
                        size_t known, uint64_t count)
{
    const unsigned flags = answer_take_flags(answer, IS_JITTED | HAS_START | HAS_MAPPING);
    const uint64_t offset = answer_take_number(answer);
    uint64_t mapping = 0, at = 0;

    answer_take_text(answer, LONGEST, &symbol->function);
    answer_take_text(answer, LONGEST, &symbol->raw);
    if (flags & HAS_MAPPING) {
        mapping = answer_take_number(answer);
        at = answer_take_number(answer);
        answer->is_bad = answer->is_bad || mapping <= known || mapping > known + count;
        if (!answer->is_bad) {
            const struct range *range = &ranges[mapping - known - 1];
            answer->is_bad = at < range->start || at >= range->limit;
        }
    }
    if (!answer->for_good || answer->is_bad)
        return;
    symbol->jitted = flags & IS_JITTED;
    symbol->has_start = flags & HAS_START;
    symbol->offset = offset;
    symbol->mapping = (uint32_t)mapping;
    symbol->mapped_at = at;
}

static void take_notes(struct answer *answer, struct symbolize_notes *notes)
{
    const unsigned flags = answer_take_flags(answer, MORE_UNOPENED | MORE_PACKED);

    answer_take_text(answer, LONGEST, &notes->changed_file);
    answer_take_text(answer, LONGEST, &notes->unopened_file);
    answer_take_text(answer, LONGEST, &notes->packed_file);
    if (!answer->for_good || answer->is_bad)
        return;
    notes->more_unopened = flags & MORE_UNOPENED;
    notes->more_packed = flags & MORE_PACKED;
}

static void read_all(struct answer *answer, const struct names_request *request)
{
    const uint64_t count = answer_take_number(answer);

    answer->is_bad = answer->is_bad || (count && !request->mappings) ||
                      count > (uint64_t)(answer->end - answer->at) ||
                      count > UINT32_MAX - 2 - request->known;
    struct range *ranges = answer->is_bad ? NULL : calloc((size_t)count + 1, sizeof(*ranges));
    answer->failed = !ranges;
    for (uint64_t i = 0; i < count && !answer->is_bad && !answer->failed; i++)
        take_mapping(answer, request->mappings, &ranges[i]);
    for (size_t i = 0; i < request->count && !answer->is_bad && !answer->failed; i++)
        take_symbol(answer, request->symbols[i], ranges, request->known, count);
    if (!answer->is_bad && !answer->failed)
        take_notes(answer, request->notes);
    answer->is_bad = answer->is_bad || (!answer->failed && answer->at != answer->end);
    free(ranges);
}

int names_answer_read(const char *bytes, size_t length, const struct names_request *request)
{
    struct answer answer = {.at = bytes, .end = bytes + length};

    if (!length)
        return -EBADMSG;
    /* First to check it, then to use it. */
    read_all(&answer, request);
    if (answer.is_bad || answer.failed)
        return answer.is_bad ? -EBADMSG : -ENOMEM;
    answer = (struct answer){.at = bytes, .end = bytes + length, .for_good = true};
    read_all(&answer, request);
    return answer.failed ? -ENOMEM : 0;
}

/* ---- Names from files ---- */

static int compare_files(const struct located *a, const struct located *b)
{
    const int order = order_of(a->place.kind, b->place.kind);

    /* There is one vDSO for all processes. */
    return order || a->place.kind != MAPPED_FILE
        ? order : order_of((uintptr_t)a->place.file, (uintptr_t)b->place.file);
}

/* Keeps the first note; *more: there were others. */
static void add_note(struct text *first, bool *more, const char *note)
{
    if (!first->length)
        text_add(first, note);
    else if (strcmp(first->data, note))
        *more = true;
}

static const char *reason_of(int why)
{
    switch (why) {
    case -ESTALE:
    case -ENOENT: return "it was gone before it could be opened";
    case -ETIME: return "reading it takes too long";
    case -E2BIG: return "their names are too long";
    case -EBADMSG: return "the process that read it was killed";
    }
    return strerror(-why);
}

static void note_unopened(struct symbolize_notes *notes, const struct mapped_file *file, int why)
{
    struct text note = {0};

    text_format(&note, "%s: %s", file->path, reason_of(why));
    if (note.data)
        add_note(&notes->unopened_file, &notes->more_unopened, note.data);
    text_free(&note);
}

static void note_packed(struct symbolize_notes *notes, const char *note)
{
    if (note)
        add_note(&notes->packed_file, &notes->more_packed, note);
}

static struct debug_search search_for(const struct naming *naming,
                                      const struct process_place *place)
{
    const struct recorded *recorded = naming->options->recorded;

    return (struct debug_search){
        .path = place->kind == MAPPED_FILE ? place->file->path : NULL,
        .root = place->file->root,
        .symfs = naming->options->symfs,
        .cache = recorded ? recorded->cache : NULL,
        .stays_below = recorded,
    };
}

static uint64_t address_of(const struct located *located, const struct elf *elf)
{
    return elf ? located->place.address : symbol_lookup_address(located->symbol);
}

static int find_in_file(const struct naming *naming, const struct elf *elf,
                        const struct process_place *place, size_t count, struct elf_found *found)
{
    struct text refused = {0};
    struct debug_search search = search_for(naming, place);

    search.refused = &refused;
    int result = debug_files_find(elf, &search, naming->addresses, count, found);
    note_packed(naming->notes, refused.data);
    if (elf->unpacked && elf->unpacked->refusal) {
        text_clear(&refused);
        text_format(&refused, "%s: %s", place->file->path, elf->unpacked->refusal);
        note_packed(naming->notes, refused.data);
    }
    text_free(&refused);
    return result;
}

/* Names symbols of one file, or, if `elf` is NULL, of a JIT's code. `most`: bytes of names. */
static int give_names(const struct naming *naming, const struct elf *elf,
                      const struct located *located, size_t count, size_t most)
{
    struct elf_found *found = calloc(count, sizeof(*found));
    size_t distinct = 0, at = 0;

    if (!found)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        naming_add_address(naming, &distinct, address_of(&located[i], elf));
    int result = elf ? find_in_file(naming, elf, &located[0].place, distinct, found)
                     : jitmap_find(located[0].map, naming->addresses, distinct, found);
    for (size_t i = 0; i < count && result != -ENOMEM && most; i++) {
        struct symbol *symbol = located[i].symbol;
        at += naming->addresses[at] != address_of(&located[i], elf);
        if (!found[at].found)
            continue;
        if (symbol_set_function(symbol, found[at].name.data, naming->options))
            result = -ENOMEM;
        symbol->offset = (elf ? symbol->offset : symbol->address) - found[at].start;
        symbol->jitted = symbol->jitted || !elf;
        const size_t length = symbol->function.length + symbol->raw.length;
        most -= length < most ? length : most;
    }
    if (!most)
        note_unopened(naming->notes, located[0].place.file, -E2BIG);
    elf_found_free(found, distinct);
    free(found);
    return result == -ENOMEM ? result : 0;
}

/* ---- Functions without a name ---- */

static bool lacks_name(const struct located *located)
{
    return !located->symbol->function.length;
}

/* The one that contains this offset in the file; NULL: none does. */
static const struct frame_function *find_function(const struct frame_function *functions,
                                                  size_t count, uint64_t offset)
{
    const size_t behind = first_key_above(&functions->offset, sizeof(*functions), count, offset);

    if (!behind || offset - functions[behind - 1].offset >= functions[behind - 1].size)
        return NULL;
    return &functions[behind - 1];
}

/*
 * A stripped file's unwind tables still tell where its functions begin. Reports show the start for
 * all addresses in a function, so that these are the same frame.
 */
static int give_starts(const struct elf *elf, const struct located *located, size_t count)
{
    struct frame_function *functions = NULL;
    uint64_t offset, start;
    size_t lacking = 0;

    while (lacking < count && !lacks_name(&located[lacking]))
        lacking++;
    const ssize_t known = lacking < count ? frame_functions(elf, &functions) : 0;
    if (known > 0)
        qsort(functions, (size_t)known, sizeof(*functions), compare_by_number);
    for (size_t i = lacking; i < count && known > 0; i++) {
        const struct frame_function *function = NULL;
        if (lacks_name(&located[i]) && elf_offset_of(elf, located[i].place.address, &offset))
            function = find_function(functions, (size_t)known, offset);
        if (function && elf_address_of(elf, function->offset, &start)) {
            located[i].symbol->offset = start;
            located[i].symbol->has_start = true;
        }
    }
    free(functions);
    return known == -ENOMEM ? -ENOMEM : 0;
}

/* The kernel's vDSO is read in place: up to the end of the last part in its header. */
static int copy_vdso(struct elf_unpacked *copy)
{
    const ElfW(Ehdr) *header = (const void *)getauxval(AT_SYSINFO_EHDR);

    if (!header)
        return -ENOENT;
    const char *image = (const char *)header;
    const ElfW(Phdr) *parts = (const void *)(image + header->e_phoff);
    size_t size = (size_t)header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (parts[i].p_offset + parts[i].p_filesz > size)
            size = (size_t)(parts[i].p_offset + parts[i].p_filesz);
    text_append(&copy->parts[0], image, size);
    return copy->parts[0].failed ? -ENOMEM : 0;
}

/* Adds the build id of a recorded file to the missing ones if no file here has full symbols. */
static void note_missing(const struct naming *naming, const struct process_place *place,
                         const struct elf *elf)
{
    const struct debug_search search = search_for(naming, place);
    struct text *missing = naming->options->recorded->missing;
    struct elf_symbol_table table;
    struct debug_file debug;

    if (!missing || !place->file->identity->id_length || (elf && elf_full_symbols(elf, &table)))
        return;
    if (elf && !debug_files_open(elf, &search, &debug)) {
        debug_files_close(&debug);
        return;
    }
    build_id_add(place->file->identity->id, place->file->identity->id_length, missing);
    text_add(missing, "\n");
}

/* Opens any file here that is the same as the recorded one. */
static int open_recorded(const struct naming *naming, const struct process_place *place,
                         struct elf *elf, struct elf_unpacked *unpacked, int *trouble)
{
    const struct debug_search search = search_for(naming, place);
    const int fd = identity_open(place->file->identity, &search, elf, trouble);

    elf->unpacked = unpacked;
    if (fd >= 0)
        *trouble = 0; /* what another place has */
    note_missing(naming, place, fd < 0 ? NULL : elf);
    if (fd < 0 && place->file->is_changed && !naming->notes->changed_file.length)
        text_add(&naming->notes->changed_file, place->file->path);
    else if (fd < 0 && !*trouble)
        naming->notes->missing_files++;
    return fd < 0 ? fd : 0;
}

/* Opens the image that the places are in; `unpacked` is for its compressed symbols. */
static int open_image(const struct naming *naming, const struct process_place *place,
                      struct elf *elf, struct elf_unpacked *unpacked, int *trouble)
{
    if (place->kind == MAPPED_VDSO) {
        int copied = copy_vdso(unpacked);
        if (copied)
            return *trouble = copied;
        return elf_open_unpacked(elf, unpacked, trouble);
    }
    if (place->file->identity)
        return open_recorded(naming, place, elf, unpacked, trouble);
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
    elf->unpacked = unpacked;
    return result;
}

/* Sets mappings in one file, or for places in none; `elf` is NULL if it could not be opened. */
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

/* `most`: bytes of names. */
static int name_in_file(const struct naming *naming, const struct located *located, size_t count,
                        size_t most, int without)
{
    struct elf_unpacked unpacked = {0};
    struct elf elf = {0};
    int result = 0, trouble = 0;

    if ((located[0].place.kind != MAPPED_FILE || naming->options->without_files) &&
        located[0].place.kind != MAPPED_VDSO)
        return give_mappings(naming, NULL, located, count);
    bool is_open = !without && !open_image(naming, &located[0].place, &elf, &unpacked, &trouble);
    if (is_open)
        result = give_names(naming, &elf, located, count, most);
    if (is_open && !result)
        result = give_starts(&elf, located, count);
    elf_unpacked_free(&unpacked);
    elf.unpacked = NULL;
    if (!result)
        result = give_mappings(naming, is_open ? &elf : NULL, located, count);
    elf_close(&elf);
    if (is_open && located[0].place.kind == MAPPED_FILE && located[0].place.file->identity)
        close(elf.fd);
    if (without)
        trouble = without;
    if (without || (trouble && trouble != -ENOMEM))
        note_unopened(naming->notes, located[0].place.file, trouble);
    return trouble == -ENOMEM && !without ? trouble : result;
}

/* ---- All ---- */

/* Turns offsets into the file's addresses. */
static int number_place(struct located *located)
{
    struct process_place *place = &located->place;
    uint64_t address;

    if (place->kind != MAPPED_FILE)
        return 0;
    int result = mapped_file_address(place->file, place->address, &address);
    if (result)
        return result;
    located->symbol->offset += address - place->address;
    place->address = address;
    return 0;
}

static int compare_addresses(const void *left, const void *right)
{
    const struct located *a = left, *b = right;

    return order_of(a->place.address, b->place.address);
}

static int take_map(const struct naming *naming, const struct naming_step *step, int without)
{
    struct text *refused = &naming->notes->refused_map;

    if (!without)
        return give_names(naming, NULL, step->located, step->count, SIZE_MAX);
    if (!refused->length)
        text_format(refused, "the perf map of process %u: %s", step->located[0].symbol->pid,
                    reason_of(without));
    return 0;
}

static size_t length_of_names(const struct naming_step *step)
{
    size_t length = 0;

    for (size_t i = 0; i < step->count; i++)
        length += step->symbols[i]->function.length + step->symbols[i]->raw.length;
    return length;
}

int naming_take(struct naming *naming, const struct naming_step *step, int without)
{
    int result = 0;

    if (step->is_map)
        return take_map(naming, step, without);
    for (size_t i = 0; i < step->count && !result && !without; i++)
        result = number_place(&step->located[i]);
    if (result)
        return result;
    qsort(step->located, step->count, sizeof(*step->located), compare_addresses);
    const size_t most = step->is_trusted ? NAMING_MOST_BYTES : naming->names_left / 8;
    result = name_in_file(naming, step->located, step->count, most, without);
    if (!step->is_trusted) {
        const size_t used = length_of_names(step);
        naming->names_left -= used < naming->names_left ? used : naming->names_left;
    }
    return result;
}

int naming_take_program(const struct naming *naming)
{
    if (!naming->mappings || !naming->options->mapped_for)
        return 0;
    return mappings_take_program(naming->mappings, naming->options->mapped_for);
}

/* ---- What is read together ---- */

/* Can no ordinary user have written it? */
static bool is_trusted(const struct process_place *place)
{
    return place->kind != MAPPED_FILE ||
           (!place->file->about.st_uid && !(place->file->about.st_mode & 022));
}

static int compare_located(const void *left, const void *right)
{
    const struct located *a = left, *b = right;
    const bool trusted = is_trusted(&a->place);
    int order = order_of(!trusted, !is_trusted(&b->place));

    if (!order && !trusted)
        order = order_of((uint64_t)a->place.file->about.st_size,
                         (uint64_t)b->place.file->about.st_size);
    return order ?: compare_files(a, b);
}

static void add_step(struct naming *naming, struct located *located, size_t count, bool is_map)
{
    struct naming_step *step = &naming->steps[naming->step_count++];

    *step = (struct naming_step){
        .located = located,
        .symbols = naming->symbols + (is_map ? naming->count + (size_t)(located - naming->jitted)
                                             : (size_t)(located - naming->located)),
        .count = count,
        .is_map = is_map,
        .is_trusted = !is_map && is_trusted(&located[0].place),
    };
    for (size_t i = 0; i < count; i++)
        step->symbols[i] = located[i].symbol;
}

/* The symbols that may be in their processes' maps; returns how many. */
static size_t copy_jitted(struct naming *naming)
{
    size_t count = 0;

    for (size_t i = 0; i < naming->count; i++)
        if (naming->located[i].map >= 0 && naming_may_be_jitted(&naming->located[i]))
            naming->jitted[count++] = naming->located[i];
    return count;
}

static void add_files(struct naming *naming, bool trusted)
{
    struct located *located = naming->located;
    size_t end;

    for (size_t start = 0; start < naming->count; start = end) {
        for (end = start + 1; end < naming->count && !compare_files(&located[start], &located[end]);
             end++)
            ;
        if (is_trusted(&located[start].place) == trusted)
            add_step(naming, located + start, end - start, false);
    }
}

int naming_plan(struct naming *naming)
{
    struct located *jitted = naming->jitted = calloc(naming->count + 1, sizeof(*naming->jitted));
    size_t end;

    naming->step_count = 0;
    naming->symbols = calloc(2 * naming->count + 1, sizeof(struct symbol *));
    naming->steps = calloc(2 * naming->count + 1, sizeof(*naming->steps));
    if (!jitted || !naming->symbols || !naming->steps)
        return -ENOMEM;
    const size_t count = copy_jitted(naming);
    if (naming->count)
        qsort(naming->located, naming->count, sizeof(*naming->located), compare_located);
    add_files(naming, true);
    for (size_t start = 0; start < count; start = end) {
        for (end = start + 1; end < count && jitted[end].life == jitted[start].life; end++)
            ;
        add_step(naming, jitted + start, end - start, true);
    }
    add_files(naming, false);
    return 0;
}

void naming_unplan(struct naming *naming)
{
    free(naming->jitted);
    free(naming->symbols);
    free(naming->steps);
    naming->jitted = NULL;
    naming->symbols = NULL;
    naming->steps = NULL;
}
