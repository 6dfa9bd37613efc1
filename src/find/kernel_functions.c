/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "find/find.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/suggest.h"
#include "base/reading.h"
#include "base/util.h"
#include "kernel/kallsyms.h"
#include "kernel/kernel_names.h"
#include "kernel/limits.h"
#include "kernel/perf.h"
#include "machine/machine.h"

#define LONGEST_NAME 512 /* KSYM_NAME_LEN */
/* Linux 6.7, whose kprobe PMU refuses names that several functions have. */
#define REFUSES_AMBIGUOUS 0x060700

struct pass {
    const struct pattern *patterns;
    size_t pattern_count;
    struct places *places;
    size_t *matched;
    const char *tables; /* from machine_of_kernel() */
    bool has_tables;
    /* Of adjacent names with the same address, ftrace lists the first. */
    uint64_t address;
    char first_name[LONGEST_NAME];
    struct text scratch;
};

static int match_symbol(void *context, const struct kallsyms_symbol *symbol)
{
    struct pass *pass = context;

    if (symbol->address != pass->address || !symbol->address) {
        pass->address = symbol->address;
        size_t length = strnlen(symbol->name, LONGEST_NAME - 1);
        memcpy(pass->first_name, symbol->name, length);
        pass->first_name[length] = '\0';
    }
    if (!kallsyms_is_function(symbol->type))
        return 0;
    if (pass->tables && !strcmp(symbol->name, pass->tables))
        pass->has_tables = true;
    for (size_t i = 0; i < pass->pattern_count; i++) {
        const struct pattern *pattern = &pass->patterns[i];
        /* Names of the padding before a function, for patching: it never runs as a function. */
        if (pattern->kind != PATTERN_KERNEL_FUNCTION ||
            (pattern->name.kind != MATCH_PLAIN && (starts_with(symbol->name, "__pfx_") ||
                                                   starts_with(symbol->name, "__cfi_"))))
            continue;
        int result = function_matches(&pattern->name, symbol->name, &pass->scratch);
        if (result < 0)
            return result;
        if (!result)
            continue;
        struct place place = {
            .kind = PLACE_KERNEL_FUNCTION,
            .at_return = pattern->at_return,
            .named = pattern->name.kind == MATCH_PLAIN,
            .name = (char *)symbol->name,
            .first_name = pass->first_name,
            .address = symbol->address,
            .offset = pattern->offset,
        };
        pass->matched[i]++;
        result = places_add(pass->places, &place);
        if (result)
            return result;
    }
    return 0;
}

/* Marks first instructions at which this kernel's own walk misses the caller. */
static void mark_starts(struct places *places, bool has_tables)
{
    const struct machine *kernel = machine_of_kernel();
    const bool misses = kernel->kernel_tables ? !has_tables : machine_has_link(kernel);

    for (size_t i = 0; i < places->count && misses; i++) {
        struct place *place = &places->items[i];
        if (place->kind == PLACE_KERNEL_FUNCTION && !place->at_return && !place->offset)
            place->start = START_LINK;
    }
}

int kernel_functions_find(int kallsyms, const struct pattern *patterns, size_t count,
                          struct places *places, size_t *matched)
{
    struct pass pass = {
        .patterns = patterns,
        .pattern_count = count,
        .places = places,
        .matched = matched,
        .tables = machine_of_kernel()->kernel_tables,
    };
    int result = kallsyms_each(kallsyms, match_symbol, &pass);

    mark_starts(places, pass.has_tables);
    text_free(&pass.scratch);
    return result;
}

/*
 * Is it a function, and the only one of that name? Tries a probe within the first instruction: the
 * kernel refuses it, but an ambiguous name with another errno; closing a probe that it accepts
 * would take a wait. EINVAL is also its answer for data.
 */
static bool is_alone(const struct kernel_names *names, const struct perf_probe_type *type,
                     const struct place *place)
{
    const int event = perf_open_kprobe(type, false, place->name, 1, 0);

    close_fd(event);
    return event >= 0 || event == -EILSEQ ||
        (event == -EINVAL && kernel_names_is_text(names, place->address));
}

