/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "recording/part.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* ---- Strings ---- */

void part_take_strings(struct reader *reader, struct recording_part *part)
{
    const size_t count = reader_count(reader, 1);
    /* Each has a length of at least one byte, which makes room for its NUL. */
    char *to = part->pool = reader_room(reader, (size_t)(reader->end - reader->at), 1);

    part->strings = reader_room(reader, count + 1, sizeof(*part->strings));
    for (size_t i = 0; i < count && reader_goes_on(reader); i++) {
        const size_t length = reader_count(reader, 1);
        const unsigned char *bytes = reader_bytes(reader, length);
        if (!bytes || memchr(bytes, '\0', length)) {
            reader->is_bad = true;
            return;
        }
        memcpy(to, bytes, length);
        part->strings[i + 1] = to;
        to += length + 1;
    }
    if (!reader_goes_on(reader))
        return;
    part->strings[0] = "";
    reader->strings = part->strings;
    reader->string_count = count;
}

void part_take_comm(struct reader *reader, char comm[COMM_BYTES + 1])
{
    const char *name = reader_string(reader);
    const size_t length = strlen(name);

    reader->is_bad = reader->is_bad || length > COMM_BYTES;
    if (!reader->is_bad)
        memcpy(comm, name, length + 1);
}

/* ---- Files ---- */

static void take_id(struct reader *reader, struct recorded_row *row)
{
    static const char digits[] = "0123456789abcdef";
    struct file_identity *identity = &row->identity;
    const size_t length = (size_t)reader_number_to(reader, sizeof(identity->id));
    const unsigned char *bytes = reader_bytes(reader, length);

    reader->is_bad = reader->is_bad || !length;
    if (!bytes)
        return;
    memcpy(identity->id, bytes, length);
    identity->id_length = length;
    for (size_t i = 0; i < length; i++) {
        row->build_id[2 * i] = digits[bytes[i] >> 4];
        row->build_id[2 * i + 1] = digits[bytes[i] & 15];
    }
}

static void take_identity(struct reader *reader, struct recorded_row *row)
{
    const uint64_t kind = reader_number_to(reader, RECORDED_CHANGED);

    reader->is_bad = reader->is_bad || kind == 3;
    row->mapped.is_changed = kind == RECORDED_CHANGED;
    row->identity.kind = row->mapped.is_changed ? IDENTITY_UNKNOWN : (unsigned)kind;
    if (kind == IDENTITY_BUILD_ID) {
        take_id(reader, row);
    } else if (kind == IDENTITY_HASH) {
        row->identity.size = reader_number(reader);
        row->identity.hash = reader_number(reader);
    }
}

static void take_segments(struct reader *reader, struct mapped_file *file)
{
    const size_t count = reader_count(reader, 5);

    file->segments = reader_room(reader, count, sizeof(*file->segments));
    for (size_t i = 0; i < count && file->segments; i++) {
        struct elf_segment *segment = &file->segments[i];
        segment->offset = reader_number(reader);
        segment->file_size = reader_number(reader);
        segment->address = reader_number(reader);
        segment->memory_size = reader_number(reader);
        segment->flags = (uint32_t)reader_number_to(reader, UINT32_MAX);
    }
    file->segment_count = file->segments ? count : 0;
    file->has_segments = true;
}

/* Each symbol has a copy of it: so no more than a file's name may have, and " (deleted)". */
static const char *shown_end(const char *label)
{
    const size_t length = strlen(label), most = NAME_MAX + 10;

    return length > most ? label + length - most : label;
}

