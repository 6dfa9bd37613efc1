/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* From a tally's addresses to names: kernel functions of a hand-made file, places in this program,
   and unknown addresses. */
#include "symbolize/symbolize.h"

#include "processes/process.h"
#include "symbolize/kernel_frames.h"

#include <elf.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "files.h"
#include "test.h"

static const char kallsyms_text[] =
    "0000000000000000 A fixed_percpu_data\n"
    "ffffffff81000000 T _stext\n"
    "ffffffff81000000 T first\n"
    "ffffffff81000100 T second\n"
    "ffffffff81000100 T alias_of_second\n"
    "ffffffff81000200 d data\n"
    "ffffffff81000300 t third\n"
    "ffffffff81000400 B __bss_start\n"
    "ffffffffc0000000 t in_module\t[mod]\n";

static void add_entry(struct tally *tally, uint32_t pid, const uint64_t *kernel,
                      size_t kernel_count, const uint64_t *user, size_t user_count)
{
    struct tally_entry *entry = tally_add(tally);

    if (!entry || tally_add_stack(tally, &entry->task.kernel, kernel, kernel_count) ||
        tally_add_stack(tally, &entry->task.user, user, user_count))
        abort();
    entry->task.pid = pid;
}

/* A tally, and the names that its addresses get. */
struct named {
    struct tally tally;
    struct symbols symbols;
    struct symbolize_notes notes;
    struct symbolize_options config;
};

static void make_names(struct named *named)
{
    symbols_free(&named->symbols);
    CHECK_NUMBER(symbols_make(&named->symbols, &named->tally, &named->config, &named->notes), 0);
}

static void free_named(struct named *named)
{
    symbols_free(&named->symbols);
    tally_free(&named->tally);
    if (named->config.processes)
        processes_close(named->config.processes);
    if (named->config.kallsyms >= 0)
        close(named->config.kallsyms);
}

#define AUTO_NAMED AUTO(free_named) struct named

static const struct symbol *frame(const struct named *named, size_t entry, size_t index)
{
    const struct symbols *symbols = &named->symbols;

    return &symbols->items[symbols->frames[symbols->first[entry] + index]];
}

static void check_symbol(const struct symbol *symbol, uint64_t address, const char *function,
                         const char *file, uint64_t offset)
{
    const char *its_function = symbol->function.length ? symbol->function.data : "";
    const char *its_file = symbol->file.length ? symbol->file.data : "";

    if (symbol->address == address && !strcmp(its_function, function) &&
        !strcmp(its_file, file) && symbol->offset == offset)
        return;
    printf("  got %llx \"%s\" \"%s\" 0x%llx, should be %llx \"%s\" \"%s\" 0x%llx\n",
           (unsigned long long)symbol->address, its_function, its_file,
           (unsigned long long)symbol->offset, (unsigned long long)address, function, file,
           (unsigned long long)offset);
    WRONG("the symbol");
}

/* A call that never returns ends its function: its return address is the start of the next one. */
TEST(return_addresses)
{
    static const uint64_t kernel[] = {
        0xffffffff81000100, /* the leaf: its address as it is */
        0xffffffff81000100, /* a return address: its call is in `first` */
        0xffffffff81000101, 0xffffffff81000300, 0xffffffff81000400, 0xffffffffc0000010,
        0xffffffff81000000, 0,
    };
    AUTO_NAMED named = {.config = {.kallsyms = file_of_text(kallsyms_text)}};

    add_entry(&named.tally, 7, kernel, COUNT_OF(kernel), NULL, 0);
    make_names(&named);
    CHECK(!named.notes.kernel_hidden);
    CHECK_NUMBER(named.symbols.count, 8);
    check_symbol(frame(&named, 0, 0), kernel[0], "second", "", 0);
    check_symbol(frame(&named, 0, 1), kernel[1], "first", "", 0x100);
    check_symbol(frame(&named, 0, 2), kernel[2], "second", "", 1);
    check_symbol(frame(&named, 0, 3), kernel[3], "", "", 0); /* after data */
    check_symbol(frame(&named, 0, 4), kernel[4], "third", "", 0x100);
    check_symbol(frame(&named, 0, 5), kernel[5], "in_module", "mod", 0x10);
    check_symbol(frame(&named, 0, 6), kernel[6], "", "", 0); /* before the first */
    check_symbol(frame(&named, 0, 7), kernel[7], "", "", 0);
    CHECK(frame(&named, 0, 0)->kernel && !frame(&named, 0, 0)->pid);
}

