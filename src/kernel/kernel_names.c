/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kernel/kernel_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/util.h"
#include "insns/programs.h"
#include "kernel/bpf.h"
#include "kernel/limits.h"
#include "machine/machine.h"

#define OLDEST_KERNEL 0x051000 /* 5.16 */

/* ---- Asking ---- */

static int load(int symbol, int format)
{
    struct program program = {0};
    struct text unwanted = {0};

    emit_kernel_symbol(&program, symbol, format);
    int fd = bpf_link_and_load(BPF_PROG_TYPE_SYSCALL, "stackbox", &program, &unwanted);
    text_free(&unwanted);
    program_free(&program);
    return fd;
}

/* A map with one value. */
static int create(const char *name, size_t size, uint32_t flags)
{
    const struct bpf_map_shape shape = {
        .type = BPF_MAP_TYPE_ARRAY,
        .name = name,
        .key_size = sizeof(uint32_t),
        .value_size = (uint32_t)size,
        .entries = 1,
        .flags = flags,
    };

    return bpf_create_map(&shape);
}

static bool set_up(struct kernel_names *names)
{
    static const char text[] = "%pS";
    const uint32_t key = 0;
    const int symbol = create("symbol", sizeof(*names->symbol), BPF_F_MMAPABLE);
    const int format = create("format", sizeof(text), BPF_F_RDONLY_PROG);

    names->program = -1;
    if (symbol >= 0 && format >= 0 && !bpf_update(format, &key, text, 0) && !bpf_freeze(format))
        names->program = load(symbol, format);
    void *at = names->program < 0 ? MAP_FAILED
        : mmap(NULL, sizeof(*names->symbol), PROT_READ | PROT_WRITE, MAP_SHARED, symbol, 0);
    close_fd(symbol);
    close_fd(format);
    if (at == MAP_FAILED) {
        close_fd(names->program);
        return false;
    }
    /* Readers of users' files, forked from us, must not be able to write names here. */
    madvise(at, sizeof(*names->symbol), MADV_DONTFORK);
    names->symbol = at;
    return true;
}

uint64_t kernel_names_address(const struct kernel_names *names, const char *name)
{
    struct kernel_symbol *symbol = names->symbol;
    const size_t length = strlen(name) + 1;

    if (!symbol || length > KERNEL_NAME_MASK)
        return 0;
    symbol->length = (uint32_t)length;
    symbol->address = 0;
    strcpy(symbol->text, name);
    return bpf_run_raw(names->program, NULL, 0) ? 0 : symbol->address;
}

void kernel_names_open(struct kernel_names *names)
{
    static const char *const bounds[] = {"_stext", "_etext", "_sinittext", "_einittext"};

    if (names->symbol || own_version() < OLDEST_KERNEL || !set_up(names))
        return;
    for (size_t i = 0; i < COUNT_OF(bounds); i++)
        names->text[i / 2][i % 2] = kernel_names_address(names, bounds[i]);
    if (!names->text[0][0] || !names->text[0][1])
        kernel_names_close(names);
}

bool kernel_names_is_text(const struct kernel_names *names, uint64_t address)
{
    for (size_t i = 0; i < COUNT_OF(names->text); i++)
        if (address >= names->text[i][0] && address < names->text[i][1])
            return true;
    return false;
}

void kernel_names_close(struct kernel_names *names)
{
    if (names->symbol) {
        munmap(names->symbol, sizeof(*names->symbol));
        close_fd(names->program);
    }
    *names = (struct kernel_names){0};
}

/* ---- Answers ---- */

struct answer {
    struct kallsyms_symbol symbol; /* without a module: the kernel itself, or a BPF program */
    uint64_t end;
};

