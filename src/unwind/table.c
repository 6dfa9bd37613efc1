/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "unwind/table.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"

#define HURRY_NS 500000000
#define PAGE_WORDS (sizeof(struct unwind_page) / sizeof(uint32_t))
#define RULE_WORDS (sizeof(struct unwind_rule) / sizeof(uint32_t))
#define MOST_BLOCKS 65536 /* 1 GB */
/* Code is dense: a real table has fewer pages than these two allow for its rows. */
#define FEW_PAGES 65536
#define MOST_PAGES_A_ROW 64

static uint64_t page_of(uint64_t offset)
{
    return offset >> UNWIND_PAGE_BITS;
}

static uint32_t low_of(uint64_t offset)
{
    return (uint32_t)offset & ((1u << UNWIND_PAGE_BITS) - 1);
}

static bool is_unknown(const struct frame_rows *frames, const struct frame_row *row)
{
    return frames->rules[row->rule].cfa == UNWIND_UNKNOWN;
}

/* A page: its rows are those from `from` to before `to`, and `carried` applies at its start. */
struct page {
    size_t from, to;
    const struct frame_row *carried; /* NULL: the first row is at its start */
};

/* How many words of the table a page's rows take; 0 if all of it is unknown. */
static uint32_t rows_of(const struct frame_rows *frames, const struct page *page)
{
    const size_t count = page->to - page->from;
    bool is_known = page->carried && !is_unknown(frames, page->carried);

    for (size_t i = page->from; i < page->to && !is_known; i++)
        is_known = !is_unknown(frames, &frames->rows[i]);
    return is_known ? (uint32_t)(count + (page->carried != NULL)) : 0;
}

/* Page `number`, whose rows begin at *at, which moves on to the next page's. */
static struct page next_page(const struct frame_rows *frames, uint64_t number, size_t *at)
{
    struct page page = {.from = *at, .to = *at};

    while (page.to < frames->row_count && page_of(frames->rows[page.to].offset) == number)
        page.to++;
    if (page.from && (page.from == page.to || low_of(frames->rows[page.from].offset)))
        page.carried = &frames->rows[page.from - 1];
    *at = page.to;
    return page;
}

/* Finds room for a page's rows, which must be in one block: at *word or later. */
static uint64_t place_rows(uint64_t *word, uint32_t count)
{
    uint64_t room = UNWIND_BLOCK_WORDS - *word % UNWIND_BLOCK_WORDS;

    if (count > room)
        *word += room;
    uint64_t at = *word;
    *word += count;
    return at;
}

static void write_rows(struct table *table, const struct frame_rows *frames,
                       const struct page *page, uint64_t word)
{
    uint32_t *to = table->words + word;

    if (page->carried)
        *to++ = UNWIND_ROW(0, page->carried->rule);
    for (size_t i = page->from; i < page->to; i++)
        *to++ = UNWIND_ROW(low_of(frames->rows[i].offset), frames->rows[i].rule);
}

/* Goes through all pages, and writes them if there is a table->words. Returns the word count. */
static uint64_t lay_out(struct table *table, const struct frame_rows *frames)
{
    static const struct frame_row unknown = {0};
    const struct unwind_object *object = &table->object;
    uint64_t word = object->directory + (uint64_t)object->pages * PAGE_WORDS;
    size_t at = 0;

    for (uint32_t i = 0; i < object->pages; i++) {
        struct page page = next_page(frames, (uint64_t)object->first_page + i, &at);
        /* On the first page, the part before its first row has no carried rule. */
        if (!page.carried && page.from < page.to && low_of(frames->rows[page.from].offset))
            page.carried = &unknown; /* rule 0 is unknown */
        const uint32_t count = rows_of(frames, &page);
        const uint64_t place = count ? place_rows(&word, count) : 0;
        if (!table->words)
            continue;
        const struct unwind_page entry = {(uint32_t)place, count};
        memcpy(table->words + object->directory + (size_t)i * PAGE_WORDS, &entry, sizeof(entry));
        if (count)
            write_rows(table, frames, &page, place);
    }
    return word;
}

