/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Unwind tables in BPF maps: their contents, which files have one and which have none, and which
 * tables are removed.
 */
#include "unwind/objects.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "insns/unwind.h"
#include "kernel/bpf.h"
#include "files.h"
#include "unwind/table.h"
#include "unwind/table_store.h"

#define ENOUGH (64 << 20)
#define SECOND 1000000000ull

static struct mapped_files *files;
static struct objects *objects;
static bool at_once = true; /* makes tables before a walk needs them */

/* ---- The file's key from /proc: not the kernel's, but unique per file, too ---- */

static int key_by_maps(void *context, const void *mapped, struct unwind_key *key)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    unsigned long start, major, minor, inode;
    int result = -ENODATA;

    (void)context;
    *key = (struct unwind_key){0};
    while (maps && result && fgets(line, sizeof(line), maps))
        if (sscanf(line, "%lx-%*x %*s %*s %lx:%lx %lu", &start, &major, &minor, &inode) == 4 &&
            start == (unsigned long)mapped) {
            key->device = major << 20 | minor;
            key->inode = inode;
            result = 0;
        }
    if (maps)
        fclose(maps);
    return result;
}

static struct unwind_key key_of(const char *path)
{
    struct unwind_key key = {0};
    AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
    void *mapped = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);

    CHECK_NUMBER(key_by_maps(NULL, mapped, &key), 0);
    munmap(mapped, 1);
    return key;
}

/* ---- Scenes ---- */

static void begin_with(uint64_t most_bytes, uint64_t unused_ns)
{
    struct objects_options config = {.key = key_by_maps, .most_bytes = most_bytes, .unused_ns = unused_ns};

    CHECK_NUMBER(mapped_files_open(&files), 0);
    config.files = files;
    CHECK_NUMBER(objects_open(&objects, &config), 0);
}

static void begin(void)
{
    begin_with(ENOUGH, 1000 * SECOND);
}

static void end(void)
{
    at_once = true;
    objects_close(objects);
    CHECK_NUMBER(mapped_files_count(files), 0);
    mapped_files_close(files);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

static struct mapped_file *open_file(const char *path)
{
    struct stat about;
    struct mapped_sight sight = {.path = path, .pid = (uint32_t)getpid()};

    if (stat(path, &about))
        return NULL;
    sight.device = about.st_dev;
    sight.inode = about.st_ino;
    mapped_files_look_again(files);
    return mapped_files_see(files, &sight);
}

static struct mapped_file *see(const char *path)
{
    struct mapped_file *file = open_file(path);

    CHECK(file && !objects_see(objects, file, at_once));
    return file;
}

static void drop(struct mapped_file *file)
{
    mapped_file_drop(files, file);
}

static void make_all(void)
{
    while (objects_make(objects))
        usleep(1000);
}

static char *bytes_of(const char *path, size_t *size)
{
    FILE *file = fopen(path, "r");
    char *bytes = malloc(16 << 20);

    *size = file ? fread(bytes, 1, 16 << 20, file) : 0;
    if (file)
        fclose(file);
    return bytes;
}

static void write_file(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "w");

    CHECK(file && fwrite(bytes, 1, size, file) == size);
    if (file)
        fclose(file);
}

/* Falls back to this test, which has unwind tables if libc has. */
static const char *some_program(void)
{
    static const char *const programs[] = {"/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/libc.so.6", "/bin/bash",
                                           "/bin/sh"};

    for (size_t i = 0; i < COUNT_OF(programs); i++)
        if (!access(programs[i], R_OK))
            return programs[i];
    return "/proc/self/exe";
}

/* ---- The contents of the maps ---- */

static uint32_t *words; /* of the object that was read back */

static int chunk_by_id(uint32_t id)
{
    union bpf_attr attr = {.map_id = id};

    return (int)syscall(SYS_bpf, BPF_MAP_GET_FD_BY_ID, &attr, sizeof(attr));
}

/* Reads all blocks from the object's first to the end of the chunk, even those of other objects. */
static int read_back(const struct unwind_key *key, struct unwind_object *object)
{
    struct unwind_maps maps;
    uint32_t chunk = UINT32_MAX, id;
    int fd = -1;
    size_t count = 0;

    objects_get_maps(objects, &maps);
    int result = bpf_lookup(maps.objects, key, object);
    free(words);
    words = NULL;
    for (uint32_t block = object->block; !result; block++) {
        const uint32_t within = block % UNWIND_CHUNK_BLOCKS, number = block / UNWIND_CHUNK_BLOCKS;
        if (number != chunk) {
            if (fd >= 0)
                close(fd);
            chunk = number;
            fd = bpf_lookup(maps.chunks, &number, &id) ? -1 : chunk_by_id(id);
        }
        if (fd < 0)
            break;
        words = realloc(words, ++count * UNWIND_BLOCK_BYTES);
        CHECK_NUMBER(bpf_lookup(fd, &within, words + (count - 1) * UNWIND_BLOCK_WORDS), 0);
    }
    return result;
}

