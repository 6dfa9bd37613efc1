/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "symbolize/naming.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/sandbox.h"
#include "base/util.h"

/* Perf maps open at a time: further processes come in a later round. */
#define MOST_MAPS 64
/* After so many files have crashed or stalled their readers, no more are read. */
#define MOST_LOST 4
#define TRUSTED_NS UINT64_C(30000000000)
#define OTHERS_NS UINT64_C(10000000000)
#define LISTEN_NS 200000000
/* The limit of a reader: clang's tables and names take a tenth of it. */
#define MOST_MEMORY ((uint64_t)1 << 30)

/* ---- Where they are ---- */

static bool same_life(const struct symbol *a, const struct symbol *b)
{
    return a->pid == b->pid && a->generation == b->generation && a->epoch == b->epoch;
}

static void set_file(struct symbol *symbol, const struct process_place *place)
{
    text_clear(&symbol->file);
    text_add(&symbol->file, place->label);
    /* A symbol that already has a name was recorded with it. */
    if (!symbol->function.length)
        symbol->offset = place->address + (symbol->address - symbol_lookup_address(symbol));
}

static int take_place(const struct naming *naming, struct located *located)
{
    const struct symbolize_options *options = naming->options;

    if (options->located)
        options->located(options->locating, located->symbol, &located->place);
    if (located->place.kind != MAPPED_NOTHING)
        set_file(located->symbol, &located->place);
    else
        naming->notes->unknown_frames = true;
    return located->symbol->file.failed ? -ENOMEM : 0;
}

static int take_recorded(const struct naming *naming, struct located *located, size_t count)
{
    const struct recorded *recorded = naming->options->recorded;
    int result = 0;

    for (size_t i = 0; i < count && !result; i++) {
        recorded->place(recorded->context, located[i].symbol, &located[i].place);
        result = take_place(naming, &located[i]);
    }
    return result;
}

/* Finds the places of symbols in one life of one process. */
static int locate_life(const struct naming *naming, struct located *located, size_t count)
{
    const struct symbol *first = located[0].symbol;
    size_t at = 0, distinct = 0;

    for (size_t i = 0; i < count; i++)
        naming_add_address(naming, &distinct, symbol_lookup_address(located[i].symbol));
    int result = processes_find(naming->options->processes, first->pid, first->generation,
                                first->epoch,
                                naming->addresses, distinct, naming->places);

    naming->notes->user_frames = true;
    if (result == -ENOMEM)
        return result;
    if (result) { /* the process is unknown: no names */
        naming->notes->unknown_frames = true;
        return 0;
    }
    for (size_t i = 0; i < count && !result; i++) {
        at += naming->addresses[at] != symbol_lookup_address(located[i].symbol);
        located[i].place = naming->places[at];
        result = take_place(naming, &located[i]);
    }
    return result;
}

/* This process, not the sandbox, opens a JIT's perf map and decides whether to trust it. */
static int open_map(const struct naming *naming, struct located *located, size_t count)
{
    const struct symbol *first = located[0].symbol;
    struct jitmap_refusal refusal;
    bool any = false, nameless = false;

    for (size_t i = 0; i < count && !naming->options->recorded; i++) {
        const struct process_place *place = &located[i].place;
        any = any || naming_may_be_jitted(&located[i]);
        nameless =
            nameless || (place->kind == MAPPED_ANONYMOUS && !strcmp(place->label, "[anon]"));
    }
    if (!any)
        return -ENOENT;
    int map = processes_open_jitmap(naming->options->processes, first->pid, first->generation,
                                    &refusal);
    if (map == -EACCES && !naming->notes->refused_map.length)
        text_format(&naming->notes->refused_map, "%s: %s", refusal.path, refusal.reason);
    if (map == -ENOENT && nameless && refusal.advice)
        naming->notes->jit_advice = refusal.advice;
    return map;
}

