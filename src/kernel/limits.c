/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include "base/reading.h"
#include "base/util.h"
#include "kernel/limits.h"
#include "kernel/tracefs.h"

#define DEFAULT_DEPTH 127

#define MOST_BYTES 65536 /* of memory.stat and the like, and of paths */

/* The number after `key`, or `otherwise`, as for "max". */
static uint64_t number_after(const struct text *content, const char *key, uint64_t otherwise)
{
    const char *at = content->data ? strstr(content->data, key) : NULL;
    char *end;

    if (!at)
        return otherwise;
    at += strlen(key);
    const uint64_t number = strtoull(at, &end, 10);
    return end == at ? otherwise : number;
}

static void read_content(int directory, const char *path, struct text *content)
{
    if (read_file(directory, path, MOST_BYTES, content))
        text_clear(content);
}

static uint64_t number_in(const char *path, const char *key, uint64_t otherwise)
{
    struct text content = {0};

    read_content(AT_FDCWD, path, &content);
    const uint64_t number = number_after(&content, key, otherwise);
    text_free(&content);
    return number;
}

uint64_t kernel_number(const char *path, uint64_t otherwise)
{
    return number_in(path, "", otherwise);
}

uint64_t kernel_free_memory(void)
{
    const uint64_t machine = number_in("/proc/meminfo", "MemAvailable:", 0) * 1024;
    struct cgroup_memory cgroup;

    cgroup_memory_find(&cgroup);
    text_free(&cgroup.file);
    if (cgroup.left == UINT64_MAX)
        return machine;
    const uint64_t left = machine && machine < cgroup.left ? machine : cgroup.left;
    return left ? left : 1;
}

uint32_t kernel_most_threads(void)
{
    const uint64_t most = kernel_number("/proc/sys/kernel/threads-max", MOST_PID);

    return most < MOST_PID ? (uint32_t)most : MOST_PID;
}

uint64_t kernel_stack_depth(void)
{
    return kernel_number("/proc/sys/kernel/perf_event_max_stack", DEFAULT_DEPTH);
}

bool kernel_ftrace_is_off(void)
{
    return !kernel_number("/proc/sys/kernel/ftrace_enabled", 1);
}

bool in_initial_pid_namespace(void)
{
    struct stat own;

    return !stat("/proc/self/ns/pid", &own) && own.st_ino == INITIAL_PID_NAMESPACE;
}

uint32_t kernel_pid_limit(void)
{
    const uint64_t limit = in_initial_pid_namespace()
        ? kernel_number("/proc/sys/kernel/pid_max", MOST_PID) : MOST_PID;

    return limit && limit <= MOST_PID ? (uint32_t)limit : MOST_PID;
}

static const char jit_enable[] = "/proc/sys/net/core/bpf_jit_enable";

bool kernel_jit_is_off(void)
{
    return !kernel_number(jit_enable, 1);
}

bool kernel_jit_is_on(void)
{
    return kernel_number(jit_enable, 0);
}

#define NAME "Linux"
#define PADDED(bytes) (((size_t)(bytes) + 3) & ~(size_t)3)

static uint32_t version_in(const char *notes, size_t size)
{
    uint32_t version;

    for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= size;) {
        const ElfW(Nhdr) *note = (const void *)(notes + at);
        const char *name = (const char *)(note + 1);
        if (!note->n_type && note->n_descsz == sizeof(version) && note->n_namesz == sizeof(NAME) &&
            !memcmp(name, NAME, sizeof(NAME))) {
            memcpy(&version, name + PADDED(sizeof(NAME)), sizeof(version));
            return version;
        }
        at += sizeof(*note) + PADDED(note->n_namesz) + PADDED(note->n_descsz);
    }
    return 0;
}