TEST(preferred_names)
{
    static const struct kallsyms_name preferred[] = {{"alias_of_second", 0}};
    static const uint64_t kernel[] = {0xffffffff81000110, 0xffffffff81000010};
    AUTO_NAMED named = {.config = {.kallsyms = file_of_text(kallsyms_text),
                                    .preferred = preferred, .preferred_count = 1}};

    add_entry(&named.tally, 7, kernel, COUNT_OF(kernel), NULL, 0);
    make_names(&named);
    check_symbol(frame(&named, 0, 0), kernel[0], "alias_of_second", "", 0x10);
    check_symbol(frame(&named, 0, 1), kernel[1], "first", "", 0x10);
}

TEST(hidden_addresses)
{
    static const uint64_t kernel[] = {0xffffffff81000100}, user[] = {0x1000};
    AUTO_FD zeros = file_of_text("0000000000000000 T _stext\n0000000000000000 T vfs_read\n");
    const int descriptors[] = {-1, zeros};

    for (size_t i = 0; i < COUNT_OF(descriptors); i++) {
        AUTO_NAMED named = {.config = {.kallsyms = descriptors[i]}};
        add_entry(&named.tally, UINT32_MAX, kernel, 1, user, 1);
        make_names(&named);
        CHECK(named.notes.kernel_hidden);
        check_symbol(frame(&named, 0, 0), kernel[0], "", "", 0);
        check_symbol(frame(&named, 0, 1), user[0], "", "", 0);
        /* Without kernel frames, nothing is hidden. */
        tally_clear(&named.tally);
        add_entry(&named.tally, UINT32_MAX, NULL, 0, user, 1);
        named.notes.kernel_hidden = false;
        make_names(&named);
        CHECK(!named.notes.kernel_hidden);
    }
}

/* The linker's symbol for the first byte of the program's file in memory. */
extern const Elf64_Ehdr __ehdr_start;

/* The address of something in this program, in its file's numbering. */
static uint64_t in_file(uint64_t address)
{
    return __ehdr_start.e_type == ET_DYN ? address - (uintptr_t)&__ehdr_start : address;
}

/*
 * Release builds are stripped, so frames have only the file's name: with the address, or with the
 * function's start, if the file has tables that give it.
 */
static void check_own(const struct symbol *symbol, uint64_t address, const char *function, uint64_t offset)
{
#ifdef __SANITIZE_ADDRESS__
    check_symbol(symbol, address, function, "symbolize", offset);
#else
    (void)function;
    check_symbol(symbol, address, "", "symbolize", in_file(address) - (symbol->has_start ? offset : 0));
#endif
}

static struct processes *look_up_when_asked(void)
{
    struct processes *processes;

    if (processes_open(&processes, &(struct processes_options){.silent = true}))
        WRONG("processes");
    return processes;
}

TEST(places_in_this_program)
{
    const uint64_t leaf = (uintptr_t)&in_file, back = (uintptr_t)&file_of + 9;
    const uint64_t user[] = {leaf, back, 0x10};
    AUTO_NAMED named = {.config = {.kallsyms = -1, .processes = look_up_when_asked()}};

    add_entry(&named.tally, (uint32_t)getpid(), NULL, 0, user, COUNT_OF(user));
    make_names(&named);
    check_own(frame(&named, 0, 0), leaf, "in_file", 0);
    check_own(frame(&named, 0, 1), back, "file_of", 9);
    check_symbol(frame(&named, 0, 2), 0x10, "", "", 0);
    CHECK(frame(&named, 0, 0)->pid == (uint32_t)getpid() && !frame(&named, 0, 0)->kernel);
}

