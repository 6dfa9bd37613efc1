/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "recording/tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "kernel/kallsyms.h"
#include "sandbox/sandbox.h"
#include "symbolize/mappings.h"

struct identifying {
    struct file_row *files;
    size_t count;
};

/* ---- In the sandbox ---- */

static void put_segments(const struct elf *elf, struct text *answer)
{
    const size_t count = elf->segment_count < MOST_SEGMENTS ? elf->segment_count : MOST_SEGMENTS;

    answer_put_byte(answer, (unsigned)count);
    for (size_t i = 0; i < count; i++) {
        const struct elf_segment *segment = &elf->segments[i];
        answer_put_number(answer, segment->offset);
        answer_put_number(answer, segment->file_size);
        answer_put_number(answer, segment->address);
        answer_put_number(answer, segment->memory_size);
        answer_put_number(answer, segment->flags);
    }
}

static void put_identity(const struct file_row *row, struct text *answer)
{
    struct file_identity identity = {0};
    struct elf elf = {0};

    if (!elf_open(&elf, row->file->fd))
        (void)identity_read(&elf, &identity); /* otherwise it is unknown */
    answer_put_byte(answer, identity.kind);
    answer_put_bytes(answer, (const char *)identity.id, identity.id_length);
    answer_put_number(answer, identity.size);
    answer_put_number(answer, identity.hash);
    put_segments(&elf, answer);
    elf_close(&elf);
}

static int read_in_sandbox(void *context, struct text *answer)
{
    const struct identifying *identifying = context;

    for (size_t i = 0; i < identifying->count; i++)
        if (identifying->files[i].is_read)
            put_identity(&identifying->files[i], answer);
    return 0;
}

/* ---- In this process ---- */

static void take_segments(struct answer *answer, struct file_row *row)
{
    const size_t count = answer_take_byte(answer);

    answer->is_bad = answer->is_bad || count > MOST_SEGMENTS;
    row->segments = answer->is_bad ? NULL : calloc(count + 1, sizeof(*row->segments));
    answer->failed = answer->failed || (!answer->is_bad && !row->segments);
    for (size_t i = 0; i < count && row->segments; i++) {
        struct elf_segment *segment = &row->segments[i];
        segment->offset = answer_take_number(answer);
        segment->file_size = answer_take_number(answer);
        segment->address = answer_take_number(answer);
        segment->memory_size = answer_take_number(answer);
        segment->flags = (uint32_t)answer_take_number(answer);
    }
    row->segment_count = row->segments ? count : 0;
}

/* A build id may contain a NUL, which texts in answers may not. */
static void take_identity(struct answer *answer, struct file_row *row)
{
    const unsigned kind = answer_take_byte(answer);
    struct file_identity *identity = &row->identity;

    identity->id_length = answer_take_bytes(answer, sizeof(identity->id), identity->id);
    identity->size = answer_take_number(answer);
    identity->hash = answer_take_number(answer);
    answer->is_bad = answer->is_bad || kind > IDENTITY_HASH ||
                     (kind == IDENTITY_BUILD_ID) != (identity->id_length > 0);
    take_segments(answer, row);
    if (answer->is_bad || answer->failed)
        *identity = (struct file_identity){0};
    else
        identity->kind = kind;
}

static int read_files(struct identifying *identifying, const int *fds, size_t count,
                      struct text *unread)
{
    const struct sandbox_job job = {
        .work = read_in_sandbox,
        .context = identifying,
        .keep = fds,
        .keep_count = count,
    };
    struct text bytes = {0};
    int signal, result = sandbox_run(&job, &bytes, &signal);
    struct answer answer = {.at = bytes.data, .end = bytes.data + bytes.length, .for_good = true};

    for (size_t i = 0; i < identifying->count && !result; i++)
        if (identifying->files[i].is_read)
            take_identity(&answer, &identifying->files[i]);
    text_free(&bytes);
    if (!result && (answer.is_bad || answer.at != answer.end))
        result = -EBADMSG;
    if (result && !unread->length)
        sandbox_explain(result, signal, unread);
    return answer.failed || unread->failed ? -ENOMEM : 0;
}

