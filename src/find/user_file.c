/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "find/user_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/suggest.h"
#include "base/util.h"
#include "elf/elf_symbols.h"
#include "machine/machine.h"

#define BLANKS " \t\r\n"

/*
 * "/root/.pyenv/shims/python3": a script that pyenv put into PATH, and so do rbenv, nodenv and
 * others.
 */
static bool explain_shim(const char *path, struct text *error)
{
    static const char ending[] = "env/shims/";
    const char *name = base_name(path), *end = name - strlen(ending), *at = end;

    if (end <= path || memcmp(end, ending, strlen(ending)))
        return false;
    while (at > path && at[-1] != '/' && at[-1] != '.')
        at--;
    text_format(error, "\"%s\" is a script that starts another file: trace that by its path, "
                "which \"%.*senv which %s\" prints", path, (int)(end - at), at, name);
    return true;
}

/* "#!/usr/bin/env python3" -> "python3" */
static void explain_script(const char *path, char *line, struct text *error)
{
    char *rest = NULL;

    if (explain_shim(path, error))
        return;
    const char *program = strtok_r(line, BLANKS, &rest);
    const char *next = strtok_r(NULL, BLANKS, &rest);

    if (program && next && !strcmp(base_name(program), "env") && *next != '-')
        program = next;
    text_format(error, "\"%s\" is a script: it has no functions of its own%s%s", path,
                program ? "; trace its interpreter, " : "", program ? program : "");
}

static void explain_open(const struct user_file *file, int result, struct text *error)
{
    const char *path = file->library.path.data;
    char head[128];
    ssize_t got = pread(file->library.fd, head, sizeof(head) - 1, 0);

    head[got > 0 ? got : 0] = '\0';
    head[strcspn(head, "\n")] = '\0';
    if (result != -ENOEXEC)
        text_format(error, "cannot read \"%s\": %s", path, strerror(-result));
    else if (starts_with(head, "#!"))
        explain_script(path, head + 2, error);
    else
        text_format(error, "\"%s\" is not a program or library: it is no%s ELF file", path,
                    starts_with(head, ELFMAG) ? " sound" : "");
}

static int check_kind(const struct user_file *file, struct text *error)
{
    const char *path = file->library.path.data;

    if (!machine_is_ours(file->elf.machine))
        text_format(error, "\"%s\" is for another kind of machine (ELF machine %u): it does not "
                    "run here", path, file->elf.machine);
    else if (file->elf.type != ET_EXEC && file->elf.type != ET_DYN)
        text_format(error, "\"%s\" is not a program or library, but an object file or a core dump",
                    path);
    else
        return 0;
    return -ENOEXEC;
}

int user_file_read(struct user_file *file, struct text *error)
{
    int result = elf_open_watched(&file->elf, file->library.fd, 0, &file->trouble);

    file->elf.unpacked = &file->unpacked;
    if (result && result != -ENOMEM)
        explain_open(file, result, error);
    if (!result)
        result = check_kind(file, error);
    if (result)
        user_file_forget(file);
    return result;
}

int user_file_open(struct user_file *file, const struct library_where *where, const char *typed,
                   struct text *error)
{
    *file = (struct user_file){.library.fd = -1};
    int result = library_find(where, typed, &file->library, error);
    if (result)
        return result;
    result = user_file_read(file, error);
    if (result)
        library_close(&file->library);
    return result;
}

void user_file_forget(struct user_file *file)
{
    elf_close(&file->elf);
    elf_unpacked_free(&file->unpacked);
}

void user_file_close(struct user_file *file)
{
    user_file_forget(file);
    library_close(&file->library);
}

/* How the function begins; kernels since 6.13 look at these bytes, too. */
static int look_at_start(const struct user_file *file, const struct place *place,
                         enum place_start *start)
{
    const struct machine *machine = file->elf.row;
    unsigned char bytes[4] = {0};
    int result = elf_read(&file->elf, place->file_offset, bytes, sizeof(bytes));

    *start = START_OTHER;
    if (machine->push && bytes[0] == machine->push)
        *start = START_PUSH;
    else if (machine->mark && machine_little32(bytes) == machine->mark)
        *start = START_MARK;
    return result == -ENOEXEC ? 0 : result; /* a file may end here */
}

/*
 * Adds the instruction at `address`; `place` has the rest, its `name` without the file's, and
 * `start` only to say whether it is known to be a function's first: START_NONE or any other. 0,
 * -EFAULT if there is no code, or another negative errno.
 */
