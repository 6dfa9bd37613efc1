/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Names of the kernel's functions: from hand-written files, from random ones compared with a linear
   search, and from malformed ones. */
#include "kernel/kallsyms.h"

#include <ctype.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "files.h"
#include "test.h"

/* ---- By hand ---- */

/* Per-CPU symbols first, aliases, data between functions, modules unsorted below and above. */
static const char sample[] =
    "0000000000000000 A fixed_percpu_data\n"
    "0000000000000000 A __per_cpu_start\n"
    "0000000000001000 A cpu_debug_store\n"
    "ffffffff80ffff00 a an_absolute\n"
    "ffffffff81000000 T _stext\n"
    "ffffffff81000000 T _text\n"
    "ffffffff81000000 T startup_64\n"
    "ffffffff81000100 t local_function\n"
    "ffffffff81000140 t __weak_alias_local\n"
    "ffffffff81000140 W weak_alias\n"
    "ffffffff81000180 W weak_one\n"
    "ffffffff81000180 T __global_one\n"
    "ffffffff81000200 T __do_sys_x\n"
    "ffffffff81000200 T _x\n"
    "ffffffff81000200 T __x64_sys_x\n"
    "ffffffff81000280 t first_of_equals\n"
    "ffffffff81000280 t second_of_equals\n"
    "ffffffff81000300 d some_data\n"
    "ffffffff81000340 w weak_small\n"
    "ffffffff81000380 V weak_object\n"
    "ffffffff81000400 T last_function\n"
    "ffffffff81000800 B __bss_start\n"
    "ffffffffc0201000 t mod_late\t[later]\n"
    "ffffffffc0201080 d mod_data\t[later]\n"
    "ffffffffc0200000 t mod_init\t[later]\n"
    "ffffffffc0001000 T mod_early\t[earlier]\n"
    "ffffffffa0000000 t below_the_core\t[below]\n"
    "ffffffffc0100000 t bpf_prog_6deef7357e7b4530\t[bpf]\n";

struct expectation {
    uint64_t address;
    const char *name; /* NULL: none */
    const char *module;
    uint64_t offset;
};

static void check_one(const struct expectation *expected, const struct kallsyms_found *found)
{
    unsigned long long at = expected->address;

    if (found->found != (expected->name != NULL)) {
        printf("  %llx: found %s\n", at, found->found ? found->name.data : "nothing");
        WRONG("found or not");
        return;
    }
    if (!found->found)
        return;
    if (strcmp(found->name.data, expected->name) || strcmp(found->module.data, expected->module) ||
        expected->address - found->start != expected->offset) {
        printf("  %llx is %s+%llx [%s], should be %s+%llx [%s]\n", at, found->name.data,
               (unsigned long long)(expected->address - found->start), found->module.data,
               expected->name, (unsigned long long)expected->offset, expected->module);
        WRONG("the right function");
    }
}

static void check_all(int fd, const struct expectation *expected, size_t count,
                      const struct kallsyms_name *preferred, size_t preferred_count)
{
    uint64_t addresses[64];
    struct kallsyms_found found[64] = {{0}};
    const struct kallsyms_search search = {addresses, count, preferred, preferred_count};

    for (size_t i = 0; i < count; i++)
        addresses[i] = expected[i].address;
    CHECK_NUMBER(kallsyms_find(fd, &search, found), 0);
    for (size_t i = 0; i < count; i++)
        check_one(&expected[i], &found[i]);
    kallsyms_free(found, count);
}

/* The same, of a file with these bytes. */
static void check_text(const char *bytes, size_t length, const struct expectation *expected, size_t count)
{
    AUTO_FD fd = file_of(bytes, length);

    check_all(fd, expected, count, NULL, 0);
}