int table_make(struct table *table, const struct frame_rows *frames)
{
    *table = (struct table){0};
    if (!frames->row_count)
        return -ENOENT;
    const uint64_t first = page_of(frames->rows[0].offset);
    const uint64_t last = page_of(frames->rows[frames->row_count - 1].offset);
    if (last - first >= FEW_PAGES + (uint64_t)frames->row_count * MOST_PAGES_A_ROW ||
        last > UINT32_MAX)
        return -E2BIG;
    table->object = (struct unwind_object){
        .directory = (uint32_t)(frames->rule_count * RULE_WORDS),
        .first_page = (uint32_t)first,
        .pages = (uint32_t)(last - first + 1),
        .rules = (uint32_t)frames->rule_count,
    };
    const uint64_t words = lay_out(table, frames);
    const uint64_t blocks = (words + UNWIND_BLOCK_WORDS - 1) / UNWIND_BLOCK_WORDS;
    if (blocks > MOST_BLOCKS)
        return -E2BIG;
    table->words = calloc((size_t)blocks, UNWIND_BLOCK_BYTES);
    if (!table->words)
        return -ENOMEM;
    table->blocks = (size_t)blocks;
    memcpy(table->words, frames->rules, frames->rule_count * sizeof(*frames->rules));
    lay_out(table, frames);
    return 0;
}

void table_free(struct table *table)
{
    free(table->words);
    *table = (struct table){0};
}

/* ---- Checking ---- */

static bool are_good_rules(const struct table *table)
{
    struct unwind_rule rule;

    for (uint32_t i = 0; i < table->object.rules; i++) {
        memcpy(&rule, table->words + (size_t)i * RULE_WORDS, sizeof(rule));
        if (rule.cfa >= UNWIND_CFAS || rule.frame_kind >= UNWIND_FRAMES ||
            rule.return_kind >= UNWIND_RETURNS)
            return false;
    }
    return true;
}

static bool are_good_rows(const struct table *table, const struct unwind_page *page)
{
    const uint64_t words = (uint64_t)table->blocks * UNWIND_BLOCK_WORDS;
    const uint32_t *rows = table->words + page->first;

    if (!page->count)
        return true;
    if (page->first >= words || page->count > UNWIND_BLOCK_WORDS - page->first % UNWIND_BLOCK_WORDS)
        return false;
    for (uint32_t i = 0; i < page->count; i++)
        if (UNWIND_ROW_RULE(rows[i]) >= table->object.rules ||
            (i ? UNWIND_ROW_LOW(rows[i]) <= UNWIND_ROW_LOW(rows[i - 1])
               : UNWIND_ROW_LOW(rows[i]) != 0))
            return false;
    return true;
}

/* A word of the table, with those after it in its block. */
static const uint32_t *word_at(const struct table *table, uint32_t word)
{
    if (table->words)
        return table->words + word;
    const uint32_t block = table->object.block + word / UNWIND_BLOCK_WORDS;
    return table->chunks[block / UNWIND_CHUNK_BLOCKS] +
           block % UNWIND_CHUNK_BLOCKS * UNWIND_BLOCK_WORDS + word % UNWIND_BLOCK_WORDS;
}

static struct unwind_page page_at(const struct table *table, uint32_t number)
{
    struct unwind_page page;

    memcpy(&page, word_at(table, table->object.directory + number * (uint32_t)PAGE_WORDS),
           sizeof(page));
    return page;
}

int table_check(const struct table *table)
{
    const struct unwind_object *object = &table->object;
    const uint64_t words = (uint64_t)table->blocks * UNWIND_BLOCK_WORDS;

    if (!object->rules || object->rules > UNWIND_MOST_RULES || table->blocks > MOST_BLOCKS ||
        object->directory % PAGE_WORDS ||
        object->directory < (uint64_t)object->rules * RULE_WORDS ||
        object->directory + (uint64_t)object->pages * PAGE_WORDS > words || !are_good_rules(table))
        return -EBADMSG;
    for (uint32_t i = 0; i < object->pages; i++) {
        const struct unwind_page page = page_at(table, i);
        if (!are_good_rows(table, &page))
            return -EBADMSG;
    }
    return 0;
}

/* ---- Searching ---- */

const struct unwind_rule *table_find(const struct table *table, uint64_t offset)
{
    const struct unwind_object *object = &table->object;
    const uint64_t number = page_of(offset);

    if (number < object->first_page || number - object->first_page >= object->pages)
        return NULL;
    const struct unwind_page page = page_at(table, (uint32_t)(number - object->first_page));
    uint32_t count = page.count;
    if (!count)
        return NULL;
    const uint32_t *rows = word_at(table, page.first);
    while (count > 1) {
        const uint32_t half = count / 2;
        if (UNWIND_ROW_LOW(rows[half]) <= low_of(offset))
            rows += half;
        count -= half;
    }
    return (const struct unwind_rule *)word_at(table,
                                               UNWIND_ROW_RULE(*rows) * (uint32_t)RULE_WORDS);
}

/* ---- In the reader ---- */

