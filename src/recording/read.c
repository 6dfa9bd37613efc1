/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "recording/read.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/text.h"
#include "base/util.h"
#include "elf/debug_files.h"
#include "recording/format.h"

/* Once is_bad or failed is set, all further reads return 0. */
struct reader {
    const unsigned char *at, *end; /* of the section */
    const char *const *strings; /* numbered from 0, which is "" */
    size_t string_count;
    struct recording *recording;
    struct recording_part *part;
    bool is_bad; /* no writer writes such bytes */
    bool failed; /* memory ran out */
};

static inline bool reader_goes_on(const struct reader *reader)
{
    return !reader->is_bad && !reader->failed;
}

struct recorded_row {
    enum recorded_file kind;
    struct mapped_file mapped; /* for a process's; `path` also for the kernel's: a module's name */
    struct file_identity identity;
    char build_id[2 * ELF_LONGEST_BUILD_ID + 1];
    uint64_t base, size;
};

struct recorded_group {
    const struct recorded_row *row;
    uint64_t base;
};

struct recorded_process {
    uint32_t pid;
    bool foreign;
    uint64_t generation; /* a serial number, so that all processes read differ */
};

/* The applet's name, and what was measured. */
enum { RECORDED_WORDS = 4 };

struct recording_part {
    struct recording_part *next;
    char *pool;
    const char **strings;
    struct recorded_row *files;
    size_t file_count;
    struct recorded_process *processes;
    size_t process_count;
    struct recorded_group *groups;
    size_t first_symbol, symbol_count;
    struct text words[RECORDED_WORDS]; /* printed as they are: escaped */
    struct waiting_text waiting; /* from the kernel's start on */
};

static void refuse_if(struct reader *reader, bool is_bad)
{
    reader->is_bad = reader->is_bad || is_bad;
}

static uint64_t reader_number(struct reader *reader)
{
    uint64_t number = 0;
    unsigned byte = 0x80;

    for (unsigned shift = 0; byte & 0x80; shift += 7) {
        if (!reader_goes_on(reader) || reader->at == reader->end || shift > 63) {
            reader->is_bad = reader->is_bad || !reader->failed;
            return 0;
        }
        byte = *reader->at++;
        number |= (uint64_t)(byte & 0x7f) << shift;
    }
    return number;
}

/* A number up to `most`. */
static uint64_t reader_number_to(struct reader *reader, uint64_t most)
{
    const uint64_t number = reader_number(reader);

    refuse_if(reader, number > most);
    return number > most ? 0 : number;
}

/* How many items follow, each at least that many bytes long. */
static size_t reader_count(struct reader *reader, size_t least_bytes)
{
    const uint64_t count = reader_number(reader);

    /* Compares with the bytes after the number itself. */
    refuse_if(reader, count > (uint64_t)(reader->end - reader->at) / least_bytes);
    return reader->is_bad ? 0 : (size_t)count;
}

static const unsigned char *reader_bytes(struct reader *reader, size_t size)
{
    const unsigned char *at = reader->at;

    if (!reader_goes_on(reader) || size > (size_t)(reader->end - at)) {
        reader->is_bad = reader->is_bad || !reader->failed;
        return NULL;
    }
    reader->at += size;
    return at;
}

static const char *reader_string(struct reader *reader)
{
    return reader->strings[reader_number_to(reader, reader->string_count)];
}

/* Zeroed memory for that many, or NULL: nothing more is read then. */
static void *reader_room(struct reader *reader, size_t count, size_t size)
{
    void *room = reader_goes_on(reader) ? calloc(count + 1, size) : NULL;

    reader->failed = reader->failed || (!room && !reader->is_bad);
    return room;
}

/* ---- Strings ---- */

