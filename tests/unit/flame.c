/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The tree behind a flame graph: it has the same sums as the lines it is made from. */
#include "flame/flame.h"

#include "test.h"

#define STACKS 3000
#define MOST_FRAMES 6
#define NAMES 5

static uint32_t number_from(uint32_t *state, uint32_t below)
{
    *state = *state * 1664525 + 1013904223;
    return (*state >> 16) % below;
}

static struct flame_slice slice(const char *text)
{
    return (struct flame_slice){text, strlen(text)};
}

/* The child of this name and kind, found by linear search; 0: none. */
static uint32_t child_of(const struct flame *flame, uint32_t parent, const char *name, enum flame_kind kind)
{
    for (uint32_t at = flame->nodes[parent].first_child; at; at = flame->nodes[at].next) {
        const struct flame_name *of = &flame->names[flame->nodes[at].name];
        if (of->kind == kind && of->length == strlen(name) && !memcmp(of->text, name, of->length))
            return at;
    }
    return 0;
}

TEST(root_alone)
{
    AUTO(flame_free) struct flame flame;

    CHECK_NUMBER(flame_init(&flame), 0);
    CHECK_NUMBER(flame.count, 1);
    CHECK_NUMBER(flame.nodes[0].value, 0);
    CHECK(flame.names[flame.nodes[0].name].length == 3 &&
          !memcmp(flame.names[flame.nodes[0].name].text, "all", 3));
    CHECK_NUMBER(flame_add(&flame, FLAME_NOW, NULL, 0, 3), 0);
    CHECK(flame.nodes[0].value == 3 && flame.count == 1);
}

TEST(kinds)
{
    static const struct {
        const char *name, *shown;
        enum flame_kind kind;
    } cases[] = {
        {"read_[k]", "read", FLAME_KERNEL}, {"read_[j]", "read", FLAME_JIT},
        {"read_[i]", "read", FLAME_INLINED}, {"read_[w]", "read", FLAME_WAKER},
        {"read", "read", FLAME_PLAIN}, {"read_[x]", "read_[x]", FLAME_PLAIN},
        {"_[k]", "_[k]", FLAME_PLAIN}, {"a_[k]_[k]", "a_[k]", FLAME_KERNEL},
        {"-", "-", FLAME_DELIMITER}, {"--", "--", FLAME_MEETING}, {"---", "---", FLAME_PLAIN},
        {"-_[k]", "-", FLAME_KERNEL}, {"", "", FLAME_PLAIN}, {"read_[k", "read_[k", FLAME_PLAIN},
    };
    AUTO(flame_free) struct flame flame;

    flame_init(&flame);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct flame_slice frame = slice(cases[i].name);
        uint32_t made = flame_child(&flame, 0, &frame);
        CHECK(made && made == child_of(&flame, 0, cases[i].shown, cases[i].kind));
        CHECK_NUMBER(flame_child(&flame, 0, &frame), made);
    }
    CHECK_NUMBER(flame.count, 1 + sizeof(cases) / sizeof(cases[0]));
}

/* The root is named "all": a frame of that name is not the root. */
TEST(frames_like_the_root)
{
    AUTO(flame_free) struct flame flame;
    const struct flame_slice frames[] = {slice("all"), slice("all"), slice("all")};

    flame_init(&flame);
    CHECK_NUMBER(flame_add(&flame, FLAME_NOW, frames, 3, 2), 0);
    CHECK_NUMBER(flame.count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        CHECK_NUMBER(flame.nodes[i].value, 2);
        CHECK(!i || flame.nodes[i].parent == i - 1);
    }
}

/* A stack's names by its numbers, e.g. "f3". */
struct made_stack {
    uint32_t names[MOST_FRAMES];
    size_t count;
    uint64_t value;
    enum flame_side side;
};

static uint64_t sum_of(const struct made_stack *stacks, const uint32_t *path, size_t length,
                       enum flame_side side)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < STACKS; i++)
        if (stacks[i].side == side && stacks[i].count >= length &&
            !memcmp(stacks[i].names, path, length * sizeof(*path)))
            sum += stacks[i].value;
    return sum;
}

static void check_path(const struct flame *flame, const struct made_stack *stacks,
                       const uint32_t *path, size_t length)
{
    uint32_t at = 0;
    char name[8];

    for (size_t i = 0; i < length; i++) {
        snprintf(name, sizeof(name), "f%u", path[i]);
        uint32_t child = child_of(flame, at, name, FLAME_PLAIN);
        CHECK(child && flame->nodes[child].parent == at && child > at);
        at = child;
    }
    CHECK_NUMBER(flame->nodes[at].value, sum_of(stacks, path, length, FLAME_NOW));
    CHECK_NUMBER(flame->nodes[at].before, sum_of(stacks, path, length, FLAME_BEFORE));
}

TEST(sums_are_those_of_the_lines)
{
    struct made_stack *stacks = calloc(STACKS, sizeof(*stacks));
    AUTO(flame_free) struct flame flame;
    uint32_t state = 42;

    flame_init(&flame);
    for (size_t i = 0; i < STACKS; i++) {
        struct flame_slice frames[MOST_FRAMES];
        char names[MOST_FRAMES][8];
        stacks[i].count = number_from(&state, MOST_FRAMES) + 1;
        stacks[i].value = number_from(&state, 1000) + 1;
        stacks[i].side = number_from(&state, 3) ? FLAME_NOW : FLAME_BEFORE;
        for (size_t k = 0; k < stacks[i].count; k++) {
            stacks[i].names[k] = number_from(&state, NAMES);
            snprintf(names[k], sizeof(names[k]), "f%u", stacks[i].names[k]);
            frames[k] = slice(names[k]);
        }
        CHECK_NUMBER(flame_add(&flame, stacks[i].side, frames, stacks[i].count, stacks[i].value), 0);
        memset(names, '?', sizeof(names)); /* names were copied */
    }
    for (size_t i = 0; i < STACKS; i++)
        for (size_t length = 0; length <= stacks[i].count; length++)
            check_path(&flame, stacks, stacks[i].names, length);
    CHECK(flame.name_count == NAMES + 1);
    free(stacks);
}

TEST_MAIN
