/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* From a process's addresses to files, by /proc: mappings of hand-made files. */
#include "processes/process.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/reading.h"
#include "elf_image.h"
#include "files.h"
#include "followable.h"

#define PAGE 4096

static struct processes *processes;

/* Its second page is at 0x402000 in the ELF file's own addresses; its third is in no segment. */
static bool make_file(const char *path)
{
    static const struct image_segment segments[] = {{1, 0, 0x400000, 0x200},
                                                    {1, PAGE, 0x402000, PAGE}};
    struct image image;
    AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    image_make(&image, true, false, 64, 56, segments, COUNT_OF(segments), 3 * PAGE);
    return fd >= 0 && write(fd, image.bytes, image.length) == (ssize_t)image.length;
}

/* Maps the file's second and third page. */
static const char *map_file(const char *path)
{
    AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
    void *at = mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE, fd, PAGE);

    return at == MAP_FAILED ? NULL : at;
}

static bool is_place(const struct process_place *place, const char *file, uint64_t address)
{
    return !strcmp(place->label, file) && place->address == address;
}

static void check_place(const struct process_place *place, const char *file, uint64_t address)
{
    if (is_place(place, file, address))
        return;
    printf("  got \"%s\" 0x%llx, should be \"%s\" 0x%llx\n",
           place->label, (unsigned long long)place->address, file,
           (unsigned long long)address);
    WRONG("the place");
}

/* As /proc shows it now, without earlier records. */
static int find(uint32_t pid, const uint64_t *addresses, size_t count, struct process_place *places)
{
    static const struct processes_options silent = {.silent = true};

    if (!processes)
        CHECK_NUMBER(processes_open(&processes, &silent), 0);
    processes_forget(processes);
    int result = processes_find(processes, pid, 0, 0, addresses, count, places);
    for (size_t i = 0; i < count && !result; i++)
        if (places[i].kind == MAPPED_FILE)
            CHECK_NUMBER(mapped_file_address(places[i].file, places[i].address, &places[i].address), 0);
    return result;
}

/* A file of that name, mapped and, if asked for, deleted, is shown as `shown`. */
static void check_file(const char *name, const char *shown, bool deleted)
{
    struct process_place places[3] = {{.address = 0}};

    const char *path = path_in(own_directory, name);
    const char *at = make_file(path) ? map_file(path) : NULL;
    CHECK(at != NULL);
    if (!at)
        return;
    if (deleted)
        unlink(path);
    const uint64_t addresses[] = {(uintptr_t)at, (uintptr_t)at + 0x123, (uintptr_t)at + PAGE + 8};
    CHECK_NUMBER(find((uint32_t)getpid(), addresses, 3, places), 0);
    check_place(&places[0], shown, 0x402000);
    check_place(&places[1], shown, 0x402123);
    check_place(&places[2], shown, 2 * PAGE + 8);
    munmap((void *)(uintptr_t)at, 2 * PAGE);
    unlink(path);
}

TEST(names_of_files)
{
    check_file("plain.so", "plain.so", false);
    check_file("two  blanks and more", "two  blanks and more", false);
    check_file("new\nline\n", "new\nline\n", false);
    check_file("bytes\x1b\xff\\", "bytes\x1b\xff\\", false);
    check_file("[bracket", "[bracket", false);
    if (!can_follow_mappings()) {
        printf("SKIP names_of_files, in part: mappings cannot be followed here\n");
        return;
    }
    /* Once deleted, it can be read only through its mapping. */
    check_file("plain.so", "plain.so", true);
    check_file("new\nline", "new\nline", true);
    check_file("twice (deleted)", "twice (deleted)", true);
}

/* Without the capability to follow mappings: by the path, as the process sees it. */
TEST(without_rights)
{
    int status = 0;
    pid_t child = fork();

    if (!child) {
        if (!geteuid() && (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534)))
            _exit(2);
        prctl(PR_SET_DUMPABLE, 1);
        struct process_place place = {.address = 0};
        static const char *const names[] = {"readable", "new\nline of it"};
        bool right = true;
        for (size_t i = 0; i < COUNT_OF(names); i++) {
            const char *path = path_in(own_directory, names[i]);
            const uint64_t address = (uintptr_t)map_file(path) + 0x10;
            place = (struct process_place){.address = 0};
            right = right && !find((uint32_t)getpid(), &address, 1, &place) &&
                    is_place(&place, names[i], 0x402010);
        }
        _exit(!right);
    }
    waitpid(child, &status, 0);
    CHECK_NUMBER(status, 0);
}

