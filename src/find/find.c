/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "find/find.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/util.h"
#include "find/find_files.h"
#include "find/find_user.h"
#include "find/kernel_functions.h"
#include "find/tracepoints.h"
#include "kernel/refusal.h"
#include "kernel/tracefs.h"
#include "machine/machine.h"

int find_parse(struct find *find, char *const *words, size_t count, bool is_regex,
               struct text *error)
{
    int result = 0;

    find->patterns = calloc(count + 1, sizeof(*find->patterns));
    find->matched = calloc(count + 1, sizeof(*find->matched));
    if (!find->patterns || !find->matched)
        result = -ENOMEM;
    while (!result && find->count < count) {
        result = pattern_parse(&find->patterns[find->count], words[find->count], is_regex, error);
        find->count += !result;
    }
    if (result == -ENOMEM)
        text_add(error, "out of memory");
    return result;
}

/* Does it match a tracepoint? 1, 0 or -ENOMEM. */
static int is_tracepoint(struct find *find, const struct pattern *pattern)
{
    struct places places = {0};
    struct text near = {0};
    size_t matched = 0;

    if (find->tracefs < 0)
        find->tracefs = tracefs_open();
    int result = find->tracefs < 0 ? 0
                                   : tracepoints_find(find->tracefs, pattern, &places, &matched,
                                                      &near);
    places_free(&places);
    text_free(&near);
    return result == -ENOMEM ? result : !result && matched;
}

int find_translate(struct find *find)
{
    for (size_t i = 0; i < find->count; i++) {
        struct pattern tracepoint;
        int result = pattern_as_tracepoint(&tracepoint, &find->patterns[i]);
        if (result == -ENOMEM)
            return result;
        if (result)
            continue;
        result = is_tracepoint(find, &tracepoint);
        pattern_free(result > 0 ? &find->patterns[i] : &tracepoint);
        if (result > 0)
            find->patterns[i] = tracepoint;
        if (result < 0)
            return result;
    }
    return 0;
}

bool find_any_of_kind(const struct find *find, enum pattern_kind kind)
{
    for (size_t i = 0; i < find->count; i++)
        if (find->patterns[i].kind == kind)
            return true;
    return false;
}

/* How programs at places are kept from nesting; programs at places of one kind never nest. */
enum kept_apart {
    BY_THE_CPU = 1,     /* one program runs at a time: kernel functions, tracepoints */
    BY_THE_PROGRAM = 2, /* only other programs nest with it: single system calls, since Linux 7.2 */
    BY_NOTHING = 4,     /* user probes */
};

static unsigned kept_apart_by(const struct pattern *pattern)
{
    if (pattern->kind == PATTERN_KERNEL_FUNCTION)
        return BY_THE_CPU;
    if (pattern->kind != PATTERN_TRACEPOINT)
        return BY_NOTHING;
    if (!matcher_matches(&pattern->category, "syscalls"))
        return BY_THE_CPU;
    return pattern->category.kind == MATCH_PLAIN ? BY_THE_PROGRAM : BY_THE_PROGRAM | BY_THE_CPU;
}

bool find_programs_meet(const struct find *find)
{
    unsigned kinds = 0;

    for (size_t i = 0; i < find->count; i++)
        kinds |= kept_apart_by(&find->patterns[i]);
    return kinds & BY_NOTHING || kinds & (kinds - 1);
}

/* The first pattern of a kind that matched nothing; find->count: there is none. */
static size_t first_unmatched(const struct find *find, enum pattern_kind kind)
{
    size_t i = 0;

    while (i < find->count && (find->patterns[i].kind != kind || find->matched[i]))
        i++;
    return i;
}

/* sys_getppid, as people type it on every machine, although the function is __x64_sys_getppid. */
static int find_call(struct find *find, size_t which)
{
    const char *const prefixes[] = {find->kernel->call_prefix, "__se_"};
    struct pattern *pattern = &find->patterns[which];
    char *typed = pattern->name.text;
    int result = 0;

    for (size_t i = 0; i < COUNT_OF(prefixes) && !result && !find->matched[which]; i++) {
        struct text name = {0};
        text_format(&name, "%s%s", prefixes[i], typed);
        pattern->name.text = name.data;
        result = name.failed ? -ENOMEM
                             : kernel_functions_find(find->kallsyms, pattern, 1, &find->places,
                                                     &find->matched[which]);
        pattern->is_call = !result && find->matched[which];
        if (!pattern->is_call)
            text_free(&name);
    }
    if (pattern->is_call)
        free(typed);
    else
        pattern->name.text = typed;
    return result;
}