static int user_file_add(const struct user_file *file, const struct place *place, uint64_t address,
                         struct places *places)
{
    struct place added = *place;
    struct text name = {0};
    int result = 0;

    added.kind = PLACE_USER;
    added.address = address;
    added.file = file->library.file.data;
    added.path = file->library.path.data;
    if (!elf_code_at(&file->elf, address) ||
        !elf_offset_of(&file->elf, address, &added.file_offset))
        return -EFAULT;
    if (added.start)
        result = look_at_start(file, &added, &added.start);
    if (result)
        return result;
    text_format(&name, "%s:%s", base_name(added.path), place->name);
    added.name = name.data;
    result = name.failed ? -ENOMEM : places_add(places, &added);
    text_free(&name);
    return result;
}

/* The addresses of the places, or of those to look at, sorted, without duplicates. */
static size_t sort_addresses(const struct place *places, size_t count, bool all,
                             uint64_t *addresses)
{
    size_t listed = 0;

    for (size_t i = 0; i < count; i++)
        if (all || !places[i].start)
            addresses[listed++] = places[i].address;
    return sort_numbers(addresses, listed);
}

static int judge(const struct user_file *file, struct place *place, const struct elf_found *found,
                 struct text *error)
{
    enum place_start start;
    int result = look_at_start(file, place, &start);

    if (result)
        return result;
    /* Where no function is known, these two instructions still show that one begins. */
    if (found->found ? found->start == place->address : start != START_OTHER)
        place->start = start;
    /* A return probe there would replace a word that is not the return address. */
    if (place->at_return && found->found && found->start != place->address) {
        text_format(error, "\"%s\" is within %s: a return is traced from the start of a function",
                    place->name, found->name.data);
        return -ERANGE;
    }
    return 0;
}

/*
 * Sets `start` of the places from `first` on, all in this file, that have START_NONE, by where they
 * are in their functions. 0, -ERANGE with one line in `error` if a return probe is within a
 * function, not at its start, or another negative errno.
 */
static int user_file_find_starts(const struct user_file *file, struct places *places, size_t first,
                                 struct text *error)
{
    size_t count = places->count - first;
    struct place *items = places->items + first;
    uint64_t *addresses = calloc(count + 1, sizeof(*addresses));
    struct elf_found *found = calloc(count + 1, sizeof(*found));
    int result = addresses && found ? 0 : -ENOMEM;
    size_t distinct = result || !count ? 0 : sort_addresses(items, count, false, addresses);

    if (distinct)
        result = elf_find(&file->elf, addresses, distinct, found);
    for (size_t i = 0; i < count && !result; i++) {
        if (items[i].start)
            continue;
        const size_t at = first_not_below(addresses, distinct, items[i].address);
        result = judge(file, &items[i], &found[at], error);
    }
    if (found)
        elf_found_free(found, distinct);
    free(found);
    free(addresses);
    return result;
}

/* ---- Functions ---- */

#define MOST_SHOWN 3

struct function_search {
    const struct user_file *file;
    const struct pattern *pattern;
    bool typed_whole; /* "f(char*)" names a function: its * is not a wildcard */
    struct places *places;
    size_t matched, functions, choosers;
    bool too_far;        /* the offset leads out of the function */
    struct text chooser; /* the name of one */
    struct text scratch;
};

static bool is_named(const struct function_search *search)
{
    return search->typed_whole || search->pattern->name.kind == MATCH_PLAIN;
}

static int match_symbol(void *context, const struct elf_symbol *symbol)
{
    struct function_search *search = context;
    const struct matcher *wanted = &search->pattern->name;
    struct place place = {
        .name = (char *)symbol->name,
        .named = is_named(search),
        .at_return = search->pattern->at_return,
        .offset = search->pattern->offset,
        .start = search->pattern->offset ? START_NONE : START_OTHER,
    };

    search->functions++;
    /*
     * A label may be between any two instructions, or before data: it counts only if it was named.
     */
    if (symbol->type == STT_NOTYPE && !place.named)
        return 0;
    int result = search->typed_whole
                     ? function_is_typed(wanted, symbol->name, &search->scratch)
                     : function_matches(wanted, symbol->name, &search->scratch);
    if (result <= 0)
        return result;
    if (symbol->type == STT_GNU_IFUNC) {
        search->choosers++;
        text_clear(&search->chooser);
        text_add(&search->chooser, symbol->name);
        return 0;
    }
    if (place.offset && symbol->size && place.offset >= symbol->size) {
        search->too_far = true;
        return 0;
    }
    /*
     * An offset is from the symbol, as in disassemblers; without one it is where all calls arrive.
     */
    const uint64_t skipped = place.offset ? place.offset : symbol->entry;
    result = user_file_add(search->file, &place, symbol->address + skipped, search->places);
    if (result == -EFAULT)
        return 0; /* the symbol is wrong: nothing from the file is loaded there */
    search->matched++;
    return result;
}