static const struct expectation expectations[] = {
    {0, NULL, NULL, 0},
    {0x1000, NULL, NULL, 0},
    {0xffffffff80ffffff, NULL, NULL, 0}, /* absolute symbols are not addresses */
    {0xffffffffa0000000, "below_the_core", "below", 0},
    {0xffffffffa00fffff, "below_the_core", "below", 0xfffff},
    {0xffffffffa0100000, NULL, NULL, 0}, /* no function is that long */
    {0xffffffffc0000fff, NULL, NULL, 0},
    {0xffffffffc0001000, "mod_early", "earlier", 0},
    {0xffffffffc0100000, "bpf_prog_6deef7357e7b4530", "bpf", 0},
    {0xffffffffc01fffff, "bpf_prog_6deef7357e7b4530", "bpf", 0xfffff},
    {0xffffffffc0200010, "mod_init", "later", 0x10},
    {0xffffffffc0201000, "mod_late", "later", 0},
    {0xffffffffc020107f, "mod_late", "later", 0x7f},
    {0xffffffffc0201080, NULL, NULL, 0},
    {0xffffffffc0201090, NULL, NULL, 0},
    {0xffffffffffffffff, NULL, NULL, 0},
};

static const struct expectation core_expectations[] = {
    {0xffffffff81000000, "startup_64", "", 0},
    {0xffffffff810000ff, "startup_64", "", 0xff},
    {0xffffffff81000100, "local_function", "", 0},
    {0xffffffff81000140, "weak_alias", "", 0},
    {0xffffffff81000150, "weak_alias", "", 0x10},
    {0xffffffff81000180, "__global_one", "", 0},
    {0xffffffff81000200, "_x", "", 0},
    {0xffffffff81000280, "first_of_equals", "", 0},
    {0xffffffff810002ff, "first_of_equals", "", 0x7f},
    {0xffffffff81000300, NULL, NULL, 0},
    {0xffffffff8100033f, NULL, NULL, 0},
    {0xffffffff81000340, "weak_small", "", 0},
    {0xffffffff81000380, NULL, NULL, 0},
    {0xffffffff81000400, "last_function", "", 0},
    {0xffffffff810007ff, "last_function", "", 0x3ff},
    {0xffffffff81000800, NULL, NULL, 0},
};

TEST(names_by_hand)
{
    AUTO_FD fd = file_of(sample, sizeof(sample) - 1);

    check_all(fd, expectations, COUNT_OF(expectations), NULL, 0);
    /* Addresses for which the reader stops early, together and each alone. */
    check_all(fd, core_expectations, COUNT_OF(core_expectations), NULL, 0);
    for (size_t i = 0; i < COUNT_OF(core_expectations); i++)
        check_all(fd, &core_expectations[i], 1, NULL, 0);
    for (size_t i = 0; i < COUNT_OF(expectations); i++)
        check_all(fd, &expectations[i], 1, NULL, 0);
}

TEST(preferred_names)
{
    static const struct kallsyms_name preferred[] = {{"__do_sys_x", 0}, {"__weak_alias_local", 0}, {"_text", 0}};
    static const struct expectation expected[] = {
        {0xffffffff81000000, "_text", "", 0},
        {0xffffffff81000100, "local_function", "", 0},
        {0xffffffff81000140, "__weak_alias_local", "", 0},
        {0xffffffff81000201, "__do_sys_x", "", 1},
    };
    AUTO_FD fd = file_of(sample, sizeof(sample) - 1);

    check_all(fd, expected, COUNT_OF(expected), preferred, COUNT_OF(preferred));
}

TEST(no_newline_at_the_end)
{
    static const char bytes[] = "ffffffff81000000 T a\nffffffff81000010 T b\t[m]";
    static const struct expectation expected[] = {
        {0xffffffff81000000, "a", "", 0},
        {0xffffffff81000010, "b", "m", 0},
    };

    check_text(bytes, sizeof(bytes) - 1, expected, COUNT_OF(expected));
}

/* A 32-bit kernel: eight digits, modules below it. */
TEST(short_addresses)
{
    static const char bytes[] =
        "c0008000 T stext\nc0008100 T _stext\nc0100000 T vfs_read\nc0100200 T vfs_write\n"
        "bf001000 t mod_b\t[b]\nbf000000 t mod_a\t[a]\n";
    static const struct expectation expected[] = {
        {0xbf000010, "mod_a", "a", 0x10},
        {0xbf001000, "mod_b", "b", 0},
        {0xc0008000, "stext", "", 0},
        {0xc01001ff, "vfs_read", "", 0x1ff},
        {0xc0100204, "vfs_write", "", 4},
    };

    check_text(bytes, sizeof(bytes) - 1, expected, COUNT_OF(expected));
}

/*
 * On 32-bit ARM, system calls return to a label that no call precedes. But the return address of a
 * call at the very end of a function is the start of the next function, which did not make the
 * call. (Names and addresses: Debian's 6.12.)
 */
