/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "find/user_functions.h"

#include <errno.h>
#include <string.h>

#include "base/near.h"
#include "base/text.h"
#include "elf/elf_symbols.h"
#include "find/function_names.h"

#define MOST_SHOWN 3

struct pass {
    const struct user_file *file;
    const struct pattern *pattern;
    bool typed_whole; /* "f(char*)" names a function: its * is not a wildcard */
    struct places *places;
    size_t matched, functions, choosers;
    bool too_far;        /* the offset leads out of the function */
    struct text chooser; /* the name of one */
    struct text scratch;
};

static bool is_named(const struct pass *pass)
{
    return pass->typed_whole || pass->pattern->name.kind == MATCH_PLAIN;
}

static int match_symbol(void *context, const struct elf_symbol *symbol)
{
    struct pass *pass = context;
    const struct matcher *wanted = &pass->pattern->name;
    struct place place = {
        .name = (char *)symbol->name,
        .named = is_named(pass),
        .at_return = pass->pattern->at_return,
        .offset = pass->pattern->offset,
        .start = pass->pattern->offset ? START_NONE : START_OTHER,
    };

    pass->functions++;
    /*
     * A label may be between any two instructions, or before data: it is only used if it was named.
     */
    if (symbol->type == STT_NOTYPE && !place.named)
        return 0;
    int result = pass->typed_whole
                     ? function_is_typed(wanted, symbol->name, &pass->scratch)
                     : function_matches(wanted, symbol->name, &pass->scratch);
    if (result <= 0)
        return result;
    if (symbol->type == STT_GNU_IFUNC) {
        pass->choosers++;
        text_clear(&pass->chooser);
        text_add(&pass->chooser, symbol->name);
        return 0;
    }
    if (place.offset && symbol->size && place.offset >= symbol->size) {
        pass->too_far = true;
        return 0;
    }
    /*
     * An offset is from the symbol, as in disassemblers; without one it is where all calls arrive.
     */
    const uint64_t skipped = place.offset ? place.offset : symbol->entry;
    result = user_file_add(pass->file, &place, symbol->address + skipped, pass->places);
    if (result == -EFAULT)
        return 0; /* the symbol is wrong: nothing from the file is loaded there */
    pass->matched++;
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
    const char *wanted = variants->name + strspn(variants->name, "_");
    size_t length = strlen(wanted);

    if (symbol->type != STT_FUNC || strncmp(name, wanted, length) || name[length] != '_')
        return 0;
    if (variants->count++ < MOST_SHOWN)
        text_format(&variants->names, "%s%s", variants->names.length ? ", " : "", symbol->name);
    return 0;
}

static void explain_chooser(const struct pass *pass, struct text *error)
{
    struct variants variants = {.name = pass->chooser.data};

    (void)elf_each_function(&pass->file->elf, note_variant, &variants);
    text_format(error, "\"%s\": %s only chooses one of several functions when a program starts "
                "(an IFUNC)", pass->pattern->typed, pass->chooser.data);
    if (variants.count)
        text_format(error, "; trace those: %s%s", variants.names.data,
                    variants.count > MOST_SHOWN ? ", ..." : "");
    else
        text_add(error, ", whose names this file does not have");
    text_free(&variants.names);
}

struct offering {
    struct near near;
    struct text scratch;
};

/* A name that does not look mangled is a readable one, or a whole one. */
static int offer_symbol(void *context, const struct elf_symbol *symbol)
{
    struct offering *offering = context;
    const char *wanted = offering->near.wanted;
    const struct demangle_wishes said = {.without_parameters = !strchr(wanted, '(')};
    bool raw = !strncmp(wanted, "_Z", 2) || !strncmp(wanted, "_R", 2);

    if (raw || demangle_symbol(symbol->name, &said, &offering->scratch))
        near_offer(&offering->near, symbol->name);
    else
        near_offer(&offering->near, offering->scratch.data);
    return 0;
}

static void explain_none(const struct pass *pass, struct text *error)
{
    const struct pattern *pattern = pass->pattern;
    const char *path = pass->file->library.path.data;
    struct offering offering = {.near = {.wanted = pattern->name.text}};

    if (pass->too_far) {
        text_format(error, "\"%s\" is past the end of %s", pattern->typed, pattern->name.text);
        return;
    }
    text_format(error, "0 functions matched by \"%s\"", pattern->typed);
    if (pattern->name.kind == MATCH_PLAIN)
        (void)elf_each_function(&pass->file->elf, offer_symbol, &offering);
    near_add_to(&offering.near, error);
    if (pass->file->unpacked.refusal)
        text_format(error, "; there may be more functions in %s: %s", path,
                    pass->file->unpacked.refusal);
    else if (!offering.near.count && !elf_section_of_type(&pass->file->elf, SHT_SYMTAB) &&
             pass->file->unpacked.kind == UNPACKED_NOTHING)
        text_format(error, ": %s is stripped, and names %s; an address of it can be traced: "
                    "%s:0x1234", path,
                    pass->functions ? "only what other files use" : "no functions", path);
    near_free(&offering.near);
    text_free(&offering.scratch);
}

static int add_address(struct pass *pass, struct text *error)
{
    const struct pattern *pattern = pass->pattern;
    struct text name = {0};
    struct place place = {.named = true, .at_return = pattern->at_return};

    text_format(&name, "0x%llx", (unsigned long long)pattern->address);
    place.name = name.data;
    int result = name.failed ? -ENOMEM
                             : user_file_add(pass->file, &place, pattern->address, pass->places);
    if (result == -EFAULT)
        text_format(error, "\"%s\": the code of %s has no address %s", pattern->typed,
                    pass->file->library.path.data, name.data);
    pass->matched = !result;
    text_free(&name);
    return result;
}

static int note_typed(void *context, const struct elf_symbol *symbol)
{
    struct pass *pass = context;
    int result = function_is_typed(&pass->pattern->name, symbol->name, &pass->scratch);

    pass->typed_whole = result > 0;
    return result;
}

static int find_functions(struct pass *pass, struct text *error)
{
    const struct pattern *pattern = pass->pattern;
    const struct elf *elf = &pass->file->elf;
    bool is_glob = pattern->name.kind == MATCH_GLOB;
    int result = 0;

    if (is_glob)
        result = elf_each_function(elf, note_typed, pass);
    if (!result && is_glob && pattern->offset && !pass->typed_whole) {
        text_format(error, "\"%s\": an offset needs one function, not a *", pattern->typed);
        return -EINVAL;
    }
    if (!result)
        result = elf_each_function(elf, match_symbol, pass);
    if (result && result != -ENOMEM)
        text_format(error, "cannot read the functions of \"%s\": %s",
                    pass->file->library.path.data, strerror(-result));
    return result;
}

int user_functions_find(const struct user_file *file, const struct pattern *pattern,
                        struct places *places, size_t *matched, struct text *error)
{
    struct pass pass = {.file = file, .pattern = pattern, .places = places};
    size_t first = places->count;

    int result = pattern->is_address ? add_address(&pass, error) : find_functions(&pass, error);
    /* If memcpy is an IFUNC, another one that is not exists only for old programs. */
    if (!result && pass.choosers && (is_named(&pass) || !pass.matched)) {
        explain_chooser(&pass, error);
        result = -ENOENT;
    } else if (!result && !pass.matched) {
        explain_none(&pass, error);
        result = -ENOENT;
    }
    if (!result)
        result = user_file_find_starts(file, places, first, error);
    text_free(&pass.chooser);
    text_free(&pass.scratch);
    *matched = pass.matched;
    return result;
}
