/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "recording/identities.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "apart/answer.h"
#include "apart/apart.h"
#include "machine/machine.h"

struct identifying {
    struct identified *items;
    size_t count;
};

/* ---- In the process apart ---- */

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

static void put_identity(const struct identified *item, struct text *answer)
{
    struct file_identity identity = {0};
    struct elf elf = {0};

    if (!elf_open(&elf, item->file->fd))
        (void)identity_read(&elf, &identity); /* otherwise it is unknown */
    answer_put_byte(answer, identity.kind);
    answer_put_bytes(answer, (const char *)identity.id, identity.id_length);
    answer_put_number(answer, identity.size);
    answer_put_number(answer, identity.hash);
    put_segments(&elf, answer);
    elf_close(&elf);
}

static int read_apart(void *context, struct text *answer)
{
    const struct identifying *identifying = context;

    for (size_t i = 0; i < identifying->count; i++)
        if (identifying->items[i].is_read)
            put_identity(&identifying->items[i], answer);
    return 0;
}

/* ---- In this process ---- */

static void take_segments(struct answer *answer, struct identified *item)
{
    const size_t count = answer_take_byte(answer);

    answer->is_bad = answer->is_bad || count > MOST_SEGMENTS;
    item->segments = answer->is_bad ? NULL : calloc(count + 1, sizeof(*item->segments));
    answer->failed = answer->failed || (!answer->is_bad && !item->segments);
    for (size_t i = 0; i < count && item->segments; i++) {
        struct elf_segment *segment = &item->segments[i];
        segment->offset = answer_take_number(answer);
        segment->file_size = answer_take_number(answer);
        segment->address = answer_take_number(answer);
        segment->memory_size = answer_take_number(answer);
        segment->flags = (uint32_t)answer_take_number(answer);
    }
    item->segment_count = item->segments ? count : 0;
}

/* A build id may contain a NUL, which texts in answers may not. */
static void take_identity(struct answer *answer, struct identified *item)
{
    const unsigned kind = answer_take_byte(answer);
    struct file_identity *identity = &item->identity;

    identity->id_length = answer_take_bytes(answer, sizeof(identity->id), identity->id);
    identity->size = answer_take_number(answer);
    identity->hash = answer_take_number(answer);
    answer->is_bad = answer->is_bad || kind > IDENTITY_HASH ||
                     (kind == IDENTITY_BUILD_ID) != (identity->id_length > 0);
    take_segments(answer, item);
    if (answer->is_bad || answer->failed)
        *identity = (struct file_identity){0};
    else
        identity->kind = kind;
}

static int read_files(struct identifying *identifying, const int *fds, size_t count, struct text *unread)
{
    const struct apart_job job = {
        .work = read_apart,
        .context = identifying,
        .keep = fds,
        .keep_count = count,
        .machine = machine_ours(),
    };
    struct text bytes = {0};
    int signal, result = apart_run(&job, &bytes, &signal);
    struct answer answer = {.at = bytes.data, .end = bytes.data + bytes.length, .for_good = true};

    for (size_t i = 0; i < identifying->count && !result; i++)
        if (identifying->items[i].is_read)
            take_identity(&answer, &identifying->items[i]);
    text_free(&bytes);
    if (!result && (answer.is_bad || answer.at != answer.end))
        result = -EBADMSG;
    if (result && !unread->length)
        apart_explain(result, signal, unread);
    return answer.failed || unread->failed ? -ENOMEM : 0;
}

int identities_read(struct identified *items, size_t count, struct text *unread)
{
    struct identifying identifying = {items, count};
    int *fds = calloc(count + 1, sizeof(*fds)), result = 0;
    size_t open = 0;

    if (!fds)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        if (items[i].file && items[i].file->fd >= 0 && !mapped_file_changed(items[i].file)) {
            items[i].is_read = true;
            fds[open++] = items[i].file->fd;
        }
    if (open)
        result = read_files(&identifying, fds, open, unread);
    free(fds);
    return result;
}
