/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * hostile [-w] [-k] [-N COMM] rodata|hash FILE
 * hostile [-w] [-k] [-N COMM] names
 *
 * Makes getppid calls from code that is costly to name, and prints `done CALLS=`.
 *
 *   rodata  maps FILE, which it writes: some KB on disk that claim to be a Go program with a petabyte
 *           (or what the file system takes) of read-only data
 *   hash    the same, without sections, and with a hash table of symbols that does not end
 *   names   once from each of 20,000 places in a function whose name has 15,000 bytes
 */
#include <fcntl.h>
#include <link.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arch.h"
#include "word.h"

#define TEN(x) x x x x x x x x x x
#define CALLS 100
#define CODE_AT 0x10000 /* pages may have 64 KB */
#define CODE_BYTES 256
#define TABLES_AT 0x20000
#define LOADED 0x30000

/* ---- A long name ---- */

#define SITE call_kernel(SYS_getppid, 0);
#define LONG TEN(TEN(TEN("LLLLLLLLLLLLLLL")))

/* clang optimizes for minutes what is there so often. */
#ifdef __clang__
__attribute__((optnone))
#endif
APART void long_name(void) __asm__(LONG);
void long_name(void)
{
    FRAME;
    TEN(TEN(TEN(TEN(SITE SITE))))
}

/* ---- A sparse file ---- */

/* Only calls the kernel: it runs wherever it is copied to. */
extern const char __start_copied[], __stop_copied[];
__attribute__((section("copied"), used, noinline)) static long call_there(long number)
{
    return call_kernel(number, 0);
}

static void put(int fd, const void *bytes, size_t size, off_t at)
{
    if (pwrite(fd, bytes, size, at) != (ssize_t)size) {
        perror("write");
        exit(1);
    }
}

static void put_sections(int fd, off_t end)
{
    static const char names[] = "\0.text\0.rodata\0.go.buildinfo\0.shstrtab";
    const ElfW(Shdr) sections[] = {
        {0},
        {.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_addr = CODE_AT,
         .sh_offset = CODE_AT, .sh_size = CODE_BYTES},
        {.sh_name = 7, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC, .sh_addr = LOADED, .sh_offset = LOADED,
         .sh_size = (ElfW(Off))(end - LOADED)},
        {.sh_name = 15, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC, .sh_addr = TABLES_AT,
         .sh_offset = TABLES_AT, .sh_size = 32},
        {.sh_name = 29, .sh_type = SHT_STRTAB, .sh_offset = TABLES_AT + 0x1000, .sh_size = sizeof(names)},
    };

    put(fd, sections, sizeof(sections), TABLES_AT);
    put(fd, names, sizeof(names), TABLES_AT + 0x1000);
}

/* DT_GNU_HASH: one bucket, whose chain of symbols goes on to the end of the file. */
static void put_dynamic(int fd)
{
    const ElfW(Dyn) dynamic[] = {
        {.d_tag = DT_SYMTAB, .d_un.d_val = TABLES_AT + 0x1000}, {.d_tag = DT_STRTAB, .d_un.d_val = TABLES_AT + 0x2000},
        {.d_tag = DT_STRSZ, .d_un.d_val = 16},                  {.d_tag = DT_SYMENT, .d_un.d_val = sizeof(ElfW(Sym))},
        {.d_tag = DT_GNU_HASH, .d_un.d_val = TABLES_AT + 0x3000}, {.d_tag = DT_NULL},
    };
    const uint32_t hash[] = {1, 1, 0, 0, 1};

    put(fd, dynamic, sizeof(dynamic), TABLES_AT);
    put(fd, hash, sizeof(hash), TABLES_AT + 0x3000);
}

static int make_file(const char *path, int with_sections)
{
    ElfW(Ehdr) header;
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0755), own = open("/proc/self/exe", O_RDONLY);
    off_t end = with_sections ? (off_t)(UINT64_C(1) << (sizeof(ElfW(Off)) > 4 ? 50 : 31)) - 1 : 0x40000000;

    if (fd < 0 || own < 0 || read(own, &header, sizeof(header)) != sizeof(header)) {
        perror(path);
        exit(1);
    }
    while (ftruncate(fd, end))
        end /= 2;
    header.e_type = ET_DYN;
    header.e_entry = 0;
    header.e_phoff = sizeof(header);
    header.e_phnum = with_sections ? 1 : 2;
    header.e_shoff = with_sections ? TABLES_AT : 0;
    header.e_shnum = with_sections ? 5 : 0;
    header.e_shstrndx = with_sections ? 4 : 0;
    const ElfW(Phdr) segments[] = {
        {.p_type = PT_LOAD, .p_flags = PF_R | PF_X,
         .p_filesz = with_sections ? LOADED : (ElfW(Off))end, .p_memsz = LOADED, .p_align = 0x10000},
        {.p_type = PT_DYNAMIC, .p_flags = PF_R, .p_offset = TABLES_AT, .p_vaddr = TABLES_AT, .p_filesz = 0x1000,
         .p_memsz = 0x1000},
    };
    put(fd, &header, sizeof(header), 0);
    put(fd, segments, sizeof(segments), sizeof(header));
    put(fd, __start_copied, (size_t)(__stop_copied - __start_copied), CODE_AT);
    if (with_sections)
        put_sections(fd, end);
    else
        put_dynamic(fd);
    close(own);
    return fd;
}

/* Where its copy of call_there() is. */
static long (*map_file(int fd))(long)
{
    char *mapped = mmap(NULL, LOADED, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

    if (mapped == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    const ptrdiff_t delta = mapped + CODE_AT - __start_copied;
    return (long (*)(long))((uintptr_t)call_there + (uintptr_t)delta);
}

int main(int argc, char **argv)
{

    if (next_option(argc, argv, "") != -1)
        return 2;
    const char *kind = optind < argc ? argv[optind] : "";
    const int by_name = !strcmp(kind, "names");
    if (!by_name && optind + 2 != argc)
        return 2;
    begin(asked.comm);
    long (*call)(long) = by_name ? NULL : map_file(make_file(argv[optind + 1], !strcmp(kind, "rodata")));
    wait_if_asked();
    if (by_name)
        long_name();
    for (int i = 0; i < CALLS && call; i++)
        call(SYS_getppid);
    say_done(by_name ? 20000 : CALLS);
    return 0;
}