int identities_read(struct file_row *files, size_t count, struct text *unread)
{
    struct identifying identifying = {files, count};
    int *fds = calloc(count + 1, sizeof(*fds)), result = 0;

    if (!fds)
        return -ENOMEM;
    /* Those whose server may not answer are read by themselves. */
    for (int served = 0; served < 2 && !result; served++) {
        size_t open = 0;
        for (size_t i = 0; i < count; i++) {
            struct mapped_file *file = files[i].file;
            files[i].is_read = file && file->fd >= 0 && file->is_served == served &&
                               !file->unread && !mapped_file_changed(file);
            if (files[i].is_read)
                fds[open++] = file->fd;
        }
        if (open)
            result = read_files(&identifying, fds, open, unread);
    }
    free(fds);
    return result;
}

/* ---- Files ---- */

static uint64_t hash_of(const struct file_row *row)
{
    return hash_bytes(hash_word(row->kind, (uintptr_t)row->file), row->path, strlen(row->path));
}

/* Returns its number, or a negative errno. */
static int64_t find_or_add(struct tables *tables, const struct file_row *row)
{
    const uint64_t hash = hash_of(row);
    size_t at = 0;
    uint32_t item;

    while (index_next(&tables->file_index, hash, &at, &item)) {
        const struct file_row *found = &tables->files[item];
        if (found->kind == row->kind && found->file == row->file && !strcmp(found->path, row->path))
            return item;
    }
    item = (uint32_t)tables->file_count;
    if (ARRAY_RESERVE(tables->files, tables->file_room, item + 1) ||
        index_add(&tables->file_index, hash, item))
        return -ENOMEM;
    tables->files[tables->file_count++] = *row;
    return item;
}

/* The label identifies code in no file, at any address. */
static int64_t file_of(struct tables *tables, const struct symbol *symbol,
                       const struct process_place *place)
{
    struct file_row row = {.path = ""};

    if (symbol->kernel) {
        row.path = text_string(&symbol->file);
        row.kind = *row.path ? RECORDED_MODULE : RECORDED_KERNEL;
    } else if (place) {
        _Static_assert((int)RECORDED_VDSO == (int)MAPPED_VDSO &&
                       (int)RECORDED_OTHER == (int)MAPPED_OTHER, "the same");
        row.kind = (enum recorded_file)place->kind;
        row.file = row.kind == RECORDED_FILE ? place->file : NULL;
        if (row.kind != RECORDED_NOTHING)
            row.path = row.file ? row.file->path : place->label;
    }
    return find_or_add(tables, &row);
}

/* ---- Where the kernel and its modules begin ---- */

static int take_start(void *context, const struct kallsyms_symbol *symbol)
{
    struct tables *tables = context;
    const struct file_row wanted = {
        .kind = RECORDED_MODULE,
        .path = symbol->module ? symbol->module : "",
    };
    size_t at = 0;
    uint32_t item;

    while (symbol->module && kallsyms_is_function(symbol->type) &&
           index_next(&tables->file_index, hash_of(&wanted), &at, &item)) {
        struct file_row *row = &tables->files[item];
        if (row->kind == RECORDED_MODULE && !strcmp(row->path, symbol->module) &&
            (!row->base || symbol->address < row->base))
            row->base = symbol->address;
    }
    return 0;
}

/* File 0 is the kernel, even if no symbol is in it. */
static int find_starts(struct tables *tables)
{
    const int kallsyms = tables->source->kallsyms;
    struct file_row *kernel = &tables->files[0];

    if (kallsyms < 0)
        return 0;
    const struct kernel_bounds bounds = kernel_bounds_find(kallsyms);
    kernel->base = bounds.start;
    kernel->size = bounds.end > bounds.start ? bounds.end - bounds.start : 0;
    for (size_t i = 0; i < tables->file_count; i++)
        if (tables->files[i].kind == RECORDED_MODULE)
            return kallsyms_each(kallsyms, take_start, tables);
    return 0;
}

