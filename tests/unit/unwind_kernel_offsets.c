/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Offsets found in the running kernel, compared with stat(2) and our own registers. */
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "machine/machine.h"
#include "test.h"
#include "unwind/kernel_offsets.h"

static struct kernel_offsets offsets = KERNEL_OFFSETS_NONE;

static int key_of(const char *path, size_t page, struct unwind_key *key)
{
    const size_t size = (size_t)sysconf(_SC_PAGESIZE);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *mapped = fd < 0 ? MAP_FAILED : mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, (off_t)(page * size));

    if (fd >= 0)
        close(fd);
    if (mapped == MAP_FAILED)
        return -errno;
    int result = kernel_offsets_key(&offsets, mapped, key);
    munmap(mapped, size);
    return result;
}

/* Puts registers of a call of bpf(2) there, as far as it is told from others by them. */
static void put_call(const struct machine *machine, uint64_t *words)
{
    words[machine->walk->call] = SYS_bpf;
    words[machine->sp.word] = (uintptr_t)__builtin_frame_address(0);
    words[machine->walk->mode.word] = machine->walk->mode.value;
}

/* What an earlier call has left further down in the stack can look the same. */
TEST(the_last_registers)
{
    const struct machine *machine = machine_ours();
    uint64_t words[KERNEL_STACK_END_BYTES / 8] = {0};

    if (machine != machine_of_kernel() || !machine->walk)
        return;
    CHECK_NUMBER(kernel_offsets_find_call(machine, words), 0);
    const size_t last = COUNT_OF(words) - machine->walk->registers;
    put_call(machine, words);
    put_call(machine, words + last);
    CHECK_NUMBER(kernel_offsets_find_call(machine, words), 8 * last);
}

/* A file has one key, wherever it is mapped, until it is written to; different files have different keys. */
TEST(keys)
{
    struct unwind_key first = {0}, again = {0}, other = {0};
    struct stat about;

    CHECK_NUMBER(key_of("/proc/self/exe", 0, &first), 0);
    CHECK_NUMBER(key_of("/proc/self/exe", 1, &again), 0);
    CHECK_NUMBER(key_of("/bin/sh", 0, &other), 0);
    CHECK(!memcmp(&first, &again, sizeof(first)));
    CHECK(memcmp(&first, &other, sizeof(first)) != 0);
    CHECK(first.inode);
    CHECK(!stat("/proc/self/exe", &about));
    CHECK_NUMBER(first.written, (uint32_t)((uint64_t)about.st_mtim.tv_sec * 1000000000 +
                                           (uint64_t)about.st_mtim.tv_nsec));
}

/* Also among many mappings, when the kernel's tree of them has several levels. */
TEST(many_mappings)
{
    const size_t size = (size_t)sysconf(_SC_PAGESIZE);
    enum { COUNT = 2000 };
    static void *mapped[COUNT];
    struct unwind_key wanted = {0}, key;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), wrong = 0;

    CHECK_NUMBER(key_of("/proc/self/exe", 0, &wanted), 0);
    /* Adjacent mappings must not merge. */
    for (size_t i = 0; i < COUNT; i++)
        mapped[i] = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    for (size_t i = 0; i < COUNT; i++)
        wrong += mapped[i] == MAP_FAILED || kernel_offsets_key(&offsets, mapped[i], &key) ||
                 memcmp(&key, &wanted, sizeof(key)) != 0;
    CHECK_NUMBER(wrong, 0);
    for (size_t i = 0; i < COUNT; i++)
        munmap(mapped[i], size);
    wrong = 0;
    for (size_t i = 0; i < COUNT; i++)
        wrong += kernel_offsets_key(&offsets, mapped[i], &key) != -ENODATA;
    CHECK_NUMBER(wrong, 0);
    close(fd);
}

/* A thread's kernel stack has whole pages, and the user's registers are at its end. */
TEST(registers)
{
    const uint32_t at = offsets.fields.registers;
    const uint32_t end = at + offsets.machine->walk->registers * 8;

    CHECK(at % 8 == 0);
    CHECK(end <= 65536 && at >= 8192 - 512);
    /* On x86-64 two words follow them; other machines have more. */
    const uint32_t behind = offsets.machine->elf == EM_X86_64 ? 16 : 128;
    CHECK((end + behind) % 4096 <= behind);
}

int main(void)
{
    struct text log = {0};
    int result = kernel_offsets_open(&offsets, &log);

    if (result == -EPERM || result == -ENOENT || result == -ENOSYS || result == -EOPNOTSUPP) {
        printf("SKIP learn: %s\n", result == -ENOENT ? "this kernel tells nothing of its types"
                                   : result == -EOPNOTSUPP ? "tables are not walked on this machine"
                                                           : "there is no right to run programs");
        return tests_done();
    }
    if (log.length)
        printf("%s\n", log.data);
    text_free(&log);
    CHECK_NUMBER(result, 0);
    if (!result)
        run_tests();
    kernel_offsets_close(&offsets);
    return tests_done();
}
