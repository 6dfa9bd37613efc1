/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "recording/write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/checksum.h"
#include "base/index.h"
#include "recording/format.h"
#include "recording/tables.h"
#include "symbolize/mappings.h"

struct writing {
    const struct recording_source *source;
    struct tables tables;
    struct numbering strings; /* from 1 in the file, where 0 is the empty one */
    bool failed;
    struct text sections[SECTIONS];
};

/* A string's number; NULL has the empty one's. */
static uint32_t string_number(struct writing *writing, const char *string)
{
    uint32_t number;

    if (!string || !*string)
        return 0;
    if (!numbering_find(&writing->strings, string, strlen(string), &number, NULL))
        return number + 1;
    writing->failed = true;
    return 0;
}

static void put_string(struct writing *writing, struct text *to, const char *string)
{
    text_add_varint(to, string_number(writing, string));
}

static void put_strings(struct writing *writing)
{
    struct text *to = &writing->sections[SECTION_STRINGS];
    size_t length;

    text_add_varint(to, writing->strings.count);
    for (uint32_t i = 0; i < writing->strings.count && !writing->failed; i++) {
        const char *string = numbering_key(&writing->strings, i, &length);
        text_add_varint(to, length);
        text_append(to, string, length);
    }
}

/* ---- The run ---- */

static uint64_t flags_of(const struct recording_source *source)
{
    uint64_t flags = (source->readable ? 0 : RUN_RAW_NAMES) |
                     (source->readable && source->readable->shorten ? RUN_SHORTEN : 0) |
                     (source->notes->kernel_hidden ? RUN_KERNEL_HIDDEN : 0) |
                     (source->waiting ? RUN_WAITS : 0);

    for (size_t i = 0; i < COUNT_OF(recorded_options); i++)
        if (*recorded_option(source->options, i))
            flags |= recorded_options[i].flag;
    return flags;
}

static void put_about(struct writing *writing, struct text *to)
{
    const struct report_about *about = writing->source->options->about;
    struct utsname system = {0};

    uname(&system);
    put_string(writing, to, STACKBOX_VERSION);
    put_string(writing, to, about->applet);
    put_string(writing, to, about->command_line);
    put_string(writing, to, about->host);
    put_string(writing, to, about->kernel);
    put_string(writing, to, system.machine);
    put_string(writing, to, writing->source->program);
    text_add_varint(to, about->began);
    text_add_varint(to, about->ended);
    text_add_varint(to, about->events);
    put_string(writing, to, about->losses);
    put_string(writing, to, writing->source->notes->refused_map.data);
}

static void put_run(struct writing *writing)
{
    const struct recording_source *source = writing->source;
    const struct report_options *options = source->options;
    const struct recording_account *account = &source->account;
    const uint64_t kernel = writing->tables.files[0].base;
    struct text *to = &writing->sections[SECTION_RUN];

    text_add_varint(to, flags_of(source));
    put_about(writing, to);
    text_add_varint(to, (uint64_t)source->when->tm_hour);
    text_add_varint(to, (uint64_t)source->when->tm_min);
    text_add_varint(to, (uint64_t)source->when->tm_sec);
    text_add_varint(to, options->layout);
    text_add_varint(to, options->unit);
    text_add_varint(to, options->by);
    text_add_varint(to, source->top);
    text_add_varint(to, options->functions);
    put_string(writing, to, options->measure.events);
    put_string(writing, to, options->measure.value);
    put_string(writing, to, options->measure.unit);
    text_add_varint(to, options->measure.per_event);
    text_add_varint(to, account->seen);
    text_add_varint(to, account->counted);
    text_add_varint(to, account->filtered);
    text_add_varint(to, account->lost);
    for (size_t i = 0; i < 2 && source->waiting; i++) {
        text_add_varint(to, zigzag(source->waiting->starts[i] - kernel));
        text_add_varint(to, zigzag(source->waiting->ends[i] - kernel));
    }
}

/* ---- Files ---- */

