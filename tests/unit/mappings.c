/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The mappings of a report: the parts of files that have symbols, and their addresses. */
#include "symbolize/mappings.h"

#include <fcntl.h>

#include "processes/process.h"
#include "symbolize/symbolize.h"
#include "files.h"
#include "test.h"

static const struct traced_file nothing = {NULL, -1};

/* As ld makes them: offset 0x1234 in the file is address 0x1234 of a library. */
static struct elf_segment shared_segments[] = {
    {.offset = 0, .file_size = 0x800, .address = 0, .memory_size = 0x800, .flags = PF_R},
    {.offset = 0x1000, .file_size = 0x2345, .address = 0x1000, .memory_size = 0x2345,
     .flags = PF_R | PF_X},
    {.offset = 0x3e00, .file_size = 0x200, .address = 0x4e00, .memory_size = 0x900, .flags = PF_W},
};
static struct elf_segment fixed_segments[] = {
    {.offset = 0x1000, .file_size = 0x5000, .address = 0x401000, .memory_size = 0x5000,
     .flags = PF_R | PF_X},
};

static const struct elf shared = {.fd = -1, .is_64 = true, .type = ET_DYN,
                                  .segments = shared_segments, .segment_count = 3};
static const struct elf fixed = {.fd = -1, .is_64 = true, .type = ET_EXEC,
                                 .segments = fixed_segments, .segment_count = 1};

static void take(struct symbol_mappings *mappings, const char *path, const struct elf *elf,
                 struct symbol *symbol, uint64_t address)
{
    struct mapping_source source;

    mapping_source_init(&source, path, elf);
    CHECK_NUMBER(mappings_take(mappings, &source, symbol, address), 0);
}

/* The offset in the file that the symbol is at, as a reader of the report finds it. */
static uint64_t offset_of(const struct symbol_mappings *mappings, const struct symbol *symbol)
{
    const struct symbol_mapping *mapping = &mappings->items[symbol->mapping - 1];

    CHECK(symbol->mapped_at >= mapping->start && symbol->mapped_at < mapping->limit);
    return symbol->mapped_at - mapping->start + mapping->offset;
}

static void check_apart(const struct symbol_mappings *mappings)
{
    for (size_t i = 0; i < mappings->count; i++)
        for (size_t k = 0; k < i; k++) {
            const struct symbol_mapping *a = &mappings->items[i], *b = &mappings->items[k];
            CHECK(a->limit <= b->start || b->limit <= a->start);
        }
}

TEST(segments)
{
    AUTO(mappings_free) struct symbol_mappings mappings = {0};
    struct symbol symbols[6] = {{0}};

    take(&mappings, "/lib/a.so", &shared, &symbols[0], 0x1234);
    take(&mappings, "/lib/b.so", &shared, &symbols[1], 0x1234);
    take(&mappings, "/lib/a.so", &shared, &symbols[2], 0x3344);
    take(&mappings, "/lib/a.so", &shared, &symbols[3], 0x4e10); /* of data */
    take(&mappings, "/bin/a", &fixed, &symbols[4], 0x402345);
    take(&mappings, "/bin/b", &fixed, &symbols[5], 0x402345);
    CHECK_NUMBER(mappings.count, 5);
    CHECK_NUMBER(mappings_place(&mappings, &nothing, symbols, COUNT_OF(symbols)), 0);
    CHECK_NUMBER(mappings.count, 6);
    CHECK_STRING(mappings.items[mappings.main].path.data, "[kernel.kallsyms]");
    check_apart(&mappings);
    CHECK_NUMBER(symbols[0].mapping, symbols[2].mapping);
    CHECK_NUMBER(offset_of(&mappings, &symbols[0]), 0x1234);
    CHECK_NUMBER(offset_of(&mappings, &symbols[1]), 0x1234);
    CHECK_NUMBER(offset_of(&mappings, &symbols[2]), 0x3344);
    CHECK_NUMBER(offset_of(&mappings, &symbols[3]), 0x3e10);
    CHECK_NUMBER(offset_of(&mappings, &symbols[4]), 0x2345);
    CHECK_NUMBER(offset_of(&mappings, &symbols[5]), 0x2345);
    /* Mappings are whole pages; a program that is not relocated is at its linked addresses. */
    const struct symbol_mapping *code = &mappings.items[symbols[0].mapping - 1];
    CHECK_NUMBER(code->limit - code->start, 0x3000);
    CHECK_NUMBER(code->offset, 0x1000);
    CHECK_NUMBER(symbols[4].mapped_at, 0x402345);
    CHECK_NUMBER(mappings.items[symbols[4].mapping - 1].start, 0x401000);
}

