/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>

#include "base/text.h"
#include "base/util.h"
#include "insns/unwind_layout.h"
#include "processes/process.h"
#include "report/blocks.h"
#include "run/event_printer.h"
#include "store/recorder.h"
#include "symbolize/kernel_frames.h"

#define USER_NS 1000000000
#define MOST_FRAMES 65536 /* in each table */

static struct frame *add(struct frame_table *table, uint64_t hash, const struct symbol *place)
{
    struct frame *frame = calloc(1, sizeof(*frame));

    if (!frame ||
        ARRAY_RESERVE(table->items, table->room, table->count + 1) ||
        index_add(&table->index, hash, (uint32_t)table->count)) {
        free(frame);
        return NULL;
    }
    frame->symbol = *place;
    table->items[table->count++] = frame;
    return frame;
}

/*
 * The frame of an address; `place` has the fields that identify it. Its line exists after the next
 * frames_name. NULL without memory.
 */
static struct frame *frames_want(struct frames *frames, const struct symbol *place)
{
    struct frame_table *table = place->kernel ? &frames->kernel : &frames->user;
    uint64_t hash = symbol_hash(place);
    uint32_t item;
    size_t at = 0;

    while (index_next(&table->index, hash, &at, &item))
        if (symbol_is_at(&table->items[item]->symbol, place))
            return table->items[item];
    return add(table, hash, place);
}

/* The frames without a line in both tables, as one list. */
static size_t collect(const struct frames *frames, struct symbol **symbols)
{
    size_t count = 0;

    for (size_t i = frames->kernel.named; i < frames->kernel.count; i++)
        symbols[count++] = &frames->kernel.items[i]->symbol;
    for (size_t i = frames->user.named; i < frames->user.count; i++)
        symbols[count++] = &frames->user.items[i]->symbol;
    return count;
}

/* Makes the missing lines, after which the symbols are no longer needed. */
static int make_lines(struct frame_table *table, const struct record_options *options)
{
    for (; table->named < table->count; table->named++) {
        struct frame *frame = table->items[table->named];
        records_add_frame(&frame->line, &frame->symbol, options);
        frame->is_unknown = labels_is_unknown(&frame->symbol);
        frame->of_tracing = frame->symbol.kernel && tracing_frames_has(&frame->symbol);
        symbol_free(&frame->symbol);
        if (frame->line.failed)
            return -ENOMEM;
    }
    return 0;
}

/* Makes the missing lines. 0 or a negative errno. */
static int frames_name(struct frames *frames, const struct symbolize_options *config,
                       struct symbolize_notes *notes, const struct record_options *options)
{
    size_t most = frames->kernel.count - frames->kernel.named + frames->user.count -
                  frames->user.named;
    struct symbol **symbols;

    if (!most)
        return 0;
    symbols = calloc(most, sizeof(*symbols));
    if (!symbols)
        return -ENOMEM;
    if (!frames->user.named)
        frames->user_since = now_ns();
    int result = symbols_name(symbols, collect(frames, symbols), config, notes, NULL);
    free(symbols);
    if (!result)
        result = make_lines(&frames->kernel, options);
    return result ? result : make_lines(&frames->user, options);
}

static void clear(struct frame_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        symbol_free(&table->items[i]->symbol);
        text_free(&table->items[i]->line);
        free(table->items[i]);
    }
    free(table->items);
    index_free(&table->index);
    *table = (struct frame_table){0};
}

/* Drops frames that are too old or too many: frames from earlier frames_want calls are invalid. */
static void frames_tidy(struct frames *frames, uint64_t now)
{
    if (frames->kernel.count > MOST_FRAMES)
        clear(&frames->kernel);
    if (frames->user.count > MOST_FRAMES ||
        (frames->user.count && now - frames->user_since > USER_NS))
        clear(&frames->user);
}

/* ---- Names of events ---- */

/* "r:malloc", "vfs_read+0x10", "sched:sched_switch": as typed, but without the file. */
static char *event_name(const struct place *place, const struct demangle_options *readable)
{
    struct text name = {0};

    text_add(&name, place->at_return ? "r:" : "");
    place_add_own_name(place, readable, &name);
    if (place->kind == PLACE_KERNEL_FUNCTION && place->offset)
        text_format(&name, "+0x%llx", (unsigned long long)place->offset);
    if (name.failed)
        text_free(&name);
    return name.data;
}

int event_text_open(struct event_text *text, const struct places *places,
                    const struct demangle_options *readable)
{
    text->places = calloc(places->count + 1, sizeof(*text->places));
    if (!text->places)
        return -ENOMEM;
    for (size_t i = 0; i < places->count; i++) {
        const struct place *place = &places->items[i];
        text->places[i] = (struct event_place){
            .name = event_name(place, readable),
            .is_tracepoint = place->kind == PLACE_TRACEPOINT,
        };
        if (!text->places[i].name)
            return -ENOMEM;
        text->place_count++;
    }
    return 0;
}

