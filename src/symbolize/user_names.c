/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "symbolize/user_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apart/apart.h"
#include "base/text.h"
#include "machine/machine.h"
#include "symbolize/names_answer.h"
#include "symbolize/naming.h"

/* JITs' perf maps open at a time: more processes come later. */
#define MOST_MAPS 64

/* ---- Where they are ---- */

static bool same_life(const struct symbol *a, const struct symbol *b)
{
    return a->pid == b->pid && a->born == b->born && a->epoch == b->epoch;
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
    const struct symbolize_wishes *wishes = naming->wishes;

    if (wishes->located)
        wishes->located(wishes->locating, located->symbol, &located->place);
    if (located->place.kind != MAPPED_NOTHING)
        set_file(located->symbol, &located->place);
    else
        naming->notes->unknown_frames = true;
    return located->symbol->file.failed ? -ENOMEM : 0;
}

static int take_recorded(const struct naming *naming, struct located *located, size_t count)
{
    const struct recorded *recorded = naming->wishes->recorded;
    int result = 0;

    for (size_t i = 0; i < count && !result; i++) {
        recorded->place(recorded->context, located[i].symbol, &located[i].place);
        result = take_place(naming, &located[i]);
    }
    return result;
}

static size_t distinct_addresses(const struct naming *naming, const struct located *located,
                                 size_t count)
{
    size_t distinct = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t address = symbol_lookup_address(located[i].symbol);
        if (!distinct || naming->addresses[distinct - 1] != address)
            naming->addresses[distinct++] = address;
    }
    return distinct;
}

/* Finds the places of symbols in one life of one process. */
static int locate_life(const struct naming *naming, struct located *located, size_t count)
{
    const struct symbol *first = located[0].symbol;
    size_t at = 0, distinct = distinct_addresses(naming, located, count);
    int result = processes_find(naming->wishes->processes, first->pid, first->born, first->epoch,
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

/* Whether a JIT's perf map can be trusted is decided here, and it is opened here. */
static int open_map(const struct naming *naming, struct located *located, size_t count)
{
    const struct symbol *first = located[0].symbol;
    struct jitmap_refusal refusal;
    bool any = false;

    for (size_t i = 0; i < count && !naming->wishes->recorded; i++)
        any = any || naming_may_be_jitted(&located[i]);
    if (!any)
        return -ENOENT;
    int map = processes_open_jitmap(naming->wishes->processes, first->pid, first->born, &refusal);
    if (map == -EACCES && !naming->notes->refused_map.length)
        text_format(&naming->notes->refused_map, "%s: %s", refusal.path, refusal.reason);
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
        result = naming->wishes->recorded ? take_recorded(naming, first, end - start)
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
    const struct naming *naming;
    struct names_asked asked;
};

static int read_apart(void *context, struct text *answer)
{
    const struct reading *reading = context;
    int result = naming_read(reading->naming);

    if (!result)
        names_answer_write(&reading->asked, answer);
    return result;
}

/* The files that the process apart will read, each roughly once; `fds` has room for them. */
static size_t collect_files(const struct naming *naming, int *fds)
{
    const struct traced_file *program = naming->wishes->mapped_for;
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

/* Without an answer there are no names: this is reported, and everything else goes on. */
static void note_unread(struct symbolize_notes *notes, int result, int signal)
{
    if (!notes->unread.length)
        apart_explain(result, signal, &notes->unread);
}

static int read_files(const struct naming *naming, struct symbol *const *symbols)
{
    struct reading reading = {
        .naming = naming,
        .asked = {symbols, naming->count, naming->notes, naming->mappings,
                  naming->mappings ? naming->mappings->count : 0},
    };
    int *fds = calloc(2 * naming->count + 1, sizeof(*fds)), signal = 0;
    struct text answer = {0};

    if (!fds)
        return -ENOMEM;
    const struct apart_job job = {
        .work = read_apart,
        .context = &reading,
        .keep = fds,
        .keep_count = collect_files(naming, fds),
        .machine = machine_ours(),
    };
    int result = 0;
    /* Recorded symbols are named where they were read: in the process apart. */
    if (naming->wishes->recorded || !needs_reading(naming, job.keep_count)) {
        result = naming_read(naming);
    } else {
        int lacking = apart_run(&job, &answer, &signal);
        if (!lacking) {
            lacking = names_answer_read(answer.data, answer.length, &reading.asked);
            /* Only half of it is there, so its error would be misleading. */
            result = lacking == -ENOMEM ? lacking : 0;
        }
        if (lacking)
            note_unread(naming->notes, lacking, signal);
    }
    text_free(&answer);
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
        result = read_files(naming, symbols);
    for (size_t i = 0; i < map_count; i++)
        close(maps[i]);
    return result;
}

int user_names_give(struct symbol *const *symbols, size_t count,
                    const struct symbolize_wishes *wishes, struct symbolize_notes *notes,
                    struct symbol_mappings *mappings)
{
    struct naming naming = {
        .wishes = wishes,
        .notes = notes,
        .mappings = mappings,
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
