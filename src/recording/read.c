/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "recording/read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32.h"
#include "base/escape.h"
#include "base/util.h"
#include "recording/format.h"
#include "recording/part.h"

/* ---- The run ---- */

static void take_flags(struct recording *recording, uint64_t flags)
{
    struct report_options *options = &recording->options;

    options->kernel = flags & RUN_KERNEL;
    options->user = flags & RUN_USER;
    options->delimited = flags & RUN_DELIMITED;
    options->offset = flags & RUN_OFFSET;
    options->verbose = flags & RUN_VERBOSE;
    options->annotations = flags & RUN_ANNOTATIONS;
    options->show_process = flags & RUN_SHOWS_PROCESS;
    options->one_process = flags & RUN_ONE_PROCESS;
    options->timestamp = flags & RUN_TIMESTAMP;
    options->time_as_root = flags & RUN_TIME_AS_ROOT;
    options->pairs = flags & RUN_PAIRS;
    recording->raw_names = recording->raw_names || (flags & RUN_RAW_NAMES);
    recording->names.shorten = recording->names.shorten || (flags & RUN_SHORTEN);
    recording->kernel_hidden = recording->kernel_hidden || (flags & RUN_KERNEL_HIDDEN);
}

/* Of several recordings each has its own lines, with its path. */
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

