/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kernel/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/index.h"
#include "base/reading.h"
#include "base/util.h"
#include "kernel/kernel_names.h"
#include "machine/machine.h"

/*
 * kallsyms has no sizes: the last function of a module would otherwise extend to the next symbol,
 * wherever that is, over code without symbols. No function is nearly this long.
 */
#define LONGEST_FUNCTION (1 << 20)

/* Aliases: preferred ones, then global over weak over local, then fewer leading underscores. */
#define RANK_PREFERRED 1000
#define RANK_GLOBAL 200
#define RANK_WEAK 100
#define MOST_UNDERSCORES 50

/* Longer names are cut: the kernel's own limits, MODULE_NAME_LEN and KSYM_NAME_LEN, are these. */
#define LONGEST_NAME 512
#define LONGEST_MODULE 64

/* The values of hexadecimal digits plus one, from '0' on; 0 for anything else. */
static const uint8_t digit_values['f' - '0' + 1] = {
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ['A' - '0'] = 11, 12, 13, 14, 15, 16,
    ['a' - '0'] = 11, 12, 13, 14, 15, 16,
};

/* Hexadecimal digits up to a blank; NULL for anything else, or more than 64 bits. */
static char *parse_address(char *at, const char *end, uint64_t *address)
{
    char *start = at;
    uint64_t value = 0;

    for (; at < end && *at != ' '; at++) {
        const unsigned byte = (unsigned char)*at - '0';
        const unsigned digit = byte < sizeof(digit_values) ? digit_values[byte] : 0;
        if (!digit || value >> 60)
            return NULL;
        value = value << 4 | (digit - 1);
    }
    *address = value;
    return at == start ? NULL : at;
}

/* "ffffffff81000000 T name" or "ffffffffc0000000 t name\t[module]"; false: something else. */
static bool parse_symbol(char *line, size_t length, struct kallsyms_symbol *symbol)
{
    char *end = line + length, *at = parse_address(line, end, &symbol->address);

    if (!at || end - at < 4 || at[2] != ' ')
        return false;
    symbol->type = at[1];
    symbol->name = at + 3;
    symbol->module = NULL;
    char *tab = memchr(at + 3, '\t', (size_t)(end - at - 3));
    if (tab) {
        *tab = '\0';
        if (end[-1] == ']' && tab[1] == '[') {
            end[-1] = '\0';
            symbol->module = tab + 2;
        }
    }
    return *symbol->name;
}

int kallsyms_each(int fd, kallsyms_callback *each, void *context)
{
    struct lines lines;
    struct kallsyms_symbol symbol;
    size_t length;
    char *line;

    if (lseek(fd, 0, SEEK_SET) < 0)
        return -errno;
    int result = lines_open(&lines, fd);
    if (result)
        return result;
    while (!result && (line = lines_next(&lines, &length)))
        if (parse_symbol(line, length, &symbol))
            result = each(context, &symbol);
    if (!result)
        result = lines.error;
    lines_close(&lines);
    return result < 0 ? result : 0;
}

static int is_named(void *name, const struct kallsyms_symbol *symbol)
{
    return strcmp(symbol->name, name) ? 0 : -EEXIST;
}

bool kallsyms_has(const char *name)
{
    int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
    int result = fd < 0 ? 0 : kallsyms_each(fd, is_named, (void *)(uintptr_t)name);

    close_fd(fd);
    return result == -EEXIST;
}

/* The last symbol. It is an answer only if the next symbol is above an address of the search. */
struct candidate {
    bool any;
    size_t slot; /* the first address that is not below it */
    uint64_t end;  /* the next symbol's address, as long as these are sorted; or 0 */
    struct kallsyms_symbol symbol; /* its strings are these */
    char name[LONGEST_NAME], module[LONGEST_MODULE];
};

/*
 * If this many functions come first that have no address, the kernel hides all addresses. On s390 a
 * few functions may really be at 0.
 */
#define MANY_HIDDEN 1000

struct pass {
    const struct kallsyms_search *search;
    struct kallsyms_found *found;
    struct candidate candidate;
    bool any;
    unsigned hidden;
    /* As long as symbols come sorted, as the kernel's own do: */
    bool sorted;
    uint64_t first, last;
};

static bool is_weak(char type)
{
    return type == 'w' || type == 'W' || type == 'v' || type == 'V';
}