/* A vDSO is not this machine's: its recorded addresses have their names. */
static void take_file(struct reader *reader, struct recorded_row *row)
{
    static const enum mapped_kind kinds[RECORDED_FILES] = {
        [RECORDED_FILE] = MAPPED_FILE, [RECORDED_VDSO] = MAPPED_OTHER, [RECORDED_ANONYMOUS] = MAPPED_ANONYMOUS,
        [RECORDED_OTHER] = MAPPED_OTHER,
    };
    struct mapped_file *file = &row->mapped;

    row->kind = (enum recorded_file)reader_number_to(reader, RECORDED_FILES - 1);
    file->path = reader_string(reader);
    file->label = shown_end(row->kind == RECORDED_FILE ? mapped_label(file->path) : file->path);
    file->kind = kinds[row->kind];
    file->fd = -1;
    file->identity = &row->identity;
    if (row->kind == RECORDED_KERNEL || row->kind == RECORDED_MODULE) {
        row->base = reader_number(reader);
        row->size = reader_number(reader);
        take_identity(reader, row);
    } else if (row->kind == RECORDED_FILE) {
        take_identity(reader, row);
        take_segments(reader, file);
    }
}

void part_take_files(struct reader *reader, struct recording_part *part)
{
    const size_t count = reader_count(reader, 2);

    part->files = reader_room(reader, count, sizeof(*part->files));
    part->file_count = part->files ? count : 0;
    for (size_t i = 0; i < count && reader_goes_on(reader); i++)
        take_file(reader, &part->files[i]);
    /* The first is the kernel. */
    reader->is_bad = reader->is_bad || !count || (part->files && part->files[0].kind != RECORDED_KERNEL);
}

/* ---- Processes ---- */

void part_take_processes(struct reader *reader, struct recording *recording, struct recording_part *part)
{
    const size_t count = reader_count(reader, 2);
    struct process_names *names = &recording->process_names;

    part->processes = reader_room(reader, count, sizeof(*part->processes));
    part->process_count = part->processes ? count : 0;
    for (size_t i = 0; i < count && reader_goes_on(reader); i++) {
        struct recorded_process *process = &part->processes[i];
        process->pid = (uint32_t)reader_number_to(reader, UINT32_MAX);
        const uint64_t flags = reader_number_to(reader, PROCESS_FOREIGN | PROCESS_NAMED);
        process->foreign = flags & PROCESS_FOREIGN;
        process->born = ++recording->process_count;
        if (array_reserve(&names->items, &names->room, names->count + 1, sizeof(*names->items))) {
            reader->failed = true;
            return;
        }
        struct process_name *name = &names->items[names->count++];
        *name = (struct process_name){.pid = process->pid, .foreign = process->foreign, .born = process->born,
                                      .known = flags & PROCESS_NAMED};
        if (name->known)
            part_take_comm(reader, name->comm);
    }
}

/* ---- Symbols ---- */

static bool leads_to_wait(const struct recording_part *part, uint64_t address)
{
    const struct waiting_text *waiting = &part->waiting;
    const uint64_t at = address - part->files[0].base;

    return (at >= waiting->starts[0] && at < waiting->ends[0]) ||
           (at >= waiting->starts[1] && at < waiting->ends[1]);
}

static void take_name(struct reader *reader, struct recording *recording, const struct recorded_group *group,
                      struct symbol *symbol, uint64_t number)
{
    const struct symbolize_wishes wishes = {.readable = recording->raw_names ? NULL : &recording->names};

    if (number > reader->string_count || group->row->kind == RECORDED_FILE) {
        reader->is_bad = true;
        return;
    }
    symbol->offset = reader_number(reader);
    symbol->jitted = group->row->kind == RECORDED_ANONYMOUS || group->row->kind == RECORDED_NOTHING;
    if (!*reader->strings[number])
        return;
    if (recording->name_bytes >= RECORDING_MOST_NAME_BYTES) {
        recording->names_left_out++;
        return;
    }
    if (symbol_set_function(symbol, reader->strings[number], &wishes))
        reader->failed = true;
    recording->name_bytes += symbol->function.length + symbol->raw.length;
}

