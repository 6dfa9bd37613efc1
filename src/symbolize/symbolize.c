/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "symbolize/symbolize.h"

#include <errno.h>
#include <stdlib.h>

#include "base/index.h"
#include "base/util.h"
#include "insns/unwind_layout.h"
#include "symbolize/kernel_frames.h"
#include "symbolize/naming.h"

/* ---- Each address once ---- */

uint64_t symbol_hash(const struct symbol *symbol)
{
    const uint64_t process = (uint64_t)symbol->pid << 3 | (uint64_t)symbol->kernel << 2 |
                             (uint64_t)symbol->foreign << 1 | symbol->is_return;

    return hash_word(hash_word(hash_word(symbol->epoch, symbol->address), symbol->generation),
                     process);
}

bool symbol_is_at(const struct symbol *symbol, const struct symbol *place)
{
    return symbol->address == place->address && symbol->pid == place->pid &&
           symbol->generation == place->generation && symbol->epoch == place->epoch &&
           symbol->kernel == place->kernel && symbol->foreign == place->foreign &&
           symbol->is_return == place->is_return;
}

static int find_or_add(struct index *index, struct symbols *symbols, size_t *room,
                       const struct symbol *wanted, uint32_t *item)
{
    uint64_t hash = symbol_hash(wanted);
    size_t at = 0;

    while (index_next(index, hash, &at, item))
        if (symbol_is_at(&symbols->items[*item], wanted))
            return 0;
    *item = (uint32_t)symbols->count;
    if (ARRAY_RESERVE(symbols->items, *room, symbols->count + 1) ||
        index_add(index, hash, *item))
        return -ENOMEM;
    symbols->items[symbols->count++] = *wanted;
    return 0;
}

struct collection {
    const struct tally *tally;
    struct symbols *symbols;
    struct index index;
    size_t room, frame;
};

static int collect_stack(struct collection *collection, const struct tally_task *task, bool kernel)
{
    const struct stack *stack = kernel ? &task->kernel : &task->user;

    for (uint32_t i = 0; i < stack->count; i++) {
        const struct symbol wanted = {
            .kernel = kernel,
            .pid = kernel ? 0 : task->pid,
            .generation = kernel ? 0 : task->generation,
            .foreign = !kernel && task->foreign,
            .is_return = i > 0,
            .address = collection->tally->addresses[stack->first + i],
        };
        if (find_or_add(&collection->index, collection->symbols, &collection->room, &wanted,
                        &collection->symbols->frames[collection->frame++]))
            return -ENOMEM;
    }
    return 0;
}

static int collect_task(struct collection *collection, const struct tally_task *task)
{
    int result = collect_stack(collection, task, true);

    return result ? result : collect_stack(collection, task, false);
}

static size_t frames_of(const struct tally_task *task)
{
    return (size_t)task->kernel.count + task->user.count;
}

static int collect(struct symbols *symbols, const struct tally *tally)
{
    struct collection collection = {.tally = tally, .symbols = symbols};
    size_t frames = 0;
    int result = 0;

    for (size_t i = 0; i < tally->count; i++)
        frames += frames_of(&tally->entries[i].task) + frames_of(&tally->entries[i].waker);
    symbols->frames = calloc(frames + 1, sizeof(*symbols->frames));
    symbols->first = calloc(tally->count + 1, sizeof(*symbols->first));
    if (!symbols->frames || !symbols->first)
        return -ENOMEM;
    for (size_t i = 0; i < tally->count && !result; i++) {
        const struct tally_entry *entry = &tally->entries[i];
        symbols->first[i] = collection.frame;
        result = collect_task(&collection, &entry->task);
        if (!result)
            result = collect_task(&collection, &entry->waker);
    }
    index_free(&collection.index);
    return result;
}

/* ---- Names ---- */

int symbol_set_function(struct symbol *symbol, const char *name,
                        const struct symbolize_options *options)
{
    int result = options->readable ? demangle_symbol(name, options->readable, &symbol->function)
                                  : -EINVAL;

    text_clear(&symbol->raw);
    if (!result) {
        text_add(&symbol->raw, name);
    } else if (result == -EINVAL) {
        text_clear(&symbol->function);
        text_add(&symbol->function, name);
    }
    return result == -ENOMEM || symbol->function.failed || symbol->raw.failed ? -ENOMEM : 0;
}

void symbol_free(struct symbol *symbol)
{
    text_free(&symbol->function);
    text_free(&symbol->raw);
    text_free(&symbol->file);
}

uint64_t symbol_lookup_address(const struct symbol *symbol)
{
    return symbol->address - (symbol->is_return && symbol->address);
}

/* Sorted symbols, all of them the kernel's. */
static int name_kernel(struct symbol *const *symbols, size_t count,
                       const struct symbolize_options *options, struct symbolize_notes *notes)
{
    uint64_t *addresses = calloc(count, sizeof(*addresses)); /* without duplicates */
    struct kallsyms_found *found = calloc(count, sizeof(*found));
    struct kallsyms_search search = {
        .addresses = addresses,
        .preferred = options->preferred,
        .preferred_count = options->preferred_count,
        .kernel = options->kernel,
    };
    size_t at = 0;
    int result = !addresses || !found ? -ENOMEM : options->kallsyms < 0 ? -EACCES : 0;

    for (size_t i = 0; i < count && !result; i++) {
        const uint64_t address = symbol_lookup_address(symbols[i]);
        if (!search.count || addresses[search.count - 1] != address)
            addresses[search.count++] = address;
    }
    if (!result)
        result = options->known
            ? kallsyms_find_known(options->known, options->kallsyms, &search, found)
            : kallsyms_find(options->kallsyms, &search, found);
    for (size_t i = 0; i < count && !result; i++) {
        struct symbol *symbol = symbols[i];
        at += addresses[at] != symbol_lookup_address(symbol);
        if (!found[at].found)
            continue;
        text_add(&symbol->file, found[at].module.data);
        symbol->offset = symbol->address - found[at].start;
        if (symbol_set_function(symbol, found[at].name.data, options) || symbol->file.failed)
            result = -ENOMEM;
    }
    if (found)
        kallsyms_free(found, search.count);
    free(found);
    free(addresses);
    notes->kernel_hidden = notes->kernel_hidden || result == -EACCES;
    return result == -EACCES ? 0 : result;
}

