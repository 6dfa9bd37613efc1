/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "flame/flame.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading.h"
#include "base/text.h"
#include "base/util.h"

/* Reads of words go up to so many bytes past a text: the buffer must have them. */
#define FOLDED_MORE sizeof(uint64_t)

#define FOLDED_UNIT 1000000

struct folded_count {
    uint64_t whole;
    uint32_t millionths;
    bool over; /* more than fits */
};

#define WORD FOLDED_MORE

/* ---- Counts ---- */

static bool folded_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static uint32_t parse_fraction(const char *digits, const char *end)
{
    uint32_t fraction = 0, unit = FOLDED_UNIT;

    for (; digits < end && unit > 1; digits++) {
        unit /= 10;
        fraction += unit * (uint32_t)(*digits - '0');
    }
    return fraction;
}

static struct folded_count parse_count(const char *text, const char *end)
{
    struct folded_count count = {0};

    for (; text < end && *text != '.'; text++)
        if (__builtin_mul_overflow(count.whole, 10, &count.whole) ||
            __builtin_add_overflow(count.whole, (uint64_t)(*text - '0'), &count.whole))
            count.over = true;
    if (text < end)
        count.millionths = parse_fraction(text + 1, end);
    return count;
}

/*
 * Takes blanks and a number off the end of the text between `line` and *end: digits, perhaps with a
 * decimal point. False: there is none.
 */
static bool folded_take_count(const char *line, const char **end, struct folded_count *count)
{
    const char *at = *end, *point = NULL;

    while (at > line && ((at[-1] >= '0' && at[-1] <= '9') || (at[-1] == '.' && !point)))
        if (*--at == '.')
            point = at;
    if (at == *end || at == point || at == line || !folded_is_blank(at[-1]))
        return false;
    *count = parse_count(at, *end);
    while (at > line && folded_is_blank(at[-1]))
        at--;
    *end = at;
    return true;
}

/* ---- Words ---- */

/* 0x80 in each byte that is 0 in the word, and in no other. */
static uint64_t zero_bytes(uint64_t word)
{
    const uint64_t low = 0x7f7f7f7f7f7f7f7f;

    return ~(((word & low) + low) | word | low);
}

static uint64_t word_at(const char *text)
{
    uint64_t word;

    memcpy(&word, text, sizeof(word));
    return word;
}

/* The index of the first marked byte in memory. */
static size_t first_mark(uint64_t marks)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return (size_t)__builtin_ctzll(marks) / 8;
#else
    return (size_t)__builtin_clzll(marks) / 8;
#endif
}

/* The position of the next `;` from `at` on, or `length`. */
static size_t folded_find_semicolon(const char *stack, size_t at, size_t length)
{
    for (; at < length; at += WORD) {
        uint64_t marks = zero_bytes(word_at(stack + at) ^ 0x3b3b3b3b3b3b3b3b);
        if (marks) {
            at += first_mark(marks);
            break;
        }
    }
    return at < length ? at : length;
}

/* How many of the first `most` bytes are the same in both. */
static size_t folded_common_length(const char *a, const char *b, size_t most)
{
    size_t at = 0;

    for (; at < most; at += WORD) {
        uint64_t differ = word_at(a + at) ^ word_at(b + at);
        if (differ) {
            at += first_mark(differ);
            break;
        }
    }
    return at < most ? at : most;
}

#define FIRST_ROOM (256 << 10)
#define STACKS_AT_ONCE 64

/* A stack that is being added. */
struct folded_stack {
    const char *text;
    size_t length, at; /* where its next frame begins; if reversed: past its end */
    size_t shared;     /* how many frames it shares with the stack before */
    uint32_t node;     /* of the frame found last */
    bool done;
    bool in_step, has_own;     /* it goes on; with a frame that differs from the stack before */
    struct flame_slice frame;  /* the next one, */
    uint32_t name;             /* and its name */
    uint64_t values[2];
};