/* The implementations of an IFUNC: __memcpy_avx_unaligned, memcpy_generic. */
struct variants {
    const char *name;
    size_t count;
    struct text names;
};

static int note_variant(void *context, const struct elf_symbol *symbol)
{
    struct variants *variants = context;
    const char *name = symbol->name + strspn(symbol->name, "_");
    const char *rest = starts_with(name, variants->name + strspn(variants->name, "_"));

    if (symbol->type != STT_FUNC || !rest || *rest != '_')
        return 0;
    if (variants->count++ < MOST_SHOWN)
        text_format(&variants->names, "%s%s", variants->names.length ? ", " : "", symbol->name);
    return 0;
}

static void explain_chooser(const struct function_search *search, struct text *error)
{
    struct variants variants = {.name = search->chooser.data};

    (void)elf_each_function(&search->file->elf, note_variant, &variants);
    text_format(error, "\"%s\": %s only chooses one of several functions when a program starts "
                "(an IFUNC)", search->pattern->typed, search->chooser.data);
    if (variants.count)
        text_format(error, "; trace those: %s%s", variants.names.data,
                    variants.count > MOST_SHOWN ? ", ..." : "");
    else
        text_add(error, ", whose names this file does not have");
    text_free(&variants.names);
}

struct offering {
    struct suggestions suggestions;
    struct text scratch;
};

/* A name that does not look mangled is a readable one, or a whole one. */
static int offer_symbol(void *context, const struct elf_symbol *symbol)
{
    struct offering *offering = context;
    const char *wanted = offering->suggestions.wanted;
    const struct demangle_options said = {.without_parameters = !strchr(wanted, '(')};
    bool raw = starts_with(wanted, "_Z") || starts_with(wanted, "_R");

    if (raw || demangle_symbol(symbol->name, &said, &offering->scratch))
        suggest(&offering->suggestions, symbol->name);
    else
        suggest(&offering->suggestions, offering->scratch.data);
    return 0;
}

static void explain_no_function(const struct function_search *search, struct text *error)
{
    const struct pattern *pattern = search->pattern;
    const char *path = search->file->library.path.data;
    struct offering offering = {.suggestions = {.wanted = pattern->name.text}};

    if (search->too_far) {
        text_format(error, "\"%s\" is past the end of %s", pattern->typed, pattern->name.text);
        return;
    }
    text_format(error, "0 functions matched by \"%s\"", pattern->typed);
    if (pattern->name.kind == MATCH_PLAIN)
        (void)elf_each_function(&search->file->elf, offer_symbol, &offering);
    suggestions_add(&offering.suggestions, error);
    if (search->file->unpacked.refusal)
        text_format(error, "; there may be more functions in %s: %s", path,
                    search->file->unpacked.refusal);
    else if (!offering.suggestions.count && !elf_section_of_type(&search->file->elf, SHT_SYMTAB) &&
             search->file->unpacked.kind == UNPACKED_NOTHING)
        text_format(error, ": %s is stripped, and names %s; an address of it can be traced: "
                    "%s:0x1234", path,
                    search->functions ? "only what other files use" : "no functions", path);
    suggestions_free(&offering.suggestions);
    text_free(&offering.scratch);
}

static int add_address(struct function_search *search, struct text *error)
{
    const struct pattern *pattern = search->pattern;
    struct text name = {0};
    struct place place = {.named = true, .at_return = pattern->at_return};

    text_format(&name, "0x%llx", (unsigned long long)pattern->address);
    place.name = name.data;
    int result = name.failed
                     ? -ENOMEM
                     : user_file_add(search->file, &place, pattern->address, search->places);
    if (result == -EFAULT)
        text_format(error, "\"%s\": the code of %s has no address %s", pattern->typed,
                    search->file->library.path.data, name.data);
    search->matched = !result;
    text_free(&name);
    return result;
}

static int note_typed(void *context, const struct elf_symbol *symbol)
{
    struct function_search *search = context;
    int result = function_is_typed(&search->pattern->name, symbol->name, &search->scratch);

    search->typed_whole = result > 0;
    return result;
}