/* A call at the very end of a mapping has its return address in another mapping. */
TEST(a_return_behind_a_mapping)
{
    AUTO_FD fd = memfd_create("code", MFD_CLOEXEC);
    char *at = mmap(NULL, 4 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (ftruncate(fd, 2 * 4096) || mmap(at + 4096, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd,
                                        4096) != at + 4096)
        WRONG("a mapping");
    const uint64_t behind = (uintptr_t)at + 2 * 4096, user[] = {behind, behind};
    AUTO_NAMED named = {.config = {.kallsyms = -1, .processes = look_up_when_asked()}};

    add_entry(&named.tally, (uint32_t)getpid(), NULL, 0, user, COUNT_OF(user));
    make_names(&named);
    CHECK_STRING(frame(&named, 0, 0)->file.data, "[anon]");
    check_symbol(frame(&named, 0, 1), behind, "", "memfd:code", 2 * 4096);
    munmap(at, 4 * 4096);
}

/* A pid of another machine is another process: stackbox looks up nothing for it. */
TEST(processes_elsewhere_and_gone)
{
    const uint64_t user[] = {(uintptr_t)&in_file};
    AUTO_NAMED named = {.config = {.kallsyms = file_of_text(kallsyms_text),
                                    .processes = look_up_when_asked()}};
    pid_t gone = fork();

    if (!gone)
        _exit(0);
    waitpid(gone, NULL, 0);
    add_entry(&named.tally, (uint32_t)getpid(), NULL, 0, user, 1);
    named.tally.entries[0].task.foreign = true;
    add_entry(&named.tally, (uint32_t)getpid(), NULL, 0, user, 1);
    add_entry(&named.tally, (uint32_t)gone, NULL, 0, user, 1);
    make_names(&named);
    CHECK_NUMBER(named.symbols.count, 3);
    check_symbol(frame(&named, 0, 0), user[0], "", "", 0);
    check_own(frame(&named, 1, 0), user[0], "in_file", 0);
    check_symbol(frame(&named, 2, 0), user[0], "", "", 0);
    CHECK(frame(&named, 0, 0)->foreign && !frame(&named, 1, 0)->foreign);
}

/* Many stacks share addresses: each address has one symbol, and each frame leads to its own. */
TEST(many_addresses)
{
    enum { ENTRIES = 3000, FRAMES = 20, FUNCTIONS = 5000 };
    AUTO_TEXT kallsyms = {0};
    AUTO_NAMED named = {.config = {.kallsyms = -1}};
    uint64_t stack[FRAMES];
    unsigned wrong = 0;

    for (unsigned i = 0; i < FUNCTIONS; i++)
        text_format(&kallsyms, "%016llx t f%u\n", 0xffffffff81000000 + 0x40ull * i, i);
    srand(8);
    for (int i = 0; i < ENTRIES; i++) {
        for (int k = 0; k < FRAMES; k++)
            stack[k] = 0xffffffff81000001 + 0x10ull * (unsigned)(rand() % (FUNCTIONS * 4));
        add_entry(&named.tally, 7, stack, i % FRAMES, stack, FRAMES - 1 - i % FRAMES);
        named.tally.entries[i].task.pid = UINT32_MAX - (unsigned)i % 3;
    }
    named.config.kallsyms = file_of_text(kallsyms.data);
    make_names(&named);
    for (size_t i = 0; i < ENTRIES; i++) {
        const struct tally_entry *entry = &named.tally.entries[i];
        for (size_t k = 0; k < FRAMES - 1; k++) {
            bool kernel = k < entry->task.kernel.count;
            size_t in_stack = kernel ? k : k - entry->task.kernel.count;
            const struct stack *its = kernel ? &entry->task.kernel : &entry->task.user;
            const struct symbol *symbol = frame(&named, i, k);
            uint64_t address = named.tally.addresses[its->first + in_stack];
            char name[32] = "";
            if (kernel)
                snprintf(name, sizeof(name), "f%llu",
                         (unsigned long long)(address - 0xffffffff81000000) / 0x40);
            wrong += symbol->address != address || symbol->kernel != kernel ||
                     symbol->is_return != (in_stack > 0) ||
                     symbol->pid != (kernel ? 0 : entry->task.pid) ||
                     strcmp(symbol->function.length ? symbol->function.data : "", name) ||
                     (kernel && symbol->offset != (address & 0x3f));
        }
    }
    CHECK_NUMBER(wrong, 0);
    /* The kernel's 20,000 addresses as leaf and as return address, and those of three processes. */
    CHECK(named.symbols.count > 20000 && named.symbols.count < 4 * 2 * 20000);
}

/* Frames that lead to a tracepoint's programs are only at the leaf, and only in kernel stacks. */
TEST(frames_of_tracing)
{
    static const char text[] =
        "ffffffff81000000 t __traceiter_sched_switch\n"
        "ffffffff81000100 t perf_trace_sched_switch\n"
        "ffffffff81000200 T __schedule\n"
        "ffffffff81000300 T schedule\n";
    enum { TRACEITER, PERF_TRACE, SCHEDULE, CALLER };
    static const uint64_t at[] = {0xffffffff81000010, 0xffffffff81000110, 0xffffffff81000210,
                                  0xffffffff81000310};
    const uint64_t switched[] = {at[TRACEITER], at[PERF_TRACE], at[SCHEDULE], at[TRACEITER]};
    AUTO_NAMED named = {.config = {.kallsyms = file_of_text(text)}};

    add_entry(&named.tally, 7, switched, 4, switched, 2);
    add_entry(&named.tally, 7, switched + 2, 2, NULL, 0);
    add_entry(&named.tally, 7, switched, 2, &at[CALLER], 1);
    if (tally_add_stack(&named.tally, &named.tally.entries[1].waker.kernel, switched, 3))
        abort();
    make_names(&named);
    tracing_frames_drop(&named.tally, &named.symbols);
    CHECK_NUMBER(named.tally.entries[0].task.kernel.count, 2);
    CHECK_NUMBER(named.tally.entries[0].task.user.count, 2);
    CHECK_NUMBER(named.tally.addresses[named.tally.entries[0].task.kernel.first], at[SCHEDULE]);
    check_symbol(frame(&named, 0, 0), at[SCHEDULE], "__schedule", "", 0x10);
    check_symbol(frame(&named, 0, 1), at[TRACEITER], "__traceiter_sched_switch", "", 0x10);
    CHECK_NUMBER(frame(&named, 0, 2)->address, at[TRACEITER]);
    CHECK(!frame(&named, 0, 2)->kernel);
    CHECK_NUMBER(named.tally.entries[1].task.kernel.count, 2);
    CHECK_NUMBER(named.tally.entries[1].waker.kernel.count, 1);
    check_symbol(frame(&named, 1, 0), at[SCHEDULE], "__schedule", "", 0x10);
    check_symbol(frame(&named, 1, 2), at[SCHEDULE], "__schedule", "", 0x10);
    CHECK_NUMBER(named.tally.entries[2].task.kernel.count, 2); /* it has nothing else */
    CHECK_NUMBER(frame(&named, 2, 2)->address, at[CALLER]);
}

TEST(nothing_to_name)
{
    AUTO_NAMED named = {.config = {.kallsyms = -1}};

    make_names(&named);
    CHECK(!named.notes.kernel_hidden && !named.symbols.count);
    add_entry(&named.tally, 7, NULL, 0, NULL, 0);
    make_names(&named);
    CHECK(!named.notes.kernel_hidden && !named.symbols.count);
}

/* C++ and Rust names are demangled if that is asked for, and the raw names are kept as well. */
TEST(readable_names)
{
    static const char text[] = "ffffffff81000000 T _RNvNtCs1234_6kernel5print6format\n"
                               "ffffffff81000100 T vfs_read\n"
                               "ffffffff81000200 T _ZNSt6vectorIiSaIiEE4sizeEv\n"
                               "ffffffff81000300 T _Znone\n";
    static const uint64_t kernel[] = {0xffffffff81000010, 0xffffffff81000110, 0xffffffff81000210,
                                      0xffffffff81000310};
    static const char *const raw[] = {"_RNvNtCs1234_6kernel5print6format", "vfs_read",
                                      "_ZNSt6vectorIiSaIiEE4sizeEv", "_Znone"};
    static const char *const whole[] = {"kernel::print::format", "vfs_read",
                                        "std::vector<int, std::allocator<int> >::size()", "_Znone"};
    static const char *const folded[] = {"kernel::print::format", "vfs_read",
                                         "std::vector<...>::size()", "_Znone"};
    static const struct demangle_options ways[] = {{0}, {.shorten = true}};
    const char *const *const shown[] = {raw, whole, folded};

    for (size_t way = 0; way < COUNT_OF(shown); way++) {
        AUTO_NAMED named = {.config = {.kallsyms = file_of_text(text),
                                        .readable = way ? &ways[way - 1] : NULL}};
        add_entry(&named.tally, 7, kernel, COUNT_OF(kernel), NULL, 0);
        make_names(&named);
        for (size_t i = 0; i < COUNT_OF(kernel); i++) {
            const struct symbol *symbol = frame(&named, 0, i);
            CHECK_STRING(symbol->function.data, shown[way][i]);
            CHECK_STRING(symbol->raw.length ? symbol->raw.data : symbol->function.data, raw[i]);
        }
    }
}

TEST_MAIN