/* Before the words of each table. */
struct header {
    int32_t result;
    uint32_t blocks;
    struct frame_counts counts;
    struct unwind_object object;
};

int table_build(const struct elf *elf, struct table *table, struct frame_counts *counts)
{
    struct frame_rows frames = {0};
    int result = frame_rows_read(&frames, elf);

    *table = (struct table){0};
    *counts = frames.counts;
    if (!result)
        result = table_make(table, &frames);
    frame_rows_free(&frames);
    return result;
}

static int make_table(int fd, struct table *table, struct frame_counts *counts)
{
    struct elf elf;
    int result = elf_open(&elf, fd);

    *table = (struct table){0};
    if (result)
        return result;
    result = table_build(&elf, table, counts);
    elf_close(&elf);
    return result;
}

static int make_tables(void *context, struct text *answer)
{
    const struct table_builder *builder = context;

    for (size_t i = 0; i < builder->count; i++) {
        struct header header = {0};
        struct table table;
        header.result = make_table(builder->fds[i], &table, &header.counts);
        header.blocks = header.result ? 0 : (uint32_t)table.blocks;
        header.object = table.object;
        text_append(answer, (const char *)&header, sizeof(header));
        text_append(answer, (const char *)table.words, header.blocks * UNWIND_BLOCK_BYTES);
        table_free(&table);
    }
    return 0;
}

/* ---- In this process ---- */

int table_builder_begin(struct table_builder *builder, const int *fds, size_t count)
{
    const struct sandbox_job job = {
        .work = make_tables,
        .context = builder,
        .keep = builder->fds,
        .keep_count = count,
        .aside = true,
        .asks_nothing = true,
        .seconds = builder->seconds ? builder->seconds : BUILDER_SECONDS,
    };

    memcpy(builder->fds, fds, count * sizeof(*fds));
    builder->count = count;
    builder->began = now_ns();
    return sandbox_begin(&builder->run, &job);
}

/* The next table in an answer, which is not trusted. Its words stay in the answer. */
static int take_table(const char **at, size_t *left, struct header *header, struct table *table)
{
    if (*left < sizeof(*header))
        return -EBADMSG;
    memcpy(header, *at, sizeof(*header));
    *at += sizeof(*header);
    *left -= sizeof(*header);
    if (header->result)
        return header->result < 0 && header->result > -4096 && !header->blocks ? header->result
                                                                               : -EBADMSG;
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
/* The reader writes words as in memory. */
_Static_assert(sizeof(struct header) % sizeof(uint32_t) == 0, "behind it is an array of uint32_t");

/* If a reader ended without an answer, any of several files may be the cause. */
static int why_none(const struct table_builder *builder, int result, int ended_by)
{
    if (builder->count > 1 && result == -EBADMSG)
        return -EAGAIN;
    return result == -EBADMSG && ended_by == SIGKILL ? -ETIME : result;
}

/* A reader forked within bpf_begin_unpreempted() is real-time: if it takes long, ends that. */
static void calm(const struct table_builder *builder)
{
    const struct sched_param none = {0};
    const pid_t pid = builder->run.pid;

    if (pid && now_ns() - builder->began > HURRY_NS &&
        syscall(SYS_sched_getscheduler, pid) == SCHED_FIFO)
        syscall(SYS_sched_setscheduler, pid, SCHED_OTHER, &none);
}

int table_builder_end(struct table_builder *builder, uint64_t until, table_builder_take *take,
                      void *context)
{
    const uint64_t last = builder->began + BUILDER_NS;
    struct sandbox_run *run = &builder->run;
    int signal, result = sandbox_take(run, until < last ? until : last, &signal);

    if (result == -EINPROGRESS && now_ns() >= last) {
        sandbox_stop(run);
        result = -EBADMSG;
        signal = SIGKILL;
    }
    if (result == -EINPROGRESS) {
        calm(builder);
        return result;
    }
    if (!result && signal) /* perhaps it was writing */
        result = -EBADMSG;
    const char *at = result ? NULL : run->answer.data;
    size_t left = result ? 0 : run->answer.length;
    if (result)
        result = why_none(builder, result, signal);
    for (size_t i = 0; i < builder->count; i++) {
        struct header header = {0};
        struct table table = {0};
        const int own = result ? result : take_table(&at, &left, &header, &table);
        take(context, i, own == -EAGAIN && !result ? -EBADMSG : own, &table, &header.counts);
    }
    text_free(&run->answer);
    return 0;
}

void table_builder_free(struct table_builder *builder)
{
    sandbox_stop(&builder->run);
    text_free(&builder->run.answer);
}