/* From one life on, until all are located or enough maps are open. 0 or -ENOMEM. */
static int locate(struct naming *naming, size_t most, int maps[MOST_MAPS], size_t *map_count)
{
    size_t end;
    int result = 0;

    *map_count = naming->count = 0;
    for (size_t start = 0; start < most && *map_count < MOST_MAPS && !result; start = end) {
        struct located *first = &naming->located[start];
        for (end = start + 1;
             end < most && same_life(first->symbol, naming->located[end].symbol); end++)
            ;
        result = naming->options->recorded ? take_recorded(naming, first, end - start)
                                          : locate_life(naming, first, end - start);
        int map = result ? -1 : open_map(naming, first, end - start);
        for (size_t i = start; i < end; i++) {
            naming->located[i].life = start;
            naming->located[i].map = map;
        }
        if (map >= 0)
            maps[(*map_count)++] = map;
        naming->count = end;
    }
    return result;
}

/* ---- What files say ---- */

struct reading {
    struct naming *naming;
    size_t next;    /* step; past the last one, the program */
    unsigned lost;  /* steps that ended their reader */
    bool is_short;  /* it lacked memory, and ended itself */
};

/* The head of a part of an answer, which has one per step. */
struct part {
    int32_t result; /* if it is not 0, nothing follows: the step has no answer */
    uint32_t length;
    uint64_t ns;    /* what it took */
};

static const struct naming_step *step_of(const struct reading *reading)
{
    const struct naming *naming = reading->naming;

    return reading->next < naming->step_count ? &naming->steps[reading->next] : NULL;
}

static struct names_request request_of(const struct naming *naming, const struct naming_step *step)
{
    return (struct names_request){step ? step->symbols : NULL, step ? step->count : 0,
                                  naming->notes, naming->mappings,
                                  naming->mappings ? naming->mappings->count : 0};
}

static void spend_time(struct naming *naming, const struct naming_step *step, uint64_t ns)
{
    if (step && !step->is_trusted)
        naming->time_left -= ns < naming->time_left ? ns : naming->time_left;
}

/* One step, in the sandbox. */
static int read_step(struct reading *reading, struct text *answer)
{
    struct naming *naming = reading->naming;
    const struct naming_step *step = step_of(reading);
    const struct names_request request = request_of(naming, step);
    const bool is_late = step && !step->is_trusted && !naming->time_left;
    const uint64_t begin = now_ns();
    struct part part = {.result = is_late ? -ETIME : 0};
    struct text names = {0};

    int result = step ? naming_take(naming, step, part.result) : naming_take_program(naming);
    if (!result && !is_late)
        names_answer_write(&request, &names);
    if (result || names.failed)
        part.result = result ? result : -ENOMEM;
    part.length = part.result ? 0 : (uint32_t)names.length;
    part.ns = now_ns() - begin;
    spend_time(naming, step, part.ns);
    text_append(answer, (const char *)&part, sizeof(part));
    text_append(answer, names.data, part.length);
    text_free(&names);
    return part.result == -ETIME ? 0 : part.result;
}

/* Sends each part at once: if the next step crashes the reader, the part is not lost. */
static int read_apart(void *context, struct text *answer)
{
    struct reading *reading = context;
    int result = 0;

    for (; reading->next <= reading->naming->step_count && !result; reading->next++) {
        result = read_step(reading, answer);
        if (!sandbox_send(answer))
            return -ENOMEM;
    }
    return 0;
}

/* The files that the sandbox will read, each roughly once; `fds` has room for them. */
static size_t collect_files(const struct naming *naming, int *fds)
{
    const struct traced_file *program = naming->options->mapped_for;
    size_t count = 0;

    for (size_t i = 0; i < naming->count; i++) {
        const struct located *located = &naming->located[i], *before = i ? located - 1 : NULL;
        struct mapped_file *file = located->place.file;
        /* A write to it is remembered here. */
        if (located->place.kind == MAPPED_FILE && (!before || before->place.file != file) &&
            file->fd >= 0 && !mapped_file_changed(file))
            fds[count++] = file->fd;
        if (located->map >= 0 && (!before || before->life != located->life))
            fds[count++] = located->map;
    }
    if (naming->mappings && program && program->fd >= 0)
        fds[count++] = program->fd;
    return count;
}