TEST(landings)
{
    static const char bytes[] =
        "c03000ac T __entry_text_start\nc03000ac T __idmap_text_end\nc03000c0 t ret_fast_syscall\n"
        "c03000c0 t __ret_fast_syscall\nc03000dc t slow_work_pending\nc0300294 t __sys_trace\n"
        "c03002d0 t __sys_trace_return_nosave\nc03002e0 t __sys_trace_return\nc03002f0 T sys_call_table\n"
        "c0301000 t __pabt_usr\nc0301064 T ret_from_exception\nc0301080 t __fiq_usr\n";
    static const struct expectation expected[] = {
        {0xc03000be, "__entry_text_start", "", 0x12},
        {0xc03000bf, "ret_fast_syscall", "", UINT64_MAX},
        {0xc03000c0, "ret_fast_syscall", "", 0},
        {0xc03000db, "ret_fast_syscall", "", 0x1b},
        {0xc03002db, "__sys_trace_return_nosave", "", 0xb},
        {0xc03002df, "__sys_trace_return", "", UINT64_MAX},
        {0xc03002e3, "__sys_trace_return", "", 3},
        {0xc03002ef, "__sys_trace_return", "", 0xf},
        {0xc0301063, "__pabt_usr", "", 0x63},
    };

    check_text(bytes, sizeof(bytes) - 1, expected, COUNT_OF(expected));
    for (size_t i = 0; i < COUNT_OF(expected); i++)
        check_text(bytes, sizeof(bytes) - 1, &expected[i], 1);
}

/* No known kernel lists unsorted core symbols; then the reader reads the whole file. */
TEST(a_core_that_is_not_sorted)
{
    static const char bytes[] = "ffffffff81000100 T a\nffffffff81000050 T b\n"
                                "ffffffff81000300 T c\nffffffff81000200 T d\n";
    static const struct expectation expected[] = {
        {0xffffffff81000110, "a", "", 0x10},
        {0xffffffff81000210, "d", "", 0x10},
    };

    check_text(bytes, sizeof(bytes) - 1, expected, COUNT_OF(expected));
}

static int find_alone(const char *bytes, size_t length, uint64_t address, struct kallsyms_found *found)
{
    const struct kallsyms_search search = {.addresses = &address, .count = 1};
    AUTO_FD fd = file_of(bytes, length);

    *found = (struct kallsyms_found){0};
    return kallsyms_find(fd, &search, found);
}

/* A few functions may be at 0; after a thousand the rest, half a million lines, is not read. */
TEST(many_hidden_addresses)
{
    static const char shown[] = "0000000000001000 T shown\n";
    struct kallsyms_found found;
    struct text file = {0};

    for (unsigned i = 0; i < 999; i++)
        text_format(&file, "0000000000000000 t at_zero_%u\n", i);
    const size_t length = file.length;
    text_add(&file, shown);
    CHECK_NUMBER(find_alone(file.data, file.length, 0x1004, &found), 0);
    CHECK_STRING(found.name.data, "shown");
    kallsyms_free(&found, 1);
    file.length = length;
    text_add(&file, "0000000000000000 t at_zero_999\n");
    text_add(&file, shown);
    CHECK_NUMBER(find_alone(file.data, file.length, 0x1004, &found), -EACCES);
    kallsyms_free(&found, 1);
    text_free(&file);
}

TEST(hidden_addresses)
{
    static const char zeros[] =
        "0000000000000000 A fixed_percpu_data\n0000000000000000 T _stext\n"
        "0000000000000000 T vfs_read\n0000000000000000 t mod\t[m]\n";
    static const char absolute[] = "0000000000000000 T _stext\n0000000000001000 A some_size\n";
    struct kallsyms_found found;

    CHECK_NUMBER(find_alone(zeros, sizeof(zeros) - 1, 0xffffffff81000000, &found), -EACCES);
    CHECK(!found.found);
    kallsyms_free(&found, 1);
    CHECK_NUMBER(find_alone(absolute, sizeof(absolute) - 1, 0x1000, &found), -EACCES);
    kallsyms_free(&found, 1);
    const struct kallsyms_search nothing = {0};
    CHECK_NUMBER(kallsyms_find(-1, &nothing, NULL), 0);
    const uint64_t address = 1;
    const struct kallsyms_search one = {.addresses = &address, .count = 1};
    found = (struct kallsyms_found){0};
    CHECK_NUMBER(kallsyms_find(-1, &one, &found), -EBADF);
    kallsyms_free(&found, 1);
}