static void take_strings(struct reader *reader)
{
    struct recording_part *part = reader->part;
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

static void take_comm(struct reader *reader, char comm[COMM_BYTES + 1])
{
    const char *name = reader_string(reader);
    const size_t length = strlen(name);

    refuse_if(reader, length > COMM_BYTES);
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

    refuse_if(reader, !length);
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

    refuse_if(reader, kind == 3);
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

/* Each symbol copies the label: so it is limited to a file's name with " (deleted)". */
static const char *shown_end(const char *label)
{
    const size_t length = strlen(label), most = NAME_MAX + 10;

    return length > most ? label + length - most : label;
}

/* A recorded vDSO is not this machine's: the recording has names for its addresses. */
static void take_file(struct reader *reader, struct recorded_row *row)
{
    static const enum mapped_kind kinds[RECORDED_FILES] = {
        [RECORDED_FILE] = MAPPED_FILE, [RECORDED_VDSO] = MAPPED_OTHER, [RECORDED_ANONYMOUS] =
            MAPPED_ANONYMOUS,
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

static void take_files(struct reader *reader)
{
    struct recording_part *part = reader->part;
    const size_t count = reader_count(reader, 2);

    part->files = reader_room(reader, count, sizeof(*part->files));
    part->file_count = part->files ? count : 0;
    for (size_t i = 0; i < count && reader_goes_on(reader); i++)
        take_file(reader, &part->files[i]);
    /* The first is the kernel. */
    refuse_if(reader, !count || (part->files && part->files[0].kind != RECORDED_KERNEL));
}

/* ---- Processes ---- */

static void take_processes(struct reader *reader)
{
    struct recording_part *part = reader->part;
    struct process_names *names = &reader->recording->process_names;
    const size_t count = reader_count(reader, 2);

    part->processes = reader_room(reader, count, sizeof(*part->processes));
    part->process_count = part->processes ? count : 0;
    for (size_t i = 0; i < count && reader_goes_on(reader); i++) {
        struct recorded_process *process = &part->processes[i];
        process->pid = (uint32_t)reader_number_to(reader, UINT32_MAX);
        const uint64_t flags = reader_number_to(reader, PROCESS_FOREIGN | PROCESS_NAMED);
        process->foreign = flags & PROCESS_FOREIGN;
        process->generation = ++reader->recording->process_count;
        if (ARRAY_RESERVE(names->items, names->room, names->count + 1)) {
            reader->failed = true;
            return;
        }
        struct process_name *name = &names->items[names->count++];
        *name = (struct process_name){
            .pid = process->pid,
            .foreign = process->foreign,
            .generation = process->generation,
            .known = flags & PROCESS_NAMED,
        };
        if (name->known)
            take_comm(reader, name->comm);
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

static void take_name(struct reader *reader, const struct recorded_group *group,
                      struct symbol *symbol, uint64_t number)
{
    struct recording *recording = reader->recording;
    const struct symbolize_options config = {
        .readable = recording->raw_names ? NULL : &recording->names,
    };

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
    if (symbol_set_function(symbol, reader->strings[number], &config))
        reader->failed = true;
    recording->name_bytes += symbol->function.length + symbol->raw.length;
}

static void take_symbol(struct reader *reader, const struct recorded_group *group,
                        const struct recorded_process *process, uint64_t *last)
{
    struct recording *recording = reader->recording;
    struct symbols *symbols = &recording->symbols;

    if (ARRAY_RESERVE(symbols->items, recording->symbol_room, symbols->count + 1) ||
        ARRAY_RESERVE(recording->groups, recording->group_room, symbols->count + 1)) {
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
        .generation = process ? process->generation : 0,
        .foreign = process && process->foreign,
        .is_return = name & 1,
        .address = *last + group->base,
    };
    if (!process) {
        text_add(&symbol->file, group->row->mapped.label);
        symbol->waits = leads_to_wait(reader->part, symbol->address);
    }
    if (name >> 1)
        take_name(reader, group, symbol, name >> 1);
    reader->failed = reader->failed || symbol->file.failed;
    reader->part->symbol_count++;
}

static void take_symbols(struct reader *reader)
{
    struct recording_part *part = reader->part;
    const size_t count = reader_count(reader, 4);

    part->first_symbol = reader->recording->symbols.count;
    part->groups = reader_room(reader, count, sizeof(*part->groups));
    for (size_t i = 0; i < count && reader_goes_on(reader); i++) {
        struct recorded_group *group = &part->groups[i];
        const size_t process = (size_t)reader_number_to(reader, part->process_count);
        group->row = &part->files[reader_number_to(reader, part->file_count - 1)];
        group->base = reader_number(reader);
        const bool is_kernels = group->row->kind == RECORDED_KERNEL ||
            group->row->kind == RECORDED_MODULE;
        refuse_if(reader, is_kernels != !process);
        const size_t symbols = reader_count(reader, 2);
        uint64_t last = 0;
        for (size_t at = 0; at < symbols && reader_goes_on(reader); at++)
            take_symbol(reader, group, process ? &part->processes[process - 1] : NULL, &last);
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

static void parts_free(struct recording_part *parts)
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

/* ---- The run ---- */

static void take_flags(struct recording *recording, uint64_t flags)
{
    for (size_t i = 0; i < COUNT_OF(recorded_options); i++)
        *recorded_option(&recording->options, i) = flags & recorded_options[i].flag;
    recording->raw_names = recording->raw_names || (flags & RUN_RAW_NAMES);
    recording->names.shorten = recording->names.shorten || (flags & RUN_SHORTEN);
    recording->kernel_hidden = recording->kernel_hidden || (flags & RUN_KERNEL_HIDDEN);
}

/* With several recordings, each has its own lines, with its path. */
static void add_losses(struct recording *recording, const char *lines)
{
    const char *line;

    for (size_t length; (line = next_line(&lines, &length));) {
        if (recording->path)
            text_format(&recording->losses, "%s: ", recording->path);
        text_append(&recording->losses, line, length);
        text_add(&recording->losses, "\n");
    }
}

static const char *take_word(struct reader *reader, struct text *word)
{
    const char *raw = reader_string(reader);

    escape_bytes(word, raw, strlen(raw));
    reader->failed = reader->failed || word->failed;
    return word->length ? word->data : NULL;
}

/* Of several recordings, describes the first, from the first beginning to the last end. */
static void take_about(struct reader *reader)
{
    struct recording *recording = reader->recording;
    const char *version = reader_string(reader);
    const char *applet = take_word(reader, &reader->part->words[0]);
    struct report_about about = {.applet = applet ? applet : ""};
    struct report_about *kept = &recording->about;

    about.command_line = reader_string(reader);
    about.host = reader_string(reader);
    about.kernel = reader_string(reader);
    const char *machine = reader_string(reader), *program = reader_string(reader);
    about.began = reader_number(reader);
    about.ended = reader_number(reader);
    about.events = reader_number(reader);
    about.losses = "";
    add_losses(recording, reader_string(reader));
    const char *refused = reader_string(reader);
    if (!recording->refused_map.length)
        text_add(&recording->refused_map, refused);
    if (!reader->part->next) {
        *kept = about;
        recording->program = program;
        recording->machine = machine;
        recording->version = version;
        return;
    }
    kept->events += about.events;
    if (kept->began > about.began)
        kept->began = about.began;
    if (kept->ended < about.ended)
        kept->ended = about.ended;
}

static bool same_text(const char *a, const char *b)
{
    return !strcmp(a ? a : "", b ? b : "");
}

/* Can their counts be added up? */
static bool same_kind(const struct report_options *a, const struct report_options *b)
{
    return a->layout == b->layout && a->unit == b->unit && a->pairs == b->pairs &&
           a->measure.per_event == b->measure.per_event &&
               same_text(a->measure.events, b->measure.events) &&
           same_text(a->measure.value, b->measure.value) &&
               same_text(a->measure.unit, b->measure.unit);
}

static void take_measure(struct reader *reader, struct text words[3],
                         struct report_measure *measure)
{
    measure->events = take_word(reader, &words[0]);
    measure->value = take_word(reader, &words[1]);
    measure->unit = take_word(reader, &words[2]);
    measure->per_event = reader_number(reader);
    refuse_if(reader, measure->value && !measure->unit);
}

static void take_account(struct reader *reader, struct recording_account *account)
{
    account->seen += reader_number(reader);
    account->counted += reader_number(reader);
    account->filtered += reader_number(reader);
    account->lost += reader_number(reader);
}

/* -EXDEV if it is of another kind than those before, or 0. */
static int take_run(struct reader *reader)
{
    struct recording *recording = reader->recording;
    struct recording_part *part = reader->part;
    const bool is_first = !part->next;
    const struct report_options before = recording->options;
    const uint64_t flags = reader_number_to(reader, RUN_FLAGS - 1);
    struct report_options *options = &recording->options;

    take_flags(recording, flags);
    take_about(reader);
    recording->when.tm_hour = (int)reader_number_to(reader, 23);
    recording->when.tm_min = (int)reader_number_to(reader, 59);
    recording->when.tm_sec = (int)reader_number_to(reader, 60);
    options->layout = (enum report_layout)reader_number_to(reader, LAYOUT_OFFWAKETIME);
    options->unit = reader_number(reader);
    options->by = recording->by = (enum grouping)reader_number_to(reader, GROUP_BY_NAME);
    const uint64_t top = reader_number(reader);
    if (is_first || !top || (recording->top && top > recording->top))
        recording->top = top; /* what any of them would show */
    options->functions = reader_number(reader);
    take_measure(reader, part->words + 1, &options->measure);
    take_account(reader, &recording->account);
    for (size_t i = 0; i < 2 && flags & RUN_WAITS; i++) {
        part->waiting.starts[i] = unzigzag(reader_number(reader));
        part->waiting.ends[i] = unzigzag(reader_number(reader));
    }
    if (flags & RUN_WAITS && part->waiting.ends[0])
        recording->waiting.ends[0] = recording->waiting.starts[0] = 1; /* symbols have it */
    options->waiting = flags & RUN_WAITS ? &recording->waiting : NULL;
    if (is_first || !reader_goes_on(reader))
        return 0;
    const bool is_same = same_kind(&before, options);
    *options = before;
    return is_same ? 0 : -EXDEV;
}

/* ---- Entries ---- */

static void take_stack(struct reader *reader, bool kernel, struct stack *stack)
{
    struct recording *recording = reader->recording;
    const struct recording_part *part = reader->part;
    struct symbols *symbols = &recording->symbols;
    const uint64_t head = reader_number(reader);
    const size_t count = (size_t)(head >> 2);

    refuse_if(reader, (head & 3) > STACK_FULL || ((head & 3) != STACK_KEPT && count) ||
                          head >> 2 > (uint64_t)(reader->end - reader->at));
    uint64_t *addresses = reader_room(reader, count, sizeof(*addresses));
    if (addresses &&
        ARRAY_RESERVE(symbols->frames, recording->frame_room, recording->frame_count + count))
        reader->failed = true;
    for (size_t i = 0; i < count && reader_goes_on(reader); i++) {
        const size_t symbol = part->first_symbol + (size_t)reader_number_to(reader,
                                                                            part->symbol_count - 1);
        refuse_if(reader, !part->symbol_count || symbols->items[symbol].kernel != kernel);
        if (reader->is_bad)
            break;
        addresses[i] = symbols->items[symbol].address;
        symbols->frames[recording->frame_count++] = (uint32_t)symbol;
    }
    if (reader_goes_on(reader) && tally_add_stack(&recording->tally, stack, addresses, count))
        reader->failed = true;
    stack->state = (enum stack_state)(head & 3);
    free(addresses);
}

static void take_task(struct reader *reader, struct tally_task *task)
{
    const struct recording_part *part = reader->part;
    const size_t process = (size_t)reader_number_to(reader, part->process_count - 1);

    refuse_if(reader, !part->process_count);
    if (!reader_goes_on(reader))
        return;
    task->pid = part->processes[process].pid;
    task->foreign = part->processes[process].foreign;
    task->generation = part->processes[process].generation;
    task->tid = (uint32_t)reader_number_to(reader, UINT32_MAX);
    task->interrupt = (enum interrupt)reader_number_to(reader, INTERRUPTS - 1);
    take_comm(reader, task->comm);
    take_stack(reader, true, &task->kernel);
    take_stack(reader, false, &task->user);
}

static void take_entry(struct reader *reader)
{
    struct recording *recording = reader->recording;
    struct symbols *symbols = &recording->symbols;
    struct tally_entry *entry = tally_add(&recording->tally);

    if (!entry || ARRAY_RESERVE(symbols->first, recording->first_room, recording->tally.count)) {
        reader->failed = true;
        return;
    }
    symbols->first[recording->tally.count - 1] = recording->frame_count;
    const uint64_t flags = reader_number_to(reader, ENTRY_HAS_WAKER | ENTRY_MARK(MARKS - 1));
    entry->mark = (enum tally_mark)((flags & 3) | (flags >> 1 & 4));
    entry->has_waker = flags & ENTRY_HAS_WAKER;
    entry->value = reader_number(reader);
    entry->events = reader_number(reader);
    entry->longest = reader_number(reader);
    take_task(reader, &entry->task);
    if (entry->has_waker)
        take_task(reader, &entry->waker);
}

#define LEAST_ENTRY_BYTES 10

static void take_entries(struct reader *reader)
{
    const size_t count = reader_count(reader, LEAST_ENTRY_BYTES);

    for (size_t i = 0; i < count && reader_goes_on(reader); i++)
        take_entry(reader);
}

/* ---- All ---- */

static int take_section(struct reader *reader, uint64_t section)
{
    switch (section) {
    case SECTION_STRINGS: take_strings(reader); break;
    case SECTION_RUN: return take_run(reader);
    case SECTION_FILES: take_files(reader); break;
    case SECTION_PROCESSES: take_processes(reader); break;
    case SECTION_SYMBOLS: take_symbols(reader); break;
    case SECTION_ENTRIES: take_entries(reader); break;
    default:
        reader->at = reader->end; /* from a later writer */
    }
    return 0;
}

/* Known sections come in order, and each exists. */
static int take_sections(struct reader *reader)
{
    const unsigned char *const end = reader->end;
    uint64_t expected = SECTION_STRINGS;
    int result = 0;

    while (reader->at < end && reader_goes_on(reader) && !result) {
        const uint64_t section = reader_number(reader), length = reader_count(reader, 1);
        refuse_if(reader, !section || (section < SECTIONS && section != expected));
        expected += section == expected;
        reader->end = reader->at + length;
        if (reader_goes_on(reader))
            result = take_section(reader, section);
        refuse_if(reader, reader_goes_on(reader) && !result && reader->at != reader->end);
        reader->end = end;
    }
    if (reader->failed)
        return -ENOMEM;
    return reader->is_bad || (!result && expected != SECTIONS) ? -EBADMSG : result;
}

int recording_take_sections(struct recording *recording, const char *bytes, size_t length)
{
    static const char *const no_strings[] = {""};
    const unsigned char *at = (const unsigned char *)bytes;
    struct reader reader = {
        .at = at,
        .end = at + length,
        .strings = no_strings,
        .recording = recording,
        .part = calloc(1, sizeof(*reader.part)),
    };

    if (!reader.part)
        return -ENOMEM;
    reader.part->next = recording->parts;
    recording->parts = reader.part;
    int result = take_sections(&reader);
    if (!result && (recording->losses.failed || recording->refused_map.failed))
        result = -ENOMEM;
    process_names_sort(&recording->process_names);
    recording->options.about = &recording->about;
    recording->options.names = &recording->process_names;
    recording->about.losses = text_string(&recording->losses);
    return result;
}

/* The last bytes are a checksum of all before. */
static bool is_whole(const unsigned char *bytes, size_t length)
{
    struct crc32 crc;
    uint32_t value = 0;

    if (length < 6 || bytes[length - 6] != SECTION_END || bytes[length - 5] != 4)
        return false;
    for (size_t i = 0; i < 4; i++)
        value |= (uint32_t)bytes[length - 4 + i] << (8 * i);
    crc32_begin(&crc);
    crc32_add(&crc, bytes, length - 4);
    return crc32_value(&crc) == value;
}

bool recording_is_one(const char *bytes, size_t length)
{
    return length >= RECORDING_MAGIC_BYTES && !memcmp(bytes, RECORDING_MAGIC,
                                                      RECORDING_MAGIC_BYTES);
}

int recording_take(struct recording *recording, const char *bytes, size_t length)
{
    const unsigned char *at = (const unsigned char *)bytes;

    if (!recording_is_one(bytes, length))
        return -ENOEXEC;
    struct reader head = {.at = at + RECORDING_MAGIC_BYTES, .end = at + length};
    const uint64_t version = reader_number(&head);
    if (!head.is_bad && version > RECORDING_VERSION)
        return -ENOTSUP;
    if (head.is_bad || !version || !is_whole(at, length) || head.end - head.at < 6)
        return -EBADMSG;
    return recording_take_sections(recording, (const char *)head.at,
                                   (size_t)(head.end - head.at) - 6);
}

void recording_free(struct recording *recording)
{
    parts_free(recording->parts);
    tally_free(&recording->tally);
    symbols_free(&recording->symbols);
    process_names_free(&recording->process_names);
    text_free(&recording->refused_map);
    text_free(&recording->losses);
    free(recording->groups);
}