static int find_functions(struct function_search *search, struct text *error)
{
    const struct pattern *pattern = search->pattern;
    const struct elf *elf = &search->file->elf;
    bool is_glob = pattern->name.kind == MATCH_GLOB;
    int result = 0;

    if (is_glob)
        result = elf_each_function(elf, note_typed, search);
    if (!result && is_glob && pattern->offset && !search->typed_whole)
        return text_refuse(error, "\"%s\": an offset needs one function, not a *", pattern->typed);
    if (!result)
        result = elf_each_function(elf, match_symbol, search);
    if (result && result != -ENOMEM)
        text_format(error, "cannot read the functions of \"%s\": %s",
                    search->file->library.path.data, strerror(-result));
    return result;
}

int user_functions_find(const struct user_file *file, const struct pattern *pattern,
                        struct places *places, size_t *matched, struct text *error)
{
    struct function_search search = {.file = file, .pattern = pattern, .places = places};
    size_t first = places->count;

    int result = pattern->is_address ? add_address(&search, error) : find_functions(&search, error);
    /* If memcpy is an IFUNC, a second memcpy that is none exists only for old programs. */
    if (!result && search.choosers && (is_named(&search) || !search.matched)) {
        explain_chooser(&search, error);
        result = -ENOENT;
    } else if (!result && !search.matched) {
        explain_no_function(&search, error);
        result = -ENOENT;
    }
    if (!result)
        result = user_file_find_starts(file, places, first, error);
    text_free(&search.chooser);
    text_free(&search.scratch);
    *matched = search.matched;
    return result;
}

/* ---- USDT probes ---- */

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

struct usdt_search {
    const struct user_file *file;
    const struct pattern *pattern;
    struct places *places;
    const struct elf_section *base; /* where .stapsdt.base is now; or NULL */
    size_t matched, seen, unusable;
    struct suggestions *suggestions; /* or NULL: matching goes on */
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

/* prelink moves a file after linking, but does not update its notes. */
static void adjust(const struct usdt_search *search, struct site *site)
{
    uint64_t moved = search->base && site->base ? search->base->address - site->base : 0;
    uint64_t mask = search->file->elf.is_64 ? UINT64_MAX : UINT32_MAX;

    site->address = (site->address + moved) & mask;
    if (site->semaphore)
        site->semaphore = (site->semaphore + moved) & mask;
}

static int add_site(struct usdt_search *search, const struct site *site)
{
    struct text name = {0};
    struct place place = {.is_usdt = true};
    int result = 0;

    place.named = search->pattern->name.kind == MATCH_PLAIN;
    /*
     * Without the semaphore the program would not reach the probe, so a wrong one makes the site
     * useless.
     */
    if (site->semaphore &&
        (!elf_offset_of(&search->file->elf, site->semaphore, &place.semaphore) || !place.semaphore))
        result = -EFAULT;
    text_format(&name, "%s:%s", site->provider, site->name);
    place.name = name.data;
    if (!result)
        result = name.failed ? -ENOMEM
                             : user_file_add(search->file, &place, site->address, search->places);
    text_free(&name);
    search->matched += !result;
    search->unusable += result == -EFAULT;
    return result == -EFAULT ? 0 : result;
}

static void offer_site(struct usdt_search *search, const struct site *site)
{
    struct text full = {0};

    text_format(&full, "%s:%s", site->provider, site->name);
    suggest(search->suggestions,
            strchr(search->suggestions->wanted, ':') && !full.failed ? full.data : site->name);
    text_free(&full);
}

static int take_note(void *context, const struct elf_note *note)
{
    struct usdt_search *search = context;
    struct site site;

    if (!read_site(&search->file->elf, note, &site))
        return 0;
    if (search->suggestions) {
        offer_site(search, &site);
        return 0;
    }
    search->seen++;
    if (!matcher_matches(&search->pattern->category, site.provider) ||
        !matcher_matches(&search->pattern->name, site.name))
        return 0;
    adjust(search, &site);
    return add_site(search, &site);
}

static int each_site(struct usdt_search *search)
{
    int result = elf_each_note(&search->file->elf, ".note.stapsdt", take_note, search);

    return result == -ENOEXEC ? 0 : result; /* what came before the damage counts */
}

static void explain_no_probe(struct usdt_search *search, struct text *error)
{
    const struct pattern *pattern = search->pattern;
    const char *path = search->file->library.path.data;
    /* What follows the library, as typed. */
    struct suggestions suggestions = {.wanted = strchr(strchr(pattern->typed, ':') + 1, ':') + 1};

    text_format(error, "0 USDT probes matched by \"%s\"", pattern->typed);
    if (search->unusable)
        text_format(error, " can be traced: they are outside of what %s loads", path);
    else if (!search->seen)
        text_format(error, ": %s has none", path);
    else if (pattern->category.kind != MATCH_REGEX) {
        search->suggestions = &suggestions;
        (void)each_site(search);
    }
    suggestions_add(&suggestions, error);
    suggestions_free(&suggestions);
}

int usdt_find(const struct user_file *file, const struct pattern *pattern, struct places *places,
              size_t *matched, struct text *error)
{
    struct usdt_search search = {
        .file = file,
        .pattern = pattern,
        .places = places,
        .base = elf_section(&file->elf, ".stapsdt.base"),
    };
    size_t first = places->count;
    int result = each_site(&search);

    *matched = search.matched;
    if (result) {
        if (result != -ENOMEM)
            text_format(error, "cannot read the notes of \"%s\": %s", file->library.path.data,
                        strerror(-result));
        return result;
    }
    if (!search.matched) {
        explain_no_probe(&search, error);
        return -ENOENT;
    }
    return user_file_find_starts(file, places, first, error);
}

/* ---- ARM's and MIPS's two kinds of code ---- */

static const struct kinds {
    const char *unprobed, *probed, *options;
} of_arm = {"Thumb", "ARM", "-marm"},
  of_mips = {"microMIPS or MIPS16", "plain MIPS", "-mno-micromips -mno-mips16"};

static const struct kinds *kinds_of(const struct user_file *file)
{
    return file->elf.row->compressed ? &of_mips : &of_arm;
}

static void explain(const struct user_file *file, const struct pattern *pattern,
                    enum arm_code why, struct text *error)
{
    const struct kinds *kinds = kinds_of(file);

