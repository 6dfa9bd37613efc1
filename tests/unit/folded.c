/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Folded stacks, read in pieces of any size, and names by their suffixes. */

#include <pthread.h>

#include "flame/flame.h"
#include "unit/test.h"

/* Text that is written to a pipe, a few bytes at a time. */
struct writing {
    const char *text;
    size_t length, at_once;
    int fd;
};

static void *write_pieces(void *context)
{
    const struct writing *writing = context;

    for (size_t at = 0; at < writing->length;) {
        size_t left = writing->length - at;
        ssize_t written = write(writing->fd, writing->text + at,
                                left < writing->at_once ? left : writing->at_once);
        if (written <= 0)
            break;
        at += (size_t)written;
    }
    close(writing->fd);
    return NULL;
}

struct reading {
    struct flame flame;
    struct folded folded;
};

/* Reads text that comes in pieces, and adds it up. */
static int read_text(struct reading *reading, const char *text, size_t length, size_t at_once)
{
    int ends[2];
    pthread_t writer;

    if (pipe(ends))
        return -1;
    struct writing writing = {text, length, at_once, ends[1]};
    if (!reading->flame.count && flame_init(&reading->flame))
        return -1;
    reading->folded.flame = &reading->flame;
    reading->folded.name = "text";
    if (pthread_create(&writer, NULL, write_pieces, &writing))
        return -1;
    int result = folded_read(&reading->folded, ends[0]);
    close(ends[0]);
    pthread_join(writer, NULL);
    return result;
}

static void close_reading(struct reading *reading)
{
    folded_free(&reading->folded);
    flame_free(&reading->flame);
}

static uint64_t value_of(struct flame *flame, const char *first, const char *second)
{
    uint32_t node = flame_child(flame, 0, &(struct flame_slice){first, strlen(first)});

    if (second)
        node = flame_child(flame, node, &(struct flame_slice){second, strlen(second)});
    return flame->nodes[node].value;
}

TEST(pieces_of_any_size)
{
    static const char text[] = "main;read 5\r\nmain;write 2\n# it\nnot\n"
                               "main;read 1\nmain;reads;it 1";

    for (size_t at_once = 1; at_once < sizeof(text) + 1; at_once++) {
        struct reading reading = {0};
        CHECK_NUMBER(read_text(&reading, text, sizeof(text) - 1, at_once), 0);
        flame_sum(&reading.flame);
        CHECK_NUMBER(reading.flame.nodes[0].value, 9);
        CHECK_NUMBER(value_of(&reading.flame, "main", NULL), 9);
        CHECK_NUMBER(value_of(&reading.flame, "main", "read"), 6);
        CHECK_NUMBER(value_of(&reading.flame, "main", "write"), 2);
        CHECK_NUMBER(reading.flame.count, 6);
        CHECK_NUMBER(reading.folded.stacks, 4);
        CHECK_NUMBER(reading.folded.bad.count, 1);
        CHECK_NUMBER(reading.folded.bad.first, 4);
        CHECK_STRING(reading.folded.bad.file, "text");
        close_reading(&reading);
    }
}

/* Lines of all lengths, so that they end everywhere in the read buffer. */
TEST(lines_of_all_lengths)
{
    AUTO_TEXT text = {0};
    struct reading reading = {0};
    uint64_t sum = 0;

    for (size_t i = 0; i < 20000; i++) {
        for (size_t frame = 0; frame < i % 97; frame++)
            text_format(&text, "%zu;", (i * frame) % 7);
        text_format(&text, "leaf%zu %zu\n", i % 101, i);
        sum += i;
    }
    CHECK(!text.failed);
    CHECK_NUMBER(read_text(&reading, text.data, text.length, 1 << 20), 0);
    flame_sum(&reading.flame);
    CHECK_NUMBER(reading.flame.nodes[0].value, sum);
    CHECK_NUMBER(reading.folded.stacks, 20000);
    CHECK_NUMBER(reading.folded.bad.count, 0);
    close_reading(&reading);
}

/* Every second child comes again after many others. */
TEST(many_children)
{
    struct reading reading = {0};
    AUTO_TEXT text = {0};
    size_t met = 0;

    for (size_t round = 0; round < 3; round++)
        for (size_t i = 0; i < 3000; i += 1 + (round == 1))
            text_format(&text, "root;child%zu 1\n", (i * 7919) % 3000);
    CHECK_NUMBER(read_text(&reading, text.data, text.length, 4096), 0);
    CHECK_NUMBER(reading.flame.count, 3002);
    for (uint32_t at = reading.flame.nodes[1].first_child; at; at = reading.flame.nodes[at].next) {
        const struct flame_name *name = &reading.flame.names[reading.flame.nodes[at].name];
        size_t which = strtoul(name->text + 5, NULL, 10);
        CHECK_NUMBER(reading.flame.nodes[at].value, which % 2 ? 2 : 3);
        met++;
    }
    CHECK_NUMBER(met, 3000);
    close_reading(&reading);
}