static void note(struct folded *folded, struct folded_lines *lines)
{
    if (lines->count++)
        return;
    lines->first = folded->line;
    lines->file = folded->name;
}

/* ---- Counts ---- */

/* A count as a whole number, with the fraction carried over. False: it does not fit. */
static bool take_value(struct folded *folded, enum flame_side side,
                       const struct folded_count *count, uint64_t *value)
{
    uint64_t carry = folded->carry[side] + count->millionths, sum;

    *value = count->whole;
    if (count->over || __builtin_add_overflow(*value, carry >= FOLDED_UNIT, value) ||
        __builtin_add_overflow(folded->sums[side], *value, &sum))
        return false;
    folded->carry[side] = carry % FOLDED_UNIT;
    return true;
}

/* ---- Names ---- */

#define HASH_DIGITS 16

static bool ends_in(const char *name, size_t length, const char *ending, size_t ending_length)
{
    return length > ending_length && !memcmp(name + length - ending_length, ending, ending_length);
}

static size_t without_hash(const char *name, size_t length)
{
    size_t left = length;

    while (left && length - left < HASH_DIGITS && strchr("0123456789abcdef", name[left - 1]))
        left--;
    return length - left == HASH_DIGITS && ends_in(name, left, "::h", 3) ? left - 3 : length;
}

static size_t without_plain_ending(const char *name, size_t length)
{
    static const char *const numbered[] = {".isra.", ".constprop.", ".part.", ".llvm.", ".cold."};
    size_t left = length;

    if (ends_in(name, length, ".cold", 5))
        return length - 5;
    while (left && name[left - 1] >= '0' && name[left - 1] <= '9')
        left--;
    if (left == length || !left || name[left - 1] != '.')
        return length;
    for (size_t i = 0; i < COUNT_OF(numbered); i++)
        if (ends_in(name, left, numbered[i], strlen(numbered[i])))
            return left - strlen(numbered[i]);
    return length;
}

/*
 * Drops the brackets at the end of a name if they hold only suffixes: if without these only the x
 * in "x.isra.0" is left.
 */
static size_t without_bracketed(const char *name, size_t length, const char *open)
{
    const size_t open_length = strlen(open);
    size_t start = length;

    while (start && name[start - 1] != open[1])
        start--;
    if (start < 3 || length - start < open_length || memcmp(name + start - 2, open, open_length))
        return length;
    start += open_length - 2;
    /* With a letter in front, as without_plain_ending() never drops a whole name. */
    const char *const letter = name + start - 1;
    size_t left = length - start, before;
    do {
        before = left;
        left = without_plain_ending(letter, left);
    } while (left < before);
    return left == 1 ? start - open_length : length;
}

/*
 * One of them, with its number: "f.isra.0" or, in readable form, "f() [clone .isra.0]" of C++ and
 * "f (.cold)" of Rust, which may hold several.
 */
static size_t without_ending(const char *name, size_t length)
{
    if (length && name[length - 1] == ']')
        return without_bracketed(name, length, " [clone ");
    if (length && name[length - 1] == ')')
        return without_bracketed(name, length, " (");
    return without_plain_ending(name, length);
}

size_t folded_name_length(const char *name, size_t length)
{
    size_t left = length, before;

    do {
        before = left;
        left = without_hash(name, without_ending(name, left));
    } while (left < before);
    return left;
}

static bool is_plain(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 0x20 || (unsigned char)text[i] > 0x7e)
            return false;
    return true;
}

/* A name without compilers' suffixes, but with that of its kind, such as _[k]. 0 or -ENOMEM. */
static int add_bare_name(struct flame *flame, const struct flame_slice *frame, uint32_t *name)
{
    size_t kind_at = frame->length;
    enum flame_kind kind = flame_kind_of(frame->text, &kind_at);
    size_t length = folded_name_length(frame->text, kind_at);
    struct text text = {0};

    if (length == kind_at)
        return flame_name(flame, frame, name);
    text_append(&text, frame->text, length);
    text_append(&text, frame->text + kind_at, frame->length - kind_at);
    struct flame_slice bare = {text.data, text.length};
    size_t bare_length = text.length;
    /* A suffix that hid the kind's suffix stays. */
    if (!text.failed && flame_kind_of(text.data, &bare_length) != kind)
        bare = *frame;
    int result = text.failed ? -ENOMEM : flame_name(flame, &bare, name);
    text_free(&text);
    return result;
}