/* Looks a rule up as a BPF program does. */
static struct unwind_rule rule_at(const struct unwind_object *object, uint64_t offset)
{
    const uint64_t page = offset >> UNWIND_PAGE_BITS;
    const struct unwind_rule *rules = (const struct unwind_rule *)words;
    struct unwind_rule found = {0};
    struct unwind_page entry;

    if (page < object->first_page || page - object->first_page >= object->pages)
        return found;
    memcpy(&entry, words + object->directory + 2 * (page - object->first_page), sizeof(entry));
    for (uint32_t i = 0; i < entry.count; i++) {
        const uint32_t row = words[entry.first + i];
        if (UNWIND_ROW_LOW(row) <= (offset & 4095))
            found = rules[UNWIND_ROW_RULE(row)];
    }
    return found;
}

/* The rule in the file's rows. */
static struct unwind_rule rule_of(const struct frame_rows *frames, uint64_t offset)
{
    const struct unwind_rule none = {0};
    const size_t above =
        first_key_above(&frames->rows[0].offset, sizeof(frames->rows[0]), frames->row_count, offset);

    return above ? frames->rules[frames->rows[above - 1].rule] : none;
}

static int compare(const struct unwind_key *key, const struct elf *elf)
{
    AUTO(frame_rows_free) struct frame_rows frames = {0};
    struct unwind_object object;
    int wrong = read_back(key, &object) != 0;

    CHECK_NUMBER(frame_rows_read(&frames, elf), 0);
    const uint64_t first = frames.rows[0].offset, last = frames.rows[frames.row_count - 1].offset;
    for (int i = 0; i < rounds(20000) && !wrong; i++) {
        /* Every second address is the start or the end of a row. */
        uint64_t offset = frames.rows[(size_t)random() % frames.row_count].offset - (uint64_t)random() % 2;
        if (i % 2)
            offset = first + (uint64_t)random() % (last - first + 4096);
        struct unwind_rule wanted = rule_of(&frames, offset), found = rule_at(&object, offset);
        if (wanted.cfa == UNWIND_UNKNOWN)
            wrong += found.cfa != UNWIND_UNKNOWN;
        else if (offset >> 12 <= last >> 12)
            wrong += memcmp(&wanted, &found, sizeof(wanted)) != 0;
    }
    return wrong;
}

static int wrong_of(const char *path)
{
    const struct unwind_key key = key_of(path);
    struct elf elf;
    int fd = open(path, O_RDONLY | O_CLOEXEC), wrong = 1;

    if (!elf_open(&elf, fd)) {
        wrong = compare(&key, &elf);
        elf_close(&elf);
    }
    close(fd);
    return wrong;
}

/* ---- Objects that are mapped ---- */

TEST(real_files)
{
    static const char *const folders[] = {"/lib/x86_64-linux-gnu", "/usr/bin", "/usr/lib"};
    static struct mapped_file *seen[64];
    static char paths[64][512];
    size_t count = 0;

    begin();
    for (size_t i = 0; i < COUNT_OF(folders); i++) {
        DIR *folder = opendir(folders[i]);
        struct dirent *entry;
        for (size_t taken = 0; folder && taken < 20 && (entry = readdir(folder));) {
            snprintf(paths[count], sizeof(paths[0]), "%s/%s", folders[i], entry->d_name);
            struct stat about;
            if (lstat(paths[count], &about) || !S_ISREG(about.st_mode) || about.st_size > 8 << 20)
                continue;
            seen[count] = see(paths[count]);
            count++;
            taken++;
        }
        if (folder)
            closedir(folder);
    }
    make_all();
    const struct objects_figures figures = objects_figures(objects);
    CHECK(count && figures.tables > 1 && figures.counts.rows > 1000 && figures.cpu_ns && !figures.left && !figures.no_room);
    int wrong = 0, tables = 0;
    for (size_t i = 0; i < count; i++) {
        if (!objects_error(objects, seen[i])) {
            wrong += wrong_of(paths[i]);
            tables++;
        }
        drop(seen[i]);
    }
    CHECK_NUMBER(wrong, 0);
    CHECK(tables > 5);
    end();
}

TEST(vdso)
{
    const struct unwind_key key = {0};
    const uint64_t at = getauxval(AT_SYSINFO_EHDR);
    struct elf elf;
    AUTO_FD memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);

    if (!at || memory < 0 || elf_open_watched(&elf, memory, at, NULL))
        return;
    begin();
    CHECK_NUMBER(compare(&key, &elf), 0);
    CHECK_NUMBER(objects_figures(objects).tables, 1);
    end();
    elf_close(&elf);
}