/* Of several recordings the first is described, from the first beginning to the last end. */
static void take_about(struct reader *reader, struct recording *recording, struct recording_part *part)
{
    const bool is_first = !part->next;
    const char *version = reader_string(reader), *applet = take_word(reader, &part->words[0]);
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
    if (is_first) {
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
           a->measure.per_event == b->measure.per_event && same_text(a->measure.events, b->measure.events) &&
           same_text(a->measure.value, b->measure.value) && same_text(a->measure.unit, b->measure.unit);
}

static void take_measure(struct reader *reader, struct text words[3], struct report_measure *measure)
{
    measure->events = take_word(reader, &words[0]);
    measure->value = take_word(reader, &words[1]);
    measure->unit = take_word(reader, &words[2]);
    measure->per_event = reader_number(reader);
    reader->is_bad = reader->is_bad || (measure->value && !measure->unit);
}

static void take_account(struct reader *reader, struct recording_account *account)
{
    account->seen += reader_number(reader);
    account->counted += reader_number(reader);
    account->filtered += reader_number(reader);
    account->lost += reader_number(reader);
}

/* -EXDEV if it is of another kind than those before, or 0. */
static int take_run(struct reader *reader, struct recording *recording, struct recording_part *part)
{
    const bool is_first = !part->next;
    const struct report_options before = recording->options;
    const uint64_t flags = reader_number_to(reader, RUN_FLAGS - 1);
    struct report_options *options = &recording->options;

    take_flags(recording, flags);
    take_about(reader, recording, part);
    recording->when.tm_hour = (int)reader_number_to(reader, 23);
    recording->when.tm_min = (int)reader_number_to(reader, 59);
    recording->when.tm_sec = (int)reader_number_to(reader, 60);
    options->layout = (enum report_layout)reader_number_to(reader, LAYOUT_OFFWAKETIME);
    options->unit = reader_number(reader);
    options->by = (enum who)reader_number_to(reader, WHO_NAME);
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

static void take_stack(struct reader *reader, struct recording *recording, const struct recording_part *part,
                       bool kernel, struct stack *stack)
{
    struct symbols *symbols = &recording->symbols;
    const uint64_t head = reader_number(reader);
    const size_t count = (size_t)(head >> 2);

    reader->is_bad = reader->is_bad || (head & 3) > STACK_FULL || ((head & 3) != STACK_KEPT && count) ||
                     head >> 2 > (uint64_t)(reader->end - reader->at);
    uint64_t *addresses = reader_room(reader, count, sizeof(*addresses));
    if (addresses && array_reserve(&symbols->frames, &recording->frame_room, recording->frame_count + count,
                                   sizeof(*symbols->frames)))
        reader->failed = true;
    for (size_t i = 0; i < count && reader_goes_on(reader); i++) {
        const size_t symbol = part->first_symbol + (size_t)reader_number_to(reader, part->symbol_count - 1);
        reader->is_bad = reader->is_bad || !part->symbol_count || symbols->items[symbol].kernel != kernel;
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

static void take_party(struct reader *reader, struct recording *recording, const struct recording_part *part,
                       struct tally_party *party)
{
    const size_t process = (size_t)reader_number_to(reader, part->process_count - 1);

    reader->is_bad = reader->is_bad || !part->process_count;
    if (!reader_goes_on(reader))
        return;
    party->pid = part->processes[process].pid;
    party->foreign = part->processes[process].foreign;
    party->born = part->processes[process].born;
    party->tid = (uint32_t)reader_number_to(reader, UINT32_MAX);
    party->interrupt = (enum interrupt)reader_number_to(reader, INTERRUPTS - 1);
    part_take_comm(reader, party->comm);
    take_stack(reader, recording, part, true, &party->kernel);
    take_stack(reader, recording, part, false, &party->user);
}

static void take_entry(struct reader *reader, struct recording *recording, const struct recording_part *part)
{
    struct symbols *symbols = &recording->symbols;
    struct tally_entry *entry = tally_add(&recording->tally);

    if (!entry || array_reserve(&symbols->first, &recording->first_room, recording->tally.count,
                                sizeof(*symbols->first))) {
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
    take_party(reader, recording, part, &entry->task);
    if (entry->has_waker)
        take_party(reader, recording, part, &entry->waker);
}

#define LEAST_ENTRY_BYTES 10

static void take_entries(struct reader *reader, struct recording *recording, const struct recording_part *part)
{
    const size_t count = reader_count(reader, LEAST_ENTRY_BYTES);

    for (size_t i = 0; i < count && reader_goes_on(reader); i++)
        take_entry(reader, recording, part);
}

/* ---- All ---- */

static int take_section(struct reader *reader, struct recording *recording, struct recording_part *part,
                        uint64_t section)
{
    switch (section) {
    case SECTION_STRINGS:
        part_take_strings(reader, part);
        break;
    case SECTION_RUN:
        return take_run(reader, recording, part);
    case SECTION_FILES:
        part_take_files(reader, part);
        break;
    case SECTION_PROCESSES:
        part_take_processes(reader, recording, part);
        break;
    case SECTION_SYMBOLS:
        part_take_symbols(reader, recording, part);
        break;
    case SECTION_ENTRIES:
        take_entries(reader, recording, part);
        break;
    default:
        reader->at = reader->end; /* from a later writer */
    }
    return 0;
}

/* Known sections come in order, and each exists. */
static int take_sections(struct reader *all, struct recording *recording, struct recording_part *part)
{
    uint64_t expected = SECTION_STRINGS;
    int result = 0;

    while (all->at < all->end && reader_goes_on(all) && !result) {
        const uint64_t section = reader_number(all), length = reader_count(all, 1);
        if (!section || (section < SECTIONS && section != expected))
            all->is_bad = true;
        expected += section == expected;
        struct reader reader = *all;
        reader.end = reader.at + length;
        if (reader_goes_on(all)) {
            all->at += length;
            result = take_section(&reader, recording, part, section);
        }
        all->is_bad = all->is_bad || reader.is_bad || (reader_goes_on(&reader) && !result && reader.at != reader.end);
        all->failed = all->failed || reader.failed;
        all->strings = reader.strings;
        all->string_count = reader.string_count;
    }
    if (all->failed)
        return -ENOMEM;
    return all->is_bad || (!result && expected != SECTIONS) ? -EBADMSG : result;
}

int recording_take_sections(struct recording *recording, const char *bytes, size_t length)
{
    static const char *const no_strings[] = {""};
    const unsigned char *at = (const unsigned char *)bytes;
    struct reader reader = {.at = at, .end = at + length, .strings = no_strings};
    struct recording_part *part = calloc(1, sizeof(*part));

    if (!part)
        return -ENOMEM;
    part->next = recording->parts;
    recording->parts = part;
    int result = take_sections(&reader, recording, part);
    if (!result && (recording->losses.failed || recording->refused_map.failed))
        result = -ENOMEM;
    process_names_sort(&recording->process_names);
    recording->options.about = &recording->about;
    recording->options.names = &recording->process_names;
    recording->about.losses = recording->losses.length ? recording->losses.data : "";
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
    return length >= RECORDING_MAGIC_BYTES && !memcmp(bytes, RECORDING_MAGIC, RECORDING_MAGIC_BYTES);
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
    return recording_take_sections(recording, (const char *)head.at, (size_t)(head.end - head.at) - 6);
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
