/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "base/say.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"

const char *say_as = "stackbox";
void (*before_say)(void);
struct text *say_aside;

/* Needs no memory: cuts a long line, and replaces all but printable ASCII. */
static __attribute__((format(printf, 1, 0)))
void say_in_little_room(const char *format, va_list list)
{
    char line[512];
    int start = snprintf(line, sizeof(line), "%s: ", say_as);
    int length = vsnprintf(line + start, sizeof(line) - (size_t)start, format, list);
    size_t end = strnlen(line, sizeof(line) - 1);

    if (length < 0)
        return;
    for (size_t i = 0; i < end; i++)
        if (line[i] < 0x20 || line[i] > 0x7e)
            line[i] = '?';
    line[end] = '\n';
    (void)write_all(STDERR_FILENO, line, end + 1);
}

/* False: memory ran out, and nothing was printed. */
static __attribute__((format(printf, 1, 0))) bool say_in_full(const char *format, va_list list)
{
    struct text raw = {0}, shown = {0};

    text_format(&raw, "%s: ", say_as);
    text_format_list(&raw, format, list);
    escape_text(&shown, &raw);
    text_add(&shown, "\n");
    const bool whole = !shown.failed;
    if (whole && say_aside)
        text_append(say_aside, shown.data, shown.length);
    if (whole && (!say_aside || say_aside->failed))
        (void)write_all(STDERR_FILENO, shown.data, shown.length);
    text_free(&shown);
    return whole;
}

int output_flush(FILE *out)
{
    return !fflush(out) && !ferror(out) ? 0 : errno ? -errno : -EIO;
}

int output_text(FILE *out, const struct text *text)
{
    errno = 0;
    fwrite(text_string(text), 1, text->length, out);
    return output_flush(out);
}

int output_end(const char *what, int result)
{
    if (!result || result == -EPIPE)
        return 0;
    return fail_saying("cannot %s: %s", what,
                       result == -EBADF ? "stdout is closed" : error_words(result));
}

static __attribute__((format(printf, 1, 0))) void say_list(const char *format, va_list list)
{
    va_list again;

    if (before_say)
        before_say();
    va_copy(again, list);
    if (!say_in_full(format, list))
        say_in_little_room(format, again);
    va_end(again);
}

void say(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    say_list(format, list);
    va_end(list);
}

int fail_saying(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    say_list(format, list);
    va_end(list);
    return EXIT_FAILURE;
}

void say_lines(const struct text *lines)
{
    const char *rest = text_string(lines), *line;

    for (size_t length; (line = next_line(&rest, &length));)
        say("%.*s", (int)length, line);
}

int say_cannot(const char *what, struct text *why, int error)
{
    say("cannot %s: %s", what, text_or_error(why, error));
    text_free(why);
    return EXIT_FAILURE;
}