static int find_calls(struct find *find)
{
    int result = 0;

    for (size_t i = 0; i < find->count && !result; i++)
        if (find->patterns[i].kind == PATTERN_KERNEL_FUNCTION && !find->matched[i] &&
            find->patterns[i].name.kind == MATCH_PLAIN && !strncmp(find->patterns[i].name.text, "sys_", 4))
            result = find_call(find, i);
    return result;
}

/* "; libc has it: c:malloc". A word without a colon is the kernel's. False: libc has no such function. */
static bool offer_libc(const struct find *find, const char *name, struct text *error)
{
    struct find libc = {.pid = find->pid, .kallsyms = -1, .tracefs = -1};
    struct text word = {0}, why = {0};

    text_format(&word, "c:%s", name);
    char *const words[] = {word.data};
    const bool found = !word.failed && !find_parse(&libc, words, 1, false, &why) && !find_places(&libc, &why);
    if (found)
        text_format(error, "; libc has it: %s", word.data);
    find_close(&libc);
    text_free(&word);
    text_free(&why);
    return found;
}

static int find_functions(struct find *find, struct text *error)
{
    if (!find_any_of_kind(find, PATTERN_KERNEL_FUNCTION))
        return 0;
    int result = find->kallsyms < 0
        ? -ENOENT
        : kernel_functions_find(find->kallsyms, find->patterns, find->count, &find->places,
                                find->matched);
    if (!result)
        result = find_calls(find);
    if (result) {
        text_format(error, "cannot read /proc/kallsyms, which lists the kernel's functions: %s%s",
                    strerror(-result), find->kallsyms < 0 ? " (is /proc mounted?)" : "");
        return result;
    }
    size_t unmatched = first_unmatched(find, PATTERN_KERNEL_FUNCTION);
    if (unmatched == find->count)
        return kernel_functions_check_offsets(find->kallsyms, &find->places, error);
    const struct pattern *pattern = &find->patterns[unmatched];
    text_format(error, "0 functions matched by \"%s\"", pattern->typed);
    if (pattern->name.kind == MATCH_PLAIN && !offer_libc(find, pattern->name.text, error))
        (void)kernel_functions_near(find->kallsyms, pattern->name.text, error);
    return -ENOENT;
}

static int find_tracepoints(struct find *find, struct text *error)
{
    struct text near = {0};
    int result = 0;

    for (size_t i = 0; i < find->count && !result; i++) {
        if (find->patterns[i].kind != PATTERN_TRACEPOINT)
            continue;
        result = find->tracefs < 0 ? find->tracefs
                                   : tracepoints_find(find->tracefs, &find->patterns[i],
                                                      &find->places, &find->matched[i], &near);
        if (result)
            refusal_explain(REFUSED_TRACEFS, result, 0, error);
    }
    size_t unmatched = result ? find->count : first_unmatched(find, PATTERN_TRACEPOINT);
    if (unmatched < find->count) {
        text_format(error, "0 tracepoints matched by \"%s\"%s", find->patterns[unmatched].typed,
                    near.data ? near.data : "");
        result = -ENOENT;
    }
    text_free(&near);
    return result;
}

int find_places(struct find *find, struct text *error)
{
    if (find->tracefs < 0)
        find->tracefs = tracefs_open();
    find->kernel = machine_of_kernel();
    int result = find_functions(find, error);

    if (!result)
        result = find_tracepoints(find, error);
    if (!result)
        result = find_user_places(find, error);
    if (result == -ENOMEM && !error->length)
        text_add(error, "out of memory");
    places_remove_doubles(&find->places);
    return result;
}

void find_close(struct find *find)
{
    for (size_t i = 0; i < find->count; i++)
        pattern_free(&find->patterns[i]);
    free(find->patterns);
    free(find->matched);
    places_free(&find->places);
    find_files_free(find);
    text_free(&find->unread);
    text_free(&find->left_out);
    if (find->tracefs >= 0)
        close(find->tracefs);
    *find = (struct find){.tracefs = -1, .kallsyms = -1};
}
