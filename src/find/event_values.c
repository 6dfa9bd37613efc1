/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "find/event_values.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/opening.h"
#include "base/util.h"
#include "kernel/tracefs.h"

#define FIRST_OF_ALL 8 /* bytes at the start of tracepoints' records that programs may not read */

struct search {
    const struct values_where *where;
    const struct place *place;
    struct text format; /* the tracepoint's, once read */
    struct text *error;
};

/* ---- Fields of tracepoints ---- */

static int read_format(struct search *search)
{
    const char *name = search->place->name, *colon = strchr(name, ':');
    struct text category = {0};

    if (search->format.length || !colon)
        return 0;
    text_append(&category, name, (size_t)(colon - name));
    int result = category.failed ? -ENOMEM
                                 : tracefs_read_format(search->where->tracefs, category.data,
                                                       colon + 1, &search->format);
    text_free(&category);
    if (result)
        text_format(search->error, "the fields of \"t:%s\" cannot be read: %s", name,
                    strerror(-result));
    return result;
}

static int find_field(struct search *search, const char *name, struct tracefs_field *field)
{
    int result = read_format(search);

    if (result)
        return result;
    result = tracefs_parse_field(search->format.data, name, field);
    if (!result && field->offset >= FIRST_OF_ALL)
        return 0;
    text_format(search->error, "there is no \"%s\": %s has", name, search->place->name);
    tracefs_add_fields(search->format.data, search->error);
    text_add(search->error, " and comm");
    return -ENOENT;
}

static int take_field(struct search *search, const char *name, struct event_value *value,
                      bool *is_address)
{
    struct tracefs_field field;
    int result = find_field(search, name, &field);

    if (result)
        return result;
    const uint16_t size = field.size;
    const bool is_number = !field.is_array && !field.is_elsewhere && size && size <= 8 &&
                           !(size & (size - 1)) && !(field.offset % size);
    *value = (struct event_value){
        .offset = field.offset, .size = size, .bits = (uint8_t)(8 * size),
        .is_signed = field.is_signed,
    };
    *is_address = field.is_address;
    if (is_number)
        return 0;
    value->bits = 0;
    if (field.is_text)
        return 0;
    return text_refuse(search->error,
                       field.is_elsewhere
                           ? "\"%s\" of %s is a text of varying length, which cannot be read"
                           : "\"%s\" of %s is not a number", name, search->place->name);
}

/* ---- System calls by ptrace(2) ---- */

#define CALL_WORD sizeof(uint64_t)

/* ptrace(2) gives the arguments, or the result, as words of 64 bits. */
static int take_word(struct search *search, const char *name, struct event_value *value)
{
    const bool ends = PLACE_CALL_ENDS(search->place->id);
    const unsigned first = ends ? 0 : (unsigned)(name[3] - '1');

    *value = (struct event_value){.offset = (uint16_t)(first * CALL_WORD), .size = CALL_WORD,
                                  .bits = 64, .is_signed = ends};
    if (ends ? !strcmp(name, "ret") : starts_with(name, "arg") && first < 6 && !name[4])
        return 0;
    text_format(search->error, "there is no \"%s\": by ptrace(2) %s has %s and comm", name,
                search->place->name, ends ? "ret" : "arg1 to arg6");
    return -ENOENT;
}

/* ---- Registers ---- */

bool event_values_narrow(const char *file)
{
    unsigned char head[EI_CLASS + 1] = {0};
    struct stat about;
    int fd = open_regular(file, 0, &about);
    bool narrow =
        fd >= 0 && pread(fd, head, sizeof(head), 0) == sizeof(head) && head[EI_CLASS] == ELFCLASS32;

    close_fd(fd);
    return narrow;
}

/* Functions that are system calls have one argument: the address of the caller's registers. */
static bool is_call(const struct search *search)
{
    const char *prefix = search->where->machine->call_prefix, *name = search->place->name;
    const char *call = *prefix ? starts_with(name, prefix) : NULL;

    return call && starts_with(call, "sys_");
}

static const char *why_no_argument(const struct search *search)
{
    const struct place *place = search->place;

    if (place->is_usdt)
        return "arguments of USDT probes cannot be read";
    if (place->at_return)
        return "arguments are gone when a function returns: trace its start, without r:";
    if (place->kind == PLACE_KERNEL_FUNCTION && is_call(search))
        return "its only argument is registers; t:syscalls:sys_enter_... has the arguments";
    if (place->kind == PLACE_USER && search->where->machine->bits == 64 &&
        event_values_narrow(place->file))
        return "arguments of 32-bit programs cannot be read";
    return NULL;
}

/* Makes the value a word of a register, or says in the error why there is none. */
static int take_register(struct search *search, const char *name, struct event_value *value)
{
    const struct machine *machine = search->where->machine;
    const unsigned count = machine->args.count;
    const bool is_argument =
        starts_with(name, "arg") && name[3] >= '1' && name[3] <= '9' && !name[4];
    const char *why = NULL;
    uint8_t word = machine->args.result;

    if (!count)
        why = "arguments cannot be read on this machine";
    else if (is_argument && !(why = why_no_argument(search)) && name[3] > '0' + (char)count)
        why = "it is in no register";
    else if (is_argument)
        word = machine->args.words[name[3] - '1'];
    else if (strcmp(name, "ret"))
        why = search->place->at_return ? "there are ret and comm"
                                       : "there are arg1, arg2 ... and comm";
    else if (!search->place->at_return)
        why = "it exists when a function returns, as at r::vfs_read";
    if (why)
        return text_refuse(search->error, "\"%s\" at \"%s\": %s", name, search->place->name, why);
    const uint8_t bytes = machine->bits / 8;
    *value = (struct event_value){
        .offset = (uint16_t)(word * bytes), .size = bytes, .bits = machine->bits,
        .is_signed = !is_argument,
    };
    return 0;
}

