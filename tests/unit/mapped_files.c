/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Mapped files: which ones stackbox opens, which count as the same, and which it keeps. */
#include "processes/mapped_files.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "elf_image.h"
#include "followable.h"
#include "files.h"
#include "test.h"

static struct mapped_files *files;

static void write_file(const char *path, const char *content)
{
    AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    CHECK(fd >= 0 && write(fd, content, strlen(content)) == (ssize_t)strlen(content));
}

/* A record of a file's mapping, by a process that is gone: no process gets a higher pid. */
static struct mapped_sight sight_of(const char *path)
{
    struct stat about;
    struct mapped_sight sight = {.start = 0x1000, .end = 0x2000, .path = path, .pid = 5000001};

    if (stat(path, &about))
        return sight;
    sight.device = about.st_dev;
    sight.inode = about.st_ino;
    return sight;
}

static bool holds(const struct mapped_file *file, const char *content)
{
    char bytes[64] = "";

    return file->fd >= 0 && pread(file->fd, bytes, sizeof(bytes) - 1, 0) >= 0 &&
           !strcmp(bytes, content);
}

TEST(one_file_is_opened_once)
{
    char *path = path_in(own_directory, "once"), *other = path_in(own_directory, "other");

    write_file(path, "content");
    CHECK_NUMBER(link(path, other), 0);
    struct mapped_sight sight = sight_of(path);
    struct mapped_file *first = mapped_files_see(files, &sight);
    CHECK_NUMBER(first->kind, MAPPED_FILE);
    CHECK_STRING(first->label, "once");
    CHECK_STRING(first->path, path);
    CHECK_STRING(first->root, "");
    CHECK(holds(first, "content"));
    CHECK_NUMBER(mapped_files_count(files), 1);
    CHECK(mapped_files_knows(files, sight.device, sight.inode));
    CHECK(!mapped_files_knows(files, sight.device, sight.inode + 1));
    sight.path = other; /* by whatever name */
    CHECK(mapped_files_see(files, &sight) == first);
    unlink(path);
    unlink(other);
    CHECK(mapped_files_see(files, &sight) == first);
    CHECK(holds(first, "content") && !mapped_file_changed(first));
    mapped_file_drop(files, first);
    mapped_file_drop(files, first);
    CHECK_NUMBER(mapped_files_count(files), 1);
    mapped_file_drop(files, first);
    CHECK_NUMBER(mapped_files_count(files), 0);
    CHECK(!mapped_files_knows(files, sight.device, sight.inode));
}

/* The process and its parent are gone: the path is resolved in a root that others share. */
TEST(in_a_root_of_others)
{
    char *program = path_in(own_directory, "program");
    struct mapped_root *root = NULL;
    int ready[2], status = 0;
    char byte = 0;

    write_file(program, "content");
    CHECK_NUMBER(pipe(ready), 0);
    pid_t child = fork();
    if (!child) {
        if (chroot(own_directory))
            _exit(1);
        (void)!write(ready[1], "", 1);
        pause();
        _exit(0);
    }
    close(ready[1]);
    if (read(ready[0], &byte, 1) == 1)
        root = mapped_files_root(files, (uint32_t)child);
    else
        printf("SKIP in_a_root_of_others, in part: no right to another root\n");
    close(ready[0]);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    struct mapped_sight sight = sight_of(program);
    sight.path = "/program";
    struct mapped_file *file = mapped_files_see(files, &sight);
    CHECK(!root || (holds(file, "content") && !strcmp(file->root, mapped_root_path(root))));
    mapped_file_drop(files, file);
    sight.inode++; /* but that is another file */
    file = mapped_files_see(files, &sight);
    CHECK(file->fd < 0 && !file->root);
    mapped_file_drop(files, file);
    mapped_root_drop(files, root);
    sight.inode--;
    file = mapped_files_see(files, &sight);
    CHECK(file->fd < 0 && !file->root);
    mapped_file_drop(files, file);
    unlink(program);
}