int kernel_functions_ask(const struct kernel_names *names, const struct pattern *patterns,
                         size_t count, struct places *places, size_t *matched)
{
    const char *tables = machine_of_kernel()->kernel_tables;
    struct perf_probe_type type;
    int result =
        own_version() < REFUSES_AMBIGUOUS || perf_probe_type("kprobe", &type) ? -EAGAIN : 0;

    for (size_t i = 0; i < count && !result; i++) {
        const struct pattern *pattern = &patterns[i];
        struct place place = {
            .kind = PLACE_KERNEL_FUNCTION,
            .at_return = pattern->at_return,
            .named = true,
            .name = pattern->name.text,
        };
        if (pattern->kind != PATTERN_KERNEL_FUNCTION)
            continue;
        /* Only a pass over kallsyms finds mangled names, or a function's length. */
        if (pattern->name.kind != MATCH_PLAIN || pattern->offset || strchr(pattern->name.text, ':'))
            return -EAGAIN;
        place.address = kernel_names_address(names, place.name);
        if (!place.address)
            continue;
        if (!is_alone(names, &type, &place))
            return -EAGAIN;
        matched[i]++;
        result = places_add(places, &place);
    }
    mark_starts(places, tables && kernel_names_address(names, tables));
    return result;
}

static int check_offset(int kallsyms, const struct place *place, struct text *error)
{
    uint64_t address = place->address + place->offset;
    const struct kallsyms_search search = {.addresses = &address, .count = 1};
    struct kallsyms_found found = {0};
    int result = kallsyms_find(kallsyms, &search, &found);

    if (!result && (!found.found || found.start != place->address)) {
        text_format(error, "\"%s+0x%llx\" is past the end of %s", place->name,
                    (unsigned long long)place->offset, place->name);
        result = -ERANGE;
    }
    kallsyms_free(&found, 1);
    return result;
}

int kernel_functions_check_offsets(int kallsyms, const struct places *places, struct text *error)
{
    int result = 0;

    /* If the kernel hides addresses, there is nothing to compare. */
    for (size_t i = 0; i < places->count && !result; i++)
        if (places->items[i].offset && places->items[i].address)
            result = check_offset(kallsyms, &places->items[i], error);
    return result;
}

/* A function with a name that ftrace may list it by. */
struct listed {
    const char *name;
    size_t function;
};

static void mark_name(const struct listed *names, size_t count, const char *name, bool *found)
{
    for (size_t at = first_named(names, count, sizeof(*names), name);
         at < count && !strcmp(names[at].name, name); at++)
        found[names[at].function] = true;
}

/* How many characters all names begin with: most of ftrace's list differs in these. */
static size_t common_prefix(const struct listed *names, size_t count)
{
    const char *first = names[0].name, *last = names[count - 1].name; /* they are sorted */
    size_t length = 0;

    while (first[length] && first[length] == last[length])
        length++;
    return length;
}

/* Reads what ftrace can trace: "name" or "name [module]", one per line. */
static int mark_listed(int tracefs, const struct listed *names, size_t count, bool *found)
{
    struct lines lines;
    size_t length, prefix = common_prefix(names, count);
    char *line;
    int fd = openat(tracefs, "available_filter_functions", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    int result = lines_open(&lines, fd);
    if (!result) {
        while ((line = lines_next(&lines, &length))) {
            if (length < prefix || memcmp(line, names[0].name, prefix))
                continue;
            line[strcspn(line, " \t")] = '\0';
            mark_name(names, count, line, found);
        }
        result = lines.error;
        lines_close(&lines);
    }
    close(fd);
    return result;
}

int kernel_functions_sift(int tracefs, struct place *const *functions, size_t count)
{
    struct listed *names = calloc(count * 2, sizeof(*names));
    bool *found = calloc(count, sizeof(*found));
    size_t name_count = 0;
    int result = names && found ? 0 : -ENOMEM;

    for (size_t i = 0; i < count && !result; i++) {
        names[name_count++] = (struct listed){functions[i]->name, i};
        if (functions[i]->first_name && strcmp(functions[i]->first_name, functions[i]->name))
            names[name_count++] = (struct listed){functions[i]->first_name, i};
    }
    if (!result) {
        qsort(names, name_count, sizeof(*names), compare_strings);
        result = mark_listed(tracefs, names, name_count, found);
    }
    for (size_t i = 0; i < count && !result; i++)
        if (!found[i])
            functions[i]->error = -ENOENT;
    free(names);
    free(found);
    return result;
}

static int offer_symbol(void *context, const struct kallsyms_symbol *symbol)
{
    if (kallsyms_is_function(symbol->type))
        suggest(context, symbol->name);
    return 0;
}

int kernel_functions_near(int kallsyms, const char *name, struct text *near_names)
{
    struct suggestions suggestions = {.wanted = name};
    int result = kallsyms_each(kallsyms, offer_symbol, &suggestions);

    suggestions_add(&suggestions, near_names);
    suggestions_free(&suggestions);
    return result;
}
