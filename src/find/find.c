/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "find/find.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "base/util.h"
#include "find/user_file.h"
#include "kernel/refusal.h"
#include "kernel/tracefs.h"
#include "machine/machine.h"
#include "machine/system_calls.h"

/* ---- Tracepoints ---- */

struct search {
    int tracefs;
    const struct pattern *pattern;
    struct places *places;
    size_t matched;
};

static int add_event(struct search *search, const char *category, const char *name)
{
    struct text full = {0};
    struct place place = {.kind = PLACE_TRACEPOINT};
    int result = tracefs_event_id(search->tracefs, category, name, &place.id);

    if (result) /* not an event that can be opened, such as ftrace's own */
        return result == -ENOENT || result == -EINVAL || result == -ENOTDIR ? 0 : result;
    text_format(&full, "%s:%s", category, name);
    place.name = full.data;
    /* The id identifies a tracepoint as an address does a function. */
    place.address = place.id;
    result = full.failed ? -ENOMEM : places_add(search->places, &place);
    text_free(&full);
    search->matched++;
    return result;
}

static bool category_matches(void *context, const char *category)
{
    struct search *search = context;

    return matcher_matches(&search->pattern->category, category);
}

static int add_if_matched(void *context, const char *category, const char *name)
{
    struct search *search = context;

    if (!matcher_matches(&search->pattern->name, name))
        return 0;
    return add_event(search, category, name);
}

static int offer_near(void *context, const char *category, const char *name)
{
    struct text full = {0};

    text_format(&full, "t:%s:%s", category, name);
    if (!full.failed) {
        suggest(context, full.data);
        suggest_by_words(context, full.data);
    }
    text_free(&full);
    return 0;
}

/*
 * Adds each tracepoint that `pattern` matches; *matched is how many. `tracefs` is an open
 * directory. If a pattern without wildcards matches none, near names are appended to `near`. 0 or a
 * negative errno.
 */
static int tracepoints_find(int tracefs, const struct pattern *pattern, struct places *places,
                            size_t *matched, struct text *near_names)
{
    struct search search = {tracefs, pattern, places, 0};
    int result;

    bool plain = pattern->category.kind == MATCH_PLAIN && pattern->name.kind == MATCH_PLAIN;
    if (plain)
        result = add_event(&search, pattern->category.text, pattern->name.text);
    else
        result = tracefs_each_event(tracefs, category_matches, add_if_matched, &search);
    if (!result && plain && !search.matched) {
        struct text wanted = {0};
        text_format(&wanted, "t:%s:%s", pattern->category.text, pattern->name.text);
        struct suggestions suggestions = {.wanted = wanted.data};
        result =
            wanted.failed ? -ENOMEM : tracefs_each_event(tracefs, NULL, offer_near, &suggestions);
        suggestions_add(&suggestions, near_names);
        suggestions_free(&suggestions);
        text_free(&wanted);
    }
    *matched = search.matched;
    return result;
}

/* ---- System calls without tracefs ---- */

#define CALLS "syscalls"

static int system_calls_match(const struct pattern *pattern, struct places *places, size_t *matched)
{
    static const char *const sides[] = {"sys_enter", "sys_exit"};
    struct text name = {0};
    struct system_call call;
    int result = 0;

    if (!matcher_matches(&pattern->category, CALLS))
        return 0;
    for (size_t i = 0; !result && (call = system_calls_at(i / 2)).name; i++) {
        text_clear(&name);
        text_format(&name, CALLS ":%s_%s", sides[i % 2], call.name);
        if (name.failed)
            break;
        if (!matcher_matches(&pattern->name, name.data + sizeof(CALLS)))
            continue;
        const uint32_t id = PLACE_CALL_ID(call.number, i % 2);
        result = places_add(places, &(struct place){.kind = PLACE_TRACEPOINT, .name = name.data,
                                                    .id = id, .address = id});
        ++*matched;
    }
    result = name.failed ? -ENOMEM : result;
    text_free(&name);
    return result;
}