/* A name that is in the flame is safe to show; others are escaped first. 0 or -ENOMEM. */
static int find_name(struct folded *folded, struct flame_slice frame, uint32_t *name)
{
    if (!folded->bare && flame_find_name(folded->flame, &frame, name))
        return 0;
    if (!is_plain(frame.text, frame.length)) {
        text_clear(&folded->text);
        escape_bytes(&folded->text, frame.text, frame.length);
        if (folded->text.failed)
            return -ENOMEM;
        frame = (struct flame_slice){folded->text.data, folded->text.length};
    }
    return folded->bare ? add_bare_name(folded->flame, &frame, name)
                        : flame_name(folded->flame, &frame, name);
}

/* ---- Stacks ---- */

/* How many first frames two stacks share: *at is past them. */
static size_t count_shared(const struct folded_stack *stack, const struct folded_stack *before,
                           size_t *at)
{
    size_t most = stack->length < before->length ? stack->length : before->length;
    size_t common = folded_common_length(stack->text, before->text, most), shared = 0, end;

    *at = 0;
    while ((end = folded_find_semicolon(stack->text, *at, stack->length)) < common) {
        *at = end + 1;
        shared++;
    }
    if (end == common && (common == before->length || before->text[common] == ';')) {
        *at = end + 1;
        shared++;
    }
    return shared;
}

/* Takes the next frame from a stack. */
static struct flame_slice take_frame(struct folded_stack *stack)
{
    size_t end = folded_find_semicolon(stack->text, stack->at, stack->length);
    struct flame_slice frame = {stack->text + stack->at, end - stack->at};

    stack->at = end + 1;
    stack->done = end == stack->length;
    return frame;
}

/* The same from the other end. */
static struct flame_slice take_last_frame(struct folded_stack *stack)
{
    size_t begin = stack->at;

    while (begin && stack->text[begin - 1] != ';')
        begin--;
    struct flame_slice frame = {stack->text + begin, stack->at - begin};
    stack->done = !begin;
    stack->at = begin - !stack->done;
    return frame;
}

/* A step turns a frame into a node. First find the frame: */
static void begin_step(struct folded *folded, struct folded_stack *stack, size_t level)
{
    stack->in_step = !stack->done;
    stack->has_own = stack->in_step && level >= stack->shared;
    if (!stack->has_own)
        return;
    stack->frame = folded->reversed ? take_last_frame(stack) : take_frame(stack);
    if (!stack->frame.length)
        stack->frame = (struct flame_slice){"[unknown]", 9};
    flame_expect_name(folded->flame, &stack->frame);
}

/* Then its name. 0 or -ENOMEM. */
static int name_step(struct folded *folded, struct folded_stack *stack)
{
    if (!stack->has_own)
        return 0;
    int result = find_name(folded, stack->frame, &stack->name);
    if (!result)
        flame_expect_child(folded->flame, stack->node, stack->name);
    return result;
}

/* Then the node. 0 or -ENOMEM. */
static int end_step(struct folded *folded, struct folded_stack *stack, size_t level)
{
    const struct flame_node *nodes;

    if (!stack->has_own) {
        stack->node = stack[-1].node;
        stack->done = level + 1 == stack->shared && stack->at > stack->length;
        return 0;
    }
    stack->node = flame_named_child(folded->flame, stack->node, stack->name);
    nodes = folded->flame->nodes;
    __builtin_prefetch(&nodes[nodes[stack->node].first_child]);
    return stack->node ? 0 : -ENOMEM;
}