uint32_t own_version(void)
{
    const char *image = (const char *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
    const ElfW(Ehdr) *header = (const void *)image;
    uint32_t version = 0;

    for (size_t i = 0; image && i < header->e_phnum && !version; i++) {
        const ElfW(Phdr) *segment = (const void *)(image + header->e_phoff + i * sizeof(*segment));
        if (segment->p_type == PT_NOTE)
            version = version_in(image + segment->p_offset, segment->p_filesz);
    }
    return version;
}

/*
 * A cgroup is charged for file cache, too. The kernel reclaims pages that were read once first; of
 * the rest a program needs some. memory.soft_limit_in_bytes and memory.low are no limits.
 */
struct version {
    const char *once, *again; /* in memory.stat, of a cgroup and all below it */
    const char *smallest;     /* there, too: the smallest limit of it and of all above; or NULL */
    struct pair {
        const char *limit, *used;
    } pairs[2];
};

static const struct version v1 = {
    "\ntotal_inactive_file ", "\ntotal_active_file ", "\nhierarchical_memory_limit ",
    {{"memory.limit_in_bytes", "memory.usage_in_bytes"},
     {"memory.memsw.limit_in_bytes", "memory.memsw.usage_in_bytes"}},
};
static const struct version v2 = {
    "\ninactive_file ", "\nactive_file ", NULL,
    {{"memory.max", "memory.current"}, {"memory.high", "memory.current"}}, /* high: 4.5 */
};

/* Our cgroup in a hierarchy, as a path below a directory; what is above the mount is invisible. */
struct place {
    const struct version *version; /* NULL: none */
    int directory;
    struct text path;
    size_t mount_length;
};

/* ---- Where we are ---- */

static bool has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);

    while (list && *list) {
        const size_t piece = strcspn(list, ",");
        if (piece == length && !memcmp(list, word, length))
            return true;
        list += piece + (list[piece] == ',');
    }
    return false;
}

/* "4:memory,pids:/path" or, of v2, "0::/path": our path in that hierarchy. */
static const char *path_in(char *line, bool is_v2)
{
    char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1,
                                                                        ':') : NULL;

    if (!path)
        return NULL;
    *controllers++ = *path++ = '\0';
    return (is_v2 ? !strcmp(line, "0") : has_word(controllers, "memory")) ? path : NULL;
}

struct search {
    bool is_v2;
    struct text own; /* our path */
    struct place *place;
    size_t root_length; /* of the mount that is used */
};

static bool take_own(void *context, char *line)
{
    struct search *search = context;
    const char *path = path_in(line, search->is_v2);

    if (path)
        text_add(&search->own, path);
    return path;
}

/* In mounts, blanks and the like are \ooo. */
static void add_unescaped(struct text *text, const char *path)
{
    for (; *path; path++) {
        char byte = *path;
        if (byte == '\\' && strspn(path + 1, "01234567") >= 3) {
            byte = (char)((path[1] - '0') << 6 | (path[2] - '0') << 3 | (path[3] - '0'));
            path += 3;
        }
        text_append(text, &byte, 1);
    }
}

/* What is left of our path below a mount's root; NULL: it does not show our cgroup. */
static const char *path_below(const char *own, const char *root)
{
    const size_t length = strcmp(root, "/") ? strlen(root) : 0;

    if (!strcmp(own, root))
        return "";
    if (strncmp(own, root, length) || (own[length] && own[length] != '/'))
        return NULL;
    /* In a cgroup namespace the path is "/.." if our cgroup is outside the namespace's root. */
    return starts_with(own + length, "/..") ? NULL : own + length;
}

/* "31 23 0:28 ROOT WHERE options [more] - TYPE what options": takes the mount that shows most. */
static bool take_mount(void *context, char *line)
{
    struct search *search = context;
    struct place *place = search->place;
    char *after = strstr(line, " - "), *rest = NULL, *words[5], *more = NULL;

    if (!after)
        return false;
    const char *type = strtok_r(after + 3, " ", &rest),
        *what = type ? strtok_r(NULL, " ", &rest) : NULL;
    const char *options = what ? strtok_r(NULL, " ", &rest) : NULL;
    if (!options || (search->is_v2 ? strcmp(type, "cgroup2") : strcmp(type, "cgroup") ||
                     !has_word(options, "memory")))
        return false;
    *after = '\0';
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (!(words[i] = strtok_r(i ? NULL : line, " ", &more)))
            return false;
    struct text root = {0};
    add_unescaped(&root, words[3]);
    const char *below = root.failed || !root.data ? NULL : path_below(search->own.data, root.data);
    if (below && (!place->version || root.length < search->root_length)) {
        search->root_length = root.length;
        text_clear(&place->path);
        add_unescaped(&place->path, words[4]);
        place->mount_length = place->path.length;
        text_add(&place->path, below);
        place->version = search->is_v2 ? &v2 : &v1;
        place->directory = AT_FDCWD;
    }
    text_free(&root);
    return false;
}

/* cgroup v2 has a single hierarchy, of which anyone with the right may make another mount. */
static void mount_own(struct search *search)
{
    struct place *place = search->place;
    const char *below = path_below(search->own.data, "/");
    int mounted = below ? own_mount("cgroup2") : -1;

    if (mounted < 0)
        return;
    place->version = &v2;
    place->directory = mounted;
    text_add(&place->path, ".");
    place->mount_length = place->path.length;
    text_add(&place->path, below);
}

