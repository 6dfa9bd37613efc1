/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "unwind/making.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/util.h"
#include "machine/machine.h"

/* ---- In the reader ---- */

/* Before the words of each table. */
struct header {
    int32_t result;
    uint32_t blocks;
    uint64_t rows;
    struct unwind_object object;
};

int making_of(const struct elf *elf, struct table *table, uint64_t *rows)
{
    struct frame_rows frames = {0};
    int result = frame_rows_read(&frames, elf, NULL);

    *table = (struct table){0};
    *rows = frames.row_count;
    if (!result)
        result = table_make(table, &frames);
    frame_rows_free(&frames);
    return result;
}

static int make_table(int fd, struct table *table, uint64_t *rows)
{
    struct elf elf;
    int result = elf_open(&elf, fd);

    *table = (struct table){0};
    *rows = 0;
    if (result)
        return result;
    result = making_of(&elf, table, rows);
    elf_close(&elf);
    return result;
}

static int make_tables(void *context, struct text *answer)
{
    const struct making *making = context;

    for (size_t i = 0; i < making->count; i++) {
        struct header header = {0};
        struct table table;
        header.result = make_table(making->fds[i], &table, &header.rows);
        header.blocks = header.result ? 0 : (uint32_t)table.blocks;
        header.object = table.object;
        text_append(answer, (const char *)&header, sizeof(header));
        text_append(answer, (const char *)table.words, header.blocks * UNWIND_BLOCK_BYTES);
        table_free(&table);
    }
    return 0;
}

/* ---- In this process ---- */

int making_begin(struct making *making, const int *fds, size_t count)
{
    const struct apart_job job = {
        .work = make_tables,
        .context = making,
        .machine = machine_ours(),
        .keep = making->fds,
        .keep_count = count,
        .aside = true,
        .seconds = making->seconds ? making->seconds : MAKING_SECONDS,
    };

    memcpy(making->fds, fds, count * sizeof(*fds));
    making->count = count;
    making->began = now_ns();
    return apart_begin(&making->run, &job);
}

/* The next table in an answer, which is not trusted. Its words stay there. */
static int take_table(const char **at, size_t *left, struct header *header, struct table *table)
{
    if (*left < sizeof(*header))
        return -EBADMSG;
    memcpy(header, *at, sizeof(*header));
    *at += sizeof(*header);
    *left -= sizeof(*header);
    if (header->result)
        return header->result < 0 && header->result > -4096 && !header->blocks ? header->result : -EBADMSG;
    if (!header->blocks || header->blocks > *left / UNWIND_BLOCK_BYTES)
        return -EBADMSG;
    *table = (struct table){
        .words = (uint32_t *)(uintptr_t)*at,
        .blocks = header->blocks,
        .object = header->object,
    };
    *at += header->blocks * UNWIND_BLOCK_BYTES;
    *left -= header->blocks * UNWIND_BLOCK_BYTES;
    return table_check(table);
}
/* Words are stored as in memory. */
_Static_assert(sizeof(struct header) % sizeof(uint32_t) == 0, "behind it is an array of uint32_t");

/* If a reader ended without an answer, one of several files may be the cause. */
static int why_none(const struct making *making, int result, int ended_by)
{
    if (making->count > 1 && result == -EBADMSG)
        return -EAGAIN;
    return result == -EBADMSG && ended_by == SIGKILL ? -ETIME : result;
}

int making_end(struct making *making, uint64_t until, making_take *take, void *context)
{
    const uint64_t last = making->began + MAKING_NS;
    struct apart_run *run = &making->run;
    int signal, result = apart_take(run, until < last ? until : last, &signal);

    if (result == -EINPROGRESS && now_ns() >= last) {
        apart_stop(run);
        result = -EBADMSG;
        signal = SIGKILL;
    }
    if (result == -EINPROGRESS)
        return result;
    const char *at = result ? NULL : run->answer.data;
    size_t left = result ? 0 : run->answer.length;
    if (result)
        result = why_none(making, result, signal);
    for (size_t i = 0; i < making->count; i++) {
        struct header header = {0};
        struct table table = {0};
        const int own = result ? result : take_table(&at, &left, &header, &table);
        take(context, i, own == -EAGAIN && !result ? -EBADMSG : own, &table, header.rows);
    }
    text_free(&run->answer);
    return 0;
}

void making_free(struct making *making)
{
    apart_stop(&making->run);
    text_free(&making->run.answer);
}