TEST(files_one_after_the_other)
{
    struct reading reading = {0};

    CHECK_NUMBER(read_text(&reading, "a 1\nb 2.5", 9, 99), 0);
    CHECK_NUMBER(read_text(&reading, "\nb 2.5\nbad", 10, 99), 0);
    CHECK_NUMBER(read_text(&reading, "worse\n", 6, 99), 0);
    flame_sum(&reading.flame);
    CHECK_NUMBER(value_of(&reading.flame, "a", NULL), 1);
    CHECK_NUMBER(value_of(&reading.flame, "b", NULL), 5);
    CHECK_NUMBER(reading.folded.bad.count, 2);
    CHECK_NUMBER(reading.folded.bad.first, 3);
    CHECK_NUMBER(folded_read(&reading.folded, -1), -EBADF);
    close_reading(&reading);
}

TEST(endings)
{
    static const struct {
        const char *name, *without;
    } rows[] = {
        {"read", "read"}, {"read.isra.0", "read"}, {"read.constprop.12.isra.3", "read"},
        {"read.part.0.cold", "read"}, {"read.cold.1", "read"}, {"read.llvm.1234567890", "read"},
        {"read.isra", "read.isra"}, {"read.isra.", "read.isra."}, {"read.isra.x", "read.isra.x"},
        {"isra.0", "isra.0"}, {".isra.0", ".isra.0"}, {".cold", ".cold"}, {"cold", "cold"},
        {"a.b.0", "a.b.0"}, {"0", "0"}, {"", ""}, {"x::h0123456789abcdef", "x"},
        {"x::h0123456789abcdef.llvm.5", "x"}, {"x::h0123456789abcde", "x::h0123456789abcde"},
        {"x::h0123456789abcdef0", "x::h0123456789abcdef0"},
        {"x::h0123456789ABCDEF", "x::h0123456789ABCDEF"},
        {"::h0123456789abcdef", "::h0123456789abcdef"},
        {"f(int) [clone .isra.0]", "f(int)"}, {"f() [clone .part.1] [clone .cold]", "f()"},
        {"f() [clone .llvm.123]", "f()"}, {"f() [clone .foo]", "f() [clone .foo]"},
        {"f() [clone x.cold]", "f() [clone x.cold]"},
        {"f() [clone ]", "f() [clone ]"}, {" [clone .cold]", " [clone .cold]"}, {"]", "]"},
        {"[clone .cold]", "[clone .cold]"}, {"f()[clone .cold]", "f()[clone .cold]"},
        {"a[]", "a[]"}, {"f [clone]", "f [clone]"},
        {"f (.cold)", "f"}, {"f (.llvm.12.cold)", "f"}, {"f (.cold) (.llvm.1)", "f"},
        {"f::h0123456789abcdef (.llvm.5)", "f"}, {"f (.cold.x)", "f (.cold.x)"},
        {"f (x.cold)", "f (x.cold)"}, {"f ()", "f ()"}, {"f(.cold)", "f(.cold)"},
        {" (.cold)", " (.cold)"}, {"(.cold)", "(.cold)"}, {")", ")"}, {"f(int)", "f(int)"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t length = strlen(rows[i].name);
        char *name = malloc(length + !length);
        CHECK(name);
        memcpy(name, rows[i].name, length);
        if (folded_name_length(name, length) != strlen(rows[i].without))
            printf("  %s\n", rows[i].name);
        CHECK_NUMBER(folded_name_length(name, length), strlen(rows[i].without));
        free(name);
    }
}

/* 1, 2 and 3 of 6, scaled to 100: however parts are rounded, they add up to the whole. */
TEST(scaled)
{
    AUTO(flame_free) struct flame flame;
    uint64_t *values = NULL;
    const struct flame_slice frames[] = {{"a", 1}, {"b", 1}, {"c", 1}};

    CHECK(!flame_init(&flame));
    CHECK(!flame_add(&flame, FLAME_BEFORE, frames, 1, 1));
    CHECK(!flame_add(&flame, FLAME_BEFORE, frames, 2, 2));
    CHECK(!flame_add(&flame, FLAME_BEFORE, frames + 2, 1, 3));
    CHECK(!flame_add(&flame, FLAME_NOW, frames + 2, 1, 100));
    CHECK(!flame_scale(&flame, &values));
    CHECK_NUMBER(values[0], 100);
    CHECK_NUMBER(values[1] + values[3], 100);
    CHECK_NUMBER(values[3], 50);
    CHECK(values[2] == 33 || values[2] == 34);
    free(values);
}

TEST_MAIN