/* "name+0x1b/0x2f0 [module]"; an address that has no name is printed as a number. */
static bool ask(const struct kernel_names *names, uint64_t address, struct answer *answer)
{
    struct kernel_symbol *symbol = names->symbol;

    symbol->length = 0;
    symbol->address = address;
    symbol->text[0] = '\0';
    if (bpf_run_raw(names->program, NULL, 0))
        return false;
    symbol->text[KERNEL_SYMBOL_BYTES - 1] = '\0';
    char *offset = strrchr(symbol->text, '+'), *end;
    if (!offset)
        return false;
    *offset++ = '\0';
    answer->symbol = (struct kallsyms_symbol){
        .name = symbol->text,
        .type = 't',
        .address = address - strtoull(offset, &end, 16),
    };
    if (*end != '/')
        return false;
    answer->end = answer->symbol.address + strtoull(end + 1, &end, 16);
    answer->symbol.module = end[0] == ' ' && end[1] == '[' ? end + 2 : NULL;
    end[strcspn(end, "]")] = '\0';
    return address < answer->end;
}

static int keep(struct kallsyms_found *found, const struct answer *answer)
{
    found->end = answer->end;
    return kallsyms_keep(found, &answer->symbol, 0);
}

/* ---- Functions with several names ---- */

/*
 * If a function has several names, the kernel gives the first in its order: weak ones last, then by
 * underscores. We prefer the same, except for a global name over a local one, which the kernel's
 * answer does not distinguish. Few functions have both: those that run before addresses are in
 * place, and those that the compiler has merged as equal (gcc -fipa-icf).
 */
static const char locals[] =
    "__pi_*\0" "cpu_show_not_affected\0" "numa_node_dist\0" "thermal_genl_event_*\0"
    "__clk_register_clkdev\0";

static int rename_it(struct kallsyms_found *found, const char *prefix, const char *name)
{
    char copy[KERNEL_SYMBOL_BYTES]; /* `name` may point into found->name */

    snprintf(copy, sizeof(copy), "%s%s", prefix, name);
    text_clear(&found->name);
    text_add(&found->name, copy);
    return found->name.failed ? -ENOMEM : 0;
}

/* 1: /proc/kallsyms may have a better name. */
static int choose_name(const struct kallsyms_search *search, struct kallsyms_found *found)
{
    const struct machine *kernel = machine_of_kernel();
    const char *name = found->name.data, *call = starts_with(name, "__do_sys_");

    for (size_t i = 0; i < search->preferred_count; i++)
        if (search->preferred[i].address == found->start)
            return rename_it(found, "", search->preferred[i].name);
    if (call && kernel->names && name_list_has(kernel->names[MACHINE_BARE_CALLS], call))
        return rename_it(found, kernel->call_prefix, call - strlen("sys_"));
    return name_list_has(locals, name) || machines_have(MACHINE_LOCAL, name);
}

/* ---- All ---- */

/* The address just below a landing belongs to the landing. */
static int take_landing(const struct kernel_names *names, uint64_t address,
                        struct kallsyms_found *found)
{
    struct answer next;

    if (!ask(names, address + 1, &next) || next.symbol.address != address + 1 ||
        !machines_have(MACHINE_LANDINGS, next.symbol.name))
        return 0;
    return keep(found, &next);
}

int kernel_names_find(struct kernel_names *names, const struct kallsyms_search *search,
                      uint64_t address, struct kallsyms_found *found)
{
    struct answer answer;
    struct kallsyms_symbol *symbol = &answer.symbol;

    if (!ask(names, address, &answer)) /* perhaps an unloaded program's: a pass tells no more */
        return !starts_with(names->symbol->text, "0x");
    if (!kernel_names_is_text(names, address) && !symbol->module) {
        /* The kernel names data, too, and does not mark BPF programs as "[bpf]". */
        if (!starts_with(symbol->name, "bpf_prog_") &&
            !starts_with(symbol->name, "bpf_trampoline_"))
            return 1;
        symbol->module = "bpf";
        answer.end = 0; /* another program may begin within it later on */
    }
    int result = keep(found, &answer);
    if (!result && answer.end)
        result = choose_name(search, found);
    if (!result && address + 1 == found->end)
        result = take_landing(names, address, found);
    return result;
}