struct counted {
    unsigned count, stop_at;
    int result;
};

static int count_symbol(void *context, const struct kallsyms_symbol *symbol)
{
    struct counted *counted = context;

    CHECK(symbol->name[0] && (!symbol->module || symbol->module[0]));
    return ++counted->count == counted->stop_at ? counted->result : 0;
}

TEST(a_callback_ends_the_pass)
{
    AUTO_FD fd = file_of(sample, sizeof(sample) - 1);
    struct counted all = {0}, stopped = {.stop_at = 3, .result = 7},
                   failed = {.stop_at = 5, .result = -E2BIG};

    CHECK_NUMBER(kallsyms_each(fd, count_symbol, &all), 0);
    CHECK_NUMBER(all.count, 28);
    CHECK_NUMBER(kallsyms_each(fd, count_symbol, &stopped), 0);
    CHECK_NUMBER(stopped.count, 3);
    CHECK_NUMBER(kallsyms_each(fd, count_symbol, &failed), -E2BIG);
    CHECK_NUMBER(failed.count, 5);
}

/* ---- Against a plain search ---- */

struct line {
    uint64_t address;
    char type, name[12], module[4];
};

struct model {
    struct line lines[96];
    size_t count;
    struct kallsyms_name preferred[4];
    size_t preferred_count;
};

/* The better of two names for one address by the rules: the first if they are equal. */
static bool is_better(const struct model *model, const struct line *a, const struct line *b)
{
    bool a_preferred = false, b_preferred = false;

    for (size_t i = 0; i < model->preferred_count; i++) {
        a_preferred = a_preferred || !strcmp(model->preferred[i].name, a->name);
        b_preferred = b_preferred || !strcmp(model->preferred[i].name, b->name);
    }
    if (a_preferred || b_preferred)
        return a_preferred && !b_preferred;
    int a_kind = strchr("wWvV", a->type) ? 1 : isupper((unsigned char)a->type) ? 2 : 0;
    int b_kind = strchr("wWvV", b->type) ? 1 : isupper((unsigned char)b->type) ? 2 : 0;
    if (a_kind != b_kind)
        return a_kind > b_kind;
    return strspn(a->name, "_") < strspn(b->name, "_");
}

static const struct line *search_plainly(const struct model *model, uint64_t address)
{
    const struct line *best = NULL;

    for (size_t i = 0; i < model->count; i++) {
        const struct line *line = &model->lines[i];
        if (!line->address || line->type == 'a' || line->type == 'A' || line->address > address)
            continue;
        if (!best || line->address > best->address ||
            (line->address == best->address && is_better(model, line, best)))
            best = line;
    }
    return best && strchr("tTwW", best->type) && address - best->address < 0x100000 ? best : NULL;
}

static size_t below(size_t limit)
{
    return (size_t)rand() % limit;
}

static void add_line(struct model *model, uint64_t address, char type, const char *module)
{
    struct line *line = &model->lines[model->count];

    *line = (struct line){.address = address, .type = type};
    snprintf(line->name, sizeof(line->name), "%.*sn%zu", (int)below(3), "__", model->count++);
    snprintf(line->module, sizeof(line->module), "%s", module);
}

/* Adds sorted symbols from `at` on, some at the same address; returns where they end. */
static uint64_t add_core(struct model *model, uint64_t at, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        at += below(3) ? 0x10 * below(40) : 0;
        at += below(20) ? 0 : 0x80000 * below(8); /* now and then a wide gap */
        add_line(model, at, "tTtTtTwWdDBrRV"[below(14)], "");
    }
    return at;
}

static void add_modules(struct model *model, uint64_t from, uint64_t size, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add_line(model, from + 0x10 * below((size_t)(size / 0x10)), "ttttTTwdb"[below(9)],
                 below(2) ? "m1" : "m2");
}

/*
 * The layout of kernels: per-CPU symbols, the sorted core, then modules in any order, outside the
 * core, or between it and a few symbols far above everything.
 */