/* A file has one object, however many processes map it, and under any name. */
TEST(each_once)
{
    begin();
    struct mapped_file *file = see(some_program()), *again = see(some_program());
    CHECK(file == again);
    CHECK_NUMBER(objects_error(objects, file), -EAGAIN);
    make_all();
    struct mapped_file *later = see(some_program());
    make_all();
    CHECK_NUMBER(objects_error(objects, file), 0);
    const struct objects_figures figures = objects_figures(objects);
    CHECK_NUMBER(figures.files, 1);
    CHECK_NUMBER(figures.tables, 2); /* and the vDSO's */
    CHECK_NUMBER(figures.made, 2);
    drop(file);
    drop(again);
    drop(later);
    end();
}

/* A file that is overwritten in place: it has the same key, but another table. */
TEST(written_to)
{
    const char *path = path_in(own_directory, "written");
    size_t size, other_size;
    char *bytes = bytes_of(some_program(), &size), *other = bytes_of("/bin/ls", &other_size);

    begin();
    write_file(path, bytes, size);
    struct mapped_file *before = see(path);
    make_all();
    CHECK_NUMBER(wrong_of(path), 0);
    write_file(path, other, other_size);
    struct mapped_file *after = see(path);
    make_all();
    CHECK(before != after);
    CHECK_NUMBER(wrong_of(path), 0);
    CHECK_NUMBER(objects_figures(objects).tables, 2);
    CHECK_NUMBER(objects_figures(objects).made, 3);
    drop(before);
    drop(after);
    end();
    free(bytes);
    free(other);
}

/* ---- Objects that are no longer mapped ---- */

static void copies(const char *path, struct mapped_file **seen, size_t count)
{
    size_t size;
    char *bytes = bytes_of(path, &size), name[32];

    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "copy%zu", i);
        write_file(path_in(own_directory, name), bytes, size);
        seen[i] = see(path_in(own_directory, name));
    }
    free(bytes);
}

TEST(drops)
{
    struct mapped_file *seen[4];

    begin_with(ENOUGH, SECOND / 50);
    copies(some_program(), seen, 4);
    make_all();
    CHECK_NUMBER(objects_figures(objects).tables, 5);
    for (size_t i = 0; i < 3; i++)
        drop(seen[i]);
    for (int i = 0; i < 10; i++) {
        usleep(10000);
        make_all();
    }
    CHECK_NUMBER(objects_figures(objects).tables, 2);
    CHECK_NUMBER(objects_figures(objects).files, 1);
    CHECK_NUMBER(objects_figures(objects).dropped, 3);
    const struct unwind_key gone = key_of(path_in(own_directory, "copy0"));
    struct unwind_object object;
    CHECK_NUMBER(read_back(&gone, &object), -ENOENT);
    CHECK_NUMBER(wrong_of(path_in(own_directory, "copy3")), 0);
    /* Mapped again, the file gets a table in the free space. */
    struct mapped_file *again = see(path_in(own_directory, "copy0"));
    make_all();
    CHECK_NUMBER(wrong_of(path_in(own_directory, "copy0")), 0);
    CHECK_NUMBER(wrong_of(path_in(own_directory, "copy3")), 0);
    drop(again);
    drop(seen[3]);
    end();
}

/* Wanted objects keep their tables, although no process maps them yet. */
TEST(wanted)
{
    begin_with(ENOUGH, SECOND / 100);
    struct mapped_file *file = open_file(some_program());
    CHECK_NUMBER(objects_want(objects, file), 0);
    drop(file);
    for (int i = 0; i < 5; i++) {
        usleep(10000);
        make_all();
    }
    CHECK_NUMBER(objects_figures(objects).files, 1);
    CHECK_NUMBER(objects_figures(objects).tables, 2);
    end();
}

/* Wanted objects precede files that were mapped before. */
TEST(wanted_first)
{
    struct mapped_file *seen[4];

    begin_with(ENOUGH, SECOND);
    make_all();
    const uint64_t before = objects_figures(objects).made;
    copies(some_program(), seen, 4);
    CHECK_NUMBER(objects_want(objects, seen[3]), 0);
    while (objects_figures(objects).made == before)
        objects_make(objects);
    CHECK_NUMBER(objects_figures(objects).made, before + 1);
    CHECK_NUMBER(objects_error(objects, seen[3]), 0);
    make_all();
    for (size_t i = 0; i < 4; i++)
        drop(seen[i]);
    end();
}

