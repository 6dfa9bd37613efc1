/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "symbolize/kernel_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "kernel/kallsyms.h"

#define MOST_FRAMES 64 /* of a text: the kernel's MAX_STACK_TRACE_DEPTH */

/* One line. False: it is not a frame. */
static bool parse_line(const char *line, size_t length, struct stack_frame *frame)
{
    const char *name = memchr(line, ']', length), *end = line + length;

    if (length < 5 || line[0] != '[' || line[1] != '<' || !name || end - name < 3 || name[1] != ' ')
        return false;
    name += 2;
    const char *plus = memchr(name, '+', (size_t)(end - name));
    if (!plus || plus == name)
        return false;
    const char *blank = memchr(plus, ' ', (size_t)(end - plus));
    *frame = (struct stack_frame){
        .name = strndup(name, (size_t)(plus - name)),
        .offset = strtoull(plus + 1, NULL, 16),
    };
    if (blank && blank[1] == '[') {
        const char *module = blank + 2;
        frame->module = strndup(module, strcspn(module, " ]\n"));
    }
    return true;
}

int stack_texts_add(struct stack_texts *texts, const char *text, size_t *count)
{
    const size_t before = texts->count;
    const char *line;
    size_t length;

    while ((line = next_line(&text, &length))) {
        if (ARRAY_RESERVE(texts->frames, texts->room, texts->count + 1))
            return -ENOMEM;
        texts->count += parse_line(line, length, &texts->frames[texts->count]);
    }
    *count = texts->count - before;
    return 0;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

/* 0: there is no room. */
static uint16_t number_of(struct stack_texts *texts, struct stack_frame *frame)
{
    size_t i = 0;

    while (i < texts->count && !(texts->frames[i].offset == frame->offset &&
                                 same_text(texts->frames[i].name, frame->name) &&
                                 same_text(texts->frames[i].module, frame->module)))
        i++;
    if (i == texts->count && i < texts->room && frame->name) {
        texts->frames[i] = *frame;
        /* Another thread may read the frames below `count`. */
        __atomic_store_n(&texts->count, i + 1, __ATOMIC_RELEASE);
        return (uint16_t)(i + 1);
    }
    free(frame->name);
    free(frame->module);
    return i < texts->count ? (uint16_t)(i + 1) : 0;
}

size_t stack_texts_number(struct stack_texts *texts, const char *text, uint16_t *numbers,
                          size_t most)
{
    struct stack_frame frame;
    const char *line;
    size_t count = 0, length;

    while (count < most && (line = next_line(&text, &length)))
        if (parse_line(line, length, &frame) && (numbers[count] = number_of(texts, &frame)))
            count++;
    return count;
}

struct named {
    const char *name;
    struct stack_frame *frame;
};

struct finding {
    struct named *sorted; /* by name */
    size_t count;
};

static bool is_of(const struct stack_frame *frame, const struct kallsyms_symbol *symbol)
{
    return frame->module ? symbol->module && !strcmp(frame->module, symbol->module)
                         : !symbol->module;
}

/* If several functions have the name, the first is used: the name is what is shown. */
static int take_symbol(void *context, const struct kallsyms_symbol *symbol)
{
    struct finding *finding = context;

    if (!symbol->address || !kallsyms_is_function(symbol->type))
        return 0;
    for (size_t at = first_named(finding->sorted, finding->count, sizeof(*finding->sorted),
                                 symbol->name);
         at < finding->count && !strcmp(finding->sorted[at].name, symbol->name); at++) {
        struct stack_frame *frame = finding->sorted[at].frame;
        if (!frame->address && is_of(frame, symbol))
            frame->address = symbol->address + frame->offset;
    }
    return 0;
}

int stack_texts_find(struct stack_texts *texts, int kallsyms)
{
    struct finding finding = {.count = texts->count};

    if (!texts->count)
        return 0;
    finding.sorted = calloc(texts->count, sizeof(*finding.sorted));
    if (!finding.sorted)
        return -ENOMEM;
    int result = 0;
    for (size_t i = 0; i < texts->count; i++) {
        finding.sorted[i] = (struct named){texts->frames[i].name, &texts->frames[i]};
        if (!texts->frames[i].name)
            result = -ENOMEM;
    }
    if (!result) {
        qsort(finding.sorted, finding.count, sizeof(*finding.sorted), compare_strings);
        result = kallsyms_each(kallsyms, take_symbol, &finding);
    }
    free(finding.sorted);
    return result;
}

int stack_texts_put(const struct stack_texts *texts, size_t first, size_t count,
                    struct tally *tally, struct stack *stack)
{
    uint64_t addresses[MOST_FRAMES];
    size_t kept = 0;

    for (size_t i = first; i < first + count && kept < MOST_FRAMES; i++)
        if (texts->frames[i].address)
            addresses[kept++] = texts->frames[i].address;
    return tally_add_stack(tally, stack, addresses, kept);
}

void stack_texts_free(struct stack_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++) {
        free(texts->frames[i].name);
        free(texts->frames[i].module);
    }
    free(texts->frames);
    *texts = (struct stack_texts){0};
}