void event_text_close(struct event_text *text)
{
    clear(&text->frames.kernel);
    clear(&text->frames.user);
    for (size_t i = 0; i < text->place_count; i++)
        free(text->places[i].name);
    free(text->places);
    text->places = NULL;
    text->place_count = 0;
}

/* ---- Stacks ---- */

/* A record while its text is made. */
struct draft {
    const struct snoop_record *record;
    struct part {
        const uint64_t *frames;
        uint32_t count;
        bool has_caller;   /* one more, after the first */
    } kernel, user;
    uint64_t *whole;       /* the user's, if their rest was walked later; else NULL */
    bool by_tables;        /* the user's were unwound by tables, and include the caller */
};

static bool lacks_caller(struct event_text *text, const struct draft *draft)
{
    const struct snoop_record *record = draft->record;

    if (text->depth < 2 || draft->by_tables || record->flags & KEY_KERNEL_START)
        return false;
    switch (callers_see(&text->callers, record->caller, record->flags, draft->user.frames,
                        draft->user.count)) {
    case CALLER_IS_THERE:
        return false;
    case CALLER_IS_MISSING:
        return true;
    case CALLER_IN_DOUBT:
        break;
    }
    return callers_are_left_out(&text->callers, record->flags);
}

static uint32_t part_frames(const struct part *part)
{
    return part->count + part->has_caller;
}

static size_t frames_of(const struct draft *draft)
{
    return (size_t)part_frames(&draft->kernel) + part_frames(&draft->user);
}

/* Without memory the stack stays as it is, ending with an unnamed frame. */
static void complete(const struct event_text *text, struct draft *draft)
{
    struct part *user = &draft->user;

    if (!text->deferred || !user->count || !UNWIND_IS_DEFERRED_FRAME(user->frames[user->count - 1]))
        return;
    draft->whole = calloc(text->depth + 1, sizeof(*draft->whole));
    if (!draft->whole)
        return;
    user->count = (uint32_t)deferred_complete(text->deferred, user->frames, user->count, true,
                                              draft->whole);
    user->frames = draft->whole;
}

static void add_caller(const struct event_text *text, struct part *part, bool has_caller)
{
    part->has_caller = has_caller;
    /* The deepest frame makes room for the caller. */
    if (has_caller && part->count == text->depth)
        part->count--;
}

static void complete_kernel(const struct event_text *text, struct draft *draft)
{
    const struct snoop_record *record = draft->record;
    struct part *kernel = &draft->kernel;

    if (record->flags & KEY_TRACEPOINT) {
        const size_t twice = callers_count_twice(kernel->frames, kernel->count);
        kernel->frames += twice;
        kernel->count -= (uint32_t)twice;
    }
    add_caller(text, kernel, text->depth > 1 && callers_miss_kernel(record->caller, record->flags,
                                                                    kernel->frames, kernel->count));
}

static struct draft read_draft(struct event_text *text, const struct timeline *timeline,
                               size_t index)
{
    size_t size;
    struct draft draft = {.record = timeline_bytes(timeline, index, &size)};

    const uint64_t *frames = draft.record->frames;
    const uint32_t kernel = snoop_record_frames(draft.record->kernel_bytes);

    draft.kernel = (struct part){.frames = frames, .count = kernel};
    draft.user = (struct part){frames + kernel, snoop_record_frames(draft.record->user_bytes),
                               false};
    complete(text, &draft);
    draft.user.count = (uint32_t)unwind_count_frames(draft.user.frames, draft.user.count,
                                                     &draft.by_tables);
    complete_kernel(text, &draft);
    add_caller(text, &draft.user, lacks_caller(text, &draft));
    return draft;
}

static uint64_t address_of(const struct draft *draft, const struct part *part, uint32_t index)
{
    if (!part->has_caller || index == 0)
        return part->frames[index];
    return index == 1 ? draft->record->caller : part->frames[index - 1];
}

static int want_stack(struct event_text *text, const struct draft *draft, bool user,
                      struct processes *processes, const struct frame **wanted)
{
    const struct snoop_record *record = draft->record;
    const struct part *part = user ? &draft->user : &draft->kernel;
    uint32_t count = part_frames(part);
    bool is_known = processes && user && count && !(record->flags & KEY_FOREIGN);
    uint32_t epoch = is_known ? processes_epoch(processes, record->pid, record->generation,
                                                record->time)
                              : 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct symbol place = {
            .kernel = !user,
            .pid = user ? record->pid : 0,
            .generation = user ? record->generation : 0,
            .epoch = epoch,
            .foreign = user && record->flags & KEY_FOREIGN,
            .is_return = i > 0,
            .address = address_of(draft, part, i),
        };
        struct frame *frame = frames_want(&text->frames, &place);
        if (!frame)
            return -ENOMEM;
        wanted[i] = frame;
    }
    return (int)count;
}