static void make_model(struct model *model)
{
    const uint64_t core = below(4) ? 0xffffffff81000000 : 0xc0100000;

    model->count = 0;
    for (size_t i = below(4); i; i--)
        add_line(model, 0x1000 * below(3), below(2) ? 'A' : 'D', "");
    for (size_t i = below(3); i; i--)
        add_line(model, core - 0x1000, 'a', "");
    uint64_t end = add_core(model, core, 1 + below(40));
    if (below(4) == 0)
        add_core(model, end + 0x10000000, 1 + below(3));
    if (below(3))
        add_modules(model, end + 0x200000, 0x400000, below(15));
    if (below(3))
        add_modules(model, core - 0x800000, 0x700000, below(15));
    model->preferred_count = 0;
    if (below(3) == 0)
        model->preferred[model->preferred_count++].name = model->lines[below(model->count)].name;
}

/* Addresses at and near symbols, and anywhere, sorted, each once. */
static size_t choose_addresses(const struct model *model, uint64_t *addresses, size_t count)
{
    size_t kept = 0;
    bool core_only = below(2);

    for (size_t i = 0; i < count; i++) {
        const struct line *line = &model->lines[below(model->count)];
        while (core_only && line->module[0])
            line = &model->lines[below(model->count)];
        addresses[i] = line->address;
        addresses[i] += below(3) ? below(0x300) : below(4) ? 0 : 0x80000 * below(9);
        addresses[i] -= below(4) == 0 && addresses[i];
    }
    qsort(addresses, count, sizeof(*addresses), compare_by_number);
    for (size_t i = 0; i < count; i++)
        if (!kept || addresses[kept - 1] != addresses[i])
            addresses[kept++] = addresses[i];
    return kept;
}

static void write_model(const struct model *model, struct text *text)
{
    text_clear(text);
    for (size_t i = 0; i < model->count; i++) {
        const struct line *line = &model->lines[i];
        text_format(text, "%016llx %c %s", (unsigned long long)line->address, line->type, line->name);
        text_format(text, line->module[0] ? "\t[%s]\n" : "%s\n", line->module);
    }
}

static bool agrees(const struct line *expected, const struct kallsyms_found *found)
{
    if (!expected || !found->found)
        return !expected && !found->found;
    return found->start == expected->address && !strcmp(found->name.data, expected->name) &&
           !strcmp(found->module.data, expected->module);
}

/* Asks in several calls, which read the file only for addresses that are new. */
static unsigned ask_again(const struct model *model, int fd)
{
    AUTO(kallsyms_known_free) struct kallsyms_known known = {0};
    unsigned wrong = 0;

    for (int times = 0; times < 8; times++) {
        uint64_t addresses[24];
        struct kallsyms_found found[24] = {{0}};
        size_t count = choose_addresses(model, addresses, 1 + below(24));
        const struct kallsyms_search search = {addresses, count, model->preferred, model->preferred_count};
        const int result = kallsyms_find_known(&known, fd, &search, found);
        for (size_t i = 0; i < count && !result; i++)
            wrong += !agrees(search_plainly(model, addresses[i]), &found[i]);
        kallsyms_free(found, count);
    }
    return wrong;
}

/* One random file; returns how many answers are wrong. */
static unsigned play_round(struct text *file, unsigned *named)
{
    struct model model;
    uint64_t addresses[24];
    struct kallsyms_found found[24] = {{0}};
    unsigned wrong = 0;

    make_model(&model);
    write_model(&model, file);
    size_t count = choose_addresses(&model, addresses, 1 + below(24));
    const struct kallsyms_search search = {addresses, count, model.preferred,
                                           model.preferred_count};
    int fd = file_of(file->data, file->length), result = kallsyms_find(fd, &search, found);
    /* -EACCES: only absolute symbols and zeros, as from a kernel that hides its addresses. */
    for (size_t i = 0; i < count && result != -EACCES; i++) {
        const struct line *expected = search_plainly(&model, addresses[i]);
        bool right = !result && agrees(expected, &found[i]);
        if (!right && !wrong)
            printf("%s  %llx is %s, should be %s\n", file->data, (unsigned long long)addresses[i],
                   found[i].found ? found[i].name.data : "none",
                   expected ? expected->name : "none");
        wrong += !right;
        *named += expected != NULL;
    }
    wrong += ask_again(&model, fd);
    kallsyms_free(found, count);
    close(fd);
    return wrong;
}