TEST(the_main_program)
{
    AUTO(mappings_free) struct symbol_mappings mappings = {0};
    struct symbol symbols[2] = {{0}};

    /* Of two files at the same address, the main file has it, even if it comes second. */
    take(&mappings, "/bin/a", &fixed, &symbols[0], 0x402345);
    take(&mappings, "/bin/b", &fixed, &symbols[1], 0x402345);
    const struct traced_file b = {"/bin/b", -1};
    CHECK_NUMBER(mappings_place(&mappings, &b, symbols, COUNT_OF(symbols)), 0);
    CHECK_NUMBER(mappings.count, 2);
    CHECK_NUMBER(mappings.main, 1);
    CHECK_NUMBER(symbols[1].mapped_at, 0x402345);
    CHECK(symbols[0].mapped_at != 0x402345);
    check_apart(&mappings);
    mappings_free(&mappings);

    /* A library's addresses start at 0: it gets 0 only as the main file. */
    symbols[0] = symbols[1] = (struct symbol){0};
    take(&mappings, "/bin/a", &shared, &symbols[0], 0x1234);
    take(&mappings, "/bin/b", &shared, &symbols[1], 0x1234);
    CHECK_NUMBER(mappings_place(&mappings, &b, symbols, COUNT_OF(symbols)), 0);
    CHECK_NUMBER(symbols[1].mapped_at, 0x1234);
    CHECK(symbols[0].mapped_at > 0x1234);
    CHECK_NUMBER(offset_of(&mappings, &symbols[0]), 0x1234);
    check_apart(&mappings);
    mappings_free(&mappings);

    /* A program without samples: its mapping is read from its file, here this test's. */
    const struct traced_file own = {"/bin/own", open("/proc/self/exe", O_RDONLY | O_CLOEXEC)};
    CHECK_NUMBER(mappings_take_program(&mappings, &own), 0);
    CHECK_NUMBER(mappings_take_program(&mappings, &own), 0);
    CHECK_NUMBER(mappings_place(&mappings, &own, NULL, 0), 0);
    CHECK_NUMBER(mappings.count, 1);
    CHECK_STRING(mappings.items[0].path.data, "/bin/own");
    CHECK(mappings.items[0].limit > mappings.items[0].start);
    mappings_free(&mappings);
    close(own.fd);

    /* A file that is not ELF has no mapping. */
    const struct traced_file script = {"/bin/script", open("/dev/null", O_RDONLY | O_CLOEXEC)};
    CHECK_NUMBER(mappings_take_program(&mappings, &script), 0);
    CHECK_NUMBER(mappings_place(&mappings, &script, NULL, 0), 0);
    CHECK_NUMBER(mappings.count, 1);
    CHECK_STRING(mappings.items[0].path.data, "[kernel.kallsyms]");
    close(script.fd);
}

/* Without segments, a mapping is the pages that have symbols. */
TEST(what_has_no_segments)
{
    AUTO(mappings_free) struct symbol_mappings mappings = {0};
    struct symbol symbols[5] = {{0}};

    take(&mappings, "[anon]", NULL, &symbols[0], 0x5010);
    take(&mappings, "[heap]", NULL, &symbols[1], 0x5010);
    take(&mappings, "[anon]", NULL, &symbols[2], 0x2020);
    take(&mappings, "[anon]", NULL, &symbols[3], 0x5fff);
    take(&mappings, "/lib/a.so", &shared, &symbols[4], 0x99999);
    CHECK_NUMBER(mappings_place(&mappings, &nothing, symbols, COUNT_OF(symbols)), 0);
    CHECK_NUMBER(mappings.count, 4);
    check_apart(&mappings);
    CHECK_NUMBER(offset_of(&mappings, &symbols[0]), 0x5010);
    CHECK_NUMBER(offset_of(&mappings, &symbols[1]), 0x5010);
    CHECK_NUMBER(offset_of(&mappings, &symbols[2]), 0x2020);
    CHECK_NUMBER(offset_of(&mappings, &symbols[3]), 0x5fff);
    CHECK_NUMBER(offset_of(&mappings, &symbols[4]), 0x99999);
    CHECK_NUMBER(mappings.items[symbols[0].mapping - 1].limit -
                     mappings.items[symbols[0].mapping - 1].start, 0x4000);
}