static bool needs_reading(const struct naming *naming, size_t files)
{
    for (size_t i = 0; i < naming->count && !files; i++)
        files = naming->located[i].place.kind == MAPPED_VDSO;
    return files;
}

/* Without an answer the symbols have no names: notes it for the user, and the run goes on. */
static void note_unread(struct symbolize_notes *notes, int result, int signal)
{
    if (!notes->unread.length)
        sandbox_explain(result, signal, &notes->unread);
}

/* A step that crashed its reader, or took too long, gets no answer. */
static int lose_step(struct reading *reading, int why)
{
    const struct naming_step *step = step_of(reading);

    reading->next++;
    return step ? naming_take(reading->naming, step, why) : 0;
}

static int take_part(struct reading *reading, const struct part *part, const char *names)
{
    const struct naming_step *step = step_of(reading);
    const struct names_request request = request_of(reading->naming, step);
    int result = 0;

    spend_time(reading->naming, step, part->ns);
    reading->is_short = part->result && part->result != -ETIME;
    if (!part->result)
        result = names_answer_read(names, part->length, &request);
    else if (step)
        result = naming_take(reading->naming, step,
                             part->result < 0 && part->result > -4096 ? part->result : -EBADMSG);
    reading->next += !result;
    return result;
}

/* What follows the head of the part at *at, which moves behind it. NULL: no whole part is there. */
static const char *next_part(const struct text *answer, size_t *at, struct part *part)
{
    if (*at > answer->length || answer->length - *at < sizeof(*part))
        return NULL;
    const char *head = answer->data + *at;
    memcpy(part, head, sizeof(*part));
    if (part->length > answer->length - *at - sizeof(*part))
        return NULL;
    *at += sizeof(*part) + part->length;
    return head + sizeof(*part);
}

/* Whole parts, as many as have come. 0, -EBADMSG or -ENOMEM. */
static int take_parts(struct reading *reading, const struct text *answer)
{
    struct part part;
    const char *names;
    int result = 0;

    for (size_t at = 0; !result && reading->next <= reading->naming->step_count &&
                        (names = next_part(answer, &at, &part));)
        result = take_part(reading, &part, names);
    return result;
}

/* How many whole parts there are after the result. */
static size_t count_parts(const struct text *answer)
{
    struct part part;
    size_t count = 0;

    for (size_t at = sizeof(int); next_part(answer, &at, &part);)
        count++;
    return count;
}

/*
 * How long (ns) a reader may be silent: what it reads may be on a file system that does not
 * answer.
 */
static uint64_t patience(const struct reading *reading, const struct text *answer)
{
    const struct naming *naming = reading->naming;
    const size_t at = reading->next + count_parts(answer);

    return at >= naming->step_count || naming->steps[at].is_trusted
               ? TRUSTED_NS
               : OTHERS_NS / (1 + reading->lost);
}

/* As sandbox_take(), but -EINPROGRESS if we ended the reader after too long a silence. */
static int listen_to(const struct reading *reading, struct sandbox_run *run, int *signal)
{
    uint64_t heard = now_ns();
    size_t before;
    int result;

    do {
        before = run->answer.length;
        result = sandbox_take(run, now_ns() + LISTEN_NS, signal);
        if (run->answer.length > before)
            heard = now_ns();
    } while (result == -EINPROGRESS && now_ns() - heard < patience(reading, &run->answer) &&
             sandbox_silence(run) < SANDBOX_MOST_SILENCE_NS);
    sandbox_stop(run);
    return result;
}