/* ---- All together ---- */

static int find_value(struct search *search, const struct value_words *words,
                      struct event_value *value, bool *is_address)
{
    int result = 0;

    if (!strcmp(words->name, "comm"))
        *value = (struct event_value){.size = COMM_BYTES, .is_comm = true};
    else if (search->place->kind == PLACE_TRACEPOINT && search->where->by_calls)
        result = take_word(search, words->name, value);
    else if (search->place->kind == PLACE_TRACEPOINT)
        result = take_field(search, words->name, value, is_address);
    else
        result = take_register(search, words->name, value);
    if (result || !words->bits)
        return result;
    if (value->bits < words->bits)
        return text_refuse(search->error, "\"%s\" has fewer than %u bits", words->name,
                           words->bits);
    value->bits = words->bits;
    value->is_signed = words->is_signed;
    return 0;
}

static int check_test(struct search *search, const struct test_words *words,
                      const struct event_test *test)
{
    const struct event_value *value = &test->value;
    const char *name = words->value.name;
    const uint64_t number = test->number;

    if (!value->bits != test->is_text)
        text_format(search->error,
                    test->is_text ? "\"%s\" is a number, not a text"
                                  : "\"%s\" is a text: compare it with one, in \"\"",
                    name);
    else if (test->is_text && strlen(test->text) > value->size)
        text_format(search->error, "\"%s\" is a text of at most %u bytes", name, value->size);
    else if (!test->is_text && !value->is_signed &&
             (words->is_negative || (!number && (test->comparison == IS_LESS ||
                                                 test->comparison == IS_GREATER_OR_EQUAL))))
        text_format(search->error, "\"%s\" is unsigned; use \"%s:i32\" or i64", name, name);
    else if (!test->is_text && !words->is_negative &&
             number > UINT64_MAX >> (64 - value->bits + value->is_signed))
        text_format(search->error, "\"%s\" is never that large", name);
    else
        return 0;
    return -EINVAL;
}

static int find_values(struct search *search, const struct asked_values *asked,
                       struct event_values *values)
{
    int result = 0;
    bool unused;

    for (size_t i = 0; i < asked->condition.count && !result; i++) {
        const struct test_words *words = &asked->condition.tests[i];
        struct event_test *test = &values->condition.tests[i];
        *test = words->test;
        result = find_value(search, &words->value, &test->value, &unused);
        if (!result)
            result = check_test(search, words, test);
    }
    for (size_t i = 0; i < asked->count && !result; i++) {
        result =
            find_value(search, &asked->values[i], &values->values[i], &values->are_addresses[i]);
        if (!result && !values->values[i].bits)
            result = text_refuse(search->error, "\"%s\" is a text, not a number",
                                 asked->values[i].name);
    }
    values->condition.count = asked->condition.count;
    values->count = asked->count;
    return result;
}

int event_values_find(struct event_values *values, const struct asked_values *asked,
                      const struct values_where *where, const struct place *place,
                      struct text *error)
{
    struct search search = {.where = where, .place = place, .error = error};

    memset(values, 0, sizeof(*values));
    int result = find_values(&search, asked, values);
    text_free(&search.format);
    return result;
}

bool event_values_equal(const struct event_values *a, const struct event_values *b)
{
    for (size_t i = 0; i < a->condition.count; i++)
        if (memcmp(&a->condition.tests[i].value, &b->condition.tests[i].value,
                   sizeof(struct event_value)))
            return false;
    return !memcmp(a->values, b->values, sizeof(a->values));
}

/* ---- In a stopped thread ---- */

uint64_t event_value_read(const struct event_value *value, const uint64_t *registers)
{
    const unsigned above = 64u - value->bits;
    uint64_t number = 0;

    memcpy(&number, (const char *)registers + value->offset, value->size);
    number <<= above;
    return value->is_signed ? (uint64_t)((int64_t)number >> above) : number >> above;
}

static bool holds(const struct event_test *test, const uint64_t *registers, const char *comm)
{
    if (test->is_text)
        return !strncmp(comm, test->text, COMM_BYTES) == (test->comparison == IS_EQUAL);
    const uint64_t sign = test->value.is_signed ? (uint64_t)1 << 63 : 0;
    const uint64_t number = event_value_read(&test->value, registers) ^ sign,
        other = test->number ^ sign;

    switch (test->comparison) {
    case IS_EQUAL:
        return number == other;
    case IS_NOT_EQUAL:
        return number != other;
    case IS_LESS:
        return number < other;
    case IS_LESS_OR_EQUAL:
        return number <= other;
    case IS_GREATER:
        return number > other;
    case IS_GREATER_OR_EQUAL:
        return number >= other;
    }
    return false;
}

bool event_condition_holds(const struct event_condition *condition, const uint64_t *registers,
                           const char *comm)
{
    size_t at = 0;

    while (at < condition->count)
        at = holds(&condition->tests[at], registers, comm) ? condition->tests[at].yes
                                                           : condition->tests[at].no;
    return at != TEST_FAILS;
}