/* Another file now has the mapped file's name. */
TEST(another_file_of_that_name)
{
    char *path = path_in(own_directory, "replaced");

    write_file(path, "new");
    struct mapped_sight sight = sight_of(path);
    sight.inode++;
    struct mapped_file *file = mapped_files_see(files, &sight);
    CHECK_NUMBER(file->kind, MAPPED_FILE);
    CHECK_NUMBER(file->fd, -ESTALE);
    CHECK_STRING(file->label, "replaced");
    mapped_file_drop(files, file);
    sight.inode--;
    sight.device++;
    file = mapped_files_see(files, &sight);
    CHECK_NUMBER(file->fd, -ESTALE);
    mapped_file_drop(files, file);
    unlink(path);
    sight = sight_of("/none/at/all");
    sight.inode = 1;
    file = mapped_files_see(files, &sight);
    CHECK_NUMBER(file->fd, -ENOENT);
    CHECK_STRING(file->label, "all");
    mapped_file_drop(files, file);
    CHECK_NUMBER(mapped_files_count(files), 0);
}

/* The same, with a reused inode number, if the file system has inode generations. */
TEST(another_generation)
{
    char *path = path_in(own_directory, "generation");
    long generation = 0;

    write_file(path, "new");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool has_generations = !ioctl(fd, _IOR('v', 1, long), &generation) && (uint32_t)generation;
    close(fd);
    if (!has_generations) {
        printf("SKIP another_generation: files in /tmp have none\n");
        unlink(path);
        return;
    }
    struct mapped_sight sight = sight_of(path);
    sight.generation = (uint32_t)generation ^ 1;
    struct mapped_file *file = mapped_files_see(files, &sight);
    CHECK_NUMBER(file->fd, -ESTALE);
    sight.generation = (uint32_t)generation;
    struct mapped_file *right = mapped_files_see(files, &sight);
    CHECK(right != file && holds(right, "new"));
    mapped_file_drop(files, file);
    mapped_file_drop(files, right);
    unlink(path);
}