/* Advances all waiting stacks by one step. *left is how many have not ended. */
static int step(struct folded *folded, size_t level, size_t *left)
{
    struct folded_stack *stacks = folded->stacks_waiting;
    int result = 0;

    for (size_t i = 0; i < folded->waiting; i++)
        begin_step(folded, &stacks[i], level);
    for (size_t i = 0; i < folded->waiting && !result; i++)
        result = name_step(folded, &stacks[i]);
    for (size_t i = 0; i < folded->waiting && !result; i++)
        if (stacks[i].in_step) {
            result = end_step(folded, &stacks[i], level);
            *left -= stacks[i].done;
        }
    return result;
}

/*
 * Adds all waiting stacks to the flame at once, frame by frame: while the CPU prefetches a stack's
 * next name or node, the others advance.
 */
static int add_stacks(struct folded *folded)
{
    size_t left = folded->waiting;
    int result = 0;

    for (size_t level = 0; left && !result; level++)
        result = step(folded, level, &left);
    for (size_t i = 0; i < folded->waiting && !result; i++) {
        const struct folded_stack *stack = &folded->stacks_waiting[i];
        folded->flame->nodes[stack->node].value += stack->values[FLAME_NOW];
        folded->flame->nodes[stack->node].before += stack->values[FLAME_BEFORE];
    }
    folded->waiting = 0;
    return result;
}

/* One more waiting stack. */
static void add_stack(struct folded *folded, const char *text, size_t length,
                      const uint64_t values[2])
{
    struct folded_stack *stack = &folded->stacks_waiting[folded->waiting];

    *stack = (struct folded_stack){
        .text = text,
        .length = length,
        .at = folded->reversed ? length : 0,
        .values = {values[0], values[1]},
    };
    if (folded->waiting++ && !folded->reversed)
        stack->shared = count_shared(stack, stack - 1, &stack->at);
}

/* ---- Lines ---- */

/* All lines should have as many counts as the first line with a stack. False: not a pair. */
static bool take_first_of_pair(struct folded *folded, const char *line, const char **end,
                               const struct folded_count *now, struct folded_count *before)
{
    struct folded_count first;
    const char *stack_end = *end;
    bool pair = folded_take_count(line, &stack_end, &first) && stack_end > line;

    if (!folded->stacks)
        folded->pairs = pair;
    if (pair != folded->pairs)
        note(folded, &folded->odd);
    if (!folded->pairs)
        return false;
    if (pair)
        *end = stack_end;
    *before = pair ? first : *now;
    return true;
}

static int add_values(struct folded *folded, const char *text, size_t length,
                      const uint64_t values[2])
{
    folded->stacks++;
    if (!values[FLAME_NOW] && !values[FLAME_BEFORE])
        return 0;
    folded->sums[FLAME_NOW] += values[FLAME_NOW];
    folded->sums[FLAME_BEFORE] += values[FLAME_BEFORE];
    add_stack(folded, text, length, values);
    return folded->waiting < STACKS_AT_ONCE ? 0 : add_stacks(folded);
}

/* Writers put \x23 for a first # that is alone or before a blank, as in a comment: restores it. */
static char *take_mark(char *stack, const char *end)
{
    if (end - stack < 4 || memcmp(stack, "\\x23", 4) ||
        (end - stack > 4 && !folded_is_blank(stack[4])))
        return stack;
    stack[3] = '#';
    return stack + 3;
}