/* A table that a stack waits for precedes tables that are being made. */
TEST(awaited_first)
{
    struct mapped_file *seen[4];
    struct table table;

    begin_with(ENOUGH, SECOND);
    at_once = false;
    copies(some_program(), seen, 4);
    for (size_t i = 0; i < 3; i++)
        CHECK_NUMBER(objects_see(objects, seen[i], true), 0);
    objects_make(objects);
    CHECK_NUMBER(objects_find(objects, seen[3], &table), -EAGAIN);
    const uint64_t before = objects_figures(objects).made;
    while (objects_figures(objects).made == before)
        objects_make(objects);
    CHECK_NUMBER(objects_error(objects, seen[3]), 0);
    CHECK_NUMBER(objects_figures(objects).made, before + 1);
    make_all();
    CHECK_NUMBER(objects_figures(objects).made, before + 4);
    for (size_t i = 0; i < 4; i++)
        drop(seen[i]);
    end();
}

/* With tables made on demand only, a new object's file stays open, and gets a table when a walk needs it. */
TEST(asked_for)
{
    const char *path = path_in(own_directory, "asked");
    struct text names = {0};
    struct table table;
    size_t size;

    begin_with(ENOUGH, SECOND);
    struct mapped_file *before = see(some_program());
    at_once = false;
    char *bytes = bytes_of(some_program(), &size);
    write_file(path, bytes, size);
    free(bytes);
    struct mapped_file *file = see(path);
    unlink(path);
    make_all();
    CHECK_NUMBER(objects_figures(objects).made, 2); /* the vDSO's, and those seen before */
    CHECK_NUMBER(objects_error(objects, before), 0);
    CHECK_NUMBER(objects_error(objects, file), -EAGAIN);
    CHECK_NUMBER(objects_see(objects, file, false), 0);
    make_all();
    CHECK_NUMBER(objects_figures(objects).made, 2);
    CHECK_NUMBER(objects_find(objects, file, &table), -EAGAIN);
    make_all();
    CHECK_NUMBER(objects_find(objects, file, &table), 0);
    CHECK_NUMBER(objects_figures(objects).made, 3);
    objects_add_demanded(objects, &names);
    CHECK_STRING(names.data, "asked");
    text_free(&names);
    drop(before);
    drop(file);
    end();
}

/* The kind of a file, as BPF programs see it; UINT32_MAX: unknown. */
static uint32_t kind_of(const char *path)
{
    const struct unwind_key key = key_of(path);
    struct unwind_object object;
    struct unwind_maps maps;

    objects_get_maps(objects, &maps);
    return bpf_lookup(maps.objects, &key, &object) ? UINT32_MAX : object.kind;
}

/* Walks in user space find the same tables as BPF programs, and end the same way without one. */
TEST(told)
{
    const char *path = some_program(), *text = path_in(own_directory, "text");
    struct frame_rows frames = {0};
    struct table table;
    struct elf elf;

    begin_with(ENOUGH, SECOND / 50);
    write_file(text, "no program at all", 17);
    struct mapped_file *program = see(path), *none = see(text);
    CHECK_NUMBER(objects_find(objects, program, &table), -EAGAIN);
    CHECK_NUMBER(kind_of(path), UINT32_MAX);
    make_all();
    CHECK_NUMBER(objects_find(objects, program, &table), 0);
    CHECK_NUMBER(kind_of(path), 0);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(!elf_open(&elf, fd) && !frame_rows_read(&frames, &elf));
    const uint64_t first = frames.rows[0].offset, last = frames.rows[frames.row_count - 1].offset;
    for (int i = 0; i < rounds(20000); i++) {
        const uint64_t offset = first + (uint64_t)random() % (last - first + 4096);
        const struct unwind_rule wanted = rule_of(&frames, offset), *found = table_find(&table, offset);
        if (found ? found->cfa != wanted.cfa || (wanted.cfa && memcmp(found, &wanted, sizeof(wanted)))
                  : wanted.cfa != UNWIND_UNKNOWN && offset >> 12 <= last >> 12) {
            WRONG("a rule");
            break;
        }
    }
    frame_rows_free(&frames);
    elf_close(&elf);
    close(fd);
    const int end_of_none = objects_find(objects, none, &table);
    CHECK(end_of_none == UNWIND_END_NO_TABLE || end_of_none == UNWIND_END_UNREAD);
    CHECK_NUMBER(kind_of(text), end_of_none + 1);
    /*
     * BPF programs meet so many keys without an object that the map drops the first of them, but never a table.
     */
    for (uint64_t i = 0; i < 1000; i++)
        objects_set_kind(objects, &(struct unwind_key){.device = 1, .inode = i + 1}, UNWIND_KEEPS_RECORDS);
    const struct unwind_key key = key_of(path);
    objects_set_kind(objects, &key, UNWIND_KEEPS_RECORDS);
    CHECK_NUMBER(kind_of(path), 0);
    struct unwind_maps maps;
    struct unwind_object object;
    objects_get_maps(objects, &maps);
    CHECK_NUMBER(bpf_lookup(maps.objects, &(struct unwind_key){.device = 1, .inode = 1}, &object), -ENOENT);
    CHECK_NUMBER(bpf_lookup(maps.objects, &(struct unwind_key){.device = 1, .inode = 1000}, &object), 0);
    CHECK(object.kind == UNWIND_KEEPS_RECORDS && !object.pages);
    drop(none);
    for (int i = 0; i < 10; i++) {
        usleep(10000);
        make_all();
    }
    CHECK_NUMBER(kind_of(text), UINT32_MAX);
    drop(program);
    end();
}