/* How many frames at the leaf only lead to the BPF program, whose own frame may have no name. */
static uint32_t count_tracing(const struct event_place *place, const struct draft *draft,
                              const struct frame *const *wanted)
{
    const uint32_t count = draft->kernel.count;
    uint32_t leading = 0;

    for (uint32_t i = 0; place && place->is_tracepoint && i < count; i++) {
        if (wanted[i]->of_tracing)
            leading = i + 1;
        else if (!wanted[i]->is_unknown)
            break;
    }
    return leading < count ? leading : 0;
}

/* The values of a record that are printed. Returns how many. */
static size_t take_values(const struct event_text *text, const struct event_place *place,
                          const struct snoop_record *record,
                              struct record_value values[MOST_VALUES])
{
    const struct event_values *known = place ? place->values : NULL;
    const uint64_t *numbers = snoop_record_values(record);
    size_t count = known ? known->count : 0;

    for (size_t i = 0; i < count; i++)
        values[i] = (struct record_value){text->value_names[i].name, numbers[i],
                                          known->values[i].is_signed,
                                          known->are_addresses[i]};
    return count;
}

static void add_record(struct event_text *text, const struct draft *draft,
                       const struct frame *const *wanted, struct record_frame *lines,
                       struct text *out)
{
    const struct snoop_record *from = draft->record;
    const struct event_place *place = from->place < text->place_count ? &text->places[from->place]
                                                                      : NULL;
    uint32_t tracing = count_tracing(place, draft, wanted);
    size_t count = frames_of(draft);
    struct record_value values[MOST_VALUES];

    for (size_t i = 0; i < count; i++)
        lines[i] = (struct record_frame){&wanted[i]->line, wanted[i]->is_unknown};
    if (!text->has_clock)
        text->clock_offset = 0 - from->time;
    text->has_clock = true;
    const struct record record = {
        .time = from->time + text->clock_offset,
        .comm = from->comm,
        .event = place ? place->name : "[unknown]",
        .pid = from->pid,
        .tid = from->tid,
        .cpu = from->cpu,
        .foreign = from->flags & KEY_FOREIGN,
        .frames = lines + tracing,
        .kernel_count = part_frames(&draft->kernel) - tracing,
        .user_count = part_frames(&draft->user),
        .values = values,
        .value_count = take_values(text, place, from, values),
    };
    records_add(out, &record, &text->options);
}

/* ---- All together ---- */

/* Requests the frames of all drafts first, so that they can be named at once. */
static int want_all(struct event_text *text, const struct draft *drafts, size_t count,
                    struct processes *processes, const struct frame **wanted)
{
    int result = 0;

    for (size_t i = 0; i < count; i++)
        for (int user = 0; user < 2; user++) {
            result = want_stack(text, &drafts[i], user, processes, wanted);
            if (result < 0)
                return result;
            wanted += result;
        }
    return 0;
}

int event_text_add(struct event_text *text, const struct timeline *timeline, size_t count,
                   const struct symbolize_options *config, struct symbolize_notes *notes,
                   struct text *out)
{
    struct draft *drafts = calloc(count + 1, sizeof(*drafts));
    const struct frame **wanted = NULL;
    struct record_frame *lines = NULL;
    size_t most = 0, used = 0;

    if (text->deferred)
        processes_hold(config->processes);
    for (size_t i = 0; drafts && i < count; i++) {
        drafts[i] = read_draft(text, timeline, i);
        most += frames_of(&drafts[i]);
    }
    if (text->deferred)
        processes_release(config->processes);
    wanted = calloc(most + 1, sizeof(*wanted));
    lines = calloc(most + 1, sizeof(*lines));
    int result = drafts && wanted && lines ? 0 : -ENOMEM;
    if (!result && config->processes)
        result = processes_settle(config->processes);
    if (!result)
        result = want_all(text, drafts, count, config->processes, wanted);
    if (!result)
        result = frames_name(&text->frames, config, notes, &text->options);
    for (size_t i = 0; !result && i < count; i++) {
        add_record(text, &drafts[i], wanted + used, lines, out);
        used += frames_of(&drafts[i]);
    }
    for (size_t i = 0; drafts && i < count; i++)
        free(drafts[i].whole);
    free(drafts);
    free(wanted);
    free(lines);
    frames_tidy(&text->frames, now_ns());
    return result;
}
