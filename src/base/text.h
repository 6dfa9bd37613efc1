/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Text that grows. */
#ifndef STACKBOX_BASE_TEXT_H
#define STACKBOX_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* {0} is empty; data is NUL-terminated once anything has been appended. */
struct text {
    char *data;
    size_t length, room;
    bool failed; /* memory ran out at some point: data is incomplete */
};

void text_append(struct text *text, const char *bytes, size_t length);
/* Makes room for so many bytes, and a NUL, behind those it has. False, and `failed`: no memory. */
bool text_reserve(struct text *text, size_t length);
void text_add(struct text *text, const char *string);
void text_format(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_format_list(struct text *text, const char *format, va_list list)
    __attribute__((format(printf, 2, 0)));
/* Appends why a command line is refused, and returns -EINVAL. */
int text_refuse(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Seven bits per byte, the lowest first; the eighth says that another byte follows. */
void text_add_varint(struct text *text, uint64_t number);
/* What it holds, NUL-terminated; "" if it is empty. */
const char *text_string(const struct text *text);
/* The text, or what the negative errno means if the text is empty. */
const char *text_or_error(const struct text *text, int error);
/* What a negative errno means; the same words for lack of memory with any C library. */
const char *error_words(int error);
/* -EINVAL if the text says why a command line is refused, or memory ran out for it; otherwise 0. */
int text_refusal(const struct text *text);
/* Empties it but keeps its memory. */
void text_clear(struct text *text);
void text_free(struct text *text);

/* What follows `start` in a string that starts with it. NULL: this one does not. */
const char *starts_with(const char *string, const char *start);

/* The n-th word of a line, from 0, between single blanks. NULL: the line is NULL, or has fewer. */
const char *line_word(const char *line, unsigned number);
/* The number that this word begins with, or 0. */
uint64_t line_number(const char *line, unsigned number);

/*
 * The next line of a text in memory: its beginning, with its length in *length; *rest then points
 * past it. NULL: there are no more.
 */
const char *next_line(const char **rest, size_t *length);

/*
 * The character that valid UTF-8 has at *at, which is then past it. 0: a NUL, or the byte there
 * begins none, and *at is past that byte.
 */
uint32_t utf8_take(const char **at, const char *end);

/*
 * Appends bytes from outside, which a terminal or a reader must not take as a command. Each byte
 * below 0x20, 0x7f, each C1 control (U+0080 to U+009F), each control of a line's direction or end
 * (such as U+202E), and each byte that is not part of valid UTF-8 becomes the four characters \xNN.
 */
void escape_bytes(struct text *text, const char *bytes, size_t length);
/* The same for a whole text, which is freed. */
void escape_text(struct text *text, struct text *raw);

#endif