/* Numbers in files can be anything. */
TEST(hostile_segments)
{
    static const struct elf_segment bad[] = {
        {.address = 0x1000, .offset = 0x1000, .memory_size = UINT64_MAX, .flags = PF_X},
        {.address = 0xfffffffffffff000, .offset = 0, .memory_size = 0xfff, .flags = PF_X},
        {.address = 0x1010, .offset = 0x2020, .memory_size = 0x5000, .flags = PF_X},
        {.address = (uint64_t)1 << 62, .offset = UINT64_MAX - 0xfff, .memory_size = 0x2000,
         .flags = PF_X},
    };
    AUTO(mappings_free) struct symbol_mappings mappings = {0};
    struct symbol symbols[COUNT_OF(bad) * 2] = {{0}};
    char path[16];

    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct elf_segment segment = bad[i];
        const struct elf elf = {.fd = -1, .type = i % 2 ? ET_EXEC : ET_DYN, .segments = &segment,
                                .segment_count = 1};
        snprintf(path, sizeof(path), "/bin/%zu", i);
        take(&mappings, path, &elf, &symbols[2 * i], segment.address + 0x100);
        take(&mappings, path, &elf, &symbols[2 * i + 1], UINT64_MAX);
    }
    CHECK_NUMBER(mappings_place(&mappings, &nothing, symbols, COUNT_OF(symbols)), 0);
    check_apart(&mappings);
    for (size_t i = 0; i < COUNT_OF(symbols); i++)
        if (symbols[i].mapping)
            (void)offset_of(&mappings, &symbols[i]);
}

static const char kallsyms_text[] =
    "ffffffff81000000 T _text\n"
    "ffffffff81000000 T first\n"
    "ffffffff81000300 t third\n"
    "ffffffff81000ff0 T _etext\n"
    "ffffffff81000ff8 T behind\n"
    "ffffffffc0000000 t in_module\t[mod]\n"
    "ffffffffc0000800 t in_other\t[other]\n"
    "ffffffffc0009000 t in_module_again\t[mod]\n";

TEST(the_kernel)
{
    static const uint64_t kernel[] = {
        0xffffffff81000310, 0xffffffff81000010, 0xffffffff81000ffa, 0xffffffffc0000100,
        0xffffffffc0000200, 0xffffffffc0000900, 0xffffffffc0009100,
    };
    static const char *const paths[] = {"[kernel.kallsyms]", "[kernel.kallsyms]",
                                        "[kernel.kallsyms]", "[mod]", "[mod]", "[other]", "[mod]"};
    AUTO_FD fd = file_of_text(kallsyms_text);
    struct tally tally = {0};
    struct symbols symbols;
    struct symbolize_notes notes = {0};
    const struct symbolize_options config = {.kallsyms = fd, .mapped_for = &nothing};
    struct tally_entry *entry = tally_add(&tally);

    if (!entry || tally_add_stack(&tally, &entry->task.kernel, kernel, COUNT_OF(kernel)))
        abort();
    CHECK_NUMBER(symbols_make(&symbols, &tally, &config, &notes), 0);
    check_apart(&symbols.mappings);
    CHECK_NUMBER(symbols.mappings.count, 5);
    CHECK_NUMBER(symbols.mappings.main, 0);
    CHECK_NUMBER(symbols.mappings.items[0].start, 0xffffffff81000000);
    CHECK_NUMBER(symbols.mappings.items[0].limit, 0xffffffff81000ff0);
    CHECK_NUMBER(symbols.mappings.items[0].offset, 0);
    for (size_t i = 0; i < COUNT_OF(kernel); i++) {
        const struct symbol *symbol = &symbols.items[symbols.frames[i]];
        const struct symbol_mapping *mapping = &symbols.mappings.items[symbol->mapping - 1];
        CHECK_STRING(mapping->path.data, paths[i]);
        CHECK_NUMBER(symbol->mapped_at, kernel[i] - (i > 0)); /* a return is after its call */
        CHECK(symbol->mapped_at >= mapping->start && symbol->mapped_at < mapping->limit);
    }
    symbols_free(&symbols);

    /* If the kernel hides its addresses, modules are not told from it. */
    const struct symbolize_options blind = {.kallsyms = -1, .mapped_for = &nothing};
    CHECK_NUMBER(symbols_make(&symbols, &tally, &blind, &notes), 0);
    CHECK_NUMBER(symbols.mappings.count, 1);
    for (size_t i = 0; i < symbols.count; i++)
        CHECK_NUMBER(symbols.items[i].mapping, 1);
    symbols_free(&symbols);

    /* They were not asked for. */
    const struct symbolize_options plain = {.kallsyms = fd};
    CHECK_NUMBER(symbols_make(&symbols, &tally, &plain, &notes), 0);
    CHECK(!symbols.mappings.count && !symbols.items[0].mapping);
    symbols_free(&symbols);
    tally_free(&tally);
}