/* ---- Processes ---- */

uint32_t tables_process(struct tables *tables, uint32_t pid, uint64_t generation, bool foreign)
{
    const struct process_row row = {generation, pid, foreign};
    uint32_t number = 0;

    if (numbering_find(&tables->processes, &row, sizeof(row), &number, NULL))
        tables->failed = true;
    return number;
}

static void add_task(struct tables *tables, const struct tally_task *task)
{
    (void)tables_process(tables, task->pid, task->generation, task->foreign);
}

static int add_processes(struct tables *tables)
{
    const struct tally *tally = tables->source->tally;

    for (size_t i = 0; i < tally->count && !tables->failed; i++) {
        add_task(tables, &tally->entries[i].task);
        if (tally->entries[i].has_waker)
            add_task(tables, &tally->entries[i].waker);
    }
    return tables->failed ? -ENOMEM : 0;
}

/* ---- Symbols ---- */

static int compare_spots(const void *left, const void *right)
{
    const struct spot *a = left, *b = right;

    return order_of(a->process, b->process) ?: order_of(a->file, b->file)
        ?: order_of(a->base, b->base) ?: order_of(a->address, b->address)
        ?: order_of(a->is_return, b->is_return);
}

static int add_spot(struct tables *tables, size_t index)
{
    const struct symbol *symbol = &tables->source->symbols->items[index];
    const struct process_place *places = tables->source->places;
    const struct process_place *place = places ? &places[index] : NULL;
    const int64_t file = file_of(tables, symbol, place);
    struct spot *spot = &tables->spots[index];

    if (file < 0)
        return (int)file;
    *spot = (struct spot){
        .symbol = (uint32_t)index,
        .file = (uint32_t)file,
        .address = symbol->address,
        .is_return = symbol->is_return,
    };
    if (symbol->kernel)
        return 0;
    spot->process = tables_process(tables, symbol->pid, symbol->generation, symbol->foreign) + 1;
    if (tables->files[file].kind != RECORDED_NOTHING)
        spot->base = symbol_lookup_address(symbol) - place->address;
    return 0;
}

static int add_symbols(struct tables *tables)
{
    const size_t count = tables->source->symbols->count;
    int result = 0;

    tables->spots = calloc(count + 1, sizeof(*tables->spots));
    tables->numbers = calloc(count + 1, sizeof(*tables->numbers));
    if (!tables->spots || !tables->numbers)
        return -ENOMEM;
    for (size_t i = 0; i < count && !result; i++)
        result = add_spot(tables, i);
    return result;
}

static void number_symbols(struct tables *tables)
{
    const size_t count = tables->source->symbols->count;

    for (size_t i = 0; i < count; i++)
        if (!tables->spots[i].process)
            tables->spots[i].base = tables->files[tables->spots[i].file].base;
    if (count)
        qsort(tables->spots, count, sizeof(*tables->spots), compare_spots);
    for (size_t i = 0; i < count; i++)
        tables->numbers[tables->spots[i].symbol] = (uint32_t)i;
}

int tables_make(struct tables *tables, const struct recording_source *source)
{
    const struct file_row kernel = {.kind = RECORDED_KERNEL, .path = ""};

    *tables = (struct tables){.source = source};
    int result = find_or_add(tables, &kernel) < 0 ? -ENOMEM : add_processes(tables);
    if (!result)
        result = add_symbols(tables);
    if (!result)
        result = find_starts(tables);
    if (!result)
        result = identities_read(tables->files, tables->file_count, &source->notes->unidentified);
    if (!result)
        number_symbols(tables);
    return result;
}

void tables_free(struct tables *tables)
{
    for (size_t i = 0; i < tables->file_count; i++)
        free(tables->files[i].segments);
    free(tables->files);
    free(tables->spots);
    free(tables->numbers);
    index_free(&tables->file_index);
    numbering_free(&tables->processes);
}