/* Called after a reader has ended: gives up the next step, which it was reading. */
static int lose(struct reading *reading, int result, int signal)
{
    struct naming *naming = reading->naming;
    const struct naming_step *step = step_of(reading);
    const bool is_stuck = result == -EINPROGRESS;
    const int why = is_stuck ? -ETIME : -EBADMSG;

    if (!is_stuck)
        note_unread(naming->notes, result, signal);
    if (is_stuck) {
        spend_time(naming, step, OTHERS_NS);
        if (step && !step->is_map && step->located[0].place.kind == MAPPED_FILE)
            mapped_file_give_up(step->located[0].place.file, why);
    }
    int lost = lose_step(reading, why);
    while (!lost && reading->lost > MOST_LOST && reading->next <= naming->step_count)
        lost = lose_step(reading, why);
    return lost;
}

/* Reads on from the next step, up to one that ends the reader. 0 or -ENOMEM. */
static int read_on(struct reading *reading, const struct sandbox_job *job)
{
    struct sandbox_run run = {0};
    int signal = 0, result = sandbox_begin(&run, job);

    if (!result)
        result = listen_to(reading, &run, &signal);
    const int taken = take_parts(reading, &run.answer);
    text_free(&run.answer);
    if (taken == -ENOMEM || reading->next > reading->naming->step_count)
        return taken == -ENOMEM ? taken : 0;
    reading->lost++;
    /* Without a reader nothing can be read. */
    if (result && result != -EBADMSG && result != -EINPROGRESS) {
        note_unread(reading->naming->notes, result, 0);
        reading->next = SIZE_MAX;
        return 0;
    }
    if (reading->is_short && !taken && reading->lost <= MOST_LOST) {
        reading->is_short = false;
        return 0;
    }
    return lose(reading, result ? result : -EBADMSG, signal);
}

static int read_here(struct naming *naming)
{
    int result = 0;

    for (size_t i = 0; i < naming->step_count && !result; i++)
        result = naming_take(naming, &naming->steps[i], 0);
    return result ? result : naming_take_program(naming);
}

static int read_files(struct naming *naming)
{
    struct reading reading = {.naming = naming};
    int *fds = calloc(2 * naming->count + 1, sizeof(*fds));

    if (!fds)
        return -ENOMEM;
    const struct sandbox_job job = {
        .work = read_apart,
        .context = &reading,
        .keep = fds,
        .keep_count = collect_files(naming, fds),
        .memory = MOST_MEMORY,
    };
    int result = naming_plan(naming);
    /* Recorded symbols are named where they were read: in the sandbox. */
    if (!result && (naming->options->recorded || !needs_reading(naming, job.keep_count)))
        result = read_here(naming);
    else
        while (!result && reading.next <= naming->step_count)
            result = read_on(&reading, &job);
    naming_unplan(naming);
    free(fds);
    return result;
}

/* ---- All ---- */

static int name_some(struct naming *naming, struct symbol *const *symbols, size_t most)
{
    int maps[MOST_MAPS];
    size_t map_count;

    for (size_t i = 0; i < most; i++)
        naming->located[i] = (struct located){.symbol = symbols[i], .map = -1};
    int result = locate(naming, most, maps, &map_count);
    if (!result)
        result = read_files(naming);
    for (size_t i = 0; i < map_count; i++)
        close(maps[i]);
    return result;
}

int user_names_give(struct symbol *const *symbols, size_t count,
                    const struct symbolize_options *options, struct symbolize_notes *notes,
                    struct symbol_mappings *mappings)
{
    struct naming naming = {
        .options = options,
        .notes = notes,
        .mappings = mappings,
        .time_left = NAMING_MOST_NS,
        .names_left = 2 * NAMING_MOST_BYTES,
        .located = calloc(count + 1, sizeof(*naming.located)),
        .addresses = calloc(count + 1, sizeof(*naming.addresses)),
        .places = calloc(count + 1, sizeof(*naming.places)),
    };
    int result = naming.located && naming.addresses && naming.places ? 0 : -ENOMEM;
    size_t done = 0;

    /* Without any symbol there may still be a program to map. */
    while (!result && (done < count || !done)) {
        result = name_some(&naming, symbols + done, count - done);
        done += naming.count;
        if (!count)
            break;
    }
    free(naming.located);
    free(naming.addresses);
    free(naming.places);
    return result;
}
