/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * kernel_names N: compares the kernel's names with kallsyms', at the first, the middle and the last
 * byte of every Nth function and of all with several names; of BPF programs and a module's last
 * function, which do not end where the next symbol begins, at the first byte. Prints
 *
 *     differs ffffffff81000f75 common_interrupt_return, not swapgs_restore_regs_and_return_to_usermode
 *     5456 addresses, 5179 named by the kernel, 3 in modules
 *
 * A pass through kallsyms names the rest. Exit 77: the kernel cannot be asked.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "kernel/kallsyms.h"
#include "kernel/kernel_names.h"

#define AT_A_TIME 4000

struct name {
    uint64_t address;
    char *text;
    const char *module;
    bool is_function;
};

struct names {
    struct name *items;
    size_t count, room;
};

static int add_name(void *context, const struct kallsyms_symbol *symbol)
{
    struct names *names = context;

    if (!symbol->address || symbol->type == 'a' || symbol->type == 'A')
        return 0;
    if (array_reserve(&names->items, &names->room, names->count + 1, sizeof(*names->items)))
        return -ENOMEM;
    names->items[names->count++] =
        (struct name){symbol->address, strdup(symbol->name), symbol->module ? strdup(symbol->module) : "",
                      kallsyms_is_function(symbol->type)};
    return 0;
}

static int compare_names(const void *left, const void *right)
{
    const struct name *a = left, *b = right;

    return a->address < b->address ? -1 : a->address > b->address;
}

static int compare_numbers(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/* Padding never runs. */
static bool is_padding(const char *name)
{
    return !strncmp(name, "__pfx_", 6) || !strncmp(name, "__cfi_", 6);
}

/* Three addresses of a function each; returns how many, sorted and without duplicates. */
static size_t choose(const struct names *names, size_t each, uint64_t *addresses)
{
    size_t count = 0, kept = 0, next;

    for (size_t i = 0; i < names->count; i = next) {
        for (next = i + 1; next < names->count && names->items[next].address == names->items[i].address; next++)
            ;
        if (next == names->count || !names->items[i].is_function || (next == i + 1 && i % each) ||
            is_padding(names->items[i].text))
            continue;
        const uint64_t start = names->items[i].address, end = names->items[next].address;
        const char *module = names->items[i].module;
        addresses[count++] = start;
        if (!strcmp(module, "bpf") || strcmp(module, names->items[next].module))
            continue;
        addresses[count++] = start + (end - start) / 2;
        addresses[count++] = end - 1;
    }
    if (count)
        qsort(addresses, count, sizeof(*addresses), compare_numbers);
    for (size_t i = 0; i < count; i++)
        if (!kept || addresses[kept - 1] != addresses[i])
            addresses[kept++] = addresses[i];
    return kept;
}

/* A section's bound is global, so it is preferred to a local function that begins there. */
static bool is_bound(const char *name)
{
    const char *text = strstr(name, "_text_");

    return text && (!strcmp(text, "_text_start") || !strcmp(text, "_text_end"));
}

static void compare(uint64_t address, const struct kallsyms_found *kernel, const struct kallsyms_found *pass)
{
    if (kernel->found == pass->found &&
        (!kernel->found || (kernel->start == pass->start && !strcmp(kernel->module.data, pass->module.data) &&
                            (!strcmp(kernel->name.data, pass->name.data) || is_bound(pass->name.data)))))
        return;
    printf("differs %016llx %s, not %s\n", (unsigned long long)address, kernel->found ? kernel->name.data : "nothing",
           pass->found ? pass->name.data : "nothing");
}

/* Other runs load and unload BPF programs between the two passes. */
static bool is_same(const struct kallsyms_found *before, const struct kallsyms_found *after)
{
    return before->found == after->found && (!before->found || !strcmp(before->name.data, after->name.data));
}

/* Compares up to AT_A_TIME; adds those the kernel named to *told, modules' also to *in_modules. */
static int ask(struct kernel_names *asked, int fd, const uint64_t *addresses, size_t count, size_t *told,
               size_t *in_modules)
{
    struct kallsyms_known known = {0};
    const struct kallsyms_search search = {.addresses = addresses, .count = count, .kernel = asked};
    struct kallsyms_found *pass = calloc(count, sizeof(*pass)), *kernel = calloc(count, sizeof(*kernel)),
                          *after = calloc(count, sizeof(*after));
    int result = pass && kernel && after ? 0 : -ENOMEM;

    if (!result)
        result = kallsyms_find(fd, &search, pass);
    if (!result)
        result = kallsyms_find_known(&known, fd, &search, kernel);
    if (!result)
        result = kallsyms_find(fd, &search, after);
    for (size_t i = 0; i < count && !result; i++) {
        struct kallsyms_found alone = {0};
        if (is_same(&pass[i], &after[i]))
            compare(addresses[i], &kernel[i], &pass[i]);
        const bool is_told = !kernel_names_find(asked, &search, addresses[i], &alone);
        *told += is_told;
        *in_modules += is_told && alone.module.length && strcmp(alone.module.data, "bpf");
        kallsyms_free(&alone, 1);
    }
    kallsyms_known_free(&known);
    kallsyms_free(kernel, count);
    kallsyms_free(pass, count);
    kallsyms_free(after, count);
    free(after);
    free(kernel);
    free(pass);
    return result;
}

int main(int argc, char **argv)
{
    struct kernel_names asked = {0};
    struct names names = {0};
    const size_t each = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
    int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
    int result = !each ? -EINVAL : fd < 0 ? -errno : 0;
    size_t told = 0, in_modules = 0;

    kernel_names_open(&asked);
    if (!result && !asked.symbol)
        result = -EPERM;
    if (!result)
        result = kallsyms_each(fd, add_name, &names);
    if (names.count)
        qsort(names.items, names.count, sizeof(*names.items), compare_names);
    uint64_t *addresses = calloc(names.count * 3 + 1, sizeof(*addresses));
    const size_t count = addresses ? choose(&names, each ? each : 1, addresses) : 0;
    for (size_t at = 0; at < count && !result; at += AT_A_TIME)
        result = ask(&asked, fd, addresses + at, count - at < AT_A_TIME ? count - at : AT_A_TIME, &told, &in_modules);
    if (result)
        fprintf(stderr, "kernel_names: %s\n", strerror(-result));
    else
        printf("%zu addresses, %zu named by the kernel, %zu in modules\n", count, told, in_modules);
    return result == -EPERM ? 77 : result ? 1 : 0;
}