TEST(memory_without_a_file)
{
    struct process_place places[3] = {{.address = 0}};
    char *anonymous = mmap(NULL, 4 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    AUTO_FD fd = memfd_create("in memory", MFD_CLOEXEC);
    char *memory = ftruncate(fd, PAGE) ? NULL : mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);

    /* A gap, so that the page is not merged with others, and nothing is mapped next to it. */
    munmap(anonymous + PAGE, PAGE);
    munmap(anonymous + 3 * PAGE, PAGE);
    const uint64_t addresses[] = {(uintptr_t)anonymous + PAGE, (uintptr_t)anonymous + 2 * PAGE + 5};
    CHECK_NUMBER(find((uint32_t)getpid(), addresses, 2, places), 0);
    check_place(&places[0], "", 0);
    check_place(&places[1], "[anon]", 5);
    memset(places, 0, sizeof(places));
    const uint64_t in_memory = (uintptr_t)memory + 7, nowhere[] = {0, 1, UINT64_MAX};
    CHECK_NUMBER(find((uint32_t)getpid(), &in_memory, 1, places), 0);
    check_place(&places[0], "memfd:in memory", 7);
    memset(places, 0, sizeof(places));
    CHECK_NUMBER(find((uint32_t)getpid(), nowhere, 3, places), 0);
    for (int i = 0; i < 3; i++)
        check_place(&places[i], "", 0);
    CHECK_NUMBER(find((uint32_t)getpid(), nowhere, 0, places), 0);
    munmap(anonymous, PAGE);
    munmap(anonymous + 2 * PAGE, PAGE);
    munmap(memory, PAGE);
}

TEST(processes_that_are_gone)
{
    struct process_place place = {.address = 0};
    const uint64_t address = (uintptr_t)&own_directory;
    pid_t child = fork();
    siginfo_t info;

    if (!child)
        _exit(0);
    CHECK_NUMBER(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    CHECK_NUMBER(find((uint32_t)child, &address, 1, &place), 0); /* it maps nothing */
    check_place(&place, "", 0);
    waitpid(child, NULL, 0);
    CHECK_NUMBER(find((uint32_t)child, &address, 1, &place), -ENOENT);
    check_place(&place, "", 0);
    CHECK_NUMBER(find(UINT32_MAX, &address, 1, &place), -ENOENT);
}

static void *wait_for_the_end(void *nothing)
{
    pause();
    return nothing;
}

/* A child's other thread keeps its memory; if we may open mappings, the file is deleted, too. */
static void a_first_thread_that_has_ended(void)
{
    char state[32];
    struct process_place place = {.address = 0};
    AUTO_TEXT status = {0};
    const bool can_follow = can_follow_mappings();

    const char *path = path_in(own_directory, "ended.so");
    const char *at = make_file(path) ? map_file(path) : NULL;
    const uint64_t address = (uintptr_t)at + 0x123;
    if (can_follow)
        unlink(path);
    pid_t child = fork();
    if (!child) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, wait_for_the_end, NULL))
            _exit(1);
        syscall(SYS_exit, 0); /* of this thread alone */
    }
    snprintf(state, sizeof(state), "/proc/%d/status", child);
    uint64_t end = now_ns() + 10000000000;
    do {
        text_clear(&status);
        CHECK_NUMBER(read_file(AT_FDCWD, state, 65536, &status), 0);
    } while (status.data && !strstr(status.data, "State:\tZ") && now_ns() < end);
    CHECK(status.data && strstr(status.data, "State:\tZ"));
    CHECK_NUMBER(find((uint32_t)child, &address, 1, &place), 0);
    check_place(&place, "ended.so", 0x402123);
    if (child > 0) /* kill(-1) signals all processes */
        kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    munmap((void *)(uintptr_t)at, 2 * PAGE);
    unlink(path);
}

/* Another process maps and unmaps all the time, below and above the address looked up. */
static void maps_that_change(void)
{
    const char *path = path_in(own_directory, "steady");
    const char *at = make_file(path) ? map_file(path) : NULL;
    pid_t child = fork();
    if (!child)
        for (;;) {
            void *pieces[64];
            for (int i = 0; i < 64; i++)
                pieces[i] = mmap(NULL, PAGE, i & 1 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            for (int i = 0; i < 64; i++)
                munmap(pieces[i], PAGE);
        }
    const uint64_t addresses[] = {(uintptr_t)at + 0x123, (uintptr_t)at + 0x456};
    for (int i = 0; i < 300; i++) {
        struct process_place places[2] = {{.address = 0}};
        CHECK_NUMBER(find((uint32_t)child, addresses, 2, places), 0);
        check_place(&places[0], "steady", 0x402123);
        check_place(&places[1], "steady", 0x402456);
    }
    if (child > 0) /* kill(-1) signals all processes */
        kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    munmap((void *)(uintptr_t)at, 2 * PAGE);
}

int main(void)
{
    if (!enter_own_directory() || chmod(own_directory, 0755))
        return 1;
    CHECK(make_file(path_in(own_directory, "readable")));
    CHECK(make_file(path_in(own_directory, "new\nline of it")));
    run_tests();
    if (geteuid() || can_follow_mappings()) {
        RUN(a_first_thread_that_has_ended);
        RUN(maps_that_change);
    } else { /* in a child it has the same addresses */
        printf("SKIP of children: the kernel has our memory at other addresses than we do\n");
    }
    remove_own_directory();
    processes_close(processes);
    return tests_done();
}