TEST(a_plain_search_agrees)
{
    AUTO_TEXT file = {0};
    unsigned wrong = 0, named = 0;

    srand(20);
    for (int round = 0, most = rounds(10000); round < most && !wrong; round++)
        wrong += play_round(&file, &named);
    CHECK_NUMBER(wrong, 0);
    CHECK(named > (unsigned)rounds(30000));
}

/* ---- Malformed files ---- */

/* Truncated anywhere: answers come from what is left, right or with a truncated name. */
TEST(cut_at_every_byte)
{
    for (size_t length = 0; length < sizeof(sample); length++) {
        struct kallsyms_found found;
        int result = find_alone(sample, length, 0xffffffff81000401, &found);
        CHECK(result == 0 || result == -EACCES);
        if (found.found && found.start == 0xffffffff81000400)
            CHECK(!strncmp(found.name.data, "last_function", found.name.length));
        else if (found.found)
            CHECK(found.start < 0xffffffff81000400 && strstr(sample, found.name.data));
        kallsyms_free(&found, 1);
    }
}

TEST(malformed_lines)
{
    static const char bytes[] =
        "\n"
        " \n"
        "T\n"
        "ffffffff81000000\n"
        "ffffffff81000000 \n"
        "ffffffff81000000 T\n"
        "ffffffff81000000 T \n"
        "ffffffff81000000 T \t[m]\n"
        "ffffffff81000000  T two_blanks\n"
        "ffffffff81000000 TT two_letters\n"
        "ffffffff81000000\tT a_tab\n"
        " ffffffff81000000 T a_blank_first\n"
        "0xffffffff81000000 T a_prefix\n"
        "-ffffffff81000000 T a_sign\n"
        "fffffffg81000000 T no_digit\n"
        "ffffffff810000001 T seventeen_digits\n"
        "1ffffffff81000000 T seventeen_more\n"
        "ffffffffffffffffffffffffffffffffffffffff81000000 T many\n"
        "\0ffffffff81000000 T nul\n"
        "ffffffff\0 81000000 T nul\n"
        "ffffffff80fffff0 T right\t[\n"
        "ffffffff80fffff1 T wrong_end\t[m\n"
        "ffffffff80fffff2 T wrong_begin\tm]\n"
        "ffffffff80fffff3 T one_bracket\t]\n"
        "ffffffff80fffff4 T empty_brackets\t[]\n"
        "0ffffffff80fffff5 T zeros_before\n"
        "FFFFFFFF80FFFFF6 T CAPITALS\n";
    static const struct expectation expected[] = {
        {0xfffffff, NULL, NULL, 0},
        {0xffffffff80fffff0, "right", "", 0},
        {0xffffffff80fffff1, "wrong_end", "", 0},
        {0xffffffff80fffff2, "wrong_begin", "", 0},
        {0xffffffff80fffff3, "one_bracket", "", 0},
        {0xffffffff80fffff4, "empty_brackets", "", 0},
        {0xffffffff80fffff5, "zeros_before", "", 0},
        {0xffffffff80fffff6, "CAPITALS", "", 0},
        {0xffffffff81000000, "CAPITALS", "", 10},
    };

    check_text(bytes, sizeof(bytes) - 1, expected, COUNT_OF(expected));
}

TEST(garbage)
{
    static char bytes[20000];
    static const char likely[] = "0123456789abcdef  \n\n\t[]TtwWAa\0_";
    struct kallsyms_found found;

    srand(3);
    for (int round = 0, most = rounds(300); round < most; round++) {
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = round % 2 ? (char)(below(256)) : likely[below(sizeof(likely))];
        int result = find_alone(bytes, sizeof(bytes), 0xffffffff81000000, &found);
        CHECK(result == 0 || result == -EACCES);
        kallsyms_free(&found, 1);
    }
}

TEST(a_name_of_a_megabyte)
{
    AUTO_TEXT file = {0};
    static char name[1 << 20];

    memset(name, 'n', sizeof(name));
    text_add(&file, "ffffffff81000000 T ");
    text_append(&file, name, sizeof(name));
    text_add(&file, "\nffffffff81000100 T after\n");
    AUTO_FD fd = file_of(file.data, file.length);
    static const struct expectation expected[] = {{0xffffffff81000108, "after", "", 8}};
    check_all(fd, expected, 1, NULL, 0);
    const uint64_t address = 0xffffffff81000010;
    const struct kallsyms_search search = {.addresses = &address, .count = 1};
    struct kallsyms_found found = {0};
    CHECK_NUMBER(kallsyms_find(fd, &search, &found), 0);
    /* The kernel's own names have at most 511 bytes. */
    CHECK(found.found && found.name.length >= 511 && found.name.length < 65536);
    kallsyms_free(&found, 1);
}