static int rank_of(const struct kallsyms_search *search, const struct kallsyms_symbol *symbol)
{
    const char *name = symbol->name;
    int underscores = 0, rank = 0;

    if (search->preferred_count && bsearch(&name, search->preferred, search->preferred_count,
                                           sizeof(*search->preferred), compare_strings))
        return RANK_PREFERRED;
    if (is_weak(symbol->type))
        rank = RANK_WEAK;
    else if (symbol->type >= 'A' && symbol->type <= 'Z')
        rank = RANK_GLOBAL;
    while (name[underscores] == '_' && underscores < MOST_UNDERSCORES)
        underscores++;
    /* A system call without arguments is one function with a name for each of the two x86 ABIs. */
    if (starts_with(name, "__ia32_"))
        rank--;
    return rank - underscores;
}

int kallsyms_keep(struct kallsyms_found *found, const struct kallsyms_symbol *symbol, int rank)
{
    found->found = true;
    found->type = symbol->type;
    found->rank = rank;
    found->start = symbol->address;
    text_clear(&found->name);
    text_add(&found->name, symbol->name);
    text_clear(&found->module);
    text_add(&found->module, symbol->module ? symbol->module : "");
    return found->name.failed || found->module.failed ? -ENOMEM : 0;
}

/* Is an address of the search between `low` and `high`, too far above `low` to be its? */
static bool any_between(const struct kallsyms_search *search, uint64_t low, uint64_t high)
{
    if (high - low <= LONGEST_FUNCTION)
        return false;
    size_t slot = first_not_below(search->addresses, search->count, low + LONGEST_FUNCTION);
    return slot < search->count && search->addresses[slot] < high;
}

/*
 * Once the sorted part has passed the last address, no later symbol can be nearer: symbols outside
 * that part (modules, BPF programs) are outside its range, or in a wide gap. Stopping there saves
 * half the pass.
 */
static bool passed_all(struct pass *pass, const struct kallsyms_symbol *symbol)
{
    const struct kallsyms_search *search = pass->search;

    if (symbol->module || symbol->address < pass->last)
        pass->sorted = false;
    if (!pass->sorted)
        return false;
    if (pass->first && any_between(search, pass->last, symbol->address))
        pass->sorted = false;
    pass->last = symbol->address;
    /* Some kernels list per-CPU symbols first, whose values are not addresses. */
    if (!pass->first && symbol->address >> 63)
        pass->first = symbol->address;
    return pass->sorted && pass->first && search->addresses[0] >= pass->first &&
           symbol->address - 1 > search->addresses[search->count - 1]; /* one may be a landing */
}

/* A symbol's slot; mostly the same as the previous one's. */
static size_t slot_of(const struct pass *pass, uint64_t start)
{
    const uint64_t *addresses = pass->search->addresses;
    size_t slot = pass->candidate.slot;

    if (pass->candidate.any && start <= addresses[slot] && (!slot || start > addresses[slot - 1]))
        return slot;
    return first_not_below(addresses, pass->search->count, start);
}

static int settle_candidate(struct pass *pass)
{
    const struct candidate *candidate = &pass->candidate;
    struct kallsyms_found *found = &pass->found[candidate->slot];

    if (!candidate->any || (found->found && candidate->symbol.address < found->start))
        return 0;
    const int rank = rank_of(pass->search, &candidate->symbol);
    const bool is_alias = found->found && candidate->symbol.address == found->start;
    found->end = candidate->end;
    return is_alias && rank <= found->rank ? 0 : kallsyms_keep(found, &candidate->symbol, rank);
}

static void cut_copy(char *to, size_t room, const char *from)
{
    size_t length = strnlen(from, room - 1);

    memcpy(to, from, length);
    to[length] = '\0';
}

static void set_candidate(struct candidate *candidate, const struct kallsyms_symbol *symbol,
                          size_t slot)
{
    candidate->any = true;
    candidate->end = 0;
    candidate->slot = slot;
    candidate->symbol = *symbol;
    cut_copy(candidate->name, sizeof(candidate->name), symbol->name);
    candidate->symbol.name = candidate->name;
    if (!symbol->module)
        return;
    cut_copy(candidate->module, sizeof(candidate->module), symbol->module);
    candidate->symbol.module = candidate->module;
}

/* The address just below a landing belongs to the landing. `slot` is the address after it. */
static int take_landing(struct pass *pass, const struct kallsyms_symbol *symbol, size_t slot)
{
    const struct kallsyms_search *search = pass->search;

    if (!slot || search->addresses[slot - 1] != symbol->address - 1 ||
        !machines_have(MACHINE_LANDINGS, symbol->name))
        return 0;
    struct kallsyms_found *found = &pass->found[slot - 1];
    const int rank = rank_of(search, symbol);
    const bool is_better = !found->found || found->start != symbol->address || rank > found->rank;
    return is_better ? kallsyms_keep(found, symbol, rank) : 0;
}