static void take_symbol(struct reader *reader, struct recording *recording, struct recording_part *part,
                        const struct recorded_group *group, const struct recorded_process *process, uint64_t *last)
{
    struct symbols *symbols = &recording->symbols;

    if (array_reserve(&symbols->items, &recording->symbol_room, symbols->count + 1, sizeof(*symbols->items)) ||
        array_reserve(&recording->groups, &recording->group_room, symbols->count + 1,
                      sizeof(*recording->groups))) {
        reader->failed = true;
        return;
    }
    recording->groups[symbols->count] = group;
    struct symbol *symbol = &symbols->items[symbols->count++];
    *last += unzigzag(reader_number(reader));
    const uint64_t name = reader_number(reader);
    *symbol = (struct symbol){
        .kernel = !process,
        .pid = process ? process->pid : 0,
        .born = process ? process->born : 0,
        .foreign = process && process->foreign,
        .is_return = name & 1,
        .address = *last + group->base,
    };
    if (!process) {
        text_add(&symbol->file, group->row->mapped.label);
        symbol->waits = leads_to_wait(part, symbol->address);
    }
    if (name >> 1)
        take_name(reader, recording, group, symbol, name >> 1);
    reader->failed = reader->failed || symbol->file.failed;
    part->symbol_count++;
}

void part_take_symbols(struct reader *reader, struct recording *recording, struct recording_part *part)
{
    const size_t count = reader_count(reader, 4);

    part->first_symbol = recording->symbols.count;
    part->groups = reader_room(reader, count, sizeof(*part->groups));
    for (size_t i = 0; i < count && reader_goes_on(reader); i++) {
        struct recorded_group *group = &part->groups[i];
        const size_t process = (size_t)reader_number_to(reader, part->process_count);
        group->row = &part->files[reader_number_to(reader, part->file_count - 1)];
        group->base = reader_number(reader);
        const bool is_kernels = group->row->kind == RECORDED_KERNEL || group->row->kind == RECORDED_MODULE;
        reader->is_bad = reader->is_bad || is_kernels != !process;
        const size_t symbols = reader_count(reader, 2);
        uint64_t last = 0;
        for (size_t at = 0; at < symbols && reader_goes_on(reader); at++)
            take_symbol(reader, recording, part, group, process ? &part->processes[process - 1] : NULL, &last);
    }
}

/* ---- For naming ---- */

static void tell_place(void *context, const struct symbol *symbol, struct process_place *place)
{
    const struct recording *recording = context;
    const struct recorded_group *group = recording->groups[symbol - recording->symbols.items];
    const struct mapped_file *file = &group->row->mapped;

    *place = (struct process_place){
        .kind = file->kind,
        /* Naming only reads numbers, which are there already. */
        .file = (struct mapped_file *)(uintptr_t)file,
        .address = symbol_lookup_address(symbol) - group->base,
        .label = file->label,
    };
}

static const char *tell_build_id(void *context, const char *module)
{
    const struct recording *recording = context;

    for (const struct recording_part *part = recording->parts; part; part = part->next)
        for (size_t i = 0; i < part->file_count; i++) {
            const struct recorded_row *row = &part->files[i];
            if (module ? row->kind == RECORDED_MODULE && !strcmp(row->mapped.path, module)
                       : row->kind == RECORDED_KERNEL)
                return row->build_id;
        }
    return "";
}

struct recorded recording_source(struct recording *recording)
{
    const struct recorded_row *kernel = recording->parts ? recording->parts->files : NULL;

    return (struct recorded){
        .context = recording,
        .place = tell_place,
        .build_id = tell_build_id,
        .kernel_start = kernel ? kernel->base : 0,
        .kernel_end = kernel ? kernel->base + kernel->size : 0,
    };
}

void parts_free(struct recording_part *parts)
{
    while (parts) {
        struct recording_part *next = parts->next;
        for (size_t i = 0; i < parts->file_count; i++)
            free(parts->files[i].mapped.segments);
        free(parts->pool);
        free(parts->strings);
        free(parts->files);
        free(parts->processes);
        free(parts->groups);
        for (size_t i = 0; i < RECORDED_WORDS; i++)
            text_free(&parts->words[i]);
        free(parts);
        parts = next;
    }
}