static int add_line(struct folded *folded, char *line, const char *end)
{
    uint64_t values[2] = {0};
    struct folded_count counts[2] = {0};
    enum flame_side side = folded->side;

    while (end > line && (folded_is_blank(end[-1]) || end[-1] == '\r'))
        end--;
    if (end == line || (*line == '#' && (end == line + 1 || folded_is_blank(line[1]))))
        return 0;
    if (!folded_take_count(line, &end, &counts[side]) || end == line) {
        note(folded, &folded->bad);
        return 0;
    }
    bool fits = true;
    if (take_first_of_pair(folded, line, &end, &counts[side], &counts[FLAME_BEFORE]))
        fits = take_value(folded, FLAME_BEFORE, &counts[FLAME_BEFORE], &values[FLAME_BEFORE]);
    if (!fits || !take_value(folded, side, &counts[side], &values[side])) {
        note(folded, &folded->large);
        return 0;
    }
    line = take_mark(line, end);
    return add_values(folded, line, (size_t)(end - line), values);
}

/* ---- Bytes ---- */

/* Moves what is unread to the beginning, and makes room after it. 0 or -ENOMEM. */
static int make_room(struct folded *folded)
{
    size_t left = folded->end - folded->start;

    if (folded->start && left)
        memmove(folded->buffer, folded->buffer + folded->start, left);
    folded->start = 0;
    folded->end = left;
    if (left < folded->room)
        return 0;
    size_t room = folded->room ? folded->room * 2 : FIRST_ROOM;
    char *buffer = realloc(folded->buffer, room + FOLDED_MORE);
    if (!buffer)
        return -ENOMEM;
    folded->buffer = buffer;
    folded->room = room;
    return 0;
}

/* How many bytes came, 0 at the end, or a negative errno. */
static ssize_t read_more(struct folded *folded, int fd)
{
    const ssize_t got = read_some(fd, folded->buffer + folded->end, folded->room - folded->end);

    if (got > 0)
        folded->end += (size_t)got;
    /* Words are read past the end, but not used. */
    memset(folded->buffer + folded->end, 0, FOLDED_MORE);
    return got;
}

/* The complete lines; the first `searched` bytes have no newline. */
static int add_lines(struct folded *folded, size_t searched)
{
    int result = 0;

    while (!result) {
        char *line = folded->buffer + folded->start;
        const char *end = memchr(line + searched, '\n', folded->end - folded->start - searched);
        if (!end)
            break;
        folded->line++;
        folded->start += (size_t)(end - line) + 1;
        result = add_line(folded, line, end);
        searched = 0;
    }
    return result ? result : add_stacks(folded);
}

/* A line that is too long is dropped piece by piece. */
static void skip_piece(struct folded *folded, bool *skipping)
{
    const char *begin = folded->buffer + folded->start;
    const char *end = memchr(begin, '\n', folded->end - folded->start);

    *skipping = !end;
    folded->start = end ? folded->start + (size_t)(end - begin) + 1 : folded->end;
}

int folded_read(struct folded *folded, int fd)
{
    bool skipping = false;
    ssize_t got = 1;
    int result = 0;

    if (!folded->stacks_waiting)
        folded->stacks_waiting = calloc(STACKS_AT_ONCE, sizeof(*folded->stacks_waiting));
    if (!folded->stacks_waiting)
        return -ENOMEM;
    folded->line = 0;
    folded->start = folded->end = 0;
    while (!result && got > 0) {
        size_t left = folded->end - folded->start;
        if (left >= FOLDED_MOST_BYTES) {
            folded->line++;
            note(folded, &folded->bad);
            folded->start = folded->end;
            skipping = true;
            left = 0;
        }
        result = make_room(folded);
        if (!result)
            got = read_more(folded, fd);
        if (!result && skipping)
            skip_piece(folded, &skipping);
        if (!result && !skipping)
            result = add_lines(folded, left);
    }
    if (!result && folded->end > folded->start) {
        folded->line++;
        result = add_line(folded, folded->buffer + folded->start, folded->buffer + folded->end);
    }
    if (!result)
        result = add_stacks(folded);
    return result ? result : got < 0 ? (int)got : 0;
}

void folded_free(struct folded *folded)
{
    free(folded->buffer);
    free(folded->stacks_waiting);
    text_free(&folded->text);
    folded->buffer = NULL;
    folded->stacks_waiting = NULL;
    folded->room = 0;
}