/* Kernel symbols come first, then those of processes, then those without a lookup. */
static int compare_symbols(const void *left, const void *right)
{
    const struct symbol *a = *(struct symbol *const *)left, *b = *(struct symbol *const *)right;

    return order_of(b->kernel, a->kernel) ?: order_of(a->foreign, b->foreign)
        ?: order_of(a->pid, b->pid) ?: order_of(a->generation, b->generation)
        ?: order_of(a->epoch, b->epoch)
        ?: order_of(symbol_lookup_address(a), symbol_lookup_address(b));
}

/* Sets `mappings`, too, unless NULL. */
static int name_sorted(struct symbol *const *sorted, size_t count,
                       const struct symbolize_options *options, struct symbolize_notes *notes,
                       struct symbol_mappings *mappings)
{
    size_t user = 0, user_end;
    int result = 0;

    while (user < count && sorted[user]->kernel)
        user++;
    for (user_end = user; user_end < count && !sorted[user_end]->foreign; user_end++)
        ;
    if (user && !options->recorded)
        result = name_kernel(sorted, user, options, notes);
    if (!result && mappings && (user || options->recorded))
        result = mappings_take_kernel(mappings, sorted, user, options);
    if (!options->processes && !options->recorded)
        user_end = user;
    if (!result && (user_end > user || mappings))
        result = user_names_give(sorted + user, user_end - user, options, notes, mappings);
    return result;
}

/* The name of the frame with which a walk by tables ends before the root. NULL: it is another. */
static const char *name_of_end(const struct symbol *symbol)
{
    if (symbol->kernel ||
        !(UNWIND_IS_END_FRAME(symbol->address) || UNWIND_IS_DEFERRED_FRAME(symbol->address)))
        return NULL;
    return symbol->address == UNWIND_END_FRAME(UNWIND_END_EXEC) ? "[exec]" : "[truncated]";
}

/* For a frame that the kernel gave as text: the symbol has its number instead of an address. */
static const char *name_of_text(struct symbol *symbol, const struct stack_texts *texts)
{
    if (!symbol->kernel || !texts || symbol->address - 1 >= texts->count)
        return NULL;
    const struct stack_frame *frame = &texts->frames[symbol->address - 1];
    text_add(&symbol->file, frame->module ? frame->module : "");
    symbol->offset = frame->offset;
    return frame->name;
}

/*
 * Names symbols that need no lookup. *count becomes the number of the others, which come first. 0
 * or -ENOMEM.
 */
static int name_known(struct symbol **symbols, size_t *count,
                      const struct symbolize_options *options)
{
    size_t others = 0;

    for (size_t i = 0; i < *count; i++) {
        struct symbol *symbol = symbols[i];
        const char *name = name_of_end(symbol);
        name = name ? name : name_of_text(symbol, options->texts);
        if (!name)
            symbols[others++] = symbol;
        else if (symbol_set_function(symbol, name, options) || symbol->file.failed)
            return -ENOMEM;
    }
    *count = others;
    return 0;
}

int symbols_name(struct symbol **symbols, size_t count, const struct symbolize_options *options,
                 struct symbolize_notes *notes, struct symbol_mappings *mappings)
{
    int result = name_known(symbols, &count, options);

    if (result)
        return result;
    if (count)
        qsort(symbols, count, sizeof(*symbols), compare_symbols);
    return name_sorted(symbols, count, options, notes, mappings);
}

int symbols_name_all(struct symbols *symbols, const struct symbolize_options *options,
                     struct symbolize_notes *notes)
{
    struct symbol **sorted = calloc(symbols->count + 1, sizeof(*sorted));
    size_t count = symbols->count;

    if (!sorted)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &symbols->items[i];
    int result = symbols_name(sorted, count, options, notes,
                          options->mapped_for ? &symbols->mappings : NULL);
    free(sorted);
    if (!result && options->mapped_for)
        result = mappings_place(&symbols->mappings, options->mapped_for, symbols->items,
                                symbols->count);
    return result;
}

int symbols_make(struct symbols *symbols, const struct tally *tally,
                 const struct symbolize_options *options, struct symbolize_notes *notes)
{
    *symbols = (struct symbols){0};
    int result = collect(symbols, tally);
    return result ? result : symbols_name_all(symbols, options, notes);
}

void symbolize_notes_free(struct symbolize_notes *notes)
{
    text_free(&notes->refused_map);
    text_free(&notes->changed_file);
    text_free(&notes->unopened_file);
    text_free(&notes->packed_file);
    text_free(&notes->unread);
    text_free(&notes->unidentified);
}

void symbols_free(struct symbols *symbols)
{
    for (size_t i = 0; i < symbols->count; i++)
        symbol_free(&symbols->items[i]);
    mappings_free(&symbols->mappings);
    free(symbols->items);
    free(symbols->frames);
    free(symbols->first);
    *symbols = (struct symbols){0};
}
