/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "find/rivals.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apart/answer.h"
#include "apart/apart.h"
#include "base/text.h"
#include "base/util.h"
#include "elf/elf_symbols.h"
#include "find/function_names.h"
#include "find/library_names.h"
#include "find/root_path.h"
#include "find/user_file.h"
#include "machine/machine.h"

#define MOST_TOLD 5
#define MOST_ROOTS 4
#define MOST_FILES 1024 /* of a process */
#define LONGEST ((size_t)1 << 16)

/* A container, by one of its processes, or our own root. */
struct other_root {
    uint32_t pid;
    struct text path;
    dev_t device;
    ino_t inode;
};

struct hunt {
    const struct find *find;
    struct other_root roots[MOST_ROOTS];
    size_t root_count;
    char *files[MOST_FILES]; /* that the process has mapped */
    size_t file_count;
    struct stat traced[MOST_ROOTS]; /* files: mostly one per library */
    size_t traced_count;
    size_t told;
};

/* A pattern for one function in a library, without wildcards. */
static bool is_named(const struct pattern *pattern)
{
    return pattern->kind == PATTERN_USER_FUNCTION && !pattern->is_address &&
           pattern->name.kind == MATCH_PLAIN;
}

/* ---- In the process apart ---- */

static bool is_traced(const struct hunt *hunt, const struct stat *file)
{
    for (size_t i = 0; i < hunt->traced_count; i++)
        if (hunt->traced[i].st_dev == file->st_dev && hunt->traced[i].st_ino == file->st_ino)
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
static void try_file(struct hunt *hunt, const struct library_where *where, const char *typed,
                     size_t pattern, size_t root, struct text *answer)
{
    struct user_file file;
    struct text error = {0};
    struct stat about;

    if (hunt->told < MOST_TOLD && !user_file_open(&file, where, typed, &error)) {
        const char *path = file.library.path.data;
        if (!fstat(file.library.fd, &about) && !is_traced(hunt, &about) &&
            defines(&file, &hunt->find->patterns[pattern])) {
            answer_put_number(answer, pattern);
            answer_put_number(answer, root);
            answer_put_bytes(answer, path, strlen(path));
            hunt->told++;
        }
        user_file_close(&file);
    }
    text_free(&error);
}

static int hunt_apart(void *context, struct text *answer)
{
    struct hunt *hunt = context;
    const struct find *find = hunt->find;
    const struct library_seen nothing = {0}; /* a path is enough */

    for (size_t pattern = 0; pattern < find->count; pattern++) {
        const char *library = find->patterns[pattern].library;
        if (!is_named(&find->patterns[pattern]))
            continue;
        for (size_t root = 0; root < hunt->root_count; root++) {
            const struct library_where where = {hunt->roots[root].path.data, find->pid, &nothing};
            if (!find->pid && !strchr(library, '/'))
                try_file(hunt, &where, library, pattern, root, answer);
            for (size_t i = 0; i < hunt->file_count; i++)
                try_file(hunt, &where, hunt->files[i], pattern, root, answer);
        }
    }
    return answer->failed ? -ENOMEM : 0;
}

/* ---- Here ---- */

/* Processes that see other files than we do, one per root. */
static int find_roots(struct hunt *hunt)
{
    DIR *processes = opendir("/proc");
    const struct dirent *entry;
    struct stat ours, root;
    int result = 0;

    if (!processes)
        return -errno;
    if (stat("/", &ours))
        result = -errno;
    while (!result && hunt->root_count < MOST_ROOTS && (entry = readdir(processes))) {
        struct other_root *other = &hunt->roots[hunt->root_count];
        uint64_t pid;
        size_t i = 0;
        if (parse_number(entry->d_name, 1, UINT32_MAX, &pid))
            continue;
        text_clear(&other->path);
        result = root_of_process((uint32_t)pid, &other->path);
        if (result || !other->path.length || stat(other->path.data, &root) ||
            (root.st_dev == ours.st_dev && root.st_ino == ours.st_ino))
            continue;
        while (i < hunt->root_count && (hunt->roots[i].device != root.st_dev ||
                                        hunt->roots[i].inode != root.st_ino))
            i++;
        other->pid = (uint32_t)pid;
        other->device = root.st_dev;
        other->inode = root.st_ino;
        hunt->root_count += i == hunt->root_count;
    }
    closedir(processes);
    return result;
}

/* The dynamic linker's internal functions are called by nobody else. */
static int take_mapped(void *context, const struct maps_entry *entry)
{
    struct hunt *hunt = context;

    if (!entry->inode || *entry->path != '/' || !strncmp(base_name(entry->path), "ld-", 3) ||
        hunt->file_count == MOST_FILES)
        return 0;
    for (size_t i = hunt->file_count; i--;)
        if (!strcmp(hunt->files[i], entry->path))
            return 0;
    hunt->files[hunt->file_count] = strdup(entry->path);
    return hunt->files[hunt->file_count] ? (hunt->file_count++, 0) : -ENOMEM;
}

/* The traced process, and everything it has mapped: nothing, if it has ended. */
static int find_own(struct hunt *hunt)
{
    struct other_root *own = &hunt->roots[hunt->root_count++];
    uint32_t shown_by;

    own->pid = hunt->find->pid;
    text_add(&own->path, "");
    int result = root_of_process(own->pid, &own->path);
    return result ? result : maps_each_of(own->pid, &shown_by, take_mapped, hunt);
}

static void note_traced(struct hunt *hunt)
{
    const struct places *places = &hunt->find->places;

    for (size_t i = 0; i < places->count && hunt->traced_count < COUNT_OF(hunt->traced); i++) {
        struct stat *file = &hunt->traced[hunt->traced_count];
        if (places->items[i].kind == PLACE_USER && !stat(places->items[i].file, file) &&
            !is_traced(hunt, file))
            hunt->traced_count++;
    }
}

static int read_answer(const struct hunt *hunt, const struct text *bytes, struct text *lines)
{
    struct answer answer = {.at = bytes->data, .end = bytes->data + bytes->length, .for_good = true};
    struct text path = {0};
    size_t told = 0;

    while (answer.at != answer.end && told++ < MOST_TOLD) {
        const uint64_t pattern = answer_take_number(&answer), root = answer_take_number(&answer);
        answer_take_text(&answer, LONGEST, &path);
        if (answer.is_bad || answer.failed || pattern >= hunt->find->count ||
            root >= hunt->root_count || !path.length)
            break;
        const char *name = hunt->find->patterns[pattern].name.text;
        if (hunt->find->pid)
            text_format(lines, "process %u has %s in %s, too, and may call that one: %s:%s\n",
                        hunt->roots[root].pid, name, path.data, path.data, name);
        else
            text_format(lines, "a container, such as that of process %u, has libraries of its own, which "
                        "are not traced: /proc/%u/root%s:%s\n", hunt->roots[root].pid,
                        hunt->roots[root].pid, path.data, name);
    }
    text_free(&path);
    return lines->failed ? -ENOMEM : 0;
}

static int hunt_and_tell(struct hunt *hunt, struct text *lines)
{
    const struct apart_job job = {
        .work = hunt_apart, .context = hunt, .open = root_take_here, .machine = machine_ours(),
    };
    struct text answer = {0};
    int signal;
    int result = hunt->find->pid ? find_own(hunt) : find_roots(hunt);

    note_traced(hunt);
    if (!result && hunt->root_count)
        result = apart_run(&job, &answer, &signal);
    if (!result && answer.length)
        result = read_answer(hunt, &answer, lines);
    text_free(&answer);
    return result;
}

int rivals_find(const struct find *find, struct text *lines)
{
    size_t wanted = 0;

    for (size_t i = 0; i < find->count; i++)
        wanted += is_named(&find->patterns[i]);
    if (!wanted)
        return 0;
    struct hunt *hunt = calloc(1, sizeof(*hunt));
    if (!hunt)
        return -ENOMEM;
    hunt->find = find;
    int result = hunt_and_tell(hunt, lines);
    for (size_t i = 0; i < MOST_ROOTS; i++)
        text_free(&hunt->roots[i].path);
    while (hunt->file_count)
        free(hunt->files[--hunt->file_count]);
    free(hunt);
    return result;
}