/* One chunk: objects that do not fit are reported, and get space once others are unmapped. */
TEST(little_room)
{
    enum { COUNT = 40 };
    struct mapped_file *seen[COUNT];
    size_t with = 0;

    begin_with(UNWIND_BLOCK_BYTES, SECOND / 50);
    copies(some_program(), seen, COUNT);
    make_all();
    struct objects_figures figures = objects_figures(objects);
    CHECK(figures.no_room > 0 && figures.without == figures.no_room);
    CHECK(figures.bytes <= UNWIND_CHUNK_BLOCKS * UNWIND_BLOCK_BYTES);
    for (size_t i = 0; i < COUNT; i++) {
        const int why = objects_error(objects, seen[i]);
        char name[32];
        snprintf(name, sizeof(name), "copy%zu", i);
        CHECK(why ? why == -ENOSPC : !wrong_of(path_in(own_directory, name)));
        CHECK_NUMBER(kind_of(path_in(own_directory, name)), why ? UNWIND_END_NO_ROOM + 1 : 0);
        with += !why;
    }
    CHECK_NUMBER(with + figures.no_room, COUNT);
    /* All files with a table are unmapped; the others take their space. */
    size_t kept = 0;
    for (size_t i = 0; i < COUNT; i++)
        if (!objects_error(objects, seen[i]))
            drop(seen[i]);
        else
            seen[kept++] = seen[i];
    for (int i = 0; i < 10; i++) {
        usleep(10000);
        make_all();
    }
    CHECK_NUMBER(objects_figures(objects).dropped, with);
    CHECK_NUMBER(objects_figures(objects).tables, 1 + (kept < with ? kept : with));
    for (size_t i = 0; i < kept; i++)
        drop(seen[i]);
    end();
}

/* If other files need the space, unmapped objects lose their tables at once. */
TEST(room_is_made)
{
    enum { COUNT = 40 };
    struct mapped_file *seen[COUNT];

    begin_with(UNWIND_BLOCK_BYTES, 1000 * SECOND);
    copies(some_program(), seen, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        make_all();
        drop(seen[i]);
    }
    struct mapped_file *last = see("/bin/ls");
    make_all();
    CHECK_NUMBER(objects_error(objects, last), 0);
    CHECK_NUMBER(wrong_of("/bin/ls"), 0);
    drop(last);
    end();
}

/* ---- Hostile files ---- */

