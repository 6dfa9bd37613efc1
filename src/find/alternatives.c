/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "find/find.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/sandbox.h"
#include "base/opening.h"
#include "base/reading.h"
#include "base/util.h"
#include "elf/elf_symbols.h"
#include "find/library.h"
#include "find/pattern.h"
#include "find/user_file.h"
#include "kernel/kernel_names.h"
#include "kernel/limits.h"
#include "machine/machine.h"

#define MOST_LINES 5
#define MOST_ROOTS 4
#define MOST_FILES 1024 /* of a process */
#define LONGEST ((size_t)1 << 16)

/* A container, by one of its processes, or our own root. */
struct other_root {
    uint32_t pid;
    struct text path;
    struct stat about;
};

struct search {
    const struct find *find;
    struct other_root roots[MOST_ROOTS];
    size_t root_count;
    char *files[MOST_FILES]; /* that the process has mapped */
    size_t file_count;
    struct stat traced[MOST_ROOTS]; /* files: mostly one per library */
    size_t traced_count;
    size_t listed;
};

/* A pattern for one function in a library, without wildcards. */
static bool is_named(const struct pattern *pattern)
{
    return pattern->kind == PATTERN_USER_FUNCTION && !pattern->is_address &&
           pattern->name.kind == MATCH_PLAIN;
}

/* ---- In the sandbox ---- */

static bool is_traced(const struct search *search, const struct stat *file)
{
    for (size_t i = 0; i < search->traced_count; i++)
        if (same_file(&search->traced[i], file))
            return true;
    return false;
}

struct naming {
    const struct pattern *pattern;
    struct text scratch;
    bool found;
};

static int note_function(void *context, const struct elf_symbol *symbol)
{
    struct naming *naming = context;

    if (symbol->type == STT_NOTYPE || symbol->binding == STB_LOCAL)
        return 0;
    int result = function_matches(&naming->pattern->name, symbol->name, &naming->scratch);
    naming->found = result > 0;
    return result;
}

static bool defines(const struct user_file *file, const struct pattern *pattern)
{
    struct naming naming = {.pattern = pattern};

    (void)elf_each_function(&file->elf, note_function, &naming);
    text_free(&naming.scratch);
    return naming.found;
}

/* The file `typed` in a root, if it has the function and is not what is traced. */
static void try_file(struct search *search, const struct library_where *where, const char *typed,
                     size_t pattern, size_t root, struct text *answer)
{
    struct user_file file;
    struct text error = {0};
    struct stat about;

    if (search->listed < MOST_LINES && !user_file_open(&file, where, typed, &error)) {
        const char *path = file.library.path.data;
        if (!fstat(file.library.fd, &about) && !is_traced(search, &about) &&
            defines(&file, &search->find->patterns[pattern])) {
            answer_put_number(answer, pattern);
            answer_put_number(answer, root);
            answer_put_bytes(answer, path, strlen(path));
            search->listed++;
        }
        user_file_close(&file);
    }
    text_free(&error);
}

static int search_apart(void *context, struct text *answer)
{
    struct search *search = context;
    const struct find *find = search->find;
    const struct library_seen nothing = {0}; /* a path is enough */

    for (size_t pattern = 0; pattern < find->count; pattern++) {
        const char *library = find->patterns[pattern].library;
        if (!is_named(&find->patterns[pattern]))
            continue;
        for (size_t root = 0; root < search->root_count; root++) {
            const struct library_where where = {search->roots[root].path.data, find->pid, &nothing};
            if (!find->pid && !strchr(library, '/'))
                try_file(search, &where, library, pattern, root, answer);
            for (size_t i = 0; i < search->file_count; i++)
                try_file(search, &where, search->files[i], pattern, root, answer);
        }
    }
    return answer->failed ? -ENOMEM : 0;
}

/* ---- Here ---- */

/* Takes processes whose root is not ours, one per root. */
static int take_root(void *context, uint32_t pid)
{
    struct search *search = context;
    struct other_root *other = &search->roots[search->root_count];
    struct stat ours, root;
    size_t i = 0;

    if (search->root_count == MOST_ROOTS)
        return 0;
    text_clear(&other->path);
    const int result = root_of_process(pid, &other->path);
    if (result || !other->path.length || stat(other->path.data, &root) || stat("/", &ours) ||
        same_file(&root, &ours))
        return result;
    while (i < search->root_count && !same_file(&search->roots[i].about, &root))
        i++;
    other->pid = pid;
    other->about = root;
    search->root_count += i == search->root_count;
    return 0;
}

/* Skips the dynamic linker: nothing else calls its internal functions. */
static int take_mapped(void *context, const struct maps_entry *entry)
{
    struct search *search = context;

    if (!entry->inode || *entry->path != '/' || starts_with(base_name(entry->path), "ld-") ||
        search->file_count == MOST_FILES)
        return 0;
    for (size_t i = search->file_count; i--;)
        if (!strcmp(search->files[i], entry->path))
            return 0;
    search->files[search->file_count] = strdup(entry->path);
    return search->files[search->file_count] ? (search->file_count++, 0) : -ENOMEM;
}