static long memory_peak(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss; /* KB */
}

/* Half symbols, half one long line, of which only a piece is kept in memory. */
TEST(a_hundred_megabytes)
{
    struct text piece = {0};
    AUTO_FD fd = memfd_create("kallsyms", MFD_CLOEXEC);
    uint64_t at = 0xffffffff81000000;
    bool written = fd >= 0;

    for (int i = 0; i < 50; i++) {
        text_clear(&piece);
        for (; piece.length < 1 << 20; at += 0x10)
            text_format(&piece, "%016llx T some_function_%08llx\n", (unsigned long long)at,
                        (unsigned long long)(at & 0xffffffff));
        written = written && write(fd, piece.data, piece.length) == (ssize_t)piece.length;
    }
    static char same[1 << 20];
    memset(same, 'f', sizeof(same));
    for (int i = 0; i < 50; i++)
        written = written && write(fd, same, sizeof(same)) == sizeof(same);
    CHECK(written);
    text_free(&piece);

    /* The last symbol, and one whose absence only the whole file shows. */
    const uint64_t addresses[] = {at - 8, at + 0x200000};
    struct kallsyms_found found[2] = {{0}};
    const struct kallsyms_search search = {.addresses = addresses, .count = 2};
    long before = memory_peak();
    uint64_t start = now_ns();
    CHECK_NUMBER(kallsyms_find(fd, &search, found), 0);
    CHECK(found[0].found && found[0].start == at - 0x10 && !found[1].found);
    CHECK(memory_peak() - before < 1024);
    CHECK(now_ns() - start < 60000000000);
    kallsyms_free(found, 2);
}

/* Asks for each address without a file; returns 0 if all are known. */
static int ask_without(struct kallsyms_known *known, const struct expectation *expected, size_t count)
{
    int result = 0;

    for (size_t i = 0; i < count && !result; i++) {
        const struct kallsyms_search search = {.addresses = &expected[i].address, .count = 1};
        struct kallsyms_found found = {0};
        result = kallsyms_find_known(known, -1, &search, &found);
        CHECK(result || (found.found && !strcmp(found.name.data, expected[i].name) &&
                         expected[i].address - found.start == expected[i].offset));
        kallsyms_free(&found, 1);
    }
    return result;
}

TEST(known_functions)
{
    const uint64_t addresses[] = {0xffffffff81000110, 0xffffffff81000290, 0xffffffffc0201008};
    const struct kallsyms_search search = {.addresses = addresses, .count = COUNT_OF(addresses)};
    static const struct expectation known_ones[] = {
        {0xffffffff81000110, "local_function", "", 0x10},
        {0xffffffff81000100, "local_function", "", 0},
        {0xffffffff8100013e, "local_function", "", 0x3e},
        {0xffffffff81000280, "first_of_equals", "", 0},
        {0xffffffffc0201008, "mod_late", "later", 8},
    };
    static const struct expectation others[] = {
        {0xffffffff8100013f, "local_function", "", 0x3f}, /* may be a label as in landings() */
        {0xffffffff81000140, "weak_alias", "", 0},
        {0xffffffff810000ff, "_stext", "", 0xff},
        {0xffffffffc0201010, "mod_late", "later", 16},
    };
    AUTO(kallsyms_known_free) struct kallsyms_known known = {0};
    struct kallsyms_found found[COUNT_OF(addresses)] = {{0}};
    AUTO_FD fd = file_of(sample, sizeof(sample) - 1);

    CHECK(ask_without(&known, known_ones, 1) < 0);
    CHECK_NUMBER(kallsyms_find_known(&known, fd, &search, found), 0);
    kallsyms_free(found, COUNT_OF(addresses));
    CHECK_NUMBER(ask_without(&known, known_ones, COUNT_OF(known_ones)), 0);
    for (size_t i = 0; i < COUNT_OF(others); i++)
        CHECK(ask_without(&known, &others[i], 1) < 0);
}

TEST_MAIN
