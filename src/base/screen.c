/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <string.h>

#include "base/index.h"
#include "base/screen.h"
#include "base/util.h"

/* From U+1000 on characters may be wide; there is no list of them here. */
#define FIRST_WIDE 0xe1

size_t columns_fit(const char *text, size_t length, size_t columns)
{
    size_t at = 0;

    while (at < length) {
        size_t width = (unsigned char)text[at] < FIRST_WIDE ? 1 : 2, end = at + 1;
        if (width > columns)
            break;
        while (end < length && (text[end] & 0xc0) == 0x80)
            end++;
        columns -= width;
        at = end;
    }
    return at;
}

#define ESC 0x1b
#define CTRL(letter) ((letter) & 0x1f)
#define MOST_NUMBER 9999

enum coding { PLAIN, LETTER, NUMBER };

static const struct {
    uint8_t coding, sent, key;
} codes[] = {
    {PLAIN, 'q', KEY_QUIT}, {PLAIN, 'Q', KEY_QUIT}, {PLAIN, 'p', KEY_PAUSE},
    {PLAIN, CTRL('C'), KEY_QUIT}, /* if the terminal makes no signal of it */
    {PLAIN, 'P', KEY_PAUSE}, {PLAIN, 'k', KEY_UP}, {PLAIN, 'j', KEY_DOWN},
    {PLAIN, 'b', KEY_PAGE_UP}, {PLAIN, ' ', KEY_PAGE_DOWN}, {PLAIN, 'g', KEY_HOME},
    {PLAIN, 'G', KEY_END}, {PLAIN, CTRL('L'), KEY_REDRAW},
    /* ESC [ A, ESC O A, and with Ctrl or Shift ESC [ 1 ; 5 A */
    {LETTER, 'A', KEY_UP}, {LETTER, 'B', KEY_DOWN}, {LETTER, 'C', KEY_RIGHT},
    {LETTER, 'D', KEY_LEFT}, {LETTER, 'H', KEY_HOME}, {LETTER, 'F', KEY_END},
    /* ESC [ 5 ~ */
    {NUMBER, 1, KEY_HOME}, {NUMBER, 7, KEY_HOME}, {NUMBER, 4, KEY_END}, {NUMBER, 8, KEY_END},
    {NUMBER, 5, KEY_PAGE_UP}, {NUMBER, 6, KEY_PAGE_DOWN},
};

static enum key key_of(enum coding coding, unsigned sent)
{
    for (size_t i = 0; i < COUNT_OF(codes); i++)
        if (codes[i].coding == coding && codes[i].sent == sent)
            return (enum key)codes[i].key;
    return KEY_NONE;
}

static enum key take_in_sequence(struct keys *keys, unsigned char byte)
{
    if (byte >= '0' && byte <= '9') {
        unsigned *number = &keys->numbers[keys->count > 0];
        *number = *number * 10 + (byte - '0');
        *number = *number < MOST_NUMBER ? *number : MOST_NUMBER;
        return KEY_NONE;
    }
    if (byte == ';')
        keys->count++;
    if (byte < 0x40)
        return KEY_NONE;
    keys->state = KEYS_PLAIN;
    if (byte == 'R' && keys->count == 1)
        return KEY_SIZE;
    return byte == '~' ? key_of(NUMBER, keys->numbers[0]) : key_of(LETTER, byte);
}

enum key keys_take(struct keys *keys, unsigned char byte)
{
    if (byte == ESC) {
        *keys = (struct keys){.state = KEYS_ESCAPE};
        return KEY_NONE;
    }
    switch (keys->state) {
    case KEYS_SEQUENCE: return take_in_sequence(keys, byte);
    case KEYS_SHORT:
        keys->state = KEYS_PLAIN;
        return key_of(LETTER, byte);
    case KEYS_ESCAPE:
        keys->state = byte == '[' ? KEYS_SEQUENCE : byte == 'O' ? KEYS_SHORT : KEYS_PLAIN;
        return keys->state ? KEY_NONE : key_of(PLAIN, byte);
    default: return key_of(PLAIN, byte);
    }
}

