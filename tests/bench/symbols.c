/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * symbols make FILE          writes a program of about 100 MB with a million functions; on x86-64
 *                            it runs for a while, in all of them
 * symbols draw FILE COUNT    random addresses of its functions, one hexadecimal number a line
 * symbols find FILE          names the addresses on stdin: prints milliseconds, how many were asked
 *                            for and how many have names
 * symbols kernel COUNT       the same of COUNT addresses of the kernel's functions, drawn at random
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/util.h"
#include "elf/elf_symbols.h"
#include "kernel/kallsyms.h"

#define FUNCTIONS 1000000
#define FUNCTION_BYTES 64
#define TEXT_OFFSET 4096
#define TEXT_ADDRESS 0x401000
#define TEXT_BYTES ((uint64_t)FUNCTIONS * FUNCTION_BYTES)

static const char section_names[] = "\0.text\0.symtab\0.strtab\0.shstrtab";

enum { TEXT = 1, SYMTAB, STRTAB, SHSTRTAB, SECTIONS };

static bool write_headers(FILE *file, uint64_t names_bytes)
{
    const uint64_t symbols = TEXT_OFFSET + TEXT_BYTES;
    const uint64_t names = symbols + (FUNCTIONS + 1) * sizeof(Elf64_Sym);
    const Elf64_Ehdr header = {
        .e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_EXEC, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
        .e_entry = TEXT_ADDRESS, .e_phoff = sizeof(header), .e_shoff = 1024,
        .e_ehsize = sizeof(header), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1,
        .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = SECTIONS, .e_shstrndx = SHSTRTAB,
    };
    const Elf64_Phdr segment = {
        .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = TEXT_OFFSET, .p_align = 4096,
        .p_vaddr = TEXT_ADDRESS, .p_filesz = TEXT_BYTES, .p_memsz = TEXT_BYTES,
    };
    const Elf64_Shdr sections[SECTIONS] = {
        [TEXT] = {.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                  .sh_addr = TEXT_ADDRESS, .sh_offset = TEXT_OFFSET, .sh_size = TEXT_BYTES},
        [SYMTAB] = {.sh_name = 7, .sh_type = SHT_SYMTAB, .sh_link = STRTAB, .sh_info = 1,
                    .sh_offset = symbols, .sh_size = (FUNCTIONS + 1) * sizeof(Elf64_Sym),
                    .sh_addralign = 8, .sh_entsize = sizeof(Elf64_Sym)},
        [STRTAB] = {.sh_name = 15, .sh_type = SHT_STRTAB, .sh_offset = names,
                    .sh_size = names_bytes},
        [SHSTRTAB] = {.sh_name = 23, .sh_type = SHT_STRTAB, .sh_offset = 512,
                      .sh_size = sizeof(section_names)},
    };
    return !fseek(file, 0, SEEK_SET) && fwrite(&header, sizeof(header), 1, file) == 1 &&
           fwrite(&segment, sizeof(segment), 1, file) == 1 && !fseek(file, 512, SEEK_SET) &&
           fwrite(section_names, sizeof(section_names), 1, file) == 1 &&
           !fseek(file, 1024, SEEK_SET) && fwrite(sections, sizeof(sections), 1, file) == 1;
}

#define ROUNDS 60

/* Functions that do nothing for a while, and a first one that calls all the others. */
static bool write_text(FILE *file)
{
    unsigned char function[FUNCTION_BYTES];
    static const unsigned char first[FUNCTION_BYTES] = {
        0x31, 0xdb,                                      /*     xor %ebx,%ebx */
        0xb8, 0x40, 0x10, 0x40, 0x00,                    /* 1:  mov $TEXT_ADDRESS+64,%eax */
        0xff, 0xd0,                                      /* 2:  call *%rax */
        0x05, FUNCTION_BYTES, 0, 0, 0,                   /*     add $64,%eax */
        0x3d, 0x00, 0xa0, 0x10, 0x04,                    /*     cmp $TEXT_ADDRESS+TEXT_BYTES,%eax */
        0x72, 0xf2,                                      /*     jb 2b */
        0xff, 0xc3, 0x81, 0xfb, ROUNDS, 0, 0, 0,         /*     inc %ebx; cmp $ROUNDS,%ebx */
        0x72, 0xe3,                                      /*     jb 1b */
        0xb8, 60, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05,       /*     exit(0) */
    };

    _Static_assert(TEXT_ADDRESS + 64 == 0x401040 && TEXT_ADDRESS + TEXT_BYTES == 0x410a000,
                   "numbers in the code");
    memset(function, 0x90, sizeof(function));
    function[sizeof(function) - 1] = 0xc3;
    if (fwrite(first, sizeof(first), 1, file) != 1)
        return false;
    for (int i = 1; i < FUNCTIONS; i++)
        if (fwrite(function, sizeof(function), 1, file) != 1)
            return false;
    return true;
}

/* Linkers write local symbols in the order of addresses, then the others in any order. */
static unsigned function_of(unsigned symbol)
{
    const unsigned half = FUNCTIONS / 2;

    return symbol < half ? symbol * 2 : (unsigned)((symbol - half) * 7919ull % half) * 2 + 1;
}