/* Without tracefs, the kernel function sys_read becomes t:syscalls:sys_enter_read. */
static int translate_call(struct pattern *pattern)
{
    struct text name = {0}, error = {0};

    text_format(&name, "sys_%s_%s", pattern->at_return ? "exit" : "enter",
                pattern->name.text + strlen("sys_"));
    int result = name.failed ? -ENOMEM : matcher_make(&pattern->category, CALLS, false, &error);
    if (result) {
        text_free(&name);
        return result;
    }
    free(pattern->name.text);
    pattern->name.text = name.data;
    pattern->kind = PATTERN_TRACEPOINT;
    return 0;
}

static int translate_calls(struct find *find)
{
    int result = 0;

    for (size_t i = 0; i < find->count && !result; i++)
        if (pattern_is_call(&find->patterns[i]))
            result = translate_call(&find->patterns[i]);
    return result;
}

/* ---- Lists ---- */

static void add_pattern(const struct place *place, const struct text *name, struct text *line)
{
    if (place->kind == PLACE_TRACEPOINT) {
        text_format(line, "t:%s", place->name);
        return;
    }
    if (place->kind == PLACE_USER)
        text_format(line, "%s%s:", place->is_usdt ? "u:" : place->at_return ? "r:" : "",
                    place->path);
    else if (place->at_return)
        text_add(line, "r::");
    else if (name->length && strchr(name->data, ':')) /* core::fmt::f is in no library "core" */
        text_add(line, "p::");
    text_append(line, name->data, name->length);
    if (place->offset)
        text_format(line, "+0x%llx", (unsigned long long)place->offset);
}

/* Parsed as a pattern, does the line mean this function by its name? 1, 0 or -ENOMEM. */
static int is_meant(const char *line, const struct place *place, const struct text *name)
{
    struct text error = {0};
    struct pattern pattern;

    int result = pattern_parse(&pattern, line, false, &error);
    if (result) {
        text_free(&error);
        return result == -ENOMEM ? result : 0;
    }
    const bool meant = pattern.kind == PATTERN_USER_FUNCTION &&
                       !strcmp(pattern.library, place->path) &&
                       !strcmp(pattern.name.text, name->data) && pattern.offset == place->offset &&
                       (!pattern.is_address || pattern.address == place->address);
    pattern_free(&pattern);
    return meant;
}

/* If the name would parse as something else, such as f+0x10, the line has the address. */
static void add_line(const struct place *place, const struct demangle_options *readable,
                     struct text *line)
{
    struct text name = {0}, raw = {0};
    int meant = 1;

    place_add_own_name(place, readable, &name);
    add_pattern(place, &name, &raw);
    escape_text(line, &raw);
    if (!line->failed && !name.failed && place->kind == PLACE_USER && !place->is_usdt)
        meant = is_meant(line->data, place, &name);
    if (!meant) {
        text_clear(line);
        text_format(&raw, "%s%s:0x%llx", place->at_return ? "r:" : "", place->path,
                    (unsigned long long)place->address);
        escape_text(line, &raw);
    }
    line->failed = line->failed || name.failed || meant < 0;
    text_free(&name);
}

int list_places(const struct places *places, const struct demangle_options *readable,
                struct text *lines)
{
    char **patterns = calloc(places->count + 1, sizeof(*patterns));
    int result = patterns ? 0 : -ENOMEM;
    size_t count = 0;

    while (!result && count < places->count) {
        struct text line = {0};
        add_line(&places->items[count], readable, &line);
        patterns[count++] = line.data;
        result = line.failed ? -ENOMEM : 0;
    }
    if (!result)
        qsort(patterns, count, sizeof(*patterns), compare_strings);
    for (size_t i = 0; i < count && !result; i++)
        if (!i || strcmp(patterns[i - 1], patterns[i]))
            text_format(lines, "%s\n", patterns[i]);
    for (size_t i = 0; i < count; i++)
        free(patterns[i]);
    free(patterns);
    return result ? result : lines->failed ? -ENOMEM : 0;
}

/* ---- Patterns ---- */

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

int find_tracefs(struct find *find)
{
    if (find->tracefs < 0)
        find->tracefs = tracefs_open();
    return find->tracefs;
}