#define SIDEWAYS 8 /* columns per key */

void screen_forget(struct screen *screen)
{
    memset(screen->shown, 0, sizeof(screen->shown));
}

bool screen_resize(struct screen *screen, unsigned rows, unsigned columns)
{
    rows = !rows ? SCREEN_ROWS : rows > SCREEN_MOST_ROWS ? SCREEN_MOST_ROWS : rows;
    columns = columns ? columns : SCREEN_COLUMNS;
    if (rows == screen->rows && columns == screen->columns)
        return false;
    screen->rows = rows;
    screen->columns = columns;
    screen_forget(screen);
    screen_press(screen, KEY_NONE);
    return true;
}

void screen_init(struct screen *screen)
{
    *screen = (struct screen){.text = ""};
    screen_resize(screen, 0, 0);
}

void screen_set_text(struct screen *screen, const char *text)
{
    screen->text = text;
    screen->lines = 0;
    for (; *text; text++)
        screen->lines += *text == '\n';
    screen_press(screen, KEY_NONE);
}

/* ---- Keys ---- */

static size_t less(size_t from, size_t by)
{
    return from > by ? from - by : 0;
}

void screen_press(struct screen *screen, enum key key)
{
    const size_t page = screen->rows > 1 ? screen->rows - 1 : 1, last = less(screen->lines, page);

    switch (key) {
    case KEY_UP: screen->top = less(screen->top, 1); break;
    case KEY_DOWN: screen->top++; break;
    case KEY_LEFT: screen->left = less(screen->left, SIDEWAYS); break;
    case KEY_RIGHT: screen->left += SIDEWAYS; break;
    case KEY_PAGE_UP: screen->top = less(screen->top, page); break;
    case KEY_PAGE_DOWN: screen->top += page; break;
    case KEY_HOME: screen->top = screen->left = 0; break;
    case KEY_END: screen->top = last; break;
    case KEY_PAUSE: screen->paused = !screen->paused; break;
    case KEY_QUIT: screen->ended = true; break;
    case KEY_REDRAW: screen_forget(screen); break;
    default:
        break;
    }
    screen->top = screen->top < last ? screen->top : last;
}

/* ---- Drawing ---- */

static uint64_t hash_of(const char *bytes, size_t length)
{
    const uint64_t hash = hash_bytes(0, bytes, length);

    return hash ? hash : 1;
}

/* Draws one row from its first column on, unless the terminal shows it already. */
static void draw_row(struct screen *screen, unsigned row, const char *bytes, size_t length,
                     const char *before, struct text *out)
{
    const size_t skipped = *before ? 0 : columns_fit(bytes, length, screen->left);
    const size_t fits = columns_fit(bytes + skipped, length - skipped, screen->columns);
    const uint64_t hash = hash_of(bytes + skipped, fits);

    if (screen->shown[row] == hash)
        return;
    screen->shown[row] = hash;
    text_format(out, "\033[%u;1H%s", row + 1, before);
    escape_bytes(out, bytes + skipped, fits);
    text_add(out, "\033[0m\033[K");
}

static void draw_status(struct screen *screen, const char *status, size_t end, struct text *out)
{
    struct text line = {0};

    text_format(&line, "%s%s; lines %zu-%zu of %zu; q ends, p %s, arrows scroll",
                screen->paused ? "PAUSED; " : "", status, end ? screen->top + 1 : 0, end,
                screen->lines, screen->paused ? "goes on" : "pauses");
    if (line.failed)
        out->failed = true;
    else
        draw_row(screen, screen->rows - 1, line.data, line.length, "\033[7m", out);
    text_free(&line);
}

void screen_draw(struct screen *screen, const char *status, struct text *out)
{
    const char *rest = screen->text, *line;
    size_t length, at = 0;
    unsigned row = 0;

    while (at < screen->top && next_line(&rest, &length))
        at++;
    for (; row + 1 < screen->rows; row++) {
        line = next_line(&rest, &length);
        at += line ? 1 : 0;
        draw_row(screen, row, line ? line : "", line ? length : 0, "", out);
    }
    draw_status(screen, status, at, out);
}