static int make(const char *path)
{
    FILE *file = fopen(path, "w");
    struct text names = {0};

    if (!file || fseek(file, TEXT_OFFSET, SEEK_SET) || !write_text(file))
        return 1;
    text_append(&names, "", 1);
    static const Elf64_Sym none;
    fwrite(&none, sizeof(none), 1, file);
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        const unsigned function = function_of(i);
        const Elf64_Sym symbol = {
            .st_name = (Elf64_Word)names.length,
            .st_info = (unsigned char)ELF64_ST_INFO(i < FUNCTIONS / 2 ? STB_LOCAL : STB_GLOBAL, STT_FUNC),
            .st_shndx = TEXT,
            .st_value = TEXT_ADDRESS + (uint64_t)function * FUNCTION_BYTES,
            .st_size = FUNCTION_BYTES,
        };
        text_format(&names, "function_%u_of_a_large_program", function);
        text_append(&names, "", 1);
        fwrite(&symbol, sizeof(symbol), 1, file);
    }
    if (names.failed || fwrite(names.data, names.length, 1, file) != 1 ||
        !write_headers(file, names.length))
        return 1;
    text_free(&names);
    return fclose(file) != 0;
}

/* Prints random addresses in the largest code segment. */
static int draw(const struct elf *elf, unsigned count)
{
    const struct elf_segment *code = NULL;

    for (size_t i = 0; i < elf->segment_count; i++)
        if (elf->segments[i].flags & PF_X &&
            (!code || elf->segments[i].memory_size > code->memory_size))
            code = &elf->segments[i];
    if (!code)
        return 1;
    srandom(1);
    for (unsigned i = 0; i < count; i++) {
        uint64_t distance = ((uint64_t)random() << 31 | (uint64_t)random()) % code->memory_size;
        printf("%llx\n", (unsigned long long)(code->address + distance));
    }
    return 0;
}

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/* Sorts and removes duplicates; returns how many are left. */
static size_t sort_addresses(uint64_t *addresses, size_t count)
{
    size_t kept = 0;

    if (count)
        qsort(addresses, count, sizeof(*addresses), compare);
    for (size_t i = 0; i < count; i++)
        if (!kept || addresses[kept - 1] != addresses[i])
            addresses[kept++] = addresses[i];
    return kept;
}

static void say_found(uint64_t start, size_t asked, size_t named)
{
    printf("%.1f %zu %zu\n", (double)(now_ns() - start) / 1e6, asked, named);
}

static int find(const char *path)
{
    uint64_t *addresses = NULL;
    size_t count = 0, room = 0, named = 0;
    char word[64];
    struct elf elf;

    while (scanf("%63s", word) == 1 &&
           !array_reserve(&addresses, &room, count + 1, sizeof(*addresses)))
        addresses[count++] = strtoull(word, NULL, 16);
    count = sort_addresses(addresses, count);
    struct elf_found *found = calloc(count + 1, sizeof(*found));
    const uint64_t start = now_ns();
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (!found || fd < 0 || elf_open(&elf, fd) || elf_find(&elf, addresses, count, found))
        return 1;
    for (size_t i = 0; i < count; i++)
        named += found[i].found;
    say_found(start, count, named);
    elf_found_free(found, count);
    free(found);
    free(addresses);
    elf_close(&elf);
    close(fd);
    return 0;
}

struct text_range {
    uint64_t start, end;
};

static int take_range(void *context, const struct kallsyms_symbol *symbol)
{
    struct text_range *range = context;

    if (!strcmp(symbol->name, "_stext"))
        range->start = symbol->address;
    if (!strcmp(symbol->name, "_etext"))
        range->end = symbol->address;
    return range->start && range->end;
}

static int find_in_kernel(unsigned count)
{
    struct text_range range = {0};
    size_t named = 0;
    int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
    uint64_t *addresses = calloc(count + 1, sizeof(*addresses));
    struct kallsyms_found *found = calloc(count + 1, sizeof(*found));

    if (fd < 0 || !addresses || !found || kallsyms_each(fd, take_range, &range) ||
        range.end <= range.start)
        return 1;
    srandom(1);
    for (unsigned i = 0; i < count; i++)
        addresses[i] = range.start + (uint64_t)random() % (range.end - range.start);
    const struct kallsyms_search search = {
        .addresses = addresses,
        .count = sort_addresses(addresses, count),
    };
    const uint64_t start = now_ns();
    if (kallsyms_find(fd, &search, found))
        return 1;
    for (size_t i = 0; i < search.count; i++)
        named += found[i].found;
    say_found(start, search.count, named);
    kallsyms_free(found, search.count);
    free(found);
    free(addresses);
    close(fd);
    return 0;
}

int main(int argc, char **argv)
{
    struct elf elf;

    if (argc == 3 && !strcmp(argv[1], "make"))
        return make(argv[2]);
    if (argc == 3 && !strcmp(argv[1], "find"))
        return find(argv[2]);
    if (argc == 3 && !strcmp(argv[1], "kernel"))
        return find_in_kernel((unsigned)atoi(argv[2]));
    int fd = argc == 4 && !strcmp(argv[1], "draw") ? open(argv[2], O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0 || elf_open(&elf, fd))
        return 2;
    return draw(&elf, (unsigned)atoi(argv[3]));
}
