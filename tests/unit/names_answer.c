/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The sandbox's answers about names: both sides agree on them, and the receiver trusts nothing. */
#include "symbolize/naming.h"

#include "symbolize/mappings.h"
#include "test.h"

#define COUNT 4

struct side {
    struct symbol items[COUNT];
    struct symbol *symbols[COUNT];
    struct symbolize_notes notes;
    struct symbol_mappings mappings;
    struct names_request request;
};

/* As when the sandbox is created: the kernel's mapping and places are there. */
static void begin(struct side *side)
{
    static const struct symbol_mapping kernel;

    *side = (struct side){.notes.unknown_frames = true};
    for (size_t i = 0; i < COUNT; i++) {
        side->symbols[i] = &side->items[i];
        side->items[i].offset = 0x1000 + i;
        text_add(&side->items[i].file, "file");
    }
    text_add(&side->notes.unopened_file, "earlier");
    CHECK_NUMBER(mappings_add(&side->mappings, "[kernel.kallsyms]", "", &kernel), 0);
    side->request = (struct names_request){side->symbols, COUNT, &side->notes, &side->mappings, 1};
}

static void end(struct side *side)
{
    for (size_t i = 0; i < COUNT; i++)
        symbol_free(&side->items[i]);
    symbolize_notes_free(&side->notes);
    mappings_free(&side->mappings);
}

static void add_mapping(struct side *side, const char *path, uint64_t start, uint64_t limit, bool grows)
{
    const struct symbol_mapping mapping = {
        .own_start = start, .own_limit = limit, .offset = 0x2000, .grows = grows, .is_fixed = !grows};

    CHECK_NUMBER(mappings_add(&side->mappings, path, "c0ffee", &mapping), 0);
}

static void map(struct side *side, size_t symbol, uint32_t mapping, uint64_t at)
{
    side->items[symbol].mapping = mapping;
    side->items[symbol].mapped_at = at;
}

/* What the sandbox could have found. */
static void find(struct side *side)
{
    text_add(&side->items[0].function, "ns::f(int)");
    text_add(&side->items[0].raw, "_ZN2ns1fEi");
    side->items[0].offset = 7;
    text_add(&side->items[2].function, "a \n\x1b[31m name");
    side->items[2].jitted = true;
    add_mapping(side, "/bin/a", 0x400000, 0x402000, false);
    add_mapping(side, "[anon]", 0x1000, UINT64_MAX - 4095, true);
    map(side, 0, 2, 0x400010);
    map(side, 1, 3, 0x1000);
    map(side, 3, 2, 0x401fff);
    text_add(&side->notes.changed_file, "/bin/changed");
    side->notes.more_unopened = true;
    text_add(&side->notes.packed_file, "/bin/packed: why");
}

static void check_text(const struct text *actual, const struct text *expected)
{
    CHECK_NUMBER(actual->length, expected->length);
    CHECK(!actual->length || !memcmp(actual->data, expected->data, actual->length));
}

static void check_same(const struct side *actual, const struct side *expected)
{
    for (size_t i = 0; i < COUNT; i++) {
        const struct symbol *a = &actual->items[i], *b = &expected->items[i];
        check_text(&a->function, &b->function);
        check_text(&a->raw, &b->raw);
        check_text(&a->file, &b->file);
        CHECK(a->offset == b->offset && a->jitted == b->jitted && a->mapping == b->mapping &&
              a->mapped_at == b->mapped_at);
    }
    CHECK_NUMBER(actual->mappings.count, expected->mappings.count);
    for (size_t i = 0; i < actual->mappings.count && i < expected->mappings.count; i++) {
        const struct symbol_mapping *a = &actual->mappings.items[i];
        const struct symbol_mapping *b = &expected->mappings.items[i];
        check_text(&a->path, &b->path);
        check_text(&a->build_id, &b->build_id);
        CHECK(a->own_start == b->own_start && a->own_limit == b->own_limit &&
              a->offset == b->offset && a->grows == b->grows && a->is_fixed == b->is_fixed);
    }
    check_text(&actual->notes.changed_file, &expected->notes.changed_file);
    check_text(&actual->notes.unopened_file, &expected->notes.unopened_file);
    check_text(&actual->notes.packed_file, &expected->notes.packed_file);
    CHECK(actual->notes.unknown_frames && !actual->notes.unread.length);
    CHECK(actual->notes.more_unopened == expected->notes.more_unopened &&
          actual->notes.more_packed == expected->notes.more_packed);
}