static int offer_symbol(void *context, const struct kallsyms_symbol *symbol)
{
    struct pass *pass = context;
    const struct kallsyms_search *search = pass->search;

    if (!symbol->address && !pass->any && kallsyms_is_function(symbol->type) &&
        ++pass->hidden == MANY_HIDDEN)
        return -EACCES;
    if (!symbol->address || symbol->type == 'a' || symbol->type == 'A')
        return 0;
    pass->any = true;
    const bool passed = passed_all(pass, symbol);
    if (pass->sorted && pass->candidate.any && !pass->candidate.end &&
        symbol->address > pass->candidate.symbol.address)
        pass->candidate.end = symbol->address;
    if (passed)
        return 1;
    const bool above_all = symbol->address > search->addresses[search->count - 1];
    const size_t slot = above_all ? search->count : slot_of(pass, symbol->address);
    int result = take_landing(pass, symbol, slot);
    if (above_all || result)
        return result;
    bool nearer = pass->candidate.any && slot == pass->candidate.slot &&
                  symbol->address > pass->candidate.symbol.address;
    result = nearer ? 0 : settle_candidate(pass);
    set_candidate(&pass->candidate, symbol, slot);
    return result;
}

bool kallsyms_is_function(char type)
{
    return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

static int copy_found(struct kallsyms_found *to, const struct kallsyms_found *from)
{
    const struct kallsyms_symbol symbol = {from->start, from->type, from->name.data,
                                           from->module.data};

    return from->found ? kallsyms_keep(to, &symbol, from->rank) : 0;
}

/* The symbol nearest to an address is also nearest to the next, unless that has a nearer one. */
static int spread(const struct kallsyms_search *search, struct kallsyms_found *found)
{
    for (size_t i = 1; i < search->count; i++) {
        const struct kallsyms_found *before = &found[i - 1];
        if (found[i].found || !before->found)
            continue;
        if (copy_found(&found[i], before))
            return -ENOMEM;
        found[i].end = before->end;
    }
    for (size_t i = 0; i < search->count; i++)
        if (!kallsyms_is_function(found[i].type) ||
            /* landings start one above */
            search->addresses[i] + 1 - found[i].start > LONGEST_FUNCTION)
            found[i].found = false;
    return 0;
}

int kallsyms_find(int fd, const struct kallsyms_search *search, struct kallsyms_found *found)
{
    struct pass pass = {.search = search, .found = found, .sorted = true};

    if (!search->count)
        return 0;
    int result = kallsyms_each(fd, offer_symbol, &pass);
    if (!result)
        result = settle_candidate(&pass);
    if (!result && !pass.any)
        result = -EACCES;
    return result ? result : spread(search, found);
}

void kallsyms_free(struct kallsyms_found *found, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        text_free(&found[i].name);
        text_free(&found[i].module);
    }
}

/* ---- What was found before ---- */

#define MOST_KNOWN 16384
/* It takes the kernel about 6 us to name an address: for more, a pass is faster. */
#define MOST_ASKED 4096

/* Addresses from `start` to `end` are in this function, or in none. */
struct kallsyms_known_place {
    uint64_t start, end;
    struct kallsyms_found found;
};

void kallsyms_known_free(struct kallsyms_known *known)
{
    for (size_t i = 0; i < known->count; i++)
        kallsyms_free(&known->places[i].found, 1);
    free(known->places);
    *known = (struct kallsyms_known){0};
}

/* Names and addresses of modules, "ext4 1069056 2 - Live 0xffffffffc0800000", not who uses them. */
static bool hash_module(void *context, char *line)
{
    uint64_t *hash = context;
    const char *address = strstr(line, " 0x");

    *hash = hash_bytes(*hash, line, strcspn(line, " "));
    *hash = address ? hash_bytes(*hash, address, strlen(address)) : *hash;
    return false;
}

static const struct kallsyms_known_place *place_of(const struct kallsyms_known *known,
                                                   uint64_t address)
{
    const struct kallsyms_known_place *places = known->places;
    const size_t behind = known->count ? first_key_above(&places->start, sizeof(*places),
                                                         known->count, address) : 0;

    return behind && address < places[behind - 1].end ? &places[behind - 1] : NULL;
}