/* Does it match a tracepoint? 1, 0 or -ENOMEM. */
static int is_tracepoint(struct find *find, const struct pattern *pattern)
{
    struct places places = {0};
    struct text near = {0};
    size_t matched = 0;

    int result = find_tracefs(find) < 0
        ? system_calls_match(pattern, &places, &matched)
        : tracepoints_find(find->tracefs, pattern, &places, &matched, &near);
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

/* Is it for what programs do: their own functions, or system calls? */
static bool is_of_program(const struct pattern *pattern)
{
    if (pattern->kind == PATTERN_TRACEPOINT)
        return pattern->category.kind == MATCH_PLAIN && !strcmp(pattern->category.text, CALLS);
    return pattern->kind != PATTERN_KERNEL_FUNCTION ||
           (pattern_is_call(pattern) && !pattern->offset);
}

bool find_only_programs(const struct find *find)
{
    size_t i = 0;

    while (i < find->count && is_of_program(&find->patterns[i]))
        i++;
    return i == find->count;
}

bool find_any_of_kind(const struct find *find, enum pattern_kind kind)
{
    for (size_t i = 0; i < find->count; i++)
        if (find->patterns[i].kind == kind)
            return true;
    return false;
}

/* What keeps a program from nesting with others at places of the same kind. */
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

static int functions_of(struct find *find, const struct pattern *patterns, size_t count,
                        size_t *matched)
{
    return find->names
        ? kernel_functions_ask(find->names, patterns, count, &find->places, matched)
        : kernel_functions_find(find->kallsyms, patterns, count, &find->places, matched);
}

/* Finds sys_getppid, which users type on every machine, as __x64_sys_getppid, its function. */
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
        result = name.failed ? -ENOMEM : functions_of(find, pattern, 1, &find->matched[which]);
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
        if (!find->matched[i] && pattern_is_call(&find->patterns[i]))
            result = find_call(find, i);
    return result;
}

/*
 * Adds "; libc has it: c:malloc" for a word without a colon, which means a kernel function. False:
 * libc has no such function.
 */
static bool offer_libc(const struct find *find, const char *name, struct text *error)
{
    struct find libc = {.pid = find->pid, .kallsyms = -1, .tracefs = -1};
    struct text word = {0}, why = {0};

    text_format(&word, "c:%s", name);
    char *const words[] = {word.data};
    const bool found =
        !word.failed && !find_parse(&libc, words, 1, false, &why) && !find_places(&libc, &why);
    if (found)
        text_format(error, "; libc has it: %s", word.data);
    find_close(&libc);
    text_free(&word);
    text_free(&why);
    return found;
}

/* Asks the kernel for the exact names, or else reads all symbols. */
static int find_all_functions(struct find *find)
{
    int result = functions_of(find, find->patterns, find->count, find->matched);

    if (!result)
        result = find_calls(find);
    if (!find->names || (!result && first_unmatched(find, PATTERN_KERNEL_FUNCTION) == find->count))
        return result;
    places_free(&find->places);
    memset(find->matched, 0, find->count * sizeof(*find->matched));
    const struct kernel_names *names = find->names;
    find->names = NULL;
    result = find_all_functions(find);
    find->names = names;
    return result;
}

static int find_functions(struct find *find, struct text *error)
{
    if (!find_any_of_kind(find, PATTERN_KERNEL_FUNCTION))
        return 0;
    const int result = find->kallsyms < 0 ? -ENOENT : find_all_functions(find);
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
        result = find->by_calls
            ? system_calls_match(&find->patterns[i], &find->places, &find->matched[i])
            : find->tracefs < 0 ? find->tracefs
                                : tracepoints_find(find->tracefs, &find->patterns[i],
                                                   &find->places, &find->matched[i], &near);
        if (result)
            refusal_explain(REFUSED_TRACEFS, result, 0, error);
    }
    size_t unmatched = result ? find->count : first_unmatched(find, PATTERN_TRACEPOINT);
    if (unmatched < find->count) {
        text_format(error, "0 tracepoints matched by \"%s\"%s", find->patterns[unmatched].typed,
                    text_string(&near));
        result = -ENOENT;
    }
    text_free(&near);
    return result;
}

int find_places(struct find *find, struct text *error)
{
    (void)find_tracefs(find);
    find->kernel = machine_of_kernel();
    int result = find->by_calls ? translate_calls(find) : 0;

    if (!result)
        result = find_functions(find, error);
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
    close_fd(find->tracefs);
    *find = (struct find){.tracefs = -1, .kallsyms = -1};
}
