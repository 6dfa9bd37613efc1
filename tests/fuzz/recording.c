/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Untrusted recordings: each is refused, or can be symbolized and reported in every format. The
 * input is what is between the version and the checksum; an input of odd length is read twice, as a
 * sum.
 */
#include "recording/read.h"

#include <errno.h>
#include <string.h>

#include "fuzz.h"

static void check_stack(const struct recording *recording, const struct stack *stack, bool kernel, size_t *frame)
{
    ALWAYS(stack->state == STACK_KEPT || !stack->count);
    ALWAYS((size_t)stack->first + stack->count <= recording->tally.address_count);
    for (uint32_t i = 0; i < stack->count; i++) {
        const uint32_t item = recording->symbols.frames[(*frame)++];
        ALWAYS(item < recording->symbols.count);
        ALWAYS(recording->symbols.items[item].kernel == kernel);
        ALWAYS(recording->symbols.items[item].address == recording->tally.addresses[stack->first + i]);
    }
}

static void check_task(const struct recording *recording, const struct tally_task *task, size_t *frame)
{
    ALWAYS(strnlen(task->comm, sizeof(task->comm)) <= COMM_BYTES && task->interrupt < INTERRUPTS);
    check_stack(recording, &task->kernel, true, frame);
    check_stack(recording, &task->user, false, frame);
}

static void check(const struct recording *recording)
{
    for (size_t i = 0; i < recording->tally.count; i++) {
        const struct tally_entry *entry = &recording->tally.entries[i];
        size_t frame = recording->symbols.first[i];
        check_task(recording, &entry->task, &frame);
        check_task(recording, &entry->waker, &frame);
        ALWAYS(frame <= recording->frame_count);
    }
}

/* This machine's files must not matter: none is found below a directory that does not exist. */
static void name(struct recording *recording)
{
    struct recorded recorded = recording_source(recording);
    struct symbolize_notes notes = {0};
    struct text missing = {0};
    const struct traced_file program = {*recording->program ? recording->program : NULL, -1};
    const struct symbolize_options config = {
        .kallsyms = -1,
        .readable = recording->raw_names ? NULL : &recording->names,
        .symfs = "/dev/null",
        .mapped_for = &program,
        .recorded = &recorded,
    };

    recorded.missing = &missing;
    ALWAYS(!symbols_name_all(&recording->symbols, &config, &notes));
    symbolize_notes_free(&notes);
    text_free(&missing);
}

static void report(struct recording *recording)
{
    struct report_summary summary;

    for (int format = REPORT_TEXT; format < REPORT_SBX; format++) {
        FILE *out = fopen("/dev/null", "w");
        ALWAYS(out);
        recording->options.format = (enum report_format)format;
        recording->options.top = recording->top;
        ALWAYS(!report_write(out, &recording->tally, &recording->symbols, &recording->options, &recording->when,
                             &summary));
        fclose(out);
    }
}

/* All names together take 32 MB, whatever the input is, and formats hold them twice. */
const struct fuzz_line fuzz_lines[FUZZ_COSTS] = {
    [FUZZ_BYTES] = {128 << 20, 2000, 0},
    [FUZZ_READS] = {512, 1, 0},
    [FUZZ_TIME] = {600000, 50, 0},
};

void fuzz_input(const uint8_t *data, size_t size)
{
    struct recording recording = {0};
    int result = recording_take_sections(&recording, (const char *)data, size);

    ALWAYS(!result || result == -EBADMSG);
    if (!result && size % 2) {
        result = recording_take_sections(&recording, (const char *)data, size);
        ALWAYS(!result);
    }
    if (!result) {
        check(&recording);
        name(&recording);
        report(&recording);
    }
    recording_free(&recording);
}