/*
 * The cache keeps a single address where bounds are unsure: at a function's last address, which a
 * landing may claim, in functions of modules and BPF programs without an end, and in wide gaps.
 */
static struct kallsyms_known_place place_for(uint64_t address, const struct kallsyms_found *found)
{
    const bool whole = found->found && address >= found->start && address + 1 < found->end &&
                       found->end - found->start <= LONGEST_FUNCTION;

    return (struct kallsyms_known_place){
        .start = whole ? found->start : address,
        .end = whole ? found->end - 1 : address + 1,
    };
}

/* Appends a copy to the cache, behind the sorted part. */
static int know(struct kallsyms_known *known, uint64_t address, const struct kallsyms_found *found)
{
    const struct kallsyms_known_place place = place_for(address, found);

    if (known->count == MOST_KNOWN ||
        (known->count && known->places[known->count - 1].start == place.start))
        return 0;
    if (ARRAY_RESERVE(known->places, known->room, known->count + 1))
        return -ENOMEM;
    known->places[known->count] = place;
    return copy_found(&known->places[known->count++].found, found);
}

/* Addresses with their places in a search. */
struct others {
    uint64_t *addresses;
    size_t *which, count;
};

static void add_other(struct others *others, uint64_t address, size_t which)
{
    others->addresses[others->count] = address;
    others->which[others->count++] = which;
}

static int find_in_known(const struct kallsyms_known *known, const struct kallsyms_search *search,
                         struct kallsyms_found *found, struct others *others)
{
    int result = 0;

    for (size_t i = 0; i < search->count && !result; i++) {
        const struct kallsyms_known_place *place = place_of(known, search->addresses[i]);
        if (place)
            result = copy_found(&found[i], &place->found);
        else
            add_other(others, search->addresses[i], i);
    }
    return result;
}

/* Addresses that the kernel does not name stay among the others. */
static int find_by_kernel(struct kallsyms_known *known, const struct kallsyms_search *search,
                          struct kallsyms_found *found, struct others *others)
{
    const size_t count = others->count;
    const struct kallsyms_found *last = NULL;
    int result = 0;

    others->count = 0;
    for (size_t i = 0; i < count && result >= 0; i++) {
        const uint64_t address = others->addresses[i];
        struct kallsyms_found *at = &found[others->which[i]];
        const bool is_same = last && address < place_for(last->start, last).end;
        result = is_same ? copy_found(at, last)
                         : kernel_names_find(search->kernel, search, address, at);
        if (result > 0)
            add_other(others, address, others->which[i]);
        if (result)
            continue;
        at->found = address + 1 - at->start <= LONGEST_FUNCTION;
        last = at;
        result = know(known, address, at);
    }
    return result < 0 ? result : 0;
}

static int find_by_pass(struct kallsyms_known *known, int fd, const struct kallsyms_search *search,
                        struct kallsyms_found *found, const struct others *others)
{
    struct kallsyms_found *new = calloc(others->count + 1, sizeof(*new));
    struct kallsyms_search rest = *search;

    if (!new)
        return -ENOMEM;
    rest.addresses = others->addresses;
    rest.count = others->count;
    int result = kallsyms_find(fd, &rest, new);
    for (size_t i = 0; i < others->count; i++) {
        kallsyms_free(&found[others->which[i]], 1);
        found[others->which[i]] = new[i];
        if (!result)
            result = know(known, others->addresses[i], &new[i]);
    }
    free(new);
    return result;
}

int kallsyms_find_known(struct kallsyms_known *known, int fd, const struct kallsyms_search *search,
                        struct kallsyms_found *found)
{
    struct others others = {
        .addresses = calloc(search->count + 1, sizeof(*others.addresses)),
        .which = calloc(search->count + 1, sizeof(*others.which)),
    };
    uint64_t modules = 0;
    int result = -ENOMEM;

    each_line(AT_FDCWD, "/proc/modules", hash_module, &modules);
    if (modules != known->modules)
        kallsyms_known_free(known);
    known->modules = modules;
    if (others.addresses && others.which)
        result = find_in_known(known, search, found, &others);
    if (!result && search->kernel && search->kernel->symbol && others.count <= MOST_ASKED)
        result = find_by_kernel(known, search, found, &others);
    if (!result)
        result = find_by_pass(known, fd, search, found, &others);
    if (known->count)
        qsort(known->places, known->count, sizeof(*known->places), compare_by_number);
    free(others.addresses);
    free(others.which);
    return result;
}