static unsigned digit_of(char digit)
{
    return (unsigned)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

/* The kernel tells its build ids directly, without a file to parse. */
static void read_kernel_id(struct file_row *row)
{
    struct file_identity *identity = &row->identity;
    char digits[2 * ELF_LONGEST_BUILD_ID + 1];

    kernel_build_id(row->kind == RECORDED_MODULE ? row->path : NULL, digits);
    for (const char *at = digits; at[0] && at[1]; at += 2)
        identity->id[identity->id_length++] =
            (unsigned char)(digit_of(at[0]) << 4 | digit_of(at[1]));
    identity->kind = identity->id_length ? IDENTITY_BUILD_ID : IDENTITY_UNKNOWN;
}

static void put_identity(const struct file_identity *identity, bool is_changed, struct text *to)
{
    text_add_varint(to, is_changed ? RECORDED_CHANGED : identity->kind);
    if (is_changed)
        return;
    if (identity->kind == IDENTITY_BUILD_ID) {
        text_add_varint(to, identity->id_length);
        text_append(to, (const char *)identity->id, identity->id_length);
    } else if (identity->kind == IDENTITY_HASH) {
        text_add_varint(to, identity->size);
        text_add_varint(to, identity->hash);
    }
}

static void put_file(struct writing *writing, size_t index, struct text *to)
{
    struct file_row *row = &writing->tables.files[index];
    const bool is_kernels = row->kind == RECORDED_KERNEL || row->kind == RECORDED_MODULE;

    text_add_varint(to, row->kind);
    put_string(writing, to, row->path);
    if (is_kernels) {
        read_kernel_id(row);
        text_add_varint(to, row->base);
        text_add_varint(to, row->size);
    }
    if (!is_kernels && row->kind != RECORDED_FILE)
        return;
    put_identity(&row->identity, row->file && mapped_file_changed(row->file), to);
    if (is_kernels)
        return;
    text_add_varint(to, row->segment_count);
    for (size_t i = 0; i < row->segment_count; i++) {
        const struct elf_segment *segment = &row->segments[i];
        text_add_varint(to, segment->offset);
        text_add_varint(to, segment->file_size);
        text_add_varint(to, segment->address);
        text_add_varint(to, segment->memory_size);
        text_add_varint(to, segment->flags);
    }
}

static void put_files(struct writing *writing)
{
    struct text *to = &writing->sections[SECTION_FILES];

    text_add_varint(to, writing->tables.file_count);
    for (size_t i = 0; i < writing->tables.file_count; i++)
        put_file(writing, i, to);
}

/* ---- Processes and symbols ---- */

static void put_processes(struct writing *writing)
{
    const struct numbering *processes = &writing->tables.processes;
    const struct process_names *names = writing->source->options->names;
    struct text *to = &writing->sections[SECTION_PROCESSES];
    size_t length;

    text_add_varint(to, processes->count);
    for (uint32_t i = 0; i < processes->count; i++) {
        const struct process_row *row = (const void *)numbering_key(processes, i, &length);
        const struct tally_task task = {
            .pid = row->pid, .foreign = row->foreign, .generation = row->generation};
        const char *name = names ? process_names_find(names, &task) : "";
        text_add_varint(to, row->pid);
        text_add_varint(to, (row->foreign ? PROCESS_FOREIGN : 0) | (*name ? PROCESS_NAMED : 0));
        if (*name)
            put_string(writing, to, name);
    }
}

/* The name as in its table; NULL for one from a file, where the reader looks it up again. */
static const char *name_of(const struct writing *writing, const struct spot *spot)
{
    const struct symbol *symbol = &writing->source->symbols->items[spot->symbol];
    const enum recorded_file kind = writing->tables.files[spot->file].kind;

    if (kind == RECORDED_FILE || !symbol->function.length ||
        (kind == RECORDED_NOTHING && !symbol->jitted))
        return NULL;
    return symbol->raw.length ? symbol->raw.data : symbol->function.data;
}

static void put_symbol(struct writing *writing, const struct spot *spot, uint64_t *last,
                       struct text *to)
{
    const uint64_t at = spot->address - spot->base;
    const uint32_t name = string_number(writing, name_of(writing, spot));

    text_add_varint(to, zigzag(at - *last));
    text_add_varint(to, (uint64_t)name << 1 | spot->is_return);
    if (name)
        text_add_varint(to, writing->source->symbols->items[spot->symbol].offset);
    *last = at;
}

static void put_symbols(struct writing *writing)
{
    const struct spot *spots = writing->tables.spots;
    const size_t count = writing->source->symbols->count;
    struct text *to = &writing->sections[SECTION_SYMBOLS];
    size_t groups = 0, end;

    for (size_t i = 0; i < count; i++)
        groups += !i || !spots_are_one_group(&spots[i - 1], &spots[i]);
    text_add_varint(to, groups);
    for (size_t start = 0; start < count; start = end) {
        uint64_t last = 0;
        for (end = start + 1; end < count && spots_are_one_group(&spots[start], &spots[end]); end++)
            ;
        text_add_varint(to, spots[start].process);
        text_add_varint(to, spots[start].file);
        text_add_varint(to, spots[start].base);
        text_add_varint(to, end - start);
        for (size_t i = start; i < end; i++)
            put_symbol(writing, &spots[i], &last, to);
    }
}

/* ---- Entries ---- */

static void put_stack(const struct writing *writing, const struct stack *stack,
                      const uint32_t **frames, struct text *to)
{
    text_add_varint(to, (uint64_t)stack->count << 2 | stack->state);
    for (uint32_t i = 0; i < stack->count; i++)
        text_add_varint(to, writing->tables.numbers[(*frames)[i]]);
    *frames += stack->count;
}

static void put_task(struct writing *writing, const struct tally_task *task,
                     const uint32_t **frames, struct text *to)
{
    text_add_varint(to, tables_process(&writing->tables, task->pid, task->generation,
                                       task->foreign));
    text_add_varint(to, task->tid);
    text_add_varint(to, task->interrupt);
    put_string(writing, to, task->comm);
    put_stack(writing, &task->kernel, frames, to);
    put_stack(writing, &task->user, frames, to);
}

static void put_entries(struct writing *writing)
{
    const struct tally *tally = writing->source->tally;
    const struct symbols *symbols = writing->source->symbols;
    struct text *to = &writing->sections[SECTION_ENTRIES];

    text_add_varint(to, tally->count);
    for (size_t i = 0; i < tally->count; i++) {
        const struct tally_entry *entry = &tally->entries[i];
        const uint32_t *frames = symbols->frames + symbols->first[i];
        text_add_varint(to, ENTRY_MARK(entry->mark) | (entry->has_waker ? ENTRY_HAS_WAKER : 0));
        text_add_varint(to, entry->value);
        text_add_varint(to, entry->events);
        text_add_varint(to, entry->longest);
        put_task(writing, &entry->task, &frames, to);
        if (entry->has_waker)
            put_task(writing, &entry->waker, &frames, to);
    }
}

/* ---- All ---- */

void recording_locate(void *context, const struct symbol *symbol, const struct process_place *place)
{
    struct recording_places *places = context;

    if (!places->items)
        places->items = calloc(places->symbols->count, sizeof(*places->items));
    if (places->items)
        places->items[symbol - places->symbols->items] = *place;
    else
        places->failed = true;
}

static bool make_sections(struct writing *writing)
{
    put_run(writing);
    put_files(writing);
    put_processes(writing);
    put_symbols(writing);
    put_entries(writing);
    put_strings(writing);
    for (size_t i = 0; i < SECTIONS; i++)
        writing->failed = writing->failed || writing->sections[i].failed;
    return !writing->failed;
}

static void write_piece(FILE *out, struct crc32 *crc, const struct text *piece)
{
    crc32_add(crc, (const unsigned char *)piece->data, piece->length);
    fwrite(piece->data, 1, piece->length, out);
}

static int write_sections(FILE *out, const struct writing *writing)
{
    struct crc32 crc;
    struct text head = {0};

    crc32_begin(&crc);
    text_append(&head, RECORDING_MAGIC, RECORDING_MAGIC_BYTES);
    text_add_varint(&head, RECORDING_VERSION);
    for (unsigned i = SECTION_STRINGS; i < SECTIONS && !head.failed; i++) {
        text_add_varint(&head, i);
        text_add_varint(&head, writing->sections[i].length);
        write_piece(out, &crc, &head);
        write_piece(out, &crc, &writing->sections[i]);
        text_clear(&head);
    }
    text_add_varint(&head, SECTION_END);
    text_add_varint(&head, 4);
    const bool failed = head.failed;
    if (!failed)
        write_piece(out, &crc, &head);
    const uint32_t value = crc32_value(&crc);
    for (unsigned i = 0; i < 4; i++)
        fputc((int)(value >> (8 * i) & 0xff), out);
    text_free(&head);
    return failed ? -ENOMEM : 0;
}

int recording_write(FILE *out, const struct recording_source *source)
{
    struct writing writing = {.source = source};
    int result = tables_make(&writing.tables, source);

    if (!result)
        result = make_sections(&writing) ? write_sections(out, &writing) : -ENOMEM;
    tables_free(&writing.tables);
    numbering_free(&writing.strings);
    for (size_t i = 0; i < SECTIONS; i++)
        text_free(&writing.sections[i]);
    return result;
}