/* A function of this program: the same bytes are in memory and at that offset of its file. */
TEST(this_program)
{
    const uint64_t user[] = {(uintptr_t)&the_kernel};
    const struct traced_file own = {"/none", -1};
    struct processes *processes;
    AUTO(tally_free) struct tally tally = {0};
    AUTO(symbols_free) struct symbols symbols;
    struct symbolize_notes notes = {0};
    unsigned char in_file[32];

    if (processes_open(&processes, &(struct processes_options){.silent = true}))
        abort();
    const struct symbolize_options config = {.kallsyms = -1, .processes = processes,
                                            .mapped_for = &own};
    struct tally_entry *entry = tally_add(&tally);
    if (!entry || tally_add_stack(&tally, &entry->task.user, user, 1))
        abort();
    entry->task.pid = (uint32_t)getpid();
    CHECK_NUMBER(symbols_make(&symbols, &tally, &config, &notes), 0);
    processes_forget(processes); /* what is in the symbols is theirs */
    processes_close(processes);
    CHECK(symbols.items[0].mapping);
    uint64_t offset = offset_of(&symbols.mappings, &symbols.items[0]);
    AUTO_FD fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    CHECK_NUMBER(pread(fd, in_file, sizeof(in_file), (off_t)offset), sizeof(in_file));
    CHECK(!memcmp(in_file, (const void *)(uintptr_t)user[0], sizeof(in_file)));
}

/* Its modules are below it. */
TEST(a_kernel_of_32_bits)
{
    static const char text[] =
        "c0300000 T _text\n"
        "c0300100 T first\n"
        "c0f00000 T _etext\n"
        "bf000000 t in_module\t[mod]\n";
    static const uint64_t kernel[] = {0xc0300104, 0xbf000010};
    AUTO_FD fd = file_of_text(text);
    AUTO(tally_free) struct tally tally = {0};
    AUTO(symbols_free) struct symbols symbols;
    struct symbolize_notes notes = {0};
    const struct symbolize_options config = {.kallsyms = fd, .mapped_for = &nothing};
    struct tally_entry *entry = tally_add(&tally);

    if (!entry || tally_add_stack(&tally, &entry->task.kernel, kernel, COUNT_OF(kernel)))
        abort();
    CHECK_NUMBER(symbols_make(&symbols, &tally, &config, &notes), 0);
    CHECK_NUMBER(symbols.mappings.items[0].start, 0xc0300000);
    CHECK_NUMBER(symbols.mappings.items[0].limit, 0xc0f00000);
    CHECK_NUMBER(symbols.items[symbols.frames[0]].mapping, 1);
    CHECK_STRING(symbols.mappings.items[symbols.items[symbols.frames[1]].mapping - 1].path.data,
                 "[mod]");
}

TEST_MAIN