/* The traced process, and everything it has mapped: nothing, if it has ended. */
static int find_own(struct search *search)
{
    struct other_root *own = &search->roots[search->root_count++];
    uint32_t shown_by;

    own->pid = search->find->pid;
    text_add(&own->path, "");
    int result = root_of_process(own->pid, &own->path);
    return result ? result : maps_each_of(own->pid, &shown_by, take_mapped, search);
}

static void note_traced(struct search *search)
{
    const struct places *places = &search->find->places;

    for (size_t i = 0; i < places->count && search->traced_count < COUNT_OF(search->traced); i++) {
        struct stat *file = &search->traced[search->traced_count];
        if (places->items[i].kind == PLACE_USER && !stat(places->items[i].file, file) &&
            !is_traced(search, file))
            search->traced_count++;
    }
}

static int read_answer(const struct search *search, const struct text *bytes, struct text *lines)
{
    struct answer answer = {
        .at = bytes->data, .end = bytes->data + bytes->length, .for_good = true};
    struct text path = {0};
    size_t listed = 0;

    while (answer.at != answer.end && listed++ < MOST_LINES) {
        const uint64_t pattern = answer_take_number(&answer), root = answer_take_number(&answer);
        answer_take_text(&answer, LONGEST, &path);
        if (answer.is_bad || answer.failed || pattern >= search->find->count ||
            root >= search->root_count || !path.length)
            break;
        const char *name = search->find->patterns[pattern].name.text;
        if (search->find->pid)
            text_format(lines, "process %u has %s in %s, too, and may call that one: %s:%s\n",
                        search->roots[root].pid, name, path.data, path.data, name);
        else
            text_format(lines,
                        "a container, such as that of process %u, has libraries of its own, which "
                        "are not traced: /proc/%u/root%s:%s\n",
                        search->roots[root].pid, search->roots[root].pid, path.data, name);
    }
    text_free(&path);
    return lines->failed ? -ENOMEM : 0;
}

static int search_and_list(struct search *search, struct text *lines)
{
    const struct sandbox_job job = {
        .work = search_apart, .context = search, .open = root_take_here,
    };
    struct text answer = {0};
    int signal;
    int result = search->find->pid ? find_own(search)
                                   : each_number("/proc", take_root, search);

    note_traced(search);
    if (!result && search->root_count)
        result = sandbox_run(&job, &answer, &signal);
    if (!result && answer.length)
        result = read_answer(search, &answer, lines);
    text_free(&answer);
    return result;
}

int alternatives_find(const struct find *find, struct text *lines)
{
    size_t wanted = 0;

    for (size_t i = 0; i < find->count; i++)
        wanted += is_named(&find->patterns[i]);
    if (!wanted)
        return 0;
    struct search *search = calloc(1, sizeof(*search));
    if (!search)
        return -ENOMEM;
    search->find = find;
    int result = search_and_list(search, lines);
    for (size_t i = 0; i < MOST_ROOTS; i++)
        text_free(&search->roots[i].path);
    while (search->file_count)
        free(search->files[--search->file_count]);
    free(search);
    return result;
}

/* ---- Exact ---- */

#define PREEMPTS 0x060d00 /* Linux 6.13: older kernels do not preempt these programs */
#define ENTER "syscalls:sys_enter_"
#define EXIT "syscalls:sys_exit_"

/* False, too, if /sys is not there to tell. */
static bool lacks_kprobes(void)
{
    return !access("/sys/bus/event_source/devices", F_OK) &&
           access("/sys/bus/event_source/devices/kprobe", F_OK);
}

static const struct place *first_call(const struct places *places)
{
    for (size_t i = 0; i < places->count; i++) {
        const struct place *place = &places->items[i];
        if (place->kind == PLACE_TRACEPOINT && !place->error &&
            (starts_with(place->name, ENTER) || starts_with(place->name, EXIT)))
            return place;
    }
    return NULL;
}

const struct place *exact_alternative(const struct find *find, struct text *pattern)
{
    const struct place *place = first_call(&find->places);
    struct text name = {0};

    if (!place || !find->names || own_version() < PREEMPTS || lacks_kprobes() ||
        !kernel_names_address(find->names, "trace_call_bpf_faultable"))
        return NULL;
    const char *enters = starts_with(place->name, ENTER);
    text_format(&name, "%ssys_%s", machine_of_kernel()->call_prefix,
                enters ? enters : starts_with(place->name, EXIT));
    if (kernel_names_address(find->names, text_string(&name)))
        text_format(pattern, "%s%s", enters ? "" : "r::", name.data);
    text_free(&name);
    return pattern->length ? place : NULL;
}