static void find_place(struct place *place, bool is_v2)
{
    struct search search = {.is_v2 = is_v2, .place = place};

    if (each_line(AT_FDCWD, "/proc/self/cgroup", take_own, &search) && search.own.data &&
        !search.own.failed) {
        each_line(AT_FDCWD, "/proc/self/mountinfo", take_mount, &search);
        if (!place->version && is_v2)
            mount_own(&search);
    }
    if (place->path.failed)
        place->version = NULL;
    text_free(&search.own);
}

/* ---- What is there ---- */

static void read_of(const struct place *place, const char *name, struct text *content)
{
    struct text path = {0};

    text_format(&path, "%s/%s", place->path.data, name);
    if (!path.failed)
        read_content(place->directory, path.data, content);
    text_free(&path);
}

static uint64_t number_of(const struct place *place, const char *name, uint64_t otherwise)
{
    struct text content = {0};

    read_of(place, name, &content);
    const uint64_t number = number_after(&content, "", otherwise);
    text_free(&content);
    return number;
}

/*
 * Without a limit v1 shows the bytes of as many pages as a `long` can count. Of 32 bits, that is
 * 8 TB, which passes as a limit and is none.
 */
static uint64_t limit_from(uint64_t number)
{
    return number > UINT64_MAX / 4 ? UINT64_MAX : number;
}

/* A limit that the file `name` has. */
static void take_limit(const struct place *place, const char *name, uint64_t limit, uint64_t needed,
                       struct cgroup_memory *found)
{
    const uint64_t left = limit > needed ? limit - needed : 0;

    if (limit == UINT64_MAX || left >= found->left)
        return;
    found->left = left;
    found->limit = limit;
    text_clear(&found->file);
    text_format(&found->file, "%s/%s", place->path.data, name);
}

/*
 * False: no cgroup above has a limit, either. What is used matters only below a limit, and is not
 * read without one: the kernel adds up all CPUs' counters when memory.stat is read.
 */
static bool take_level(const struct place *place, struct cgroup_memory *found)
{
    const struct version *version = place->version;
    uint64_t limits[COUNT_OF(version->pairs)], least = UINT64_MAX;
    struct text stat = {0};

    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        limits[i] = limit_from(number_of(place, version->pairs[i].limit, UINT64_MAX));
        least = limits[i] < least ? limits[i] : least;
    }
    if (least == UINT64_MAX && !version->smallest)
        return true;
    read_of(place, "memory.stat", &stat);
    const uint64_t cache = number_after(&stat, version->once, 0) +
                           number_after(&stat, version->again, 0) / 2;
    const uint64_t smallest = version->smallest
        ? limit_from(number_after(&stat, version->smallest, UINT64_MAX)) : UINT64_MAX;
    text_free(&stat);
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        const uint64_t limit = i || limits[i] < smallest ? limits[i] : smallest;
        if (limit == UINT64_MAX)
            continue;
        const uint64_t used = number_of(place, version->pairs[i].used, 0);
        take_limit(place, limit == limits[i] ? version->pairs[i].limit : "memory.stat", limit,
                   used > cache ? used - cache : 0, found);
    }
    return !version->smallest || smallest != UINT64_MAX;
}

/* Climbs to the mount's root, or, with v1, to a cgroup that does not count what is below it. */
static void take_place(const struct place *at, struct cgroup_memory *found)
{
    struct place level = {.version = at->version, .directory = at->directory,
                          .mount_length = at->mount_length};

    text_add(&level.path, at->path.data);
    while (!level.path.failed) {
        char *slash = strrchr(level.path.data, '/');
        if (!take_level(&level, found) || level.path.length <= level.mount_length || !slash)
            break;
        *slash = '\0';
        level.path.length = (size_t)(slash - level.path.data);
        if (!number_of(&level, "memory.use_hierarchy", 1))
            break;
    }
    text_free(&level.path);
}

static struct place places[2];

static void find_places(void)
{
    for (size_t i = 0; i < COUNT_OF(places); i++)
        find_place(&places[i], i);
}

/* Thread-safe: the applet `check` calls this in several threads. */
void cgroup_memory_find(struct cgroup_memory *found)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, find_places);
    *found = (struct cgroup_memory){.left = UINT64_MAX};
    for (size_t i = 0; i < COUNT_OF(places); i++)
        if (places[i].version)
            take_place(&places[i], found);
}