static void set_times(const char *path, time_t seconds)
{
    const struct timespec times[2] = {{seconds, 0}, {seconds, 0}};

    CHECK_NUMBER(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Overwritten in place: an earlier mapping is reported as modified, a new one is right. */
TEST(files_that_are_written_to)
{
    char *path = path_in(own_directory, "written");

    write_file(path, "first");
    set_times(path, 1000000000);
    struct mapped_sight sight = sight_of(path);
    struct mapped_file *first = mapped_files_see(files, &sight);
    CHECK(!mapped_file_changed(first));
    CHECK_NUMBER(chmod(path, 0600), 0); /* that does not change its contents */
    CHECK(!mapped_file_changed(first));
    write_file(path, "other"); /* the same length */
    set_times(path, 1000000001);
    CHECK(mapped_file_changed(first));
    mapped_files_look_again(files);
    CHECK(!mapped_files_knows(files, sight.device, sight.inode));
    struct mapped_file *second = mapped_files_see(files, &sight);
    CHECK(second != first && !mapped_file_changed(second) && holds(second, "other"));
    CHECK(mapped_files_see(files, &sight) == second);
    mapped_file_drop(files, second);
    write_file(path, "longer than before");
    set_times(path, 1000000001);
    CHECK(mapped_file_changed(second));
    CHECK(mapped_file_changed(first));
    mapped_file_drop(files, first);
    mapped_file_drop(files, second);
    unlink(path);
}

/* Files written to between the mapping and our open(2). */
TEST(files_that_were_written_to)
{
    char *path = path_in(own_directory, "early");

    write_file(path, "content");
    struct mapped_sight sight = sight_of(path);
    sight.time = now_ns() - 60000000000; /* before the last write */
    struct mapped_file *file = mapped_files_see(files, &sight);
    CHECK(mapped_file_changed(file));
    mapped_file_drop(files, file);
    sight.time = now_ns() + 1000000000;
    file = mapped_files_see(files, &sight);
    CHECK(!mapped_file_changed(file));
    mapped_file_drop(files, file);
    set_times(path, 1000000000); /* an old file, moved or linked meanwhile */
    sight.time = now_ns() - 60000000000;
    file = mapped_files_see(files, &sight);
    CHECK(!mapped_file_changed(file));
    mapped_file_drop(files, file);
    unlink(path);
}

/* Does mapped_files_see() open the file at this path? */
static bool is_opened(const char *path)
{
    char happened[1024];
    int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    const struct mapped_sight sight = sight_of(path);

    if (watch < 0 || inotify_add_watch(watch, path, IN_OPEN) < 0)
        WRONG("a watch");
    struct mapped_file *file = mapped_files_see(files, &sight);
    CHECK((file->fd >= 0) == (file->kind == MAPPED_FILE));
    mapped_file_drop(files, file);
    bool opened = read(watch, happened, sizeof(happened)) > 0;
    close(watch);
    return opened;
}

/* Opening a file that is not regular may have side effects. */
TEST(only_plain_files_are_opened)
{
    char *path = path_in(own_directory, "kind");

    write_file(path, "");
    CHECK(is_opened(path));
    unlink(path);
    CHECK_NUMBER(mkfifo(path, 0644), 0);
    CHECK(!is_opened(path));
    unlink(path);
}

static void check_kind(struct mapped_sight sight, enum mapped_kind kind, const char *label)
{
    struct mapped_file *file = mapped_files_see(files, &sight);
    int before = test_failures_here;

    CHECK_NUMBER(file->kind, kind);
    CHECK_STRING(file->label, label);
    CHECK(mapped_files_see(files, &sight) == file);
    if (test_failures_here > before)
        printf("  of %s\n", sight.path);
    mapped_file_drop(files, file);
    mapped_file_drop(files, file);
}

TEST(what_is_no_file)
{
    const uint64_t high = sizeof(void *) == 8 ? 0x7fff00000000 : 0x70000000;
    static const char *const anonymous[][2] = {
        {"", "[anon]"}, {"//anon", "[anon]"}, {"[heap]", "[heap]"}, {"[stack]", "[stack]"},
        {"[anon:a/b]", "[anon:a/b]"}, {"[anon_shmem:c]", "[anon_shmem:c]"},
    };
    static const char *const in_memory[][2] = {
        {"/dev/zero (deleted)", "[anon]"}, {"/anon_hugepage (deleted)", "[anon]"},
        {"/SYSV00001234 (deleted)", "SYSV00001234"}, {"/memfd:jit (deleted)", "memfd:jit"},
        {"/memfd:a/b", "b"},
    };

    for (size_t i = 0; i < COUNT_OF(anonymous); i++)
        check_kind((struct mapped_sight){.end = high, .path = anonymous[i][0]}, MAPPED_ANONYMOUS,
                   anonymous[i][1]);
    for (size_t i = 0; i < COUNT_OF(in_memory); i++)
        check_kind((struct mapped_sight){.path = in_memory[i][0], .inode = 7, .device = 1},
                   MAPPED_ANONYMOUS, in_memory[i][1]);
    check_kind((struct mapped_sight){.end = high, .path = "[vdso]"}, MAPPED_VDSO, "[vdso]");
    if (sizeof(void *) == 8) /* of a 32-bit program */
        check_kind((struct mapped_sight){.end = 0xf7000000, .path = "[vdso]"}, MAPPED_OTHER,
                   "[vdso]");
    check_kind((struct mapped_sight){.path = "[vsyscall]"}, MAPPED_OTHER, "[vsyscall]");
    check_kind((struct mapped_sight){.path = "[uprobes]"}, MAPPED_OTHER, "[uprobes]");
    check_kind((struct mapped_sight){.path = "anon_inode:[perf_event]", .inode = 9, .device = 14},
               MAPPED_OTHER, "anon_inode:[perf_event]");
}

/* A memfd, seen in our own process: one with a program is a file like any other. */
static void check_memfd(const char *content, size_t length, enum mapped_kind kind)
{
    int fd = memfd_create("code", MFD_CLOEXEC);
    struct stat about;

    CHECK_NUMBER(write(fd, content, length), length);
    CHECK_NUMBER(ftruncate(fd, 4096), 0);
    char *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
    fstat(fd, &about);
    close(fd);
    const struct mapped_sight sight = {
        .start = (uintptr_t)at, .end = (uintptr_t)at + 4096, .device = about.st_dev,
        .inode = about.st_ino, .path = "/memfd:code (deleted)", .pid = (uint32_t)getpid(),
    };
    struct mapped_file *file = mapped_files_see(files, &sight);
    CHECK_NUMBER(file->kind, kind);
    CHECK((file->fd >= 0) == (kind == MAPPED_FILE));
    CHECK_STRING(file->label, "memfd:code");
    CHECK(mapped_file_is_unseen(file) == !can_follow_mappings());
    mapped_file_drop(files, file);
    munmap(at, 4096);
}

/* One whose process was gone when it was first seen, until a process that lives shows it. */
static void memfd_that_is_gone(bool shows)
{
    int fd = memfd_create("late", MFD_CLOEXEC);
    struct stat about;

    CHECK_NUMBER(ftruncate(fd, 4096), 0);
    CHECK_NUMBER(pwrite(fd, "\177ELF", 4, 0), 4);
    char *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
    fstat(fd, &about);
    struct mapped_sight sight = {
        .start = (uintptr_t)at, .end = (uintptr_t)at + 4096, .device = about.st_dev,
        .inode = about.st_ino, .path = "/memfd:late (deleted)", .pid = INT32_MAX,
    };
    struct mapped_file *file = mapped_files_see(files, &sight);
    CHECK_NUMBER(file->kind, MAPPED_ANONYMOUS);
    CHECK(mapped_file_is_unseen(file));
    if (shows) {
        sight.pid = (uint32_t)getpid();
        CHECK(mapped_files_see(files, &sight) == file);
        CHECK_NUMBER(file->kind, MAPPED_FILE);
        CHECK(!mapped_file_is_unseen(file));
        mapped_file_drop(files, file);
    }
    mapped_file_drop(files, file);
    munmap(at, 4096);
    close(fd);
}

TEST(files_in_memory)
{
    memfd_that_is_gone(can_follow_mappings());
    check_memfd("code", 4, MAPPED_ANONYMOUS);
    if (!can_follow_mappings())
        printf("SKIP files_in_memory, in part: mappings cannot be followed here\n");
    else
        check_memfd("\177ELF", 4, MAPPED_FILE);
}

static uint64_t address_in(struct mapped_file *file, uint64_t offset)
{
    uint64_t address = 0;

    CHECK_NUMBER(mapped_file_address(file, offset, &address), 0);
    return address;
}

TEST(addresses_in_files)
{
    static const struct image_segment segments[] = {{1, 0, 0x400000, 0x200},
                                                    {1, 0x1000, 0x402000, 0x1000}};
    char *path = path_in(own_directory, "image");
    struct image image;

    image_make(&image, true, false, 64, 56, segments, COUNT_OF(segments), 0x2000);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    CHECK_NUMBER(write(fd, image.bytes, image.length), image.length);
    close(fd);
    struct mapped_sight sight = sight_of(path);
    struct mapped_file *file = mapped_files_see(files, &sight);
    unlink(path);
    CHECK_NUMBER(address_in(file, 0x10), 0x400010);
    CHECK_NUMBER(address_in(file, 0x1010), 0x402010);
    CHECK_NUMBER(address_in(file, 0x200), 0x200); /* in no segment */
    CHECK_NUMBER(address_in(file, UINT64_MAX), UINT64_MAX);
    mapped_file_drop(files, file);
    write_file(path, "no ELF file");
    sight = sight_of(path);
    file = mapped_files_see(files, &sight);
    CHECK_NUMBER(address_in(file, 0x1010), 0x1010);
    mapped_file_drop(files, file);
    unlink(path);
}

/* With few descriptors: files beyond half of them have only their name, and are counted. */
TEST(few_descriptors)
{
    pid_t child = fork();
    int status = 1;

    if (!child) {
        const struct rlimit few = {272, 272}; /* 256 of them are left for other uses */
        struct mapped_file *seen[40];
        struct mapped_files *table;
        setrlimit(RLIMIT_NOFILE, &few);
        CHECK_NUMBER(mapped_files_open(&table), 0);
        for (int i = 0; i < 40; i++) {
            char name[16];
            snprintf(name, sizeof(name), "file%d", i);
            char *path = path_in(own_directory, name);
            write_file(path, name);
            struct mapped_sight sight = sight_of(path);
            seen[i] = mapped_files_see(table, &sight);
            CHECK_STRING(seen[i]->label, name);
            CHECK_NUMBER(seen[i]->kind, MAPPED_FILE);
            if (i < 16)
                CHECK(holds(seen[i], name));
            else
                CHECK_NUMBER(seen[i]->fd, -EMFILE);
            unlink(path);
        }
        CHECK_NUMBER(mapped_files_count(table), 16);
        CHECK_NUMBER(mapped_files_not_kept(table), 24);
        for (int i = 0; i < 40; i++)
            mapped_file_drop(table, seen[i]);
        CHECK_NUMBER(mapped_files_count(table), 0);
        mapped_files_close(table);
        fflush(stdout);
        _exit(test_failures_here != 0);
    }
    waitpid(child, &status, 0);
    CHECK_NUMBER(status, 0);
}

int main(void)
{
    if (!enter_own_directory() || mapped_files_open(&files))
        return 1;
    run_tests();
    CHECK_NUMBER(mapped_files_count(files), 0);
    mapped_files_close(files);
    leave_own_directory();
    return tests_done();
}