/* Receives the bytes, checks that the receiver is consistent, and returns its verdict. */
static int give(const char *bytes, size_t length, const struct side *expected)
{
    struct side side, untouched;

    begin(&side);
    begin(&untouched);
    char *copy = malloc(length + 1); /* exactly as long, so that sanitizers see overruns */
    if (length)
        memcpy(copy, bytes, length);
    copy = realloc(copy, length ? length : 1);
    int result = names_answer_read(copy, length, &side.request);
    check_same(&side, result ? &untouched : expected);
    free(copy);
    end(&side);
    end(&untouched);
    return result;
}

TEST(there_and_back)
{
    AUTO(end) struct side found;
    AUTO_TEXT answer = {0};

    begin(&found);
    names_answer_write(&found.request, &answer); /* nothing was found */
    CHECK_NUMBER(give(answer.data, answer.length, &found), 0);
    find(&found);
    text_clear(&answer);
    names_answer_write(&found.request, &answer);
    CHECK(!answer.failed);
    CHECK_NUMBER(give(answer.data, answer.length, &found), 0);
    /* Any other length is refused. */
    for (size_t length = 0; length < answer.length; length++)
        CHECK_NUMBER(give(answer.data, length, &found), -EBADMSG);
    text_append(&answer, "", 1);
    CHECK_NUMBER(give(answer.data, answer.length, &found), -EBADMSG);
}

/* Each row changes one thing to a value that no honest answer has: by a function, or a symbol's place. */
static void check_refused(void (*change)(struct side *side), uint32_t mapping, uint64_t at)
{
    AUTO(end) struct side found;
    AUTO_TEXT answer = {0};

    begin(&found);
    find(&found);
    if (change)
        change(&found);
    else
        map(&found, 0, mapping, at);
    names_answer_write(&found.request, &answer);
    CHECK_NUMBER(give(answer.data, answer.length, &found), -EBADMSG);
}

static void add_nul(struct side *side)
{
    text_append(&side->items[0].function, "\0x", 2);
}

static void be_long(struct side *side)
{
    for (size_t i = 0; i <= 1 << 16; i++)
        text_add(&side->items[0].raw, "0123456789abcdef");
}

static void be_empty(struct side *side)
{
    side->mappings.items[1].own_limit = side->mappings.items[1].own_start = 0x400010;
}

static void be_turned(struct side *side)
{
    side->mappings.items[2].own_start = UINT64_MAX;
}

static void be_large(struct side *side)
{
    side->mappings.items[1].own_limit = UINT64_MAX;
}

static void be_both(struct side *side)
{
    side->mappings.items[2].is_fixed = true;
}

static void long_id(struct side *side)
{
    for (int i = 0; i < 9; i++)
        text_add(&side->mappings.items[1].build_id, "0123456789abcdef");
}

TEST(refused)
{
    static void (*const changes[])(struct side *) = {
        add_nul, be_long, be_empty, be_turned, be_large, be_both, long_id,
    };

    for (size_t i = 0; i < COUNT_OF(changes); i++)
        check_refused(changes[i], 0, 0);
    check_refused(NULL, 1, 0x400010); /* the kernel's */
    check_refused(NULL, 4, 0x400010); /* there are three */
    check_refused(NULL, 2, 0x3fffff);
    check_refused(NULL, 2, 0x402000);
}

/* If no mappings were asked for, there are none. */
TEST(without_mappings)
{
    struct side found, side;
    AUTO_TEXT answer = {0};

    begin(&found);
    begin(&side);
    find(&found);
    names_answer_write(&found.request, &answer);
    side.request.mappings = NULL;
    side.request.known = 0;
    CHECK_NUMBER(names_answer_read(answer.data, answer.length, &side.request), -EBADMSG);
    CHECK(!side.items[0].function.length);
    end(&found);
    end(&side);
}

/* With any bit flipped, the answer is refused, or stays within bounds. */
TEST(every_bit)
{
    AUTO(end) struct side found;
    AUTO_TEXT answer = {0};

    begin(&found);
    find(&found);
    names_answer_write(&found.request, &answer);
    for (size_t bit = 0; bit < answer.length * 8; bit++) {
        AUTO(end) struct side side;
        begin(&side);
        answer.data[bit / 8] ^= (char)(1 << bit % 8);
        int result = names_answer_read(answer.data, answer.length, &side.request);
        CHECK(!result || result == -EBADMSG);
        for (size_t i = 0; i < COUNT; i++)
            CHECK(side.items[i].mapping <= side.mappings.count);
        answer.data[bit / 8] ^= (char)(1 << bit % 8);
    }
}

TEST_MAIN