TEST(hostile)
{
    struct mapped_file *good[2], *bad[8];
    const char *path = some_program();
    size_t size, count = 0;
    char *bytes = bytes_of(path, &size), name[32];
    struct elf elf;

    begin();
    good[0] = see("/bin/ls");
    for (; count < 4; count++) {
        snprintf(name, sizeof(name), "cut%zu", count);
        write_file(path_in(own_directory, name), bytes, (size_t)random() % size);
        bad[count] = see(path_in(own_directory, name));
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (!elf_open(&elf, fd)) {
        const struct elf_section *frames = elf_section(&elf, ".eh_frame");
        for (size_t i = 0; frames && i < frames->size; i++)
            bytes[frames->offset + i] = (char)random();
        elf_close(&elf);
    }
    close(fd);
    write_file(path_in(own_directory, "random"), bytes, size);
    bad[count++] = see(path_in(own_directory, "random"));
    write_file(path_in(own_directory, "text"), "no ELF file", 11);
    bad[count++] = see(path_in(own_directory, "text"));
    write_file(path_in(own_directory, "empty"), "", 0);
    bad[count++] = see(path_in(own_directory, "empty"));
    good[1] = see(path);
    make_all();
    CHECK_NUMBER(wrong_of("/bin/ls") + wrong_of(path), 0);
    CHECK(objects_error(objects, bad[5]) != -EAGAIN && objects_error(objects, bad[6]) != -EAGAIN);
    CHECK(objects_error(objects, bad[5]) && objects_error(objects, bad[6]));
    for (size_t i = 0; i < count; i++)
        drop(bad[i]);
    drop(good[0]);
    drop(good[1]);
    end();
    free(bytes);
}

/* Our child's pid; 0: none, or this kernel does not list children. */
static pid_t own_child(void)
{
    FILE *file = fopen("/proc/thread-self/children", "r");
    int child = 0;

    if (file && fscanf(file, "%d", &child) != 1)
        child = 0;
    if (file)
        fclose(file);
    return child;
}

/* Kills the reader, then its successor, which reads one file. Was one killed before its end? */
static bool kill_two_readers(void)
{
    const pid_t first = own_child();

    kill(first, SIGKILL);
    while (own_child() == first)
        objects_make(objects);
    if (own_child())
        kill(own_child(), SIGKILL);
    make_all();
    return objects_figures(objects).without;
}

/*
 * If the reader is killed, only the file at fault loses its table: new readers read the files one
 * by one to find it.
 */
TEST(blamed)
{
    struct mapped_file *seen[3];
    bool is_done = false;

    for (int tries = 0; tries < 100 && !is_done; tries++) {
        begin();
        copies(some_program(), seen, 3);
        CHECK_NUMBER(objects_make(objects), 3);
        if (!own_child()) {
            printf("SKIP blamed: this kernel does not tell who our children are\n");
            tries = 100;
        } else if (kill_two_readers()) {
            const struct objects_figures figures = objects_figures(objects);
            CHECK(figures.tables == 3 && figures.without == 1 && figures.too_slow == 1);
            is_done = true;
        }
        for (size_t i = 0; i < 3; i++)
            drop(seen[i]);
        end();
    }
}

/* Stops the reader. True: it was given up for its silence; false: it was done before. */
static bool silence_reader(void)
{
    const pid_t reader = own_child();
    const uint64_t begun = now_ns();

    kill(reader, SIGSTOP);
    while (own_child() == reader && now_ns() - begun < 30 * SECOND) {
        objects_make(objects);
        usleep(1000);
    }
    CHECK(own_child() != reader);
    return now_ns() - begun >= SECOND;
}

/* Other files do not wait for one whose reader hangs; that file is read again after them. */
TEST(silent)
{
    struct mapped_file *seen[2];
    struct table table;
    bool is_done = false;

    for (int tries = 0; tries < 100 && !is_done; tries++) {
        begin();
        copies(some_program(), seen, 2);
        CHECK_NUMBER(objects_make(objects), 2);
        if (!own_child()) {
            printf("SKIP silent: this kernel does not tell who our children are\n");
            tries = 100;
        } else if (silence_reader() && silence_reader()) { /* of both, of the first */
            while (objects_make(objects) == 2)
                usleep(1000);
            const int found[] = {objects_find(objects, seen[0], &table), objects_find(objects, seen[1], &table)};
            CHECK_NUMBER(found[0], -EAGAIN);
            CHECK_NUMBER(found[1], 0);
            is_done = true;
        }
        make_all();
        CHECK_NUMBER(objects_figures(objects).tables, 3);
        drop(seen[0]);
        drop(seen[1]);
        end();
    }
}

/* ---- Making, by itself ---- */

static int results[3];

static void take(void *context, size_t which, int result, const struct table *table,
                 const struct frame_counts *counts)
{
    (void)context;
    results[which] = result;
    CHECK(!result == (table->words != NULL) && !result == (counts->rows != 0));
}

/* Starts and kills the reader, until a kill comes before it is done. Returns the first file's result. */
static int result_of_killed(struct table_builder *builder, const int *fds, size_t count)
{
    results[0] = 0;
    for (int tries = 0; tries < 100 && !results[0]; tries++) {
        CHECK_NUMBER(table_builder_begin(builder, fds, count), 0);
        kill(builder->run.pid, SIGKILL);
        CHECK_NUMBER(table_builder_end(builder, UINT64_MAX, take, NULL), 0);
    }
    return results[0];
}

/* With several files, none is blamed for the kill: they are read again (-EAGAIN). */
static void reader_is_killed(void)
{
    const int fd = open(some_program(), O_RDONLY | O_CLOEXEC), fds[] = {fd, fd, fd};
    AUTO(table_builder_free) struct table_builder builder = {0};

    CHECK_NUMBER(result_of_killed(&builder, fds, 3), -EAGAIN);
    CHECK(results[1] == -EAGAIN && results[2] == -EAGAIN);
    CHECK_NUMBER(result_of_killed(&builder, fds, 1), -ETIME);
    CHECK_NUMBER(table_builder_begin(&builder, fds, 2), 0);
    CHECK_NUMBER(table_builder_end(&builder, UINT64_MAX, take, NULL), 0);
    CHECK(!results[0] && !results[1] && builder.run.cpu_ns);
    close(fd);
}

/*
 * A file that takes as long as one of its size can: its functions refer alternately to two CIEs of 32 million
 * instructions each, remember and restore. (They are so long that each evicts the other from the cache.)
 */
static int endless_file(void)
{
    enum { WORDS = (32 << 20) + 16, FUNCTIONS = 1000, FRAMES = 0x1000, CODE = 0x100 };
    static const char names[] = "\0.eh_frame\0.shstrtab";
    const size_t cie = 16 + WORDS, size = 2 * cie + FUNCTIONS * 24ul + 4, total = FRAMES + size + sizeof(names);
    char *bytes = calloc(1, total);

    *(Elf64_Ehdr *)bytes = (Elf64_Ehdr){
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT, .e_ehsize = sizeof(Elf64_Ehdr),
        .e_phoff = 64, .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1,
        .e_shoff = 256, .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 3, .e_shstrndx = 2,
    };
    *(Elf64_Phdr *)(bytes + 64) = (Elf64_Phdr){
        .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = total, .p_memsz = total, .p_align = 4096,
    };
    Elf64_Shdr *sections = (Elf64_Shdr *)(bytes + 256);
    sections[1] = (Elf64_Shdr){
        .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC, .sh_addr = FRAMES, .sh_offset = FRAMES,
        .sh_size = size,
    };
    sections[2] = (Elf64_Shdr){
        .sh_name = 11, .sh_type = SHT_STRTAB, .sh_offset = FRAMES + size, .sh_size = sizeof(names),
    };
    memcpy(bytes + FRAMES + size, names, sizeof(names));
    /* Version 1, "", factors of 1 and -8, the return address in 16; CFA = rsp + 8; remember, restore. */
    static const unsigned char head[] = {1, 0, 1, 0x78, 16, 0x0c, 7, 8};
    for (size_t i = 0; i < 2; i++) {
        for (size_t word = 0; word < WORDS; word++)
            bytes[FRAMES + i * cie + 16 + word] = word % 2 ? 0x0b : 0x0a;
        *(uint32_t *)(bytes + FRAMES + i * cie) = (uint32_t)(cie - 4);
        memcpy(bytes + FRAMES + i * cie + 8, head, sizeof(head));
    }
    for (size_t i = 0; i < FUNCTIONS; i++) {
        uint32_t *fde = (uint32_t *)(bytes + FRAMES + 2 * cie + i * 24);
        const uint64_t place[] = {CODE + i, 1};
        fde[0] = 20;
        fde[1] = (uint32_t)((char *)(fde + 1) - (bytes + FRAMES + i % 2 * cie));
        memcpy(fde + 2, place, sizeof(place));
    }
    write_file(path_in(own_directory, "endless"), bytes, total);
    free(bytes);
    return open(path_in(own_directory, "endless"), O_RDONLY | O_CLOEXEC);
}

/* A file that takes too long is given up on. */
TEST(endless)
{
    AUTO_FD fd = endless_file();
    AUTO(table_builder_free) struct table_builder builder = {.seconds = 1};

    CHECK_NUMBER(table_builder_begin(&builder, &fd, 1), 0);
    CHECK_NUMBER(table_builder_end(&builder, UINT64_MAX, take, NULL), 0);
    CHECK_NUMBER(results[0], -ETIME);
    CHECK(builder.run.cpu_ns > SECOND / 2 && builder.run.cpu_ns < 3 * SECOND);
}

/* Closing does not wait for a table that is being made. */
TEST(closed_early)
{
    begin();
    struct mapped_file *file = see(some_program());
    CHECK_NUMBER(objects_make(objects), 1);
    drop(file);
    const uint64_t before = now_ns();
    end();
    CHECK(now_ns() - before < SECOND);
}

/* ---- Space ---- */

static void space_of_numbers(void)
{
    static struct space space;
    static bool taken[256];
    uint32_t first, firsts[256], sizes[256];
    size_t count = 0, wrong = 0;

    space = (struct space){.chunks = -1, .grace = GRACE_NONE, .most = 256};
    for (int i = 0; i < rounds(20000); i++) {
        const size_t size = 1 + (size_t)random() % 20;
        if (random() % 2 && !space_take(&space, size, &first)) {
            for (size_t j = first; j < first + size; j++) {
                wrong += j >= 256 || taken[j];
                taken[j] = true;
            }
            firsts[count] = first;
            sizes[count++] = (uint32_t)size;
        } else if (count) {
            const size_t which = (size_t)random() % count;
            for (size_t j = firsts[which]; j < firsts[which] + sizes[which]; j++)
                taken[j] = false;
            /* As space_settle() does once no BPF program reads them. */
            for (uint32_t j = firsts[which]; j < firsts[which] + sizes[which]; j++)
                space.taken[j / 64] &= ~((uint64_t)1 << j % 64);
            space.used -= sizes[which];
            firsts[which] = firsts[--count];
            sizes[which] = sizes[count];
        }
    }
    size_t used = 0;
    for (size_t i = 0; i < 256; i++)
        used += taken[i];
    CHECK_NUMBER(wrong, 0);
    CHECK_NUMBER(space.used, used);
    CHECK_NUMBER(space_take(&space, 257, &first), -ENOSPC);
}

static bool has_map(const struct space *space, uint32_t chunk)
{
    uint32_t id;

    return !bpf_lookup(space->chunks, &chunk, &id);
}

/* Freed space is reused once it has settled, not before; then empty chunks are freed, too. */
TEST(space_in_maps)
{
    static struct space space;
    static uint32_t block[UNWIND_BLOCK_WORDS];
    uint32_t first, next;

    CHECK_NUMBER(space_open(&space, 100, false), 0);
    CHECK_NUMBER(space.most, 128);
    for (uint32_t i = 0; i < 128; i++)
        CHECK(!space_put(&space, block, 1, &first) && first == i);
    CHECK_NUMBER(space_put(&space, block, 1, &first), -ENOSPC);
    space_rest(&space, 60, 10);
    CHECK_NUMBER(space_put(&space, block, 1, &first), -ENOSPC);
    CHECK_NUMBER(space_settle(&space), 0);
    CHECK_NUMBER(space_left(&space), 10);
    CHECK_NUMBER(space_take(&space, 10, &first), 0);
    CHECK_NUMBER(first, 60);
    space_rest(&space, 64, 64);
    CHECK_NUMBER(space_settle(&space), 0);
    /* An empty chunk may stay as a spare. */
    CHECK(has_map(&space, 0) && has_map(&space, 1));
    CHECK(!space_put(&space, block, 1, &next) && next == 64);
    space_rest(&space, 0, 65);
    CHECK_NUMBER(space_settle(&space), 0);
    CHECK(has_map(&space, 0) && !has_map(&space, 1));
    space_close(&space);
}

/* Some chunks exist before they are needed, and a thread adds more while others use the space. */
TEST(spare_chunks)
{
    static struct space space;
    static uint32_t blocks[UNWIND_CHUNK_BLOCKS * UNWIND_BLOCK_WORDS];
    struct spares spares;
    uint32_t first;

    CHECK_NUMBER(space_open(&space, 32 * UNWIND_CHUNK_BLOCKS, false), 0);
    uint32_t has = 0;
    while (has_map(&space, has))
        has++;
    const bool one = has == 1; /* before Linux 5.16 */
    CHECK(has == SPACE_SPARES || one);
    space_lack_spares(&space, &spares);
    CHECK_NUMBER(spares.count, SPACE_SPARES - has);
    space_take_spares(&space, &spares);

    CHECK(!space_put(&space, blocks, UNWIND_CHUNK_BLOCKS, &first) && first == 0);
    space_lack_spares(&space, &spares);
    CHECK_NUMBER(spares.count, one ? SPACE_SPARES : 0); /* of which one may be missing */
    space_take_spares(&space, &spares);
    CHECK(!space_put(&space, blocks, 1, &first) && first == UNWIND_CHUNK_BLOCKS);
    space_lack_spares(&space, &spares);
    CHECK_NUMBER(spares.first, one ? 2 : has);
    CHECK_NUMBER(spares.count, one ? SPACE_SPARES : 2);
    CHECK_NUMBER(space_left(&space), (32 - 1 - spares.count) * UNWIND_CHUNK_BLOCKS - 1);
    CHECK(!space_put(&space, blocks, 1, &first) && first == UNWIND_CHUNK_BLOCKS + 1);
    space_make_spares(&spares);
    CHECK(has_map(&space, spares.first));
    space_take_spares(&space, &spares);
    CHECK_NUMBER(space_left(&space), 31 * UNWIND_CHUNK_BLOCKS - 2);
    CHECK(space_map(&space, 0, 2 * UNWIND_CHUNK_BLOCKS));
    CHECK(!space_map(&space, 31 * UNWIND_CHUNK_BLOCKS, 1));
    space_close(&space);
}

int main(void)
{
    static struct tables tables;
    const int result = tables_open(&tables, ENOUGH, false);

    tables_close(&tables);
    srandom(1);
    RUN(space_of_numbers);
    RUN(reader_is_killed);
    if (result) {
        printf("SKIP objects: no tables in maps here: %s\n", strerror(-result));
        return tests_done();
    }
    if (!enter_own_directory())
        return 2;
    run_tests();
    remove_own_directory();
    return tests_done();
}