    if (why == ARM_CODE_DATA)
        text_format(error, "\"%s\" is data, not an instruction: a probe would overwrite it",
                    pattern->typed);
    else if (why == ARM_CODE_THUMB)
        text_format(error, "\"%s\" is %s code", pattern->typed, kinds->unprobed);
    else
        text_format(error, "\"%s\" may be %s code, and %s has no symbol that tells",
                    pattern->typed, kinds->unprobed, file->library.path.data);
    if (why != ARM_CODE_DATA)
        text_format(error, ": the kernel can only probe %s code, and would break the program; "
                           "code compiled with %s can be traced",
                    kinds->probed, kinds->options);
}

static void add_left_out(const struct user_file *file, size_t removed, size_t count,
                         struct text *left_out)
{
    if (removed && !left_out->length)
        text_format(left_out,
                    "left out %zu of %zu in %s, which are or may be %s code: the kernel can "
                    "only probe %s code, and would break the program",
                    removed, count, file->library.path.data, kinds_of(file)->unprobed,
                    kinds_of(file)->probed);
}

/* Marks the places that cannot be probed. Returns the surest of their reasons. */
static enum arm_code mark(struct place *items, size_t count, const uint64_t *addresses,
                          size_t distinct, const enum arm_code *codes)
{
    enum arm_code why = ARM_CODE_UNKNOWN;

    for (size_t i = 0; i < count; i++) {
        const enum arm_code code = codes[first_not_below(addresses, distinct, items[i].address)];
        items[i].error = code == ARM_CODE_ARM ? 0 : -ENOTSUP;
        if (items[i].error && why != ARM_CODE_THUMB && code)
            why = code;
    }
    return why;
}

int thumb_remove(const struct user_file *file, const struct pattern *pattern,
                 struct places *places, size_t first, struct text *left_out, struct text *error)
{
    const size_t count = places->count - first;

    if (!file->elf.has_thumb || !count)
        return 0;
    struct place *items = places->items + first;
    uint64_t *addresses = calloc(count, sizeof(*addresses));
    enum arm_code *codes = calloc(count, sizeof(*codes)), why = ARM_CODE_UNKNOWN;
    const size_t distinct = addresses ? sort_addresses(items, count, true, addresses) : 0;
    int result = addresses && codes ? elf_arm_codes(&file->elf, addresses, distinct, codes)
                                    : -ENOMEM;

    if (!result) {
        why = mark(items, count, addresses, distinct, codes);
        places_remove_failed(places, first);
        if (places->count > first)
            add_left_out(file, first + count - places->count, count, left_out);
    } else if (result != -ENOMEM) {
        text_format(error, "cannot read \"%s\": %s", file->library.path.data, strerror(-result));
    }
    if (!result && places->count == first) {
        explain(file, pattern, why, error);
        result = -ENOTSUP;
    }
    free(addresses);
    free(codes);
    return result;
}
